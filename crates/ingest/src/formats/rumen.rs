//! Rumen job traces: one JSON object (`LoggedJob`) per job, one after another.
//!
//! Layout and quirks: `docs/formats/rumen.md`. Jobs and tasks keep the order of the file. A task without a status
//! never ended: its outcome is `INCOMPLETE`, which no status of the source gives.

use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;

use super::format::{Format, ReadAs};
use super::json::{Objects, Piece, Text, top_level_keys};
use super::lines::text_of;
use super::topology::{host, place, rack};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{
    AttemptRow, CounterRow, CounterScope, JobRecord, JobRow, Outcome, Priority, SplitRow, TaskKind, TaskRecord, TaskRow,
};
use resched_tables::sink::{Damage, Sink};
use resched_tables::store::System;

/// Rumen's job trace.
pub const FORMAT: Format = Format {
    name: "rumen",
    title: "Rumen job trace (JSON)",
    time_zero: Some(resched_tables::store::TimeZero::Epoch),
    system: None,
    has_tasks: true,
    group: super::HADOOP,
    is_whole: false,
    has_times_of_tasks: false,
    folded: true,
    reads: READS,
    sniff,
    read,
};

/// The most bytes of one job that are read, enough for some 150,000 tasks. A longer job is skipped.
pub(crate) const MAX_JOB_BYTES: usize = 256 << 20;

/// The most objects of one job: as many as a real job of [`MAX_JOB_BYTES`] has. A hostile file packs more into its
/// bytes: the two bytes of an empty attempt, `{}`, become a row of hundreds.
pub(crate) const MAX_JOB_OBJECTS: usize = 1_000_000;

/// The most commas of one job, which also bounds its numbers and names.
pub(crate) const MAX_JOB_COMMAS: usize = 16_000_000;

/// The group under which counters without a column are written: Hadoop's own for tasks.
const TASK_COUNTERS: &str = "org.apache.hadoop.mapreduce.TaskCounter";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job<'a> {
    #[serde(rename = "jobID", borrow)]
    job_id: Text<'a>,
    job_name: Option<Text<'a>>,
    user: Option<Text<'a>>,
    queue: Option<Text<'a>>,
    priority: Option<Text<'a>>,
    submit_time: Option<i64>,
    launch_time: Option<i64>,
    finish_time: Option<i64>,
    outcome: Option<Text<'a>>,
    total_maps: Option<i64>,
    total_reduces: Option<i64>,
    #[serde(rename = "jobMapMB")]
    map_megabytes: Option<i64>,
    #[serde(rename = "jobReduceMB")]
    reduce_megabytes: Option<i64>,
    map_tasks: Option<Vec<Task<'a>>>,
    reduce_tasks: Option<Vec<Task<'a>>>,
    other_tasks: Option<Vec<Task<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Task<'a> {
    #[serde(rename = "taskID", borrow)]
    task_id: Option<Text<'a>>,
    task_type: Option<Text<'a>>,
    task_status: Option<Text<'a>>,
    start_time: Option<i64>,
    finish_time: Option<i64>,
    input_bytes: Option<i64>,
    input_records: Option<i64>,
    output_bytes: Option<i64>,
    output_records: Option<i64>,
    preferred_locations: Option<Vec<Location<'a>>>,
    attempts: Option<Vec<Attempt<'a>>>,
}

impl Task<'_> {
    /// True if it stands for the application masters of its job.
    fn is_master(&self) -> bool {
        self.task_type.as_ref().is_some_and(|kind| kind.as_str() == "MASTER")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempt<'a> {
    #[serde(rename = "attemptID", borrow)]
    attempt_id: Option<Text<'a>>,
    host_name: Option<Text<'a>>,
    location: Option<Location<'a>>,
    start_time: Option<i64>,
    finish_time: Option<i64>,
    shuffle_finished: Option<i64>,
    sort_finished: Option<i64>,
    result: Option<Text<'a>>,
    hdfs_bytes_read: Option<i64>,
    hdfs_bytes_written: Option<i64>,
    file_bytes_read: Option<i64>,
    file_bytes_written: Option<i64>,
    map_input_bytes: Option<i64>,
    map_input_records: Option<i64>,
    map_output_bytes: Option<i64>,
    map_output_records: Option<i64>,
    combine_input_records: Option<i64>,
    reduce_input_groups: Option<i64>,
    reduce_input_records: Option<i64>,
    reduce_shuffle_bytes: Option<i64>,
    reduce_output_records: Option<i64>,
    spilled_records: Option<i64>,
    resource_usage_metrics: Option<ResourceUsage>,
}

