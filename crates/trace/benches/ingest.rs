//! How many bytes per second the readers read, and two bounds for it.
//!
//! `cargo bench -p resched-trace`. Each format is read from memory and its rows are dropped, so neither a disk nor Parquet
//! is measured. Beside it, over the same bytes and in the same run: a pass that only finds the ends of lines (std's
//! memchr), and for JSON one that parses every value and keeps none, which no reader built on serde_json can beat.
//!
//! The jobs are a generated run of 10,000 maps and 200 reduces in twenty jobs; a `.jhist` holds one of them.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::hint::black_box;
use std::io::BufRead;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::BytesCount;
use resched_trace::Error;
use resched_trace::formats::{Format, Sink, jhist, rumen, text_history};
use resched_trace::history_writer::{JobTracker, write_history};
use resched_trace::model::{AttemptRow, JobRecord, NodeRow, SplitRow, TaskKind, TaskRecord};
use resched_trace::workload::{Workload, sample_run};
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value, json};

const JOBS: usize = 20;
const MAPS: usize = 10_000;
const REDUCES: usize = 200;

/// A sink that counts.
#[derive(Default)]
struct Count {
    jobs: usize,
    attempts: usize,
    skipped: u64,
}

impl Sink for Count {
    fn job(&mut self, job: JobRecord) -> Result<(), Error> {
        self.jobs += 1;
        self.attempts += job.tasks.iter().map(|task| task.attempts.len()).sum::<usize>();
        Ok(())
    }

    fn node(&mut self, _: NodeRow) {}

    fn skip(&mut self, _: &str, n: u64) {
        self.skipped += n;
    }
}

fn jobs() -> Vec<JobRecord> {
    let mut text = r#"
        name = "bench"
        about = "Twenty equal jobs"
        [cluster]
        nodes = 100
        racks = 5
        map_slots = 4
        reduce_slots = 2
        replication = 3
        [history]
        seed = 1
        jobtracker = "jobtracker"
        start_ms = 1_267_430_400_000
        cluster_id = "201003010800"
        heartbeat_ms = 3000
        rack_factor = 1.2
        off_factor = 1.5
        failed_share = 0.0
        killed_share = 0.0
        [classes.report]
        map_mean_s = 30
        map_variation = 0.25
        map_selectivity = 0.2
        reduce_mean_s = 15
        reduce_variation = 0.2
        output_selectivity = 0.2
    "#
    .to_owned();
    let (maps, reduces) = (MAPS / JOBS, REDUCES / JOBS);
    for number in 0..JOBS {
        let submit = 30 * number;
        text += &format!(
            "[[jobs]]\nclass = \"report\"\nuser = \"ann\"\nsubmit_s = {submit}\nmaps = {maps}\nreduces = {reduces}\n"
        );
    }
    sample_run(&Workload::parse(&text, "bench").unwrap()).unwrap()
}

/// The jobs as one joined text history.
fn as_text(jobs: &[JobRecord]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let tracker = JobTracker { host: "jobtracker".to_owned(), start_ms: 0 };
    write_history(jobs, &tracker, dir.path()).unwrap();
    let mut histories: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    histories.retain(|path| path.extension().is_none_or(|extension| extension != "xml"));
    histories.sort();
    histories.iter().flat_map(|path| fs::read(path).unwrap()).collect()
}

