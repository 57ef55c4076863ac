//! `resched tune`: the parameters that make an objective small, by successive halving over seeds.
//!
//! All settings and the baseline see the same seeds, and the objective is relative to the baseline seed by seed, so that easy and
//! hard seeds weigh the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use resched_analysis::compare::Estimate;
use resched_analysis::repeats::t_interval;
use resched_replay::Threads;
use resched_report::{Cloud, Scatter, draw_scatter, png};
use resched_trace::store::write_file;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::cell_store::CellStore;
use crate::design::{Setting, settings};
use crate::file::{Axis, Design, DesignKind, SweepFile, Variant};
use crate::halving::{Round, Score, excess, successive_halving};
use crate::local::{Told, carry_out};
use crate::location::Location;
use crate::metrics::Metric;
use crate::plan::{Cell, Plan};
use crate::results::CellResult;
use crate::statistics::front_of;
use crate::values::Values;

/// The section `[tune]` of a sweep file: what is looked for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TuneSection {
    /// Weights of metrics, each relative to the baseline: their sum is made as small as it can be. A metric of which more is
    /// better counts as the baseline's over its own.
    pub(crate) objective: BTreeMap<String, f64>,
    /// What must hold of a winner.
    #[serde(default)]
    pub(crate) bounds: Vec<Bound>,
    /// Settings that are tried first.
    #[serde(default = "candidates")]
    pub(crate) candidates: u32,
    /// Of how many settings one is kept after each round, in which the seeds are multiplied by as much.
    #[serde(default = "keep_one_of")]
    pub(crate) keep_one_of: u32,
    /// Seeds of the first round.
    #[serde(default = "first_seeds")]
    pub(crate) first_seeds: u64,
}

/// A bound: the mean of a metric relative to the baseline's.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bound {
    /// The metric.
    pub(crate) metric: String,
    /// At most this, times the baseline's.
    pub(crate) at_most: Option<f64>,
    /// At least this, times the baseline's.
    pub(crate) at_least: Option<f64>,
}

fn candidates() -> u32 {
    64
}

fn keep_one_of() -> u32 {
    3
}

fn first_seeds() -> u64 {
    1
}

impl TuneSection {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self, variants: &[Variant]) -> Result<(), String> {
        if self.objective.is_empty() {
            return Err("expected an objective, such as { mean_completion = 1 }, found none".to_owned());
        }
        for (name, weight) in &self.objective {
            Metric::named(name)?;
            if !weight.is_finite() || *weight < 0.0 {
                return Err(format!("objective {name}: expected a weight of at least 0, found {weight}"));
            }
        }
        for bound in &self.bounds {
            Metric::named(&bound.metric)?;
            if bound.at_most.is_some() == bound.at_least.is_some() {
                return Err(format!("bound of {}: expected one of `at_most` and `at_least`", bound.metric));
            }
        }
        let counts = (2..=100_000).contains(&self.candidates)
            && (2..=100).contains(&self.keep_one_of)
            && (1..=1_000).contains(&self.first_seeds);
        if !counts {
            return Err("expected 2 to 100000 candidates, keep_one_of 2 to 100 and first_seeds 1 to 1000".to_owned());
        }
        if !variants.iter().any(varies) {
            return Err(
                "no variant has a parameter that varies, so there is nothing to tune; give one a range".to_owned()
            );
        }
        Ok(())
    }
}

fn varies(variant: &Variant) -> bool {
    variant.axes.iter().any(|axis| axis.values.varies())
}

/// A setting with what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The policy with its parameters.
    pub policy: String,
    /// With how many seeds it was replayed.
    pub seeds: u64,
    /// The objective, relative to the baseline, with its 95 % interval by Student's t.
    pub objective: MeanInterval,
    /// Whether all bounds hold in the mean.
    pub within_bounds: bool,
    /// Its metrics relative to the baseline, those of the objective and the bounds, with their 95 % intervals.
    pub relative: BTreeMap<String, MeanInterval>,
    /// Whether it holds the bounds, and no other of the last round that does is better in one of the objective's and bounds'
    /// metrics and as good in the rest.
    pub on_front: bool,
}

/// A number with its interval; that of a single seed has no width, as nothing is known of the spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanInterval {
    /// The mean.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl From<Estimate> for MeanInterval {
    fn from(found: Estimate) -> Self {
        Self { mean: found.value, low: found.low, high: found.high }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// The sweep's name.
    pub name: String,
    /// The baseline that all is relative to.
    pub baseline: String,
    /// All settings that were tried, the best first: those of the last round, then those of the round before, and so on. The first
    /// breaks a bound only if no setting is known to hold them all.
    pub candidates: Vec<Candidate>,
    /// Replays that were made in all, the baseline's included.
    pub replays: u64,
}

