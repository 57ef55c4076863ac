//! `.jhist`: the job history of Hadoop 0.21 and later, one job per file, as a stream of Avro events.
//!
//! ```text
//! magic line ─▶ json ───┐
//!   + schema            ├─▶ event ─▶ history ─▶ JobRecord
//!              ─▶ binary┘
//! ```
//!
//! Layout and quirks: `docs/formats/jhist.md`. The job's outcome is that of its last event. The file's name is
//! ignored, because it may give another outcome.

#[cfg(feature = "avro")]
mod binary;
#[cfg(not(feature = "avro"))]
#[path = "no_binary.rs"]
mod binary;
mod event;
mod history;
mod json;
mod lines;

use std::io::BufRead;
use std::path::Path;

use self::history::History;
pub(crate) use self::lines::MAX_EVENT_BYTES;
use self::lines::{Line, read_line};
use super::format::{Format, ReadAs};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::sink::Sink;
use resched_tables::store::SCHEDULER_VERSION;

/// The Avro job history.
pub const FORMAT: Format = Format {
    name: "jhist",
    title: "Hadoop job history (.jhist, Avro)",
    time_zero: Some(resched_tables::store::TimeZero::Epoch),
    system: None,
    has_tasks: true,
    group: super::HADOOP,
    is_whole: false,
    has_times_of_tasks: true,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// Most bytes that may stand before the magic line.
const MAX_PREFIX_BYTES: usize = 64 << 10;

/// The encoding of the events, as the magic line names it.
#[derive(Clone, Copy)]
enum Encoding {
    Json,
    Binary,
}

impl Encoding {
    /// The encoding whose magic word ends `line`, and how many bytes stand before it.
    fn of(line: &[u8]) -> Option<(Encoding, usize)> {
        let line = line.trim_ascii_end();
        [(Encoding::Json, "Avro-Json"), (Encoding::Binary, "Avro-Binary")]
            .into_iter()
            .find_map(|(encoding, magic)| Some((encoding, line.strip_suffix(magic.as_bytes())?.len())))
    }
}

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["jobid"]),
    ("jobs.name", &["jobName"]),
    ("jobs.user", &["userName"]),
    ("jobs.queue", &["jobQueueName"]),
    ("jobs.priority", &["priority"]),
    ("jobs.submit", &["submitTime"]),
    ("jobs.launch", &["launchTime"]),
    ("jobs.finish", &["finishTime"]),
    ("jobs.outcome", &["jobStatus", "type"]),
    ("jobs.declared_maps", &["totalMaps"]),
    ("jobs.declared_reduces", &["totalReduces"]),
    ("tasks.task_id", &["taskid", "applicationAttemptId"]),
    ("tasks.kind", &["taskType"]),
    ("tasks.stage", &["taskType"]),
    ("tasks.start", &["startTime"]),
    ("tasks.finish", &["finishTime"]),
    ("tasks.outcome", &["status", "type"]),
    ("tasks.input_bytes", &["counters"]),
    ("tasks.input_records", &["counters"]),
    ("tasks.output_bytes", &["counters"]),
    ("tasks.output_records", &["counters"]),
    ("splits.host", &["splitLocations"]),
    ("splits.rack", &["splitLocations"]),
    ("attempts.attempt", &["attemptId", "applicationAttemptId"]),
    ("attempts.kind", &["taskType"]),
    ("attempts.start", &["startTime"]),
    ("attempts.shuffle_finish", &["shuffleFinishTime"]),
    ("attempts.sort_finish", &["sortFinishTime"]),
    ("attempts.finish", &["finishTime"]),
    ("attempts.outcome", &["taskStatus", "status", "type"]),
    ("attempts.host", &["hostname", "trackerName", "nodeManagerHost"]),
    ("attempts.rack", &["rackname", "hostname"]),
    ("attempts.error", &["error"]),
    ("attempts.locality", &["locality"]),
    ("attempts.speculative", &["avataar"]),
    ("attempts.hdfs_bytes_read", &["counters"]),
    ("attempts.hdfs_bytes_written", &["counters"]),
    ("attempts.file_bytes_read", &["counters"]),
    ("attempts.file_bytes_written", &["counters"]),
    ("attempts.map_input_bytes", &["counters"]),
    ("attempts.map_output_bytes", &["counters"]),
    ("attempts.reduce_shuffle_bytes", &["counters"]),
    ("attempts.spilled_records", &["counters"]),
    ("attempts.cpu_ms", &["counters"]),
    ("attempts.physical_memory", &["counters"]),
    ("counters.value", &["counters", "totalCounters", "mapCounters", "reduceCounters"]),
];

fn sniff(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    let found = lines.any(|line| Encoding::of(line).is_some());
    found && lines.next().is_none_or(|schema| schema.trim_ascii_start().starts_with(b"{"))
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let encoding = read_magic(input, path, sink)?;
    let mut schema = Vec::new();
    read_line(input, &mut schema).map_err(Error::io(Path::new(path), "read"))?;
    if is_of_3(&schema) {
        sink.parameter(SCHEDULER_VERSION, "3".into());
    }
    let mut history = History::new(sink.wants_counters());
    match encoding {
        // JSON names its fields, so its schema is not needed.
        Encoding::Json => json::read(input, path, &mut history, sink)?,
        Encoding::Binary => binary::read(input, &schema, path, &mut history, sink)?,
    }
    let system = history.system();
    sink.skip(cause::UBER_JOB, u64::from(history.is_uber()));
    match history.finish() {
        Some(job) => {
            system.into_iter().for_each(|system| sink.system(system));
            sink.job(job)
        }
        None => Ok(()),
    }
}

/// True if a schema is one of Hadoop 3, whose jobs say how many of their maps were killed.
fn is_of_3(schema: &[u8]) -> bool {
    const SIGN: &[u8] = b"\"killedMaps\"";
    schema.windows(SIGN.len()).any(|part| part == SIGN)
}

/// Reads up to the end of the magic line and counts what stands before it.
fn read_magic(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<Encoding, Error> {
    let mut before = 0;
    let mut line = Vec::new();
    while before < MAX_PREFIX_BYTES {
        if let Line::End = read_line(input, &mut line).map_err(Error::io(Path::new(path), "read"))? {
            break;
        }
        if let Some((encoding, prefix)) = Encoding::of(&line) {
            let skipped = before + prefix;
            if skipped > 0 {
                sink.skip(cause::PREFIX_BYTES, u64::try_from(skipped).unwrap_or(u64::MAX));
            }
            return Ok(encoding);
        }
        before += line.len();
    }
    Err(Error::Source {
        path: path.to_owned(),
        place: format!("first {before} bytes, "),
        expected: "a line `Avro-Json` or `Avro-Binary`".to_owned(),
        found: "none".to_owned(),
        remedy: "check that this is a .jhist file, or name its format with --format".to_owned(),
    })
}

#[cfg(test)]
mod tests;
