//! The state of the world of a replay.

use std::collections::BTreeMap;
use std::ops::Range;

use resched_tables::model::{Locality, Outcome};

use super::arrays::Slots;
use super::attempts::{Attempts, New};
use super::evictions::{Eviction, KeptWork, Leaving, Then};
use super::ledger::{Demand, Ledger};
use super::machines::Machines;
use super::observer::Ended;
use super::places;
use super::shuffles::{self, Shuffles};
use super::workload::{Try, Workload};
use crate::ids::{AttemptId, JobId, Ms, NodeId, TaskId};
use crate::loading::LONGEST;
use crate::reasons::Reasons;

/// A job in its present state.
#[derive(Debug, Clone, Copy)]
pub(super) struct JobState {
    /// Jobs that must end before it starts.
    pub(super) needs: u32,
    pub(super) submitted: bool,
    pub(super) started: bool,
    pub(super) stages_left: u32,
    /// Since when it may start, ms.
    pub(super) eligible: Ms,
    pub(super) launch: Option<Ms>,
    pub(super) outcome: Outcome,
}

/// A stage in its present state.
#[derive(Debug, Clone, Copy)]
pub(super) struct StageState {
    /// Stages that must end before it starts.
    pub(super) needs: u32,
    pub(super) tasks_left: u32,
}

/// A task in its present state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TaskState {
    /// Units that wait: instances, or 1 for the gang.
    pub(super) waiting: u32,
    pub(super) running: u32,
    /// The next instance, or the next try.
    pub(super) next: u32,
    /// Units that have ended for good.
    pub(super) done: u32,
    pub(super) attempts: u32,
    /// Since when it waits, ms.
    pub(super) queued: Ms,
}

/// The world.
#[derive(Debug)]
pub(super) struct World<'w> {
    pub(super) workload: &'w Workload,
    pub(super) machines: &'w Machines,
    pub(super) now: Ms,
    pub(super) seed: u64,
    /// How many times as long everything takes on each machine; empty if all are as fast as the log.
    paces: Vec<f64>,
    /// Where the input of tasks is that other stages wrote.
    pub(super) shuffles: Shuffles,
    /// How many jobs of each application have not ended.
    pub(super) left: BTreeMap<&'w str, u64>,
    /// The rack of each machine; empty if no task prefers any.
    racks: Vec<Option<u32>>,
    pub(super) reasons: Reasons,
    pub(super) jobs: Vec<JobState>,
    /// The places of arrays of which only so many jobs may run at once.
    pub(super) slots: Slots,
    pub(super) stages: Vec<StageState>,
    pub(super) tasks: Vec<TaskState>,
    /// Instances, of tasks with several, that were lost with a machine, and when. They run again first.
    lost: BTreeMap<TaskId, Vec<(u32, Ms)>>,
    kept_work: KeptWork,
    pub(super) runs: Attempts,
    pub(super) leaving: Leaving,
    /// What is free and held.
    pub(super) ledger: Ledger,
    /// The number of units that wait.
    pub(super) waiting: u64,
    /// Jobs that were submitted and have not ended.
    pub(super) active: u64,
    places: Vec<(NodeId, u32)>,
}

/// The places that a unit of a task would take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The task.
    pub task: TaskId,
    /// The machines, and how many instances on each.
    pub places: Vec<(NodeId, u32)>,
}

/// How a run has ended.
pub(super) enum Fate {
    /// As logged, and its task waits again.
    Again(Try),
    /// As logged, for good.
    Done(Try),
}

impl<'w> World<'w> {
    pub(super) fn new(workload: &'w Workload, machines: &'w Machines, seed: u64) -> Self {
        let job = |(place, stages): (usize, &Range<u32>)| JobState {
            needs: workload.job_order.needs(place),
            submitted: false,
            started: false,
            stages_left: stages.len() as u32,
            eligible: 0,
            launch: None,
            outcome: Outcome::Success,
        };
        let stage = |(place, tasks): (usize, &Range<u32>)| StageState {
            needs: workload.stage_order.needs(place),
            tasks_left: tasks.len() as u32,
        };
        let prefer = workload.shuffles_have_places || !workload.places.is_empty();
        Self {
            workload,
            machines,
            now: 0,
            seed,
            paces: machines.paces(seed),
            shuffles: Shuffles::of(workload),
            left: jobs_of_applications(workload),
            racks: if prefer { machines.racks() } else { Vec::new() },
            reasons: Reasons::default(),
            jobs: workload.job_stages.iter().enumerate().map(job).collect(),
            slots: Slots::new(&workload.arrays),
            stages: workload.stage_tasks.iter().enumerate().map(stage).collect(),
            tasks: vec![TaskState::default(); workload.tasks().len()],
            lost: BTreeMap::new(),
            kept_work: KeptWork::default(),
            runs: Attempts::default(),
            leaving: Leaving::default(),
            ledger: Ledger::new(workload, machines),
            waiting: 0,
            active: 0,
            places: Vec::new(),
        }
    }

