//! From a production log to a [`Workload`] and its [`Machines`].
//!
//! This module has all the rules. It reads a log only
//! through [`Log`] and [`JobReader`], so a trace on disk and jobs in memory mean the same. Each use of a rule is
//! counted under the cause in parentheses:
//!
//! * [`super::tries`] says which attempts are replayed, and for how long. A task without attempts runs once, and so
//!   does each of its instances; the run time is from the task's own start to its own finish (`task-timed-by-its-row`).
//!   A task whose run time is unknown is left out (`task-without-run-time`).
//! * A task that was never tried before the trace ended is left out (`task-never-started`), and its job is incomplete. With
//!   [`Unfinished::Estimate`], it runs for a time that is estimated, as every attempt that still ran does
//!   ([`super::survival`]).
//! * A task that failed or was killed for good does not fail its job if that succeeded in the log (`failed-task-of-successful-job`).
//! * A request that the log does not give is the median of the requests of its job (`task-with-request-of-its-job`),
//!   else one core (`task-of-one-core`) and no memory. An empty request becomes a thousandth of a core. If no machine's
//!   memory is known, tasks request none.
//! * A task that fits on no machine, or a gang that does not fit on all machines together, is left out
//!   (`task-larger-than-any-machine`), because it could never start. So is a job without any other (`job-larger-than-any-machine`).
//! * A task prefers the machines that its splits name (`place-outside-cluster` where the replay has no such machine). In a trace of
//!   Spark, only those of a stage that reads no other count: the others prefer the machines that hold much of their input in the
//!   replay, unless the log shows that they look at no place ([`super::looks`]). A place outside of the cluster still keeps a task of Spark
//!   from its executors ([`NodeId::OUTSIDE`]). A logged attempt at a task with places says how long it takes on other machines; [`super::LocalityCost`] says how.
//! * Run times of an attempt on a host in `cost.host_factors` are divided by its factor. If the log does not say where an attempt ran,
//!   its time is taken as it is (`attempt-of-unknown-pace`).
//! * All tasks of a job exist when it is submitted; later times in `attempts.queued` are ignored. Tasks without a stage
//!   form one stage. In a job of maps and reduces, the reduces wait for the maps. A stage waits for every stage that
//!   any of its tasks depends on.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;
use resched_tables::model::{JobRow, Locality, Outcome, Priority, TaskKind, TaskRow};
use resched_tables::named;
use resched_tables::reader::{JobReader, Lazy};
use resched_tables::run::{RunClock, RunWindow, Unfinished};
use resched_tables::sink::Collected;
use resched_tables::store::Trace;
use resched_tables::texts::Texts;

use super::dimensions::{Asked, Dimensions};
use super::draft::Draft;
use super::index::Tree;
use super::jobs::JobView;
use super::log::{Log, of_attempt, of_task};
use super::looks::{Looks, Ran};
use super::machines::Machines;
use super::needs::{Needs, Pods};
use super::places::{Fit, LocalityCost};
use super::redraw::{Shown, redraw};
use super::shuffles;
use super::stock::Stock;
use super::survival::{Class, Observed, Survival};
use super::tries::{Logged, in_order, left_out, of_instances};
use super::workload::{Cut, Try, Workload};
use crate::ids::{Ms, NodeId};
use crate::loading::{LONGEST, Skipped, skip};
use crate::resources::Resources;
use crate::scope::{Scope, Times, Work};
use crate::{ClusterConfig, Error};

/// The most instances that a task may have: a larger number is damage.
const MOST_INSTANCES: i64 = 10_000_000;
/// The request of a task whose request is unknown, if nobody says otherwise.
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
    /// How the clock of a run relates to that of the trace.
    pub clock: RunClock,
    /// How much of the work was seen whole.
    pub work: Work,
    /// How much longer tasks take away from the machines that they prefer; `None` if the trace names no such machine.
    pub locality: Option<LocalityCost>,
    /// The jobs that cannot run on these machines as they are.
    pub too_large: TooLarge,
}

/// Jobs of which some task fits on no machine, or no gang on all of them together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TooLarge {
    /// How many there are.
    pub jobs: u64,
    /// The ids of the first of them.
    pub first: Vec<String>,
}

/// How many jobs are named that cannot run.
const MOST_NAMED: usize = 3;

impl Loaded {
    /// The same with some of the jobs only, by their places in the order of submission.
    pub fn part(&self, jobs: Range<usize>) -> Self {
        Self {
            workload: self.workload.part(jobs),
            machines: self.machines.clone(),
            skipped: self.skipped.clone(),
            window: self.window,
            clock: self.clock,
            work: self.work,
            locality: self.locality,
            too_large: self.too_large.clone(),
        }
    }
}

