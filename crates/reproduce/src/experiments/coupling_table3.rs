//! Coupling, Figs. 13 to 15 and Table III: ten Greps without reduces.

use resched_analysis::Run;
use resched_sim::cluster_file::{Contention, ReduceModel};
use resched_tables::model::TaskKind;

use super::coupling::{
    CHOSEN_RACKS, CLUSTER, FAIR, FAIR_OF_FIG_10, KNOBS, RACKS, RACKS_UNKNOWN, assumptions, cases, figure, figures,
    other_racks, with_racks,
};
use super::measures::{change, mean_completion, running, span};
use crate::case::{Case, bundled};
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "coupling-table3",
    paper: Paper::Coupling,
    source: "Figs. 13 to 15 and Table III",
    title: "Ten Greps without reduces, data on 7 of 15 machines",
    knobs: KNOBS,
    assumptions: assumptions!["Job 1's submission is blank in the scan; it is 0. Figs. 13 and 14 are with adaptive β."],
    cases: || {
        let policies = [
            ("fair", FAIR),
            ("coupling", "coupling"),
            ("β = 0.1", "coupling:beta=0.1"),
            ("β = 0.5", "coupling:beta=0.5"),
            ("fair of Fig. 10", FAIR_OF_FIG_10),
        ];
        let mut all = cases(bundled!("coupling-table3.toml"), &policies)?;
        all.extend(other_racks(bundled!("coupling-table3.toml"), &policies[..3])?);
        // No resource is scarce, so the traffic is that of the same schedule.
        let mut measured = CLUSTER.cluster()?;
        measured.cost.reduce = ReduceModel::R2;
        measured.cost.contention = Some(Contention { sample: 10_000, ..Contention::default() });
        for (label, policy) in [("fair, measured", FAIR), ("coupling, measured", "coupling")] {
            all.push(Case::new(label, policy, bundled!("coupling-table3.toml").workload()?, &measured)?);
        }
        Ok(all)
    },
    rows,
    bands,
    figures: |replays| {
        figures([
            figure(replays, &["fair", "coupling"], "job_times", ("coupling-fig13", "Processing times (Fig. 13)")),
            figure(replays, &["fair", "coupling"], "running_tasks", ("coupling-fig14", "Running maps (Fig. 14)")),
            figure(replays, &["β = 0.1", "fair", "β = 0.5"], "locality", ("coupling-fig15", "Local maps (Fig. 15)")),
        ])
    },
};

/// Local maps of all jobs.
fn local(run: &Run) -> Option<f64> {
    Some(run.jobs.iter().filter_map(|job| job.map_launches.first()).sum::<u64>() as f64)
}

/// The least and the most running maps of all jobs while the maps of a large job run. Its first and last 90 s, in which it starts
/// and ends, do not count.
fn swing(run: &Run, number: usize) -> Option<(f64, f64)> {
    let (from, to) = span(run, TaskKind::Map, number)?;
    let steps = running(run, TaskKind::Map, None);
    let inside = steps.points.iter().filter(|(at, _)| (from + 90e3..=to - 90e3).contains(&(*at as f64)));
    let (low, high) =
        inside.fold((f64::MAX, 0.0), |(low, high), (_, maps)| (f64::min(low, *maps), f64::max(high, *maps)));
    (low <= high).then_some((low, high))
}

/// The mean over jobs 1, 5 and 9 of one end of [`swing`].
fn mean_swing(run: &Run, end: fn((f64, f64)) -> f64) -> Option<f64> {
    let ends: Vec<f64> = [1, 5, 9].iter().filter_map(|number| swing(run, *number)).map(end).collect();
    resched_analysis::statistics::distribution::mean(&ends)
}

/// The largest traffic of a node in and out, in the mean over 10 s, bytes per second.
fn most_traffic(run: &Run) -> Option<f64> {
    run.resources.iter().map(|row| row.net_in + row.net_out).reduce(f64::max)
}

/// The claim about the mean (Fig. 13).
fn gain() -> Draft {
    row(
        "§III-B: \"decreases the processing time by 24 %\"",
        "Mean processing time (Fig. 13)",
        "%",
        Published::Change(-24.0),
    )
    .inconsistent(CLOCK)
}

/// The change of the mean from Fair to Coupling with so many racks, seed by seed.
fn gains(replays: &Replays<'_>, racks: u32) -> Vec<f64> {
    let [fair, coupling] = ["fair", "coupling"].map(|label| with_racks(racks, label));
    replays.pairs(&fair, &coupling, |a, b| change(mean_completion(a), mean_completion(b)))
}