    /// How long the next start of a task will run, ms.
    pub(super) fn next_run(&self, task: TaskId) -> Ms {
        let number = match self.lost.get(&task).and_then(|lost| lost.last()) {
            Some(&(number, _)) => number,
            None => self.tasks[task.index()].next,
        };
        self.kept_work.rest(task, number, self.workload.course(self.try_of(task, number), self.now).run)
    }

    /// The logged try of an instance, or the logged try with this number.
    fn try_of(&self, task: TaskId, number: u32) -> Try {
        let tries = self.workload.tries(task);
        // A task without tries cannot be made.
        tries.get(number as usize % tries.len().max(1)).copied().unwrap_or(Try { outcome: Outcome::Success, run: 0 })
    }

    /// What an instance of a task asks of a machine.
    #[inline]
    pub(super) fn demand(&self, id: TaskId) -> Demand {
        Demand { main: self.workload.task(id).demand, kind: self.workload.needs.kind(id.index()) }
    }

    /// Takes room for up to this many instances of a task from one machine after the other. Returns for how many it found room.
    fn take_room(&mut self, id: TaskId, most: u32) -> u32 {
        let demand = self.demand(id);
        let mut left = most;
        self.places.clear();
        while left > 0 {
            let Some(node) = self.ledger.find(demand) else { break };
            let fits = self.ledger.fits(demand, node).min(u64::from(left)) as u32;
            self.ledger.take(demand, NodeId::at(node), fits);
            self.places.push((NodeId::at(node), fits));
            left -= fits;
        }
        most - left
    }

    /// Places for so many units of tasks at once, by the rule of placement, if all of them find room beside each other; each unit has its
    /// own. What is free is afterwards as it was before.
    pub(super) fn try_place(&mut self, units: &[(TaskId, u32)]) -> Option<Vec<Placed>> {
        self.ledger.set_on_trial(true);
        let mut placed: Vec<Placed> = Vec::new();
        let each = units.iter().flat_map(|&(task, count)| std::iter::repeat_n(task, count as usize));
        let all_fit = each.into_iter().all(|id| {
            let (task, kind) = (*self.workload.task(id), self.workload.needs.kind(id.index()));
            let instances = if task.gang { task.instances } else { 1 };
            if !self.ledger.may_hold(&task, kind) {
                return false;
            }
            let found = self.take_room(id, instances);
            self.ledger.take_licenses(kind);
            placed.push(Placed { task: id, places: std::mem::take(&mut self.places) });
            found == instances
        });
        for Placed { task, places } in &placed {
            let demand = self.demand(*task);
            places.iter().for_each(|&(node, count)| self.ledger.give(demand, node, count));
            self.ledger.give_licenses(demand.kind);
        }
        self.ledger.set_on_trial(false);
        all_fit.then_some(placed)
    }

    /// Gives back what a task took of the machines that are noted.
    fn give_back(&mut self, id: TaskId) {
        let demand = self.demand(id);
        for &(node, count) in &self.places {
            self.ledger.give(demand, node, count);
        }
    }

    /// Starts up to this many units of a waiting task. `started` gets each of them with its end. Returns how many found
    /// room.
    pub(super) fn start(&mut self, id: TaskId, most: u32, started: &mut Vec<(AttemptId, u64, Ms)>) -> u32 {
        let task = *self.workload.task(id);
        let most = most.min(self.tasks[id.index()].waiting);
        // Each unit takes its licences: those that take any are started one by one.
        let kind = self.workload.needs.kind(id.index());
        let most = if self.ledger.asked(kind).of_cluster.is_empty() { most } else { most.min(1) };
        if most == 0 || !self.ledger.may_hold(&task, kind) {
            // Whatever held it back before, it waits for others to end now.
            self.reasons.end(task.job, 0);
            return 0;
        }
        let instances = if task.gang { task.instances } else { most };
        let found = self.take_room(id, instances);
        if task.gang {
            if found < instances {
                self.give_back(id);
                return 0;
            }
            let places = std::mem::take(&mut self.places);
            started.push(self.begin(id, &places));
            self.places = places;
            return 1;
        }
        let places = std::mem::take(&mut self.places);
        for &(node, count) in &places {
            for _ in 0..count {
                started.push(self.begin(id, &[(node, 1)]));
            }
        }
        self.places = places;
        found
    }

