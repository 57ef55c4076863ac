//! Jobs in the order of priority, then of submission.

use resched_sim::JobId;
use resched_sim::hadoop::View;
use resched_tables::model::Priority;

/// The active jobs: VERY_HIGH first, then by submission, then by id (policies B.1).
#[derive(Debug, Default)]
pub struct JobQueue {
    jobs: Vec<(Priority, JobId)>,
}

impl JobQueue {
    /// A job has arrived.
    pub fn insert(&mut self, job: JobId, view: View<'_>) {
        self.insert_as(job, view.job(job).priority());
    }

    /// A job has arrived that counts as one of this priority.
    pub fn insert_as(&mut self, job: JobId, priority: Priority) {
        let entry = (priority, job);
        let place = self.jobs.partition_point(|other| *other < entry);
        self.jobs.insert(place, entry);
    }

    /// A job has ended.
    pub fn remove(&mut self, job: JobId) {
        self.jobs.retain(|&(_, other)| other != job);
    }

    /// Keeps the jobs of which this holds.
    pub fn retain(&mut self, mut keep: impl FnMut(JobId) -> bool) {
        self.jobs.retain(|&(_, job)| keep(job));
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
