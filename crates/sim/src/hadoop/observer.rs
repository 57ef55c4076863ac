//! What a replay reports while it runs.

use resched_trace::model::{Locality, Outcome};

use crate::Error;
use crate::ids::{Ms, NodeId, TaskId};
use crate::observer::{Decided, JobEnded};

/// An attempt was assigned to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launched {
    /// The heartbeat that assigned it, ms.
    pub at: Ms,
    /// Its task.
    pub task: TaskId,
    /// Its number among the tries at that task.
    pub attempt: u32,
    /// Where it runs.
    pub node: NodeId,
    /// How near to its input; `None` for reduces, and for maps without known places of input.
    pub level: Option<Locality>,
    /// Whether another attempt at its task ran already.
    pub backup: bool,
}

/// An attempt has ended, or the replay has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its task.
    pub task: TaskId,
    /// Its number among the tries at that task.
    pub attempt: u32,
    /// Where it ran.
    pub node: NodeId,
    /// How near to its input; `None` for reduces, and for maps without known places of input.
    pub level: Option<Locality>,
    /// When it started, ms; when it ended, or the replay did, if it was still being launched then.
    pub start: Ms,
    /// When a reduce had all its input, ms.
    pub shuffle_finish: Option<Ms>,
    /// When a reduce had sorted its input, ms.
    pub sort_finish: Option<Ms>,
    /// When it ended on its node, ms; `None` if the replay ended first.
    pub finish: Option<Ms>,
    /// How it ended on its node; `Incomplete` if the replay ended first.
    pub outcome: Outcome,
    /// Whether it ended well but the master did not count it: it had been ordered to be killed (oracle F2), another attempt
    /// was first, or its node was given up before it could report.
    pub discarded: bool,
    /// Whether another attempt at its task ran already when it was launched.
    pub backup: bool,
}

/// What the tasks of a node used of it, on average, since the last such report (model `contention`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Used {
    /// When the time ended that this is about, ms.
    pub at: Ms,
    /// Which node.
    pub node: NodeId,
    /// Share of its cores that worked, from 0 to 1; 0 where they are unlimited.
    pub cpu: f64,
    /// Share of its cores that stood idle while a task waited for the disk.
    pub io_wait: f64,
    /// Read and written, bytes per second.
    pub disk: f64,
    /// Taken in from other nodes, bytes per second.
    pub net_in: f64,
    /// Given out to other nodes, bytes per second.
    pub net_out: f64,
}

/// Follows a replay. An error from it ends the replay.
pub trait Observer {
    /// An attempt was assigned to a node.
    ///
    /// # Errors
    /// Whatever went wrong in recording it.
    fn launched(&mut self, _launched: &Launched) -> Result<(), Error> {
        Ok(())
    }

    /// The node of a reduce has learned that all maps of its job are done (model R0).
    ///
    /// # Errors
    /// Whatever went wrong in recording it.
    fn notified(&mut self, _at: Ms, _task: TaskId, _attempt: u32) -> Result<(), Error> {
        Ok(())
    }

    /// An attempt has ended, or the replay has.
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

    /// What the tasks of a node used of it was measured (model `contention`).
    ///
    /// # Errors
    /// Whatever went wrong in recording it.
    fn used(&mut self, _used: &Used) -> Result<(), Error> {
        Ok(())
    }
}

/// Follows nothing.
impl Observer for () {}