    /// Starts a unit of a waiting task on machines that have room for it.
    pub(super) fn start_on(&mut self, id: TaskId, places: &[(NodeId, u32)]) -> (AttemptId, u64, Ms) {
        let demand = self.demand(id);
        for &(node, count) in places {
            self.ledger.take(demand, node, count);
        }
        self.begin(id, places)
    }

    /// The rack of a machine.
    pub(super) fn rack(&self, node: NodeId) -> Option<u32> {
        self.racks.get(node.index()).copied().flatten()
    }

    /// The machines that a task prefers.
    #[inline]
    pub(super) fn preferred(&self, task: TaskId) -> &[NodeId] {
        match self.workload.places.of(task.index()) {
            [] => self.shuffles.preferred(self.workload.task(task).stage),
            given => given,
        }
    }

    /// How near a machine is to one that a task prefers.
    #[inline]
    pub(super) fn level(&self, task: TaskId, node: NodeId) -> Option<Locality> {
        if self.racks.is_empty() {
            return None;
        }
        let preferred = self.preferred(task);
        (!preferred.is_empty()).then(|| shuffles::level(node, preferred, |node| self.rack(node)))
    }

    /// How long an instance runs on these machines from its beginning.
    fn whole_run_on(&self, id: TaskId, number: u32, places: &[(NodeId, u32)]) -> Ms {
        let mut logged = self.try_of(id, number);
        if let (Some(factors), [(node, _)]) = (self.workload.level_factors, places) {
            let task = self.workload.task(id);
            let place = task.tries as usize + number as usize % (task.try_count as usize).max(1);
            let of_log = !self.workload.places.of(id.index()).is_empty();
            let level = of_log.then(|| self.level(id, *node)).flatten();
            if let (Some(before), Some(now)) = (self.workload.places.level(place), level) {
                logged.run = places::scaled(logged.run, [before, now], factors);
            }
        }
        self.workload.course(self.at_pace(logged, places), self.now).run
    }

    /// A try on these machines: it lasts as long as on the slowest of them.
    #[inline]
    fn at_pace(&self, logged: Try, places: &[(NodeId, u32)]) -> Try {
        if self.paces.is_empty() {
            return logged;
        }
        let slowest = places.iter().filter_map(|&(node, _)| self.paces.get(node.index()).copied()).reduce(f64::max);
        Try { run: stretched(logged.run, slowest.unwrap_or(1.0)), ..logged }
    }

    fn begin(&mut self, id: TaskId, places: &[(NodeId, u32)]) -> (AttemptId, u64, Ms) {
        self.ledger.take_licenses(self.workload.needs.kind(id.index()));
        let lost = self.lost.get_mut(&id).and_then(Vec::pop);
        let state = &mut self.tasks[id.index()];
        let (number, queued) = lost.unwrap_or((state.next, state.queued));
        if lost.is_none() && !self.workload.task(id).is_sequence() {
            state.next += 1;
        }
        state.waiting -= 1;
        state.running += 1;
        let attempt = state.attempts;
        state.attempts += 1;
        self.waiting -= 1;
        let job = &mut self.jobs[self.workload.task(id).job.index()];
        job.launch.get_or_insert(self.now);
        let rest = self.kept_work.rest(id, number, self.whole_run_on(id, number, places));
        let end = self.now.saturating_add(rest);
        let (run, serial) = self.runs.add(&New { task: id, attempt, number, queued, start: self.now, places });
        (run, serial, end)
    }

    /// Ends a run as its log says.
    pub(super) fn end(&mut self, run: AttemptId, id: TaskId, number: u32) -> Fate {
        self.release(run);
        let task = self.workload.task(id);
        // It has ended: only how still matters.
        let logged = self.workload.course(self.try_of(id, number), self.now);
        let state = &mut self.tasks[id.index()];
        state.running -= 1;
        if task.is_sequence() && logged.outcome == Outcome::Failed {
            state.next += 1;
            if (state.next as usize) < self.workload.tries(id).len() {
                self.wait(id, 1);
                return Fate::Again(logged);
            }
        }
        // What a job survived in its log does not fail it here.
        let survived = matches!(logged.outcome, Outcome::Failed | Outcome::Killed)
            && self.workload.job(self.workload.task(id).job).succeeded;
        self.done(id, if survived { Outcome::Success } else { logged.outcome });
        Fate::Done(logged)
    }

    /// Ends a run whose machine has left; its task waits again.
    pub(super) fn lose(&mut self, run: AttemptId, id: TaskId, number: u32) {
        self.release(run);
        self.tasks[id.index()].running -= 1;
        self.wait_again(id, number);
    }

