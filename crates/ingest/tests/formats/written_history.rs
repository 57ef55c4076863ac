//! What is written as a Hadoop history is read back as it was.
#![allow(clippy::unwrap_used)]

use std::fs;

use crate::support::history_writer::*;
use resched_tables::model::{
    AttemptRow, JobRecord, JobRow, Locality, Outcome, Priority, SplitRow, TaskKind, TaskRecord, TaskRow,
};

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
    let split =
        |host: &str| SplitRow { host: Some(host.to_owned()), rack: Some("/rack-0".to_owned()), ..SplitRow::default() };
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
