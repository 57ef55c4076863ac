//! Coupling, Fig. 16: 200 jobs on 62 machines.

use std::num::NonZeroU32;

use resched_analysis::Run;
use resched_analysis::statistics::distribution::{Distribution, rises_above};
use resched_report::Figure;
use resched_workload::Workload;

use super::coupling::{CLUSTER, COUPLING, FAIR, KNOBS, assumptions, cases, coupling, figure};
use super::measures::{MINUTE, change, mean_completion};
use crate::band::Unknown;
use crate::case::{Bundled, Case, bundled};
use crate::experiment::{Experiment, Paper};
use crate::on_paper::{OnPaper, cumulated};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Error, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "coupling-fig16",
    paper: Paper::Coupling,
    source: "Fig. 16",
    title: "200 jobs in ten batches on 62 machines",
    knobs: KNOBS,
    assumptions: assumptions![
        "Sizes are drawn from the rows of Table IV of each class, scaled; the seed draws them, and the times of arrival, anew.",
        "Rows named after a part of Coupling change that part alone. Both claims need list=fresh, which was chosen after the letter of Algorithm 2 had made \
         jobs slower than under Fair."
    ],
    cases: all_cases,
    rows,
    bands,
    figures,
};

const WORKLOAD: Bundled = bundled!("coupling-fig16.toml");

/// Coupling with one part changed: the case, the policy, and what the row says.
const PARTS: [(&str, &str, &str); 5] = [
    ("literal list", coupling!(",list=free"), "Wait Scheduling to the letter (list=free)"),
    ("with slow-start", coupling!(",slowstart=true"), "With the cluster's slow-start (slowstart=true)"),
    ("no waits", coupling!(",wait=off"), "Without Wait Scheduling (wait=off)"),
    ("peeking alone", coupling!(",reduces=greedy,wait=off"), "Random Peeking alone (reduces=greedy, wait=off)"),
    ("maps wait", coupling!(",maps=delay"), "Without Random Peeking (maps=delay)"),
];

/// The sizes of Table IV that the bundled workload has.
const SCALE: f64 = 1.7;
/// The sizes that are tried, as multiples of Table IV's.
const LOADS: [f64; 4] = [0.5, 1.0, 1.35, SCALE];

fn all_cases() -> Result<Vec<Case>, Error> {
    let mut all = cases(WORKLOAD, &[("fair", FAIR), ("coupling", COUPLING)])?;
    all.extend(cases(WORKLOAD, &PARTS.map(|(label, policy, _)| (label, policy)))?);
    for load in LOADS.into_iter().filter(|load| *load != SCALE) {
        let (workload, rules) = (scaled(WORKLOAD.workload()?, load / SCALE), CLUSTER.cluster()?);
        for (label, policy) in at_load(load).iter().zip([FAIR, COUPLING]) {
            all.push(Case::new(label, policy, workload.clone(), &rules)?.with_few_seeds());
        }
    }
    Ok(all)
}

/// The cases of that load: Fair and Coupling.
fn at_load(load: f64) -> [String; 2] {
    if load == SCALE {
        return ["fair", "coupling"].map(str::to_owned);
    }
    ["fair", "coupling"].map(|policy| format!("sizes × {load}: {policy}"))
}

/// The workload with jobs of other sizes.
fn scaled(mut workload: Workload, by: f64) -> Workload {
    let times = |count: u32| (f64::from(count) * by).round() as u32;
    let mix = workload.arrivals.iter_mut().flat_map(|arrivals| &mut arrivals.get_mut().mix);
    for size in mix.flat_map(|part| &mut part.sizes) {
        size.maps = NonZeroU32::new(times(size.maps.get())).unwrap_or(NonZeroU32::MIN);
        size.reduces = times(size.reduces).max(1);
    }
    workload
}

/// Processing times of the jobs of all seeds, ms.
fn times(runs: &[Run]) -> Distribution {
    Distribution::new(runs.iter().flat_map(Run::finished_jobs).filter_map(|job| job.completion).map(|ms| ms as f64))
}

fn of_run(run: &Run) -> Distribution {
    times(std::slice::from_ref(run))
}

/// The change of the mean processing time, %.
fn of_mean(replays: &Replays<'_>, from: &str, to: &str) -> Vec<f64> {
    replays.pairs(from, to, |a, b| change(mean_completion(a), mean_completion(b)))
}

/// The change of the median processing time, %.
fn of_median(replays: &Replays<'_>, from: &str, to: &str) -> Vec<f64> {
    replays.pairs(from, to, |a, b| change(of_run(a).median(), of_run(b).median()))
}

