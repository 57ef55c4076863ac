//! Lists of applications from YARN's ResourceManager: jobs without their tasks.
//!
//! There are two forms. One is the answer of the REST interface (`ws/v1/cluster/apps`), `{"apps":{"app":[…]}}`. The
//! other is the summaries in the ResourceManager's log or in `rm-appsummary.log`, one line per application:
//!
//! ```text
//! … RMAppManager$ApplicationSummary: appId=application_1_2,name=…,user=…,queue=…,state=FINISHED,…,startTime=…,finishTime=…,finalStatus=SUCCEEDED,…
//! ```
//!
//! Within a value of a summary, commas and equals signs stand behind a backslash. Each application is a job. The source
//! does not say what ran in its containers, so no task can be made of it. Such jobs are counted as
//! `job-without-tasks-in-source`. With `--counters`, the memory and processor time that the application held in total
//! are counters (MB s and vcore s).

use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;

use super::format::{Format, ReadAs};
use super::json::{Objects, Piece, first_byte, next_byte, top_level_keys};
use super::lenient::number;
use super::lines::{Line, Lines, head_lines};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{CounterRow, CounterScope, JobRecord, JobRow, Outcome};
use resched_tables::sink::{Damage, Sink};
use resched_tables::store::SCHEDULER_VERSION;

/// Applications of YARN.
pub const FORMAT: Format = Format {
    name: "yarn-apps",
    title: "list of YARN applications (REST or log of the ResourceManager)",
    time_zero: Some(resched_tables::store::TimeZero::Epoch),
    system: Some(resched_tables::store::System::Yarn),
    has_tasks: true,
    group: "yarn-apps",
    is_whole: false,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// The text before the fields of a summary.
const SUMMARY: &str = "ApplicationSummary: ";
/// Other classes with whose lines a ResourceManager's log may begin.
const OTHER_LINES: [&str; 2] = ["resourcemanager.RMAuditLogger", "rmapp.RMAppImpl"];
/// The longest line of a log.
pub(crate) const MAX_LINE: usize = 1 << 20;
/// The most bytes of an application in a list.
pub(crate) const MAX_OBJECT: usize = 1 << 20;
/// The group of the counters, as YARN's own metrics have it.
const COUNTERS: &str = "YARN";

/// An application, under the names of the REST interface of the ResourceManager, or of the application history server.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Application {
    #[serde(alias = "appId")]
    id: String,
    name: Option<String>,
    user: Option<String>,
    queue: Option<String>,
    #[serde(alias = "appState")]
    state: Option<String>,
    #[serde(alias = "finalAppStatus")]
    final_status: Option<String>,
    #[serde(alias = "type")]
    application_type: Option<String>,
    #[serde(deserialize_with = "number")]
    priority: Option<i64>,
    /// Only the history server has it beside `started_time`.
    #[serde(deserialize_with = "number")]
    submitted_time: Option<i64>,
    #[serde(deserialize_with = "number")]
    started_time: Option<i64>,
    #[serde(deserialize_with = "number")]
    launch_time: Option<i64>,
    #[serde(deserialize_with = "number")]
    finished_time: Option<i64>,
    #[serde(deserialize_with = "number")]
    memory_seconds: Option<i64>,
    #[serde(deserialize_with = "number")]
    vcore_seconds: Option<i64>,
    /// Only Hadoop 3 has it, which counts any resource.
    resource_seconds_map: Option<serde::de::IgnoredAny>,
}

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["id"]),
    ("jobs.name", &["name"]),
    ("jobs.user", &["user"]),
    ("jobs.queue", &["queue"]),
    ("jobs.priority_number", &["priority"]),
    ("jobs.framework", &["applicationType"]),
    ("jobs.submit", &["submittedTime", "startedTime"]),
    ("jobs.launch", &["launchTime"]),
    ("jobs.finish", &["finishedTime"]),
    ("jobs.outcome", &["finalStatus", "state"]),
    ("counters.value", &["memorySeconds", "vcoreSeconds"]),
];

