//! The reports of a replay while it runs.

use std::sync::Arc;

use crate::Error;
use crate::ids::{AttemptId, Ms, NodeId, TaskId};
use crate::observer::Reports;
use resched_tables::model::{Locality, Outcome};

/// An instance or a gang has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launched<'a> {
    /// Its id; its end is reported under the same id.
    pub run: AttemptId,
    /// Its task.
    pub task: TaskId,
    /// When it started, ms.
    pub at: Ms,
    /// The machines, and how many instances run on each.
    pub places: &'a [(NodeId, u32)],
    /// The flavours that its policy took its resources from (Kueue).
    pub flavors: Option<&'a Arc<str>>,
}

/// An instance or a gang has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// The id under which its start was reported. A later start may get the same id.
    pub run: AttemptId,
    /// Its task.
    pub task: TaskId,
    /// Its number among the starts of that task.
    pub attempt: u32,
    /// The number of its instances: one, or those of the gang.
    pub instances: u32,
    /// Where it ran, if it ran on one machine.
    pub node: Option<NodeId>,
    /// Since when it had waited, ms.
    pub queued: Ms,
    /// When it started, ms.
    pub start: Ms,
    /// When it ended, ms.
    pub finish: Ms,
    /// How it ended; `Lost` if its machine left, `Evicted` if a policy gave its place to another and it runs again.
    pub outcome: Outcome,
    /// How near it ran to a machine that its task prefers; `None` if it prefers none, or ran on several machines.
    pub locality: Option<Locality>,
}

/// Receives what happens in a replay. If a method returns an error, the replay ends with it.
pub trait Observer: Reports {
    /// An instance or a gang has started.
    ///
    /// # Errors
    /// Any error in recording it.
    fn launched(&mut self, _launched: &Launched<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// An instance or a gang has ended.
    ///
    /// # Errors
    /// Any error in recording it.
    fn ended(&mut self, _ended: &Ended) -> Result<(), Error> {
        Ok(())
    }

    /// True if it has seen all that it wants. The replay then ends at this instant, and jobs that have not ended by then are left as they
    /// are.
    fn is_satisfied(&self) -> bool {
        false
    }
}

/// Ignores everything.
impl Observer for () {}