/// The total usage of an attempt; zero if it was not measured.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceUsage {
    cumulative_cpu_usage: Option<i64>,
    physical_memory_usage: Option<i64>,
}

/// The names from the rack down to the node.
#[derive(Deserialize)]
struct Location<'a> {
    #[serde(borrow)]
    layers: Option<Vec<Text<'a>>>,
}

impl Location<'_> {
    fn host_and_rack(&self) -> (Option<String>, Option<String>) {
        match self.layers.as_deref() {
            Some([above, node]) => (host(node.as_str()), rack(above.as_str())),
            Some([above @ .., node]) => {
                let above: Vec<&str> = above.iter().map(Text::as_str).collect();
                (host(node.as_str()), rack(&above.join("/")))
            }
            _ => (None, None),
        }
    }
}

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["jobID"]),
    ("jobs.name", &["jobName"]),
    ("jobs.user", &["user"]),
    ("jobs.queue", &["queue"]),
    ("jobs.priority", &["priority"]),
    ("jobs.submit", &["submitTime"]),
    ("jobs.launch", &["launchTime"]),
    ("jobs.finish", &["finishTime"]),
    ("jobs.outcome", &["outcome"]),
    ("jobs.declared_maps", &["totalMaps"]),
    ("jobs.declared_reduces", &["totalReduces"]),
    ("tasks.task_id", &["taskID"]),
    ("tasks.kind", &["mapTasks", "reduceTasks", "otherTasks", "taskType"]),
    ("tasks.stage", &["taskType"]),
    ("tasks.start", &["startTime"]),
    ("tasks.finish", &["finishTime"]),
    ("tasks.outcome", &["taskStatus"]),
    ("tasks.input_bytes", &["inputBytes"]),
    ("tasks.input_records", &["inputRecords"]),
    ("tasks.output_bytes", &["outputBytes"]),
    ("tasks.output_records", &["outputRecords"]),
    ("tasks.memory_request", &["jobMapMB", "jobReduceMB"]),
    ("splits.host", &["preferredLocations"]),
    ("splits.rack", &["preferredLocations"]),
    ("attempts.attempt", &["attemptID"]),
    ("attempts.kind", &["mapTasks", "reduceTasks", "otherTasks", "taskType"]),
    ("attempts.start", &["startTime"]),
    ("attempts.shuffle_finish", &["shuffleFinished"]),
    ("attempts.sort_finish", &["sortFinished"]),
    ("attempts.finish", &["finishTime"]),
    ("attempts.outcome", &["result"]),
    ("attempts.host", &["location", "hostName"]),
    ("attempts.rack", &["location", "hostName"]),
    ("attempts.hdfs_bytes_read", &["hdfsBytesRead"]),
    ("attempts.hdfs_bytes_written", &["hdfsBytesWritten"]),
    ("attempts.file_bytes_read", &["fileBytesRead"]),
    ("attempts.file_bytes_written", &["fileBytesWritten"]),
    ("attempts.map_input_bytes", &["mapInputBytes"]),
    ("attempts.map_output_bytes", &["mapOutputBytes"]),
    ("attempts.reduce_shuffle_bytes", &["reduceShuffleBytes"]),
    ("attempts.spilled_records", &["spilledRecords"]),
    ("attempts.cpu_ms", &["cumulativeCpuUsage"]),
    ("attempts.physical_memory", &["physicalMemoryUsage"]),
    (
        "counters.value",
        &[
            "mapInputRecords",
            "mapOutputRecords",
            "combineInputRecords",
            "reduceInputGroups",
            "reduceInputRecords",
            "reduceOutputRecords",
        ],
    ),
];