fn sniff(head: &[u8]) -> bool {
    let keys = top_level_keys(head);
    if keys.contains(&"apps") || keys.contains(&"app") {
        return true;
    }
    let is_ours = |line: &&str| line.contains(SUMMARY) || OTHER_LINES.iter().any(|class| line.contains(class));
    head_lines(head).iter().any(is_ours)
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let first = first_byte(input).map_err(Error::io(Path::new(path), "read"))?;
    let mut without_tasks = 0;
    let mut take = |application: Application, sink: &mut dyn Sink| {
        without_tasks += 1;
        if application.resource_seconds_map.is_some() {
            sink.parameter(SCHEDULER_VERSION, "3".into());
        }
        let record = application.record(sink.wants_counters());
        sink.job(record)
    };
    match first {
        Some(b'{') => read_list(input, path, sink, &mut take)?,
        _ => read_log(input, path, sink, &mut take)?,
    }
    if without_tasks > 0 {
        sink.skip(cause::JOB_WITHOUT_TASKS_IN_SOURCE, without_tasks);
    }
    Ok(())
}

type Take<'a> = dyn FnMut(Application, &mut dyn Sink) -> Result<(), Error> + 'a;

/// Reads `{"apps":{"app":[…]}}` application by application, however many there are.
fn read_list(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink, take: &mut Take<'_>) -> Result<(), Error> {
    let failed = |error| Error::io(Path::new(path), "read")(error);
    // Everything before the list is skipped. The key of the list is the first `"app"`.
    let mut matched = 0;
    const KEY: &[u8] = b"\"app\"";
    while matched < KEY.len() {
        let Some(byte) = next_byte(input).map_err(failed)? else { return Ok(()) };
        matched = match KEY.get(matched) {
            Some(&expected) if expected == byte => matched + 1,
            _ => usize::from(byte == b'"'),
        };
    }
    while let Some(b':' | b' ' | b'\n' | b'\r' | b'\t') = input.fill_buf().map_err(failed)?.first() {
        input.consume(1);
    }
    let mut objects = Objects::new(input, MAX_OBJECT);
    let (mut damaged, mut number) = (0, 0u64);
    while let Some(piece) = objects.next().map_err(failed)? {
        let application = match piece {
            Piece::Object { text, .. } => {
                number += 1;
                application(number, &String::from_utf8_lossy(text), sink)
            }
            Piece::Junk => None,
        };
        match application {
            Some(application) => {
                skip(sink, std::mem::take(&mut damaged));
                take(application, sink)?;
            }
            None => damaged += 1,
        }
    }
    // The brackets that end the list are no application.
    skip(sink, damaged.saturating_sub(1));
    Ok(())
}

/// The application of an object; `None` if it is damaged.
fn application(number: u64, text: &str, sink: &mut dyn Sink) -> Option<Application> {
    let found = match serde_json::from_str::<Application>(text) {
        Ok(application) if !application.id.is_empty() => return Some(application),
        Ok(_) => "no `id`".to_owned(),
        Err(error) => error.to_string(),
    };
    let start = text.get(..text.floor_char_boundary(120)).unwrap_or_default();
    let (place, found) = (format!("application {number}, "), format!("`{start}` ({found})"));
    sink.damage(&|| {
        Damage::new(&place, "an application with an `id`, as `ws/v1/cluster/apps` has it", &found, ASK_AGAIN)
    });
    None
}

/// What to do about a list that is damaged.
const ASK_AGAIN: &str = "ask the ResourceManager again: `curl http://RM:8088/ws/v1/cluster/apps`";

fn skip(sink: &mut dyn Sink, damaged: u64) {
    if damaged > 0 {
        sink.skip(cause::DAMAGED_APPLICATION, damaged);
    }
}

