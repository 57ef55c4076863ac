//! The executors of applications, and what is free on them.

use std::collections::BTreeSet;

use resched_sim::batch::View;
use resched_sim::{Ms, NodeId, Resources};

/// An executor: a part of a machine that serves one application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Executor {
    pub(super) node: NodeId,
    /// The rack of its machine.
    rack: Option<u32>,
    pub(super) app: usize,
    /// What it offers.
    pub(super) capacity: Resources,
    /// What the tasks on it take, as far as the scheduler has heard.
    used: Resources,
    /// From when on it is there, ms.
    since: Ms,
    /// True if the scheduler knows of it.
    is_alive: bool,
    /// How many jobs may still read what it wrote.
    holds: u32,
    /// Since when nothing has run on it that anybody needs, ms.
    idle: Option<Ms>,
}

/// Where an application has executors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alive<'a> {
    pub(super) app: usize,
    pub(super) executors: &'a Executors,
}

impl Alive<'_> {
    /// True if it has one on a machine.
    pub(super) fn on(self, node: NodeId) -> bool {
        self.executors.alive.contains(&(self.app, node))
    }

    /// True if it has one in a rack.
    pub(super) fn in_rack(self, rack: u32) -> bool {
        self.executors.alive_racks.contains(&(self.app, rack))
    }
}

/// All executors that there ever were.
#[derive(Debug, Default)]
pub(super) struct Executors {
    all: Vec<Executor>,
    /// The machines on which each application has some that the scheduler knows of.
    alive: BTreeSet<(usize, NodeId)>,
    /// The racks of these.
    alive_racks: BTreeSet<(usize, u32)>,
    /// Of those that the scheduler knows of, the ones with anything free: application and number. A busy cluster has few.
    open: BTreeSet<(usize, usize)>,
    /// When the next one comes, ms.
    next: Option<Ms>,
    /// Those that are idle, for each application the longest first.
    idle: BTreeSet<(usize, Ms, usize)>,
    /// What each application has, those that start included.
    held: Vec<Held>,
    /// What applications have of each machine.
    given: Vec<Resources>,
}

/// The executors of an application.
#[derive(Debug, Default, Clone, Copy)]
struct Held {
    count: u64,
    /// Their cores, in thousandths.
    cores: u64,
}

impl Executors {
    /// Adds an executor that is there from some time on. Returns its number.
    pub(super) fn add(
        &mut self,
        app: usize,
        (node, rack): (NodeId, Option<u32>),
        capacity: Resources,
        since: Ms,
    ) -> usize {
        self.all.push(Executor {
            node,
            rack,
            app,
            capacity,
            used: Resources::NONE,
            since,
            is_alive: false,
            holds: 0,
            idle: None,
        });
        self.next = self.next.into_iter().chain([since]).min();
        if self.held.len() <= app {
            self.held.resize(app + 1, Held::default());
        }
        if self.given.len() <= node.index() {
            self.given.resize(node.index() + 1, Resources::NONE);
        }
        self.held[app].count += 1;
        self.held[app].cores += capacity.cpu;
        self.given[node.index()] = self.given[node.index()].plus(capacity);
        self.all.len() - 1
    }

    pub(super) fn get(&self, number: usize) -> &Executor {
        &self.all[number]
    }

    /// True if the scheduler knows of one.
    pub(super) fn is_known(&self, number: usize) -> bool {
        self.all[number].is_alive
    }

    /// When the next one comes, ms.
    pub(super) fn next(&self) -> Option<Ms> {
        self.next
    }

    /// The numbers of those of an application that the scheduler knows of and that have anything free.
    pub(super) fn open(&self, app: usize) -> impl Iterator<Item = usize> {
        self.open.range((app, 0)..=(app, usize::MAX)).map(|&(_, number)| number)
    }

    /// Takes note of whether one has anything free.
    fn note(&mut self, number: usize) {
        let executor = &self.all[number];
        let place = (executor.app, number);
        if executor.is_alive && executor.capacity.minus(executor.used) != Resources::NONE {
            self.open.insert(place);
        } else {
            self.open.remove(&place);
        }
    }

    /// Takes note anew of all, after some have come or gone.
    fn note_all(&mut self) {
        self.alive = self
            .all
            .iter()
            .filter(|executor| executor.is_alive)
            .map(|executor| (executor.app, executor.node))
            .collect();
        let alive = self.all.iter().filter(|executor| executor.is_alive);
        self.alive_racks = alive.filter_map(|executor| Some((executor.app, executor.rack?))).collect();
        (0..self.all.len()).for_each(|number| self.note(number));
    }

    /// What is free on one.
    pub(super) fn free(&self, number: usize) -> Resources {
        let executor = &self.all[number];
        executor.capacity.minus(executor.used)
    }