/// Searches as `[tune]` of the file says; cells are kept in `out`, so that a second call goes on where the first was ended. Writes
/// `tuned.json`, `candidates.csv` and a figure there. `told` is told of each round's cells.
///
/// # Errors
/// [`Error::Request`] if the file has no `[tune]`, more than one source or world, or a value that cannot be; what [`carry_out`]
/// says.
pub fn tune(file: &SweepFile, out: &Path, threads: Threads, told: Told<'_>) -> Result<Tuned, Error> {
    let wrong = |problem: &str| Error::Request(format!("{}: {problem}", file.copy.path.display()));
    let Some(section) = &file.tune else {
        return Err(wrong("there is no [tune]; add one with an objective"));
    };
    if file.sources.len() * file.clusters.len() > 1 || file.world.iter().any(|axis| axis.values.varies()) {
        return Err(wrong(
            "expected one workload or trace, one cluster and nothing that varies in [world]; tune for one world at a time",
        ));
    }
    let tried = candidates_of(file, section).map_err(|problem| wrong(&problem))?;
    let baseline = file.variants.get(file.baseline).ok_or_else(|| wrong("there is no baseline"))?;
    let axes = baseline.axes.iter().map(|axis| (axis.key.clone(), first(&axis.values))).collect();
    let mut search = Search {
        file,
        section,
        baseline: fixed(baseline, axes, "baseline"),
        policies: vec![String::new(); tried.len()],
        tried,
        results: BTreeMap::new(),
        base: BTreeMap::new(),
        replayed: BTreeSet::new(),
    };
    let store = CellStore::open(&Location::Folder(out.to_path_buf()))?;
    let rounds = successive_halving(
        search.tried.len(),
        section.keep_one_of as usize,
        section.first_seeds,
        file.seeds.len() as u64,
        |alive, seeds| {
            let seeds = file.seeds.get(seeds.start as usize..seeds.end as usize).unwrap_or_default();
            let plan = search.plan(alive, seeds)?;
            let cells: Vec<&Cell> = plan.cells.iter().collect();
            carry_out(&plan, &cells, &store, threads, told)?;
            for (cell, result) in cells.iter().zip(store.get_all(&cells)?) {
                search.learn(cell, result.ok_or_else(|| Error::Work(format!("cell {} is missing", cell.id)))?);
            }
            Ok::<_, Error>(search.scores(alive, seeds))
        },
    )?;
    let tuned = Tuned {
        name: file.name.clone(),
        baseline: search.baseline.policy.label(),
        candidates: search.candidates(&rounds),
        replays: search.replayed.len() as u64,
    };
    write(&tuned, section, out)?;
    Ok(tuned)
}

/// What the names of settings begin with in a round's plan.
const CANDIDATE: &str = "candidate ";

/// The settings that are tried: of each variant that varies a part of a Latin hypercube, or all of its grid if that is smaller.
fn candidates_of(file: &SweepFile, section: &TuneSection) -> Result<Vec<Variant>, String> {
    let varying: Vec<&Variant> = file.variants.iter().filter(|variant| varies(variant)).collect();
    let each = section.candidates.div_ceil(varying.len().max(1) as u32);
    let mut tried = Vec::new();
    for (number, variant) in (1u64..).zip(varying) {
        let grid = settings(&variant.axes, &Design::default(), number).ok().filter(|grid| grid.len() <= each as usize);
        let sample = Design { kind: DesignKind::LatinHypercube, samples: Some(each), seed: file.design.seed };
        let found = grid.map_or_else(|| settings(&variant.axes, &sample, number), Ok)?;
        let mut seen = BTreeSet::new();
        for setting in found {
            if seen.insert(setting.iter().map(|(_, value)| value.text()).collect::<Vec<_>>()) {
                tried.push(fixed(variant, setting, &format!("{CANDIDATE}{}", tried.len())));
            }
        }
    }
    Ok(tried)
}

fn first(values: &Values) -> crate::values::Value {
    values.quantile(0.0, false)
}

/// A variant with one value for each of its keys.
fn fixed(variant: &Variant, setting: Setting, name: &str) -> Variant {
    let axis = |(key, value): (String, crate::values::Value)| {
        let integer = variant.axes.iter().any(|axis| axis.key == key && axis.integer);
        Axis { key, values: Values::List(vec![value]), integer }
    };
    Variant { name: name.to_owned(), axes: setting.into_iter().map(axis).collect(), ..variant.clone() }
}

