//! The text job history of Hadoop 0.18, 0.20 and 1.x (`docs/formats/text-history.md`).
//!
//! A history is a run of records `<Type> KEY="value" … .`; a value may hold line ends. Hadoop 0.18 writes neither the
//! final ` .` nor escapes. One file may hold several histories and confs, each after a line `\f!!FILE=<name>!!`.
//! Histories that were simply joined are separated by their `Meta` records. Records of one id are merged, and later
//! ones win.
//!
//! Causes that are counted: `damaged-record` and `unterminated-record` (part of the record could not be read; the rest
//! is kept), `oversized-record`, `unknown-record` (of a type that no Hadoop writes), `orphan-record` (of another job
//! than the history's), `reopened-task`, `task-record-missing` (the task's row is made from its attempts),
//! `damaged-counters`, `surplus-splits` and `shortened-text`.

mod counters;
mod job;
mod lines;
mod record;

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::path::Path;

pub(crate) use self::counters::MOST_COUNTERS;
pub(crate) use self::job::MOST_SPLITS;
use self::job::{JobBuilder, Owner};
pub(crate) use self::lines::LONGEST;
pub(crate) use self::record::MOST_KEYS;
use self::record::{Record, RecordType, Syntax};
use super::conf_xml::{self, JobConf};
use super::format::{Format, ReadAs};
use super::lines::{Line, Lines};
use super::names::job_id_in_name;
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::sink::Sink;
use resched_tables::store::TimeZero;

/// The format.
pub const FORMAT: Format = Format {
    name: "text-history",
    title: "text job history of Hadoop 0.18, 0.20 and 1.x",
    time_zero: Some(TimeZero::Epoch),
    system: Some(resched_tables::store::System::MapReduce1),
    has_tasks: true,
    group: super::HADOOP,
    is_whole: false,
    has_times_of_tasks: true,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["JOBID"]),
    ("jobs.name", &["JOBNAME"]),
    ("jobs.user", &["USER"]),
    ("jobs.queue", &["JOB_QUEUE"]),
    ("jobs.priority", &["JOB_PRIORITY"]),
    ("jobs.submit", &["SUBMIT_TIME"]),
    ("jobs.launch", &["LAUNCH_TIME"]),
    ("jobs.finish", &["FINISH_TIME"]),
    ("jobs.outcome", &["JOB_STATUS"]),
    ("jobs.declared_maps", &["TOTAL_MAPS"]),
    ("jobs.declared_reduces", &["TOTAL_REDUCES"]),
    ("tasks.task_id", &["TASKID"]),
    ("tasks.kind", &["TASK_TYPE"]),
    ("tasks.start", &["START_TIME"]),
    ("tasks.finish", &["FINISH_TIME"]),
    ("tasks.outcome", &["TASK_STATUS"]),
    ("tasks.input_bytes", &["COUNTERS"]),
    ("tasks.input_records", &["COUNTERS"]),
    ("tasks.output_bytes", &["COUNTERS"]),
    ("tasks.output_records", &["COUNTERS"]),
    ("splits.host", &["SPLITS"]),
    ("splits.rack", &["SPLITS"]),
    ("attempts.attempt", &["TASK_ATTEMPT_ID"]),
    ("attempts.kind", &["TASK_TYPE"]),
    ("attempts.start", &["START_TIME"]),
    ("attempts.shuffle_finish", &["SHUFFLE_FINISHED"]),
    ("attempts.sort_finish", &["SORT_FINISHED"]),
    ("attempts.finish", &["FINISH_TIME"]),
    ("attempts.outcome", &["TASK_STATUS"]),
    ("attempts.host", &["HOSTNAME", "TRACKER_NAME"]),
    ("attempts.rack", &["HOSTNAME"]),
    ("attempts.error", &["ERROR"]),
    ("attempts.locality", &["LOCALITY"]),
    ("attempts.speculative", &["AVATAAR"]),
    ("attempts.hdfs_bytes_read", &["COUNTERS"]),
    ("attempts.hdfs_bytes_written", &["COUNTERS"]),
    ("attempts.file_bytes_read", &["COUNTERS"]),
    ("attempts.file_bytes_written", &["COUNTERS"]),
    ("attempts.map_input_bytes", &["COUNTERS"]),
    ("attempts.map_output_bytes", &["COUNTERS"]),
    ("attempts.reduce_shuffle_bytes", &["COUNTERS"]),
    ("attempts.spilled_records", &["COUNTERS"]),
    ("attempts.cpu_ms", &["COUNTERS"]),
    ("attempts.physical_memory", &["COUNTERS"]),
    ("counters.value", &["COUNTERS", "MAP_COUNTERS", "REDUCE_COUNTERS"]),
];

