//! `[nodes]`: the machines of a Hadoop cluster.

use resched_trace::keys;

use super::{MOST_NODES, MOST_SLOTS};

keys! {
    /// The machines of a Hadoop cluster.
    pub struct Nodes: Default {
        /// How many machines there are. If you leave it out, the machines are those of the trace.
        count: Option<u32> = None, unit "nodes", range 1..=MOST_NODES;
        /// How many machines the cluster is cut or grown to. It keeps the first machines, taken in turn from each rack by name; further
        /// ones are clones of them, with their racks, slots and `cost.host_factors`. Input on machines that are dropped is drawn anew.
        clones: Option<u32> = None, unit "nodes", range 1..=MOST_NODES, serde(skip_serializing_if = "Option::is_none");
        /// How many racks the machines fill. It counts only beside `count`.
        racks: u32 = 1, unit "racks", rule "from 1 to `count`";
        /// How many maps a node runs at once, where the trace does not say.
        map_slots: u32 = 2, unit "slots", range 0..=MOST_SLOTS;
        /// How many reduces a node runs at once, where the trace does not say.
        reduce_slots: u32 = 2, unit "slots", range 0..=MOST_SLOTS;
        /// Whether every machine has the slots of this file, also where the trace gives others.
        alike: bool = false, serde(skip_serializing_if = "std::ops::Not::not");
        /// How many further reduces a node admits. They may fetch their input, but compute only once a reduce slot is free
        /// (copy-compute splitting).
        copying_reduces: u32 = 0, unit "reduces", range 0..=MOST_SLOTS;
    }
}

impl Nodes {
    /// What is wrong with keys that depend on each other, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        self.count.map_or(Ok(()), |count| resched_trace::reference::check_range(&self.racks, "nodes.racks", 1..=count))
    }
}
