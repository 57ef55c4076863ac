//! Writes jobs as the history that a JobTracker of Hadoop 0.20 leaves: one text file per job, and the job's
//! configuration.
//!
//! The grammar is that of version 1 (`docs/formats/text-history.md`): records `<Type> KEY="value" … .`, values escaped with
//! backslashes. A file is named `<jobtracker>_<start-ms>_<job-id>_<user>_<job name>`, the configuration beside it
//! `<jobtracker>_<start-ms>_<job-id>_conf.xml`. As in real histories, the start and the end of an attempt stand
//! together, and the host of an attempt that did not succeed stands without its rack.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use resched_tables::Error;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, Locality, Outcome, TaskKind, TaskRecord};
use resched_tables::store::write_file;

/// The characters that `java.net.URLEncoder` leaves as they are; it also writes a blank as `+`.
const URL_SAFE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'*').remove(b'_').remove(b' ');
/// The longest part of a file name made from a user's or a job's name, so that the whole stays below 255 bytes.
const MAX_NAME: usize = 80;
/// The port of a TaskTracker's web pages.
const HTTP_PORT: &str = "50060";
/// The port from which a TaskTracker talks to its tasks. Real ones differ; nobody reads it.
const TRACKER_PORT: &str = "45001";

/// The JobTracker whose history it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JobTracker {
    /// Its host.
    pub(crate) host: String,
    /// When it started, ms since the epoch.
    pub(crate) start_ms: i64,
}

/// Writes the history and the configuration of each job into the folder `dir`, which is made if it does not exist.
///
/// Each file appears whole or not at all; other files in the folder stay. Columns that a history has no key for are
/// left out, and so are counters beyond the columns of an attempt.
///
/// # Errors
/// [`Error::Request`] if a job or a task cannot stand in such a history: its id is not `job_<digits>_<digits>`, or the
/// task is of kind `other`. [`Error::Io`].
pub(crate) fn write_history(records: &[JobRecord], jobtracker: &JobTracker, dir: &Path) -> Result<(), Error> {
    fs::create_dir_all(dir).map_err(Error::io(dir, "create the folder"))?;
    let tracker = format!("{}_{}", url_encode(&jobtracker.host), jobtracker.start_ms);
    for record in records {
        let job = &record.job;
        if !is_job_id(&job.job_id) {
            return Err(Error::Request(format!(
                "job `{}`: a Hadoop history expects an id like job_201003010800_0001; give it such an id",
                job.job_id
            )));
        }
        let user = url_encode(user(job));
        let name = url_encode(job.name.as_deref().unwrap_or_default());
        let history = dir.join(format!("{tracker}_{}_{user}_{name}", job.job_id));
        write_file(&history, history_of(record, &jobtracker.host)?.as_bytes())?;
        let conf = dir.join(format!("{tracker}_{}_conf.xml", job.job_id));
        write_file(&conf, &configuration(job).map_err(Error::io(&conf, "encode"))?)?;
    }
    Ok(())
}

fn user(job: &JobRow) -> &str {
    job.user.as_deref().unwrap_or("hadoop")
}

fn is_job_id(id: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    id.strip_prefix("job_")
        .and_then(|rest| rest.split_once('_'))
        .is_some_and(|(start, number)| digits(start) && digits(number))
}

/// A name as part of a file's name, cut between characters if it is too long.
pub(crate) fn url_encode(name: &str) -> String {
    let mut encoded = String::new();
    for character in name.chars() {
        let mut bytes = [0; 4];
        let part = utf8_percent_encode(character.encode_utf8(&mut bytes), URL_SAFE).to_string();
        if encoded.len() + part.len() > MAX_NAME {
            break;
        }
        encoded.push_str(&part);
    }
    encoded.replace(' ', "+")
}

