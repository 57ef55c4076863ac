//! The state of a replay: jobs, tasks, nodes and running attempts as dense arrays.

use std::collections::VecDeque;

use crate::cluster::Cluster;
use crate::cost::{Course, Fluid, slowstart_threshold};
use crate::ids::{JobId, Kind, Level, Ms, NodeId, TaskId};
use crate::index::{MapIndex, Reach, level};
use crate::resources::Resources;
use crate::view::{AttemptEnd, RunId};
use crate::workload::Workload;
use resched_trace::model::Outcome;

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
    /// Waits again after a failure or a kill.
    Returned,
    Done,
}

#[derive(Debug, Clone)]
pub(crate) struct TaskState {
    pub(crate) phase: TaskPhase,
    pub(crate) tries: u32,
    pub(crate) failures: u32,
}

#[derive(Debug)]
pub(crate) struct JobState {
    pub(crate) phase: JobPhase,
    /// Built when the job arrives, dropped when it ends.
    pub(crate) maps: Option<Box<MapIndex>>,
    next_reduce: u32,
    returned_reduces: Vec<(TaskId, Vec<NodeId>)>,
    pub(crate) waiting: [u32; 2],
    pub(crate) running: [u32; 2],
    pub(crate) finished: [u32; 2],
    slowstart: u32,
    pub(crate) launch: Option<Ms>,
    /// When the master learned that the last map was done.
    pub(crate) maps_done: Option<Ms>,
    pub(crate) runs: [Vec<RunId>; 2],
    pub(crate) fluid: Fluid,
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
    pub(crate) level: Level,
    /// The heartbeat that assigned it.
    pub(crate) assigned: Ms,
    pub(crate) start: Ms,
    pub(crate) course: Course,
    pub(crate) shuffle_finish: Option<Ms>,
    /// When it ends; a reduce's is unknown until all maps are done.
    pub(crate) end: Option<Ms>,
    pub(crate) reported: bool,
    pub(crate) kill: Kill,
    /// Its place among the running attempts of its job and kind.
    place: u32,
    /// Which launch of the replay it is: tells it from others that had the same place in `runs`.
    launch: u64,
}

impl Run {
    /// When a reduce that ended so had all its input, and when it had sorted it.
    pub(crate) fn phases(&self, outcome: Outcome) -> (Option<Ms>, Option<Ms>) {
        let reduced = self.kind == Kind::Reduce && outcome == Outcome::Success;
        let shuffle_finish = self.shuffle_finish.filter(|_| reduced);
        (shuffle_finish, shuffle_finish.map(|at| at + self.course.sort))
    }

    /// What the master learns of its end.
    pub(crate) fn ended(&self, outcome: Outcome) -> AttemptEnd {
        let (shuffle_finish, sort_finish) = self.phases(outcome);
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
        }
    }
}

#[derive(Debug)]
pub(crate) struct NodeState {
    /// In launch order.
    pub(crate) runs: Vec<RunId>,
    pub(crate) free: Resources,
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
    /// Tasks of active jobs that have reduces.
    pub(crate) desired_with_reduces: [u64; 2],
    /// Attempts in the latest heartbeat of every node.
    pub(crate) reported: [u64; 2],
    /// Grows with every change that a policy could see.
    pub(crate) version: u64,
    /// Whether the policy may ask how long tasks will take.
    pub(crate) oracle: bool,
}

