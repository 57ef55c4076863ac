//! What the replays of both engines report.

use resched_tables::model::{Outcome, Reason, TaskKind};

use crate::Error;
use crate::ids::{JobId, Ms};

/// A job has ended, as the master saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobEnded {
    /// The job.
    pub job: JobId,
    /// From when on it could start, ms, if that is later than its submission: it was held, or waited for other jobs.
    pub eligible: Option<Ms>,
    /// When its first task was assigned, ms.
    pub launch: Option<Ms>,
    /// The heartbeat that reported its last task, ms.
    pub finish: Ms,
    /// `Success` or `Failed`.
    pub outcome: Outcome,
}

/// A job is passed over for another reason than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassedOver {
    /// Since when, ms.
    pub at: Ms,
    /// The job; `None` for all jobs: no place for this kind of task is free.
    pub job: Option<JobId>,
    /// The kind of the tasks that it could have run.
    pub kind: TaskKind,
    /// Why; `None` if nothing holds it back any more.
    pub reason: Reason,
    /// The job that the reason is about.
    pub other: Option<JobId>,
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
    /// The job for which it was decided.
    pub other: Option<JobId>,
}

/// What the replays of both engines report. If a method returns an error, the replay ends with it.
pub trait Reports {
    /// A job has ended.
    ///
    /// # Errors
    /// Any error in recording it.
    fn job_ended(&mut self, _ended: &JobEnded) -> Result<(), Error> {
        Ok(())
    }

    /// A policy has reported a decision.
    ///
    /// # Errors
    /// Any error in recording it.
    fn decided(&mut self, _decided: &Decided) -> Result<(), Error> {
        Ok(())
    }

    /// True if it wants to know why jobs are passed over. It is asked once, before the replay begins.
    fn wants_reasons(&self) -> bool {
        false
    }

    /// A job is passed over for another reason than before. Reported once an event is over.
    ///
    /// # Errors
    /// Any error in recording it.
    fn passed_over(&mut self, _passed: &PassedOver) -> Result<(), Error> {
        Ok(())
    }
}

/// Ignores everything.
impl Reports for () {}
