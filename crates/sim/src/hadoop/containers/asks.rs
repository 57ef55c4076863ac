//! What a job asks YARN for, and what the containers for it take.

use crate::cluster_file::{Calculator, Containers, Size};
use crate::hadoop::kind::Kind;
use crate::resources::Resources;

/// How a cluster hands out its machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum System {
    /// MapReduce 1: slots for maps and slots for reduces.
    #[default]
    Slots,
    /// YARN: containers of any size (policies A.9).
    Containers,
}

impl System {
    /// Its place in a pair of values, one a system.
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// What a job asks the resource manager for, most urgent first (policies A.9: priorities 0, 5, 10 and 20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ask {
    /// The container of its application master.
    Am,
    /// A map that has failed and is tried again, anywhere.
    FailedMap,
    /// A reduce, anywhere.
    Reduce,
    /// A map, near its input if it can be.
    Map,
}

impl Ask {
    /// All, most urgent first.
    pub const ALL: [Ask; 4] = [Ask::Am, Ask::FailedMap, Ask::Reduce, Ask::Map];

    /// What a task of a kind is asked for as, if it has not failed.
    #[inline]
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::Map => Ask::Map,
            Kind::Reduce => Ask::Reduce,
        }
    }

    /// The kind of task that it is for; `None` for the application master.
    #[inline]
    pub fn kind(self) -> Option<Kind> {
        match self {
            Ask::Am => None,
            Ask::Reduce => Some(Kind::Reduce),
            Ask::FailedMap | Ask::Map => Some(Kind::Map),
        }
    }

    /// Its place in an array of four.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}

impl Containers {
    /// What a node offers where the trace does not say.
    pub(crate) fn node(&self) -> Resources {
        Resources { cpu: self.vcores.into(), memory: self.memory_mb.into() }
    }

    /// What the container for a request takes: rounded up, and without vcores if memory alone decides.
    pub(crate) fn demand(&self, ask: Ask) -> Resources {
        let size = match ask {
            Ask::Am => self.am,
            Ask::Reduce => self.reduce,
            Ask::FailedMap | Ask::Map => self.map,
        };
        self.counted(size.rounded_up(self.minimum))
    }

    /// What the smallest container takes.
    pub(crate) fn smallest(&self) -> Resources {
        self.counted(self.minimum)
    }

    fn counted(&self, size: Size) -> Resources {
        let cpu = match self.calculator {
            Calculator::Memory => 0,
            Calculator::Dominant => size.vcores.into(),
        };
        Resources { cpu, memory: size.memory_mb.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a9_sizes_are_rounded_up_to_the_smallest_container() {
        let mut rules = Containers::default();
        assert_eq!(rules.demand(Ask::Am), Resources { cpu: 0, memory: 2048 });
        assert_eq!(rules.demand(Ask::Map), Resources { cpu: 0, memory: 1024 });
        rules.calculator = Calculator::Dominant;
        rules.minimum.vcores = 2;
        assert_eq!(rules.demand(Ask::FailedMap), Resources { cpu: 2, memory: 1024 });
    }
}
