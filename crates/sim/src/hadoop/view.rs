//! What a policy may read: the world as the master sees it, without run times, outcomes or future jobs.

use rand::Rng;
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{Locality, Outcome, Priority, Reason};

use crate::hadoop::ask::Ask;
use crate::hadoop::attempt::{Attempt, Kill};
use crate::hadoop::containers::YarnView;
use crate::hadoop::kind::Kind;
use crate::hadoop::oracle::Oracle;
use crate::hadoop::progress::Progress;
use crate::hadoop::resources::Resources;
use crate::hadoop::world::{Health, JobPhase, TaskPhase, World};
use crate::ids::{AttemptId, JobId, Ms, NodeId, RackId, TaskId};

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
pub struct AttemptView {
    /// Its id, for [`crate::hadoop::Orders::kill`].
    pub id: AttemptId,
    /// Its task.
    pub task: TaskId,
    /// The kind of its task.
    pub kind: Kind,
    /// Its number among the attempts at that task.
    pub attempt: u32,
    /// Where it runs.
    pub node: NodeId,
    /// When it was assigned, ms.
    pub assigned: Ms,
    /// When it starts on its node, ms.
    pub start: Ms,
    /// True if another attempt at its task was already running when it was launched.
    pub backup: bool,
    /// How near to its input it runs (`Off` for reduces).
    pub level: Locality,
    /// True if a heartbeat of its node has reported it.
    pub reported: bool,
    /// True if a kill of it has been ordered.
    pub dying: bool,
    /// Which container of the replay it has, by the order in which they were made. A container for which a node was kept was
    /// made when that began.
    pub container: u64,
    /// True if the master of its job has taken its container over, under YARN.
    pub taken_over: bool,
    /// True if the resource manager has taken its container back, under YARN. Its node does not know yet.
    pub taken_back: bool,
}

impl AttemptView {
    pub(crate) fn of(world: &World<'_>, id: AttemptId) -> Self {
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
            container: run.container,
            taken_back: run.taken_back,
            taken_over: run.start - world.cluster.config.jobs.launch_overhead < world.now,
        }
    }
}

/// The end of an attempt, as the master learns of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptEnd {
    /// Its task.
    pub task: TaskId,
    /// The job of its task.
    pub job: JobId,
    /// The kind of its task.
    pub kind: Kind,
    /// Its number among the attempts at that task.
    pub attempt: u32,
    /// Where it ran.
    pub node: NodeId,
    /// How near to its input it ran (`Off` for reduces).
    pub level: Locality,
    /// When it started on its node, ms.
    pub start: Ms,
    /// When a reduce had all its input, ms. `None` for a map, and for a reduce that ended earlier.
    pub shuffle_finish: Option<Ms>,
    /// When a reduce had sorted its input, ms. `None` for a map, and for a reduce that ended earlier.
    pub sort_finish: Option<Ms>,
    /// When it ended on its node, ms.
    pub finish: Ms,
    /// How the master counts its end. [`View::output_bytes`] has what a map wrote.
    pub outcome: Outcome,
}

impl AttemptEnd {
    #[inline]
    pub(crate) fn of(run: &Attempt, outcome: Outcome) -> Self {
        let (shuffle_finish, sort_finish) = run.phases(outcome);
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
        }
    }
}

impl<'a> View<'a> {
    /// Reports why a job is passed over that could launch tasks of a kind. This changes nothing but what a run explains. The reason
    /// holds until the job launches such a task, or another reason is given. A job without such tasks gets none.
    #[inline]
    pub fn pass_over(&self, job: JobId, kind: Kind, reason: Reason) {
        self.note(job, kind, (reason, None));
    }

    /// As [`View::pass_over`]: what is free is kept for another job.
    #[inline]
    pub fn pass_over_for(&self, job: JobId, kind: Kind, other: JobId) {
        self.note(job, kind, (Reason::Reserve, Some(other)));
    }

    #[inline]
    fn note(&self, job: JobId, kind: Kind, (reason, other): (Reason, Option<JobId>)) {
        if self.world.reasons.are_wanted() && self.world.ready_of(job, kind) > 0 {
            self.world.reasons.give(job, kind.index(), reason, other);
        }
    }

