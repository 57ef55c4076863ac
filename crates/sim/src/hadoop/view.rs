//! What a policy may read: the world as the master sees it, without run times, outcomes or jobs to come.

use rand::Rng;
use resched_trace::draws::{Purpose, stream};
use resched_trace::model::{Locality, Outcome, Priority};

use crate::hadoop::containers::YarnView;
use crate::hadoop::kind::Kind;
use crate::hadoop::oracle::Oracle;
use crate::hadoop::progress::Progress;
use crate::hadoop::run::{Kill, Run};
use crate::hadoop::workload::Workload;
use crate::hadoop::world::{Health, TaskPhase, World};
use crate::ids::{JobId, Ms, NodeId, RackId, RunId, TaskId};
use crate::resources::Resources;

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
    /// The kind of its task.
    pub kind: Kind,
    /// Its number among the tries at that task.
    pub attempt: u32,
    /// Where it runs.
    pub node: NodeId,
    /// When it was assigned, ms.
    pub assigned: Ms,
    /// When it starts on its node, ms.
    pub start: Ms,
    /// Whether another attempt at its task ran already when it was launched.
    pub backup: bool,
    /// How near to its input it runs (`Off` for reduces).
    pub level: Locality,
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
            kind: run.kind,
            attempt: run.attempt,
            node: run.node,
            assigned: run.assigned,
            start: run.start,
            backup: run.backup,
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
    pub level: Locality,
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
    /// Bytes that a map which succeeded wrote, by its counters: for the reduces, where its job has any. `None` for all else,
    /// and if the trace does not say.
    pub output_bytes: Option<u64>,
}

impl AttemptEnd {
    pub(crate) fn of(run: &Run, outcome: Outcome, workload: &Workload) -> Self {
        let (shuffle_finish, sort_finish) = run.phases(outcome);
        let wrote = run.kind == Kind::Map && outcome == Outcome::Success;
        Self {
            task: run.task,
            job: run.job,
            kind: run.kind,
            attempt: run.attempt,
            node: run.node,
            level: run.level,
            start: run.start,
            shuffle_finish,
            sort_finish,
            finish: run.end.unwrap_or(run.start),
            outcome,
            output_bytes: workload.output_bytes(run.task).filter(|_| wrote),
        }
    }
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

    /// How many nodes the master counts on: those that it has not given up.
    #[inline]
    pub fn live_nodes(&self) -> usize {
        self.world.live_nodes
    }

    /// Whether the master counts on a node: it has not given it up.
    #[inline]
    pub fn is_live(&self, node: NodeId) -> bool {
        self.world.nodes[node.index()].health != Health::Lost
    }

    /// How many nodes there are, lost ones included: their ids are smaller than that.
    #[inline]
    pub fn node_count(&self) -> usize {
        self.world.nodes.len()
    }

    /// How many racks there are.
    pub fn rack_count(&self) -> usize {
        self.world.cluster.racks().len()
    }

