//! Compares a metric of the same jobs in two policies.
//!
//! Jobs of one run are not independent, so no interval and no test is over jobs. They are over seeds, if there are several runs of both
//! policies, or else over [`blocks`](crate::statistics::blocks) of the jobs of one run.

use std::cmp::Ordering;

use serde::Serialize;

use crate::metrics::list::{QUANTITIES, Quantity};
use crate::runs::jobs::JobMetrics;
use crate::runs::standing::pairs_among;
use crate::runs::who::Who;
use crate::statistics::blocks::{Blocks, LEAST_BLOCKS, Pair, QUANTILES, Ratios, STATISTICS, TooFew, beyond, logs_of};
use crate::statistics::distribution::{Distribution, Dominance};
use crate::statistics::paired::{SignTest, SignedRankTest, least_p, sign_test, signed_rank_test};
use crate::statistics::practical::{Matters, Ratio, Verdict};
use crate::statistics::repeats::log_ratio;

/// A metric of a job that can be compared.
#[derive(Debug, Clone, Copy)]
pub struct JobMetric {
    /// Its word in the list of metrics ([`QUANTITIES`]).
    pub name: &'static str,
    /// If a mean of ratios makes sense: the value below which a difference is not looked at. `None` if values may vanish: a ratio to
    /// hardly anything says nothing, and a few such jobs would make the mean.
    pub least: Option<f64>,
}

/// The metrics of a job that are compared.
pub const JOB_METRICS: [JobMetric; 2] =
    [JobMetric { name: "completion", least: Some(1_000.0) }, JobMetric { name: "waiting", least: None }];

impl JobMetric {
    /// The quantity of the list.
    fn quantity(&self) -> Option<&'static Quantity> {
        QUANTITIES.iter().find(|quantity| quantity.name == self.name)
    }

    /// Its title.
    pub fn title(&self) -> &'static str {
        self.quantity().map_or(self.name, |quantity| quantity.title)
    }

    /// Its value for a job; `None` if it is unknown.
    pub fn of(&self, job: &JobMetrics) -> Option<f64> {
        self.quantity().and_then(|quantity| (quantity.of)(job))
    }
}

/// What intervals and tests are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "parts")]
pub enum Basis {
    /// Runs with different seeds.
    Seeds(usize),
    /// Blocks of busy periods of one run: what other days would bring, if they are like these.
    BusyPeriods(usize),
    /// One run with so few independent blocks that it only says something about its own jobs.
    TheseJobsOnly(usize),
    /// The data cannot answer the question.
    NotAnswerable,
}

impl Basis {
    /// The number of parts that are taken to be independent.
    pub fn parts(self) -> usize {
        match self {
            Self::Seeds(parts) | Self::BusyPeriods(parts) => parts,
            Self::TheseJobsOnly(_) | Self::NotAnswerable => 0,
        }
    }

    /// True if the numbers are about these jobs only, so that nothing can be significant.
    pub fn is_these_jobs_only(self) -> bool {
        matches!(self, Self::TheseJobsOnly(_))
    }

    /// The basis in words.
    pub fn in_words(self) -> String {
        match self {
            Self::Seeds(parts) => format!("{parts} seeds"),
            Self::BusyPeriods(parts) => format!("{parts} blocks of busy periods"),
            Self::TheseJobsOnly(_) => "for these jobs only".to_owned(),
            Self::NotAnswerable => "cannot answer".to_owned(),
        }
    }

    /// Why there is no interval, as a sentence; empty if there is one.
    pub fn why_no_interval(self) -> String {
        match self {
            Self::TheseJobsOnly(blocks) if blocks < LEAST_BLOCKS => {
                let parts = match blocks {
                    0 => "has no independent part".to_owned(),
                    1 => "is one busy period".to_owned(),
                    blocks => format!("has {blocks} independent blocks of busy periods"),
                };
                format!("The log {parts}, and {LEAST_BLOCKS} are needed to say what other days would bring.")
            }
            Self::TheseJobsOnly(_) => {
                "Neighbouring parts of the log resemble each other too much to say what other days would bring."
                    .to_owned()
            }
            _ => String::new(),
        }
    }
}

