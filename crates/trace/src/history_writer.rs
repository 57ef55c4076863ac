//! Writes jobs as the history that a JobTracker of Hadoop 0.20 leaves: one text file per job, and the job's
//! configuration.
//!
//! The grammar is that of version 1 (spec: formats.md section 1): records `<Type> KEY="value" … .`, values escaped with
//! backslashes. A file is named `<jobtracker>_<start-ms>_<job-id>_<user>_<job name>`, the configuration beside it
//! `<jobtracker>_<start-ms>_<job-id>_conf.xml`. As in real histories, the start and the end of an attempt stand
//! together, and the host of an attempt that did not succeed stands without its rack.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::Error;
use crate::model::{AttemptRow, JobRecord, JobRow, Locality, Outcome, TaskKind, TaskRecord};
use crate::store::write_file;

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
pub struct JobTracker {
    /// Its host.
    pub host: String,
    /// When it started, ms since the epoch.
    pub start_ms: i64,
}

/// Writes the history and the configuration of each job into the folder `dir`, which is made if it does not exist.
///
/// Each file appears whole or not at all; other files in the folder stay. Columns that a history has no key for are
/// left out, and so are counters beyond the columns of an attempt.
///
/// # Errors
/// [`Error::Request`] if a job or a task cannot stand in such a history: its id is not `job_<digits>_<digits>`, or the
/// task is of kind `other`. [`Error::Io`].
pub fn write_history(records: &[JobRecord], jobtracker: &JobTracker, dir: &Path) -> Result<(), Error> {
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
fn url_encode(name: &str) -> String {
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
fn history_of(record: &JobRecord, jobtracker: &str) -> Result<String, Error> {
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
        TaskKind::Other => {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::model::{Priority, SplitRow, TaskRow};

    fn times(record: &mut TaskRecord, start: i64, finish: i64) {
        record.task.start = Some(start);
        record.task.finish = Some(finish);
    }

    /// A job of one map, which failed once, and one reduce.
    fn job() -> JobRecord {
        let task = |kind, letter: &str| TaskRecord {
            task: TaskRow {
                task_id: format!("task_201003010800_0001_{letter}_000000"),
                kind,
                outcome: Outcome::Success,
                ..TaskRow::default()
            },
            ..TaskRecord::default()
        };
        let attempt = |task: &TaskRecord| AttemptRow {
            task_id: task.task.task_id.clone(),
            kind: task.task.kind,
            host: Some("node-1.site".to_owned()),
            rack: Some("/rack-0".to_owned()),
            outcome: Outcome::Success,
            ..AttemptRow::default()
        };
        let mut map = task(TaskKind::Map, "m");
        times(&mut map, 1_100, 3_500);
        let split = |host: &str| SplitRow {
            host: Some(host.to_owned()),
            rack: Some("/rack-0".to_owned()),
            ..SplitRow::default()
        };
        map.splits = vec![split("node-1.site"), split("node-2")];
        map.attempts = vec![
            AttemptRow {
                start: Some(1_100),
                finish: Some(1_200),
                outcome: Outcome::Failed,
                error: Some("java.io.IOException: a=\"b\\c\"\n\tat D".to_owned()),
                ..attempt(&map)
            },
            AttemptRow {
                attempt: 1,
                start: Some(1_300),
                finish: Some(3_400),
                locality: Some(Locality::Node),
                hdfs_bytes_read: Some(64),
                map_output_bytes: Some(32),
                ..attempt(&map)
            },
        ];
        let mut reduce = task(TaskKind::Reduce, "r");
        times(&mut reduce, 3_600, 9_000);
        reduce.attempts = vec![AttemptRow {
            start: Some(3_600),
            shuffle_finish: Some(4_000),
            sort_finish: Some(4_100),
            finish: Some(8_900),
            hdfs_bytes_written: Some(7),
            ..attempt(&reduce)
        }];
        JobRecord {
            job: JobRow {
                job_id: "job_201003010800_0001".to_owned(),
                name: Some("daily/report <ä> 1".to_owned()),
                user: Some("ann".to_owned()),
                queue: Some("R&D".to_owned()),
                priority: Some(Priority::High),
                submit: Some(1_000),
                launch: Some(1_050),
                finish: Some(9_000),
                outcome: Outcome::Success,
                declared_maps: Some(1),
                declared_reduces: Some(1),
                ..JobRow::default()
            },
            tasks: vec![map, reduce],
            counters: vec![],
        }
    }

    fn tracker() -> JobTracker {
        JobTracker { host: "jt.site".to_owned(), start_ms: 500 }
    }

    #[test]
    fn a_history_by_hand() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("history");
        write_history(&[job()], &tracker(), &target).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(
            names,
            [
                "jt.site_500_job_201003010800_0001_ann_daily%2Freport+%3C%C3%A4%3E+1",
                "jt.site_500_job_201003010800_0001_conf.xml"
            ]
        );
        let task = "201003010800_0001";
        let expected = format!(
            r#"Meta VERSION="1" .
Job JOBID="job_{task}" JOBNAME="daily/report <ä> 1" USER="ann" SUBMIT_TIME="1000" JOBCONF="hdfs://jt\.site/mapred/system/job_{task}/job\.xml" .
Job JOBID="job_{task}" JOB_PRIORITY="HIGH" .
Job JOBID="job_{task}" LAUNCH_TIME="1050" TOTAL_MAPS="1" TOTAL_REDUCES="1" JOB_STATUS="PREP" .
Job JOBID="job_{task}" JOB_STATUS="RUNNING" .
Task TASKID="task_{task}_m_000000" TASK_TYPE="MAP" START_TIME="1100" SPLITS="/rack-0/node-1\.site,/rack-0/node-2" .
MapAttempt TASK_TYPE="MAP" TASKID="task_{task}_m_000000" TASK_ATTEMPT_ID="attempt_{task}_m_000000_0" START_TIME="1100" TRACKER_NAME="tracker_node-1\.site:localhost/127\.0\.0\.1:45001" HTTP_PORT="50060" .
MapAttempt TASK_TYPE="MAP" TASKID="task_{task}_m_000000" TASK_ATTEMPT_ID="attempt_{task}_m_000000_0" TASK_STATUS="FAILED" FINISH_TIME="1200" HOSTNAME="node-1\.site" ERROR="java\.io\.IOException: a\=\"b\\c\"
	at D" .
MapAttempt TASK_TYPE="MAP" TASKID="task_{task}_m_000000" TASK_ATTEMPT_ID="attempt_{task}_m_000000_1" START_TIME="1300" TRACKER_NAME="tracker_node-1\.site:localhost/127\.0\.0\.1:45001" HTTP_PORT="50060" .
MapAttempt TASK_TYPE="MAP" TASKID="task_{task}_m_000000" TASK_ATTEMPT_ID="attempt_{task}_m_000000_1" TASK_STATUS="SUCCESS" FINISH_TIME="3400" HOSTNAME="/rack-0/node-1\.site" STATE_STRING="" COUNTERS="{{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_READ)(HDFS_BYTES_READ)(64)]}}{{(org\.apache\.hadoop\.mapred\.Task$Counter)(Map-Reduce Framework)[(MAP_OUTPUT_BYTES)(Map output bytes)(32)]}}" .
Task TASKID="task_{task}_m_000000" TASK_TYPE="MAP" TASK_STATUS="SUCCESS" FINISH_TIME="3500" COUNTERS="{{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_READ)(HDFS_BYTES_READ)(64)]}}{{(org\.apache\.hadoop\.mapred\.Task$Counter)(Map-Reduce Framework)[(MAP_OUTPUT_BYTES)(Map output bytes)(32)]}}" .
Task TASKID="task_{task}_r_000000" TASK_TYPE="REDUCE" START_TIME="3600" SPLITS="" .
ReduceAttempt TASK_TYPE="REDUCE" TASKID="task_{task}_r_000000" TASK_ATTEMPT_ID="attempt_{task}_r_000000_0" START_TIME="3600" TRACKER_NAME="tracker_node-1\.site:localhost/127\.0\.0\.1:45001" HTTP_PORT="50060" .
ReduceAttempt TASK_TYPE="REDUCE" TASKID="task_{task}_r_000000" TASK_ATTEMPT_ID="attempt_{task}_r_000000_0" TASK_STATUS="SUCCESS" SHUFFLE_FINISHED="4000" SORT_FINISHED="4100" FINISH_TIME="8900" HOSTNAME="/rack-0/node-1\.site" STATE_STRING="reduce > reduce" COUNTERS="{{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_WRITTEN)(HDFS_BYTES_WRITTEN)(7)]}}" .
Task TASKID="task_{task}_r_000000" TASK_TYPE="REDUCE" TASK_STATUS="SUCCESS" FINISH_TIME="9000" COUNTERS="{{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_WRITTEN)(HDFS_BYTES_WRITTEN)(7)]}}" .
Job JOBID="job_{task}" FINISH_TIME="9000" JOB_STATUS="SUCCESS" FINISHED_MAPS="1" FINISHED_REDUCES="1" FAILED_MAPS="1" FAILED_REDUCES="0" COUNTERS="{{(org\.apache\.hadoop\.mapred\.JobInProgress$Counter)(Job Counters )[(TOTAL_LAUNCHED_REDUCES)(Launched reduce tasks)(1)][(RACK_LOCAL_MAPS)(Rack-local map tasks)(0)][(TOTAL_LAUNCHED_MAPS)(Launched map tasks)(2)][(DATA_LOCAL_MAPS)(Data-local map tasks)(1)]}}{{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_READ)(HDFS_BYTES_READ)(64)][(HDFS_BYTES_WRITTEN)(HDFS_BYTES_WRITTEN)(7)]}}" .
"#
        );
        assert_eq!(fs::read_to_string(target.join(&names[0])).unwrap(), expected);
        assert_eq!(
            fs::read_to_string(target.join(&names[1])).unwrap(),
            r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<configuration>
<property>
<name>mapred.job.name</name>
<value>daily/report &lt;ä&gt; 1</value>
</property>
<property>
<name>user.name</name>
<value>ann</value>
</property>
<property>
<name>mapred.job.queue.name</name>
<value>R&amp;D</value>
</property>
<property>
<name>mapred.job.priority</name>
<value>HIGH</value>
</property>
<property>
<name>mapred.map.tasks</name>
<value>1</value>
</property>
<property>
<name>mapred.reduce.tasks</name>
<value>1</value>
</property>
</configuration>
"#
        );
    }

    #[test]
    fn names_cannot_leave_the_folder_or_grow_without_end() {
        assert_eq!(url_encode("../../etc/passwd"), "..%2F..%2Fetc%2Fpasswd");
        assert_eq!(url_encode(&"é".repeat(1_000)), "%C3%A9".repeat(13));
        let mut hostile = job();
        for id in ["../job_1_1", "job_1", "job_1_", "job_1_2/3", "application_1_1"] {
            hostile.job.job_id = id.to_owned();
            let dir = tempfile::tempdir().unwrap();
            assert!(
                write_history(std::slice::from_ref(&hostile), &tracker(), dir.path()).is_err_and(|e| e.is_request()),
                "{id}"
            );
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn what_has_not_ended_leaves_no_end() {
        let mut running = job();
        running.job.outcome = Outcome::Incomplete;
        running.tasks.truncate(1);
        running.tasks[0].task.outcome = Outcome::Incomplete;
        running.tasks[0].attempts.truncate(1);
        running.tasks[0].attempts[0].outcome = Outcome::Incomplete;
        let text = history_of(&running, "jt").unwrap();
        assert!(text.ends_with("HTTP_PORT=\"50060\" .\n"), "{text}");
        assert!(!text.contains("STATUS=\"SUCCESS\"") && !text.contains("FINISH_TIME"), "{text}");
    }

    #[test]
    fn other_tasks_are_refused() {
        let mut spark = job();
        spark.tasks[0].task.kind = TaskKind::Other;
        assert!(history_of(&spark, "jt").is_err_and(|error| error.is_request()));
    }
}
