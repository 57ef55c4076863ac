//! Spark's logs as they lie in a folder: packed, rolled over, of several applications; and logs of a real scheduler beside what it did.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use resched_ingest::{Options, ingest, ingest_into};
use resched_tables::model::{JobRow, Locality, NodeChange, Outcome, TaskRecord};
use resched_tables::records;
use resched_tables::sink::Collected;
use resched_tables::store::Manifest;

#[test]
fn a_log_that_rolls_over_is_one_application() {
    let Some(traces) = crate::support::real_traces() else { return };
    let folder = traces.join("spark/rapids-tools/eventlog_v2_local-1623876083964");
    let mut found = Collected::default();
    let manifest = ingest_into(&[folder], &mut found, &Options::default(), &mut ()).unwrap();
    let attempts: Vec<usize> =
        found.jobs.iter().map(|record| record.tasks.iter().map(|task| task.attempts.len()).sum()).collect();
    assert_eq!(attempts, [2801]);
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    let sources: Vec<_> = manifest.sources.iter().map(|source| (source.bytes, source.format.as_str())).collect();
    assert_eq!(sources, [(496_917, "spark"), (48_700, "spark")]);
}

#[test]
fn a_folder_of_logs_is_read_whole() {
    let Some(traces) = crate::support::real_traces() else { return };
    let mut found = Collected::default();
    let apart = ingest_into(&[traces.join("spark")], &mut found, &Options::default(), &mut ()).unwrap_err();
    assert!(apart.to_string().contains("expected the jobs of one cluster, found those of 14"), "{apart}");
    let mut found = Collected::default();
    let options = Options { merge: true, ..Options::default() };
    ingest_into(&[traces.join("spark")], &mut found, &options, &mut ()).unwrap();
    let mut applications: Vec<_> = found.jobs.iter().map(|record| record.job.group.clone().unwrap()).collect();
    applications.sort();
    applications.dedup();
    // Sixteen logs and a folder; two logs have no job.
    assert_eq!((found.jobs.len(), applications.len()), (62, 15));
}

/// The folder with what a real Spark scheduler did.
fn truth() -> Option<PathBuf> {
    let folder = crate::support::real_traces()?.parent().unwrap().join("truth/spark");
    folder.is_dir().then_some(folder)
}

/// A row of `truth.csv.gz`, by column.
type Row = BTreeMap<String, String>;

fn rows(run: &Path) -> Vec<Row> {
    let packed = std::fs::File::open(run.join("truth.csv.gz")).unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| names.iter().map(|name| (*name).to_owned()).zip(line.split(',').map(str::to_owned)).collect())
        .collect()
}

fn read(paths: &[PathBuf]) -> (Collected, Manifest) {
    let mut found = Collected::default();
    let options = Options { merge: true, ..Options::default() };
    let manifest = ingest_into(paths, &mut found, &options, &mut ()).unwrap();
    assert_eq!(found.applications, manifest.applications);
    (found, manifest)
}

/// How many tasks had preferred hosts, and how many hosts they preferred; of the places that they were seen on and of those that were drawn,
/// how many are right, and how many there are.
#[derive(Debug, Default, Clone, Copy)]
struct Places {
    tasks: usize,
    preferred: usize,
    seen: [usize; 2],
    drawn: [usize; 2],
}

#[allow(clippy::print_stderr, reason = "a test says what it compared")]
#[test]
fn the_tables_hold_what_a_real_scheduler_did() {
    let Some(truth) = truth() else { return };
    let mut runs: Vec<PathBuf> = std::fs::read_dir(&truth).unwrap().map(|entry| entry.unwrap().path()).collect();
    runs.retain(|run| run.is_dir());
    runs.sort();
    assert!(!runs.is_empty());
    let mut all = Places::default();
    for run in &runs {
        let (found, manifest) = read(&[run.join("eventlog.json.gz")]);
        let places = compare(&rows(run), &found);
        let made = manifest.made_rows.get("splits.host").copied().unwrap_or(0);
        assert_eq!(made as usize, places.drawn[1], "{}", run.display());
        eprintln!("{}: {places:?}", run.file_name().unwrap().display());
        all.tasks += places.tasks;
        all.preferred += places.preferred;
        let times = (places.seen[1] + places.drawn[1]) as f64 / places.preferred as f64;
        eprintln!("{times:.2} times as many hosts as they prefer");
        // The applications of `multi` had executors on half of the hosts or fewer.
        let is_multi = run.file_name().unwrap().to_string_lossy().starts_with("multi");
        assert!(is_multi || (0.7..2.0).contains(&times), "{}: {times}", run.display());
        for n in [0, 1] {
            all.seen[n] += places.seen[n];
            all.drawn[n] += places.drawn[n];
        }
    }
    eprintln!("all: {all:?}");
    assert_eq!(all.seen[0], all.seen[1], "a host under NODE_LOCAL is always preferred");
    assert!(all.drawn[0] * 100 >= all.drawn[1] * 25, "{all:?}");
}

