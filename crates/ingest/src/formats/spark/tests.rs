#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use super::super::golden::{Collected, Found as _, each_damage, read_shared};
use super::*;
use resched_tables::model::{AttemptRow, JobRecord, Locality, NodeChange, NodeRow, Outcome, TaskKind, TaskRecord};

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

/// The golden numbers of a log, as another program counted them.
#[derive(Default)]
struct Golden {
    file: &'static str,
    jobs: usize,
    jobs_done: usize,
    started: usize,
    ended: usize,
    /// Node, rack.
    locality: [usize; 2],
    /// Departures of executors, with those at the end of the application.
    executors_gone: usize,
    input_bytes: i64,
    damaged: u64,
    /// Profiles of resources besides the application's.
    profiles: u64,
    /// The pool of its jobs, if it is not `default`.
    pool: Option<&'static str>,
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
            executors_gone: 15,
            ..row("rapids-tools/eventlog_4nodes_8cores_dynamic_alloc.zstd", 20, 235, 0)
        },
        Golden {
            damaged: 1,
            profiles: 1,
            executors_gone: 6,
            ..row("rapids-tools/malformed_json_eventlog.zstd", 2, 217, 201)
        },
        Golden {
            executors_gone: 1,
            input_bytes: 263_123_509,
            ..row("rapids-tools/join_agg_on_yarn_eventlog.zstd", 5, 107, 30)
        },
        Golden {
            pool: Some("6625579578828059606"),
            input_bytes: 524_228_006,
            ..row("rapids-tools/xgboost_eventlog.zstd", 9, 155, 0)
        },
        cut("rapids-tools/dataproc", 0),
        cut("rapids-tools/truncated_eventlog", 0),
        cut("rapids-tools/eventlog_3nodes_12cores_exec_removed", 1),
        Golden { executors_gone: 1, input_bytes: 34_858, ..row("rapids-tools/eventlog_minimal_events", 6, 10, 4) },
        Golden {
            executors_gone: 1,
            input_bytes: 49_674,
            ..row("rapids-tools/incorrect_app_status_eventlog.zstd", 2, 7, 0)
        },
        Golden { executors_gone: 1, ..row("rapids-tools/rdd_only_eventlog", 1, 1, 0) },
        Golden { executors_gone: 1, input_bytes: 488, ..row("rapids-tools/spark2-eventlog.zstd", 6, 6, 0) },
        Golden { executors_gone: 1, ..row("rapids-tools/empty_eventlog", 0, 0, 0) },
        Golden {
            executors_gone: 3,
            input_bytes: 90_656_036,
            ..row("delight/example_spark_event_log.txt", 1, 200, 100)
        },
        Golden { executors_gone: 1, ..row("sparklens/local-1532512550423", 2, 8, 0) },
        Golden { executors_gone: 1, ..row("dr-elephant/event_log_1", 1, 10, 0) },
        row("dr-elephant/event_log_2", 0, 0, 0),
    ];
    for golden in golden {
        let Some(bytes) = unpacked(golden.file) else { return };
        check(&golden, &bytes);
    }
    let part =
        |n| unpacked(&format!("rapids-tools/eventlog_v2_local-1623876083964/events_{n}_local-1623876083964.zstd"));
    let (Some(first), Some(second)) = (part(1), part(2)) else { return };
    check(&Golden { executors_gone: 1, ..row("rolling", 1, 2801, 201) }, &[first, second].concat());
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
    let left_out = [("damaged-line", golden.damaged), ("resource-profile", golden.profiles)];
    let left_out: BTreeMap<String, u64> =
        left_out.into_iter().filter(|(_, n)| *n > 0).map(|(cause, n)| (cause.to_owned(), n)).collect();
    let mut skipped = found.skipped.clone();
    skipped.remove("preferred-hosts-unknown");
    assert_eq!(skipped, left_out, "{file}");
    let queues: BTreeSet<Option<&str>> = found.jobs.iter().map(|record| record.job.queue.as_deref()).collect();
    assert!(queues.is_empty() || queues == BTreeSet::from([golden.pool.or(Some("default"))]), "{file}: {queues:?}");
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
    assert_eq!(found.skipped, [("preferred-hosts-unknown".to_owned(), 1)].into());
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
    let skipped = ["job-end-without-start", "preferred-hosts-unknown", "repeated-task-end"];
    assert_eq!(found.skipped, skipped.map(|cause| (cause.to_owned(), 1)).into());
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
    let skipped = ["preferred-hosts-unknown", "task-without-job"];
    assert_eq!(found.skipped, skipped.map(|cause| (cause.to_owned(), 1)).into());
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
fn a_later_attempt_at_a_stage_is_matched_with_the_tasks_that_it_repeats() {
    let again = |line: String| line.replace(r#""Stage Attempt ID":0"#, r#""Stage Attempt ID":1"#);
    let reported = |lines: &[String]| -> Vec<(String, Vec<Outcome>)> {
        let tasks = &collect(&log(lines)).jobs[0].tasks;
        let outcomes = |record: &TaskRecord| record.attempts.iter().map(|row| row.outcome).collect();
        tasks
            .iter()
            .map(|record| (record.task.task_id.replace("application_1_2_3_job_0_", ""), outcomes(record)))
            .collect()
    };
    use Outcome::{Failed, Success};
    let task = |name: &str, outcomes: &[Outcome]| (name.to_owned(), outcomes.to_vec());
    // The second task failed, so that the only task of the second attempt is of it.
    let old = [ended(0, 0, 0, "Success"), ended(1, 1, 0, "FetchFailed"), again(ended(112, 0, 0, "Success")), success()];
    let expected = [task("s7_0", &[Success]), task("s7_1", &[Failed, Success])];
    assert_eq!(reported(&old), expected);
    assert!(!collect(&log(&old)).skipped.contains_key("stage-retry-guessed"));
    // Nothing says which of two tasks that succeeded is repeated.
    let guess = [ended(0, 0, 0, "Success"), ended(1, 1, 0, "Success"), again(ended(112, 0, 0, "Success")), success()];
    assert_eq!(reported(&guess), [task("s7_0", &[Success, Success]), task("s7_1", &[Success])]);
    assert_eq!(collect(&log(&guess)).skipped.get("stage-retry-guessed"), Some(&1));
    let placed = |line: String| line.replace(r#""Index":"#, r#""Partition ID":1,"Index":"#);
    let new = [placed(ended(0, 1, 0, "Success")), again(placed(ended(1, 0, 0, "Success")))];
    assert_eq!(reported(&new), [task("s7_1", &[Success, Success])]);
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

/// Beyond the limit, the oldest is passed on before its end is read.
#[test]
fn as_many_jobs_as_the_limit_run_at_once_and_not_one_more() {
    let finish_of_the_first = |jobs: usize| {
        let mut events: Vec<String> = (1..jobs as i64).map(|id| job_with(id, "")).collect();
        events.push(
            r#"{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":99,"Job Result":{"Result":"JobSucceeded"}}"#
                .to_owned(),
        );
        let text = log(&[])
            .lines()
            .filter(|line| !line.contains("JobStart"))
            .map(|line| format!("{line}\n"))
            .collect::<String>();
        let text = text + &job_with(0, "") + "\n" + &events.join("\n") + "\n";
        let found = collect(&text);
        assert_eq!(found.jobs.len(), jobs);
        found.jobs.iter().find(|record| record.job.job_id.ends_with("_job_0")).unwrap().job.finish
    };
    assert_eq!(finish_of_the_first(MOST_JOBS), Some(99));
    assert_eq!(finish_of_the_first(MOST_JOBS + 1), None);
}

#[test]
fn joined_logs_are_distinguished() {
    let text = log(&[success()]) + &log(&[success()]).replace("application_1_2", "application_1_9");
    let ids: Vec<_> = collect(&text).jobs.into_iter().map(|record| record.job.job_id).collect();
    assert_eq!(ids, ["application_1_2_3_job_0", "application_1_9_3_job_0"]);
}

/// The start of a job with these properties.
fn job_with(id: i64, properties: &str) -> String {
    format!(r#"{{"Event":"SparkListenerJobStart","Job ID":{id},"Stage IDs":[],"Properties":{{{properties}}}}}"#)
}

fn environment(settings: &str) -> String {
    format!(r#"{{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{{{settings}}}}}"#)
}

#[test]
fn the_queue_of_a_job_is_its_pool_or_else_what_serves_it() {
    let queues = |settings: &str| -> Vec<String> {
        let jobs = [
            job_with(1, r#""spark.scheduler.pool":"etl""#),
            job_with(2, r#""spark.scheduler.pool":"etl","spark.yarn.queue":"own""#),
            job_with(3, r#""spark.yarn.queue":"own""#),
            job_with(4, r#""spark.scheduler.pool":"""#),
            r#"{"Event":"SparkListenerJobStart","Job ID":5,"Stage IDs":[]}"#.to_owned(),
        ];
        let text = std::iter::once(environment(settings)).chain(jobs).collect::<Vec<_>>().join("\n");
        collect(&text).jobs.into_iter().map(|record| record.job.queue.unwrap()).collect()
    };
    assert_eq!(queues(""), ["etl", "etl", "own", "default", "default"]);
    assert_eq!(queues(r#""spark.yarn.queue":"prod""#), ["etl", "etl", "own", "prod", "prod"]);
    let fair = r#""spark.yarn.queue":"prod","spark.scheduler.mode":"fair""#;
    assert_eq!(queues(fair), ["etl", "etl", "default", "default", "default"]);
}

#[test]
fn settings_that_scheduling_depends_on_are_kept_with_the_version() {
    let settings = environment(
        r#""spark.app.name":"x","spark.locality.wait":"3s","spark.locality.wait.node":"1s","spark.scheduler.mode":"FAIR","spark.task.cpus":2,
        "spark.speculation.quantile":"0.9","spark.dynamicAllocation.enabled":true,"spark.yarn.queue":"q","spark.yarn.archive":{"a":[1]},
        "spark.shuffle.reduceLocality.enabled":"false","spark.shuffle.compress":"true","spark.cores.max":null,"spark.scheduler.x":["y"]"#
            .replace('\n', "")
            .as_str(),
    );
    let found = collect(&log(&[settings, success()]));
    let expected = [
        ("spark.dynamicAllocation.enabled", "true"),
        ("spark.locality.wait", "3s"),
        ("spark.locality.wait.node", "1s"),
        ("spark.scheduler.mode", "FAIR"),
        ("spark.shuffle.reduceLocality.enabled", "false"),
        ("spark.speculation.quantile", "0.9"),
        ("spark.task.cpus", "2"),
        ("spark.version", "3.3.0"),
        ("spark.yarn.queue", "q"),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert_eq!(found.applications, BTreeMap::from([("application_1_2".to_owned(), expected)]));
    assert_eq!(found.skipped, [("setting-left-out".to_owned(), 1)].into());
}

#[test]
fn executors_that_are_left_end_with_their_application() {
    let added = |time: i64, id: &str| {
        format!(
            r#"{{"Event":"SparkListenerExecutorAdded","Timestamp":{time},"Executor ID":"{id}","Executor Info":{{"Host":"h{id}","Total Cores":2}}}}"#
        )
    };
    let removed = r#"{"Event":"SparkListenerExecutorRemoved","Timestamp":8,"Executor ID":"2"}"#.to_owned();
    let end = r#"{"Event":"SparkListenerApplicationEnd","Timestamp":70}"#.to_owned();
    let found = collect(&log(&[added(6, "1"), added(7, "2"), removed, success(), end.clone(), end]));
    let reported: Vec<_> = found
        .nodes
        .iter()
        .map(|row| (row.host.as_str(), row.time.unwrap(), row.event, row.group.as_deref().unwrap()))
        .collect();
    let group = "application_1_2";
    let expected = [
        ("h1", 6, NodeChange::Add, group),
        ("h2", 7, NodeChange::Add, group),
        ("h2", 8, NodeChange::Remove, group),
        ("h1", 70, NodeChange::Remove, group),
    ];
    assert_eq!(reported, expected);
    let two = [added(6, "1"), added(6, "2").replace("h2", "h1")].join("\n");
    let two = collect(&log(&[two, r#"{"Event":"SparkListenerApplicationEnd","Timestamp":70}"#.to_owned()]));
    let rows: Vec<_> = two.nodes.iter().map(|row| (row.event, row.cpu)).collect();
    assert_eq!(rows, [(NodeChange::Add, Some(4_000)), (NodeChange::Remove, None)], "one row an instant");
    let open = collect(&log(&[added(6, "1"), success()]));
    assert_eq!(open.nodes.len(), 1, "a log that ends before its application");
}

/// The start and the end of a task of the stage 7 on a host under a level.
fn ran(id: i64, index: i64, attempt: i64, host: &str, level: &str) -> String {
    [started(id, index, attempt), ended(id, index, attempt, "Success")]
        .map(|line| line.replace(r#""h""#, &format!(r#""{host}""#)).replace("ANY", level))
        .join("\n")
}

fn hosts(record: &JobRecord) -> Vec<(String, Vec<String>, Option<Locality>)> {
    let of_task = |task: &TaskRecord| {
        let hosts = task.splits.iter().map(|split| split.host.clone().unwrap_or_default()).collect();
        assert!(task.splits.iter().all(|split| split.task_id == task.task.task_id));
        let place = task.task.task_id.rsplit_once('_').unwrap().1.to_owned();
        (place, hosts, task.attempts.last().unwrap().locality)
    };
    record.tasks.iter().map(of_task).collect()
}

#[test]
fn preferred_hosts_follow_from_where_the_tasks_of_a_source_ran() {
    let events = [
        ran(0, 0, 0, "a", "NODE_LOCAL"),
        ran(1, 1, 0, "b", "NODE_LOCAL"),
        ran(2, 1, 1, "a", "NODE_LOCAL"),
        ran(3, 2, 0, "a", "ANY"),
        ran(4, 3, 0, "c", "PROCESS_LOCAL"),
        success(),
    ];
    let found = collect(&log(&events));
    let task = |place: &str, hosts: &[&str], level| {
        (place.to_owned(), hosts.iter().map(|host| (*host).to_owned()).collect(), level)
    };
    let expected = [
        task("0", &["a"], Some(Locality::Node)),
        task("1", &["b", "a"], Some(Locality::Node)),
        task("2", &["b"], Some(Locality::Off)),
        task("3", &[], None),
    ];
    assert_eq!(hosts(&found.jobs[0]), expected, "the place of the third is drawn: it is not `a`");
    assert_eq!(found.skipped, BTreeMap::new());
    // A stage that waits for another reads what that wrote. Its preferences come from where the other ran.
    for parents in [r#""Parent IDs":[6]"#, r#""No Parents":[]"#] {
        let found = collect(&log(&events).replace(r#""Parent IDs":[]"#, parents));
        assert!(found.jobs[0].tasks.iter().all(|task| task.splits.is_empty()), "{parents}");
    }
}

#[test]
fn a_backup_is_an_attempt_that_waited_for_nothing() {
    let backup = |line: String| line.replace(r#""Speculative":false"#, r#""Speculative":true"#);
    let events = [
        started(0, 0, 0),
        backup(started(1, 0, 1)),
        backup(ended(1, 0, 1, "Success")),
        ended(0, 0, 0, "TaskKilled"),
        success(),
    ];
    let found = collect(&log(&events));
    let reported: Vec<_> = attempts(&found.jobs).map(|row| (row.queued, row.speculative, row.outcome)).collect();
    assert_eq!(reported, [(Some(11), Some(false), Outcome::Killed), (None, Some(true), Outcome::Success)]);
    assert_eq!(found.jobs[0].tasks.len(), 1);
}

#[test]
fn a_task_whose_preferred_hosts_nobody_knows_is_counted() {
    let found = collect(&log(&[ran(0, 0, 0, "a", "NODE_LOCAL"), ran(1, 1, 0, "a", "ANY"), success()]));
    assert_eq!(hosts(&found.jobs[0])[1].1, [""], "a row without a host stands for hosts outside of the executors");
    assert_eq!(attempts(&found.jobs).nth(1).unwrap().locality, Some(Locality::Off));
    assert_eq!(found.skipped, [("preferred-hosts-unknown".to_owned(), 1)].into());
}

#[test]
fn a_file_beside_the_log_gives_preferred_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(folder.path().join("preferred.csv"), "stage,index,hosts\n7,0,a b\n7,1,\n").unwrap();
    let text = log(&[ran(0, 0, 0, "a", "NODE_LOCAL"), ran(1, 1, 0, "c", "ANY"), ran(2, 2, 0, "d", "ANY"), success()]);
    let mut found = Collected::default();
    read(&mut text.as_bytes(), path.to_str().unwrap(), &mut found).unwrap();
    let owned = |hosts: &[&str]| -> Vec<String> { hosts.iter().map(|host| (*host).to_owned()).collect() };
    let expected = [
        ("0".to_owned(), owned(&["a", "b"]), Some(Locality::Node)),
        ("1".to_owned(), owned(&[]), None),
        ("2".to_owned(), owned(&[]), Some(Locality::Off)),
    ];
    assert_eq!(hosts(&found.jobs[0]), expected, "nothing is inferred beside the file");
}

#[test]
fn barriers_profiles_and_exclusions_are_counted() {
    let barrier = r#"{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":7,"RDD Info":[{"RDD ID":1},{"Barrier":true}]}}"#;
    let profile = |id: i64| format!(r#"{{"Event":"SparkListenerResourceProfileAdded","Resource Profile Id":{id}}}"#);
    let excluded = r#"{"Event":"SparkListenerNodeExcludedForStage","time":1}"#.to_owned();
    let found = collect(&log(&[barrier.to_owned(), profile(0), profile(1), excluded, started(0, 0, 0), success()]));
    let expected = ["barrier-stage", "excluded-executor", "preferred-hosts-unknown", "resource-profile"];
    assert_eq!(found.skipped, expected.map(|cause| (cause.to_owned(), 1)).into());
}

#[test]
fn fields_of_later_versions_are_read_over() {
    let text = log(&[ran(0, 0, 0, "a", "NODE_LOCAL"), success()])
        .replace(r#""Spark Version":"3.3.0""#, r#""Spark Version":"4.0.1","Build":{"Date":[1]}"#)
        .replace(r#""Task ID":"#, r#""New":{"a":null},"Task ID":"#)
        .replace(r#""Stage IDs":"#, r#""Job Tags":["x"],"Stage IDs":"#);
    let found = collect(&text);
    assert_eq!((found.jobs.len(), found.skipped), (1, BTreeMap::new()));
    let version = found.applications.values().next().unwrap().get("spark.version");
    assert_eq!(version.map(String::as_str), Some("4.0.1"));
}

#[test]
fn damaged_places_and_settings_make_nothing_panic() {
    let events = [
        environment(r#""spark.scheduler.mode":"FAIR","spark.executor.memory":"1g""#),
        ran(0, 0, 0, "a", "NODE_LOCAL"),
        ran(1, 1, 0, "a", "ANY"),
        success(),
        r#"{"Event":"SparkListenerApplicationEnd","Timestamp":70}"#.to_owned(),
    ];
    each_damage(log(&events).as_bytes(), 2_000, |damaged| {
        Collected::read(&FORMAT, damaged).unwrap();
    });
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

#[test]
fn logs_of_other_programs_lack_hosts_and_attempts_of_stages() {
    let other = |line: String| {
        line.replace(r#""Stage Attempt ID":0,"#, "")
            .replace(r#","Host":"h""#, "")
            .replace(r#""Attempt":0"#, r#""Attempt":null"#)
    };
    let executor =
        r#"{"Event":"SparkListenerExecutorAdded","Timestamp":6,"Executor ID":"1","Executor Info":{"Total Cores":2}}"#;
    let text = other(log(&[executor.to_owned(), started(0, 0, 0), ended(0, 0, 0, "Success"), success()]));
    let found = collect(&text);
    assert_eq!(found.skipped.get("damaged-line"), None, "{:?}", found.skipped);
    assert_eq!(found.skipped.get("executor-without-host"), Some(&1));
    let hosts: Vec<_> = attempts(&found.jobs).map(|row| row.host.as_deref()).collect();
    assert_eq!(hosts, [Some("executor-1")]);
    assert_eq!((found.nodes.len(), found.nodes[0].host.as_str()), (1, "executor-1"));
}

/// The files of a log by their names.
fn ingested(files: &[(&str, &str)]) -> (Vec<String>, std::collections::BTreeMap<String, u64>) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join("logs").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut sink = Collected::default();
    let manifest =
        crate::ingest_into(&[dir.path().join("logs")], &mut sink, &crate::Options::default(), &mut ()).unwrap();
    let mut jobs: Vec<String> = sink
        .jobs
        .iter()
        .map(|record| format!("{} {:?} {}", record.job.job_id, record.job.outcome, record.tasks.len()))
        .collect();
    jobs.sort();
    (jobs, manifest.skipped)
}

#[test]
fn the_parts_of_a_log_of_databricks_give_what_the_whole_log_gives() {
    let part = |number: u64| {
        format!(
            r#"{{"Event":"DBCEventLoggingListenerMetadata","Spark Version":"3.1.2","Rollover Number":{number},"SparkContext Id":77}}"#
        ) + "\n"
    };
    let start = r#"{"Event":"SparkListenerApplicationStart","App Name":"x","Timestamp":5,"User":"u"}
{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":10,"Stage Infos":[{"Stage ID":7,"Stage Attempt ID":0,"Number of Tasks":2,"Parent IDs":[]}],"Stage IDs":[7]}
"#;
    let lines = |lines: &[String]| lines.iter().map(|line| line.to_owned() + "\n").collect::<String>();
    let first = part(0) + start + &lines(&[started(0, 0, 0), ended(0, 0, 0, "Success"), started(1, 1, 0)]);
    let second = part(1) + &lines(&[ended(1, 1, 0, "Success"), success()]);
    let (whole, skipped) = ingested(&[("a/eventlog", &(first.clone() + &second))]);
    assert_eq!(whole, ["77_job_0 Success 2"]);
    assert!(!skipped.contains_key("missing-part-of-log"), "{skipped:?}");
    let rolled = ingested(&[("a/eventlog-2022-01-14--17-00", first.as_str()), ("a/eventlog", second.as_str())]);
    assert_eq!(rolled, (whole, skipped));
    let (_, skipped) = ingested(&[
        ("a/eventlog-2022-01-14--17-00", first.as_str()),
        ("a/eventlog", &second.replace("Number\":1", "Number\":4")),
    ]);
    assert_eq!(skipped.get("missing-part-of-log"), Some(&3));
}

#[test]
fn where_every_log_has_one_name_the_folder_names_the_application() {
    let text = log(&[started(0, 0, 0), ended(0, 0, 0, "Success"), success()]);
    let text = text.replace(r#","App ID":"application_1_2""#, "").replace(r#","App Attempt ID":"3""#, "");
    let names = |files: &[&str]| ingested(&files.iter().map(|name| (*name, text.as_str())).collect::<Vec<_>>()).0;
    let expected = |ids: [&str; 2]| ids.map(|id| format!("{id}_job_0 Success 1"));
    assert_eq!(names(&["sort-1/EVENT_LOG_1", "sort-2/EVENT_LOG_1"]), expected(["sort-1", "sort-2"]));
    assert_eq!(names(&["a/eventlog.gz", "b/eventlog"]), expected(["a", "b"]));
    assert_eq!(names(&["a/first", "b/EVENT_LOG_OF_MINE"]), expected(["EVENT_LOG_OF_MINE", "first"]));
}

#[test]
fn the_log_of_an_application_that_ended_beats_a_copy_of_it_that_was_being_written() {
    let whole = log(&[started(0, 0, 0), ended(0, 0, 0, "Success"), success()]);
    let cut = log(&[started(0, 0, 0)]);
    for files in [[("x.inprogress", &cut), ("x", &whole)], [("a", &whole), ("b.inprogress", &cut)]] {
        let (jobs, _) = ingested(&files.map(|(name, text)| (name, text.as_str())));
        assert_eq!(jobs, ["application_1_2_3_job_0 Success 1"]);
    }
}
