//! Coupling, Figs. 5 to 8 and Table I: ten identical Greps.

use resched_analysis::Run;
use resched_analysis::distribution::mean;
use resched_trace::model::TaskKind;

use super::coupling::{KNOBS, assumptions, fair_and_coupling, figure, figures};
use super::measures::{MINUTE, change, completion, first_at_least, map_times, mean_completion, running, span};
use crate::case::bundled;
use crate::experiment::{Experiment, Paper};
use crate::row::row;
use crate::runner::Replays;
use crate::{Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "coupling-fig5",
    paper: Paper::Coupling,
    source: "Figs. 5 to 8 and Table I",
    title: "Ten identical Greps, one every five minutes",
    knobs: KNOBS,
    assumptions: assumptions!["8 slaves, as Fig. 5 says; Set A has 7."],
    cases: || fair_and_coupling(bundled!("coupling-fig5.toml")),
    rows,
    figures: |replays| {
        let both = ["fair", "coupling"];
        figures([
            figure(replays, &both, "running_tasks", ("coupling-fig5", "Running tasks (Figs. 5, 6)")),
            figure(replays, &both, "job_times", ("coupling-fig6", "Processing times (Fig. 6)")),
            figure(replays, &both, "cdf_maps", ("coupling-fig7", "Run times of maps (Fig. 7)")),
        ])
    },
};

/// When the slots that all reduces of job 1 and 2 hold are first 16, min.
fn both_hold_all(run: &Run) -> Option<f64> {
    let held = |number| run.intervals.iter().filter(move |of| of.job + 1 == number);
    let steps = resched_analysis::timeline::running_tasks(held(1).chain(held(2)), TaskKind::Reduce);
    first_at_least(&steps, 16.0).map(|ms| ms / MINUTE)
}

/// When the last reduce of a job ends, min.
fn frees(run: &Run, number: usize) -> Option<f64> {
    span(run, TaskKind::Reduce, number).map(|span| span.1 / MINUTE)
}

/// What there is no model for: Table I's means over the nodes under Fair and Coupling.
const CONTENTION: [(&str, &str, f64, f64); 4] = [
    ("%iowait", "%", 0.95, 0.57),
    ("await", "ms", 96.62, 83.47),
    ("svctm", "ms", 4.32, 3.75),
    ("%idle", "%", 19.19, 12.61),
];
/// The changes that the paper gives of them, %.
const CHANGES: [(&str, f64); 3] = [("%iowait", -40.0), ("await", -13.6), ("svctm", -13.2)];
/// Why they have no number.
const NO_MODEL: &str = "Needs the load of each node's CPU and disks, which the cost models of today do not have.";

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let value = Published::Value;
    let shared =
        "Coupling's maps are a tenth faster because fewer reduces fetch beside them: contention that is not modelled.";
    let mut rows = vec![
        row("Fair: J1 and J2 hold all 16 reduce slots from", "min", value(5.0))
            .baseline()
            .within(1.0)
            .because("J2's first maps must be over before its reduces start.")
            .replayed(&replays.each("fair", both_hold_all)),
        row("Fair: J1 gives its reduce slots back at", "min", value(16.0))
            .calibrated()
            .within(1.0)
            .because("Fixed by reduce_mean_s.")
            .replayed(&replays.each("fair", |run| frees(run, 1))),
        row("Fair: J2 gives its reduce slots back at", "min", value(30.0))
            .baseline()
            .within(3.0)
            .because("How long J2's maps take depends on how the later jobs share the map slots with it.")
            .replayed(&replays.each("fair", |run| frees(run, 2))),
        row("Fair: mean time of a map", "s", value(36.0))
            .calibrated()
            .within(1.0)
            .because("Fixed by map_mean_s.")
            .replayed(&replays.each("fair", |run| mean(&map_times(run)).map(|ms| ms / 1e3))),
        row("Fair: longest map (Fig. 7)", "s", value(100.0))
            .calibrated()
            .within(10.0)
            .because("Fixed by map_variation.")
            .replayed(&replays.each("fair", |run| Some(map_times(run).into_iter().fold(0.0, f64::max) / 1e3))),
        row("Mean processing time", "%", Published::Change(-16.1))
            .because(format!("{shared} What is left is the order in which reduce slots are given away."))
            .replayed(&replays.pairs("fair", "coupling", |a, b| change(mean_completion(a), mean_completion(b)))),
        row("Jobs with a shorter processing time", "jobs", value(10.0)).because(shared).replayed(&replays.pairs(
            "fair",
            "coupling",
            |a, b| {
                let shorter = |number: &usize| completion(b, *number) < completion(a, *number);
                Some((1..=10).filter(shorter).count() as f64)
            },
        )),
        row("Mean time of a map (Fig. 8)", "%", Published::Change(-10.1)).because(NO_MODEL).cannot(),
        row("Running reduces at once, mean", "%", Published::Below).replayed(&replays.pairs(
            "fair",
            "coupling",
            |a, b| change(reduces_at_once(a), reduces_at_once(b)),
        )),
    ];
    for (name, unit, fair, coupling) in CONTENTION {
        rows.push(row(format!("Fair: {name} (Table I)"), unit, value(fair)).baseline().because(NO_MODEL).cannot());
        rows.push(row(format!("Coupling: {name} (Table I)"), unit, value(coupling)).because(NO_MODEL).cannot());
    }
    for (name, paper) in CHANGES {
        rows.push(row(format!("{name} (Table I)"), "%", Published::Change(paper)).because(NO_MODEL).cannot());
    }
    rows
}

fn reduces_at_once(run: &Run) -> Option<f64> {
    let (first, last) = resched_analysis::timeline::span(&run.jobs)?;
    Some(running(run, TaskKind::Reduce, None).mean(first, last))
}
