//! A policy in Python for production traces.

use std::ptr::NonNull;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use resched_sim::batch::{AttemptId, Ended, Eviction, Needs, Offer, Orders, Policy, Then, View, Work};
use resched_sim::{JobId, Ms, NodeId, Resources, TaskId, Violation};
use resched_tables::draws::{Purpose, stream};

use super::arrays::Queue;
use super::caller::{Caller, Window};
use super::hooks::{Hooks, Method};
use super::known::Known;
use super::lent::Lent;
use super::{draw, draw_key, kept_name, only_in, period};

/// The machines of a production trace in mid-replay, as a policy sees them: `view` in every method, and `offer` in `schedule`.
#[pyclass(module = "resched._native", frozen)]
pub(crate) struct BatchOffer {
    view: Lent<View<'static>>,
    offer: Lent<Offer<'static, 'static>>,
    orders: Lent<Orders>,
    known: Known<AttemptId>,
}

/// How a run ended.
#[pyclass(module = "resched._native", frozen, get_all)]
pub(crate) struct RunEnded {
    run: usize,
    task: usize,
    /// How many tries of the task there were before.
    attempt: u32,
    /// How many instances ran: 1, or those of a gang.
    instances: u32,
    /// The machine; `None` for a gang on several.
    node: Option<usize>,
    /// When it began to wait, was started and ended, ms.
    queued: Ms,
    start: Ms,
    finish: Ms,
    outcome: String,
}

impl RunEnded {
    fn of(ended: &Ended) -> Self {
        Self {
            run: ended.run.index(),
            task: ended.task.index(),
            attempt: ended.attempt,
            instances: ended.instances,
            node: ended.node.map(NodeId::index),
            queued: ended.queued,
            start: ended.start,
            finish: ended.finish,
            outcome: ended.outcome.to_string(),
        }
    }
}

/// Resources for Python: thousandths of a core, or of the trace's unit, and bytes, or thousandths of the trace's unit.
fn pair(resources: Resources) -> (u64, u64) {
    (resources.cpu, resources.memory)
}

impl Window for BatchOffer {
    type View<'a> = View<'a>;
    type Run = AttemptId;

    fn view(&self) -> &Lent<View<'static>> {
        &self.view
    }

    fn known(&self) -> &Known<AttemptId> {
        &self.known
    }
}

impl BatchOffer {
    fn new() -> Self {
        Self { view: Lent::default(), offer: Lent::default(), orders: Lent::default(), known: Known::default() }
    }

    /// Reads the world as it is now.
    fn read<R>(&self, read: impl for<'a> FnOnce(View<'a>) -> R) -> PyResult<R> {
        if self.offer.is_lent() {
            self.offer.with(|offer| read(offer.view()))
        } else {
            self.view.with(|view| read(*view))
        }
    }

    fn job(&self, py: Python<'_>, number: usize) -> PyResult<JobId> {
        self.known.job(py, number)
    }

    fn task(&self, py: Python<'_>, number: usize) -> PyResult<TaskId> {
        self.known.task(py, number)
    }

    fn node(&self, py: Python<'_>, number: usize) -> PyResult<NodeId> {
        self.known.node(py, number, || self.read(|view| view.nodes().map(|(node, _)| node).collect()))
    }

    /// Does what the engine may refuse.
    fn allowed<R>(&self, py: Python<'_>, ask: impl FnOnce(&mut Offer<'_, '_>) -> Result<R, Violation>) -> PyResult<R> {
        let done = self.offer.with(|offer| ask(offer)).map_err(|_| only_in("a start", "schedule"))?;
        done.map_err(|violation| self.known.refused(py, violation.to_string()))
    }
}

