//! The waiting tasks in the order in which they are served.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;

use resched_sim::TaskId;
use resched_sim::batch::View;

/// Tasks that wait: by priority, if that counts, then by submission of their jobs, then as they stand in these. A task that is
/// tried again has its old place.
#[derive(Debug, Default)]
pub(super) struct Queue {
    by_priority: bool,
    /// Those that came after all before them, in order: mostly all.
    line: VecDeque<Place>,
    /// The others.
    early: BTreeSet<Place>,
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
        Self { by_priority, line: VecDeque::new(), early: BTreeSet::new() }
    }

    pub(super) fn place(&self, task: TaskId, view: View<'_>) -> Place {
        let urgency = if self.by_priority { !view.job(view.task(task).job).priority } else { 0 };
        Place { urgency, task }
    }

    /// Takes a task in, if it is not there.
    pub(super) fn add(&mut self, task: TaskId, view: View<'_>) {
        self.insert(self.place(task, view));
    }

    fn insert(&mut self, place: Place) {
        if self.early.contains(&place) {
            return;
        }
        if self.line.back().is_none_or(|&last| last < place) {
            self.line.push_back(place);
        } else if self.line.binary_search(&place).is_err() {
            self.early.insert(place);
        }
    }

    pub(super) fn remove(&mut self, place: Place) {
        if self.line.front() == Some(&place) {
            self.line.pop_front();
        } else if let Ok(at) = self.line.binary_search(&place) {
            // Whoever takes one from the middle has passed all before it, which takes longer than to move them.
            self.line.remove(at);
        } else {
            self.early.remove(&place);
        }
    }

    pub(super) fn first(&self) -> Option<Place> {
        earlier(self.line.front().copied(), self.early.first().copied())
    }

    /// The places after one, in order.
    pub(super) fn rest(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        let after = self.line.partition_point(|&other| other <= place);
        let mut line = self.line.range(after..).copied().peekable();
        let mut early = self.early.range((Bound::Excluded(place), Bound::Unbounded)).copied().peekable();
        std::iter::from_fn(move || {
            let next = earlier(line.peek().copied(), early.peek().copied())?;
            if line.peek() == Some(&next) { line.next() } else { early.next() }
        })
    }

    /// The next place after one.
    pub(super) fn after(&self, place: Place) -> Option<Place> {
        self.rest(place).next()
    }
}

/// The earlier of two places that there may be.
fn earlier(one: Option<Place>, other: Option<Place>) -> Option<Place> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use resched_sim::batch::{JobSpec, Machines, Offer, Policy, StageSpec, TaskSpec, Try, Workload, replay};
    use resched_sim::cluster_file::Placement;
    use resched_sim::{Resources, Violation};
    use resched_tables::model::Outcome;

    use super::*;
    use crate::testing::cases::cases;

    const ONE: Resources = Resources { cpu: 1, memory: 0 };

    /// Notes which tasks wait, and starts them.
    #[derive(Default)]
    struct Noted(Vec<TaskId>);

    impl Policy for Noted {
        fn task_waits(&mut self, task: TaskId, _: View<'_>) {
            self.0.push(task);
        }

        fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
            self.0.iter().try_for_each(|&task| offer.start(task, 1).map(|_| ()))
        }
    }

    /// The ids of twelve tasks.
    fn tasks() -> Vec<TaskId> {
        let tries = vec![Try { outcome: Outcome::Success, run: 1 }];
        let task = TaskSpec { name: String::new(), demand: ONE, instances: 1, tries, ..TaskSpec::default() };
        let stages = vec![StageSpec { tasks: vec![task; 12], ..StageSpec::default() }];
        let made = Workload::new(vec![JobSpec { stages, ..JobSpec::default() }], 0);
        let mut noted = Noted::default();
        let machines = Machines::alike(12, ONE, Placement::FirstFit);
        let ended =
            made.and_then(|(workload, _)| replay(&workload, &machines, ("noted", &mut noted), &mut (), &mut |_| {}));
        assert!(ended.is_ok(), "{ended:?}");
        noted.0
    }

    proptest! {
        #![proptest_config(cases(256))]

        /// A queue has what a plain set of places has, whatever comes and goes.
        #[test]
        fn a_queue_is_a_sorted_set(changes in proptest::collection::vec((0_usize..12, 0_i64..2, 0..3), 0..80)) {
            let tasks = tasks();
            let (mut queue, mut plain) = (Queue::new(true), BTreeSet::new());
            for (task, urgency, change) in changes {
                let place = Place { urgency, task: tasks[task] };
                if change > 0 {
                    queue.insert(place);
                    plain.insert(place);
                } else {
                    queue.remove(place);
                    plain.remove(&place);
                }
                prop_assert_eq!(queue.first(), plain.first().copied());
                let rest: Vec<Place> = plain.range((Bound::Excluded(place), Bound::Unbounded)).copied().collect();
                prop_assert_eq!(queue.rest(place).collect::<Vec<_>>(), rest);
            }
        }
    }
}
