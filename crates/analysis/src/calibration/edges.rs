//! Initialisation, set-up and clean-up of jobs.

use std::collections::BTreeMap;

use resched_tables::model::TaskKind;
use serde::Serialize;

use super::fitted::{Fitted, bootstrap_error, determined};
use super::observed::{Attempt, Observed};
use crate::statistics::distribution::Distribution;

/// What jobs do before their first task and after their last.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Edges {
    /// From the submission of a job, or from the start of its application master, until it is initialised, ms.
    pub init: Fitted,
    /// How long a set-up task holds a slot, ms.
    pub setup: Fitted,
    /// How long a clean-up task holds a slot, ms.
    pub cleanup: Fitted,
}

/// The medians over jobs. As in a replay, the launch of a job is the end of its initialisation if a set-up task, or some time, came
/// between it and the first map or reduce. If the trace says when the master of a job started, the wait for its container is no part
/// of the initialisation. A task holds its slot from its assignment, if both clocks agree, to its end. A trace of
/// which most jobs have no such task determines no time of it.
pub fn edges(observed: &Observed) -> Edges {
    let mut first_start: BTreeMap<usize, i64> = BTreeMap::new();
    let (mut setups, mut cleanups) = (BTreeMap::new(), BTreeMap::new());
    let mut masters: BTreeMap<usize, i64> = BTreeMap::new();
    for attempt in &observed.attempts {
        match (attempt.kind, attempt.start) {
            (TaskKind::Setup, _) if attempt.succeeded => setups.extend(held(attempt).map(|held| (attempt.job, held))),
            (TaskKind::Cleanup, _) if attempt.succeeded => {
                cleanups.extend(held(attempt).map(|held| (attempt.job, held)))
            }
            (TaskKind::Master, Some(start))
                if observed.jobs.get(attempt.job).is_some_and(|job| Some(start) <= job.launch) =>
            {
                masters.insert(attempt.job, start);
            }
            (TaskKind::Map | TaskKind::Reduce, Some(start)) => {
                let first = first_start.entry(attempt.job).or_insert(start);
                *first = (*first).min(start);
            }
            _ => {}
        }
    }
    let inits = observed.jobs.iter().enumerate().filter_map(|(row, job)| {
        let (submit, launch) = (masters.get(&row).copied().or(job.submit)?, job.launch?);
        let is_init = setups.contains_key(&row) || first_start.get(&row).is_some_and(|&start| launch < start);
        (is_init && launch >= submit).then_some((launch - submit) as f64)
    });
    let of_most = |tasks: BTreeMap<usize, f64>| {
        let n = tasks.len();
        if 2 * n > first_start.len() { median(tasks.into_values()) } else { Fitted::unknown(n as u64) }
    };
    Edges { init: median(inits), setup: of_most(setups), cleanup: of_most(cleanups) }
}

/// How long an attempt held its slot, ms.
fn held(attempt: &Attempt) -> Option<f64> {
    let (start, finish) = (attempt.start?, attempt.finish?);
    let agree = attempt.assigned.is_some_and(|at| at <= start) && attempt.learned.is_some_and(|at| at >= finish);
    let from = attempt.assigned.filter(|_| agree).unwrap_or(start);
    (finish >= from).then(|| (finish - from) as f64)
}

fn median(times: impl Iterator<Item = f64>) -> Fitted {
    let times = Distribution::new(times);
    let n = times.values().len() as u64;
    let error = bootstrap_error(times.values(), 5, |sample| Distribution::new(sample.iter().copied()).median());
    times.median().map_or(Fitted::unknown(n), |value| determined(Fitted::of(value, error, n)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::calibration::Job;

    /// Twelve jobs: submitted at 0, launched at 4000 + 10 j, set up in a slot from 5000 to 8000, first map at 9000; the
    /// clean-up task's clocks disagree, and it runs for 1500.
    #[test]
    fn the_edges_of_most_jobs_are_found() {
        let attempt = |job, kind, times: [i64; 4]| {
            let [assigned, start, finish, learned] = times.map(Some);
            Attempt { job, kind, assigned, start, finish, learned, succeeded: true, ..Attempt::default() }
        };
        let of_job = |job| {
            [
                attempt(job, TaskKind::Setup, [5_000, 6_500, 8_000, 8_100]),
                attempt(job, TaskKind::Map, [9_000, 9_000, 20_000, 20_000]),
                attempt(job, TaskKind::Cleanup, [30_000, 20_000, 21_500, 31_000]),
            ]
        };
        let jobs = (0..12).map(|job| Job { submit: Some(0), launch: Some(4_000 + 10 * job), ..Job::default() });
        let mut observed =
            Observed { jobs: jobs.collect(), attempts: (0..12).flat_map(of_job).collect(), ..Observed::default() };
        let found = edges(&observed);
        assert_eq!([found.init.value, found.setup.value, found.cleanup.value], [4_055.0, 3_000.0, 1_500.0].map(Some));
        assert_eq!([found.init.n, found.setup.n, found.cleanup.n], [12; 3]);
        // Five of twelve jobs have a set-up task, and the launch of the others is the start of their first task.
        observed.attempts.retain(|attempt| attempt.job < 5 || attempt.kind == TaskKind::Map);
        observed.jobs.iter_mut().skip(5).for_each(|job| job.launch = Some(9_000));
        let few = edges(&observed);
        assert_eq!([few.init.n, few.setup.n], [5, 5]);
        assert!(few.init.value.is_some() && few.setup.value.is_none(), "{few:?}");
    }
}