    /// All nodes, by id.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.world.cluster.node_ids()
    }

    /// The rack of a node.
    pub fn rack(&self, node: NodeId) -> RackId {
        self.world.cluster.node(node).rack
    }

    /// How many tasks of a kind fit side by side on the nodes that the master has not given up: their slots.
    #[inline]
    pub fn slots(&self, kind: Kind) -> u32 {
        self.world.slots[kind.index()]
    }

    /// How many tasks of a kind fit side by side on a node: its slots.
    #[inline]
    pub fn node_slots(&self, node: NodeId, kind: Kind) -> u32 {
        self.world.cluster.room(self.capacity(node), kind)
    }

    /// What a node has free.
    #[inline]
    pub fn free(&self, node: NodeId) -> Resources {
        self.world.nodes[node.index()].free
    }

    /// How many more tasks of a kind a node has room for.
    #[inline]
    pub fn room(&self, node: NodeId, kind: Kind) -> u32 {
        self.world.cluster.room(self.free(node), kind)
    }

    /// How many nodes have room for a task of a kind.
    #[inline]
    pub fn nodes_with_room(&self, kind: Kind) -> u32 {
        self.world.roomy[kind.index()]
    }

    /// What a node has, free or not.
    #[inline]
    pub fn capacity(&self, node: NodeId) -> Resources {
        self.world.cluster.node(node).capacity
    }

    /// What only a policy for YARN needs to read.
    #[inline]
    pub fn yarn(&self) -> YarnView<'a> {
        YarnView { world: self.world }
    }

    /// Jobs that have arrived and not ended, in the order of submission, then of id.
    #[inline]
    pub fn jobs(&self) -> &'a [JobId] {
        &self.world.active
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
        let view = *self;
        self.world.workload.job(job).maps.clone().map(TaskId).filter(move |&task| view.waits(task))
    }

    /// The kind of a task.
    #[inline]
    pub fn kind(&self, task: TaskId) -> Kind {
        self.world.workload.job(self.job_of(task)).place(task).0
    }

    /// Bytes of the split that a map reads, known as soon as its job has arrived; `None` if the trace does not say, and for
    /// reduces. What it writes is in [`AttemptEnd::output_bytes`], once it has.
    pub fn input_bytes(&self, task: TaskId) -> Option<u64> {
        self.world.workload.input_bytes(task)
    }

    /// The nodes that hold the input of a map; none if no place is known.
    #[inline]
    pub fn replicas(&self, task: TaskId) -> &'a [NodeId] {
        self.world.workload.replicas(task)
    }

    /// How long tasks will take; `None` unless the policy says by [`crate::hadoop::Policy::is_oracle`] that it is an oracle.
    pub fn oracle(&self) -> Option<Oracle<'a>> {
        self.world.oracle.then_some(Oracle { world: self.world })
    }

    /// Random numbers for a decision, from the seed of the replay; `entity` is any numbers that name the decision, such as job,
    /// node and instant. They must not count calls: parking leaves calls out.
    pub fn draws(&self, purpose: Purpose, entity: &[u64]) -> impl Rng + use<> {
        stream(self.world.seed, purpose, entity)
    }

    /// Tasks of a kind that could be launched now, of all jobs: maps that wait, reduces that wait past slow-start. (Where
    /// masters ask for their tasks, those that are asked for.)
    #[inline]
    pub fn ready(&self, kind: Kind) -> u64 {
        self.world.ready_of_all(kind)
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

    /// Attempts of a kind, of the active jobs, whose tasks ran already when they were launched.
    #[inline]
    pub fn backups(&self, kind: Kind) -> u64 {
        self.world.backups[kind.index()]
    }

    /// Whether a task is not done and no attempt at it runs.
    #[inline]
    pub fn waits(&self, task: TaskId) -> bool {
        matches!(self.world.tasks[task.index()].phase, TaskPhase::Waiting | TaskPhase::Returned)
    }

    /// How many attempts at a task are on nodes now.
    #[inline]
    pub fn live_attempts(&self, task: TaskId) -> u32 {
        self.world.tasks[task.index()].live
    }

    /// How far an attempt has come, as its node reported at its latest heartbeat; nothing before the first.
    pub fn progress(&self, run: &RunView) -> Progress {
        Progress::of(self.world, run.id)
    }

    /// The attempts of a job and kind that are on nodes now, in no particular order.
    pub fn runs(&self, job: JobId, kind: Kind) -> impl Iterator<Item = RunView> + use<'a> {
        let world = self.world;
        world.jobs[job.index()].runs[kind.index()].iter().map(move |&id| RunView::of(world, id))
    }

    /// The attempts of a kind on a node, in launch order; those of jobs that have ended hold their slots, too.
    pub fn runs_on(&self, node: NodeId, kind: Kind) -> impl Iterator<Item = RunView> + use<'a> {
        let world = self.world;
        let runs = world.nodes[node.index()].runs.iter().filter(move |id| world.runs[id.index()].kind == kind);
        runs.map(move |&id| RunView::of(world, id))
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

    /// Its tasks of a kind.
    pub fn tasks(&self, kind: Kind) -> impl Iterator<Item = TaskId> + use<> {
        self.world.workload.job(self.job).tasks(kind).map(TaskId)
    }

    /// How many of them wait.
    #[inline]
    pub fn waiting(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].waiting[kind.index()]
    }

    /// How many attempts at them run.
    #[inline]
    pub fn running(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].running[kind.index()]
    }

    /// How many of the running attempts are backups: their tasks ran already when they were launched.
    #[inline]
    pub fn backups(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].backups[kind.index()]
    }

    /// How many of them run on a node; looks through what that node runs.
    pub fn running_on(&self, node: NodeId, kind: Kind) -> u32 {
        let of_job = |run: &&RunId| {
            let run = &self.world.runs[run.index()];
            (run.job, run.kind) == (self.job, kind)
        };
        self.world.nodes[node.index()].runs.iter().filter(of_job).count() as u32
    }

    /// How many of them are done.
    #[inline]
    pub fn finished(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].finished[kind.index()]
    }

    /// How many of them could be launched now: reduces only past slow-start. (Where masters ask for their tasks, those that are
    /// asked for.)
    #[inline]
    pub fn ready(&self, kind: Kind) -> u32 {
        self.world.ready_of(self.job, kind)
    }

    /// Whether enough maps are done for its reduces to start (policies A.3).
    #[inline]
    pub fn reduces_may_start(&self) -> bool {
        self.world.reduces_may_start(self.job)
    }

    /// What its reduces will fetch from a node, as far as its maps are done: bytes, or the number of these maps if the trace
    /// does not know the bytes of all maps of the job. 0 for a job without reduces, and for one that has ended.
    #[inline]
    pub fn map_output(&self, node: NodeId) -> f64 {
        self.world.jobs[self.job.index()].map_output.get(node.index()).copied().unwrap_or(0.0)
    }

    /// Whether a map without any known place of input waits.
    pub fn has_unplaced_maps(&self) -> bool {
        self.world.jobs[self.job.index()].maps.as_ref().is_some_and(|maps| maps.has_unplaced())
    }
}
