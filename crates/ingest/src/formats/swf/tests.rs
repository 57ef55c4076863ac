//! Logs of a few lines, and real ones.
#![allow(clippy::unwrap_used)]

use super::super::golden::{Collected, Found as _, each_damage, read_shared};
use super::*;
use resched_tables::cause::Cause;
use resched_tables::model::{AttemptRow, CounterRow, JobRow, NodeRow, Outcome, SplitRow, TaskRecord, TaskRow};

fn jobs(text: &str) -> Vec<JobRecord> {
    Collected::read(&FORMAT, text.as_bytes()).unwrap().jobs
}

fn job(line: &str) -> JobRecord {
    let [record] = jobs(line).try_into().unwrap();
    record
}

/// The golden counts of another program.
#[test]
fn every_real_file_gives_its_golden_counts() {
    struct Golden {
        file: &'static str,
        jobs: usize,
        submit: (i64, i64),
        last_end: i64,
        run_zero: usize,
        machines: usize,
        out_of_order: usize,
        failed: usize,
    }
    let none =
        Golden { file: "", jobs: 0, submit: (0, 0), last_end: 0, run_zero: 0, machines: 0, out_of_order: 0, failed: 0 };
    let golden = [
        Golden {
            file: "swf/NASA-iPSC-1993-3.1-cln.swf.gz",
            jobs: 18_239,
            submit: (0, 7_948_936_000),
            last_end: 7_949_022_000,
            run_zero: 173,
            machines: 128,
            ..none
        },
        Golden {
            file: "swf/HPC2N-excerpt-accasim-workload.swf",
            jobs: 25,
            submit: (561_553_000, 3_891_447_000),
            last_end: 4_048_699_000,
            ..none
        },
        Golden {
            file: "swf/opendc-trace.swf",
            jobs: 5,
            submit: (0, 310_541_000),
            last_end: 692_409_000,
            failed: 1,
            ..none
        },
        Golden {
            file: "swf/evalys-easy_mediumWL_smallPF.swf",
            jobs: 800,
            submit: (0, 10_759_739),
            last_end: 11_306_611,
            out_of_order: 204,
            ..none
        },
    ];
    for Golden { file, jobs, submit, last_end, run_zero, machines, out_of_order, failed } in golden {
        let Some(bytes) = read_shared(file) else { return };
        assert!(sniff(&bytes[..bytes.len().min(1 << 16)]), "{file}");
        let found = Collected::read(&FORMAT, &bytes).unwrap();
        assert_eq!(found.jobs.len(), jobs, "{file}");
        let submits: Vec<i64> = found.jobs.iter().map(|record| record.job.submit.unwrap()).collect();
        assert_eq!((*submits.iter().min().unwrap(), *submits.iter().max().unwrap()), submit, "{file}");
        let attempts = || found.jobs.iter().flat_map(|record| &record.tasks).flat_map(|task| &task.attempts);
        // Without waits, a job ends at its submission and its run time, at the earliest.
        let has_waits = attempts().any(|attempt| attempt.start.is_some());
        let earliest = attempts().filter_map(|attempt| Some(attempt.queued? + attempt.run_time?)).max();
        let ends = found.jobs.iter().filter_map(|record| record.job.finish).max();
        assert_eq!(if has_waits { ends } else { earliest }, Some(last_end), "{file}");
        assert_eq!(has_waits, !file.contains("NASA"), "{file}");
        let run = |attempt: &AttemptRow| attempt.run_time.or_else(|| Some(attempt.finish? - attempt.start?));
        assert_eq!(attempts().filter(|attempt| run(attempt) == Some(0)).count(), run_zero, "{file}");
        assert_eq!(found.nodes.len(), machines, "{file}");
        assert!(submits.is_sorted(), "{file}: jobs come in the order of their submission");
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().filter(|line| !is_comment(line));
        let listed: Vec<f64> = lines.map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap()).collect();
        assert_eq!(listed.windows(2).filter(|pair| pair[1] < pair[0]).count(), out_of_order, "{file}");
        let all = found.jobs.iter().filter(|record| record.job.outcome == Outcome::Failed).count();
        assert_eq!(all, failed, "{file}");
        let skipped: Vec<_> = found.skipped.into_iter().collect();
        let unknown = [("file-without-machines".to_owned(), 1)];
        assert_eq!(skipped, unknown[..usize::from(machines == 0)], "{file}");
    }
}

