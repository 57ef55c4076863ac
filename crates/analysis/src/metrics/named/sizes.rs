//! Classes of jobs by size.

use crate::{JobMetrics, Run};

/// The bounds of the classes of size.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Jobs with at most this many tasks are small.
    pub(super) small: u64,
    /// Jobs with at least this many tasks are large.
    pub(super) large: u64,
}

impl Sizes {
    /// The bounds by the jobs of a run that count.
    pub fn of(run: &Run) -> Self {
        Self::of_counts(run.finished_jobs().map(|job| u64::from(job.tasks_done)).collect())
    }

    /// The bounds by the numbers of tasks of some jobs.
    pub(crate) fn of_counts(mut tasks: Vec<u64>) -> Self {
        tasks.sort_unstable();
        let at = |rank: usize| tasks.get(rank).copied().unwrap_or(0);
        Self { small: at(tasks.len().saturating_sub(1) / 2), large: at(tasks.len() - tasks.len().div_ceil(10)) }
    }

    /// The class of a job with so many tasks.
    pub(crate) fn class_of(self, tasks: u64) -> &'static str {
        match tasks {
            tasks if tasks <= self.small => "small",
            tasks if tasks >= self.large => "large",
            _ => "medium",
        }
    }

    /// Whether a job is among the smaller half.
    pub fn is_small(self, job: &JobMetrics) -> bool {
        u64::from(job.tasks_done) <= self.small
    }

    /// Whether a job is among the largest tenth.
    pub fn is_large(self, job: &JobMetrics) -> bool {
        u64::from(job.tasks_done) >= self.large
    }
}
