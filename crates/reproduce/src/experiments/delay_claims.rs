//! Delay Scheduling: sticky slots, small jobs of several users, and throughput.

use resched_analysis::Run;
use resched_analysis::statistics::distribution::mean;

use super::coupling::{figure, figures};
use super::delay::{ASSUMPTIONS, CLUSTER, KNOBS, locality};
use crate::band::Unknown;
use crate::case::{Case, bundled};
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::{Draft, row};
use crate::{Band, Error, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "delay-claims",
    paper: Paper::Delay,
    source: "the abstract, and sticky slots",
    title: "Small jobs of several users, throughput, sticky slots",
    knobs: KNOBS,
    assumptions: ASSUMPTIONS,
    cases,
    rows,
    bands,
    figures: |replays| {
        figures([figure(
            replays,
            &["users: fifo", "users: delay"],
            "cdf_jobs",
            (
                "delay-users",
                "Response times of a multi-user workload",
                "The share of the jobs that take at most so long.",
            ),
        )])
    },
};

fn cases() -> Result<Vec<Case>, Error> {
    let mut cases = Vec::new();
    for (prefix, file, delay) in [
        ("users", bundled!("delay-users.toml"), "delay:D=24"),
        ("sticky", bundled!("delay-sticky.toml"), "delay:D=100"),
    ] {
        for (name, policy) in [("fifo", "fifo"), ("naive", "naive-fair"), ("delay", delay)] {
            cases.push(Case::new(&format!("{prefix}: {name}"), policy, file.workload()?, &CLUSTER.cluster()?)?);
        }
    }
    for skips in SKIPS.into_iter().filter(|skips| *skips != CHOSEN_SKIPS) {
        let (workload, policy) = (bundled!("delay-sticky.toml").workload()?, format!("delay:D={skips}"));
        let case = Case::new(&with_skips(skips), &policy, workload, &CLUSTER.cluster()?)?;
        cases.push(case.with_few_seeds());
    }
    for replicas in REPLICAS.into_iter().filter(|replicas| *replicas != CHOSEN_REPLICAS) {
        let mut workload = bundled!("delay-sticky.toml").workload()?;
        workload.cluster.get_mut().replication = replicas;
        let policy = format!("delay:D={CHOSEN_SKIPS}");
        let case = Case::new(&with_replicas(replicas), &policy, workload, &CLUSTER.cluster()?)?;
        cases.push(case.with_few_seeds());
    }
    for maps in LOADS.into_iter().filter(|maps| *maps != CHOSEN) {
        let mut workload = bundled!("delay-users.toml").workload()?;
        for jobs in workload.jobs.iter_mut().filter(|jobs| jobs.name.as_deref() == Some("large")) {
            jobs.maps = maps.try_into().unwrap_or(jobs.maps);
        }
        for (name, policy) in [("fifo", "fifo"), ("delay", "delay:D=24")] {
            let case = Case::new(&label(maps, name), policy, workload.clone(), &CLUSTER.cluster()?)?;
            cases.push(case.with_few_seeds());
        }
    }
    Ok(cases)
}

/// The maps of a large job that are tried, and those of the bundled workload.
const LOADS: [u32; 4] = [500, 1000, 2000, 3000];
const CHOSEN: u32 = 2000;

/// The label of a case with large jobs of so many maps.
fn label(maps: u32, policy: &str) -> String {
    if maps == CHOSEN { format!("users: {policy}") } else { format!("users, large jobs of {maps} maps: {policy}") }
}

/// The claim about small jobs.
fn small_gain() -> Draft {
    row(
        "the abstract: \"by 5x\"",
        "Mean response time of small jobs, FIFO / delay scheduling",
        "times",
        Published::Ratio(5.0),
    )
    .arithmetic()
    .main()
    .missing("How long a small job waits under FIFO is the backlog of large jobs, and the paper's mix is not known.")
}

/// By how much small jobs are faster where large jobs have so many maps, seed by seed.
fn gains(replays: &Replays<'_>, maps: u32) -> Vec<f64> {
    replays.pairs(&label(maps, "fifo"), &label(maps, "delay"), |a, b| Some(response(a)? / response(b)?))
}