    /// An instance that ran waits again.
    fn wait_again(&mut self, id: TaskId, number: u32) {
        if !self.workload.task(id).is_sequence() {
            self.lost.entry(id).or_default().push((number, self.now));
        }
        let queued = self.tasks[id.index()].queued;
        self.wait(id, 1);
        if !self.workload.task(id).is_sequence() {
            // The others have waited since before.
            self.tasks[id.index()].queued = queued;
        }
    }

    /// Ends a run whose machines others get. Returns the report of its end; `None` if nothing runs under this id.
    pub(super) fn evict(&mut self, run: AttemptId, Eviction { then, work, holds }: Eviction) -> Option<Ended> {
        let ran = *self.runs.at(run).filter(|_| !self.leaving.has(run))?;
        let ended = self.as_ended(run)?;
        let whole = self.whole_run_on(ran.task, ran.number, &self.places);
        self.kept_work.note(ran.task, ran.number, [whole, self.now - ran.start], work);
        self.tasks[ran.task.index()].running -= 1;
        let outcome = match then {
            Then::Again => Outcome::Evicted,
            Then::Gone => Outcome::Killed,
        };
        if holds > 0 {
            self.leaving.add(self.now.saturating_add(holds), ran.serial, run, then);
        } else {
            self.leave(run, then);
        }
        Some(Ended { outcome, ..ended })
    }

    /// A run that was evicted gives its machines back. Returns its task.
    pub(super) fn leave(&mut self, run: AttemptId, then: Then) -> Option<TaskId> {
        let ran = *self.runs.at(run)?;
        self.release(run);
        match then {
            Then::Again => self.wait_again(ran.task, ran.number),
            Then::Gone => self.done(ran.task, Outcome::Killed),
        }
        Some(ran.task)
    }

    /// A unit of a task has ended for good.
    fn done(&mut self, id: TaskId, outcome: Outcome) {
        self.tasks[id.index()].done += 1;
        let known = &mut self.jobs[self.workload.task(id).job.index()].outcome;
        if gravity(outcome) > gravity(*known) {
            *known = outcome;
        }
    }

    /// The report of the end of a run now, as one that is lost; `None` if nothing runs under this id.
    pub(super) fn as_ended(&mut self, run: AttemptId) -> Option<Ended> {
        let ran = *self.runs.at(run)?;
        self.runs.places(&ran, &mut self.places);
        let node = match self.places.as_slice() {
            [(node, _)] => Some(*node),
            _ => None,
        };
        Some(Ended {
            run,
            task: ran.task,
            attempt: ran.attempt,
            instances: self.places.iter().map(|&(_, count)| count).sum(),
            node,
            queued: ran.queued,
            start: ran.start,
            finish: self.now,
            outcome: Outcome::Lost,
            locality: node.and_then(|node| self.level(ran.task, node)),
        })
    }

    fn release(&mut self, run: AttemptId) {
        let Some(ran) = self.runs.at(run).copied() else { return };
        let mut places = std::mem::take(&mut self.places);
        self.runs.places(&ran, &mut places);
        self.places = places;
        self.give_back(ran.task);
        self.ledger.give_licenses(self.workload.needs.kind(ran.task.index()));
        self.runs.remove(run);
    }

    /// This many more units of a task wait from now on.
    pub(super) fn wait(&mut self, task: TaskId, units: u32) {
        let state = &mut self.tasks[task.index()];
        state.waiting += units;
        state.queued = self.now;
        self.waiting += u64::from(units);
    }

    /// The jobs that were submitted and have not ended.
    pub(super) fn not_ended(&self) -> Vec<JobId> {
        // A job without stages ends as it starts.
        let is_open = |state: &JobState| state.submitted && (state.stages_left > 0 || !state.started);
        self.jobs.iter().enumerate().filter(|(_, state)| is_open(state)).map(|(place, _)| JobId::at(place)).collect()
    }

    /// True if a job has been submitted, waits for no other, and has not started yet.
    pub(super) fn may_start(&self, job: JobId) -> bool {
        let state = &self.jobs[job.index()];
        state.submitted && state.needs == 0 && !state.started
    }
}

/// A time that takes so many times as long, ms.
fn stretched(run: Ms, factor: f64) -> Ms {
    ((run as f64 * factor).round() as Ms).clamp(0, LONGEST)
}

/// How many jobs each application has.
fn jobs_of_applications(workload: &Workload) -> BTreeMap<&str, u64> {
    let mut left = BTreeMap::new();
    if !workload.applications.is_empty() {
        workload.jobs.iter().for_each(|job| *left.entry(job.group).or_insert(0) += 1);
    }
    left
}

/// The outcome of a job is the gravest outcome of its tasks. This is how grave an outcome is.
fn gravity(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Success => 0,
        Outcome::Incomplete => 1,
        Outcome::Killed => 2,
        _ => 3,
    }
}