/// How far Coupling's curve rises above Fair's and falls below it, over the jobs of all seeds.
fn dominance(replays: &Replays<'_>) -> String {
    let (fair, coupling) = (times(replays.of("fair")), times(replays.of("coupling")));
    let in_words = |found: Option<(f64, f64)>| {
        found.map_or("–".to_owned(), |(distance, p)| format!("{distance:.3} (p = {p:.2e})"))
    };
    format!(
        "Over the jobs of all seeds Coupling's curve rises above Fair's by up to {} and falls below it by up to {} (one-sided \
         Kolmogorov–Smirnov).",
        in_words(rises_above(&coupling, &fair)),
        in_words(rises_above(&fair, &coupling))
    )
}

/// The claim about the mean.
fn mean_gain() -> Draft {
    row(
        "§III-D: \"decreases the job processing time by 21.3 %\"",
        "Mean processing time (Fig. 16)",
        "%",
        Published::Change(-21.3),
    )
    .missing(SIZES)
}

/// The claim about the median.
fn median_gain() -> Draft {
    row(
        "§III-D: \"larger than under Fair Scheduler for every t\"",
        "Median processing time (Coupling's CDF is above Fair's)",
        "%",
        Published::Below,
    )
    .arithmetic()
    .missing(SIZES)
}

fn bands(replays: &Replays<'_>) -> Vec<Band> {
    let load = Unknown {
        name: "Sizes of the jobs (Table IV = 1)",
        range: "\"Similar to Table IV\" is all that the paper says; with 1.7 Fair's longest job takes as long as in Fig. 16.",
        chosen: SCALE,
    };
    let over = |of: fn(&Replays<'_>, &str, &str) -> Vec<f64>| {
        LOADS.map(|size| {
            let [fair, coupling] = at_load(size);
            (size, of(replays, &fair, &coupling))
        })
    };
    vec![
        Band::new("coupling-fig16-mean", load, mean_gain, over(of_mean)),
        Band::new("coupling-fig16-median", load, median_gain, over(of_median)),
    ]
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let dominance = dominance(replays);
    let falls = |a: &Run, b: &Run| rises_above(&of_run(a), &of_run(b)).map(|(distance, _)| distance);
    let rises = |a: &Run, b: &Run| falls(b, a);
    let mut rows = vec![
        mean_gain().main().replayed(&of_mean(replays, "fair", "coupling")),
        median_gain().replayed(&of_median(replays, "fair", "coupling")),
        row(
            "§III-D: \"larger than under Fair Scheduler for every t\"",
            "Most by which Coupling's CDF is above Fair's",
            "share",
            Published::Above,
        )
        .arithmetic()
        .missing(dominance.clone())
        .replayed(&replays.pairs("fair", "coupling", rises)),
        row(
            "§III-D: \"larger than under Fair Scheduler for every t\"",
            "Most by which Coupling's CDF is below Fair's",
            "share",
            Published::Range(0.0, 0.02),
        )
        .missing(dominance)
        .replayed(&replays.pairs("fair", "coupling", falls)),
        row("Fig. 16", "Fair: longest processing time", "min", Published::Value(35.0))
            .calibrated()
            .missing(SIZES)
            .replayed(&replays.each("fair", |run| of_run(run).values().last().map(|ms| ms / MINUTE))),
    ];
    for (label, _, what) in PARTS {
        rows.push(
            row(
                "§III-D: \"decreases the job processing time by 21.3 %\"",
                format!("{what}: mean processing time"),
                "%",
                Published::Change(-21.3),
            )
            .variant()
            .ours("A part is changed.")
            .replayed(&of_mean(replays, "fair", label)),
        );
    }
    rows
}

/// What the paper does not say.
const SIZES: &str = "The sizes of the 200 jobs, their order and their run times are not given.";

fn figures(replays: &Replays<'_>) -> Result<Vec<Figure>, Error> {
    let parts: Vec<&str> = ["fair", "coupling"].into_iter().chain(PARTS.map(|(label, ..)| label)).collect();
    let both = ["fair", "coupling"].map(|label| cumulated(label, &times(replays.of(label)), MINUTE));
    let all = [
        OnPaper {
            name: "coupling-fig16",
            title: "Processing times (Fig. 16)",
            caption: "The share of the jobs of all seeds that take at most so long. Of the paper's curves the text says that Coupling's is above \
                      Fair's for every t, and gives the mean change, 21.3 % (§III-D).",
            x: "Processing time (min)",
            y: "Share of the jobs",
            ends: Some((35.0, 1.0)),
        }
        .draw(&both)?,
        figure(
            replays,
            &parts,
            "cdf_jobs",
            (
                "coupling-fig16-parts",
                "Processing times with one part changed",
                "The share of the jobs that take at most so long, under Fair, Coupling, and Coupling with one part changed.",
            ),
        )?,
    ];
    Ok(all.into_iter().flatten().collect())
}
