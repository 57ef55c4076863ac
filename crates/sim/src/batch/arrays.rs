//! Arrays of jobs of which only so many may run at once: `--array=0-99%5` of Slurm.
//!
//! **Source.** `job_array_start_test` of Slurm: a task of an array cannot run as long as so many others of it do. Until then, it is not
//! eligible: its waiting time has not begun.
//!
//! **Decisions.** A job that may start takes one of the array's places until it ends, also while it waits for machines. The tasks of an
//! array ask for the same, so none of them could overtake another. This holds under every policy, as dependencies do.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use crate::ids::JobId;

/// The arrays of a workload.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrays {
    /// How many jobs of each may run at once, and its jobs in order.
    all: Vec<(u32, Vec<u32>)>,
    /// The array of each job that belongs to one.
    of: BTreeMap<u32, u32>,
}

impl Arrays {
    pub(super) fn new(arrays: impl Iterator<Item = (u32, Vec<u32>)>) -> Self {
        let mut made = Self::default();
        for (limit, jobs) in arrays {
            let place = made.all.len() as u32;
            made.of.extend(jobs.iter().map(|&job| (job, place)));
            made.all.push((limit, jobs));
        }
        made
    }

    /// The jobs of each array.
    pub(super) fn all(&self) -> impl Iterator<Item = &[u32]> {
        self.all.iter().map(|(_, jobs)| jobs.as_slice())
    }

    /// Those of some jobs by themselves.
    pub(super) fn part(&self, of: &Range<usize>) -> Self {
        let inside = |job: &u32| of.contains(&(*job as usize)).then(|| *job - of.start as u32);
        let arrays =
            self.all.iter().map(|(limit, jobs)| (*limit, jobs.iter().filter_map(inside).collect::<Vec<u32>>()));
        Self::new(arrays.filter(|(_, jobs)| !jobs.is_empty()))
    }
}

/// The places of arrays in a replay.
#[derive(Debug, Default)]
pub(super) struct Slots(Vec<Taken>);

/// The places of an array.
#[derive(Debug, Default)]
struct Taken {
    /// How many jobs have one.
    count: u32,
    /// The jobs that wait for one.
    waiting: BinaryHeap<Reverse<u32>>,
}

impl Slots {
    pub(super) fn new(arrays: &Arrays) -> Self {
        Self(arrays.all.iter().map(|_| Taken::default()).collect())
    }

    /// Gives a job a place in its array; `false` if there is none, so that it waits for one.
    pub(super) fn take(&mut self, job: JobId, arrays: &Arrays) -> bool {
        let Some((limit, taken)) = self.of(job, arrays) else { return true };
        let is_free = taken.count < limit;
        if is_free {
            taken.count += 1;
        } else {
            taken.waiting.push(Reverse(job.0));
        }
        is_free
    }

    /// A job has ended. Returns the first one that waits for its place.
    pub(super) fn give_back(&mut self, job: JobId, arrays: &Arrays) -> Option<JobId> {
        let (_, taken) = self.of(job, arrays)?;
        taken.count = taken.count.saturating_sub(1);
        taken.waiting.pop().map(|Reverse(job)| JobId(job))
    }

    /// The limit of the array of a job, and its places.
    fn of(&mut self, job: JobId, arrays: &Arrays) -> Option<(u32, &mut Taken)> {
        let place = *arrays.of.get(&job.0)? as usize;
        Some((arrays.all.get(place)?.0, self.0.get_mut(place)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_jobs_of_an_array_have_a_place() {
        let arrays = Arrays::new([(2, vec![1, 3, 4, 6])].into_iter());
        let mut slots = Slots::new(&arrays);
        let taken: Vec<bool> = [0, 1, 6, 4, 3].map(|job| slots.take(JobId(job), &arrays)).to_vec();
        assert_eq!(taken, [true, true, true, false, false], "0 is of no array");
        assert_eq!(slots.give_back(JobId(1), &arrays), Some(JobId(3)), "the first in order");
        assert!(slots.take(JobId(3), &arrays));
        assert_eq!(slots.give_back(JobId(0), &arrays), None);
    }

    #[test]
    fn a_part_has_the_arrays_of_its_jobs() {
        let part = Arrays::new([(1, vec![0, 1]), (2, vec![2, 5])].into_iter()).part(&(2..6));
        assert_eq!(part.all().collect::<Vec<_>>(), [&[0, 3][..]]);
    }
}
