//! Event logs of Spark 1.x to 4.x: JSON lines, in one file or one rolling folder per attempt of an application.
//!
//! Page: `docs/formats/spark.md`. A Spark job is a job, and its application is its group. The tasks of a stage carry the
//! numbers of the stage and of the stages that it waits for, as far as these ran within the job. A stage whose output
//! still exists from an earlier job does not run again. The name of a job comes from the user's description, or else
//! from the job's last stage. A job is passed on when it has ended and none of its tasks runs any more, or at the end
//! of the log.
//!
//! | column | from |
//! |---|---|
//! | `jobs.job_id` | `App ID`, `App Attempt ID` if there is one, and `Job ID`. Where the log has no `App ID`: the `SparkContext Id` of Databricks, else the name of the file, or of its folder if every log has that name |
//! | `jobs.queue` | `spark.scheduler.pool` of the job. A job without a pool: `default` in the mode `FAIR`; in the mode `FIFO`, where pools do not count, `spark.yarn.queue`, or else `default` |
//! | `tasks.kind` | `ShuffleMapTask` is a map, `ResultTask` a reduce: labels, no more |
//! | `tasks.cpu_request` | `spark.task.cpus`, by default 1 |
//! | `tasks.memory_request` | `spark.executor.memory`, shared equally by the tasks that an executor runs at once |
//! | `attempts.queued` | when the stage was submitted, for first attempts |
//! | `attempts.locality` | `NODE_LOCAL`, `RACK_LOCAL`, and `ANY` as elsewhere. `PROCESS_LOCAL` and `NO_PREF` are unknown: see below |
//! | `splits` | the hosts that a task prefers: see `preferred.rs` |
//! | `nodes` | what the executors of the application (`group`) on a host offer together; a row whenever that changes. Executors that are left at `ApplicationEnd` leave then |
//! | `applications` of the manifest | the settings that scheduling depends on, and `spark.version` |
//!
//! `PROCESS_LOCAL` says nothing about the place of a task's input on disk. It means that the input is in the memory of the
//! task's own executor, or that the task prefers no place at all: `TaskSetManager` launches tasks without preferred locations under
//! this level. Such tasks count in no metric of locality. `ANY` means that the task prefers another place: a task without a
//! preference is launched under `PROCESS_LOCAL` before this level is reached.
//!
//! The machines show only what the applications held of them, not the whole cluster.
//!
//! What the tables cannot hold is counted: `barrier-stage` (a stage whose tasks must start together), `resource-profile` (stages with other
//! executors or requests than the application's) and `excluded-executor` (an executor or host that gets no tasks for some time).

mod application;
mod event;
mod executors;
mod likely;
mod part;
mod preferred;
mod retries;
mod settings;
#[cfg(test)]
mod tests;

use std::io::BufRead;
use std::path::Path;

use self::application::Application;
pub(crate) use self::application::{MOST_HELD, MOST_JOBS, MOST_LOSSES, MOST_RETRIES};
use self::event::Event;
pub(crate) use self::executors::MOST_EVENTS;
pub(crate) use self::part::{DATABRICKS, part};
use self::preferred::Preferred;
pub(crate) use self::preferred::{FILE as PREFERRED, MOST_BYTES as MOST_PREFERRED};
use super::format::{Format, ReadAs};
use super::lines::{Line, Lines, head_lines};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::sink::{Damage, Sink};

/// Spark's event log.
pub const FORMAT: Format = Format {
    name: "spark",
    title: "Spark event log (JSON lines)",
    time_zero: Some(resched_tables::store::TimeZero::Epoch),
    system: Some(resched_tables::store::System::Spark),
    has_tasks: true,
    group: "spark",
    is_whole: false,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// The longest line (bytes). Lines of several 100 kB are normal: plans of SQL, settings, the stages of a large job.
pub(crate) const MAX_LINE: usize = 8 << 20;

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["App ID", "Job ID"]),
    ("jobs.name", &["spark.job.description", "Stage Name", "App Name"]),
    ("jobs.user", &["User"]),
    ("jobs.queue", &["spark.scheduler.pool", "spark.yarn.queue"]),
    ("jobs.group", &["App ID"]),
    ("jobs.submit", &["Submission Time"]),
    ("jobs.launch", &["Launch Time"]),
    ("jobs.finish", &["Completion Time"]),
    ("jobs.outcome", &["Job Result"]),
    ("jobs.input_bytes", &["Input Metrics"]),
    ("jobs.shuffle_bytes", &["Shuffle Read Metrics"]),
    ("jobs.output_bytes", &["Output Metrics"]),
    ("tasks.task_id", &["Stage ID", "Partition ID", "Index"]),
    ("tasks.kind", &["Task Type"]),
    ("tasks.stage", &["Stage ID"]),
    ("tasks.depends_on", &["Parent IDs"]),
    ("tasks.cpu_request", &["spark.task.cpus"]),
    ("tasks.memory_request", &["spark.executor.memory", "spark.executor.cores"]),
    ("tasks.start", &["Launch Time"]),
    ("tasks.finish", &["Finish Time"]),
    ("tasks.outcome", &["Task End Reason"]),
    ("tasks.input_bytes", &["Input Metrics", "Shuffle Read Metrics"]),
    ("tasks.input_records", &["Input Metrics", "Shuffle Read Metrics"]),
    ("tasks.output_bytes", &["Output Metrics", "Shuffle Write Metrics"]),
    ("tasks.output_records", &["Output Metrics", "Shuffle Write Metrics"]),
    ("attempts.kind", &["Task Type"]),
    ("attempts.attempt", &["Attempt"]),
    ("attempts.queued", &["Submission Time"]),
    ("attempts.start", &["Launch Time"]),
    ("attempts.finish", &["Finish Time"]),
    ("attempts.outcome", &["Task End Reason"]),
    ("attempts.host", &["Host"]),
    ("attempts.locality", &["Locality"]),
    ("attempts.speculative", &["Speculative"]),
    ("attempts.error", &["Task End Reason"]),
    ("attempts.hdfs_bytes_read", &["Input Metrics"]),
    ("attempts.hdfs_bytes_written", &["Output Metrics"]),
    ("attempts.map_output_bytes", &["Shuffle Write Metrics"]),
    ("attempts.reduce_shuffle_bytes", &["Shuffle Read Metrics"]),
    ("attempts.cpu_ms", &["Executor CPU Time"]),
    ("splits.host", &["preferred.csv", "Locality", "Host"]),
    ("nodes.host", &["Executor Info"]),
    ("nodes.time", &["Timestamp"]),
    ("nodes.event", &["SparkListenerExecutorAdded", "SparkListenerExecutorRemoved"]),
    ("nodes.cpu", &["Total Cores"]),
    ("nodes.memory", &["spark.executor.memory"]),
    ("nodes.group", &["App ID"]),
    ("nodes.map_slots", &["Total Cores"]),
];

