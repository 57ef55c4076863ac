//! `[nodes]`: the machines of a Hadoop cluster.

use crate::keys;

use super::{MOST_NODES, MOST_SLOTS};

keys! {
    /// The machines of a Hadoop cluster.
    pub struct Nodes: Default {
        /// How many machines there are. If you leave it out, the machines are those of the trace.
        count: Option<u32> = None, unit "nodes", range 1..=MOST_NODES;
        /// The number of machines to which the cluster is cut or grown. It keeps the first machines of each rack in proportion.
        /// Numbers in names count as numbers: `n2` comes before `n10`. Further machines are clones of them, with their racks, slots and `cost.host_factors`. Input on
        /// machines that are dropped is drawn anew.
        clones: Option<u32> = None, unit "nodes", range 1..=MOST_NODES, serde(skip_serializing_if = "Option::is_none");
        /// How many racks the machines fill. It is used only with `count`.
        racks: u32 = 1, unit "racks", rule "from 1 to `count`";
        /// How many maps a node runs at once, if the trace does not say. If it is missing in both, commands refuse; with
        /// `--assume`, it is 2, the default of Hadoop.
        map_slots: Option<u32> = None, unit "slots", range 0..=MOST_SLOTS;
        /// How many reduces a node runs at once, like `map_slots`.
        reduce_slots: Option<u32> = None, unit "slots", range 0..=MOST_SLOTS;
        /// Whether these slots are only a lower bound, because the nodes of the trace that they were fitted to were never
        /// full. Every output then calls them assumed.
        at_least: bool = false, serde(skip_serializing_if = "std::ops::Not::not");
        /// Whether every machine has the slots of this file, even if the trace gives others.
        alike: bool = false, serde(skip_serializing_if = "std::ops::Not::not");
        /// How many further reduces a node admits. They may fetch their input, but compute only once a reduce slot is free
        /// (copy-compute splitting).
        copying_reduces: u32 = 0, unit "reduces", range 0..=MOST_SLOTS;
    }
}

impl Nodes {
    /// The map slots and the reduce slots of a node of which nobody says how many it has: the defaults of Hadoop's configuration
    /// (`mapred.tasktracker.map.tasks.maximum`).
    pub const ASSUMED_SLOTS: u32 = 2;

    /// The slots of a machine that the trace does not give, known or assumed: of maps and of reduces.
    pub fn slots(&self) -> [u32; 2] {
        [self.map_slots, self.reduce_slots].map(|known| known.unwrap_or(Self::ASSUMED_SLOTS))
    }

    /// What is wrong with keys that depend on each other, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        self.count.map_or(Ok(()), |count| crate::reference::check_range(&self.racks, "nodes.racks", 1..=count))
    }
}
