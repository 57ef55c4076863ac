//! How many jobs wait and run, and what they hold, over time: OpenMetrics text, as `promtool tsdb create-blocks-from openmetrics` loads it into
//! Prometheus.
//!
//! The names are those under which the system itself offers these numbers: Slurm 25.11 (`/metrics/partitions`) and YARN's resource manager
//! (`/prom`). For what has no such names, ours say the same. What ran and its replays differ in the labels `origin` and `policy`.

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{AttemptRow, JobRecord, TaskRow};
use resched_tables::records::Source;
use resched_tables::store::System;

use super::held::{decimal, is_work, whole_processors};
use super::{Output, Target, Write};

/// Time lines.
pub(super) const TARGET: Target = Target {
    name: "openmetrics",
    title: "waiting and running jobs over time, for Prometheus (OpenMetrics)",
    write: Write::File(write),
};

/// The time between two samples of a series, ms, as far as the file stays below [`LINES`] lines. It is what Prometheus usually scrapes at.
const STEP: i64 = 60_000;
/// About how many lines a file has at most: longer logs, and logs with more queues, have longer steps.
const LINES: i64 = 10_000_000;

/// What is counted, in the order of [`Names::of`].
#[derive(Clone, Copy)]
enum Count {
    Waiting,
    Running,
    Processors,
    Memory,
}

const COUNTS: [Count; 4] = [Count::Waiting, Count::Running, Count::Processors, Count::Memory];

/// The names of a system for these numbers, and for the label that has the queue.
pub(super) struct Names {
    /// By [`Count`].
    pub(super) of: [&'static str; 4],
    /// The label of the queue.
    pub(super) queue: &'static str,
    /// A unit of memory, bytes.
    memory: f64,
}

impl Names {
    pub(super) fn of(system: System) -> Self {
        match system {
            System::Slurm => Self {
                of: [
                    "slurm_partition_jobs_pending",
                    "slurm_partition_jobs_running",
                    "slurm_partition_jobs_cpus_alloc",
                    "slurm_partition_jobs_memory_alloc",
                ],
                queue: "partition",
                memory: 1.0,
            },
            System::Yarn => Self {
                of: [
                    "queue_metrics_apps_pending",
                    "queue_metrics_apps_running",
                    "queue_metrics_allocated_v_cores",
                    "queue_metrics_allocated_mb",
                ],
                queue: "queue",
                memory: (1 << 20) as f64,
            },
            _ => Self {
                of: [
                    "resched_queue_jobs_pending",
                    "resched_queue_jobs_running",
                    "resched_queue_cores_held",
                    "resched_queue_memory_held_bytes",
                ],
                queue: "queue",
                memory: 1.0,
            },
        }
    }
}

const HELP: [&str; 4] =
    ["Jobs that wait.", "Jobs that run.", "Processors that running jobs hold.", "Memory that running jobs hold."];

fn write(source: &Source, output: &mut Output<'_>) -> Result<(), Error> {
    let Some(mut lines) = TimeLines::open(source)? else { return output.bytes(b"# EOF\n") };
    for record in source.records()? {
        let record = record?;
        output.counted(cause::APPLICATION_MASTER, !record.tasks.iter().all(is_work));
        let is_known = lines.add(&record);
        output.counted(cause::JOB_WITHOUT_SUBMISSION, !is_known);
        output.exported.written += u64::from(is_known);
    }
    output.counted(cause::TIMES_WITHOUT_DATES, source.date(0).is_none());
    let is_made = source.manifest().is_some_and(|manifest| !manifest.has_observed_starts());
    output.counted(cause::TIMES_NOT_OBSERVED, is_made);
    lines.write(source, output)
}

/// The time lines of all queues.
struct TimeLines {
    /// The time of the first sample, and the time between two, ms.
    first: i64,
    step: i64,
    /// The number of samples.
    samples: u64,
    /// Queues by name, with their numbers.
    queues: BTreeMap<String, u32>,
    /// By queue, count and number of a sample: what changes since the sample before. Processors are in thousandths.
    changes: BTreeMap<(u32, usize, u64), i64>,
}

impl TimeLines {
    /// Empty ones for the time that a source covers; `None` if it has no job with a time.
    fn open(source: &Source) -> Result<Option<Self>, Error> {
        let (mut span, mut names): (Option<(i64, i64)>, BTreeSet<String>) = (None, BTreeSet::new());
        for job in source.jobs()? {
            let job = job?;
            for time in [job.submit, job.launch, job.finish].into_iter().flatten() {
                let (first, last) = span.unwrap_or((time, time));
                span = Some((first.min(time), last.max(time)));
            }
            names.insert(job.queue.unwrap_or_default());
        }
        let Some((first, last)) = span else { return Ok(None) };
        let series = i64::try_from(names.len().max(1) * COUNTS.len()).unwrap_or(LINES);
        let most = (LINES / series).max(2);
        let times = last.saturating_sub(first) / most / STEP + 1;
        let step = STEP.saturating_mul(times);
        let first = first.div_euclid(step) * step;
        let samples = (last.saturating_sub(first) / step).unsigned_abs() + 2;
        Ok(Some(Self { first, step, samples, queues: names.into_iter().zip(0..).collect(), changes: BTreeMap::new() }))
    }

