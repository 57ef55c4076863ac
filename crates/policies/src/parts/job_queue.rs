//! Jobs in the order of priority, then of submission.

use resched_sim::JobId;
use resched_sim::hadoop::View;
use resched_tables::model::Priority;

/// The active jobs: VERY_HIGH first, then by submission, then by id (`docs/model/fifo.md`).
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
        let places = Priority::ALL.iter().filter_map(|&priority| self.jobs.binary_search(&(priority, job)).ok());
        if let Some(place) = places.into_iter().next() {
            self.jobs.remove(place);
        }
    }

    /// Keeps the jobs of which this holds.
    pub fn retain(&mut self, mut keep: impl FnMut(JobId) -> bool) {
        self.jobs.retain(|&(_, job)| keep(job));
    }

    /// The jobs, in order.
    pub fn iter(&self) -> impl Iterator<Item = JobId> + '_ {
        self.jobs.iter().map(|&(_, job)| job)
    }

    /// The priority of the first job, or of the first whose priority comes after this one.
    pub fn next_priority(&self, after: Option<Priority>) -> Option<Priority> {
        let place = after.map_or(0, |after| self.jobs.partition_point(|&(priority, _)| priority <= after));
        self.jobs.get(place).map(|&(priority, _)| priority)
    }

    /// The job at a place.
    pub fn get(&self, place: usize) -> Option<JobId> {
        self.jobs.get(place).map(|&(_, job)| job)
    }
}