fn sniff(head: &[u8]) -> bool {
    // The first line may be longer than the head; it starts with the name of its event.
    let is_ours = |line: &&str| event::name(line).is_ok_and(|name| name.contains("SparkListener"));
    head_lines(head).iter().take(3).any(is_ours)
        || std::str::from_utf8(head.get(..64).unwrap_or(head)).is_ok_and(|line| is_ours(&line))
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let file = log_name(path);
    let preferred = Preferred::beside(path, sink)?;
    let mut application = Application::new(&file, preferred.as_ref());
    let mut lines = Lines::new(input, MAX_LINE);
    let mut number = 0u64;
    while let Some(line) = lines.next().map_err(Error::io(Path::new(path), "read"))? {
        number += 1;
        let Line::Text(line) = line else {
            sink.skip(cause::OVERSIZED_LINE, 1);
            continue;
        };
        if line.trim().is_empty() {
            continue;
        }
        match Event::parse(&line) {
            Ok(Some(Event::ApplicationStart(_) | Event::LogStart(_))) if application.has_jobs() => {
                // Logs that were joined.
                std::mem::replace(&mut application, Application::new(&file, preferred.as_ref())).finish(sink)?;
                if let Ok(Some(event)) = Event::parse(&line) {
                    application.take(event, sink)?;
                }
            }
            Ok(Some(Event::Part(part))) => {
                if application.is_of_another(&part) {
                    std::mem::replace(&mut application, Application::new(&file, preferred.as_ref())).finish(sink)?;
                }
                application.take(Event::Part(part), sink)?;
            }
            Ok(Some(event)) => application.take(event, sink)?,
            Ok(None) => {}
            Err(error) => {
                sink.skip(cause::DAMAGED_LINE, 1);
                sink.damage(&|| damage(number, &line, &error));
            }
        }
    }
    application.finish(sink)
}

/// A line that is no event.
fn damage(number: u64, line: &str, error: &serde_json::Error) -> Damage {
    let start = line.get(..line.floor_char_boundary(120)).unwrap_or_default();
    let found = format!("`{start}` ({error})");
    Damage::new(
        &format!("line {number}, "),
        "an event of Spark, a JSON object in each line",
        &found,
        "copy the log again",
    )
}

/// The name of a log without the endings that show how it was written. Spark makes this name from the application's id. Where all logs have
/// one name, the folder has that of the application.
fn log_name(path: &str) -> String {
    let mut parts = path.rsplit(['/', '\\']);
    let name = stem_of_log(parts.next().unwrap_or(path));
    let folder = parts.find(|folder| !folder.is_empty()).filter(|folder| ![".", ".."].contains(folder));
    folder.filter(|_| is_name_of_every_log(name)).unwrap_or(name).to_owned()
}

/// True if a program calls each of its logs so: Databricks `eventlog`, also with a date, and Spark 1.0 and 1.1 `EVENT_LOG_1`.
fn is_name_of_every_log(name: &str) -> bool {
    let number = name.strip_prefix("EVENT_LOG_").filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    number.is_some() || name.strip_prefix(DATABRICKS).is_some_and(|date| date.is_empty() || date.starts_with('-'))
}

fn stem_of_log(mut name: &str) -> &str {
    while let Some((stem, ending)) = name.rsplit_once('.') {
        if !matches!(
            ending,
            "inprogress" | "zstd" | "zst" | "lz4" | "snappy" | "lzf" | "gz" | "txt" | "json" | "compact"
        ) {
            break;
        }
        name = stem;
    }
    name
}
