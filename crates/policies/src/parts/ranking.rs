//! Jobs or pools in order, kept from slot to slot: one is moved when what orders it changes.

use resched_sim::JobId;

/// A number that orders jobs; equal ones come by id.
pub type Key = i64;

/// A number that orders values as [`f64::total_cmp`] does.
pub fn total_order(value: f64) -> Key {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// Some items, mostly jobs, in the order of their keys; equal ones in their own. The caller knows the key under which each stands.
#[derive(Debug, PartialEq, Eq)]
pub struct Ranking<T = JobId, K = Key> {
    items: Vec<(K, T)>,
}

impl<T, K> Default for Ranking<T, K> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T: Ord + Clone, K: Ord + Copy> Ranking<T, K> {
    /// These items, and no others.
    pub fn fill(&mut self, items: impl Iterator<Item = (K, T)>) {
        self.items.clear();
        self.items.extend(items);
        self.items.sort_unstable();
    }

    /// Moves an item from one key to another; one that has none is not listed.
    #[inline]
    pub fn put(&mut self, item: &T, [before, after]: [Option<K>; 2]) {
        match (before, after) {
            (Some(before), Some(after)) => self.change(item, [before, after]),
            (None, Some(after)) => self.insert(item.clone(), after),
            (Some(before), None) => self.remove(item, before),
            (None, None) => {}
        }
    }

    /// Adds an item.
    pub fn insert(&mut self, item: T, key: K) {
        let place = self.place(key, &item);
        self.items.insert(place, (key, item));
    }

    /// Takes an item out.
    pub fn remove(&mut self, item: &T, key: K) {
        let place = self.place(key, item);
        if self.is_at(place, key, item) {
            self.items.remove(place);
        }
    }

    /// Moves an item from one key to another.
    pub fn change(&mut self, item: &T, [before, after]: [K; 2]) {
        if before == after {
            return;
        }
        let (from, to) = (self.place(before, item), self.place(after, item));
        if !self.is_at(from, before, item) {
            return;
        }
        if from < to {
            self.items[from..to].rotate_left(1);
            self.items[to - 1].0 = after;
        } else {
            self.items[to..=from].rotate_right(1);
            self.items[to].0 = after;
        }
    }

    /// The place of an item, or where it would stand.
    fn place(&self, key: K, item: &T) -> usize {
        self.items.partition_point(|(other, of)| (other, of) < (&key, item))
    }

    fn is_at(&self, place: usize, key: K, item: &T) -> bool {
        self.items.get(place).is_some_and(|(other, of)| (other, of) == (&key, item))
    }

    /// The item at a place.
    #[inline]
    pub fn get(&self, place: usize) -> Option<&T> {
        self.items.get(place).map(|(_, item)| item)
    }

    /// The items, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cases::cases;
    use crate::testing::some_jobs;
    use proptest::prelude::*;

    #[test]
    fn keys_order_as_the_values_do() {
        let values = [-f64::NAN, f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 0.25, 2.0, f64::INFINITY, f64::NAN];
        for (a, b) in values.iter().zip(&values[1..]) {
            assert!(total_order(*a) < total_order(*b), "{a} {b}");
        }
    }

    proptest! {
        #![proptest_config(cases(500))]

        #[test]
        fn an_order_that_is_kept_is_the_one_that_is_sorted(steps in prop::collection::vec((0..6_usize, 0..4_i64, 0..4), 0..60)) {
            let jobs = some_jobs(6);
            let (mut ranking, mut keys) = (Ranking::default(), vec![None; jobs.len()]);
            for (number, key, what) in steps {
                let job = jobs[number];
                match (keys[number], what) {
                    (None, _) => ranking.insert(job, key),
                    (Some(before), 0) => ranking.remove(&job, before),
                    (Some(before), _) => ranking.change(&job, [before, key]),
                }
                keys[number] = if keys[number].is_some() && what == 0 { None } else { Some(key) };
                let mut sorted = Ranking::default();
                sorted.fill(jobs.iter().zip(&keys).filter_map(|(&job, key)| Some(((*key)?, job))));
                prop_assert_eq!(&ranking, &sorted);
            }
        }
    }
}
