//! What the attempts of a run add up to, job by job.
//!
//! Attempts are taken one by one, in any order, from a file, from memory or from a replay that goes on. Only what metrics need is kept.
//! The formulas that need nothing else of the job stand here, each once, at the field that holds its result; those over the table of
//! jobs are in [`crate::metrics::formulas`]. All times are in ms.

use std::collections::BTreeMap;

use resched_tables::demand::gpus;
use resched_tables::model::{AttemptRow, Locality, Outcome, TaskKind};
use resched_tables::named::amounts;
use resched_tables::placed;
use resched_tables::reader::View;
use resched_tables::run::{Names, RunAttempt};
use twox_hash::XxHash64;

use crate::runs::column::{Column, Earliest, Latest};
use crate::runs::nodes::Nodes;
use crate::runs::peaks::Peaks;
use crate::runs::spans::{Interval, NodeNumber};
use crate::runs::times::plausible;

/// The task of an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Task<'a> {
    /// Its id, unique in its job.
    Id(&'a str),
    /// Its number, unique in its run.
    Number(u32),
}

impl Task<'_> {
    /// A number that stands for the task within its job. Of an id it has 64 bits, so that a million tasks of one job share none
    /// (1 : 10^7).
    fn key(self) -> u64 {
        match self {
            Self::Id(id) => XxHash64::oneshot(0, id.as_bytes()),
            Self::Number(number) => u64::from(number),
        }
    }
}

/// What metrics need of an attempt, beside its node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) task: Task<'a>,
    pub(crate) kind: TaskKind,
    pub(crate) outcome: Outcome,
    pub(crate) locality: Option<Locality>,
    pub(crate) queued: Option<i64>,
    pub(crate) start: Option<i64>,
    pub(crate) shuffle_finish: Option<i64>,
    pub(crate) finish: Option<i64>,
    pub(crate) cpu_request: Option<i64>,
    pub(crate) memory_request: Option<i64>,
    /// The GPUs that it held, if it is known what it held.
    pub(crate) gpus: Option<u64>,
}

impl<'a> Attempt<'a> {
    pub(crate) fn of(row: &View<'a, AttemptRow>) -> Self {
        Self {
            task: Task::Id(row.task_id),
            kind: row.kind,
            outcome: row.outcome,
            locality: row.locality,
            queued: row.queued,
            start: row.start,
            shuffle_finish: row.shuffle_finish,
            finish: row.finish,
            cpu_request: row.cpu_request,
            memory_request: row.memory_request,
            gpus: gpus_held(row.cpu_request, row.resources.map(|text| gpus(amounts(text)))),
        }
    }

    /// An attempt of a replay that goes on.
    #[inline]
    pub(crate) fn of_replay(row: &RunAttempt, names: &dyn Names) -> Self {
        Self {
            // A master is no task, and is not added up.
            task: Task::Number(row.task.unwrap_or_default()),
            kind: row.kind,
            outcome: row.outcome,
            locality: row.locality,
            queued: row.queued,
            start: row.start,
            shuffle_finish: row.shuffle_finish,
            finish: row.finish,
            cpu_request: row.cpu_request,
            memory_request: row.memory_request,
            gpus: gpus_held(row.cpu_request, row.resources.map(|number| names.gpus(number))),
        }
    }

    /// The same without damaged times, which are counted.
    pub(crate) fn plausible(self, implausible: &mut u64) -> Self {
        let [queued, start, shuffle_finish, finish] =
            [self.queued, self.start, self.shuffle_finish, self.finish].map(|time| plausible(time, implausible));
        Self { queued, start, shuffle_finish, finish, ..self }
    }

    /// The same with no time known, because nothing happened at its times.
    pub(crate) fn without_times(self) -> Self {
        Self { queued: None, start: None, shuffle_finish: None, finish: None, ..self }
    }

    fn succeeded(&self) -> bool {
        self.outcome == Outcome::Success
    }

    /// Its run time, or 0 if that is negative: the clocks of two machines may differ a little.
    fn run_time(&self) -> Option<i64> {
        self.start.zip(self.finish).map(|(start, finish)| at_least_zero(finish - start))
    }
}

/// The GPUs that an attempt held. A row that names its processor also names its GPUs: without `resources`, it held none.
#[inline]
fn gpus_held(cpu_request: Option<i64>, resources: Option<u64>) -> Option<u64> {
    cpu_request.map(|_| resources.unwrap_or(0))
}

