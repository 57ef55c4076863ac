//! Which part of a trace counts, and what becomes of work that had not ended with it.

use std::collections::BTreeMap;
use std::mem::discriminant;
use std::str::FromStr;
use std::sync::Arc;

use resched_tables::clock::Instant;
use resched_tables::run::{RunClock, RunWindow, Unfinished};

use crate::ids::Ms;

/// How a trace is loaded. The default keeps all of it and drops unfinished jobs from the metrics.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scope {
    /// How to treat work that is unfinished when the trace ends.
    pub unfinished: Unfinished,
    /// The part of the trace that counts in metrics.
    pub window: Window,
    /// The seed of all draws.
    pub seed: u64,
    /// What a batch task requests that gives no request, in thousandths of a core; `None` for one core.
    pub unknown_request: Option<u64>,
    /// How many times as long a batch task takes on a machine that it prefers, in the rack of one, and elsewhere; `None` to fit
    /// that to the trace.
    pub locality: Option<[f64; 3]>,
    /// The seed from which the preferred machines are drawn again that a log of Spark does not show; `None`: those of the trace stay.
    pub places: Option<u64>,
    /// The group of each machine of a production cluster, such as its partitions: a smaller cluster keeps its share of each.
    pub groups: Arc<BTreeMap<String, String>>,
    /// True if only what batch tasks ask for is loaded: each then runs once and for no time, whatever the log says of it, and a job that
    /// never started is a job as all others.
    pub requests: bool,
}

/// The part of a trace whose jobs count in metrics. All jobs are replayed; those outside warm the cluster up or keep it busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// Its start; by default, that of the trace.
    pub from: Option<Instant>,
    /// Its end; by default, that of the trace.
    pub to: Option<Instant>,
}

impl FromStr for Window {
    type Err = String;

    /// Takes `FROM..TO`, of which either may be left out: `+1h..+5h`, `..2009-04-21T17:46:02Z`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text
            .split_once("..")
            .ok_or_else(|| format!("`{text}`: expected two times with `..` between them, for example +1h..+5h"))?;
        let end = |text: &str| (!text.trim().is_empty()).then(|| text.trim().parse()).transpose();
        Ok(Self { from: end(from)?, to: end(to)? })
    }
}

/// The times of a trace, by its own clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// When the trace begins, if that is not at the first submission.
    pub(crate) begin: Option<Ms>,
    /// The first submission.
    pub(crate) first: Ms,
    /// The last instant.
    pub(crate) horizon: Ms,
}

impl Times {
    /// When the trace begins, or its first submission if that is later.
    fn start(self) -> Ms {
        self.begin.map_or(self.first, |begin| begin.max(self.first))
    }

    /// The clock of a run, which reads `first_submit` at the first submission. Whether it has dates is for others to say.
    pub(crate) fn clock(self, first_submit: Ms) -> RunClock {
        RunClock { zero: self.first.saturating_sub(first_submit), start: self.start(), dated: false }
    }
}

impl Window {
    /// True if both of its ends are given, and count from the same time.
    pub fn is_of_one_kind(self) -> bool {
        let kinds = self.from.zip(self.to).map(|(from, to)| (discriminant(&from), discriminant(&to)));
        kinds.is_some_and(|(from, to)| from == to)
    }

    /// The window on the clock of a run, which reads `first_submit` at the first submission; `None` if every job is in it.
    pub(crate) fn on_the_clock(self, times: Times, first_submit: Ms) -> Option<RunWindow> {
        if self == Self::default() && times.begin.is_none_or(|begin| begin <= times.first) {
            return None;
        }
        let start = times.start();
        let at = |instant: Instant| match instant {
            Instant::At(at) | Instant::Date(at) => at,
            Instant::AfterFirst(after) => start.saturating_add(after),
        };
        let clock = |at: Ms| at.saturating_sub(times.first).saturating_add(first_submit);
        let from = clock(self.from.map_or(start, at).max(start));
        let to = clock(self.to.map_or(times.horizon.saturating_add(1), at));
        Some(RunWindow { from, to })
    }
}

/// How much of the work of a replay was seen whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Jobs that are replayed.
    pub jobs: u64,
    /// Tasks that are replayed.
    pub tasks: u64,
    /// Those of them that had not ended when the trace ended.
    pub unfinished_tasks: u64,
    /// Those of them whose run time is estimated.
    pub estimated_tasks: u64,
    /// The run times of all these tasks as they were observed, ms.
    pub observed_ms: u64,
    /// The part of it that is of unfinished tasks, up to the end of the trace, ms.
    pub unfinished_ms: u64,
    /// The run times of attempts that a replay leaves out, because a machine or the scheduler that ran ended them, ms. They are no part of
    /// `observed_ms`.
    pub lost_ms: u64,
    /// Jobs that waited last for a limit of their quality of service or association, as the log says.
    pub limited_jobs: u64,
    /// Tasks whose run time no log gives, so that a rule makes it.
    pub made_tasks: u64,
    /// Jobs that were there before the trace began.
    pub jobs_before: u64,
    /// Jobs with a task that had not ended when the trace ended.
    pub unfinished_jobs: u64,
}

impl Work {
    /// The share of the observed run time that is of unfinished tasks, from 0 to 1.
    pub fn unfinished_share(&self) -> f64 {
        self.unfinished_ms as f64 / self.observed_ms.max(1) as f64
    }

    /// The share of all run time in the log that is of attempts that a replay leaves out, from 0 to 1.
    pub fn lost_share(&self) -> f64 {
        self.lost_ms as f64 / self.observed_ms.saturating_add(self.lost_ms).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times { begin: None, first: 1_000, horizon: 9_000 };

    #[test]
    fn a_window_moves_to_the_clock_of_the_run() {
        let window = Window { from: Some(Instant::AfterFirst(2_000)), to: Some(Instant::At(7_000)) };
        assert_eq!(window.on_the_clock(TIMES, 500), Some(RunWindow { from: 2_500, to: 6_500 }));
        assert_eq!(Window::default().on_the_clock(TIMES, 0), None);
        assert_eq!(TIMES.clock(500), RunClock { zero: 500, start: 1_000, dated: false });
    }

    #[test]
    fn ends_of_one_kind_can_be_compared() {
        let is = |text: &str| text.parse::<Window>().is_ok_and(Window::is_of_one_kind);
        assert!(is("+2h..+1h") && is("5..3") && !is("+1h..9") && !is("+1h..") && !is(".."));
    }

    #[test]
    fn a_window_is_two_times() {
        let expected = Window { from: Some(Instant::AfterFirst(3_600_000)), to: Some(Instant::At(9)) };
        assert_eq!("+1h..9".parse(), Ok(expected));
        assert_eq!("..".parse(), Ok(Window::default()));
        assert!("+1h".parse::<Window>().is_err_and(|problem| problem.contains("+1h..+5h")));
        assert!("x..y".parse::<Window>().is_err());
    }

    #[test]
    fn what_was_there_before_the_trace_is_outside() {
        let times = Times { begin: Some(4_000), ..TIMES };
        assert_eq!(Window::default().on_the_clock(times, 0), Some(RunWindow { from: 3_000, to: 8_001 }));
        let early = Window { from: Some(Instant::At(0)), to: None };
        assert_eq!(early.on_the_clock(times, 0), Some(RunWindow { from: 3_000, to: 8_001 }));
    }
}