/// Reads the summaries in a log.
fn read_log(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink, take: &mut Take<'_>) -> Result<(), Error> {
    let mut lines = Lines::new(input, MAX_LINE);
    let mut begun: Option<String> = None;
    while let Some(line) = lines.next().map_err(Error::io(Path::new(path), "read"))? {
        let Line::Text(line) = line else {
            sink.skip(cause::OVERSIZED_LINE, 1);
            continue;
        };
        let summary = match (line.split_once(SUMMARY), begun.take()) {
            (Some((_, summary)), before) => {
                give(before, take, sink)?;
                summary.to_owned()
            }
            (None, Some(before)) if !begins_record(&line) && before.len() + line.len() < MAX_LINE => {
                before + "\n" + line.as_ref()
            }
            (None, before) => {
                give(before, take, sink)?;
                continue;
            }
        };
        // The name is the only field that may hold a new line, and the user follows it.
        if summary.contains(",user=") {
            give(Some(summary), take, sink)?;
        } else {
            begun = Some(summary);
        }
    }
    give(begun, take, sink)
}

/// Takes the application of a summary.
fn give(summary: Option<String>, take: &mut Take<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
    let Some(summary) = summary else { return Ok(()) };
    // Logs that went through another collector stand in quotes.
    match Application::parse(summary.trim_end().trim_end_matches('"')) {
        Some(application) => take(application, sink),
        None => {
            sink.skip(cause::DAMAGED_APPLICATION, 1);
            Ok(())
        }
    }
}

/// True if a line is the first of a record of a log: it starts with a date.
fn begins_record(line: &str) -> bool {
    let shape = line.bytes().take(10).map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    shape.eq(*b"0000-00-00")
}

impl Application {
    /// The fields of a summary.
    fn parse(summary: &str) -> Option<Self> {
        let mut found = Self::default();
        for field in fields(summary) {
            let Some((key, value)) = field.split_once('=') else { continue };
            let text = || Some(unescape(value)).filter(|text| !text.is_empty() && text != "null" && text != "N/A");
            let number = || value.parse().ok();
            match key.trim() {
                "appId" => found.id = value.to_owned(),
                "name" => found.name = text(),
                "user" => found.user = text(),
                "queue" => found.queue = text(),
                "state" => found.state = text(),
                "finalStatus" => found.final_status = text(),
                "applicationType" => found.application_type = text(),
                // `submitTime` and `launchTime` came with 3.3.
                "submitTime" | "startTime" => found.started_time = found.started_time.or_else(number),
                "launchTime" => found.launch_time = number(),
                "finishTime" => found.finished_time = number(),
                "memorySeconds" => found.memory_seconds = number(),
                "vcoreSeconds" => found.vcore_seconds = number(),
                _ => {}
            }
        }
        (!found.id.is_empty()).then_some(found)
    }

    fn record(self, counters: bool) -> JobRecord {
        let outcome = self.outcome();
        let counter = |name: &str, value: Option<i64>| {
            let group = COUNTERS.to_owned();
            let id = self.id.clone();
            value.map(|value| CounterRow { scope: CounterScope::Job, id, group, name: name.to_owned(), value })
        };
        let held = [counter("MEMORY_MB_SECONDS", self.memory_seconds), counter("VCORE_SECONDS", self.vcore_seconds)];
        let counters = held.into_iter().flatten().filter(|_| counters).collect();
        let job = JobRow {
            job_id: self.id,
            name: self.name,
            user: self.user,
            queue: self.queue,
            priority_number: self.priority,
            framework: self.application_type.map(|name| name.to_ascii_lowercase()),
            submit: time(self.submitted_time).or_else(|| time(self.started_time)),
            launch: time(self.launch_time),
            finish: time(self.finished_time),
            outcome,
            ..JobRow::default()
        };
        JobRecord { job, tasks: Vec::new(), counters }
    }

    /// The outcome that the application reported, or else that of its state.
    fn outcome(&self) -> Outcome {
        let of = |status: &Option<String>| match status.as_deref() {
            Some("SUCCEEDED") => Some(Outcome::Success),
            Some("FAILED") => Some(Outcome::Failed),
            Some("KILLED") => Some(Outcome::Killed),
            Some("NEW" | "NEW_SAVING" | "SUBMITTED" | "ACCEPTED" | "RUNNING") => Some(Outcome::Incomplete),
            _ => None,
        };
        of(&self.final_status).or_else(|| of(&self.state)).unwrap_or_default()
    }
}

