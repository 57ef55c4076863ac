#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::super::golden::{Collected, Found as _, each_damage, read_shared};
use super::*;
use resched_tables::model::{AttemptRow, JobRecord, Locality, NodeChange, NodeRow, Outcome, TaskKind};

fn unpacked(file: &str) -> Option<Vec<u8>> {
    let bytes = read_shared(&format!("spark/{file}"))?;
    Some(if file.ends_with(".zstd") { zstd::decode_all(&bytes[..]).unwrap() } else { bytes })
}

fn collect(text: &str) -> Collected {
    Collected::read(&FORMAT, text.as_bytes()).unwrap()
}

fn attempts(jobs: &[JobRecord]) -> impl Iterator<Item = &AttemptRow> {
    jobs.iter().flat_map(|job| &job.tasks).flat_map(|task| &task.attempts)
}

/// The golden numbers of a log, from spec formats.md 13.7.
#[derive(Default)]
struct Golden {
    file: &'static str,
    jobs: usize,
    jobs_done: usize,
    started: usize,
    ended: usize,
    /// Node, rack.
    locality: [usize; 2],
    executors_gone: usize,
    input_bytes: i64,
    damaged: u64,
    queue: Option<&'static str>,
}

#[test]
fn every_real_log_gives_its_golden_counts() {
    // `node` counts `NODE_LOCAL` alone: `PROCESS_LOCAL` says nothing about the place of the input.
    let row = |file, jobs: usize, tasks: usize, node: usize| Golden {
        file,
        jobs,
        jobs_done: jobs,
        started: tasks,
        ended: tasks,
        locality: [node, 0],
        ..Golden::default()
    };
    let cut = |file, gone| Golden { jobs_done: 1, ended: 21, executors_gone: gone, ..row(file, 2, 24, 0) };
    let golden = [
        Golden {
            locality: [74, 29],
            executors_gone: 14,
            queue: Some("default"),
            ..row("rapids-tools/eventlog_4nodes_8cores_dynamic_alloc.zstd", 20, 235, 0)
        },
        Golden {
            damaged: 1,
            executors_gone: 1,
            queue: Some("default"),
            ..row("rapids-tools/malformed_json_eventlog.zstd", 2, 217, 201)
        },
        Golden { input_bytes: 263_123_509, ..row("rapids-tools/join_agg_on_yarn_eventlog.zstd", 5, 107, 30) },
        Golden { input_bytes: 524_228_006, ..row("rapids-tools/xgboost_eventlog.zstd", 9, 155, 0) },
        cut("rapids-tools/dataproc", 0),
        cut("rapids-tools/truncated_eventlog", 0),
        cut("rapids-tools/eventlog_3nodes_12cores_exec_removed", 1),
        Golden { input_bytes: 34_858, ..row("rapids-tools/eventlog_minimal_events", 6, 10, 4) },
        Golden { input_bytes: 49_674, ..row("rapids-tools/incorrect_app_status_eventlog.zstd", 2, 7, 0) },
        row("rapids-tools/rdd_only_eventlog", 1, 1, 0),
        Golden { input_bytes: 488, ..row("rapids-tools/spark2-eventlog.zstd", 6, 6, 0) },
        row("rapids-tools/empty_eventlog", 0, 0, 0),
        Golden { input_bytes: 90_656_036, ..row("delight/example_spark_event_log.txt", 1, 200, 100) },
        row("sparklens/local-1532512550423", 2, 8, 0),
        row("dr-elephant/event_log_1", 1, 10, 0),
        row("dr-elephant/event_log_2", 0, 0, 0),
    ];
    for golden in golden {
        let Some(bytes) = unpacked(golden.file) else { return };
        check(&golden, &bytes);
    }
    let part =
        |n| unpacked(&format!("rapids-tools/eventlog_v2_local-1623876083964/events_{n}_local-1623876083964.zstd"));
    let (Some(first), Some(second)) = (part(1), part(2)) else { return };
    check(&row("rolling", 1, 2801, 201), &[first, second].concat());
}

