//! When Slurm's two schedulers run.
//!
//! The main loop: a submission or an end sets a mark. The controller looks at the mark once a second, and runs the loop if the last run
//! was `batch_sched_delay` ago. Every `sched_interval` it runs anyway, over the whole queue. The backfill scheduler runs `bf_interval` after
//! its last run, if something has changed since; else it looks once a second whether something has. It has run since the controller started,
//! long before the first job of a log, so that its first run may come at any instant of its period.
//!
//! If the nodes report an end by themselves, the main loop runs at once. Such a run does not put off those that wait for a mark.
//!
//! **Source.** `_slurmctld_background`, `backfill_agent` and `_slurm_rpc_epilog_complete` of 22.05, and runs of a real Slurm: an epilog, or
//! the external step of `PrologFlags=Contain`, ends after its job, and its node then sends a message that calls the main loop. Without
//! either, the end is an answer to the controller, which sets the mark.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use resched_sim::Ms;

/// How often the controller looks whether there is something to do, ms.
const LOOK: Ms = 1_000;

/// Which schedulers are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Due {
    /// The main loop; whether it looks at the whole queue.
    pub(super) main: Option<bool>,
    pub(super) backfill: bool,
}

/// The periods, ms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Periods {
    /// Between two runs of the main loop, at least.
    pub(super) spacing: Ms,
    /// Between two runs of the main loop over the whole queue.
    pub(super) full: Ms,
    /// Between two runs of the backfill scheduler; `None`: there is none.
    pub(super) backfill: Option<Ms>,
    /// True if the main loop runs at each end.
    pub(super) at_ends: bool,
}

/// The clock of the controller.
#[derive(Debug)]
pub(super) struct Clock {
    periods: Periods,
    /// When the main loop looks in each second, and when the backfill scheduler runs first in its period.
    phases: [Ms; 2],
    last_main: Option<Ms>,
    last_full: Option<Ms>,
    last_backfill: Option<Ms>,
    /// When changes come that each of them has not looked at yet.
    marks: [BinaryHeap<Reverse<Ms>>; 2],
    /// When the main loop runs at an end.
    ends: BinaryHeap<Reverse<Ms>>,
}

impl Clock {
    pub(super) fn new(periods: Periods, phases: [Ms; 2]) -> Self {
        Self {
            periods,
            phases,
            last_main: None,
            last_full: None,
            last_backfill: None,
            marks: Default::default(),
            ends: BinaryHeap::new(),
        }
    }

    /// A job ends at an instant.
    pub(super) fn end(&mut self, at: Ms) {
        if !self.periods.at_ends {
            self.mark(at);
            return;
        }
        self.ends.push(Reverse(at));
        if self.periods.backfill.is_some() {
            self.mark_backfill(at);
        }
        self.last_full.get_or_insert(at);
    }

    /// Something changes at an instant: a job is submitted, or ends.
    pub(super) fn mark(&mut self, at: Ms) {
        self.mark_ahead(at);
        self.last_full.get_or_insert(at);
    }

    /// Something will change at an instant that is known from the beginning on.
    pub(super) fn mark_ahead(&mut self, at: Ms) {
        let backfill = usize::from(self.periods.backfill.is_some());
        self.marks.iter_mut().take(1 + backfill).for_each(|marks| marks.push(Reverse(at)));
    }

    /// Something has changed for the backfill scheduler only: it runs again after its period.
    pub(super) fn mark_backfill(&mut self, now: Ms) {
        self.marks[1].push(Reverse(now));
    }

    /// When the main loop runs next because of a mark, and when over the whole queue.
    fn main(&self) -> (Option<Ms>, Option<Ms>) {
        let look = |at: Ms| at_or_after(at, self.phases[0], LOOK);
        let after = |last: Option<Ms>, period: Ms| last.map_or(Ms::MIN, |last| last.saturating_add(period));
        let marked = self.marked(0).map(|mark| look(mark.max(after(self.last_main, self.periods.spacing))));
        (marked, self.last_full.map(|last| look(last.saturating_add(self.periods.full))))
    }

    /// The first change that a scheduler has not looked at.
    fn marked(&self, scheduler: usize) -> Option<Ms> {
        self.marks[scheduler].peek().map(|&Reverse(at)| at)
    }

    fn backfill(&self) -> Option<Ms> {
        let (mark, period) = (self.marked(1)?, self.periods.backfill?);
        Some(match self.last_backfill {
            // It looks once a second after its period.
            Some(last) => at_or_after(mark.max(last.saturating_add(period)), last.saturating_add(period), LOOK),
            None => at_or_after(mark, self.phases[1], period),
        })
    }

    /// When the main loop runs next at an end.
    fn at_end(&self) -> Option<Ms> {
        self.ends.peek().map(|&Reverse(at)| at)
    }

    /// When one of them runs next.
    pub(super) fn next(&self) -> Option<Ms> {
        let (marked, full) = self.main();
        [marked, full, self.at_end(), self.backfill()].into_iter().flatten().min()
    }

    /// Lets them run until before `now` while nothing waits.
    pub(super) fn catch_up(&mut self, now: Ms) {
        while let Some(next) = self.next().filter(|&next| next < now) {
            // Between two events, only the runs over the whole queue go on.
            if self.ends.is_empty() && self.marks.iter().all(BinaryHeap::is_empty) {
                let rounds = (now - 1 - next) / self.periods.full.max(1);
                let last = next.saturating_add(rounds.saturating_mul(self.periods.full));
                let last = at_or_after(last, self.phases[0], LOOK);
                let last = if last < now { last } else { next };
                (self.last_main, self.last_full) = (Some(last), Some(last));
            } else {
                self.take(next);
            }
        }
    }

