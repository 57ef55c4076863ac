//! Whole requests: a job gets all of what it asks for first, or nothing of it.
//!
//! **Source.** DRESS, §IV-C and §V-B1: a job waits while the free containers are fewer than it asks for, and these are
//! left over.
//!
//! **Decisions.** Jobs wait in lanes. In a lane the next job is the first that was submitted, or the smallest; if it
//! does not fit, nobody behind it does. A job that was admitted keeps the right to what it asked for until it has got
//! it (what is *due* to it), and nobody else is admitted on that room. A job that asks for more than its lane may ever
//! hold is admitted when nobody else has anything of the lane, and gets what the lane may hold.

use std::collections::BTreeSet;

use resched_sim::{JobId, hadoop};

use crate::parts::by_id::ByJob;

/// Amounts of several resources.
pub(crate) trait Amount: Copy + Default + PartialEq {
    fn plus(self, more: Self) -> Self;
    fn minus(self, less: Self) -> Self;
    fn least(self, other: Self) -> Self;
    fn has(self, demand: Self) -> bool;
}

macro_rules! amount {
    ($resources:ty) => {
        impl Amount for $resources {
            fn plus(self, more: Self) -> Self {
                self.plus(more)
            }

            fn minus(self, less: Self) -> Self {
                self.minus(less)
            }

            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            fn has(self, demand: Self) -> bool {
                self.holds(demand)
            }
        }
    };
}

amount!(resched_sim::Resources);
amount!(hadoop::Resources);

/// Which job of a lane is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Next {
    /// The one that was submitted first.
    #[default]
    Earliest,
    /// The one that asks for least; of equals the one that was submitted first.
    Smallest,
}

/// What decides whether the next job of a lane is admitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room<R = hadoop::Resources> {
    /// What the jobs of the lane use.
    pub(crate) used: R,
    /// What they may use.
    pub(crate) limit: R,
    /// What is free of the whole cluster.
    pub(crate) free: R,
}

/// Jobs that wait for room for all that they ask for first, and what is due to those that were admitted.
#[derive(Debug, Default)]
pub(crate) struct WholeRequests<R = hadoop::Resources> {
    lanes: Vec<Lane<R>>,
    jobs: ByJob<Request<R>>,
    /// What is due to the jobs of all lanes.
    due: R,
}

#[derive(Debug, Default)]
struct Lane<R> {
    by_submission: BTreeSet<JobId>,
    by_size: BTreeSet<(u64, JobId)>,
    /// What is due to its jobs.
    due: R,
}

#[derive(Debug, Default, Clone, Copy)]
struct Request<R> {
    lane: usize,
    /// What the job asks for first, while it waits for it; then what of that is due to it.
    amount: R,
    /// By which the smallest job of a lane is found.
    size: u64,
    waits: bool,
}

impl<R: Amount> WholeRequests<R> {
    /// Makes a job wait in a lane for an amount. `size` orders the jobs of a lane by what they ask for.
    pub(crate) fn put(&mut self, job: JobId, lane: usize, amount: R, size: u64) {
        if self.lanes.len() <= lane {
            self.lanes.resize_with(lane + 1, Lane::default);
        }
        self.lanes[lane].by_submission.insert(job);
        self.lanes[lane].by_size.insert((size, job));
        self.jobs[job] = Request { lane, amount, size, waits: true };
    }

    /// Forgets a job that has ended.
    pub(crate) fn remove(&mut self, job: JobId) {
        if self.jobs[job].waits {
            self.end_wait(job);
        } else {
            self.grant(job, self.jobs[job].amount);
        }
        self.jobs.take(job);
    }

    /// True if a job waits for all that it asks for first.
    pub(crate) fn waits(&self, job: JobId) -> bool {
        self.jobs[job].waits
    }

    /// What is due to a job.
    pub(crate) fn due(&self, job: JobId) -> R {
        if self.jobs[job].waits { R::default() } else { self.jobs[job].amount }
    }

    /// What is due to the jobs of a lane.
    pub(crate) fn due_in(&self, lane: usize) -> R {
        self.lanes.get(lane).map_or(R::default(), |lane| lane.due)
    }

    /// What is due to the jobs of all lanes.
    pub(crate) fn due_in_all(&self) -> R {
        self.due
    }

    /// The next job of a lane.
    pub(crate) fn next(&self, lane: usize, next: Next) -> Option<JobId> {
        let lane = self.lanes.get(lane)?;
        match next {
            Next::Earliest => lane.by_submission.first().copied(),
            Next::Smallest => lane.by_size.first().map(|&(_, job)| job),
        }
    }