/// Loads a trace for a replay on the machines of `config`, or on its own if `config` names none.
///
/// # Errors
/// [`Error::Trace`] if the trace cannot be read or its rows are out of order; [`Error::Config`] if no job or no machine is left.
pub fn load(trace: &Trace, config: &ClusterConfig, scope: &Scope) -> Result<Loaded, Error> {
    load_log(&Log::Trace(trace), config, scope)
}

/// Loads jobs and machines in memory, as [`load`] loads a trace of them.
///
/// # Errors
/// [`Error::Config`] if no job or no machine is left.
pub fn load_records(records: &Collected, config: &ClusterConfig, scope: &Scope) -> Result<Loaded, Error> {
    load_log(&Log::Memory(records), config, scope)
}

fn load_log(log: &Log<'_>, config: &ClusterConfig, scope: &Scope) -> Result<Loaded, Error> {
    let mut skipped = Skipped::new();
    let mut machines = Machines::of_log(config, log, &scope.groups, &mut skipped)?;
    let (begin, horizon) = (log.begin(), log.horizon()?);
    let survival = match scope.unfinished {
        Unfinished::Estimate => Some(survival(log, begin, horizon, &config.cost.host_factors)?),
        Unfinished::Drop | Unfinished::Cap => None,
    };
    let mut rules = Rules {
        begin,
        horizon,
        survival,
        seed: scope.seed,
        unknown_request: scope.unknown_request.unwrap_or(ONE_CORE).max(1),
        work: Work::default(),
        memory_is_limited: machines.memory_is_limited(),
        boundless: machines.are_boundless(),
        room: Room::of(&machines),
        homes: (log.has_places() || log.shuffles_have_places()).then(|| Homes::of(&machines)),
        keeps_outside: log.shuffles_have_places(),
        requests: scope.requests,
        paces: config.cost.host_factors.clone(),
        logged: Vec::new(),
        texts: Texts::default(),
        too_large: TooLarge::default(),
        skipped,
    };
    let mut log_jobs = log.jobs(!config.cost.host_factors.is_empty())?;
    let mut draft = Draft::default();
    let mut tasks = Tasks { only_sources: log.shuffles_have_places(), redraw: scope.places, ..Tasks::default() };
    let mut first = None;
    while log_jobs.next_job()? {
        rules.tasks(&mut log_jobs, &mut tasks)?;
        let entry = log_jobs.job();
        if let Some(job) = rules.job(entry, &mut tasks) {
            first = Some(first.map_or(job.submit, |first: Ms| first.min(job.submit)));
            tasks.add_to(&mut draft, job, &entry.depends_on())?;
            if let (Some(array), Some(limit)) = (entry.array(), entry.array_limit().filter(|&limit| limit > 0)) {
                draft.last_is_of_array(array, u32::try_from(limit).unwrap_or(u32::MAX));
            }
        }
    }
    log_jobs.check_end()?;
    let Rules { mut skipped, work, too_large, .. } = rules;
    let Some(first) = first else {
        return Err(Error::Config(format!(
            "{}: no job is left to replay{}; expected jobs with a submission time and tasks with a run time that \
             fit on a machine",
            log.name(),
            resched_tables::words::left_out(&skipped)
        )));
    };
    let first_submit = config.jobs.first_submit;
    machines.start_at(first_submit.saturating_sub(first), first_submit);
    let (workload, left_out) = draft.finish(first_submit)?;
    skipped.extend(left_out);
    let times = Times { begin, first, horizon };
    let (window, clock) = (scope.window.on_the_clock(times, first_submit), times.clock(first_submit));
    let end = horizon.saturating_sub(first).saturating_add(first_submit);
    let mut workload = workload.cut_off(Cut { end, unfinished: scope.unfinished });
    let fitted = tasks.fit.cost();
    let cost = scope.locality.map_or(fitted, LocalityCost::Given);
    let locality = (!workload.places.is_empty()).then_some(cost);
    workload.level_factors = locality.map(LocalityCost::factors);
    workload.shuffles_have_places = log.shuffles_have_places();
    workload.applications.clone_from(log.applications());
    if !workload.applications.is_empty() {
        machines.fit_executor_start(&first_jobs(&workload));
    }
    Ok(Loaded { workload, machines, skipped, window, clock, work, locality, too_large })
}

