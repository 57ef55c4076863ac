//! Attempts as intervals of time, for metrics over time.

use resched_trace::model::TaskKind;

/// The time that an attempt held its slot, `start ≤ t < finish`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// The row of its job in the jobs table.
    pub job: usize,
    /// The kind of its task.
    pub kind: TaskKind,
    /// When it started, ms.
    pub start: i64,
    /// When it ended, ms; later than `start`.
    pub finish: i64,
    /// Whether it ended well.
    pub succeeded: bool,
}
