//! The queues and their jobs: which queue a job goes to, when it may run, and what each holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use resched_sim::hadoop::{Ask, FURTHER, Resources, View};
use resched_sim::{JobId, Ms};
use resched_tables::model::Reason;

use super::locality::Opportunities;
use super::order::Rank;
use super::preemption::{Chosen, Needs, Starvation, Warned};
use super::{DEFAULT_QUEUE, ROOT, YarnFair};
use crate::queues::tree::names_on;

/// What a queue is guaranteed and may have at most beside memory and virtual cores.
#[derive(Debug, Clone, Copy)]
pub(super) struct Further {
    pub(super) min: [u64; FURTHER],
    pub(super) most: [u64; FURTHER],
}

impl Default for Further {
    fn default() -> Self {
        Self { min: [0; FURTHER], most: [u64::MAX; FURTHER] }
    }
}

/// A queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The queues below it, in the order in which they were served last.
    pub(super) children: Vec<usize>,
    /// Of those, the ones that may have jobs or demand. There may be many others, for users who come only once.
    pub(super) busy: BTreeSet<usize>,
    /// Of those, the ones in which jobs may run, by rank, if it serves by rank ([`YarnFair::serves_by_rank`]).
    pub(super) line: BTreeSet<(Rank, usize)>,
    /// Its rank in the line of its parent; `None` if it is not in it.
    pub(super) rank: Option<Rank>,
    /// Its path, which breaks ties.
    pub(super) path: Arc<str>,
    /// Its jobs that may run, in the order in which they were served last.
    pub(super) jobs: Vec<JobId>,
    /// How many jobs may run in it and below it.
    pub(super) running_apps: u32,
    /// What containers of it and below it hold.
    pub(super) used: Resources,
    /// What its application masters hold.
    pub(super) masters: Resources,
    /// What it and those below it could use.
    pub(super) demand: Resources,
    /// Its share of memory; of virtual cores, too, where DRF divides what is above it, and else none.
    pub(super) fair_share: Resources,
    pub(super) further: Further,
    pub(super) starvation: Starvation,
}

/// A job.
#[derive(Debug, Clone, Default)]
pub(super) struct App {
    pub(super) queue: usize,
    /// What it could use at the last update.
    pub(super) demand: Resources,
    /// Its part of the fair share of its queue, at the last update; of virtual cores, too, under DRF.
    pub(super) fair_share: Resources,
    /// By [`Ask`].
    pub(super) opportunities: [Opportunities; 4],
    /// What its application master holds.
    pub(super) master: Resources,
    /// Its containers that were warned and still run.
    pub(super) warned: Vec<Warned>,
    /// What they hold; nothing but in a round of preemption.
    pub(super) preempted: Resources,
    /// What it lacks so long that others lose containers for it.
    pub(super) needs: Needs,
    /// What of it is to be killed for others.
    pub(super) chosen: Chosen,
    /// When its master was killed last, ms.
    pub(super) restarted: Option<Ms>,
}

/// How many jobs of a user run at once.
#[derive(Debug, Default)]
pub(super) struct Users {
    /// Of users that are not named.
    others: Option<u32>,
    most: BTreeMap<String, u32>,
    /// How many may run now, of users that have a limit.
    running: BTreeMap<String, u32>,
}

impl Users {
    pub(super) fn new(others: Option<u32>, most: &BTreeMap<String, u32>) -> Self {
        Self { others, most: most.clone(), running: BTreeMap::new() }
    }

    fn most(&self, user: &str) -> Option<u32> {
        self.most.get(user).copied().or(self.others)
    }

    fn lets_run(&self, user: &str) -> bool {
        self.most(user).is_none_or(|most| self.running.get(user).copied().unwrap_or(0) < most)
    }

    fn runs(&mut self, user: &str) {
        if self.most(user).is_some() {
            *self.running.entry(user.to_owned()).or_default() += 1;
        }
    }

    fn ends(&mut self, user: &str) {
        if let Some(running) = self.running.get_mut(user) {
            *running = running.saturating_sub(1);
        }
    }
}

impl YarnFair {
    /// Makes amounts of limits that are shares of the cluster, once it is known.
    pub(super) fn settle(&mut self, view: View<'_>) {
        if std::mem::take(&mut self.is_unsettled) {
            let total = view.yarn().total();
            for place in 0..self.tree.queues().len() {
                let settings = &mut self.tree.get_mut(place).settings;
                *settings = settings.clone().in_cluster(total.memory, total.cpu);
                let named = |all: &BTreeMap<String, u32>, otherwise: u64| {
                    let mut found = [otherwise; FURTHER];
                    for (value, name) in found.iter_mut().zip(view.yarn().further()) {
                        *value = all.get(name).map_or(otherwise, |&amount| amount.into());
                    }
                    found
                };
                let (min, most) = (named(&settings.min_resources, 0), named(&settings.max_resources, u64::MAX));
                self.queues[place].further = Further { min, most };
            }
        }
    }

