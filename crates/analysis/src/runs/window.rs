//! The part of the time of runs and traces that is looked at: jobs that were submitted in it count.
//!
//! Runs have clocks of their own. A window is on the clock of the trace ([`Span`]), so it names the same jobs in the trace and in every
//! run of it.

use resched_tables::clock::{Covered, Period, Span, Zone};
use resched_tables::run::{RunClock, RunWindow};
use resched_tables::store::TimeZero;

use crate::runs::standing::{counting, set_standings};
use crate::{Error, JobMetrics, Origin, Run};

/// How the clock of these tables relates to that of the trace. A run that does not say so has a clock of its own, without dates.
pub(crate) fn clock(origin: &Origin, jobs: &[JobMetrics]) -> RunClock {
    let first = || jobs.iter().filter_map(|job| job.submit).min().unwrap_or(0);
    match origin {
        Origin::Replay(info) => info.clock.unwrap_or_else(|| RunClock { zero: 0, start: first(), dated: false }),
        Origin::Observed(manifest) => RunClock {
            zero: 0,
            start: manifest.begin.map_or_else(first, |begin| begin.max(first())),
            dated: manifest.time_zero == TimeZero::Epoch,
        },
    }
}

/// The time that these tables cover, on the clock of the trace.
pub(crate) fn covered(origin: &Origin, jobs: &[JobMetrics]) -> Covered {
    let clock = clock(origin, jobs);
    let last = jobs.iter().filter_map(|job| job.submit).max();
    let last = last.map_or(clock.start, |last| last.saturating_add(clock.zero));
    Covered { start: clock.start, last, dated: clock.dated }
}

/// The window of these tables, on their own clock: the part of it that lies in `span`.
fn window(origin: &Origin, jobs: &[JobMetrics], span: Span) -> RunWindow {
    let zero = clock(origin, jobs).zero;
    let submits = || jobs.iter().filter_map(|job| job.submit);
    let whole = origin.window().unwrap_or_else(|| RunWindow {
        from: submits().min().unwrap_or(0),
        to: submits().max().unwrap_or(0).saturating_add(1),
    });
    let at = |end: i64| end.saturating_sub(zero);
    let from = span.from.map_or(whole.from, |from| at(from).max(whole.from));
    RunWindow { from, to: span.to.map_or(whole.to, |to| at(to).min(whole.to)).max(from) }
}

/// Judges the jobs again in this part of the time, and returns it on their clock.
///
/// # Errors
/// [`Error::Trace`], a wrong request, if no job counts in it; `label` names the run.
pub(crate) fn narrow(
    label: &str,
    origin: &Origin,
    jobs: &mut [JobMetrics],
    span: Span,
    zone: Zone,
) -> Result<RunWindow, Error> {
    let window = window(origin, jobs, span);
    set_standings(jobs, origin, Some(window));
    if counting(jobs).next().is_some() {
        return Ok(window);
    }
    let covered = covered(origin, jobs);
    let asked = Covered {
        start: span.from.unwrap_or(covered.start),
        last: span.to.unwrap_or(covered.last),
        dated: covered.dated,
    };
    Err(Error::Trace(resched_tables::Error::Request(format!(
        "{label}: expected a window with submissions of jobs that ended well, found none from {}; jobs were submitted from {}",
        asked.in_words(zone),
        covered.in_words(zone)
    ))))
}

impl Run {
    /// How its clock relates to that of the trace.
    pub fn clock(&self) -> RunClock {
        clock(&self.origin, &self.jobs)
    }

    /// The time that it covers, on the clock of the trace.
    pub fn covered(&self) -> Covered {
        covered(&self.origin, &self.jobs)
    }

    /// Looks only at jobs that were submitted in this part of the time of the trace: no other job counts any more.
    ///
    /// # Errors
    /// [`Error::Trace`], a wrong request, if no job counts in it.
    pub fn narrow(&mut self, span: Span, zone: Zone) -> Result<(), Error> {
        let window = narrow(&self.label, &self.origin, &mut self.jobs, span, zone)?;
        if let Origin::Replay(info) = &mut self.origin {
            info.window = Some(window);
        }
        Ok(())
    }
}

/// The part of the time of the trace that a period names, for runs and traces that cover this together.
///
/// # Errors
/// [`Error::Trace`], a wrong request, if it cannot be found.
pub fn span(period: &Period, covered: &Covered, zone: Zone) -> Result<Span, Error> {
    period.within(covered, zone).map_err(|problem| Error::Trace(resched_tables::Error::Request(problem)))
}

/// Narrows runs to a period; `None` if it is all of the time. The same jobs are in it in all runs of a trace.
///
/// # Errors
/// As [`span`] and [`Run::narrow`].
pub fn narrow_all(runs: &mut [Run], period: &Period, zone: Zone) -> Result<Option<Span>, Error> {
    let covered = Covered::of_all(runs.iter().map(Run::covered)).filter(|_| !period.is_whole());
    let Some(covered) = covered else { return Ok(None) };
    let span = span(period, &covered, zone)?;
    runs.iter_mut().try_for_each(|run| run.narrow(span, zone))?;
    Ok(Some(span))
}
