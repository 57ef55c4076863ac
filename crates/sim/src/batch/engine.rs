//! The loop of a replay of a production trace.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use resched_tables::call::checkpoint;
use resched_tables::model::{Outcome, Reason, TaskKind};

use super::attempts::Attempt;
use super::dim::Dim;
use super::evictions::{Evicted, Then};
use super::machines::Machines;
use super::observer::{Launched, Observer};
use super::policy::{Notes, Offer, Orders, Policy};
use super::view::View;
use super::workload::Workload;
use super::world::{Fate, World};
use crate::Error;
use crate::bottlenecks::{Bottlenecks, Held};
use crate::error::Violation;
use crate::ids::{AttemptId, JobId, Ms, NodeId, TaskId};
use crate::observer::{Decided, JobEnded};
use crate::reasons::Reasons;
use crate::resources::Resources;

/// The replay ends after this many ticks and alarms in a row that start nothing, while nothing runs and no event is due.
const MOST_IDLE_TICKS: u32 = 10_000;

/// The most passes of one instant: each evicts something, and what is evicted may evict the others in the next.
const MOST_PASSES: u32 = 10_000;

/// After how many ends of jobs progress is reported: often enough for an eye, and seldom enough to cost nothing.
const PROGRESS_JOBS: u64 = 1_024;

/// After so many instants the engine looks whether it shall go on.
const LOOK: u32 = 1_024;

/// The counts of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Events handled: submissions, ends and changes of machines.
    pub events: u64,
    /// Instances and gangs started.
    pub starts: u64,
    /// Units that still wait at the end and can never start, because the machines they need have left.
    pub left_waiting: u64,
    /// Jobs that failed or were killed although they succeeded in the trace.
    pub failed_unlike_log: u64,
    /// The jobs that these units keep from ending, in the order of submission.
    pub never_ended: Vec<JobId>,
    /// The last instant, ms.
    pub end: Ms,
    /// For how long each resource of the machines was the bottleneck.
    pub bound: Bottlenecks,
}

/// Replays a workload on machines under a policy. Errors name the policy by `name`. `progress` gets the number of jobs
/// that have ended, now and then and at the end.
///
/// # Errors
/// [`Error::PolicyViolation`], and every error of `observer`.
pub fn replay(
    workload: &Workload,
    machines: &Machines,
    named: (&str, &mut dyn Policy),
    observer: &mut dyn Observer,
    progress: &mut dyn FnMut(u64),
) -> Result<Tally, Error> {
    replay_seeded(workload, machines, named, 1, observer, progress)
}

/// As [`replay`], with the seed of what the policy draws.
///
/// # Errors
/// As [`replay`].
pub fn replay_seeded(
    workload: &Workload,
    machines: &Machines,
    (name, policy): (&str, &mut dyn Policy),
    seed: u64,
    observer: &mut dyn Observer,
    progress: &mut dyn FnMut(u64),
) -> Result<Tally, Error> {
    let mut engine = Engine {
        world: World::new(workload, machines, seed),
        policy,
        observer,
        progress,
        name,
        ends: BinaryHeap::new(),
        next_job: 0,
        next_change: 0,
        next_tick: None,
        alarm: None,
        later: BinaryHeap::new(),
        idle_ticks: 0,
        jobs_ended: 0,
        changed: false,
        queued: Vec::new(),
        ready_stages: Vec::new(),
        ready_jobs: Vec::new(),
        started: Vec::new(),
        evicted: Vec::new(),
        places: Vec::new(),
        orders: Orders::default(),
        notes: Notes::default(),
        held: Held::default(),
        tally: Tally::default(),
    };
    if engine.observer.wants_reasons() {
        engine.world.reasons = Reasons::wanted(workload.jobs().len(), [TaskKind::Other; 2]);
    }
    engine.run()?;
    (engine.progress)(engine.jobs_ended);
    let end = engine.world.now;
    let bound = engine.bound(end);
    let never_ended = if engine.world.active > 0 { engine.world.not_ended() } else { Vec::new() };
    Ok(Tally { left_waiting: engine.world.waiting, never_ended, end, bound, ..engine.tally })
}

