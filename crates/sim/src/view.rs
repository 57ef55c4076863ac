//! What a policy may read: the world as the master sees it, without run times, outcomes or jobs to come.

use resched_trace::model::{Outcome, Priority};

use crate::ids::{JobId, Kind, Level, Ms, NodeId, RackId, TaskId};
use crate::oracle::Oracle;
use crate::resources::Resources;
use crate::world::{Kill, TaskPhase, World};

/// An attempt that is on a node now. The number is used again once it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub(crate) u32);

impl RunId {
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The world as the master sees it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(crate) world: &'a World<'a>,
}

/// A job that has arrived.
#[derive(Clone, Copy)]
pub struct JobView<'a> {
    world: &'a World<'a>,
    job: JobId,
}

/// An attempt on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunView {
    /// Names it in orders.
    pub id: RunId,
    /// Its task.
    pub task: TaskId,
    /// Its number among the tries at that task.
    pub attempt: u32,
    /// Where it runs.
    pub node: NodeId,
    /// When it was assigned, ms.
    pub assigned: Ms,
    /// How near to its input it runs (`Off` for reduces).
    pub level: Level,
    /// Whether a heartbeat of its node has reported it.
    pub reported: bool,
    /// Whether it has been ordered to be killed.
    pub dying: bool,
}

impl RunView {
    pub(crate) fn of(world: &World<'_>, id: RunId) -> Self {
        let run = &world.runs[id.index()];
        Self {
            id,
            task: run.task,
            attempt: run.attempt,
            node: run.node,
            assigned: run.assigned,
            level: run.level,
            reported: run.reported,
            dying: run.kill != Kill::No,
        }
    }
}

/// What the master learns when an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptEnd {
    /// Its task.
    pub task: TaskId,
    /// The job of its task.
    pub job: JobId,
    /// The kind of its task.
    pub kind: Kind,
    /// Its number among the tries at that task.
    pub attempt: u32,
    /// Where it ran.
    pub node: NodeId,
    /// How near to its input it ran (`Off` for reduces).
    pub level: Level,
    /// When it started on its node, ms.
    pub start: Ms,
    /// When a reduce had all its input, ms; `None` for a map, and for a reduce that ended before.
    pub shuffle_finish: Option<Ms>,
    /// When a reduce had sorted its input, ms; `None` as above.
    pub sort_finish: Option<Ms>,
    /// When it ended on its node, ms.
    pub finish: Ms,
    /// How it ended, as the master takes it.
    pub outcome: Outcome,
}

impl<'a> View<'a> {
    /// The simulated time, ms.
    #[inline]
    pub fn now(&self) -> Ms {
        self.world.now
    }

    /// When the clock started, ms.
    pub fn clock_start(&self) -> Ms {
        self.world.cluster.config.heartbeat.first
    }

    /// Time between two heartbeats of a node, ms.
    #[inline]
    pub fn heartbeat_interval(&self) -> Ms {
        self.world.cluster.interval()
    }

    /// How many nodes there are.
    #[inline]
    pub fn node_count(&self) -> usize {
        self.world.nodes.len()
    }

