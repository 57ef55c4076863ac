//! Google's trace of 2011. The golden numbers are those of another program; attempts by outcome were counted in the same
//! files by an independent program.

use resched_tables::model::{NodeChange, Outcome, Priority};

use super::Found;
use crate::support;

/// Rows of a file of task_events by type (13.5), its jobs, its last time (µs), and what the events make: tasks, machines,
/// attempts that were killed, attempts without an end, and ends of tasks that were not seen to start.
struct Golden {
    part: u32,
    schedule: usize,
    evict: usize,
    fail: usize,
    finish: usize,
    jobs: usize,
    last: i64,
    tasks: usize,
    machines: usize,
    killed: usize,
    running: usize,
    unscheduled: u64,
}

#[rustfmt::skip]
const TASK_EVENTS: [Golden; 6] = [
    Golden { part: 0, schedule: 189_994, evict: 4_338, fail: 581, finish: 43_237, jobs: 4_895, last: 5_611_086_346, tasks: 190_926, machines: 12_492, killed: 10_433, running: 131_409, unscheduled: 4 },
    Golden { part: 1, schedule: 26_231, evict: 2_500, fail: 501, finish: 14_551, jobs: 1_324, last: 10_622_388_150, tasks: 25_006, machines: 9_616, killed: 8_127, running: 7_635, unscheduled: 7_083 },
    Golden { part: 2, schedule: 54_849, evict: 9_309, fail: 5_542, finish: 21_990, jobs: 1_524, last: 15_631_748_002, tasks: 51_442, machines: 11_174, killed: 13_369, running: 20_137, unscheduled: 15_498 },
    Golden { part: 3, schedule: 39_673, evict: 3_679, fail: 556, finish: 19_919, jobs: 1_774, last: 20_644_631_187, tasks: 40_699, machines: 10_813, killed: 11_526, running: 13_315, unscheduled: 9_322 },
    Golden { part: 4, schedule: 37_565, evict: 1_495, fail: 605, finish: 27_291, jobs: 1_709, last: 25_655_467_420, tasks: 41_434, machines: 10_528, killed: 11_587, running: 7_437, unscheduled: 10_850 },
    Golden { part: 5, schedule: 53_883, evict: 14_290, fail: 862, finish: 16_117, jobs: 1_330, last: 30_666_441_808, tasks: 66_960, machines: 11_078, killed: 14_822, running: 26_949, unscheduled: 19_157 },
];

#[test]
fn golden_counts_of_task_events() {
    let Some(traces) = support::real_traces() else { return };
    for row in TASK_EVENTS {
        let path = traces.join(format!("google2011/task_events/part-{:05}-of-00500.csv.gz", row.part));
        let found = Found::in_paths(&[path]);
        let part = row.part;
        assert_eq!((found.jobs.len(), found.tasks.len()), (row.jobs, row.tasks), "jobs and tasks of part {part}");
        let expected = [
            ("EVICTED", row.evict),
            ("FAILED", row.fail),
            ("INCOMPLETE", row.running),
            ("KILLED", row.killed),
            ("SUCCESS", row.finish),
        ];
        assert_eq!(found.outcomes(), expected, "attempts of part {part}");
        assert_eq!(found.attempts.len(), row.schedule + row.unscheduled as usize, "attempts of part {part}");
        assert_eq!(found.skip("end-without-schedule"), row.unscheduled, "part {part}");
        assert_eq!(found.skip("job-without-job-events"), row.jobs as u64, "part {part}");
        assert_eq!(found.sink.nodes.len(), row.machines, "machines of part {part}");
        let times = found.attempts.iter().flat_map(|attempt| [attempt.queued, attempt.start, attempt.finish]);
        let times = times.chain(found.tasks.values().map(|task| task.finish)).flatten();
        let times = times.chain(found.jobs.values().filter_map(|job| job.submit));
        // The last event of part 5 updates a task, which is no time of ours.
        assert!(times.max().unwrap().abs_diff(row.last / 1_000) < 20, "last time of part {part}");
    }
}

