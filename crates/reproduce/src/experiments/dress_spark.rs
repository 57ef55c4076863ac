//! DRESS, Figs. 6 and 7, Table II: 20 Spark jobs.

use resched_analysis::Run;
use resched_analysis::statistics::distribution::Distribution;

use super::coupling::{figure, figures};
use super::dress::{ASSUMPTIONS, DRAWN, KNOBS, LENGTH, LENGTHS, LENGTHS_TRIED, RESERVE, with_length};
use super::dress_twenty::TwentyJobs;
use super::measures::{change, completion, waiting};
use crate::case::bundled;
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "dress-spark",
    paper: Paper::Dress,
    source: "Figs. 6, 7 and Table II",
    title: "20 Spark jobs, six of them small",
    knobs: KNOBS,
    assumptions: ASSUMPTIONS,
    cases: || JOBS.cases(),
    rows,
    bands,
    figures: |replays| {
        let labels = ["capacity", "dress"];
        figures([
            figure(replays, &labels, "job_times", ("dress-fig7", "Completion times (Fig. 7)")),
            figure(replays, &labels, "waiting", ("dress-fig6", "Waiting times (Fig. 6)")),
            figure(replays, &labels, "delta", ("dress-delta", "The reserve δ")),
        ])
    },
};

/// The draws whose six numbers under Capacity are within [`NEAR`] of the paper's: the search in the tests found them.
const ACCEPTED: &[u64] = &[
    34, 71, 318, 422, 423, 456, 841, 912, 1012, 1031, 1042, 1333, 1339, 1395, 1526, 1581, 1615, 1684, 1688, 1786, 1873,
    1900, 2071, 2081, 2458, 2484, 2760, 2765, 3136, 3178, 3300, 3498, 3512, 4173, 4392, 4411, 4444, 4686, 4929, 4984,
    5266, 5473, 5633, 5812, 6054,
];
/// How far each of Capacity's six numbers may be from the paper's, as a share of it.
#[cfg(test)]
const NEAR: f64 = 0.17;

/// Its jobs.
const JOBS: TwentyJobs = TwentyJobs {
    name: EXPERIMENT.name,
    workload: bundled!("dress-spark.toml"),
    small: [4, 5, 7, 9, 10, 12],
    fit: 6,
    draws: ACCEPTED,
    place: "§V-B1: \"27.6 %\"",
    figure: "Fig. 7",
    gain: -27.6,
};

fn bands(replays: &Replays<'_>) -> Vec<Band> {
    let medians = TABLE.iter().filter(|(name, ..)| name.starts_with("median")).map(|&(name, _, dress, _, of)| {
        let found = LENGTHS_TRIED.map(|length| (length, replays.each(&(with_length("", length) + "dress"), of)));
        let figure = format!("dress-{}-length", name.replace(' ', "-"));
        Band::new(figure, LENGTH, || of_dress(name, dress), found)
    });
    JOBS.bands(replays).into_iter().chain(medians).collect()
}

/// DRESS's number in a line of Table II.
fn of_dress(name: &str, dress: f64) -> Draft {
    row("Table II", format!("DRESS: {name}"), "s", Published::Value(dress)).arithmetic().missing(LENGTHS)
}

/// The jobs' times in seconds.
fn times(run: &Run, of: fn(&resched_analysis::JobMetrics) -> Option<i64>) -> Distribution {
    Distribution::new(run.finished_jobs().filter_map(of).map(|ms| ms as f64 / 1e3))
}

