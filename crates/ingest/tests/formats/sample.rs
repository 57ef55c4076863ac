//! The bundled sample history is what the generator makes of traces/sample-history.toml, to the byte.
//!
//! `UPDATE_SAMPLE=1 cargo test --workspace --test formats sample` writes it anew after a wanted change.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::history_writer::{JobTracker, write_history};
use crate::support::sample_run::sample_run;
use resched_tables::model::{AttemptRow, JobRecord, Locality, Outcome, TaskKind};
use resched_workload::Workload;

fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces")
}

fn sample() -> (Workload, Vec<JobRecord>) {
    let workload = Workload::read(&traces().join("sample-history.toml")).unwrap();
    let records = sample_run(&workload).unwrap();
    (workload, records)
}

fn attempts(records: &[JobRecord]) -> impl Iterator<Item = &AttemptRow> {
    records.iter().flat_map(|record| &record.tasks).flat_map(|task| &task.attempts)
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn the_bundled_history_is_what_the_generator_writes() {
    let (workload, records) = sample();
    let history = workload.history.unwrap();
    let tracker = JobTracker { host: history.jobtracker, start_ms: history.start_ms };
    let made = tempfile::tempdir().unwrap();
    write_history(&records, &tracker, made.path()).unwrap();

    let bundled = traces().join("sample-history");
    if std::env::var_os("UPDATE_SAMPLE").is_some() {
        if bundled.exists() {
            fs::remove_dir_all(&bundled).unwrap();
        }
        write_history(&records, &tracker, &bundled).unwrap();
    }
    let (made, bundled) = (files(made.path()), files(&bundled));
    assert_eq!(made.keys().collect::<Vec<_>>(), bundled.keys().collect::<Vec<_>>());
    for (name, bytes) in &made {
        assert!(bundled[name] == *bytes, "{name} differs; if that is wanted, run this test with UPDATE_SAMPLE=1");
    }
    let size: usize = bundled.values().map(Vec::len).sum();
    assert!(size < 400_000, "{size} bytes");
}

#[test]
fn the_sample_looks_like_a_cluster() {
    let (workload, records) = sample();
    let cluster = workload.cluster();
    let count = |outcome, kind| attempts(&records).filter(|row| row.outcome == outcome && row.kind == kind).count();
    let tasks = |kind| records.iter().flat_map(|record| &record.tasks).filter(|task| task.task.kind == kind).count();
    assert_eq!(count(Outcome::Success, TaskKind::Map), tasks(TaskKind::Map), "each map succeeds once");
    assert_eq!(count(Outcome::Success, TaskKind::Reduce), tasks(TaskKind::Reduce), "each reduce succeeds once");
    for outcome in [Outcome::Failed, Outcome::Killed] {
        assert!((1..15).contains(&count(outcome, TaskKind::Map)), "a few maps are {outcome}");
    }
    for locality in [Locality::Node, Locality::Rack, Locality::Off] {
        assert!(attempts(&records).any(|row| row.locality == Some(locality)), "some maps run at distance {locality}");
    }
    let users: BTreeSet<_> = records.iter().map(|record| record.job.user.clone().unwrap()).collect();
    assert_eq!(users.len(), 3);

    // No machine runs more than its slots hold.
    for (kind, slots) in [(TaskKind::Map, cluster.map_slots), (TaskKind::Reduce, cluster.reduce_slots)] {
        let mut changes: BTreeMap<&str, Vec<(i64, i64)>> = BTreeMap::new();
        for row in attempts(&records).filter(|row| row.kind == kind) {
            let machine = changes.entry(row.host.as_deref().unwrap()).or_default();
            machine.extend([(row.start.unwrap(), 1), (row.finish.unwrap(), -1)]);
        }
        for (host, mut changes) in changes {
            changes.sort_unstable();
            let mut running = 0;
            for (time, change) in changes {
                running += change;
                assert!(running <= i64::from(slots), "{host} runs {running} tasks of kind {kind} at {time}");
            }
        }
    }
}

#[test]
fn times_are_in_order() {
    for JobRecord { job, tasks, .. } in &sample().1 {
        let last_map =
            tasks.iter().filter(|task| task.task.kind == TaskKind::Map).filter_map(|task| task.task.finish).max();
        assert!(job.submit < job.launch && job.launch < job.finish, "{job:?}");
        for task in tasks {
            assert!(task.task.start >= job.launch && task.task.finish <= job.finish, "{:?}", task.task);
            for (number, row) in (0..).zip(&task.attempts) {
                assert_eq!(row.attempt, number);
                assert!(row.start < row.finish && row.finish <= task.task.finish, "{row:?}");
                if row.kind == TaskKind::Reduce && row.outcome == Outcome::Success {
                    assert!(row.shuffle_finish >= last_map && row.sort_finish <= row.finish, "{row:?}");
                }
            }
            for pair in task.attempts.windows(2) {
                assert!(pair[0].finish <= pair[1].start, "{pair:?}");
            }
        }
    }
}

/// This makes the sample worth replaying: the small jobs waited for the large ones, far longer than they then ran.
#[test]
fn small_jobs_queue_behind_large_ones() {
    let (_, records) = sample();
    let small: Vec<_> = records.iter().filter(|record| record.job.declared_maps < Some(12)).collect();
    let waited = |record: &JobRecord| {
        let first = record.tasks.iter().filter_map(|task| task.task.start).min().unwrap();
        (first - record.job.submit.unwrap(), record.job.finish.unwrap() - first)
    };
    let queued = small.iter().filter(|record| waited(record).0 > 2 * waited(record).1).count();
    assert_eq!(small.len(), 12);
    assert!(queued >= 6, "{queued} of 12 small jobs waited more than twice as long as they ran");
}

#[test]
fn a_sample_run_needs_its_section_and_slots() {
    let error = sample_run(&Workload::read(&traces().join("triple-queue.toml")).unwrap()).unwrap_err();
    assert!(error.is_request() && error.to_string().contains("[history]"), "{error}");
}
