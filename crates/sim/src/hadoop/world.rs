//! The state of a replay: jobs, tasks, nodes and running attempts as dense arrays.

use std::collections::VecDeque;

use crate::hadoop::beats::Beats;
use crate::hadoop::cluster::{Cluster, Node};
use crate::hadoop::containers::{System, Yarn};
use crate::hadoop::contention::Workbench;
use crate::hadoop::cost::{Course, Fluid, slowstart_threshold};
use crate::hadoop::index::{MapIndex, Reach, level};
use crate::hadoop::kind::Kind;
use crate::hadoop::view::{AttemptEnd, RunId};
use crate::hadoop::workload::Workload;
use crate::ids::{JobId, Ms, NodeId, TaskId};
use crate::resources::Resources;
use resched_trace::model::{Locality, Outcome};

/// A node that had so many failures of one job gets no more tasks of it (policies A.2).
const FLAKY_FAILURES: u32 = 4;

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

#[derive(Debug, Clone)]
pub(crate) struct TaskState {
    pub(crate) phase: TaskPhase,
    pub(crate) tries: u32,
    pub(crate) failures: u32,
    /// Its attempts that are on nodes, as far as the master knows; more than one if it is backed up.
    pub(crate) live: u32,
    /// Whether an attempt at it has succeeded; under YARN its job's master may not have learned it yet.
    pub(crate) won: bool,
    /// Where it was done.
    done_on: Option<NodeId>,
}

const NEW_TASK: TaskState =
    TaskState { phase: TaskPhase::Waiting, tries: 0, failures: 0, live: 0, won: false, done_on: None };

#[derive(Debug)]
pub(crate) struct JobState {
    pub(crate) phase: JobPhase,
    /// Built when the job arrives, dropped when it ends.
    pub(crate) maps: Option<Box<MapIndex>>,
    next_reduce: u32,
    /// Reduces that wait again, the latest last; some may have been launched since.
    returned_reduces: Vec<TaskId>,
    /// On which nodes each reduce has failed.
    failed_reduces: Vec<(TaskId, Vec<NodeId>)>,
    pub(crate) waiting: [u32; 2],
    pub(crate) running: [u32; 2],
    /// Of the running attempts, those of tasks that ran already when they were launched.
    pub(crate) backups: [u32; 2],
    pub(crate) finished: [u32; 2],
    slowstart: u32,
    pub(crate) launch: Option<Ms>,
    /// When the master learned that the last map was done.
    pub(crate) maps_done: Option<Ms>,
    pub(crate) runs: [Vec<RunId>; 2],
    pub(crate) fluid: Fluid,
    /// What finished maps left for the reduces, by node: bytes, or their number where a size is unknown. Made with the
    /// first such map, dropped when the job ends.
    pub(crate) map_output: Vec<f64>,
    output_in_bytes: bool,
    node_failures: Vec<(NodeId, u32)>,
}

/// Whether an attempt is to be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kill {
    No,
    Ordered,
    /// Dead since its `end`, and reported at the node's next heartbeat.
    Done,
}

/// An attempt on a node, from its launch until the master learns of its end.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) task: TaskId,
    pub(crate) job: JobId,
    pub(crate) kind: Kind,
    pub(crate) attempt: u32,
    pub(crate) node: NodeId,
    pub(crate) level: Locality,
    /// The heartbeat that assigned it.
    pub(crate) assigned: Ms,
    pub(crate) start: Ms,
    pub(crate) course: Course,
    pub(crate) shuffle_finish: Option<Ms>,
    /// When a reduce sorts, if not as soon as it has its input (copy-compute splitting).
    pub(crate) compute: Option<Ms>,
    /// When it ends; a reduce's is unknown until all maps are done.
    pub(crate) end: Option<Ms>,
    pub(crate) reported: bool,
    pub(crate) kill: Kill,
    /// Whether its task ran already when it was launched.
    pub(crate) backup: bool,
    /// Whether it died with its node, which the master does not know yet.
    pub(crate) lost: bool,
    /// Whether its end does not count, however it came.
    pub(crate) unwanted: bool,
    /// Its place among the running attempts of its job and kind.
    place: u32,
    /// Which launch of the replay it is: tells it from others that had the same place in `runs`.
    pub(crate) launch: u64,
}

