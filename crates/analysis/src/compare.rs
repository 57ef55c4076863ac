//! Compares two runs of the same jobs, pair by pair.

use std::collections::BTreeMap;

use rand::RngExt;
use resched_trace::draws::{Purpose, stream};
use serde::Serialize;

use crate::distribution::{Distribution, Dominance, mean};
use crate::jobs::JobMetrics;
use crate::paired::{SignTest, SignedRankTest, sign_test, signed_rank_test};

/// Resamples of a bootstrap.
const RESAMPLES: usize = 10_000;
/// The most draws of a bootstrap. With more than 10,000 pairs there are fewer resamples, so that the time stays bounded.
const MAX_DRAWS: usize = 100_000_000;
/// The fewest resamples, for any number of pairs.
const MIN_RESAMPLES: usize = 200;
/// The share of the resampled estimates that an interval contains.
const CONFIDENCE: f64 = 0.95;

/// A number with its 95 % bootstrap interval (percentile method, Efron and Tibshirani 1993, ch. 13).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// A job under both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// Its id.
    pub job_id: String,
    /// The metric in the first run.
    pub first: f64,
    /// The metric in the second run.
    pub second: f64,
    /// second / first; `None` if the first is 0.
    pub ratio: Option<f64>,
}

/// Compares a metric of the jobs in a second run with the first. A ratio is second / first: below 1, the second is shorter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The jobs that finished in both, by id.
    pub pairs: Vec<Pair>,
    /// Jobs that finished in only one of them.
    pub unpaired: u64,
    /// The mean over jobs of their ratios: every job weighs the same. Null without a ratio.
    pub mean_of_ratios: Option<Estimate>,
    /// The mean of the second / the mean of the first: long jobs weigh more. Papers' "decreases by x %" may be either.
    pub ratio_of_means: Option<Estimate>,
    /// The median over jobs of their ratios.
    pub median_ratio: Option<Estimate>,
    /// The number of resamples behind the intervals.
    pub resamples: usize,
    /// Sign test on second − first.
    pub sign: Option<SignTest>,
    /// Wilcoxon signed-rank test on second − first.
    pub signed_rank: Option<SignedRankTest>,
    /// Whether one cumulative distribution lies above the other everywhere.
    pub dominance: Dominance,
}

/// Compares `metric` of the jobs of two runs, paired by job id. Only finished jobs with a known metric take part. `seed` is the
/// seed of the bootstrap.
pub fn compare(
    first: &[JobMetrics],
    second: &[JobMetrics],
    metric: impl Fn(&JobMetrics) -> Option<f64>,
    seed: u64,
) -> Comparison {
    let (first, second) = (by_id(first, &metric), by_id(second, &metric));
    let pairs: Vec<Pair> = first
        .iter()
        .filter_map(|(&job_id, &first)| {
            let second = *second.get(job_id)?;
            let ratio = (first > 0.0).then(|| second / first);
            Some(Pair { job_id: job_id.to_owned(), first, second, ratio })
        })
        .collect();
    let differences: Vec<f64> = pairs.iter().map(|pair| pair.second - pair.first).collect();
    let resamples = RESAMPLES.min(MAX_DRAWS / pairs.len().max(1)).max(MIN_RESAMPLES);
    let [mean_of_ratios, ratio_of_means, median_ratio] = bootstrap(&pairs, resamples, seed);
    Comparison {
        unpaired: (first.len() + second.len()).saturating_sub(2 * pairs.len()) as u64,
        mean_of_ratios,
        ratio_of_means,
        median_ratio,
        resamples,
        sign: sign_test(&differences),
        signed_rank: signed_rank_test(&differences),
        dominance: Distribution::new(pairs.iter().map(|pair| pair.first))
            .dominance(&Distribution::new(pairs.iter().map(|pair| pair.second))),
        pairs,
    }
}

/// The metric by job id; of two jobs with one id, the first counts.
fn by_id(jobs: &[JobMetrics], metric: impl Fn(&JobMetrics) -> Option<f64>) -> BTreeMap<&str, f64> {
    let mut values = BTreeMap::new();
    for job in jobs.iter().filter(|job| job.finished) {
        if let Some(value) = metric(job) {
            values.entry(job.job_id.as_str()).or_insert(value);
        }
    }
    values
}

