//! Coupling, Fig. 12 and Table II: five jobs, each alone.

use resched_analysis::Run;
use resched_analysis::statistics::distribution::mean;

use super::coupling::{CLUSTER, COUPLING, FAIR, KNOBS, assumptions, coupling, figures};
use super::measures::{MINUTE, change, completion};
use crate::case::{Case, bundled};
use crate::experiment::{Experiment, Paper};
use crate::on_paper::{OnPaper, by_job, points};
use crate::replays::Replays;
use crate::row::row;
use crate::{Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "coupling-fig12",
    paper: Paper::Coupling,
    source: "Fig. 12 and Table II",
    title: "Five jobs, one at a time",
    knobs: KNOBS,
    assumptions: assumptions![
        "The jobs are two hours apart, so that no two run at once.",
        "Tasks on a node slow each other down, because §III-A explains Fig. 12 by the contention of §II-A. The disks are those that Table I's \
         %iowait under Fair fixed. This was chosen with the results of both models known; the other one is a variant. With it Sort2 takes 24 minutes under \
         Fair, more than in the paper, and Sort1 gains by contention, not by the place of its reduces.",
    ],
    cases: || {
        let workload = bundled!("coupling-fig12.toml").workload()?;
        let (shared, apart) = (bundled!("clusters/coupling-contention.toml").cluster()?, CLUSTER.cluster()?);
        let cases = [
            ("fair", FAIR, &shared),
            ("coupling", COUPLING, &shared),
            ("peeking", coupling!(",reduces=greedy,wait=off"), &shared),
            ("no waits", coupling!(",wait=off"), &shared),
            ("fair, no contention", FAIR, &apart),
            ("coupling, no contention", COUPLING, &apart),
        ];
        cases.into_iter().map(|(label, policy, rules)| Case::new(label, policy, workload.clone(), rules)).collect()
    },
    rows,
    bands: |_| Vec::new(),
    figures: |replays| {
        let minutes = |run: &Run, number: usize| completion(run, number).map(|ms| ms / MINUTE);
        let series = [
            by_job(replays, ("fair", "fair"), JOBS, minutes),
            by_job(replays, ("coupling", "coupling"), JOBS, minutes),
            points("paper: fair, shortest and longest of Sort2", [(5.0, SHORTEST), (5.0, LONGEST)]),
        ];
        figures([OnPaper {
            name: "coupling-fig12",
            title: "Processing times (Fig. 12)",
            caption: "Grep, RandomWriter, QMC, Sort1 and Sort2: the mean over the seeds with its 95 % interval. The marks of the paper are the \
                      shortest and the longest of 15 trials of Sort2 under Fair (§III-A).",
            x: "Job",
            y: "Processing time (min)",
            ends: Some((JOBS as f64, 25.0)),
        }
        .draw(&series)])
    },
};

/// Why the ends of the trials may differ.
const TRIALS_VARY: &str = "The paper does not say what varies between its trials. Here the tasks' times, the places of blocks and the order of heartbeats do.";
/// The sentence about the jobs that gain.
const MANY: &str = "§III-A: \"even expedite many of the jobs (e.g., Grep, MonteCarlo)\"";
/// The jobs of Fig. 12.
const JOBS: usize = 5;
/// The trials of the paper, and their ends for Sort2 under Fair, min.
const TRIALS: usize = 15;
const SHORTEST: f64 = 16.15;
const LONGEST: f64 = 23.5;

