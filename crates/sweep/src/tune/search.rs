//! The state of a search: the settings that it tries, and their results so far.

use std::collections::{BTreeMap, BTreeSet};

use resched_analysis::metrics::named::Metric;
use resched_analysis::statistics::sign::untested;
use resched_tables::validity::{Fact, Grade, Validity};

use super::candidates::place_of;
use super::found::Candidate;
use super::halving::Round;
use super::objective::{metrics, relative, score};
use super::score::{Score, excess};
use crate::Error;
use crate::cell::Cell;
use crate::file::{Design, SweepFile, Variant};
use crate::interval::MeanInterval;
use crate::logs;
use crate::plan::Plan;
use crate::results::CellResult;
use crate::tune_section::TuneSection;

/// A search. A setting is identified by its index in `tried`.
pub(super) struct Search<'a> {
    file: &'a SweepFile,
    section: &'a TuneSection,
    pub(super) baseline: Variant,
    pub(super) tried: Vec<Variant>,
    /// The policy of each setting, once it was replayed.
    policies: Vec<String>,
    /// By setting and seed.
    results: BTreeMap<(usize, u64), CellResult>,
    /// The results of the baseline, by seed.
    base: BTreeMap<u64, CellResult>,
    /// The ids of all cells.
    pub(super) replayed: BTreeSet<String>,
    /// What the log says of the replay of what ran.
    logs: Vec<Fact>,
}

impl<'a> Search<'a> {
    /// A search before its first round.
    pub(super) fn new(file: &'a SweepFile, section: &'a TuneSection, baseline: Variant, tried: Vec<Variant>) -> Self {
        Self {
            file,
            section,
            baseline,
            policies: vec![String::new(); tried.len()],
            tried,
            results: BTreeMap::new(),
            base: BTreeMap::new(),
            replayed: BTreeSet::new(),
            logs: Vec::new(),
        }
    }

    /// Holds the replays of a plan against the log that they replay.
    pub(super) fn judge(&mut self, plan: &Plan) {
        self.logs = logs::facts(plan, self.file).into_iter().map(|(_, fact)| fact).collect();
    }

    /// Replays some settings and the baseline with some seeds.
    pub(super) fn plan(&self, alive: &[usize], seeds: &[u64]) -> Result<Plan, Error> {
        let tried = alive.iter().filter_map(|&place| self.tried.get(place));
        Plan::new(&SweepFile {
            variants: std::iter::once(&self.baseline).chain(tried).cloned().collect(),
            seeds: seeds.to_vec(),
            baseline: 0,
            design: Design::default(),
            ..self.file.clone()
        })
    }

    /// What decides the answer, over all replays, and was not observed.
    pub(super) fn validity(&self) -> Validity {
        let mut all = Validity::default();
        let results = self.base.values().chain(self.results.values());
        let facts = results.flat_map(|result| &result.validity.facts).chain(&self.logs);
        facts.filter(|fact| fact.grade > Grade::Measured).for_each(|fact| all.add(fact.clone()));
        all.add(untested());
        all
    }

    /// Adds the result of a cell.
    pub(super) fn learn(&mut self, cell: &Cell, result: CellResult) {
        self.replayed.insert(cell.id.clone());
        let Some(place) = place_of(&cell.variant) else {
            self.base.insert(cell.seed, result);
            return;
        };
        if let Some(policy) = self.policies.get_mut(place) {
            policy.clone_from(&cell.policy);
        }
        self.results.insert((place, cell.seed), result);
    }

    /// The scores of some settings with some seeds, by setting, then seed.
    pub(super) fn scores(&self, alive: &[usize], seeds: &[u64]) -> Vec<Vec<Score>> {
        let score_of = |place: usize, seed: u64| {
            let pair = self.results.get(&(place, seed)).zip(self.base.get(&seed));
            let worst = || Score { objective: f64::INFINITY, excesses: vec![f64::INFINITY; self.section.bounds.len()] };
            pair.map_or_else(worst, |(cell, base)| score(self.section, cell, base))
        };
        alive.iter().map(|&place| seeds.iter().map(|&seed| score_of(place, seed)).collect()).collect()
    }

    /// All settings that were tried, the best first, after these rounds.
    pub(super) fn candidates(&self, rounds: &[Round]) -> Vec<Candidate> {
        let mut seen = BTreeSet::new();
        let places = rounds.iter().rev().flat_map(|round| &round.ranking).copied();
        let mut all: Vec<Candidate> =
            places.filter(|place| seen.insert(*place)).filter_map(|place| self.candidate(place)).collect();
        let last = rounds.last().map_or(0, |round| round.ranking.len());
        let costs: Vec<(bool, Vec<f64>)> =
            all.iter().take(last).map(|found| (found.within_bounds, costs(found))).collect();
        for (candidate, cost) in all.iter_mut().zip(&costs) {
            let beaten = costs.iter().any(|other| other.0 && dominates(&other.1, &cost.1));
            candidate.on_front = cost.0 && !beaten;
        }
        all
    }

    /// The results of a setting, except whether it is on the front.
    fn candidate(&self, place: usize) -> Option<Candidate> {
        let pairs = self.pairs(place);
        let scores: Vec<Score> = pairs.iter().map(|(cell, base)| score(self.section, cell, base)).collect();
        let interval = |values: Vec<f64>| MeanInterval::of(&values);
        let relative = |metric: &str| interval(pairs.iter().map(|(cell, base)| relative(metric, cell, base)).collect());
        let metrics = metrics(self.section).into_iter();
        Some(Candidate {
            policy: self.policies.get(place)?.clone(),
            seeds: scores.len() as u64,
            objective: interval(scores.iter().map(|score| score.objective).collect())?,
            within_bounds: excess(&scores) <= 0.0,
            relative: metrics.filter_map(|metric| Some((metric.to_owned(), relative(metric)?))).collect(),
            on_front: false,
        })
    }

    /// The results of a setting and of the baseline, seed by seed.
    fn pairs(&self, place: usize) -> Vec<(&CellResult, &CellResult)> {
        let results = self.results.range((place, 0)..=(place, u64::MAX));
        results.filter_map(|((_, seed), results)| Some((results, self.base.get(seed)?))).collect()
    }
}

/// The metrics of a candidate, with signs so that less is better.
fn costs(candidate: &Candidate) -> Vec<f64> {
    let cost = |(name, relative): (&String, &MeanInterval)| Some(Metric::named(name).ok()?.cost(relative.mean));
    candidate.relative.iter().filter_map(cost).collect()
}

/// True if `a` is as good as `b` everywhere and better somewhere.
fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b)
}