impl Run {
    /// When a reduce that ended so had all its input, and when it had sorted it.
    pub(crate) fn phases(&self, outcome: Outcome) -> (Option<Ms>, Option<Ms>) {
        let reduced = self.kind == Kind::Reduce && outcome == Outcome::Success;
        let shuffle_finish = self.shuffle_finish.filter(|_| reduced);
        (shuffle_finish, shuffle_finish.map(|at| self.compute.unwrap_or(at) + self.course.sort))
    }

    /// What the master learns of its end.
    pub(crate) fn ended(&self, outcome: Outcome, workload: &Workload) -> AttemptEnd {
        let (shuffle_finish, sort_finish) = self.phases(outcome);
        let wrote = self.kind == Kind::Map && outcome == Outcome::Success;
        AttemptEnd {
            task: self.task,
            job: self.job,
            kind: self.kind,
            attempt: self.attempt,
            node: self.node,
            level: self.level,
            start: self.start,
            shuffle_finish,
            sort_finish,
            finish: self.end.unwrap_or(self.start),
            outcome,
            output_bytes: workload.output_bytes(self.task).filter(|_| wrote),
        }
    }
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

#[derive(Debug)]
pub(crate) struct NodeState {
    /// In launch order.
    pub(crate) runs: Vec<RunId>,
    pub(crate) free: Resources,
    pub(crate) health: Health,
    /// Attempts of each kind in the heartbeat that is being handled or was handled last.
    pub(crate) reported: [u32; 2],
}

/// The first heartbeat that reports an attempt as running, if it still is.
struct Report {
    at: Ms,
    node: NodeId,
    run: RunId,
    launch: u64,
}

pub(crate) struct World<'w> {
    pub(crate) workload: &'w Workload,
    pub(crate) cluster: &'w Cluster,
    pub(crate) beats: Beats,
    /// Keys all random draws.
    pub(crate) seed: u64,
    pub(crate) now: Ms,
    pub(crate) jobs: Vec<JobState>,
    pub(crate) tasks: Vec<TaskState>,
    pub(crate) nodes: Vec<NodeState>,
    pub(crate) runs: Vec<Run>,
    free_runs: Vec<RunId>,
    launches: u64,
    reports: VecDeque<Report>,
    /// In the order of their submission.
    pub(crate) active: Vec<JobId>,
    /// Maps that wait, reduces that wait and may start.
    pub(crate) ready: [u64; 2],
    /// Unfinished maps, unfinished reduces of jobs past slow-start.
    pub(crate) remaining: [u64; 2],
    /// Running attempts of active jobs.
    pub(crate) running: [u64; 2],
    /// Of these, the backups.
    pub(crate) backups: [u64; 2],
    /// Slots of the nodes that the master has not given up.
    pub(crate) slots: [u32; 2],
    /// What these nodes offer.
    pub(crate) total: Resources,
    /// How many they are.
    pub(crate) live_nodes: usize,
    /// Tasks of active jobs that have reduces.
    pub(crate) desired_with_reduces: [u64; 2],
    /// Attempts in the latest heartbeat of every node.
    pub(crate) reported: [u64; 2],
    /// Nodes with room for a task of each kind.
    pub(crate) roomy: [u32; 2],
    /// Grows with every change that a policy could see.
    pub(crate) version: u64,
    /// Applications and containers, under YARN.
    pub(crate) yarn: Option<Box<Yarn>>,
    /// Whether the policy may ask how long tasks will take.
    pub(crate) oracle: bool,
    /// The work of attempts, under the model `contention`.
    pub(crate) bench: Option<Box<Workbench>>,
}

