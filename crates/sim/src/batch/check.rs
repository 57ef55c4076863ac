//! The rules that hold in every replay of a production trace, checked while it runs. Tests use them under every policy, and `--check` on
//! a trace.

use std::collections::BTreeMap;

use resched_tables::model::Outcome;

use super::dimensions::{Asked, Dimensions};
use super::machines::Machines;
use super::observer::{Ended, Launched, Observer};
use super::order::Order;
use super::stock::Stock;
use super::workload::Workload;
use crate::Error;
use crate::ids::{AttemptId, JobId, Ms, NodeId, TaskId};
use crate::observer::{Decided, JobEnded, PassedOver, Reports};
use crate::resources::Resources;

/// Passes on what a replay reports, and ends the replay when that breaks a rule. Call [`Checked::close`] after the replay.
///
/// It judges by the workload, the machines and the reports alone, not by the state of the engine.
pub struct Checked<'a> {
    workload: &'a Workload,
    machines: &'a Machines,
    policy: &'a str,
    inner: &'a mut dyn Observer,
    clock: Ms,
    /// What each machine offers, and what is used of it.
    rooms: Vec<(Resources, Resources)>,
    /// What is free of other resources and of licences.
    named: Stock,
    /// What each kind of needs takes of them.
    asked: Vec<Asked>,
    /// When each machine left last.
    left_at: Vec<Option<Ms>>,
    /// The first change of a machine that is still to come.
    next_change: usize,
    running: BTreeMap<AttemptId, Running>,
    tasks: Vec<Progress>,
    /// How many tasks of each stage have not ended.
    left: Vec<usize>,
    outcomes: Vec<Option<Outcome>>,
    /// The jobs, and the stages, that each waits for.
    jobs_before: Vec<Vec<u32>>,
    stages_before: Vec<Vec<u32>>,
}

/// An instance or a gang that runs.
#[derive(Debug)]
struct Running {
    task: TaskId,
    since: Ms,
    places: Vec<(NodeId, u32)>,
}

/// What became of a task so far.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    running: u32,
    /// Tries that failed and were followed by another.
    failed: usize,
    /// Units that ended for good.
    done: u32,
}

impl<'a> Checked<'a> {
    /// Checks a replay of this workload on these machines under the policy of this name. `inner` gets every report.
    pub fn new(workload: &'a Workload, machines: &'a Machines, policy: &'a str, inner: &'a mut dyn Observer) -> Self {
        let (stages, dimensions) = (&workload.stage_tasks, Dimensions::of(machines));
        Self {
            workload,
            machines,
            policy,
            inner,
            clock: Ms::MIN,
            rooms: machines.nodes().iter().map(|machine| (machine.capacity, Resources::NONE)).collect(),
            named: Stock::of(&dimensions, machines),
            asked: workload.needs.kinds().iter().map(|needs| dimensions.asked(needs)).collect(),
            left_at: vec![None; machines.nodes().len()],
            next_change: 0,
            running: BTreeMap::new(),
            tasks: vec![Progress::default(); workload.tasks().len()],
            left: stages.iter().map(ExactSizeIterator::len).collect(),
            outcomes: vec![None; workload.jobs().len()],
            jobs_before: before(&workload.job_order, workload.jobs().len()),
            stages_before: before(&workload.stage_order, stages.len()),
        }
    }

    /// Checks what must hold after the replay. Jobs may be left that need machines which have gone.
    ///
    /// # Errors
    /// [`Error::RuleBroken`].
    pub fn close(self) -> Result<(), Error> {
        let left = self.running.values().next();
        self.expect(left.is_none(), "everything that starts ends", || {
            left.map_or_else(String::new, |running| self.task(running.task))
        })
    }

    fn expect(&self, holds: bool, rule: &'static str, found: impl FnOnce() -> String) -> Result<(), Error> {
        if holds {
            return Ok(());
        }
        Err(Error::RuleBroken { policy: self.policy.to_owned(), at: self.clock, rule, found: found() })
    }

    fn advance(&mut self, at: Ms) -> Result<(), Error> {
        self.expect(at >= self.clock, "time does not go back", || format!("a report of {at} ms"))?;
        self.clock = at;
        while let Some(change) = self.machines.changes().get(self.next_change).filter(|change| change.at <= at) {
            self.next_change += 1;
            self.rooms[change.node.index()].0 = change.capacity;
            if change.capacity == Resources::NONE {
                self.left_at[change.node.index()] = Some(change.at);
            }
        }
        Ok(())
    }

    fn check_launch(&mut self, own: &Launched<'_>) -> Result<(), Error> {
        self.advance(own.at)?;
        let task = *self.workload.task(own.task);
        let job = self.workload.job(task.job);
        self.expect(own.at >= job.eligible.unwrap_or(job.submit), "no task starts before its job may start", || {
            self.task(own.task)
        })?;
        let over = self.outcomes[task.job.index()].is_some();
        self.expect(!over, "no task starts after its job has ended", || self.task(own.task))?;
        let early = self.jobs_before[task.job.index()].iter().find(|&&job| self.outcomes[job as usize].is_none());
        self.expect(early.is_none(), "a job starts after the jobs that it waits for", || self.task(own.task))?;
        let early = self.stages_before[task.stage as usize].iter().find(|&&stage| self.left[stage as usize] > 0);
        self.expect(early.is_none(), "a stage starts after the stages that it waits for", || self.task(own.task))?;
        let instances: u32 = own.places.iter().map(|&(_, count)| count).sum();
        let whole = if task.gang { task.instances } else { 1 };
        self.expect(instances == whole, "a gang starts as a whole, and others one by one", || {
            format!("{} with {instances} of {whole} instances", self.task(own.task))
        })?;
        let asked = self.asked(own.task);
        let fits = |&(node, count): &(NodeId, u32)| self.named.fits(&asked, node.index()) >= u64::from(count);
        let holds = self.named.has_licenses(&asked) && own.places.iter().all(fits);
        self.expect(holds, "nothing starts without the other resources and licences that it takes", || {
            self.task(own.task)
        })?;
        self.named.take_licenses(&asked);
        for &(node, count) in own.places {
            self.take(own.task, node, task.demand.times(count.into()))?;
            self.named.take(&asked, node, count.into());
        }
        let state = &mut self.tasks[own.task.index()];
        state.running += 1;
        let most = state.running + state.done <= task.units();
        self.expect(most, "no instance runs twice", || self.task(own.task))?;
        let running = Running { task: own.task, since: own.at, places: own.places.to_vec() };
        let before = self.running.insert(own.run, running);
        self.expect(before.is_none(), "what runs has an id of its own", || self.task(own.task))
    }

