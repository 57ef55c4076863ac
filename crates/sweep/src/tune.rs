//! `resched tune`: the parameters that make an objective small, by successive halving over seeds.
//!
//! Many settings are tried with few seeds; the better part of them goes on with more seeds, and so on (successive halving: Karnin,
//! Koren, Somekh 2013; Jamieson, Talwalkar 2016). So most replays are spent on settings that may win. All settings and the
//! baseline see the same seeds, and the objective is relative to the baseline seed by seed, so that easy and hard seeds weigh the
//! same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use resched_analysis::compare::Estimate;
use resched_analysis::distribution::mean;
use resched_analysis::repeats::t_interval;
use resched_report::{Cloud, Scatter, draw_scatter, png};
use resched_trace::store::write_file;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::design::{Setting, settings};
use crate::file::{Axis, Design, DesignKind, SweepFile, Variant};
use crate::local::{Told, carry_out};
use crate::metrics::Metric;
use crate::plan::Plan;
use crate::results::{CellResult, CellStore};
use crate::statistics::pareto_front;
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

/// What a bound that is broken by its whole baseline costs of the objective, while it may still be met with more seeds.
const PENALTY: f64 = 10.0;

/// What a setting scored with one seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The objective: smaller is better.
    pub objective: f64,
    /// By how much the tightest bound is broken; below 0 if all hold.
    pub excess: f64,
}

/// A round of [`successive_halving`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Round {
    /// With how many seeds each setting was replayed by its end.
    pub seeds: u64,
    /// The settings, the best first.
    pub ranking: Vec<usize>,
}

/// Successive halving over `candidates` settings: in each round `score` is asked for the scores of some settings with some seeds
/// (numbered from 0), by setting, then seed; the better `1/keep_one_of` of them go on with `keep_one_of` times the seeds, up to
/// `most_seeds`. Ends with one setting, or when the seeds are used up. In the last round a setting that breaks a bound in the
/// mean comes after all that do not; before, when that is not sure yet, each hundredth of excess costs a tenth of objective.
///
/// # Errors
/// What `score` says.
pub fn successive_halving<E>(
    candidates: usize,
    keep_one_of: usize,
    first_seeds: u64,
    most_seeds: u64,
    mut score: impl FnMut(&[usize], std::ops::Range<u64>) -> Result<Vec<Vec<Score>>, E>,
) -> Result<Vec<Round>, E> {
    let mut known: Vec<Vec<Score>> = vec![Vec::new(); candidates];
    let mut alive: Vec<usize> = (0..candidates).collect();
    let (mut done, mut seeds) = (0, first_seeds.clamp(1, most_seeds.max(1)));
    let mut rounds = Vec::new();
    loop {
        for (place, scores) in alive.iter().zip(score(&alive, done..seeds)?) {
            if let Some(known) = known.get_mut(*place) {
                known.extend(scores);
            }
        }
        done = seeds;
        let is_last = alive.len() <= 1 || seeds >= most_seeds;
        let rank = |place: usize| {
            let scores = known.get(place).map_or(&[][..], Vec::as_slice);
            let of =
                |part: fn(&Score) -> f64| mean(&scores.iter().map(part).collect::<Vec<_>>()).unwrap_or(f64::INFINITY);
            let (objective, excess) = (of(|score| score.objective), of(|score| score.excess).max(0.0));
            if is_last { (excess, objective) } else { (0.0, objective + PENALTY * excess) }
        };
        let ranks: BTreeMap<usize, (f64, f64)> = alive.iter().map(|&place| (place, rank(place))).collect();
        alive.sort_by(|a, b| {
            let ((x, u), (y, v)) =
                (ranks.get(a).copied().unwrap_or_default(), ranks.get(b).copied().unwrap_or_default());
            x.total_cmp(&y).then(u.total_cmp(&v)).then(a.cmp(b))
        });
        rounds.push(Round { seeds, ranking: alive.clone() });
        if is_last {
            return Ok(rounds);
        }
        alive.truncate(alive.len().div_ceil(keep_one_of.max(2)));
        seeds = seeds.saturating_mul(keep_one_of.max(2) as u64).min(most_seeds);
    }
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
    /// Its metrics relative to the baseline, those of the objective and the bounds.
    pub relative: BTreeMap<String, f64>,
    /// Whether no other of the last round that holds the bounds is better in one of the objective's and bounds' metrics and as good
    /// in the rest; if none of that round holds them, of as many of the best that do.
    pub on_front: bool,
}

