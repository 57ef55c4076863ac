//! The two ways to hand out the machines of a cluster.

/// How a cluster hands out its machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum System {
    /// MapReduce 1: slots for maps and slots for reduces.
    #[default]
    Slots,
    /// YARN: containers of any size (`docs/model/containers.md`).
    Containers,
}

impl System {
    /// The system as `run.json` names it.
    pub fn in_tables(self) -> resched_tables::store::System {
        match self {
            Self::Slots => resched_tables::store::System::MapReduce1,
            Self::Containers => resched_tables::store::System::Yarn,
        }
    }

    /// Its place in a pair of values, one for each system.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}
