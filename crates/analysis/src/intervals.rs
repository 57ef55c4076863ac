//! Attempts as intervals of time, for metrics over time.

use polars::prelude::PolarsResult;
use resched_trace::model::{Outcome, TaskKind};

use crate::{Error, Tables};

/// The time that an attempt held its slot, `start ≤ t < finish`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// The row of its job in the jobs table.
    pub job: usize,
    /// The kind of its task.
    pub kind: TaskKind,
    /// When it started, ms.
    pub start: i64,
    /// When it ended, ms; later than `start`.
    pub finish: i64,
    /// Whether it ended well.
    pub succeeded: bool,
}

/// The attempts with a known start and a later finish, in the order of the table.
///
/// # Errors
/// [`Error::Frame`] if the table lacks a column.
pub fn intervals(tables: &Tables) -> Result<Vec<Interval>, Error> {
    collect(tables).map_err(Error::frame("attempts"))
}

fn collect(tables: &Tables) -> PolarsResult<Vec<Interval>> {
    let frame = &tables.attempts;
    let (job, kind, outcome) =
        (frame.column("job")?.u32()?, frame.column("kind")?.str()?, frame.column("outcome")?.str()?);
    let (start, finish) = (frame.column("start")?.i64()?, frame.column("finish")?.i64()?);
    let interval = |row: usize| {
        let (start, finish) = (start.get(row)?, finish.get(row)?);
        (start < finish).then_some(Interval {
            job: job.get(row)? as usize,
            kind: TaskKind::from_name(kind.get(row)?)?,
            start,
            finish,
            succeeded: outcome.get(row) == Some(Outcome::Success.as_str()),
        })
    };
    Ok((0..frame.height()).filter_map(interval).collect())
}
