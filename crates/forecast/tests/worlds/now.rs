//! The list of the jobs that run and wait now, beside a trace of the past.

use std::fs;

use resched_forecast::{Asked, Now, Prepared, answer, validity_of};
use resched_replay::{Setup, Threads};
use resched_tables::clock::Zone;
use resched_tables::model::JobRecord;
use resched_tables::validity::Grade;

use crate::made::{HOUR, MINUTE, exponential, few, jobs, policy, world};

const AT: i64 = 1_767_600_000_000;

/// What is known of each job: its id, start, limit (minutes), processors, machines, and whether it may start.
/// The id, four times, and whether it runs.
type Said<'a> = (&'a str, Option<i64>, Option<i64>, Option<i64>, Option<i64>, bool);

fn said_by(now: &Now) -> Vec<Said<'_>> {
    let of = |job_record: &JobRecord| {
        let task = &job_record.tasks[0].task;
        (
            task.start.map(|at| AT - at),
            job_record.job.requested_time.map(|ms| ms / MINUTE),
            task.instances,
            task.machines,
        )
    };
    now.jobs
        .iter()
        .map(|job| {
            let (start, limit, cpus, machines) = of(job);
            (job.job.job_id.as_str(), start, limit, cpus, machines, job.job.eligible.is_none())
        })
        .collect()
}

/// The same five jobs in each form: one runs for 20 minutes, one waits, one is held, and two are tasks of an array.
fn is_the_list(now: &Now) {
    let expected = [
        ("7", Some(20 * MINUTE), Some(60), Some(4), Some(1), true),
        ("8", None, Some(90), Some(8), Some(2), true),
        ("9", None, Some(10), Some(1), Some(1), false),
        ("10_3", None, Some(5), Some(1), Some(1), true),
        ("10_5", None, Some(5), Some(1), Some(1), true),
    ];
    assert_eq!(said_by(now), expected);
    assert_eq!(now.at, Some(AT));
    assert!(now.jobs[..3].iter().all(|job| job.job.user.as_deref() == Some("ann")));
}

