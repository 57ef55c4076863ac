//! The model error: the quantities that policies are compared in, as they were and as the replay has them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::phases::{self, SizeClass};
use super::{Compared, Skip, comparable, makespan_error, shared_jobs, signed_error};
use crate::runs::jobs::JobMetrics;
use crate::runs::run::Run;
use crate::statistics::distribution::{Distribution, mean};

/// The quantities that are compared: their names and titles.
pub const QUANTITIES: [(&str, &str); 7] = [
    ("mean_completion", "Completion time, mean"),
    ("median_completion", "Completion time, median"),
    ("p95_completion", "Completion time, p95"),
    ("mean_waiting", "Waiting time, mean"),
    ("median_waiting", "Waiting time, median"),
    ("p95_waiting", "Waiting time, p95"),
    ("makespan", "Makespan"),
];

/// The largest error of the mean completion time that counts as small.
pub const MOST_ERROR: f64 = 0.1;

/// A quantity of the jobs that ended well in both, as it was and as it is in the replay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantityError {
    /// What was observed, ms.
    pub observed_ms: f64,
    /// The same in the replay, ms.
    pub replayed_ms: f64,
    /// `replayed / observed − 1`; null if the observed value is 0.
    pub relative: Option<f64>,
}

/// How far a replay is from what really ran.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ModelError {
    /// Jobs that ended well in both.
    pub jobs: u64,
    /// The number of other jobs of the trace, by cause.
    pub not_compared: BTreeMap<String, u64>,
    /// The errors of [`QUANTITIES`] by name; one that the trace does not show is absent.
    pub quantities: BTreeMap<&'static str, QuantityError>,
    /// The errors of all jobs, then by size, each by phase.
    pub by_size: Vec<SizeClass>,
}

/// The model error of a replay. `observed` must be the trace.
pub fn model_error(observed: &Run, replayed: &Run) -> ModelError {
    let shared = shared_jobs(&observed.jobs, &replayed.jobs);
    let (compared, not_compared) = comparable(observed, &replayed.jobs, &shared, &Skip::default());
    ModelError {
        jobs: compared.len() as u64,
        not_compared,
        quantities: quantities(&compared),
        by_size: phases::by_size(observed, replayed, &compared),
    }
}

/// A time of a job, ms.
type Time = fn(&JobMetrics) -> Option<i64>;

/// A statistic of times.
type Statistic = fn(&Distribution) -> Option<f64>;

/// The times of the same jobs as they were and as they are in a replay, ms.
pub(super) type Both = (Vec<f64>, Vec<f64>);

pub(super) fn quantities(compared: &[Compared]) -> BTreeMap<&'static str, QuantityError> {
    let both = |of: Time| -> Both {
        compared.iter().filter_map(|(one, other)| Some((of(one)? as f64, of(other)? as f64))).unzip()
    };
    let mut found = of_times(&[("completion", both(|job| job.completion)), ("waiting", both(|job| job.waiting))]);
    if let Some(makespan) = makespan_error(compared) {
        found.insert("makespan", QuantityError::of(makespan.observed_ms as f64, makespan.replayed_ms as f64));
    }
    found
}

/// The mean, the median and the 95th percentile of completion and waiting times, by their names in [`QUANTITIES`].
pub(super) fn of_times(times: &[(&str, Both)]) -> BTreeMap<&'static str, QuantityError> {
    let statistics: [(&str, Statistic); 3] =
        [("mean", Distribution::mean), ("median", Distribution::median), ("p95", |times| times.quantile(0.95))];
    let mut found = BTreeMap::new();
    for (word, (real, simulated)) in times {
        let [real, simulated] = [real, simulated].map(|times| Distribution::new(times.iter().copied()));
        for (statistic, of) in statistics {
            let name = QUANTITIES.iter().map(|(name, _)| *name).find(|name| *name == format!("{statistic}_{word}"));
            if let (Some(name), Some(observed), Some(replayed)) = (name, of(&real), of(&simulated)) {
                found.insert(name, QuantityError::of(observed, replayed));
            }
        }
    }
    found
}

impl QuantityError {
    fn of(observed_ms: f64, replayed_ms: f64) -> Self {
        Self { observed_ms, replayed_ms, relative: signed_error(replayed_ms, observed_ms) }
    }
}

impl ModelError {
    /// The relative error of a quantity.
    pub fn of(&self, quantity: &str) -> Option<f64> {
        self.quantities.get(quantity)?.relative
    }

    /// The means of the errors of several seeds; the counts are those of the first.
    pub fn mean_of(seeds: &[Self]) -> Self {
        let Some(first) = seeds.first() else { return Self::default() };
        let over = |pick: &dyn Fn(&Self) -> Option<f64>| mean(&seeds.iter().filter_map(pick).collect::<Vec<f64>>());
        let quantity = |(&name, first): (&&'static str, &QuantityError)| {
            let value = |pick: fn(&QuantityError) -> f64| over(&|seed| seed.quantities.get(name).map(pick));
            let found = QuantityError {
                observed_ms: value(|first| first.observed_ms).unwrap_or(first.observed_ms),
                replayed_ms: value(|first| first.replayed_ms).unwrap_or(first.replayed_ms),
                relative: over(&|seed| seed.of(name)),
            };
            (name, found)
        };
        Self { quantities: first.quantities.iter().map(quantity).collect(), ..first.clone() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn job(completion: i64, waiting: Option<i64>) -> JobMetrics {
        let (submit, finish) = (Some(0), Some(completion));
        JobMetrics { submit, finish, completion: Some(completion), waiting, ..JobMetrics::default() }
    }

    /// By hand: one of three jobs takes three times as long, which hardly moves the median of the errors of jobs (0) and moves the mean
    /// from 400 to 600.
    #[test]
    fn the_error_of_the_mean_is_not_the_median_error() {
        let real = [job(100, Some(0)), job(200, Some(50)), job(900, None)];
        let simulated = [job(100, Some(10)), job(200, Some(40)), job(1_500, Some(7))];
        let pairs: Vec<Compared> = real.iter().zip(&simulated).collect();
        let found = quantities(&pairs);
        let of = |name: &str| found.get(name).copied().unwrap();
        assert_eq!(
            of("mean_completion"),
            QuantityError { observed_ms: 400.0, replayed_ms: 600.0, relative: Some(0.5) }
        );
        assert_eq!(of("median_completion").relative, Some(0.0));
        assert_eq!(of("makespan").replayed_ms, 1_500.0);
        // Only jobs whose waits are known on both sides count.
        assert_eq!(of("mean_waiting"), QuantityError { observed_ms: 25.0, replayed_ms: 25.0, relative: Some(0.0) });
        let idle = quantities(&[(&real[0], &simulated[0])]);
        assert_eq!(idle.get("mean_waiting").unwrap().relative, None, "there is no share of 0");
    }
}