struct Engine<'a, 'w> {
    world: World<'w>,
    policy: &'a mut dyn Policy,
    observer: &'a mut dyn Observer,
    progress: &'a mut dyn FnMut(u64),
    name: &'a str,
    /// When runs end, then by the order of their starts. Some may have ended earlier.
    ends: BinaryHeap<Reverse<(Ms, u64, AttemptId)>>,
    next_job: usize,
    next_change: usize,
    next_tick: Option<Ms>,
    /// When the policy wants to be asked next.
    alarm: Option<Ms>,
    /// Jobs that were submitted and may start later only.
    later: BinaryHeap<Reverse<(Ms, JobId)>>,
    idle_ticks: u32,
    jobs_ended: u64,
    /// True if anything has happened since the policy was asked last.
    changed: bool,
    /// Tasks that must still be reported to the policy as waiting.
    queued: Vec<TaskId>,
    ready_stages: Vec<u32>,
    ready_jobs: Vec<JobId>,
    started: Vec<(AttemptId, u64, Ms)>,
    evicted: Vec<Evicted>,
    places: Vec<(NodeId, u32)>,
    orders: Orders,
    notes: Notes,
    held: Held,
    tally: Tally,
}

impl Engine<'_, '_> {
    /// For how long each dimension kept tasks waiting, until the end of the replay.
    fn bound(&mut self, end: Ms) -> Bottlenecks {
        let (ledger, memory_counts) = (&self.world.ledger, self.world.machines.memory_is_limited());
        let counts = |&(dim, _): &(Dim, &str)| dim != Dim::MEMORY || memory_counts;
        let counted = ledger.dimensions().iter().filter(counts);
        let most = |(dim, name): (Dim, &str)| Some((dim.index(), name.to_owned(), Some(ledger.scarcity().most(dim)?)));
        self.held.finish(end, counted.filter_map(most))
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut instants = 0_u32;
        while let Some(now) = self.next_instant() {
            instants = instants.wrapping_add(1);
            if instants.is_multiple_of(LOOK) {
                self.look(false)?;
            }
            self.world.now = now;
            self.held.advance(now);
            self.end_runs()?;
            self.end_evicted()?;
            self.change_machines()?;
            // Jobs wait in the order of submission, also if they become eligible at the same instant.
            self.release_jobs()?;
            self.submit_jobs()?;
            self.tick()?;
            if self.alarm == Some(now) {
                self.changed = true;
                self.idle_ticks += 1;
            }
            let mut passes = 0;
            while self.changed && self.world.waiting > 0 {
                self.pass()?;
                passes += 1;
                if passes > MOST_PASSES {
                    return Err(self.endless());
                }
            }
            self.changed = false;
            if self.next_job > 0 {
                // Nothing is short while nothing waits.
                let most = if self.world.waiting > 0 { usize::MAX } else { 0 };
                self.held.set(now, self.world.ledger.scarcity().short().take(most));
            }
            let observer = &mut *self.observer;
            self.world.reasons.report(now, |passed| observer.passed_over(passed))?;
            if observer.is_satisfied() {
                break;
            }
        }
        self.look(true)
    }

    /// Whether the replay shall go on: nobody has stopped it, and the policy can.
    fn look(&mut self, over: bool) -> Result<(), Error> {
        checkpoint();
        self.policy.check(View { world: &self.world }, over).map_err(|violation| self.violation(violation))
    }

    /// The error of a policy that evicts and starts again without end at one instant.
    fn endless(&self) -> Error {
        let started = self.started.iter().filter_map(|&(run, ..)| Some(self.world.runs.at(run)?.task));
        let names: Vec<&str> = started.take(2).map(|task| self.world.workload.task_name(task)).collect();
        let what =
            format!("evicts and starts tasks {MOST_PASSES} times at one instant, {} among them", names.join(" and "));
        self.violation(Violation(what))
    }

    fn violation(&self, violation: Violation) -> Error {
        Error::PolicyViolation { policy: self.name.to_owned(), at: self.world.now, what: violation.0 }
    }

