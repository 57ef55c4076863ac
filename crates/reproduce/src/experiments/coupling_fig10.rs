//! Coupling, Figs. 10 and 11, Eq. 2: a WordCount with its data on 7 of 15 machines.

use resched_analysis::Run;
use resched_policies::parts::delay_formulas::stays_local;
use resched_tables::model::TaskKind;

use super::coupling::{
    AWAY, COST_UNKNOWN, COSTS, FAIR_OF_FIG_10, KNOBS, RACKS, RACKS_UNKNOWN, assumptions, cases, coupling, figures,
    other_costs, other_racks, with_cost, with_racks,
};
use super::measures::{MINUTE, change, completion, running};
use crate::case::bundled;
use crate::experiment::{Experiment, Paper};
use crate::on_paper::{OnPaper, curve, points, steps};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "coupling-fig10",
    paper: Paper::Coupling,
    source: "Figs. 10 and 11, Eq. 2",
    title: "A WordCount with its data on 7 of 15 machines",
    knobs: KNOBS,
    assumptions: assumptions![
        "The job has no reduces: Figs. 10 and 11 show its maps.",
        "The layout of the racks is unknown and was chosen with the results of both layouts known; β hardly matters in one rack."
    ],
    cases: || {
        let policies =
            [("fair", FAIR_OF_FIG_10), ("β = 0.1", coupling!(",beta=0.1")), ("β = 0.5", coupling!(",beta=0.5"))];
        let mut all = cases(bundled!("coupling-fig10.toml"), &policies)?;
        all.extend(cases(bundled!("coupling-fig10.toml"), &ALL_SLOTS)?);
        all.extend(other_racks(bundled!("coupling-fig10.toml"), &policies)?);
        all.extend(other_costs(bundled!("coupling-fig10.toml"), &policies)?);
        Ok(all)
    },
    rows,
    bands,
    figures: |replays| {
        let maps = |label: &str, case: &str| {
            let run = replays.of(case).first();
            steps(label, &run.map(|run| running(run, TaskKind::Map, None)).unwrap_or_default(), MINUTES)
        };
        let (x, y, ends) = ("Time (min)", "Running maps", Some((MINUTES, 60.0)));
        let read = curve("paper: fair", [(0.0, 28.0), (8.2, 28.0), (8.2, 60.0), (MINUTES, 60.0)]);
        figures([
            OnPaper {
                name: "coupling-fig10",
                title: "Running maps under Fair (Fig. 10)",
                caption: "The paper's line is what its text and caption say: 28 maps \"in most time\", and \"a sudden big jump\" at 8.2 minutes. \
                          Seed 1.",
                x, y, ends,
            }
            .draw(&[maps("fair", "fair"), read]),
            OnPaper {
                name: "coupling-fig11",
                title: "Running maps with a fixed β (Fig. 11)",
                caption: "The marks of the paper are where its jobs end: 18.3 and 38.7 % before Fair's 10 minutes (§II-B). Seed 1.",
                x, y, ends,
            }
            .draw(&[
                maps("β = 0.1", "β = 0.1"),
                maps("β = 0.5", "β = 0.5"),
                points("paper: ends", [(8.17, 0.0), (6.13, 0.0)]),
            ]),
        ])
    },
};

/// Coupling where a heartbeat gets maps for all its free slots: the label of the case, and the policy.
const ALL_SLOTS: [(&str, &str); 2] =
    [("all slots: β = 0.1", "coupling:beta=0.1"), ("all slots: β = 0.5", "coupling:beta=0.5")];

/// Where the time axes of Figs. 10 and 11 end, min.
const MINUTES: f64 = 10.0;

/// More running maps than local slots: half of the others are taken, too.
const JUMP: f64 = 44.0;

/// When half of the slots away from the data are first taken, ms.
fn jump(run: &Run) -> Option<f64> {
    super::measures::first_at_least(&running(run, TaskKind::Map, None), JUMP)
}

