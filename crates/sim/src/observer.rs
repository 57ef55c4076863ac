//! What the replays of both engines report.

use resched_trace::model::Outcome;

use crate::ids::{JobId, Ms};

/// A job has ended, as the master saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobEnded {
    /// The job.
    pub job: JobId,
    /// When its first task was assigned, ms.
    pub launch: Option<Ms>,
    /// The heartbeat that reported its last task, ms.
    pub finish: Ms,
    /// `Success` or `Failed`.
    pub outcome: Outcome,
}

/// A decision that a policy has reported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decided {
    /// When, ms.
    pub at: Ms,
    /// The name of the decision, such as `delta`.
    pub name: &'static str,
    /// The job that it is about; `None` if it is about all jobs.
    pub job: Option<JobId>,
    /// The chosen value.
    pub value: f64,
}