    /// The time of the next event; `None` if there is none.
    fn next_instant(&mut self) -> Option<Ms> {
        while let Some(&Reverse((_, serial, run))) = self.ends.peek() {
            if self.world.runs.get(run, serial).is_some() && !self.world.leaving.has(run) {
                break;
            }
            self.ends.pop();
        }
        let end = self.ends.peek().map(|&Reverse((at, ..))| at).into_iter().chain(self.world.leaving.next()).min();
        let submit = self.world.workload.jobs().submit(self.next_job);
        // Without jobs, changes of machines no longer matter.
        let jobs_left = submit.is_some() || self.world.active > 0;
        let change = self.world.machines.changes().get(self.next_change).map(|change| change.at).filter(|_| jobs_left);
        let alarm = self.policy.alarm().filter(|&at| at > self.world.now && self.world.active > 0);
        let released = self.later.peek().map(|&Reverse((at, _))| at);
        let to_come = [end, submit, released, change].into_iter().flatten().min();
        if to_come.is_some() {
            self.idle_ticks = 0;
        }
        // Nothing is left but to ask again and again for what cannot start.
        let alarm = alarm.filter(|_| to_come.is_some() || self.idle_ticks < MOST_IDLE_TICKS);
        self.alarm = alarm;
        let to_come = [to_come, alarm].into_iter().flatten().min();
        self.plan_tick(to_come);
        to_come.into_iter().chain(self.next_tick).min()
    }

    /// Ticks come at multiples of the period while there are jobs. Of those before the event that is `to_come`, the idle ones are left out.
    fn plan_tick(&mut self, to_come: Option<Ms>) {
        let Some(period) = self.policy.period() else { return };
        if self.world.active == 0 || (to_come.is_none() && self.idle_ticks >= MOST_IDLE_TICKS) {
            self.next_tick = None;
        } else if self.next_tick.is_none() {
            let period = period.max(1);
            let phase = self.policy.phase().rem_euclid(period);
            let since = self.world.now.saturating_sub(phase).div_euclid(period);
            let next = (since + 1).saturating_mul(period).saturating_add(phase);
            let idle = self.policy.skips_idle_ticks(View { world: &self.world });
            let event = to_come.filter(|event| *event > next && idle).unwrap_or(next);
            let left_out = (event - next).saturating_add(period - 1) / period;
            self.next_tick = Some(next.saturating_add(left_out.saturating_mul(period)));
        }
    }

    fn end_runs(&mut self) -> Result<(), Error> {
        while let Some(&Reverse((at, serial, run))) = self.ends.peek() {
            if at > self.world.now {
                break;
            }
            self.ends.pop();
            if let Some(&ran) = self.world.runs.get(run, serial).filter(|_| !self.world.leaving.has(run)) {
                self.end_run(run, &ran)?;
            }
        }
        Ok(())
    }

    /// Runs that were evicted some time ago leave their machines.
    fn end_evicted(&mut self) -> Result<(), Error> {
        while let Some((run, then)) = self.world.leaving.take(self.world.now) {
            self.tally.events += 1;
            self.changed = true;
            if let Some(task) = self.world.leave(run, then) {
                self.policy.task_left(task, View { world: &self.world });
                self.go_on_after_eviction(task, then)?;
            }
        }
        Ok(())
    }

    fn end_run(&mut self, run: AttemptId, ran: &Attempt) -> Result<(), Error> {
        let Some(mut ended) = self.world.as_ended(run) else { return Ok(()) };
        self.tally.events += 1;
        self.changed = true;
        let fate = self.world.end(run, ran.task, ran.number);
        let (Fate::Again(logged) | Fate::Done(logged)) = fate;
        ended.outcome = logged.outcome;
        self.observer.ended(&ended)?;
        self.policy.task_finished(&ended, View { world: &self.world });
        match fate {
            Fate::Again(_) => self.policy.task_waits(ran.task, View { world: &self.world }),
            Fate::Done(_) => {
                let stage = self.world.workload.task(ran.task).stage;
                self.world.shuffles.ended(stage, ended.node);
                self.unit_done(ran.task)?;
                self.start_ready()?;
            }
        }
        Ok(())
    }

    /// A unit of a task has ended for good. Its task, stage and job may have ended with it.
    fn unit_done(&mut self, task: TaskId) -> Result<(), Error> {
        let spec = self.world.workload.task(task);
        if self.world.tasks[task.index()].done < spec.units() {
            return Ok(());
        }
        let stage = &mut self.world.stages[spec.stage as usize];
        stage.tasks_left -= 1;
        if stage.tasks_left == 0 {
            self.stage_done(spec.stage)?;
        }
        Ok(())
    }

    fn stage_done(&mut self, stage: u32) -> Result<(), Error> {
        let workload = self.world.workload;
        let job = JobId(workload.stage_jobs[stage as usize]);
        for &later in workload.stage_order.followers(stage as usize) {
            let state = &mut self.world.stages[later as usize];
            state.needs -= 1;
            if state.needs == 0 {
                self.ready_stages.push(later);
            }
        }
        let state = &mut self.world.jobs[job.index()];
        state.stages_left -= 1;
        if state.stages_left == 0 {
            self.job_done(job)?;
        }
        Ok(())
    }

