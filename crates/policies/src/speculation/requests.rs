//! Requested backups that have not started.

use std::collections::VecDeque;

use resched_sim::hadoop::{Kind, Offer, View};
use resched_sim::{JobId, TaskId};

/// The tasks that should get another attempt, in the order in which they were asked for.
#[derive(Debug, Default)]
pub(super) struct Requests {
    tasks: [VecDeque<TaskId>; 2],
}

impl Requests {
    pub(super) fn push(&mut self, task: TaskId, kind: Kind) {
        self.tasks[kind.index()].push_back(task);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.iter().all(VecDeque::is_empty)
    }

    /// True if one was asked for that belongs to a job.
    pub(super) fn hold(&self, view: View<'_>, job: JobId, kind: Kind) -> bool {
        self.tasks[kind.index()].iter().any(|&task| view.job_of(task) == job)
    }

    /// An attempt at a task has ended: the task is done, or waits, or its other attempts must be judged anew.
    pub(super) fn remove(&mut self, task: TaskId, kind: Kind) {
        self.tasks[kind.index()].retain(|&other| other != task);
    }

    /// A job has ended.
    pub(super) fn remove_job(&mut self, view: View<'_>, job: JobId) {
        self.tasks.iter_mut().for_each(|tasks| tasks.retain(|&task| view.job_of(task) != job));
    }

    pub(super) fn clear(&mut self) {
        self.tasks.iter_mut().for_each(VecDeque::clear);
    }

    /// Takes out the first one that runs, and elsewhere than on the node that calls. Under YARN the last attempt may have ended
    /// before the job's master learns of it.
    pub(super) fn pick(&mut self, offer: &Offer<'_, '_>, kind: Kind) -> Option<TaskId> {
        let (view, node) = (offer.view(), offer.node());
        let tasks = &mut self.tasks[kind.index()];
        let elsewhere =
            |&task: &TaskId| view.live_attempts(task) > 0 && view.runs_on(node, kind).all(|run| run.task != task);
        tasks.iter().position(elsewhere).and_then(|place| tasks.remove(place))
    }
}
