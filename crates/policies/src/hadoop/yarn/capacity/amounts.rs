//! Amounts that may be below nothing, as the rules since 3.x need them, and Hadoop's `Resources` on them.
//!
//! **Source.** `Resources`, `DefaultResourceCalculator` and `DominantResourceCalculator` of Hadoop 3.4.1.

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use resched_sim::hadoop::{FURTHER, Resources};

use super::calculator::Calculator;

/// How many resources there can be.
pub(super) const PARTS: usize = 2 + FURTHER;

/// Memory, MB, vcores and others; what is lacking is negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Amounts {
    pub(super) memory: i64,
    pub(super) cpu: i64,
    pub(super) further: [i64; FURTHER],
}

impl Amounts {
    pub(super) const NONE: Self = Self { memory: 0, cpu: 0, further: [0; FURTHER] };

    /// All of them, in Hadoop's order.
    fn parts(self) -> [i64; PARTS] {
        let [first, second] = self.further;
        [self.memory, self.cpu, first, second]
    }

    fn of_parts([memory, cpu, first, second]: [i64; PARTS]) -> Self {
        Self { memory, cpu, further: [first, second] }
    }

    fn map(self, change: impl Fn(i64) -> i64) -> Self {
        Self { memory: change(self.memory), cpu: change(self.cpu), further: self.further.map(change) }
    }

    fn zip(self, other: Self, join: impl Fn(i64, i64) -> i64) -> Self {
        let [has, further] = [self.further, other.further];
        Self {
            memory: join(self.memory, other.memory),
            cpu: join(self.cpu, other.cpu),
            further: [join(has[0], further[0]), join(has[1], further[1])],
        }
    }

    /// What follows from each part and that of another amount.
    pub(super) fn each<T: Copy + Default>(self, other: Self, of: impl Fn(i64, i64) -> T) -> [T; PARTS] {
        let mut all = [T::default(); PARTS];
        for (part, (a, b)) in all.iter_mut().zip(self.parts().into_iter().zip(other.parts())) {
            *part = of(a, b);
        }
        all
    }

    /// Each part by a factor of its own.
    fn by_each<F: Copy>(self, factors: [F; PARTS], of: impl Fn(i64, F) -> i64) -> Self {
        let mut parts = self.parts();
        parts.iter_mut().zip(factors).for_each(|(part, factor)| *part = of(*part, factor));
        Self::of_parts(parts)
    }

    /// A multiple, each part cut to whole units (`Resources.multiply`, `multiplyAndRoundDown`).
    pub(super) fn times(self, factor: f64) -> Self {
        self.map(|value| (value as f64 * factor) as i64)
    }

    /// Each part by a factor of its own, cut to whole units.
    pub(super) fn times_each(self, factors: [f32; PARTS]) -> Self {
        self.by_each(factors, |value, factor| (value as f64 * f64::from(factor)) as i64)
    }

    /// The smaller of both, part by part.
    pub(super) fn least_of_each(self, other: Self) -> Self {
        self.zip(other, i64::min)
    }

    /// What is left of it, part by part and at least nothing (`Resources.subtractNonNegative`).
    pub(super) fn minus(self, less: Self) -> Self {
        self.zip(less, |value, less| (value - less).max(0))
    }

    /// At least nothing of each.
    pub(super) fn at_least_none(self) -> Self {
        self.map(|value| value.max(0))
    }

    /// A part for each of so many, rounded up; nothing for none (`Resources.divideAndCeil`).
    pub(super) fn divided(self, by: f32) -> Self {
        self.map(|value| if by == 0.0 { 0 } else { (value as f32 / by).ceil() as i64 })
    }

    /// A part for each of so many, rounded up.
    pub(super) fn divided_by(self, by: i64) -> Self {
        self.map(|value| (value + by - 1) / by)
    }
}

impl From<Resources> for Amounts {
    fn from(resources: Resources) -> Self {
        let signed = |part: u64| i64::try_from(part).unwrap_or(i64::MAX / 4);
        Self { memory: signed(resources.memory), cpu: signed(resources.cpu), further: resources.further.map(signed) }
    }
}

impl Add for Amounts {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        self.zip(more, i64::saturating_add)
    }
}

impl Sub for Amounts {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        self.zip(less, i64::saturating_sub)
    }
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, more: Self) {
        *self = *self + more;
    }
}

impl SubAssign for Amounts {
    fn sub_assign(&mut self, less: Self) {
        *self = *self - less;
    }
}

impl Calculator {
    /// All that the cluster has, as far as it counts.
    pub(super) fn all(self) -> Amounts {
        self.cluster.into()
    }

    /// The smallest container.
    pub(super) fn unit(self) -> Amounts {
        self.smallest.into()
    }

    /// The shares of the cluster, the larger one first.
    fn shares_of(self, amount: Amounts) -> [f32; 2] {
        let memory = amount.memory as f32 / self.cluster.memory as f32;
        let cpu = amount.cpu as f32 / self.cluster.cpu as f32;
        if memory >= cpu { [memory, cpu] } else { [cpu, memory] }
    }