    fn job_done(&mut self, job: JobId) -> Result<(), Error> {
        let state = self.world.jobs[job.index()];
        self.world.active -= 1;
        if !self.world.left.is_empty()
            && let Some(left) = self.world.left.get_mut(self.world.workload.job(job).group)
        {
            *left = left.saturating_sub(1);
        }
        self.jobs_ended += 1;
        let workload = self.world.workload;
        let failed = matches!(state.outcome, Outcome::Failed | Outcome::Killed);
        self.tally.failed_unlike_log += u64::from(failed && workload.job(job).succeeded);
        let eligible = Some(state.eligible).filter(|&at| workload.knows_eligible && at > workload.job(job).submit);
        let ended = JobEnded { job, eligible, launch: state.launch, finish: self.world.now, outcome: state.outcome };
        self.observer.job_ended(&ended)?;
        if self.jobs_ended.is_multiple_of(PROGRESS_JOBS) {
            (self.progress)(self.jobs_ended);
        }
        self.policy.job_finished(job, View { world: &self.world });
        for &later in self.world.workload.job_order.followers(job.index()) {
            let later = JobId(later);
            self.world.jobs[later.index()].needs -= 1;
            self.ready_jobs.push(later);
        }
        self.ready_jobs.extend(self.world.slots.give_back(job, &workload.arrays));
        Ok(())
    }

    /// Starts the jobs and stages that no longer wait for others. A stage without tasks ends as it starts.
    fn start_ready(&mut self) -> Result<(), Error> {
        loop {
            if let Some(job) = self.ready_jobs.pop() {
                self.start_job(job)?;
            } else if let Some(stage) = self.ready_stages.pop() {
                self.start_stage(stage)?;
            } else {
                return Ok(());
            }
        }
    }

    fn start_job(&mut self, job: JobId) -> Result<(), Error> {
        if !self.world.may_start(job) || !self.world.slots.take(job, &self.world.workload.arrays) {
            return Ok(());
        }
        let now = self.world.now;
        let state = &mut self.world.jobs[job.index()];
        (state.started, state.eligible) = (true, now);
        let stages = self.world.workload.job_stages[job.index()].clone();
        if stages.is_empty() {
            return self.job_done(job);
        }
        let first = self.ready_stages.len();
        self.ready_stages.extend(stages.filter(|&stage| self.world.stages[stage as usize].needs == 0));
        // They are taken from the end.
        if let Some(ready_stage) = self.ready_stages.get_mut(first..) {
            ready_stage.reverse();
        }
        Ok(())
    }

    fn start_stage(&mut self, stage: u32) -> Result<(), Error> {
        let workload = self.world.workload;
        let tasks = workload.stage_tasks[stage as usize].clone();
        if tasks.is_empty() {
            return self.stage_done(stage);
        }
        self.changed = true;
        self.world.shuffles.started(stage);
        for task in tasks.map(TaskId) {
            self.world.wait(task, workload.task(task).units());
            self.policy.task_waits(task, View { world: &self.world });
        }
        Ok(())
    }

    fn change_machines(&mut self) -> Result<(), Error> {
        let machines = self.world.machines;
        let before = self.next_change;
        while let Some(change) = machines.changes().get(self.next_change).filter(|change| change.at <= self.world.now) {
            self.next_change += 1;
            self.tally.events += 1;
            self.world.ledger.set_capacity(change.node, change.capacity);
            if change.capacity == Resources::NONE {
                self.lose(change.node)?;
            }
        }
        if self.next_change > before {
            self.changed = true;
            self.policy.nodes_changed(View { world: &self.world });
        }
        Ok(())
    }

    /// The runs on a machine that leaves wait again.
    fn lose(&mut self, node: NodeId) -> Result<(), Error> {
        for run in self.world.runs.on(node) {
            let Some(&ran) = self.world.runs.at(run) else { continue };
            if let Some(then) = self.world.leaving.remove(run) {
                self.world.leave(run, then);
                self.policy.task_left(ran.task, View { world: &self.world });
                self.go_on_after_eviction(ran.task, then)?;
                continue;
            }
            let Some(ended) = self.world.as_ended(run) else { continue };
            self.world.lose(run, ran.task, ran.number);
            self.observer.ended(&ended)?;
            self.policy.task_finished(&ended, View { world: &self.world });
            self.queued.push(ran.task);
        }
        let queued = std::mem::take(&mut self.queued);
        for &task in &queued {
            self.world.reasons.give(self.world.workload.task(task).job, 0, Reason::NodeLost, None);
            self.policy.task_waits(task, View { world: &self.world });
        }
        self.queued = queued;
        self.queued.clear();
        Ok(())
    }

