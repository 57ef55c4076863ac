//! From a production log to a [`Workload`] and its [`Machines`].
//!
//! This module has all the rules. It reads a log only
//! through the traits [`Log`] and [`Jobs`], so a trace on disk and jobs in memory mean the same. Each use of a rule is
//! counted under the cause in parentheses:
//!
//! * [`super::tries`] says which attempts are replayed, and for how long. A task without attempts runs once, and so
//!   does each of its instances; the run time is from the task's own start to its own finish (`task-timed-by-its-row`).
//!   A task whose run time is unknown is left out (`task-without-run-time`).
//! * A task that was never tried before the trace ended is left out (`task-never-started`), and its job is incomplete. With
//!   [`Unfinished::Estimate`], it runs for a time that is estimated, as every attempt that still ran does
//!   ([`super::survival`]).
//! * A request that the log does not give is the median of the requests of its job (`task-with-request-of-its-job`),
//!   else one core (`task-of-one-core`) and no memory. An empty request becomes a thousandth of a core. If no machine's
//!   memory is known, tasks request none.
//! * A task that fits on no machine, or a gang that does not fit on all machines together, is left out
//!   (`task-larger-than-any-machine`), because it could never start.
//! * All tasks of a job exist when it is submitted; later times in `attempts.queued` are ignored. Tasks without a stage
//!   form one stage. In a job of maps and reduces, the reduces wait for the maps. A stage waits for every stage that
//!   any of its tasks depends on.

use std::collections::BTreeMap;

use resched_trace::formats::Collected;
use resched_trace::model::{JobRow, Outcome, Priority, TaskKind, TaskRow};
use resched_trace::run::{RunWindow, Unfinished};
use resched_trace::store::Trace;

use super::index::Tree;
use super::log::{Jobs, Log};
use super::machines::Machines;
use super::survival::{Class, Observed, Survival};
use super::tries::{Logged, in_order, of_instances};
use super::workload::{Cut, Job, JobSpec, StageSpec, TaskSpec, Try, Workload};
use crate::ids::Ms;
use crate::resources::Resources;
use crate::scope::{Scope, Times, Work};
use crate::tables::{LONGEST, Skipped, skip};
use crate::{ClusterConfig, Error};

/// The most instances that a task may have: a larger number is damage.
const MOST_INSTANCES: i64 = 10_000_000;
/// The request of a task whose request is unknown.
const ONE_CORE: u64 = 1_000;

/// The parts of a trace that a replay needs.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Its jobs.
    pub workload: Workload,
    /// Its machines, or those of the cluster file.
    pub machines: Machines,
    /// Counts of what was left out or made up, by cause.
    pub skipped: Skipped,
    /// The time in which jobs must be submitted to count in a metric; `None` if all do.
    pub window: Option<RunWindow>,
    /// How much of the work was seen whole.
    pub work: Work,
}

/// Loads a trace for a replay on the machines of `config`, or on its own if `config` names none.
///
/// # Errors
/// [`Error::Trace`] if the trace cannot be read or its rows are out of order; [`Error::Config`] if no job or no machine is left.
pub fn load(trace: &Trace, config: &ClusterConfig, scope: &Scope) -> Result<Loaded, Error> {
    load_log(trace, config, scope)
}

/// Loads jobs and machines in memory, as [`load`] loads a trace of them.
///
/// # Errors
/// [`Error::Config`] if no job or no machine is left.
pub fn load_records(records: &Collected, config: &ClusterConfig, scope: &Scope) -> Result<Loaded, Error> {
    load_log(records, config, scope)
}

