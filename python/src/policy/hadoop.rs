//! A policy in Python for a Hadoop cluster.

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use resched_sim::hadoop::{AttemptEnd, AttemptView, Container, Kind, Offer, Orders, Policy, System, View};
use resched_sim::{AttemptId, JobId, Ms, NodeId, TaskId, Violation};
use resched_tables::cluster_file::Calculator;
use resched_tables::draws::Purpose;
use resched_tables::model::{LONGEST, Locality, Reason};

use super::caller::{Caller, Window};
use super::containers::ContainerChanged;
use super::hooks::{Hooks, Method};
use super::known::Known;
use super::lent::Lent;
use super::words::{kind_name, part_name};
use super::{draw, draw_key, kept_name, only_in, period};

/// A Hadoop cluster in mid-replay, as a policy sees it: `view` in every method, and `offer` in `heartbeat`.
#[pyclass(module = "resched._native", frozen)]
pub(crate) struct HadoopOffer {
    view: Lent<View<'static>>,
    offer: Lent<Offer<'static, 'static>>,
    orders: Lent<Orders>,
    known: Known<AttemptId>,
    /// The active jobs, at a version of the world.
    active: Mutex<Option<(u64, Py<PyTuple>)>>,
    /// Whether it is a cluster of YARN.
    yarn: bool,
}

impl Window for HadoopOffer {
    type View<'a> = View<'a>;
    type Run = AttemptId;

    fn view(&self) -> &Lent<View<'static>> {
        &self.view
    }

    fn known(&self) -> &Known<AttemptId> {
        &self.known
    }
}

impl HadoopOffer {
    fn new(yarn: bool) -> Self {
        Self {
            view: Lent::default(),
            offer: Lent::default(),
            orders: Lent::default(),
            known: Known::default(),
            active: Mutex::default(),
            yarn,
        }
    }

    /// Reads the world as it is now.
    pub(super) fn read<R>(&self, read: impl for<'a> FnOnce(View<'a>) -> R) -> PyResult<R> {
        if self.offer.is_lent() {
            self.offer.with(|offer| read(offer.view()))
        } else {
            self.view.with(|view| read(*view))
        }
    }

    pub(super) fn job(&self, py: Python<'_>, number: usize) -> PyResult<JobId> {
        self.known.job(py, number)
    }

    fn task(&self, py: Python<'_>, number: usize) -> PyResult<TaskId> {
        self.known.task(py, number)
    }

    pub(super) fn node(&self, py: Python<'_>, number: usize) -> PyResult<NodeId> {
        self.known.node(py, number, || self.read(|view| view.nodes().collect()))
    }

    /// The attempt for Python, which may name it from now on.
    fn meet(&self, run: &AttemptView) -> Attempt {
        self.known.add_run(run.id.index(), run.id);
        Attempt::of(run)
    }

    /// Gives the policy what it may know of a job that has arrived, if it does not have it.
    pub(super) fn introduce(&self, job: JobId, view: View<'_>) {
        if self.known.add_job(job) {
            self.known.add_tasks(Kind::BOTH.into_iter().flat_map(|kind| view.job(job).tasks(kind)));
        }
    }

    /// Refuses what only YARN has.
    pub(super) fn on_yarn(&self, py: Python<'_>) -> PyResult<()> {
        if self.yarn {
            Ok(())
        } else {
            Err(self.known.refused(py, "asks for containers, but its `system` is \"slots\"".to_owned()))
        }
    }

    pub(super) fn offered<R>(&self, use_it: impl FnOnce(&Offer<'_, '_>) -> R) -> PyResult<R> {
        self.offer.with(|offer| use_it(offer)).map_err(|_| only_in("what a node offers", "heartbeat"))
    }

    /// Does what the engine may refuse. A refusal ends the replay, also if the policy catches its exception.
    pub(super) fn allowed<R>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&mut Offer<'_, '_>) -> Result<R, Violation>,
    ) -> PyResult<R> {
        let done = self.offer.with(|offer| ask(offer)).map_err(|_| only_in("a launch", "heartbeat"))?;
        done.map_err(|violation| self.known.refused(py, violation.to_string()))
    }
}

