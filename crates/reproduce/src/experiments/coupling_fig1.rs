//! Coupling, Figs. 1 and 2: two Greps.

use resched_tables::model::TaskKind;

use super::coupling::{KNOBS, assumptions, fair_and_coupling, figure, figures};
use super::measures::{MINUTE, change, completion, first_at_least, job, less_fair, running, span};
use crate::case::bundled;
use crate::experiment::{Experiment, Paper};
use crate::on_paper::{OnPaper, points, steps};
use crate::replays::Replays;
use crate::row::{check, row};
use crate::{Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "coupling-fig1",
    paper: Paper::Coupling,
    source: "Figs. 1 and 2",
    title: "Two Greps: the first takes all reduce slots, or leaves some",
    knobs: KNOBS,
    assumptions: assumptions![
        "No counts of tasks are given. J1's 15 reduces fill the 14 slots, and wait for its maps until 11.3 minutes."
    ],
    cases: || fair_and_coupling(bundled!("coupling-fig1.toml")),
    rows,
    bands: |_| Vec::new(),
    figures: |replays| {
        let of = |case, kind, number, label| {
            steps(
                label,
                &replays.of(case).first().map(|run| running(run, kind, Some(number))).unwrap_or_default(),
                AXIS,
            )
        };
        let both = |case, kind| vec![of(case, kind, 1, "job 1"), of(case, kind, 2, "job 2")];
        let panel = |name, title, case, kind, most, read: &[(f64, f64)], caption| {
            let y = if kind == TaskKind::Map { "Running maps" } else { "Running reduces" };
            let mut series = both(case, kind);
            if !read.is_empty() {
                series.push(points("paper", read.iter().copied()));
            }
            OnPaper { name, title, caption, x: "Time (min)", y, ends: Some((AXIS, most)) }.draw(&series)
        };
        let (maps, reduces) = (TaskKind::Map, TaskKind::Reduce);
        figures([
            figure(
                replays,
                &["fair", "coupling"],
                "running_tasks",
                ("coupling-fig1", "Running tasks (Figs. 1, 2)", "Running maps and reduces of both jobs, stacked."),
            ),
            panel(
                "coupling-fig1-maps",
                "Running maps under Fair (Fig. 1)",
                "fair",
                maps,
                30.0,
                &[(3.8, 0.0)],
                MAPS_READ,
            ),
            panel(
                "coupling-fig1-reduces",
                "Running reduces under Fair (Fig. 1)",
                "fair",
                reduces,
                15.0,
                &[(0.9, 14.0), (11.3, 0.0)],
                REDUCES_READ,
            ),
            panel(
                "coupling-fig2-maps",
                "Running maps under Coupling (Fig. 2)",
                "coupling",
                maps,
                30.0,
                &[],
                NOTHING_READ,
            ),
            panel(
                "coupling-fig2-reduces",
                "Running reduces under Coupling (Fig. 2)",
                "coupling",
                reduces,
                15.0,
                &[],
                NOTHING_READ,
            ),
        ])
    },
};

/// Where the time axes of Figs. 1 and 2 end, min.
const AXIS: f64 = 14.0;
/// What the paper's text says of its curves.
const MAPS_READ: &str = "The paper's mark is the end of job 2's maps at 3.8 minutes (§I-A). Seed 1.";
const REDUCES_READ: &str = "The marks of the paper: job 1 holds all 14 slots from 0.9 minutes on, and job 2 has its first reduces at 11.3 (§I-A). Seed 1.";
const NOTHING_READ: &str = "The paper's text gives no point of this figure. Seed 1.";

/// Both jobs' reduce slots, the gray area of the figures: slot time, ms.
fn reduce_time(run: &resched_analysis::Run) -> Option<f64> {
    let reduces = run.intervals.iter().filter(|interval| interval.kind == TaskKind::Reduce);
    Some(reduces.map(|interval| (interval.finish - interval.start) as f64).sum())
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let fair = |of: fn(&resched_analysis::Run) -> Option<f64>| replays.each("fair", of);
    let both = |number| replays.pairs("fair", "coupling", |a, b| change(completion(a, number), completion(b, number)));
    let minutes = |ms: Option<f64>| ms.map(|ms| ms / MINUTE);
    let value = Published::Value;
    vec![
        row("Fig. 1", "Fair: J1 holds all 14 reduce slots from", "min", value(0.9)).calibrated().replayed(&fair(
            |run| first_at_least(&running(run, TaskKind::Reduce, Some(1)), 14.0).map(|ms| ms / MINUTE),
        )),
        row("Fig. 1", "Fair: J2's maps end at", "min", value(3.8))
            .calibrated()
            .replayed(&fair(|run| span(run, TaskKind::Map, 2).map(|span| span.1 / MINUTE))),
        row("Fig. 1", "Fair: both jobs end", "min", Published::Range(12.0, 14.0))
            .calibrated()
            .ours("Set by the time of a reduce, with the starvation times of Table IV.")
            .replayed(&fair(|run| run.jobs.iter().filter_map(|job| job.finish).max().map(|end| end as f64 / MINUTE))),
        row("Fig. 1", "Fair: J2's reduces start at", "min", value(11.3))
            .calibrated()
            .replayed(&replays.each("fair", |run| minutes(second_start(run)))),
        check(
            "Coupling: J2's reduces that start while its maps run, more than under Fair",
            "reduces",
            Published::Above,
        )
        .replayed(&replays.pairs("fair", "coupling", |a, b| Some(early(b)? - early(a)?))),
        row(
            "§I-A: \"the starvation problem can be mitigated\"",
            "Coupling: J2 starves for less than under Fair",
            "min",
            Published::Below,
        )
        .replayed(
            &replays.pairs("fair", "coupling", |a, b| Some((job(b, 2)?.starvation? - job(a, 2)?.starvation?) / MINUTE)),
        ),
        row(
            "§I-A: \"both of these two jobs run faster\"",
            "Both jobs' processing times: the one that agrees less",
            "%",
            Published::Below,
        )
        .replayed_of_each([both(1), both(2)]),
        row("§I-A: \"both of these two jobs run faster\"", "J1's processing time", "%", Published::Below)
            .arithmetic()
            .replayed(&both(1)),
        row("§I-A: \"both of these two jobs run faster\"", "J2's processing time", "%", Published::Below)
            .arithmetic()
            .replayed(&both(2)),
        row(
            "§I-A: \"increases the fairness to ReduceTasks\"",
            "Distance of the jobs' shares of the reduce slots from equal ones, Coupling less Fair",
            "share",
            Published::Below,
        )
        .replayed(&replays.pairs("fair", "coupling", less_fair)),
        row(
            "§I-A: \"almost half of that in Fig. 1\"",
            "Reduce slot time of both (the gray area), Coupling / Fair",
            "times",
            Published::Ratio(0.5),
        )
        .replayed(&replays.pairs("fair", "coupling", |a, b| Some(reduce_time(b)? / reduce_time(a)?))),
    ]
}

/// J2's reduces that start before its last map ends.
fn early(run: &resched_analysis::Run) -> Option<f64> {
    let (_, last) = span(run, TaskKind::Map, 2)?;
    let reduces = run.intervals.iter().filter(|of| of.kind == TaskKind::Reduce && of.job == 1);
    Some(reduces.filter(|of| (of.start as f64) < last).count() as f64)
}

/// When J2 has reduces beyond the slot that J1 may leave: its second starts, ms. (J1's 15 reduces need a slot twice.)
fn second_start(run: &resched_analysis::Run) -> Option<f64> {
    first_at_least(&running(run, TaskKind::Reduce, Some(2)), 2.0)
}
