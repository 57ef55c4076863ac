//! DRESS, Figs. 8 and 9: 20 MapReduce jobs.

use resched_analysis::Run;
use resched_analysis::statistics::distribution::mean;

use super::coupling::{figure, figures};
use super::dress::{
    ASSUMPTIONS, DRAWN, Demands, KNOBS, LENGTH, LENGTHS, LENGTHS_TRIED, TICK, TICKS, lengths, mean_change, tick_label,
    ticks, with_length,
};
use super::measures::{change, completion, waiting};
use crate::case::{Case, bundled};
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Error, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "dress-mapreduce",
    paper: Paper::Dress,
    source: "Figs. 8 and 9",
    title: "20 MapReduce jobs, six of them small",
    knobs: KNOBS,
    assumptions: ASSUMPTIONS,
    cases: all_cases,
    rows,
    bands,
    figures: |replays| {
        let labels = ["capacity", "dress"];
        figures([
            figure(replays, &labels, "job_times", ("dress-fig9", "Completion times (Fig. 9)")),
            figure(replays, &labels, "waiting", ("dress-fig8", "Waiting times (Fig. 8)")),
        ])
    },
};

/// The small jobs.
const SMALL: [usize; 6] = [4, 5, 6, 8, 10, 11];
fn all_cases() -> Result<Vec<Case>, Error> {
    let (workload, demands) = (bundled!("dress-mapreduce.toml").workload()?, Demands::new(&SMALL, 8));
    Ok([lengths("", &workload, &demands)?, ticks(&workload, &demands)?].concat())
}

/// The claim about the small jobs.
fn small_gain() -> Draft {
    row("Completion of the small jobs, mean change (Fig. 9)", "%", Published::Change(-25.7)).missing(LENGTHS)
}

fn bands(replays: &Replays<'_>) -> Vec<Band> {
    let gains = |from: &str, to: &str| replays.pairs(from, to, |a, b| mean_change(a, b, &SMALL));
    let ticks = TICKS.map(|tick| (f64::from(tick), gains("capacity", &tick_label(tick))));
    let lengths = LENGTHS_TRIED.map(|length| {
        let [capacity, dress] = ["capacity", "dress"].map(|label| with_length("", length) + label);
        (length, gains(&capacity, &dress))
    });
    vec![
        Band::new("dress-mapreduce-tick", TICK, small_gain, ticks),
        Band::new("dress-mapreduce-length", LENGTH, small_gain, lengths),
    ]
}

/// The changes of all jobs that `keep` takes, averaged, %.
fn mean_of(a: &Run, b: &Run, keep: fn(f64) -> bool) -> Option<f64> {
    let changes = (1..=20).filter_map(|job| change(completion(a, job), completion(b, job)));
    mean(&changes.filter(|change| keep(*change)).collect::<Vec<_>>())
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let paired = |of: &dyn Fn(&Run, &Run) -> Option<f64>| replays.pairs("capacity", "dress", of);
    let wait = |label| replays.each(label, |run| waiting(run, 9).map(|ms| ms / 1e3));
    let mut rows = vec![
        row("Capacity: wait of job 9 (Fig. 8)", "s", Published::Value(189.246))
            .baseline()
            .missing(DRAWN)
            .replayed(&wait("capacity")),
        row("DRESS: wait of job 9 (Fig. 8)", "s", Published::Value(19.981)).missing(DRAWN).replayed(&wait("dress")),
        small_gain().replayed(&paired(&|a, b| mean_change(a, b, &SMALL))),
        row("Completion of the jobs that gain, mean (12 in the paper)", "%", Published::Change(-18.5))
            .missing(DRAWN)
            .replayed(&paired(&|a, b| mean_of(a, b, |change| change < 0.0))),
        row("Completion of the jobs that lose, mean (8 in the paper)", "%", Published::Change(8.2))
            .missing(DRAWN)
            .replayed(&paired(&|a, b| mean_of(a, b, |change| change > 0.0))),
        row("Jobs that gain", "jobs", Published::Value(12.0)).missing(DRAWN).replayed(&paired(&|a, b| {
            Some((1..=20).filter(|job| completion(b, *job) < completion(a, *job)).count() as f64)
        })),
    ];
    for (job, percent) in [(9, -23.2), (12, -17.5), (13, -10.0), (7, 29.3), (14, 12.2), (15, 13.8)] {
        rows.push(
            row(format!("Completion of job {job}"), "%", Published::Change(percent))
                .missing(DRAWN)
                .replayed(&paired(&|a, b| change(completion(a, job), completion(b, job)))),
        );
    }
    rows
}
