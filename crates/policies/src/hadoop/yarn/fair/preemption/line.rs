//! Starved jobs in the order in which they are treated (`FSStarvedApps`).

use resched_sim::JobId;
use resched_sim::hadoop::Resources;

/// A heap (`PriorityBlockingQueue`) by an order that is none (`StarvationComparator`): one comes before another if it lacks no more of
/// anything, also if both are equal. So the order in which they leave depends on how the heap was built. What counts is what they lack
/// when they are compared, which changes while the heap is built.
#[derive(Debug, Default)]
pub(super) struct Line {
    heap: Vec<JobId>,
}

impl Line {
    /// Adds a job, if it is not there. `lack` gives what a job lacks now.
    pub(super) fn add(&mut self, job: JobId, lack: impl Fn(JobId) -> Resources) {
        if self.heap.contains(&job) {
            return;
        }
        let is_first = |one: JobId, other: JobId| lack(other).holds(lack(one));
        let mut at = self.heap.len();
        self.heap.push(job);
        while at > 0 && is_first(job, self.heap[(at - 1) / 2]) {
            self.heap[at] = self.heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        self.heap[at] = job;
    }

    /// Takes the first one out.
    pub(super) fn take(&mut self, lack: impl Fn(JobId) -> Resources) -> Option<JobId> {
        let is_first = |one: JobId, other: JobId| lack(other).holds(lack(one));
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
