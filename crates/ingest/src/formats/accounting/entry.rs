//! What a record says about a try at a job, whatever system wrote it.

use std::borrow::Cow;

use resched_tables::model::Outcome;
use serde::{Deserialize, Serialize};

use super::shape::Shape;

/// A try at a job. An empty text is unknown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry<'a> {
    /// The id of the job.
    pub(crate) id: Cow<'a, str>,
    pub(crate) name: &'a str,
    pub(crate) user: &'a str,
    pub(crate) queue: &'a str,
    /// The account, the project or the user group: what shares are given to.
    pub(crate) account: &'a str,
    pub(crate) qos: &'a str,
    /// The features that its machines must have.
    pub(crate) features: &'a str,
    pub(crate) reservation: &'a str,
    pub(crate) priority: Option<i64>,
    /// The number in place of 0 if the submission is only near this time, ms.
    pub(crate) submit: Option<i64>,
    /// True if the record gives the submission. Otherwise it is the time of the record.
    pub(crate) is_exact: bool,
    /// From when on it could start, ms.
    pub(crate) eligible: Option<i64>,
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    /// The run time, if there are no start and end, ms.
    pub(crate) run: Option<i64>,
    pub(crate) stage: Stage,
    /// The limit of its run time, ms.
    pub(crate) limit: Option<i64>,
    /// What it asked for; `None` if the record does not say it.
    pub(crate) shape: Option<Shape>,
    pub(crate) waits_for: Vec<Wait<'a>>,
    /// The hosts that it ran on, each with its processors there; 0: unknown.
    pub(crate) hosts: Vec<(Cow<'a, str>, u32)>,
    /// Processor time of the whole try, ms.
    pub(crate) cpu_ms: Option<i64>,
    /// The most resident memory of the whole try, bytes.
    pub(crate) used_memory: Option<i64>,
}

/// How far a try has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// It waits.
    #[default]
    Waiting,
    /// It has started.
    Running,
    /// It ended so, and so did its job.
    Ended(Outcome),
    /// It ended, and its job was given back to the queue.
    GivenBack,
}

impl Stage {
    /// True if the try has ended.
    pub(crate) fn has_ended(self) -> bool {
        matches!(self, Self::Ended(_) | Self::GivenBack)
    }

    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Waiting | Self::Running => Outcome::Incomplete,
            Self::Ended(outcome) => outcome,
            Self::GivenBack => Outcome::Evicted,
        }
    }
}

/// A job whose end another one waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait<'a> {
    pub(crate) id: &'a str,
    /// True if it must end well.
    pub(crate) must_succeed: bool,
}