    /// The queue of a job; a name without a queue makes one.
    pub(super) fn place(&mut self, job: JobId, view: View<'_>) -> usize {
        let (named, user) = (view.job(job).queue(), view.job(job).user());
        if self.by_user || named.is_empty() || named == DEFAULT_QUEUE {
            self.leaf([user].into_iter(), view.now())
        } else {
            self.leaf(names_on(named), view.now())
        }
    }

    /// The queue at the end of these names, with all above it made if need be. A queue that may hold jobs gets no queues below
    /// it: it stands for them.
    pub(super) fn leaf<'n>(&mut self, names: impl Iterator<Item = &'n str>, now: Ms) -> usize {
        let (mut place, known) = (ROOT, self.queues.len());
        for name in names {
            if let Some(child) = self.tree.child(place, name) {
                place = child;
            } else if place == ROOT || place >= known || !self.tree.is_leaf(place) {
                place = self.add(place, name, now);
            } else {
                break;
            }
        }
        match self.tree.child(place, DEFAULT_QUEUE) {
            _ if place != ROOT && self.tree.is_leaf(place) => place,
            Some(child) if self.tree.is_leaf(child) => child,
            _ => self.add(place, DEFAULT_QUEUE, now),
        }
    }

    fn add(&mut self, parent: usize, name: &str, now: Ms) -> usize {
        let settings = self.tree.get(parent).settings.child();
        let place = self.tree.add(parent, name, settings);
        self.queues[parent].children.push(place);
        let path = Arc::from(self.tree.get(place).path.as_str());
        self.queues.push(Queue { path, starvation: Starvation::since(now), ..Queue::default() });
        place
    }

    /// True if its queue, all above it, and the limit of its user let a job run.
    fn lets_run(&self, job: JobId, view: View<'_>) -> bool {
        let has_room = |place: usize| {
            let most = self.tree.get(place).settings.max_apps.or(self.queue_max_apps);
            most.is_none_or(|most| self.queues[place].running_apps < most)
        };
        self.users.lets_run(view.job(job).user()) && self.tree.with_ancestors(self.apps[job].queue).all(has_room)
    }

    fn let_run(&mut self, job: JobId, view: View<'_>) {
        let queue = self.apps[job].queue;
        self.users.runs(view.job(job).user());
        self.queues[queue].jobs.push(job);
        for place in self.tree.with_ancestors(queue) {
            self.queues[place].running_apps += 1;
            self.moved.push(place);
        }
    }

    /// A job comes to a queue: it may run, or waits until the queue lets it.
    pub(super) fn enter(&mut self, job: JobId, queue: usize, view: View<'_>) {
        self.apps[job].queue = queue;
        for place in self.tree.with_ancestors(queue) {
            if let Some(parent) = self.tree.get(place).parent {
                self.queues[parent].busy.insert(place);
            }
        }
        if self.lets_run(job, view) {
            self.let_run(job, view);
        } else {
            self.held_back.push(job);
            view.pass_over_request(job, Ask::Am, Reason::JobLimit);
        }
    }

    /// A job leaves its queue, and others may run that it held back.
    pub(super) fn leave(&mut self, job: JobId, view: View<'_>) {
        let queue = self.apps[job].queue;
        let running = self.queues[queue].jobs.len();
        self.queues[queue].jobs.retain(|&other| other != job);
        if self.queues[queue].jobs.len() < running {
            self.users.ends(view.job(job).user());
            for place in self.tree.with_ancestors(queue) {
                self.queues[place].running_apps -= 1;
                self.moved.push(place);
            }
        }
        for job in std::mem::take(&mut self.held_back).into_iter().filter(|&other| other != job) {
            if self.lets_run(job, view) {
                self.let_run(job, view);
                view.pass_over_request(job, Ask::Am, Reason::Master);
            } else {
                self.held_back.push(job);
            }
        }
    }

    /// The master of a job was killed: an attempt leaves its queue, and another one comes.
    pub(super) fn restart(&mut self, job: JobId, view: View<'_>) {
        self.leave(job, view);
        self.forget_claims(job);
        let App { queue, mut chosen, .. } = std::mem::take(&mut self.apps[job]);
        chosen.restart();
        self.apps[job] = App { queue, chosen, restarted: Some(view.now()), ..App::default() };
        self.enter(job, queue, view);
    }

    /// Changes what a queue and all above it use.
    pub(super) fn change_used(&mut self, queue: usize, change: impl Fn(Resources) -> Resources) {
        for place in self.tree.with_ancestors(queue) {
            let used = &mut self.queues[place].used;
            *used = change(*used);
            self.moved.push(place);
        }
    }
}
