//! The accounting logs of PBS, Torque, LSF and Grid Engine. `accounting/make.py` wrote them from made jobs, and those jobs beside them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use resched_ingest::{Options, ingest_into};
use resched_tables::model::{JobRecord, Outcome};
use resched_tables::placed;
use resched_tables::sink::Collected;
use serde::Deserialize;

/// What is expected of a log.
#[derive(Debug, Deserialize)]
struct Log {
    /// The processors of the largest machine.
    largest: i64,
    jobs: Vec<Expected>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Expected {
    id: String,
    user: Option<String>,
    queue: Option<String>,
    group: Option<String>,
    name: Option<String>,
    submit: i64,
    finish: Option<i64>,
    outcome: String,
    limit: Option<i64>,
    instances: Option<i64>,
    cpu: Option<i64>,
    memory: Option<i64>,
    gpus: u64,
    tries: Vec<(i64, i64, String)>,
    hosts: Vec<String>,
}

impl Expected {
    fn of(record: &JobRecord) -> Self {
        let JobRecord { job, tasks, .. } = record;
        let [task] = tasks.as_slice() else { panic!("{tasks:?}") };
        let row = &task.task;
        let last = task.attempts.last();
        let places = last.and_then(|one| one.hosts.as_deref()).and_then(placed::places).unwrap_or_default();
        let mut hosts: Vec<String> = places.into_iter().map(|(host, _)| host).collect();
        hosts.extend(last.and_then(|one| one.host.clone()));
        hosts.sort();
        let gpus = row.resources.as_deref().and_then(|text| text.strip_prefix("gres/gpu=")?.parse().ok());
        assert_eq!(job.requested_containers, row.instances);
        Self {
            id: job.job_id.clone(),
            user: job.user.clone(),
            queue: job.queue.clone(),
            group: job.group.clone(),
            name: job.name.clone(),
            submit: job.submit.unwrap(),
            finish: job.finish,
            outcome: job.outcome.to_string(),
            limit: job.requested_time,
            instances: row.instances,
            cpu: row.cpu_request,
            memory: row.memory_request,
            gpus: gpus.unwrap_or(0),
            tries: task
                .attempts
                .iter()
                .map(|one| (one.start.unwrap(), one.finish.unwrap(), one.outcome.to_string()))
                .collect(),
            hosts,
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/formats/accounting")
}

fn read(paths: &[PathBuf]) -> Collected {
    let mut found = Collected::default();
    ingest_into(paths, &mut found, &Options::default(), &mut ()).unwrap();
    found
}

fn logs() -> BTreeMap<String, Log> {
    serde_json::from_slice(&fs::read(folder().join("expected.json")).unwrap()).unwrap()
}

#[test]
fn each_log_holds_the_jobs_that_it_was_written_from() {
    for (name, log) in logs() {
        let found = read(&[folder().join(&name)]);
        let jobs: Vec<Expected> = found.jobs.iter().map(Expected::of).collect();
        let submits: Vec<i64> = jobs.iter().map(|job| job.submit).collect();
        assert!(submits.is_sorted(), "{name}");
        let by_id = |jobs: Vec<Expected>| jobs.into_iter().map(|job| (job.id.clone(), job)).collect::<BTreeMap<_, _>>();
        let (jobs, expected) = (by_id(jobs), by_id(log.jobs));
        assert_eq!(jobs.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{name}");
        for (id, job) in &jobs {
            assert_eq!(job, &expected[id], "{name}");
        }
        let cpus: Vec<i64> = found.nodes.iter().filter_map(|node| node.cpu).collect();
        assert_eq!(cpus.len(), 8, "{name}");
        assert_eq!(cpus.iter().max(), Some(&(log.largest * 1_000)), "{name}");
    }
}

/// One log of a month and one for each day are the same trace, in any order of the days.
#[test]
fn a_log_may_be_cut_into_files_of_any_order() {
    let folder = tempfile::tempdir().unwrap();
    for (name, _) in logs() {
        let text = fs::read_to_string(self::folder().join(&name)).unwrap();
        let whole = read(&[self::folder().join(&name)]);
        let lines: Vec<&str> = text.lines().collect();
        let mut parts = Vec::new();
        for (number, part) in lines.chunks(lines.len() / 5 + 1).enumerate() {
            parts.push(folder.path().join(format!("{name}-{number}")));
            fs::write(&parts[number], part.join("\n")).unwrap();
        }
        for turn in 0..3 {
            parts.rotate_left(turn);
            let found = read(&parts);
            assert_eq!((&found.jobs, &found.nodes), (&whole.jobs, &whole.nodes), "{name}");
        }
    }
}

#[test]
fn what_is_left_out_is_counted() {
    let skipped = |name: &str| read(&[folder().join(name)]).skipped;
    let of = |skipped: &BTreeMap<String, u64>, cause: &str| skipped.get(cause).copied().unwrap_or(0);
    let pbs = skipped("pbspro");
    assert_eq!((of(&pbs, "other-record"), of(&pbs, "parent-of-an-array")), (1, 1));
    assert_eq!(of(&pbs, "machine-sized-by-its-use"), 8);
    assert_eq!(of(&skipped("sge"), "hosts-not-in-source"), 0);
}

#[test]
fn outcomes_of_tries_that_were_given_back_are_evictions() {
    let found = read(&[folder().join("torque")]);
    let attempts = found.jobs.iter().flat_map(|record| &record.tasks).flat_map(|task| &task.attempts);
    let evicted = attempts.filter(|attempt| attempt.outcome == Outcome::Evicted).count();
    let expected = logs()["torque"].jobs.iter().flat_map(|job| &job.tries).filter(|one| one.2 == "EVICTED").count();
    assert!(evicted == expected && expected > 2, "{evicted} of {expected}");
}
