//! The pods that wait to be tried, most important first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::numbers::PodId;
use super::pods::{Pod, State};

/// After this long in vain a pod is tried anyway, in ms.
pub(super) const LONGEST_WAIT: i64 = 300_000;
/// Those whose back-off ends in the same window of this length, in ms, come by their importance.
const WINDOW: i64 = 1000;

/// Why a pod failed, as far as an event can help: the filters that refused a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Causes {
    pub(super) room: bool,
    pub(super) labels: bool,
    pub(super) taints: bool,
}

/// Higher priority first, then the earlier entry.
type Rank = (Reverse<i32>, u64);

#[derive(Clone, Debug)]
pub(super) struct Queue {
    ready: BinaryHeap<Reverse<(Rank, PodId)>>,
    backing_off: BinaryHeap<Reverse<(i64, Rank, PodId)>>,
    /// Those that wait for an event.
    pub(super) waiting: Vec<PodId>,
    entries: u64,
    first_back_off: i64,
    longest_back_off: i64,
}

impl Queue {
    pub(super) fn new(first_back_off: i64, longest_back_off: i64) -> Self {
        let (ready, backing_off) = (BinaryHeap::new(), BinaryHeap::new());
        Self { ready, backing_off, waiting: Vec::new(), entries: 0, first_back_off, longest_back_off }
    }

    /// Numbers an entry into the queue.
    pub(super) fn enter(&mut self) -> u64 {
        self.entries += 1;
        self.entries
    }

    pub(super) fn make_ready(&mut self, id: PodId, pod: &mut Pod) {
        pod.state = State::Queued;
        self.ready.push(Reverse((rank(pod), id)));
    }

    /// Puts a pod that failed among those that wait for an event.
    pub(super) fn park(&mut self, id: PodId, pod: &mut Pod, now: i64) {
        pod.state = State::Waiting;
        pod.since = now;
        pod.entry = self.enter();
        pod.waits_at = self.waiting.len();
        self.waiting.push(id);
    }

    /// Takes a pod off those that wait.
    pub(super) fn leave(&mut self, id: PodId, pods: &mut [Pod]) {
        let place = pods[id.place()].waits_at;
        self.waiting.swap_remove(place);
        if let Some(moved) = self.waiting.get(place) {
            pods[moved.place()].waits_at = place;
        }
    }

    /// Brings a waiting pod back: ready, or after its back-off.
    pub(super) fn wake(&mut self, id: PodId, pods: &mut [Pod], now: i64) {
        self.leave(id, pods);
        let pod = &mut pods[id.place()];
        let ends = self.back_off_ends(pod);
        // A back-off that ends now is not over yet.
        if ends >= now {
            pod.state = State::Queued;
            self.backing_off.push(Reverse((ends.div_euclid(WINDOW), rank(pod), id)));
        } else {
            self.make_ready(id, pod);
        }
    }

    /// When a pod's back-off ends: twice as long after each failure.
    fn back_off_ends(&self, pod: &Pod) -> i64 {
        let doublings = pod.attempts.saturating_sub(1).min(32);
        let pause = self.first_back_off.saturating_mul(1 << doublings).min(self.longest_back_off);
        pod.since.saturating_add(pause)
    }

    /// The next pod to try. Those that back off come when no other is ready; entries of pods that are gone are dropped.
    pub(super) fn next(&mut self, pods: &[Pod], now: i64) -> Option<PodId> {
        while let Some(Reverse((ends, rank, id))) = self.backing_off.peek().copied() {
            if ends >= now.div_euclid(WINDOW) {
                break;
            }
            self.backing_off.pop();
            self.ready.push(Reverse((rank, id)));
        }
        let valid = |id: PodId, entry: u64| {
            let pod = &pods[id.place()];
            pod.state == State::Queued && pod.entry == entry
        };
        while let Some(Reverse(((_, entry), id))) = self.ready.pop() {
            if valid(id, entry) {
                return Some(id);
            }
        }
        while let Some(Reverse((_, (_, entry), id))) = self.backing_off.pop() {
            if valid(id, entry) {
                return Some(id);
            }
        }
        None
    }
}

fn rank(pod: &Pod) -> Rank {
    (Reverse(pod.priority), pod.entry)
}