/// What the attempts of one job add up to. [`Sums`] has it of all jobs, column by column.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfJob {
    /// When the first task of the job started: the earliest start of its attempts, without set-up and clean-up (they are
    /// Hadoop's bookkeeping, not the job's work).
    pub(crate) first_start: Option<i64>,
    /// The longest run time of a successful map attempt of the job.
    pub(crate) longest_map: Option<i64>,
    /// The longest time that a reduce of the job had to work once its input was there: `finish − shuffle_finish`, or, where
    /// the end of the shuffle is not known, `finish − max(start, last_map_finish)`.
    pub(crate) longest_reduce_tail: Option<i64>,
    /// Starvation time of the job: the mean of `start(r) − last_map_finish` over its reduces `r` launched when its last map
    /// had completed (at that instant counts: the completion comes first); 0 if all were launched before, `None` if none was
    /// launched or no map completed. `start(r)` is the first launch of `r` (Coupling, §III-C).
    pub(crate) starvation: Option<f64>,
    /// How many maps of the job were *launched* at each distance from their input. Every launch is a decision of the
    /// scheduler, so attempts that later failed or were killed count too (Coupling, Fig. 15). The inspection of a trace
    /// counts successful attempts instead.
    pub(crate) map_launches: [u32; 3],
    /// Tasks of the job that were done: distinct tasks with a successful attempt, without set-up and clean-up.
    pub(crate) tasks_done: u32,
    /// How many of them are maps.
    pub(crate) maps_done: u32,
    /// How many of them are reduces.
    pub(crate) reduces_done: u32,
    /// Attempts of the job that had to make room for others.
    pub(crate) evictions: u32,
    /// Slot time that the job used: the sum of the run times of all its attempts.
    pub(crate) slot_time: i64,
    /// Processor that the job held: the sum of requested processor × run time over its attempts; `None` if none is known.
    pub(crate) cpu_held: Option<f64>,
    /// The same for memory.
    pub(crate) memory_held: Option<f64>,
    /// The same for GPUs.
    pub(crate) gpus_held: Option<f64>,
    /// Queueing time of the job's tasks: the mean of `start − queued` over its attempts; `None` if none has both.
    pub(crate) queueing: Option<f64>,
}

/// A task with a successful attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Done {
    job: u32,
    kind: TaskKind,
    task: u64,
}

/// The start of an attempt at a reduce.
#[derive(Debug, Clone, Copy)]
struct Launch {
    job: u32,
    task: u64,
    start: i64,
}

/// A successful attempt at a reduce whose log does not say when it had its input.
#[derive(Debug, Clone, Copy)]
struct Unshuffled {
    job: u32,
    start: Option<i64>,
    finish: i64,
}

/// Adds up the attempts of a run, column by column. A column that no attempt of the run needs stays empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    /// Only what an outline needs is added up, and of the attempts over time only how many ran at once.
    outline: Option<[Peaks; 2]>,
    first_start: Column<Earliest>,
    /// When the last map of each job completed: the latest finish of its successful map attempts.
    last_map_finish: Column<Latest>,
    longest_map: Column<Latest>,
    longest_reduce_tail: Column<Latest>,
    starvation: Column<Option<f64>>,
    map_launches: Column<[u32; 3]>,
    tasks_done: Column<u32>,
    maps_done: Column<u32>,
    reduces_done: Column<u32>,
    evictions: Column<u32>,
    slot_time: Column<i64>,
    cpu_held: Column<Option<f64>>,
    memory_held: Column<Option<f64>>,
    gpus_held: Column<Option<f64>>,
    /// The sum of `start − queued`, and of how many attempts.
    queueing: Column<(i64, u32)>,
    /// The tasks that are done, of ids: each as often as it succeeded.
    done: Vec<Done>,
    /// The tasks that are done, of numbers: a bit each.
    numbers_done: Column<u64>,
    launches: Vec<Launch>,
    unshuffled: Vec<Unshuffled>,
    /// The attempts with a known start and a later finish, in the order in which they came.
    intervals: Vec<Interval>,
    /// The nodes of the intervals.
    pub(crate) nodes: Nodes,
    /// The intervals on several nodes, by their places.
    spread: Spread,
}

/// Where an attempt ran.
#[derive(Debug, Clone, Default)]
pub(crate) enum Where {
    /// Nobody knows.
    #[default]
    Unknown,
    /// On one node.
    One(NodeNumber),
    /// On several, each with the number of its instances there.
    Several(Box<[(NodeNumber, u32)]>),
}

impl Where {
    /// Of a row of the table of attempts.
    pub(crate) fn of(row: &View<'_, AttemptRow>, nodes: &mut Nodes) -> Self {
        if let Some(host) = row.host {
            return nodes.number(host).map_or(Self::Unknown, Self::One);
        }
        let places = row.hosts.and_then(placed::places).unwrap_or_default();
        let places = places.iter().map(|(host, instances)| Some((nodes.number(host)?, *instances)));
        places
            .collect::<Option<Vec<_>>>()
            .filter(|all| !all.is_empty())
            .map_or(Self::Unknown, |all| Self::Several(all.into()))
    }
}

