//! Coupling, Figs. 1 and 2: two Greps.

use resched_tables::model::TaskKind;

use super::coupling::{CLUSTER, FAIR, KNOBS, assumptions, figure, figures};
use super::measures::{MINUTE, change, completion, first_at_least, job, running, span};
use crate::case::{Case, bundled};
use crate::experiment::{Experiment, Paper};
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
        "148 maps and 15 reduces a job, as the first Greps of Table IV: no counts are given.",
        "The three times of Fair set the three knobs of its own class."
    ],
    cases: || {
        let (workload, mut rules) = (bundled!("coupling-fig1.toml").workload()?, CLUSTER.cluster()?);
        rules.jobs.init_delay = INIT_DELAY;
        [("fair", FAIR), ("coupling", "coupling")]
            .map(|(label, policy)| Case::new(label, policy, workload.clone(), &rules))
            .into_iter()
            .collect()
    },
    rows,
    bands: |_| Vec::new(),
    figures: |replays| {
        figures([figure(
            replays,
            &["fair", "coupling"],
            "running_tasks",
            ("coupling-fig1", "Running tasks (Figs. 1, 2)"),
        )])
    },
};

/// How long a job takes to be initialised, ms. Fixed by Fig. 1 (Fair): J1 holds all reduce slots from 0.9 minutes on.
const INIT_DELAY: i64 = 38_000;

/// Both jobs' reduce slots, the gray area of the figures: slot time, ms.
fn reduce_time(run: &resched_analysis::Run) -> Option<f64> {
    let reduces = run.intervals.iter().filter(|interval| interval.kind == TaskKind::Reduce);
    Some(reduces.map(|interval| (interval.finish - interval.start) as f64).sum())
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let fair = |of: fn(&resched_analysis::Run) -> Option<f64>| replays.each("fair", of);
    let both = |number| replays.pairs("fair", "coupling", |a, b| change(completion(a, number), completion(b, number)));
    let minutes = |ms: Option<f64>| ms.map(|ms| ms / MINUTE);
    let alone = "That J2, too, is faster, the paper puts down to fewer reduces that fetch at once. Here no reduce slows another \
                 one down. Disks that seek and reduces that fetch with cores were tried (see Fig. 5): both jobs gained 1 to 3 %, with them as without them.";
    let value = Published::Value;
    vec![
        row("Fig. 1", "Fair: J1 holds all 14 reduce slots from", "min", value(0.9))
            .calibrated()
            .replayed(&fair(|run| first_at_least(&running(run, TaskKind::Reduce, Some(1)), 14.0).map(|ms| ms / MINUTE))),
        row("Fig. 1", "Fair: J2's maps end at", "min", value(3.8))
            .calibrated()
            .replayed(&fair(|run| span(run, TaskKind::Map, 2).map(|span| span.1 / MINUTE))),
        row("Fig. 1", "Fair: J2's reduces start at", "min", value(11.3))
            .calibrated()
            .replayed(&replays.each("fair", |run| minutes(second_start(run)))),
        check("Coupling: J2's reduces that start while its maps run, more than under Fair", "reduces", Published::Above)
            .missing(COUNTS)
            .replayed(&replays.pairs("fair", "coupling", |a, b| Some(early(b)? - early(a)?))),
        row("§I-A: \"the starvation problem can be mitigated\"", "Coupling: J2 starves for less than under Fair", "min", Published::Below)
            .missing(COUNTS)
            .replayed(&replays.pairs("fair", "coupling", |a, b| {
                Some((job(b, 2)?.starvation? - job(a, 2)?.starvation?) / MINUTE)
            })),
        row("§I-A: \"both of these two jobs run faster\"", "J1's processing time", "%", Published::Below).ours(alone).replayed(&both(1)),
        row("§I-A: \"both of these two jobs run faster\"", "J2's processing time", "%", Published::Below).ours(alone).replayed(&both(2)),
        row("§I-A: \"almost half of that in Fig. 1\"", "Reduce slot time of both (the gray area), Coupling / Fair", "times", Published::Ratio(0.5))
            .ours(
                "Under Fair J1 holds its slots from 0.9 to 11.3 minutes, and all maps are over at 3.8. So reduces that start later save \
                 at most 2.9 of 10.4 minutes, or 28 %; the rest of \"almost half\" needs reduces that are faster, and here none \
                 slows another one down.",
            )
            .replayed(&replays.pairs("fair", "coupling", |a, b| Some(reduce_time(b)? / reduce_time(a)?))),
    ]
}

/// Why J2 hardly gets slots earlier.
const COUNTS: &str = "Maps and reduces of the two jobs are not given. With 148 and 15 each, J1 has launched all its maps after 2.0 minutes and 13 of its \
                      reduces with them, as its ramp says, so that one slot is left when J2's maps are over at 3.3.";

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
