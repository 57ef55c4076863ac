//! The resources that a machine offers and a task takes.

/// What both kinds of resources can do, part by part, by their `map` and `zip`.
macro_rules! arithmetic {
    ($resources:ident) => {
        impl $resources {
            /// Adds to each part; stops at the largest number that can be counted.
            #[inline]
            #[must_use]
            pub fn plus(self, more: $resources) -> $resources {
                self.zip(more, u64::saturating_add)
            }

            /// Takes from each part; stops at nothing.
            #[inline]
            #[must_use]
            pub fn minus(self, less: $resources) -> $resources {
                self.zip(less, u64::saturating_sub)
            }

            /// Multiplies each part; stops at the largest number that can be counted.
            #[inline]
            #[must_use]
            pub fn times(self, n: u64) -> $resources {
                self.map(|part| part.saturating_mul(n))
            }

            /// Multiplies each part and rounds it down.
            #[inline]
            #[must_use]
            pub fn scaled(self, factor: f64) -> $resources {
                self.map(|part| (part as f64 * factor) as u64)
            }

            /// The larger of both, part by part.
            #[inline]
            #[must_use]
            pub fn max(self, other: $resources) -> $resources {
                self.zip(other, u64::max)
            }

            /// The smaller of both, part by part.
            #[inline]
            #[must_use]
            pub fn min(self, other: $resources) -> $resources {
                self.zip(other, u64::min)
            }
        }
    };
}

pub(crate) use arithmetic;

/// Processor and memory of a production cluster. ([`crate::hadoop::Resources`] are those of Hadoop.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Resources {
    /// Processor, in thousandths of a core.
    pub cpu: u64,
    /// Memory, bytes; 0 everywhere if it is not limited.
    pub memory: u64,
}

impl Resources {
    /// Nothing.
    pub const NONE: Resources = Resources { cpu: 0, memory: 0 };

    /// True if there is enough of both for a demand. An empty demand always fits.
    #[inline]
    pub fn holds(self, demand: Resources) -> bool {
        self.cpu >= demand.cpu && self.memory >= demand.memory
    }

    /// How many such demands fit side by side; `u64::MAX` for an empty demand.
    #[inline]
    pub fn fits(self, demand: Resources) -> u64 {
        let of = |all: u64, part: u64| all.checked_div(part).unwrap_or(u64::MAX);
        of(self.cpu, demand.cpu).min(of(self.memory, demand.memory))
    }

    /// Its share of `total`, by the resource of which it takes the larger share (DRF's dominant share). A resource of which
    /// `total` has none does not count.
    pub fn dominant_share(self, total: Resources) -> f64 {
        let share = |part: u64, all: u64| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        share(self.cpu, total.cpu).max(share(self.memory, total.memory))
    }

    /// Changes both parts alike.
    #[inline]
    #[must_use]
    pub fn map(self, change: impl Fn(u64) -> u64) -> Resources {
        Resources { cpu: change(self.cpu), memory: change(self.memory) }
    }

    /// Joins two amounts part by part.
    #[inline]
    #[must_use]
    pub fn zip(self, other: Resources, join: impl Fn(u64, u64) -> u64) -> Resources {
        Resources { cpu: join(self.cpu, other.cpu), memory: join(self.memory, other.memory) }
    }
}

arithmetic!(Resources);

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(cpu: u64, memory: u64) -> Resources {
        Resources { cpu, memory }
    }

    #[test]
    fn the_scarcer_resource_decides_how_many_fit() {
        assert_eq!(amount(8, 3).fits(amount(2, 1)), 3);
        assert_eq!(amount(8, 3).fits(amount(1, 0)), 8);
        assert_eq!(amount(8, 3).fits(Resources::NONE), u64::MAX);
        assert!(amount(8, 3).holds(amount(8, 3)) && !amount(8, 3).holds(amount(8, 4)));
        assert!(Resources::NONE.holds(Resources::NONE));
    }

    #[test]
    fn amounts_stop_at_nothing_and_at_the_largest_number() {
        assert_eq!(amount(8, 3).minus(amount(2, 4)), amount(6, 0));
        assert_eq!(amount(8, 3).minus(amount(2, 1)).plus(amount(2, 1)), amount(8, 3));
        assert_eq!(amount(u64::MAX, 3).plus(amount(1, 1)), amount(u64::MAX, 4));
        assert_eq!(amount(u64::MAX, 3).times(2), amount(u64::MAX, 6));
        assert_eq!(amount(5, 3).scaled(0.5), amount(2, 1));
    }

    #[test]
    fn the_dominant_share_is_the_larger_one() {
        assert_eq!(amount(1, 4).dominant_share(amount(9, 18)), 4.0 / 18.0);
        assert_eq!(amount(3, 1).dominant_share(amount(9, 18)), 3.0 / 9.0);
        assert_eq!(amount(3, 1).dominant_share(amount(9, 0)), 3.0 / 9.0);
    }
}
