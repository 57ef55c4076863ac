//! The executors of applications, and what is free on them.

use std::collections::BTreeSet;

use resched_sim::batch::View;
use resched_sim::{Ms, NodeId, Resources};

/// An executor: a part of a machine that serves one application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Executor {
    pub(super) node: NodeId,
    pub(super) app: usize,
    /// What it offers.
    pub(super) capacity: Resources,
    /// What the tasks on it take, as far as the scheduler has heard.
    used: Resources,
    /// From when on it is there, ms.
    since: Ms,
    /// Whether the scheduler knows of it.
    is_alive: bool,
}

/// All executors that there ever were.
#[derive(Debug, Default)]
pub(super) struct Executors {
    all: Vec<Executor>,
    /// The machines on which each application has some that the scheduler knows of.
    alive: BTreeSet<(usize, NodeId)>,
}

impl Executors {
    /// Adds an executor that is there from some time on. Returns its number.
    pub(super) fn add(&mut self, app: usize, node: NodeId, capacity: Resources, since: Ms) -> usize {
        self.all.push(Executor { node, app, capacity, used: Resources::NONE, since, is_alive: false });
        self.all.len() - 1
    }

    pub(super) fn get(&self, number: usize) -> &Executor {
        &self.all[number]
    }

    /// Whether the scheduler knows of one.
    pub(super) fn is_known(&self, number: usize) -> bool {
        self.all[number].is_alive
    }

    /// The numbers of those of an application that the scheduler knows of.
    pub(super) fn of(&self, app: usize) -> impl Iterator<Item = usize> {
        (0..).zip(&self.all).filter(move |(_, own)| own.app == app && own.is_alive).map(|(number, _)| number)
    }

    /// Whether an application has one on a machine.
    pub(super) fn is_alive(&self, app: usize, node: NodeId) -> bool {
        self.alive.contains(&(app, node))
    }

    /// What is free on one.
    pub(super) fn free(&self, number: usize) -> Resources {
        let own = &self.all[number];
        own.capacity.minus(own.used)
    }

    /// What some tasks take is in use.
    pub(super) fn take(&mut self, number: usize, cost: Resources) {
        self.all[number].used = self.all[number].used.plus(cost);
    }

    /// What some tasks took is free again.
    pub(super) fn give_back(&mut self, number: usize, cost: Resources) {
        self.all[number].used = self.all[number].used.minus(cost);
    }

    /// Ends all executors of an application.
    pub(super) fn end(&mut self, app: usize) {
        for own in self.all.iter_mut().filter(|own| own.app == app) {
            (own.is_alive, own.since) = (false, Ms::MAX);
        }
        self.alive.retain(|&(of, _)| of != app);
    }

    /// What the executors of applications have of a machine.
    pub(super) fn on(&self, node: NodeId) -> Resources {
        let there = self.all.iter().filter(|own| own.node == node && own.since < Ms::MAX);
        there.fold(Resources::NONE, |sum, own| sum.plus(own.capacity))
    }

    /// The cores of an application, in thousandths.
    pub(super) fn cores(&self, app: usize) -> u64 {
        self.all.iter().filter(|own| own.app == app && own.since < Ms::MAX).map(|own| own.capacity.cpu).sum()
    }

    /// Looks which have come and gone. `whole`: each is all of its machine. Returns those that came, and the applications that
    /// lost some.
    pub(super) fn look(&mut self, view: View<'_>, whole: bool) -> (Vec<usize>, Vec<usize>) {
        let (mut came, mut lost) = (Vec::new(), Vec::new());
        for (number, own) in self.all.iter_mut().enumerate() {
            let (offers, _) = view.offers(own.node);
            if whole {
                own.capacity = offers;
            }
            let is_there = own.since <= view.now() && offers != Resources::NONE;
            match (own.is_alive, is_there) {
                (false, true) => came.push(number),
                (true, false) => lost.push(own.app),
                _ => {}
            }
            own.is_alive = is_there;
        }
        lost.dedup();
        self.alive = self.all.iter().filter(|own| own.is_alive).map(|own| (own.app, own.node)).collect();
        (came, lost)
    }

    /// In the standalone mode, an executor ends with its worker: its place is given out anew. Returns whether one ended.
    pub(super) fn end_lost(&mut self, view: View<'_>) -> bool {
        let mut any = false;
        for own in self.all.iter_mut().filter(|own| own.since < Ms::MAX) {
            if view.offers(own.node).0 == Resources::NONE {
                (own.is_alive, own.since, any) = (false, Ms::MAX, true);
            }
        }
        any
    }
}
