//! How long a month of a Slurm cluster takes: 200,000 jobs on 2,000 machines of 32 cores, with a backfill run every 30 s.
//!
//! `cargo bench -p resched-policies --bench slurm`. Jobs ask for 1 to 1,024 cores, small ones mostly, and for one to three times as long as they
//! run; they take 90 % of the machines. In `single_nodes`, each lies on as few machines as possible.
//!
//! In `leadership`, 2,200 jobs ask for whole nodes of 9,408. 2 % of them ask for more than a fifth of all, and they take 90 %, too.
#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use rand::RngExt;
use resched_policies::PolicySpec;
use resched_sim::batch::{Loaded, Tally, load_records, replay};
use resched_sim::{ClusterConfig, Ms, Scope};
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::run::RunEngine;
use resched_tables::sink::Collected;

const JOBS: u64 = 200_000;
const MACHINES: u64 = 2_000;
const CORES: i64 = 32;
const MONTH: Ms = 30 * 86_400_000;
const LOAD: f64 = 0.9;

fn main() {
    divan::main();
}

/// The cores of a job and its run time, ms, before they are fitted to the load.
fn size(job: u64) -> (i64, f64) {
    let mut draws = stream(1, Purpose::TaskDuration, &[job]);
    let small = draws.random_range(0.0..1.0_f64);
    let cores = 1_i64 << (10.0 * small * small * small * small) as u32;
    // From a minute to a day.
    let run = 60_000.0 * 1_440_f64.powf(draws.random_range(0.0..1.0_f64));
    (cores, run)
}

fn record(number: u64, [submit, run, limit]: [Ms; 3], task: TaskRow) -> JobRecord {
    let id = number.to_string();
    JobRecord {
        job: JobRow {
            job_id: id.clone(),
            user: Some(format!("user{}", number % 300)),
            framework: Some("slurm".to_owned()),
            submit: Some(submit),
            requested_time: Some(limit),
            outcome: Outcome::Success,
            ..JobRow::default()
        },
        tasks: vec![TaskRecord {
            task: TaskRow {
                job_id: id.clone(),
                task_id: id.clone(),
                outcome: Outcome::Success,
                gang: Some(true),
                ..task
            },
            attempts: vec![AttemptRow {
                job_id: id.clone(),
                task_id: id,
                run_time: Some(run),
                outcome: Outcome::Success,
                ..AttemptRow::default()
            }],
            splits: Vec::new(),
        }],
        counters: Vec::new(),
    }
}

fn collected(packed: bool) -> Collected {
    let work: f64 = (0..JOBS).map(size).map(|(cores, run)| cores as f64 * run).sum();
    let longer = LOAD * MONTH as f64 * (MACHINES as i64 * CORES) as f64 / work;
    let job = |number: u64| {
        let mut draws = stream(1, Purpose::JobArrival, &[number]);
        let (cores, run) = size(number);
        let run = (run * longer / 1e3) as Ms * 1_000;
        let submit = draws.random_range(0..MONTH / 1_000) * 1_000;
        let factor = draws.random_range(1.0..3.0_f64);
        let (instances, each) = if packed { ((cores / CORES).max(1), cores.min(CORES)) } else { (cores, 1) };
        let task = TaskRow {
            cpu_request: Some(each * 1_000),
            instances: Some(instances),
            machines: packed.then_some(instances),
            ..TaskRow::default()
        };
        record(number, [submit, run, (run as f64 * factor) as Ms], task)
    };
    let node = |number| NodeRow { host: format!("n{number:04}"), cpu: Some(CORES * 1_000), ..NodeRow::default() };
    Collected {
        engine: RunEngine::Batch,
        jobs: (0..JOBS).map(job).collect(),
        nodes: (0..MACHINES).map(node).collect(),
        ..Collected::default()
    }
}

const NODES: i64 = 9_408;
const WHOLE_NODE_JOBS: u64 = 2_200;
/// 30 minutes to a day, s.
const LIMITS: [i64; 7] = [1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400];

/// The nodes, the run time and the limit of a job of the leadership machine, s, before the submissions are fitted to the load.
fn large(job: u64) -> (i64, i64, i64) {
    let mut draws = stream(1, Purpose::TaskDuration, &[job]);
    let [skew, run, factor] = [(); 3].map(|()| draws.random_range(0.0..1.0_f64));
    let nodes = if draws.random_bool(0.02) {
        draws.random_range(NODES / 5..NODES)
    } else {
        (NODES as f64).powf(skew * skew) as i64
    };
    // From a minute to 12 hours.
    let run = 60.0 * 720_f64.powf(run);
    let limit = LIMITS.into_iter().find(|&limit| limit as f64 >= run * (1.0 + 5.0 * factor)).unwrap_or(86_400);
    (nodes, run as i64, limit)
}

fn whole_nodes() -> Collected {
    let work: i64 = (0..WHOLE_NODE_JOBS).map(large).map(|(nodes, run, _)| nodes * run).sum();
    let span = (work as f64 / (LOAD * NODES as f64)) as i64;
    let job = |number: u64| {
        let submit = stream(1, Purpose::JobArrival, &[number]).random_range(0..span);
        let (nodes, run, limit) = large(number);
        let task = TaskRow { cpu_request: Some(1_000), instances: Some(nodes), ..TaskRow::default() };
        record(number, [submit, run, limit].map(|seconds| seconds * 1_000), task)
    };
    let node = |number| NodeRow { host: format!("n{number:04}"), cpu: Some(1_000), ..NodeRow::default() };
    Collected {
        engine: RunEngine::Batch,
        jobs: (0..WHOLE_NODE_JOBS).map(job).collect(),
        nodes: (0..NODES).map(node).collect(),
        ..Collected::default()
    }
}

fn loaded(tables: &Collected) -> Loaded {
    load_records(tables, &ClusterConfig::default(), &Scope::default()).unwrap()
}

static ANYWHERE: LazyLock<Loaded> = LazyLock::new(|| loaded(&collected(false)));
static PACKED: LazyLock<Loaded> = LazyLock::new(|| loaded(&collected(true)));
static WHOLE_NODES: LazyLock<Loaded> = LazyLock::new(|| loaded(&whole_nodes()));

fn run(policy: &str, loaded: &Loaded) -> Tally {
    let mut made = PolicySpec::parse(policy).unwrap().build_batch().unwrap();
    let tally = replay(&loaded.workload, &loaded.machines, (policy, &mut *made), &mut (), &mut |_| {}).unwrap();
    assert_eq!(tally.starts, loaded.workload.tasks().len() as u64);
    tally
}

const POLICIES: [&str; 4] = ["batch-fifo", "easy", "slurm", "slurm:scheduler=builtin"];

#[divan::bench(sample_count = 1, sample_size = 1, args = POLICIES)]
fn anywhere(bencher: Bencher<'_, '_>, policy: &str) {
    bencher.counter(ItemsCount::new(JOBS)).bench(|| run(policy, &ANYWHERE));
}

#[divan::bench(sample_count = 1, sample_size = 1, args = POLICIES)]
fn single_nodes(bencher: Bencher<'_, '_>, policy: &str) {
    bencher.counter(ItemsCount::new(JOBS)).bench(|| run(policy, &PACKED));
}

#[divan::bench(sample_count = 1, sample_size = 1, args = ["easy", "slurm"])]
fn leadership(bencher: Bencher<'_, '_>, policy: &str) {
    bencher.counter(ItemsCount::new(WHOLE_NODE_JOBS)).bench(|| run(policy, &WHOLE_NODES));
}