/// By how much the running maps rise at most within 15 s, once the first minute is over.
fn rise(run: &Run) -> Option<f64> {
    let steps = running(run, TaskKind::Map, None);
    let later = || steps.points.iter().filter(|(at, _)| *at > 60_000);
    let rises = later().flat_map(|(from, least)| {
        later().filter(move |(at, _)| (*from..=from + 15_000).contains(at)).map(move |(_, most)| most - least)
    });
    rises.reduce(f64::max)
}

/// The number of running maps at which the job stays longest before it jumps.
fn plateau(run: &Run) -> Option<f64> {
    let steps = running(run, TaskKind::Map, None);
    let until = jump(run).unwrap_or(f64::MAX);
    let mut stays: std::collections::BTreeMap<u64, i64> = std::collections::BTreeMap::new();
    for pair in steps.points.windows(2) {
        let &[(from, maps), (to, _)] = pair else { continue };
        if (from as f64) < until {
            *stays.entry(maps as u64).or_default() += to - from;
        }
    }
    stays.into_iter().max_by_key(|(_, time)| *time).map(|(maps, _)| maps as f64)
}

/// The claims about fixed values of β: the name of the band's figure, the label of the case, and the change that is published.
const FIXED: [(&str, &str, f64); 2] =
    [("coupling-fig11-low", "β = 0.1", -18.3), ("coupling-fig11-high", "β = 0.5", -38.7)];

/// The claim about a fixed β.
fn gain(label: &str, published: f64) -> Draft {
    let claim = row(
        "§II-B: \"by 18.3 % and 38.7 %\"",
        format!("Processing time, {label} (Fig. 11)"),
        "%",
        Published::Change(published),
    );
    if published < -30.0 { claim.missing(AWAY).main() } else { claim.missing(CANDIDATES) }
}

/// By how much the job is faster than under Fair in such cases, seed by seed.
fn gains(replays: &Replays<'_>, label: &str, with: impl Fn(&str) -> String) -> Vec<f64> {
    let [fair, coupling] = ["fair", label].map(with);
    replays.pairs(&fair, &coupling, |a, b| change(completion(a, 1), completion(b, 1)))
}

