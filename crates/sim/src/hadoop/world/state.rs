//! The states of jobs, tasks and nodes.

use super::chores::Chore;
use super::map_index::MapIndex;
use crate::hadoop::cost::Fluid;
use crate::hadoop::resources::Resources;
use crate::ids::{AttemptId, Ms, NodeId, TaskId};
use resched_tables::model::Outcome;

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobPhase {
    Future,
    Active,
    Over,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskPhase {
    /// Never launched.
    Waiting,
    Running,
    /// Waits again after a failure, a kill or the loss of its output.
    Returned,
    Done,
}

/// A task as it stands. There may be a hundred million, and an attempt looks at any of them, so it takes few bytes.
#[derive(Debug, Clone)]
pub(crate) struct TaskState {
    pub(crate) phase: TaskPhase,
    pub(crate) tries: u32,
    pub(crate) failures: u32,
    /// Its attempts that are on nodes, as far as the master knows; more than one if it is backed up.
    pub(crate) live: u16,
    /// True if an attempt at it has succeeded; under YARN its job's master may not have learned it yet.
    pub(crate) won: bool,
    /// Where it was done, or [`TaskState::NOWHERE`].
    pub(super) done_on: NodeId,
}

const _: () = assert!(size_of::<TaskState>() == 16);

impl TaskState {
    /// Stands for no node.
    pub(super) const NOWHERE: NodeId = NodeId(u32::MAX);

    /// A task that was never launched.
    pub(super) const NEW: TaskState =
        TaskState { phase: TaskPhase::Waiting, tries: 0, failures: 0, live: 0, won: false, done_on: Self::NOWHERE };
}

/// A job as it stands. Pairs hold a value for maps and one for reduces.
#[derive(Debug)]
pub(crate) struct JobState {
    pub(crate) phase: JobPhase,
    /// Built when the job arrives, dropped when it ends.
    pub(crate) maps: Option<Box<MapIndex>>,
    pub(super) next_reduce: u32,
    /// Reduces that wait again, the latest last; some may have been launched since.
    pub(super) returned_reduces: Vec<TaskId>,
    /// On which nodes each reduce has failed.
    pub(super) failed_reduces: Vec<(TaskId, Vec<NodeId>)>,
    pub(crate) waiting: [u32; 2],
    pub(crate) running: [u32; 2],
    /// Of the running attempts, those of tasks that ran already when they were launched.
    pub(crate) backups: [u32; 2],
    pub(crate) finished: [u32; 2],
    pub(super) slowstart: u32,
    pub(crate) launch: Option<Ms>,
    /// When the master learned that the last map was done.
    pub(crate) maps_done: Option<Ms>,
    pub(crate) runs: [Vec<AttemptId>; 2],
    pub(crate) fluid: Fluid,
    /// What finished maps left for the reduces, by node: bytes, or their number where a size is unknown. Made with the
    /// first such map, dropped when the job ends.
    pub(crate) map_output: Vec<f64>,
    pub(super) output_in_bytes: bool,
    pub(super) node_failures: Vec<(NodeId, u32)>,
    /// How its tasks ended, once they have.
    pub(crate) outcome: Outcome,
}

/// Whether a node works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    Up,
    /// It is silent since then, and the master waits for its heartbeat.
    Silent(Ms),
    /// The master has given it up.
    Lost,
}

/// A node as it stands.
#[derive(Debug)]
pub(crate) struct NodeState {
    /// In launch order.
    pub(crate) runs: Vec<AttemptId>,
    pub(crate) free: Resources,
    pub(crate) health: Health,
    /// Attempts of each kind in the heartbeat that is being handled or was handled last.
    pub(crate) reported: [u32; 2],
    /// The set-up and clean-up tasks that run here.
    pub(crate) chores: Vec<Chore>,
}