fn sniff(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head.get(..4096).unwrap_or(head));
    let Some(line) = head.lines().find(|line| line.len() > 1) else { return false };
    is_concatenated(head.as_bytes()) || record::begins_record(line) && record::record_type(line) != RecordType::Unknown
}

/// True if a file that starts with these bytes holds several files, each after a line `\f!!FILE=<name>!!`.
pub fn is_concatenated(head: &[u8]) -> bool {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0c';
    let start = head.iter().position(|byte| !blank(byte)).unwrap_or(head.len());
    head.get(start..).is_some_and(|head| head.starts_with(b"!!FILE="))
}

/// The confs in a concatenated file, by job id: they may stand after the history that they belong to.
/// Also gives how many of them were damaged.
///
/// # Errors
/// The error of reading `input`.
pub fn read_confs(input: &mut dyn BufRead) -> io::Result<(BTreeMap<String, JobConf>, u64)> {
    let mut found = (BTreeMap::new(), 0);
    let mut lines = Lines::new(input, LONGEST);
    let mut conf: Option<(String, String)> = None;
    let mut end = |conf: Option<(String, String)>| {
        if let Some((id, text)) = conf {
            let (conf, whole) = conf_xml::parse(&mut text.as_bytes());
            if conf != JobConf::default() {
                found.0.entry(id).or_insert(conf);
            }
            found.1 += u64::from(!whole);
        }
    };
    while let Some(line) = lines.next()? {
        let Line::Text(line) = line else { continue };
        if let Some(name) = lines::section_name(&line) {
            let id = job_id_in_name(name).filter(|_| conf_xml::is_conf_name(name));
            end(std::mem::replace(&mut conf, id.map(|id| (id, String::new()))));
        } else if let Some((_, text)) = conf.as_mut().filter(|(_, text)| text.len() + line.len() < LONGEST) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    end(conf);
    Ok(found)
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut lines = Lines::new(input, LONGEST);
    let mut reader = Reader::new(sink);
    while let Some(line) = lines.next().map_err(Error::io(Path::new(path), "read"))? {
        match line {
            Line::Text(line) => reader.line(&line)?,
            Line::TooLong => reader.oversized(),
        }
    }
    reader.end_history()
}

/// Turns lines into records, and records into jobs.
struct Reader<'a> {
    sink: &'a mut dyn Sink,
    /// The record that the lines so far have begun.
    pending: Option<String>,
    /// Within a record that was given up for its length.
    discarding: bool,
    /// Within a part that is no history.
    in_conf: bool,
    /// Known from the first record of a history on.
    syntax: Option<Syntax>,
    /// The job of this history, from its first record on.
    job: Option<JobBuilder>,
    /// A `Meta` record came since: the next record may begin another history.
    fresh: bool,
}

impl<'a> Reader<'a> {
    fn new(sink: &'a mut dyn Sink) -> Self {
        Self { sink, pending: None, discarding: false, in_conf: false, syntax: None, job: None, fresh: true }
    }

    fn line(&mut self, line: &str) -> Result<(), Error> {
        if let Some(name) = lines::section_name(line) {
            self.end_history()?;
            self.in_conf = conf_xml::is_conf_name(name);
        } else if self.in_conf {
            // `read_confs` takes them.
        } else if record::begins_record(line) {
            self.begin_record(line)?;
        } else {
            self.continue_record(line)?;
        }
        Ok(())
    }