fn load_log(log: &impl Log, config: &ClusterConfig, scope: &Scope) -> Result<Loaded, Error> {
    let mut skipped = Skipped::new();
    let mut machines = Machines::of_log(config, log, &mut skipped)?;
    let (begin, horizon) = (log.begin(), log.horizon()?);
    let survival = match scope.unfinished {
        Unfinished::Estimate => Some(survival(log, begin, horizon)?),
        Unfinished::Drop | Unfinished::Cap => None,
    };
    let mut rules = Rules {
        begin,
        horizon,
        survival,
        seed: scope.seed,
        work: Work::default(),
        memory_is_limited: machines.memory_is_limited(),
        room: Room::of(&machines),
        skipped,
    };
    let mut log_jobs = log.jobs()?;
    let mut jobs = Vec::new();
    while let Some(row) = log_jobs.next_job()? {
        let tasks = rules.tasks(&row, &mut log_jobs)?;
        jobs.extend(rules.job(row, tasks));
    }
    log_jobs.check_end()?;
    let Rules { mut skipped, work, .. } = rules;
    let Some(first) = jobs.iter().map(|spec| spec.job.submit).min() else {
        return Err(Error::Config(format!(
            "{}: no job is left to replay ({skipped:?}); expected jobs with a submission time and tasks with a run time that \
             fit on a machine",
            log.name()
        )));
    };
    let first_submit = config.jobs.first_submit;
    machines.start_at(first_submit.saturating_sub(first), first_submit);
    let (workload, left_out) = Workload::new(jobs, first_submit)?;
    skipped.extend(left_out);
    let window = scope.window.on_the_clock(Times { begin, first, horizon }, first_submit);
    let end = horizon.saturating_sub(first).saturating_add(first_submit);
    let workload = workload.cut_off(Cut { end, unfinished: scope.unfinished });
    Ok(Loaded { workload, machines, skipped, window, work })
}

/// How long the tasks of a log run, by class. Attempts that began before the log are left out, as their start is not known.
fn survival(log: &impl Log, begin: Option<Ms>, horizon: Ms) -> Result<Survival, Error> {
    let mut observed = Observed::default();
    let mut add = |class: Class, logged: Logged| {
        let began_inside = begin.is_none_or(|begin| logged.start.is_some_and(|start| start >= begin));
        if let Some(run) = logged.run(horizon).filter(|_| began_inside) {
            let cut = matches!(logged.outcome, Outcome::Incomplete | Outcome::Evicted | Outcome::Lost);
            observed.add(class, run, !cut);
        }
    };
    let mut jobs = log.jobs()?;
    while let Some(job) = jobs.next_job()? {
        while let Some(task) = jobs.next_task()? {
            let class = class(&job, &task);
            let mut tried = false;
            while let Some(attempt) = jobs.next_attempt()? {
                add(class, attempt);
                tried = true;
            }
            if !tried {
                add(class, Logged::of_row(&task));
            }
        }
    }
    Ok(observed.estimate())
}

/// The class of a task.
fn class(job: &JobRow, task: &TaskRow) -> Class {
    (task.kind as u8, job.priority_number.unwrap_or_else(|| step(job.priority)), job.scheduling_class.unwrap_or(0))
}

/// Whether tasks could ever start.
struct Room {
    tree: Tree,
    most: Vec<Resources>,
    /// How many instances of a demand fit on all machines together, for the demands looked up so far.
    gangs: BTreeMap<Resources, u64>,
}

impl Room {
    fn of(machines: &Machines) -> Self {
        let most = machines.most();
        Self { tree: Tree::new(&most), most, gangs: BTreeMap::new() }
    }

    fn has(&mut self, demand: Resources, gang: Option<u32>) -> bool {
        let Some(instances) = gang else { return self.tree.first(demand).is_some() };
        let fits = |demand: Resources| self.most.iter().fold(0, |sum: u64, node| sum.saturating_add(node.fits(demand)));
        *self.gangs.entry(demand).or_insert_with_key(|&demand| fits(demand)) >= u64::from(instances)
    }
}

/// A task before its request is final.
struct Listed {
    spec: TaskSpec,
    stage: String,
    after: Vec<String>,
    cpu: Option<u64>,
    memory: Option<u64>,
}

/// The tasks of a job.
#[derive(Default)]
struct Tasks {
    listed: Vec<Listed>,
    /// Whether one of them had not ended when the trace ended.
    unfinished: bool,
    /// Whether such a task is left out.
    incomplete: bool,
}

/// The meaning of a log on the given machines.
struct Rules {
    begin: Option<Ms>,
    horizon: Ms,
    /// How long tasks run, if that is to be estimated.
    survival: Option<Survival>,
    seed: u64,
    work: Work,
    memory_is_limited: bool,
    room: Room,
    skipped: Skipped,
}

impl Rules {
    fn skip(&mut self, cause: &str, n: u64) {
        skip(&mut self.skipped, cause, n);
    }

