//! Settings of a cluster file that cannot have an effect on a workload.

use resched_sim::ClusterConfig;
use resched_sim::hadoop::Workload;
use resched_tables::validity::{Fact, Grade};

/// The fact that disks and networks have a speed, and no map has bytes to read or to write.
pub(crate) fn without_bytes(config: &ClusterConfig, workload: &Workload) -> Option<Fact> {
    let contention =
        config.cost.contention.filter(|contention| contention.disk.is_some() || contention.network.is_some())?;
    let given = match (contention.disk, contention.network) {
        (Some(_), Some(_)) => "disks and networks",
        (Some(_), None) => "disks",
        _ => "networks",
    };
    (!workload.has_sizes()).then(|| {
        let says = format!(
            "The trace gives no sizes of inputs and outputs, so maps read and write nothing, and the speed of {given} has no effect on \
             them."
        );
        Fact::new("contention", Grade::Assumed, says)
            .with_remedy("Ingest a history that has counters of bytes, or leave out `cost.contention`.")
    })
}