/// The methods that read something of the world, of a job, or of a task.
macro_rules! readers {
    (
        world { $($(#[$wdoc:meta])* $world:ident -> $wtype:ty: $wread:expr;)* }
        jobs { $($(#[$jdoc:meta])* $of_job:ident -> $jtype:ty: $jread:expr;)* }
        tasks { $($(#[$tdoc:meta])* $of_task:ident -> $ttype:ty: $tread:expr;)* }
    ) => {
        #[pymethods]
        impl BatchOffer {
            $($(#[$wdoc])*
            #[getter]
            fn $world(&self) -> PyResult<$wtype> {
                self.read($wread)
            })*

            $($(#[$jdoc])*
            fn $of_job(&self, py: Python<'_>, job: usize) -> PyResult<$jtype> {
                let job = self.job(py, job)?;
                self.read(|view| ($jread)(view, job))
            })*

            $($(#[$tdoc])*
            fn $of_task(&self, py: Python<'_>, task: usize) -> PyResult<$ttype> {
                let task = self.task(py, task)?;
                self.read(|view| ($tread)(view, task))
            })*
        }
    };
}

readers! {
    world {
        /// The simulated clock, ms.
        now -> Ms: |view| view.now();
        /// Now on the clock of the trace, ms.
        trace_time -> Ms: |view| view.trace_time();
        /// The seed of all draws.
        seed -> u64: |view| view.seed();
        /// How many units of all tasks wait.
        all_waiting -> u64: |view| view.all_waiting();
        /// The free processor and memory of all machines.
        free -> (u64, u64): |view| pair(view.free());
        /// The processor and memory of all machines.
        total -> (u64, u64): |view| pair(view.total());
        /// Whether anybody wants to know why jobs are passed over.
        wants_reasons -> bool: |view| view.wants_reasons();
    }
    jobs {
        /// The id of a job in the trace.
        job_id -> String: |view: View<'_>, job| view.job(job).id.to_owned();
        /// Who submitted a job.
        user -> String: |view: View<'_>, job| view.job(job).user.to_owned();
        /// The queue that a job was submitted to.
        queue -> String: |view: View<'_>, job| view.job(job).queue.to_owned();
        /// The group of a job.
        group -> String: |view: View<'_>, job| view.job(job).group.to_owned();
        /// The priority of a job; higher is served first.
        priority -> i64: |view: View<'_>, job| view.job(job).priority;
        /// When a job was submitted, ms.
        submit -> Ms: |view: View<'_>, job| view.job(job).submit;
        /// The time that was requested for a job, ms.
        requested_time -> Option<Ms>: |view: View<'_>, job| view.job(job).requested_time;
    }
    tasks {
        /// The job of a task.
        job_of -> usize: |view: View<'_>, task| view.task(task).job.index();
        /// The processor and memory of a unit of a task: an instance, or a whole gang.
        unit -> (u64, u64): |view: View<'_>, task| pair(view.task(task).unit());
        /// How many units a task has.
        units -> u32: |view: View<'_>, task| view.task(task).units();
        /// Whether the instances of a task start together.
        is_gang -> bool: |view: View<'_>, task| view.task(task).gang;
        /// How many units of a task wait.
        waiting -> u32: |view: View<'_>, task| view.waiting(task);
        /// How many units of a task run.
        running -> u32: |view: View<'_>, task| view.running(task);
        /// The estimated longest run time of the next start of a task, ms.
        estimate -> Ms: |view: View<'_>, task| view.estimate(task);
        /// The machines that a task prefers.
        preferred -> Vec<usize>: |view: View<'_>, task| view.preferred(task).iter().map(|node| node.index()).collect::<Vec<_>>();
    }
}

#[pymethods]
impl BatchOffer {
    /// The view of the offer: the same object.
    #[getter]
    fn view(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// The numbers of all machines.
    #[getter]
    fn nodes(&self) -> PyResult<Vec<usize>> {
        self.read(|view| view.nodes().map(|(node, _)| node.index()).collect())
    }

    /// The name of a machine.
    fn node_name(&self, py: Python<'_>, node: usize) -> PyResult<String> {
        let node = self.node(py, node)?;
        self.read(|view| view.nodes().nth(node.index()).map(|(_, machine)| machine.name.clone()).unwrap_or_default())
    }

    /// What a machine offers, and how much of that is free: pairs of processor and memory.
    fn offers(&self, py: Python<'_>, node: usize) -> PyResult<((u64, u64), (u64, u64))> {
        let node = self.node(py, node)?;
        self.read(|view| {
            let (all, free) = view.offers(node);
            (pair(all), pair(free))
        })
    }

    /// A random number from 0 up to 1, which follows from the seed of the replay, what it is for, and the numbers that identify the
    /// decision, such as a task and the instant.
    #[pyo3(signature = (purpose, *entity))]
    fn random(&self, purpose: &str, entity: Vec<u64>) -> PyResult<f64> {
        self.read(|view| draw(stream(view.seed(), Purpose::OwnPolicy, &draw_key(purpose, &entity))))
    }

    /// Says why the job of a task is passed over, for `explain`; `other` is the job that it is about.
    #[pyo3(signature = (task, reason, other = None))]
    fn pass_over(&self, py: Python<'_>, task: usize, reason: &str, other: Option<usize>) -> PyResult<()> {
        let (task, reason) = (self.task(py, task)?, super::reason(reason)?);
        let other = other.map(|job| self.job(py, job)).transpose()?;
        self.read(|view| view.pass_over(task, reason, other))
    }

    // What only an offer can.

    /// Starts up to `most` units of a task, as far as there is room. Returns how many it started.
    #[pyo3(signature = (task, most = None))]
    fn start(&self, py: Python<'_>, task: usize, most: Option<u32>) -> PyResult<u32> {
        let task = self.task(py, task)?;
        self.allowed(py, |offer| offer.start(task, most.unwrap_or(u32::MAX)))
    }

    /// Starts a unit of a task on these machines: pairs of a machine and the number of instances there. Returns its run.
    fn start_on(&self, py: Python<'_>, task: usize, places: &Bound<'_, PyAny>) -> PyResult<usize> {
        let task = self.task(py, task)?;
        // The length that a sequence claims to have may be any.
        let place = |place: PyResult<Bound<'_, PyAny>>| {
            let (node, count): (usize, u32) = place?.extract()?;
            Ok((self.node(py, node)?, count))
        };
        let places: Vec<(NodeId, u32)> = places.try_iter()?.map(place).collect::<PyResult<_>>()?;
        let run = self.allowed(py, |offer| offer.start_on(task, &places))?;
        self.known.add_run(run.index(), run);
        Ok(run.index())
    }

    /// The runs that the latest `start` started.
    #[getter]
    fn latest(&self) -> PyResult<Vec<usize>> {
        let runs: Vec<AttemptId> =
            self.offer.with(|offer| offer.latest().collect()).map_err(|_| only_in("latest", "schedule"))?;
        runs.iter().for_each(|&run| self.known.add_run(run.index(), run));
        Ok(runs.into_iter().map(AttemptId::index).collect())
    }

    /// Ends a run so that others get its machines, after it has held them for `holds` ms; its task then waits `again`, or has ended for good.
    #[pyo3(signature = (run, again = true, keeps = None, holds = 0))]
    fn evict(&self, py: Python<'_>, run: usize, again: bool, keeps: Option<Keeps>, holds: Ms) -> PyResult<()> {
        let run = self.known.run(py, run)?;
        let then = if again { Then::Again } else { Then::Gone };
        let work = match keeps {
            None | Some(Keeps::All(false)) => Work::Lost,
            Some(Keeps::All(true)) => Work::Kept,
            Some(Keeps::Checkpoints(every)) => Work::Checkpoints(every),
        };
        self.allowed(py, |offer| offer.evict(run, Eviction { then, work, holds }))
    }

    /// The free processor and memory of a machine.
    fn free_of(&self, py: Python<'_>, node: usize) -> PyResult<(u64, u64)> {
        let node = self.node(py, node)?;
        self.read(|view| pair(view.offers(node).1))
    }

    // What only a tick can.

    /// Reports a number about a job, or about all, to those who read the run. It changes nothing.
    #[pyo3(signature = (name, value, job = None))]
    fn report(&self, py: Python<'_>, name: &str, value: f64, job: Option<usize>) -> PyResult<()> {
        let job = job.map(|job| self.job(py, job)).transpose()?;
        let name = kept_name(name)?;
        self.orders.with(|orders| orders.report(name, job, value)).map_err(|_| only_in("report", "tick"))
    }
}

/// What decides: a method for each offer, or one that gets arrays.
enum Decision {
    Schedule(Method),
    Decide(Method, Queue),
}

/// What is kept of the work of an evicted run: all of it, or what was done by the last checkpoint, of which there is one every so many ms.
#[derive(FromPyObject)]
enum Keeps {
    All(bool),
    Checkpoints(Ms),
}

/// A policy in Python, as the engine knows it.
pub(super) struct Shell {
    caller: Caller<BatchOffer>,
    decision: Decision,
    job_submitted: Option<Method>,
    job_finished: Option<Method>,
    task_waits: Option<Method>,
    task_finished: Option<Method>,
    task_left: Option<Method>,
    nodes_changed: Option<Method>,
    tick: Option<Method>,
    skips_idle_ticks: Option<Method>,
    alarm: Option<Method>,
    period: Option<Ms>,
    phase: Ms,
    draws: bool,
}

impl Shell {
    /// Of an object, whose overridden methods stand in a dictionary.
    pub(super) fn new(py: Python<'_>, object: &Bound<'_, PyAny>, methods: Py<PyDict>) -> PyResult<Self> {
        let hooks = Hooks::new(object, methods)?;
        let method = |name| hooks.method(py, name);
        let decision = match (method("schedule")?, method("decide")?) {
            (Some(schedule), None) => Decision::Schedule(schedule),
            (None, Some(decide)) => Decision::Decide(decide, Queue::new(object)?),
            _ => {
                let problem = "expected either a method `schedule` or a method `decide`";
                return Err(pyo3::exceptions::PyTypeError::new_err(problem));
            }
        };
        Ok(Self {
            decision,
            job_submitted: method("job_submitted")?,
            job_finished: method("job_finished")?,
            task_waits: method("task_waits")?,
            task_finished: method("task_finished")?,
            task_left: method("task_left")?,
            nodes_changed: method("nodes_changed")?,
            tick: method("tick")?,
            skips_idle_ticks: method("skips_idle_ticks")?,
            alarm: method("alarm")?,
            period: period(object)?,
            phase: object.getattr("phase")?.extract()?,
            draws: object.getattr("draws")?.extract()?,
            caller: Caller { hooks, window: Py::new(py, BatchOffer::new())? },
        })
    }

    /// Asks for starts by arrays, until the policy starts nothing or nothing more fits.
    fn decide(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let Decision::Decide(method, queue) = &mut self.decision else { return Ok(()) };
        while queue.anything_fits(offer) {
            let all = queue.len();
            let rows = self.caller.hooks.call(
                method,
                |py| queue.arguments(py, offer.view()),
                |answer| Queue::chosen(answer, all),
            );
            self.caller.hooks.failure.check()?;
            let before = offer.view().all_waiting();
            queue.start(&rows.unwrap_or_default(), offer).map_err(Violation::new)?;
            if offer.view().all_waiting() == before {
                break;
            }
        }
        Ok(())
    }
}

impl Policy for Shell {
    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.caller.window.get().known.add_job(job);
        self.caller.report(self.job_submitted.as_ref(), job.index(), view);
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.caller.report(self.job_finished.as_ref(), job.index(), view);
    }

    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.caller.window.get().known.add_tasks(std::iter::once(task));
        if let Decision::Decide(_, queue) = &mut self.decision {
            queue.add(task, view);
        }
        self.caller.report(self.task_waits.as_ref(), task.index(), view);
    }

    fn task_finished(&mut self, ended: &Ended, view: View<'_>) {
        self.caller.hand(self.task_finished.as_ref(), || RunEnded::of(ended), view);
    }

    fn task_left(&mut self, task: TaskId, view: View<'_>) {
        self.caller.report(self.task_left.as_ref(), task.index(), view);
    }

    fn nodes_changed(&mut self, view: View<'_>) {
        self.caller.inform(self.nodes_changed.as_ref(), view);
    }

    fn period(&self) -> Option<Ms> {
        self.period
    }

    fn phase(&self) -> Ms {
        self.phase
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        let window = self.caller.window.get();
        window.orders.during(NonNull::from(orders), || self.caller.inform(self.tick.as_ref(), view));
    }

    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        self.caller.ask(self.skips_idle_ticks.as_ref(), view).unwrap_or(false)
    }

    fn alarm(&self) -> Option<Ms> {
        let method = self.alarm.as_ref()?;
        self.caller.hooks.call(method, |py| Ok(PyTuple::empty(py)), |answer| answer.extract()).flatten()
    }

    fn draws(&self) -> bool {
        self.draws
    }

    fn check(&mut self, view: View<'_>, over: bool) -> Result<(), Violation> {
        self.caller.hooks.failure.check()?;
        if over && view.all_waiting() > 0 {
            self.check_that_nothing_fits(view)?;
        }
        Ok(())
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        match &self.decision {
            Decision::Decide(..) => self.decide(offer)?,
            Decision::Schedule(method) => {
                let window = self.caller.window.get();
                window.offer.during(NonNull::from(offer).cast(), || self.caller.decide(method));
            }
        }
        self.caller.settle().map_or(Ok(()), Err)
    }
}

impl Shell {
    /// The replay is over though tasks wait: that is so if no machine is left that has room for them, and else the policy forgot them.
    fn check_that_nothing_fits(&self, view: View<'_>) -> Result<(), Violation> {
        let tasks = self.caller.window.get().known.tasks();
        let waits = |task: &&TaskId| view.waiting(**task) > 0;
        for &task in tasks.iter().filter(waits) {
            let of_view = view.task(task);
            let instance = of_view.demand;
            let room: u64 = view.nodes().map(|(node, _)| view.offers(node).1.fits(instance)).sum();
            let needed = if of_view.gang { u64::from(of_view.instances) } else { 1 };
            if room >= needed && *view.needs(task) == Needs::default() {
                let job = view.job(of_view.job).id;
                return Err(Violation::new(format!(
                    "starts nothing more, although {} units wait and there is room for job {job}",
                    view.all_waiting()
                )));
            }
        }
        Ok(())
    }
}