/// The jobs as the events of one `.jhist`. A file holds one job, so all tasks become those of the first.
fn as_jhist(jobs: &[JobRecord]) -> Vec<u8> {
    let JobRecord { job, tasks, .. } = &jobs[0];
    let mut text = "Avro-Json\n{\"type\":\"record\"}\n".to_owned();
    let mut event = |kind: &str, record: &str, fields: Value| {
        let record = format!("org.apache.hadoop.mapreduce.jobhistory.{record}");
        text += &json!({"type": kind, "event": {record: fields}}).to_string();
        text += "\n\n";
    };
    event(
        "JOB_SUBMITTED",
        "JobSubmitted",
        json!({"jobid": job.job_id, "jobName": "bench", "userName": job.user, "submitTime": job.submit,
            "jobConfPath": "/tmp/job.xml", "jobQueueName": "default"}),
    );
    event(
        "JOB_INITED",
        "JobInited",
        json!({"jobid": job.job_id, "launchTime": job.launch, "totalMaps": job.declared_maps, "totalReduces": job.declared_reduces,
            "jobStatus": "INITED"}),
    );
    for task in tasks {
        let kind = kind_name(task);
        let id = &task.task.task_id;
        let splits: Vec<&str> = task.splits.iter().filter_map(|split| split.host.as_deref()).collect();
        event(
            "TASK_STARTED",
            "TaskStarted",
            json!({"taskid": id, "taskType": kind, "startTime": task.task.start, "splitLocations": splits.join(",")}),
        );
        for attempt in &task.attempts {
            let name = attempt_name(attempt);
            event(
                &format!("{kind}_ATTEMPT_STARTED"),
                "TaskAttemptStarted",
                json!({"taskid": id, "taskType": kind, "attemptId": name, "startTime": attempt.start,
                    "trackerName": attempt.host, "httpPort": 8042, "shufflePort": 13562,
                    "locality": {"string": "NODE_LOCAL"}, "avataar": {"string": "VIRGIN"}}),
            );
            event(
                &format!("{kind}_ATTEMPT_FINISHED"),
                if kind == "MAP" { "MapAttemptFinished" } else { "ReduceAttemptFinished" },
                json!({"taskid": id, "attemptId": name, "taskType": kind, "taskStatus": "SUCCEEDED",
                    "mapFinishTime": attempt.finish, "shuffleFinishTime": attempt.shuffle_finish,
                    "sortFinishTime": attempt.sort_finish, "finishTime": attempt.finish, "hostname": attempt.host,
                    "port": 45001, "rackname": attempt.rack, "state": "done", "counters": counters(attempt)}),
            );
        }
        event(
            "TASK_FINISHED",
            "TaskFinished",
            json!({"taskid": id, "taskType": kind, "finishTime": task.task.finish, "status": "SUCCEEDED",
                "counters": task.attempts.last().map(counters)}),
        );
    }
    event(
        "JOB_FINISHED",
        "JobFinished",
        json!({"jobid": job.job_id, "finishTime": job.finish, "finishedMaps": MAPS, "finishedReduces": REDUCES}),
    );
    text.into_bytes()
}

/// The counters of an attempt, as many as Hadoop 2 writes.
fn counters(attempt: &AttemptRow) -> Value {
    let group = |name: &str, counts: &[(&str, Option<i64>)]| {
        let counts: Vec<Value> = counts
            .iter()
            .map(|(name, value)| json!({"name": name, "displayName": name, "value": value.unwrap_or(0)}))
            .collect();
        json!({"name": name, "displayName": name, "counts": counts})
    };
    let files = [
        ("FILE_BYTES_READ", attempt.file_bytes_read),
        ("FILE_BYTES_WRITTEN", attempt.file_bytes_written),
        ("FILE_READ_OPS", None),
        ("FILE_WRITE_OPS", None),
        ("HDFS_BYTES_READ", attempt.hdfs_bytes_read),
        ("HDFS_BYTES_WRITTEN", attempt.hdfs_bytes_written),
        ("HDFS_READ_OPS", None),
        ("HDFS_WRITE_OPS", None),
    ];
    let task = [
        ("MAP_INPUT_RECORDS", None),
        ("MAP_OUTPUT_RECORDS", None),
        ("MAP_OUTPUT_BYTES", attempt.map_output_bytes),
        ("SPILLED_RECORDS", attempt.spilled_records),
        ("CPU_MILLISECONDS", attempt.cpu_ms),
        ("PHYSICAL_MEMORY_BYTES", attempt.physical_memory),
        ("VIRTUAL_MEMORY_BYTES", None),
        ("COMMITTED_HEAP_BYTES", None),
    ];
    let groups = [
        group("org.apache.hadoop.mapreduce.FileSystemCounter", &files),
        group("org.apache.hadoop.mapreduce.TaskCounter", &task),
    ];
    json!({"name": "COUNTERS", "groups": groups})
}

/// The jobs as a Rumen trace.
fn as_rumen(jobs: &[JobRecord]) -> Vec<u8> {
    let traces = jobs.iter().map(|JobRecord { job, tasks, .. }| {
        let list = |kind| tasks.iter().filter(|task| task.task.kind == kind).map(rumen_task).collect::<Vec<_>>();
        let trace = json!({"priority": "NORMAL", "jobID": job.job_id, "user": job.user, "queue": "default",
            "submitTime": job.submit, "launchTime": job.launch, "finishTime": job.finish, "outcome": "SUCCESS",
            "totalMaps": job.declared_maps, "totalReduces": job.declared_reduces, "mapTasks": list(TaskKind::Map),
            "reduceTasks": list(TaskKind::Reduce), "otherTasks": []});
        format!("{trace}\n").into_bytes()
    });
    traces.flatten().collect()
}