fn bands(replays: &Replays<'_>) -> Vec<Band> {
    let load = Unknown {
        name: "Maps of a large job",
        range: "From one to eight waves of the cluster's 400 slots.",
        chosen: f64::from(CHOSEN),
    };
    let found = LOADS.map(|maps| (f64::from(maps), gains(replays, maps)));
    let skips = Unknown {
        name: "Skip count D with sticky slots",
        range: "From a quarter of the machines to ten times as many.",
        chosen: f64::from(CHOSEN_SKIPS),
    };
    let replicas = Unknown {
        name: "Replicas of a block with sticky slots",
        range: "HDFS keeps three. With one the last maps of a job have their data on few machines.",
        chosen: f64::from(CHOSEN_REPLICAS),
    };
    let throughput = SKIPS.map(|skips| (f64::from(skips), throughputs(replays, skips)));
    let by_skips = SKIPS.map(|skips| (f64::from(skips), local(replays, &with_skips(skips))));
    let by_replicas = REPLICAS.map(|number| (f64::from(number), local(replays, &with_replicas(number))));
    vec![
        Band::new("delay-users-load", load, small_gain, found),
        Band::new("delay-sticky-throughput", skips, double, throughput),
        Band::new("delay-sticky-locality", skips, nearly_all, by_skips),
        Band::new("delay-sticky-replicas", replicas, nearly_all, by_replicas),
    ]
}

/// The mean response time of the small jobs, ms.
fn response(run: &Run) -> Option<f64> {
    let small = run.finished_jobs().filter(|job| job.name.as_deref() == Some("small"));
    mean(&small.filter_map(|job| job.completion).map(|ms| ms as f64).collect::<Vec<_>>())
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let all: fn(&str) -> bool = |_| true;
    vec![
        small_gain().replayed(&gains(replays, CHOSEN)),
        double().main().replayed(&throughputs(replays, CHOSEN_SKIPS)),
        row(
            "Naive fair sharing: \"Sticky Slot\"",
            "Sticky slots: local maps, delay less naive fair sharing",
            "points",
            Published::Above,
        )
        .arithmetic()
        .replayed(&replays.pairs("sticky: naive", "sticky: delay", |a, b| Some(locality(b, all)? - locality(a, all)?))),
        nearly_all().replayed(&local(replays, &with_skips(CHOSEN_SKIPS))),
    ]
}

/// The claim about throughput.
fn double() -> Draft {
    row(
        "the abstract: \"double throughput\"",
        "Throughput of maps that are bound by their input, delay / naive fair sharing",
        "times",
        Published::Ratio(2.0),
    )
    .missing(
        "The load is not given. With maps that are twice as fast beside their data, 2 is the bound: no map local before, all after, and no \
         slot that waits. With any D of the band it is 1.4 to 1.6.",
    )
}

/// The claim about locality.
fn nearly_all() -> Draft {
    row(
        "\"locality close to 100 %\"",
        "Sticky slots: local maps under delay scheduling (towards all)",
        "%",
        Published::Range(95.0, 100.0),
    )
    .missing(
        "The load is not given. That a block has one replica is ours; the last maps of a job then have their data on few machines. With D = 25 \
         it is 89, 96 and 98 % with 1, 2 and 3 replicas, and 95 % with jobs of 600 maps instead of 150 (10 seeds). With one replica and every D \
         up to 100 it is 89 to 91 %. That \"close to 100 %\" is 95 % or more is our reading, too.",
    )
}

/// The skip counts that are tried with sticky slots, and that of the rows: the number of machines.
const SKIPS: [u32; 5] = [25, 50, CHOSEN_SKIPS, 300, 1000];
const CHOSEN_SKIPS: u32 = 100;

/// The label of delay scheduling with sticky slots and such a D.
fn with_skips(skips: u32) -> String {
    if skips == CHOSEN_SKIPS { "sticky: delay".to_owned() } else { format!("sticky, D = {skips}: delay") }
}

/// The replicas of a block that are tried with sticky slots, and those of the bundled workload.
const REPLICAS: [u32; 3] = [CHOSEN_REPLICAS, 2, 3];
const CHOSEN_REPLICAS: u32 = 1;

/// The label of delay scheduling with sticky slots and so many replicas.
fn with_replicas(replicas: u32) -> String {
    if replicas == CHOSEN_REPLICAS { with_skips(CHOSEN_SKIPS) } else { format!("sticky, {replicas} replicas: delay") }
}

/// How many times as many maps a second end under delay scheduling as under naive fair sharing, seed by seed.
fn throughputs(replays: &Replays<'_>, skips: u32) -> Vec<f64> {
    let times = |a: &Run, b: &Run| Some(a.jobs.makespan()? as f64 / b.jobs.makespan()? as f64);
    replays.pairs("sticky: naive", &with_skips(skips), times)
}

/// The share of local maps of a case, %, seed by seed.
fn local(replays: &Replays<'_>, label: &str) -> Vec<f64> {
    replays.each(label, |run| locality(run, |_| true))
}
