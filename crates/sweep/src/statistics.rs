//! From the results of cells to answers with error bars: means over seeds, and tests of differences.
//!
//! All variants see the same seeds (common random numbers), so differences are taken seed by seed.

use std::collections::{BTreeMap, BTreeSet};

use resched_analysis::metrics::named::Metric;
use resched_analysis::metrics::validity::WAITING;
use resched_analysis::statistics::compare::{Basis, JOB_METRICS, of_other_days};
use resched_analysis::statistics::distribution::{Distribution, rises_above};
use resched_analysis::statistics::estimate::Estimate;
use resched_analysis::statistics::paired::{holm, least_p, sign_test, signed_rank_test};
use resched_analysis::statistics::practical::{Matters, Ratio, Verdict};
use resched_analysis::statistics::repeats::{log_ratio, t_interval};
use resched_tables::validity::{Fact, Grade, Validity};

use crate::cell::Cell;
use crate::file::SweepFile;
use crate::plan::Plan;
use crate::results::CellResult;
use crate::source::SourcePath;

/// The cells that differ only in their seed, in the order of the plan, with their results.
#[derive(Debug)]
pub struct Group<'a> {
    /// The indexes of its source and its cluster in the plan.
    pub(crate) place: (usize, usize),
    /// The variant's name.
    pub variant: &'a str,
    /// The policy with its parameters.
    pub policy: &'a str,
    /// The settings that vary, as they are written.
    pub settings: BTreeMap<String, String>,
    /// The settings among them that belong to the world.
    pub(crate) world: BTreeMap<String, String>,
    /// The results by seed.
    pub(crate) cells: BTreeMap<u64, &'a CellResult>,
    /// True if the draws of another seed may change its results.
    pub(crate) draws: bool,
}

impl Group<'_> {
    /// True if no draw changes its results: they are equal to the last bit with every seed, so that they show no spread.
    pub fn is_fixed(&self) -> bool {
        let mut cells = self.cells.values();
        let Some(first) = cells.next() else { return false };
        !self.draws
            || self.cells.len() > 1
                && cells.all(|other| other.metrics == first.metrics && other.completions == first.completions)
    }

    /// True if its seeds show how far draws move its numbers.
    pub fn shows_spread(&self) -> bool {
        self.seeds() > 1 && !self.is_fixed()
    }

    /// The mean of a metric over the seeds, with its 95 % interval by Student's t.
    pub fn estimate(&self, metric: &Metric) -> Option<Estimate> {
        t_interval(&self.values(metric).into_values().collect::<Vec<_>>())
    }

    /// A metric by seed.
    pub(crate) fn values(&self, metric: &Metric) -> BTreeMap<u64, f64> {
        self.cells.iter().filter_map(|(&seed, result)| Some((seed, *result.metrics.get(&metric.name)?))).collect()
    }

    /// How far its numbers can be trusted: the worst grade of its cells.
    pub fn grade(&self) -> Grade {
        self.cells.values().map(|cell| cell.validity.grade()).max().unwrap_or_default()
    }

    /// The facts about its cells.
    pub fn validity(&self) -> Validity {
        self.cells.values().fold(Validity::default(), |all, cell| all.and(&cell.validity))
    }

    /// The indexes of its source and its cluster in the plan.
    pub fn place(&self) -> (usize, usize) {
        self.place
    }

    /// The number of its seeds.
    pub fn seeds(&self) -> usize {
        self.cells.len()
    }

    /// Its variant and settings, for people.
    pub fn label(&self) -> String {
        let pairs: Vec<String> = self.settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        if pairs.is_empty() { self.variant.to_owned() } else { format!("{} ({})", self.variant, pairs.join(", ")) }
    }

    /// Completion times of all jobs and seeds.
    fn completions(&self) -> Distribution {
        Distribution::new(self.cells.values().flat_map(|result| result.completions.values().copied()))
    }
}

