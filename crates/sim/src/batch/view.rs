//! The world as a policy sees it.

use super::workload::{Job, Task};
use super::world::World;
use crate::ids::{JobId, Ms, TaskId};
use crate::resources::Resources;

/// The world as it is now, without run times, outcomes and what is to come: a policy knows the jobs and tasks that it was told.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(super) world: &'a World<'a>,
}

impl<'a> View<'a> {
    /// The simulated clock, ms.
    #[inline]
    pub fn now(self) -> Ms {
        self.world.now
    }

    /// What a job was submitted with.
    #[inline]
    pub fn job(self, job: JobId) -> &'a Job {
        self.world.workload.job(job)
    }

    /// What a task asks for.
    #[inline]
    pub fn task(self, task: TaskId) -> &'a Task {
        self.world.workload.task(task)
    }

    /// How many units of a task wait: instances, or 1 for a gang.
    #[inline]
    pub fn waiting(self, task: TaskId) -> u32 {
        self.world.tasks[task.index()].waiting
    }

    /// How many units of a task run.
    #[inline]
    pub fn running(self, task: TaskId) -> u32 {
        self.world.tasks[task.index()].running
    }

    /// What all machines offer now.
    #[inline]
    pub fn total(self) -> Resources {
        self.world.total
    }

    /// What all machines together have free.
    #[inline]
    pub fn free(self) -> Resources {
        self.world.free
    }

    /// How long the next start of a task is said to run at most, ms: what its user requested for the job; where the trace
    /// says nothing of that, the logged run time (an exact estimate).
    pub fn estimate(self, task: TaskId) -> Ms {
        let requested = self.job(self.task(task).job).requested_time;
        requested.unwrap_or_else(|| self.world.next_run(task))
    }
}
