//! From a log to a [`Workload`]: the meaning of jobs, tasks, splits and attempts for a replay.
//!
//! This module has all the rules. It reads a log only through a [`JobReader`], so a trace on disk and jobs in memory
//! mean the same.

mod busy;
mod edges;
mod log;
mod side;
mod times;

use std::ops::Range;

use hashbrown::HashMap;
use rand::RngExt;
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{JobRecord, JobRow, Locality, Outcome, Priority};
use resched_tables::run::{RunClock, RunWindow, Unfinished};
use resched_tables::store::Trace;

use self::busy::Busy;
use self::edges::LoggedEdges;
use self::log::{Attempt, Role};
use self::side::Side;
use self::times::{Shuffles, length, phases};
use crate::Error;
use resched_tables::reader::{JobReader, Lazy};

use crate::cluster_file::{SetUp, Splits};
use crate::hadoop::cluster::Cluster;
use crate::hadoop::kind::Kind;
use crate::hadoop::logged::{LoggedMap, LoggedReduce};
use crate::hadoop::resources::FURTHER;
use crate::hadoop::workload::{Edges, Job, NewTask, Tries, Workload, write_usual_task_name};
use crate::ids::{Ms, NodeId};
use crate::loading::{IN_MEMORY, LONGEST, Skipped, skip};
use crate::scope::{Scope, Times, Work};

/// The most tasks a job may declare beyond those that are listed: a larger number is damage.
const MOST_UNLISTED: i64 = 1_000_000;
/// The largest number that an attempt may have: a larger one is damage.
const MOST_TRIES: usize = 10_000;

/// The parts of a trace that a replay needs.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Its jobs.
    pub workload: Workload,
    /// Counts of what was left out or made up, by cause.
    pub skipped: Skipped,
    /// The time in which jobs must be submitted to count in a metric; `None` if all do.
    pub window: Option<RunWindow>,
    /// How the clock of a run relates to that of the trace.
    pub clock: RunClock,
    /// How much of the work was seen whole.
    pub work: Work,
    /// The most maps, the most reduces and the most of both that a node ran at once in the log; 0 if that is not known.
    pub at_once: [u32; 3],
    /// How long jobs waited until they were initialised, as the log has it.
    pub starts: Starts,
}

/// How long jobs waited from their submission until they were initialised. Under YARN, this wait holds that for the master's container,
/// and under MapReduce 1 that for a scheduler that limits initialised jobs. So it may be a product of the scheduler that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Starts {
    /// Jobs of which the log says it, and not when their master started.
    pub jobs: u64,
    /// The sum of their waits, ms.
    pub waited: Ms,
    /// The shortest of them, ms.
    pub least: Ms,
    /// The sum of their times from submission to end, ms.
    pub lived: Ms,
}

impl Starts {
    fn add(&mut self, init: Ms, lived: Ms) {
        self.least = if self.jobs == 0 { init } else { self.least.min(init) };
        self.jobs += 1;
        self.waited = self.waited.saturating_add(init);
        self.lived = self.lived.saturating_add(lived);
    }

    /// The mean wait beyond the shortest one, ms.
    pub fn excess(&self) -> f64 {
        self.waited as f64 / self.jobs.max(1) as f64 - self.least as f64
    }

    /// The part of the jobs' times that is such a wait beyond the shortest one, from 0 to 1.
    pub fn share(&self) -> f64 {
        (self.excess() * self.jobs as f64 / self.lived.max(1) as f64).clamp(0.0, 1.0)
    }
}

impl Loaded {
    /// The same with some of the jobs only, by their places in the order of submission.
    pub fn part(&self, jobs: Range<usize>) -> Self {
        Self {
            workload: self.workload.part(jobs),
            skipped: self.skipped.clone(),
            window: self.window,
            clock: self.clock,
            work: self.work,
            at_once: self.at_once,
            starts: self.starts,
        }
    }
}

