//! One world, replayed into every sink, under policies of the registry and one of the test's own.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use resched_replay::hadoop::{self, Kind, Offer, Reach};
use resched_replay::{
    ClusterConfig, Engine, Files, Memory, Nothing, PolicySpec, RunFolders, RunTrace, Scheduler, Setup, Source, World,
};
use resched_sim::Violation;
use resched_tables::engine::RunEngine;
use resched_tables::model::{
    AttemptRow, JobRecord, JobRow, Locality, NodeRow, Outcome, SplitRow, TaskKind, TaskRecord, TaskRow,
};
use resched_tables::sink::Collected;
use resched_tables::store::{Trace, read_table};
use resched_workload::{Workload, generate, write_trace};

fn workload() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/sample-history.toml")
}

fn world(seed: u64) -> World {
    World::open(&Source::open(workload()).unwrap(), Setup { seed, ..Setup::default() }).unwrap()
}

fn policy(text: &str) -> PolicySpec {
    PolicySpec::parse(text).unwrap()
}

/// The first job gets every slot that it can use.
struct FirstJob;

impl hadoop::Policy for FirstJob {
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        for job in offer.view().jobs().to_vec() {
            while offer.free(Kind::Map) > 0 && offer.launch_map(job, Reach::Any)?.is_some() {}
            while offer.free(Kind::Reduce) > 0 && offer.launch_reduce(job)? {}
        }
        Ok(())
    }
}

#[test]
fn files_and_memory_hold_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    let world = world(1);
    for name in ["fifo", "dress", "fair+hadoop-naive"] {
        let policy = policy(name);
        let memory = world.replay(&policy, Memory).unwrap();
        let files = Files::to(dir.path().join(name)).with_decisions(true);
        let written = world.replay(&policy, files).unwrap();
        let mut info = memory.info.clone();
        assert_eq!(info.rows.remove("resources"), Some(0));
        // Only files have a list with hashes.
        assert_eq!(
            written.info.files.keys().collect::<Vec<_>>(),
            ["attempts.parquet", "decisions.parquet", "jobs.parquet", "reasons.parquet"]
        );
        info.files.clone_from(&written.info.files);
        assert_eq!(written.info, info);
        assert_eq!(rows::<JobRow>(&dir.path().join(name)), memory.tables.jobs);
        assert_eq!(rows::<AttemptRow>(&dir.path().join(name)), memory.tables.attempts);
        assert_eq!(world.replay(&policy, Nothing).unwrap(), info.events);
    }
}

fn rows<R: resched_tables::store::columns::Row>(dir: &Path) -> Vec<R> {
    let table = read_table::<R>(dir, &resched_tables::run::read(dir).unwrap().files).unwrap();
    resched_tables::store::Rows::new(table.batches()).collect::<Result<_, _>>().unwrap()
}

/// What a workload file makes in memory is what its trace on disk holds, identity included.
#[test]
fn a_workload_is_replayed_as_its_trace_would_be() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    write_trace(&workload(), 3, &path).unwrap();
    let trace = Trace::open(&path).unwrap();
    let fingerprint = trace.fingerprint().unwrap();
    let mut other_machines = ClusterConfig::default();
    other_machines.nodes.count = Some(5);
    for cluster in [ClusterConfig::default(), other_machines] {
        let setup = Setup { cluster, seed: 3, ..Setup::default() };
        let on_disk = World::open(&Source::trace(trace.clone()).unwrap(), setup.clone()).unwrap();
        let in_memory = World::open(&Source::open(workload()).unwrap(), setup).unwrap();
        for policy in ["delay:D=4", "batch-fair"].map(policy) {
            let on_disk = on_disk.replay(&policy, Memory).unwrap();
            let in_memory = in_memory.replay(&policy, Memory).unwrap();
            assert_eq!(on_disk.tables, in_memory.tables);
            assert_eq!((&in_memory.info.trace.sha256, &on_disk.info.trace.sha256), (&fingerprint, &fingerprint));
            assert_eq!(on_disk.info.skipped, in_memory.info.skipped);
        }
    }
}

