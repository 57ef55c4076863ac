//! Coupling, Fig. 12 and Table II: five jobs, each alone.

use super::coupling::{FAIR, KNOBS, assumptions, cases, figure, figures};
use super::measures::{MINUTE, change, completion};
use crate::case::bundled;
use crate::experiment::{Experiment, Paper};
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
    assumptions: assumptions!["The jobs are two hours apart, so that no two run at once."],
    cases: || {
        let policies = [("fair", FAIR), ("coupling", "coupling"), ("peeking", "coupling:reduces=greedy,wait=off")];
        cases(bundled!("coupling-fig12.toml"), &policies)
    },
    rows,
    bands: |_| Vec::new(),
    figures: |replays| {
        figures([figure(replays, &["fair", "coupling"], "job_times", ("coupling-fig12", "Processing times (Fig. 12)"))])
    },
};

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let changed =
        |label, number| replays.pairs("fair", label, |a, b| change(completion(a, number), completion(b, number)));
    let faster = |number| changed("coupling", number);
    let alone = "Random Peeking alone makes the job as much faster (a variant): its maps wait less for their data than Fair's. That a reduce runs \
                 where the disks and the network are free does not enter here.";
    let maps = "Random Peeking alone makes the job as much faster here (a variant). A map away from its data costs 2 % here; with 50 % the job is \
                still no slower. How the file's blocks lay on the machines is not given.";
    let mut rows = vec![
        row(
            "§III-A: \"even expedite many of the jobs (e.g., Grep, MonteCarlo)\"",
            "Grep's processing time",
            "%",
            Published::Below,
        )
        .ours(alone)
        .replayed(&faster(1)),
        row(
            "§III-A: \"even expedite many of the jobs (e.g., Grep, MonteCarlo)\"",
            "QMC's processing time",
            "%",
            Published::Below,
        )
        .ours(alone)
        .replayed(&faster(3)),
        row("§III-A: \"decreases by 14.6 %\"", "Sort1's processing time", "%", Published::Change(-14.6))
            .ours(alone)
            .replayed(&faster(4)),
        row(
            "§III-A: \"from 16.15 to 23.5 minutes\"",
            "Fair: Sort2's processing time",
            "min",
            Published::Range(16.15, 23.5),
        )
        .calibrated()
        .ours("Fixed by the class sort.")
        .replayed(&replays.each("fair", |run| completion(run, 5).map(|ms| ms / MINUTE))),
        row(
            "§III-A: \"Sort2 runs slightly slower\"",
            "Sort2's processing time (\"slightly\" longer)",
            "%",
            Published::Above,
        )
        .missing(maps)
        .replayed(&faster(5)),
    ];
    let peeking = [
        ("Grep", 1, Published::Below),
        ("QMC", 3, Published::Below),
        ("Sort1", 4, Published::Change(-14.6)),
        ("Sort2", 5, Published::Above),
    ];
    rows.extend(peeking.map(|(job, number, published)| {
        row("§III-A", format!("{job} with Random Peeking alone (reduces=greedy, wait=off)"), "%", published)
            .variant()
            .missing(maps)
            .replayed(&changed("peeking", number))
    }));
    rows
}
