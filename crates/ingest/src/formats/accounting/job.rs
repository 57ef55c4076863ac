//! A job of a log of accounting, as all its entries together say it.

use resched_tables::model::Outcome;
use smallvec::SmallVec;

use super::entry::Stage;
use super::shape::Shape;
use crate::texts::TextId;

/// A system whose logs are read.
#[derive(Debug)]
pub(crate) struct System {
    /// The framework of its jobs in the jobs table.
    pub(crate) framework: &'static str,
    /// Its logs, for messages.
    pub(crate) logs: &'static str,
}

/// What an entry says about its job.
#[derive(Debug, Clone, Default)]
pub(super) struct Details {
    pub(super) name: TextId,
    pub(super) user: TextId,
    pub(super) queue: TextId,
    pub(super) account: TextId,
    pub(super) qos: TextId,
    pub(super) features: TextId,
    pub(super) reservation: TextId,
    pub(super) priority: Option<i64>,
    pub(super) limit: Option<i64>,
    pub(super) shape: Option<Box<Shape>>,
    /// The jobs that it waits for, each behind `+` if it must succeed, joined by blanks.
    pub(super) waits_for: TextId,
}

/// A try.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Try {
    pub(super) eligible: Option<i64>,
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) run: Option<i64>,
    pub(super) stage: Stage,
    /// Its hosts with the processors on each, as [`placed`] writes them.
    pub(super) hosts: TextId,
    pub(super) cpu_ms: Option<i64>,
    pub(super) used_memory: Option<i64>,
}

impl Try {
    /// Whether it ran, or runs.
    pub(super) fn ran(&self) -> bool {
        self.start.is_some() || self.run.is_some_and(|run| run > 0)
    }
}

/// A job, once all entries are known.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: TextId,
    pub(super) submit: Option<i64>,
    /// From when on it could start first.
    pub(super) eligible: Option<i64>,
    pub(super) details: Details,
    pub(super) tries: SmallVec<[Try; 1]>,
    /// How the job stands, and when it ended.
    pub(super) outcome: Outcome,
    pub(super) end: Option<i64>,
}
