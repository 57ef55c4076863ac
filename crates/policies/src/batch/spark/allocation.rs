//! How many executors an application asks for while it runs (`ExecutorAllocationManager`, `ExecutorMonitor`).
//!
//! While tasks wait, the application asks for 1 executor after `schedulerBacklogTimeout`, then for 2, 4, 8 … more, each time after
//! `sustainedSchedulerBacklogTimeout`, up to as many as run all tasks at once. An executor that is idle for `executorIdleTimeout` goes,
//! unless the application would then have fewer than it asks for. Spark looks ten times a second; here, things happen at their
//! instant. Without the external shuffle service, an executor that ran a task of a job is kept until this job ends, as others may
//! read what it wrote.

use resched_sim::Ms;

/// How often Spark looks, ms.
const OFTEN: Ms = 100;

/// The settings of an application that asks for executors while it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    /// The fewest executors, the most, and those at its start.
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) first: u64,
    /// Which part of the executors that would run all tasks at once it asks for.
    pub(super) ratio: f64,
    /// How long tasks wait before it asks for executors, and for more, ms.
    pub(super) backlog: Ms,
    pub(super) sustained: Ms,
    /// How long an executor may be idle, ms.
    pub(super) idle: Ms,
    /// True if executors keep what was written on them for others.
    pub(super) holds_shuffles: bool,
    /// How many tasks an executor runs at once.
    pub(super) tasks_each: u64,
}

/// What an application asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Allocation {
    limits: Limits,
    /// How many executors it asks for.
    target: u64,
    /// How many more it asks for next, and when.
    more: u64,
    at: Option<Ms>,
    waiting: u64,
    running: u64,
}

impl Allocation {
    pub(super) fn new(limits: Limits) -> Self {
        let target = limits.first.clamp(limits.least, limits.most);
        Self { limits, target, more: 1, at: None, waiting: 0, running: 0 }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many executors it asks for.
    pub(super) fn target(&self) -> u64 {
        self.target
    }

    /// When it asks for more, ms.
    pub(super) fn asks_at(&self) -> Option<Ms> {
        self.at
    }

    /// So many tasks wait more: `onSchedulerBacklogged`.
    pub(super) fn wait(&mut self, tasks: u64, now: Ms) {
        self.waiting += tasks;
        if self.waiting > 0 && self.at.is_none() {
            self.at = Some(now.saturating_add(self.limits.backlog));
        }
    }

    /// A task has started: `onSchedulerQueueEmpty` after the last.
    pub(super) fn start(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
        self.running += 1;
        if self.waiting == 0 {
            (self.at, self.more) = (None, 1);
        }
    }

    /// A task has ended. If fewer executors do for all, it asks for fewer.
    pub(super) fn end(&mut self) {
        self.running = self.running.saturating_sub(1);
        let needed = self.needed();
        if needed < self.target {
            (self.target, self.more) = (needed.max(self.limits.least), 1);
        }
    }

    /// As many executors as all tasks need: `maxNumExecutorsNeededPerResourceProfile`.
    fn needed(&self) -> u64 {
        let tasks = (self.waiting + self.running) as f64;
        (tasks * self.limits.ratio / self.limits.tasks_each as f64).ceil() as u64
    }

    /// It asks for more, if it is time: `addExecutors`. `have` is how many executors it has.
    pub(super) fn ask(&mut self, at: Ms, have: u64) {
        if self.at.is_none_or(|due| due > at) {
            return;
        }
        let before = self.target;
        let wanted = self.target.max(have).saturating_add(self.more).min(self.needed());
        self.target = wanted.clamp(self.limits.least, self.limits.most);
        // As long as nothing changes, it would ask for the same each time.
        self.at = (self.target > before).then(|| at.saturating_add(self.limits.sustained.max(OFTEN)));
        self.more = if self.target.saturating_sub(before) == self.more { self.more.saturating_mul(2) } else { 1 };
    }

    /// True if it lets an idle executor go if it has so many.
    pub(super) fn lets_go(&self, have: u64) -> bool {
        have > self.limits.least && have > self.target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits {
            least: 0,
            most: 100,
            first: 0,
            ratio: 1.0,
            backlog: 1_000,
            sustained: 1_000,
            idle: 60_000,
            holds_shuffles: true,
            tasks_each: 2,
        }
    }

    /// What is asked for at the next times, if all comes at once.
    fn asked(allocation: &mut Allocation, times: usize) -> Vec<(Ms, u64)> {
        let mut ask = || {
            let at = allocation.asks_at()?;
            allocation.ask(at, allocation.target());
            Some((at, allocation.target()))
        };
        (0..times).filter_map(|_| ask()).collect()
    }

    #[test]
    fn it_asks_for_twice_as_many_each_time_until_all_can_run() {
        let mut allocation = Allocation::new(limits());
        allocation.wait(50, 500);
        assert_eq!(
            asked(&mut allocation, 6),
            [(1_500, 1), (2_500, 3), (3_500, 7), (4_500, 15), (5_500, 25), (6_500, 25)]
        );
        let mut asking = Allocation::new(Limits { most: 5, least: 2, first: 1, sustained: 100, ..limits() });
        asking.wait(50, 0);
        assert_eq!((asking.target(), asked(&mut asking, 3)), (2, vec![(1_000, 3), (1_100, 5), (1_200, 5)]));
        let mut half = Allocation::new(Limits { ratio: 0.5, first: 9, ..limits() });
        half.wait(10, 0);
        assert_eq!((half.target(), half.needed()), (9, 3));
    }

    #[test]
    fn it_starts_anew_after_nothing_waited() {
        let mut asking = Allocation::new(limits());
        asking.wait(3, 0);
        asked(&mut asking, 2);
        assert_eq!(asking.target(), 2);
        (0..3).for_each(|_| asking.start());
        assert_eq!(asking.asks_at(), None);
        asking.wait(8, 5_000);
        assert_eq!(asked(&mut asking, 2), [(6_000, 3), (7_000, 5)]);
    }

    #[test]
    fn it_asks_for_fewer_as_tasks_end_and_lets_the_others_go() {
        let mut asking = Allocation::new(Limits { least: 1, ..limits() });
        asking.wait(8, 0);
        asked(&mut asking, 3);
        (0..8).for_each(|_| asking.start());
        assert_eq!((asking.target(), asking.lets_go(4)), (4, false));
        (0..3).for_each(|_| asking.end());
        assert_eq!((asking.target(), asking.lets_go(4), asking.lets_go(3)), (3, true, false));
        (0..5).for_each(|_| asking.end());
        assert_eq!((asking.target(), asking.lets_go(2), asking.lets_go(1)), (1, true, false));
    }
}