/// Compares the tables of a log with what happened.
fn compare(rows: &[Row], found: &Collected) -> Places {
    let mut places = Places::default();
    let tasks: BTreeMap<&str, (&TaskRecord, &JobRow)> = (found.jobs.iter())
        .flat_map(|record| record.tasks.iter().map(|task| (task.task.task_id.as_str(), (task, &record.job))))
        .collect();
    assert_eq!(tasks.len(), rows.len());
    for row in rows {
        let of = |name: &str| row[name].as_str();
        let number = |name: &str| of(name).parse::<i64>().ok();
        let id = format!("{}_job_{}_s{}_{}", of("app"), of("job"), of("stage"), of("index"));
        let (record, job) = tasks[id.as_str()];
        let pool = Some(of("pool")).filter(|pool| !pool.is_empty()).unwrap_or("default");
        let expected = (Some(pool), number("job_submit_ms"), number("job_end_ms"));
        assert_eq!((job.queue.as_deref(), job.submit, job.finish), expected, "{id}");
        let [attempt] = record.attempts.as_slice() else { panic!("{id}: {:?}", record.attempts) };
        let times = (attempt.queued, attempt.start, attempt.finish);
        assert_eq!(times, (number("stage_submit_ms"), number("launch_ms"), number("finish_ms")), "{id}");
        assert_eq!(attempt.host.as_deref(), Some(of("host")), "{id}");
        let level = match of("locality") {
            "NODE_LOCAL" => Some(Locality::Node),
            "ANY" => Some(Locality::Off),
            _ => None,
        };
        assert_eq!(attempt.locality, level, "{id}");
        places.count(record, of("preferred"), of("host"), level);
    }
    places
}

impl Places {
    /// Counts the places of a task, which truly prefers these hosts.
    fn count(&mut self, record: &TaskRecord, preferred: &str, host: &str, level: Option<Locality>) {
        let preferred: BTreeSet<&str> = preferred.split_whitespace().collect();
        if !record.task.depends_on.is_empty() {
            assert!(record.splits.is_empty(), "{record:?}");
            return;
        }
        self.tasks += usize::from(!preferred.is_empty());
        self.preferred += preferred.len();
        for place in record.splits.iter().filter_map(|split| split.host.as_deref()) {
            let was_seen = level == Some(Locality::Node) && place == host;
            let counts = if was_seen { &mut self.seen } else { &mut self.drawn };
            counts[0] += usize::from(preferred.contains(place));
            counts[1] += 1;
        }
    }
}

