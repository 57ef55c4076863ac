//! How many bytes per second the readers read, how many tasks per second an ingest writes, and bounds for both.
//!
//! `cargo bench -p resched-ingest`. `read_jobs` and `read_facts` read a format from memory and drop its rows, so neither a disk
//! nor Parquet is measured. Beside them, over the same bytes and in the same run, stand bounds that no reader can beat:
//!
//! - `bound_lines` only finds the ends of lines (std's memchr);
//! - `bound_values` parses every value of JSON and keeps none;
//! - `bound_inflate` only unpacks, for the formats that come packed.
//!
//! `ingest_trace` and `ingest_swim` write whole traces on one thread and wait until the disk has them. The bound of the second is
//! `bound_made`, which makes the same tasks and writes none.
//!
//! `growth_of_a_list` and `growth_of_a_job` ingest a list and one of four times its length, each on disk: their rows per second are to be
//! the same.
//!
//! The jobs are a generated run of 10,000 maps and 200 reduces in twenty jobs; a `.jhist` and a log of Spark hold one of them. The table of
//! events is made up in the form of Google's trace of 2011, and the log of a parallel machine has made-up jobs of the Parallel Workloads
//! Archive's form. The list of Slurm is made up, too; `examples/sacct_rows.rs` makes longer ones.
#![allow(clippy::unwrap_used)]

#[path = "../tests/support/history_writer.rs"]
mod history_writer;
#[path = "../tests/support/sample_run.rs"]
mod sample_run;

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write as _};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use resched_ingest::formats::tables::{Fact, FactSink};
use resched_ingest::formats::{Format, google2011, jhist, rumen, sacct, spark, swf, text_history};
use resched_ingest::{Options, TaskMaker, ingest};
use resched_tables::Error;
use resched_tables::cause::Cause;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, SplitRow, TaskKind, TaskRecord};
use resched_tables::sink::Sink;
use resched_tables::store::Out;
use resched_workload::Workload;
use resched_workload::synthesise::Rules;

use history_writer::{JobTracker, write_history};
use sample_run::sample_run;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value, json};

