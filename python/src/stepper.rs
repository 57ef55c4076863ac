//! A replay that stops at each decision and waits for an answer: the engine of `resched.gym`.
//!
//! The replay runs on a thread of its own, and hands each decision over to the thread that asks for it. That takes some ten microseconds a
//! step, a third of what the wrappers of Gymnasium take.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use resched_analysis::{Run, Summary};
use resched_cli::Host;
use resched_replay::{Engine, Memory, PolicySpec, Scheduler, Setup, Source, World};
use resched_sim::batch::{Ended, Offer, Policy, View};
use resched_sim::{JobId, Ms, Resources, TaskId, Violation};
use resched_tables::call::{Call, Stopped, within};

use crate::calls::{PAUSE, long, refuse_in_fork};
use crate::errors;

/// The numbers of a candidate: waited, units, processor, memory, estimate, share of its units that run, place in the queue.
const FEATURES: usize = 7;
/// The numbers of the cluster: free processor, free memory, time to the next known end.
const CLUSTER: usize = 3;
/// The numbers of the backlog: waiting units, and their processor as a share of the cluster.
const BACKLOG: usize = 2;
/// Times and counts are shown as logarithms, as shares of those of these.
const LONGEST: f64 = 30.0 * 86_400_000.0;
const MOST_UNITS: f64 = 1e6;
/// If the agent waits while nothing else is due, it is asked again after this time, ms.
const NAP: Ms = 60_000;
/// Shorter jobs count as this long in the slowdown, ms.
const SHORT: Ms = 10_000;

/// What an agent sees, and what it has cost so far.
struct Decision {
    now: Ms,
    jobs: Vec<f32>,
    cluster: [f32; CLUSTER],
    backlog: [f32; BACKLOG],
    mask: Vec<u8>,
    costs: Costs,
}

/// The sums from which rewards are taken.
#[derive(Debug, Clone, Copy, Default)]
struct Costs {
    /// Jobs that have arrived and not ended, over time, ms.
    completion: i64,
    /// Jobs that have arrived and not started, over time, ms.
    waiting: i64,
    /// The slowdowns of the jobs that have ended.
    slowdown: f64,
    /// From the first arrival to now, ms.
    makespan: i64,
}

/// How an episode ended.
struct Over {
    costs: Costs,
    now: Ms,
    /// Units that wait and will never start.
    left: u64,
    summary: String,
}

enum Message {
    Decide(Decision),
    Over(Over),
    Failed(String),
}

/// An episode that is going on.
struct Episode {
    answers: Sender<usize>,
    messages: Receiver<Message>,
    /// Whether a message is to come: it has begun, or was answered.
    due: bool,
    call: Call,
}

impl Drop for Episode {
    fn drop(&mut self) {
        // The replay ends when it is next asked for a decision, or at its next checkpoint.
        self.call.stop();
    }
}

/// A trace whose jobs an agent schedules.
#[pyclass(module = "resched._native", frozen)]
pub(crate) struct Stepper {
    world: Arc<World>,
    jobs: usize,
    candidates: usize,
    episode: Mutex<Option<Episode>>,
}

/// What Python gets of a step: whether the episode is over, the clock, the arrays as bytes of `float32`, the mask as bytes, the costs, and
/// what is said at the end.
type Step<'py> = (bool, Ms, [Bound<'py, PyBytes>; 4], (i64, i64, f64, i64), Option<(u64, String)>);

#[pymethods]
impl Stepper {
    /// Opens a trace or a workload file for agents that see so many candidates.
    #[new]
    fn new(py: Python<'_>, trace: PathBuf, candidates: usize, seed: u64, assume: bool) -> PyResult<Self> {
        if candidates == 0 {
            return Err(PyValueError::new_err("candidates: expected 1 or more"));
        }
        let open = move || {
            let source = Source::open(&trace)?;
            let world = World::open(&source, Setup { seed, assume, ..Setup::default() })?;
            let fifo = PolicySpec::parse_for("batch-fifo", Engine::Batch)?;
            world.check(&fifo)?;
            let jobs = world.tasks_of_jobs(&fifo)?.len();
            Ok::<_, resched_replay::Error>((world, jobs))
        };
        let (world, jobs) = long(py, open)?.map_err(|error| errors::of_library(py, error.is_request(), &error))?;
        Ok(Self { world: Arc::new(world), jobs, candidates, episode: Mutex::new(None) })
    }

