//! The pods that were submitted.

use super::numbers::{KindId, NodeId};

/// Where a pod stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// In the queue: ready, or backing off.
    Queued,
    /// It was tried in vain and waits for an event.
    Waiting,
    /// It runs, or ends in its grace period.
    Bound(NodeId),
    /// It is gone.
    Gone,
}

/// One pod.
#[derive(Clone, Debug)]
pub(super) struct Pod {
    pub(super) kind: KindId,
    pub(super) priority: i32,
    pub(super) state: State,
    /// When it came into the queue or failed last, in ms.
    pub(super) since: i64,
    /// Numbers the entries into the queue, for those of one ms.
    pub(super) entry: u64,
    /// How often it was tried in vain.
    pub(super) attempts: u32,
    /// When it was bound, in ms.
    pub(super) started: i64,
    pub(super) nominated: Option<NodeId>,
    /// It is a victim in its grace period.
    pub(super) terminating: bool,
    /// Its place in the list of those that wait.
    pub(super) waits_at: usize,
}