/// Loads a trace for a replay on `cluster`. The seed of `scope` places the blocks whose hosts a generated cluster does not have.
///
/// # Errors
/// [`Error::Trace`] if the trace cannot be read or its rows are out of order; [`Error::Config`] if no job is left.
pub fn load(trace: &Trace, cluster: &Cluster, scope: &Scope) -> Result<Loaded, Error> {
    // Where an attempt ran matters only where hosts are known to differ, or what they offer is not the trace's own.
    let hosts_matter = !cluster.config.cost.host_factors.is_empty() || cluster.gives_sizes();
    load_log(
        &trace.dir().display().to_string(),
        &mut log::of_trace(trace, hosts_matter)?,
        log::room(trace),
        trace.manifest().begin,
        (cluster, scope),
    )
}

/// Loads jobs in memory, as [`load`] loads a trace of them.
///
/// # Errors
/// [`Error::Config`] if no job is left, or there are more tasks than ids.
pub fn load_records(jobs: &[JobRecord], cluster: &Cluster, scope: &Scope) -> Result<Loaded, Error> {
    load_log(IN_MEMORY, &mut JobReader::of_records(jobs), [0; 3], None, (cluster, scope))
}

/// Loads the jobs of the log `name`, with room for so many tasks, attempts and splits. Jobs that were submitted before `begin` count in no
/// metric.
fn load_log(
    name: &str,
    log: &mut JobReader<'_>,
    [tasks, attempts, splits]: [usize; 3],
    begin: Option<Ms>,
    (cluster, scope): (&Cluster, &Scope),
) -> Result<Loaded, Error> {
    let (skipped, work) = (Skipped::new(), Work::default());
    let homes = cluster.hosts().collect();
    let busy = cluster.gives_sizes().then(Busy::default);
    let (names, nodes) = ([String::new(), String::new()], Vec::new());
    let (starts, master_wait) = (Starts::default(), None);
    let mut rules = Rules { cluster, homes, scope, skipped, work, names, nodes, busy, starts, master_wait };
    let mut workload = Workload::with_room(tasks, attempts, splits);
    let mut listed = Listed::default();
    while log.next_job()? {
        rules.list(log, &mut listed)?;
        rules
            .add_job(log.job(), &listed, &mut workload)
            .ok_or_else(|| Error::Config(format!("{name}: more than 4 billion tasks; cut the trace")))?;
    }
    log.check_end()?;
    let Rules { skipped, mut work, busy, starts, master_wait, .. } = rules;
    let at_once = busy.map(Busy::at_once).unwrap_or_default();
    let submits = || workload.jobs().iter().map(|job| job.submit);
    let (first, last) = (submits().min().unwrap_or(0), submits().max().unwrap_or(0));
    if workload.jobs().is_empty() {
        return Err(Error::Config(format!(
            "{name}: no job is left to replay{}; expected jobs with a submission time and tasks",
            resched_tables::words::left_out(&skipped)
        )));
    }
    work.jobs_before = submits().filter(|&submit| begin.is_some_and(|begin| submit < begin)).count() as u64;
    let first_submit = cluster.config.jobs.first_submit;
    workload.arrange(first_submit);
    // The quickest master waited for a heartbeat of a node at most; the rest of its wait is the time that it takes to start.
    workload.set_master_start((master_wait.unwrap_or(0) - cluster.config.containers.node_heartbeat).max(0));
    if cluster.config.jobs.setup == SetUp::Quickest {
        workload.initialise_within(starts.least);
    }
    let times = Times { begin, first, horizon: last };
    let (window, clock) = (scope.window.on_the_clock(times, first_submit), times.clock(first_submit));
    Ok(Loaded { workload, skipped, window, clock, work, at_once, starts })
}

/// What the log lists for a job, in its order.
struct Listed {
    maps: Side<LoggedMap>,
    reduces: Side<LoggedReduce>,
    shuffles: Shuffles,
    edges: LoggedEdges,
    /// What maps, and reduces, take beside memory and vcores.
    further: [[u64; FURTHER]; 2],
}

impl Default for Listed {
    fn default() -> Self {
        let (maps, reduces) = (Side::new(Kind::Map), Side::new(Kind::Reduce));
        Self {
            maps,
            reduces,
            shuffles: Shuffles::default(),
            edges: LoggedEdges::default(),
            further: Default::default(),
        }
    }
}

impl Listed {
    /// Begins with a job of that id.
    fn begin(&mut self, job: &str) {
        self.maps.begin(job);
        self.reduces.begin(job);
        (self.shuffles, self.edges) = (Shuffles::default(), LoggedEdges::default());
        self.further = Default::default();
    }
}

