//! The share of a job's maps that are finished before its reduces start.

use std::collections::BTreeMap;

use resched_tables::model::TaskKind;

use super::fitted::{Fitted, bootstrap_error};
use super::observed::Observed;

/// The fewest maps of a job. The share of a smaller job is too coarse.
const LEAST_MAPS: u64 = 10;
/// The fewest jobs that determine the share. Each job may have waited for a slot.
const LEAST_JOBS: u64 = 3;
/// One job in twenty may show too small a share, because clocks differ.
const ODD_JOBS: usize = 20;

/// The smallest share of finished maps at the start of a job's first reduce, over jobs with at least ten maps. With twenty jobs or
/// more, the smallest twentieth is left out. A reduce that waits for a slot starts later than it may. So each job gives an upper
/// bound, and the smallest is the nearest. Its standard error is from resamples of the jobs.
pub fn slowstart(observed: &Observed) -> Fitted {
    let mut first: BTreeMap<usize, i64> = BTreeMap::new();
    for reduce in observed.attempts.iter().filter(|attempt| attempt.kind == TaskKind::Reduce) {
        if let Some(start) = reduce.start {
            let earliest = first.entry(reduce.job).or_insert(start);
            *earliest = (*earliest).min(start);
        }
    }
    // Finished before the first reduce, and in all.
    let mut maps: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for map in observed.attempts.iter().filter(|attempt| attempt.is_good_map()) {
        if let (Some(finish), Some(&start)) = (map.finish, first.get(&map.job)) {
            let counts = maps.entry(map.job).or_default();
            *counts = (counts.0 + u64::from(finish <= start), counts.1 + 1);
        }
    }
    let share = |(job, (before, seen)): (usize, (u64, u64))| {
        let all = observed.jobs.get(job).and_then(|job| job.maps).unwrap_or(0).max(seen);
        (all >= LEAST_MAPS).then(|| before as f64 / all as f64)
    };
    let shares: Vec<f64> = maps.into_iter().filter_map(share).collect();
    let n = shares.len() as u64;
    match least(&shares) {
        Some(share) if n >= LEAST_JOBS => Fitted::of(share, bootstrap_error(&shares, 9, least), n),
        _ => Fitted::unknown(n),
    }
}

/// The smallest share but for odd jobs.
fn least(shares: &[f64]) -> Option<f64> {
    let mut shares = shares.to_vec();
    shares.sort_unstable_by(f64::total_cmp);
    shares.get(shares.len() / ODD_JOBS).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Attempt, Job};

    /// Maps of a job end every 100 ms; the reduce starts at `start`.
    fn job(job: usize, maps: i64, start: i64) -> Vec<Attempt> {
        let map = |n| Attempt {
            job,
            kind: TaskKind::Map,
            start: Some(0),
            finish: Some(100 * n),
            succeeded: true,
            ..Attempt::default()
        };
        let reduce = Attempt { job, kind: TaskKind::Reduce, start: Some(start), ..Attempt::default() };
        (1..=maps).map(map).chain([reduce]).collect()
    }

    #[test]
    fn the_smallest_share_counts() {
        let attempts = [job(0, 20, 250), job(1, 40, 1_000), job(2, 10, 990), job(3, 2, 0)].concat();
        let observed = Observed { jobs: vec![Job::default(); 4], attempts, ..Observed::default() };
        let found = slowstart(&observed);
        assert_eq!((found.value, found.n), (Some(0.1), 3));
        assert!(found.standard_error.is_some_and(|error| (0.1..0.5).contains(&error)), "{found:?}");
        let announced = Observed { jobs: vec![Job { maps: Some(40), ..Job::default() }; 4], ..observed };
        assert_eq!(slowstart(&announced).value, Some(0.0), "job 3 has 40 maps of which none was done");
    }

    #[test]
    fn an_odd_job_of_many_and_few_jobs_do_not_count() {
        let attempts = (0..20).flat_map(|n| job(n, 20, if n == 5 { -7 } else { 100 * (n as i64 % 5 + 1) })).collect();
        let observed = Observed { jobs: vec![Job::default(); 20], attempts, ..Observed::default() };
        assert_eq!(slowstart(&observed).value, Some(0.05));
        let two = Observed { attempts: [job(0, 20, 250), job(1, 40, 1_000)].concat(), ..observed };
        assert_eq!(slowstart(&two), Fitted::unknown(2));
    }
}
