#![allow(clippy::unwrap_used)]

use super::*;
use resched_tables::model::{CounterScope, Locality, Outcome, Priority, TaskKind};
use resched_tables::sink::Collected;

fn collect(text: &str) -> Collected {
    let mut found = Collected { counters: true, ..Collected::default() };
    read(&mut text.as_bytes(), "test", &mut found).unwrap();
    found
}

fn skipped(found: &Collected) -> Vec<(&str, u64)> {
    found.skipped.iter().map(|(cause, n)| (cause.as_str(), *n)).collect()
}

const HISTORY: &str = r#"Meta VERSION="1" .
Job JOBID="job_1_7" JOBNAME="a\.b \"c\"" USER="u" SUBMIT_TIME="1000" JOBCONF="hdfs://x" .
Job JOBID="job_1_7" JOB_PRIORITY="HIGH" .
Job JOBID="job_1_7" LAUNCH_TIME="1100" TOTAL_MAPS="1" TOTAL_REDUCES="1" JOB_STATUS="PREP" .
Task TASKID="task_1_7_m_000000" TASK_TYPE="MAP" START_TIME="1200" SPLITS="/r\.1/h1\.x,/r\.2/h2\.x" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_7_m_000000" TASK_ATTEMPT_ID="attempt_1_7_m_000000_0" START_TIME="1201" TRACKER_NAME="tracker_h1\.x:localhost/127\.0\.0\.1:1" HTTP_PORT="50060" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_7_m_000000" TASK_ATTEMPT_ID="attempt_1_7_m_000000_0" TASK_STATUS="FAILED" FINISH_TIME="1300" HOSTNAME="h1\.x" ERROR="java\.io\.IOException: no
	at org\.apache\.X\.run(X\.java:1)

" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_7_m_000000" TASK_ATTEMPT_ID="attempt_1_7_m_000000_1" START_TIME="1301" TRACKER_NAME="tracker_h2\.x:localhost/127\.0\.0\.1:1" HTTP_PORT="50060" LOCALITY="NODE_LOCAL" AVATAAR="SPECULATIVE" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_7_m_000000" TASK_ATTEMPT_ID="attempt_1_7_m_000000_1" TASK_STATUS="SUCCESS" FINISH_TIME="1400" HOSTNAME="/r\.2/h2\.x" STATE_STRING="" COUNTERS="{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_READ)(HDFS_BYTES_READ)(42)]}{(mine \\(a\\))(m)[(n)(n)(3)]}" .
Task TASKID="task_1_7_m_000000" TASK_TYPE="MAP" TASK_STATUS="SUCCESS" FINISH_TIME="1410" COUNTERS="{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_READ)(HDFS_BYTES_READ)(42)]}" .
Task TASKID="task_1_7_r_000001" TASK_TYPE="CLEANUP" START_TIME="1500" SPLITS="" .
ReduceAttempt TASK_TYPE="CLEANUP" TASKID="task_1_7_r_000001" TASK_ATTEMPT_ID="attempt_1_7_r_000001_0" START_TIME="1501" TRACKER_NAME="localhost/127\.0\.0\.1:3333" HTTP_PORT="50060" .
Job JOBID="job_1_7" FINISH_TIME="1600" JOB_STATUS="SUCCESS" FINISHED_MAPS="1" COUNTERS="{(J)(Job Counters )[(DATA_LOCAL_MAPS)(x)(1)]}" .
"#;