#[test]
fn a_job_is_mapped_field_by_field() {
    let text = "; Queue: 3 batch (long)\n; Partition: 4 big\n\
                \t5674  3888357  14612    117    8 117.00 114688    6  72000  1024  1   5   7  9 3  4 12 60\r\n";
    let some = |text: &str| Some(text.to_owned());
    let (submit, start) = (Some(3_888_357_000), Some(3_902_969_000));
    let finish = Some(3_903_086_000);
    let id = || "5674".to_owned();
    let expected = JobRecord {
        job: JobRow {
            job_id: id(),
            name: some("9"),
            user: some("5"),
            queue: some("batch (long)"),
            group: some("7"),
            framework: some("swf"),
            submit,
            launch: start,
            finish,
            outcome: Outcome::Success,
            requested_containers: Some(6),
            requested_cpu: Some(1_000),
            requested_memory: Some(1 << 20),
            requested_time: Some(72_000_000),
            depends_on: vec!["12".to_owned()],
            ..JobRow::default()
        },
        tasks: vec![TaskRecord {
            task: TaskRow {
                job_id: id(),
                task_id: id(),
                start,
                finish,
                outcome: Outcome::Success,
                cpu_request: Some(1_000),
                memory_request: Some(1 << 20),
                instances: Some(8),
                gang: Some(true),
                ..TaskRow::default()
            },
            splits: Vec::new(),
            attempts: vec![AttemptRow {
                job_id: id(),
                task_id: id(),
                queued: submit,
                start,
                finish,
                outcome: Outcome::Success,
                cpu_ms: Some(8 * 117_000),
                physical_memory: Some(8 * 114_688 * 1024),
                ..AttemptRow::default()
            }],
        }],
        counters: Vec::new(),
    };
    assert_eq!(job(text), expected);
}

/// Leaves each job to the reader, as the writer of a trace does, and changes it before.
#[derive(Default)]
struct Borrower(Vec<JobRecord>);

impl Sink for Borrower {
    fn job(&mut self, job: JobRecord) -> Result<(), Error> {
        self.0.push(job);
        Ok(())
    }

    fn lent_job(&mut self, job: &mut JobRecord) -> Result<(), Error> {
        self.job(job.clone())?;
        job.job.declared_maps = Some(1);
        job.counters.push(CounterRow::default());
        job.tasks.push(TaskRecord::default());
        job.tasks[0].splits.push(SplitRow::default());
        Ok(())
    }

    fn node(&mut self, _: NodeRow) {}

    fn skip(&mut self, _: Cause, _: u64) {}
}

#[test]
fn a_job_has_nothing_of_the_job_before() {
    let full = "1 10 5 7 4 3 9 4 8 7 1 11 12 13 14 15 16 17";
    let last = "9 20 5 7 4 3 9 4 8 7 1 11 12 13 14 15 16 17";
    for other in [
        "2 15 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1",
        "2 10 5 -1 -1 -1 -1 4 -1 -1 5 1 1 1 1 1 -1 -1",
        "22 19 1 2 3 4 5 6 7 8 0 9 10 11 12 13 -1 -1",
    ] {
        let mut sink = Borrower::default();
        read(&mut format!("{last}\n{other}\n{full}\n").as_bytes(), "test.swf", &mut sink).unwrap();
        assert_eq!(sink.0, [job(full), job(other), job(last)]);
    }
}

#[test]
fn numbers_of_things_are_written_without_zeros_and_points() {
    let large = ("9007199254740993", "9007199254740992");
    for (text, expected) in [("0", "0"), ("12", "12"), ("007", "7"), ("5.0", "5"), ("1.5", "1.5"), large] {
        let record = job(&format!("{text} 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1"));
        assert_eq!(record.job.job_id, expected);
    }
}

#[test]
fn what_is_unknown_is_null_and_without_a_wait_there_is_no_start() {
    let record = job("1 0 -1 1451 128 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1");
    let expected =
        JobRow { job_id: "1".to_owned(), framework: Some("swf".to_owned()), submit: Some(0), ..JobRow::default() };
    assert_eq!(record.job, expected);
    let (task, attempt) = (&record.tasks[0].task, &record.tasks[0].attempts[0]);
    assert_eq!((task.start, task.finish, attempt.start, attempt.finish), (None, None, None, None));
    assert_eq!((attempt.queued, attempt.run_time), (Some(0), Some(1_451_000)));
    assert_eq!((attempt.cpu_ms, attempt.physical_memory, record.tasks[0].task.instances), (None, None, Some(128)));
}

