//! What a workload is nominated for: flavours, and whom it would preempt by which right.

use super::workload::Assigned;

/// What is to become of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    NoFit,
    Preempt,
    Fit,
}

/// Flavours, level and victims that a workload would get.
#[derive(Debug)]
pub(crate) struct Nomination {
    pub(crate) mode: Mode,
    /// How far up it borrows.
    pub(crate) level: u32,
    pub(crate) usage: Vec<(u32, i64)>,
    /// The cells of which it needs what others hold.
    pub(crate) short: Vec<u32>,
    pub(crate) assigned: Vec<Assigned>,
    /// The flavour of each part, as its position in the group.
    pub(crate) chosen: Vec<u16>,
    /// Where the next search begins, for each part.
    pub(crate) next: Vec<u16>,
    pub(crate) targets: Vec<Target>,
}

/// Why a workload is preempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A workload of its queue comes first.
    InClusterQueue,
    /// A queue takes back what it lent.
    InCohortReclamation,
    /// A queue that borrows comes first by its priority.
    InCohortReclaimWhileBorrowing,
    /// A queue of lower share takes it.
    InCohortFairSharing,
}

impl Reason {
    /// Kueue's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::InClusterQueue => "InClusterQueue",
            Self::InCohortReclamation => "InCohortReclamation",
            Self::InCohortReclaimWhileBorrowing => "InCohortReclaimWhileBorrowing",
            Self::InCohortFairSharing => "InCohortFairSharing",
        }
    }
}

/// A victim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) workload: u32,
    pub(crate) reason: Reason,
}