fn bands(replays: &Replays<'_>) -> Vec<Band> {
    let mut bands = Vec::new();
    for (name, label, published) in FIXED {
        let racks = RACKS.map(|racks| (f64::from(racks), gains(replays, label, |case| with_racks(racks, case))));
        let costs = COSTS.map(|cost| (cost, gains(replays, label, |case| with_cost(cost, case))));
        bands.push(Band::new(name, RACKS_UNKNOWN, || gain(label, published), racks));
        bands.push(Band::new(format!("{name}-cost"), COST_UNKNOWN, || gain(label, published), costs));
    }
    bands
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let value = Published::Value;
    let time = |label| replays.each(label, |run| completion(run, 1).map(|ms| ms / MINUTE));
    let mut rows = vec![
        row("Eq. 2", "Eq. 2: chance that no map runs away from its data", "%", value(92.9))
            .exact(100.0 * stays_local(28, 1.0 / 48.5 / 1e3, 15e3, 427), 0.05),
        row(
            "§II-B: \"S/K > 1/T\"",
            "(1/T) / (S/K) with the numbers of Fig. 10; below 1, a job that waits launches maps more slowly than they end",
            "",
            Published::Range(0.0, 1.0),
        )
        .exact(48.5 / 28.0 / 15.0, 0.0),
        row("Fig. 10", "Fair: running maps most of the time", "maps", value(28.0))
            .calibrated()
            .replayed(&replays.each("fair", plateau)),
        row("Fig. 10", "Fair: running maps after the jump", "maps", value(60.0))
            .baseline()
            .replayed(&replays.each("fair", |run| Some(running(run, TaskKind::Map, None).max()))),
        row("Fig. 10", "Fair: the jump", "min", value(8.2))
            .calibrated()
            .replayed(&replays.each("fair", |run| jump(run).map(|ms| ms / MINUTE))),
        row("Fig. 10", "Fair: end, if all 60 slots are used from 8.2 minutes on (arithmetic)", "min", value(10.0))
            .calibrated()
            .exact(end_after(8.2), 0.2),
        row("§II-B: \"by 18.3 % and 38.7 %\"", "Fair: processing time", "min", value(10.0))
            .baseline()
            .missing(TAIL)
            .replayed(&time("fair")),
        gain("β = 0.1", -18.3).replayed(&gains(replays, "β = 0.1", str::to_owned)),
        gain("β = 0.5", -38.7).replayed(&gains(replays, "β = 0.5", str::to_owned)),
        row(
            "§II-B: \"it does not have a sudden big jump\"",
            "Largest rise of the running maps within 15 s, both β less Fair: the one that agrees less (Fig. 11)",
            "maps",
            Published::Below,
        )
        .arithmetic()
        .missing(CANDIDATES)
        .replayed_of_each(["β = 0.1", "β = 0.5"].map(|case| replays.pairs("fair", case, |a, b| Some(rise(b)? - rise(a)?)))),
        row(
            "§II-B: \"by 18.3 % and 38.7 %\"",
            "Processing time, β = 0.5 against β = 0.1",
            "%",
            Published::Change(100.0 * (0.613 / 0.817 - 1.0)),
        )
        .arithmetic()
        .replayed(&replays.pairs("β = 0.1", "β = 0.5", |a, b| change(completion(a, 1), completion(b, 1)))),
        row(
            "§II-B: \"by 18.3 % and 38.7 %\"",
            "Processing time, β = 0.1: 18.3 % less than 10 minutes",
            "min",
            value(8.17),
        )
        .arithmetic()
        .missing(CANDIDATES)
        .replayed(&time("β = 0.1")),
        row(
            "§II-B: \"by 18.3 % and 38.7 %\"",
            "Processing time, β = 0.5: 38.7 % less than 10 minutes",
            "min",
            value(6.13),
        )
        .arithmetic()
        .replayed(&time("β = 0.5")),
        row(
            "§II-B: \"by 18.3 % and 38.7 %\"",
            "One rack: processing time, β = 0.5 against β = 0.1",
            "%",
            Published::Change(100.0 * (0.613 / 0.817 - 1.0)),
        )
        .variant()
        .ours(ONE_RACK)
        .replayed(
            &replays
                .pairs("one rack: β = 0.1", "one rack: β = 0.5", |a, b| change(completion(a, 1), completion(b, 1))),
        ),
    ];
    rows.extend(ALL_SLOTS.into_iter().zip(FIXED).map(|((case, _), (_, label, published))| {
        row(
            "§II-B: \"by 18.3 % and 38.7 %\"",
            format!("All free slots asked at a heartbeat: processing time, {label}"),
            "%",
            Published::Change(published),
        )
        .variant()
        .missing(CANDIDATES)
        .replayed(&replays.pairs("fair", case, |a, b| change(completion(a, 1), completion(b, 1))))
    }));
    rows
}

/// Why Fair ends later.
const TAIL: &str =
    "Where a machine with data has no more of it, its slots too wait for 8 minutes; and the last maps end one by one.";
/// What one rack changes.
const ONE_RACK: &str = "In one rack Coupling declines a map away from its data with α = 0.8 at most, so that all slots fill within some heartbeats \
                        whatever β is.";
/// Why β = 0.1 gains less.
const CANDIDATES: &str = "How many candidates a heartbeat has is not said (L of Algorithm 3). With one, as in the Hadoop of 2009, the job gains less than \
                          in the paper; with one for each free slot it gains more (a variant).";

/// The end, in min, of 427 maps of 48.5 s that use 28 slots until `jump` and then 60. The rest shares the slots evenly.
fn end_after(jump: f64) -> f64 {
    let map = 48.5 / 60.0;
    jump + (427.0 - 28.0 * jump / map) * map / 60.0
}
