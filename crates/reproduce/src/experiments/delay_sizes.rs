//! Delay Scheduling: locality against the size of jobs.

use std::num::NonZeroU32;

use resched_report::{Figure, Lines};

use super::delay::{ASSUMPTIONS, CLUSTER, KNOBS, figure, locality, series, small};
use crate::case::{Case, bundled};
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::check;
use crate::{Error, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "delay-sizes",
    paper: Paper::Delay,
    source: "locality against job size",
    title: "Local maps against the size of jobs, by waiting time",
    knobs: KNOBS,
    assumptions: ASSUMPTIONS,
    cases,
    rows,
    bands: |_| Vec::new(),
    figures,
};

/// Maps of the small jobs.
const SIZES: [u32; 6] = [1, 3, 10, 30, 100, 300];
/// Name and policy; with one rack T1 alone counts.
const POLICIES: [(&str, &str); 4] = [
    ("no delay", "naive-fair"),
    ("1 s", "delay-time:T1=1000,T2=0"),
    ("5 s", "delay-time:T1=5000,T2=0"),
    ("15 s", "delay-time:T1=15000,T2=0"),
];

fn label(policy: &str, maps: u32) -> String {
    format!("{policy}, {maps} maps")
}

fn cases() -> Result<Vec<Case>, Error> {
    let rules = CLUSTER.cluster()?;
    let mut cases = Vec::new();
    for maps in SIZES {
        let mut workload = bundled!("delay-locality.toml").workload()?;
        for jobs in workload.jobs.iter_mut().filter(|jobs| jobs.class.get_ref() == "small") {
            jobs.maps = NonZeroU32::new(maps).unwrap_or(jobs.maps);
        }
        for (name, policy) in POLICIES {
            cases.push(Case::new(&label(name, maps), policy, workload.clone(), &rules)?);
        }
    }
    Ok(cases)
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let gain = |first: (&str, u32), second: (&str, u32)| {
        replays.pairs(&label(first.0, first.1), &label(second.0, second.1), |a, b| {
            Some(locality(b, small)? - locality(a, small)?)
        })
    };
    vec![
        check("No delay: local maps of jobs of 300 less those of jobs of 3", "points", Published::Above)
            .replayed(&gain(("no delay", 3), ("no delay", 300))),
        check("Jobs of 3 maps: local maps with 1 s less without delay", "points", Published::Above)
            .replayed(&gain(("no delay", 3), ("1 s", 3))),
        check("Jobs of 3 maps: local maps with 5 s less with 1 s", "points", Published::Above)
            .replayed(&gain(("1 s", 3), ("5 s", 3))),
        check("Jobs of 3 maps: local maps with 15 s less with 5 s", "points", Published::Above)
            .replayed(&gain(("5 s", 3), ("15 s", 3))),
    ]
}

fn figures(replays: &Replays<'_>) -> Result<Vec<Figure>, Error> {
    let series = POLICIES.map(|(name, _)| {
        let points: Vec<(f64, String)> = SIZES.iter().map(|maps| (f64::from(*maps), label(name, *maps))).collect();
        series(replays, name, &points, |run| locality(run, small))
    });
    let chart = Lines {
        name: EXPERIMENT.name,
        x: "Maps of a job",
        logarithmic: true,
        ends: None,
        y: "Local maps (%)",
        band: false,
        series: &series,
    };
    let caption = "Local maps of jobs of that size on a full cluster of 100 machines, by the time they wait for a machine with \
                  their data; whiskers are 95 % intervals over the seeds.";
    figure(&chart, "Locality against job size", caption)
}
