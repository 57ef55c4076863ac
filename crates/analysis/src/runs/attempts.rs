//! What the attempts of a run add up to, job by job.
//!
//! Attempts are taken one by one, in any order, from a file, from memory or from a replay that goes on. Only what metrics need is kept.
//! The formulas that need nothing else of the job stand here, each once, at the field that holds its result; those over the table of
//! jobs are in [`crate::metrics::formulas`]. All times are in ms.

use resched_tables::model::{AttemptRow, Locality, Outcome, TaskKind};
use resched_tables::reader::View;
use twox_hash::XxHash64;

use crate::runs::nodes::Nodes;
use crate::runs::spans::Interval;
use crate::runs::times::plausible;

/// What metrics need of an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) task_id: &'a str,
    pub(crate) kind: TaskKind,
    pub(crate) outcome: Outcome,
    pub(crate) locality: Option<Locality>,
    pub(crate) host: Option<&'a str>,
    pub(crate) queued: Option<i64>,
    pub(crate) start: Option<i64>,
    pub(crate) shuffle_finish: Option<i64>,
    pub(crate) finish: Option<i64>,
    pub(crate) cpu_request: Option<i64>,
    pub(crate) memory_request: Option<i64>,
}

impl<'a> Attempt<'a> {
    pub(crate) fn of(row: &View<'a, AttemptRow>) -> Self {
        Self {
            task_id: row.task_id,
            kind: row.kind,
            outcome: row.outcome,
            locality: row.locality,
            host: row.host,
            queued: row.queued,
            start: row.start,
            shuffle_finish: row.shuffle_finish,
            finish: row.finish,
            cpu_request: row.cpu_request,
            memory_request: row.memory_request,
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

/// What the attempts of one job add up to.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfJob {
    /// When the first task of the job started: the earliest start of its attempts, without set-up and clean-up (they are
    /// Hadoop's bookkeeping, not the job's work).
    pub(crate) first_start: Option<i64>,
    /// When the last map of the job completed: the latest finish of its successful map attempts.
    pub(crate) last_map_finish: Option<i64>,
    /// The longest run time of a successful map attempt of the job.
    pub(crate) longest_map: Option<i64>,
    /// The longest time that a reduce of the job had to work once its input was there: `finish − shuffle_finish`, or, where
    /// the end of the shuffle is not known, `finish − max(start, last_map_finish)`.
    pub(crate) longest_reduce_tail: Option<i64>,
    /// Starvation time of the job: the mean of `start(r) − last_map_finish` over its reduces `r` launched when its last map
    /// had completed (at that instant counts: the completion comes first); 0 if all were launched before, `None` if none was
    /// launched or no map completed. `start(r)` is the first launch of `r` (Coupling §III-C; spec).
    pub(crate) starvation: Option<f64>,
    /// How many maps of the job were *launched* at each distance from their input. Every launch is a decision of the
    /// scheduler, so attempts that later failed or were killed count too (Coupling, Fig. 15). The inspection of a trace
    /// counts successful attempts instead.
    pub(crate) map_launches: [u64; 3],
    /// Tasks of the job that were done: distinct tasks with a successful attempt, without set-up and clean-up.
    pub(crate) tasks_done: u64,
    /// How many of them are maps.
    pub(crate) maps_done: u64,
    /// How many of them are reduces.
    pub(crate) reduces_done: u64,
    /// Attempts of the job that had to make room for others.
    pub(crate) evictions: u64,
    /// Slot time that the job used: the sum of the run times of all its attempts.
    pub(crate) slot_time: i64,
    /// Processor that the job held: the sum of requested processor × run time over its attempts; `None` if none is known.
    pub(crate) cpu_held: Option<f64>,
    /// The same for memory.
    pub(crate) memory_held: Option<f64>,
    queueing_sum: i64,
    queueing_count: u32,
}

impl OfJob {
    /// Queueing time of the job's tasks: the mean of `start − queued` over its attempts; `None` if none has both.
    pub(crate) fn queueing(&self) -> Option<f64> {
        (self.queueing_count > 0).then(|| self.queueing_sum as f64 / f64::from(self.queueing_count))
    }

    fn add(&mut self, attempt: &Attempt<'_>) {
        let &Attempt { kind, start, .. } = attempt;
        let run_time = attempt.run_time();
        if !matches!(kind, TaskKind::Setup | TaskKind::Cleanup) {
            self.first_start = self.first_start.into_iter().chain(start).min();
        }
        if kind == TaskKind::Map {
            if attempt.succeeded() {
                self.last_map_finish = self.last_map_finish.max(attempt.finish);
                self.longest_map = self.longest_map.max(run_time);
            }
            if let Some(locality) = attempt.locality.filter(|_| start.is_some()) {
                let level = match locality {
                    Locality::Node => 0,
                    Locality::Rack => 1,
                    Locality::Off => 2,
                };
                self.map_launches[level] += 1;
            }
        }
        self.evictions += u64::from(attempt.outcome == Outcome::Evicted);
        if let Some((queued, start)) = attempt.queued.zip(start) {
            self.queueing_sum = self.queueing_sum.saturating_add(at_least_zero(start - queued));
            self.queueing_count += 1;
        }
        if let Some(run_time) = run_time {
            self.slot_time = self.slot_time.saturating_add(run_time);
            let hold = |held: &mut Option<f64>, request: Option<i64>| {
                if let Some(request) = request {
                    *held = Some(held.unwrap_or(0.0) + request as f64 * run_time as f64);
                }
            };
            hold(&mut self.cpu_held, attempt.cpu_request);
            hold(&mut self.memory_held, attempt.memory_request);
        }
    }

    /// Adds the reduces of the job, whose attempts are sorted by task and start.
    fn add_reduces(&mut self, reduces: &[Reduce]) {
        for reduce in reduces.iter().filter(|reduce| reduce.succeeded) {
            let shuffled = reduce.shuffle_finish.or(reduce.start.max(self.last_map_finish));
            let tail = reduce.finish.zip(shuffled).map(|(finish, shuffled)| at_least_zero(finish - shuffled));
            self.longest_reduce_tail = self.longest_reduce_tail.max(tail);
        }
        let (mut launched, mut late, mut late_by) = (0u32, 0u32, 0i64);
        for task in reduces.chunk_by(|a, b| a.task == b.task) {
            // A reduce that was tried again counts with its first launch.
            let first_start = task.iter().filter_map(|attempt| attempt.start).min();
            let Some((start, last_map)) = first_start.zip(self.last_map_finish) else { continue };
            launched += 1;
            if start >= last_map {
                late += 1;
                late_by = late_by.saturating_add(start - last_map);
            }
        }
        self.starvation = (launched > 0).then(|| late_by as f64 / f64::from(late.max(1)));
    }
}

/// A task with a successful attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Done {
    job: u32,
    kind: TaskKind,
    task: u64,
}

/// An attempt at a reduce.
#[derive(Debug, Clone, Copy)]
struct Reduce {
    job: u32,
    succeeded: bool,
    task: u64,
    start: Option<i64>,
    shuffle_finish: Option<i64>,
    finish: Option<i64>,
}

/// Adds up the attempts of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    jobs: Vec<OfJob>,
    done: Vec<Done>,
    reduces: Vec<Reduce>,
    /// The attempts with a known start and a later finish, in the order in which they came.
    intervals: Vec<Interval>,
    /// The nodes of the intervals.
    pub(crate) nodes: Nodes,
}

