//! A job of a log of accounting, as all its entries together say it.

use resched_tables::model::Outcome;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::entry::Stage;
use super::shape::Shape;

/// A system whose logs are read.
#[derive(Debug)]
pub(crate) struct System {
    /// The framework of its jobs in the jobs table.
    pub(crate) framework: &'static str,
    /// Its logs, for messages.
    pub(crate) logs: &'static str,
}

/// What an entry says about its job. An empty text is unknown.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Details<'a> {
    pub(super) name: &'a str,
    pub(super) user: &'a str,
    pub(super) queue: &'a str,
    pub(super) account: &'a str,
    pub(super) qos: &'a str,
    pub(super) features: &'a str,
    pub(super) reservation: &'a str,
    pub(super) priority: Option<i64>,
    pub(super) limit: Option<i64>,
    pub(super) shape: Option<Shape>,
    /// The jobs that it waits for, each behind `+` if it must succeed, joined by blanks.
    pub(super) waits_for: &'a str,
}

/// A try.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Try<'a> {
    pub(super) eligible: Option<i64>,
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) run: Option<i64>,
    pub(super) stage: Stage,
    /// Its hosts with the processors on each, as [`resched_tables::placed`] writes them.
    pub(super) hosts: &'a str,
    pub(super) cpu_ms: Option<i64>,
    pub(super) used_memory: Option<i64>,
}

impl Try<'_> {
    /// True if it ran, or runs.
    pub(super) fn ran(&self) -> bool {
        self.start.is_some() || self.run.is_some_and(|run| run > 0)
    }
}

/// A job, once all entries are known.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job<'a> {
    pub(super) id: &'a str,
    /// Which of the jobs that had this id it is: 0 for the first, 2 for the second, and so on.
    pub(super) again: u32,
    pub(super) submit: Option<i64>,
    /// From when on it could start first.
    pub(super) eligible: Option<i64>,
    pub(super) details: Details<'a>,
    /// How the job stands, and when it ended.
    pub(super) outcome: Outcome,
    pub(super) end: Option<i64>,
    #[serde(skip)]
    pub(super) tries: SmallVec<[Try<'a>; 1]>,
}

impl<'a> Job<'a> {
    /// Writes it over `bytes`.
    ///
    /// # Errors
    /// The error of the encoding.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) -> Result<(), postcard::Error> {
        bytes.clear();
        *bytes = postcard::to_extend(&(self, self.tries.len()), std::mem::take(bytes))?;
        for one in &self.tries {
            *bytes = postcard::to_extend(one, std::mem::take(bytes))?;
        }
        Ok(())
    }

    /// The job that was written so.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let ((mut job, tries), mut rest) = postcard::take_from_bytes::<(Self, usize)>(bytes).ok()?;
        for _ in 0..tries {
            let (one, after) = postcard::take_from_bytes(rest).ok()?;
            job.tries.push(one);
            rest = after;
        }
        Some(job)
    }
}