#[test]
fn allocated_processors_come_before_requested_ones() {
    let instances = |allocated, requested| {
        job(&format!("1 0 1 1 {allocated} -1 -1 {requested} -1 -1 1 1 1 1 1 1 -1 -1")).tasks[0].task.instances
    };
    assert_eq!(instances(8, 16), Some(8));
    assert_eq!(instances(-1, 16), Some(16));
    assert_eq!(instances(0, 16), Some(16));
    assert_eq!(instances(-1, -1), None);
}

#[test]
fn a_partition_stands_for_the_queue_where_no_queue_is_reported() {
    let text = "; Partition: 4  site A\n1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 -1 4 -1 -1\n2 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 -1 5 -1 -1\n";
    let queues: Vec<_> = jobs(text).into_iter().map(|record| record.job.queue.unwrap()).collect();
    assert_eq!(queues, ["site A", "5"]);
}

#[test]
fn fractions_of_seconds_are_kept_to_the_millisecond() {
    let record = job("2060 2754.556511 -0.0 140.95 2 -1 -1 2 212.0 -1 1 -1 -1 -1 -1 -1 -1 -1");
    let job = &record.job;
    assert_eq!((job.submit, job.launch, job.finish), (Some(2_754_557), Some(2_754_557), Some(2_895_507)));
    assert_eq!(job.requested_time, Some(212_000));
}

#[test]
fn a_run_time_of_zero_is_a_run() {
    let record = job("1 10 5 0 1 -1 -1 1 -1 -1 0 1 1 1 1 1 -1 -1");
    assert_eq!(record.job.outcome, Outcome::Failed);
    assert_eq!(record.tasks[0].attempts[0].start, record.tasks[0].attempts[0].finish);
}

#[test]
fn a_job_that_was_cancelled_while_it_waited_has_no_attempt() {
    for run in [-1, 0] {
        let record = job(&format!("1 10 5 {run} -1 -1 -1 4 -1 -1 5 1 1 1 1 1 -1 -1"));
        assert_eq!(record.job.outcome, Outcome::Killed);
        assert_eq!((record.job.launch, record.job.finish), (None, Some(15_000)));
        assert!(record.tasks[0].attempts.is_empty());
    }
    let ran = job("1 10 5 7 4 -1 -1 4 -1 -1 5 1 1 1 1 1 -1 -1");
    assert_eq!((ran.job.finish, ran.tasks[0].attempts.len()), (Some(22_000), 1));
}

#[test]
fn parts_of_a_job_are_counted_and_left_out() {
    let part = |status| format!("1 10 5 7 4 -1 -1 4 -1 -1 {status} 1 1 1 1 1 -1 -1\n");
    let text: String = [1, 2, 2, 3, 4].map(part).concat();
    let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
    assert_eq!((found.jobs.len(), found.skipped["partial-execution"]), (1, 4));
}

#[test]
fn the_processors_are_spread_over_the_nodes() {
    let machines = |header: &str| {
        let found = Collected::read(&FORMAT, header.as_bytes()).unwrap();
        assert_eq!(found.nodes.is_empty(), found.skipped.contains_key("file-without-machines"), "{header}");
        found.nodes.into_iter().map(|node| (node.host, node.cpu.unwrap())).collect::<Vec<_>>()
    };
    let node = |name: &str, cpu| (name.to_owned(), cpu);
    assert_eq!(
        machines("; MaxNodes: 2\n; MaxProcs: 5 (with the login node)\n"),
        [node("node1", 3_000), node("node2", 2_000)]
    );
    assert_eq!(machines(";MaxProcs: 2\n"), [node("node1", 1_000), node("node2", 1_000)]);
    assert_eq!(machines("; MaxNodes: 1\n"), [node("node1", 1_000)]);
    assert_eq!(machines("; MaxNodes: 10\n; MaxProcs: 10\n")[9], node("node10", 1_000));
    assert_eq!(machines("; MaxNodes: 0\n; MaxProcs: unknown\n"), []);
    assert_eq!(machines("; MaxProcs: 99999999999\n"), []);
    assert_eq!(machines("; MaxProcs: 99999999999999999999\n"), []);
}