/// An attempt at a task, on a node.
#[pyclass(module = "resched._native", frozen, get_all)]
pub(crate) struct Attempt {
    /// Its number while it is on a node.
    run: usize,
    task: usize,
    kind: &'static str,
    /// How many attempts at the task there were before.
    attempt: u32,
    node: usize,
    /// When it was started, ms.
    start: Ms,
    /// Whether the task was already running then.
    backup: bool,
    /// How near to its input a map runs: `node`, `rack` or `off`.
    level: &'static str,
}

impl Attempt {
    fn of(attempt: &AttemptView) -> Self {
        Self {
            run: attempt.id.index(),
            task: attempt.task.index(),
            kind: kind_name(attempt.kind),
            attempt: attempt.attempt,
            node: attempt.node.index(),
            start: attempt.start,
            backup: attempt.backup,
            level: attempt.level.as_str(),
        }
    }
}

/// How an attempt ended.
#[pyclass(module = "resched._native", frozen, get_all)]
pub(crate) struct AttemptEnded {
    task: usize,
    job: usize,
    kind: &'static str,
    attempt: u32,
    node: usize,
    level: &'static str,
    /// When it was started and when it ended, ms.
    start: Ms,
    finish: Ms,
    outcome: String,
    /// The bytes that a map wrote, if they are known.
    output_bytes: Option<u64>,
}

impl AttemptEnded {
    fn of(ended: &AttemptEnd, view: View<'_>) -> Self {
        Self {
            task: ended.task.index(),
            job: ended.job.index(),
            kind: kind_name(ended.kind),
            attempt: ended.attempt,
            node: ended.node.index(),
            level: ended.level.as_str(),
            start: ended.start,
            finish: ended.finish,
            outcome: ended.outcome.to_string(),
            output_bytes: view.output_bytes(ended),
        }
    }
}