fn bands(replays: &Replays<'_>) -> Vec<Band> {
    let found = RACKS.map(|racks| (f64::from(racks), gains(replays, racks)));
    vec![Band::new("coupling-fig13-racks", RACKS_UNKNOWN, gain, found)]
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let traffic = "The maps of these Greps read 64 MiB in half a minute; what else goes through the network is not in the model. Nothing was tried.";
    let more = |first, second| replays.pairs(first, second, |a, b| Some(local(a)? - local(b)?));
    vec![
        gain().main().replayed(&gains(replays, CHOSEN_RACKS)),
        row(
            "§III-B: \"vary between 60 and 20\"",
            "Fair: least running maps beside J1, J5, J9",
            "maps",
            Published::Value(20.0),
        )
        .calibrated()
        .replayed(&replays.each("fair", |run| mean_swing(run, |ends| ends.0))),
        row(
            "§III-B: \"vary between 60 and 20\"",
            "Fair: most running maps beside J1, J5, J9",
            "maps",
            Published::Value(60.0),
        )
        .calibrated()
        .replayed(&replays.each("fair", |run| mean_swing(run, |ends| ends.1))),
        row(
            "§III-B: \"decreases the processing time by 24 %\"",
            "With Fair's wait of Fig. 10 (480 s, once): mean processing time",
            "%",
            Published::Change(-24.0),
        )
        .variant()
        .missing(CLOCK)
        .replayed(&replays.pairs("fair of Fig. 10", "coupling", |a, b| change(mean_completion(a), mean_completion(b)))),
        row(
            "§III-B: \"between Coupling Scheduler with β = 0.1 and β = 0.5\"",
            "With Fair's wait of Fig. 10: local maps, β = 0.1 less Fair",
            "maps",
            Published::Above,
        )
        .variant()
        .missing(CLOCK)
        .replayed(&more("β = 0.1", "fair of Fig. 10")),
        row(
            "§III-B: \"decreases the processing time by 24 %\"",
            "One rack: mean processing time",
            "%",
            Published::Change(-24.0),
        )
        .variant()
        .missing(CLOCK)
        .replayed(
            &replays
                .pairs("one rack: fair", "one rack: coupling", |a, b| change(mean_completion(a), mean_completion(b))),
        ),
        row("Fig. 14", "Largest traffic of a node (Fig. 14), at most", "B/s", Published::Range(0.0, 2e8))
            .arithmetic()
            .ours(traffic)
            .replayed(&replays.each("coupling, measured", most_traffic)),
        row(
            "§III-B: \"at the expense of more network traffic\"",
            "Largest traffic of a node, Coupling less Fair",
            "B/s",
            Published::Above,
        )
        .ours(traffic)
        .replayed(&replays.pairs("fair, measured", "coupling, measured", |fair, coupling| {
            Some(most_traffic(coupling)? - most_traffic(fair)?)
        })),
        row(
            "§III-B: \"between Coupling Scheduler with β = 0.1 and β = 0.5\"",
            "Local maps, β = 0.1 less Fair (Fig. 15)",
            "maps",
            Published::Above,
        )
        .inconsistent(CLOCK)
        .replayed(&more("β = 0.1", "fair")),
        row(
            "§III-B: \"between Coupling Scheduler with β = 0.1 and β = 0.5\"",
            "Local maps, Fair less β = 0.5 (Fig. 15)",
            "maps",
            Published::Above,
        )
        .replayed(&more("fair", "β = 0.5")),
        row(
            "§III-B: \"between Coupling Scheduler with β = 0.1 and β = 0.5\"",
            "Local maps, β = 0.1 less β = 0.5 (Fig. 15)",
            "maps",
            Published::Above,
        )
        .arithmetic()
        .replayed(&more("β = 0.1", "β = 0.5")),
        row(
            "§III-B: \"between Coupling Scheduler with β = 0.1 and β = 0.5\"",
            "One rack: local maps, β = 0.1 less Fair",
            "maps",
            Published::Above,
        )
        .variant()
        .ours(PATIENCE)
        .replayed(&more("one rack: β = 0.1", "one rack: fair")),
    ]
}

/// Why Fair may lose more and keep more maps local.
const CLOCK: &str = "It hangs on when Fair stops to wait for data. Fig. 10 shows one stop after 8.2 minutes, for good; Fig. 13 shows swings on the same \
                     machines. With the wait of Fig. 10 (variants below) Coupling gains less, and β = 0.1 keeps more maps local than Fair, as in \
                     Fig. 15; but then the running maps do not swing.";
/// Why the order of Fig. 15 may differ.
const PATIENCE: &str =
    "In one rack Coupling declines a map away from its data with α = 0.8 at most, so that β hardly matters.";