    fn take(&mut self, task: TaskId, node: NodeId, demand: Resources) -> Result<(), Error> {
        let (capacity, used) = &mut self.rooms[node.index()];
        *used = used.plus(demand);
        let (capacity, used) = (*capacity, *used);
        // A machine may have shrunk below what runs on it, but then nothing starts that asks for what it lacks.
        let asked = used.zip(demand, |used, demand| if demand > 0 { used } else { 0 });
        let present = capacity != Resources::NONE;
        self.expect(present && capacity.holds(asked), "no machine takes more than it has room for", || {
            let node = &self.machines.nodes()[node.index()].name;
            format!("{} on machine {node}, of which {used:?} of {capacity:?} is used then", self.task(task))
        })
    }

    fn check_end(&mut self, own: &Ended) -> Result<(), Error> {
        self.advance(own.finish)?;
        let Some(running) = self.running.remove(&own.run) else {
            return self.expect(false, "what ends has started", || self.task(own.task));
        };
        let instances = running.places.iter().map(|&(_, count)| count).sum::<u32>();
        let node = match running.places.as_slice() {
            [(node, _)] => Some(*node),
            _ => None,
        };
        let fits = running.task == own.task
            && (running.since, instances, node) == (own.start, own.instances, own.node)
            && (own.queued..=own.finish).contains(&own.start);
        self.expect(fits, "what ends ran where and since when it started", || {
            format!("{}: {own:?}, started as {running:?}", self.task(own.task))
        })?;
        let stayed = |(node, _): &(NodeId, u32)| {
            self.left_at[node.index()].is_none_or(|at| at <= running.since || at >= own.finish)
        };
        self.expect(running.places.iter().all(stayed), "what runs on a machine that leaves is lost", || {
            self.task(own.task)
        })?;
        let task = *self.workload.task(own.task);
        let asked = self.asked(own.task);
        self.named.give_licenses(&asked);
        for (node, count) in running.places {
            let used = &mut self.rooms[node.index()].1;
            *used = used.minus(task.demand.times(count.into()));
            self.named.give(&asked, node, count.into());
        }
        let state = &mut self.tasks[own.task.index()];
        state.running -= 1;
        if matches!(own.outcome, Outcome::Lost | Outcome::Evicted) {
            return Ok(());
        }
        state.failed += usize::from(task.is_sequence() && own.outcome == Outcome::Failed);
        if task.is_sequence() && own.outcome == Outcome::Failed && state.failed < self.workload.tries(own.task).len() {
            return Ok(());
        }
        state.done += 1;
        if state.done == task.units() {
            self.left[task.stage as usize] -= 1;
        }
        Ok(())
    }

    fn check_job(&mut self, own: &JobEnded) -> Result<(), Error> {
        self.advance(own.finish)?;
        let job = self.workload.job(own.job);
        let again = self.outcomes[own.job.index()].replace(own.outcome).is_some();
        self.expect(!again, "every job ends once", || format!("job {}", job.id))?;
        let launch = own.launch.unwrap_or(own.finish);
        self.expect(
            (job.submit..=own.finish).contains(&launch),
            "a job starts between its submission and its end",
            || format!("job {}: {own:?}", job.id),
        )?;
        let stages = self.workload.job_stages[own.job.index()].clone();
        let open: usize = stages.map(|stage| self.left[stage as usize]).sum();
        self.expect(open == 0, "a job ends after all its tasks", || format!("job {} with {open} open tasks", job.id))
    }

    /// What a task takes beside processor and memory.
    fn asked(&self, task: TaskId) -> Asked {
        self.asked.get(self.workload.needs.kind(task.index()) as usize).cloned().unwrap_or_default()
    }

    fn task(&self, task: TaskId) -> String {
        let job: JobId = self.workload.task(task).job;
        format!("task {} of job {}", self.workload.task_name(task), self.workload.job(job).id)
    }
}

/// Those that each waits for.
fn before(order: &Order, count: usize) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); count];
    for (earlier, number) in (0..count).zip(0..) {
        for &later in order.followers(earlier) {
            before[later as usize].push(number);
        }
    }
    before
}

impl Reports for Checked<'_> {
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        self.check_job(ended)?;
        self.inner.job_ended(ended)
    }

    fn decided(&mut self, decided: &Decided) -> Result<(), Error> {
        self.inner.decided(decided)
    }

    fn wants_reasons(&self) -> bool {
        self.inner.wants_reasons()
    }

    fn passed_over(&mut self, passed: &PassedOver) -> Result<(), Error> {
        self.inner.passed_over(passed)
    }
}

impl Observer for Checked<'_> {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        self.check_launch(launched)?;
        self.inner.launched(launched)
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        self.check_end(ended)?;
        self.inner.ended(ended)
    }

    fn is_satisfied(&self) -> bool {
        self.inner.is_satisfied()
    }
}
