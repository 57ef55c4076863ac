//! How many applications of a queue, and of a user, may run at the same time; the others wait without asking for anything.
//!
//! **Source.** `CSMaxRunningAppsEnforcer` of Hadoop 3.4.1.

use std::collections::BTreeMap;

use resched_sim::JobId;
use resched_sim::hadoop::{Ask, View};
use resched_tables::model::Reason;

use super::YarnCapacity;
use super::state::Job;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::YarnQueue;

/// The limits, and what runs of each user in all queues.
#[derive(Debug, Default)]
pub(super) struct Parallel {
    /// True if there is any limit.
    acts: bool,
    of_user: Option<u32>,
    of: BTreeMap<String, u32>,
    runnable: BTreeMap<String, u32>,
}

impl Parallel {
    pub(super) fn of(tree: &QueueTree<YarnQueue>) -> Self {
        let root = &tree.get(QueueTree::<YarnQueue>::ROOT).settings;
        let of_queues = tree.queues().iter().any(|queue| queue.settings.maximum_parallel_applications.is_some());
        let (of_user, of) = (root.parallel_applications_of_user, root.parallel_applications_of.clone());
        Self { acts: of_queues || of_user.is_some() || !of.is_empty(), of_user, of, runnable: BTreeMap::new() }
    }

    fn limit(&self, user: &str) -> u32 {
        self.of.get(user).copied().or(self.of_user).unwrap_or(u32::MAX)
    }

    fn runs(&self, user: &str) -> u32 {
        self.runnable.get(user).copied().unwrap_or(0)
    }

    fn is_full(&self, user: &str) -> bool {
        self.runs(user) >= self.limit(user)
    }
}

impl YarnCapacity {
    fn most_parallel(&self, place: usize) -> u32 {
        self.tree.get(place).settings.maximum_parallel_applications.unwrap_or(u32::MAX)
    }

    fn may_run(&self, job: JobId, view: View<'_>) -> bool {
        let mut above = self.tree.with_ancestors(self.jobs[job].queue);
        let has_room = |place: usize| self.queues[place].runnable < self.most_parallel(place);
        !self.parallel.is_full(view.job(job).user()) && above.all(has_room)
    }

    /// Holds an application that may not run yet. Returns whether it does.
    pub(super) fn hold(&mut self, job: JobId, view: View<'_>) -> bool {
        if !self.parallel.acts {
            return false;
        }
        let may_run = self.may_run(job, view);
        if may_run {
            self.track(job, view);
        } else {
            let leaf = self.jobs[job].queue;
            self.queues[leaf].held.push(job);
            self.jobs[job].is_held = true;
            view.pass_over_request(job, Ask::Am, Reason::JobLimit);
        }
        !may_run
    }

    /// An application may run from now on.
    fn track(&mut self, job: JobId, view: View<'_>) {
        for place in self.tree.with_ancestors(self.jobs[job].queue) {
            self.queues[place].runnable += 1;
        }
        *self.parallel.runnable.entry(view.job(job).user().to_owned()).or_default() += 1;
    }

    /// An application that was held has ended.
    pub(super) fn drop_held(&mut self, job: JobId) {
        self.jobs[job].is_held = false;
        let Job { queue, .. } = self.jobs[job];
        self.queues[queue].held.retain(|&other| other != job);
    }

    /// An application that ran has ended: lets those run, by submission, that it has kept from that
    /// (`updateRunnabilityOnAppRemoval`).
    pub(super) fn release_held(&mut self, job: JobId, view: View<'_>) {
        if !self.parallel.acts {
            return;
        }
        let leaf = self.jobs[job].queue;
        let mut highest = None;
        for place in self.tree.with_ancestors(leaf) {
            if self.queues[place].runnable == self.most_parallel(place) {
                highest = Some(place);
            }
            self.queues[place].runnable -= 1;
        }
        let user = view.job(job).user();
        let was_full = self.parallel.is_full(user);
        if let Some(runs) = self.parallel.runnable.get_mut(user) {
            *runs -= 1;
        }
        let (mut held, mut lists) = (Vec::new(), 0);
        if let Some(place) = highest {
            self.gather_held(place, &mut held, &mut lists);
        }
        if was_full {
            let of_user = self.queues.iter().flat_map(|queue| &queue.held).copied();
            let of_user: Vec<JobId> = of_user.filter(|&other| view.job(other).user() == user).collect();
            lists += usize::from(!of_user.is_empty());
            held.extend(of_user);
        }
        held.sort_unstable();
        held.dedup();
        let mut released = 0;
        for job in held {
            if released < lists && self.may_run(job, view) {
                released += 1;
                self.drop_held(job);
                self.track(job, view);
                self.admit(job, view);
            }
        }
    }

    /// The applications that are held in a queue and those below it, as far as these have room, and in how many leaves that was asked.
    fn gather_held(&self, place: usize, held: &mut Vec<JobId>, lists: &mut usize) {
        let queue = &self.queues[place];
        if queue.runnable >= self.most_parallel(place) {
            return;
        }
        if self.tree.is_leaf(place) {
            held.extend_from_slice(&queue.held);
            *lists += 1;
        }
        self.tree.get(place).children.iter().for_each(|&child| self.gather_held(child, held, lists));
    }
}