fn sniff(head: &[u8]) -> bool {
    let keys = top_level_keys(head);
    ["jobID", "mapTasks", "reduceTasks", "otherTasks"].iter().any(|key| keys.contains(key))
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    read_up_to(MAX_JOB_BYTES, input, path, sink)
}

/// Reads the jobs of at most `most` bytes.
pub(super) fn read_up_to(most: usize, input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut objects = Objects::new(input, most);
    while let Some(piece) = objects.next().map_err(Error::io(Path::new(path), "read"))? {
        let (line, job) = match piece {
            Piece::Object { line, text } if is_bloated(text) => (line, Err("more parts than any job has".to_owned())),
            Piece::Object { line, text } => (line, record(&text_of(text), sink)),
            Piece::Junk => {
                sink.skip(cause::DAMAGED_JOB, 1);
                continue;
            }
        };
        match job {
            Ok(job) => sink.job(job)?,
            Err(found) => {
                sink.skip(cause::DAMAGED_JOB, 1);
                let (place, remedy) =
                    (format!("the job at line {line}: "), "write the trace again with Rumen's TraceBuilder");
                sink.damage(&|| Damage::new(&place, "a job as Rumen writes it", &found, remedy));
            }
        }
    }
    Ok(())
}

/// The job of an object, or what is wrong with it.
fn record(text: &str, sink: &mut dyn Sink) -> Result<JobRecord, String> {
    let job: Job<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if job.job_id.as_str().is_empty() {
        return Err("no `jobID`".to_owned());
    }
    let kinds = job.other_tasks.iter().flatten().filter_map(|task| task.task_type.as_ref());
    // Only MapReduce 1 has set-up tasks.
    if kinds.map(Text::as_str).any(|kind| matches!(kind, "SETUP" | "JOB_SETUP")) {
        sink.system(System::MapReduce1);
    }
    // Only `resched export` writes masters.
    if job.other_tasks.iter().flatten().any(Task::is_master) {
        sink.system(System::Yarn);
    }
    Ok(Reading::of(&job, sink).record(job))
}

/// True if the text of a job has more parts than any real one.
fn is_bloated(text: &[u8]) -> bool {
    let count = |mark: u8| text.iter().filter(|&&byte| byte == mark).count();
    let more_than = |most: usize, mark: u8| text.len() > most && count(mark) > most;
    more_than(MAX_JOB_OBJECTS, b'{') || more_than(MAX_JOB_COMMAS, b',')
}

/// A job on its way into the tables.
struct Reading<'s> {
    sink: &'s mut dyn Sink,
    job_id: String,
    /// True if a time of 0 is a real time. In a job that was submitted later, 0 stands for unknown.
    zero_is_a_time: bool,
    counters: Vec<CounterRow>,
}

impl<'s> Reading<'s> {
    fn of(job: &Job<'_>, sink: &'s mut dyn Sink) -> Self {
        let zero_is_a_time = job.submit_time.is_none_or(|submit| submit <= 0);
        Self { sink, job_id: job.job_id.as_str().to_owned(), zero_is_a_time, counters: Vec::new() }
    }

    fn record(mut self, job: Job<'_>) -> JobRecord {
        let row = JobRow {
            job_id: self.job_id.clone(),
            name: job.job_name.map(Text::into_owned),
            user: job.user.map(Text::into_owned),
            queue: job.queue.map(Text::into_owned),
            priority: job.priority.as_ref().map(Text::as_str).and_then(Priority::from_name),
            framework: Some("mapreduce".to_owned()),
            submit: self.known_time(job.submit_time),
            launch: self.time(job.launch_time),
            finish: self.time(job.finish_time),
            outcome: outcome(job.outcome.as_ref()).unwrap_or(Outcome::Unknown),
            declared_maps: known(job.total_maps),
            declared_reduces: known(job.total_reduces),
            ..JobRow::default()
        };
        let lists = [&job.map_tasks, &job.reduce_tasks, &job.other_tasks];
        let mut tasks = Vec::with_capacity(lists.into_iter().flatten().map(Vec::len).sum());
        let (map_memory, reduce_memory) = (megabytes(job.map_megabytes), megabytes(job.reduce_megabytes));
        self.add(job.map_tasks, TaskKind::Map, map_memory, &mut tasks);
        self.add(job.reduce_tasks, TaskKind::Reduce, reduce_memory, &mut tasks);
        self.add(job.other_tasks, TaskKind::Other, None, &mut tasks);
        JobRecord { job: row, tasks, counters: self.counters }
    }