    /// Adds a job. Returns false if nobody knows when it was submitted.
    fn add(&mut self, record: &JobRecord) -> bool {
        let job = &record.job;
        let Some(submit) = job.eligible.or(job.submit) else { return false };
        let Some(&queue) = self.queues.get(job.queue.as_deref().unwrap_or_default()) else { return false };
        let work = || record.tasks.iter().filter(|task| is_work(task));
        let attempts = || work().flat_map(|task| task.attempts.iter().map(move |attempt| (&task.task, attempt)));
        let start = job.launch.or_else(|| attempts().filter_map(|(_, attempt)| attempt.start).min());
        self.change(queue, Count::Waiting, (Some(submit), start.or(job.finish)), 1);
        if start.is_some() {
            self.change(queue, Count::Running, (start, job.finish), 1);
        }
        for (task, attempt) in attempts().filter(|(_, attempt)| attempt.start.is_some()) {
            let span = (attempt.start, attempt.finish.or(job.finish));
            let (processors, memory) = held(record, task, attempt);
            self.change(queue, Count::Processors, span, processors);
            self.change(queue, Count::Memory, span, memory);
        }
        true
    }

    /// Counts `amount` from the first of the two times to the second, or to the end of the log.
    fn change(&mut self, queue: u32, count: Count, (from, to): (Option<i64>, Option<i64>), amount: i64) {
        let sample = |time: i64| {
            let past = time.saturating_sub(self.first).max(0);
            (past / self.step).unsigned_abs() + u64::from(past % self.step > 0)
        };
        let places = [from.map(sample), to.map(sample)];
        if amount == 0 || places[0] == places[1] {
            return;
        }
        for (place, amount) in places.into_iter().zip([amount, amount.saturating_neg()]) {
            if let Some(place) = place {
                let sum = self.changes.entry((queue, count as usize, place)).or_default();
                *sum = sum.saturating_add(amount);
            }
        }
    }

    fn write(&self, source: &Source, output: &mut Output<'_>) -> Result<(), Error> {
        let names = Names::of(source.system());
        let origin = match source.policy() {
            None => "origin=\"observed\"".to_owned(),
            Some(policy) => format!("origin=\"replay\",policy=\"{}\"", escaped(policy)),
        };
        for count in COUNTS {
            let (name, help) = (names.of[count as usize], HELP[count as usize]);
            output.bytes(format!("# TYPE {name} gauge\n# HELP {name} {help}\n").as_bytes())?;
            for (queue, &number) in &self.queues {
                let labels = format!("{name}{{{origin},{}=\"{}\"}}", names.queue, escaped(queue));
                self.write_series((number, count), &labels, &names, source, output)?;
            }
        }
        output.bytes(b"# EOF\n")
    }

    /// The samples of a series, from its first change to its last.
    fn write_series(
        &self,
        (queue, count): (u32, Count),
        labels: &str,
        names: &Names,
        source: &Source,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let all = (queue, count as usize, 0)..=(queue, count as usize, u64::MAX);
        let mut changes = self.changes.range(all).map(|((.., place), change)| (*place, *change)).peekable();
        let Some(&(first, _)) = changes.peek() else { return Ok(()) };
        let mut value: i64 = 0;
        for place in first..self.samples {
            while let Some((_, change)) = changes.next_if(|(at, _)| *at <= place) {
                value = value.saturating_add(change);
            }
            let time = self.first.saturating_add(self.step.saturating_mul(i64::try_from(place).unwrap_or(i64::MAX)));
            let date = source.date(time).unwrap_or(time);
            let shown = match count {
                Count::Waiting | Count::Running => value.to_string(),
                Count::Processors => decimal(value, 1_000.0),
                Count::Memory => decimal(value, names.memory),
            };
            output.bytes(format!("{labels} {shown} {}\n", decimal(date, 1_000.0)).as_bytes())?;
            if changes.peek().is_none() && value == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// The processors that an attempt holds, in thousandths, and its memory in bytes: those of a replay, else those of its task.
fn held(record: &JobRecord, task: &TaskRow, attempt: &AttemptRow) -> (i64, i64) {
    if attempt.cpu_request.is_some() || attempt.memory_request.is_some() {
        return (attempt.cpu_request.unwrap_or(0), attempt.memory_request.unwrap_or(0));
    }
    let instances = task.instances.unwrap_or(1);
    let each = whole_processors(&record.job, task.cpu_request).map(|cores| cores * 1_000).or(task.cpu_request);
    let all = |each: i64| each.saturating_mul(instances);
    (all(each.unwrap_or(1_000)), all(task.memory_request.unwrap_or(0)))
}

/// A text as the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