impl<'w> World<'w> {
    pub(crate) fn new(workload: &'w Workload, cluster: &'w Cluster) -> Self {
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
                    waiting: [maps, job.count(Kind::Reduce)],
                    running: [0; 2],
                    finished: [0; 2],
                    slowstart: slowstart_threshold(rules.jobs.slowstart, maps),
                    launch: None,
                    maps_done: None,
                    runs: [Vec::new(), Vec::new()],
                    fluid: Fluid::new(rules.cost.shuffle_rate),
                    node_failures: Vec::new(),
                }
            })
            .collect();
        let nodes = cluster
            .nodes()
            .iter()
            .map(|node| NodeState { runs: Vec::new(), free: node.capacity, reported: [0; 2] })
            .collect();
        Self {
            workload,
            cluster,
            now: rules.heartbeat.first,
            jobs,
            tasks: vec![TaskState { phase: TaskPhase::Waiting, tries: 0, failures: 0 }; workload.task_count()],
            nodes,
            runs: Vec::new(),
            free_runs: Vec::new(),
            launches: 0,
            reports: VecDeque::new(),
            active: Vec::new(),
            ready: [0; 2],
            remaining: [0; 2],
            running: [0; 2],
            desired_with_reduces: [0; 2],
            reported: [0; 2],
            version: 0,
            oracle: false,
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
        if state.slowstart == 0 {
            self.release_reduces(job);
        }
        if maps == 0 {
            self.jobs[job.index()].maps_done = Some(self.now);
        }
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
        let left = |kind: usize| u64::from(counts[kind] - state.finished[kind]);
        self.ready[0] -= u64::from(state.waiting[0]);
        self.remaining[0] -= left(0);
        if reduces_ready {
            self.ready[1] -= u64::from(state.waiting[1]);
            self.remaining[1] -= left(1);
        }
        for kind in 0..2 {
            self.running[kind] -= u64::from(state.running[kind]);
        }
        if counts[1] > 0 {
            self.desired_with_reduces[0] -= u64::from(counts[0]);
            self.desired_with_reduces[1] -= u64::from(counts[1]);
        }
        if let Some(place) = self.active.iter().position(|&other| other == job) {
            self.active.remove(place);
        }
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
        4 * known < self.cluster.nodes().len() && failures.iter().filter(flaky).any(|&(other, _)| other == node)
    }

    pub(crate) fn find_map(&self, job: JobId, node: NodeId, reach: Reach) -> Option<TaskId> {
        let state = &self.jobs[job.index()];
        if state.waiting[0] == 0 || self.refuses(job, node) {
            return None;
        }
        let launched = |task: TaskId| self.tasks[task.index()].phase != TaskPhase::Waiting;
        state.maps.as_ref()?.find(self.workload, self.cluster, node, reach, &launched)
    }

    pub(crate) fn find_reduce(&self, job: JobId, node: NodeId) -> Option<TaskId> {
        let state = &self.jobs[job.index()];
        let open = state.phase == JobPhase::Active && state.waiting[1] > 0;
        if !open || !self.reduces_may_start(job) || self.refuses(job, node) {
            return None;
        }
        let everywhere = self.cluster.nodes().len();
        let returned = state.returned_reduces.iter().rev();
        let fits = |failed_on: &[NodeId]| !failed_on.contains(&node) || failed_on.len() >= everywhere;
        let again = returned.filter(|(task, _)| self.tasks[task.index()].phase == TaskPhase::Returned);
        let first = again.into_iter().find(|(_, failed_on)| fits(failed_on)).map(|&(task, _)| task);
        let fresh = (state.next_reduce < self.workload.job(job).reduces.end).then_some(TaskId(state.next_reduce));
        first.or(fresh)
    }

    pub(crate) fn level(&self, task: TaskId, node: NodeId) -> Level {
        level(self.workload, self.cluster, task, node)
    }

    // Attempts.

    /// Puts a task that waits on a node that has room for it.
    pub(crate) fn launch(&mut self, task: TaskId, node: NodeId, course: Course, next_beat: Ms) -> RunId {
        let job = self.workload.job_of(task);
        let kind = self.workload.job(job).place(task).0;
        let level = if kind == Kind::Map { self.level(task, node) } else { Level::Off };
        let placed = !self.workload.replicas(task).is_empty();
        let start = self.now + self.cluster.config.jobs.launch_overhead;
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
        let k = kind.index();
        state.waiting[k] -= 1;
        state.running[k] += 1;
        self.running[k] += 1;
        state.launch = state.launch.or(Some(self.now));
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
            end: (kind == Kind::Map).then_some(start + course.run),
            reported: false,
            kill: Kill::No,
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
        let on = &mut self.nodes[node.index()];
        on.free = on.free.minus(self.cluster.demand(kind));
        on.runs.push(id);
        self.expect_report(next_beat, node, id);
        self.version += 1;
        id
    }

    /// Whether this names an attempt that is on a node.
    pub(crate) fn is_on_node(&self, id: RunId) -> bool {
        self.runs.get(id.index()).is_some_and(|run| self.nodes[run.node.index()].runs.contains(&id))
    }

    /// Frees what an attempt held. Its task is where the caller puts it.
    pub(crate) fn release(&mut self, id: RunId) -> Run {
        let run = self.runs[id.index()].clone();
        let k = run.kind.index();
        let on = &mut self.nodes[run.node.index()];
        on.free = on.free.plus(self.cluster.demand(run.kind));
        on.runs.retain(|&other| other != id);
        let state = &mut self.jobs[run.job.index()];
        state.running[k] -= 1;
        self.running[k] -= u64::from(state.phase == JobPhase::Active);
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
        self.tasks[run.task.index()].phase = TaskPhase::Done;
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
            let bytes = spec.shuffle_bytes.unwrap_or(0).max(0) as f64 / f64::from(maps) / f64::from(reduces);
            state.fluid.map_ended(self.now, bytes);
        }
        let last = state.finished[0] == maps;
        if last {
            state.maps_done = Some(self.now);
        }
        if !was_ready && self.reduces_may_start(run.job) {
            self.release_reduces(run.job);
        }
        last
    }

    /// A task waits again: at the front, and not on a node where it failed.
    pub(crate) fn task_returned(&mut self, run: &Run, failed: bool) {
        let placed = !self.workload.replicas(run.task).is_empty();
        let reduces_ready = self.reduces_may_start(run.job);
        let failed_on = failed.then_some(run.node);
        self.tasks[run.task.index()].phase = TaskPhase::Returned;
        let state = &mut self.jobs[run.job.index()];
        state.waiting[run.kind.index()] += 1;
        if let Some(node) = failed_on {
            match state.node_failures.iter_mut().find(|(other, _)| *other == node) {
                Some((_, failed)) => *failed += 1,
                None => state.node_failures.push((node, 1)),
            }
        }
        match run.kind {
            Kind::Map => {
                if let Some(maps) = &mut state.maps {
                    maps.returned(run.task, placed, failed_on);
                }
                self.ready[0] += 1;
            }
            Kind::Reduce => {
                let known = state.returned_reduces.iter().position(|(task, _)| *task == run.task);
                let mut nodes = known.map_or_else(Vec::new, |place| state.returned_reduces.remove(place).1);
                nodes.extend(failed_on.filter(|node| !nodes.contains(node)));
                state.returned_reduces.push((run.task, nodes));
                self.ready[1] += u64::from(reduces_ready);
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
