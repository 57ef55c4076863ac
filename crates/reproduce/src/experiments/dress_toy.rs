//! DRESS, Fig. 1: four jobs on six containers.
//!
//! The toy has no masters and no heartbeats, so it is worked out here; `crates/policies/tests/all/dress_toy.rs` replays it with the
//! engine and searches all schedules.

use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::row;
use crate::{Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "dress-toy",
    paper: Paper::Dress,
    source: "Fig. 1",
    title: "Four jobs on six containers",
    knobs: &[],
    assumptions: &[
        "Jobs take 3, 4, 3, 2 containers for 10, 20, 8, 10 s, the smallest numbers that fit the account of first-come-first-served.",
        "A job starts when all its containers fit at once, and a job that cannot start holds up those behind it.",
    ],
    cases: || Ok(Vec::new()),
    rows,
    bands: |_| Vec::new(),
    figures: |_| Ok(Vec::new()),
};

const CONTAINERS: u32 = 6;
/// Submission, containers and length of each job, s.
const JOBS: [(i64, u32, i64); 4] = [(0, 3, 10), (1, 4, 20), (2, 3, 8), (3, 2, 10)];

/// The makespan and the mean wait, s, if jobs start in this order, each as soon as it fits.
fn schedule(order: [usize; 4]) -> (f64, f64) {
    let mut started: Vec<(i64, i64, u32)> = Vec::new();
    let (mut now, mut waits) = (0, 0);
    for job in order.into_iter().filter_map(|job| JOBS.get(job)) {
        let &(submit, containers, length) = job;
        now = now.max(submit);
        let used =
            |at: i64| started.iter().filter(|(from, to, _)| (*from..*to).contains(&at)).map(|job| job.2).sum::<u32>();
        while used(now) + containers > CONTAINERS {
            now += 1;
        }
        waits += now - submit;
        started.push((now, now + length, containers));
    }
    let end = started.iter().map(|job| job.1).max().unwrap_or(0);
    (end as f64, waits as f64 / 4.0)
}

fn rows(_: &Replays<'_>) -> Vec<Row> {
    let (fcfs, packed) = (schedule([0, 1, 2, 3]), schedule([0, 2, 1, 3]));
    let value = Published::Value;
    vec![
        row("§I, Fig. 1", "First come, first served: makespan", "s", value(40.0)).baseline().exact(fcfs.0, 0.0),
        row("§I, Fig. 1", "First come, first served: mean wait", "s", value(16.0)).baseline().exact(fcfs.1, 0.0),
        row("§I, Fig. 1", "Packed: makespan", "s", value(30.0)).exact(packed.0, 0.0),
        row("§I, Fig. 1", "Packed: mean wait", "s", value(5.75))
            .inconsistent(
                "No schedule that ends at 30 s has this wait: with any numbers that fit the account it is between 2.25 and 4.25 s \
                 (exhaustive search). 5.75 s occurs only if the first job idles until 2 s, and 30 s is then counted from there.",
            )
            .exact(packed.1, 0.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toy_is_as_the_engine_has_it() {
        assert_eq!(schedule([0, 1, 2, 3]), (40.0, 16.0));
        assert_eq!(schedule([0, 2, 1, 3]), (30.0, 4.0));
    }
}
