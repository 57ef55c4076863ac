//! Starved jobs in the order in which they are treated (`FSStarvedApps`).

use resched_sim::{JobId, Resources};

/// A job, and what it lacks.
type Starved = (JobId, Resources);

/// A heap (`PriorityBlockingQueue`) by an order that is none (`StarvationComparator`): one comes before another if it lacks no more of
/// anything, also if both are equal. So the order in which they leave depends on how the heap was built.
#[derive(Debug, Default)]
pub(super) struct Line {
    heap: Vec<Starved>,
}

/// Whether one comes before another.
fn is_first(one: Starved, other: Starved) -> bool {
    other.1.holds(one.1)
}

impl Line {
    /// Adds a job, if it is not there.
    pub(super) fn add(&mut self, job: JobId, lack: Resources) {
        if self.heap.iter().any(|&(other, _)| other == job) {
            return;
        }
        let (mut at, one) = (self.heap.len(), (job, lack));
        self.heap.push(one);
        while at > 0 && is_first(one, self.heap[(at - 1) / 2]) {
            self.heap[at] = self.heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        self.heap[at] = one;
    }

    /// Takes the first one out.
    pub(super) fn take(&mut self) -> Option<Starved> {
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else { return Some(last) };
        let (mut at, len) = (0, self.heap.len());
        while at < len / 2 {
            let mut child = 2 * at + 1;
            if child + 1 < len && !is_first(self.heap[child], self.heap[child + 1]) {
                child += 1;
            }
            if is_first(last, self.heap[child]) {
                break;
            }
            self.heap[at] = self.heap[child];
            at = child;
        }
        self.heap[at] = last;
        Some(first)
    }
}