#[test]
fn a_log_has_as_many_machines_as_the_limit_and_otherwise_none() {
    let found = [MAX_NODES, MAX_NODES + 1].map(|nodes| {
        let text = format!("; MaxNodes: {nodes}\n; MaxProcs: {nodes}\n1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n");
        let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
        (found.jobs.len(), found.nodes.len() as u64, found.skipped.get("file-without-machines").copied())
    });
    assert_eq!(found, [(1, MAX_NODES, None), (1, 0, Some(1))]);
}

#[test]
fn a_log_keeps_as_many_names_of_queues_as_the_limit_and_counts_the_rest() {
    let queues: String = (0..=MAX_NAMES).map(|number| format!("; Queue: {number} queue-{number}\n")).collect();
    // One that is known comes again, and is no name more.
    let text = format!("; MaxProcs: 4\n{queues}; Queue: 0 again\n");
    let last = MAX_NAMES - 1;
    let job = |number: usize, queue: usize| format!("{number} 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 {queue} 1 -1 -1\n");
    let found = Collected::read(&FORMAT, (text + &job(1, last) + &job(2, MAX_NAMES)).as_bytes()).unwrap();
    let queues: Vec<_> = found.jobs.iter().map(|record| record.job.queue.clone()).collect();
    assert_eq!(queues, [Some(format!("queue-{last}")), Some(MAX_NAMES.to_string())]);
    assert_eq!(found.skipped, [("too-many-names".to_owned(), 1)].into());
}

#[test]
fn damaged_lines_are_skipped_and_counted() {
    let whole = "1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n";
    let mut text = whole.to_owned();
    for damaged in [
        "2 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1\n",
        "3 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1 7 7 7 7 7 7 7\n",
        "4 0 1 x 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n",
        "5 0 inf 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n",
        "-1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n",
    ] {
        text += damaged;
    }
    text += &"7 ".repeat(3 * MAX_LINE);
    text += "\n;    #   sub  wait\n\n8 1e300 1e300 1e300 1e300 1e300 1e300 1 -1 -1 1 1 1 1 1 1 -1 -1";
    let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
    let ids: Vec<_> = found.jobs.iter().map(|record| record.job.job_id.as_str()).collect();
    assert_eq!(ids, ["1", "8"]);
    assert_eq!(found.skipped["damaged-line"], 6);
    assert_eq!(found.jobs[1].job.submit, None, "beyond what a table can hold");
}

#[test]
fn no_damage_makes_it_panic() {
    let Some(bytes) = read_shared("swf/opendc-trace.swf") else { return };
    each_damage(&bytes, 300, |damaged| {
        sniff(damaged);
        Collected::read(&FORMAT, damaged).unwrap();
    });
}

#[test]
fn sniffs_by_content() {
    let line = "1 0 5 100 16 -1 -1 16 100 -1 1 1 1 -1 1 -1 -1 -1\n";
    assert!(sniff(line.as_bytes()));
    assert!(sniff(line.trim_end().as_bytes()));
    assert!(sniff(format!("; Version: 2.2\n;\n\n{line}damaged\n{line}cut").as_bytes()));
    assert!(!sniff(b""));
    assert!(!sniff(b"; Version: 2.2\n"));
    assert!(!sniff(b"job0\t1\t1\t2\t3\t4\n"));
    assert!(!sniff(line.replace(' ', ",").as_bytes()));
}

/// A header that names three further fields, and the beginning of a job of 8 processors with 4 KB of memory for each.
const EXTENDED: &str = "; MaxNodes: 4\n; MaxProcs: 32\n;  0: job_id\n; 18: used_GPUs (all nodes)\n; 19: soft_walltime\n\
                        ; 20: required_properties\n";
const EIGHT: &str = "1 10 5 7 8 2 3 8 9 4 1 1 1 1 1 1 -1 -1";

fn extended(further: &str) -> Collected {
    let bytes = format!("{EXTENDED}{EIGHT} {further}\n");
    let mut found = Collected { counters: true, ..Collected::default() };
    read(&mut bytes.as_bytes(), "test.swf", &mut found).unwrap();
    found
}