/// When the first job of each application is submitted.
fn first_jobs(workload: &Workload) -> BTreeMap<&str, Ms> {
    let mut first = BTreeMap::new();
    for job in (0..workload.jobs().len()).filter_map(|place| workload.jobs().get(place)) {
        first.entry(job.group).or_insert(job.submit);
    }
    first
}

/// How long the tasks of a log run, by class. Attempts that began before the log are left out, as their start is not known.
fn survival(log: &Log<'_>, begin: Option<Ms>, horizon: Ms, paces: &BTreeMap<String, f64>) -> Result<Survival, Error> {
    let mut observed = Observed::default();
    let mut add = |class: Class, logged: Logged| {
        let began_inside = begin.is_none_or(|begin| logged.start.is_some_and(|start| start >= begin));
        if let Some(run) = logged.run(horizon).filter(|_| began_inside) {
            let cut = matches!(logged.outcome, Outcome::Incomplete | Outcome::Evicted | Outcome::Lost);
            observed.add(class, run, !cut);
        }
    };
    let mut jobs = log.jobs(!paces.is_empty())?;
    while jobs.next_job()? {
        while jobs.next_task()? {
            let class = class(jobs.job(), jobs.task());
            let mut tried = false;
            while let Some(attempt) = jobs.next_attempt()? {
                let pace = attempt.host().and_then(|host| paces.get(host)).copied();
                add(class, Logged { pace, ..of_attempt(attempt) });
                tried = true;
            }
            if !tried {
                add(class, of_task(jobs.task()));
            }
        }
    }
    Ok(observed.estimate())
}

/// The class of a task.
fn class(job: Lazy<'_, JobRow>, task: Lazy<'_, TaskRow>) -> Class {
    (
        task.kind() as u8,
        job.priority_number().unwrap_or_else(|| step(job.priority())),
        job.scheduling_class().unwrap_or(0),
    )
}

/// Whether tasks could ever start.
struct Room {
    tree: Tree,
    most: Vec<Resources>,
    /// How many instances of a demand fit on all machines together, for the demands looked up so far.
    gangs: BTreeMap<Resources, u64>,
    /// What the machines have beside processor and memory.
    dimensions: Dimensions,
    stock: Stock,
    /// As `gangs`, for each kind of needs that was looked up so far.
    named: HashMap<Needs, (Asked, BTreeMap<Resources, u64>)>,
    /// The last demand of one instance, and whether it fits: mostly the next is the same.
    last: Option<(Resources, bool)>,
}

impl Room {
    fn of(machines: &Machines) -> Self {
        let (most, dimensions) = (machines.most(), Dimensions::of(machines));
        Self {
            stock: Stock::of(&dimensions, machines),
            dimensions,
            tree: Tree::new(&most),
            most,
            gangs: BTreeMap::new(),
            named: HashMap::new(),
            last: None,
        }
    }

    fn has(&mut self, demand: Resources, gang: Option<u32>, needs: &Needs) -> bool {
        if !needs.resources.is_empty() || !needs.licenses.is_empty() {
            return self.has_named(demand, gang.unwrap_or(1), needs);
        }
        let Some(instances) = gang else {
            if let Some((_, fits)) = self.last.filter(|&(last, _)| last == demand) {
                return fits;
            }
            let fits = self.tree.first(demand).is_some();
            self.last = Some((demand, fits));
            return fits;
        };
        let fits = |demand: Resources| self.most.iter().fold(0, |sum: u64, node| sum.saturating_add(node.fits(demand)));
        *self.gangs.entry(demand).or_insert_with_key(|&demand| fits(demand)) >= u64::from(instances)
    }

    /// As [`Room::has`], of a task that asks for named resources.
    fn has_named(&mut self, demand: Resources, instances: u32, needs: &Needs) -> bool {
        let Self { dimensions, stock, most, named, .. } = self;
        let (asked, known) = named.entry(needs.clone()).or_insert_with(|| (dimensions.asked(needs), BTreeMap::new()));
        let fits = |(node, most): (usize, &Resources)| most.fits(demand).min(stock.fits(asked, node));
        let all = || most.iter().enumerate().map(fits).fold(0, u64::saturating_add);
        *known.entry(demand).or_insert_with(all) >= u64::from(instances) && stock.has_licenses(asked)
    }
}

/// Where the places of a log are in the replay.
struct Homes {
    by_name: BTreeMap<String, NodeId>,
    racks: Vec<Option<u32>>,
}