const JOBS: usize = 20;
const MAPS: usize = 10_000;
const REDUCES: usize = 200;
/// Jobs of the SWIM workload, each with [`SWIM_MAPS`] maps.
const SWIM_JOBS: usize = 500;
const SWIM_MAPS: usize = 2_000;
/// Jobs of the log of a parallel machine.
const SWF_JOBS: usize = 50_000;
/// Jobs of the list of Slurm, each with two steps.
const SACCT_JOBS: usize = 50_000;
/// The nodes that its jobs name.
const SACCT_NODES: u64 = 197;
/// Records of the table of events.
const EVENTS: u64 = 200_000;

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

    fn skip(&mut self, _: Cause, n: u64) {
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

/// The tasks of all jobs as those of one job of Spark, with the metrics that Spark 3 writes.
fn as_spark(jobs: &[JobRecord]) -> Vec<u8> {
    let mut text = String::new();
    // `json!` sorts by name, and in Spark's own logs the name of the event comes first.
    let mut event = |name: &str, fields: Value| {
        text += &format!("{{\"Event\":\"SparkListener{name}\",{}\n", &fields.to_string()[1..]);
    };
    event("ApplicationStart", json!({"App Name": "bench", "App ID": "app-1", "Timestamp": 0, "User": "ann"}));
    event("JobStart", json!({"Job ID": 0, "Submission Time": 0, "Stage IDs": [0]}));
    for (id, (task, attempt)) in attempts_of(jobs).enumerate() {
        let info = json!({"Task ID": id, "Index": id, "Attempt": 0, "Launch Time": attempt.start, "Executor ID": "1", "Host": attempt.host,
            "Locality": "NODE_LOCAL", "Speculative": false, "Getting Result Time": 0, "Finish Time": attempt.finish, "Failed": false,
            "Killed": false, "Accumulables": accumulables(attempt)});
        let written = json!({"Shuffle Bytes Written": attempt.map_output_bytes, "Shuffle Write Time": 1, "Shuffle Records Written": 2});
        let metrics = json!({"Executor Deserialize Time": 1, "Executor Deserialize CPU Time": 2, "Executor Run Time": 3,
            "Executor CPU Time": 4, "Peak Execution Memory": 0, "Result Size": 5, "JVM GC Time": 6, "Result Serialization Time": 0,
            "Memory Bytes Spilled": 0, "Disk Bytes Spilled": 0,
            "Shuffle Read Metrics": {"Remote Blocks Fetched": 0, "Local Blocks Fetched": 1, "Fetch Wait Time": 0,
                "Remote Bytes Read": 0, "Remote Bytes Read To Disk": 0, "Local Bytes Read": 7, "Total Records Read": 8},
            "Shuffle Write Metrics": written, "Input Metrics": {"Bytes Read": task.task.input_bytes, "Records Read": 9},
            "Output Metrics": {"Bytes Written": 0, "Records Written": 0}, "Updated Blocks": []});
        event("TaskStart", json!({"Stage ID": 0, "Stage Attempt ID": 0, "Task Info": info}));
        event(
            "TaskEnd",
            json!({"Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask",
            "Task End Reason": {"Reason": "Success"}, "Task Info": info, "Task Executor Metrics": {"JVMHeapMemory": 0},
            "Task Metrics": metrics}),
        );
    }
    event("JobEnd", json!({"Job ID": 0, "Completion Time": 1, "Job Result": {"Result": "JobSucceeded"}}));
    text.into_bytes()
}

fn attempts_of(jobs: &[JobRecord]) -> impl Iterator<Item = (&TaskRecord, &AttemptRow)> {
    jobs.iter().flat_map(|job| &job.tasks).flat_map(|task| task.attempts.iter().map(move |attempt| (task, attempt)))
}

/// Some of the accumulables of an attempt: Spark repeats its metrics under these names.
fn accumulables(attempt: &AttemptRow) -> Value {
    let names =
        ["executorDeserializeTime", "executorRunTime", "executorCpuTime", "resultSize", "jvmGCTime", "input.bytesRead"];
    let counter = |(id, name): (usize, &str)| {
        json!({"ID": id, "Name": format!("internal.metrics.{name}"), "Update": attempt.start, "Value": attempt.finish, "Internal": true,
            "Count Failed Values": true})
    };
    names.into_iter().enumerate().map(counter).collect()
}

/// Jobs of a parallel machine with 1 to 64 processors, as the archive's logs write them.
fn as_swf() -> Vec<u8> {
    let mut text = "; MaxNodes: 128\n; MaxProcs: 1024\n; UnixStartTime: 749458803\n".to_owned();
    for job in 1..=SWF_JOBS {
        let (submit, wait, run, processors) = (job * 41, job % 4_000, 30 + job * 7 % 40_000, 1 << (job % 7));
        let (user, queue) = (job % 300, job % 5);
        writeln!(
            text,
            "{job:>6} {submit:>9} {wait:>6} {run:>6} {processors:>4} -1 -1 {processors:>4} {:>6} -1 1 {user:>3} {:>2} {:>3} {queue} -1 -1 -1",
            2 * run,
            user % 20,
            job % 70,
        )
        .unwrap();
    }
    text.into_bytes()
}

/// Jobs on one or several of 200 nodes with 64 CPUs, each with two steps, as `sacct -P` lists them.
fn as_sacct() -> Vec<u8> {
    let mut text = "JobID|JobIDRaw|JobName|User|Account|Partition|QOS|Priority|Submit|Eligible|Start|End|ElapsedRaw|Suspended|Timelimit|\
        State|ReqCPUS|AllocCPUS|AllocNodes|ReqTRES|AllocTRES|NodeList|Constraints|SubmitLine\n"
        .to_owned();
    let time = |second: usize| {
        let (day, second) = (1 + second / 86_400, second % 86_400);
        format!("2026-10-{day:02}T{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
    };
    for job in 1..=SACCT_JOBS {
        let (nodes, first, run, user) = (1 << (job % 4), job * 7 % 190, 30 + job * 7 % 40_000, job % 300);
        let (submit, start, end) = (time(job * 41), time(job * 41 + 60), time(job * 41 + 60 + run));
        let cpus = nodes * 64;
        let held = format!("billing={cpus},cpu={cpus},mem={}G,node={nodes}", cpus * 2);
        let hosts = if nodes == 1 { format!("n{first:03}") } else { format!("n[{first:03}-{:03}]", first + nodes - 1) };
        let account = format!("acc{:02}", user % 40);
        writeln!(
            text,
            "{job}|{job}|sim_{}|user{user:03}|{account}|batch|normal|{}|{submit}|{submit}|{start}|{end}|{run}|00:00:00|1-02:00:00|COMPLETED|\
             {cpus}|{cpus}|{nodes}|{held}|{held}|{hosts}||sbatch -A {account} -N{nodes} --ntasks-per-node=64 -t 1560 --mem-per-cpu=2G \
             /home/user{user:03}/run_{}.sh",
            job % 5_000,
            4_294_901_759 - job,
            job % 5_000,
        )
        .unwrap();
        for step in ["batch", "extern"] {
            writeln!(
                text,
                "{job}.{step}|{job}.{step}|{step}||{account}||||{start}|{start}|{start}|{end}|{run}|00:00:00||COMPLETED|{cpus}|{cpus}|\
                 {nodes}||{held}|{hosts}||",
            )
            .unwrap();
        }
    }
    text.into_bytes()
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

/// The third bound: unpacks and keeps nothing.
fn inflate(packed: &[u8]) -> u64 {
    std::io::copy(&mut MultiGzDecoder::new(packed), &mut std::io::sink()).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Jobs of equal maps, as a SWIM workload.
fn as_swim() -> Vec<u8> {
    let mut text = String::new();
    for job in 0..SWIM_JOBS {
        writeln!(text, "job{job}\t{job}\t1\t{}\t0\t{job}000", SWIM_MAPS << 27).unwrap();
    }
    text.into_bytes()
}

/// Events of tasks that are submitted, start and end well, four jobs at a time.
fn as_task_events() -> Vec<u8> {
    let user = "u".repeat(43) + "=";
    let mut text = String::new();
    for event in 0..EVENTS {
        let (task, kind) = (event / 3, [0, 1, 4][(event % 3) as usize]);
        let (time, job, machine) = (600_000_000 + event * 1_000, 3_418_309 + task % 4, 4_155_527_081 + task % 12_500);
        let machine = if kind == 0 { String::new() } else { machine.to_string() };
        writeln!(text, "{time},,{job},{},{machine},{kind},{user},3,9,0.0125,0.0159,0.0004,0", task / 4).unwrap();
    }
    text.into_bytes()
}

/// A sink that counts facts.
#[derive(Default)]
struct CountFacts(u64);

impl FactSink for CountFacts {
    fn fact(&mut self, fact: &Fact<'_>) -> Result<(), Error> {
        black_box(fact);
        self.0 += 1;
        Ok(())
    }

    fn machine(&mut self, _: &Fact<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn skip(&mut self, cause: Cause) {
        panic!("the input is not what it should be: {cause}");
    }
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

impl Input {
    /// Its bytes as they are usually stored: Rumen's traces come packed.
    fn stored(&self) -> Vec<u8> {
        if self.format.name == rumen::FORMAT.name { gzip(&self.bytes) } else { self.bytes.clone() }
    }
}

static EVENT_BYTES: LazyLock<Vec<u8>> = LazyLock::new(as_task_events);
static PACKED_EVENTS: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(&EVENT_BYTES));

/// All inputs, each read once to check it.
static INPUTS: LazyLock<[Input; 6]> = LazyLock::new(|| {
    let jobs = jobs();
    let check_all = |format: Format, expected: (usize, usize, u64), bytes: Vec<u8>, json| {
        let count = read(&format, &bytes);
        let found = (count.jobs, count.attempts, count.skipped);
        assert_eq!(found, expected, "{}: the input is not what it should be", format.name);
        Input { format, bytes, json }
    };
    let check =
        |format, number, bytes, json| check_all(format, (number, number * (MAPS + REDUCES) / JOBS, 0), bytes, json);
    [
        check(text_history::FORMAT, JOBS, as_text(&jobs), None),
        check(jhist::FORMAT, 1, as_jhist(&jobs), Some("Avro-Json\n".len())),
        check(rumen::FORMAT, JOBS, as_rumen(&jobs), Some(0)),
        check_all(spark::FORMAT, (1, MAPS + REDUCES, 0), as_spark(&jobs), Some(0)),
        check_all(swf::FORMAT, (SWF_JOBS, SWF_JOBS, 0), as_swf(), None),
        // Steps and nodes are counted.
        check_all(sacct::FORMAT, (SACCT_JOBS, SACCT_JOBS, 2 * SACCT_JOBS as u64 + SACCT_NODES), as_sacct(), None),
    ]
});

fn input(name: &str) -> &'static Input {
    INPUTS.iter().find(|input| input.format.name == name).unwrap()
}

#[divan::bench(sample_count = 20, args = ["text-history", "jhist", "rumen", "spark", "swf", "sacct"])]
fn bound_lines(bencher: Bencher<'_, '_>, name: &str) {
    let bytes = &input(name).bytes;
    bencher.counter(BytesCount::new(bytes.len())).bench(|| lines(black_box(bytes)));
}

#[divan::bench(sample_count = 20, args = ["jhist", "rumen", "spark"])]
fn bound_values(bencher: Bencher<'_, '_>, name: &str) {
    let Input { bytes, json, .. } = input(name);
    let bytes = &bytes[json.unwrap()..];
    bencher.counter(BytesCount::new(bytes.len())).bench(|| values(black_box(bytes)));
}

#[divan::bench(sample_count = 20, args = ["text-history", "jhist", "rumen", "spark", "swf", "sacct"])]
fn read_jobs(bencher: Bencher<'_, '_>, name: &str) {
    let Input { format, bytes, .. } = input(name);
    bencher.counter(BytesCount::new(bytes.len())).bench(|| read(format, black_box(bytes)));
}

#[divan::bench(sample_count = 20, args = ["google2011", "rumen"])]
fn bound_inflate(bencher: Bencher<'_, '_>, name: &str) {
    let (packed, bytes) = match name {
        "google2011" => (PACKED_EVENTS.clone(), EVENT_BYTES.len()),
        name => (input(name).stored(), input(name).bytes.len()),
    };
    bencher.counter(BytesCount::new(bytes)).bench(|| inflate(black_box(&packed)));
}

/// Reads the packed table of events.
#[divan::bench(sample_count = 20)]
fn read_facts(bencher: Bencher<'_, '_>) {
    let packed: &[u8] = &PACKED_EVENTS;
    bencher.counter(BytesCount::new(EVENT_BYTES.len())).bench(|| {
        let mut sink = CountFacts::default();
        let mut input = BufReader::with_capacity(64 << 10, MultiGzDecoder::new(black_box(packed)));
        (google2011::FORMAT.read)("task_events", &mut input, "bench", &mut sink).unwrap();
        assert!(sink.0 >= EVENTS, "{} facts", sink.0);
    });
}

/// Ingests a file on one thread.
fn ingest_file(file: &Path, out: &Path, tasks: Option<TaskMaker>) {
    let options = Options { tasks, threads: Some(NonZeroUsize::MIN), ..Options::default() };
    let out = Out { path: out.to_path_buf(), force: true };
    ingest(&[file.to_path_buf()], out, &options, &mut ()).unwrap();
}

fn swim_maker() -> TaskMaker {
    TaskMaker::synthesiser(&Rules::default(), 1).unwrap()
}

/// Whole ingests, in bytes of the unpacked source. The `.jhist` is too small for it: most of the time would be the disk's.
#[divan::bench(sample_count = 5, args = ["google2011", "rumen", "sacct"])]
fn ingest_trace(bencher: Bencher<'_, '_>, name: &str) {
    let (stored, bytes) = match name {
        "google2011" => (PACKED_EVENTS.clone(), EVENT_BYTES.len()),
        name => (input(name).stored(), input(name).bytes.len()),
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("source");
    fs::write(&file, stored).unwrap();
    bencher.counter(BytesCount::new(bytes)).bench(|| ingest_file(&file, &dir.path().join("out"), None));
}

/// A list of Slurm in Open XDMoD's form, of so many rows. `ids`: each is a job of its own, or all are tries of one.
fn as_rows(rows: usize, ids: Ids) -> String {
    let mut text = String::new();
    for row in 0..rows {
        let submit = 1_700_000_000 + row * 60;
        let (id, state) = match ids {
            Ids::Own => (row, "COMPLETED"),
            Ids::One => (7, "REQUEUED"),
        };
        let (start, end, user, node, cpus) = (submit + 10, submit + 50, row % 300, row % 200, 1 + row % 16);
        let tres = format!("cpu={cpus},mem={cpus}G,node=1");
        writeln!(
            text,
            "{id}|{row}|made|batch|acc|grp|100|u{user}|{user}|{submit}|{submit}|{start}|{end}|00:00:40|0:0|{state}|1|{cpus}|{cpus}|1Gc||\
             {tres}|{tres}|02:00:00|n{node}|sim_{row}"
        )
        .unwrap();
    }
    text
}

#[derive(Debug, Clone, Copy)]
enum Ids {
    Own,
    One,
}

/// The ingest of such a list with so little memory that it goes to the disk, in rows.
fn ingest_rows(bencher: Bencher<'_, '_>, rows: usize, ids: Ids) {
    let dir = tempfile::tempdir().unwrap();
    let [file, out] = ["rows", "out"].map(|name| dir.path().join(name));
    fs::write(&file, as_rows(rows, ids)).unwrap();
    bencher.counter(ItemsCount::new(rows)).bench(|| {
        let partition_bytes = NonZeroU64::new(1 << 20);
        let options = Options { partition_bytes, threads: Some(NonZeroUsize::MIN), ..Options::default() };
        ingest(std::slice::from_ref(&file), Out { path: out.clone(), force: true }, &options, &mut ()).unwrap()
    });
}

/// A list of some length and of four times that: the rows per second stay.
#[divan::bench(sample_count = 3, args = [50_000, 200_000])]
fn growth_of_a_list(bencher: Bencher<'_, '_>, rows: usize) {
    ingest_rows(bencher, rows, Ids::Own);
}

/// As [`growth_of_a_list`], for tries of one job.
#[divan::bench(sample_count = 3, args = [2_500, 10_000])]
fn growth_of_a_job(bencher: Bencher<'_, '_>, rows: usize) {
    ingest_rows(bencher, rows, Ids::One);
}

/// The ingest of a SWIM workload, in tasks.
#[divan::bench(sample_count = 5)]
fn ingest_swim(bencher: Bencher<'_, '_>) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("source");
    fs::write(&file, as_swim()).unwrap();
    let tasks = ItemsCount::new(SWIM_JOBS * SWIM_MAPS);
    bencher.counter(tasks).bench(|| ingest_file(&file, &dir.path().join("out"), Some(swim_maker())));
}

/// The bound of [`ingest_swim`]: makes the same tasks and writes none.
#[divan::bench(sample_count = 5)]
fn bound_made(bencher: Bencher<'_, '_>) {
    let maker = swim_maker();
    bencher.counter(ItemsCount::new(SWIM_JOBS * SWIM_MAPS)).bench_local(|| {
        let mut made = 0;
        for ordinal in 0..SWIM_JOBS {
            let input_bytes = Some((SWIM_MAPS as i64) << 27);
            let mut job = JobRow { job_id: format!("job{ordinal}"), input_bytes, ..JobRow::default() };
            let mut tasks = maker.make.make(&mut job, ordinal as u64).unwrap();
            let mut task = TaskRecord::default();
            while tasks.next(black_box(&mut task)) {
                made += 1;
            }
        }
        assert_eq!(made, SWIM_JOBS * SWIM_MAPS);
    });
}