#[test]
fn logs_of_one_cluster_give_the_executors_of_each_application() {
    let Some(truth) = truth() else { return };
    let logs: Vec<PathBuf> =
        ["a", "b", "c", "d"].map(|name| truth.join(format!("multi-{name}/eventlog.json.gz"))).into();
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("T");
    let options = Options { merge: true, ..Options::default() };
    let manifest = ingest(&logs, trace.clone(), &options, &mut ()).unwrap();
    let cores: Vec<&str> =
        manifest.applications.values().map(|application| application["spark.cores.max"].as_str()).collect();
    assert_eq!(cores, ["8", "8", "12", "4"]);
    assert!(manifest.applications.values().all(|application| application["spark.version"] == "3.5.6"));
    let nodes = records::Source::open(&trace).unwrap().nodes().unwrap();
    assert_eq!(nodes, read(&logs).0.nodes);
    // No host ever has more than its two cores, whoever holds them.
    let mut held: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    let mut by_time: Vec<_> = nodes.iter().collect();
    by_time.sort_by_key(|row| (row.time, row.event != NodeChange::Remove));
    let mut most = BTreeMap::new();
    for row in by_time {
        let group = row.group.as_deref().unwrap();
        assert!(manifest.applications.contains_key(group));
        held.insert((&row.host, group), row.cpu.unwrap_or(0));
        let sum: i64 = held.iter().filter(|((host, _), _)| *host == row.host).map(|(_, cpu)| cpu).sum();
        let of_host = most.entry(row.host.as_str()).or_insert(0);
        *of_host = sum.max(*of_host);
    }
    assert_eq!(most.values().copied().collect::<BTreeSet<i64>>(), BTreeSet::from([2_000]));
    assert_eq!(most.len(), 8);
    assert!(held.values().all(|&cpu| cpu == 0), "each application has ended");
}

#[test]
fn standard_input_stands_alone_and_needs_its_format() {
    let refused = |paths: &[&str], format: Option<&str>| {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let options = Options { format: format.map(str::to_owned), ..Options::default() };
        let error = ingest_into(&paths, &mut Collected::default(), &options, &mut ()).unwrap_err();
        assert!(error.is_request(), "{error}");
        error.to_string()
    };
    for (paths, format) in [(&["-"][..], None), (&["-", "-"], Some("spark")), (&["-"], Some("google2011"))] {
        let error = refused(paths, format);
        assert!(error.contains("name it with --format"), "{error}");
    }
}

