//! Attempts as intervals of time, for metrics over time.

use std::num::NonZeroU32;

use resched_tables::model::{Locality, TaskKind};

/// A node of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeNumber(NonZeroU32);

impl NodeNumber {
    /// The node at that place of [`crate::Run::nodes`]; `None` beyond four billion nodes.
    pub fn of(place: usize) -> Option<Self> {
        u32::try_from(place).ok()?.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    /// Its place in [`crate::Run::nodes`].
    pub fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The time that an attempt held its slot, `start ≤ t < finish`. A run has millions of them, so each takes only 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// The row of its job in the jobs table.
    pub job: usize,
    /// The kind of its task.
    pub kind: TaskKind,
    /// When it started, ms.
    pub start: i64,
    /// When it ended, ms; later than `start`.
    pub finish: i64,
    /// True if it ended well.
    pub succeeded: bool,
    /// The node that it ran on, if that is known.
    pub node: Option<NodeNumber>,
    /// How near its input it ran, for maps whose input has a known place.
    pub locality: Option<Locality>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_small() {
        assert_eq!(size_of::<Interval>(), 32);
        assert_eq!(NodeNumber::of(7).map(NodeNumber::place), Some(7));
        assert_eq!(NodeNumber::of(u32::MAX as usize), None);
    }
}