#[test]
fn tables_in_memory_are_replayed_under_the_name_they_are_given() {
    let mut tables = Collected::default();
    generate(&Workload::read(&workload()).unwrap(), 1, &mut tables).unwrap();
    let named = RunTrace { path: "mine".to_owned(), sha256: "0".to_owned(), ..RunTrace::default() };
    let source = Source::tables(tables, named.clone());
    assert_eq!(source.engine(), Engine::Hadoop);
    let run = World::open(&source, Setup::default()).unwrap().replay(&policy("fair"), Memory).unwrap();
    assert_eq!(run.info.trace, RunTrace { jobs: Some(15), ..named });
    assert_eq!(run.tables, world(1).replay(&policy("fair"), Memory).unwrap().tables);
}

#[test]
fn your_own_policy_is_replayed_like_one_of_the_registry() {
    let world = world(1);
    let run = world.replay(Scheduler::Hadoop("first", &mut FirstJob), Memory).unwrap();
    assert_eq!((run.info.label.as_str(), run.info.policy.as_str()), ("first", "first"));
    assert_eq!(run.tables.jobs.len() as u64, world.jobs(&policy("fifo")));
    assert!(run.tables.jobs.iter().all(|job| job.finish.is_some()));
}

#[test]
fn a_seed_is_a_world_of_its_own() {
    let fifo = policy("fifo");
    let first = world(1);
    let again = first.with_seed(2).replay(&fifo, Memory).unwrap();
    assert_eq!(again, world(2).replay(&fifo, Memory).unwrap());
    assert!(again.tables != first.replay(&fifo, Memory).unwrap().tables);
}

/// What a master does at the end of its job takes no container. So its row ends with its container, not with its job.
#[test]
fn no_node_holds_more_than_it_has_with_its_masters() {
    const ROOM: i64 = 4_096;
    let mut cluster = ClusterConfig::default();
    cluster.containers.memory_mb = Some(ROOM as u32);
    cluster.jobs.cleanup_time = 600_000;
    let world = World::open(&Source::open(workload()).unwrap(), Setup { cluster, ..Setup::default() }).unwrap();
    for name in ["yarn-fifo", "yarn-capacity", "yarn-fair", "yarn-capacity+yarn-default"] {
        let tables = world.replay(&policy(name), Memory).unwrap().tables;
        let mut steps: BTreeMap<&str, Vec<(i64, i64)>> = BTreeMap::new();
        let mut masters = 0;
        for row in &tables.attempts {
            let (start, finish) = (row.start.unwrap(), row.finish.unwrap());
            let size = if row.kind == TaskKind::Master { 2_048 } else { 1_024 };
            if start < finish {
                steps.entry(row.host.as_deref().unwrap()).or_default().extend([(start, size), (finish, -size)]);
            }
            if row.kind == TaskKind::Master {
                masters += 1;
                let job = tables.jobs.iter().find(|job| job.job_id == row.job_id).unwrap();
                // Its node calls once a second.
                let after = finish - (job.finish.unwrap() - 600_000);
                assert!((0..=1_000).contains(&after), "{name}: {row:?} of {job:?}");
            }
        }
        assert_eq!(masters, tables.jobs.len(), "{name}");
        for (host, mut steps) in steps {
            // What ends makes room for what starts.
            steps.sort_unstable();
            let held = steps.iter().scan(0, |held, (_, size)| {
                *held += size;
                Some(*held)
            });
            assert!(held.max() <= Some(ROOM), "{name}: {host}");
        }
    }
}

/// A speculative loser is killed at the next heartbeat of its node, though no job is left then.
#[test]
fn every_attempt_has_an_end() {
    let mut cluster = ClusterConfig::default();
    cluster.cost.slow_nodes.share = 0.2;
    cluster.cost.slow_nodes.factor = 8.0;
    let world = World::open(&Source::open(workload()).unwrap(), Setup { cluster, ..Setup::default() }).unwrap();
    for name in ["fair+late", "fifo+hadoop-naive", "yarn-fifo+yarn-default"] {
        let tables = world.replay(&policy(name), Memory).unwrap().tables;
        let killed = tables.attempts.iter().filter(|row| row.outcome == Outcome::Killed).count();
        assert!(killed > 0, "{name}: no backup won");
        assert!(tables.attempts.iter().all(|row| row.finish.is_some()), "{name}");
    }
}