    /// How many jobs the trace has.
    #[getter]
    fn jobs(&self) -> usize {
        self.jobs
    }

    /// Begins an episode of so many jobs from one on, and goes to its first decision.
    fn reset<'py>(&self, py: Python<'py>, first: usize, count: usize) -> PyResult<Step<'py>> {
        refuse_in_fork(py)?;
        let jobs = self.jobs_of(first, count)?;
        let (answers, asked) = channel();
        let (sender, messages) = channel();
        let call = Call::new(Arc::new(Host::default()));
        let (world, of_play, all) = (Arc::clone(&self.world), call.clone(), jobs.len() == self.jobs);
        let mut player = Player::new(self.candidates, sender.clone(), asked);
        let play = move || {
            let play = || {
                let part = if all { None } else { Some(world.part(Engine::Batch, jobs)?) };
                part.as_ref().unwrap_or(&world).replay(Scheduler::Batch("gym", &mut player), Memory)
            };
            let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| within(Some(of_play), play)));
            let message = match played {
                Ok(Ok(run)) => {
                    let (costs, now, left) = (player.costs, player.last, player.left);
                    let summary = Summary::of(&Run::of_rows(run.info, run.tables));
                    let summary = serde_json::to_string(&summary).unwrap_or_default();
                    Message::Over(Over { costs, now, left, summary })
                }
                Ok(Err(error)) => Message::Failed(error.to_string()),
                Err(payload) if payload.is::<Stopped>() => return,
                Err(_) => {
                    Message::Failed("the replay stopped; this is a defect of resched, please report it".to_owned())
                }
            };
            // Nobody waits for it if the episode was dropped.
            drop(sender.send(message));
        };
        std::thread::Builder::new().name("resched-gym".to_owned()).spawn(play)?;
        let episode = Episode { answers, messages, due: true, call };
        // An earlier episode ends here.
        *self.episode() = Some(episode);
        self.next(py)
    }

    /// Starts a candidate by its place, or waits if there is none at it, and goes to the next decision.
    fn step<'py>(&self, py: Python<'py>, action: usize) -> PyResult<Step<'py>> {
        self.answer(action)?;
        self.next(py)
    }

    /// Answers a decision, and does not wait for the next one.
    fn answer(&self, action: usize) -> PyResult<()> {
        let mut episode = self.episode();
        let episode = episode.as_mut().ok_or_else(not_begun)?;
        if episode.due {
            return Err(PyRuntimeError::new_err("the step before is not over; call `next`"));
        }
        episode.due = true;
        // It fails only if the episode is over, which `next` says.
        let _ = episode.answers.send(action);
        Ok(())
    }

    /// Waits for the next decision.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Step<'py>> {
        refuse_in_fork(py)?;
        let message = loop {
            let wait = || {
                let mut episode = self.episode();
                let episode = episode.as_mut().ok_or(())?;
                let message = if episode.due { episode.messages.recv_timeout(PAUSE) } else { Err(Disconnected) };
                episode.due &= message.is_err();
                Ok(message)
            };
            match py.detach(wait) {
                Ok(Err(Timeout)) => py.check_signals()?,
                Ok(message) => break message,
                Err(()) => return Err(not_begun()),
            }
        };
        match message {
            Ok(Message::Decide(state)) => Ok((
                false,
                state.now,
                [
                    PyBytes::new(py, &bytes(&state.jobs)),
                    PyBytes::new(py, &bytes(&state.cluster)),
                    PyBytes::new(py, &bytes(&state.backlog)),
                    PyBytes::new(py, &state.mask),
                ],
                state.costs.parts(),
                None,
            )),
            Ok(Message::Over(over)) => {
                let nothing = vec![0.0; FEATURES * self.candidates];
                let mut mask = vec![0; self.candidates + 1];
                mask[self.candidates] = 1;
                Ok((
                    true,
                    over.now,
                    [
                        PyBytes::new(py, &bytes(&nothing)),
                        PyBytes::new(py, &bytes(&[1.0, 1.0, 0.0])),
                        PyBytes::new(py, &bytes(&[0.0; BACKLOG])),
                        PyBytes::new(py, &mask),
                    ],
                    over.costs.parts(),
                    Some((over.left, over.summary)),
                ))
            }
            Ok(Message::Failed(text)) => Err(errors::error(py, "ReschedError", &text)),
            Err(_) => Err(PyRuntimeError::new_err("the episode is over; call `reset`")),
        }
    }

    /// Replays so many jobs from one on under a policy of the registry. Returns its summary as JSON.
    fn reference(&self, py: Python<'_>, policy: String, first: usize, count: usize) -> PyResult<String> {
        refuse_in_fork(py)?;
        let jobs = self.jobs_of(first, count)?;
        let (world, all) = (Arc::clone(&self.world), jobs.len() == self.jobs);
        let replay = move || {
            let policy = PolicySpec::parse_for(&policy, Engine::Batch)?;
            let part = if all { None } else { Some(world.part(Engine::Batch, jobs)?) };
            let run = part.as_ref().unwrap_or(&world).replay(&policy, Memory)?;
            Ok::<_, resched_replay::Error>(Summary::of(&Run::of_rows(run.info, run.tables)))
        };
        let summary = long(py, replay)?.map_err(|error| errors::of_library(py, error.is_request(), &error))?;
        serde_json::to_string(&summary).map_err(|error| errors::of_library(py, false, &error))
    }

    /// Ends the episode.
    fn close(&self) {
        *self.episode() = None;
    }
}