    /// As [`View::pass_over`], for a request to YARN.
    #[inline]
    pub fn pass_over_request(&self, job: JobId, ask: Ask, reason: Reason) {
        if self.world.reasons.are_wanted() {
            self.world.reasons.give(job, self.kind_of(job, ask), reason, None);
        }
    }

    /// As [`View::pass_over_request`]: the node that has room for the request is kept for another job. A job that is held back by
    /// something else, or by a node that is still kept for a third one, keeps that reason.
    pub fn pass_over_request_for(&self, job: JobId, ask: Ask, other: JobId) {
        let kind = self.kind_of(job, ask);
        let gives_way = match self.world.reasons.now(job, kind) {
            (Reason::None | Reason::Master, _) => true,
            (Reason::Reserve, Some(third)) => Ask::ALL.iter().all(|&ask| self.yarn().app(third).reserved(ask) == 0),
            _ => false,
        };
        if gives_way {
            self.world.reasons.give(job, kind, Reason::Reserve, Some(other));
        }
    }

    /// The place of the kind of tasks that wait with a request. The tasks with which a job begins wait for its master.
    fn kind_of(&self, job: JobId, ask: Ask) -> usize {
        ask.kind().unwrap_or_else(|| self.world.workload.job(job).first_kind()).index()
    }

    /// True if anybody wants to know why jobs are passed over. Ask before you look for jobs only to report them.
    #[inline]
    pub fn wants_reasons(&self) -> bool {
        self.world.reasons.are_wanted()
    }

    /// The simulated time, ms.
    #[inline]
    pub fn now(&self) -> Ms {
        self.world.now
    }

    /// Grows with every change of the world that a policy could see. While it stays the same, only time has passed.
    #[inline]
    pub fn version(&self) -> u64 {
        self.world.version
    }

    /// Grows with every change of an attempt and with every other change that a policy could see, but not with time. `None` if
    /// attempts change all the time, as under the model `contention`.
    #[inline]
    pub fn attempts_version(&self) -> Option<u64> {
        // Neither number ever falls, so their sum stays only while both do.
        self.world.bench.is_none().then(|| self.world.version + self.world.changes.of_attempts())
    }

    /// As [`View::attempts_version`], but it does not grow with launches. While it stays the same and no time passes, the attempts that
    /// had been launched at an earlier instant are as they were, and [`View::runs`] has the others of the same job after them.
    #[inline]
    pub fn earlier_attempts_version(&self) -> Option<u64> {
        self.world.bench.is_none().then(|| self.world.earlier_version())
    }

    /// How often a job has arrived or ended, an attempt of one has started or ended, or the output of one of its maps was lost, since the
    /// replay began.
    #[inline]
    pub fn job_changes(&self) -> u64 {
        self.world.changes.count()
    }

    /// The jobs of these changes but for the first `known` ones, a job as often as it changed. `None` if so many have been missed
    /// that they are forgotten.
    #[inline]
    pub fn jobs_changed_after(&self, known: u64) -> Option<impl Iterator<Item = JobId> + use<'a>> {
        self.world.changes.after(known)
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

    /// How many nodes the master has not given up.
    #[inline]
    pub fn live_nodes(&self) -> usize {
        self.world.live_nodes
    }

    /// True if the master has not given up a node.
    #[inline]
    pub fn is_live(&self, node: NodeId) -> bool {
        self.world.nodes[node.index()].health != Health::Lost
    }

    /// How many nodes there are, including lost ones. Every node's index is below this number.
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