impl TuneSection {
    /// The metrics that matter.
    fn metrics(&self) -> BTreeSet<&str> {
        let bounded = self.bounds.iter().map(|bound| bound.metric.as_str());
        self.objective.keys().map(String::as_str).chain(bounded).collect()
    }

    /// A metric relative to the baseline's with the same seed: 1 for both 0, infinite where one is unknown.
    fn relative(metric: &str, own: &CellResult, base: &CellResult) -> f64 {
        match own.metrics.get(metric).zip(base.metrics.get(metric)) {
            Some((own, base)) if own == base => 1.0,
            Some((own, base)) => own / base,
            None => f64::INFINITY,
        }
    }

    fn score(&self, own: &CellResult, base: &CellResult) -> Score {
        let cost = |name: &str| {
            let relative = Self::relative(name, own, base);
            let less = Metric::named(name).is_ok_and(|metric| metric.less_is_better);
            if less { relative } else { 1.0 / relative }
        };
        let objective = self.objective.iter().map(|(name, weight)| weight * cost(name)).sum();
        let excess = |bound: &Bound| {
            let relative = Self::relative(&bound.metric, own, base);
            let over = bound.at_most.map(|most| relative - most);
            over.or(bound.at_least.map(|least| least - relative)).unwrap_or(0.0)
        };
        Score { objective, excesses: self.bounds.iter().map(excess).collect() }
    }
}

/// What a search tries, and what it knows of it.
struct Search<'a> {
    file: &'a SweepFile,
    section: &'a TuneSection,
    baseline: Variant,
    tried: Vec<Variant>,
    /// By setting: its policy, once it was replayed.
    policies: Vec<String>,
    /// By setting and seed.
    results: BTreeMap<(usize, u64), CellResult>,
    /// The baseline's, by seed.
    base: BTreeMap<u64, CellResult>,
    /// The ids of all cells.
    replayed: BTreeSet<String>,
}

impl Search<'_> {
    /// The replays of some settings and the baseline with some seeds.
    fn plan(&self, alive: &[usize], seeds: &[u64]) -> Result<Plan, Error> {
        let own = alive.iter().filter_map(|&place| self.tried.get(place));
        Plan::new(&SweepFile {
            variants: std::iter::once(&self.baseline).chain(own).cloned().collect(),
            seeds: seeds.to_vec(),
            baseline: 0,
            design: Design::default(),
            ..self.file.clone()
        })
    }

    fn learn(&mut self, cell: &Cell, result: CellResult) {
        self.replayed.insert(cell.id.clone());
        let place = cell.variant.strip_prefix(CANDIDATE).and_then(|number| number.parse::<usize>().ok());
        let Some(place) = place else {
            self.base.insert(cell.seed, result);
            return;
        };
        if let Some(policy) = self.policies.get_mut(place) {
            policy.clone_from(&cell.policy);
        }
        self.results.insert((place, cell.seed), result);
    }

    /// The scores of some settings with some seeds, by setting, then seed.
    fn scores(&self, alive: &[usize], seeds: &[u64]) -> Vec<Vec<Score>> {
        let score = |place: usize, seed: u64| {
            let pair = self.results.get(&(place, seed)).zip(self.base.get(&seed));
            let worst = || Score { objective: f64::INFINITY, excesses: vec![f64::INFINITY; self.section.bounds.len()] };
            pair.map_or_else(worst, |(own, base)| self.section.score(own, base))
        };
        alive.iter().map(|&place| seeds.iter().map(|&seed| score(place, seed)).collect()).collect()
    }

    /// The seeds with which a setting was replayed, with the pair of results.
    fn pairs(&self, place: usize) -> Vec<(&CellResult, &CellResult)> {
        let own = self.results.range((place, 0)..=(place, u64::MAX));
        own.filter_map(|((_, seed), own)| Some((own, self.base.get(seed)?))).collect()
    }

    fn candidate(&self, place: usize) -> Option<Candidate> {
        let pairs = self.pairs(place);
        let scores: Vec<Score> = pairs.iter().map(|(own, base)| self.section.score(own, base)).collect();
        let interval = |values: Vec<f64>| Some(MeanInterval::from(t_interval(&values)?));
        let relative =
            |metric: &str| interval(pairs.iter().map(|(own, base)| TuneSection::relative(metric, own, base)).collect());
        let metrics = self.section.metrics().into_iter();
        Some(Candidate {
            policy: self.policies.get(place)?.clone(),
            seeds: scores.len() as u64,
            objective: interval(scores.iter().map(|score| score.objective).collect())?,
            within_bounds: excess(&scores) <= 0.0,
            relative: metrics.filter_map(|metric| Some((metric.to_owned(), relative(metric)?))).collect(),
            on_front: false,
        })
    }

    fn candidates(&self, rounds: &[Round]) -> Vec<Candidate> {
        let mut seen = BTreeSet::new();
        let places = rounds.iter().rev().flat_map(|round| &round.ranking).copied();
        let mut all: Vec<Candidate> =
            places.filter(|place| seen.insert(*place)).filter_map(|place| self.candidate(place)).collect();
        let last = rounds.last().map_or(0, |round| round.ranking.len());
        let costs: Vec<(bool, Vec<f64>)> =
            all.iter().take(last).map(|found| (found.within_bounds, costs(found))).collect();
        for (candidate, own) in all.iter_mut().zip(&costs) {
            let beaten = costs.iter().any(|other| other.0 && dominates(&other.1, &own.1));
            candidate.on_front = own.0 && !beaten;
        }
        all
    }
}

