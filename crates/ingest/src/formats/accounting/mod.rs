//! What the accounting logs of batch systems have in common: PBS and Torque, LSF, Grid Engine, and tables under a map.
//!
//! ```text
//! a record ──▶ Entry (one try at a job) ──▶ Jobs (sorted) ──▶ which entries are one job ──▶ JobRecord, machines
//! ```
//!
//! A reader turns each record into an [`Entry`]. [`Jobs`] sorts the entries of all logs until the last one ends, because a job may be
//! queued in one file and end in another, and because only all jobs together show how large the machines are.

mod amounts;
mod entry;
mod job;
mod jobs;
mod join;
mod machines;
mod records;
mod shape;
#[cfg(test)]
mod tests;
mod times;

use std::any::Any;

use resched_tables::Error;
use resched_tables::sink::{Kept, Sink};

pub(super) use self::amounts::{Units, bytes, count, duration, whole};
pub(super) use self::entry::{Entry, Stage, Wait};
pub(super) use self::job::System;
pub(super) use self::jobs::Jobs;
pub(crate) use self::join::{MOST_ASKED, MOST_RECORDS};
pub(crate) use self::machines::MOST_HOSTS;
pub(super) use self::shape::{Assumed, Shape, of_chunks};
pub(super) use self::times::{Clock, Order};

/// The entries that the sink keeps from earlier sources of the format, or none.
pub(super) fn begin(sink: &mut dyn Sink, system: &'static System) -> Jobs {
    let kept = sink.kept().and_then(Option::take).map(|kept| (kept as Box<dyn Any>).downcast::<Jobs>());
    if let Some(Ok(jobs)) = kept { *jobs } else { Jobs::of(system) }
}

/// Gives the entries back to the sink, or hands over their jobs if it keeps nothing for the next source. `before` is how many entries
/// there were before this source.
pub(super) fn end(jobs: Jobs, before: u64, sink: &mut dyn Sink) -> Result<(), Error> {
    sink.keeps(jobs.entries().saturating_sub(before));
    let Some(kept) = sink.kept() else { return jobs.hand_over(sink) };
    *kept = Some(Box::new(jobs));
    Ok(())
}

impl Kept for Jobs {
    fn hand_over(self: Box<Self>, sink: &mut dyn Sink) -> Result<(), Error> {
        (*self).hand_over(sink)
    }
}