#[test]
fn a_history_becomes_one_job() {
    let found = collect(HISTORY);
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    let [record] = found.jobs.as_slice() else { panic!("{} jobs", found.jobs.len()) };
    let job = &record.job;
    assert_eq!((job.job_id.as_str(), job.name.as_deref()), ("job_1_7", Some("a.b \"c\"")));
    assert_eq!((job.submit, job.launch, job.finish), (Some(1000), Some(1100), Some(1600)));
    assert_eq!((job.outcome, job.priority), (Outcome::Success, Some(Priority::High)));
    assert_eq!((job.declared_maps, job.declared_reduces), (Some(1), Some(1)));

    let [map, cleanup] = record.tasks.as_slice() else { panic!("{} tasks", record.tasks.len()) };
    assert_eq!((map.task.kind, map.task.outcome), (TaskKind::Map, Outcome::Success));
    assert_eq!((map.task.start, map.task.finish, map.task.input_bytes), (Some(1200), Some(1410), Some(42)));
    let places: Vec<_> = map.splits.iter().map(|s| (s.ordinal, s.rack.as_deref(), s.host.as_deref())).collect();
    assert_eq!(places, [(0, Some("/r.1"), Some("h1.x")), (1, Some("/r.2"), Some("h2.x"))]);

    let [failed, won] = map.attempts.as_slice() else { panic!("{} attempts", map.attempts.len()) };
    assert_eq!((failed.attempt, failed.outcome, failed.start), (0, Outcome::Failed, Some(1201)));
    assert_eq!((failed.host.as_deref(), failed.rack.as_deref()), (Some("h1.x"), None));
    assert_eq!(failed.error.as_deref(), Some("java.io.IOException: no\n\tat org.apache.X.run(X.java:1)\n\n"));
    assert_eq!((won.attempt, won.outcome, won.finish), (1, Outcome::Success, Some(1400)));
    assert_eq!((won.host.as_deref(), won.rack.as_deref()), (Some("h2.x"), Some("/r.2")));
    assert_eq!((won.locality, won.speculative), (Some(Locality::Node), Some(true)));
    assert_eq!(won.hdfs_bytes_read, Some(42));

    // Neither the `_r_` of the id nor the record type makes it a reduce, and it never ended.
    assert_eq!((cleanup.task.kind, cleanup.task.outcome), (TaskKind::Cleanup, Outcome::Incomplete));
    let attempt = cleanup.attempts.first().unwrap();
    assert_eq!((attempt.kind, attempt.outcome), (TaskKind::Cleanup, Outcome::Incomplete));
    assert_eq!((attempt.host.as_deref(), attempt.finish), (Some("localhost"), None));

    let counters: Vec<_> =
        record.counters.iter().map(|c| (c.scope, c.id.as_str(), c.group.as_str(), c.value)).collect();
    assert_eq!(
        counters,
        [(CounterScope::Job, "job_1_7", "J", 1), (CounterScope::Attempt, "task_1_7_m_000000/1", "mine (a)", 3),]
    );
}

#[test]
fn a_task_that_is_opened_again_at_zero_keeps_what_it_had() {
    let found = collect(&format!(
        "{HISTORY}Task TASKID=\"task_1_7_m_000000\" TASK_TYPE=\"MAP\" START_TIME=\"0\" SPLITS=\"/r/other\" .\n"
    ));
    assert_eq!(skipped(&found), [("reopened-task", 1)]);
    let map = found.jobs.first().unwrap().tasks.first().unwrap();
    assert_eq!((map.task.start, map.splits.len()), (Some(1200), 2));
}

#[test]
fn records_of_another_job_are_orphans() {
    let found = collect(&format!(
        "{HISTORY}MapAttempt TASK_TYPE=\"MAP\" TASKID=\"task_1_8_m_000000\" TASK_ATTEMPT_ID=\"attempt_1_8_m_000000_0\" \
         TASK_STATUS=\"FAILED\" FINISH_TIME=\"1300\" ERROR=\"x\n\tat y\n\" .\n\
         Job JOBID=\"job_1_8\" JOB_STATUS=\"FAILED\" .\n"
    ));
    assert_eq!(skipped(&found), [("orphan-record", 2)]);
    assert_eq!(found.jobs.len(), 1);
    assert_eq!(found.jobs.first().unwrap().job.outcome, Outcome::Success);
}

