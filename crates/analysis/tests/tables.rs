//! From tables on disk to metrics, on a small run whose numbers are worked out by hand.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use resched_analysis::runs::inspect::inspect;
use resched_analysis::statistics::compare::{Basis, How, JOB_METRICS, compare};
use resched_analysis::statistics::distribution::Dominance;
use resched_analysis::statistics::practical::{Matters, Ratio};
use resched_analysis::{Details, Run, Summary};
use resched_tables::model::{
    AttemptRow, JobRecord, JobRow, Locality, NodeRow, Outcome, SplitRow, TaskKind, TaskRecord, TaskRow,
};
use resched_tables::run::{FORMAT_VERSION, RunCluster, RunInfo};
use resched_tables::store::{Inventory, Manifest, TableWriter, Trace, TraceWriter, contents};

fn job(id: &str, submit: i64, finish: i64) -> JobRow {
    JobRow {
        job_id: id.to_owned(),
        submit: Some(submit),
        finish: Some(finish),
        outcome: Outcome::Success,
        ..JobRow::default()
    }
}

fn attempt(job: &str, task: &str, kind: TaskKind, span: (i64, i64)) -> AttemptRow {
    AttemptRow {
        job_id: job.to_owned(),
        task_id: format!("{job}_{task}"),
        kind,
        start: Some(span.0),
        finish: Some(span.1),
        outcome: Outcome::Success,
        locality: (kind == TaskKind::Map).then_some(Locality::Node),
        ..AttemptRow::default()
    }
}

/// Job A: maps 1,000–4,000 and 2,000–6,000, the second tried in vain at 1,000–1,500 off its rack; reduces launched at 5,000
/// (early), 6,000 (as the last map completes) and 9,000 (failed, again at 9,500). Job B: one map, never late.
fn write_run(dir: &Path) {
    let failed = AttemptRow {
        outcome: Outcome::Failed,
        locality: Some(Locality::Off),
        ..attempt("A", "m1", TaskKind::Map, (1_000, 1_500))
    };
    let again = AttemptRow { attempt: 1, ..attempt("A", "m1", TaskKind::Map, (2_000, 6_000)) };
    let reduce = |task, start, shuffled, finish| AttemptRow {
        shuffle_finish: shuffled,
        ..attempt("A", task, TaskKind::Reduce, (start, finish))
    };
    let lost = AttemptRow { outcome: Outcome::Failed, ..reduce("r2", 9_000, None, 9_400) };
    let attempts = [
        attempt("A", "setup", TaskKind::Setup, (500, 900)),
        AttemptRow { shuffle_finish: Some(i64::MIN), ..attempt("A", "m0", TaskKind::Map, (1_000, 4_000)) },
        failed,
        again,
        reduce("r0", 5_000, Some(6_500), 8_000),
        reduce("r1", 6_000, Some(7_000), 9_000),
        lost,
        AttemptRow { attempt: 1, ..reduce("r2", 9_500, None, 10_000) },
        attempt("B", "m0", TaskKind::Map, (4_000, 5_000)),
        attempt("no-such-job", "m0", TaskKind::Map, (0, 900)),
    ];
    let mut table = TableWriter::<JobRow>::create(dir).unwrap();
    for row in [job("A", 0, 10_000), job("B", 3_000, 5_000)] {
        table.append(&row).unwrap();
    }
    let jobs = table.finish().unwrap();
    let mut table = TableWriter::<AttemptRow>::create(dir).unwrap();
    for row in &attempts {
        table.append(row).unwrap();
    }
    let (rows, files) = contents([jobs, table.finish().unwrap()]);
    let info = RunInfo {
        format_version: FORMAT_VERSION,
        label: "fifo".to_owned(),
        policy: "fifo".to_owned(),
        cluster: RunCluster { nodes: 1, racks: 1, map_slots: 2, reduce_slots: 2, ..RunCluster::default() },
        events: 42,
        rows,
        files,
        ..RunInfo::default()
    };
    info.write(dir).unwrap();
}

#[test]
fn the_metrics_of_a_small_run() {
    let dir = tempfile::tempdir().unwrap();
    write_run(dir.path());
    let run = Run::open(dir.path()).unwrap();
    let [a, b] = &run.jobs[..] else { panic!("two jobs, not {:?}", run.jobs) };
    assert_eq!((a.completion, a.waiting, a.execution), (Some(10_000), Some(1_000), Some(9_000)));
    assert_eq!((b.completion, b.waiting, b.execution), (Some(2_000), Some(1_000), Some(1_000)));
    // The last map completes at 6,000: r1 is launched then, r2 3,000 later (its first try counts), r0 was early.
    // Job B has no reduces.
    assert_eq!((a.starvation, b.starvation), (Some(1_500.0), None));
    // Longest map 4,000; longest tail 2,000 (r1 after its shuffle).
    assert_eq!((a.slowdown, b.slowdown), (Some(10_000.0 / 6_000.0), Some(2.0)));
    assert_eq!((a.map_launches, b.map_launches), ([2, 0, 1], [1, 0, 0]));
    assert_eq!((a.tasks_done, a.maps_done, a.reduces_done, b.tasks_done), (5, 2, 3, 1));
    // 10,000 ms over an execution of 9,000, which is bounded by 10,000.
    assert_eq!((a.bounded_slowdown, b.bounded_slowdown), (Some(1.0), Some(1.0)));
    assert_eq!(a.slot_time, 400 + 3_000 + 500 + 4_000 + 3_000 + 3_000 + 400 + 500);
    assert_eq!(
        run.skipped,
        BTreeMap::from([("attempt-of-unknown-job".to_owned(), 1), ("implausible-time".to_owned(), 1)])
    );
}

