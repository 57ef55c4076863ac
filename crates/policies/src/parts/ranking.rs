//! Jobs in order, kept from slot to slot: a job is moved when what orders it changes.

use resched_sim::JobId;

/// A number that orders jobs; equal ones come by id.
pub type Key = i64;

/// A number that orders values as [`f64::total_cmp`] does.
pub fn total_order(value: f64) -> Key {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// Some jobs in the order of their keys. The caller knows the key under which each of them stands.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ranking {
    jobs: Vec<(Key, JobId)>,
}

impl Ranking {
    /// These jobs, and no others.
    pub fn fill(&mut self, jobs: impl Iterator<Item = (Key, JobId)>) {
        self.jobs.clear();
        self.jobs.extend(jobs);
        self.jobs.sort_unstable();
    }

    /// Adds a job.
    pub fn insert(&mut self, job: JobId, key: Key) {
        self.jobs.insert(self.place((key, job)), (key, job));
    }

    /// Takes a job out.
    pub fn remove(&mut self, job: JobId, key: Key) {
        let place = self.place((key, job));
        if self.jobs.get(place) == Some(&(key, job)) {
            self.jobs.remove(place);
        }
    }

    /// Moves a job from one key to another.
    pub fn change(&mut self, job: JobId, [before, after]: [Key; 2]) {
        if before == after {
            return;
        }
        let from = self.place((before, job));
        let to = self.place((after, job));
        if from < to {
            self.jobs[from..to].rotate_left(1);
            self.jobs[to - 1] = (after, job);
        } else if self.jobs.get(from) == Some(&(before, job)) {
            self.jobs[to..=from].rotate_right(1);
            self.jobs[to] = (after, job);
        }
    }

    /// The place of a job, or where it would stand.
    fn place(&self, entry: (Key, JobId)) -> usize {
        self.jobs.partition_point(|other| *other < entry)
    }

    /// The job at a place.
    pub fn get(&self, place: usize) -> Option<JobId> {
        self.jobs.get(place).map(|&(_, job)| job)
    }

    /// The jobs, in order.
    pub fn iter(&self) -> impl Iterator<Item = JobId> {
        self.jobs.iter().map(|&(_, job)| job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::some_jobs;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed};

    #[test]
    fn keys_order_as_the_values_do() {
        let values = [-f64::NAN, f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 0.25, 2.0, f64::INFINITY, f64::NAN];
        for (a, b) in values.iter().zip(&values[1..]) {
            assert!(total_order(*a) < total_order(*b), "{a} {b}");
        }
    }

    proptest! {
        #![proptest_config(Config { cases: 500, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() })]

        #[test]
        fn an_order_that_is_kept_is_the_one_that_is_sorted(steps in prop::collection::vec((0..6_usize, 0..4_i64, 0..4), 0..60)) {
            let jobs = some_jobs(6);
            let (mut ranking, mut keys) = (Ranking::default(), vec![None; jobs.len()]);
            for (number, key, what) in steps {
                let job = jobs[number];
                match (keys[number], what) {
                    (None, _) => ranking.insert(job, key),
                    (Some(before), 0) => ranking.remove(job, before),
                    (Some(before), _) => ranking.change(job, [before, key]),
                }
                keys[number] = if keys[number].is_some() && what == 0 { None } else { Some(key) };
                let mut sorted = Ranking::default();
                sorted.fill(jobs.iter().zip(&keys).filter_map(|(&job, key)| Some(((*key)?, job))));
                prop_assert_eq!(&ranking, &sorted);
            }
        }
    }
}