/// The nodes of intervals that ran on several, with the instances on each, by the places of the intervals.
pub(crate) type Spread = BTreeMap<usize, Box<[(NodeNumber, u32)]>>;

impl Sums {
    /// Sums of which only what an outline needs is added up.
    pub(crate) fn in_outline() -> Self {
        Self { outline: Some(Default::default()), ..Self::default() }
    }

    /// Adds an attempt of the job in that row of the table of jobs. `node` finds its nodes.
    pub(crate) fn add(&mut self, job: u32, attempt: &Attempt<'_>, node: impl FnOnce(&mut Nodes) -> Where) {
        let &Attempt { task, kind, start, finish, locality, .. } = attempt;
        if kind == TaskKind::Master {
            // It holds a container and does none of the job's work.
            return;
        }
        let is_work = !matches!(kind, TaskKind::Setup | TaskKind::Cleanup);
        let succeeded = attempt.succeeded();
        if let Some(start) = start.filter(|_| is_work) {
            self.first_start.change(job, |first| first.note(start));
        }
        // Set-up and clean-up tasks are Hadoop's bookkeeping, and a replay has no rows of them.
        if succeeded && is_work {
            self.task_done(job, kind, task);
        }
        // Of Hadoop's tasks, only maps have places of input; of Spark's and of production traces, any may have.
        if let Some(level) = locality.filter(|_| start.is_some() && is_work) {
            let level = match level {
                Locality::Node => 0,
                Locality::Rack => 1,
                Locality::Off => 2,
            };
            self.map_launches.change(job, |launches| launches[level] = launches[level].saturating_add(1));
        }
        match kind {
            TaskKind::Map => self.add_map(job, attempt),
            TaskKind::Reduce => self.add_reduce(job, attempt),
            _ => {}
        }
        let span = start.zip(finish).filter(|(start, finish)| start < finish);
        if let Some(peaks) = &mut self.outline {
            let of_kind = match kind {
                TaskKind::Map => &mut peaks[0],
                TaskKind::Reduce => &mut peaks[1],
                _ => return,
            };
            if let Some((start, finish)) = span {
                of_kind.add(start, finish);
            }
            return;
        }
        self.add_time(job, attempt);
        if let Some((start, finish)) = span {
            let node = match node(&mut self.nodes) {
                Where::Unknown => None,
                Where::One(node) => Some(node),
                Where::Several(places) => {
                    self.spread.insert(self.intervals.len(), places);
                    None
                }
            };
            self.intervals.push(Interval { job: job as usize, kind, start, finish, succeeded, node, locality });
        }
    }

    fn task_done(&mut self, job: u32, kind: TaskKind, task: Task<'_>) {
        match task {
            Task::Id(_) => self.done.push(Done { job, kind, task: task.key() }),
            Task::Number(number) => {
                let bit = 1 << (number % 64);
                let mut is_first = false;
                self.numbers_done.change(number / 64, |done| {
                    is_first = *done & bit == 0;
                    *done |= bit;
                });
                if is_first {
                    self.count_done(job, kind);
                }
            }
        }
    }

    fn count_done(&mut self, job: u32, kind: TaskKind) {
        let one_more = |count: &mut u32| *count = count.saturating_add(1);
        self.tasks_done.change(job, one_more);
        match kind {
            TaskKind::Map => self.maps_done.change(job, one_more),
            TaskKind::Reduce => self.reduces_done.change(job, one_more),
            _ => {}
        }
    }

    fn add_map(&mut self, job: u32, attempt: &Attempt<'_>) {
        if attempt.succeeded() {
            if let Some(finish) = attempt.finish {
                self.last_map_finish.change(job, |last| last.note(finish));
            }
            if let Some(run_time) = attempt.run_time() {
                self.longest_map.change(job, |longest| longest.note(run_time));
            }
        }
    }

    fn add_reduce(&mut self, job: u32, attempt: &Attempt<'_>) {
        let &Attempt { task, start, shuffle_finish, finish, .. } = attempt;
        if let Some(start) = start {
            self.launches.push(Launch { job, task: task.key(), start });
        }
        match finish.filter(|_| attempt.succeeded() && self.outline.is_none()).zip(Some(shuffle_finish)) {
            Some((finish, Some(shuffled))) => self.note_tail(job, finish, shuffled),
            Some((finish, None)) => self.unshuffled.push(Unshuffled { job, start, finish }),
            None => {}
        }
    }