#[test]
fn machines_and_gpus_give_the_instances() {
    let kilobytes = |n: i64| Some(n * 1_024);
    for (further, instances, cpus, memory, resources, machines) in [
        ("-1 -1 -1", 8, 1, kilobytes(4), None, None),
        ("0 -1 all", 8, 1, kilobytes(4), None, None),
        ("2 -1 all", 2, 4, kilobytes(16), Some("gres/gpu=1"), None),
        ("3 -1 all", 1, 8, kilobytes(32), Some("gres/gpu=3"), None),
        ("4 -1 all:2x4", 2, 4, kilobytes(4), Some("gres/gpu=2"), Some(2)),
        ("-1 -1 all:8x1", 8, 1, kilobytes(4), None, Some(8)),
    ] {
        let found = extended(further);
        let task = &found.jobs[0].tasks[0].task;
        assert_eq!((task.instances, task.cpu_request), (Some(instances), Some(cpus * 1_000)), "{further}");
        assert_eq!((task.memory_request, task.resources.as_deref()), (memory, resources), "{further}");
        assert_eq!((task.machines, task.exclusive), (machines, None), "{further}");
        let attempt = &found.jobs[0].tasks[0].attempts[0];
        assert_eq!(attempt.cpu_ms, Some(8 * 2_000), "{further}");
        assert_eq!(attempt.physical_memory, kilobytes(3 * machines.unwrap_or(8)), "{further}");
        assert!(found.skipped.is_empty(), "{further}: {:?}", found.skipped);
    }
}

#[test]
fn the_rest_of_the_further_fields_is_kept_or_counted() {
    let found = extended("0 600 big:excl");
    let (job, task) = (&found.jobs[0].job, &found.jobs[0].tasks[0].task);
    assert_eq!((job.features.as_deref(), task.exclusive, task.machines), (Some("big"), Some(true), None));
    let counters: Vec<_> = found.jobs[0].counters.iter().map(|one| (one.name.as_str(), one.value)).collect();
    assert_eq!(counters, [("soft_walltime", 600)]);
    for (further, cause) in [
        ("x -1 all", "damaged-further-field"),
        ("1.5 -1 all", "damaged-further-field"),
        ("-1 -1 all:shared", "damaged-further-field"),
        ("-1 -1 all:3x2", "processors-unlike-properties"),
        ("-1 -1 all:1x9", "processors-beyond-machine"),
        ("5 -1 all:2x4", "uneven-gpus-rounded-up"),
        ("-1 -1 all text", "line-with-further-fields"),
    ] {
        let found = extended(further);
        assert_eq!((found.jobs.len(), found.skipped.get(cause)), (1, Some(&1)), "{further}: {:?}", found.skipped);
    }
    // Without a name, and without counters.
    let found = Collected::read(&FORMAT, format!("; MaxProcs: 8\n{EIGHT} 7 -1\n").as_bytes()).unwrap();
    assert_eq!(found.skipped, [("line-with-further-fields".to_owned(), 1)].into());
    let found = Collected::read(&FORMAT, format!("; MaxProcs: 8\n{EIGHT} -1 -1\n").as_bytes()).unwrap();
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
}

/// The first damage of a log, as the error about it says it.
#[test]
fn the_first_damaged_line_is_named() {
    #[derive(Default)]
    struct Damages(Vec<Damage>);

    impl Sink for Damages {
        fn job(&mut self, _: JobRecord) -> Result<(), Error> {
            Ok(())
        }

        fn node(&mut self, _: NodeRow) {}

        fn skip(&mut self, _: Cause, _: u64) {}

        fn damage(&mut self, damage: &dyn Fn() -> Damage) {
            self.0.push(damage());
        }
    }

    for (line, found) in [
        ("1 0 0 ten 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1", "`ten` as field 4 (run time)"),
        ("-1 0 0 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1", "`-1` as field 1 (job number)"),
        ("1 0 0 10 2", "5 numbers"),
        (format!("{EIGHT} 1 2 3 4 5 6 7").as_str(), "25 numbers"),
        (" ".repeat(MAX_LINE + 1).as_str(), "a longer one"),
    ] {
        let mut sink = Damages::default();
        read(&mut format!("; MaxProcs: 4\n{line}\n").as_bytes(), "test.swf", &mut sink).unwrap();
        let [damage] = sink.0.try_into().unwrap();
        assert_eq!((damage.place.as_str(), damage.found.as_str()), ("line 2: ", found));
    }
}

#[test]
fn no_damage_of_further_fields_makes_it_panic() {
    let text = format!("{EXTENDED}{EIGHT} 4 600 all:excl:2x4\n{EIGHT} 3 -1 big\n");
    each_damage(text.as_bytes(), 400, |damaged| {
        sniff(damaged);
        Collected::read(&FORMAT, damaged).unwrap();
    });
}