impl<'w> World<'w> {
    pub(crate) fn new(workload: &'w Workload, cluster: &'w Cluster, seed: u64) -> Self {
        let rules = &cluster.config;
        let jobs = workload
            .jobs()
            .iter()
            .map(|job| {
                let maps = job.count(Kind::Map);
                JobState {
                    phase: JobPhase::Future,
                    maps: None,
                    next_reduce: job.reduces.start,
                    returned_reduces: Vec::new(),
                    failed_reduces: Vec::new(),
                    waiting: [maps, job.count(Kind::Reduce)],
                    running: [0; 2],
                    backups: [0; 2],
                    finished: [0; 2],
                    slowstart: slowstart_threshold(rules.jobs.slowstart, maps),
                    launch: None,
                    maps_done: None,
                    runs: [Vec::new(), Vec::new()],
                    fluid: Fluid::new(rules.cost.shuffle_rate),
                    map_output: Vec::new(),
                    output_in_bytes: false,
                    node_failures: Vec::new(),
                }
            })
            .collect();
        let nodes = cluster
            .nodes()
            .iter()
            .map(|node| NodeState { runs: Vec::new(), free: node.capacity, health: Health::Up, reported: [0; 2] })
            .collect();
        let roomy = Kind::BOTH.map(|kind| {
            let has_room = |node: &&Node| node.capacity.holds(cluster.demand(kind));
            cluster.nodes().iter().filter(has_room).count() as u32
        });
        Self {
            workload,
            cluster,
            beats: Beats::new(cluster, seed),
            seed,
            now: rules.heartbeat.first,
            jobs,
            tasks: vec![NEW_TASK; workload.task_count()],
            nodes,
            runs: Vec::new(),
            free_runs: Vec::new(),
            launches: 0,
            reports: VecDeque::new(),
            active: Vec::new(),
            ready: [0; 2],
            remaining: [0; 2],
            running: [0; 2],
            backups: [0; 2],
            slots: Kind::BOTH.map(|kind| cluster.slots(kind)),
            total: cluster.total(),
            live_nodes: cluster.nodes().len(),
            desired_with_reduces: [0; 2],
            reported: [0; 2],
            roomy,
            version: 0,
            yarn: (cluster.system() == System::Containers).then(|| Box::new(Yarn::new(workload.jobs().len(), cluster))),
            oracle: false,
            bench: rules.cost.contention.as_ref().map(|config| Box::new(Workbench::new(config, cluster))),
        }
    }

    // Jobs.

    pub(crate) fn submit(&mut self, job: JobId) {
        let spec = self.workload.job(job);
        let (maps, reduces) = (spec.count(Kind::Map), spec.count(Kind::Reduce));
        self.version += 1;
        self.active.push(job);
        self.ready[0] += u64::from(maps);
        self.remaining[0] += u64::from(maps);
        if reduces > 0 {
            self.desired_with_reduces[0] += u64::from(maps);
            self.desired_with_reduces[1] += u64::from(reduces);
        }
        let index = MapIndex::build(self.workload, self.cluster, spec.maps.clone());
        let state = &mut self.jobs[job.index()];
        state.phase = JobPhase::Active;
        state.maps = Some(Box::new(index));
        state.output_in_bytes =
            reduces > 0 && spec.maps.clone().all(|map| self.workload.output_bytes(TaskId(map)).is_some());
        if state.slowstart == 0 {
            self.release_reduces(job);
        }
        if maps == 0 {
            self.jobs[job.index()].maps_done = Some(self.now);
        }
        self.ask_for_am(job);
    }

    /// The reduces of this job may start from now on.
    fn release_reduces(&mut self, job: JobId) {
        let state = &self.jobs[job.index()];
        self.ready[1] += u64::from(state.waiting[1]);
        self.remaining[1] += u64::from(self.workload.job(job).count(Kind::Reduce) - state.finished[1]);
    }

    pub(crate) fn reduces_may_start(&self, job: JobId) -> bool {
        let state = &self.jobs[job.index()];
        state.finished[0] >= state.slowstart
    }

    /// Takes a job that has ended out of all sums.
    pub(crate) fn end_job(&mut self, job: JobId) {
        let spec = self.workload.job(job);
        let counts = [spec.count(Kind::Map), spec.count(Kind::Reduce)];
        let reduces_ready = self.reduces_may_start(job);
        let state = &mut self.jobs[job.index()];
        state.phase = JobPhase::Over;
        state.maps = None;
        state.map_output = Vec::new();
        let left = |kind: usize| u64::from(counts[kind] - state.finished[kind]);
        self.ready[0] -= u64::from(state.waiting[0]);
        self.remaining[0] -= left(0);
        if reduces_ready {
            self.ready[1] -= u64::from(state.waiting[1]);
            self.remaining[1] -= left(1);
        }
        for kind in 0..2 {
            self.running[kind] -= u64::from(state.running[kind]);
            self.backups[kind] -= u64::from(state.backups[kind]);
        }
        if counts[1] > 0 {
            self.desired_with_reduces[0] -= u64::from(counts[0]);
            self.desired_with_reduces[1] -= u64::from(counts[1]);
        }
        if let Some(place) = self.active.iter().position(|&other| other == job) {
            self.active.remove(place);
        }
        self.withdraw(job);
        self.version += 1;
    }