    /// Admits a job that waits if there is room for all that it asks for. Returns whether it did.
    pub(crate) fn admit(&mut self, job: JobId, room: Room<R>) -> bool {
        let Request { lane, amount, .. } = self.jobs[job];
        let of_lane = self.lanes[lane].due;
        let fits = room.limit.has(room.used.plus(of_lane).plus(amount)) && room.free.has(self.due.plus(amount));
        let is_alone = room.used == R::default() && of_lane == R::default();
        if !fits && (!is_alone || room.limit.has(amount)) {
            return false;
        }
        let due = amount.least(room.limit);
        self.end_wait(job);
        self.jobs[job].amount = due;
        self.lanes[lane].due = of_lane.plus(due);
        self.due = self.due.plus(due);
        true
    }

    /// True if all that a job waits for is free, so that only what its lane may hold keeps it from being admitted.
    pub(crate) fn fits_beyond(&self, job: JobId, room: Room<R>) -> bool {
        room.free.has(self.due.plus(self.jobs[job].amount))
    }

    /// A job got so much of what is due to it.
    pub(crate) fn grant(&mut self, job: JobId, amount: R) {
        let request = &mut self.jobs[job];
        if request.waits {
            return;
        }
        let granted = amount.least(request.amount);
        request.amount = request.amount.minus(granted);
        if let Some(lane) = self.lanes.get_mut(request.lane) {
            lane.due = lane.due.minus(granted);
        }
        self.due = self.due.minus(granted);
    }

    fn end_wait(&mut self, job: JobId) {
        let Request { lane, size, .. } = self.jobs[job];
        self.lanes[lane].by_submission.remove(&job);
        self.lanes[lane].by_size.remove(&(size, job));
        self.jobs[job].waits = false;
    }
}

#[cfg(test)]
mod tests {
    use resched_sim::hadoop::Resources;

    use super::*;
    use crate::testing::some_jobs;

    fn memory(memory: u64) -> Resources {
        Resources::of(0, memory)
    }

    /// Jobs that ask for so much, all in one lane.
    fn lane(amounts: &[u64]) -> (WholeRequests, Vec<JobId>) {
        let mut whole = WholeRequests::default();
        let jobs = some_jobs(amounts.len());
        for (&job, &amount) in jobs.iter().zip(amounts) {
            whole.put(job, 0, memory(amount), amount);
        }
        (whole, jobs)
    }

    fn room(used: u64, limit: u64, free: u64) -> Room {
        Room { used: memory(used), limit: memory(limit), free: memory(free) }
    }

    #[test]
    fn four_containers_are_left_over_if_the_smallest_demand_is_five() {
        let (mut whole, jobs) = lane(&[8, 5]);
        assert_eq!(whole.next(0, Next::Earliest), Some(jobs[0]));
        assert_eq!(whole.next(0, Next::Smallest), Some(jobs[1]));
        assert!(!whole.admit(jobs[1], room(6, 10, 4)));
        assert!(whole.admit(jobs[1], room(5, 10, 5)));
        assert_eq!(whole.next(0, Next::Smallest), Some(jobs[0]));
    }

    #[test]
    fn what_is_due_is_nobody_elses() {
        let (mut whole, jobs) = lane(&[3, 3]);
        assert!(whole.admit(jobs[0], room(0, 10, 5)));
        assert!(!whole.admit(jobs[1], room(0, 10, 5)), "3 of the 5 are due to the first");
        whole.grant(jobs[0], memory(1));
        assert!(!whole.admit(jobs[1], room(1, 10, 4)));
        whole.grant(jobs[0], memory(2));
        assert_eq!((whole.due(jobs[0]), whole.due_in_all()), (memory(0), memory(0)));
        assert!(whole.admit(jobs[1], room(3, 10, 3)));
    }

    #[test]
    fn a_job_that_never_fits_has_the_lane_for_itself() {
        let (mut whole, jobs) = lane(&[30, 1]);
        assert!(!whole.admit(jobs[0], room(1, 10, 9)));
        assert!(whole.admit(jobs[0], room(0, 10, 10)));
        assert_eq!(whole.due_in(0), memory(10), "no more than the lane may hold");
        assert!(!whole.admit(jobs[1], room(0, 10, 10)));
    }

    #[test]
    fn what_was_due_to_a_job_that_has_ended_is_free() {
        let (mut whole, jobs) = lane(&[3, 3]);
        assert!(whole.admit(jobs[0], room(0, 10, 5)));
        whole.remove(jobs[0]);
        whole.remove(jobs[1]);
        assert_eq!((whole.due_in_all(), whole.next(0, Next::Earliest)), (memory(0), None));
    }
}
