//! One model on three simulators: how fast our engine for production traces is beside others.
//!
//! `benches/suite run references`. A million jobs of one task each on 4,000 slots, first come, first served. The
//! references stand in the same run, so the ratios hold on a busy machine too:
//!
//! * `hand_loop`: the least that this model needs, a heap of the instants at which slots become free;
//! * `simcore`: the event kernel of DSLab with a handler for arrivals and ends; each arrival emits the next;
//! * `ours`: the engine with the policy `batch-fifo`, without tables on disk.
//!
//! All three must agree on the end of the last task.
#![allow(clippy::unwrap_used)]

use std::rc::Rc;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use rand::RngExt;
use resched_policies::PolicySpec;
use resched_references::{by_hand, by_simcore};
use resched_sim::batch::{Job, JobSpec, Machine, Machines, StageSpec, TaskSpec, Try, Workload, replay};
use resched_sim::cluster_file::Placement;
use resched_sim::{Ms, Resources};
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::Outcome;

const SEED: u64 = 1;
const TASKS: usize = 1_000_000;
const SLOTS: u32 = 4_000;
/// Run times are uniform between these, ms.
const RUN: (Ms, Ms) = (10_000, 590_000);
/// Arrivals are uniform in the time that the slots need for this share of their work, so that tasks wait at times.
const LOAD: f64 = 0.98;

fn main() {
    divan::main();
}

/// When each task is submitted, and how long it runs, ms.
static TASK_TIMES: LazyLock<Vec<(Ms, Ms)>> = LazyLock::new(|| {
    let mut draws = stream(SEED, Purpose::TaskDuration, &[]);
    let span = TASKS as i64 * (RUN.0 + RUN.1) / 2 / i64::from(SLOTS);
    let mut submits: Vec<Ms> = (0..TASKS).map(|_| draws.random_range(0..(span as f64 / LOAD) as Ms)).collect();
    submits.sort_unstable();
    submits[0] = 0;
    submits.into_iter().map(|submit| (submit, draws.random_range(RUN.0..=RUN.1))).collect()
});

static EXPECTED: LazyLock<Ms> = LazyLock::new(|| by_hand(&TASK_TIMES, SLOTS));

#[divan::bench(sample_count = 5)]
fn hand_loop(bencher: Bencher<'_, '_>) {
    let tasks = &*TASK_TIMES;
    bencher.counter(ItemsCount::new(TASKS)).bench(|| assert_eq!(by_hand(divan::black_box(tasks), SLOTS), *EXPECTED));
}

#[divan::bench(sample_count = 5)]
fn simcore(bencher: Bencher<'_, '_>) {
    let tasks: Rc<[(Ms, Ms)]> = TASK_TIMES.as_slice().into();
    bencher
        .counter(ItemsCount::new(TASKS))
        .bench_local(|| assert_eq!(by_simcore(Rc::clone(&tasks), SLOTS), *EXPECTED));
}

/// The tasks as jobs of one task.
static WORKLOAD: LazyLock<Workload> = LazyLock::new(|| {
    let job = |(number, &(submit, run)): (usize, &(Ms, Ms))| {
        let tries = vec![Try { outcome: Outcome::Success, run }];
        let demand = Resources { cpu: 1_000, memory: 0 };
        let task = TaskSpec { name: number.to_string(), demand, instances: 1, tries, ..TaskSpec::default() };
        JobSpec {
            job: Job { id: number.to_string(), submit, ..Job::default() },
            after: Vec::new(),
            stages: vec![StageSpec { tasks: vec![task], ..StageSpec::default() }],
        }
    };
    Workload::new(TASK_TIMES.iter().enumerate().map(job).collect(), 0).unwrap().0
});

#[divan::bench(sample_count = 5)]
fn ours(bencher: Bencher<'_, '_>) {
    let machine = |number: u32| {
        let capacity = Resources { cpu: 1_000, memory: 0 };
        Machine { name: format!("machine{number:05}"), rack: None, capacity }
    };
    let machines = Machines::new((0..SLOTS).map(machine).collect(), &[], Placement::FirstFit).unwrap();
    let workload = &*WORKLOAD;
    bencher.counter(ItemsCount::new(TASKS)).bench(|| {
        let mut policy = PolicySpec::parse("batch-fifo").unwrap().build_batch().unwrap();
        let tally = replay(workload, &machines, ("batch-fifo", &mut *policy), &mut (), &mut |_| {}).unwrap();
        assert_eq!(tally.end, *EXPECTED);
    });
}