#[test]
fn json_of_every_version_is_read() {
    let job = |number: &dyn Fn(i64) -> String, state: &dyn Fn(&str) -> String| {
        let one = |id: i64, is: &str, reason: &str, [start, limit, cpus, nodes]: [i64; 4], array: &str| {
            format!(
                r#"{{"job_id":{id},"user_name":"ann","name":"a","partition":"p","job_state":{},"state_reason":"{reason}","submit_time":{},
                "start_time":{},"time_limit":{},"cpus":{},"node_count":{},"priority":{}{array}}}"#,
                state(is),
                number(AT / 1_000 - 3_600),
                number(start),
                number(limit),
                number(cpus),
                number(nodes),
                number(5)
            )
        };
        let array = format!(r#","array_job_id":{},"array_task_string":"3,5%1""#, number(10));
        [
            one(7, "RUNNING", "None", [AT / 1_000 - 1_200, 60, 4, 1], ""),
            one(8, "PENDING", "Resources", [0, 90, 8, 2], ""),
            one(9, "PENDING", "Dependency", [0, 10, 1, 1], ""),
            one(10, "PENDING", "Priority", [0, 5, 1, 1], &array),
            one(11, "COMPLETED", "None", [0, 5, 1, 1], ""),
        ]
        .join(",")
    };
    let plain = job(&|number| number.to_string(), &|state| format!("{state:?}"));
    let wrapped =
        job(&|number| format!(r#"{{"set":true,"infinite":false,"number":{number}}}"#), &|state| format!("[{state:?}]"));
    let update = AT / 1_000;
    for text in [
        format!(r#"{{"jobs":[{plain}],"last_update":{update}}}"#),
        format!(r#"{{"jobs":[{wrapped}],"last_update":{{"set":true,"infinite":false,"number":{update}}}}}"#),
    ] {
        let now = Now::parse(&text, Zone::default(), None).unwrap();
        is_the_list(&now);
        assert_eq!(now.skipped["job-in-another-state"], 1);
    }
    assert!(Now::parse("{\"jobs\":5}", Zone::default(), None).unwrap_err().contains("squeue --json"));
    assert!(Now::parse("{\"jobs\":[", Zone::default(), None).unwrap_err().contains("line 1"));
}

#[test]
fn lists_with_names_are_read_in_their_zone() {
    // 2026-01-05T08:00:00Z is nine o'clock in Berlin.
    let squeue = "JOBID|USER|NAME|PARTITION|STATE|REASON|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|NODES|CPUS\n\
                  7|ann|a|p|RUNNING|None|2026-01-05T08:00:00|2026-01-05T08:40:00|20:00|1:00:00|1|4\n\
                  8|ann|a|p|PENDING|Resources|2026-01-05T08:00:00|N/A|0:00|1:30:00|2|8\n\
                  9|ann|a|p|PENDING|Dependency|2026-01-05T08:00:00|N/A|0:00|10:00|1|1\n\
                  10_[3,5%1]|ann|a|p|PENDING|Priority|2026-01-05T08:00:00|N/A|0:00|5:00|1|1\n\
                  12|ann|a\n";
    let now = Now::parse(squeue, "Europe/Berlin".parse().unwrap(), None).unwrap();
    is_the_list(&now);
    assert_eq!(now.skipped["line-with-another-number-of-fields"], 1);
    let sacct = "JobID|User|JobName|Partition|State|Reason|Submit|Start|Elapsed|Timelimit|ReqNodes|ReqCPUS\n\
                 7|ann|a|p|RUNNING|None|2026-01-05T07:00:00|2026-01-05T07:40:00|00:20:00|01:00:00|1|4\n\
                 8|ann|a|p|PENDING|Resources|2026-01-05T07:00:00|Unknown|00:00:00|01:30:00|2|8\n\
                 9|ann|a|p|PENDING|Dependency|2026-01-05T07:00:00|Unknown|00:00:00|00:10:00|1|1\n\
                 10_[3,5%1]|ann|a|p|PENDING|Priority|2026-01-05T07:00:00|Unknown|00:00:00|00:05:00|1|1\n";
    is_the_list(&Now::parse(sacct, Zone::default(), None).unwrap());
    let spaces = "JOBID STATE REASON TIME_LIMIT\n5 PENDING Nodes required for job are DOWN 4:00\n";
    let now = Now::parse(spaces, Zone::default(), Some(AT)).unwrap();
    assert_eq!(said_by(&now), [("5", None, Some(4), Some(1), None, true)]);
    let missing = Now::parse(spaces, Zone::default(), None).unwrap_err();
    assert!(missing.contains("--at"), "{missing}");
    assert!(Now::parse("STATE\nR\n", Zone::default(), None).unwrap_err().contains("line 1"));
}

#[test]
fn what_a_list_lacks_is_counted() {
    let text = "JOBID|STATE|START_TIME|TIME_LIMIT|CPUS\n1|RUNNING|N/A|UNLIMITED|2\n2|PENDING|N/A|INVALID|\n3||N/A|5:00|1\n\
                4_[1-2,x]|PENDING|N/A|5:00|1\n5_[1-900000]|PENDING|N/A|5:00|1\n";
    let now = Now::parse(text, Zone::default(), Some(AT)).unwrap();
    let expected = [
        ("array-task-beyond-the-most", 800_000),
        ("array-with-unread-tasks", 1),
        ("job-of-one-core", 1),
        ("job-without-a-state", 1),
        ("job-without-limit", 2),
        ("job-without-submit-time", 100_004),
        ("running-job-without-a-start", 1),
    ];
    assert!(now.skipped.iter().map(|(cause, count)| (cause.as_str(), *count)).eq(expected), "{:?}", now.skipped);
    assert_eq!(now.jobs.len(), 2 + 2 + 100_000);
}

/// The list takes the place of what the log has of its jobs, and of whatever the log left open.
#[test]
fn a_list_is_forecast_with_the_past_of_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let (_, trace) = world(dir.path(), jobs(6, 20.0, exponential, 11), "easy");
    let at = 5 * 24 * HOUR + HOUR / 2;
    let seconds = |ms: i64| ms / 1_000;
    let line = |id: &str, state: &str, start: i64, nodes: i64| {
        format!(
            r#"{{"job_id":{id},"user_name":"ann","name":"n0","partition":"short","job_state":"{state}","submit_time":{},"start_time":{},
            "time_limit":180,"cpus":{nodes},"node_count":{nodes},"exclusive":["true"]}}"#,
            seconds(at - HOUR),
            start
        )
    };
    let all = [
        line("900001", "RUNNING", seconds(at - 40 * MINUTE), 6),
        line("900002", "PENDING", 0, 2),
        line("900003", "PENDING", 0, 6),
    ];
    let text = format!(r#"{{"jobs":[{}],"last_update":{}}}"#, all.join(","), seconds(at));
    let file = dir.path().join("now.json");
    fs::write(&file, text).unwrap();
    let now = Now::read(&file, Zone::default(), None).unwrap();
    let prepared = Prepared::with_now(&trace, now, Setup::default(), &[policy("easy")]).unwrap();
    let found = answer(prepared.model(0, few()).unwrap(), at, &Asked::default(), None, Threads::ONE).unwrap();
    assert_eq!((found.running, found.waiting, found.held), (1, 2, 0));
    assert!(prepared.past().skipped["job-of-the-past-that-is-not-listed"] > 0);
    let [small, large] = found.jobs.as_slice() else { panic!("{:?}", found.jobs) };
    assert_eq!((small.job_id.as_str(), large.job_id.as_str()), ("900002", "900003"));
    assert!(
        small.start[0] > at && small.start[2] <= at - 40 * MINUTE + 3 * HOUR,
        "at the latest, when the limit of the first ends"
    );
    assert_eq!(small.after[0].job_id, "900001");
    assert!(large.start[1] > small.start[1]);
    assert_eq!(validity_of(None, Some(&found)).grade(), Grade::Assumed);
}
