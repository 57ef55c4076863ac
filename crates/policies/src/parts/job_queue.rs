//! Jobs in the order of priority, then of submission.

use resched_sim::{JobId, View};
use resched_trace::model::Priority;

/// The active jobs: VERY_HIGH first, then by submission, then by id (policies B.1).
#[derive(Debug, Default)]
pub struct JobQueue {
    jobs: Vec<(Priority, JobId)>,
}

impl JobQueue {
    /// A job has arrived.
    pub fn insert(&mut self, job: JobId, view: View<'_>) {
        let entry = (view.job(job).priority(), job);
        let place = self.jobs.partition_point(|other| *other < entry);
        self.jobs.insert(place, entry);
    }

    /// A job has ended.
    pub fn remove(&mut self, job: JobId) {
        self.jobs.retain(|&(_, other)| other != job);
    }

    /// The jobs, in order.
    pub fn iter(&self) -> impl Iterator<Item = JobId> + '_ {
        self.jobs.iter().map(|&(_, job)| job)
    }

    /// The job at a place.
    pub fn get(&self, place: usize) -> Option<JobId> {
        self.jobs.get(place).map(|&(_, job)| job)
    }
}