/// A line of Table II: what, Capacity's and DRESS's number, the change in %, and how to measure it.
type Line = (&'static str, f64, f64, f64, fn(&Run) -> Option<f64>);

/// Table II, s.
const TABLE: [Line; 5] = [
    ("makespan", 1028.6, 1035.2, 0.64, |run| run.jobs.makespan().map(|ms| ms as f64 / 1e3)),
    ("mean waiting time", 310.1, 264.5, -14.7, |run| times(run, |job| job.waiting).mean()),
    ("median waiting time", 381.0, 190.3, -50.0, |run| times(run, |job| job.waiting).median()),
    ("mean completion time", 570.1, 532.2, -6.6, |run| times(run, |job| job.completion).mean()),
    ("median completion time", 542.8, 325.1, -40.0, |run| times(run, |job| job.completion).median()),
];
fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let value = Published::Value;
    let mut rows = Vec::new();
    for (name, capacity, dress, percent, of) in TABLE {
        let baseline = row("Table II", format!("Capacity: {name}"), "s", value(capacity)).calibrated();
        rows.push(baseline.missing(DRAWN).replayed(&replays.each("capacity", of)));
        rows.push(of_dress(name, dress).replayed(&replays.each("dress", of)));
        rows.push(
            row("Table II", format!("Change of the {name}"), "%", Published::Change(percent))
                .missing(LENGTHS)
                .replayed(&replays.pairs("capacity", "dress", |a, b| change(of(a), of(b)))),
        );
    }
    let wait = |label, number| replays.each(label, move |run| waiting(run, number).map(|ms| ms / 1e3));
    for (job, capacity, dress) in [(7, 304.705, 28.903), (3, 35.519, 98.863)] {
        let baseline = row("§V-B1", format!("Capacity: wait of job {job} (Fig. 6)"), "s", value(capacity));
        let baseline = baseline.calibrated();
        rows.push(baseline.missing(DRAWN).replayed(&wait("capacity", job)));
        rows.push(
            row("§V-B1", format!("DRESS: wait of job {job} (Fig. 6)"), "s", value(dress))
                .ours(RESERVE)
                .replayed(&wait("dress", job)),
        );
    }
    rows.push(
        row("§V-B1: \"more than 10x less\"", "Wait of job 7, Capacity / DRESS", "times", Published::Ratio(10.5))
            .arithmetic()
            .ours(RESERVE)
            .replayed(&replays.pairs("capacity", "dress", |a, b| Some(waiting(a, 7)? / waiting(b, 7)?.max(1.0)))),
    );
    rows.push(JOBS.small_gain().main().replayed(&JOBS.gains(replays, "capacity", "dress")));
    for (from, to, name) in [
        ("capacity", "literal", "printed algorithms to the letter"),
        ("whole capacity", "whole dress", "whole requests under both"),
        ("whole capacity", "dress", "whole requests under Capacity alone"),
    ] {
        rows.push(
            row("§V-B1: \"27.6 %\"", format!("Completion of the small jobs, {name}"), "%", Published::Change(-27.6))
                .variant()
                .replayed(&JOBS.gains(replays, from, to)),
        );
    }
    rows.push(
        row(
            "§V-B1: \"maximum 51.2 %\"",
            "Completion of the small jobs, largest change (job 7's)",
            "%",
            Published::Change(-51.2),
        )
        .missing(LENGTHS)
        .replayed(&replays.pairs("capacity", "dress", |a, b| {
            JOBS.small.iter().filter_map(|job| change(completion(a, *job), completion(b, *job))).reduce(f64::min)
        })),
    );
    for (job, percent) in [(3, 32.0), (13, 10.2), (14, 6.1)] {
        let claim = row(
            "§V-B1: \"32.0 %, 10.2 %, 6.1 %\"",
            format!("Completion of job {job}"),
            "%",
            Published::Change(percent),
        );
        rows.push((if job == 3 { claim.ours(RESERVE) } else { claim.missing(DRAWN) }).replayed(&replays.pairs(
            "capacity",
            "dress",
            |a, b| change(completion(a, job), completion(b, job)),
        )));
    }
    rows.push(
        row(
            "§V-B1: \"on average 16.1 %\"",
            "Completion of jobs 3, 13, 14, mean (arithmetic)",
            "%",
            Published::Change(16.1),
        )
        .exact((32.0 + 10.2 + 6.1) / 3.0, 0.05),
    );
    rows
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::dress::{CAPACITY, CLUSTER, Demands, draw};
    use super::*;
    use crate::case::Case;
    use resched_workload::Workload;

    /// The largest distance of Capacity's six numbers from the paper's, as a share, in a draw.
    fn distance(workload: &Workload, number: u64) -> f64 {
        let demands = Demands::new(&JOBS.small, JOBS.fit, &[]);
        let mut workload = workload.clone();
        draw(&mut workload, &demands, number);
        let run = Case::new("capacity", CAPACITY, workload, &CLUSTER.cluster().unwrap())
            .unwrap()
            .replay("search", 1)
            .unwrap();
        let seventh = waiting(&run, 7).unwrap() / 1e3;
        let table = TABLE.iter().map(|(_, capacity, _, _, of)| (*capacity, of(&run).unwrap()));
        table.chain([(304.705, seventh)]).map(|(paper, found)| (found / paper - 1.0).abs()).fold(0.0, f64::max)
    }

    /// Makes the whole search again: `cargo test -p resched-reproduce --lib -- --ignored accepted_draws`.
    #[test]
    #[ignore = "takes some minutes"]
    fn accepted_draws_are_found_again() {
        let workload = JOBS.workload.workload().unwrap();
        let last = *ACCEPTED.last().unwrap();
        let found: Vec<u64> = (1..=last).filter(|number| distance(&workload, *number) <= NEAR).collect();
        assert_eq!(found, ACCEPTED);
    }

    #[test]
    fn accepted_draws_have_capacitys_numbers() {
        let workload = JOBS.workload.workload().unwrap();
        for number in ACCEPTED.iter().take(3) {
            let distance = distance(&workload, *number);
            assert!(distance <= NEAR, "{number}: {distance}");
        }
    }
}