impl Stepper {
    /// So many jobs from one on, by their places in the order of submission.
    fn jobs_of(&self, first: usize, count: usize) -> PyResult<Range<usize>> {
        let jobs = first..first.saturating_add(count).min(self.jobs);
        if jobs.is_empty() {
            return Err(PyValueError::new_err(format!("start: expected 0..{}, found {first}", self.jobs)));
        }
        Ok(jobs)
    }

    fn episode(&self) -> MutexGuard<'_, Option<Episode>> {
        self.episode.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_begun() -> PyErr {
    PyRuntimeError::new_err("no episode has begun; call `reset`")
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

impl Costs {
    fn parts(self) -> (i64, i64, f64, i64) {
        (self.completion, self.waiting, self.slowdown, self.makespan)
    }
}

/// The policy that asks an agent.
struct Player {
    candidates: usize,
    messages: Sender<Message>,
    answers: Receiver<usize>,
    /// Tasks that wait, in order of submission.
    queue: BTreeSet<TaskId>,
    /// When running tasks end, as their users say, by their runs.
    ends: Vec<Option<Ms>>,
    /// Jobs that have arrived: when, and when the first task of each has started.
    arrived: Vec<Option<(Ms, Option<Ms>)>>,
    in_system: i64,
    not_started: i64,
    costs: Costs,
    /// Up to when the costs are summed, ms.
    last: Ms,
    begun: Option<Ms>,
    nap: Option<Ms>,
    left: u64,
}

impl Player {
    fn new(candidates: usize, messages: Sender<Message>, answers: Receiver<usize>) -> Self {
        Self {
            candidates,
            messages,
            answers,
            queue: BTreeSet::new(),
            ends: Vec::new(),
            arrived: Vec::new(),
            in_system: 0,
            not_started: 0,
            costs: Costs::default(),
            last: 0,
            begun: None,
            nap: None,
            left: 0,
        }
    }

    /// Sums the costs up to now.
    fn advance(&mut self, now: Ms) {
        let passed = now - self.last;
        self.costs.completion += passed * self.in_system;
        self.costs.waiting += passed * self.not_started;
        self.costs.makespan = now - self.begun.unwrap_or(now);
        self.last = now;
    }

    fn job(&mut self, job: JobId) -> Option<&mut (Ms, Option<Ms>)> {
        self.arrived.get_mut(job.index())?.as_mut()
    }

    /// Starts a task, as far as there is room. Returns whether it did.
    fn start(&mut self, task: TaskId, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        if offer.start(task, u32::MAX)? == 0 {
            return Ok(false);
        }
        let (now, end) = (offer.view().now(), offer.view().now().saturating_add(offer.view().estimate(task)));
        for run in offer.latest() {
            put(&mut self.ends, run.index(), end);
        }
        if let Some((_, first @ None)) = self.job(offer.view().task(task).job) {
            *first = Some(now);
            self.not_started -= 1;
        }
        if offer.view().waiting(task) == 0 {
            self.queue.remove(&task);
        }
        Ok(true)
    }

    fn decision(&self, view: View<'_>) -> Decision {
        let (now, free, total) = (view.now(), view.free(), view.total());
        let mut jobs = vec![0.0; FEATURES * self.candidates];
        let mut mask = vec![0; self.candidates + 1];
        mask[self.candidates] = 1;
        for ((place, &task), row) in self.queue.iter().enumerate().zip(jobs.chunks_exact_mut(FEATURES)) {
            let of_view = view.task(task);
            let waited = now - self.arrived.get(of_view.job.index()).copied().flatten().map_or(now, |(at, _)| at);
            let features = [
                of_most(waited as f64, LONGEST),
                of_most(f64::from(view.waiting(task)), MOST_UNITS),
                share(of_view.unit().cpu, total.cpu),
                share(of_view.unit().memory, total.memory),
                of_most(view.estimate(task) as f64, LONGEST),
                share(view.running(task).into(), of_view.units().into()),
                (place + 1) as f64 / self.candidates as f64,
            ];
            row.iter_mut().zip(features).for_each(|(cell, value)| *cell = value as f32);
            mask[place] = u8::from(free.holds(of_view.unit()));
        }
        let next = self.ends.iter().flatten().map(|&end| end.max(now)).min();
        let asked: u64 = self.queue.iter().map(|&task| asked(task, view).cpu).fold(0, u64::saturating_add);
        Decision {
            now,
            jobs,
            cluster: [
                share(free.cpu, total.cpu) as f32,
                share(free.memory, total.memory) as f32,
                of_most(next.map_or(0, |next| next - now) as f64, LONGEST) as f32,
            ],
            backlog: [
                of_most(view.all_waiting() as f64, MOST_UNITS) as f32,
                (asked as f64 / (total.cpu.max(1) as f64 * 10.0)).min(1.0) as f32,
            ],
            mask,
            costs: self.costs,
        }
    }
}

/// What all waiting units of a task need.
fn asked(task: TaskId, view: View<'_>) -> Resources {
    view.task(task).unit().times(view.waiting(task).into())
}

/// A number as a share of another one, on a logarithmic scale.
fn of_most(number: f64, most: f64) -> f64 {
    (number.max(0.0).ln_1p() / most.ln_1p()).min(1.0)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
}

fn put<T: Copy>(list: &mut Vec<Option<T>>, place: usize, value: T) {
    if list.len() <= place {
        list.resize(place + 1, None);
    }
    list[place] = Some(value);
}

impl Policy for Player {
    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.begun.get_or_insert(view.now());
        if self.begun == Some(view.now()) {
            self.last = view.now();
        }
        self.advance(view.now());
        put(&mut self.arrived, job.index(), (view.now(), None));
        self.in_system += 1;
        self.not_started += 1;
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.advance(view.now());
        self.in_system -= 1;
        if let Some(&mut (arrived, started)) = self.job(job) {
            match started {
                Some(started) => {
                    let (all, ran) = (view.now() - arrived, (view.now() - started).max(SHORT));
                    self.costs.slowdown += (all as f64 / ran as f64).max(1.0);
                }
                // It had no task.
                None => self.not_started -= 1,
            }
        }
    }

    fn task_waits(&mut self, task: TaskId, _view: View<'_>) {
        self.queue.insert(task);
    }

    fn task_finished(&mut self, ended: &Ended, _view: View<'_>) {
        if let Some(end) = self.ends.get_mut(ended.run.index()) {
            *end = None;
        }
    }

    fn alarm(&self) -> Option<Ms> {
        self.nap
    }

    fn check(&mut self, view: View<'_>, over: bool) -> Result<(), Violation> {
        if over {
            self.advance(view.now());
            self.left = view.all_waiting();
        }
        Ok(())
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.advance(offer.view().now());
        self.nap = None;
        loop {
            let fits = |&task: &TaskId| offer.view().free().holds(offer.view().task(task).unit());
            if !self.queue.iter().take(self.candidates).any(fits) {
                // There is nothing to decide.
                return Ok(());
            }
            let decision = self.decision(offer.view());
            let asked = self.messages.send(Message::Decide(decision)).is_ok();
            let Some(action) = asked.then(|| self.answers.recv().ok()).flatten() else {
                // The episode was dropped.
                std::panic::resume_unwind(Box::new(Stopped));
            };
            let chosen =
                self.queue.iter().nth(action.min(self.candidates)).copied().filter(|_| action < self.candidates);
            let started = match chosen.filter(|task| fits(task)) {
                Some(task) => self.start(task, offer)?,
                None => false,
            };
            if !started {
                // It waits until something happens, or for a while.
                self.nap = Some(offer.view().now() + NAP);
                return Ok(());
            }
        }
    }
}