    /// The same where more than memory and vcores count, in double precision.
    fn all_shares_of(self, amount: Amounts) -> [f64; PARTS] {
        let of = |value: i64, all: i64| if all == 0 { f64::NEG_INFINITY } else { value as f64 / all as f64 };
        let mut shares = amount.each(self.all(), of);
        shares.sort_unstable_by(|a, b| b.total_cmp(a));
        shares
    }

    fn counts_more(self) -> bool {
        self.cluster.further != [0; FURTHER]
    }

    /// By memory; or by the largest share of the cluster, and then by the next one (rules C6 and K11).
    pub(super) fn compare(self, a: Amounts, b: Amounts) -> Ordering {
        if self.counts_memory_alone() {
            a.memory.cmp(&b.memory)
        } else if a == b {
            Ordering::Equal
        } else if self.counts_more() {
            self.all_shares_of(a).partial_cmp(&self.all_shares_of(b)).unwrap_or(Ordering::Equal)
        } else {
            self.shares_of(a).partial_cmp(&self.shares_of(b)).unwrap_or(Ordering::Equal)
        }
    }

    /// The whole of the smaller amount.
    pub(super) fn least(self, a: Amounts, b: Amounts) -> Amounts {
        if self.compare(a, b).is_le() { a } else { b }
    }

    /// The whole of the larger amount.
    pub(super) fn most(self, a: Amounts, b: Amounts) -> Amounts {
        if self.compare(a, b).is_ge() { a } else { b }
    }

    /// True if an amount fits into another one, in each resource that counts.
    pub(super) fn holds(self, room: Amounts, amount: Amounts) -> bool {
        let others =
            || amount.cpu <= room.cpu && amount.further.iter().zip(&room.further).all(|(value, room)| value <= room);
        amount.memory <= room.memory && (self.counts_memory_alone() || others())
    }

    /// True if there is anything of a resource that counts.
    pub(super) fn is_any(self, amount: Amounts) -> bool {
        let others = || amount.cpu > 0 || amount.further.iter().any(|&value| value > 0);
        amount.memory > 0 || !self.counts_memory_alone() && others()
    }

    /// How many times the one is the other, by the resource of which it is most (`ratio`).
    pub(super) fn part_of(self, a: Amounts, b: Amounts) -> f32 {
        let memory = a.memory as f32 / b.memory as f32;
        if self.counts_memory_alone() {
            return memory;
        }
        let of = |(&a, &b): (&i64, &i64)| if b == 0 { 0.0 } else { a as f32 / b as f32 };
        let others = a.further.iter().zip(&b.further).map(of).fold(0.0, f32::max);
        memory.max(a.cpu as f32 / b.cpu as f32).max(others)
    }

    /// How many times the one is the other, as shares of the cluster (`divide`).
    pub(super) fn share_of(self, a: Amounts, b: Amounts) -> f32 {
        if self.counts_memory_alone() {
            a.memory as f32 / b.memory as f32
        } else if self.counts_more() {
            (self.all_shares_of(a)[0] / self.all_shares_of(b)[0]) as f32
        } else {
            self.shares_of(a)[0] / self.shares_of(b)[0]
        }
    }

    /// The next multiple of the smallest container.
    pub(super) fn up(self, amount: Amounts) -> Amounts {
        amount
            .zip(self.unit(), |value, step| if step == 0 { value } else { (value + step - 1).div_euclid(step) * step })
    }

    /// The multiple of the smallest container that it holds.
    pub(super) fn down(self, amount: Amounts) -> Amounts {
        amount.zip(self.unit(), |value, step| if step == 0 { value } else { value / step * step })
    }

    /// True if there is nothing of a resource that counts.
    pub(super) fn lacks_any(self, amount: Amounts) -> bool {
        let lacks = |(&value, &all): (&i64, &u64)| all > 0 && value <= 0;
        let others = || amount.cpu <= 0 || amount.further.iter().zip(&self.cluster.further).any(lacks);
        amount.memory <= 0 || !self.counts_memory_alone() && others()
    }

    /// As [`Self::times_up_to_units`], but several resources in double precision.
    pub(super) fn parts_up_to_units(self, amount: Amounts, factors: [f64; PARTS]) -> Amounts {
        if self.counts_memory_alone() {
            return self.times_up_to_units(amount, factors);
        }
        amount.by_each(factors, |value, factor| (value as f64 * factor).ceil() as i64)
    }

    /// Each part by a factor of its own, rounded up to whole units (`multiplyAndNormalizeUp` with a step of 1).
    pub(super) fn times_up_to_units(self, amount: Amounts, factors: [f64; PARTS]) -> Amounts {
        if self.counts_memory_alone() {
            return Amounts { memory: (amount.memory as f64 * factors[0] + 0.5) as i64, ..Amounts::NONE };
        }
        amount.by_each(factors, |value, factor| ((value as f64 * factor) as f32).ceil() as i64)
    }

    /// A multiple, rounded up to whole containers (`multiplyAndNormalizeUp`). Memory alone is rounded to the nearest MB before, amounts of
    /// several resources go through single precision.
    pub(super) fn times_up(self, amount: Amounts, factor: f64) -> Amounts {
        let part = |value: i64| value as f64 * factor;
        self.up(if self.counts_memory_alone() {
            amount.map(|value| (part(value) + 0.5) as i64)
        } else {
            amount.map(|value| (part(value) as f32).ceil() as i64)
        })
    }
}