    /// Whether all tasks of a job are done.
    pub(crate) fn is_done(&self, job: JobId) -> bool {
        let (spec, state) = (self.workload.job(job), &self.jobs[job.index()]);
        state.finished == [spec.count(Kind::Map), spec.count(Kind::Reduce)]
    }

    // Picking a task (policies A.2).

    /// Whether so many attempts of this job failed on this node that it gets no more of them.
    pub(crate) fn refuses(&self, job: JobId, node: NodeId) -> bool {
        let failures = &self.jobs[job.index()].node_failures;
        if failures.is_empty() {
            return false;
        }
        let flaky = |&&(_, failed): &&(NodeId, u32)| failed >= FLAKY_FAILURES;
        let known = failures.iter().filter(flaky).count();
        4 * known < self.live_nodes && failures.iter().filter(flaky).any(|&(other, _)| other == node)
    }

    pub(crate) fn find_map(&self, job: JobId, node: NodeId, reach: Reach) -> Option<TaskId> {
        let state = &self.jobs[job.index()];
        if self.ready_of(job, Kind::Map) == 0 || self.refuses(job, node) {
            return None;
        }
        let launched = |task: TaskId| self.tasks[task.index()].phase != TaskPhase::Waiting;
        state.maps.as_ref()?.find(self.workload, self.cluster, (node, self.live_nodes), reach, &launched)
    }

    pub(crate) fn find_reduce(&self, job: JobId, node: NodeId) -> Option<TaskId> {
        let state = &self.jobs[job.index()];
        let open = state.phase == JobPhase::Active && self.ready_of(job, Kind::Reduce) > 0;
        if !open || self.refuses(job, node) || self.fetches_enough(job, node) {
            return None;
        }
        let everywhere = self.live_nodes;
        let fits = |task: &&TaskId| {
            let failed_on = state.failed_reduces.iter().find(|(other, _)| other == *task);
            failed_on.is_none_or(|(_, nodes)| !nodes.contains(&node) || nodes.len() >= everywhere)
        };
        let returned = state.returned_reduces.iter().rev();
        let again = returned.filter(|task| self.tasks[task.index()].phase == TaskPhase::Returned);
        let first = again.into_iter().find(fits).copied();
        let fresh = (state.next_reduce < self.workload.job(job).reduces.end).then_some(TaskId(state.next_reduce));
        first.or(fresh)
    }

    /// The map of a job among those that failed that this node should run (YARN asks for them by themselves).
    pub(crate) fn find_failed_map(&self, job: JobId, node: NodeId) -> Option<TaskId> {
        if self.ready_of(job, Kind::Map) == 0 || self.refuses(job, node) {
            return None;
        }
        self.jobs[job.index()].maps.as_ref()?.find_failed((node, self.live_nodes))
    }

    pub(crate) fn level(&self, task: TaskId, node: NodeId) -> Locality {
        level(self.workload, self.cluster, task, node)
    }

    // Attempts.

    /// Puts a task that waits on a node that has room for it.
    pub(crate) fn launch(&mut self, task: TaskId, node: NodeId, course: Course, next_beat: Ms) -> RunId {
        let job = self.workload.job_of(task);
        let kind = self.workload.job(job).place(task).0;
        let placed = !self.workload.replicas(task).is_empty();
        self.container_taken(task, job, kind);
        let reduces_ready = self.reduces_may_start(job);
        let state = &mut self.jobs[job.index()];
        match kind {
            Kind::Map => {
                if let Some(maps) = &mut state.maps {
                    maps.launched(task, placed);
                }
                self.ready[0] -= 1;
            }
            Kind::Reduce => {
                if task.0 == state.next_reduce {
                    state.next_reduce += 1;
                }
                self.ready[1] -= u64::from(reduces_ready);
            }
        }
        state.waiting[kind.index()] -= 1;
        state.launch = state.launch.or(Some(self.now));
        self.start(task, node, course, next_beat, false)
    }