/// A metric of the jobs under a second policy against a first. A ratio is second / first: below 1, the second is shorter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The number of jobs that both have with a known metric, over all seeds.
    pub jobs: u64,
    /// What the intervals and tests are over.
    pub basis: Basis,
    /// The mean of the first and that of the second, over these jobs; null without jobs.
    pub means: Option<[f64; 2]>,
    /// The share of the jobs that are longer under the second by an amount that matters ([`Matters::change`]); null without jobs.
    pub longer: Option<f64>,
    /// The share of the jobs that are shorter under the second by an amount that matters.
    pub shorter: Option<f64>,
    /// The mean of the second / the mean of the first.
    pub ratio_of_means: Option<Ratio>,
    /// The median of the second / the median of the first.
    pub ratio_of_p50: Option<Ratio>,
    /// The same of the 95th percentiles.
    pub ratio_of_p95: Option<Ratio>,
    /// The same of the 99th percentiles.
    pub ratio_of_p99: Option<Ratio>,
    /// The mean over jobs of their ratios: every job weighs the same. Only for metrics that cannot vanish; values below
    /// [`JobMetric::least`] count as that.
    pub mean_of_ratios: Option<Ratio>,
    /// Sign test on the differences of the means of the parts.
    pub sign: Option<SignTest>,
    /// Wilcoxon signed-rank test on the differences of the means of the parts.
    pub signed_rank: Option<SignedRankTest>,
    /// The least p-value that the tests can reach with so many parts that differ: `2/2ⁿ`. If it is above 0.05, more seeds or days are
    /// needed.
    pub least_p: Option<f64>,
    /// Whether one cumulative distribution lies above the other everywhere. Null without jobs.
    pub dominance: Option<Dominance>,
    /// Whether the ratio of means differs by an amount that matters.
    pub verdict: Verdict,
}

/// How to compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct How {
    /// The bound beyond which a difference matters.
    pub matters: Matters,
    /// The seed of the resamples.
    pub seed: u64,
    /// True if the data can answer the question. If not, there are no intervals and no tests.
    pub answerable: bool,
}

/// Compares a metric of the jobs of two policies. `runs` has their jobs for each seed: (the first's, the second's). Only the jobs that
/// count in both take part.
pub fn compare(runs: &[(&[JobMetrics], &[JobMetrics])], metric: &JobMetric, how: &How) -> Comparison {
    let seeds: Vec<Vec<Pair>> = runs.iter().map(|(first, second)| values(first, second, metric)).collect();
    let jobs: usize = seeds.iter().map(Vec::len).sum();
    let all = || seeds.iter().flatten();
    let dominance = (jobs > 0).then(|| {
        let of = |value: fn(&Pair) -> f64| Distribution::new(all().map(value));
        of(|pair| pair.first).dominance(&of(|pair| pair.second))
    });
    let (basis, ratios, differences) = match seeds.as_slice() {
        _ if !how.answerable || jobs == 0 => (Basis::NotAnswerable, bare(&seeds, metric), Vec::new()),
        [single] => match Blocks::new(single.clone()) {
            Err(TooFew { blocks }) => (Basis::TheseJobsOnly(blocks), bare(&seeds, metric), Vec::new()),
            Ok(blocks) => {
                let basis = Basis::BusyPeriods(blocks.jobs.len());
                (basis, blocks.ratios(metric.least, how.seed), blocks.differences())
            }
        },
        several => (Basis::Seeds(several.len()), over_seeds(several, metric), mean_differences(several)),
    };
    let [ratio_of_p50, ratio_of_p95, ratio_of_p99] = ratios.quantiles;
    let changed = |wanted| {
        let changed = all().filter(|pair| how.matters.change(pair.first, pair.second) == wanted).count();
        (jobs > 0).then(|| changed as f64 / jobs as f64)
    };
    let means = (jobs > 0).then(|| {
        let mean = |of: fn(&Pair) -> f64| all().map(of).sum::<f64>() / jobs as f64;
        [mean(|pair| pair.first), mean(|pair| pair.second)]
    });
    let ratios = Ratios { means: ratios.means.or_else(|| vanished(means)), ..ratios };
    Comparison {
        jobs: jobs as u64,
        basis,
        means,
        longer: changed(Ordering::Greater),
        shorter: changed(Ordering::Less),
        ratio_of_means: ratios.means,
        ratio_of_p50,
        ratio_of_p95,
        ratio_of_p99,
        mean_of_ratios: ratios.mean_of_ratios,
        sign: sign_test(&differences),
        signed_rank: signed_rank_test(&differences),
        least_p: sign_test(&differences).map(|sign| least_p((sign.negative + sign.positive) as usize)),
        dominance,
        verdict: match basis {
            Basis::NotAnswerable => Verdict::NotAnswerable,
            _ => Verdict::of(ratios.means, how.matters),
        },
    }
}

