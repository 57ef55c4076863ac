//! Coupling, Figs. 13 to 15 and Table III: ten Greps without reduces.

use std::collections::BTreeMap;

use resched_analysis::Run;
use resched_analysis::statistics::distribution::mean;
use resched_sim::cluster_file::{Contention, ReduceModel};
use resched_tables::model::TaskKind;

use super::coupling::{
    AWAY, CHOSEN_RACKS, CLUSTER, COST_UNKNOWN, COSTS, COUPLING, FAIR_OF_FIG_10, KNOBS, RACKS, RACKS_UNKNOWN,
    assumptions, cases, coupling, fair, figure, figures, other_costs, other_racks, with_cost, with_racks,
};
use super::measures::{MINUTE, change, mean_completion, running, span};
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
    assumptions: assumptions![
        "Job 1's submission is blank in the scan; it is 0. Figs. 13 and 14 are with adaptive β.",
        "Fair's running maps do not fall to 20 here. Beside a Fair whose maps do, Coupling gains 44 %; where a heartbeat gets maps for all its free \
         slots, it gains 31 % (variants)."
    ],
    cases: || {
        let policies = [
            ("fair", FAIR_OF_FIG_10),
            ("coupling", COUPLING),
            ("β = 0.1", coupling!(",beta=0.1")),
            ("β = 0.5", coupling!(",beta=0.5")),
            ("short clock", SHORT_CLOCK),
            ("all slots", "coupling"),
        ];
        let mut all = cases(bundled!("coupling-table3.toml"), &policies)?;
        all.extend(other_racks(bundled!("coupling-table3.toml"), &policies[..4])?);
        all.extend(other_costs(bundled!("coupling-table3.toml"), &policies[..2])?);
        // No resource is scarce, so the traffic is that of the same schedule.
        let mut measured = CLUSTER.cluster()?;
        measured.cost.reduce = ReduceModel::R2;
        measured.cost.contention = Some(Contention { sample: 10_000, ..Contention::default() });
        for (label, policy) in [("fair, measured", FAIR_OF_FIG_10), ("coupling, measured", COUPLING)] {
            all.push(Case::new(label, policy, bundled!("coupling-table3.toml").workload()?, &measured)?);
        }
        Ok(all)
    },
    rows,
    bands,
    figures: |replays| {
        figures([
            figure(
                replays,
                &["fair", "coupling"],
                "job_times",
                ("coupling-fig13", "Processing times (Fig. 13)", "The processing time of each job."),
            ),
            figure(
                replays,
                &["fair", "coupling"],
                "running_tasks",
                (
                    "coupling-fig13-maps",
                    "Running maps (Fig. 13)",
                    "Running maps, stacked by job. The paper's text: those of jobs 1, 5 and 9 vary between 60 and 20 under Fair.",
                ),
            ),
            figure(
                replays,
                &["β = 0.1", "fair", "β = 0.5"],
                "locality",
                ("coupling-fig15", "Local maps (Fig. 15)", "Maps by how far they ran from their data."),
            ),
        ])
    },
};

/// Local maps of all jobs.
fn local(run: &Run) -> Option<f64> {
    Some(run.jobs.iter().map(|job| u64::from(job.map_launches[0])).sum::<u64>() as f64)
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
    mean(&ends)
}