    /// Puts another attempt at a task that runs on a node that has room for it.
    pub(crate) fn launch_backup(&mut self, task: TaskId, node: NodeId, course: Course, next_beat: Ms) -> RunId {
        let id = self.start(task, node, course, next_beat, true);
        let run = &self.runs[id.index()];
        let (job, k) = (run.job, run.kind.index());
        self.container_added(job, Kind::BOTH[k]);
        self.jobs[job.index()].backups[k] += 1;
        self.backups[k] += 1;
        id
    }

    fn start(&mut self, task: TaskId, node: NodeId, course: Course, next_beat: Ms, backup: bool) -> RunId {
        let job = self.workload.job_of(task);
        let kind = self.workload.job(job).place(task).0;
        let level = if kind == Kind::Map { self.level(task, node) } else { Locality::Off };
        let start = self.start_of(job);
        let k = kind.index();
        let state = &mut self.jobs[job.index()];
        state.running[k] += 1;
        self.running[k] += 1;
        self.launches += 1;
        let run = Run {
            task,
            job,
            kind,
            attempt: self.tasks[task.index()].tries,
            node,
            level,
            assigned: self.now,
            start,
            course,
            shuffle_finish: None,
            compute: None,
            end: (kind == Kind::Map && self.bench.is_none()).then_some(start + course.run),
            reported: false,
            kill: Kill::No,
            backup,
            lost: false,
            unwanted: false,
            place: state.runs[k].len() as u32,
            launch: self.launches,
        };
        let id = self.free_runs.pop().unwrap_or(RunId(self.runs.len() as u32));
        state.runs[k].push(id);
        if id.index() == self.runs.len() {
            self.runs.push(run);
        } else {
            self.runs[id.index()] = run;
        }
        let task = &mut self.tasks[task.index()];
        task.phase = TaskPhase::Running;
        task.tries += 1;
        task.live += 1;
        self.nodes[node.index()].runs.push(id);
        if let Some(bench) = &mut self.bench {
            bench.launch(id, start);
        }
        self.set_free(node, self.nodes[node.index()].free.minus(self.cluster.demand(kind)));
        if self.yarn.is_none() {
            self.expect_report(next_beat, node, id);
        }
        self.version += 1;
        id
    }

    /// Whether this names an attempt that is on a node.
    pub(crate) fn is_on_node(&self, id: RunId) -> bool {
        self.runs.get(id.index()).is_some_and(|run| self.nodes[run.node.index()].runs.contains(&id))
    }

    pub(crate) fn set_free(&mut self, node: NodeId, free: Resources) {
        let before = std::mem::replace(&mut self.nodes[node.index()].free, free);
        for kind in Kind::BOTH {
            let has_room = |free: Resources| u32::from(free.holds(self.cluster.demand(kind)));
            let roomy = &mut self.roomy[kind.index()];
            *roomy = *roomy + has_room(free) - has_room(before);
        }
    }

    /// Frees what an attempt held. Its task is where the caller puts it.
    pub(crate) fn release(&mut self, id: RunId) -> Run {
        self.leave_bench(id);
        let run = self.runs[id.index()].clone();
        let k = run.kind.index();
        self.tasks[run.task.index()].live -= 1;
        self.nodes[run.node.index()].runs.retain(|&other| other != id);
        self.set_free(run.node, self.nodes[run.node.index()].free.plus(self.cluster.demand(run.kind)));
        self.container_given_back(run.job, run.kind);
        let state = &mut self.jobs[run.job.index()];
        let active = u64::from(state.phase == JobPhase::Active);
        state.running[k] -= 1;
        self.running[k] -= active;
        if run.backup {
            state.backups[k] -= 1;
            self.backups[k] -= active;
        }
        state.runs[k].swap_remove(run.place as usize);
        if let Some(&moved) = state.runs[k].get(run.place as usize) {
            self.runs[moved.index()].place = run.place;
        }
        if run.reported {
            self.reported[k] -= 1;
        }
        self.free_runs.push(id);
        self.version += 1;
        run
    }