#[test]
fn a_run_that_is_there_is_kept_if_it_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = policy("fifo");
    let write = |world: &World, decisions, resume| {
        let files = Files::to(dir.path().join("fifo")).with_decisions(decisions).resume(resume);
        world.replay(&fifo, files).unwrap().kept
    };
    let one = world(1);
    assert!(!write(&one, false, true), "there is none yet");
    assert!(write(&one, false, true));
    assert!(!write(&one, false, false), "not asked for");
    assert!(!write(&one, true, true), "it has no decisions");
    assert!(write(&one, false, true), "it has more than was asked for");
    assert!(!write(&world(2), false, true), "another seed");
}

#[test]
fn folders_are_checked_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("runs");
    let world = world(1);
    let twice = RunFolders::open(&out, &[policy("fifo"), policy("fifo")], &world).unwrap_err();
    assert!(twice.is_request() && twice.to_string().contains("listed twice"), "{twice}");
    assert!(!out.exists());
    let first = RunFolders::open(&out, &[policy("fair+hadoop-naive"), policy("delay:D=4")], &world).unwrap();
    let names: Vec<_> = first.dirs().iter().map(|dir| dir.path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["fair+hadoop-naive", "delay:D=4"]);
    let busy = RunFolders::open(&out, &[policy("fifo")], &world).unwrap_err();
    assert!(busy.to_string().contains("another resched command"), "{busy}");
    drop(first);
    assert!(!out.exists(), "nothing was written");
}

#[test]
fn runs_of_another_trace_do_not_stay_beside_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("R");
    let trace = |name: &str, seed| {
        let path = dir.path().join(name);
        write_trace(&workload(), seed, &path).unwrap();
        World::open(&Source::open(path).unwrap(), Setup::default()).unwrap()
    };
    let (one, other) = (trace("T", 1), trace("S", 2));
    let open = |name: &str, world: &World| RunFolders::open(&out, &[policy(name)], world).map(drop);
    one.replay(&policy("fifo"), Files::to(out.join("fifo"))).unwrap();
    open("fair", &one).unwrap();
    open("fifo", &other).expect("the run of the other trace is replaced");
    let error = open("fair", &other).unwrap_err();
    for part in ["fifo, a run of", "/T (", "/S (", "another --out"] {
        assert!(error.is_request() && error.to_string().contains(part), "{part}: {error}");
    }
    // Seeds of a workload file are one trace for a comparison.
    let seeds = dir.path().join("seeds");
    world(1).replay(&policy("fifo"), Files::to(seeds.join("fifo"))).unwrap();
    RunFolders::open(&seeds, &[policy("fair")], &world(2)).expect("another seed of the same workload");
}

#[test]
fn wrong_requests_are_reported_from_failures() {
    assert!(Source::open("no/such/trace").unwrap_err().is_request());
    let mut cluster = ClusterConfig::default();
    cluster.cost.host_factors.insert("nobody".to_owned(), 2.0);
    let world = World::open(&Source::open(workload()).unwrap(), Setup { cluster, ..Setup::default() }).unwrap();
    let error = world.check(&policy("fifo")).unwrap_err();
    assert!(error.is_request() && error.to_string().contains("`nobody`"), "{error}");
    let early = Setup { speedup: 2.0, ..Setup::default() };
    let world = World::open(&Source::open(workload()).unwrap(), early).unwrap();
    assert!(world.check(&policy("batch-fifo")).unwrap_err().is_request());
}