impl Homes {
    fn of(machines: &Machines) -> Self {
        let name = |(place, node): (usize, &super::Machine)| (node.name.clone(), NodeId::at(place));
        Self { by_name: machines.nodes().iter().enumerate().map(name).collect(), racks: machines.racks() }
    }

    /// How near an attempt ran to the nearest of these machines: as the log says, else by its host.
    fn level(&self, said: Option<Locality>, host: Option<&str>, nodes: &[NodeId]) -> Option<Locality> {
        if nodes.is_empty() || said.is_some() {
            return said;
        }
        let rack = |node: NodeId| self.racks.get(node.index()).copied().flatten();
        host.map(|host| match self.by_name.get(host) {
            Some(&node) => shuffles::level(node, nodes, rack),
            None => Locality::Off,
        })
    }
}

/// A task of the current job.
struct Listed {
    /// Its id, as a part of [`Tasks::names`].
    name: Range<usize>,
    /// The name of its stage, likewise.
    stage_name: Range<usize>,
    /// The names of the stages that it waits for.
    after: Vec<String>,
    /// Its tries, as a part of [`Tasks::tries`].
    tries: Range<usize>,
    /// The place of its stage, once it is known that the task stays.
    stage: usize,
    instances: u32,
    gang: bool,
    demand: Resources,
    /// The machines that it prefers, as a part of [`Tasks::nodes`].
    prefers: Range<usize>,
    /// Where it ran in the log.
    ran: Ran,
    shown: Shown,
    /// The request that the log gives.
    cpu: Option<u64>,
    memory: Option<u64>,
    /// What it needs beside them.
    needs: Needs,
}

/// A stage of the current job.
struct Stage {
    name: String,
    /// The names of the stages that it waits for.
    after: Vec<String>,
}

/// The tasks of the current job. Its memory is used again for the next.
#[derive(Default)]
struct Tasks {
    listed: Vec<Listed>,
    names: String,
    tries: Vec<Try>,
    /// At which level each try ran.
    levels: Vec<Option<Locality>>,
    /// The machines that tasks prefer.
    nodes: Vec<NodeId>,
    /// True if only tasks that read no other stage keep the machines of the log.
    only_sources: bool,
    /// The seed from which those machines are drawn again that the log does not show.
    redraw: Option<u64>,
    /// How many jobs were added.
    jobs: u64,
    /// How much longer tasks take away from them.
    fit: Fit,
    /// Where the task ran that is being read, and which stages look at where their input is.
    ran: Ran,
    shown: Shown,
    looks: Looks,
    stages: Vec<Stage>,
    /// The places of the stages by name.
    places: BTreeMap<String, usize>,
    /// True if one of them had not ended when the trace ended.
    unfinished: bool,
    /// True if such a task is left out.
    incomplete: bool,
    /// When the first of them started, as the log has it.
    started: Option<Ms>,
}

impl Tasks {
    fn clear(&mut self) {
        self.listed.clear();
        self.names.clear();
        self.tries.clear();
        self.levels.clear();
        self.nodes.clear();
        self.stages.clear();
        self.places.clear();
        (self.unfinished, self.incomplete, self.started) = (false, false, None);
    }

    /// Finds the stages of the tasks that stay, in the order in which they first appear.
    fn find_stages(&mut self) {
        let Self { listed, names, stages, places, .. } = self;
        for task in listed {
            let name = &names[task.stage_name.clone()];
            task.stage = match stages.last() {
                Some(last) if last.name == name => stages.len() - 1,
                _ => place(name, stages, places),
            };
            stages[task.stage].after.append(&mut task.after);
        }
        // A job with reduces only does not wait for maps.
        let has_maps = stages.iter().any(|stage| stage.name == "map");
        for stage in stages {
            stage.after.sort_unstable();
            stage.after.dedup();
            if stage.name == "reduce" && !has_maps {
                stage.after.retain(|name| name != "map");
            }
        }
    }

