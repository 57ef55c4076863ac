//! The requests of a job to YARN, and the sizes of their containers.

use crate::cluster_file::{Calculator, Containers, Size};
use crate::hadoop::kind::Kind;
use crate::hadoop::resources::Resources;

/// The requests of a job to the resource manager, most urgent first (`docs/model/containers.md`: priorities 0, 5, 10 and 20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ask {
    /// The container of its application master.
    Am,
    /// A map that has failed and is tried again, anywhere.
    FailedMap,
    /// A reduce, anywhere.
    Reduce,
    /// A map, near its input if possible.
    Map,
}

impl Ask {
    /// All requests, most urgent first.
    pub const ALL: [Ask; 4] = [Ask::Am, Ask::FailedMap, Ask::Reduce, Ask::Map];

    /// The request for a task of a kind that has not failed.
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

/// What the rules of a cluster file about containers come to.
pub(crate) trait Sizes {
    /// The resources of a node if the trace does not give them.
    fn node(&self) -> Resources;

    /// The size of the container for a request: rounded up, and without vcores if memory alone decides.
    fn demand(&self, ask: Ask) -> Resources;

    /// The size of the smallest container.
    fn smallest(&self) -> Resources;

    /// The size of the largest container.
    fn largest(&self) -> Resources;
}

impl Sizes for Containers {
    fn node(&self) -> Resources {
        let vcores = self.vcores.unwrap_or(Self::ASSUMED_VCORES);
        Resources::of(vcores.into(), self.memory_mb.unwrap_or(Self::ASSUMED_MEMORY_MB).into())
    }

    fn demand(&self, ask: Ask) -> Resources {
        let size = match ask {
            Ask::Am => self.am,
            Ask::Reduce => self.reduce,
            Ask::FailedMap | Ask::Map => self.map,
        };
        counted(size.rounded_up(self.minimum), self.calculator)
    }

    fn smallest(&self) -> Resources {
        counted(self.minimum, self.calculator)
    }

    fn largest(&self) -> Resources {
        counted(self.maximum, self.calculator)
    }
}

fn counted(size: Size, calculator: Calculator) -> Resources {
    let cpu = match calculator {
        Calculator::Memory => 0,
        Calculator::Dominant => size.vcores.into(),
    };
    Resources::of(cpu, size.memory_mb.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_the_smallest_container() {
        let mut rules = Containers::default();
        assert_eq!(rules.demand(Ask::Am), Resources::of(0, 2048));
        assert_eq!(rules.demand(Ask::Map), Resources::of(0, 1024));
        rules.calculator = Calculator::Dominant;
        rules.minimum.vcores = 2;
        assert_eq!(rules.demand(Ask::FailedMap), Resources::of(2, 1024));
    }
}