    fn begin_record(&mut self, line: &str) -> Result<(), Error> {
        self.end_record()?;
        self.discarding = false;
        // 0.18 has no Meta record; a history whose head was cut off still shows the escaped syntax by its line ends.
        let escaped = line.starts_with("Meta ") || record::ends_record(line);
        let first = if escaped { Syntax::Escaped } else { Syntax::Plain };
        let syntax =
            if line.starts_with("Meta ") { *self.syntax.insert(first) } else { *self.syntax.get_or_insert(first) };
        if syntax == Syntax::Escaped && record::ends_record(line) {
            return self.record(line, syntax);
        }
        self.pending = Some(line.to_owned());
        Ok(())
    }

    fn continue_record(&mut self, line: &str) -> Result<(), Error> {
        let ends = self.syntax == Some(Syntax::Escaped) && record::ends_record(line);
        if self.discarding {
            self.discarding = !ends;
        } else if let Some(pending) = &mut self.pending {
            if pending.len() + line.len() >= LONGEST {
                self.oversized();
                return Ok(());
            }
            pending.push('\n');
            pending.push_str(line);
            if ends {
                let text = self.pending.take().unwrap_or_default();
                return self.record(&text, Syntax::Escaped);
            }
        } else if line.len() > 1 {
            self.sink.skip(cause::DAMAGED_RECORD, 1);
        }
        Ok(())
    }

    fn oversized(&mut self) {
        if !self.in_conf {
            self.sink.skip(cause::OVERSIZED_RECORD, 1);
            self.pending = None;
            self.discarding = true;
        }
    }

    /// Takes the pending record as far as it goes: in the plain syntax nothing else ends one.
    fn end_record(&mut self) -> Result<(), Error> {
        let (Some(text), Some(syntax)) = (self.pending.take(), self.syntax) else { return Ok(()) };
        if syntax == Syntax::Escaped {
            self.sink.skip(cause::UNTERMINATED_RECORD, 1);
        }
        self.record(&text, syntax)
    }

    fn record(&mut self, text: &str, syntax: Syntax) -> Result<(), Error> {
        let record = record::parse(text, syntax);
        match record.kind {
            RecordType::Meta => {
                self.fresh = true;
                return Ok(());
            }
            RecordType::Unknown => {
                self.sink.skip(cause::UNKNOWN_RECORD, 1);
                return Ok(());
            }
            RecordType::Job | RecordType::Task | RecordType::Attempt => {}
        }
        let mut faults = Vec::new();
        if record.damaged {
            faults.push(cause::DAMAGED_RECORD);
        }
        match Owner::of(&record) {
            Some(owner) => self.apply(&record, &owner, &mut faults)?,
            None if record.damaged => {}
            None => faults.push(cause::DAMAGED_RECORD),
        }
        for cause in faults {
            self.sink.skip(cause, 1);
        }
        Ok(())
    }

    fn apply(&mut self, record: &Record, owner: &Owner, faults: &mut Vec<Cause>) -> Result<(), Error> {
        if self.fresh && self.job.as_ref().is_none_or(|job| job.id() != owner.job) {
            self.end_job()?;
            self.job = Some(JobBuilder::new(owner.job.clone(), self.sink.wants_counters()));
        }
        self.fresh = false;
        match self.job.as_mut().filter(|job| job.id() == owner.job) {
            Some(job) => job.apply(record, owner, faults),
            None => faults.push(cause::ORPHAN_RECORD),
        }
        Ok(())
    }

    fn end_job(&mut self) -> Result<(), Error> {
        let Some(job) = self.job.take() else { return Ok(()) };
        let (job, unreported) = job.finish();
        if unreported > 0 {
            self.sink.skip(cause::TASK_RECORD_MISSING, unreported);
        }
        self.sink.job(job)
    }

    fn end_history(&mut self) -> Result<(), Error> {
        self.end_record()?;
        self.end_job()?;
        (self.discarding, self.in_conf, self.syntax, self.fresh) = (false, false, None, true);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