    /// Adds the job with its tasks, stage by stage.
    fn add_to(&mut self, draft: &mut Draft, job: JobView<'_>, after: &[&str]) -> Result<(), Error> {
        self.find_stages();
        let Self { listed, names, tries, levels, nodes, only_sources, fit, stages, looks, .. } = self;
        if *only_sources {
            let parents = stages.iter().map(|stage| match stage.after.as_slice() {
                [parent] => stages.iter().position(|other| other.name == *parent),
                _ => None,
            });
            draft.looks(looks.of(parents.collect(), listed.iter().map(|task| (task.stage, task.ran))));
        }
        if stages.len() > 1 {
            listed.sort_by_key(|task| task.stage);
        }
        self.jobs += 1;
        for of_stage in listed.chunk_by_mut(|a, b| a.stage == b.stage) {
            if let (Some(seed), Some(stage)) = (self.redraw, of_stage.first().map(|task| task.stage as u64)) {
                let prefers = of_stage.iter().map(|task| (task.prefers.clone(), task.shown)).collect();
                redraw(nodes, prefers, seed, [self.jobs, stage]);
            }
            for task in of_stage {
                let (name, tries) = (&names[task.name.clone()], &tries[task.tries.clone()]);
                draft.task(name, task.demand, task.instances, task.gang, tries)?;
                draft.last_needs(std::mem::take(&mut task.needs));
                let is_source = stages.get(task.stage).is_none_or(|stage| stage.after.is_empty());
                if task.prefers.is_empty() || (*only_sources && !is_source) {
                    continue;
                }
                let levels = &levels[task.tries.clone()];
                let is_outside = nodes[task.prefers.clone()] == [NodeId::OUTSIDE];
                draft.last_prefers(&nodes[task.prefers.clone()], levels);
                for (logged, level) in tries.iter().zip(levels) {
                    if let Some(level) =
                        level.filter(|_| is_source && !is_outside && logged.outcome == Outcome::Success)
                    {
                        fit.run(level, logged.run);
                    }
                }
            }
            fit.end_stage();
            draft.end_stage()?;
        }
        let after = after.iter().map(|&id| id.to_owned()).collect();
        draft.end_job(job, after, stages.iter().map(|stage| (stage.name.as_str(), stage.after.as_slice())))
    }
}

/// The place of the stage of that name, which is added if it is new.
fn place(name: &str, stages: &mut Vec<Stage>, places: &mut BTreeMap<String, usize>) -> usize {
    // Most jobs have one stage, which is found without a map.
    for (place, stage) in stages.iter().enumerate().skip(places.len()) {
        places.insert(stage.name.clone(), place);
    }
    places.get(name).copied().unwrap_or_else(|| {
        stages.push(Stage { name: name.to_owned(), after: Vec::new() });
        stages.len() - 1
    })
}

/// True if a job waited for a limit on what a quality of service or an association may have: `QOSMaxCpuPerUserLimit`, `AssocGrpNodeLimit`.
/// The words are those of Slurm's `squeue(1)`, job reason codes.
fn is_of_limit(reason: &str) -> bool {
    const STARTS: [&str; 9] = [
        "QOSMax",
        "QOSGrp",
        "QOSJobLimit",
        "QOSResourceLimit",
        "QOSTimeLimit",
        "QOSUsage",
        "Assoc",
        "MaxCpuPerAccount",
        "MaxJobsPerAccount",
    ];
    STARTS.iter().any(|start| reason.starts_with(start))
}

/// The submission of a job that was submitted before the trace began, and the time from which it may start.
///
/// A trace that begins in the middle lacks the jobs that ended before. A job that was running at its beginning is submitted when it started,
/// so that it holds its machines from then on: what ran at the beginning ran at once. A job that was waiting may not start before the
/// beginning, and keeps its place in the line. Only a job of one task, tried once, starts as a whole.
fn at_begin(
    begin: Ms,
    started: Option<Ms>,
    (submit, eligible): (Ms, Option<Ms>),
    tasks: &[Listed],
) -> (Ms, Option<Ms>) {
    let started = started.filter(|&start| start < begin);
    match (started, tasks) {
        (Some(start), [task]) if task.tries.len() == 1 && (task.gang || task.instances == 1) => {
            (start.max(submit), None)
        }
        (Some(_), _) => (submit, eligible),
        (None, _) => (submit, Some(eligible.map_or(begin, |at| at.max(begin)))),
    }
}

/// The meaning of a log on the given machines.
struct Rules {
    begin: Option<Ms>,
    horizon: Ms,
    /// How long tasks run, if that is to be estimated.
    survival: Option<Survival>,
    seed: u64,
    /// The request of a task whose request is unknown, in thousandths of a core.
    unknown_request: u64,
    work: Work,
    memory_is_limited: bool,
    /// True if quotas alone decide.
    boundless: bool,
    room: Room,
    /// Where the places of the log are in the replay; `None` if it names none.
    homes: Option<Homes>,
    /// True if a place outside of the cluster keeps a task from the machines.
    keeps_outside: bool,
    /// True if only what tasks ask for counts ([`Scope::requests`]).
    requests: bool,
    /// How many times as long everything takes on some hosts of the log.
    paces: BTreeMap<String, f64>,
    /// The attempts at the current task.
    logged: Vec<Logged>,
    texts: Texts,
    too_large: TooLarge,
    skipped: Skipped,
}

