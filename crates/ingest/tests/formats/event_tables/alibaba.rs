//! Alibaba's traces of 2017 and 2018. The golden numbers are those of another program.

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::model::{NodeChange, Outcome, TaskKind, TaskRow};

use super::{Found, tally};
use crate::support;

fn task_outcomes(found: &Found) -> Vec<(&'static str, usize)> {
    tally(found.tasks.values().map(|task| task.outcome))
}

fn instances(found: &Found) -> i64 {
    found.tasks.values().filter_map(|task| task.instances).sum()
}

fn times(found: &Found, of: fn(&TaskRow) -> Option<i64>) -> (i64, i64) {
    let times = || found.tasks.values().filter_map(of);
    (times().min().unwrap() / 1_000, times().max().unwrap() / 1_000)
}

#[test]
fn golden_counts_of_2017() {
    let Some(traces) = support::real_traces() else { return };
    let found = Found::in_paths(&[traces.join("alibaba2017")]);
    assert_eq!((found.jobs.len(), found.tasks.len(), instances(&found)), (12_951, 80_553, 11_909_321));
    // 8,847 wait and 3,567 run.
    assert_eq!(task_outcomes(&found), [("FAILED", 1_126), ("INCOMPLETE", 8_847 + 3_567), ("SUCCESS", 67_013)]);
    let submits: Vec<i64> = found.jobs.values().filter_map(|job| job.submit).collect();
    assert_eq!(submits.len(), 12_951, "each task was made at some time");
    assert_eq!((submits.iter().min(), times(&found, |task| task.start)), (Some(&-1_078_000), (-1_078, 60_181)));
    assert_eq!(times(&found, |task| task.finish), (-843, 61_668));
    let backwards =
        found.tasks.values().filter(|task| task.finish.zip(task.start).is_some_and(|(end, start)| end < start));
    assert_eq!(backwards.count(), 0, "53176 to 53175 is left out");
    assert_eq!(found.tasks.values().filter(|task| task.cpu_request.is_none()).count(), 9_017);
    let task = &found.tasks["3/4"];
    assert_eq!((task.instances, task.cpu_request, task.memory_request), (Some(15_740), Some(500), Some(7_956_928_000)));
    assert_eq!((task.start, task.finish), (Some(6_459_000), Some(6_524_000)));

    assert_eq!(found.sink.nodes.len(), 1_313);
    assert!(found.sink.nodes.iter().all(|node| node.event == NodeChange::Add && node.cpu == Some(64_000)));
    assert!(found.sink.nodes.iter().all(|node| node.time.is_none() && node.memory.is_some_and(|memory| memory > 0)));
    assert_eq!(
        found.skipped(),
        [("finish-before-start", 1), ("machine-softerror-left-out", 39), ("unrecognised-file", 3)]
    );
    let absent: Vec<&str> = found.manifest.absent.keys().map(String::as_str).collect();
    assert_eq!(absent, ["attempts", "splits"]);
}

