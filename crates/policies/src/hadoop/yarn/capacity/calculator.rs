//! Hadoop's `ResourceCalculator`: how amounts are compared, divided and rounded. Shares are of single precision, as there.
//!
//! **Source.** `DefaultResourceCalculator` and `DominantResourceCalculator` of YARN, August 2014.

use std::cmp::Ordering;

use resched_sim::cluster_file::Calculator as Counted;
use resched_sim::hadoop::Resources;
use resched_sim::hadoop::View;

/// Compares and divides amounts, in a cluster of a size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calculator {
    counted: Counted,
    /// What the nodes of the cluster have, as far as it counts.
    pub(super) cluster: Resources,
    /// The smallest container.
    pub(super) smallest: Resources,
}

/// What of an amount counts if the smallest container is this: not vcores, where memory alone decides.
pub(super) fn counted(amount: Resources, smallest: Resources) -> Resources {
    if smallest.cpu == 0 { Resources::of(0, amount.memory) } else { amount }
}

impl Calculator {
    pub(super) fn of(view: View<'_>) -> Self {
        Self::new(view.yarn().total(), view.yarn().smallest())
    }

    pub(super) fn new(cluster: Resources, smallest: Resources) -> Self {
        let of = if smallest.cpu == 0 { Counted::Memory } else { Counted::Dominant };
        Self { counted: of, cluster: counted(cluster, smallest), smallest }
    }

    /// The shares of the cluster that an amount is, the larger one first.
    fn shares(self, amount: Resources) -> [f32; 2] {
        let memory = amount.memory as f32 / self.cluster.memory as f32;
        let cpu = amount.cpu as f32 / self.cluster.cpu as f32;
        if memory >= cpu { [memory, cpu] } else { [cpu, memory] }
    }

    /// By memory; or by the larger share of the cluster, and then by the other one.
    pub(super) fn order(self, a: Resources, b: Resources) -> Ordering {
        match self.counted {
            Counted::Memory => a.memory.cmp(&b.memory),
            Counted::Dominant if a == b => Ordering::Equal,
            Counted::Dominant => self.shares(a).partial_cmp(&self.shares(b)).unwrap_or(Ordering::Equal),
        }
    }

    /// The whole of the smaller amount.
    pub(super) fn min(self, a: Resources, b: Resources) -> Resources {
        if self.order(a, b).is_le() { a } else { b }
    }

    /// The whole of the larger amount.
    pub(super) fn max(self, a: Resources, b: Resources) -> Resources {
        if self.order(a, b).is_ge() { a } else { b }
    }

    /// How many times the one is the other, by the resource of which it is most.
    pub(super) fn ratio(self, a: Resources, b: Resources) -> f32 {
        let memory = a.memory as f32 / b.memory as f32;
        match self.counted {
            Counted::Memory => memory,
            Counted::Dominant => {
                let of = |(&a, &b): (&u64, &u64)| if b == 0 { 0.0 } else { a as f32 / b as f32 };
                let others = a.further.iter().zip(&b.further).map(of).fold(0.0, f32::max);
                memory.max(a.cpu as f32 / b.cpu as f32).max(others)
            }
        }
    }

    /// How many times the one is the other, as shares of the cluster.
    pub(super) fn divide(self, a: Resources, b: Resources) -> f32 {
        match self.counted {
            Counted::Memory => a.memory as f32 / b.memory as f32,
            Counted::Dominant => self.shares(a)[0] / self.shares(b)[0],
        }
    }

    pub(super) fn counts_memory_alone(self) -> bool {
        self.counted == Counted::Memory
    }

    /// True if nothing can be divided by it.
    pub(super) fn is_no_divisor(self, amount: Resources) -> bool {
        amount.memory == 0 || self.counted == Counted::Dominant && amount.cpu == 0
    }

    /// The next multiple of the smallest container.
    pub(super) fn rounded_up(self, amount: Resources) -> Resources {
        amount
            .zip(self.smallest, |value, step| if step == 0 { value } else { value.div_ceil(step).saturating_mul(step) })
    }

    /// A share of an amount, rounded up to whole containers. Memory alone is rounded to the nearest MB before.
    pub(super) fn part_rounded_up(self, amount: Resources, share: f32) -> Resources {
        let part = |value: u64| value as f64 * f64::from(share);
        self.rounded_up(match self.counted {
            Counted::Memory => amount.map(|value| (part(value) + 0.5) as u64),
            Counted::Dominant => amount.map(|value| part(value).ceil() as u64),
        })
    }

    /// A share of an amount, rounded down to whole containers.
    pub(super) fn part_rounded_down(self, amount: Resources, share: f32) -> Resources {
        part(amount, share).zip(self.smallest, |value, step| value - value.checked_rem(step).unwrap_or(0))
    }
}

/// A share of an amount, cut to whole units.
pub(super) fn part(amount: Resources, share: f32) -> Resources {
    amount.scaled(f64::from(share))
}

/// An equal part of an amount for each of so many, rounded up; nothing for none.
pub(super) fn divided_up(amount: Resources, by: u64) -> Resources {
    amount.map(|value| if by == 0 { 0 } else { value.div_ceil(by) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(memory: u64, cpu: u64) -> Resources {
        Resources::of(cpu, memory)
    }

    fn dominant() -> Calculator {
        Calculator::new(amount(196_608, 96), amount(1024, 1))
    }

    #[test]
    fn c5_a_node_with_memory_but_no_vcore_has_room() {
        assert_eq!(dominant().order(amount(4096, 0), amount(1024, 1)), Ordering::Greater);
        assert_eq!(dominant().order(amount(1024, 0), amount(1024, 1)), Ordering::Less);
    }

    #[test]
    fn c6_equal_dominant_shares_are_decided_by_the_other_resource() {
        // Half of the memory and a quarter of the vcores, against half of the memory and less vcores.
        assert_eq!(dominant().order(amount(98_304, 24), amount(98_304, 23)), Ordering::Greater);
        assert_eq!(dominant().order(amount(98_304, 24), amount(49_152, 48)), Ordering::Equal, "shares alone count");
    }

    #[test]
    fn c7_the_whole_pair_with_the_smaller_or_larger_dominant_share_is_taken() {
        let (memory, cpu) = (amount(98_304, 1), amount(1024, 40));
        assert_eq!(dominant().min(memory, cpu), cpu);
        assert_eq!(dominant().max(memory, cpu), memory);
    }

    #[test]
    fn c7_vcores_of_a_capacity_are_rounded_up() {
        assert_eq!(dominant().part_rounded_up(amount(196_608, 96), 0.3), amount(59_392, 29));
    }

    #[test]
    fn the_resource_that_is_used_most_is_what_counts() {
        let (cluster, queue) = (amount(1000, 10), amount(100, 5));
        assert_eq!(Calculator::new(cluster, amount(1, 1)).divide(queue, cluster), 0.5);
        assert_eq!(Calculator::new(cluster, amount(1, 0)).divide(queue, cluster), 0.1);
    }
}