/// The metrics of a candidate such that less is better.
fn costs(candidate: &Candidate) -> Vec<f64> {
    let cost = |(name, relative): (&String, &MeanInterval)| Some(Metric::named(name).ok()?.cost(relative.mean));
    candidate.relative.iter().filter_map(cost).collect()
}

/// Whether `a` is as good as `b` everywhere and better somewhere.
fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b)
}

/// Writes what was found.
fn write(tuned: &Tuned, section: &TuneSection, out: &Path) -> Result<(), Error> {
    let broken = |error: &dyn std::fmt::Display| Error::Work(format!("what was found cannot be written: {error}"));
    let json = serde_json::to_string_pretty(tuned).map_err(|error| broken(&error))? + "\n";
    write_file(&out.join("tuned.json"), json.as_bytes())?;
    let metrics: Vec<&str> = section.metrics().into_iter().collect();
    let mut table = csv::Writer::from_writer(Vec::new());
    let heading = ["rank", "policy", "seeds", "within_bounds", "on_front"].map(str::to_owned);
    let interval_of = |name: &str| [name.to_owned(), format!("{name}_low"), format!("{name}_high")];
    let columns = std::iter::once("objective").chain(metrics.iter().copied()).flat_map(interval_of);
    table.write_record(heading.into_iter().chain(columns)).map_err(|error| broken(&error))?;
    for (number, found) in tuned.candidates.iter().enumerate() {
        let own = [
            (number + 1).to_string(),
            found.policy.clone(),
            found.seeds.to_string(),
            found.within_bounds.to_string(),
            found.on_front.to_string(),
        ];
        let relative = metrics.iter().map(|metric| found.relative.get(*metric));
        let numbers = std::iter::once(Some(&found.objective)).chain(relative).flat_map(|found| {
            found.map_or_else(Default::default, |found| {
                [found.mean, found.low, found.high].map(|number| number.to_string())
            })
        });
        table.write_record(own.into_iter().chain(numbers)).map_err(|error| broken(&error))?;
    }
    write_file(&out.join("candidates.csv"), &table.into_inner().map_err(|error| broken(&error))?)?;
    // Two metrics make a picture.
    let mut named = metrics.iter().filter_map(|name| Metric::named(name).ok());
    let (Some(x), Some(y)) = (named.next(), named.next()) else { return Ok(()) };
    let point = |found: &Candidate| Some((found.relative.get(x.name)?.mean, found.relative.get(y.name)?.mean));
    let cloud = |label: &str, keep: &dyn Fn(&Candidate) -> bool| Cloud {
        label: label.to_owned(),
        points: tuned.candidates.iter().filter(|found| keep(found)).filter_map(point).collect(),
    };
    let series =
        [cloud("within bounds", &|found| found.within_bounds), cloud("bounds broken", &|found| !found.within_bounds)];
    let inside: Vec<(f64, f64)> = tuned.candidates.iter().filter(|found| found.on_front).filter_map(point).collect();
    let front = front_of(&inside, x, y);
    let title = |metric: &Metric| format!("{}, baseline = 1", metric.title);
    let chart = Scatter { name: "candidates", x: &title(x), y: &title(y), series: &series, front: &front };
    if let Some(svg) = draw_scatter(&chart)? {
        write_file(&out.join("candidates.svg"), svg.as_bytes())?;
        write_file(&out.join("candidates.png"), &png("candidates", &svg)?)?;
    }
    Ok(())
}