#[test]
fn golden_counts_of_2018() {
    let Some(traces) = support::real_traces() else { return };
    let found = Found::in_paths(&[traces.join("alibaba2018")]);
    assert_eq!((found.jobs.len(), found.tasks.len(), instances(&found)), (2_120, 55_874, 3_131_376));
    assert_eq!(task_outcomes(&found), [("FAILED", 36), ("INCOMPLETE", 652 + 192), ("SUCCESS", 54_994)]);
    let mut kinds = BTreeMap::new();
    for task in found.tasks.values() {
        *kinds.entry(task.kind.as_str()).or_insert(0) += 1;
    }
    assert_eq!(kinds, BTreeMap::from([("map", 15_793), ("reduce", 32_796 + 7_285)]));
    assert_eq!(found.skip("dag-incomplete"), 83);
    assert_eq!(found.tasks.values().filter(|task| task.instances.is_none()).count(), 192);
    assert_eq!(found.tasks.values().filter(|task| task.cpu_request.is_none()).count(), 354);
    assert_eq!(found.tasks.values().filter(|task| task.start.is_none()).count(), 192, "those that wait");
    let zero = |task: &&TaskRow| task.start.is_some() && task.start == task.finish;
    assert!(found.tasks.values().filter(zero).count() <= 842);
    // No stage waits for one that is not of its job, but for those whose names were cut.
    let mut stages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for task in found.tasks.values() {
        stages.entry(&task.job_id).or_default().insert(task.stage.as_deref().unwrap());
    }
    let dangling = |task: &&TaskRow| {
        task.depends_on
            .iter()
            .any(|stage| Some(stage) == task.stage.as_ref() || !stages[&*task.job_id].contains(&**stage))
    };
    assert_eq!(found.tasks.values().filter(dangling).count(), 0);

    let hosts: BTreeSet<&str> = found.sink.nodes.iter().map(|node| node.host.as_str()).collect();
    assert_eq!(hosts.len(), 4_034);
    assert!(found.sink.nodes.iter().all(|node| (node.cpu, node.memory) == (Some(96_000), Some(1_000_000_000_000))));
    let first: Vec<_> = found.sink.nodes.iter().filter(|node| node.host == "m_1").collect();
    assert_eq!((first.len(), first[0].rack.as_deref(), first[0].time), (1, Some("/219/17"), None));
    // Five rows say that this one is being installed, none that it is in use.
    let away: Vec<_> = found.sink.nodes.iter().filter(|node| node.host == "m_2739").map(|node| node.event).collect();
    assert_eq!(away, [NodeChange::Remove]);
    assert_eq!(found.skipped(), [("dag-incomplete", 83), ("unrecognised-file", 3), ("usage-table-left-out", 1)]);
}

#[test]
fn instances_of_2018_are_attempts() {
    let tasks = "M1,2.0,j_3,1,Terminated,157213,157295,100.0,0.3\n\
                 R2_1,1,j_3,1,Running,157297,0,50,0.49\n\
                 task_Nzg3,1,j_4,1,Waiting,0,0,,\n\
                 M1,1,j_5,1,Terminated,0,5,100,0.5\n\
                 M1,9,j_5,1,Failed,7,9,100,0.5\n\
                 R10_9,,j_6,1,Waiting,0,0,,\n";
    let instances = "ins_2,M1,j_3,1,Terminated,157214,157295,m_7,1,1,50,60,0.1,0.2\n\
                     ins_1,M1,j_3,1,Interrupted,157213,157220,m_8,1,2,50,60,0.1,0.2\n\
                     ins_1,M1,j_3,1,Terminated,157221,157290,m_9,2,2,50,60,0.1,0.2\n\
                     ins_3,R2_1,j_3,1,Running,157297,0,m_7,1,1,,,,\n\
                     ins_4,R2_1,j_3,1,Ready,0,0,,1,1,,,,\n\
                     ins_5,,,1,Failed,5,6,m_7,1,1,,,,\n\
                     ins_6,M1,j_9,1,Failed,100,200,m_7,1,1,,,,\n\
                     ins_7,M1,j_9,1,Sideways,100,200,m_7,1,1,,,,\n";
    let found = Found::in_files(&[("batch_task.csv", tasks), ("batch_instance.csv", instances)]);
    assert_eq!(
        found.tries("j_3/M1"),
        [
            (0, None, Some(157_213_000), Some(157_220_000), Outcome::Killed),
            (1, None, Some(157_214_000), Some(157_295_000), Outcome::Success),
            (2, None, Some(157_221_000), Some(157_290_000), Outcome::Success),
        ]
    );
    assert_eq!(
        found.tries("j_3/R2_1"),
        [(0, None, None, None, Outcome::Incomplete), (1, None, Some(157_297_000), None, Outcome::Incomplete),]
    );
    let job = |id: &str| {
        let job = &found.jobs[id];
        (job.submit, job.launch, job.finish, job.outcome)
    };
    assert_eq!(job("j_3"), (Some(157_213_000), Some(157_213_000), None, Outcome::Incomplete));
    assert_eq!(job("j_4"), (None, None, None, Outcome::Incomplete));
    assert_eq!(job("j_5"), (Some(0), Some(0), Some(5_000), Outcome::Success));
    assert_eq!(job("j_9"), (Some(100_000), Some(100_000), Some(200_000), Outcome::Unknown));
    let reduce = &found.tasks["j_3/R2_1"];
    assert_eq!((reduce.kind, reduce.stage.as_deref()), (TaskKind::Reduce, Some("2")));
    assert_eq!((reduce.depends_on.as_slice(), reduce.instances), (&["1".to_owned()][..], Some(1)));
    assert_eq!((reduce.cpu_request, reduce.memory_request), (Some(500), Some(4_900_000_000)));
    assert_eq!(
        found.skipped(),
        [("damaged-record", 1), ("duplicate-task", 1), ("instance-of-no-task", 1), ("instances-without-task", 1),]
    );
    let hosts: Vec<&str> = found.sink.nodes.iter().map(|node| node.host.as_str()).collect();
    assert_eq!(hosts, ["m_7", "m_8", "m_9"]);
    assert!(found.manifest.absent["nodes"].contains("no machine_meta"));
}

