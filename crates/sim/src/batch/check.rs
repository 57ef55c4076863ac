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

    fn check_launch(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        self.advance(launched.at)?;
        let task = *self.workload.task(launched.task);
        let job = self.workload.job(task.job);
        self.expect(
            launched.at >= job.eligible.unwrap_or(job.submit),
            "no task starts before its job may start",
            || self.task(launched.task),
        )?;
        let over = self.outcomes[task.job.index()].is_some();
        self.expect(!over, "no task starts after its job has ended", || self.task(launched.task))?;
        let early = self.jobs_before[task.job.index()].iter().find(|&&job| self.outcomes[job as usize].is_none());
        self.expect(early.is_none(), "a job starts after the jobs that it waits for", || self.task(launched.task))?;
        let early = self.stages_before[task.stage as usize].iter().find(|&&stage| self.left[stage as usize] > 0);
        self.expect(early.is_none(), "a stage starts after the stages that it waits for", || self.task(launched.task))?;
        let instances: u32 = launched.places.iter().map(|&(_, count)| count).sum();
        let whole = if task.gang { task.instances } else { 1 };
        self.expect(instances == whole, "a gang starts as a whole, and others one by one", || {
            format!("{} with {instances} of {whole} instances", self.task(launched.task))
        })?;
        let asked = self.asked(launched.task);
        let fits = |&(node, count): &(NodeId, u32)| self.named.fits(&asked, node.index()) >= u64::from(count);
        let holds = self.named.has_licenses(&asked) && launched.places.iter().all(fits);
        self.expect(holds, "nothing starts without the other resources and licences that it takes", || {
            self.task(launched.task)
        })?;
        self.named.take_licenses(&asked);
        for &(node, count) in launched.places {
            self.take(launched.task, node, task.demand.times(count.into()))?;
            self.named.take(&asked, node, count.into());
        }
        let state = &mut self.tasks[launched.task.index()];
        state.running += 1;
        let most = state.running + state.done <= task.units();
        self.expect(most, "no instance runs twice", || self.task(launched.task))?;
        let running = Running { task: launched.task, since: launched.at, places: launched.places.to_vec() };
        let before = self.running.insert(launched.run, running);
        self.expect(before.is_none(), "what runs has an id of its own", || self.task(launched.task))
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

    fn check_end(&mut self, ended: &Ended) -> Result<(), Error> {
        self.advance(ended.finish)?;
        let Some(running) = self.running.remove(&ended.run) else {
            return self.expect(false, "what ends has started", || self.task(ended.task));
        };
        let instances = running.places.iter().map(|&(_, count)| count).sum::<u32>();
        let node = match running.places.as_slice() {
            [(node, _)] => Some(*node),
            _ => None,
        };
        let fits = running.task == ended.task
            && (running.since, instances, node) == (ended.start, ended.instances, ended.node)
            && (ended.queued..=ended.finish).contains(&ended.start);
        self.expect(fits, "what ends ran where and since when it started", || {
            format!("{}: {ended:?}, started as {running:?}", self.task(ended.task))
        })?;
        let stayed = |(node, _): &(NodeId, u32)| {
            self.left_at[node.index()].is_none_or(|at| at <= running.since || at >= ended.finish)
        };
        self.expect(running.places.iter().all(stayed), "what runs on a machine that leaves is lost", || {
            self.task(ended.task)
        })?;
        let task = *self.workload.task(ended.task);
        let asked = self.asked(ended.task);
        self.named.give_licenses(&asked);
        for (node, count) in running.places {
            let used = &mut self.rooms[node.index()].1;
            *used = used.minus(task.demand.times(count.into()));
            self.named.give(&asked, node, count.into());
        }
        let state = &mut self.tasks[ended.task.index()];
        state.running -= 1;
        if matches!(ended.outcome, Outcome::Lost | Outcome::Evicted) {
            return Ok(());
        }
        state.failed += usize::from(task.is_sequence() && ended.outcome == Outcome::Failed);
        if task.is_sequence()
            && ended.outcome == Outcome::Failed
            && state.failed < self.workload.tries(ended.task).len()
        {
            return Ok(());
        }
        state.done += 1;
        if state.done == task.units() {
            self.left[task.stage as usize] -= 1;
        }
        Ok(())
    }

    fn check_job(&mut self, job_ended: &JobEnded) -> Result<(), Error> {
        self.advance(job_ended.finish)?;
        let job = self.workload.job(job_ended.job);
        let again = self.outcomes[job_ended.job.index()].replace(job_ended.outcome).is_some();
        self.expect(!again, "every job ends once", || format!("job {}", job.id))?;
        let launch = job_ended.launch.unwrap_or(job_ended.finish);
        self.expect(
            (job.submit..=job_ended.finish).contains(&launch),
            "a job starts between its submission and its end",
            || format!("job {}: {job_ended:?}", job.id),
        )?;
        let stages = self.workload.job_stages[job_ended.job.index()].clone();
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
