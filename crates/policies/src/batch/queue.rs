//! The waiting tasks in the order in which they are served.

use std::collections::BTreeSet;
use std::ops::Bound;

use resched_sim::TaskId;
use resched_sim::batch::View;

/// Tasks that wait: by priority, if that counts, then by submission of their jobs, then as they stand in these. A task that is
/// tried again has its old place.
#[derive(Debug, Default)]
pub(super) struct Queue {
    by_priority: bool,
    tasks: BTreeSet<Place>,
}

/// The place of a task in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The priority with its order turned round: the higher comes first.
    urgency: i64,
    pub(super) task: TaskId,
}

impl Queue {
    pub(super) fn new(by_priority: bool) -> Self {
        Self { by_priority, tasks: BTreeSet::new() }
    }

    pub(super) fn place(&self, task: TaskId, view: View<'_>) -> Place {
        let urgency = if self.by_priority { !view.job(view.task(task).job).priority } else { 0 };
        Place { urgency, task }
    }

    /// Takes a task in, if it is not there.
    pub(super) fn add(&mut self, task: TaskId, view: View<'_>) {
        self.tasks.insert(self.place(task, view));
    }

    pub(super) fn remove(&mut self, place: Place) {
        self.tasks.remove(&place);
    }

    pub(super) fn first(&self) -> Option<Place> {
        self.tasks.first().copied()
    }

    /// The places after one, in order.
    pub(super) fn rest(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        self.tasks.range((Bound::Excluded(place), Bound::Unbounded)).copied()
    }

    /// The next place after one.
    pub(super) fn after(&self, place: Place) -> Option<Place> {
        self.rest(place).next()
    }
}