/// Groups the cells of a plan. Cells without a result are left out.
pub(crate) fn groups<'a>(plan: &'a Plan, results: &'a [Option<CellResult>]) -> Vec<Group<'a>> {
    let constant = |key: &str| {
        let mut values = plan.cells.iter().map(|cell| cell.world.get(key));
        let first = values.next();
        values.all(|value| Some(value) == first)
    };
    let keys: BTreeSet<&str> = plan.cells.iter().flat_map(|cell| cell.world.keys().map(String::as_str)).collect();
    let constants: BTreeSet<&str> = keys.into_iter().filter(|key| constant(key)).collect();
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places: BTreeMap<_, usize> = BTreeMap::new();
    for (cell, result) in plan.cells.iter().zip(results) {
        let Some(result) = result else { continue };
        let mut settings = cell.texts();
        settings.retain(|key, _| !constants.contains(key.as_str()));
        let key = (cell.source, cell.cluster, cell.variant.as_str(), settings.clone());
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group {
                place: (cell.source, cell.cluster),
                variant: &cell.variant,
                policy: &cell.policy,
                world: world_of(cell, &settings),
                settings,
                cells: BTreeMap::new(),
                draws: cell.draws,
            });
        }
        if let Some(group) = groups.get_mut(place) {
            group.cells.insert(cell.seed, result);
        }
    }
    groups
}

fn world_of(cell: &Cell, settings: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let of_world =
        |(key, value): (&String, &String)| cell.world.contains_key(key).then(|| (key.clone(), value.clone()));
    settings.iter().filter_map(of_world).collect()
}

/// A group against the baseline of its world, in one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The index of the group.
    pub group: usize,
    /// The index of its baseline.
    pub baseline: usize,
    /// The metric.
    pub metric: String,
    /// The number of seeds that both have.
    pub seeds: usize,
    /// The value of the group minus that of the baseline: the mean over the seeds with its interval.
    pub difference: Estimate,
    /// The value of the group / that of the baseline: the geometric mean over the seeds with its interval. `None` if a value is 0.
    pub ratio: Option<Ratio>,
    /// Whether the ratio differs by an amount that matters.
    pub verdict: Verdict,
    /// The tests; `None` if the data cannot answer the question, or no draw changes anything.
    pub tests: Option<Tests>,
    /// True if no draw changes the difference, so that nothing can be tested over draws.
    pub fixed: bool,
    /// What other days would bring, if the jobs are those of a trace and the metric is the mean of one of their times.
    pub other_days: Option<OtherDays>,
}

/// The ratio of means over other days like those of the trace, by the replays with the first seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OtherDays {
    /// What its interval is over, or that there is none.
    pub basis: Basis,
    /// The ratio.
    pub ratio: Ratio,
}

/// The metrics of a cell that are the mean of a metric of jobs.
const MEANS: [(&str, &str); 2] = [("mean_completion", "completion"), ("mean_waiting", "waiting")];

/// What other days would bring. Two groups on a trace have the same jobs with every seed.
fn other_days(group: &Group<'_>, base: &Group<'_>, metric: &Metric) -> Option<OtherDays> {
    let (_, of_jobs) = MEANS.iter().find(|(name, _)| *name == metric.name)?;
    let of_jobs = JOB_METRICS.iter().find(|metric| metric.name == *of_jobs)?;
    let (seed, cell) = group.cells.iter().find(|(seed, _)| base.cells.contains_key(seed))?;
    let theirs = base.cells.get(seed)?;
    let (basis, ratio) = of_other_days(&theirs.jobs(), &cell.jobs(), of_jobs, *seed);
    Some(OtherDays { basis, ratio: ratio? })
}

/// Tests over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tests {
    /// Two-sided p-value of the sign test; 1 without a difference.
    pub sign: f64,
    /// Two-sided p-value of Wilcoxon's signed-rank test; 1 without a difference.
    pub signed_rank: f64,
    /// The p-value of the signed-rank test, corrected by Holm's method over all groups of the metric.
    pub holm: f64,
    /// The least p-value that so many seeds can reach.
    pub least: f64,
}

/// How the completion times of a group compare with those of its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DominanceRow {
    /// The index of the group.
    pub group: usize,
    /// The place of its baseline.
    pub baseline: usize,
    /// How far its CDF rises above that of the baseline (more jobs done early). It has no p-value, as jobs of one run depend on each
    /// other.
    pub above: Option<f64>,
    /// How far it falls below.
    pub below: Option<f64>,
}

