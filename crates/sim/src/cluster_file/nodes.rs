//! `[nodes]`: the machines of a Hadoop cluster.

use serde::{Deserialize, Serialize};

/// The machines of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Nodes {
    /// How many; absent: the trace's own.
    pub count: Option<u32>,
    /// In how many racks; only with `count`.
    pub racks: u32,
    /// Maps that a node runs at once, where the trace does not say.
    pub map_slots: u32,
    /// Reduces that a node runs at once, where the trace does not say.
    pub reduce_slots: u32,
    /// Further reduces that a node admits, which may fetch but not compute until a reduce slot is free (copy-compute splitting).
    pub copying_reduces: u32,
}

impl Default for Nodes {
    fn default() -> Self {
        Self { count: None, racks: 1, map_slots: 2, reduce_slots: 2, copying_reduces: 0 }
    }
}
