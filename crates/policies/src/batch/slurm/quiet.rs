//! Runs of the backfill scheduler that start nothing, as the last one did.
//!
//! A run that starts nothing leaves nothing behind: the next one makes its plan anew. If the same jobs wait, the same units run and the
//! machines are the same, the next run differs from it only by the time. Nearly all that is compared with the time stays as it is for long.
//! A run notes how long, so that those until then can be left out. If further jobs wait behind the others, only those are planned.

use resched_sim::{Ms, TaskId};

/// The first jobs of a run, if they are those of the last: it plans them as the last did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// How many they are.
    pub(super) jobs: usize,
    /// Until when, ms, none of them starts.
    pub(super) until: Ms,
    /// True if there are no others.
    pub(super) is_all: bool,
}

/// What the last run saw, if it started nothing.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// The jobs that it looked at, in order.
    jobs: Vec<TaskId>,
    /// The state of the machines.
    state: u64,
    /// Until when, ms, a run starts nothing if it sees the same.
    until: Option<Ms>,
}

impl Quiet {
    /// Notes what a run saw. `until` is `None` if it started something.
    pub(super) fn note(&mut self, jobs: impl Iterator<Item = TaskId>, state: u64, until: Option<Ms>) {
        self.jobs.clear();
        (self.state, self.until) = (state, until);
        if until.is_some() {
            self.jobs.extend(jobs);
        }
    }

    /// What a run that begins now and sees these jobs need not look at again.
    pub(super) fn known(&self, mut jobs: impl Iterator<Item = TaskId>, state: u64, now: Ms) -> Option<Known> {
        let until = self.until.filter(|&until| self.state == state && now < until)?;
        let are_first = self.jobs.iter().all(|&job| jobs.next() == Some(job));
        are_first.then(|| Known { jobs: self.jobs.len(), until, is_all: jobs.next().is_none() })
    }
}