    /// The host name of a node.
    pub fn host(&self, node: NodeId) -> &'a str {
        &self.world.cluster.node(node).name
    }

    /// The name of a rack.
    pub fn rack_name(&self, rack: RackId) -> &'a str {
        self.world.cluster.racks().get(rack.index()).map_or("", String::as_str)
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

    /// The free resources of a node.
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

    /// All resources of a node, free or in use.
    #[inline]
    pub fn capacity(&self, node: NodeId) -> Resources {
        self.world.cluster.node(node).capacity
    }

    /// The part of the view that only a policy for YARN needs.
    #[inline]
    pub fn yarn(&self) -> YarnView<'a> {
        YarnView { world: self.world }
    }

    /// Jobs that have arrived and not ended, in order of submission, then by id.
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

    /// Bytes of the split that a map reads, known as soon as its job has arrived. `None` for reduces, and if the trace
    /// does not say. [`View::output_bytes`] has the bytes that the map wrote.
    pub fn input_bytes(&self, task: TaskId) -> Option<u64> {
        self.world.workload.input_bytes(task)
    }

    /// Bytes that a successful map wrote, by its counters. If the job has reduces, these bytes go to them. `None` for
    /// all other attempts, and if the trace does not say.
    pub fn output_bytes(&self, ended: &AttemptEnd) -> Option<u64> {
        let wrote = ended.kind == Kind::Map && ended.outcome == Outcome::Success;
        self.world.workload.output_bytes(ended.task).filter(|_| wrote)
    }

    /// The nodes that hold the input of a map; empty if no place is known.
    #[inline]
    pub fn replicas(&self, task: TaskId) -> &'a [NodeId] {
        self.world.workload.replicas(task)
    }

    /// How long tasks will take. `None` unless [`crate::hadoop::Policy::is_oracle`] of the policy returns `true`.
    pub fn oracle(&self) -> Option<Oracle<'a>> {
        self.world.oracle.then_some(Oracle { world: self.world })
    }

    /// Random numbers for a decision, from the seed of the replay. `entity` holds numbers that identify the decision,
    /// such as job, node and instant. Do not use a count of calls: parking leaves calls out.
    pub fn draws(&self, purpose: Purpose, entity: &[u64]) -> impl Rng + use<> {
        stream(self.world.seed, purpose, entity)
    }

    /// How many tasks of a kind could be launched now, over all jobs: waiting maps, and waiting reduces of jobs past
    /// slow-start. Under YARN, only tasks that an application master has requested count.
    #[inline]
    pub fn ready(&self, kind: Kind) -> u64 {
        self.world.ready_of_all(kind)
    }

    /// True if any node could be given work: a task could be launched or, under YARN, a container is asked for or a node kept for one.
    #[inline]
    pub fn anything_to_place(&self) -> bool {
        match &self.world.yarn {
            Some(yarn) => yarn.any_asked(),
            None => Kind::BOTH.iter().any(|&kind| self.ready(kind) > 0),
        }
    }

    /// The first active job after `after`, or the first of all, of which a task of a kind could be launched now, in order of
    /// submission ([`JobView::ready`]).
    #[inline]
    pub fn next_ready(&self, kind: Kind, after: Option<JobId>) -> Option<JobId> {
        self.world.next_ready(kind, after)
    }

    /// How many tasks of a kind are unfinished, over all jobs. Reduces count only if their jobs are past slow-start.
    #[inline]
    pub fn remaining(&self, kind: Kind) -> u64 {
        self.world.remaining[kind.index()]
    }

    /// How many attempts of a kind run now, over the active jobs.
    #[inline]
    pub fn running(&self, kind: Kind) -> u64 {
        self.world.running[kind.index()]
    }

    /// How many tasks of a kind, finished or not, the active jobs with reduces have.
    #[inline]
    pub fn desired_with_reduces(&self, kind: Kind) -> u64 {
        self.world.desired_with_reduces[kind.index()]
    }

    /// How many attempts of a kind ran at the latest heartbeat of their node.
    #[inline]
    pub fn reported_running(&self, kind: Kind) -> u64 {
        self.world.reported[kind.index()]
    }

    /// How many attempts of a kind are backups, over the active jobs: their tasks were already running at their launch.
    #[inline]
    pub fn backups(&self, kind: Kind) -> u64 {
        self.world.backups[kind.index()]
    }

    /// True if a task is not done and no attempt at it runs.
    #[inline]
    pub fn waits(&self, task: TaskId) -> bool {
        matches!(self.world.tasks[task.index()].phase, TaskPhase::Waiting | TaskPhase::Returned)
    }

    /// How many attempts at a task are on nodes now.
    #[inline]
    pub fn live_attempts(&self, task: TaskId) -> u32 {
        self.world.tasks[task.index()].live.into()
    }

    /// The progress of an attempt, as its node reported at its latest heartbeat. No progress before the first
    /// heartbeat.
    pub fn progress(&self, run: &AttemptView) -> Progress {
        Progress::of(self.world, run.id)
    }

    /// The attempts of a job and a kind that are on nodes now. One that is launched comes last; otherwise the order means nothing.
    pub fn runs(&self, job: JobId, kind: Kind) -> impl Iterator<Item = AttemptView> + use<'a> {
        let world = self.world;
        world.jobs[job.index()].runs[kind.index()].iter().map(move |&id| AttemptView::of(world, id))
    }

    /// An attempt, if it is on a node.
    pub fn attempt(&self, id: AttemptId) -> Option<AttemptView> {
        self.world.is_on_node(id).then(|| AttemptView::of(self.world, id))
    }

    /// The attempts of a kind on a node, in launch order; those of jobs that have ended hold their slots, too.
    pub fn runs_on(&self, node: NodeId, kind: Kind) -> impl Iterator<Item = AttemptView> + use<'a> {
        let world = self.world;
        let runs = world.nodes[node.index()].runs.iter().filter(move |id| world.runs[id.index()].kind == kind);
        runs.map(move |&id| AttemptView::of(world, id))
    }
}