/// The mean of ratios, the ratio of means and the median ratio of `pairs`, each with its interval: pairs are drawn with
/// replacement, so a job keeps its two values together.
fn bootstrap(pairs: &[Pair], resamples: usize, seed: u64) -> [Option<Estimate>; 3] {
    let mut rng = stream(seed, Purpose::Bootstrap, &[]);
    let mut resampled = [Vec::new(), Vec::new(), Vec::new()];
    if !pairs.is_empty() {
        let mut sample = Vec::with_capacity(pairs.len());
        for _ in 0..resamples {
            sample.clear();
            sample.extend((0..pairs.len()).filter_map(|_| pairs.get(rng.random_range(0..pairs.len()))));
            for (estimates, estimate) in resampled.iter_mut().zip(ratios(&sample)) {
                estimates.extend(estimate);
            }
        }
    }
    let interval = |value: Option<f64>, estimates: Vec<f64>| {
        let (value, estimates, tail) = (value?, Distribution::new(estimates), (1.0 - CONFIDENCE) / 2.0);
        Some(Estimate { value, low: estimates.quantile(tail)?, high: estimates.quantile(1.0 - tail)? })
    };
    let [means, totals, medians] = resampled;
    let [mean, total, median] = ratios(&pairs.iter().collect::<Vec<_>>());
    [interval(mean, means), interval(total, totals), interval(median, medians)]
}

/// Mean of ratios, ratio of means, median ratio.
fn ratios(pairs: &[&Pair]) -> [Option<f64>; 3] {
    let mut ratios: Vec<f64> = pairs.iter().filter_map(|pair| pair.ratio).collect();
    let total = |value: fn(&Pair) -> f64| pairs.iter().map(|pair| value(pair)).sum::<f64>();
    let (first, second) = (total(|pair| pair.first), total(|pair| pair.second));
    [mean(&ratios), (first > 0.0).then(|| second / first), median_of(&mut ratios)]
}

/// The median, found by selection, as a bootstrap needs it ten thousand times.
fn median_of(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, &mut middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let before = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(if even { f64::midpoint(before, middle) } else { middle })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn jobs(completions: &[i64]) -> Vec<JobMetrics> {
        let job = |(index, &completion): (usize, &i64)| JobMetrics {
            job_id: format!("job_{index}"),
            finished: true,
            completion: Some(completion),
            ..JobMetrics::default()
        };
        completions.iter().enumerate().map(job).collect()
    }

    fn completions(first: &[i64], second: &[i64]) -> Comparison {
        compare(&jobs(first), &jobs(second), |job| job.completion.map(|ms| ms as f64), 1)
    }

    // scipy 1.17.1: stats.bootstrap((f, s), statistic, paired=True, method='percentile', n_resamples=10000,
    // random_state=1, vectorized=False) with the statistics mean(s/f), mean(s)/mean(f) and median(s/f). Its generator is
    // another, so the ends agree but for the noise of resampling.
    #[test]
    fn estimates_and_intervals_are_those_of_scipy() {
        let found = completions(&[10, 20, 30, 40, 50, 60, 70, 80], &[5, 18, 30, 20, 55, 30, 60, 90]);
        for (estimate, value, low, high) in [
            (found.mean_of_ratios, 0.810_267_857, 0.628_125, 0.981_25),
            (found.ratio_of_means, 0.855_555_556, 0.641_026, 1.033_333),
            (found.median_ratio, 0.878_571_429, 0.5, 1.1),
        ] {
            let estimate = estimate.unwrap();
            assert!((estimate.value - value).abs() < 1e-9, "{estimate:?}");
            assert!((estimate.low - low).abs() < 0.01, "{estimate:?}");
            assert!((estimate.high - high).abs() < 0.01, "{estimate:?}");
        }
        assert_eq!(found.resamples, 10_000);
        assert_eq!(found.dominance, Dominance::Neither);
    }

    #[test]
    fn a_seed_gives_one_interval() {
        let run = |seed| {
            let (first, second) = (jobs(&[10, 20, 30, 40]), jobs(&[11, 12, 33, 24]));
            compare(&first, &second, |job| job.completion.map(|ms| ms as f64), seed)
        };
        assert_eq!(run(7), run(7));
    }

    #[test]
    fn only_jobs_finished_in_both_are_paired() {
        let mut second = jobs(&[5, 6, 7]);
        second.last_mut().unwrap().finished = false;
        let found = compare(&jobs(&[0, 3, 7]), &second, |job| job.completion.map(|ms| ms as f64), 1);
        assert_eq!(found.pairs.len(), 2);
        assert_eq!(found.unpaired, 1);
        assert_eq!(found.pairs.first().unwrap().ratio, None);
        assert_eq!(found.mean_of_ratios.unwrap().value, 2.0);
        assert_eq!(found.dominance, Dominance::First);
    }

    #[test]
    fn no_pairs_give_no_numbers() {
        let found = completions(&[], &[1]);
        assert_eq!((found.mean_of_ratios, found.sign, found.signed_rank), (None, None, None));
        assert_eq!(found.unpaired, 1);
    }

    #[test]
    fn the_selected_median_is_the_median() {
        for values in [vec![3.0], vec![4.0, 1.0], vec![9.0, 1.0, 5.0], vec![2.0, 8.0, 4.0, 4.5]] {
            let expected = Distribution::new(values.iter().copied()).median();
            assert_eq!(median_of(&mut values.clone()), expected, "{values:?}");
        }
    }
}