    /// A task has done its work. Returns whether it was the last map of its job.
    pub(crate) fn task_done(&mut self, run: &Run) -> bool {
        let task = &mut self.tasks[run.task.index()];
        task.phase = TaskPhase::Done;
        let again = task.done_on.replace(run.node).is_some();
        let was_ready = self.reduces_may_start(run.job);
        let spec = self.workload.job(run.job);
        let state = &mut self.jobs[run.job.index()];
        state.finished[run.kind.index()] += 1;
        if run.kind == Kind::Reduce {
            self.remaining[1] -= u64::from(was_ready);
            return false;
        }
        self.remaining[0] -= 1;
        let maps = spec.count(Kind::Map);
        let reduces = spec.count(Kind::Reduce);
        if reduces > 0 {
            let made = spec.shuffle_bytes.unwrap_or(0).max(0) as f64 / f64::from(maps) / f64::from(reduces);
            if again {
                state.fluid.map_redone(self.now, made);
            } else {
                state.fluid.map_ended(self.now, made);
            }
            let bytes = self.workload.output_bytes(run.task).filter(|_| state.output_in_bytes);
            state.map_output.resize(self.nodes.len(), 0.0);
            state.map_output[run.node.index()] += bytes.map_or(1.0, |bytes| bytes as f64);
            self.feed(run.job, if again { 0.0 } else { made }, run.node);
        }
        let state = &mut self.jobs[run.job.index()];
        let last = state.finished[0] == maps;
        if last {
            state.maps_done = Some(self.now);
        }
        if !was_ready && self.reduces_may_start(run.job) {
            self.release_reduces(run.job);
        }
        last
    }

    /// An attempt failed: its task should not run on that node again.
    pub(crate) fn attempt_failed(&mut self, run: &Run) {
        self.tasks[run.task.index()].failures += 1;
        let state = &mut self.jobs[run.job.index()];
        match state.node_failures.iter_mut().find(|(other, _)| *other == run.node) {
            Some((_, failed)) => *failed += 1,
            None => state.node_failures.push((run.node, 1)),
        }
        match (&mut state.maps, run.kind) {
            (Some(maps), Kind::Map) => maps.failed(run.task, run.node),
            (None, Kind::Map) => {}
            (_, Kind::Reduce) => match state.failed_reduces.iter_mut().find(|(task, _)| *task == run.task) {
                Some((_, nodes)) if nodes.contains(&run.node) => {}
                Some((_, nodes)) => nodes.push(run.node),
                None => state.failed_reduces.push((run.task, vec![run.node])),
            },
        }
    }

    /// A task of which no attempt runs waits again, at the front.
    pub(crate) fn task_returned(&mut self, task: TaskId) {
        let job = self.workload.job_of(task);
        let kind = self.workload.job(job).place(task).0;
        let placed = !self.workload.replicas(task).is_empty();
        let reduces_ready = self.reduces_may_start(job);
        self.tasks[task.index()].phase = TaskPhase::Returned;
        let state = &mut self.jobs[job.index()];
        state.waiting[kind.index()] += 1;
        match kind {
            Kind::Map => {
                if let Some(maps) = &mut state.maps {
                    maps.returned(task, placed);
                }
                self.ready[0] += 1;
            }
            Kind::Reduce => {
                state.returned_reduces.retain(|&other| other != task);
                state.returned_reduces.push(task);
                self.ready[1] += u64::from(reduces_ready);
            }
        }
    }

    // Nodes that fail (policies A.8).

    /// An attempt dies with its node, and the master does not know.
    pub(crate) fn lose(&mut self, id: RunId) {
        self.leave_bench(id);
        let run = &mut self.runs[id.index()];
        run.lost = true;
        // One that was still being launched never ran.
        run.start = run.start.min(self.now);
        run.end = Some(run.end.map_or(self.now, |end| end.min(self.now)));
    }