    fn submit_jobs(&mut self) -> Result<(), Error> {
        while let Some(submit) = self.world.workload.jobs().submit(self.next_job) {
            if submit > self.world.now {
                break;
            }
            let id = JobId::at(self.next_job);
            self.next_job += 1;
            self.tally.events += 1;
            self.changed = true;
            self.world.active += 1;
            self.world.jobs[id.index()].submitted = true;
            self.policy.job_submitted(id, View { world: &self.world });
            match self.world.workload.job(id).eligible {
                Some(at) if at > self.world.now => self.later.push(Reverse((at, id))),
                _ => {
                    self.ready_jobs.push(id);
                    self.start_ready()?;
                }
            }
        }
        Ok(())
    }

    /// Starts the jobs whose time has come.
    fn release_jobs(&mut self) -> Result<(), Error> {
        while let Some(&Reverse((_, id))) = self.later.peek().filter(|Reverse((at, _))| *at <= self.world.now) {
            self.later.pop();
            self.ready_jobs.push(id);
            self.start_ready()?;
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), Error> {
        if self.next_tick.is_none_or(|at| at > self.world.now) {
            return Ok(());
        }
        self.next_tick = None;
        self.idle_ticks += 1;
        self.changed = true;
        self.policy.tick(View { world: &self.world }, &mut self.orders);
        for (name, job, value) in self.orders.decisions.drain(..) {
            self.observer.decided(&Decided { at: self.world.now, name, job, value, other: None })?;
        }
        Ok(())
    }

    /// Asks the policy, and records what it starts.
    fn pass(&mut self) -> Result<(), Error> {
        self.started.clear();
        let (started, evicted, notes) = (&mut self.started, &mut self.evicted, &mut self.notes);
        let mut offer = Offer { world: &mut self.world, started, before: 0, evicted, notes };
        if let Err(violation) = self.policy.schedule(&mut offer) {
            return Err(self.violation(violation));
        }
        // What was evicted made room for what has started.
        for Evicted { ended, .. } in &self.evicted {
            self.observer.ended(ended)?;
        }
        let mut given = self.notes.flavors.iter().peekable();
        for &(run, serial, end) in &self.started {
            self.ends.push(Reverse((end, serial, run)));
            if let Some(ran) = self.world.runs.at(run) {
                self.world.runs.places(ran, &mut self.places);
                // They are given in the order of the starts.
                let flavors = given.next_if(|(attempt, _)| *attempt == run).map(|(_, flavors)| flavors);
                let launched = Launched { run, task: ran.task, at: self.world.now, places: &self.places, flavors };
                self.observer.launched(&launched)?;
            }
        }
        self.notes.flavors.clear();
        for (name, job, value, other) in self.notes.decisions.drain(..) {
            self.observer.decided(&Decided { at: self.world.now, name, job: Some(job), value, other })?;
        }
        if !self.started.is_empty() {
            self.idle_ticks = 0;
            self.tally.starts += self.started.len() as u64;
        }
        self.go_on_after_evictions()
    }

    /// Tasks whose runs were evicted wait again, or have ended for good, unless they still hold their machines. The policy is then asked
    /// once more.
    fn go_on_after_evictions(&mut self) -> Result<(), Error> {
        let mut evicted = std::mem::take(&mut self.evicted);
        self.changed = !evicted.is_empty() || std::mem::take(&mut self.notes.again);
        for Evicted { ended, then } in evicted.drain(..) {
            self.tally.events += 1;
            if let Some(then) = then {
                self.go_on_after_eviction(ended.task, then)?;
            }
        }
        self.evicted = evicted;
        Ok(())
    }

    /// A task that was evicted has left its machines.
    fn go_on_after_eviction(&mut self, task: TaskId, then: Then) -> Result<(), Error> {
        match then {
            Then::Again => self.policy.task_waits(task, View { world: &self.world }),
            Then::Gone => {
                self.unit_done(task)?;
                self.start_ready()?;
            }
        }
        Ok(())
    }
}