/// All files together: what spans two of them is one attempt.
#[test]
fn golden_counts_of_the_whole() {
    let Some(traces) = support::real_traces() else { return };
    let found = Found::in_paths(&[traces.join("google2011")]);
    assert_eq!((found.jobs.len(), found.tasks.len(), found.sink.nodes.len()), (12_539, 345_562, 12_509));
    let expected =
        [("EVICTED", 35_611), ("FAILED", 8_647), ("INCOMPLETE", 144_793), ("KILLED", 70_087), ("SUCCESS", 143_105)];
    assert_eq!(found.outcomes(), expected);
    let ends: [usize; 3] = [
        TASK_EVENTS.iter().map(|row| row.evict).sum(),
        TASK_EVENTS.iter().map(|row| row.fail).sum(),
        TASK_EVENTS.iter().map(|row| row.finish).sum(),
    ];
    assert_eq!(ends, [35_611, 8_647, 143_105], "each end is that of an attempt");
    assert!(found.attempts.iter().all(|attempt| attempt.queued.is_some()), "each try was submitted in the files");
    // job_events parts 0 to 7: 12,540 SUBMIT of 12,539 jobs, 119 FAIL, 5,584 FINISH, 2,839 KILL; one job was submitted
    // again.
    assert_eq!(found.job_outcomes(), [("FAILED", 118), ("INCOMPLETE", 3_998), ("KILLED", 2_839), ("SUCCESS", 5_584)]);
    assert_eq!(found.skipped(), [("end-without-schedule", 48), ("job-submitted-again", 1), ("unrecognised-file", 3)]);
    assert!(
        found.jobs.values().all(|job| job.submit.is_some() && job.user.is_some() && job.scheduling_class.is_some())
    );
    let absent: Vec<&str> = found.manifest.absent.keys().map(String::as_str).collect();
    assert_eq!(absent, ["nodes", "splits"]);
    let ids: Vec<u64> = found.sink.jobs.iter().map(|record| record.job.job_id.parse().unwrap()).collect();
    assert!(ids.is_sorted(), "jobs stand by their numbers");
}

const HASH: &str = "70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo=";

/// Rows of task_events: time, job, index, machine, type, rest of the row.
fn task_events(rows: &[(i64, u64, u64, &str, u8)]) -> String {
    rows.iter()
        .map(|(time, job, index, machine, event)| {
            format!("{time},,{job},{index},{machine},{event},{HASH},1,9,0.125,6.199e-05,0.0004244,0\n")
        })
        .collect()
}

fn job_events(rows: &[(i64, u64, u8)]) -> String {
    rows.iter().map(|(time, job, event)| format!("{time},,{job},{event},{HASH},2,{HASH},name{job}\n")).collect()
}

#[test]
fn a_task_is_tried_as_often_as_it_is_scheduled() {
    let tasks = task_events(&[
        (0, 7, 0, "", 0),
        (600_000_500, 7, 0, "11", 1),
        (601_000_999, 7, 0, "11", 2),
        (601_001_008, 7, 0, "11", 0),
        (602_000_000, 7, 0, "12", 1),
        (602_500_000, 7, 0, "12", 8),
        (603_000_000, 7, 0, "12", 4),
    ]);
    let found = Found::in_files(&[
        ("task_events/part-00000-of-00500.csv", &tasks),
        ("job_events/part-0", &job_events(&[(0, 7, 0), (600_000_500, 7, 1), (603_000_001, 7, 4)])),
    ]);
    assert_eq!(
        found.tries("7/0"),
        [
            (0, Some(0), Some(600_000), Some(601_000), Outcome::Evicted),
            (1, Some(601_001), Some(602_000), Some(603_000), Outcome::Success),
        ]
    );
    let task = &found.tasks["7/0"];
    assert_eq!((task.cpu_request, task.memory_request), (Some(125_000), Some(61_990_000)));
    assert_eq!((task.start, task.finish, task.outcome), (Some(600_000), Some(603_000), Outcome::Success));
    let job = &found.jobs["7"];
    assert_eq!((job.submit, job.launch, job.finish), (Some(0), Some(600_000), Some(603_000)));
    assert_eq!((job.priority, job.priority_number, job.scheduling_class), (Some(Priority::High), Some(9), Some(2)));
    assert_eq!((job.user.as_deref(), job.name.as_deref()), (Some(HASH), Some("name7")));
    assert_eq!(found.skipped(), []);
}