    fn note_tail(&mut self, job: u32, finish: i64, shuffled: i64) {
        self.longest_reduce_tail.change(job, |longest| longest.note(at_least_zero(finish - shuffled)));
    }

    /// Adds the times that an attempt waited and ran, and what it held meanwhile.
    fn add_time(&mut self, job: u32, attempt: &Attempt<'_>) {
        if attempt.outcome == Outcome::Evicted {
            self.evictions.change(job, |count| *count = count.saturating_add(1));
        }
        if let Some((queued, start)) = attempt.queued.zip(attempt.start) {
            self.queueing.change(job, |(sum, count)| {
                *sum = sum.saturating_add(at_least_zero(start - queued));
                *count = count.saturating_add(1);
            });
        }
        let Some(run_time) = attempt.run_time() else { return };
        self.slot_time.change(job, |time| *time = time.saturating_add(run_time));
        let requests = [attempt.cpu_request, attempt.memory_request].map(|request| request.map(|amount| amount as f64));
        let held = [
            (&mut self.cpu_held, requests[0]),
            (&mut self.memory_held, requests[1]),
            (&mut self.gpus_held, attempt.gpus.map(|gpus| gpus as f64)),
        ];
        for (held, request) in held {
            if let Some(request) = request {
                held.change(job, |held| *held = Some(held.unwrap_or(0.0) + request * run_time as f64));
            }
        }
    }

    /// Adds what can only be added once all attempts are there. Returns the attempts over time.
    pub(crate) fn close(&mut self) -> Vec<Interval> {
        let mut done = std::mem::take(&mut self.done);
        done.sort_unstable();
        done.dedup();
        for Done { job, kind, .. } in done {
            self.count_done(job, kind);
        }
        for Unshuffled { job, start, finish } in std::mem::take(&mut self.unshuffled) {
            if let Some(shuffled) = start.max(self.last_map_finish.get(job).time()) {
                self.note_tail(job, finish, shuffled);
            }
        }
        let mut launches = std::mem::take(&mut self.launches);
        launches.sort_unstable_by_key(|launch| (launch.job, launch.task));
        for of_job in launches.chunk_by(|a, b| a.job == b.job) {
            let Some(job) = of_job.first().map(|first| first.job) else { continue };
            let Some(last_map) = self.last_map_finish.get(job).time() else { continue };
            let starved = starvation(of_job, last_map);
            self.starvation.change(job, |starvation| *starvation = Some(starved));
        }
        std::mem::take(&mut self.intervals)
    }

    /// The intervals on several nodes.
    pub(crate) fn take_spread(&mut self) -> Spread {
        std::mem::take(&mut self.spread)
    }

    /// The most maps, and the most reduces, that ran at once, of sums in outline.
    pub(crate) fn take_peaks(&mut self) -> [Peaks; 2] {
        self.outline.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// What the attempts of the job in that row add up to, once the sums are closed.
    pub(crate) fn of_job(&self, job: u32) -> OfJob {
        let (queueing, queued) = self.queueing.get(job);
        OfJob {
            first_start: self.first_start.get(job).time(),
            longest_map: self.longest_map.get(job).time(),
            longest_reduce_tail: self.longest_reduce_tail.get(job).time(),
            starvation: self.starvation.get(job),
            map_launches: self.map_launches.get(job),
            tasks_done: self.tasks_done.get(job),
            maps_done: self.maps_done.get(job),
            reduces_done: self.reduces_done.get(job),
            evictions: self.evictions.get(job),
            slot_time: self.slot_time.get(job),
            cpu_held: self.cpu_held.get(job),
            memory_held: self.memory_held.get(job),
            gpus_held: self.gpus_held.get(job),
            queueing: (queued > 0).then(|| queueing as f64 / f64::from(queued)),
        }
    }
}

/// The mean of `start(r) − last_map` over the reduces launched then or later. The launches are of one job, sorted by task.
fn starvation(launches: &[Launch], last_map: i64) -> f64 {
    let (mut late, mut late_by) = (0u32, 0i64);
    for task in launches.chunk_by(|a, b| a.task == b.task) {
        // A reduce that was tried again counts with its first launch.
        let first = task.iter().map(|attempt| attempt.start).min();
        if let Some(start) = first.filter(|start| *start >= last_map) {
            late += 1;
            late_by = late_by.saturating_add(start - last_map);
        }
    }
    late_by as f64 / f64::from(late.max(1))
}

/// `value`, or 0 if it is negative.
fn at_least_zero(value: i64) -> i64 {
    value.max(0)
}
