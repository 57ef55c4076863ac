//! What the machine keeps of each workload: its state, and how far the search for its flavours has come.

use std::sync::Arc;

use super::nomination::Nomination;
use super::workload::{Assigned, PendingReason};

/// The state of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    /// Parked for ever: its queue does not take its namespace.
    Mismatched,
    Admitted,
    /// Evicted; it holds its quota until its pods are gone.
    Evicted,
    Done,
}

impl State {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Mismatched => "refused by its queue",
            Self::Admitted => "admitted",
            Self::Evicted => "evicted",
            Self::Done => "at its end",
        }
    }
}

/// Where the search for flavours goes on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    /// The first flavour to try, for each part of each pod set. Empty or all 0: from the start.
    pub(crate) next: Vec<u16>,
    /// The cycle that wrote it.
    pub(crate) cycle: u64,
    /// The generation of the queue that this cycle saw.
    pub(crate) generation: u64,
}

impl Memory {
    /// True if flavours are left to try.
    pub(crate) fn pending(&self) -> bool {
        self.next.iter().any(|&next| next != 0)
    }
}

/// Nominations for one state of the tree, by where their search began.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    pub(crate) version: u64,
    pub(crate) found: Vec<(Vec<u16>, Arc<Nomination>)>,
}

#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) shape: u32,
    pub(crate) queue: u32,
    pub(crate) priority: i64,
    /// Whole seconds.
    pub(crate) created: i64,
    pub(crate) uid: u64,
    pub(crate) state: State,
    pub(crate) reason: Option<PendingReason>,
    pub(crate) memory: Memory,
    pub(crate) cache: Cache,
    /// When it was admitted, whole seconds.
    pub(crate) admitted: i64,
    pub(crate) usage: Vec<(u32, i64)>,
    pub(crate) assigned: Vec<Assigned>,
    /// Its position among the admitted of its queue.
    pub(crate) slot: u32,
}