#[test]
fn ends_without_a_start_and_starts_without_an_end() {
    let found = Found::in_files(&[(
        "t",
        &task_events(&[
            // Killed while it waited: it never ran.
            (1_000, 1, 0, "", 0),
            (2_000, 1, 0, "", 5),
            // It ran before the files begin.
            (3_000, 1, 1, "5", 4),
            // It ends twice.
            (4_000, 1, 2, "5", 1),
            (5_000, 1, 2, "5", 5),
            (6_000, 1, 2, "5", 5),
            // It runs on, and was handed in twice.
            (7_000, 1, 3, "", 0),
            (8_000, 1, 3, "", 0),
            (9_000, 1, 3, "6", 1),
            // It fails and waits again.
            (9_000, 1, 4, "6", 1),
            (9_500, 1, 4, "6", 3),
            (9_500, 1, 4, "", 0),
            // After the trace.
            (i64::MAX, 1, 4, "6", 1),
            // Nobody knows how it ended.
            (9_000, 1, 5, "6", 1),
            (9_500, 1, 5, "6", 6),
            // Its end is lost: it is started again.
            (9_000, 1, 6, "6", 1),
            (9_900, 1, 6, "7", 1),
        ]),
    )]);
    assert_eq!(found.tries("1/0"), []);
    assert_eq!((found.tasks["1/0"].outcome, found.tasks["1/0"].finish), (Outcome::Killed, Some(2)));
    assert_eq!(found.tries("1/1"), [(0, None, None, Some(3), Outcome::Success)]);
    assert_eq!(found.tries("1/2"), [(0, None, Some(4), Some(5), Outcome::Killed)]);
    assert_eq!(found.tries("1/3"), [(0, Some(8), Some(9), None, Outcome::Incomplete)]);
    assert_eq!(found.tries("1/4"), [(0, None, Some(9), Some(9), Outcome::Failed)]);
    assert_eq!((found.tasks["1/4"].outcome, found.tasks["1/4"].finish), (Outcome::Incomplete, None));
    assert_eq!(found.tries("1/5"), [(0, None, Some(9), Some(9), Outcome::Lost)]);
    assert_eq!(
        found.tries("1/6"),
        [(0, None, Some(9), None, Outcome::Unknown), (1, None, Some(9), None, Outcome::Incomplete),]
    );
    assert_eq!(found.jobs["1"].outcome, Outcome::Incomplete);
    assert_eq!(
        found.skipped(),
        [
            ("end-without-schedule", 1),
            ("event-after-trace", 1),
            ("job-without-job-events", 1),
            ("schedule-while-running", 1),
            ("task-ended-twice", 1),
            ("task-submitted-again", 1),
        ]
    );
}

/// For a job without its own events, times and outcome are those of its tasks.
#[test]
fn a_job_without_events_is_as_its_tasks() {
    let found = Found::in_files(&[(
        "t",
        &task_events(&[
            (1_000, 1, 0, "", 0),
            (2_000, 1, 0, "5", 1),
            (3_000, 1, 0, "5", 4),
            (1_500, 2, 0, "5", 1),
            (4_000, 2, 0, "5", 4),
            (2_000, 2, 1, "5", 1),
            (3_000, 2, 1, "5", 3),
        ]),
    )]);
    let reported = |id: &str| {
        let job = &found.jobs[id];
        (job.submit, job.launch, job.finish, job.outcome)
    };
    assert_eq!(reported("1"), (Some(1), Some(2), Some(3), Outcome::Success));
    assert_eq!(reported("2"), (None, Some(1), Some(4), Outcome::Failed));
}