/// The text of a job's history.
pub(crate) fn history_of(record: &JobRecord, jobtracker: &str) -> Result<String, Error> {
    let job = &record.job;
    let id = job.job_id.as_str();
    let declared = |count: Option<i64>| count.unwrap_or(0);
    let mut log = Log::default();
    log.record("Meta").key("VERSION", 1);
    log.record("Job")
        .key("JOBID", id)
        .key("JOBNAME", job.name.as_deref().unwrap_or_default())
        .key("USER", user(job))
        .known("SUBMIT_TIME", job.submit)
        .key("JOBCONF", format_args!("hdfs://{jobtracker}/mapred/system/{id}/job.xml"));
    log.record("Job").key("JOBID", id).key("JOB_PRIORITY", job.priority.unwrap_or_default());
    if job.launch.is_some() {
        log.record("Job")
            .key("JOBID", id)
            .known("LAUNCH_TIME", job.launch)
            .key("TOTAL_MAPS", declared(job.declared_maps))
            .key("TOTAL_REDUCES", declared(job.declared_reduces))
            .key("JOB_STATUS", "PREP");
        log.record("Job").key("JOBID", id).key("JOB_STATUS", "RUNNING");
    }
    for task in &record.tasks {
        log_task(&mut log, task)?;
    }
    if let Some(status) = status(job.outcome) {
        log.record("Job")
            .key("JOBID", id)
            .known("FINISH_TIME", job.finish)
            .key("JOB_STATUS", status)
            .key("FINISHED_MAPS", count(record, TaskKind::Map, true))
            .key("FINISHED_REDUCES", count(record, TaskKind::Reduce, true))
            .key("FAILED_MAPS", count(record, TaskKind::Map, false))
            .key("FAILED_REDUCES", count(record, TaskKind::Reduce, false))
            .key("COUNTERS", job_counters(record));
    }
    Ok(log.text())
}

/// How many attempts of that kind succeeded, or failed and were killed (Hadoop counts these as failed).
fn count(record: &JobRecord, kind: TaskKind, success: bool) -> usize {
    let attempts = record.tasks.iter().flat_map(|task| &task.attempts).filter(|attempt| attempt.kind == kind);
    attempts
        .filter(|attempt| match attempt.outcome {
            Outcome::Success => success,
            Outcome::Incomplete | Outcome::Unknown => false,
            _ => !success,
        })
        .count()
}

fn log_task(log: &mut Log, record: &TaskRecord) -> Result<(), Error> {
    let task = &record.task;
    let kind = match task.kind {
        TaskKind::Map => "MAP",
        TaskKind::Reduce => "REDUCE",
        TaskKind::Setup => "SETUP",
        TaskKind::Cleanup => "CLEANUP",
        TaskKind::Master | TaskKind::Other => {
            return Err(Error::Request(format!(
                "task `{}`: a Hadoop history expects a map, reduce, set-up or clean-up, found another kind; leave it out",
                task.task_id
            )));
        }
    };
    let places = record.splits.iter().filter_map(|split| Some(place(split.rack.as_deref(), split.host.as_deref()?)));
    log.record("Task")
        .key("TASKID", &task.task_id)
        .key("TASK_TYPE", kind)
        .known("START_TIME", task.start)
        .key("SPLITS", places.collect::<Vec<_>>().join(","));
    for attempt in &record.attempts {
        log_attempt(log, attempt, kind);
    }
    if let Some(status) = status(task.outcome) {
        // A task's counters are those of the attempt that succeeded.
        let winner = record.attempts.iter().find(|attempt| attempt.outcome == Outcome::Success);
        log.record("Task")
            .key("TASKID", &task.task_id)
            .key("TASK_TYPE", kind)
            .key("TASK_STATUS", status)
            .known("FINISH_TIME", task.finish)
            .known("COUNTERS", winner.map(attempt_counters));
    }
    Ok(())
}