/// The least or the greatest of each 15 seeds.
fn of_trials(values: &[f64], pick: fn(f64, f64) -> f64) -> Vec<f64> {
    values.chunks(TRIALS).filter_map(|trials| trials.iter().copied().reduce(pick)).collect()
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let of_sort2 = replays.each("fair", |run| completion(run, 5).map(|ms| ms / MINUTE));
    let changed =
        |label, number| replays.pairs("fair", label, |a, b| change(completion(a, number), completion(b, number)));
    let faster = |number| changed("coupling", number);
    let apart = |number| {
        let of = |a: &Run, b: &Run| change(completion(a, number), completion(b, number));
        replays.pairs("fair, no contention", "coupling, no contention", of)
    };
    let peeks = "Random Peeking alone makes the job as much faster (a variant).";
    let disks = "Reduces that start gradually contend less for disks here, whatever the job.";
    let maps = "Reduces that start gradually contend less for disks here, whatever the job; in the paper 27 of them do not. Without contention the job \
                gains 8 %, and with Random Peeking alone 5 % (variants).";
    let mut rows = vec![
        row(MANY, "Grep's and QMC's processing times: the one that agrees less", "%", Published::Below)
            .ours(peeks)
            .replayed_of_each([faster(1), faster(3)]),
        row(MANY, "Grep's processing time", "%", Published::Below).arithmetic().ours(peeks).replayed(&faster(1)),
        row(MANY, "QMC's processing time", "%", Published::Below).arithmetic().ours(peeks).replayed(&faster(3)),
        row("§III-A: \"decreases by 14.6 %\"", "Sort1's processing time", "%", Published::Change(-14.6))
            .ours(disks)
            .replayed(&faster(4)),
        row(
            "§III-A: \"from 16.15 to 23.5 minutes\"",
            "Fair: Sort2's processing time",
            "min",
            Published::Range(SHORTEST, LONGEST),
        )
        .baseline()
        .ours("The class sort was set without contention.")
        .replayed(&of_sort2),
        row(
            "§III-A: \"from 16.15 to 23.5 minutes\"",
            "No contention, Fair: Sort2's processing time",
            "min",
            Published::Range(SHORTEST, LONGEST),
        )
        .calibrated()
        .ours("Fixed by the class sort.")
        .replayed(&replays.each("fair, no contention", |run| completion(run, 5).map(|ms| ms / MINUTE))),
        row(
            "§III-A: \"from 16.15 to 23.5 minutes\"",
            "Fair: Sort2's shortest processing time of 15 trials",
            "min",
            Published::Value(SHORTEST),
        )
        .baseline()
        .missing(TRIALS_VARY)
        .replayed(&of_trials(&of_sort2, f64::min)),
        row(
            "§III-A: \"from 16.15 to 23.5 minutes\"",
            "Fair: Sort2's longest processing time of 15 trials",
            "min",
            Published::Value(LONGEST),
        )
        .baseline()
        .missing(TRIALS_VARY)
        .replayed(&of_trials(&of_sort2, f64::max)),
        row(
            "§III-A: \"do not slow down the job processing on average\"",
            "Processing time, mean of the five jobs' changes (no more than none)",
            "%",
            Published::Range(-100.0, 0.0),
        )
        .arithmetic()
        .ours(disks)
        .replayed(&replays.pairs("fair", "coupling", |a, b| {
            let changes = (1..=JOBS).filter_map(|job| change(completion(a, job), completion(b, job)));
            mean(&changes.collect::<Vec<_>>())
        })),
        row(
            "§III-A: \"do not slow down the job processing on average\"",
            "RandomWriter's processing time (it has neither input nor reduces)",
            "%",
            Published::Change(0.0),
        )
        .arithmetic()
        .ours("The job has nothing that one of the schedulers places otherwise.")
        .replayed(&faster(2)),
        row(
            "§III-A: \"the placements of ReduceTasks have much less impacts\"",
            "By how much the time changes where reduces take any node (wait=off): Sort1 less Sort2, both without sign",
            "points",
            Published::Above,
        )
        .ours("Reduces fetch as fast from any node of the one rack here.")
        .replayed(&replays.pairs("coupling", "no waits", |a, b| {
            let effect = |job| Some(change(completion(a, job), completion(b, job))?.abs());
            Some(effect(4)? - effect(5)?)
        })),
        row(
            "§III-A: \"Sort2 runs slightly slower\"",
            "Sort2's processing time (\"slightly\" longer)",
            "%",
            Published::Above,
        )
        .ours(maps)
        .replayed(&faster(5)),
    ];
    let peeking = [
        ("Grep", 1, Published::Below),
        ("QMC", 3, Published::Below),
        ("Sort1", 4, Published::Change(-14.6)),
        ("Sort2", 5, Published::Above),
    ];
    let without = [("Sort1", 4, Published::Change(-14.6)), ("Sort2", 5, Published::Above)];
    rows.extend(without.map(|(job, number, published)| {
        row("§III-A", format!("No contention: {job}'s processing time"), "%", published)
            .variant()
            .ours("Without contention the gain is Random Peeking's alone.")
            .replayed(&apart(number))
    }));
    rows.extend(peeking.map(|(job, number, published)| {
        row("§III-A", format!("{job} with Random Peeking alone (reduces=greedy, wait=off)"), "%", published)
            .variant()
            .missing(maps)
            .replayed(&changed("peeking", number))
    }));
    rows
}