#[test]
fn a_job_may_be_handed_in_twice_or_go_on() {
    let found = Found::in_files(&[(
        "j",
        &job_events(&[
            (1_000, 10, 0),
            (2_000, 10, 1),
            (3_000, 10, 4),
            (4_000, 10, 0),
            (5_000, 10, 1),
            (6_000, 10, 5),
            (7_000, 10, 5),
            (1_000, 9, 0),
            (2_000, 9, 4),
            (3_000, 9, 0),
            (8_000, 100, 1),
        ]),
    )]);
    let reported =
        |id: &str| (found.jobs[id].submit, found.jobs[id].launch, found.jobs[id].finish, found.jobs[id].outcome);
    assert_eq!(reported("10"), (Some(1), Some(2), Some(6), Outcome::Killed));
    assert_eq!(reported("9"), (Some(1), None, None, Outcome::Incomplete));
    assert_eq!(reported("100"), (None, Some(8), None, Outcome::Incomplete));
    assert_eq!(found.skipped(), [("job-ended-twice", 1), ("job-submitted-again", 2)]);
    assert!(found.manifest.absent["tasks"].contains("no task_events"));
    let order: Vec<&str> = found.sink.jobs.iter().map(|record| record.job.job_id.as_str()).collect();
    assert_eq!(order, ["9", "10", "100"], "by number, not by letter");
}

#[test]
fn damaged_records_are_counted_and_cost_only_themselves() {
    let good = task_events(&[(1_000, 1, 0, "", 0), (2_000, 1, 0, "5", 1), (3_000, 1, 0, "5", 4)]);
    let lines: Vec<&str> = good.lines().collect();
    let long = "x".repeat(1 << 20);
    let others = task_events(&[(1_000, 2, 0, "", 0); 12]);
    let text = [
        "# time,missing,job ID,index,machine,event,user,class,priority,cpu,memory,disk,restriction",
        others.trim_end(),
        lines[0],
        "2000,,1,0,5,1",
        "-5,,1,0,5,1,u,1,9,1,1,1,0",
        "2000,,1,0,5,99,u,1,9,1,1,1,0",
        "2000,,1,0,five,1,u,1,9,1,1,1,0",
        "2000,,,0,5,1,u,1,9,1,1,1,0",
        "",
        &long,
        lines[1],
        lines[2],
        "30",
    ]
    .join("\r\n");
    let found = Found::in_files(&[("t", &text)]);
    assert_eq!(found.tries("1/0"), [(0, Some(1), Some(2), Some(3), Outcome::Success)]);
    let expected =
        [("damaged-record", 6), ("job-without-job-events", 2), ("oversized-record", 1), ("task-submitted-again", 11)];
    assert_eq!(found.skipped(), expected);
}

#[test]
fn machines_join_change_and_leave() {
    let rows = format!(
        "0,5,0,{HASH},0.5,0.2493\n0,6,0,{HASH},,\n900000000,5,2,{HASH},0.5,0.2493\n1000000000,5,2,{HASH},0.25,0.2493\n\
         1000000000,6,1,{HASH},,\n2000000000,6,0,{HASH},1,1\n"
    );
    let usage = "600000000,900000000,1,0,5,0.003,0.06,0.07,0,0,0.06,0,0,0.05,0,1,1,0,0,0.1\n".repeat(3);
    let found = Found::in_files(&[
        ("machine_events/part-00000-of-00001.csv", &rows),
        ("job_events/p", &job_events(&[(1_000, 1, 0)])),
        ("task_usage/p", &usage),
    ]);
    let rows: Vec<_> = found.sink.nodes.iter().map(|n| (n.host.as_str(), n.time, n.event, n.cpu, n.memory)).collect();
    assert_eq!(
        rows,
        [
            ("5", None, NodeChange::Add, Some(500_000), Some(249_300_000_000)),
            ("5", Some(1_000_000), NodeChange::Update, Some(250_000), Some(249_300_000_000)),
            ("6", None, NodeChange::Add, None, None),
            ("6", Some(1_000_000), NodeChange::Remove, None, None),
            ("6", Some(2_000_000), NodeChange::Add, Some(1_000_000), Some(1_000_000_000_000)),
        ]
    );
    assert_eq!(found.skipped(), [("usage-table-left-out", 1)]);
    assert!(!found.manifest.absent.contains_key("nodes"));
}