/// What other days would bring, by one run of each policy: the ratio of means with an interval over blocks of busy periods, and what
/// that interval is over. There is no interval if the basis is [`Basis::TheseJobsOnly`], and no ratio if one of the means is 0. It takes
/// far less time than [`compare`].
pub fn of_other_days(
    first: &[JobMetrics],
    second: &[JobMetrics],
    metric: &JobMetric,
    seed: u64,
) -> (Basis, Option<Ratio>) {
    let pairs = values(first, second, metric);
    if pairs.is_empty() {
        return (Basis::NotAnswerable, None);
    }
    let [log, ..] = logs_of(&pairs, None);
    let bare = log.is_finite().then(|| Ratio::bare(log.exp()));
    match Blocks::new(pairs) {
        Ok(blocks) => (Basis::BusyPeriods(blocks.jobs.len()), blocks.ratio_of_means(seed)),
        Err(TooFew { blocks }) => (Basis::TheseJobsOnly(blocks), bare),
    }
}

/// The ratio of means if the second is 0 and the first is not: it has no logarithm, and so no interval.
fn vanished(means: Option<[f64; 2]>) -> Option<Ratio> {
    means.filter(|[first, second]| *first > 0.0 && *second == 0.0).map(|_| Ratio::bare(0.0))
}

/// The metric of each job that is among those it is over in both, in order of submission.
fn values(first: &[JobMetrics], second: &[JobMetrics], metric: &JobMetric) -> Vec<Pair> {
    let who = metric.quantity().map_or(Who::Ended, |quantity| quantity.who);
    let of = metric.quantity().map(|quantity| quantity.of);
    let pair = |(one, two): (&JobMetrics, &JobMetrics)| {
        let submit = one.submit?;
        let wait = |job: &JobMetrics| job.waiting.unwrap_or(0).max(0);
        let runs = |job: &JobMetrics| job.completion.unwrap_or(0).saturating_sub(wait(job));
        Some(Pair {
            submit,
            waits_until: submit.saturating_add(wait(one).max(wait(two))),
            runs: runs(one).min(runs(two)),
            first: of?(one)?,
            second: of?(two)?,
        })
    };
    pairs_among(first, second, who).into_iter().filter_map(pair).collect()
}

/// The ratios without intervals: means over the seeds on the scale of logarithms.
fn bare(seeds: &[Vec<Pair>], metric: &JobMetric) -> Ratios {
    let strip = |ratio: Option<Ratio>| ratio.map(|ratio| Ratio::bare(ratio.value));
    let found = over_seeds(seeds, metric);
    Ratios {
        means: strip(found.means),
        quantiles: found.quantiles.map(strip),
        mean_of_ratios: strip(found.mean_of_ratios),
    }
}

/// The ratios with intervals over the seeds.
fn over_seeds(seeds: &[Vec<Pair>], metric: &JobMetric) -> Ratios {
    let logs: Vec<[f64; STATISTICS]> = seeds.iter().map(|pairs| logs_of(pairs, metric.least)).collect();
    let ratio = |statistic: usize| {
        let of_seeds: Vec<f64> = logs.iter().filter_map(|logs| logs.get(statistic).copied()).collect();
        log_ratio(&of_seeds)
    };
    let jobs = seeds.iter().map(Vec::len).min().unwrap_or(0);
    let quantile = |(place, p): (usize, f64)| {
        ratio(2 + place).map(|ratio| if beyond(p, jobs) { ratio } else { Ratio::bare(ratio.value) })
    };
    let mut quantiles = QUANTILES.into_iter().enumerate().map(quantile);
    Ratios {
        means: ratio(0),
        quantiles: std::array::from_fn(|_| quantiles.next().flatten()),
        mean_of_ratios: ratio(1).filter(|_| metric.least.is_some()),
    }
}

