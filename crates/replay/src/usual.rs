//! The schedulers that may have run a trace whose scheduler nobody names.

use resched_policies::{Engine, PolicySpec};
use resched_tables::store::System;

use crate::Error;
use crate::source::{Origin, Source};

/// The usual schedulers of MapReduce 1, the default first.
const MAPREDUCE_1: [&str; 4] = ["fifo", "fair", "fair-deficit", "capacity"];
/// The schedulers of YARN, the default first.
const YARN: [&str; 3] = ["yarn-capacity", "yarn-fair", "yarn-fifo"];
/// Slurm's own scheduler: with its settings, without backfill, and with a reservation for the first job alone (EASY). A textbook algorithm
/// did not run a log of Slurm, however near it comes.
const SLURM: [&str; 3] = ["slurm", "slurm:scheduler=builtin", "slurm:reservations=1"];
/// Spark's own scheduler, whose order and waits are in its log.
const SPARK: [&str; 1] = ["spark"];
/// Kueue, which says when the workloads of a cluster of Kubernetes may start.
const KUBERNETES: [&str; 1] = ["kueue"];
/// The usual schedulers of production traces.
const PRODUCTION: [&str; 4] = ["batch-fifo", "batch-fair", "batch-capacity", "easy"];

/// The schedulers that usually run a system such as that of a source; the first one is the default of the system.
///
/// # Errors
/// [`Error::Policy`] if the program contradicts itself.
pub fn usual_schedulers(source: &Source) -> Result<Vec<PolicySpec>, Error> {
    let system = match source.origin() {
        Origin::Trace(trace) => trace.manifest().system,
        Origin::Workload { .. } | Origin::Tables { .. } => None,
    };
    let names = match (source.engine(), system) {
        (Engine::Batch, Some(System::Slurm)) => SLURM.as_slice(),
        (Engine::Batch, Some(System::Spark)) => SPARK.as_slice(),
        (Engine::Batch, Some(System::Kubernetes)) => KUBERNETES.as_slice(),
        (Engine::Batch, _) => PRODUCTION.as_slice(),
        (Engine::Hadoop, Some(System::Yarn)) => YARN.as_slice(),
        (Engine::Hadoop, _) => MAPREDUCE_1.as_slice(),
    };
    names.iter().map(|name| Ok(PolicySpec::parse(name)?)).collect()
}
