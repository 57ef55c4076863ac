//! What a trace tells of the cluster that it ran on: the numbers of a cluster file, each with its standard error.
//!
//! ```text
//! trace (or run) ──▶ Observed ──▶ locality, hosts, rates, slots, slowstart, heartbeat ──▶ Calibration ──▶ cluster file
//! ```
//!
//! Every estimator is a function of the observed attempts alone. Logs disagree with models in their own ways (clocks, other
//! tenants, failures), so medians, logarithms and low order statistics are preferred to means and extremes, and a parameter
//! for which there is too little data is left undetermined: a default is better than noise.

mod cluster_file;
mod heartbeat;
mod hosts;
mod locality;
mod observed;
mod rates;
mod slots;
mod slowstart;

use std::collections::BTreeMap;
use std::path::Path;

use rand::RngExt;
use resched_trace::draws::{Purpose, stream};
use resched_trace::model::TaskKind;
use serde::Serialize;

use crate::Error;
use crate::run::{Origin, nothing_observed};

pub use cluster_file::{Maker, cluster_file};
pub use heartbeat::{Heartbeat, heartbeat};
pub use hosts::host_factors;
pub use locality::{DEFAULT_FACTORS, locality_factors};
pub use observed::{Attempt, Job, Observed};
pub use rates::{ShuffleRate, map_rate, reduce_rate, shuffle_rate};
pub use slots::{Slots, slots};
pub use slowstart::slowstart;

/// Observations without which a mean, ratio or rate counts as not determined.
pub const LEAST: u64 = 10;
/// Resamples of a bootstrap: a standard error needs some 200 (Efron and Tibshirani 1993, ch. 6).
const RESAMPLES: u64 = 200;
/// Values that a bootstrap draws from; of more, evenly spaced ones are taken, so that the time stays bounded.
const MOST_RESAMPLED: usize = 20_000;

/// An estimated parameter.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Fitted {
    /// The estimate; null if it is not determined.
    pub value: Option<f64>,
    /// Its standard error; null if it is not known.
    pub standard_error: Option<f64>,
    /// How many observations it is from, or would have been.
    pub n: u64,
}

impl Fitted {
    /// A parameter that `n` observations do not determine.
    fn unknown(n: u64) -> Self {
        Self { value: None, standard_error: None, n }
    }

    /// An estimate; undetermined if it is not finite.
    fn of(value: f64, standard_error: Option<f64>, n: u64) -> Self {
        if value.is_finite() {
            Self { value: Some(value), standard_error: standard_error.filter(|error| error.is_finite()), n }
        } else {
            Self::unknown(n)
        }
    }
}

/// What a trace tells of its cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Hosts on which attempts ran.
    pub hosts: u64,
    /// Racks of these hosts.
    pub racks: u64,
    /// Whether a replay of the trace finds its machines in it; `false`: the cluster file must say how many there are.
    pub names_machines: bool,
    /// Map slots of a node ([`slots`]).
    pub map_slots: Slots,
    /// Reduce slots of a node.
    pub reduce_slots: Slots,
    /// Time between a node's heartbeats and from an assignment to the start ([`heartbeat()`]).
    pub heartbeat: Heartbeat,
    /// Share of a job's maps that are finished before its reduces start ([`slowstart()`]).
    pub slowstart: Fitted,
    /// Run time of a map in the rack of its input and elsewhere, over that beside its input ([`locality_factors`]).
    pub locality: [Fitted; 2],
    /// Bytes per second that a map reads ([`map_rate`]).
    pub map_rate: Fitted,
    /// Bytes per second that a reduce works off once it has sorted them ([`reduce_rate`]).
    pub reduce_rate: Fitted,
    /// Bytes per second that a reduce fetches ([`shuffle_rate`]).
    pub shuffle_rate: ShuffleRate,
    /// By how much everything takes longer on hosts that are slow or fast beyond doubt ([`host_factors`]).
    pub host_factors: BTreeMap<String, Fitted>,
}

/// Fits the trace or run in `dir`.
///
/// # Errors
/// [`Error::Trace`] if it is neither, is damaged, or holds no observed attempts.
pub fn calibrate(dir: &Path) -> Result<Calibration, Error> {
    let origin = Origin::of(dir)?;
    origin.check_observed(dir)?;
    let observed = Observed::load(dir, origin.rows())?;
    if !observed.attempts.iter().any(|attempt| attempt.run_time().is_some()) {
        return Err(nothing_observed(dir, "none has a start and a finish"));
    }
    let names_machines = match &origin {
        Origin::Observed(manifest) => manifest.rows.get("nodes").is_some_and(|&rows| rows > 0),
        Origin::Replay(_) => true,
    };
    Ok(Calibration { names_machines, ..of_attempts(&observed) })
}

/// Fits these attempts.
pub fn of_attempts(observed: &Observed) -> Calibration {
    let map_slots = slots(observed, TaskKind::Map);
    Calibration {
        hosts: observed.hosts.len() as u64,
        racks: observed.racks,
        names_machines: true,
        map_slots,
        reduce_slots: slots(observed, TaskKind::Reduce),
        heartbeat: heartbeat(observed, map_slots.most),
        slowstart: slowstart(observed),
        locality: locality_factors(observed),
        map_rate: map_rate(observed),
        reduce_rate: reduce_rate(observed),
        shuffle_rate: shuffle_rate(observed),
        host_factors: host_factors(observed),
    }
}

/// The standard error of `statistic` by the bootstrap: the standard deviation over resamples of the values.
fn bootstrap_error(values: &[f64], purpose: u64, statistic: impl Fn(&[f64]) -> Option<f64>) -> Option<f64> {
    let step = values.len().div_ceil(MOST_RESAMPLED).max(1);
    let kept: Vec<f64> = values.iter().copied().step_by(step).collect();
    if kept.len() < 2 {
        return None;
    }
    let estimates: Vec<f64> = (0..RESAMPLES)
        .filter_map(|resample| {
            let mut draws = stream(0, Purpose::Bootstrap, &[purpose, resample]);
            let sample: Vec<f64> =
                (0..kept.len()).filter_map(|_| kept.get(draws.random_range(0..kept.len())).copied()).collect();
            statistic(&sample)
        })
        .collect();
    let mean = crate::distribution::mean(&estimates)?;
    let squares: f64 = estimates.iter().map(|estimate| (estimate - mean).powi(2)).sum();
    // The thinned sample is smaller than the whole.
    (estimates.len() > 1)
        .then(|| (squares / (estimates.len() - 1) as f64 * kept.len() as f64 / values.len() as f64).sqrt())
}