#[test]
fn the_summary_has_the_fields_that_programs_read() {
    let dir = tempfile::tempdir().unwrap();
    write_run(dir.path());
    let run = Run::open(dir.path()).unwrap();
    let expected = serde_json::json!({
        "policy": "fifo", "params": {}, "jobs_finished": 2, "jobs_counted": 2, "makespan_ms": 10_000, "mean_completion_ms": 6_000.0,
        "median_completion_ms": 6_000.0, "p95_completion_ms": 9_600.0, "mean_waiting_ms": 1_000.0, "p95_waiting_ms": 1_000.0, "mean_starvation_ms": 1_500.0,
        "locality": {"node": 3, "rack": 0, "off": 1}, "tasks": 6, "events": 42,
    });
    assert_eq!(serde_json::to_value(Summary::of(&run)).unwrap(), expected);
    let details = Details::of(&run);
    // 3,000 + 500 + 4,000 + 1,000 of 2 × 10,000 slot-ms.
    assert_eq!(details.map_utilisation, Some(0.425));
    assert_eq!(details.mean_queue_length, Some(0.2));
    assert_eq!(details.jobs_per_hour, Some(720.0));
}

#[test]
fn a_run_compared_with_itself_is_equal() {
    let dir = tempfile::tempdir().unwrap();
    write_run(dir.path());
    let jobs = Run::open(dir.path()).unwrap().jobs;
    let how = How { matters: Matters::default(), seed: 1, answerable: true };
    let found = compare(&[(&jobs, &jobs)], &JOB_METRICS[1], &how);
    assert_eq!((found.jobs, found.ratio_of_means), (2, Some(Ratio::bare(1.0))));
    assert_eq!((found.basis, found.dominance), (Basis::TheseJobsOnly(1), Some(Dominance::Equal)));
}

#[test]
fn a_cut_table_or_a_foreign_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Run::open(dir.path()).unwrap_err().to_string().contains("holds no run.json"));
    write_run(dir.path());
    TableWriter::<JobRow>::create(dir.path()).unwrap().finish().unwrap();
    let message = || Run::open(dir.path()).unwrap_err().to_string();
    assert!(message().contains("jobs.parquet") && message().contains("bytes, found"), "{}", message());
    // Without hashes, the number of rows still shows it.
    let info = RunInfo { files: Inventory::new(), ..resched_tables::run::read(dir.path()).unwrap() };
    info.write(dir.path()).unwrap();
    assert!(message().contains("expected 2 rows, found 0"), "{}", message());
}

fn write_trace(dir: &Path) {
    let mut writer = TraceWriter::create(dir).unwrap();
    let task = |id: &str, kind, start, attempts: Vec<AttemptRow>| TaskRecord {
        task: TaskRow {
            job_id: "A".to_owned(),
            task_id: format!("A_{id}"),
            kind,
            start: Some(start),
            ..TaskRow::default()
        },
        splits: vec![SplitRow { task_id: format!("A_{id}"), ..SplitRow::default() }],
        attempts,
    };
    let sized = attempt("A", "m0", TaskKind::Map, (90, 200));
    let unknown = AttemptRow { locality: None, ..attempt("A", "m1", TaskKind::Map, (120, 220)) };
    let record = JobRecord {
        job: JobRow { input_bytes: Some(164), ..job("A", 50, 300) },
        tasks: vec![
            task("m0", TaskKind::Map, 100, vec![sized.clone(), sized]),
            task("m1", TaskKind::Map, 100, vec![unknown]),
            task("r0", TaskKind::Reduce, 250, vec![]),
        ],
        counters: vec![],
    };
    writer.job(&record).unwrap();
    for host in ["n1", "n1", "n2"] {
        writer.node(&NodeRow { host: host.to_owned(), ..NodeRow::default() }).unwrap();
    }
    writer
        .finish(Manifest { skipped: BTreeMap::from([("damaged-record".to_owned(), 3)]), ..Manifest::default() })
        .unwrap();
}

#[test]
fn a_trace_is_inspected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    write_trace(&path);
    let found = serde_json::to_value(inspect(&Trace::open(&path).unwrap()).unwrap()).unwrap();
    for (field, expected) in [
        ("jobs", serde_json::json!(1)),
        ("job_outcome", serde_json::json!({"SUCCESS": 1})),
        ("tasks", serde_json::json!({"map": 2, "reduce": 1, "setup": 0, "cleanup": 0, "master": 0, "other": 0})),
        ("attempts", serde_json::json!({"map/SUCCESS": 3})),
        ("locality", serde_json::json!({"node": 2, "rack": 0, "off": 0, "unknown": 1})),
        ("splits", serde_json::json!(3)),
        ("nodes", serde_json::json!(2)),
        ("min_submit", serde_json::json!(50)),
        ("max_finish", serde_json::json!(300)),
        ("map_input_bytes", serde_json::json!(164)),
        ("skipped", serde_json::json!({"damaged-record": 3})),
        (
            "oddities",
            serde_json::json!({"attempt-before-its-task": 2, "attempt-seen-before": 1, "task-without-attempts": 1}),
        ),
    ] {
        assert_eq!(found.get(field), Some(&expected), "{field}");
    }
}

#[test]
fn what_really_ran_has_the_same_metrics() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    write_trace(&path);
    let run = Run::open(&path).unwrap();
    assert_eq!(run.label, "observed");
    assert_eq!(run.jobs.first().unwrap().waiting, Some(40));
    assert_eq!(Summary::of(&run).events, None);
}
