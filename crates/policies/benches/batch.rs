//! How many tasks a second a replay of a production trace gets through under each policy, beside the loop that bounds it.
//!
//! `cargo bench -p resched-policies --bench batch`. The bound stands in the same run: a heap of the instants at which machines
//! become free, popped and pushed once a task.
//!
//! The workload is a million tasks of 2,000 jobs whose tasks request processor and memory, on 12,000 machines of two sizes, as in Google's
//! trace of 2011; they are asked for 70 % of their processor, or, in `full_…`, for 120 %, where the queue grows to the end. In `gpus_…`,
//! each task asks for one to three GPUs, too, of machines with eight.
#![allow(clippy::unwrap_used)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::sync::{Arc, LazyLock};

use divan::Bencher;
use divan::counter::ItemsCount;
use rand::RngExt;
use resched_policies::PolicySpec;
use resched_sim::batch::{Job, JobSpec, Machine, Machines, Needs, StageSpec, Tally, TaskSpec, Try, Workload, replay};
use resched_sim::cluster_file::Placement;
use resched_sim::{Ms, Resources};
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::Outcome;

const SEED: u64 = 1;
const MACHINES: u32 = 12_000;
const JOBS: u32 = 2_000;
const TASKS_PER_JOB: u32 = 500;
/// Run times are uniform between these, ms.
const RUN: (Ms, Ms) = (60_000, 540_000);
/// Requests of processor, thousandths of a core.
const CPU: (u64, u64) = (500, 4_000);

fn main() {
    divan::main();
}

fn machines(placement: Placement) -> Machines {
    named_machines(placement, &[])
}

/// The machines, each with these named resources.
fn named_machines(placement: Placement, resources: &[(Arc<str>, u64)]) -> Machines {
    let machine = |number: u32| {
        let cores = if number.is_multiple_of(3) { 16 } else { 8 };
        let capacity = Resources { cpu: cores * 1_000, memory: cores << 32 };
        Machine { name: format!("machine{number:05}"), capacity, resources: resources.to_vec(), ..Machine::default() }
    };
    Machines::new((0..MACHINES).map(machine).collect(), &[], placement).unwrap()
}

fn task(job: u32, number: u32) -> TaskSpec {
    let mut draws = stream(SEED, Purpose::TaskDuration, &[u64::from(job), u64::from(number)]);
    let tries = vec![Try { outcome: Outcome::Success, run: draws.random_range(RUN.0..=RUN.1) }];
    let demand = Resources { cpu: draws.random_range(CPU.0..=CPU.1), memory: draws.random_range(1 << 28..=1 << 33) };
    TaskSpec { name: format!("{job}/{number}"), demand, instances: 1, tries, ..TaskSpec::default() }
}

/// Jobs so far apart that this share of the processor is asked for.
fn workload(load: f64) -> Workload {
    asking(load, |_, _| Needs::default())
}

/// The same; each task needs what `needs` says of its job and number.
fn asking(load: f64, needs: impl Fn(u32, u32) -> Needs) -> Workload {
    let work = f64::from(TASKS_PER_JOB) * (RUN.0 + RUN.1) as f64 / 2.0 * (CPU.0 + CPU.1) as f64 / 2.0;
    let gap = work / (load * machines(Placement::FirstFit).total().cpu as f64);
    let job = |number: u32| JobSpec {
        job: Job {
            id: number.to_string(),
            user: format!("user{}", number % 200).into(),
            queue: format!("queue{}", number % 4).into(),
            submit: (f64::from(number) * gap) as Ms,
            ..Job::default()
        },
        after: Vec::new(),
        stages: vec![StageSpec {
            tasks: (0..TASKS_PER_JOB).map(|one| TaskSpec { needs: needs(number, one), ..task(number, one) }).collect(),
            ..StageSpec::default()
        }],
    };
    Workload::new((0..JOBS).map(job).collect(), 0).unwrap().0
}

static USUAL: LazyLock<Workload> = LazyLock::new(|| workload(0.7));
static FULL: LazyLock<Workload> = LazyLock::new(|| workload(1.2));

/// With one to three GPUs a task, of machines with eight: the processor of the machines is short first.
static GPUS: LazyLock<Workload> = LazyLock::new(|| {
    asking(0.7, |job, task| Needs {
        resources: vec![("gres/gpu".into(), 1 + u64::from(job + task) % 3)],
        ..Needs::default()
    })
});

fn run(policy: &str, workload: &Workload, machines: &Machines) -> Tally {
    let mut made = PolicySpec::parse(policy).unwrap().build_batch().unwrap();
    let tally = replay(workload, machines, (policy, &mut *made), &mut (), &mut |_| {}).unwrap();
    assert_eq!(tally.starts, workload.units());
    tally
}

fn measure(bencher: Bencher<'_, '_>, policy: &str, workload: &Workload, placement: Placement) {
    let machines = machines(placement);
    bencher.counter(ItemsCount::new(workload.tasks().len())).bench(|| run(policy, workload, &machines));
}

#[divan::bench(sample_count = 3)]
fn bound_heap_of_slots(bencher: Bencher<'_, '_>) {
    let workload = &*USUAL;
    let tasks: Vec<(Ms, Ms)> = workload
        .tasks()
        .iter()
        .enumerate()
        .map(|(number, task)| {
            let (job, place) = (number as u32 / TASKS_PER_JOB, number as u32 % TASKS_PER_JOB);
            (workload.job(task.job).submit, self::task(job, place).tries[0].run)
        })
        .collect();
    bencher.counter(ItemsCount::new(tasks.len())).bench(|| {
        let mut free: BinaryHeap<Reverse<Ms>> = (0..4 * MACHINES).map(|_| Reverse(0)).collect();
        for &(submit, run) in black_box(&tasks) {
            if let Some(mut slot) = free.peek_mut() {
                slot.0 = slot.0.max(submit) + run;
            }
        }
        free.into_iter().max()
    });
}

#[divan::bench(sample_count = 3, args = ["batch-fifo", "batch-fair", "batch-drf", "batch-capacity", "batch-dress", "easy"])]
fn usual_replay(bencher: Bencher<'_, '_>, policy: &str) {
    measure(bencher, policy, &USUAL, Placement::FirstFit);
}

#[divan::bench(sample_count = 3, args = ["batch-fifo", "batch-drf", "easy"])]
fn gpus_replay(bencher: Bencher<'_, '_>, policy: &str) {
    let machines = named_machines(Placement::FirstFit, &[("gres/gpu".into(), 8)]);
    bencher.counter(ItemsCount::new(GPUS.tasks().len())).bench(|| run(policy, &GPUS, &machines));
}

#[divan::bench(sample_count = 3)]
fn usual_replay_best_fit(bencher: Bencher<'_, '_>) {
    measure(bencher, "batch-fifo", &USUAL, Placement::BestFit);
}

#[divan::bench(sample_count = 1, args = ["batch-fifo", "batch-fifo:skip=true", "batch-fair", "batch-drf", "batch-capacity", "batch-dress", "easy"])]
fn full_replay(bencher: Bencher<'_, '_>, policy: &str) {
    measure(bencher, policy, &FULL, Placement::FirstFit);
}