    /// A job with its stages, unless it is left out.
    fn job(&mut self, row: JobRow, tasks: Tasks) -> Option<JobSpec> {
        let Tasks { mut listed, unfinished, incomplete } = tasks;
        let Some(submit) = row.submit.filter(|submit| (-LONGEST..=LONGEST).contains(submit)) else {
            self.skip("job-without-submit", 1);
            return None;
        };
        self.fill_requests(&row, &mut listed);
        let before = listed.len();
        listed.retain(|task| self.room.has(task.spec.demand, task.spec.gang.then_some(task.spec.instances)));
        self.skip("task-larger-than-any-machine", (before - listed.len()) as u64);
        if listed.is_empty() {
            self.skip("job-without-tasks", 1);
            return None;
        }
        let before = self.begin.is_some_and(|begin| submit < begin);
        self.work.jobs_before += u64::from(before);
        self.work.unfinished_jobs += u64::from(unfinished);
        self.work.jobs += 1;
        let job = Job {
            priority: row.priority_number.unwrap_or_else(|| step(row.priority)),
            id: row.job_id,
            name: row.name,
            user: row.user.unwrap_or_default(),
            queue: row.queue.unwrap_or_default(),
            group: row.group.unwrap_or_default(),
            framework: row.framework,
            scheduling_class: row.scheduling_class,
            submit,
            requested_time: row.requested_time.filter(|time| (0..=LONGEST).contains(time)),
            before,
            incomplete,
        };
        Some(JobSpec { job, after: row.depends_on, stages: stages(listed) })
    }

    /// The tasks of the current job.
    fn tasks(&mut self, job: &JobRow, log: &mut impl Jobs) -> Result<Tasks, Error> {
        let (mut tasks, mut logged) = (Tasks::default(), Vec::new());
        while let Some(task) = log.next_task()? {
            logged.clear();
            while let Some(attempt) = log.next_attempt()? {
                logged.push(attempt);
            }
            self.task(job, task, &logged, &mut tasks);
        }
        Ok(tasks)
    }

    /// Adds a task with its attempts, unless it is left out.
    fn task(&mut self, job: &JobRow, row: TaskRow, logged: &[Logged], tasks: &mut Tasks) {
        if matches!(row.kind, TaskKind::Setup | TaskKind::Cleanup) {
            self.skip("task-of-set-up-or-clean-up", 1);
            return;
        }
        let instances = row.instances.unwrap_or(1);
        let Some(instances) = u32::try_from(instances).ok().filter(|_| (1..=MOST_INSTANCES).contains(&instances))
        else {
            self.skip("task-with-impossible-instances", 1);
            return;
        };
        let gang = row.gang.unwrap_or(false) && instances > 1;
        let mut tries = self.tries(&row, logged, instances, gang);
        let never_started = tries.is_empty() && row.outcome == Outcome::Incomplete;
        let unfinished = never_started || tries.iter().any(|logged| logged.outcome == Outcome::Incomplete);
        tasks.unfinished |= unfinished;
        self.count_work(&tries, instances, gang, unfinished);
        if let Some(survival) = self.survival.as_ref().filter(|_| unfinished) {
            if never_started {
                tries.push(Try { outcome: Outcome::Incomplete, run: 0 });
            }
            let known = estimate(survival, class(job, &row), self.seed, &row.task_id, &mut tries);
            self.work.estimated_tasks += u64::from(known);
            if never_started && !known {
                tries.clear();
            }
        }
        if never_started && tries.is_empty() {
            tasks.incomplete = true;
            self.skip("task-never-started", 1);
            return;
        }
        if tries.is_empty() {
            self.skip("task-without-run-time", 1);
            return;
        }
        let number =
            |number: Option<i64>, most: u64| number.and_then(|n| u64::try_from(n).ok()).map(|n| n.min(most + 1));
        let (stage, after) = match (row.stage, row.kind) {
            (None, TaskKind::Map) => ("map".to_owned(), row.depends_on),
            (None, TaskKind::Reduce) => ("reduce".to_owned(), vec!["map".to_owned()]),
            (stage, _) => (stage.unwrap_or_default(), row.depends_on),
        };
        let spec = TaskSpec { name: row.task_id, demand: Resources::NONE, instances, gang, tries };
        let cpu = number(row.cpu_request, Machines::MOST.cpu);
        let memory = number(row.memory_request, Machines::MOST.memory);
        tasks.listed.push(Listed { spec, stage, after, cpu, memory });
    }

