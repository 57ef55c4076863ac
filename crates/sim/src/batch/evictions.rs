//! What becomes of runs whose machines a policy takes away for others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::observer::Ended;
use crate::ids::{AttemptId, Ms, TaskId};

/// What becomes of a task whose run is evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Then {
    /// It waits, and runs again. The run ends as `Evicted`.
    Again,
    /// It has ended for good. The run ends as `Killed`.
    Gone,
}

/// What becomes of the work that an evicted run has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Work {
    /// It is lost: the task runs again from its beginning.
    #[default]
    Lost,
    /// It is kept: only the rest is run.
    Kept,
    /// It is kept up to the last checkpoint; there is one after each so many ms of work.
    Checkpoints(Ms),
}

/// How a run is evicted. A [`Then`] alone evicts at once, and the work is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eviction {
    /// What becomes of its task.
    pub then: Then,
    /// What becomes of its work.
    pub work: Work,
    /// For how long it still holds its machines, ms. It stops working at once.
    pub holds: Ms,
}

impl From<Then> for Eviction {
    fn from(then: Then) -> Self {
        Self { then, work: Work::Lost, holds: 0 }
    }
}

/// A run that a policy has evicted, and that has left its machines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evicted {
    pub(super) ended: Ended,
    /// `None`: it still holds its machines.
    pub(super) then: Option<Then>,
}

/// Runs that were evicted and still hold their machines.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    by_time: BinaryHeap<Reverse<(Ms, u64, AttemptId, Then)>>,
    runs: BTreeSet<AttemptId>,
}

impl Leaving {
    pub(super) fn add(&mut self, at: Ms, serial: u64, run: AttemptId, then: Then) {
        self.by_time.push(Reverse((at, serial, run, then)));
        self.runs.insert(run);
    }

    /// True if the run in this slot was evicted and still holds its machines.
    #[inline]
    pub(super) fn has(&self, run: AttemptId) -> bool {
        !self.runs.is_empty() && self.runs.contains(&run)
    }

    /// When the next of them leaves.
    #[inline]
    pub(super) fn next(&self) -> Option<Ms> {
        self.by_time.peek().map(|&Reverse((at, ..))| at)
    }

    /// The next that leaves by now; those of one instant in the order of their starts.
    pub(super) fn take(&mut self, now: Ms) -> Option<(AttemptId, Then)> {
        let &Reverse((_, _, run, then)) = self.by_time.peek().filter(|Reverse((at, ..))| *at <= now)?;
        self.by_time.pop();
        self.runs.remove(&run);
        Some((run, then))
    }

    /// The machine of a run has left, and the run with it. Returns what becomes of its task, if the run was one of these.
    pub(super) fn remove(&mut self, run: AttemptId) -> Option<Then> {
        let then = self.runs.remove(&run).then(|| {
            let eviction = self.by_time.iter().find(|Reverse((_, _, eviction, _))| *eviction == run);
            eviction.map(|&Reverse((_, _, _, then))| then)
        });
        self.by_time.retain(|Reverse((_, _, evicted, _))| *evicted != run);
        then.flatten()
    }
}

/// The work that evicted instances have behind them.
#[derive(Debug, Default)]
pub(super) struct KeptWork {
    /// How long each has worked, ms, and out of how long on the machines that it had then.
    of: BTreeMap<(TaskId, u32), (Ms, Ms)>,
}

impl KeptWork {
    /// What is left of an instance that takes `whole` ms from its beginning.
    #[inline]
    pub(super) fn rest(&self, task: TaskId, number: u32, whole: Ms) -> Ms {
        if self.of.is_empty() { whole } else { whole - self.done(task, number, whole) }
    }

    /// How much of an instance that takes `whole` ms from its beginning is done, ms.
    fn done(&self, task: TaskId, number: u32, whole: Ms) -> Ms {
        match self.of.get(&(task, number)) {
            Some(&(done, of)) if of == whole => done.min(whole),
            // It takes longer or shorter here than where it was.
            Some(&(done, of)) if of > 0 => (i128::from(done) * i128::from(whole) / i128::from(of)) as Ms,
            _ => 0,
        }
    }

    /// An instance that takes `whole` ms from its beginning has worked for so long since its last start.
    pub(super) fn note(&mut self, task: TaskId, number: u32, [whole, since]: [Ms; 2], work: Work) {
        let before = self.done(task, number, whole);
        let now = before.saturating_add(since).min(whole);
        let done = match work {
            Work::Lost => 0,
            Work::Kept => now,
            Work::Checkpoints(each) => before.max(now - now % each.max(1)),
        };
        if done > 0 {
            self.of.insert((task, number), (done, whole));
        } else {
            self.of.remove(&(task, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_what_was_kept() {
        let (task, mut kept) = (TaskId(3), KeptWork::default());
        assert_eq!(kept.rest(task, 0, 1_000), 1_000);
        kept.note(task, 0, [1_000, 300], Work::Kept);
        assert_eq!(kept.rest(task, 0, 1_000), 700);
        assert_eq!(kept.rest(task, 1, 1_000), 1_000, "another instance");
        assert_eq!(kept.rest(task, 0, 2_000), 1_400, "on a machine of half the speed");
        kept.note(task, 0, [1_000, 250], Work::Checkpoints(200));
        assert_eq!(kept.rest(task, 0, 1_000), 600, "of 550 ms, 400");
        kept.note(task, 0, [1_000, 50], Work::Checkpoints(700));
        assert_eq!(kept.rest(task, 0, 1_000), 600, "what was kept once is not lost to a later checkpoint");
        kept.note(task, 0, [1_000, 50], Work::Lost);
        assert_eq!(kept.rest(task, 0, 1_000), 1_000);
        kept.note(task, 0, [1_000, 5_000], Work::Kept);
        assert_eq!(kept.rest(task, 0, 1_000), 0);
    }

    #[test]
    fn those_of_one_instant_leave_in_the_order_of_their_starts() {
        let mut leaving = Leaving::default();
        leaving.add(50, 7, AttemptId(1), Then::Again);
        leaving.add(50, 2, AttemptId(4), Then::Gone);
        leaving.add(90, 9, AttemptId(5), Then::Again);
        assert!(leaving.has(AttemptId(4)) && !leaving.has(AttemptId(2)));
        assert_eq!(leaving.take(49), None);
        assert_eq!(leaving.take(50), Some((AttemptId(4), Then::Gone)));
        assert_eq!(leaving.take(50), Some((AttemptId(1), Then::Again)));
        assert_eq!((leaving.next(), leaving.remove(AttemptId(5))), (Some(90), Some(Then::Again)));
        assert_eq!((leaving.next(), leaving.remove(AttemptId(5))), (None, None));
    }
}