    /// What some tasks take is in use.
    pub(super) fn take(&mut self, number: usize, cost: Resources) {
        self.all[number].used = self.all[number].used.plus(cost);
        self.note(number);
    }

    /// What some tasks took is free again.
    pub(super) fn give_back(&mut self, number: usize, cost: Resources) {
        self.all[number].used = self.all[number].used.minus(cost);
        self.note(number);
    }

    /// Ends all executors of an application.
    pub(super) fn end(&mut self, app: usize) {
        for number in 0..self.all.len() {
            if self.all[number].app == app {
                self.end_one(number);
            }
        }
        self.note_all();
    }

    /// Ends an executor.
    pub(super) fn let_go(&mut self, number: usize) {
        self.end_one(number);
        self.note_all();
    }

    /// Ends an executor, whose place may be given out anew.
    fn end_one(&mut self, number: usize) {
        self.set_idle(number, None);
        let executor = &mut self.all[number];
        if executor.since == Ms::MAX {
            return;
        }
        (executor.is_alive, executor.since) = (false, Ms::MAX);
        let (held, given) = (&mut self.held[executor.app], &mut self.given[executor.node.index()]);
        held.count -= 1;
        held.cores -= executor.capacity.cpu;
        *given = given.minus(executor.capacity);
    }

    /// How many executors an application has, those that start included.
    pub(super) fn count(&self, app: usize) -> u64 {
        self.held.get(app).map_or(0, |held| held.count)
    }

    /// One more job may read what it wrote.
    pub(super) fn hold(&mut self, number: usize) {
        self.all[number].holds += 1;
    }

    /// A job has ended that could read what it wrote.
    pub(super) fn release(&mut self, number: usize, now: Ms) {
        self.all[number].holds -= 1;
        self.look_idle(number, now);
    }

    /// Takes note of whether one is idle from now on.
    pub(super) fn look_idle(&mut self, number: usize, now: Ms) {
        let executor = &self.all[number];
        let is_idle = executor.is_alive && executor.holds == 0 && executor.used == Resources::NONE;
        self.set_idle(number, is_idle.then(|| executor.idle.unwrap_or(now)));
    }

    fn set_idle(&mut self, number: usize, since: Option<Ms>) {
        let executor = &mut self.all[number];
        if let Some(before) = std::mem::replace(&mut executor.idle, since) {
            self.idle.remove(&(executor.app, before, number));
        }
        self.idle.extend(since.map(|since| (executor.app, since, number)));
    }

    /// The executor of an application that has been idle longest, and since when.
    pub(super) fn longest_idle(&self, app: usize) -> Option<(usize, Ms)> {
        self.idle
            .range((app, Ms::MIN, 0)..)
            .next()
            .filter(|idle| idle.0 == app)
            .map(|&(_, since, number)| (number, since))
    }

    /// What the executors of applications have of a machine, if the master gave them out.
    pub(super) fn on(&self, node: NodeId) -> Resources {
        self.given.get(node.index()).copied().unwrap_or(Resources::NONE)
    }

    /// The cores of an application, in thousandths, if the master gave them out.
    pub(super) fn cores(&self, app: usize) -> u64 {
        self.held.get(app).map_or(0, |held| held.cores)
    }

    /// Looks which have come until an instant, and which have gone. `whole`: each is all of its machine. Returns those that came, and the applications that
    /// lost some.
    pub(super) fn look(&mut self, at: Ms, view: View<'_>, whole: bool) -> (Vec<usize>, Vec<usize>) {
        let (mut came, mut lost, mut resized) = (Vec::new(), Vec::new(), false);
        for (number, executor) in self.all.iter_mut().enumerate() {
            let (offers, _) = view.offers(executor.node);
            if whole {
                resized |= executor.capacity != offers;
                executor.capacity = offers;
            }
            let is_there = executor.since <= at && offers != Resources::NONE;
            match (executor.is_alive, is_there) {
                (false, true) => came.push(number),
                (true, false) => lost.push(executor.app),
                _ => {}
            }
            executor.is_alive = is_there;
        }
        lost.dedup();
        self.next = self.all.iter().map(|executor| executor.since).filter(|&since| since > at && since < Ms::MAX).min();
        if resized || !came.is_empty() || !lost.is_empty() {
            self.note_all();
        }
        (came, lost)
    }

    /// In the standalone mode, an executor ends with its worker: its place is given out anew. Returns whether one ended.
    pub(super) fn end_lost(&mut self, view: View<'_>) -> bool {
        let is_lost = |executor: &Executor| executor.since < Ms::MAX && view.offers(executor.node).0 == Resources::NONE;
        let lost: Vec<usize> = (0..self.all.len()).filter(|&number| is_lost(&self.all[number])).collect();
        lost.iter().for_each(|&number| self.end_one(number));
        let any = !lost.is_empty();
        if any {
            self.note_all();
        }
        any
    }
}