    /// The master gives a node up. Returns the maps that were done there and are needed again: those of jobs with reduces.
    pub(crate) fn give_up(&mut self, node: NodeId) -> Vec<TaskId> {
        let capacity = self.cluster.node(node).capacity;
        for kind in Kind::BOTH {
            self.slots[kind.index()] -= self.cluster.room(capacity, kind);
        }
        self.live_nodes -= 1;
        self.total = self.total.minus(capacity);
        if let Some(yarn) = &mut self.yarn {
            yarn.free = yarn.free.minus(capacity);
            yarn.reserve(node, None);
        }
        let state = &mut self.nodes[node.index()];
        state.health = Health::Lost;
        state.reported = [0; 2];
        self.set_free(node, Resources::NONE);
        self.version += 1;
        let with_reduces =
            self.active.iter().map(|&job| self.workload.job(job)).filter(|job| job.count(Kind::Reduce) > 0);
        let here = |task: &TaskId| {
            let task = &self.tasks[task.index()];
            task.phase == TaskPhase::Done && task.done_on == Some(node)
        };
        with_reduces.flat_map(|job| job.maps.clone().map(TaskId).filter(here)).collect()
    }

    /// A node that was given up is there again, with nothing on it.
    pub(crate) fn welcome(&mut self, node: NodeId) {
        let capacity = self.cluster.node(node).capacity;
        for kind in Kind::BOTH {
            self.slots[kind.index()] += self.cluster.room(capacity, kind);
        }
        self.live_nodes += 1;
        self.total = self.total.plus(capacity);
        if let Some(yarn) = &mut self.yarn {
            yarn.free = yarn.free.plus(capacity);
        }
        self.nodes[node.index()].health = Health::Up;
        self.set_free(node, capacity);
        self.version += 1;
    }

    /// The output of a map that was done is lost: it waits again, and the reduces that still fetch wait for it.
    pub(crate) fn map_lost(&mut self, task: TaskId) {
        let job = self.workload.job_of(task);
        let reduces = self.workload.job(job).count(Kind::Reduce);
        let were_ready = self.reduces_may_start(job);
        let state = &mut self.jobs[job.index()];
        self.tasks[task.index()].won = false;
        state.finished[0] -= 1;
        state.maps_done = None;
        if let Some(left) = self.tasks[task.index()].done_on.and_then(|node| state.map_output.get_mut(node.index())) {
            *left = 0.0;
        }
        self.remaining[0] += 1;
        if were_ready && !self.reduces_may_start(job) {
            let state = &self.jobs[job.index()];
            self.ready[1] -= u64::from(state.waiting[1]);
            self.remaining[1] -= u64::from(reduces - state.finished[1]);
        }
        self.task_returned(task);
        for place in 0..self.jobs[job.index()].runs[1].len() {
            let id = self.jobs[job.index()].runs[1][place];
            let run = &mut self.runs[id.index()];
            let fetches = run.shuffle_finish.is_some_and(|at| at > self.now);
            if fetches && run.course.outcome == Outcome::Success && !run.lost && run.kill != Kill::Done {
                (run.shuffle_finish, run.compute, run.end) = (None, None, None);
            }
        }
    }

    // What the nodes have reported (oracle F4).

    /// Notes that the node's next heartbeat will report this attempt, so that a parked node need not wake for it.
    fn expect_report(&mut self, at: Ms, node: NodeId, run: RunId) {
        let report = Report { at, node, run, launch: self.launches };
        let later = |other: &Report| (other.at, other.node) > (at, node);
        let back = self.reports.iter().rev().take_while(|&other| later(other)).count();
        self.reports.insert(self.reports.len() - back, report);
    }

    /// Takes note of all reports up to this heartbeat.
    pub(crate) fn settle_reports(&mut self, at: Ms, node: NodeId) {
        while self.reports.front().is_some_and(|report| (report.at, report.node) <= (at, node)) {
            let Some(report) = self.reports.pop_front() else { return };
            let run = &self.runs[report.run.index()];
            if run.launch == report.launch && run.end.is_none_or(|end| end > report.at) {
                self.mark_reported(report.run);
            }
        }
    }

    pub(crate) fn mark_reported(&mut self, id: RunId) {
        let run = &mut self.runs[id.index()];
        if !run.reported {
            run.reported = true;
            self.reported[run.kind.index()] += 1;
        }
    }
}