    /// Adds the tasks of one of the job's lists.
    fn add(&mut self, list: Option<Vec<Task<'_>>>, kind: TaskKind, memory: Option<i64>, tasks: &mut Vec<TaskRecord>) {
        for task in list.into_iter().flatten() {
            let kind = if kind == TaskKind::Other && task.is_master() { TaskKind::Master } else { kind };
            match task.task_id.as_ref().map(Text::as_str).filter(|id| !id.is_empty()) {
                Some(id) => tasks.push(self.task(&task, id, kind, memory)),
                None => self.sink.skip(cause::DAMAGED_TASK, 1),
            }
        }
    }

    fn task(&mut self, task: &Task<'_>, task_id: &str, kind: TaskKind, memory_request: Option<i64>) -> TaskRecord {
        let stage = task.task_type.as_ref().filter(|_| kind == TaskKind::Other);
        let splits = task.preferred_locations.iter().flatten().zip(0..).map(|(location, ordinal)| {
            let (host, rack) = location.host_and_rack();
            SplitRow { task_id: task_id.to_owned(), ordinal, host, rack, bytes: None }
        });
        let splits = splits.collect();
        let mut attempts = Vec::new();
        for attempt in task.attempts.iter().flatten() {
            match attempt.attempt_id.as_ref().and_then(|id| attempt_number(id.as_str())) {
                Some(number) => attempts.push(self.attempt(attempt, task_id, kind, number)),
                None => self.sink.skip(cause::DAMAGED_ATTEMPT, 1),
            }
        }
        let task = TaskRow {
            job_id: self.job_id.clone(),
            task_id: task_id.to_owned(),
            kind,
            stage: stage.map(|stage| stage.as_str().to_lowercase()),
            start: self.time(task.start_time),
            finish: self.time(task.finish_time),
            outcome: outcome(task.task_status.as_ref()).unwrap_or(Outcome::Incomplete),
            input_bytes: known(task.input_bytes),
            input_records: known(task.input_records),
            output_bytes: known(task.output_bytes),
            output_records: known(task.output_records),
            memory_request,
            ..TaskRow::default()
        };
        TaskRecord { task, splits, attempts }
    }

    fn attempt(&mut self, attempt: &Attempt<'_>, task_id: &str, kind: TaskKind, number: i64) -> AttemptRow {
        if self.sink.wants_counters() {
            self.count(attempt, &format!("{task_id}/{number}"));
        }
        let at = attempt.location.as_ref().map(Location::host_and_rack);
        let (host, rack) = match (at, attempt.host_name.as_ref()) {
            (Some(at @ (Some(_), _)), _) => at,
            (_, Some(name)) => place(name.as_str()),
            _ => (None, None),
        };
        let usage = attempt.resource_usage_metrics.as_ref();
        let (cpu, memory) = usage.map_or((None, None), |u| (u.cumulative_cpu_usage, u.physical_memory_usage));
        AttemptRow {
            job_id: self.job_id.clone(),
            task_id: task_id.to_owned(),
            kind,
            attempt: number,
            start: self.time(attempt.start_time),
            shuffle_finish: self.time(attempt.shuffle_finished),
            sort_finish: self.time(attempt.sort_finished),
            finish: self.time(attempt.finish_time),
            outcome: outcome(attempt.result.as_ref()).unwrap_or(Outcome::Incomplete),
            host,
            rack,
            hdfs_bytes_read: known(attempt.hdfs_bytes_read),
            hdfs_bytes_written: known(attempt.hdfs_bytes_written),
            file_bytes_read: known(attempt.file_bytes_read),
            file_bytes_written: known(attempt.file_bytes_written),
            map_input_bytes: known(attempt.map_input_bytes),
            map_output_bytes: known(attempt.map_output_bytes),
            reduce_shuffle_bytes: known(attempt.reduce_shuffle_bytes),
            spilled_records: known(attempt.spilled_records),
            cpu_ms: cpu.filter(|&ms| ms > 0),
            physical_memory: memory.filter(|&bytes| bytes > 0),
            ..AttemptRow::default()
        }
    }