    /// Which are due now. They count as run.
    pub(super) fn take(&mut self, now: Ms) -> Due {
        let (marked, full) = self.main();
        let is_due = |at: Option<Ms>| at.is_some_and(|at| at <= now);
        let is_on_time = is_due(marked) || is_due(full);
        let main = (is_on_time || is_due(self.at_end())).then_some(is_due(full));
        let backfill = is_due(self.backfill());
        while self.at_end().is_some_and(|at| at <= now) {
            self.ends.pop();
        }
        if is_on_time {
            self.last_main = Some(now);
            self.look_at(0, now);
        }
        if is_due(full) {
            self.last_full = Some(now);
        }
        if backfill {
            self.last_backfill = Some(now);
            self.look_at(1, now);
        }
        Due { main, backfill }
    }

    /// A scheduler has seen all changes until now.
    fn look_at(&mut self, scheduler: usize, now: Ms) {
        while self.marked(scheduler).is_some_and(|at| at <= now) {
            self.marks[scheduler].pop();
        }
    }
}

/// The first instant from `at` on that is `phase` after a multiple of a period.
fn at_or_after(at: Ms, phase: Ms, period: Ms) -> Ms {
    at.saturating_add((phase.saturating_sub(at)).rem_euclid(period.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(backfill: Option<Ms>) -> Clock {
        Clock::new(Periods { spacing: 3_000, full: 60_000, backfill, at_ends: false }, [400, 700])
    }

    /// As in `docs/slurm.md` (the main loop): a lone event is handled at the next second, a busy queue every three.
    #[test]
    fn the_main_loop_runs_at_the_next_second_and_three_seconds_apart() {
        let mut clock = clock(None);
        assert_eq!(clock.next(), None);
        clock.mark(1_000);
        assert_eq!(clock.next(), Some(1_400));
        assert_eq!(clock.take(1_400), Due { main: Some(false), backfill: false });
        clock.mark(1_500);
        assert_eq!(clock.next(), Some(4_400), "three seconds after the last run");
        clock.take(4_400);
        clock.mark(9_100);
        assert_eq!(clock.next(), Some(9_400));
        // Nothing waited then: it ran, and the next run comes three seconds later.
        clock.catch_up(10_000);
        clock.mark(10_000);
        assert_eq!(clock.next(), Some(12_400));
    }

    /// As in the source: at an end, the main loop does not wait for its second. What was submitted still waits three seconds.
    #[test]
    fn the_main_loop_runs_at_ends_that_nodes_report() {
        let mut clock = Clock::new(Periods { spacing: 3_000, full: 60_000, backfill: None, at_ends: true }, [400, 700]);
        clock.mark(1_000);
        clock.take(1_400);
        clock.mark(1_500);
        clock.end(1_950);
        assert_eq!(clock.next(), Some(1_950));
        assert_eq!(clock.take(1_950), Due { main: Some(false), backfill: false });
        assert_eq!(clock.next(), Some(4_400), "three seconds after the last run for a mark");
        clock.take(4_400);
        clock.end(5_000);
        clock.catch_up(6_000);
        assert_eq!(clock.next(), Some(61_400), "it ran at the end, while nothing waited");
    }

    #[test]
    fn every_minute_it_looks_at_the_whole_queue() {
        let mut clock = clock(None);
        clock.mark(1_000);
        clock.take(1_400);
        assert_eq!(clock.next(), Some(61_400));
        assert_eq!(clock.take(61_400), Due { main: Some(true), backfill: false });
        clock.catch_up(400_000);
        assert_eq!(clock.next(), Some(421_400), "every minute since 61.4 s");
        clock.mark(400_000);
        assert_eq!(clock.next(), Some(400_400));
    }

    #[test]
    fn what_is_known_ahead_does_not_keep_it_from_the_whole_queue() {
        let mut clock = clock(None);
        clock.mark_ahead(200_000);
        clock.mark(1_000);
        clock.take(1_400);
        assert_eq!(clock.next(), Some(61_400));
        clock.take(61_400);
        clock.take(121_400);
        clock.take(181_400);
        assert_eq!(clock.next(), Some(200_400));
    }

    /// It has run before the first job: that job waits for the next run.
    #[test]
    fn the_first_run_of_the_backfill_scheduler_is_anywhere_in_its_period() {
        let mut clock = clock(Some(5_000));
        clock.mark(6_000);
        clock.take(6_400);
        assert_eq!(clock.next(), Some(10_700));
    }

    #[test]
    fn the_backfill_scheduler_runs_after_its_period_if_something_changed() {
        let mut clock = clock(Some(5_000));
        clock.mark(100);
        clock.take(400);
        assert_eq!(clock.next(), Some(700));
        assert_eq!(clock.take(700), Due { main: None, backfill: true });
        clock.mark_backfill(700);
        assert_eq!(clock.next(), Some(5_700));
        clock.take(5_700);
        clock.mark(13_000);
        clock.take(13_400);
        assert_eq!(clock.next(), Some(13_700), "it looks once a second");
    }
}
