//! The running instances and gangs with their places, in slots that are reused.

use crate::ids::{AttemptId, Ms, NodeId, TaskId};

/// No further place.
const LAST: u32 = u32::MAX;

/// An instance or a gang that runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) task: TaskId,
    /// The number of its start among all starts of the replay. It distinguishes runs that used the same slot.
    pub(super) serial: u64,
    /// Its number among the starts of its task.
    pub(super) attempt: u32,
    /// The number of the instance; for a gang or a single instance, the number of the try.
    pub(super) number: u32,
    pub(super) queued: Ms,
    pub(super) start: Ms,
    /// Its first place, and the slot of the next one.
    first: Place,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    node: NodeId,
    count: u32,
    next: u32,
}

/// All that runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Attempts {
    slots: Vec<Option<Attempt>>,
    free: Vec<u32>,
    /// The further places of gangs.
    places: Vec<Place>,
    free_places: Vec<u32>,
    pub(super) count: u64,
    serial: u64,
}

/// A start.
pub(super) struct New<'a> {
    pub(super) task: TaskId,
    pub(super) attempt: u32,
    pub(super) number: u32,
    pub(super) queued: Ms,
    pub(super) start: Ms,
    /// Its places; never empty.
    pub(super) places: &'a [(NodeId, u32)],
}

impl Attempts {
    /// Records a start. Returns its slot and serial number.
    pub(super) fn add(&mut self, new: &New<'_>) -> (AttemptId, u64) {
        let mut next = LAST;
        for &(node, count) in new.places.iter().skip(1).rev() {
            let place = Place { node, count, next };
            next = match self.free_places.pop() {
                Some(slot) => {
                    self.places[slot as usize] = place;
                    slot
                }
                None => {
                    self.places.push(place);
                    self.places.len() as u32 - 1
                }
            };
        }
        let (node, count) = new.places.first().copied().unwrap_or((NodeId(0), 0));
        let New { task, attempt, number, queued, start, .. } = *new;
        self.serial += 1;
        self.count += 1;
        let run =
            Attempt { task, serial: self.serial, attempt, number, queued, start, first: Place { node, count, next } };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(run);
                slot
            }
            None => {
                self.slots.push(Some(run));
                self.slots.len() as u32 - 1
            }
        };
        (AttemptId(slot), self.serial)
    }

    /// The run with this slot and serial number, if it still runs.
    pub(super) fn get(&self, id: AttemptId, serial: u64) -> Option<&Attempt> {
        self.slots.get(id.index())?.as_ref().filter(|run| run.serial == serial)
    }

    /// The places of a run, into `into`.
    pub(super) fn places(&self, run: &Attempt, into: &mut Vec<(NodeId, u32)>) {
        into.clear();
        let mut place = run.first;
        loop {
            into.push((place.node, place.count));
            match self.places.get(place.next as usize) {
                Some(&next) => place = next,
                None => return,
            }
        }
    }

    /// Ends a run.
    pub(super) fn remove(&mut self, id: AttemptId) {
        let Some(run) = self.slots.get_mut(id.index()).and_then(Option::take) else { return };
        let mut next = run.first.next;
        while let Some(place) = self.places.get(next as usize) {
            self.free_places.push(next);
            next = place.next;
        }
        self.free.push(id.0);
        self.count -= 1;
    }

    /// The runs on a machine, in the order of their starts.
    pub(super) fn on(&self, node: NodeId) -> Vec<AttemptId> {
        let mut found = Vec::new();
        for (slot, run) in self.slots.iter().enumerate() {
            let Some(run) = run else { continue };
            let mut place = Some(&run.first);
            while let Some(here) = place {
                if here.node == node {
                    found.push((run.serial, AttemptId(slot as u32)));
                    break;
                }
                place = self.places.get(here.next as usize);
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// All that runs, with its task and the time of its start, in the order of the starts.
    pub(super) fn all(&self) -> Vec<(AttemptId, TaskId, Ms)> {
        let running = self.slots.iter().enumerate().filter_map(|(slot, run)| Some((slot, run.as_ref()?)));
        let mut all: Vec<(u64, (AttemptId, TaskId, Ms))> =
            running.map(|(slot, run)| (run.serial, (AttemptId(slot as u32), run.task, run.start))).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, run)| run).collect()
    }

    /// The run in a slot.
    pub(super) fn at(&self, id: AttemptId) -> Option<&Attempt> {
        self.slots.get(id.index())?.as_ref()
    }
}