    /// Keeps the counters of an attempt that have no column.
    fn count(&mut self, attempt: &Attempt<'_>, id: &str) {
        for (name, value) in [
            ("MAP_INPUT_RECORDS", attempt.map_input_records),
            ("MAP_OUTPUT_RECORDS", attempt.map_output_records),
            ("COMBINE_INPUT_RECORDS", attempt.combine_input_records),
            ("REDUCE_INPUT_GROUPS", attempt.reduce_input_groups),
            ("REDUCE_INPUT_RECORDS", attempt.reduce_input_records),
            ("REDUCE_OUTPUT_RECORDS", attempt.reduce_output_records),
        ] {
            if let Some(value) = known(value) {
                self.counters.push(CounterRow {
                    scope: CounterScope::Attempt,
                    id: id.to_owned(),
                    group: TASK_COUNTERS.to_owned(),
                    name: name.to_owned(),
                    value,
                });
            }
        }
    }

    fn time(&mut self, ms: Option<i64>) -> Option<i64> {
        self.known_time(ms).filter(|&ms| ms > 0 || self.zero_is_a_time)
    }

    /// A time, unless it is negative: −1 stands for none, and less is damage.
    fn known_time(&mut self, ms: Option<i64>) -> Option<i64> {
        if ms.is_some_and(|ms| ms < -1) {
            self.sink.skip(cause::NEGATIVE_TIME, 1);
        }
        known(ms)
    }
}

/// A number, unless it is −1, which stands for none.
fn known(number: Option<i64>) -> Option<i64> {
    number.filter(|&number| number >= 0)
}

/// Megabytes (2²⁰ bytes) as bytes.
fn megabytes(megabytes: Option<i64>) -> Option<i64> {
    known(megabytes)?.checked_mul(1 << 20)
}

/// The outcome for a status; `None` without one.
fn outcome(status: Option<&Text<'_>>) -> Option<Outcome> {
    Some(match status?.as_str() {
        "SUCCESS" | "SUCCEEDED" => Outcome::Success,
        "FAILED" => Outcome::Failed,
        "KILLED" => Outcome::Killed,
        _ => Outcome::Unknown,
    })
}