/// The meaning of a log on a cluster.
struct Rules<'a> {
    cluster: &'a Cluster,
    /// The nodes that hold what a host of the log held, by host.
    homes: HashMap<&'a str, Vec<NodeId>>,
    scope: &'a Scope,
    skipped: Skipped,
    work: Work,
    /// Room for the id of a task and for its usual one, so that not each needs its own.
    names: [String; 2],
    /// Room for the replicas of a task.
    nodes: Vec<NodeId>,
    /// When the nodes of the log were busy, if that matters.
    busy: Option<Busy>,
    starts: Starts,
    /// The shortest time from the submission of a job to the start of its master, ms.
    master_wait: Option<Ms>,
}

impl Rules<'_> {
    fn skip(&mut self, cause: &str, n: u64) {
        skip(&mut self.skipped, cause, n);
    }

    /// Adds a job with its maps and reduces, unless it is left out. Returns `None` if there are more tasks than ids.
    fn add_job(&mut self, row: Lazy<'_, JobRow>, listed: &Listed, workload: &mut Workload) -> Option<()> {
        if row.outcome() == Outcome::Killed && self.cluster.config.jobs.skip_killed {
            self.skip("killed-job", 1);
            return Some(());
        }
        let Some(submit) = row.submit() else {
            self.skip("job-without-submit", 1);
            return Some(());
        };
        let maps = listed.maps.len() + self.unlisted(row.declared_maps(), listed.maps.len());
        let reduces = listed.reduces.len() + self.unlisted(row.declared_reduces(), listed.reduces.len());
        if maps + reduces == 0 {
            self.skip("job-without-tasks", 1);
            return Some(());
        }
        let id = row.job_id();
        self.add_tasks(id, &listed.maps, maps, workload, Tries::Map)?;
        self.add_tasks(id, &listed.reduces, reduces, workload, Tries::Reduce)?;
        let outcome = row.outcome();
        self.count_work(outcome, listed, maps + reduces);
        let [first_shuffle, typical_shuffle] = listed.shuffles.means();
        let edges = match self.cluster.config.jobs.setup {
            SetUp::Logged | SetUp::Quickest => listed.edges.of_job(row),
            SetUp::Fixed => Edges::default(),
        };
        if let (Some(init), false) = (edges.init, edges.from_master) {
            self.starts.add(init, length(Some(submit), row.finish()).unwrap_or(init).max(init));
        }
        if let Some(wait) = listed.edges.master_wait(submit).filter(|_| edges.from_master) {
            self.master_wait = Some(self.master_wait.map_or(wait, |least| least.min(wait)));
        }
        self.skip("lost-master", listed.edges.lost_masters());
        let job = Job {
            id: id.to_owned(),
            name: row.name().map(str::to_owned),
            user: row.user().unwrap_or_default().to_owned(),
            queue: row.queue().unwrap_or_default().to_owned(),
            priority: row.priority().unwrap_or(Priority::Normal),
            submit,
            shuffle_bytes: row.shuffle_bytes(),
            first_shuffle,
            typical_shuffle,
            edges,
            incomplete: outcome == Outcome::Incomplete && self.scope.unfinished == Unfinished::Drop,
            succeeded: outcome == Outcome::Success,
            maps: 0..0,
            reduces: 0..0,
            further: listed.further,
        };
        workload.end_job(job, maps)
    }

    /// Counts the work of a job of so many tasks as it was observed. A task without a try takes a time that the cost model makes.
    fn count_work(&mut self, outcome: Outcome, Listed { maps, reduces, .. }: &Listed, tasks: usize) {
        let of_maps = maps.tries.iter().map(|logged| logged.run);
        let of_reduces = reduces.tries.iter().map(|logged| logged.shuffle + logged.sort + logged.reduce.unwrap_or(0));
        let observed = of_maps.chain(of_reduces).fold(0, Ms::saturating_add);
        // An attempt without a run time says no more than none.
        let is_tried_map = |logged: &LoggedMap| logged.outcome != Outcome::Unknown || logged.run != 0;
        let tried_maps = (0..maps.len()).filter(|&map| maps.tries(map).iter().any(is_tried_map)).count();
        let is_tried_reduce = |logged: &LoggedReduce| logged.reduce.is_some();
        let tried_reduces = (0..reduces.len()).filter(|&one| reduces.tries(one).iter().any(is_tried_reduce)).count();
        let untried = (tasks - tried_maps - tried_reduces) as u64;
        let work = &mut self.work;
        work.jobs += 1;
        work.tasks += tasks as u64;
        work.made_tasks += untried;
        work.observed_ms = work.observed_ms.saturating_add(u64::try_from(observed).unwrap_or(0));
        if outcome == Outcome::Incomplete {
            work.unfinished_jobs += 1;
            work.unfinished_tasks += untried;
        }
    }

    /// Reads what the log lists for the current job.
    fn list(&mut self, log: &mut JobReader<'_>, listed: &mut Listed) -> Result<(), Error> {
        listed.begin(log.job().job_id());
        let [mut name, _] = std::mem::take(&mut self.names);
        let mut nodes = std::mem::take(&mut self.nodes);
        while log.next_task()? {
            let task = log.task();
            name.clear();
            name.push_str(task.task_id());
            let role = Role::of(task.kind(), task.stage());
            let (times, bytes) = ([task.start(), task.finish()], [task.input_bytes(), task.output_bytes()]);
            if let (Some(kind), Some(resources)) = (role.kind(), task.resources()) {
                let further = &mut listed.further[kind.index()];
                further
                    .iter_mut()
                    .zip(self.cluster.further_of(resources))
                    .for_each(|(most, more)| *most = more.max(*most));
            }
            // A task without a status was never seen to end: nothing of its log is taken.
            let is_logged = task.outcome() != Outcome::Incomplete;
            let split_bytes = self.splits(log, &name, &mut nodes)?;
            match role {
                Role::Map => {
                    self.map_tries(log, is_logged, listed)?;
                    let [input, output] = bytes.map(size);
                    listed.maps.replicas.extend_from_slice(&nodes);
                    listed.maps.end_task(&name, [input.or(split_bytes), output]);
                }
                Role::Reduce => {
                    self.reduce_tries(log, is_logged, listed)?;
                    listed.reduces.replicas.extend_from_slice(&nodes);
                    listed.reduces.end_task(&name, [None, None]);
                }
                Role::SetUp => listed.edges.setup = self.held(log, times)?.or(listed.edges.setup),
                Role::CleanUp => listed.edges.cleanup = self.held(log, times)?.or(listed.edges.cleanup),
                Role::Master => {
                    while let Some(attempt) = log.next_attempt()? {
                        listed.edges.saw_master(attempt);
                    }
                }
                Role::Other => self.skip("task-neither-map-nor-reduce", 1),
            }
        }
        self.names[0] = name;
        self.nodes = nodes;
        Ok(())
    }

    /// Finds the nodes that hold a task's input, and its size: the largest of what they hold, for they hold the same.
    fn splits(&mut self, log: &mut JobReader<'_>, task: &str, nodes: &mut Vec<NodeId>) -> Result<Option<u64>, Error> {
        nodes.clear();
        let mut bytes = None;
        let mut outside = 0;
        let mut dropped = 0;
        while let Some(split) = log.next_split()? {
            let known = split.host().and_then(|host| Some((host, self.homes.get(host)?)));
            match known.map(|(host, homes)| self.home(task, host, homes)) {
                Some(Some(node)) if !nodes.contains(&node) => nodes.push(node),
                Some(Some(_)) => self.skip("split-host-twice", 1),
                Some(None) => dropped += 1,
                None => outside += 1,
            }
            bytes = bytes.max(size(split.bytes()));
        }
        if self.cluster.config.nodes.count.is_some() {
            (dropped, outside) = (dropped + outside, 0);
        }
        self.skip("split-host-outside-cluster", outside);
        self.skip("split-host-drawn-anew", dropped);
        self.draw_replicas(task, dropped, nodes);
        Ok(bytes)
    }

    /// The node that holds what `host` held: if it has clones, one of them, drawn for each block, as on a balanced cluster.
    fn home(&self, task: &str, host: &str, homes: &[NodeId]) -> Option<NodeId> {
        if homes.len() < 2 {
            return homes.first().copied();
        }
        let entity: Vec<u64> = task.bytes().chain([b'@']).chain(host.bytes()).map(u64::from).collect();
        let drawn = stream(self.scope.seed, Purpose::BlockPlacement, &entity).random_range(0..homes.len());
        homes.get(drawn).copied()
    }

    /// Places blocks of another cluster on this one: distinct nodes, uniformly.
    fn draw_replicas(&self, task: &str, count: u64, nodes: &mut Vec<NodeId>) {
        if count == 0 {
            return;
        }
        let entity: Vec<u64> = task.bytes().map(u64::from).collect();
        let mut draws = stream(self.scope.seed, Purpose::BlockPlacement, &entity);
        let all = self.cluster.nodes().len();
        for _ in 0..count {
            if nodes.len() == all {
                return;
            }
            loop {
                let node = NodeId::at(draws.random_range(0..all));
                if !nodes.contains(&node) {
                    nodes.push(node);
                    break;
                }
            }
        }
    }

    fn map_tries(&mut self, log: &mut JobReader<'_>, is_logged: bool, listed: &mut Listed) -> Result<(), Error> {
        let first = listed.maps.tries.len();
        while let Some(attempt) = log.next_attempt()? {
            self.saw(Kind::Map, attempt);
            listed.edges.saw(attempt);
            let outcome = attempt.outcome();
            if outcome == Outcome::Success {
                listed.shuffles.last_map = listed.shuffles.last_map.max(attempt.finish());
            }
            if !is_logged {
                continue;
            }
            let level = attempt.locality().unwrap_or(Locality::Off);
            let (outcome, run) = match length(attempt.start(), attempt.finish()) {
                Some(run) => (outcome, self.at_usual_speed(attempt, run)),
                None => {
                    self.skip("attempt-without-run-time", 1);
                    (Outcome::Unknown, 0)
                }
            };
            let logged = LoggedMap { outcome, level, run };
            self.place_try(&mut listed.maps.tries, first, attempt.attempt(), (logged, LOST_MAP));
        }
        Ok(())
    }

    fn reduce_tries(&mut self, log: &mut JobReader<'_>, is_logged: bool, listed: &mut Listed) -> Result<(), Error> {
        let first = listed.reduces.tries.len();
        while let Some(attempt) = log.next_attempt()? {
            let outcome = attempt.outcome();
            self.saw(Kind::Reduce, attempt);
            listed.edges.saw(attempt);
            let times = (outcome, attempt.start(), attempt.shuffle_finish());
            if let (Outcome::Success, Some(start), Some(shuffled)) = times {
                listed.shuffles.reduces.push((start, shuffled));
            }
            if !is_logged {
                continue;
            }
            let logged = match phases(attempt) {
                Some([shuffle, sort, reduce]) => {
                    let [sort, reduce] = [sort, reduce].map(|run| self.at_usual_speed(attempt, run));
                    LoggedReduce { outcome, shuffle, sort, reduce: Some(reduce) }
                }
                None => {
                    self.skip("attempt-without-run-time", 1);
                    LoggedReduce { outcome, ..LOST_REDUCE }
                }
            };
            self.place_try(&mut listed.reduces.tries, first, attempt.attempt(), (logged, LOST_REDUCE));
        }
        Ok(())
    }

    fn saw(&mut self, kind: Kind, attempt: Attempt<'_>) {
        if let Some(busy) = &mut self.busy {
            busy.saw(kind, attempt);
        }
    }

    /// How long the successful attempt at a set-up or clean-up task held its slot.
    fn held(&mut self, log: &mut JobReader<'_>, times: [Option<Ms>; 2]) -> Result<Option<Ms>, Error> {
        let mut held = None;
        while let Some(attempt) = log.next_attempt()? {
            if attempt.outcome() == Outcome::Success {
                held = edges::held(attempt, times);
            }
        }
        if held.is_none() {
            self.skip("set-up-or-clean-up-without-run-time", 1);
        }
        Ok(held)
    }

    /// Puts an attempt at its number among the tries of its task, which begin at `first`; those that the log lacks before it count as
    /// lost.
    fn place_try<T: Copy>(&mut self, tries: &mut Vec<T>, first: usize, number: i64, (logged, lost): (T, T)) {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if number < tries.len() - first || number > MOST_TRIES {
            self.skip("attempt-number-out-of-place", 1);
            return;
        }
        tries.resize(first + number, lost);
        tries.push(logged);
    }

    /// How long an attempt's work takes on a host of factor 1: what a slow host logged holds its factor already, and a replay
    /// gives it that of the host where it runs (as with localities: `docs/model/locality.md`).
    fn at_usual_speed(&self, attempt: Attempt<'_>, run: Ms) -> Ms {
        match attempt.host().and_then(|host| self.cluster.config.cost.host_factors.get(host)) {
            Some(factor) => ((run as f64 / factor).round() as Ms).clamp(-LONGEST, LONGEST),
            None => run,
        }
    }

    /// Adds the listed tasks of a kind at their numbers, with empty ones for those that were declared only: `count` in all.
    fn add_tasks<'l, T>(
        &mut self,
        job: &str,
        side: &'l Side<T>,
        count: usize,
        workload: &mut Workload,
        tries: impl Fn(&'l [T]) -> Tries<'l>,
    ) -> Option<()> {
        let places = side.places(count);
        let by_position = self.cluster.config.jobs.splits == Splits::ByPosition;
        let [_, usual_name] = &mut self.names;
        for number in 0..count {
            let at_its_place = places.is_none();
            let place = places.as_ref().map_or(Some(number), |places| places.get(number).copied().flatten());
            let split = if by_position { number } else { place.unwrap_or(usize::MAX) };
            let place = place.unwrap_or(usize::MAX);
            let mut odd_name = None;
            if !at_its_place && place < side.len() {
                usual_name.clear();
                write_usual_task_name(job, side.kind, number as u32, usual_name);
                odd_name = Some(side.name(place)).filter(|name| name != usual_name);
            }
            let ([input_bytes, _], [_, output_bytes]) = (side.bytes(split), side.bytes(place));
            let (replicas, tries) = (side.replicas(split), tries(side.tries(place)));
            workload.push_task(&NewTask { odd_name, replicas, input_bytes, output_bytes, tries })?;
        }
        Some(())
    }

    /// How many tasks of a kind a job declares beyond the `listed` ones.
    fn unlisted(&mut self, declared: Option<i64>, listed: usize) -> usize {
        let unlisted = declared.unwrap_or(0).saturating_sub(listed as i64).max(0);
        if unlisted > MOST_UNLISTED {
            self.skip("declared-tasks-out-of-range", 1);
            return 0;
        }
        unlisted as usize
    }
}