fn check(golden: &Golden, bytes: &[u8]) {
    let file = golden.file;
    assert!(sniff(&bytes[..bytes.len().min(1 << 16)]), "{file}");
    let found = Collected::read(&FORMAT, bytes).unwrap();
    assert_eq!(found.jobs.len(), golden.jobs, "{file}: jobs");
    let done = found.jobs.iter().filter(|record| record.job.outcome == Outcome::Success).count();
    assert_eq!(done, golden.jobs_done, "{file}: jobs that succeeded");
    let all = || attempts(&found.jobs);
    assert_eq!(all().count(), golden.started, "{file}: attempts");
    assert_eq!(all().filter(|row| row.outcome == Outcome::Success).count(), golden.ended, "{file}: successes");
    let running = all().filter(|row| row.outcome == Outcome::Incomplete && row.finish.is_none()).count();
    assert_eq!(running, golden.started - golden.ended, "{file}: attempts that did not end");
    let levels = [Locality::Node, Locality::Rack].map(|level| all().filter(|row| row.locality == Some(level)).count());
    assert_eq!(levels, golden.locality, "{file}: locality");
    let input: i64 = all().filter_map(|row| row.hdfs_bytes_read).sum();
    assert_eq!(input, golden.input_bytes, "{file}: input");
    let less = |pair: &[&NodeRow]| pair[1].event == NodeChange::Remove || pair[1].cpu < pair[0].cpu;
    let mut by_host: BTreeMap<&str, Vec<&NodeRow>> = BTreeMap::new();
    found.nodes.iter().for_each(|row| by_host.entry(&row.host).or_default().push(row));
    let gone: usize = by_host.values().map(|rows| rows.windows(2).filter(|pair| less(pair)).count()).sum();
    assert_eq!(gone, golden.executors_gone, "{file}: executors that left");
    let damaged: BTreeMap<String, u64> =
        (golden.damaged > 0).then(|| ("damaged-line".to_owned(), golden.damaged)).into_iter().collect();
    assert_eq!(found.skipped, damaged, "{file}");
    // A job that was started outside of the shell's own thread has no properties.
    let queue = found.jobs.iter().find_map(|record| record.job.queue.as_deref());
    assert_eq!(queue, golden.queue, "{file}");
    for record in &found.jobs {
        assert!(
            record
                .tasks
                .iter()
                .all(|task| task.task.kind != TaskKind::Other || task.task.outcome == Outcome::Incomplete)
        );
    }
}

/// Lines of a log of one job with one stage of maps, and the events after it.
fn log(events: &[String]) -> String {
    let mut text = [
        r#"{"Event":"SparkListenerLogStart","Spark Version":"3.3.0"}"#,
        r#"{"Event":"SparkListenerApplicationStart","App Name":"app","App ID":"application_1_2","Timestamp":5,"User":"ann","App Attempt ID":"3"}"#,
        r#"{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":10,"Stage Infos":[{"Stage ID":7,"Stage Attempt ID":0,"Stage Name":"count","Number of Tasks":2,"Parent IDs":[]}],"Stage IDs":[7],"Properties":{}}"#,
        r#"{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":7,"Stage Attempt ID":0,"Submission Time":11}}"#,
    ]
    .map(|line| line.to_owned() + "\n")
    .concat();
    events.iter().for_each(|event| text += &format!("{event}\n"));
    text
}

fn info(id: i64, index: i64, attempt: i64, finish: i64, more: &str) -> String {
    format!(
        r#""Task Info":{{"Task ID":{id},"Index":{index},"Attempt":{attempt},"Launch Time":{},"Executor ID":"1","Host":"h","Locality":"ANY","Speculative":false,"Finish Time":{finish}{more}}}"#,
        20 + id
    )
}