    /// The nodes, by id.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<'a> {
        self.world.cluster.node_ids()
    }

    /// How many racks there are.
    pub fn rack_count(&self) -> usize {
        self.world.cluster.racks().len()
    }

    /// The rack of a node.
    pub fn rack(&self, node: NodeId) -> RackId {
        self.world.cluster.node(node).rack
    }

    /// All slots of a kind.
    #[inline]
    pub fn slots(&self, kind: Kind) -> u32 {
        self.world.cluster.slots(kind)
    }

    /// The slots of a kind of one node.
    #[inline]
    pub fn node_slots(&self, node: NodeId, kind: Kind) -> u32 {
        self.world.cluster.node(node).capacity.fits(self.world.cluster.demand(kind))
    }

    /// What a node has free.
    #[inline]
    pub fn free(&self, node: NodeId) -> Resources {
        self.world.nodes[node.index()].free
    }

    /// Jobs that have arrived and not ended, in the order of submission, then of id.
    #[inline]
    pub fn jobs(&self) -> &'a [JobId] {
        &self.world.active
    }

    /// How many more tasks of a kind a node has room for.
    #[inline]
    pub fn free_slots(&self, node: NodeId, kind: Kind) -> u32 {
        self.free(node).fits(self.world.cluster.demand(kind))
    }

    /// A job.
    #[inline]
    pub fn job(&self, job: JobId) -> JobView<'a> {
        JobView { world: self.world, job }
    }

    /// The job of a task.
    #[inline]
    pub fn job_of(&self, task: TaskId) -> JobId {
        self.world.workload.job_of(task)
    }

    /// The maps of a job that wait, by number.
    pub fn waiting_maps(&self, job: JobId) -> impl Iterator<Item = TaskId> + use<'a> {
        let World { workload, tasks, .. } = self.world;
        let waits = |task: &TaskId| matches!(tasks[task.index()].phase, TaskPhase::Waiting | TaskPhase::Returned);
        workload.job(job).maps.clone().map(TaskId).filter(waits)
    }

    /// The nodes that hold the split of a map.
    #[inline]
    pub fn replicas(&self, task: TaskId) -> &'a [NodeId] {
        self.world.workload.replicas(task)
    }

    /// How many bytes a map reads, if the trace says it.
    #[inline]
    pub fn input_bytes(&self, task: TaskId) -> Option<i64> {
        self.world.workload.input_bytes(task)
    }

    /// How long tasks will take; `None` unless the policy says by [`crate::Policy::is_oracle`] that it is an oracle.
    pub fn oracle(&self) -> Option<Oracle<'a>> {
        self.world.oracle.then_some(Oracle { world: self.world })
    }

    /// Tasks of a kind that could be launched now, of all jobs: maps that wait, reduces that wait past slow-start.
    #[inline]
    pub fn ready(&self, kind: Kind) -> u64 {
        self.world.ready[kind.index()]
    }

    /// Unfinished tasks of a kind, of all jobs; of reduces only those past slow-start.
    #[inline]
    pub fn remaining(&self, kind: Kind) -> u64 {
        self.world.remaining[kind.index()]
    }

    /// Attempts of a kind that run now, of the active jobs.
    #[inline]
    pub fn running(&self, kind: Kind) -> u64 {
        self.world.running[kind.index()]
    }

    /// Tasks of a kind, finished or not, of the active jobs that have reduces.
    #[inline]
    pub fn desired_with_reduces(&self, kind: Kind) -> u64 {
        self.world.desired_with_reduces[kind.index()]
    }

    /// Attempts of a kind that ran at the latest heartbeat of their node (oracle F4).
    #[inline]
    pub fn reported_running(&self, kind: Kind) -> u64 {
        self.world.reported[kind.index()]
    }

    /// The attempts of a job and kind that are on nodes now, in no particular order.
    pub fn runs(&self, job: JobId, kind: Kind) -> impl Iterator<Item = RunView> + use<'a> {
        let world = self.world;
        world.jobs[job.index()].runs[kind.index()].iter().map(move |&id| RunView::of(world, id))
    }
}

impl<'a> JobView<'a> {
    /// When it was submitted, ms.
    #[inline]
    pub fn submit(&self) -> Ms {
        self.world.workload.job(self.job).submit
    }

    /// Its priority.
    pub fn priority(&self) -> Priority {
        self.world.workload.job(self.job).priority
    }

    /// Who submitted it.
    pub fn user(&self) -> &'a str {
        &self.world.workload.job(self.job).user
    }

    /// The queue it was submitted to.
    pub fn queue(&self) -> &'a str {
        &self.world.workload.job(self.job).queue
    }

    /// How many tasks of a kind it has.
    #[inline]
    pub fn desired(&self, kind: Kind) -> u32 {
        self.world.workload.job(self.job).count(kind)
    }

    /// How many of them wait.
    #[inline]
    pub fn waiting(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].waiting[kind.index()]
    }

    /// How many of them run.
    #[inline]
    pub fn running(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].running[kind.index()]
    }

    /// How many of them are done.
    #[inline]
    pub fn finished(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].finished[kind.index()]
    }

    /// How many of them could be launched now: reduces only past slow-start.
    #[inline]
    pub fn ready(&self, kind: Kind) -> u32 {
        if kind == Kind::Map || self.reduces_may_start() { self.waiting(kind) } else { 0 }
    }

    /// Whether enough maps are done for its reduces to start (policies A.3).
    #[inline]
    pub fn reduces_may_start(&self) -> bool {
        self.world.reduces_may_start(self.job)
    }

    /// Whether a map without any known place of input waits.
    pub fn has_unplaced_maps(&self) -> bool {
        self.world.jobs[self.job.index()].maps.as_ref().is_some_and(|maps| maps.has_unplaced())
    }
}
