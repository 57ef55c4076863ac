//! Runs of the backfill scheduler that start nothing, as the last one did.
//!
//! A run that starts nothing leaves nothing behind: the next one makes its plan anew. If the same jobs wait, the same units run and the
//! machines are the same, the next run differs from it only by the time. Nearly all that is compared with the time stays as it is for long.
//! A run notes how long, so that those until then can be left out.

use resched_sim::{Ms, TaskId};

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

    /// Whether a run starts nothing that begins now and sees this.
    pub(super) fn is_still_so(&self, jobs: impl Iterator<Item = TaskId>, state: u64, now: Ms) -> bool {
        self.state == state && self.until.is_some_and(|until| now < until) && jobs.eq(self.jobs.iter().copied())
    }
}