/// A number with its interval.
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
    /// All settings that were tried, the best first: those of the last round, then those of the round before, and so on.
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
pub fn tune(
    file: &SweepFile,
    path: &Path,
    text: &str,
    out: &Path,
    threads: usize,
    told: Told<'_>,
) -> Result<Tuned, Error> {
    let wrong = |problem: &str| Error::Request(format!("{}: {problem}", path.display()));
    let Some(section) = &file.tune else {
        return Err(wrong("there is no [tune]; add one with an objective"));
    };
    if file.sources.len() * file.clusters.len() > 1 || file.world.iter().any(|axis| axis.values.varies()) {
        return Err(wrong(
            "expected one workload or trace, one cluster and nothing that varies in [world]; tune for one world at a time",
        ));
    }
    let tried = candidates_of(file, section).map_err(|problem| wrong(&problem))?;
    let baseline = file.variants.get(file.baseline).cloned().ok_or_else(|| wrong("there is no baseline"))?;
    let baseline = fixed(
        &baseline,
        baseline.axes.iter().map(|axis| (axis.key.clone(), first(&axis.values))).collect(),
        "baseline",
    );
    let store = CellStore::open(out)?;
    let mut results: BTreeMap<(usize, u64), CellResult> = BTreeMap::new();
    let mut base: BTreeMap<u64, CellResult> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    let mut policies: Vec<String> = vec![String::new(); tried.len()];
    let rounds = successive_halving(
        tried.len(),
        section.keep_one_of as usize,
        section.first_seeds,
        file.seeds.len() as u64,
        |alive, seeds| -> Result<Vec<Vec<Score>>, Error> {
            let seeds: Vec<u64> = file.seeds.get(seeds.start as usize..seeds.end as usize).unwrap_or_default().to_vec();
            let own = alive.iter().filter_map(|&place| tried.get(place).cloned());
            let variants: Vec<Variant> = std::iter::once(baseline.clone()).chain(own).collect();
            let round =
                SweepFile { variants, seeds: seeds.clone(), baseline: 0, design: Design::default(), ..file.clone() };
            let plan = Plan::new(&round, path, text)?;
            carry_out(&plan, &plan.cells.iter().collect::<Vec<_>>(), &store, threads, told)?;
            for cell in &plan.cells {
                let missing = || Error::Work(format!("cell {} is missing", cell.id));
                let result = store.get(&cell.id)?.ok_or_else(missing)?;
                ids.insert(cell.id.clone());
                match cell.variant.strip_prefix(CANDIDATE).and_then(|number| number.parse::<usize>().ok()) {
                    None => {
                        base.insert(cell.seed, result);
                    }
                    Some(place) => {
                        if let Some(policy) = policies.get_mut(place) {
                            policy.clone_from(&cell.policy);
                        }
                        results.insert((place, cell.seed), result);
                    }
                }
            }
            let score = |place: usize, seed: u64| {
                let pair = results.get(&(place, seed)).zip(base.get(&seed));
                let worst = Score { objective: f64::INFINITY, excess: f64::INFINITY };
                pair.map_or(worst, |(own, base)| section.score(own, base))
            };
            Ok(alive.iter().map(|&place| seeds.iter().map(|&seed| score(place, seed)).collect()).collect())
        },
    )?;
    let search = Search { section, results: &results, base: &base, policies: &policies };
    let tuned = Tuned {
        name: file.name.clone(),
        baseline: baseline.policy.label(),
        candidates: search.candidates(&rounds),
        replays: ids.len() as u64,
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
        let excess = self.bounds.iter().map(excess).fold(f64::NEG_INFINITY, f64::max);
        Score { objective, excess: if self.bounds.is_empty() { 0.0 } else { excess } }
    }
}

/// What a search knows at its end.
struct Search<'a> {
    section: &'a TuneSection,
    results: &'a BTreeMap<(usize, u64), CellResult>,
    base: &'a BTreeMap<u64, CellResult>,
    policies: &'a [String],
}