/// The log of an application as Spark 4.0 writes it: the events before its jobs, these, and its end.
fn spark4(events: &[String]) -> Vec<String> {
    let mut lines = vec![
        r#"{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}"#.to_owned(),
        r#"{"Event":"SparkListenerResourceProfileAdded","Resource Profile Id":0,"Executor Resource Requests":{"cores":{"Resource Name":"cores","Amount":2,"Discovery Script":"","Vendor":""}},"Task Resource Requests":{"cpus":{"Resource Name":"cpus","Amount":1.0}}}"#.to_owned(),
        r#"{"Event":"SparkListenerEnvironmentUpdate","JVM Information":{"Java Version":"17"},"Spark Properties":{"spark.executor.memory":"2g","spark.executor.cores":"2","spark.eventLog.rolling.enabled":"true"},"Hadoop Properties":{},"System Properties":{},"Metrics Properties":{},"Classpath Entries":{}}"#.to_owned(),
        r#"{"Event":"SparkListenerApplicationStart","App Name":"four","App ID":"app-4","Timestamp":1000,"User":"ann","Driver Logs":{},"Driver Attributes":{}}"#.to_owned(),
    ];
    lines.extend(events.iter().cloned());
    lines.push(r#"{"Event":"SparkListenerApplicationEnd","Timestamp":90000,"ExitCode":0}"#.to_owned());
    lines
}

fn executor_added(time: i64, id: u32, host: &str) -> String {
    format!(
        r#"{{"Event":"SparkListenerExecutorAdded","Timestamp":{time},"Executor ID":"{id}","Executor Info":{{"Host":"{host}","Total Cores":2,"Log Urls":{{}},"Attributes":{{}},"Resources":{{}},"Resource Profile Id":0,"Registration Time":{time},"Request Time":{time}}}}}"#
    )
}

fn executor_removed(time: i64, id: u32) -> String {
    format!(
        r#"{{"Event":"SparkListenerExecutorRemoved","Timestamp":{time},"Executor ID":"{id}","Removed Reason":"Executor decommissioned: spark scale down"}}"#
    )
}

/// A row of a stage. `more` are further fields.
fn stage_info(id: u32, attempt: u32, parents: &str, barrier: bool) -> String {
    format!(
        r#"{{"Stage ID":{id},"Stage Attempt ID":{attempt},"Stage Name":"stage {id}","Number of Tasks":2,"RDD Info":[{{"RDD ID":{id},"Name":"RDD","Callsite":"c","Parent IDs":[],"Storage Level":{{"Use Disk":false,"Use Memory":false,"Use Off Heap":false,"Deserialized":false,"Replication":1}},"Barrier":{barrier},"DeterministicLevel":"DETERMINATE","Number of Partitions":2,"Number of Cached Partitions":0,"Memory Size":0,"Disk Size":0}}],"Parent IDs":[{parents}],"Details":"","Accumulables":[],"Resource Profile Id":0,"Shuffle Push Enabled":false,"Shuffle Push Mergers Count":0,"Submission Time":{}}}"#,
        2_000 + 10_000 * attempt
    )
}

fn stage_submitted(info: &str) -> String {
    format!(r#"{{"Event":"SparkListenerStageSubmitted","Stage Info":{info},"Properties":{{}}}}"#)
}

fn job_start(infos: &[String]) -> String {
    let ids: Vec<String> = (0..infos.len()).map(|id| id.to_string()).collect();
    format!(
        r#"{{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1900,"Stage Infos":[{}],"Stage IDs":[{}],"Properties":{{"spark.job.tags":"x"}}}}"#,
        infos.join(","),
        ids.join(",")
    )
}

fn job_end() -> String {
    r#"{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":80000,"Job Result":{"Result":"JobSucceeded"}}"#
        .to_owned()
}

/// An attempt at a task.
#[derive(Clone, Copy)]
struct Ran {
    stage: (u32, u32),
    id: u32,
    partition: u32,
    attempt: u32,
    executor: u32,
    speculative: bool,
    reason: &'static str,
}

const SUCCESS: &str = r#"{"Reason":"Success"}"#;

impl Ran {
    fn of(stage: (u32, u32), id: u32, partition: u32) -> Self {
        Self { stage, id, partition, attempt: 0, executor: 1, speculative: false, reason: SUCCESS }
    }

    /// Its start and its end, as Spark 4.0 writes them.
    fn events(self) -> [String; 2] {
        let Self { stage: (stage, again), id, partition, attempt, executor, speculative, reason } = self;
        let launch = 3_000 + 100 * id;
        let info = |finish: u32| {
            format!(
                r#"{{"Task ID":{id},"Index":{partition},"Attempt":{attempt},"Partition ID":{partition},"Launch Time":{launch},"Executor ID":"{executor}","Host":"h{executor}","Locality":"ANY","Speculative":{speculative},"Getting Result Time":0,"Finish Time":{finish},"Failed":false,"Killed":false,"Accumulables":[{{"ID":1,"Name":"internal.metrics.executorRunTime","Update":5,"Value":5,"Internal":true,"Count Failed Values":true}}]}}"#
            )
        };
        let at = format!(r#""Stage ID":{stage},"Stage Attempt ID":{again}"#);
        [
            format!(r#"{{"Event":"SparkListenerTaskStart",{at},"Task Info":{}}}"#, info(0)),
            format!(
                r#"{{"Event":"SparkListenerTaskEnd",{at},"Task Type":"ResultTask","Task End Reason":{reason},"Task Info":{},"Task Executor Metrics":{{"JVMHeapMemory":7,"ConcurrentGCCount":1,"ConcurrentGCTime":2}},"Task Metrics":{{"Executor CPU Time":5000000,"Peak Execution Memory":0,"Peak On Heap Execution Memory":0,"Peak Off Heap Execution Memory":0,"Shuffle Read Metrics":{{"Remote Bytes Read":3,"Local Bytes Read":4,"Push Based Shuffle":{{"Merged Local Bytes Read":0}}}},"Input Metrics":{{"Bytes Read":11,"Records Read":1}}}}}}"#,
                info(launch + 50)
            ),
        ]
    }
}

/// The rows of a log as text.
fn collect(lines: &[String]) -> Collected {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app-4");
    std::fs::write(&path, lines.join("\n")).unwrap();
    read(&[path]).0
}

/// By default, a log of Spark 4 rolls over and is packed with zstd.
#[test]
fn a_log_of_spark_4_is_read_as_it_is_written_by_default() {
    let infos = [stage_info(0, 0, "", false)];
    let mut events = vec![executor_added(1_500, 1, "h1"), job_start(&infos), stage_submitted(&infos[0])];
    events.extend([Ran::of((0, 0), 0, 0), Ran::of((0, 0), 1, 1)].into_iter().flat_map(Ran::events));
    events.extend([
        r#"{"Event":"SparkListenerStageExecutorMetrics","Executor ID":"1","Stage ID":0,"Stage Attempt ID":0,"Executor Metrics":{"JVMHeapMemory":7,"OnHeapExecutionMemory":{"Peak":1}}}"#.to_owned(),
        r#"{"Event":"org.apache.spark.scheduler.SparkListenerSpeculativeTaskSubmitted","stageId":0,"stageAttemptId":0,"taskIndex":0,"partitionId":0}"#.to_owned(),
        r#"{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd","executionId":0,"time":4000,"errorMessage":""}"#.to_owned(),
        r#"{"Event":"SparkListenerResourceProfileAdded","Resource Profile Id":1,"Executor Resource Requests":{"gpu":{"Resource Name":"gpu","Amount":1,"Discovery Script":"/x","Vendor":"v"}},"Task Resource Requests":{"gpu":{"Resource Name":"gpu","Amount":0.5}}}"#.to_owned(),
        r#"{"Event":"org.apache.spark.scheduler.SparkListenerExecutorExcluded","time":4000,"executorId":"1","taskFailures":2}"#.to_owned(),
        r#"{"Event":"org.apache.spark.scheduler.SparkListenerExecutorUnexcluded","time":5000,"executorId":"1"}"#.to_owned(),
        job_end(),
    ]);
    let lines = spark4(&events);
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("eventlog_v2_app-4");
    std::fs::create_dir(&logs).unwrap();
    std::fs::write(logs.join("appstatus_app-4.inprogress"), "").unwrap();
    for (n, part) in (1..).zip(lines.chunks(6)) {
        let packed = zstd::encode_all((part.join("\n") + "\n").as_bytes(), 3).unwrap();
        std::fs::write(logs.join(format!("events_{n}_app-4.zstd")), packed).unwrap();
    }
    let (found, manifest) = read(&[folder.path().to_path_buf()]);
    assert_eq!(manifest.sources.len(), lines.len().div_ceil(6));
    let [record] = found.jobs.as_slice() else { panic!("{:?}", found.jobs) };
    assert_eq!((record.job.job_id.as_str(), record.job.finish), ("app-4_job_0", Some(80_000)));
    assert_eq!((record.job.input_bytes, record.job.shuffle_bytes), (Some(22), Some(14)));
    let attempts: Vec<_> =
        record.tasks.iter().flat_map(|task| &task.attempts).map(|row| (row.queued, row.start, row.cpu_ms)).collect();
    assert_eq!(attempts, [(Some(2_000), Some(3_000), Some(5)), (Some(2_000), Some(3_100), Some(5))]);
    assert_eq!(record.tasks[0].task.memory_request, Some(1 << 30));
    let skipped =
        ["excluded-executor", "preferred-hosts-unknown", "resource-profile"].map(|cause| found.skipped[cause]);
    assert_eq!((skipped, found.skipped.len()), ([1, 2, 1], 3), "{:?}", found.skipped);
    let settings = &manifest.applications["app-4"];
    assert_eq!((settings["spark.version"].as_str(), settings["spark.executor.cores"].as_str()), ("4.0.0", "2"));
    let nodes: Vec<_> = found.nodes.iter().map(|row| (row.time.unwrap(), row.event, row.cpu)).collect();
    assert_eq!(nodes, [(1_500, NodeChange::Add, Some(2_000)), (90_000, NodeChange::Remove, None)]);
}

/// A stage whose input is lost runs again: the tasks that it repeats have another attempt each, and those of the later stage, too.
#[test]
fn a_stage_that_runs_again_adds_attempts_to_its_tasks() {
    const LOST: &str = r#"{"Reason":"FetchFailed","Block Manager Address":{"Executor ID":"1","Host":"h1","Port":1},"Shuffle ID":0,"Map ID":0,"Map Index":0,"Reduce ID":0,"Message":"lost"}"#;
    let infos = [stage_info(0, 0, "", false), stage_info(1, 0, "0", false)];
    let mut events = vec![job_start(&infos)];
    let ran = [
        Ran::of((0, 0), 0, 0),
        Ran::of((0, 0), 1, 1),
        Ran { reason: LOST, ..Ran::of((1, 0), 2, 0) },
        Ran::of((1, 0), 3, 1),
        Ran::of((0, 1), 4, 1),
        Ran::of((1, 1), 5, 0),
    ];
    for (n, one) in ran.into_iter().enumerate() {
        if let Some(stage) = [(0, 0), (2, 1), (4, 0), (5, 1)].iter().find(|(at, _)| *at == n).map(|(_, stage)| *stage) {
            let parents = if stage == 0 { "" } else { "0" };
            events.push(stage_submitted(&stage_info(stage, one.stage.1, parents, false)));
        }
        events.extend(one.events());
    }
    events.push(job_end());
    let found = collect(&spark4(&events));
    let rows: Vec<_> = found.jobs[0]
        .tasks
        .iter()
        .map(|task| {
            let attempts: Vec<_> = task.attempts.iter().map(|row| (row.queued, row.outcome)).collect();
            (task.task.task_id.as_str(), task.task.depends_on.clone(), attempts)
        })
        .collect();
    let (first, again) = (Some(2_000), Some(12_000));
    let expected = [
        ("app-4_job_0_s0_0", vec![], vec![(first, Outcome::Success)]),
        ("app-4_job_0_s0_1", vec![], vec![(first, Outcome::Success), (again, Outcome::Success)]),
        ("app-4_job_0_s1_0", vec!["0".to_owned()], vec![(first, Outcome::Failed), (again, Outcome::Success)]),
        ("app-4_job_0_s1_1", vec!["0".to_owned()], vec![(first, Outcome::Success)]),
    ];
    assert_eq!(rows, expected);
    let error = found.jobs[0].tasks[2].attempts[0].error.as_deref();
    assert_eq!(error, Some("FetchFailed: lost"));
}

/// The backup of a slow task is an attempt of its own, and the one that loses is killed.
#[test]
fn a_speculative_attempt_is_marked() {
    const KILLED: &str =
        r#"{"Reason":"TaskKilled","Kill Reason":"another attempt succeeded","Accumulator Updates":[]}"#;
    let infos = [stage_info(0, 0, "", false)];
    let [start, end] = Ran { reason: KILLED, ..Ran::of((0, 0), 0, 0) }.events();
    let backup = Ran { attempt: 1, executor: 2, speculative: true, ..Ran::of((0, 0), 1, 0) };
    let [backup_start, backup_end] = backup.events();
    let events = [job_start(&infos), stage_submitted(&infos[0]), start, backup_start, backup_end, end, job_end()];
    let found = collect(&spark4(&events));
    let [task] = found.jobs[0].tasks.as_slice() else { panic!("{:?}", found.jobs) };
    let attempts: Vec<_> = (task.attempts.iter())
        .map(|row| (row.speculative, row.outcome, row.queued, row.host.as_deref(), row.error.as_deref()))
        .collect();
    let killed = Some("TaskKilled: another attempt succeeded");
    assert_eq!(
        attempts,
        [
            (Some(false), Outcome::Killed, Some(2_000), Some("h1"), killed),
            (Some(true), Outcome::Success, None, Some("h2"), None)
        ]
    );
}

/// The tables cannot say that tasks must start together, so such stages are counted, each once.
#[test]
fn barrier_stages_are_counted() {
    let infos = [stage_info(0, 0, "", true), stage_info(1, 0, "0", false)];
    let mut events = vec![job_start(&infos), stage_submitted(&infos[0])];
    events.extend(
        [Ran::of((0, 0), 0, 0), Ran::of((0, 0), 1, 1), Ran::of((1, 0), 2, 0)].into_iter().flat_map(Ran::events),
    );
    events.push(job_end());
    let found = collect(&spark4(&events));
    assert_eq!((found.skipped["barrier-stage"], found.jobs[0].tasks.len()), (1, 3));
}

/// With dynamic allocation, executors come and go while the application runs.
#[test]
fn executors_that_come_and_go_change_the_machines() {
    let infos = [stage_info(0, 0, "", false)];
    let mut events = vec![executor_added(1_500, 1, "h1"), job_start(&infos), executor_added(2_500, 2, "h2")];
    events.extend([executor_added(2_600, 3, "h2"), stage_submitted(&infos[0])]);
    events.extend(Ran { executor: 2, ..Ran::of((0, 0), 0, 0) }.events());
    events.extend([executor_removed(7_000, 3), executor_removed(8_000, 2), job_end(), executor_added(81_000, 4, "h2")]);
    let found = collect(&spark4(&events));
    let nodes: Vec<_> =
        found.nodes.iter().map(|row| (row.host.as_str(), row.time.unwrap(), row.event, row.cpu)).collect();
    let expected = [
        ("h1", 1_500, NodeChange::Add, Some(2_000)),
        ("h2", 2_500, NodeChange::Add, Some(2_000)),
        ("h2", 2_600, NodeChange::Update, Some(4_000)),
        ("h2", 7_000, NodeChange::Update, Some(2_000)),
        ("h2", 8_000, NodeChange::Remove, None),
        ("h2", 81_000, NodeChange::Add, Some(2_000)),
        ("h1", 90_000, NodeChange::Remove, None),
        ("h2", 90_000, NodeChange::Remove, None),
    ];
    assert_eq!(nodes, expected);
}

/// The folder of inputs that once gave wrong answers.
fn reports() -> Option<PathBuf> {
    let folder = crate::support::real_traces()?.parent().unwrap().join("reports");
    folder.is_dir().then_some(folder)
}

#[test]
fn the_parts_of_a_log_of_databricks_are_read_as_the_joined_log() {
    let Some(folder) = reports().map(|folder| folder.join("databricks-rolled")) else { return };
    let jobs = |name: &str| {
        let (found, _) = read(&[folder.join(name)]);
        let times = |record: &resched_tables::model::JobRecord| {
            let attempts = record.tasks.iter().flat_map(|task| &task.attempts);
            let times: Vec<_> = attempts.map(|row| (row.start, row.finish, row.outcome, row.host.clone())).collect();
            (record.job.submit, record.job.finish, record.job.outcome, times)
        };
        (found.jobs.iter().map(times).collect::<Vec<_>>(), found.nodes.len(), found.skipped)
    };
    let (joined, rolled) = (jobs("log-joined"), jobs("log"));
    assert_eq!((joined.0.len(), &joined), (9, &rolled));
}

#[test]
fn a_stage_that_was_tried_again_is_the_same_with_and_without_the_places_of_its_tasks() {
    let Some(folder) = reports().map(|folder| folder.join("spark-fetch-failure")) else { return };
    let tries = |name: &str| {
        let (found, _) = read(&[folder.join(name)]);
        assert_eq!(found.skipped.get("stage-retry-guessed"), None);
        let tasks = found.jobs.iter().flat_map(|record| &record.tasks);
        let row = |task: &TaskRecord| {
            let outcomes: Vec<_> = task.attempts.iter().map(|row| (row.start, row.outcome)).collect();
            (task.task.task_id.replace(name, ""), task.task.outcome, outcomes)
        };
        tasks.map(row).collect::<Vec<_>>()
    };
    let old = tries("app-fetch-32");
    assert_eq!(old, tries("app-fetch-35"));
    assert!(old.iter().all(|(_, outcome, _)| *outcome == Outcome::Success));
}

#[test]
fn a_log_of_which_no_line_can_be_read_says_what_is_wrong_with_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let problem = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        ingest_into(&[path], &mut Collected::default(), &Options::default(), &mut ()).unwrap_err().to_string()
    };
    let spark = problem(
        "log",
        "{\"Event\":\"SparkListenerLogStart\"}\n{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":1}\n",
    );
    assert!(spark.contains("line 2, ") && spark.contains("missing field `Task Info`"), "{spark}");
    let yarn = problem("apps.json", "{\"apps\": {\"app\": [{\"id\": 7}]}}");
    assert!(yarn.contains("application 1, ") && yarn.contains("invalid type: integer `7`"), "{yarn}");
}
