//! What a replay reports while it runs.

use resched_trace::model::Outcome;

use super::runs::RunId;
use crate::Error;
use crate::ids::{Ms, NodeId, TaskId};
use crate::observer::{Decided, JobEnded};

/// An instance or a gang has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launched<'a> {
    /// Names it; its end is reported under the same number.
    pub run: RunId,
    /// Its task.
    pub task: TaskId,
    /// When, ms.
    pub at: Ms,
    /// Where, and how many instances on each machine.
    pub places: &'a [(NodeId, u32)],
}

/// An instance or a gang has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// The number under which its start was reported; the next start may get it again.
    pub run: RunId,
    /// Its task.
    pub task: TaskId,
    /// Its number among the starts of that task.
    pub attempt: u32,
    /// Its instances: one, or those of the gang.
    pub instances: u32,
    /// Where it ran, if that was one machine.
    pub node: Option<NodeId>,
    /// Since when it had waited, ms.
    pub queued: Ms,
    /// When it started, ms.
    pub start: Ms,
    /// When it ended, ms.
    pub finish: Ms,
    /// How; `Lost` if its machine left.
    pub outcome: Outcome,
}

/// Follows a replay. An error from it ends the replay.
pub trait Observer {
    /// An instance or a gang has started.
    ///
    /// # Errors
    /// Whatever went wrong in recording it.
    fn launched(&mut self, _launched: &Launched<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// An instance or a gang has ended.
    ///
    /// # Errors
    /// Whatever went wrong in recording it.
    fn ended(&mut self, _ended: &Ended) -> Result<(), Error> {
        Ok(())
    }

    /// A job has ended.
    ///
    /// # Errors
    /// Whatever went wrong in recording it.
    fn job_ended(&mut self, _ended: &JobEnded) -> Result<(), Error> {
        Ok(())
    }

    /// A policy has reported a decision.
    ///
    /// # Errors
    /// Whatever went wrong in recording it.
    fn decided(&mut self, _decided: &Decided) -> Result<(), Error> {
        Ok(())
    }
}

/// Follows nothing.
impl Observer for () {}
