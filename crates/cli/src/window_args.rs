//! The options that name a part of the time of a trace. They mean the same in every command.

use resched_replay::{Source, Window};
use resched_tables::clock::Instant;
use resched_tables::clock::{Covered, Moment, Period, Span, Zone};
use resched_tables::run::RunClock;
use serde::Serialize;

use crate::failure::Failure;

/// A window as one text.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct WindowArg {
    /// Count only jobs that were submitted in this part of the trace, such as +1h..+5h or 22:00..06:00 (last night). Each end is a time of
    /// day, a time after the first submission such as +1h, a date such as 2011-05-01T22:00+02:00, or ms of the trace's clock. The time
    /// and the zone of a date may be left out. If you leave an end out, it is that of the trace.
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    window: Option<Period>,
    /// The time zone of the times shown, and of your times without one: UTC, +02:00, Europe/Berlin.
    #[arg(long, value_name = "ZONE", default_value_t, allow_hyphen_values = true)]
    timezone: Zone,
}

/// The ends of a window, each by itself.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct EndArgs {
    /// Count only jobs that were submitted at this time or later. Write it as for --window.
    #[arg(long, value_name = "TIME", conflicts_with = "window")]
    from: Option<Moment>,
    /// Count only jobs that were submitted before this time. Write it as for --window.
    #[arg(long, value_name = "TIME", conflicts_with = "window")]
    to: Option<Moment>,
}

/// A window in either form, for commands that read runs.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct WindowArgs {
    #[command(flatten)]
    window: WindowArg,
    #[command(flatten)]
    ends: EndArgs,
}

impl WindowArg {
    /// The zone.
    pub(crate) fn zone(&self) -> Zone {
        self.timezone
    }

    /// The window, with the ends that were given by themselves.
    fn period(&self, ends: &EndArgs) -> Period {
        self.window.unwrap_or(Period { from: ends.from, to: ends.to })
    }

    /// The window of a replay of this source.
    ///
    /// # Errors
    /// A wrong request if it is by the clock and the source has no dates, or if its end does not come after its start.
    pub(crate) fn of_source(&self, ends: &EndArgs, source: &Source) -> Result<Window, Failure> {
        let period = self.period(ends);
        if !period.is_by_the_clock() {
            let instant = |end: Option<Moment>| end.and_then(Moment::instant);
            return Ok(Window { from: instant(period.from), to: instant(period.to) });
        }
        let wrong = |problem: String| Failure::request(format!("{}: {problem}", source.name()));
        let Span { from, to } = period.within(&source.covered()?, self.timezone).map_err(wrong)?;
        Ok(Window { from: from.map(Instant::Date), to: to.map(Instant::Date) })
    }
}

impl WindowArgs {
    /// The zone.
    pub(crate) fn zone(&self) -> Zone {
        self.window.zone()
    }

    /// The window.
    pub(crate) fn period(&self) -> Period {
        self.window.period(&self.ends)
    }

    /// The window of a run or a trace that covers this; `None` if no option names one.
    ///
    /// # Errors
    /// As [`WindowArg::of_source`].
    pub(crate) fn span(&self, covered: Covered) -> Result<Option<Span>, Failure> {
        let period = self.period();
        if period.is_whole() {
            return Ok(None);
        }
        Ok(Some(resched_analysis::runs::window::span(&period, &covered, self.zone())?))
    }
}

/// A window as JSON has it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Within {
    /// Its start, ms of the trace's clock.
    from_ms: Option<i64>,
    /// The first instant after it, ms of the trace's clock.
    to_ms: Option<i64>,
    /// Its start as a date, if the trace has dates.
    from: Option<String>,
    /// Its end as a date.
    to: Option<String>,
}

/// A window that a command looks at, for its output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looked {
    pub(crate) span: Span,
    pub(crate) covered: Covered,
    pub(crate) zone: Zone,
}

impl Looked {
    /// The window as JSON has it.
    pub(crate) fn within(self) -> Within {
        let Span { from, to } = self.span;
        let date = |end: Option<i64>| end.filter(|_| self.covered.dated).and_then(|end| self.zone.rfc3339(end));
        Within { from_ms: from, to_ms: to, from: date(from), to: date(to) }
    }

    /// The window in words: `submitted from 2011-05-01 22:00:00 to 2011-05-02 06:00:00 UTC`.
    pub(crate) fn in_words(self) -> String {
        let Self { span, covered, zone } = self;
        let whole =
            Covered { start: span.from.unwrap_or(covered.start), last: span.to.unwrap_or(covered.last), ..covered };
        format!("submitted from {}", whole.in_words(zone))
    }
}

/// The times of a job as a clock shows them; unknown ones are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ByTheClock {
    submitted: Option<String>,
    started: Option<String>,
    ended: Option<String>,
}

impl ByTheClock {
    /// The times of a job of a run with this clock; `None` if its trace has no dates.
    pub(crate) fn of(clock: RunClock, zone: Zone, times: [Option<i64>; 3]) -> Option<(Self, String)> {
        if !clock.dated {
            return None;
        }
        let dates = times.map(|at| at.and_then(|at| clock.date(at)));
        let [submitted, started, ended] = dates.map(|at| at.and_then(|at| zone.rfc3339(at)));
        let words = ["submitted", "started", "ended"].into_iter().zip(dates);
        let words: Vec<String> = words.filter_map(|(word, at)| Some(format!("{word} {}", zone.show(at?)))).collect();
        Some((Self { submitted, started, ended }, words.join(", ")))
    }
}