/// The methods that read a number of a job of a kind, of the world of a kind, or of a job.
macro_rules! readers {
    (
        world { $($(#[$wdoc:meta])* $world:ident -> $wtype:ty: $wread:expr;)* }
        kinds { $($(#[$kdoc:meta])* $of_kind:ident -> $ktype:ty: $kread:expr;)* }
        jobs { $($(#[$jdoc:meta])* $of_job:ident -> $jtype:ty: $jread:expr;)* }
        jobs_and_kinds { $($(#[$bdoc:meta])* $of_both:ident -> $btype:ty: $bread:expr;)* }
    ) => {
        #[pymethods]
        impl HadoopOffer {
            $($(#[$wdoc])*
            #[getter]
            fn $world(&self) -> PyResult<$wtype> {
                self.read($wread)
            })*

            $($(#[$kdoc])*
            fn $of_kind(&self, kind: &str) -> PyResult<$ktype> {
                let kind = super::words::kind(kind)?;
                self.read(|view| ($kread)(view, kind))
            })*

            $($(#[$jdoc])*
            fn $of_job(&self, py: Python<'_>, job: usize) -> PyResult<$jtype> {
                let job = self.job(py, job)?;
                self.read(|view| ($jread)(view, job))
            })*

            $($(#[$bdoc])*
            fn $of_both(&self, py: Python<'_>, job: usize, kind: &str) -> PyResult<$btype> {
                let (job, kind) = (self.job(py, job)?, super::words::kind(kind)?);
                self.read(|view| ($bread)(view, job, kind))
            })*
        }
    };
}

readers! {
    world {
        /// The simulated clock, ms.
        now -> Ms: |view| view.now();
        /// Grows with every change of the world that a policy could see.
        version -> u64: |view| view.version();
        /// How many nodes the master has not given up.
        live_nodes -> usize: |view| view.live_nodes();
        /// How many nodes there are.
        node_count -> usize: |view| view.node_count();
        /// How many racks there are.
        rack_count -> usize: |view| view.rack_count();
        /// The time between two heartbeats of a node, ms.
        heartbeat_interval -> Ms: |view| view.heartbeat_interval();
        /// Whether anybody wants to know why jobs are passed over.
        wants_reasons -> bool: |view| view.wants_reasons();
    }
    kinds {
        /// How many tasks of a kind could be launched now, over all jobs.
        all_ready -> u64: |view: View<'_>, kind| view.ready(kind);
        /// How many tasks of a kind are unfinished, over all jobs.
        all_remaining -> u64: |view: View<'_>, kind| view.remaining(kind);
        /// How many attempts of a kind run, over all jobs.
        all_running -> u64: |view: View<'_>, kind| view.running(kind);
        /// How many attempts of a kind ran at the latest heartbeats of their nodes.
        all_reported -> u64: |view: View<'_>, kind| view.reported_running(kind);
        /// How many tasks of a kind the active jobs with reduces have.
        desired_with_reduces -> u64: |view: View<'_>, kind| view.desired_with_reduces(kind);
        /// How many tasks of a kind fit side by side on all nodes.
        slots -> u32: |view: View<'_>, kind| view.slots(kind);
        /// How many nodes have room for a task of a kind.
        nodes_with_room -> u32: |view: View<'_>, kind| view.nodes_with_room(kind);
    }
    jobs {
        /// When a job was submitted, ms.
        submit -> Ms: |view: View<'_>, job| view.job(job).submit();
        /// Who submitted a job.
        user -> String: |view: View<'_>, job| view.job(job).user().to_owned();
        /// The queue that a job was submitted to.
        queue -> String: |view: View<'_>, job| view.job(job).queue().to_owned();
        /// The priority of a job: `VERY_HIGH` to `VERY_LOW`.
        priority -> &'static str: |view: View<'_>, job| view.job(job).priority().as_str();
        /// Whether a job has not ended.
        is_active -> bool: |view: View<'_>, job| view.job(job).is_active();
        /// Whether enough maps of a job are done for its reduces to start.
        reduces_may_start -> bool: |view: View<'_>, job| view.job(job).reduces_may_start();
        /// Whether a map of a job waits whose input has no known place.
        has_unplaced_maps -> bool: |view: View<'_>, job| view.job(job).has_unplaced_maps();
        /// The maps of a job that wait.
        waiting_maps -> Vec<usize>: |view: View<'_>, job| view.waiting_maps(job).map(TaskId::index).collect::<Vec<_>>();
    }
    jobs_and_kinds {
        /// How many tasks of a kind a job has.
        desired -> u32: |view: View<'_>, job, kind| view.job(job).desired(kind);
        /// How many tasks of a kind of a job wait.
        waiting -> u32: |view: View<'_>, job, kind| view.job(job).waiting(kind);
        /// How many attempts of a kind of a job run.
        running -> u32: |view: View<'_>, job, kind| view.job(job).running(kind);
        /// How many tasks of a kind of a job are done.
        finished -> u32: |view: View<'_>, job, kind| view.job(job).finished(kind);
        /// How many tasks of a kind of a job could be launched now.
        ready -> u32: |view: View<'_>, job, kind| view.job(job).ready(kind);
        /// How many backups of a kind of a job run.
        backups -> u32: |view: View<'_>, job, kind| view.job(job).backups(kind);
        /// The tasks of a kind of a job.
        tasks -> Vec<usize>: |view: View<'_>, job, kind| view.job(job).tasks(kind).map(TaskId::index).collect::<Vec<_>>();
    }
}

#[pymethods]
impl HadoopOffer {
    /// The jobs that have arrived and not ended, in order of submission.
    #[getter]
    fn jobs(&self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let version = self.read(|view| view.version())?;
        let active = || self.active.lock().unwrap_or_else(PoisonError::into_inner);
        let known = active().as_ref().filter(|known| known.0 == version).map(|known| known.1.clone_ref(py));
        if let Some(jobs) = known {
            return Ok(jobs);
        }
        let jobs = self.read(|view| {
            view.jobs().iter().for_each(|&job| self.introduce(job, view));
            view.jobs().iter().map(|job| job.index()).collect::<Vec<_>>()
        })?;
        // Nothing is locked here: Python may collect garbage, and a finaliser may ask for the jobs.
        let jobs = PyTuple::new(py, jobs)?.unbind();
        let before = active().replace((version, jobs.clone_ref(py)));
        drop(before);
        Ok(jobs)
    }

    /// The numbers of all nodes.
    #[getter]
    fn nodes(&self) -> PyResult<Vec<usize>> {
        self.read(|view| view.nodes().map(NodeId::index).collect())
    }

    /// The view of the offer: the same object.
    #[getter]
    fn view(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// The first active job after `after`, or of all, of which a task of a kind could be launched now.
    #[pyo3(signature = (kind, after = None))]
    fn next_ready(&self, py: Python<'_>, kind: &str, after: Option<usize>) -> PyResult<Option<usize>> {
        let (kind, after) = (super::words::kind(kind)?, after.map(|job| self.job(py, job)).transpose()?);
        self.read(|view| {
            let next = view.next_ready(kind, after);
            next.into_iter().for_each(|job| self.introduce(job, view));
            next.map(JobId::index)
        })
    }

    /// The job of a task.
    fn job_of(&self, py: Python<'_>, task: usize) -> PyResult<usize> {
        let task = self.task(py, task)?;
        self.read(|view| view.job_of(task).index())
    }

    /// The kind of a task.
    fn kind(&self, py: Python<'_>, task: usize) -> PyResult<&'static str> {
        let task = self.task(py, task)?;
        self.read(|view| kind_name(view.kind(task)))
    }

    /// Whether a task is not done and does not run.
    fn waits(&self, py: Python<'_>, task: usize) -> PyResult<bool> {
        let task = self.task(py, task)?;
        self.read(|view| view.waits(task))
    }

    /// The bytes that a map reads, if they are known.
    fn input_bytes(&self, py: Python<'_>, task: usize) -> PyResult<Option<u64>> {
        let task = self.task(py, task)?;
        self.read(|view| view.input_bytes(task))
    }

    /// The nodes that hold the input of a map.
    fn replicas(&self, py: Python<'_>, task: usize) -> PyResult<Vec<usize>> {
        let task = self.task(py, task)?;
        self.read(|view| view.replicas(task).iter().map(|node| node.index()).collect())
    }

    /// The attempts of a job and a kind that are on nodes, in order of their tasks.
    fn runs(&self, py: Python<'_>, job: usize, kind: &str) -> PyResult<Vec<Attempt>> {
        let (job, kind) = (self.job(py, job)?, super::words::kind(kind)?);
        let mut runs: Vec<AttemptView> = self.read(|view| view.runs(job, kind).collect())?;
        runs.sort_unstable_by_key(|run| (run.task, run.attempt));
        Ok(runs.iter().map(|run| self.meet(run)).collect())
    }

    /// The progress of an attempt at the latest heartbeat of its node: the part of its work (`map`, `copy`, `sort` or `reduce`), the share
    /// of that part that is done, and when that was, ms.
    fn progress(&self, py: Python<'_>, run: usize) -> PyResult<(&'static str, f64, Ms)> {
        let id = self.known.run(py, run)?;
        let found = self.read(|view| view.attempt(id).map(|run| view.progress(&run)))?;
        found
            .map(|progress| (part_name(progress.part), progress.fraction, progress.at))
            .ok_or_else(|| self.known.refused(py, format!("asks about run {run}, which is on no node")))
    }

    /// Whether the master has not given up a node.
    fn is_live(&self, py: Python<'_>, node: usize) -> PyResult<bool> {
        let node = self.node(py, node)?;
        self.read(|view| view.is_live(node))
    }

    /// The number of the rack of a node.
    fn rack(&self, py: Python<'_>, node: usize) -> PyResult<usize> {
        let node = self.node(py, node)?;
        self.read(|view| view.rack(node).index())
    }

    /// How many tasks of a kind fit side by side on a node.
    fn node_slots(&self, py: Python<'_>, node: usize, kind: &str) -> PyResult<u32> {
        let (node, kind) = (self.node(py, node)?, super::words::kind(kind)?);
        self.read(|view| view.node_slots(node, kind))
    }

    /// How many more tasks of a kind a node has room for.
    fn room(&self, py: Python<'_>, node: usize, kind: &str) -> PyResult<u32> {
        let (node, kind) = (self.node(py, node)?, super::words::kind(kind)?);
        self.read(|view| view.room(node, kind))
    }

    /// A random number from 0 up to 1, which follows from the seed of the replay, what it is for, and the numbers that identify the
    /// decision, such as a job and the instant.
    #[pyo3(signature = (purpose, *entity))]
    fn random(&self, purpose: &str, entity: Vec<u64>) -> PyResult<f64> {
        self.read(|view| draw(view.draws(Purpose::OwnPolicy, &draw_key(purpose, &entity))))
    }

    /// Says why a job is passed over, for `explain`; `other` is the job that it is about.
    #[pyo3(signature = (job, kind, reason, other = None))]
    fn pass_over(&self, py: Python<'_>, job: usize, kind: &str, reason: &str, other: Option<usize>) -> PyResult<()> {
        let (job, kind) = (self.job(py, job)?, super::words::kind(kind)?);
        let other = other.map(|job| self.job(py, job)).transpose()?;
        let reason = super::reason(reason)?;
        if other.is_some() && reason != Reason::Reserve {
            let problem = format!("other: expected it with the reason `reserve`, found `{reason}`");
            return Err(PyValueError::new_err(problem));
        }
        self.read(|view| match other {
            Some(other) => view.pass_over_for(job, kind, other),
            None => view.pass_over(job, kind, reason),
        })
    }

    // What only an offer can.

    /// The node that sent the heartbeat.
    #[getter(node)]
    fn offered_node(&self) -> PyResult<usize> {
        self.offered(|offer| offer.node().index())
    }

    /// How many more tasks of a kind the node has room for.
    fn free(&self, kind: &str) -> PyResult<u32> {
        let kind = super::words::kind(kind)?;
        self.offered(|offer| offer.free(kind))
    }

    /// How many attempts of a kind the node reported as running.
    fn reported(&self, kind: &str) -> PyResult<u32> {
        let kind = super::words::kind(kind)?;
        self.offered(|offer| offer.reported(kind))
    }

    /// The map of a job that the node should run, no farther from its input than `reach`; `None` if there is none.
    #[pyo3(signature = (job, reach = "any"))]
    fn find_map(&self, py: Python<'_>, job: usize, reach: &str) -> PyResult<Option<usize>> {
        let (job, reach) = (self.job(py, job)?, super::words::reach(reach)?);
        self.offered(|offer| offer.find_map(job, reach).map(TaskId::index))
    }

    /// The reduce of a job that the node should run; `None` if there is none.
    fn find_reduce(&self, py: Python<'_>, job: usize) -> PyResult<Option<usize>> {
        let job = self.job(py, job)?;
        self.offered(|offer| offer.find_reduce(job).map(TaskId::index))
    }

    /// How near to its input a map would run here: `node`, `rack` or `off`.
    fn level(&self, py: Python<'_>, task: usize) -> PyResult<&'static str> {
        let task = self.task(py, task)?;
        self.offered(|offer| offer.level(task).as_str())
    }

    /// Launches a task on the node.
    fn launch(&self, py: Python<'_>, task: usize) -> PyResult<()> {
        let task = self.task(py, task)?;
        self.allowed(py, |offer| offer.launch(task))
    }

    /// Finds a map as `find_map` does and launches it. Returns how near to its input it runs; `None` if there is none.
    #[pyo3(signature = (job, reach = "any"))]
    fn launch_map(&self, py: Python<'_>, job: usize, reach: &str) -> PyResult<Option<&'static str>> {
        let (job, reach) = (self.job(py, job)?, super::words::reach(reach)?);
        Ok(self.allowed(py, |offer| offer.launch_map(job, reach))?.map(Locality::as_str))
    }

    /// Finds a reduce as `find_reduce` does and launches it. Returns whether there was one.
    fn launch_reduce(&self, py: Python<'_>, job: usize) -> PyResult<bool> {
        let job = self.job(py, job)?;
        self.allowed(py, |offer| offer.launch_reduce(job))
    }

    /// Launches another attempt at a task that runs elsewhere.
    fn launch_backup(&self, py: Python<'_>, task: usize) -> PyResult<()> {
        let task = self.task(py, task)?;
        self.allowed(py, |offer| offer.launch_backup(task))
    }

    // What only a tick can.

    /// Kills a running attempt at the next heartbeat of its node; its task waits again.
    fn kill(&self, py: Python<'_>, run: usize) -> PyResult<()> {
        let run = self.known.run(py, run)?;
        self.orders.with(|orders| orders.kill(run)).map_err(|_| only_in("kill", "tick"))
    }

    /// Reports a number about a job, or about all, to those who read the run. It changes nothing.
    #[pyo3(signature = (name, value, job = None))]
    fn report(&self, py: Python<'_>, name: &str, value: f64, job: Option<usize>) -> PyResult<()> {
        let job = job.map(|job| self.job(py, job)).transpose()?;
        let name = kept_name(name)?;
        self.orders.with(|orders| orders.report(name, job, value)).map_err(|_| only_in("report", "tick"))
    }
}

/// A policy in Python, as the engine knows it.
pub(super) struct Shell {
    caller: Caller<HadoopOffer>,
    heartbeat: Method,
    job_submitted: Option<Method>,
    job_finished: Option<Method>,
    task_waits: Option<Method>,
    task_started: Option<Method>,
    task_finished: Option<Method>,
    node_lost: Option<Method>,
    tick: Option<Method>,
    tick_from: Option<Method>,
    before_tick: Option<Method>,
    skips_idle_ticks: Option<Method>,
    restless: Option<Method>,
    counts_heartbeats: Option<Method>,
    declines: Option<Method>,
    container_changed: Option<Method>,
    headroom: Option<Method>,
    may_use: Option<Method>,
    system: System,
    calculator: Option<Calculator>,
    oracle: bool,
    ramps_reduces: bool,
    period: Option<Ms>,
}

impl Shell {
    /// Of an object, whose overridden methods stand in a dictionary.
    pub(super) fn new(
        py: Python<'_>,
        object: &Bound<'_, PyAny>,
        methods: Py<PyDict>,
        system: System,
    ) -> PyResult<Self> {
        let hooks = Hooks::new(object, methods)?;
        let method = |name| hooks.method(py, name);
        let heartbeat = method("heartbeat")?;
        let heartbeat =
            heartbeat.ok_or_else(|| pyo3::exceptions::PyTypeError::new_err("expected a method `heartbeat`"))?;
        let calculator = object.getattr("calculator")?.extract::<Option<String>>()?;
        Ok(Self {
            heartbeat,
            job_submitted: method("job_submitted")?,
            job_finished: method("job_finished")?,
            task_waits: method("task_waits")?,
            task_started: method("task_started")?,
            task_finished: method("task_finished")?,
            node_lost: method("node_lost")?,
            tick: method("tick")?,
            tick_from: method("tick_from")?,
            before_tick: method("before_tick")?,
            skips_idle_ticks: method("skips_idle_ticks")?,
            restless: method("restless")?,
            counts_heartbeats: method("counts_heartbeats")?,
            declines: method("declines")?,
            container_changed: method("container_changed")?,
            headroom: method("headroom")?,
            may_use: method("may_use")?,
            system,
            calculator: calculator.as_deref().map(super::words::calculator).transpose()?,
            oracle: object.getattr("oracle")?.extract()?,
            ramps_reduces: object.getattr("ramps_reduces")?.extract()?,
            period: period(object)?,
            caller: Caller { hooks, window: Py::new(py, HadoopOffer::new(system == System::Containers))? },
        })
    }
}

impl Policy for Shell {
    fn system(&self) -> System {
        self.system
    }

    fn is_oracle(&self) -> bool {
        self.oracle
    }

    fn ramps_reduces(&self) -> bool {
        self.ramps_reduces
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.caller.window.get().introduce(job, view);
        self.caller.report(self.job_submitted.as_ref(), job.index(), view);
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.caller.report(self.job_finished.as_ref(), job.index(), view);
    }

    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.caller.report(self.task_waits.as_ref(), task.index(), view);
    }

    fn task_started(&mut self, started: &AttemptView, view: View<'_>) {
        let attempt = || self.caller.window.get().meet(started);
        self.caller.hand(self.task_started.as_ref(), attempt, view);
    }

    fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
        self.caller.hand(self.task_finished.as_ref(), || AttemptEnded::of(ended, view), view);
    }

    fn node_lost(&mut self, node: NodeId, view: View<'_>) {
        self.caller.report(self.node_lost.as_ref(), node.index(), view);
    }

    fn period(&self) -> Option<Ms> {
        self.period
    }

    fn tick_from(&self, due: Ms) -> Ms {
        let Some(method) = &self.tick_from else { return due };
        let take = |answer: &Bound<'_, PyAny>| {
            let from: Ms = answer.extract()?;
            if from < due {
                return Err(PyValueError::new_err(format!("expected {due} ms or later, found {from}")));
            }
            // No replay goes on for as long, and the engine adds to this time.
            Ok(from.min(due.saturating_add(LONGEST)))
        };
        self.caller.hooks.call(method, |py| (due,).into_pyobject(py), take).unwrap_or(due)
    }

    fn before_tick(&mut self, view: View<'_>, orders: &mut Orders) {
        let window = self.caller.window.get();
        window.orders.during(NonNull::from(orders), || self.caller.inform(self.before_tick.as_ref(), view));
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        let window = self.caller.window.get();
        window.orders.during(NonNull::from(orders), || self.caller.inform(self.tick.as_ref(), view));
    }

    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        self.caller.ask(self.skips_idle_ticks.as_ref(), view).unwrap_or(false)
    }

    fn restless(&self, view: View<'_>) -> bool {
        self.caller.ask(self.restless.as_ref(), view).unwrap_or(false)
    }

    fn counts_heartbeats(&self, view: View<'_>) -> bool {
        self.caller.ask(self.counts_heartbeats.as_ref(), view).unwrap_or(false)
    }

    fn declines(&self, view: View<'_>) -> bool {
        let usual = || {
            !view.anything_to_place() && !view.wants_reasons() && !self.restless(view) && !self.counts_heartbeats(view)
        };
        self.caller.ask(self.declines.as_ref(), view).unwrap_or_else(usual)
    }

    fn container_changed(&mut self, container: &Container, view: View<'_>) {
        self.caller.hand(self.container_changed.as_ref(), || ContainerChanged::of(container), view);
    }

    fn headroom(&self, job: JobId, view: View<'_>) -> u64 {
        let usual = view.yarn().free_in_all().memory;
        let Some(method) = &self.headroom else { return usual };
        let answer = self.caller.see(
            method,
            view,
            |py, window| (job.index(), window).into_pyobject(py),
            |answer| answer.extract(),
        );
        answer.unwrap_or(usual)
    }

    fn calculator(&self, of_cluster: Calculator) -> Calculator {
        self.calculator.unwrap_or(of_cluster)
    }

    fn may_use(&self, node: NodeId, view: View<'_>) -> bool {
        let usual = || view.yarn().reservation(node).is_some() || view.yarn().has_room(node);
        let Some(method) = &self.may_use else { return usual() };
        let answer = self.caller.see(
            method,
            view,
            |py, window| (node.index(), window).into_pyobject(py),
            |answer| answer.is_truthy(),
        );
        answer.unwrap_or_else(usual)
    }

    fn check(&mut self, _view: View<'_>, _over: bool) -> Result<(), Violation> {
        self.caller.settle().map_or(Ok(()), Err)
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let window = self.caller.window.get();
        window.offer.during(NonNull::from(offer).cast(), || self.caller.decide(&self.heartbeat));
        self.caller.settle().map_or(Ok(()), Err)
    }
}