    /// Counts the work of a task as it was observed.
    fn count_work(&mut self, tries: &[Try], instances: u32, gang: bool, unfinished: bool) {
        let units = u64::from(instances);
        let mut sum = [0u64; 2];
        for (place, logged) in (0u64..).zip(tries) {
            // Each try of a gang is of all instances; those of instances are used in turn.
            let times =
                if gang || units == 1 { units } else { (units + tries.len() as u64 - 1 - place) / tries.len() as u64 };
            let cut = usize::from(logged.outcome == Outcome::Incomplete);
            sum[cut] = sum[cut].saturating_add((logged.run as u64).saturating_mul(times));
        }
        let work = &mut self.work;
        work.tasks += 1;
        work.unfinished_tasks += u64::from(unfinished);
        work.observed_ms = work.observed_ms.saturating_add(sum[0]).saturating_add(sum[1]);
        work.unfinished_ms = work.unfinished_ms.saturating_add(sum[1]);
    }

    fn tries(&mut self, row: &TaskRow, logged: &[Logged], instances: u32, gang: bool) -> Vec<Try> {
        let horizon = self.horizon;
        let own = [Logged::of_row(row)];
        let timed_by_row = logged.is_empty();
        let logged = if timed_by_row { &own[..] } else { logged };
        // The row of a task is not an attempt that is left out.
        let mut skip = |cause: &str, n| {
            if !timed_by_row || cause.starts_with("instance-") {
                self.skip(cause, n);
            }
        };
        let tries = if instances == 1 || gang {
            in_order(logged, horizon, &mut skip)
        } else {
            of_instances(logged, instances, horizon, &mut skip)
        };
        if timed_by_row && !tries.is_empty() {
            self.skip("task-timed-by-its-row", 1);
        }
        tries
    }

    /// Sets the request of every task.
    fn fill_requests(&mut self, row: &JobRow, listed: &mut [Listed]) {
        let known = |number: Option<i64>| number.and_then(|n| u64::try_from(n).ok());
        let cpu = median(listed.iter().filter_map(|task| task.cpu)).or(known(row.requested_cpu));
        let memory = median(listed.iter().filter_map(|task| task.memory)).or(known(row.requested_memory));
        for task in listed {
            match (task.cpu, cpu) {
                (None, Some(_)) => self.skip("task-with-request-of-its-job", 1),
                (None, None) => self.skip("task-of-one-core", 1),
                (Some(_), _) => {}
            }
            let demand = Resources {
                cpu: task.cpu.or(cpu).unwrap_or(ONE_CORE),
                memory: if self.memory_is_limited { task.memory.or(memory).unwrap_or(0) } else { 0 },
            };
            task.spec.demand = if demand == Resources::NONE { Resources { cpu: 1, memory: 0 } } else { demand };
        }
    }
}

/// Lets tries that had not ended run for as long as is estimated, and end well. Returns whether there is an estimate for all of them.
fn estimate(survival: &Survival, class: Class, seed: u64, task: &str, tries: &mut [Try]) -> bool {
    let mut all = true;
    for (number, logged) in tries.iter_mut().enumerate().filter(|(_, logged)| logged.outcome == Outcome::Incomplete) {
        match survival.draw(class, logged.run, seed, (task, number)) {
            Some(run) => *logged = Try { outcome: Outcome::Success, run },
            None => all = false,
        }
    }
    all
}

/// Hadoop's five steps as numbers.
fn step(priority: Option<Priority>) -> i64 {
    match priority {
        Some(Priority::VeryHigh) => 2,
        Some(Priority::High) => 1,
        Some(Priority::Normal) | None => 0,
        Some(Priority::Low) => -1,
        Some(Priority::VeryLow) => -2,
    }
}

fn median(numbers: impl Iterator<Item = u64>) -> Option<u64> {
    let mut all: Vec<u64> = numbers.collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied()
}

/// The tasks of a job by stage, in the order in which the stages first appear.
fn stages(listed: Vec<Listed>) -> Vec<StageSpec> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut stages: Vec<StageSpec> = Vec::new();
    for Listed { spec, stage, after, .. } in listed {
        let place = *places.entry(stage).or_insert_with_key(|name| {
            stages.push(StageSpec { name: name.clone(), ..StageSpec::default() });
            stages.len() - 1
        });
        stages[place].tasks.push(spec);
        stages[place].after.extend(after);
    }
    for stage in &mut stages {
        stage.after.sort_unstable();
        stage.after.dedup();
    }
    // A job with reduces only does not wait for maps.
    let has_maps = places.contains_key("map");
    for stage in stages.iter_mut().filter(|stage| stage.name == "reduce" && !has_maps) {
        stage.after.retain(|name| name != "map");
    }
    stages
}