/// The last part of an attempt's id.
fn attempt_number(id: &str) -> Option<i64> {
    known(id.rsplit_once('_')?.1.parse().ok())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::golden::{Collected, Found as _, check_counts, each_damage, golden_rows, read_shared};
    use super::*;

    #[test]
    fn every_real_file_gives_its_golden_counts() {
        let Some(rows) = golden_rows("rumen-json") else { return };
        assert!(rows.len() >= 30, "only {} files", rows.len());
        for (file, expected) in rows {
            let Some(bytes) = read_shared(&file) else { return };
            assert!(sniff(&bytes[..bytes.len().min(1 << 16)]), "{file}");
            let found = Collected::read(&FORMAT, &bytes).unwrap();
            assert!(found.skipped.is_empty(), "{file}: {:?}", found.skipped);
            let names = [
                "jobs",
                "job_outcome",
                "declared_maps",
                "declared_reduces",
                "tasks",
                "task_status",
                "attempts",
                "tasks_without_attempts",
                "min_submit",
                "max_finish",
                "map_input_bytes",
                "map_hdfs_bytes_read_successful_attempts",
                "map_tasks_with_splits",
            ];
            check_counts(&found, &expected, &names, &file);
        }
    }

    #[test]
    fn mumak_runs_where_its_names_say() {
        let Some(bytes) = read_shared("hadoop-mapreduce-2011/mumak/19-jobs.trace.json.gz") else { return };
        let found = Collected::read(&FORMAT, &bytes).unwrap();
        let mut counts = [0; 4];
        for task in found.jobs.iter().flat_map(|job| &job.tasks) {
            assert!(task.splits.iter().all(|split| split.host.is_some() && split.rack.is_some()));
            for attempt in task.attempts.iter().filter(|attempt| attempt.outcome == Outcome::Success) {
                if task.task.kind != TaskKind::Map {
                    continue;
                }
                let level = if task.splits.is_empty() {
                    3
                } else if task.splits.iter().any(|split| split.host == attempt.host) {
                    0
                } else if task.splits.iter().any(|split| split.rack == attempt.rack) {
                    1
                } else {
                    2
                };
                counts[level] += 1;
            }
        }
        // Node, rack, off, no places, as another program counted them.
        assert_eq!(counts, [3034, 1409, 201, 1006]);
        let ids: Vec<_> = found.jobs.iter().map(|job| &job.job.job_id[18..]).collect();
        assert!(ids.windows(2).any(|pair| pair[0] > pair[1]), "the file's order is not that of the ids: {ids:?}");
    }

    #[test]
    fn a_job_is_mapped_field_by_field() {
        let text = r#"{"priority":"HIGH","jobID":"job_1_2","jobName":"grep","user":"u","queue":"q","submitTime":100,
            "launchTime":-1,"finishTime":900,"outcome":"SUCCESS","totalMaps":1,"totalReduces":-1,"jobMapMB":1024,
            "jobReduceMB":-1,"later":{"x":[1]},"mapTasks":[{"taskID":"task_1_2_m_000000","taskType":"MAP","taskStatus":null,
            "startTime":110,"finishTime":-1,"inputBytes":-1,"inputRecords":7,"outputBytes":8,"outputRecords":9,
            "preferredLocations":[{"layers":["r1","n1\\.x"]},{"layers":["/r2","n2"]}],
            "attempts":[{"attemptID":"attempt_1_2_m_000000_3","hostName":"/r1/n1\\.x","location":null,"result":"KILLED",
            "startTime":0,"finishTime":800,"shuffleFinished":-1,"sortFinished":-1,"hdfsBytesRead":5,"mapInputRecords":6,
            "resourceUsageMetrics":{"cumulativeCpuUsage":70,"physicalMemoryUsage":0}},{"result":"FAILED"}]}],
            "reduceTasks":null,"otherTasks":[{"taskID":"task_1_2_m_000001","taskType":"JOB_SETUP","taskStatus":"FAILED"},{}]}"#;
        let found = Collected::read_with_counters(&FORMAT, text.as_bytes()).unwrap();
        let id = || "job_1_2".to_owned();
        let some = |text: &str| Some(text.to_owned());
        let split = |ordinal, host, rack| SplitRow {
            task_id: "task_1_2_m_000000".to_owned(),
            ordinal,
            host: some(host),
            rack: some(rack),
            bytes: None,
        };
        let map = TaskRecord {
            task: TaskRow {
                job_id: id(),
                task_id: "task_1_2_m_000000".to_owned(),
                kind: TaskKind::Map,
                start: Some(110),
                outcome: Outcome::Incomplete,
                input_records: Some(7),
                output_bytes: Some(8),
                output_records: Some(9),
                memory_request: Some(1 << 30),
                ..TaskRow::default()
            },
            splits: vec![split(0, "n1.x", "/r1"), split(1, "n2", "/r2")],
            attempts: vec![AttemptRow {
                job_id: id(),
                task_id: "task_1_2_m_000000".to_owned(),
                kind: TaskKind::Map,
                attempt: 3,
                finish: Some(800),
                outcome: Outcome::Killed,
                host: some("n1.x"),
                rack: some("/r1"),
                hdfs_bytes_read: Some(5),
                cpu_ms: Some(70),
                ..AttemptRow::default()
            }],
        };
        let setup = TaskRow {
            job_id: id(),
            task_id: "task_1_2_m_000001".to_owned(),
            kind: TaskKind::Other,
            stage: some("job_setup"),
            outcome: Outcome::Failed,
            ..TaskRow::default()
        };
        let expected = JobRecord {
            job: JobRow {
                job_id: id(),
                name: some("grep"),
                user: some("u"),
                queue: some("q"),
                priority: Some(Priority::High),
                framework: some("mapreduce"),
                submit: Some(100),
                finish: Some(900),
                outcome: Outcome::Success,
                declared_maps: Some(1),
                ..JobRow::default()
            },
            tasks: vec![map, TaskRecord { task: setup, ..TaskRecord::default() }],
            counters: vec![CounterRow {
                scope: CounterScope::Attempt,
                id: "task_1_2_m_000000/3".to_owned(),
                group: TASK_COUNTERS.to_owned(),
                name: "MAP_INPUT_RECORDS".to_owned(),
                value: 6,
            }],
        };
        assert_eq!(found.jobs, [expected]);
        assert_eq!(found.skipped, [("damaged-attempt".to_owned(), 1), ("damaged-task".to_owned(), 1)].into());
    }

    #[test]
    fn zero_is_a_time_only_in_a_trace_that_starts_at_zero() {
        let job = |submit| {
            format!(
                r#"{{"jobID":"j","submitTime":{submit},"mapTasks":[{{"taskID":"t","attempts":[{{"attemptID":"a_0","startTime":0}}]}}]}}"#
            )
        };
        let start =
            |submit| Collected::read(&FORMAT, job(submit).as_bytes()).unwrap().jobs[0].tasks[0].attempts[0].start;
        assert_eq!(start(0), Some(0));
        assert_eq!(start(5), None);
    }

    #[test]
    fn a_damaged_job_costs_only_itself() {
        let Some(bytes) = read_shared("hadoop-common-2014/gridmix/wordcount2.json") else { return };
        let text = String::from_utf8(bytes).unwrap();
        let whole = Collected::read(&FORMAT, text.as_bytes()).unwrap();
        assert_eq!(whole.jobs.len(), 2);
        // Without the lines 30 to 60 of the first job, which leaves brackets open.
        let damaged: String =
            text.lines().enumerate().filter(|(n, _)| !(30..60).contains(n)).map(|(_, l)| format!("{l}\n")).collect();
        let found = Collected::read(&FORMAT, damaged.as_bytes()).unwrap();
        assert_eq!(found.jobs, whole.jobs[1..]);
        assert_eq!(found.skipped, [("damaged-job".to_owned(), 1)].into());
        // Cut in the second job.
        let found = Collected::read(&FORMAT, &text.as_bytes()[..text.len() - 100]).unwrap();
        assert_eq!(found.jobs, whole.jobs[..1]);
        assert_eq!(found.skipped, [("damaged-job".to_owned(), 1)].into());
    }

    #[test]
    fn other_json_is_not_taken_for_a_job() {
        for text in [
            r#"{"am.type": "mapreduce", "job.id": "job_1", "job.tasks": []}"#,
            r#"{"rack": "rack1", "nodes": []}"#,
            r#"{"name": "<root>", "children": []}"#,
            r#"{"Event": "SparkListenerLogStart", "jobs": {"jobID": 1}}"#,
            "",
        ] {
            assert!(!sniff(text.as_bytes()), "{text}");
        }
        assert!(!(super::super::topology::FORMAT.sniff)(br#"{"jobID": "job_1", "mapTasks": []}"#));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        for file in [
            "hadoop-common-2014/gridmix/wordcount.json",
            "hadoop-mapreduce-2011/rumen-small-trace/truncated-trace-output",
        ] {
            let Some(bytes) = read_shared(file) else { return };
            each_damage(&bytes, 200, |damaged| {
                sniff(damaged);
                Collected::read_with_counters(&FORMAT, damaged).unwrap();
            });
        }
        let deep = format!("{{\"jobID\":{}", "[".repeat(100_000));
        assert_eq!(Collected::read(&FORMAT, deep.as_bytes()).unwrap().skipped["damaged-job"], 1);
    }
}
