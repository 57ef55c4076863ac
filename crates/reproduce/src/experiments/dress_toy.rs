//! DRESS, Fig. 1: four jobs on six containers, and the numbers of Figs. 3 to 5.
//!
//! The toy has no masters and no heartbeats, so it is worked out here; `crates/policies/tests/schedules/dress_toy.rs` replays it with the
//! engine and searches all schedules.

use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::row;
use crate::{Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "dress-toy",
    paper: Paper::Dress,
    source: "Figs. 1 and 3 to 5",
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
/// The size of a block in §III-A2, MB.
const BLOCK: u32 = 512;
/// Submission, containers and length of each job, s.
const JOBS: [(i64, u32, i64); 4] = [(0, 3, 10), (1, 4, 20), (2, 3, 8), (3, 2, 10)];

/// The makespan and the wait of each job, s, if jobs start in this order, each as soon as it fits.
fn schedule(order: [usize; 4]) -> (f64, [i64; 4]) {
    let mut started: Vec<(i64, i64, u32)> = Vec::new();
    let (mut now, mut waits) = (0, [0; 4]);
    for number in order {
        let (Some(&(submit, containers, length)), Some(wait)) = (JOBS.get(number), waits.get_mut(number)) else {
            continue;
        };
        now = now.max(submit);
        let used =
            |at: i64| started.iter().filter(|(from, to, _)| (*from..*to).contains(&at)).map(|job| job.2).sum::<u32>();
        while used(now) + containers > CONTAINERS {
            now += 1;
        }
        *wait = now - submit;
        started.push((now, now + length, containers));
    }
    let end = started.iter().map(|job| job.1).max().unwrap_or(0);
    (end as f64, waits)
}

/// The mean of the waits, s.
fn mean(waits: [i64; 4]) -> f64 {
    waits.iter().sum::<i64>() as f64 / 4.0
}

fn rows(_: &Replays<'_>) -> Vec<Row> {
    let (fcfs, packed) = (schedule([0, 1, 2, 3]), schedule([0, 2, 1, 3]));
    let value = Published::Value;
    let waits = [0.0, 9.0, 28.0, 27.0].into_iter().zip(fcfs.1).zip(1..).map(|((paper, wait), job)| {
        row("§I, Fig. 1", format!("First come, first served: wait of job {job}"), "s", value(paper))
            .baseline()
            .exact(wait as f64, 0.0)
    });
    let blocks = |megabytes: u32| (megabytes.div_ceil(BLOCK), megabytes % BLOCK);
    let of_block = |name: &str, paper: f64, found: u32, unit| {
        row("§III-A2, Fig. 5", name, unit, value(paper)).exact(f64::from(found), 0.0)
    };
    let data = [
        of_block("Data A of 1,664 MB: blocks of 512 MB", 4.0, blocks(1664).0, "blocks"),
        of_block("Data A: the last block", 128.0, blocks(1664).1, "MB"),
        of_block("Data B of 1,280 MB: blocks of 512 MB", 3.0, blocks(1280).0, "blocks"),
        of_block("Data B: the last block", 256.0, blocks(1280).1, "MB"),
        row(
            "§III-A2, Fig. 3",
            "A heading task of 1.26 s against the mean of the others, 18.25 s",
            "%",
            Published::Range(0.0, 10.0),
        )
        .exact(100.0 * 1.26 / 18.25, 0.0),
        row("§III-A3, Fig. 4", "A trailing task of 17.6 s / the second longest", "times", Published::Ratio(1.38))
            .baseline()
            .missing("The times of the other tasks are not given; the jobs here have no trailing tasks.")
            .cannot(),
    ];
    let packed_and_not = vec![
        row("§I, Fig. 1", "First come, first served: makespan", "s", value(40.0)).baseline().exact(fcfs.0, 0.0),
        row("§I, Fig. 1", "First come, first served: mean wait", "s", value(16.0)).baseline().exact(mean(fcfs.1), 0.0),
        row("§I, Fig. 1", "Packed: makespan", "s", value(30.0)).exact(packed.0, 0.0),
        row("§I, Fig. 1", "Packed: mean wait", "s", value(5.75))
            .inconsistent(
                "No schedule that ends at 30 s has this wait: with any numbers that fit the account it is between 2.25 and 4.25 s \
                 (exhaustive search). 5.75 s occurs only if the first job idles until 2 s, and 30 s is then counted from there.",
            )
            .exact(mean(packed.1), 0.0),
    ];
    packed_and_not.into_iter().chain(waits).chain(data).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toy_is_as_the_engine_has_it() {
        assert_eq!(schedule([0, 1, 2, 3]), (40.0, [0, 9, 28, 27]));
        assert_eq!(schedule([0, 2, 1, 3]).0, 30.0);
        assert_eq!(mean(schedule([0, 2, 1, 3]).1), 4.0);
    }
}