impl Sums {
    /// Adds an attempt of the job in that row of the table of jobs.
    pub(crate) fn add(&mut self, job: u32, attempt: &Attempt<'_>) {
        if attempt.kind == TaskKind::Master {
            // It holds a container and does none of the job's work.
            return;
        }
        if job as usize >= self.jobs.len() {
            self.jobs.resize_with(job as usize + 1, OfJob::default);
        }
        let Some(of_job) = self.jobs.get_mut(job as usize) else { return };
        of_job.add(attempt);
        let &Attempt { kind, start, shuffle_finish, finish, locality, .. } = attempt;
        let succeeded = attempt.succeeded();
        let is_reduce = kind == TaskKind::Reduce;
        if succeeded || is_reduce {
            let task = key(attempt.task_id);
            // Set-up and clean-up tasks are Hadoop's bookkeeping, and a replay has no rows of them.
            if succeeded && !matches!(kind, TaskKind::Setup | TaskKind::Cleanup) {
                self.done.push(Done { job, kind, task });
            }
            if is_reduce {
                self.reduces.push(Reduce { job, succeeded, task, start, shuffle_finish, finish });
            }
        }
        if let Some((start, finish)) = start.zip(finish).filter(|(start, finish)| start < finish) {
            let node = attempt.host.and_then(|host| self.nodes.number(host));
            self.intervals.push(Interval { job: job as usize, kind, start, finish, succeeded, node, locality });
        }
    }

    /// The sums of so many jobs, and the attempts over time.
    pub(crate) fn finish(self, count: usize) -> (Vec<OfJob>, Vec<Interval>) {
        let Self { mut jobs, mut done, mut reduces, intervals, nodes: _ } = self;
        jobs.resize_with(count, OfJob::default);
        done.sort_unstable();
        done.dedup();
        for Done { job, kind, .. } in done {
            let Some(of_job) = jobs.get_mut(job as usize) else { continue };
            of_job.tasks_done += 1;
            of_job.maps_done += u64::from(kind == TaskKind::Map);
            of_job.reduces_done += u64::from(kind == TaskKind::Reduce);
        }
        reduces.sort_unstable_by_key(|reduce| (reduce.job, reduce.task));
        for of_job in reduces.chunk_by(|a, b| a.job == b.job) {
            if let Some(job) = of_job.first().and_then(|first| jobs.get_mut(first.job as usize)) {
                job.add_reduces(of_job);
            }
        }
        (jobs, intervals)
    }
}

/// A number that stands for the id of a task within its job: 64 bits, so that a million tasks of one job share none (1 : 10^7).
fn key(task_id: &str) -> u64 {
    XxHash64::oneshot(0, task_id.as_bytes())
}

/// `value`, or 0 if it is negative.
fn at_least_zero(value: i64) -> i64 {
    value.max(0)
}