#[test]
fn an_attempt_without_a_task_record_still_gives_a_task() {
    let found = collect(
        "Meta VERSION=\"1\" .\nJob JOBID=\"job_1_1\" SUBMIT_TIME=\"5\" .\n\
         ReduceAttempt TASK_TYPE=\"REDUCE\" TASK_ATTEMPT_ID=\"attempt_1_1_r_000002_3\" TASK_STATUS=\"KILLED\" \
         SHUFFLE_FINISHED=\"7\" SORT_FINISHED=\"8\" FINISH_TIME=\"9\" ERROR=\"\" .\n",
    );
    assert_eq!(skipped(&found), [("task-record-missing", 1)]);
    let task = found.jobs.first().unwrap().tasks.first().unwrap();
    assert_eq!((task.task.task_id.as_str(), task.task.kind), ("task_1_1_r_000002", TaskKind::Reduce));
    assert_eq!(task.task.outcome, Outcome::Unknown);
    let attempt = task.attempts.first().unwrap();
    assert_eq!((attempt.attempt, attempt.outcome, &attempt.error), (3, Outcome::Killed, &None));
    assert_eq!((attempt.shuffle_finish, attempt.sort_finish, attempt.finish), (Some(7), Some(8), Some(9)));
}

#[test]
fn the_plain_syntax_of_0_18_has_neither_terminator_nor_escapes() {
    let found = collect(
        "Job JOBID=\"job_1_2\" JOBNAME=\"C:\\tmp\" USER=\"u\" SUBMIT_TIME=\"5\" JOBCONF=\"x\"\n\
         Job JOBID=\"job_1_2\" LAUNCH_TIME=\"6\" TOTAL_MAPS=\"1\" TOTAL_REDUCES=\"0\"\n\
         Task TASKID=\"task_1_2_m_000000\" TASK_TYPE=\"MAP\" START_TIME=\"7\" SPLITS=\"/r/h\"\n\
         MapAttempt TASK_TYPE=\"MAP\" TASKID=\"task_1_2_m_000000\" TASK_ATTEMPT_ID=\"attempt_1_2_m_000000_0\" \
         TASK_STATUS=\"FAILED\" FINISH_TIME=\"9\" HOSTNAME=\"/r/h\" ERROR=\"first\nsecond\"\n\
         Task TASKID=\"task_1_2_m_000000\" TASK_TYPE=\"MAP\" TASK_STATUS=\"SUCCESS\" FINISH_TIME=\"9\" \
         COUNTERS=\"File Systems.HDFS bytes read:100,Map-Reduce Framework.Map input records:4\"\n",
    );
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    let record = found.jobs.first().unwrap();
    assert_eq!(record.job.name.as_deref(), Some("C:\\tmp"));
    let task = record.tasks.first().unwrap();
    assert_eq!((task.task.input_bytes, task.task.input_records), (Some(100), Some(4)));
    assert_eq!(task.attempts.first().unwrap().error.as_deref(), Some("first\nsecond"));
    assert_eq!(task.attempts.first().unwrap().hdfs_bytes_read, None);
}

#[test]
fn histories_and_confs_are_distinguished_in_a_concatenated_file() {
    let other = HISTORY.replace("_1_7", "_1_8");
    let conf = "<configuration><property><name>mapred.job.queue.name</name><value>q</value></property></configuration>";
    let text = format!(
        "\u{c}!!FILE=jt_1_job_1_7_u_x!!\n{HISTORY}\n\u{c}!!FILE=jt_1_job_1_7_conf.xml!!\n{conf}\n\
         !!FILE=jt_1_job_1_8_u_x!!\n{other}"
    );
    assert!(sniff(text.as_bytes()) && is_concatenated(text.as_bytes()));
    let found = collect(&text);
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    let ids: Vec<_> = found.jobs.iter().map(|record| record.job.job_id.as_str()).collect();
    assert_eq!(ids, ["job_1_7", "job_1_8"]);
    let (confs, damaged) = read_confs(&mut text.as_bytes()).unwrap();
    assert_eq!(damaged, 0);
    assert_eq!(confs.keys().collect::<Vec<_>>(), ["job_1_7"]);
    assert_eq!(confs.get("job_1_7").unwrap().queue.as_deref(), Some("q"));
}