fn log_attempt(log: &mut Log, attempt: &AttemptRow, kind: &str) {
    let record = if attempt.kind == TaskKind::Reduce { "ReduceAttempt" } else { "MapAttempt" };
    let task = attempt.task_id.strip_prefix("task").unwrap_or(&attempt.task_id);
    let id = format!("attempt{task}_{}", attempt.attempt);
    let start = log
        .record(record)
        .key("TASK_TYPE", kind)
        .key("TASKID", &attempt.task_id)
        .key("TASK_ATTEMPT_ID", &id)
        .known("START_TIME", attempt.start);
    if let Some(host) = &attempt.host {
        start
            .key("TRACKER_NAME", format_args!("tracker_{host}:localhost/127.0.0.1:{TRACKER_PORT}"))
            .key("HTTP_PORT", HTTP_PORT);
    }
    let Some(status) = status(attempt.outcome) else { return };
    let end = log
        .record(record)
        .key("TASK_TYPE", kind)
        .key("TASKID", &attempt.task_id)
        .key("TASK_ATTEMPT_ID", &id)
        .key("TASK_STATUS", status)
        .known("SHUFFLE_FINISHED", attempt.shuffle_finish)
        .known("SORT_FINISHED", attempt.sort_finish)
        .known("FINISH_TIME", attempt.finish);
    if attempt.outcome == Outcome::Success {
        let host = attempt.host.as_deref().map(|host| place(attempt.rack.as_deref(), host));
        let state = if attempt.kind == TaskKind::Reduce { "reduce > reduce" } else { "" };
        end.known("HOSTNAME", host).key("STATE_STRING", state).key("COUNTERS", attempt_counters(attempt));
    } else {
        end.known("HOSTNAME", attempt.host.as_deref()).key("ERROR", attempt.error.as_deref().unwrap_or_default());
    }
}

/// Hadoop's word for an outcome. `None` for a job, task or attempt that has not ended: it leaves no record.
fn status(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Success => Some("SUCCESS"),
        Outcome::Failed => Some("FAILED"),
        Outcome::Killed | Outcome::Lost | Outcome::Evicted => Some("KILLED"),
        Outcome::Incomplete | Outcome::Unknown => None,
    }
}

/// `/rack/host`; a rack's name starts with its slash, and Hadoop's name of an unknown one is `/default-rack`.
fn place(rack: Option<&str>, host: &str) -> String {
    format!("{}/{host}", rack.unwrap_or("/default-rack"))
}

/// The group, its display name, and its counters: name, display name, value.
type Group<'a> = (&'a str, &'a str, Vec<(&'a str, &'a str, Option<i64>)>);

fn attempt_counters(attempt: &AttemptRow) -> String {
    encode_counters(&[
        file_system(|column| column(attempt)),
        (
            "org.apache.hadoop.mapred.Task$Counter",
            "Map-Reduce Framework",
            vec![
                ("REDUCE_SHUFFLE_BYTES", "Reduce shuffle bytes", attempt.reduce_shuffle_bytes),
                ("SPILLED_RECORDS", "Spilled Records", attempt.spilled_records),
                ("MAP_INPUT_BYTES", "Map input bytes", attempt.map_input_bytes),
                ("MAP_OUTPUT_BYTES", "Map output bytes", attempt.map_output_bytes),
            ],
        ),
    ])
}

fn job_counters(record: &JobRecord) -> String {
    let attempts = || record.tasks.iter().flat_map(|task| &task.attempts);
    let launched = |kind| Some(attempts().filter(|attempt| attempt.kind == kind).count() as i64);
    let near = |locality| Some(attempts().filter(|attempt| attempt.locality == Some(locality)).count() as i64);
    let successes = || attempts().filter(|attempt| attempt.outcome == Outcome::Success);
    encode_counters(&[
        (
            "org.apache.hadoop.mapred.JobInProgress$Counter",
            "Job Counters ",
            vec![
                ("TOTAL_LAUNCHED_REDUCES", "Launched reduce tasks", launched(TaskKind::Reduce)),
                ("RACK_LOCAL_MAPS", "Rack-local map tasks", near(Locality::Rack)),
                ("TOTAL_LAUNCHED_MAPS", "Launched map tasks", launched(TaskKind::Map)),
                ("DATA_LOCAL_MAPS", "Data-local map tasks", near(Locality::Node)),
            ],
        ),
        file_system(|column| successes().filter_map(column).reduce(i64::saturating_add)),
    ])
}