impl<'a> JobView<'a> {
    /// True if it has arrived and not ended.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.world.jobs[self.job.index()].phase == JobPhase::Active
    }

    /// When it was submitted, ms.
    #[inline]
    pub fn submit(&self) -> Ms {
        self.world.workload.job(self.job).submit
    }

    /// True if its initialisation was taken from its log. A scheduler that initialises jobs itself has nothing to add to it.
    pub fn is_initialised(&self) -> bool {
        self.world.workload.job(self.job).edges.init.is_some()
    }

    /// Its priority.
    pub fn priority(&self) -> Priority {
        self.world.workload.job(self.job).priority
    }

    /// The user who submitted it.
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

    /// How many of its tasks of a kind wait.
    #[inline]
    pub fn waiting(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].waiting[kind.index()]
    }

    /// How many attempts at its tasks of a kind run.
    #[inline]
    pub fn running(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].running[kind.index()]
    }

    /// How many of the running attempts are backups: their tasks were already running when they were launched.
    #[inline]
    pub fn backups(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].backups[kind.index()]
    }

    /// How many of its attempts of a kind run on a node. It searches all attempts on that node.
    pub fn running_on(&self, node: NodeId, kind: Kind) -> u32 {
        let of_job = |run: &&AttemptId| {
            let run = &self.world.runs[run.index()];
            (run.job, run.kind) == (self.job, kind)
        };
        self.world.nodes[node.index()].runs.iter().filter(of_job).count() as u32
    }

    /// How many of its tasks of a kind are done.
    #[inline]
    pub fn finished(&self, kind: Kind) -> u32 {
        self.world.jobs[self.job.index()].finished[kind.index()]
    }

    /// How many of its tasks of a kind could be launched now. Reduces count only past slow-start. Under YARN, only
    /// tasks that its application master has requested count.
    #[inline]
    pub fn ready(&self, kind: Kind) -> u32 {
        self.world.ready_of(self.job, kind)
    }

    /// True if any of its tasks of a kind could be launched now: whether it is active and [`JobView::ready`] is not 0. On slots this is
    /// known without a look at the job.
    #[inline]
    pub fn any_ready(&self, kind: Kind) -> bool {
        self.world.any_ready(self.job, kind)
    }

    /// True if enough maps are done for its reduces to start (`docs/model/phases.md`), or the policy decides this by itself.
    #[inline]
    pub fn reduces_may_start(&self) -> bool {
        self.world.reduces_may_start(self.job)
    }

    /// The output of its finished maps on a node, which its reduces will fetch. In bytes, or, if the trace does not
    /// give the bytes of all maps of the job, in maps. 0 for a job without reduces, for one that has ended, and under a policy that never
    /// asks ([`crate::hadoop::Policy::follows_output`]).
    #[inline]
    pub fn map_output(&self, node: NodeId) -> f64 {
        debug_assert!(self.world.follows_output, "the policy said that it never asks (`Policy::follows_output`)");
        self.world.jobs[self.job.index()].map_output.get(node.index()).copied().unwrap_or(0.0)
    }

    /// True if a map whose input has no known place waits.
    pub fn has_unplaced_maps(&self) -> bool {
        self.world.jobs[self.job.index()].maps.as_ref().is_some_and(|maps| maps.has_unplaced())
    }
}
