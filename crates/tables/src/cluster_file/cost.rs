//! `[cost]`: how long tasks take.

use std::collections::BTreeMap;

use crate::{choices, keys};

use super::DAY;
use crate::model::Ms;

keys! {
    /// How long tasks take.
    pub struct Cost: Default {
        /// How many times as long a map takes on a node that holds its split, in the rack of such a node, and elsewhere.
        locality: [f64; 3] = [1.0, 1.5, 3.0], range 1e-3..=1e3;
        /// How a reduce gets its input.
        reduce: ReduceModel = ReduceModel::R1;
        /// How fast a reduce fetches its input, for `reduce = "r2"`. With `[cost.contention]`, it is the rate of a fetch at
        /// full speed.
        shuffle_rate: f64 = 10e6, unit "bytes/s", range 1.0..=1e15;
        /// Nodes on which everything takes longer, drawn from the seed.
        slow_nodes: Slow = Slow::NONE;
        /// How many times as long everything takes on the hosts that you name (below 1: faster). If such a host is in the
        /// trace, its logged times already contain the factor and are divided by it.
        host_factors: BTreeMap<String, f64> = BTreeMap::new(), range 1e-3..=1e3;
        /// Attempts that take longer than their tasks should, drawn from the seed.
        stragglers: Slow = Slow::NONE;
        /// How long a further attempt at a running task takes. A log does not show whether an attempt was slow because of its
        /// task or because of its node.
        backup: Backup = Backup::Task;
        /// What the tasks of a node share. If you leave it out, tasks do not slow each other down.
        contention: Option<Contention> = None;
    }
}

keys! {
    /// What the tasks of a node share. Resources that you leave out are unlimited. It needs `cost.reduce = "r2"` and
    /// `nodes.copying_reduces = 0`.
    pub struct Contention: Default + Copy {
        /// The cores of a node.
        cores: Option<f64> = None, unit "cores", range 1e-3..=1e6;
        /// The rate at which the disks of a node read and write together.
        disk: Option<f64> = None, unit "bytes/s", range 1.0..=1e15;
        /// The rate at which a node can receive data, and also the rate at which it can send data.
        network: Option<f64> = None, unit "bytes/s", range 1.0..=1e15;
        /// The largest rate at which one task reads and writes together. A task that runs alone waits for its disk at this
        /// rate, and computes for the rest of its time. If you leave it out, one task can use the whole disk.
        stream: Option<f64> = None, unit "bytes/s", range 1.0..=1e15;
        /// The time of a seek, in units of the time that the disk takes to move a request. The disk seeks if the next request
        /// is of another task, so its rate falls with the number of tasks. 0: the rate does not depend on the number of
        /// tasks.
        seek: f64 = 0.0, range 0.0..=1e3;
        /// The cores that a reduce uses while it fetches and merges.
        fetch_cores: f64 = 0.0, unit "cores", range 0.0..=1e3;
        /// How many bytes a reduce reads and writes for each byte that it has fetched: passes of its merge, input and replicas of
        /// its output.
        reduce_disk: f64 = 2.0, unit "bytes/byte", range 0.0..=1e3;
        /// The time between two rows about a node in the table `resources`.
        sample: Ms = 60_000, unit "ms", range 1..=DAY;
    }
}

keys! {
    /// A share of the nodes or attempts that takes longer.
    pub struct Slow: Copy {
        /// The share of them that is slow.
        share: f64, range 0.0..=1.0;
        /// How many times as long the slow ones take.
        factor: f64, range 1e-3..=1e3;
    }
}

impl Slow {
    /// None is slow.
    pub const NONE: Slow = Slow { share: 0.0, factor: 1.0 };
}

choices! {
    /// How long a further attempt at a running task takes: a log does not show whether an attempt was slow because of its task or
    /// because of its node.
    pub enum Backup {
        /// As long as the attempt in the log: the task was slow. A backup wins only with the help of `slow_nodes`,
        /// `host_factors` and `stragglers`.
        Task = "task",
        /// A time drawn from the attempts of its job: the node was slow.
        Job = "job",
    }
}

choices! {
    /// How a reduce gets its input (`docs/model/reduces.md`).
    pub enum ReduceModel {
        /// As in Mumak: there is no shuffle and no sort. The reduce phase starts when the node learns that all maps are done.
        R0 = "r0",
        /// The shuffle takes the times that were logged for the job. A reduce that started before the master learned of the last
        /// map has its input one mean shuffle tail later; any other has it one mean shuffle after its start. Then it sorts and
        /// reduces as logged.
        R1 = "r1",
        /// A reduce fetches the output of finished maps at a fixed rate. Then it sorts and reduces as logged.
        R2 = "r2",
    }
}

impl Cost {
    /// The name of the cost model: `contention` or `logged`.
    pub fn model(&self) -> &'static str {
        if self.contention.is_some() { "contention" } else { "logged" }
    }
}
