//! How many tasks a second a replay gets through under each policy, beside the loop that bounds it.
//!
//! `cargo bench -p resched-policies`. The bound stands in the same run, so the ratio to it holds on a busy machine too: a
//! heap of the instants at which slots become free, popped and pushed once a task. No replay that knows when tasks end can
//! do less; ours has heartbeats, places of input and a policy on top.
//!
//! The workload is a bag of maps: jobs that arrive evenly, each map with three places of input, on 1,000 nodes of 4 slots
//! that call every 3 s. A map takes as long wherever it runs, so that all policies have the same work to do.
#![allow(clippy::unwrap_used)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use rand::RngExt;
use resched_policies::PolicySpec;
use resched_sim::cluster_file::Interval;
use resched_sim::hadoop::{Cluster, Edges, Job, LoggedMap, Options, Tally, TaskSpec, Workload, replay};
use resched_sim::{ClusterConfig, Ms, NodeId};
use resched_trace::draws::{Purpose, stream};
use resched_trace::model::{Locality, Outcome, Priority};

const SEED: u64 = 1;
const NODES: u32 = 1_000;
const SLOTS_PER_NODE: u32 = 4;
const REPLICAS: usize = 3;
const MAPS_PER_JOB: u32 = 500;
/// Run times are uniform between these, ms.
const RUN: (Ms, Ms) = (10_000, 50_000);

fn cluster() -> Cluster {
    let mut config = ClusterConfig::default();
    config.nodes.count = Some(NODES);
    config.nodes.racks = 20;
    config.nodes.map_slots = Some(SLOTS_PER_NODE);
    config.heartbeat.interval = Interval::Fixed(3_000);
    config.cost.locality = [1.0; 3];
    Cluster::generated(config).unwrap()
}

/// Jobs of [`MAPS_PER_JOB`] maps, so far apart that this share of the slots is busy.
fn bag(jobs: u32, load: f64, cluster: &Cluster) -> Workload {
    let nodes: Vec<NodeId> = cluster.node_ids().collect();
    let work = f64::from(MAPS_PER_JOB) * (RUN.0 + RUN.1) as f64 / 2.0;
    let gap = (work / (load * f64::from(NODES * SLOTS_PER_NODE))) as Ms;
    let mut workload = Workload::default();
    for number in 0..jobs {
        let maps: Vec<TaskSpec> = (0..MAPS_PER_JOB).map(|map| map_task(number, map, &nodes)).collect();
        workload.push(job(number, Ms::from(number) * gap), &maps, &[]).unwrap();
    }
    workload.arrange(0);
    workload
}

fn map_task(job: u32, map: u32, nodes: &[NodeId]) -> TaskSpec {
    let mut draws = stream(SEED, Purpose::BlockPlacement, &[u64::from(job), u64::from(map)]);
    let run = draws.random_range(RUN.0..=RUN.1);
    let replicas = (0..REPLICAS).map(|_| nodes[draws.random_range(0..nodes.len())]).collect();
    let logged = LoggedMap { outcome: Outcome::Success, level: Locality::Node, run };
    TaskSpec { replicas, map_tries: vec![logged], ..TaskSpec::default() }
}

fn job(number: u32, submit: Ms) -> Job {
    Job {
        id: format!("job_1_{number:04}"),
        name: None,
        user: format!("user{}", number % 10),
        queue: String::new(),
        priority: Priority::Normal,
        submit,
        shuffle_bytes: None,
        first_shuffle: None,
        typical_shuffle: None,
        edges: Edges::default(),
        incomplete: false,
        maps: 0..0,
        reduces: 0..0,
    }
}

fn run(policy: &PolicySpec, workload: &Workload, cluster: &Cluster, options: &Options) -> Tally {
    let mut made = policy.build().unwrap();
    let name = policy.info.name;
    let tally = replay(workload, cluster, (name, &mut *made), options, &mut (), &mut |_| {}).unwrap();
    assert_eq!(tally.launches, workload.task_count() as u64);
    tally
}

/// The bound: each task in turn takes the slot that is free first. Returns when the last one ends.
fn slots_only(tasks: &[(Ms, Ms)], slots: u32) -> Ms {
    let mut free: BinaryHeap<Reverse<Ms>> = (0..slots).map(|_| Reverse(0)).collect();
    let mut last = 0;
    for &(submit, run) in tasks {
        if let Some(mut slot) = free.peek_mut() {
            let end = slot.0.max(submit) + run;
            last = last.max(end);
            slot.0 = end;
        }
    }
    last
}

/// When each task is submitted and how long it runs, in the order of submission.
fn submissions(workload: &Workload) -> Vec<(Ms, Ms)> {
    let tasks = workload.jobs().iter().enumerate().flat_map(|(number, job)| {
        let draws = move |map| stream(SEED, Purpose::BlockPlacement, &[number as u64, u64::from(map)]);
        (0..MAPS_PER_JOB).map(move |map| (job.submit, draws(map).random_range(RUN.0..=RUN.1)))
    });
    tasks.collect()
}

fn main() {
    divan::main();
}

/// A cluster with 100,000 maps at 85 % load.
static BUSY: LazyLock<(Cluster, Workload)> = LazyLock::new(|| world(200, 0.85));
/// A cluster with 10,000 maps at 5 % load.
static QUIET: LazyLock<(Cluster, Workload)> = LazyLock::new(|| world(20, 0.05));

fn world(jobs: u32, load: f64) -> (Cluster, Workload) {
    let cluster = cluster();
    let workload = bag(jobs, load, &cluster);
    (cluster, workload)
}

#[divan::bench(sample_count = 10)]
fn busy_bound_heap_of_slots(bencher: Bencher<'_, '_>) {
    let tasks = submissions(&BUSY.1);
    bencher.counter(ItemsCount::new(tasks.len())).bench(|| slots_only(black_box(&tasks), NODES * SLOTS_PER_NODE));
}

#[divan::bench(sample_count = 10, args = ["fifo", "naive-fair", "delay", "fair"])]
fn busy_replay(bencher: Bencher<'_, '_>, name: &str) {
    let (policy, (cluster, workload)) = (PolicySpec::parse(name).unwrap(), &*BUSY);
    let count = ItemsCount::new(workload.task_count());
    bencher.counter(count).bench(|| run(&policy, workload, cluster, &Options::default()));
}

/// What it saves to leave out heartbeats that change nothing, where most of them do not.
#[divan::bench(sample_count = 10, args = [true, false])]
fn quiet_replay_with_parking(bencher: Bencher<'_, '_>, parking: bool) {
    let (policy, (cluster, workload)) = (PolicySpec::parse("fifo").unwrap(), &*QUIET);
    let options = Options { parking, ..Options::default() };
    let count = ItemsCount::new(workload.task_count());
    bencher.counter(count).bench(|| run(&policy, workload, cluster, &options));
}
