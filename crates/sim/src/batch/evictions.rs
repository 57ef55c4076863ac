//! What becomes of runs whose machines a policy takes away for others.

use super::observer::Ended;

/// What becomes of a task whose run is evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It waits, and runs again from its beginning. The run ends as `Evicted`.
    Again,
    /// It has ended for good. The run ends as `Killed`.
    Gone,
}

/// A run that a policy has evicted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evicted {
    pub(super) ended: Ended,
    pub(super) then: Then,
}