#[test]
fn histories_that_were_simply_joined_are_parted_by_their_meta_records() {
    let found = collect(&format!("{HISTORY}{}", HISTORY.replace("_1_7", "_1_8")));
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    assert_eq!(found.jobs.iter().map(|record| record.tasks.len()).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn damage_costs_one_record_and_is_counted_by_cause() {
    let found = collect(
        "Meta VERSION=\"1\" .\nJob JOBID=\"job_1_1\" SUBMIT_TIME=\"5\" .\n\
         stray text\n\
         Novel JOBID=\"job_1_1\" .\n\
         Task TASKID=\"task_1_1_m_000000\" TASK_TY .\n\
         Task TASKID=\"nonsense\" TASK_TYPE=\"MAP\" .\n\
         MapAttempt TASKID=\"task_1_1_m_000000\" TASK_ATTEMPT_ID=\"attempt_1_1_m_000000_x\" .\n\
         Task TASKID=\"task_1_1_m_000001\" TASK_TYPE=\"MAP\" START_TIME=\"6\n\
         Job JOBID=\"job_1_1\" JOB_STATUS=\"KILLED\" COUNTERS=\"{(a)\" .\n",
    );
    let expected = [("damaged-counters", 1), ("damaged-record", 5), ("unknown-record", 1), ("unterminated-record", 1)];
    assert_eq!(skipped(&found), expected);
    let record = found.jobs.first().unwrap();
    assert_eq!(record.job.outcome, Outcome::Killed);
    let tasks: Vec<_> = record.tasks.iter().map(|task| (task.task.kind, task.task.start)).collect();
    assert_eq!(tasks, [(TaskKind::Other, None), (TaskKind::Map, None)]);
}

#[test]
fn a_history_cut_at_any_byte_gives_its_job_or_nothing() {
    for end in (0..HISTORY.len()).filter(|&end| HISTORY.is_char_boundary(end)) {
        let found = collect(HISTORY.get(..end).unwrap());
        assert!(found.jobs.len() <= 1);
        if let Some(record) = found.jobs.first() {
            assert_eq!(record.job.job_id, "job_1_7");
        }
    }
}

#[test]
fn a_record_without_end_is_bounded() {
    let line = "x".repeat(1 << 20);
    let mut text = String::from("Meta VERSION=\"1\" .\nJob JOBID=\"job_1_1\" SUBMIT_TIME=\"5\" JOBNAME=\"");
    for _ in 0..20 {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("Job JOBID=\"job_1_1\" JOB_STATUS=\"SUCCESS\" .\n");
    let found = collect(&text);
    assert_eq!(skipped(&found), [("oversized-record", 1)]);
    assert_eq!(found.jobs.first().unwrap().job.outcome, Outcome::Success);
}

#[test]
fn floods_within_a_record_are_bounded() {
    let found = collect(&format!(
        "Meta VERSION=\"1\" .\nJob JOBID=\"job_1_1\" SUBMIT_TIME=\"5\" .\n\
         Job JOBID=\"job_{}\" SUBMIT_TIME=\"5\" .\n\
         Task TASKID=\"task_1_1_m_000000\" TASK_TYPE=\"MAP\" SPLITS=\"{}\" .\n\
         MapAttempt TASKID=\"task_1_1_m_000000\" TASK_ATTEMPT_ID=\"attempt_1_1_m_000000_0\" ERROR=\"{}\" .\n",
        "9".repeat(1 << 20),
        "/r/h,".repeat(1 << 20),
        "é".repeat(1 << 20),
    ));
    assert_eq!(skipped(&found), [("damaged-record", 1), ("shortened-text", 1), ("surplus-splits", 1)]);
    let task = found.jobs.first().unwrap().tasks.first().unwrap();
    assert_eq!(task.splits.len(), 10_000);
    assert_eq!(task.attempts.first().unwrap().error.as_ref().unwrap().len(), 16 << 10);
}

#[test]
fn other_content_is_not_taken_for_a_history() {
    for text in [
        "",
        "\n\n",
        "{\"jobID\": \"x\"}",
        "Avro-Json\n{}",
        "job0\t1\t1\t5\t6\t7\n",
        "Some KEY=\"value\"\n",
        "\u{0}\u{1f}",
    ] {
        assert!(!sniff(text.as_bytes()), "{text:?}");
    }
    assert!(sniff(HISTORY.as_bytes()));
    assert!(sniff(b"Job JOBID=\"job_1_2\" USER=\"u\"\n"));
}