/// For each seed: the mean of the second − the mean of the first.
fn mean_differences(seeds: &[Vec<Pair>]) -> Vec<f64> {
    let difference =
        |pairs: &Vec<Pair>| pairs.iter().map(|pair| pair.second - pair.first).sum::<f64>() / pairs.len().max(1) as f64;
    seeds.iter().map(difference).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_tables::standing::Standing;

    use super::*;

    const COMPLETION: JobMetric = JOB_METRICS[0];
    const WAITING: JobMetric = JOB_METRICS[1];

    fn jobs(completions: &[i64]) -> Vec<JobMetrics> {
        let job = |(index, &completion): (usize, &i64)| JobMetrics {
            job_id: format!("job_{index}"),
            submit: Some(index as i64 * 1_000),
            completion: Some(completion),
            waiting: Some(completion / 2),
            ..JobMetrics::default()
        };
        completions.iter().enumerate().map(job).collect()
    }

    fn how() -> How {
        How { matters: Matters::default(), seed: 1, answerable: true }
    }

    fn of(first: &[i64], second: &[i64]) -> Comparison {
        compare(&[(&jobs(first), &jobs(second))], &COMPLETION, &how())
    }

    // By hand: means 3 s and 4 s; medians 2 s and 4 s; ratios 2, 2, 1 and 0.5 / 1 s count as 1 s, so 2, 2, 1, 1.
    #[test]
    fn the_ratios_of_a_few_jobs() {
        let found = of(&[2_000, 2_000, 8_000, 0], &[4_000, 4_000, 8_000, 0]);
        assert!((found.ratio_of_means.unwrap().value - 16.0 / 12.0).abs() < 1e-12);
        assert!((found.ratio_of_p50.unwrap().value - 2.0).abs() < 1e-12);
        assert!((found.mean_of_ratios.unwrap().value - 1.5).abs() < 1e-12);
        assert_eq!((found.jobs, found.basis, found.verdict), (4, Basis::TheseJobsOnly(1), Verdict::NotTested));
        assert_eq!(found.dominance, Some(Dominance::First));
        assert_eq!((found.ratio_of_means.unwrap().interval, found.sign, found.least_p), (None, None, None));
    }

    #[test]
    fn jobs_that_count_in_one_run_only_are_left_out() {
        let mut second = jobs(&[5, 6, 7]);
        second.last_mut().unwrap().standing = Standing::Failed;
        let first = jobs(&[3, 3, 7]);
        assert_eq!(compare(&[(&first, &second)], &COMPLETION, &how()).jobs, 2);
    }

    /// A few long jobs make the mean: nine of ten jobs end later, and the mean is shorter.
    #[test]
    fn who_loses_is_counted_beside_the_mean() {
        let (mut first, mut second) = (vec![10_000; 9], vec![20_000; 9]);
        first.push(900_000);
        second.push(100_000);
        let found = of(&first, &second);
        assert_eq!((found.means, found.longer, found.shorter), (Some([99_000.0, 28_000.0]), Some(0.9), Some(0.1)));
    }

    /// A wait that vanishes has no logarithm of a ratio: that is no reason to call it insignificant.
    #[test]
    fn what_vanishes_is_said_to() {
        let found = of(&[4_000; 40], &[0; 40]);
        assert_eq!((found.verdict, found.ratio_of_means), (Verdict::Vanishes, Some(Ratio::bare(0.0))));
        assert_eq!(of(&[0; 40], &[0; 40]).verdict, Verdict::CannotTell);
    }

    #[test]
    fn no_jobs_say_nothing() {
        let found = of(&[], &[1]);
        assert_eq!((found.jobs, found.dominance, found.verdict), (0, None, Verdict::NotAnswerable));
        assert_eq!((found.ratio_of_means, found.sign, found.signed_rank), (None, None, None));
    }

    #[test]
    fn what_cannot_be_answered_has_no_interval_and_no_test() {
        let (first, second): (Vec<i64>, Vec<i64>) =
            (0..100).map(|at| (1_000 + at * 37 % 500, 900 + at * 31 % 400)).unzip();
        let (first, second) = (jobs(&first), jobs(&second));
        let answered = compare(&[(&first, &second)], &COMPLETION, &how());
        assert!(answered.ratio_of_means.unwrap().interval.is_some() && answered.signed_rank.is_some());
        let silent = compare(&[(&first, &second)], &COMPLETION, &How { answerable: false, ..how() });
        assert_eq!(silent.ratio_of_means, answered.ratio_of_means.map(|ratio| Ratio::bare(ratio.value)));
        assert_eq!((silent.basis, silent.sign, silent.signed_rank), (Basis::NotAnswerable, None, None));
    }

    // By hand: the ratios of means of the seeds are 0.5, 0.6 and 0.7; the mean of their logarithms is ln 0.594392, their standard
    // deviation 0.168434, over √3 0.097245, times 4.302653 (t of 2 degrees) 0.418413.
    #[test]
    fn several_runs_give_intervals_over_seeds() {
        let base = jobs(&[10_000; 20]);
        let seeds = [5_000, 6_000, 7_000].map(|completion| jobs(&[completion; 20]));
        let runs: Vec<_> = seeds.iter().map(|seed| (base.as_slice(), seed.as_slice())).collect();
        let found = compare(&runs, &COMPLETION, &how());
        let ratio = found.ratio_of_means.unwrap();
        assert!((ratio.value - 0.594_392).abs() < 1e-5, "{ratio:?}");
        let [low, high] = ratio.interval.unwrap();
        assert!((low - 0.594_392 * (-0.418_413f64).exp()).abs() < 1e-4, "{ratio:?}");
        assert!((high - 0.594_392 * 0.418_413f64.exp()).abs() < 1e-4, "{ratio:?}");
        assert_eq!((found.basis, found.least_p, found.jobs), (Basis::Seeds(3), Some(0.25), 60));
        assert_eq!(found.signed_rank.map(|test| test.p), Some(0.25));
        assert_eq!(compare(&runs, &WAITING, &how()).mean_of_ratios, None);
    }
}
