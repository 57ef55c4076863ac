//! The pending queues: order, equivalence, parking.
//!
//! Workloads of one queue with equal priority, pods and requests have one *shape*. They wait in the order of creation, and are parked and
//! woken together, so that a queue with many of few shapes costs no more than its shapes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::machine::Store;
use super::model::ResourceId;
use super::workload::{PendingReason, Place, State};

/// Requests of a pod set that one resource group serves.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) queue: u32,
    pub(crate) group: u16,
    /// What the whole set takes.
    pub(crate) requests: Vec<(ResourceId, i64)>,
    /// For each flavour of the group, whether the pods can run on it.
    pub(crate) possible: Vec<bool>,
}

/// A pod set as its queue sees it.
#[derive(Debug)]
pub(crate) struct SetShape {
    /// Whether it asks for a resource that the queue does not cover.
    pub(crate) undeclared: bool,
    pub(crate) parts: Vec<Part>,
}

/// Workloads of one queue that are alike.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) queue: u32,
    pub(crate) priority: i64,
    pub(crate) namespace_matches: bool,
    pub(crate) sets: Vec<SetShape>,
    /// The pending ones: creation, UID, number.
    pub(crate) members: BTreeSet<(i64, u64, u32)>,
    parked: bool,
}

impl Shape {
    pub(crate) fn new(queue: u32, priority: i64, namespace_matches: bool, sets: Vec<SetShape>) -> Self {
        Self { queue, priority, namespace_matches, sets, members: BTreeSet::new(), parked: false }
    }
}

/// What is pending at one queue, and what it has admitted.
#[derive(Debug, Default)]
pub(crate) struct QueueState {
    pub(crate) strict: bool,
    /// The shapes that are not parked: priority, creation and UID of their first member.
    active: BTreeSet<(Reverse<i64>, i64, u64, u32)>,
    parked_shapes: Vec<u32>,
    /// The one that last issued or awaited preemptions.
    pub(crate) sticky: Option<u32>,
    pub(crate) queued: usize,
    pub(crate) parked: usize,
    pub(crate) admitted: Vec<u32>,
    /// Grows with each change to an admitted workload.
    pub(crate) generation: u64,
}

impl QueueState {
    pub(crate) fn new(strict: bool) -> Self {
        Self { strict, ..Self::default() }
    }
}

impl Store {
    /// Puts a workload into its queue, or with its like among the parked.
    pub(crate) fn enter(&mut self, id: u32) {
        let workload = &mut self.workloads[id as usize];
        workload.state = State::Pending;
        workload.reason = None;
        let key = (workload.created, workload.uid, id);
        let shape = workload.shape;
        self.hide(shape);
        self.shapes[shape as usize].members.insert(key);
        self.show(shape);
        self.count(shape, 1);
    }

    /// Takes a pending workload out.
    pub(crate) fn leave(&mut self, id: u32) {
        let workload = &self.workloads[id as usize];
        let (key, shape, queue) = ((workload.created, workload.uid, id), workload.shape, workload.queue);
        let state = &mut self.queues[queue as usize];
        if state.sticky == Some(id) {
            state.sticky = None;
        }
        if workload.state == State::Mismatched {
            state.parked -= 1;
            self.parked -= 1;
            return;
        }
        self.hide(shape);
        self.shapes[shape as usize].members.remove(&key);
        self.show(shape);
        self.count(shape, -1);
    }

    fn count(&mut self, shape: u32, by: isize) {
        let shape = &self.shapes[shape as usize];
        let queue = &mut self.queues[shape.queue as usize];
        let (of_queue, of_all) =
            if shape.parked { (&mut queue.parked, &mut self.parked) } else { (&mut queue.queued, &mut self.queued) };
        *of_queue = of_queue.saturating_add_signed(by);
        *of_all = of_all.saturating_add_signed(by);
    }

    /// Takes a shape off the order of its queue, before its first member changes.
    fn hide(&mut self, id: u32) {
        let shape = &self.shapes[id as usize];
        if let (false, Some(&(created, uid, _))) = (shape.parked, shape.members.first()) {
            self.queues[shape.queue as usize].active.remove(&(Reverse(shape.priority), created, uid, id));
        }
    }

    fn show(&mut self, id: u32) {
        let shape = &self.shapes[id as usize];
        if let (false, Some(&(created, uid, _))) = (shape.parked, shape.members.first()) {
            self.queues[shape.queue as usize].active.insert((Reverse(shape.priority), created, uid, id));
        }
    }

    /// The first of a queue: the sticky one, or the oldest of the highest priority.
    pub(crate) fn head(&self, queue: u32) -> Option<u32> {
        let state = &self.queues[queue as usize];
        if let Some(sticky) = state.sticky.filter(|&id| self.is_queued(id)) {
            return Some(sticky);
        }
        let &(_, _, _, shape) = state.active.first()?;
        self.shapes[shape as usize].members.first().map(|&(_, _, id)| id)
    }

    fn is_queued(&self, id: u32) -> bool {
        let workload = &self.workloads[id as usize];
        workload.state == State::Pending && !self.shapes[workload.shape as usize].parked
    }

    /// Parks a head and all of its shape.
    pub(crate) fn park(&mut self, id: u32) {
        let shape = self.workloads[id as usize].shape;
        self.hide(shape);
        let shape_state = &mut self.shapes[shape as usize];
        shape_state.parked = true;
        let members = shape_state.members.len();
        let queue = &mut self.queues[shape_state.queue as usize];
        queue.parked_shapes.push(shape);
        queue.queued -= members;
        queue.parked += members;
        self.queued -= members;
        self.parked += members;
    }

    /// Parks a head for ever, whose namespace its queue does not take.
    pub(crate) fn refuse(&mut self, id: u32) {
        self.leave(id);
        let workload = &mut self.workloads[id as usize];
        workload.state = State::Mismatched;
        self.queues[workload.queue as usize].parked += 1;
        self.parked += 1;
    }

    /// Wakes all that is parked at a queue.
    pub(crate) fn wake(&mut self, queue: u32) {
        for id in std::mem::take(&mut self.queues[queue as usize].parked_shapes) {
            let shape = &mut self.shapes[id as usize];
            shape.parked = false;
            let members = shape.members.len();
            let state = &mut self.queues[queue as usize];
            state.parked -= members;
            state.queued += members;
            self.parked -= members;
            self.queued += members;
            self.show(id);
        }
    }

    /// Where a pending workload stands, and why it is not admitted; no reason if it was not looked at.
    pub(crate) fn standing(&self, id: u32) -> Option<(Place, Option<PendingReason>)> {
        let workload = &self.workloads[id as usize];
        if workload.state == State::Mismatched {
            return Some((Place::Parked, workload.reason));
        }
        if workload.state != State::Pending {
            return None;
        }
        let parked = self.shapes[workload.shape as usize].parked;
        let untried = parked.then_some(PendingReason::Equivalent);
        Some((if parked { Place::Parked } else { Place::Queued }, workload.reason.or(untried)))
    }
}