/// The index of the baseline of each group: the first setting of the baseline variant in the same world.
pub(crate) fn baselines(groups: &[Group<'_>], file: &SweepFile) -> Vec<Option<usize>> {
    let name = file.variants.get(file.baseline).map_or("", |variant| variant.name.as_str());
    let same_world = |a: &Group<'_>, b: &Group<'_>| a.place == b.place && a.world == b.world;
    groups
        .iter()
        .enumerate()
        .map(|(place, group)| {
            let found = groups.iter().position(|other| other.variant == name && same_world(group, other));
            found.filter(|&found| found != place)
        })
        .collect()
}

/// Compares every group with the baseline of its world, in every metric that both have.
pub(crate) fn differences(groups: &[Group<'_>], file: &SweepFile) -> Vec<Difference> {
    let is_trace = |group: &Group<'_>| matches!(file.sources.get(group.place.0), Some(SourcePath::Trace(_)));
    let baselines = baselines(groups, file);
    let mut all = Vec::new();
    for metric in &file.metrics() {
        let mut of_metric: Vec<Difference> = Vec::new();
        for (place, (group, baseline)) in groups.iter().zip(&baselines).enumerate() {
            let Some((baseline, base)) = baseline.and_then(|base| Some((base, groups.get(base)?))) else { continue };
            let found = difference((place, group), (baseline, base), metric, file.matters);
            let other_days = is_trace(group).then(|| other_days(group, base, metric)).flatten();
            of_metric.extend(found.map(|found| Difference { other_days, ..found }));
        }
        let p: Vec<f64> = of_metric.iter().filter_map(|row| row.tests).map(|tests| tests.signed_rank).collect();
        for (tests, p) in of_metric.iter_mut().filter_map(|row| row.tests.as_mut()).zip(holm(&p)) {
            tests.holm = p;
        }
        all.append(&mut of_metric);
    }
    all
}

fn difference(
    (place, group): (usize, &Group<'_>),
    (baseline, base): (usize, &Group<'_>),
    metric: &Metric,
    matters: Matters,
) -> Option<Difference> {
    let (ours, theirs) = (group.values(metric), base.values(metric));
    let pairs: Vec<(f64, f64)> = ours.iter().filter_map(|(seed, ours)| Some((*theirs.get(seed)?, *ours))).collect();
    let differences: Vec<f64> = pairs.iter().map(|(base, value)| value - base).collect();
    let logs: Vec<f64> = pairs.iter().map(|(base, value)| (value / base).ln()).collect();
    let answerable = is_answerable(group, base, &differences);
    let fixed = group.is_fixed() && base.is_fixed();
    let is_tested = answerable && !fixed;
    let ratio = log_ratio(&logs).map(|ratio| if is_tested { ratio } else { Ratio::bare(ratio.value) });
    let tests = Tests {
        sign: sign_test(&differences).map_or(1.0, |test| test.p),
        signed_rank: signed_rank_test(&differences).map_or(1.0, |test| test.p),
        holm: 1.0,
        least: least_p(pairs.len()),
    };
    Some(Difference {
        group: place,
        baseline,
        metric: metric.name.clone(),
        seeds: pairs.len(),
        difference: t_interval(&differences)?,
        ratio,
        verdict: if answerable { Verdict::of(ratio, matters) } else { Verdict::NotAnswerable },
        tests: is_tested.then_some(tests),
        fixed,
        other_days: None,
    })
}

/// True if the data can say two groups apart. That no task waited is no reason if they differ all the same: a policy may let slots
/// idle on purpose.
fn is_answerable(group: &Group<'_>, base: &Group<'_>, differences: &[f64]) -> bool {
    let facts =
        |group: &Group<'_>, of: fn(&Fact) -> bool| group.cells.values().any(|cell| cell.validity.facts.iter().any(of));
    let idle = |group| facts(group, |fact| fact.about == WAITING);
    let other = |group| facts(group, |fact| fact.about != WAITING && fact.grade == Grade::NotAnswerable);
    let same = differences.iter().all(|difference| *difference == 0.0);
    !(other(group) || other(base) || (same && idle(group) && idle(base)))
}

/// The facts about all cells, and `signs`, each with the number of cells that it holds for.
pub(crate) fn validity(groups: &[Group<'_>], file: &SweepFile, signs: &[Fact]) -> (Validity, Vec<usize>) {
    let mut all = Validity::default();
    let cells = || groups.iter().flat_map(|group| group.cells.values());
    for fact in cells().flat_map(|cell| &cell.validity.facts).filter(|fact| fact.grade > Grade::Measured) {
        all.add(fact.clone());
    }
    let mut counts: Vec<usize> =
        all.facts.iter().map(|fact| cells().filter(|cell| cell.validity.facts.contains(fact)).count()).collect();
    let contained = in_other_places(groups, &baselines(groups, file), file);
    if contained > 0 {
        let says = "Some policies run tasks in slots and others in containers, so a difference may also come from the capacity of the \
                    machines.";
        all.add(
            Fact::new("capacity", Grade::Assumed, says)
                .with_remedy("Compare policies of one system, or give both the same capacity."),
        );
        counts.push(contained);
    }
    let others = with_other_jobs(groups, &baselines(groups, file));
    if others > 0 {
        let says = "The jobs that ended well are not those of the baseline, so the metrics cover different jobs.";
        let remedy = "`resched replay` compares policies on the jobs that count under all of them.";
        all.add(Fact::new("population", Grade::Assumed, says).with_remedy(remedy));
        counts.push(others);
    }
    for sign in signs {
        all.facts.push(sign.clone());
        counts.push(cells().count());
    }
    (all, counts)
}

/// How many cells run in containers while their baseline runs in slots, or the other way round.
fn in_other_places(groups: &[Group<'_>], baselines: &[Option<usize>], file: &SweepFile) -> usize {
    let system = |group: &Group<'_>| {
        let variant = file.variants.iter().find(|variant| variant.name == group.variant);
        variant.map(|variant| variant.policy.info.system())
    };
    let differ = |(group, baseline): (&Group<'_>, &Option<usize>)| {
        let base = baseline.and_then(|base| groups.get(base));
        if base.is_some_and(|base| system(base) != system(group)) { group.seeds() } else { 0 }
    };
    groups.iter().zip(baselines).map(differ).sum()
}

/// How many cells count other jobs than the baseline of their world with the same seed.
fn with_other_jobs(groups: &[Group<'_>], baselines: &[Option<usize>]) -> usize {
    let differ = |(group, baseline): (&Group<'_>, &Option<usize>)| {
        let Some(base) = baseline.and_then(|base| groups.get(base)) else { return 0 };
        let pairs = group.cells.iter().filter_map(|(seed, cell)| Some((cell, base.cells.get(seed)?)));
        pairs.filter(|(cell, base)| !cell.completions.keys().eq(base.completions.keys())).count()
    };
    groups.iter().zip(baselines).map(differ).sum()
}

/// Compares the completion times of every group with those of its baseline.
pub(crate) fn dominance(groups: &[Group<'_>], file: &SweepFile) -> Vec<DominanceRow> {
    let row = |(group, baseline): (usize, Option<usize>)| {
        let baseline = baseline?;
        let (ours, base) = (groups.get(group)?.completions(), groups.get(baseline)?.completions());
        let rises = |upper, lower| rises_above(upper, lower).map(|(by, _)| by);
        Some(DominanceRow { group, baseline, above: rises(&ours, &base), below: rises(&base, &ours) })
    };
    baselines(groups, file).into_iter().enumerate().filter_map(row).collect()
}

/// The groups that have a value of the metric, by source, the best first: numbers of different traces are not compared. Equal groups
/// keep the order of the plan.
pub(crate) fn ranking(groups: &[Group<'_>], metric: &Metric) -> Vec<(usize, Estimate)> {
    let mut found: Vec<(usize, Estimate)> =
        groups.iter().enumerate().filter_map(|(place, group)| Some((place, group.estimate(metric)?))).collect();
    let source = |place: usize| groups.get(place).map(|group| group.place.0);
    found.sort_by(|(one, a), (other, b)| {
        source(*one).cmp(&source(*other)).then(metric.cost(a.value).total_cmp(&metric.cost(b.value)))
    });
    found
}

/// A ranking with the rank of each group among those of its source.
pub(crate) fn numbered<'r>(
    groups: &'r [Group<'_>],
    ranked: &'r [(usize, Estimate)],
) -> impl Iterator<Item = (usize, usize, Estimate)> + 'r {
    let mut last = (None, 0);
    ranked.iter().map(move |&(place, found)| {
        let source = groups.get(place).map(|group| group.place.0);
        last = if last.0 == source { (source, last.1 + 1) } else { (source, 1) };
        (last.1, place, found)
    })
}

/// The indexes of the points on the Pareto front, in the order of the first number. Less is better in both numbers; no point is
/// better in one and as good in the other than a point on the front.
fn pareto_front(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    let at = |place: &usize| points.get(*place).copied().unwrap_or((f64::NAN, f64::NAN));
    order.sort_by(|a, b| at(a).0.total_cmp(&at(b).0).then(at(a).1.total_cmp(&at(b).1)).then(a.cmp(b)));
    let mut least = f64::INFINITY;
    order.retain(|place| {
        let on_front = at(place).1 < least;
        least = least.min(at(place).1);
        on_front
    });
    order
}

/// The points on the Pareto front of two metrics, in the order of the first.
pub(crate) fn front_of(points: &[(f64, f64)], first: &Metric, second: &Metric) -> Vec<(f64, f64)> {
    let costs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (first.cost(*x), second.cost(*y))).collect();
    let mut front: Vec<(f64, f64)> =
        pareto_front(&costs).into_iter().filter_map(|place| points.get(place).copied()).collect();
    front.sort_by(|a, b| a.0.total_cmp(&b.0));
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_count_other_jobs_than_their_baseline_are_found() {
        let result = |jobs: &[&str]| {
            let mut result = CellResult::default();
            result.completions.extend(jobs.iter().map(|&job| (job.to_owned(), 1.0)));
            result
        };
        let results = [result(&["a", "b"]), result(&["a", "c"])];
        let group = |of_seeds: [usize; 2]| Group {
            place: (0, 0),
            variant: "",
            policy: "",
            settings: BTreeMap::new(),
            world: BTreeMap::new(),
            cells: (1..).zip(of_seeds.map(|result| &results[result])).collect(),
            draws: true,
        };
        let groups = [group([0, 0]), group([0, 1]), group([0, 0]), group([1, 1])];
        assert_eq!(with_other_jobs(&groups, &[None, Some(0), Some(0), Some(0)]), 3);
        assert_eq!(with_other_jobs(&groups, &[None, None, Some(0), Some(2)]), 2);
    }

    #[test]
    fn equal_results_with_every_seed_show_no_spread() {
        let result = |mean: f64| {
            let mut result = CellResult::default();
            result.metrics.insert("mean_completion".to_owned(), mean);
            result
        };
        let results = [result(4.0), result(5.0)];
        let group = |of_seeds: [usize; 2]| Group {
            place: (0, 0),
            variant: "",
            policy: "",
            settings: BTreeMap::new(),
            world: BTreeMap::new(),
            cells: (1..).zip(of_seeds.map(|result| &results[result])).collect(),
            draws: true,
        };
        let (one, other, drawn) = (group([0, 0]), group([1, 1]), group([0, 1]));
        assert_eq!([&one, &other, &drawn].map(|group| group.shows_spread()), [false, false, true]);
        let metric = Metric::named("mean_completion").expect("a metric");
        let compared = |second: &Group<'_>| difference((1, second), (0, &one), &metric, Matters::default());
        let fixed = compared(&other).expect("both have it");
        assert_eq!((fixed.fixed, fixed.tests, fixed.ratio), (true, None, Some(Ratio::bare(1.25))));
        assert_eq!(fixed.verdict, Verdict::NotTested);
        assert!(compared(&drawn).is_some_and(|found| found.tests.is_some() && !found.fixed));
    }

    #[test]
    fn the_front_is_what_nothing_beats() {
        let points = [(1.0, 9.0), (2.0, 5.0), (2.0, 6.0), (3.0, 7.0), (4.0, 1.0), (5.0, 1.0)];
        assert_eq!(pareto_front(&points), [0, 1, 4]);
        assert_eq!(pareto_front(&[]), [0; 0]);
    }
}