#[test]
fn instances_of_2017_are_attempts() {
    let tasks = "task_create_time, task_end_time, job_id, task_id,number\r\n";
    let tasks =
        format!("{tasks}10,20,3,4,2,Terminated,50,0.25\r\n-5,0,3,10,1,Running,,\r\n30,31,12,1,1,Cancelled,,\r\n");
    let instances = "12,20,3,4,77,Terminated,1,1,0.5,0.1,0.2,0.1\n0,15,3,4,78,Failed,1,2,,,,\n15,19,3,4,77,Interupted,2,2,,,,\n\
                     12,20,,4,77,Terminated,1,1,,,,\n";
    let events =
        "0,77,add,,64,0.69,1\n500,77,softerror,agent_check,0,0,0\n900,77,harderror,disk,0,0,0\n950,77,add,,0,0,0\n";
    let found = Found::in_files(&[("a", &tasks), ("b", instances), ("server_event.csv", events)]);
    assert_eq!(
        found.tries("3/4"),
        [
            (0, None, Some(0), Some(15_000), Outcome::Failed),
            (1, None, Some(12_000), Some(20_000), Outcome::Success),
            (2, None, Some(15_000), Some(19_000), Outcome::Killed),
        ]
    );
    assert_eq!((found.tasks["3/10"].start, found.tasks["3/10"].finish), (Some(-5_000), None));
    let order: Vec<&str> = found.sink.jobs.iter().map(|record| record.job.job_id.as_str()).collect();
    assert_eq!(order, ["3", "12"]);
    let tasks: Vec<&str> = found.sink.jobs[0].tasks.iter().map(|task| task.task.task_id.as_str()).collect();
    assert_eq!(tasks, ["3/4", "3/10"]);
    assert_eq!(found.jobs["12"].outcome, Outcome::Killed);
    let rows: Vec<_> = found.sink.nodes.iter().map(|n| (n.time, n.event, n.cpu, n.memory)).collect();
    assert_eq!(
        rows,
        [
            (None, NodeChange::Add, Some(64_000), Some(690_000_000_000)),
            (Some(900_000), NodeChange::Remove, None, None),
            (Some(950_000), NodeChange::Add, None, None),
        ],
        "a capacity of 0 is not given"
    );
    assert_eq!(found.skipped(), [("instance-of-no-task", 1), ("machine-softerror-left-out", 1)]);
}

#[test]
fn tables_of_usage_are_left_out() {
    let task = "M1,2.0,j_3,1,Terminated,157213,157295,100.0,0.3\n";
    let found = Found::in_files(&[
        ("batch_task.csv", task),
        ("container_meta.csv", "c_1,m_2556,0,app_5052,started,400,400,1.56\n"),
        ("container_usage.csv", "c_28,m_2,386640,41,92,0.9,1,1,43.04,33.08,5\n"),
        ("machine_usage.csv", "m_1932,386640,41,92,,,43.04,33.08,5\n"),
        ("README.md", "# Tables\n"),
    ]);
    assert_eq!(found.skipped(), [("unrecognised-file", 1), ("usage-table-left-out", 3)]);
    let found = Found::in_files(&[
        ("batch_task.csv", "10,20,3,4,2,Terminated,50,0.25\n"),
        ("server_usage.csv", "39600,397,22.4,35.9,41.9,8.1,7.2,7.8\n"),
        ("container_usage.csv", "39600,1,2.1,3.5,4.5,0.4,0.3,0.2,1.1,0.2,1.4,0.3\n"),
        ("container_event.csv", "0,Create,1,407,8,0.02,0.03,1|2|3\n"),
    ]);
    assert_eq!(found.skipped(), [("usage-table-left-out", 3)]);
}