/// A time; 0 while it has not come.
fn time(ms: Option<i64>) -> Option<i64> {
    ms.filter(|&ms| ms > 0)
}

/// The parts between commas that no backslash stands before.
fn fields(summary: &str) -> Vec<&str> {
    let (mut fields, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, byte) in summary.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => {
                fields.extend(summary.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    fields.extend(summary.get(start..));
    fields
}

/// Without the backslashes before other characters.
fn unescape(value: &str) -> String {
    let mut characters = value.chars();
    let mut plain = String::with_capacity(value.len());
    while let Some(character) = characters.next() {
        plain.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    plain
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::golden::{Collected, Found as _, each_damage, read_shared};
    use super::*;

    fn shared(file: &str) -> Option<Vec<u8>> {
        read_shared(&format!("hadoop-3x/resourceestimator-rmlog/{file}"))
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn the_summary_in_a_log_is_a_job() {
        let Some(bytes) = shared("rmLog.txt") else { return };
        assert!(sniff(&bytes));
        let found = Collected::read_with_counters(&FORMAT, &bytes).unwrap();
        let [record] = found.jobs.as_slice() else { panic!("{:?}", found.jobs) };
        let expected = JobRow {
            job_id: "application_1497832133857_0330".to_owned(),
            name: some("FraudDetection-1"),
            user: some("hadoop"),
            queue: some("PROD"),
            framework: some("mapreduce"),
            submit: Some(1_498_061_413_073),
            finish: Some(1_498_061_905_698),
            outcome: Outcome::Success,
            ..JobRow::default()
        };
        assert_eq!(record.job, expected);
        let counters: Vec<_> = record.counters.iter().map(|counter| (counter.name.as_str(), counter.value)).collect();
        assert_eq!(counters, [("MEMORY_MB_SECONDS", 1_330_655), ("VCORE_SECONDS", 704)]);
        assert_eq!(found.skipped, [("job-without-tasks-in-source".to_owned(), 1)].into());
    }

    /// The first line of each file says what is wrong with it. Only the sixth lacks something that a job needs.
    #[test]
    fn doctored_logs_cost_only_what_they_lack() {
        for n in 1..=9 {
            let Some(bytes) = shared(&format!("invalidLog{n}.txt")) else { return };
            assert!(sniff(&bytes), "{n}");
            let found = Collected::read(&FORMAT, &bytes).unwrap();
            let (jobs, damaged) = if n == 6 { (0, 1) } else { (1, 0) };
            assert_eq!(found.jobs.len(), jobs, "invalidLog{n}");
            assert_eq!(found.skipped.get("damaged-application").copied().unwrap_or(0), damaged, "invalidLog{n}");
        }
        let Some(bytes) = shared("nativeLog.txt") else { return };
        assert!(!sniff(&bytes));
    }

    #[test]
    fn escaped_commas_belong_to_the_value() {
        let line = r"x ApplicationSummary: appId=application_1_2,name=a\, b\=c=d,queue=null,state=RUNNING,startTime=5,launchTime=0,finishTime=0,finalStatus=UNDEFINED,applicationType=SPARK";
        let job = &Collected::read(&FORMAT, line.as_bytes()).unwrap().jobs[0].job;
        assert_eq!((job.name.as_deref(), job.queue.as_deref()), (Some("a, b=c=d"), None));
        assert_eq!((job.submit, job.launch, job.finish, job.outcome), (Some(5), None, None, Outcome::Incomplete));
    }

    const LIST: &str = r#" {"apps": {"app": [
        {"id": "application_1_1", "user": "u", "name": "n", "queue": "root.q", "state": "FINISHED", "finalStatus": "FAILED",
         "priority": 3, "startedTime": 7, "launchTime": 8, "finishedTime": 9, "applicationType": "TEZ", "memorySeconds": 1,
         "timeouts": {"timeout": [{"type": "LIFETIME"}]}, "resourceRequests": []},
        {"id": 7},
        {"name": "nameless"},
        {"id": "application_1_2", "state": "KILLED", "finalStatus": "UNDEFINED", "finishedTime": 0},
        {"id": "application_1_3", "state": "FINISHED", "finalStatus": "ENDED"}
    ]}}
"#;

    #[test]
    fn a_list_of_the_rest_interface_is_read_application_by_application() {
        assert!(sniff(LIST.as_bytes()));
        let found = Collected::read(&FORMAT, LIST.as_bytes()).unwrap();
        let expected = JobRow {
            job_id: "application_1_1".to_owned(),
            name: some("n"),
            user: some("u"),
            queue: some("root.q"),
            priority_number: Some(3),
            framework: some("tez"),
            submit: Some(7),
            launch: Some(8),
            finish: Some(9),
            outcome: Outcome::Failed,
            ..JobRow::default()
        };
        assert_eq!(found.jobs[0].job, expected);
        let outcomes: Vec<_> = found.jobs.iter().map(|record| record.job.outcome).collect();
        assert_eq!(outcomes, [Outcome::Failed, Outcome::Killed, Outcome::Unknown]);
        let causes = [("damaged-application", 2), ("job-without-tasks-in-source", 3)];
        assert_eq!(found.skipped, causes.map(|(cause, n)| (cause.to_owned(), n)).into());
    }

    #[test]
    fn a_name_of_several_lines_is_one_application() {
        let log = "2026-01-01 00:00:00,000 INFO x$ApplicationSummary: appId=application_1_1,name=a\nb\nc,user=ann,queue=q,state=FINISHED,\
                   startTime=5,finishTime=9,finalStatus=SUCCEEDED\n2026-01-01 00:00:01,000 INFO y: other\n\
                   2026-01-01 00:00:02,000 INFO x$ApplicationSummary: appId=application_1_2,name=cut\n2026-01-01 00:00:03,000 INFO y: other\n";
        let found = Collected::read(&FORMAT, log.as_bytes()).unwrap();
        let jobs: Vec<_> = found.jobs.iter().map(|record| (record.job.name.as_deref(), record.job.finish)).collect();
        assert_eq!(jobs, [(Some("a\nb\nc"), Some(9)), (Some("cut"), None)]);
    }

    #[test]
    fn numbers_may_be_texts_and_the_history_server_has_names_of_its_own() {
        let list = r#"{"app": [
            {"id": "application_1_1", "state": "FINISHED", "finalStatus": "SUCCEEDED", "startedTime": "7", "finishedTime": "9"},
            {"appId": "application_1_2", "user": "u", "type": "TEZ", "appState": "FINISHED", "finalAppStatus": "FAILED",
             "submittedTime": 5, "startedTime": 6, "finishedTime": 8}]}"#;
        assert!(sniff(list.as_bytes()));
        let found = Collected::read(&FORMAT, list.as_bytes()).unwrap();
        let jobs: Vec<_> =
            found.jobs.iter().map(|record| (record.job.submit, record.job.finish, record.job.outcome)).collect();
        assert_eq!(jobs, [(Some(7), Some(9), Outcome::Success), (Some(5), Some(8), Outcome::Failed)]);
        assert_eq!(found.jobs[1].job.framework.as_deref(), Some("tez"));
    }

    #[test]
    fn a_single_application_and_an_empty_list_are_read() {
        let ids = |text: &str| {
            Collected::read(&FORMAT, text.as_bytes())
                .unwrap()
                .jobs
                .into_iter()
                .map(|record| record.job.job_id)
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(r#"{"app":{"id":"application_1_1"}}"#), ["application_1_1"]);
        assert!(ids(r#"{"apps":null}"#).is_empty());
        assert!(ids(r#"{"apps":{"app":[]}}"#).is_empty());
    }

    #[test]
    fn no_damage_makes_it_panic() {
        let Some(bytes) = shared("invalidLog5.txt") else { return };
        for bytes in [&bytes, LIST.as_bytes()] {
            each_damage(bytes, 300, |damaged| {
                sniff(damaged);
                Collected::read(&FORMAT, damaged).unwrap();
            });
        }
    }
}
