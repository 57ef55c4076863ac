//! The running tasks with their estimated ends.

use std::collections::BTreeSet;

use resched_sim::batch::{Amounts, AttemptId, Ended, View};
use resched_sim::{Ms, TaskId};

use crate::parts::by_id::ByRun;

/// The running tasks by their latest estimated end. A task that runs longer than estimated counts as ending in the next
/// millisecond.
#[derive(Debug, Default)]
pub(super) struct Running {
    by_end: BTreeSet<(Ms, AttemptId)>,
    said: ByRun<Option<Said>>,
}

#[derive(Debug, Clone, Copy)]
struct Said {
    end: Ms,
    task: TaskId,
}

impl Running {
    /// Takes a start in.
    pub(super) fn add(&mut self, run: AttemptId, task: TaskId, end: Ms) {
        self.said[run] = Some(Said { end, task });
        self.by_end.insert((end, run));
    }

    /// Forgets a run. Returns when it was said to end, if it is known.
    pub(super) fn remove(&mut self, ended: &Ended) -> Option<Ms> {
        let said = self.said.take(ended.run)?;
        self.by_end.remove(&(said.end, ended.run));
        Some(said.end)
    }

    /// When each is taken to end, and what it gives back then, by that time.
    pub(super) fn ends<'a>(&'a self, view: View<'a>) -> impl Iterator<Item = (Ms, Amounts)> + Clone + 'a {
        let next = view.now().saturating_add(1);
        let given_back = move |run: AttemptId| Some(view.unit(self.said[run]?.task));
        self.by_end.iter().filter_map(move |&(end, run)| Some((end.max(next), given_back(run)?)))
    }

    /// True if anything runs longer than it was said to.
    pub(super) fn is_overdue(&self, now: Ms) -> bool {
        self.by_end.first().is_some_and(|&(end, _)| end <= now)
    }
}
