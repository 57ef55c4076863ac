//! Which resources kept work back during a replay, and for how long: what-ifs about the others change nothing.

use std::collections::BTreeMap;

use resched_tables::run::RunBound;
use smallvec::SmallVec;

use crate::ids::Ms;
use crate::resources::Resources;

/// By the name of a resource.
pub type Bottlenecks = BTreeMap<String, RunBound>;

/// For how long each dimension kept tasks waiting. Dimensions have small numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held {
    /// The first instant that counts; `None` before.
    from: Option<Ms>,
    /// Up to when `time` counts.
    at: Ms,
    /// Which dimensions keep tasks waiting since then.
    now: SmallVec<[usize; 2]>,
    /// For how long they have, ms, by number.
    time: Vec<u64>,
}

impl Held {
    /// The clock comes to `at`.
    #[inline]
    pub(crate) fn advance(&mut self, at: Ms) {
        let Some(from) = self.from else { return };
        let passed = at.saturating_sub(self.at.max(from)).max(0).unsigned_abs();
        for &dimension in &self.now {
            self.time[dimension] += passed;
        }
        self.at = at;
    }

    /// From this instant on, these dimensions keep tasks waiting. Time counts from the first call.
    #[inline]
    pub(crate) fn set(&mut self, at: Ms, now: impl Iterator<Item = usize>) {
        if self.from.is_none() {
            (self.from, self.at) = (Some(at), at);
        }
        self.now.clear();
        self.now.extend(now);
        let count = self.now.iter().max().map_or(0, |&largest| largest + 1);
        if count > self.time.len() {
            self.time.resize(count, 0);
        }
    }

    /// What is known at the end of these dimensions, each with its number, its name, and the largest part that was taken of it, in
    /// thousandths. Of two with one name, the first counts.
    pub(crate) fn finish(
        &mut self,
        end: Ms,
        dimensions: impl Iterator<Item = (usize, String, Option<u32>)>,
    ) -> Bottlenecks {
        self.advance(end);
        let of_ms = self.from.map_or(0, |from| end.saturating_sub(from).max(0).unsigned_abs());
        let mut found = Bottlenecks::new();
        for (dimension, name, most) in dimensions {
            let bound_ms = self.time.get(dimension).copied().unwrap_or(0);
            found.entry(name).or_insert(RunBound { of_ms, bound_ms, most });
        }
        found
    }
}

/// For each part of [`Resources`]: of how many nodes what is free does not hold a demand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Short([u32; 2]);

impl Short {
    /// Of nodes with so much free each.
    pub(crate) fn of(free: impl Iterator<Item = Resources>, demand: Resources) -> Self {
        let mut all = Self::default();
        for free in free {
            let short = Self::parts(free, demand);
            all.0.iter_mut().zip(short).for_each(|(all, short)| *all += u32::from(short));
        }
        all
    }

    /// What is free on a node changes.
    #[inline]
    pub(crate) fn change(&mut self, before: Resources, after: Resources, demand: Resources) {
        let ([cpu_before, memory_before], [cpu, memory]) = (Self::parts(before, demand), Self::parts(after, demand));
        let [lack_cpu, lack_memory] = &mut self.0;
        *lack_cpu = *lack_cpu + u32::from(cpu) - u32::from(cpu_before);
        *lack_memory = *lack_memory + u32::from(memory) - u32::from(memory_before);
    }

    /// Whether any node lacks a part.
    #[inline]
    pub(crate) fn any(self) -> [bool; 2] {
        self.0.map(|nodes| nodes > 0)
    }

    #[inline]
    fn parts(free: Resources, demand: Resources) -> [bool; 2] {
        [free.cpu < demand.cpu, free.memory < demand.memory]
    }
}

/// A share in thousandths, rounded up, so that only nothing is 0.
pub(crate) fn thousandths(part: f64, all: f64) -> u32 {
    if all > 0.0 && part > 0.0 { (1000.0 * part / all).ceil().min(f64::from(u32::MAX)) as u32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_from_the_first_call_while_a_part_is_held() {
        let names = || [(0, "a".to_owned(), None), (1, "b".to_owned(), Some(250)), (2, "a".to_owned(), Some(1))];
        let mut held = Held::default();
        held.advance(5);
        held.set(10, [1].into_iter());
        held.advance(25);
        held.set(25, [0, 1].into_iter());
        held.advance(30);
        held.set(30, [].into_iter());
        let found = held.finish(110, names().into_iter());
        assert_eq!(found["a"], RunBound { of_ms: 100, bound_ms: 5, most: None });
        assert_eq!(found["b"], RunBound { of_ms: 100, bound_ms: 20, most: Some(250) });
        assert_eq!(Held::default().finish(9, names().into_iter())["a"], RunBound::default());
    }

    #[test]
    fn nodes_that_lack_a_part_are_counted() {
        let amount = |cpu, memory| Resources { cpu, memory };
        let mut short = Short::of([amount(1, 0), amount(0, 0)].into_iter(), amount(1, 1));
        assert_eq!(short, Short([1, 2]));
        short.change(amount(0, 0), amount(1, 1), amount(1, 1));
        assert_eq!((short, short.any()), (Short([0, 1]), [false, true]));
        assert_eq!([thousandths(0.0, 2.0), thousandths(1e-9, 2.0), thousandths(1.0, 2.0)], [0, 1, 500]);
    }
}