/// The group of bytes read and written; `total` gives a column's value, of one attempt or of many.
fn file_system<'a>(total: impl Fn(fn(&AttemptRow) -> Option<i64>) -> Option<i64>) -> Group<'a> {
    let counters = vec![
        ("FILE_BYTES_READ", "FILE_BYTES_READ", total(|attempt| attempt.file_bytes_read)),
        ("HDFS_BYTES_READ", "HDFS_BYTES_READ", total(|attempt| attempt.hdfs_bytes_read)),
        ("FILE_BYTES_WRITTEN", "FILE_BYTES_WRITTEN", total(|attempt| attempt.file_bytes_written)),
        ("HDFS_BYTES_WRITTEN", "HDFS_BYTES_WRITTEN", total(|attempt| attempt.hdfs_bytes_written)),
    ];
    ("FileSystemCounters", "FileSystemCounters", counters)
}

/// `{(group)(display)[(name)(display)(value)]…}…`, without counters that are unknown and groups that are empty. None of
/// the names holds one of the characters that would have to be escaped inside.
fn encode_counters(groups: &[Group<'_>]) -> String {
    let mut text = String::new();
    for (group, display, counters) in groups {
        let known: String = counters
            .iter()
            .filter_map(|(name, display, value)| Some(format!("[({name})({display})({})]", (*value)?)))
            .collect();
        if !known.is_empty() {
            text.push_str(&format!("{{({group})({display}){known}}}"));
        }
    }
    text
}

/// The text of a history under construction.
#[derive(Default)]
struct Log(String);

impl Log {
    /// Starts a record; the one before it ends.
    fn record(&mut self, kind: &str) -> &mut Self {
        self.end();
        self.0.push_str(kind);
        self
    }

    /// Adds a value, escaped as Hadoop does: a backslash before `"`, `=`, `.` and backslashes.
    fn key(&mut self, name: &str, value: impl std::fmt::Display) -> &mut Self {
        self.0.push(' ');
        self.0.push_str(name);
        self.0.push_str("=\"");
        // Writing to a string cannot fail.
        let _ = write!(Escaped(&mut self.0), "{value}");
        self.0.push('"');
        self
    }

    /// Adds a value if it is known.
    fn known(&mut self, name: &str, value: Option<impl std::fmt::Display>) -> &mut Self {
        match value {
            Some(value) => self.key(name, value),
            None => self,
        }
    }

    fn end(&mut self) {
        if !self.0.is_empty() {
            self.0.push_str(" .\n");
        }
    }

    fn text(mut self) -> String {
        self.end();
        self.0
    }
}

/// Escapes what is written through it.
struct Escaped<'a>(&'a mut String);

impl std::fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for character in text.chars() {
            if matches!(character, '"' | '=' | '.' | '\\') {
                self.0.push('\\');
            }
            self.0.push(character);
        }
        Ok(())
    }
}

/// The configuration that the job was submitted with, as far as its row has it.
fn configuration(job: &JobRow) -> std::io::Result<Vec<u8>> {
    let properties = [
        ("mapred.job.name", job.name.clone().unwrap_or_default()),
        ("user.name", user(job).to_owned()),
        ("mapred.job.queue.name", job.queue.clone().unwrap_or_else(|| "default".to_owned())),
        ("mapred.job.priority", job.priority.unwrap_or_default().to_string()),
        ("mapred.map.tasks", job.declared_maps.unwrap_or(0).to_string()),
        ("mapred.reduce.tasks", job.declared_reduces.unwrap_or(0).to_string()),
    ];
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 0);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), Some("no"))))?;
    writer.create_element("configuration").write_inner_content(|writer| {
        for (name, value) in &properties {
            writer.create_element("property").write_inner_content(|writer| {
                writer.create_element("name").write_text_content(BytesText::new(name))?;
                writer.create_element("value").write_text_content(BytesText::new(value))?;
                Ok(())
            })?;
        }
        Ok(())
    })?;
    let mut xml = writer.into_inner();
    xml.push(b'\n');
    Ok(xml)
}
