//! DRESS, Figs. 8 and 9: 20 MapReduce jobs.

use resched_analysis::Run;
use resched_analysis::statistics::distribution::mean;

use super::coupling::{figure, figures};
use super::dress::{ASSUMPTIONS, DRAWN, KNOBS};
use super::dress_twenty::TwentyJobs;
use super::measures::{change, completion, waiting};
use crate::case::bundled;
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::row;
use crate::{Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "dress-mapreduce",
    paper: Paper::Dress,
    source: "Figs. 8 and 9",
    title: "20 MapReduce jobs, six of them small",
    knobs: KNOBS,
    assumptions: ASSUMPTIONS,
    cases: || JOBS.cases(),
    rows,
    bands: |replays| JOBS.bands(replays),
    figures: |replays| {
        let labels = ["capacity", "dress"];
        figures([
            figure(replays, &labels, "job_times", ("dress-fig9", "Completion times (Fig. 9)")),
            figure(replays, &labels, "waiting", ("dress-fig8", "Waiting times (Fig. 8)")),
        ])
    },
};

/// Its jobs.
const JOBS: TwentyJobs = TwentyJobs {
    name: EXPERIMENT.name,
    workload: bundled!("dress-mapreduce.toml"),
    small: [4, 5, 6, 8, 10, 11],
    fit: 8,
    draws: &[],
    place: "§V-B2: \"25.7 %\"",
    figure: "Fig. 9",
    gain: -25.7,
};

/// The changes of all jobs that `keep` takes, averaged, %.
fn mean_of(a: &Run, b: &Run, keep: fn(f64) -> bool) -> Option<f64> {
    let changes = (1..=20).filter_map(|job| change(completion(a, job), completion(b, job)));
    mean(&changes.filter(|change| keep(*change)).collect::<Vec<_>>())
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let paired = |of: &dyn Fn(&Run, &Run) -> Option<f64>| replays.pairs("capacity", "dress", of);
    let wait = |label| replays.each(label, |run| waiting(run, 9).map(|ms| ms / 1e3));
    let mut rows = vec![
        row("§V-B2: \"19.981 s vs 189.246 s\"", "Capacity: wait of job 9 (Fig. 8)", "s", Published::Value(189.246))
            .baseline()
            .missing(DRAWN)
            .replayed(&wait("capacity")),
        row("§V-B2: \"19.981 s vs 189.246 s\"", "DRESS: wait of job 9 (Fig. 8)", "s", Published::Value(19.981))
            .missing(DRAWN)
            .replayed(&wait("dress")),
        JOBS.small_gain().replayed(&JOBS.gains(replays, "capacity", "dress")),
        row(
            "§V-B2: \"12 jobs are decreased by 18.5 %\"",
            "Completion of the jobs that gain, mean (12 in the paper)",
            "%",
            Published::Change(-18.5),
        )
        .arithmetic()
        .missing(DRAWN)
        .replayed(&paired(&|a, b| mean_of(a, b, |change| change < 0.0))),
        row(
            "§V-B2: \"other 8 jobs are increased by 8.2 %\"",
            "Completion of the jobs that lose, mean (8 in the paper)",
            "%",
            Published::Change(8.2),
        )
        .arithmetic()
        .missing(DRAWN)
        .replayed(&paired(&|a, b| mean_of(a, b, |change| change > 0.0))),
        row("§V-B2: \"12 jobs\"", "Jobs that gain", "jobs", Published::Value(12.0)).missing(DRAWN).replayed(&paired(
            &|a, b| Some((1..=20).filter(|job| completion(b, *job) < completion(a, *job)).count() as f64),
        )),
    ];
    for (job, percent) in [(9, -23.2), (12, -17.5), (13, -10.0), (7, 29.3), (14, 12.2), (15, 13.8)] {
        rows.push(
            row("§V-B2", format!("Completion of job {job}"), "%", Published::Change(percent))
                .missing(DRAWN)
                .replayed(&paired(&|a, b| change(completion(a, job), completion(b, job)))),
        );
    }
    rows
}