/// A task of a job with one attempt on a host, which prefers the host `a`.
fn task(job: &str, number: i64, kind: TaskKind, (host, run, outcome): (&str, i64, Outcome)) -> TaskRecord {
    let (job_id, task_id) = (job.to_owned(), format!("{job}/{number}"));
    let level = if host == "a" { Locality::Node } else { Locality::Off };
    TaskRecord {
        splits: vec![SplitRow { task_id: task_id.clone(), host: Some("a".to_owned()), ..SplitRow::default() }],
        attempts: vec![AttemptRow {
            job_id: job_id.clone(),
            task_id: task_id.clone(),
            kind,
            start: Some(0),
            finish: Some(run),
            host: Some(host.to_owned()),
            locality: Some(level),
            outcome,
            ..AttemptRow::default()
        }],
        task: TaskRow { job_id, task_id, kind, outcome, cpu_request: Some(1_000), ..TaskRow::default() },
    }
}

fn tables(engine: RunEngine, jobs: Vec<JobRecord>) -> World {
    let node = |host: &str| NodeRow { host: host.to_owned(), cpu: Some(4_000), ..NodeRow::default() };
    let nodes = ["a", "b"].map(node).to_vec();
    let tables = Collected { jobs, nodes, engine, ..Collected::default() };
    World::open(&Source::tables(tables, RunTrace::default()), Setup { assume: true, ..Setup::default() }).unwrap()
}

fn job(id: &str, outcome: Outcome, tasks: Vec<TaskRecord>) -> JobRecord {
    let framework = tasks.first().filter(|task| task.task.kind == TaskKind::Map).map(|_| "mapreduce".to_owned());
    let job = JobRow { job_id: id.to_owned(), submit: Some(0), outcome, framework, ..JobRow::default() };
    JobRecord { job, tasks, counters: Vec::new() }
}

#[test]
fn a_factor_that_was_fitted_to_the_log_varies_by_its_error() {
    let jobs = (0..4i64).map(|number| {
        let id = number.to_string();
        let ran = |task: i64| {
            if task < 6 {
                ("a", 100 + 7 * task, Outcome::Success)
            } else {
                ("b", 160 + 11 * task + number, Outcome::Success)
            }
        };
        job(&id, Outcome::Success, (0..12).map(|place| task(&id, place, TaskKind::Other, ran(place))).collect())
    });
    let world = tables(RunEngine::Batch, jobs.collect());
    let variants = world.variants(&[policy("batch-fifo")], 2).unwrap();
    let of_distance: Vec<&str> = variants
        .iter()
        .filter(|variant| variant.unknown.name == "locality")
        .map(|variant| variant.says.as_str())
        .collect();
    assert_eq!(
        of_distance,
        ["with the least cost of distance that fits", "with the largest cost of distance that fits"]
    );
}

#[test]
fn a_job_that_succeeded_in_its_trace_and_fails_in_a_replay_is_a_fact() {
    let ran = ("a", 1_000, Outcome::Success);
    let mut lost = task("1", 0, TaskKind::Map, ("a", 1_000, Outcome::Failed));
    // `mapred.max.map.failures.percent` let the job go on without this map.
    let again = |number: i64| AttemptRow { attempt: number, ..lost.attempts[0].clone() };
    lost.attempts = (0..4).map(again).collect();
    let jobs = vec![
        job("1", Outcome::Success, vec![lost.clone(), task("1", 1, TaskKind::Map, ran)]),
        job("2", Outcome::Success, vec![task("2", 0, TaskKind::Map, ran)]),
    ];
    let facts = |jobs: Vec<JobRecord>| {
        let run = tables(RunEngine::Hadoop, jobs).replay(&policy("fifo"), Memory).unwrap();
        let facts = run.info.validity.facts.iter().map(|fact| fact.says.clone());
        facts.filter(|says| says.contains("although they succeeded")).collect::<Vec<_>>()
    };
    let found = facts(jobs.clone());
    assert_eq!(
        found,
        [
            "1 of 2 jobs fail or are killed in this replay although they succeeded in the trace; they do not count as completed."
        ]
    );
    let mut failed = jobs;
    failed[0].job.outcome = Outcome::Failed;
    assert_eq!(facts(failed), [""; 0]);
}
