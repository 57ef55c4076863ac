//! What a replay reports while it runs.

use resched_tables::model::{Locality, Outcome};

use crate::Error;
use crate::hadoop::containers::Reservation;
use crate::ids::{JobId, Ms, NodeId, TaskId};
use crate::observer::Reports;

/// An attempt was assigned to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launched {
    /// When its task was chosen, ms: at the heartbeat of its node that assigned it. Under YARN, a map's may be chosen at the next
    /// heartbeat of its application master (`am.withdraws`).
    pub at: Ms,
    /// Its task.
    pub task: TaskId,
    /// Its number among the attempts at that task.
    pub attempt: u32,
    /// Where it runs.
    pub node: NodeId,
    /// How near to its input it runs. `None` for reduces, and for maps without known places of input.
    pub level: Option<Locality>,
    /// True if another attempt at its task was already running.
    pub backup: bool,
}

/// An attempt has ended, or never will.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its task.
    pub task: TaskId,
    /// Its number among the attempts at that task.
    pub attempt: u32,
    /// Where it ran.
    pub node: NodeId,
    /// How near to its input it runs. `None` for reduces, and for maps without known places of input.
    pub level: Option<Locality>,
    /// When it started, ms. If it was still being launched at its end or, if it never ends, at the end of the last job, the time
    /// of that end.
    pub start: Ms,
    /// When a reduce had all its input, ms.
    pub shuffle_finish: Option<Ms>,
    /// When a reduce had sorted its input, ms.
    pub sort_finish: Option<Ms>,
    /// When it ended on its node, ms; `None` if it never does.
    pub finish: Option<Ms>,
    /// How it ended on its node; `Incomplete` if it never does: a reduce that waits for the maps of a failed job.
    pub outcome: Outcome,
    /// True if it succeeded but the master did not count it: its kill had been ordered, another attempt was
    /// first, or the master had given up its node before the report.
    pub discarded: bool,
    /// True if another attempt at its task was already running when it was launched.
    pub backup: bool,
}

/// The application master of a job was given its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MasterLaunched {
    /// The heartbeat of its node, ms.
    pub at: Ms,
    /// The job.
    pub job: JobId,
    /// Where it runs.
    pub node: NodeId,
}

/// The container of an application master is free again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MasterEnded {
    /// When the resource manager learned it, ms: at the heartbeat of its node after the end of its job's last task, or when it gave
    /// up the node.
    pub at: Ms,
    /// The job.
    pub job: JobId,
    /// The outcome of the job's tasks; `Lost` if the node was given up first.
    pub outcome: Outcome,
}

/// A node is kept for a request now, under YARN, or for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// When, ms.
    pub at: Ms,
    /// The node.
    pub node: NodeId,
    /// The request.
    pub reservation: Option<Reservation>,
}

/// The resource manager has taken a container back before its task was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenBack {
    /// When, ms.
    pub at: Ms,
    /// The task in it.
    pub task: TaskId,
    /// The number of the attempt.
    pub attempt: u32,
    /// Its node.
    pub node: NodeId,
}

/// How much of a node its tasks used on average since the last such report (model `contention`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Used {
    /// The end of the time that this report covers, ms.
    pub at: Ms,
    /// The node.
    pub node: NodeId,
    /// Share of its cores that worked, from 0 to 1; 0 if its cores are unlimited.
    pub cpu: f64,
    /// Share of its cores that stood idle while a task waited for the disk.
    pub io_wait: f64,
    /// Bytes read and written per second.
    pub disk: f64,
    /// Bytes received from other nodes per second.
    pub net_in: f64,
    /// Bytes sent to other nodes per second.
    pub net_out: f64,
}

/// Receives what happens in a replay. If a method returns an error, the replay ends with it.
pub trait Observer: Reports {
    /// An attempt was assigned to a node.
    ///
    /// # Errors
    /// Any error in recording it.
    fn launched(&mut self, _launched: &Launched) -> Result<(), Error> {
        Ok(())
    }

    /// The application master of a job was given its container.
    ///
    /// # Errors
    /// Any error in recording it.
    fn master_launched(&mut self, _launched: &MasterLaunched) -> Result<(), Error> {
        Ok(())
    }

    /// The container of an application master is free again. If its node was lost while the job ran, another one will be launched.
    ///
    /// # Errors
    /// Any error in recording it.
    fn master_ended(&mut self, _ended: &MasterEnded) -> Result<(), Error> {
        Ok(())
    }

    /// A node is kept for another request than before, or for none any more. Reported once an event is over.
    ///
    /// # Errors
    /// Any error in recording it.
    fn kept(&mut self, _kept: &Kept) -> Result<(), Error> {
        Ok(())
    }

    /// The resource manager has taken a container back.
    ///
    /// # Errors
    /// Any error in recording it.
    fn taken_back(&mut self, _taken: &TakenBack) -> Result<(), Error> {
        Ok(())
    }

    /// The node of a reduce has learned that all maps of its job are done (model R0).
    ///
    /// # Errors
    /// Any error in recording it.
    fn notified(&mut self, _at: Ms, _task: TaskId, _attempt: u32) -> Result<(), Error> {
        Ok(())
    }

    /// An attempt has ended, or never will.
    ///
    /// # Errors
    /// Any error in recording it.
    fn ended(&mut self, _ended: &Ended) -> Result<(), Error> {
        Ok(())
    }

    /// The use of a node by its tasks was measured (model `contention`).
    ///
    /// # Errors
    /// Any error in recording it.
    fn used(&mut self, _used: &Used) -> Result<(), Error> {
        Ok(())
    }
}

/// Ignores everything.
impl Observer for () {}