/// How much the running maps of all jobs vary over the same time: their standard deviation, in the mean over jobs 1, 5 and 9.
fn variation(run: &Run) -> Option<f64> {
    let steps = running(run, TaskKind::Map, None);
    let of = |number: usize| {
        let (from, to) = span(run, TaskKind::Map, number)?;
        let (mut time, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for pair in steps.points.windows(2) {
            let &[(at, maps), (next, _)] = pair else { continue };
            let stretch = (next as f64).min(to - 90e3) - (at as f64).max(from + 90e3);
            if stretch > 0.0 {
                (time, sum, squares) = (time + stretch, sum + stretch * maps, squares + stretch * maps * maps);
            }
        }
        (time > 0.0).then(|| (squares / time - (sum / time).powi(2)).max(0.0).sqrt())
    };
    mean(&[1, 5, 9].into_iter().filter_map(of).collect::<Vec<_>>())
}

/// The largest traffic of a node in and out at each time, in the mean over 10 s, bytes per second: the curve of Fig. 14.
fn most_traffic(run: &Run) -> Vec<f64> {
    let mut most: BTreeMap<i64, f64> = BTreeMap::new();
    for row in &run.resources {
        let of_all = most.entry(row.time).or_default();
        *of_all = of_all.max(row.net_in + row.net_out);
    }
    most.into_values().collect()
}

/// The top of that curve.
fn top_traffic(run: &Run) -> Option<f64> {
    most_traffic(run).into_iter().reduce(f64::max)
}

/// Its mean over time.
fn mean_traffic(run: &Run) -> Option<f64> {
    mean(&most_traffic(run))
}

/// A Fair that falls back to waiting once it has half its share. Its running maps swing as in Fig. 13, but the plateau of Fig. 10 is
/// lost.
const SHORT_CLOCK: &str = fair!(",fair_share_timeout=15000,preemption=true,only_log=true");

/// Where the claims stand.
const MEAN: &str = "§III-B: \"decreases the processing time by 24 %\"";
const SWING: &str = "§III-B: \"vary between 60 and 20\"";
const LOCALITY: &str = "§III-B: \"between Coupling Scheduler with β = 0.1 and β = 0.5\"";
const TRAFFIC: &str = "§III-B: \"at the expense of more network traffic\"";

/// The claim about the mean (Fig. 13).
fn gain() -> Draft {
    row(MEAN, "Mean processing time (Fig. 13)", "%", Published::Change(-24.0)).missing(AWAY)
}

/// The claim about local maps (Fig. 15).
fn between() -> Draft {
    let quantity = "Local maps: Fair's distance from both β, the one that agrees less (Fig. 15)";
    row(LOCALITY, quantity, "maps", Published::Above).ours(CLOCK)
}

/// The change of the mean from Fair to Coupling between two cases, seed by seed.
fn gains(replays: &Replays<'_>, label: impl Fn(&str) -> String) -> Vec<f64> {
    replays.pairs(&label("fair"), &label("coupling"), |a, b| change(mean_completion(a), mean_completion(b)))
}

fn bands(replays: &Replays<'_>) -> Vec<Band> {
    let racks = RACKS.map(|racks| (f64::from(racks), gains(replays, |label| with_racks(racks, label))));
    let costs = COSTS.map(|cost| (cost, gains(replays, |label| with_cost(cost, label))));
    let both = RACKS.map(|racks| {
        let more = |first: &str, second: &str| more(replays, &with_racks(racks, first), &with_racks(racks, second));
        (f64::from(racks), vec![more("β = 0.1", "fair"), more("fair", "β = 0.5")])
    });
    vec![
        Band::of_each("coupling-fig15-racks", RACKS_UNKNOWN, between, both),
        Band::new("coupling-fig13-racks", RACKS_UNKNOWN, gain, racks),
        Band::new("coupling-fig13-cost", COST_UNKNOWN, gain, costs),
    ]
}

/// How many more maps are local in one case than in another, seed by seed.
fn more(replays: &Replays<'_>, first: &str, second: &str) -> Vec<f64> {
    replays.pairs(first, second, |a, b| Some(local(a)? - local(b)?))
}

/// When the last job of a run ends, min.
fn end(run: &Run) -> Option<f64> {
    run.jobs.iter().filter_map(|job| job.finish).max().map(|end| end as f64 / MINUTE)
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let more = |first, second| more(replays, first, second);
    let short = |second| replays.pairs("short clock", second, |a, b| change(mean_completion(a), mean_completion(b)));
    let minutes = |least, most| Published::Range(least, most);
    vec![
        gain().main().replayed(&gains(replays, |label| with_racks(CHOSEN_RACKS, label))),
        row(
            "§III-B: \"improvements to the under-utilization and instability problem\"",
            "Running maps beside J1, J5, J9: by how much more even, least or deviation, the one that agrees less",
            "maps",
            Published::Above,
        )
        .ours(CLOCK)
        .replayed_of_each([
            replays
                .pairs("fair", "coupling", |a, b| Some(mean_swing(b, |ends| ends.0)? - mean_swing(a, |ends| ends.0)?)),
            replays.pairs("fair", "coupling", |a, b| Some(variation(a)? - variation(b)?)),
        ]),
        row(
            "§III-B: \"can launch more non-local MapTasks\"",
            "Maps away from their data, Coupling less Fair",
            "maps",
            Published::Above,
        )
        .arithmetic()
        .ours(CLOCK)
        .replayed(&more("fair", "coupling")),
        row(SWING, "Fair: least running maps beside J1, J5, J9", "maps", Published::Value(20.0))
            .baseline()
            .ours(CLOCK)
            .replayed(&replays.each("fair", |run| mean_swing(run, |ends| ends.0))),
        row(SWING, "Fair: most running maps beside J1, J5, J9", "maps", Published::Value(60.0))
            .baseline()
            .replayed(&replays.each("fair", |run| mean_swing(run, |ends| ends.1))),
        row("Fig. 13", "Fair: all jobs end, on an axis to 20 minutes", "min", minutes(15.0, 20.0))
            .baseline()
            .ours("The axis of Fig. 14, of the same run, goes to 25 minutes.")
            .replayed(&replays.each("fair", end)),
        row("Fig. 14", "Fair: all jobs end, on an axis to 25 minutes", "min", minutes(20.0, 25.0))
            .baseline()
            .replayed(&replays.each("fair", end)),
        row(SWING, "Fair with a clock of 15 s: least running maps beside J1, J5, J9", "maps", Published::Value(20.0))
            .variant()
            .replayed(&replays.each("short clock", |run| mean_swing(run, |ends| ends.0))),
        row(MEAN, "Fair with a clock of 15 s: mean processing time", "%", Published::Change(-24.0))
            .variant()
            .replayed(&short("coupling")),
        row(LOCALITY, "Fair with a clock of 15 s: local maps, β = 0.1 less Fair", "maps", Published::Above)
            .variant()
            .ours(CLOCK)
            .replayed(&more("β = 0.1", "short clock")),
        row(MEAN, "All free slots asked at a heartbeat: mean processing time", "%", Published::Change(-24.0))
            .variant()
            .replayed(&replays.pairs("fair", "all slots", |a, b| change(mean_completion(a), mean_completion(b)))),
        row(MEAN, "One rack: mean processing time", "%", Published::Change(-24.0))
            .variant()
            .replayed(&gains(replays, |label| with_racks(1, label))),
        row("Fig. 14", "Largest traffic of a node, on an axis to 2 · 10⁸", "B/s", Published::Range(0.0, 2e8))
            .arithmetic()
            .replayed(&replays.each("coupling, measured", top_traffic)),
        // The paper plots the maximum over the nodes at each time, so its claim is about the whole curve and not about its top.
        row(TRAFFIC, "Largest traffic of a node at each time, mean (Fig. 14)", "%", Published::Above)
            .ours("Only the maps' own reading is in the model: 64 MiB in half a minute.")
            .replayed(&replays.pairs("fair, measured", "coupling, measured", |fair, coupling| {
                change(mean_traffic(fair), mean_traffic(coupling))
            })),
        between().replayed_of_each([more("β = 0.1", "fair"), more("fair", "β = 0.5")]),
        row(LOCALITY, "Local maps, β = 0.1 less Fair (Fig. 15)", "maps", Published::Above)
            .arithmetic()
            .ours(CLOCK)
            .replayed(&more("β = 0.1", "fair")),
        row(LOCALITY, "Local maps, Fair less β = 0.5 (Fig. 15)", "maps", Published::Above)
            .arithmetic()
            .ours(CLOCK)
            .replayed(&more("fair", "β = 0.5")),
        row(LOCALITY, "Local maps, β = 0.1 less β = 0.5 (Fig. 15)", "maps", Published::Above)
            .arithmetic()
            .replayed(&more("β = 0.1", "β = 0.5")),
        row(LOCALITY, "One rack: local maps, β = 0.1 less Fair", "maps", Published::Above)
            .variant()
            .ours(PATIENCE)
            .replayed(&more("one rack: β = 0.1", "one rack: fair")),
    ]
}

/// What no clock of Fair gives.
const CLOCK: &str = "Fair's clock is one for Figs. 10 to 15. With it Fair stops waiting for good after 8 minutes, as in Fig. 10; so the running maps stay \
                     above 40 then. With a clock of 15 s that starts anew (the variants) they fall to 20, but Coupling gains more and Fig. 10's \
                     plateau is lost.";
/// Why the order of Fig. 15 may differ.
const PATIENCE: &str =
    "In one rack Coupling declines a map away from its data with α = 0.8 at most, so that β hardly matters.";
