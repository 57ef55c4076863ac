//! Delay Scheduling: locality against the skip count D, beside the paper's formula.

use resched_policies::parts::delay_formulas::{hit_probability, longest_wait, skips_for};
use resched_report::{Figure, Line, Lines, Shape};

use super::delay::{ASSUMPTIONS, CLUSTER, KNOBS, figure, locality, series, small};
use crate::case::{Case, bundled};
use crate::experiment::{Experiment, Paper};
use crate::replays::Replays;
use crate::row::{check, row};
use crate::{Error, Published, Row};

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "delay-locality",
    paper: Paper::Delay,
    source: "the analysis of D",
    title: "Local maps of small jobs against the skip count D",
    knobs: KNOBS,
    assumptions: ASSUMPTIONS,
    cases,
    rows,
    bands: |_| Vec::new(),
    figures,
};

/// The skip counts that are replayed.
const SKIPS: [u32; 8] = [0, 2, 4, 8, 16, 24, 48, 96];
const MAPS: u32 = 20;
const MACHINES: f64 = 100.0;
const REPLICAS: f64 = 3.0;

fn label(skips: u32) -> String {
    format!("D = {skips}")
}

fn cases() -> Result<Vec<Case>, Error> {
    let (workload, rules) = (bundled!("delay-locality.toml").workload()?, CLUSTER.cluster()?);
    SKIPS.iter().map(|skips| Case::new(&label(*skips), &format!("delay:D={skips}"), workload.clone(), &rules)).collect()
}

/// The expected share of local maps of a small job, %: `(1/N)·Σ_{K=1..N} (1 − (1 − K/M)^{RD})`.
fn expected(skips: f64) -> f64 {
    let left = |k: u32| 1.0 - (1.0 - f64::from(k) / MACHINES).powf(REPLICAS * skips);
    100.0 * (1..=MAPS).map(left).sum::<f64>() / f64::from(MAPS)
}

fn rows(replays: &Replays<'_>) -> Vec<Row> {
    let value = Published::Value;
    let found = |skips| replays.each(&label(skips), |run| locality(run, small));
    let mut rows = vec![
        row("Observation 1", "Chance of local data within 10 tries, p = 0.1", "", value(0.65))
            .exact(hit_probability(0.1, 10), 0.005),
        row("Observation 1", "Chance of local data within 40 tries, p = 0.1", "", value(0.99))
            .exact(hit_probability(0.1, 40), 0.005),
        check("D for 95 % local maps: 20 maps, 3 replicas, 100 machines", "", value(24.0))
            .exact(f64::from(skips_for(0.95, MAPS, 100, 3)), 0.0),
        check("Longest wait with 8 slots a machine and D = 0.23 machines", "% of a task", value(2.9))
            .exact(100.0 * longest_wait(23, 800, 1.0), 0.05),
        check("D = 24: local maps of jobs of 20", "%", Published::Range(95.0, 100.0))
            .ours("The formula takes each heartbeat for a new machine; on a full cluster the same machines come again.")
            .replayed(&found(24)),
    ];
    for skips in [2, 4, 8, 16] {
        rows.push(
            check(
                format!("D = {skips}: local maps of jobs of 20, by the formula"),
                "%",
                value(expected(f64::from(skips))),
            )
            .ours("A machine that calls with several free slots is one skip here, and blocks of a job share machines.")
            .replayed(&found(skips)),
        );
    }
    rows
}

fn figures(replays: &Replays<'_>) -> Result<Vec<Figure>, Error> {
    let points: Vec<(f64, String)> = SKIPS.iter().map(|skips| (f64::from(*skips), label(*skips))).collect();
    let formula = (0..=96).map(|skips| (f64::from(skips), expected(f64::from(skips)), 0.0, 0.0));
    let formula = formula.map(|(x, y, _, _)| (x, y, y, y)).collect();
    let series = [
        series(replays, "replay", &points, |run| locality(run, small)),
        Line { label: "formula".to_owned(), points: formula, shape: Shape::Curve },
    ];
    let chart = Lines {
        name: EXPERIMENT.name,
        x: "Skip count D",
        logarithmic: false,
        ends: None,
        y: "Local maps (%)",
        band: false,
        series: &series,
    };
    let caption = "Local maps of jobs of 20 maps on a full cluster of 100 machines, three replicas; whiskers are 95 % intervals over \
                  the seeds. The line is the paper's lower estimate l(D).";
    figure(&chart, "Locality against D", caption)
}
