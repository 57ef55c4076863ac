//! What a machine offers and what a task asks for.

/// Processor and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Amount {
    /// Processor, in thousandths of a core.
    pub cpu: u64,
    /// Memory, bytes; 0 everywhere where memory is not limited.
    pub memory: u64,
}

impl Amount {
    /// Nothing.
    pub const NONE: Amount = Amount { cpu: 0, memory: 0 };

    /// Whether there is as much of both.
    #[inline]
    pub fn holds(self, demand: Amount) -> bool {
        self.cpu >= demand.cpu && self.memory >= demand.memory
    }

    /// How many such demands fit beside each other; `u64::MAX` of nothing.
    #[inline]
    pub fn fits(self, demand: Amount) -> u64 {
        let of = |all: u64, part: u64| all.checked_div(part).unwrap_or(u64::MAX);
        of(self.cpu, demand.cpu).min(of(self.memory, demand.memory))
    }

    /// With as much more; no more than can be counted.
    #[inline]
    #[must_use]
    pub fn plus(self, more: Amount) -> Amount {
        Amount { cpu: self.cpu.saturating_add(more.cpu), memory: self.memory.saturating_add(more.memory) }
    }

    /// With as much less; no less than nothing.
    #[inline]
    #[must_use]
    pub fn minus(self, less: Amount) -> Amount {
        Amount { cpu: self.cpu.saturating_sub(less.cpu), memory: self.memory.saturating_sub(less.memory) }
    }

    /// So many times as much; no more than can be counted.
    #[inline]
    #[must_use]
    pub fn times(self, n: u64) -> Amount {
        Amount { cpu: self.cpu.saturating_mul(n), memory: self.memory.saturating_mul(n) }
    }

    /// The larger of both, part by part.
    #[inline]
    #[must_use]
    pub fn max(self, other: Amount) -> Amount {
        Amount { cpu: self.cpu.max(other.cpu), memory: self.memory.max(other.memory) }
    }

    /// Which share of `total` it is, by the resource of which it takes the larger share (DRF's dominant share); a resource of
    /// which there is none does not count.
    pub fn dominant_share(self, total: Amount) -> f64 {
        let share = |part: u64, all: u64| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        share(self.cpu, total.cpu).max(share(self.memory, total.memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(cpu: u64, memory: u64) -> Amount {
        Amount { cpu, memory }
    }

    #[test]
    fn the_scarcer_resource_decides_how_many_fit() {
        assert_eq!(amount(8, 3).fits(amount(2, 1)), 3);
        assert_eq!(amount(8, 3).fits(amount(1, 0)), 8);
        assert_eq!(amount(8, 3).fits(Amount::NONE), u64::MAX);
        assert!(amount(8, 3).holds(amount(8, 3)) && !amount(8, 3).holds(amount(8, 4)));
    }

    #[test]
    fn the_dominant_share_is_the_larger_one() {
        assert_eq!(amount(1, 4).dominant_share(amount(9, 18)), 4.0 / 18.0);
        assert_eq!(amount(3, 1).dominant_share(amount(9, 18)), 3.0 / 9.0);
        assert_eq!(amount(3, 1).dominant_share(amount(9, 0)), 3.0 / 9.0);
    }
}
