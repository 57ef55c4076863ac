//! How many tasks a second a replay gets through under each policy, beside the loop that bounds it.
//!
//! `cargo bench -p resched-policies`. The bound stands in the same run, so the ratio to it holds on a busy machine too: a
//! heap of the instants at which slots become free, popped and pushed once a task. No replay that knows when tasks end can
//! do less; ours has heartbeats, places of input and a policy on top.
//!
//! The workload is a bag of maps on 1,000 nodes of 4 slots, or, in `large_replay`, a million maps on 500 nodes of 8 slots.
#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "each benchmark uses a part")]
mod bag;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::sync::LazyLock;

use bag::{Bag, map_run, run};
use divan::Bencher;
use divan::counter::ItemsCount;
use resched_policies::PolicySpec;
use resched_sim::Ms;
use resched_sim::hadoop::{Cluster, Options, Workload};

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

/// When each map is submitted and how long it runs, in the order of submission.
fn submissions(workload: &Workload) -> Vec<(Ms, Ms)> {
    let jobs = (0..).zip(workload.jobs());
    jobs.flat_map(|(number, job)| (0..JOB_MAPS).map(move |map| (job.submit, map_run(number, map)))).collect()
}

fn main() {
    divan::main();
}

const JOB_MAPS: u32 = 500;
const BUSY_BAG: Bag = Bag { nodes: 1_000, slots: 4, jobs: 200, maps: JOB_MAPS, reduces: 0, load: 0.85 };

/// A cluster with 100,000 maps at 85 % load.
static BUSY: LazyLock<(Cluster, Workload)> = LazyLock::new(|| BUSY_BAG.make());
/// A cluster with 10,000 maps at 5 % load.
static QUIET: LazyLock<(Cluster, Workload)> = LazyLock::new(|| Bag { jobs: 20, load: 0.05, ..BUSY_BAG }.make());

/// A million maps on 500 nodes of 8 slots at 85 % load.
static LARGE: LazyLock<(Cluster, Workload)> =
    LazyLock::new(|| Bag { nodes: 500, slots: 8, jobs: 2_000, ..BUSY_BAG }.make());

#[divan::bench(sample_count = 10)]
fn busy_bound_heap_of_slots(bencher: Bencher<'_, '_>) {
    let tasks = submissions(&BUSY.1);
    bencher.counter(ItemsCount::new(tasks.len())).bench(|| slots_only(black_box(&tasks), BUSY_BAG.map_slots()));
}

#[divan::bench(sample_count = 10, args = ["fifo", "naive-fair", "delay", "fair"])]
fn busy_replay(bencher: Bencher<'_, '_>, name: &str) {
    let policy = PolicySpec::parse(name).unwrap();
    let count = ItemsCount::new(BUSY.1.task_count());
    bencher.counter(count).bench(|| run(&policy, &BUSY, &Options::default()));
}

#[divan::bench(sample_count = 1, args = ["fifo", "fair", "delay"])]
fn large_replay(bencher: Bencher<'_, '_>, name: &str) {
    let policy = PolicySpec::parse(name).unwrap();
    let count = ItemsCount::new(LARGE.1.task_count());
    bencher.counter(count).bench(|| run(&policy, &LARGE, &Options::default()));
}

/// What it saves to leave out heartbeats that change nothing, where most of them do not.
#[divan::bench(sample_count = 10, args = [true, false])]
fn quiet_replay_with_parking(bencher: Bencher<'_, '_>, parking: bool) {
    let policy = PolicySpec::parse("fifo").unwrap();
    let options = Options { parking, ..Options::default() };
    let count = ItemsCount::new(QUIET.1.task_count());
    bencher.counter(count).bench(|| run(&policy, &QUIET, &options));
}
