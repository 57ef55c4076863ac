//! The pending queues: order, equivalence, parking.
//!
//! Workloads of one queue with equal priority, pods and requests have one *shape*. They wait in the order of creation, and are parked and
//! woken together, so that a queue with many of few shapes costs no more than its shapes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::model::ResourceId;
use super::state::{State, Workload};
use super::workload::{PendingReason, Place};

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
    /// True if it asks for a resource that the queue does not cover.
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
    /// It is parked while this is the epoch of its queue.
    parked_in: u64,
}

impl Shape {
    pub(crate) fn new(queue: u32, priority: i64, namespace_matches: bool, sets: Vec<SetShape>) -> Self {
        Self { queue, priority, namespace_matches, sets, members: BTreeSet::new(), parked_in: 0 }
    }
}

/// The place of a shape in its queue: priority, creation and UID of its first member, its number.
type Key = (Reverse<i64>, i64, u64, u32);

/// What is pending at one queue, and what it has admitted.
#[derive(Debug)]
pub(crate) struct QueueState {
    pub(crate) strict: bool,
    /// All shapes with members.
    order: BTreeSet<Key>,
    /// Shapes before this one are parked.
    cursor: Option<Key>,
    /// Each wake-up begins another one, in which nothing is parked.
    epoch: u64,
    /// The one that last issued or awaited preemptions.
    pub(crate) sticky: Option<u32>,
    pub(crate) queued: usize,
    /// Those that a wake-up brings back.
    pub(crate) parked: usize,
    /// Those whose namespace it does not take.
    pub(crate) refused: usize,
    pub(crate) admitted: Vec<u32>,
    /// How many are admitted of each priority.
    priorities: BTreeMap<i64, u32>,
    /// Grows with each change to an admitted workload.
    pub(crate) generation: u64,
}

impl QueueState {
    pub(crate) fn new(strict: bool) -> Self {
        Self {
            strict,
            order: BTreeSet::new(),
            cursor: None,
            epoch: 1,
            sticky: None,
            queued: 0,
            parked: 0,
            refused: 0,
            admitted: Vec::new(),
            priorities: BTreeMap::new(),
            generation: 0,
        }
    }

    /// Notes an admission; gives the position among the admitted.
    pub(crate) fn admit(&mut self, id: u32, priority: i64) -> u32 {
        *self.priorities.entry(priority).or_insert(0) += 1;
        self.generation += 1;
        self.admitted.push(id);
        self.admitted.len() as u32 - 1
    }

    /// Notes that an admitted one left; gives the one that takes its position.
    pub(crate) fn release(&mut self, slot: u32, priority: i64) -> Option<u32> {
        if let Some(count) = self.priorities.get_mut(&priority) {
            *count -= 1;
            if *count == 0 {
                self.priorities.remove(&priority);
            }
        }
        self.generation += 1;
        self.admitted.swap_remove(slot as usize);
        self.admitted.get(slot as usize).copied()
    }

    /// The lowest priority that is admitted.
    pub(crate) fn lowest(&self) -> Option<i64> {
        self.priorities.first_key_value().map(|(&priority, _)| priority)
    }
}

/// Workloads, their shapes, and the state of queues.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) workloads: Vec<Workload>,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) queues: Vec<QueueState>,
    /// All that are queued, and all that are parked.
    pub(crate) queued: usize,
    pub(crate) parked: usize,
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
            state.refused -= 1;
            self.parked -= 1;
            return;
        }
        self.hide(shape);
        self.shapes[shape as usize].members.remove(&key);
        self.show(shape);
        self.count(shape, -1);
    }

    fn is_parked(&self, shape: u32) -> bool {
        let shape = &self.shapes[shape as usize];
        shape.parked_in == self.queues[shape.queue as usize].epoch
    }

    fn count(&mut self, shape: u32, by: isize) {
        let parked = self.is_parked(shape);
        let queue = &mut self.queues[self.shapes[shape as usize].queue as usize];
        let (of_queue, of_all) =
            if parked { (&mut queue.parked, &mut self.parked) } else { (&mut queue.queued, &mut self.queued) };
        *of_queue = of_queue.saturating_add_signed(by);
        *of_all = of_all.saturating_add_signed(by);
    }

    fn key(&self, id: u32) -> Option<Key> {
        let shape = &self.shapes[id as usize];
        shape.members.first().map(|&(created, uid, _)| (Reverse(shape.priority), created, uid, id))
    }

    /// Takes a shape off the order of its queue, before its first member changes.
    fn hide(&mut self, id: u32) {
        if let Some(key) = self.key(id) {
            self.queues[self.shapes[id as usize].queue as usize].order.remove(&key);
        }
    }

    fn show(&mut self, id: u32) {
        let Some(key) = self.key(id) else { return };
        let parked = self.is_parked(id);
        let queue = &mut self.queues[self.shapes[id as usize].queue as usize];
        queue.order.insert(key);
        if !parked && queue.cursor.is_some_and(|cursor| key < cursor) {
            queue.cursor = Some(key);
        }
    }

    /// The first of a queue: the sticky one, or the oldest of the highest priority.
    pub(crate) fn head(&self, queue: u32) -> Option<u32> {
        let state = &self.queues[queue as usize];
        if let Some(sticky) = state.sticky.filter(|&id| self.is_queued(id)) {
            return Some(sticky);
        }
        let shape = self.first_shape(queue)?;
        self.shapes[shape as usize].members.first().map(|&(_, _, id)| id)
    }

    /// The first shape of a queue that is not parked.
    fn first_shape(&self, queue: u32) -> Option<u32> {
        let state = &self.queues[queue as usize];
        let from = state.cursor.map_or(Bound::Unbounded, Bound::Included);
        let mut shapes = state.order.range((from, Bound::Unbounded)).map(|&(_, _, _, shape)| shape);
        shapes.find(|&shape| self.shapes[shape as usize].parked_in != state.epoch)
    }

    fn is_queued(&self, id: u32) -> bool {
        let workload = &self.workloads[id as usize];
        workload.state == State::Pending && !self.is_parked(workload.shape)
    }

    /// Parks a head and all of its shape.
    pub(crate) fn park(&mut self, id: u32) {
        let at = self.workloads[id as usize].shape;
        let queue = self.shapes[at as usize].queue;
        // A sticky head may stand behind others that are not parked.
        if self.first_shape(queue) == Some(at) {
            self.queues[queue as usize].cursor = self.key(at);
        }
        let shape = &mut self.shapes[at as usize];
        let members = shape.members.len();
        let queue = &mut self.queues[queue as usize];
        shape.parked_in = queue.epoch;
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
        self.queues[workload.queue as usize].refused += 1;
        self.parked += 1;
    }

    /// Wakes all that is parked at a queue.
    pub(crate) fn wake(&mut self, queue: u32) {
        let queue = &mut self.queues[queue as usize];
        queue.epoch += 1;
        queue.cursor = None;
        let woken = std::mem::take(&mut queue.parked);
        queue.queued += woken;
        self.parked -= woken;
        self.queued += woken;
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
        let parked = self.is_parked(workload.shape);
        let untried = parked.then_some(PendingReason::Equivalent);
        Some((if parked { Place::Parked } else { Place::Queued }, workload.reason.or(untried)))
    }
}