fn started(id: i64, index: i64, attempt: i64) -> String {
    let info = info(id, index, attempt, 0, "");
    format!(r#"{{"Event":"SparkListenerTaskStart","Stage ID":7,"Stage Attempt ID":0,{info}}}"#)
}

fn ended(id: i64, index: i64, attempt: i64, reason: &str) -> String {
    let info = info(id, index, attempt, 90 + id, "");
    format!(
        r#"{{"Event":"SparkListenerTaskEnd","Stage ID":7,"Stage Attempt ID":0,"Task Type":"ShuffleMapTask","Task End Reason":{{"Reason":"{reason}"}},{info}}}"#
    )
}

fn job_end(result: &str) -> String {
    format!(r#"{{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":99,"Job Result":{{"Result":{result}}}}}"#)
}

fn success() -> String {
    job_end(r#""JobSucceeded""#)
}

#[test]
fn a_job_is_keyed_by_application_attempt_and_number_and_named_after_its_last_stage() {
    let found = collect(&log(&[started(0, 0, 0), ended(0, 0, 0, "Success"), success()]));
    assert_eq!(found.skipped, BTreeMap::new());
    let [record] = found.jobs.as_slice() else { panic!("{:?}", found.jobs) };
    let job = &record.job;
    assert_eq!(job.job_id, "application_1_2_3_job_0");
    assert_eq!((job.group.as_deref(), job.user.as_deref()), (Some("application_1_2"), Some("ann")));
    assert_eq!((job.name.as_deref(), job.framework.as_deref()), (Some("count"), Some("spark")));
    assert_eq!((job.submit, job.launch, job.finish, job.outcome), (Some(10), Some(20), Some(99), Outcome::Success));
    let task = &record.tasks[0];
    assert_eq!((task.task.task_id.as_str(), task.task.stage.as_deref()), ("application_1_2_3_job_0_s7_0", Some("7")));
    assert_eq!((task.task.kind, task.task.cpu_request), (TaskKind::Map, Some(1_000)));
    assert_eq!((task.attempts[0].queued, task.attempts[0].locality), (Some(11), Some(Locality::Off)));
}

#[test]
fn a_task_reported_to_be_resubmitted_is_not_counted_twice() {
    let found = collect(&log(&[
        started(0, 0, 0),
        ended(0, 0, 0, "Success"),
        ended(0, 0, 0, "Resubmitted"),
        started(1, 0, 1),
        ended(1, 0, 1, "Success"),
        success(),
        success(),
    ]));
    let outcomes: Vec<_> = attempts(&found.jobs).map(|row| (row.attempt, row.outcome)).collect();
    assert_eq!(outcomes, [(0, Outcome::Success), (1, Outcome::Success)]);
    assert_eq!(found.jobs[0].tasks.len(), 1);
    assert_eq!(found.skipped, [("job-end-without-start".to_owned(), 1), ("repeated-task-end".to_owned(), 1)].into());
}

#[test]
fn reasons_are_outcomes_and_what_a_task_said_is_kept() {
    let reasons = [
        ("Success", Outcome::Success),
        ("Resubmitted", Outcome::Killed),
        ("TaskKilled", Outcome::Killed),
        ("TaskCommitDenied", Outcome::Killed),
        ("FetchFailed", Outcome::Failed),
        ("ExceptionFailure", Outcome::Failed),
        ("ExecutorLostFailure", Outcome::Failed),
        ("TaskResultLost", Outcome::Failed),
        ("UnknownReason", Outcome::Failed),
    ];
    let events: Vec<String> = (0..).zip(reasons).map(|(id, (reason, _))| ended(id, 0, id, reason)).collect();
    let found = collect(&log(&events));
    let expected: Vec<_> =
        reasons.map(|(reason, outcome)| (outcome, (reason != "Success").then(|| reason.to_owned()))).into();
    let reported: Vec<_> = attempts(&found.jobs).map(|row| (row.outcome, row.error.clone())).collect();
    assert_eq!(reported, expected);
    let exception = r#"ExceptionFailure","Class Name":"java.io.IOException","Description":"no space"#;
    let found = collect(&log(&[ended(0, 0, 0, exception)]));
    assert_eq!(attempts(&found.jobs).next().unwrap().error.as_deref(), Some("java.io.IOException: no space"));
}

#[test]
fn what_never_ended_is_incomplete() {
    let found =
        collect(&log(&[started(0, 0, 0), ended(0, 0, 0, "ExceptionFailure"), started(1, 0, 1), started(2, 1, 0)]));
    let record = &found.jobs[0];
    assert_eq!((record.job.outcome, record.job.finish), (Outcome::Incomplete, None));
    assert!(record.tasks.iter().all(|task| task.task.outcome == Outcome::Incomplete && task.task.finish.is_none()));
    assert_eq!(record.tasks[1].task.kind, TaskKind::Map, "as the stage's other tasks");
}

#[test]
fn a_job_waits_for_tasks_that_end_after_it() {
    let late = ended(1, 0, 1, "TaskKilled");
    let found = collect(&log(&[
        started(0, 0, 0),
        started(1, 0, 1),
        ended(0, 0, 0, "Success"),
        success(),
        late,
        ended(5, 0, 5, "Success"),
    ]));
    let outcomes: Vec<_> = attempts(&found.jobs).map(|row| row.outcome).collect();
    assert_eq!(outcomes, [Outcome::Success, Outcome::Killed]);
    assert_eq!(found.skipped, [("task-without-job".to_owned(), 1)].into());
}

#[test]
fn a_cancelled_job_was_killed() {
    let failed = |message: &str| job_end(&format!(r#""JobFailed","Exception":{{"Message":"{message}"}}"#));
    let outcome = |message| collect(&log(&[failed(message)])).jobs[0].job.outcome;
    assert_eq!(outcome("Job 0 cancelled because SparkContext was shut down"), Outcome::Killed);
    assert_eq!(outcome("Job aborted due to stage failure"), Outcome::Failed);
}

#[test]
fn stages_wait_for_the_parents_that_ran() {
    let stage = |id: i64, parents: &str| {
        format!(r#"{{"Stage ID":{id},"Stage Attempt ID":0,"Stage Name":"s{id}","Parent IDs":[{parents}]}}"#)
    };
    let start = format!(
        r#"{{"Event":"SparkListenerJobStart","Job ID":1,"Submission Time":10,"Stage Infos":[{},{},{}],"Stage IDs":[8,9,10]}}"#,
        stage(8, ""),
        stage(9, ""),
        stage(10, "8,9")
    );
    let task = |id: i64, of: i64| started(id, 0, 0).replace(r#""Stage ID":7"#, &format!(r#""Stage ID":{of}"#));
    let found = collect(&log(&[start, task(0, 9), task(1, 10)]));
    let tasks: Vec<_> =
        found.jobs[1].tasks.iter().map(|task| (task.task.stage.as_deref(), task.task.depends_on.clone())).collect();
    assert_eq!(tasks, [(Some("9"), vec![]), (Some("10"), vec!["9".to_owned()])], "stage 8 was there already");
    assert_eq!(found.jobs[1].job.name.as_deref(), Some("s10"));
}

#[test]
fn a_stage_that_two_jobs_need_runs_for_the_older() {
    let start = r#"{"Event":"SparkListenerJobStart","Job ID":1,"Submission Time":12,"Stage Infos":[],"Stage IDs":[7]}"#
        .to_owned();
    let found = collect(&log(&[
        start,
        started(0, 0, 0),
        ended(0, 0, 0, "Success"),
        success(),
        started(1, 1, 0),
        ended(1, 1, 0, "Success"),
    ]));
    let reported: Vec<_> = found.jobs.iter().map(|record| (record.job.job_id.as_str(), record.tasks.len())).collect();
    assert_eq!(reported, [("application_1_2_3_job_0", 1), ("application_1_2_3_job_1", 1)]);
}

#[test]
fn a_later_attempt_at_a_stage_is_another_set_of_tasks_unless_it_reports_their_places() {
    let again = |line: String| line.replace(r#""Stage Attempt ID":0"#, r#""Stage Attempt ID":1"#);
    let old = collect(&log(&[ended(0, 1, 0, "Success"), again(ended(1, 0, 0, "Success"))]));
    let ids = |found: &Collected| found.jobs[0].tasks.iter().map(|task| task.task.task_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&old), ["application_1_2_3_job_0_s7_1", "application_1_2_3_job_0_s7.1_0"]);
    let placed = |line: String| line.replace(r#""Index":"#, r#""Partition ID":1,"Index":"#);
    let new = collect(&log(&[placed(ended(0, 1, 0, "Success")), again(placed(ended(1, 0, 0, "Success")))]));
    assert_eq!(ids(&new), ["application_1_2_3_job_0_s7_1"]);
    assert_eq!(new.jobs[0].tasks[0].attempts.len(), 2);
}

#[test]
fn metrics_may_lack_and_are_reported_where_they_stand() {
    let metrics = r#""Task Metrics":{"Executor CPU Time":7000000,"Shuffle Read Metrics":{"Remote Bytes Read":3,"Local Bytes Read":4},
        "Shuffle Write Metrics":{"Shuffle Bytes Written":5},"Input Metrics":{"Bytes Read":6,"Records Read":2},"Output Metrics":{"Bytes Written":8}},"Task Info""#
        .replace('\n', "");
    let measured = ended(0, 0, 0, "Success").replace(r#""Task Info""#, &metrics);
    let found = collect(&log(&[measured, ended(1, 1, 0, "ExecutorLostFailure"), success()]));
    let record = &found.jobs[0];
    let reported: Vec<_> = attempts(&found.jobs)
        .map(|row| {
            (row.cpu_ms, row.hdfs_bytes_read, row.hdfs_bytes_written, row.map_output_bytes, row.reduce_shuffle_bytes)
        })
        .collect();
    assert_eq!(reported, [(Some(7), Some(6), Some(8), Some(5), Some(7)), (None, None, None, None, None)]);
    assert_eq!(
        (record.job.input_bytes, record.job.shuffle_bytes, record.job.output_bytes),
        (Some(6), Some(7), Some(8))
    );
    let task = &record.tasks[0].task;
    assert_eq!((task.input_bytes, task.input_records, task.output_bytes), (Some(6), Some(2), Some(5)));
}

#[test]
fn requests_follow_from_the_settings() {
    let with = |settings: &str| {
        let environment = format!(r#"{{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{{{settings}}}}}"#);
        let task = collect(&log(&[environment, started(0, 0, 0)])).jobs[0].tasks[0].task.clone();
        (task.cpu_request, task.memory_request)
    };
    assert_eq!(with(""), (Some(1_000), None));
    assert_eq!(
        with(r#""spark.executor.memory":"4g","spark.executor.cores":"4","spark.task.cpus":"2""#),
        (Some(2_000), Some(2 << 30))
    );
    assert_eq!(with(r#""spark.executor.memory":"512","spark.executor.cores":"1""#), (Some(1_000), Some(512 << 20)));
    assert_eq!(
        with(r#""spark.executor.memory":"99999999999g","spark.executor.cores":"0","spark.task.cpus":"-3""#),
        (Some(1_000), None)
    );
}

#[test]
fn executors_on_a_host_make_up_a_machine_that_changes() {
    let added = |time: i64, id: &str, host: &str| {
        format!(
            r#"{{"Event":"SparkListenerExecutorAdded","Timestamp":{time},"Executor ID":"{id}","Executor Info":{{"Host":"{host}","Total Cores":2}}}}"#
        )
    };
    let manager = |time: i64, id: &str, host: &str| {
        format!(
            r#"{{"Event":"SparkListenerBlockManagerAdded","Timestamp":{time},"Block Manager ID":{{"Executor ID":"{id}","Host":"{host}"}}}}"#
        )
    };
    let removed = |time: i64, id: &str| {
        format!(r#"{{"Event":"SparkListenerExecutorRemoved","Timestamp":{time},"Executor ID":"{id}"}}"#)
    };
    let environment =
        r#"{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.executor.memory":"1g"}}"#.to_owned();
    let found = collect(
        &[
            added(1, "1", "a"),
            manager(1, "driver", "d"),
            manager(1, "1", "a"),
            environment,
            added(2, "2", "a"),
            added(2, "3", "a"),
            manager(3, "4", "b"),
            removed(4, "1"),
            removed(5, "2"),
            removed(6, "3"),
            removed(6, "3"),
            added(7, "5", "a"),
        ]
        .join("\n"),
    );
    let gib = |n: i64| Some(n << 30);
    let reported: Vec<_> =
        found.nodes.iter().map(|row| (row.host.as_str(), row.time.unwrap(), row.event, row.cpu, row.memory)).collect();
    assert_eq!(
        reported,
        [
            ("a", 1, NodeChange::Add, Some(2_000), gib(1)),
            ("a", 2, NodeChange::Update, Some(6_000), gib(3)),
            ("b", 3, NodeChange::Add, None, gib(1)),
            ("a", 4, NodeChange::Update, Some(4_000), gib(2)),
            ("a", 5, NodeChange::Update, Some(2_000), gib(1)),
            ("a", 6, NodeChange::Remove, None, None),
            ("a", 7, NodeChange::Add, Some(2_000), gib(1)),
        ]
    );
}

#[test]
fn a_host_is_called_as_its_executor_calls_it() {
    let added = r#"{"Event":"SparkListenerExecutorAdded","Timestamp":1,"Executor ID":"1","Executor Info":{"Host":"h.domain.com","Total Cores":2}}"#;
    let removed = r#"{"Event":"SparkListenerExecutorRemoved","Timestamp":2,"Executor ID":"1"}"#;
    let found =
        collect(&log(&[added.to_owned(), started(0, 0, 0), removed.to_owned(), ended(0, 0, 0, "ExecutorLostFailure")]));
    assert_eq!(attempts(&found.jobs).next().unwrap().host.as_deref(), Some("h.domain.com"));
}

#[test]
fn a_log_without_an_application_goes_by_its_file() {
    let text: String =
        log(&[]).lines().filter(|line| !line.contains("ApplicationStart")).map(|line| format!("{line}\n")).collect();
    let mut sink = Collected::default();
    read(&mut text.as_bytes(), "/tmp/x/local-15.inprogress.zstd", &mut sink).unwrap();
    assert_eq!(sink.jobs[0].job.job_id, "local-15_job_0");
    let (found, unnamed) = (collect(&log(&[]).replace(r#""App ID":"application_1_2","#, "")), "test file_3_job_0");
    assert_eq!(found.jobs[0].job.job_id, unnamed);
}

#[test]
fn lines_of_no_interest_or_no_sense_cost_only_themselves() {
    let other =
        r#"{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":0}"#.to_owned();
    let vendor = r#"{"Event":"DBCEventLoggingListenerMetadata","x":1}"#.to_owned();
    let damaged = r#"{"Event":"SparkListenerEnvironmentUpdate",_"JVM Information":{}}"#.to_owned();
    let long = format!(r#"{{"Event":"SparkListenerTaskEnd","x":"{}"}}"#, "x".repeat(MAX_LINE));
    let reordered =
        r#"{"Job ID":0,"Completion Time":99,"Job Result":{"Result":"JobSucceeded"},"Event":"SparkListenerJobEnd"}"#
            .to_owned();
    let found = collect(&log(&[other, vendor, damaged, "nonsense".to_owned(), long, reordered]));
    assert_eq!(found.jobs[0].job.outcome, Outcome::Success);
    assert_eq!(found.skipped, [("damaged-line".to_owned(), 2), ("oversized-line".to_owned(), 1)].into());
}

#[test]
fn joined_logs_are_distinguished() {
    let text = log(&[success()]) + &log(&[success()]).replace("application_1_2", "application_1_9");
    let ids: Vec<_> = collect(&text).jobs.into_iter().map(|record| record.job.job_id).collect();
    assert_eq!(ids, ["application_1_2_3_job_0", "application_1_9_3_job_0"]);
}

#[test]
fn no_damage_makes_it_panic() {
    let Some(bytes) = unpacked("dr-elephant/event_log_1") else { return };
    each_damage(&bytes, 400, |damaged| {
        sniff(damaged);
        Collected::read(&FORMAT, damaged).unwrap();
    });
}

#[test]
fn sniffs_by_content() {
    assert!(sniff(br#"{"Event":"SparkListenerLogStart","Spark Version":"3.1.1"}"#));
    let long = format!(r#"{{"Event":"SparkListenerEnvironmentUpdate","x":"{}"#, "x".repeat(1 << 16));
    assert!(sniff(long.as_bytes()));
    assert!(sniff(
        b"{\"Event\":\"DBCEventLoggingListenerMetadata\",\"x\":1}\n{\"Event\":\"SparkListenerBlockManagerAdded\"}\n"
    ));
    assert!(!sniff(b""));
    assert!(!sniff(br#"{"jobID":"job_1","mapTasks":[]}"#));
    assert!(!sniff(br#"{"type":"JOB_SUBMITTED","event":{}}"#));
}
