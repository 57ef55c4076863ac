//! Estimates the numbers of a cluster file from a trace, each with its standard error.
//!
//! ```text
//! trace (or run) ──▶ Observed ──▶ locality, hosts, rates, slots, machines, … ──▶ Calibration ──▶ cluster file
//! ```
//!
//! Every estimator uses only the observed attempts. Logs differ from models for many reasons (clocks, other tenants, failures). The
//! estimators therefore use medians, logarithms and low order statistics, not means and extremes. A parameter with too little data
//! stays undetermined, because a default is better than noise.

mod cluster_file;
mod delay;
mod edges;
mod facts;
mod fitted;
mod found;
mod heartbeat;
mod hosts;
mod locality;
mod machines;
mod observed;
mod rates;
mod slots;
mod slowstart;
mod spark_file;
mod speculation;

use std::path::Path;

use resched_tables::model::TaskKind;
use resched_tables::store::System;

use crate::Error;
use crate::runs::origin::{Origin, nothing_observed};

pub use cluster_file::{Maker, cluster_file};
pub use delay::locality_wait;
pub use edges::{Edges, edges};
pub use fitted::{Fitted, LEAST};
pub use found::Calibration;
pub use heartbeat::{Heartbeat, heartbeat};
pub use hosts::host_factors;
pub use locality::{DEFAULT_FACTORS, LEAST_STAGES, StageFactors, locality_factors, stage_factors};
pub use machines::{Machines, Offer, machines};
pub use observed::{Attempt, Job, Observed};
pub use rates::{ShuffleRate, map_rate, reduce_rate, shuffle_rate};
pub use slots::{Containers, Slots, containers, slots};
pub use slowstart::slowstart;
pub use speculation::{Speculation, speculation};

/// Fits the trace or run in `dir`.
///
/// # Errors
/// [`Error::Trace`] if it is neither, is damaged, or holds no observed attempts.
pub fn calibrate(dir: &Path) -> Result<Calibration, Error> {
    let origin = Origin::of(dir)?;
    origin.check_observed(dir)?;
    let observed = Observed::load(dir, &origin)?;
    if !observed.attempts.iter().any(|attempt| attempt.run_time().is_some()) {
        return Err(nothing_observed(dir, "none has a start and a finish"));
    }
    let names_machines = match &origin {
        Origin::Observed(manifest) => manifest.rows.get("nodes").is_some_and(|&rows| rows > 0),
        Origin::Replay(_) => true,
    };
    let found = Calibration { names_machines, ..of_attempts(&observed) };
    match origin.system() {
        // Spark's log says what executors offer, and its tasks overlap: a core is free again before the end of its task is logged.
        Some(System::Spark) => Ok(Calibration { spark: Some(stage_factors(&observed)), ..found }),
        // Its machines offer slots or containers; no policy of Hadoop knows other sizes.
        Some(system) if system.is_hadoop() => Ok(found),
        _ => Ok(Calibration { machines: machines(dir, &origin)?, ..found }),
    }
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
        containers: containers(observed),
        machines: Machines::default(),
        heartbeat: heartbeat(observed, map_slots.most),
        edges: edges(observed),
        slowstart: slowstart(observed),
        locality_wait: locality_wait(observed),
        speculation: speculation(observed),
        locality: locality_factors(observed),
        spark: None,
        map_rate: map_rate(observed),
        reduce_rate: reduce_rate(observed),
        shuffle_rate: shuffle_rate(observed),
        host_factors: host_factors(observed),
    }
}
