//! A policy for tasks that request processor and memory, as in the list of jobs of a batch system.

use std::collections::BTreeSet;

use resched_kit::batch::{Offer, Policy, View};
use resched_kit::prelude::*;

/// The task with the shortest estimate starts first. Tasks of jobs that are old come before, in the order of their submission. The first
/// task without room blocks all behind it.
pub(crate) struct MyPolicy {
    /// How long after its submission a job is old, ms.
    patience: Ms,
    /// The tasks that wait.
    waiting: BTreeSet<TaskId>,
}

impl MyPolicy {
    /// The policy, with its patience in seconds.
    pub(crate) fn new(patience_s: u32) -> Self {
        Self { patience: Ms::from(patience_s) * 1000, waiting: BTreeSet::new() }
    }

    /// The place of a task in the line: the lowest goes first. It ends with the task, so that no two places are equal.
    fn place(&self, view: View<'_>, task: TaskId) -> (u8, i64, TaskId) {
        let submit = view.job(view.task(task).job).submit;
        match view.now() - submit >= self.patience {
            true => (0, submit, task),
            false => (1, view.estimate(task), task),
        }
    }
}

impl Policy for MyPolicy {
    /// Takes note of a task that waits, for the first time or again.
    fn task_waits(&mut self, task: TaskId, _view: View<'_>) {
        self.waiting.insert(task);
    }

    /// Starts the tasks that should run. The engine calls this when something has changed and tasks wait.
    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let mut order: Vec<TaskId> = self.waiting.iter().copied().collect();
        order.sort_by_cached_key(|&task| self.place(offer.view(), task));
        for task in order {
            offer.start(task, u32::MAX)?;
            if offer.view().waiting(task) > 0 {
                break;
            }
            self.waiting.remove(&task);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When the long and the short job start that wait behind the first, in seconds, with every rule of the engine checked.
    fn starts(patience_s: u32) -> Result<[Option<Ms>; 2], Error> {
        // On a machine with four cores: submission, cores, run time and estimate, in seconds.
        let jobs = Requests::on(1, 4).job(0, 4, 60, 60).job(1, 4, 600, 600).job(2, 4, 10, 10);
        let world = World::open(&jobs.source(), Setup { check: true, ..Setup::default() })?;
        let times = world.replay(Scheduler::Batch("my-policy", &mut MyPolicy::new(patience_s)), Times)?;
        Ok([1, 2].map(|job: usize| times.jobs[job].start.map(|ms| ms / 1000)))
    }

    #[test]
    fn the_short_job_goes_first() -> Result<(), Error> {
        assert_eq!(starts(3600)?, [Some(70), Some(60)]);
        Ok(())
    }

    #[test]
    fn an_old_job_goes_first() -> Result<(), Error> {
        assert_eq!(starts(0)?, [Some(60), Some(660)]);
        Ok(())
    }
}