impl Search<'_> {
    /// The seeds with which a setting was replayed, with the pair of results.
    fn pairs(&self, place: usize) -> Vec<(&CellResult, &CellResult)> {
        let own = self.results.range((place, 0)..=(place, u64::MAX));
        own.filter_map(|((_, seed), own)| Some((own, self.base.get(seed)?))).collect()
    }

    fn candidate(&self, place: usize) -> Option<Candidate> {
        let pairs = self.pairs(place);
        let scores: Vec<Score> = pairs.iter().map(|(own, base)| self.section.score(own, base)).collect();
        let relative = |metric: &str| {
            mean(&pairs.iter().map(|(own, base)| TuneSection::relative(metric, own, base)).collect::<Vec<_>>())
        };
        let relative: BTreeMap<String, f64> = self
            .section
            .metrics()
            .into_iter()
            .filter_map(|metric| Some((metric.to_owned(), relative(metric)?)))
            .collect();
        let holds = |bound: &Bound| {
            let found = relative.get(&bound.metric).copied().unwrap_or(f64::INFINITY);
            bound.at_most.is_none_or(|most| found <= most) && bound.at_least.is_none_or(|least| found >= least)
        };
        Some(Candidate {
            policy: self.policies.get(place)?.clone(),
            seeds: scores.len() as u64,
            objective: t_interval(&scores.iter().map(|score| score.objective).collect::<Vec<_>>())?.into(),
            within_bounds: self.section.bounds.iter().all(holds),
            relative,
            on_front: false,
        })
    }

    fn candidates(&self, rounds: &[Round]) -> Vec<Candidate> {
        let mut seen = BTreeSet::new();
        let places = rounds.iter().rev().flat_map(|round| &round.ranking).copied();
        let mut all: Vec<Candidate> =
            places.filter(|place| seen.insert(*place)).filter_map(|place| self.candidate(place)).collect();
        let last = rounds.last().map_or(0, |round| round.ranking.len());
        if !all.iter().take(last).any(|found| found.within_bounds) {
            // What an earlier round gave up and holds the bounds is a better answer than what breaks them.
            all.sort_by_key(|found| !found.within_bounds);
        }
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
    let cost = |(name, relative): (&String, &f64)| {
        let less = Metric::named(name).is_ok_and(|metric| metric.less_is_better);
        if less { *relative } else { -relative }
    };
    candidate.relative.iter().map(cost).collect()
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
    let heading = ["rank", "policy", "seeds", "objective", "low", "high", "within_bounds", "on_front"];
    table.write_record(heading.iter().copied().chain(metrics.iter().copied())).map_err(|error| broken(&error))?;
    for (number, found) in tuned.candidates.iter().enumerate() {
        let MeanInterval { mean, low, high } = found.objective;
        let own = [
            (number + 1).to_string(),
            found.policy.clone(),
            found.seeds.to_string(),
            mean.to_string(),
            low.to_string(),
            high.to_string(),
            found.within_bounds.to_string(),
            found.on_front.to_string(),
        ];
        let relative =
            metrics.iter().map(|metric| found.relative.get(*metric).map_or_else(String::new, f64::to_string));
        table.write_record(own.into_iter().chain(relative)).map_err(|error| broken(&error))?;
    }
    write_file(&out.join("candidates.csv"), &table.into_inner().map_err(|error| broken(&error))?)?;
    // Two metrics make a picture.
    let mut named = metrics.iter().filter_map(|name| Metric::named(name).ok());
    let (Some(x), Some(y)) = (named.next(), named.next()) else { return Ok(()) };
    let point = |found: &Candidate| Some((*found.relative.get(x.name)?, *found.relative.get(y.name)?));
    let cloud = |label: &str, keep: &dyn Fn(&Candidate) -> bool| Cloud {
        label: label.to_owned(),
        points: tuned.candidates.iter().filter(|found| keep(found)).filter_map(point).collect(),
    };
    let series =
        [cloud("within bounds", &|found| found.within_bounds), cloud("bounds broken", &|found| !found.within_bounds)];
    let sign = |metric: &Metric| if metric.less_is_better { 1.0 } else { -1.0 };
    let inside: Vec<(f64, f64)> = tuned.candidates.iter().filter(|found| found.on_front).filter_map(point).collect();
    let turned: Vec<(f64, f64)> = inside.iter().map(|(a, b)| (a * sign(x), b * sign(y))).collect();
    let front: Vec<(f64, f64)> =
        pareto_front(&turned).into_iter().filter_map(|place| inside.get(place).copied()).collect();
    let title = |metric: &Metric| format!("{}, baseline = 1", metric.title);
    let chart = Scatter { name: "candidates", x: &title(x), y: &title(y), series: &series, front: &front };
    if let Some(svg) = draw_scatter(&chart)? {
        write_file(&out.join("candidates.svg"), svg.as_bytes())?;
        write_file(&out.join("candidates.png"), &png("candidates", &svg)?)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::convert::Infallible;

    use rand::RngExt;
    use resched_trace::draws::{Purpose, stream};

    use super::*;

    /// A noisy bowl over [0, 1] with its bottom at 0.7, at settings that are spread evenly. The noise is normal (to the eye: the sum
    /// of twelve even draws), with a deviation of 0.05.
    fn noisy(place: usize, of: usize, seed: u64) -> f64 {
        let x = (place as f64 + 0.5) / of as f64;
        let mut rng = stream(seed, Purpose::SweepDesign, &[place as u64]);
        let noise: f64 = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        (x - 0.7).powi(2) + 0.05 * noise
    }

    fn score(objective: f64) -> Score {
        Score { objective, excess: 0.0 }
    }

    #[test]
    fn the_planted_optimum_is_found() {
        let rounds = successive_halving(81, 3, 1, 81, |alive, seeds| {
            Ok::<_, Infallible>(
                alive.iter().map(|&place| seeds.clone().map(|seed| score(noisy(place, 81, seed))).collect()).collect(),
            )
        })
        .unwrap();
        assert_eq!(
            rounds.iter().map(|round| (round.seeds, round.ranking.len())).collect::<Vec<_>>(),
            [(1, 81), (3, 27), (9, 9), (27, 3), (81, 1)]
        );
        let winner = rounds.last().unwrap().ranking[0];
        let x = (winner as f64 + 0.5) / 81.0;
        assert!((x - 0.7).abs() < 0.1, "{x}");
    }

    /// The mean regret over 200 searches, of random search at the same number of evaluations and with as many seeds a setting as
    /// suit it best.
    #[test]
    fn halving_beats_random_search_at_equal_cost() {
        let regret = |place: usize| ((place as f64 + 0.5) / 81.0 - 0.7).powi(2);
        let (mut halving, mut random) = (0.0, [0.0; 4]);
        for trial in 0..200u64 {
            let seed = |seed: u64| seed + 1_000 * trial;
            let mut evaluations = 0;
            let rounds = successive_halving(81, 3, 1, 81, |alive, seeds| {
                evaluations += alive.len() as u64 * (seeds.end - seeds.start);
                Ok::<_, Infallible>(
                    alive
                        .iter()
                        .map(|&place| seeds.clone().map(|s| score(noisy(place, 81, seed(s)))).collect())
                        .collect(),
                )
            })
            .unwrap();
            halving += regret(rounds.last().unwrap().ranking[0]);
            for (random, each) in random.iter_mut().zip([1, 3, 9, 27]) {
                let mut rng = stream(trial, Purpose::SweepDesign, &[each]);
                let tried = (0..evaluations / each).map(|_| {
                    let place = rng.random_range(0..81usize);
                    let found: Vec<f64> = (0..each).map(|s| noisy(place, 81, seed(s))).collect();
                    (mean(&found).unwrap(), place)
                });
                *random += regret(tried.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1);
            }
        }
        assert!(random.iter().all(|random| halving < *random), "halving {halving}, random {random:?}");
    }

    #[test]
    fn a_setting_that_breaks_a_bound_comes_last() {
        let rounds = successive_halving(3, 2, 2, 2, |alive, seeds| {
            let score = |place: usize| Score { objective: place as f64, excess: if place == 0 { 0.1 } else { -0.1 } };
            Ok::<_, Infallible>(alive.iter().map(|&place| seeds.clone().map(|_| score(place)).collect()).collect())
        })
        .unwrap();
        assert_eq!(rounds, [Round { seeds: 2, ranking: vec![1, 2, 0] }]);
    }
}
