//! What a policy keeps for each job and kind of task, until the job ends.

use resched_sim::JobId;
use resched_sim::hadoop::Kind;

/// A value for each job and kind; the default where nothing was kept.
#[derive(Debug, Default)]
pub struct ByJob<T> {
    jobs: Vec<[T; 2]>,
}

impl<T: Default> ByJob<T> {
    /// The value, if anything was kept for the job.
    pub fn get(&self, job: JobId, kind: Kind) -> Option<&T> {
        self.jobs.get(job.index()).map(|kinds| &kinds[kind.index()])
    }

    /// The value, to change it.
    pub fn get_mut(&mut self, job: JobId, kind: Kind) -> &mut T {
        if self.jobs.len() <= job.index() {
            self.jobs.resize_with(job.index() + 1, Default::default);
        }
        &mut self.jobs[job.index()][kind.index()]
    }

    /// Takes out what was kept for a job that has ended, maps first.
    pub fn remove(&mut self, job: JobId) -> [T; 2] {
        self.jobs.get_mut(job.index()).map(std::mem::take).unwrap_or_default()
    }
}