impl Rules {
    fn skip(&mut self, cause: &str, n: u64) {
        skip(&mut self.skipped, cause, n);
    }

    /// The properties of a job, unless it is left out. Its tasks get their requests, and those that could never start go.
    fn job<'l>(&mut self, entry: Lazy<'l, JobRow>, tasks: &mut Tasks) -> Option<JobView<'l>> {
        let Some(submit) = entry.submit().filter(|submit| (-LONGEST..=LONGEST).contains(submit)) else {
            self.skip("job-without-submit", 1);
            return None;
        };
        self.fill_requests(entry, &mut tasks.listed);
        let before = tasks.listed.len();
        tasks.listed.retain(|task| self.room.has(task.demand, task.gang.then_some(task.instances), &task.needs));
        let too_large = before - tasks.listed.len();
        self.skip("task-larger-than-any-machine", too_large as u64);
        if too_large > 0 {
            self.too_large.jobs += 1;
            if self.too_large.first.len() < MOST_NAMED {
                self.too_large.first.push(entry.job_id().to_owned());
            }
        }
        if tasks.listed.is_empty() {
            self.skip(if too_large > 0 { "job-larger-than-any-machine" } else { "job-without-tasks" }, 1);
            return None;
        }
        let succeeded = entry.outcome() == Outcome::Success;
        let unlike = |task: &&Listed| {
            let last = tasks.tries.get(task.tries.clone()).and_then(<[Try]>::last);
            succeeded && last.is_some_and(|last| matches!(last.outcome, Outcome::Failed | Outcome::Killed))
        };
        let unlike = tasks.listed.iter().filter(unlike).count();
        self.skip("failed-task-of-successful-job", unlike as u64);
        let before = self.begin.is_some_and(|begin| submit < begin);
        self.work.jobs_before += u64::from(before);
        self.work.unfinished_jobs += u64::from(tasks.unfinished);
        self.work.jobs += 1;
        self.work.limited_jobs += u64::from(entry.wait_reason().is_some_and(is_of_limit));
        let eligible = entry.eligible().filter(|at| (submit..=LONGEST).contains(at) && *at > submit);
        let (submit, eligible) = match self.begin.filter(|_| before) {
            Some(begin) => at_begin(begin, tasks.started.or(entry.launch()), (submit, eligible), &tasks.listed),
            None => (submit, eligible),
        };
        Some(JobView {
            priority: entry.priority_number().unwrap_or_else(|| step(entry.priority())),
            id: entry.job_id(),
            name: entry.name(),
            user: entry.user().unwrap_or_default(),
            queue: entry.queue().unwrap_or_default(),
            qos: entry.qos().unwrap_or_default(),
            reservation: entry.reservation().unwrap_or_default(),
            together: entry.together().unwrap_or_default(),
            eligible,
            group: entry.group().unwrap_or_default(),
            framework: entry.framework(),
            nice: entry.nice().unwrap_or(0),
            scheduling_class: entry.scheduling_class(),
            submit,
            requested_time: entry.requested_time().filter(|time| (0..=LONGEST).contains(time)),
            before,
            incomplete: tasks.incomplete,
            succeeded,
        })
    }

    /// Reads the tasks of the current job.
    fn tasks(&mut self, log: &mut JobReader<'_>, tasks: &mut Tasks) -> Result<(), Error> {
        tasks.clear();
        while log.next_task()? {
            self.logged.clear();
            let first = tasks.nodes.len();
            if let Some(homes) = &self.homes {
                while let Some(split) = log.next_split()? {
                    let known = split.host().and_then(|host| homes.by_name.get(host)).copied();
                    if known.is_none() && split.host().is_some() {
                        skip(&mut self.skipped, "place-outside-cluster", 1);
                    }
                    let node = known.or(self.keeps_outside.then_some(NodeId::OUTSIDE));
                    tasks.nodes.extend(node.filter(|node| !tasks.nodes[first..].contains(node)));
                }
            }
            let is_outside = tasks.nodes[first..] == [NodeId::OUTSIDE];
            let (mut ran, mut far) = (Ran::default(), None);
            let mut seen = first;
            while let Some(attempt) = log.next_attempt()? {
                let level = self.homes.as_ref().and_then(|homes| {
                    homes.level(attempt.locality(), attempt.host(), tasks.nodes.get(first..).unwrap_or_default())
                });
                // Which racks are near a machine outside is not known, so no run there is nearer than another.
                let level = if is_outside { level.map(|_| Locality::Off) } else { level };
                if self.keeps_outside {
                    let node = self.homes.as_ref().and_then(|homes| homes.by_name.get(attempt.host()?)).copied();
                    if level != Some(Locality::Node) {
                        far = node.filter(|_| level.is_some()).or(far);
                    } else if let Some(place) =
                        node.and_then(|node| (seen..tasks.nodes.len()).find(|&place| tasks.nodes[place] == node))
                    {
                        // Those that the log shows stand first.
                        tasks.nodes.swap(seen, place);
                        seen += 1;
                    }
                    ran.see(attempt.locality().is_some(), attempt.host(), &mut tasks.looks);
                }
                let pace = self.pace(attempt.host());
                self.logged.push(Logged { level, pace, ..of_attempt(attempt) });
            }
            (tasks.ran, tasks.shown) = (ran, Shown { seen: seen - first, far });
            self.task(log.job(), log.task(), first, tasks);
        }
        Ok(())
    }

    /// How many times as long everything takes on a host of the log, if the cluster file says it of any.
    fn pace(&mut self, host: Option<&str>) -> Option<f64> {
        if self.paces.is_empty() {
            return None;
        }
        if host.is_none() {
            self.skip("attempt-of-unknown-pace", 1);
        }
        self.paces.get(host?).copied()
    }

    /// Adds a task with its attempts, unless it is left out.
    /// It prefers the machines from `prefers` on.
    fn task(&mut self, job: Lazy<'_, JobRow>, entry: Lazy<'_, TaskRow>, prefers: usize, tasks: &mut Tasks) {
        if matches!(entry.kind(), TaskKind::Setup | TaskKind::Cleanup) {
            self.skip("task-of-set-up-or-clean-up", 1);
            return;
        }
        if entry.kind() == TaskKind::Master {
            self.skip("application-master", 1);
            return;
        }
        let instances = entry.instances().unwrap_or(1);
        let Some(instances) = u32::try_from(instances).ok().filter(|_| (1..=MOST_INSTANCES).contains(&instances))
        else {
            self.skip("task-with-impossible-instances", 1);
            return;
        };
        let gang = entry.gang().unwrap_or(false) && instances > 1;
        let first = tasks.tries.len();
        let starts = self.logged.iter().map(|logged| logged.start).chain([of_task(entry).start]);
        tasks.started = starts.flatten().chain(tasks.started).min();
        self.add_tries(of_task(entry), instances, gang, (&mut tasks.tries, &mut tasks.levels));
        let never_started = tasks.tries.len() == first && entry.outcome() == Outcome::Incomplete;
        let of_task = &tasks.tries[first..];
        let unfinished = never_started || of_task.iter().any(|logged| logged.outcome == Outcome::Incomplete);
        tasks.unfinished |= unfinished;
        self.count_work(of_task, instances, gang, unfinished);
        if let Some(survival) = self.survival.as_ref().filter(|_| unfinished) {
            if never_started {
                tasks.tries.push(Try { outcome: Outcome::Incomplete, run: 0 });
            }
            let known = estimate(survival, class(job, entry), self.seed, entry.task_id(), &mut tasks.tries[first..]);
            self.work.estimated_tasks += u64::from(known);
            if never_started && !known {
                tasks.tries.truncate(first);
            }
        }
        tasks.levels.resize(tasks.tries.len(), None);
        if tasks.tries.len() == first {
            tasks.incomplete |= never_started;
            self.skip(if never_started { "task-never-started" } else { "task-without-run-time" }, 1);
            return;
        }
        let number =
            |number: Option<i64>, most: u64| number.and_then(|n| u64::try_from(n).ok()).map(|n| n.min(most + 1));
        let (stage, after) = match (entry.stage(), entry.kind()) {
            (None, TaskKind::Map) => ("map", entry.depends_on()),
            (None, TaskKind::Reduce) => ("reduce", vec!["map"]),
            (stage, _) => (stage.unwrap_or_default(), entry.depends_on()),
        };
        tasks.listed.push(Listed {
            name: add_text(&mut tasks.names, entry.task_id()),
            stage_name: add_text(&mut tasks.names, stage),
            after: after.into_iter().map(str::to_owned).collect(),
            tries: first..tasks.tries.len(),
            stage: 0,
            instances,
            gang,
            demand: Resources::NONE,
            prefers: prefers..tasks.nodes.len(),
            ran: tasks.ran,
            shown: tasks.shown,
            cpu: number(entry.cpu_request(), Machines::MOST.cpu),
            memory: number(entry.memory_request(), Machines::MOST.memory),
            needs: self.needs(job, entry),
        });
    }

    /// What a task needs beside processor and memory.
    fn needs(&mut self, job: Lazy<'_, JobRow>, entry: Lazy<'_, TaskRow>) -> Needs {
        let mut named = |text: Option<&str>| {
            let amounts = named::amounts(text.unwrap_or_default());
            amounts.map(|(name, amount)| (self.texts.share(name), amount)).collect()
        };
        let (resources, licenses) = (named(entry.resources()), named(job.licenses()));
        Needs {
            resources,
            licenses,
            features: self.texts.share(job.features().unwrap_or_default()),
            machines: entry
                .machines()
                .and_then(|machines| u32::try_from(machines).ok())
                .filter(|&machines| machines > 0),
            exclusive: entry.exclusive().unwrap_or(false),
            pods: pods(entry).map(Arc::new),
        }
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

    /// Adds the tries at the current task; `own` has the times of the task itself.
    fn add_tries(
        &mut self,
        of_log: Logged,
        instances: u32,
        gang: bool,
        (tries, levels): (&mut Vec<Try>, &mut Vec<Option<Locality>>),
    ) {
        if self.requests {
            tries.push(Try { outcome: Outcome::Success, run: 0 });
            return;
        }
        let Self { horizon, logged, skipped, work, .. } = self;
        let timed_by_row = logged.is_empty();
        let logged = if timed_by_row { &[of_log] } else { logged.as_slice() };
        // The row of a task is not an attempt that is left out.
        let mut skip_attempt = |cause: &str, n| {
            if !timed_by_row || cause.starts_with("instance-") {
                skip(skipped, cause, n);
            }
        };
        let first = tries.len();
        if !timed_by_row && (instances == 1 || gang) {
            let lost = left_out(logged, *horizon).saturating_mul(u64::from(instances));
            work.lost_ms = work.lost_ms.saturating_add(lost);
        }
        if instances == 1 || gang {
            in_order(logged, *horizon, &mut skip_attempt, (&mut *tries, levels));
        } else {
            of_instances(logged, instances, *horizon, &mut skip_attempt, (&mut *tries, levels));
        }
        if timed_by_row && tries.len() > first {
            self.skip("task-timed-by-its-row", 1);
        }
    }

    /// Sets the request of every task.
    fn fill_requests(&mut self, job: Lazy<'_, JobRow>, listed: &mut [Listed]) {
        let of_job = |of: fn(&Listed) -> Option<u64>, own: Option<i64>| {
            if listed.iter().all(|task| of(task).is_some()) {
                return None;
            }
            median(listed.iter().filter_map(of)).or(own.and_then(|n| u64::try_from(n).ok()))
        };
        let cpu = of_job(|task| task.cpu, job.requested_cpu());
        let memory = of_job(|task| task.memory, job.requested_memory());
        for task in listed {
            match (task.cpu, cpu) {
                (None, Some(_)) => self.skip("task-with-request-of-its-job", 1),
                (None, None) => self.skip("task-of-one-core", 1),
                (Some(_), _) => {}
            }
            let demand = Resources {
                cpu: task.cpu.or(cpu).unwrap_or(self.unknown_request),
                memory: if self.memory_is_limited { task.memory.or(memory).unwrap_or(0) } else { 0 },
            };
            // Quotas know what asks for nothing; machines would take any number of it.
            let is_empty = demand == Resources::NONE && !self.boundless;
            task.demand = if is_empty { Resources { cpu: 1, memory: 0 } } else { demand };
        }
    }
}

/// What the pods of a task ask of nodes, if they ask for anything.
fn pods(entry: Lazy<'_, TaskRow>) -> Option<Pods> {
    let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
    let texts = [entry.node_selector(), entry.tolerations(), entry.affinity()];
    let [node_selector, tolerations, affinity] = texts;
    texts.iter().any(Option::is_some).then(|| Pods {
        node_selector: text(node_selector),
        tolerations: text(tolerations),
        affinity: text(affinity),
    })
}

/// Adds a text to others. Returns its place.
fn add_text(texts: &mut String, text: &str) -> Range<usize> {
    let start = texts.len();
    texts.push_str(text);
    start..texts.len()
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
