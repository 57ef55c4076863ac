//! What the machines of a Hadoop cluster offer, and what a task or a container takes.

use crate::resources::arithmetic;

/// How many resources can be counted beside memory and virtual cores.
pub const FURTHER: usize = 2;

/// Amounts of the resources that tasks compete for. Their units depend on the system:
///
/// | | `cpu` | `memory` | `further` |
/// |---|---|---|---|
/// | YARN | virtual cores; 0 where memory alone decides | MB | as the cluster names them ([`crate::hadoop::Cluster::further`]) |
/// | slots of MapReduce 1 | map slots | reduce slots | 0 |
///
/// Slots are two resources like any others: a map takes one of the first and none of the second. [`Resources::slots`],
/// [`Resources::map_slots`] and [`Resources::reduce_slots`] name them as slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Resources {
    /// Processor, or map slots.
    pub cpu: u64,
    /// Memory, or reduce slots.
    pub memory: u64,
    /// Others, such as GPUs.
    pub further: [u64; FURTHER],
}

impl Resources {
    /// Nothing.
    pub const NONE: Resources = Resources::of(0, 0);

    /// So many virtual cores, and so much memory.
    #[inline]
    pub const fn of(cpu: u64, memory: u64) -> Resources {
        Resources { cpu, memory, further: [0; FURTHER] }
    }

    /// This many map slots and reduce slots.
    #[inline]
    pub const fn slots(map: u32, reduce: u32) -> Resources {
        Resources::of(map as u64, reduce as u64)
    }

    /// Map slots, where resources are slots.
    #[inline]
    pub const fn map_slots(self) -> u64 {
        self.cpu
    }

    /// Reduce slots, where resources are slots.
    #[inline]
    pub const fn reduce_slots(self) -> u64 {
        self.memory
    }

    /// Processor and memory alone.
    #[inline]
    pub(crate) const fn main(self) -> crate::resources::Resources {
        crate::resources::Resources { cpu: self.cpu, memory: self.memory }
    }

    /// All amounts.
    #[inline]
    pub fn parts(self) -> [u64; 2 + FURTHER] {
        let [first, second] = self.further;
        [self.memory, self.cpu, first, second]
    }

    /// True if there is enough of each for a demand. An empty demand always fits.
    #[inline]
    pub fn holds(self, demand: Resources) -> bool {
        let [has, other] = [self.further, demand.further];
        self.cpu >= demand.cpu && self.memory >= demand.memory && has[0] >= other[0] && has[1] >= other[1]
    }

    /// How many such demands fit side by side; `u64::MAX` for an empty demand.
    #[inline]
    pub fn fits(self, demand: Resources) -> u64 {
        let times = self.zip(demand, |all, part| all.checked_div(part).unwrap_or(u64::MAX));
        times.parts().into_iter().fold(u64::MAX, u64::min)
    }

    /// Its share of `total`, by the resource of which it takes the largest share (DRF's dominant share). A resource of which
    /// `total` has none does not count.
    pub fn dominant_share(self, total: Resources) -> f64 {
        let share = |(part, all): (u64, u64)| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        self.parts().into_iter().zip(total.parts()).map(share).fold(0.0, f64::max)
    }

    /// Changes all parts alike.
    #[inline]
    #[must_use]
    pub fn map(self, change: impl Fn(u64) -> u64) -> Resources {
        Resources { cpu: change(self.cpu), memory: change(self.memory), further: self.further.map(change) }
    }

    /// Joins two amounts part by part.
    #[inline]
    #[must_use]
    pub fn zip(self, other: Resources, join: impl Fn(u64, u64) -> u64) -> Resources {
        let [has, further] = [self.further, other.further];
        Resources {
            cpu: join(self.cpu, other.cpu),
            memory: join(self.memory, other.memory),
            further: [join(has[0], further[0]), join(has[1], further[1])],
        }
    }
}

arithmetic!(Resources);

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(cpu: u64, memory: u64, gpus: u64) -> Resources {
        Resources { further: [gpus, 0], ..Resources::of(cpu, memory) }
    }

    #[test]
    fn every_resource_counts() {
        assert_eq!(amount(8, 6, 4).fits(amount(2, 1, 2)), 2);
        assert_eq!(amount(8, 6, 4).fits(amount(2, 1, 0)), 4);
        assert_eq!(amount(8, 6, 0).fits(amount(0, 0, 1)), 0);
        assert_eq!(amount(8, 6, 0).fits(Resources::NONE), u64::MAX);
        assert!(amount(8, 3, 1).holds(amount(8, 3, 1)) && !amount(8, 3, 1).holds(amount(1, 1, 2)));
        assert_eq!(amount(8, 3, 1).minus(amount(2, 4, 2)), amount(6, 0, 0));
        assert_eq!(amount(8, 3, 1).plus(amount(2, 4, 2)), amount(10, 7, 3));
        assert_eq!(amount(1, 4, 3).dominant_share(amount(9, 18, 4)), 3.0 / 4.0);
        assert_eq!(amount(1, 4, 3).dominant_share(amount(9, 18, 0)), 4.0 / 18.0);
    }
}