/// A try at a map that the log lacks.
const LOST_MAP: LoggedMap = LoggedMap { outcome: Outcome::Unknown, level: Locality::Off, run: 0 };
/// A try at a reduce that the log lacks.
const LOST_REDUCE: LoggedReduce = LoggedReduce { outcome: Outcome::Unknown, shuffle: 0, sort: 0, reduce: None };

/// A number of bytes; a negative one is damage.
fn size(bytes: Option<i64>) -> Option<u64> {
    bytes.and_then(|bytes| u64::try_from(bytes).ok())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cluster_file::ClusterConfig;
    use crate::hadoop::workload::usual_task_name;
    use crate::ids::TaskId;
    use resched_tables::model::{AttemptRow, SplitRow, TaskKind, TaskRecord, TaskRow};

    /// A map whose own input is logged as `logged`, with one replica of its split for each of `held`.
    fn map(number: u32, logged: Option<i64>, held: &[Option<i64>]) -> TaskRecord {
        let task_id = usual_task_name("job_1_0001", Kind::Map, number);
        let split = |(ordinal, &bytes): (usize, &Option<i64>)| SplitRow {
            task_id: task_id.clone(),
            ordinal: ordinal as i64,
            host: Some(resched_tables::names::host_name(ordinal as u32)),
            rack: None,
            bytes,
        };
        let task = TaskRow {
            job_id: "job_1_0001".to_owned(),
            task_id: task_id.clone(),
            kind: TaskKind::Map,
            input_bytes: logged,
            output_bytes: logged.map(|bytes| bytes + 1),
            ..TaskRow::default()
        };
        TaskRecord { task, splits: held.iter().enumerate().map(split).collect(), attempts: Vec::new() }
    }

    /// Input and output bytes of the maps of a job that lists these.
    fn sizes(tasks: Vec<TaskRecord>, splits: Splits) -> Vec<(Option<u64>, Option<u64>)> {
        let maps = tasks.len() as u32;
        let job = JobRow { job_id: "job_1_0001".to_owned(), submit: Some(0), ..JobRow::default() };
        let record = JobRecord { job, tasks, counters: Vec::new() };
        let mut config = ClusterConfig::default();
        config.nodes.count = Some(3);
        config.jobs.splits = splits;
        let cluster = Cluster::generated(config).unwrap();
        let Loaded { workload, .. } = load_records(std::slice::from_ref(&record), &cluster, &Scope::default()).unwrap();
        (0..maps).map(TaskId).map(|map| (workload.input_bytes(map), workload.output_bytes(map))).collect()
    }

    #[test]
    fn a_map_reads_what_its_counters_say_else_its_split_else_nobody_knows_what() {
        let tasks = vec![
            map(0, Some(70), &[Some(64)]),
            map(1, None, &[None, Some(64), Some(63)]),
            map(2, None, &[None]),
            map(3, Some(-5), &[Some(-64)]),
        ];
        let expected = [(Some(70), Some(71)), (Some(64), None), (None, None), (None, None)];
        assert_eq!(sizes(tasks, Splits::ByNumber), expected);
    }

    #[test]
    fn the_size_of_a_split_goes_where_the_split_goes() {
        let tasks = || vec![map(1, Some(10), &[]), map(0, Some(20), &[])];
        assert_eq!(sizes(tasks(), Splits::ByNumber), [(Some(20), Some(21)), (Some(10), Some(11))]);
        assert_eq!(sizes(tasks(), Splits::ByPosition), [(Some(10), Some(21)), (Some(20), Some(11))]);
    }

    /// Two maps and a reduce that a host of factor 2 logged, and a map of another host.
    #[test]
    fn what_a_slow_host_logged_is_taken_at_usual_speed() {
        let attempt = |task: &TaskRow, host: &str, sorted: Option<i64>| AttemptRow {
            task_id: task.task_id.clone(),
            job_id: task.job_id.clone(),
            start: Some(1_000),
            shuffle_finish: sorted.map(|_| 2_000),
            sort_finish: sorted,
            finish: Some(11_000),
            outcome: Outcome::Success,
            host: Some(host.to_owned()),
            ..AttemptRow::default()
        };
        let tried = |mut record: TaskRecord, host: &str| {
            record.task.outcome = Outcome::Success;
            record.attempts = vec![attempt(&record.task, host, None)];
            record
        };
        let mut reduce = map(2, None, &[]);
        reduce.task.task_id = usual_task_name("job_1_0001", Kind::Reduce, 0);
        (reduce.task.kind, reduce.task.outcome) = (TaskKind::Reduce, Outcome::Success);
        reduce.attempts = vec![attempt(&reduce.task, "slow", Some(5_000))];
        let job = JobRow { job_id: "job_1_0001".to_owned(), submit: Some(0), ..JobRow::default() };
        let tasks = vec![tried(map(0, None, &[]), "slow"), tried(map(1, None, &[]), "usual"), reduce];
        let record = JobRecord { job, tasks, counters: Vec::new() };
        let run_times = |factor: Option<f64>| {
            let mut config = ClusterConfig::default();
            config.cost.host_factors = factor.map(|factor| ("slow".to_owned(), factor)).into_iter().collect();
            let machine = |name: &str| (name.to_owned(), "/r".to_owned(), crate::hadoop::Resources::slots(1, 1));
            let cluster = Cluster::new(config, [machine("slow"), machine("usual")]).unwrap();
            let Loaded { workload, .. } =
                load_records(std::slice::from_ref(&record), &cluster, &Scope::default()).unwrap();
            let maps = [0, 1].map(|task| workload.logged_maps(TaskId(task)).get(0).unwrap().run);
            let LoggedReduce { shuffle, sort, reduce, .. } = workload.logged_reduces(TaskId(2)).get(0).unwrap();
            (maps, [shuffle, sort, reduce.unwrap()])
        };
        assert_eq!(run_times(None), ([10_000, 10_000], [1_000, 3_000, 6_000]));
        assert_eq!(run_times(Some(2.0)), ([5_000, 10_000], [1_000, 1_500, 3_000]));
    }
}