fn rumen_task(task: &TaskRecord) -> Value {
    let place = |split: &SplitRow| json!({"layers": [split.rack, split.host]});
    let attempts: Vec<Value> = task.attempts.iter().map(rumen_attempt).collect();
    let places: Vec<Value> = task.splits.iter().map(place).collect();
    json!({"startTime": task.task.start, "numberMaps": -1, "numberReduces": -1, "finishTime": task.task.finish,
        "inputBytes": task.task.input_bytes, "inputRecords": -1, "outputBytes": task.task.output_bytes,
        "outputRecords": -1, "taskID": task.task.task_id, "taskStatus": "SUCCESS", "taskType": kind_name(task),
        "preferredLocations": places, "attempts": attempts})
}

fn rumen_attempt(attempt: &AttemptRow) -> Value {
    let host = [attempt.rack.as_deref(), attempt.host.as_deref()].map(Option::unwrap_or_default).join("/");
    json!({"location": null, "hostName": host, "startTime": attempt.start, "finishTime": attempt.finish,
        "result": "SUCCESS", "shuffleFinished": attempt.shuffle_finish.unwrap_or(-1),
        "sortFinished": attempt.sort_finish.unwrap_or(-1), "attemptID": attempt_name(attempt),
        "hdfsBytesRead": attempt.hdfs_bytes_read.unwrap_or(-1), "hdfsBytesWritten": -1, "fileBytesRead": -1,
        "fileBytesWritten": -1, "mapInputRecords": -1, "mapOutputBytes": attempt.map_output_bytes.unwrap_or(-1),
        "mapOutputRecords": -1, "combineInputRecords": -1, "reduceInputGroups": -1, "reduceInputRecords": -1,
        "reduceShuffleBytes": attempt.reduce_shuffle_bytes.unwrap_or(-1), "reduceOutputRecords": -1,
        "spilledRecords": -1})
}

fn kind_name(task: &TaskRecord) -> &'static str {
    if task.task.kind == TaskKind::Reduce { "REDUCE" } else { "MAP" }
}

fn attempt_name(attempt: &AttemptRow) -> String {
    format!("{}_{}", attempt.task_id.replacen("task_", "attempt_", 1), attempt.attempt)
}

fn read(format: &Format, mut bytes: &[u8]) -> Count {
    let mut count = Count::default();
    (format.read)(&mut bytes, "bench", &mut count).unwrap();
    count
}

/// The first bound: copies the input line by line.
fn lines(mut bytes: &[u8]) -> usize {
    let (mut line, mut lines) = (Vec::new(), 0);
    while bytes.read_until(b'\n', &mut line).unwrap() > 0 {
        lines += 1;
        line.clear();
    }
    lines
}

/// The second bound: parses JSON and keeps nothing of it.
fn values(bytes: &[u8]) -> usize {
    Deserializer::from_slice(bytes).into_iter::<IgnoredAny>().map(Result::unwrap).count()
}

fn main() {
    divan::main();
}

/// The same jobs in one format.
struct Input {
    format: Format,
    bytes: Vec<u8>,
    /// Where its JSON starts, if it is one.
    json: Option<usize>,
}

/// All inputs, each read once to check it.
static INPUTS: LazyLock<[Input; 3]> = LazyLock::new(|| {
    let jobs = jobs();
    let check = |format: Format, jobs: usize, bytes: Vec<u8>, json| {
        let count = read(&format, &bytes);
        let found = (count.jobs, count.attempts, count.skipped);
        let expected = (jobs, jobs * (MAPS + REDUCES) / JOBS, 0);
        assert_eq!(found, expected, "{}: the input is not what it should be", format.name);
        Input { format, bytes, json }
    };
    [
        check(text_history::FORMAT, JOBS, as_text(&jobs), None),
        check(jhist::FORMAT, 1, as_jhist(&jobs), Some("Avro-Json\n".len())),
        check(rumen::FORMAT, JOBS, as_rumen(&jobs), Some(0)),
    ]
});

fn input(name: &str) -> &'static Input {
    INPUTS.iter().find(|input| input.format.name == name).unwrap()
}

#[divan::bench(sample_count = 20, args = ["text-history", "jhist", "rumen"])]
fn bound_lines(bencher: Bencher<'_, '_>, name: &str) {
    let bytes = &input(name).bytes;
    bencher.counter(BytesCount::new(bytes.len())).bench(|| lines(black_box(bytes)));
}

#[divan::bench(sample_count = 20, args = ["jhist", "rumen"])]
fn bound_values(bencher: Bencher<'_, '_>, name: &str) {
    let Input { bytes, json, .. } = input(name);
    let bytes = &bytes[json.unwrap()..];
    bencher.counter(BytesCount::new(bytes.len())).bench(|| values(black_box(bytes)));
}

#[divan::bench(sample_count = 20, args = ["text-history", "jhist", "rumen"])]
fn read_jobs(bencher: Bencher<'_, '_>, name: &str) {
    let Input { format, bytes, .. } = input(name);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| read(format, black_box(bytes)));
}
