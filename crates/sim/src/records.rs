//! Reading jobs in memory, row by row: what the loaders of both engines share.

use std::slice::Iter;

use resched_tables::model::{AttemptRow, JobRecord, JobRow, SplitRow, TaskRecord, TaskRow};

/// The name of jobs in memory in errors.
pub(crate) const IN_MEMORY: &str = "the workload";

/// Goes through jobs in memory, and through the tasks, splits and attempts of the current one.
pub(crate) struct Records<'a> {
    jobs: Iter<'a, JobRecord>,
    tasks: Iter<'a, TaskRecord>,
    splits: Iter<'a, SplitRow>,
    attempts: Iter<'a, AttemptRow>,
}

impl<'a> Records<'a> {
    pub(crate) fn new(jobs: &'a [JobRecord]) -> Self {
        Self { jobs: jobs.iter(), tasks: [].iter(), splits: [].iter(), attempts: [].iter() }
    }

    /// Moves to the next job.
    pub(crate) fn next_job(&mut self) -> Option<&'a JobRow> {
        let JobRecord { job, tasks, .. } = self.jobs.next()?;
        self.tasks = tasks.iter();
        Some(job)
    }

    /// Moves to the next task of the job.
    pub(crate) fn next_task(&mut self) -> Option<&'a TaskRow> {
        let TaskRecord { task, splits, attempts } = self.tasks.next()?;
        (self.splits, self.attempts) = (splits.iter(), attempts.iter());
        Some(task)
    }

    /// The next split of the task.
    pub(crate) fn next_split(&mut self) -> Option<&'a SplitRow> {
        self.splits.next()
    }

    /// The next attempt at the task.
    pub(crate) fn next_attempt(&mut self) -> Option<&'a AttemptRow> {
        self.attempts.next()
    }
}
