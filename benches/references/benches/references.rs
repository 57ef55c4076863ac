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

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use rand::RngExt;
use resched_policies::PolicySpec;
use resched_sim::batch::{Job, JobSpec, Machine, Machines, StageSpec, TaskSpec, Try, Workload, replay};
use resched_sim::cluster_file::Placement;
use resched_sim::{Ms, Resources};
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::Outcome;
use serde::Serialize;
use simcore::{Event, EventHandler, Simulation, SimulationContext, cast};

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

/// The end of the last task, by a heap of slots: no simulator can do less.
fn by_hand(tasks: &[(Ms, Ms)]) -> Ms {
    let mut free: BinaryHeap<Reverse<Ms>> = (0..SLOTS).map(|_| Reverse(0)).collect();
    for &(submit, run) in tasks {
        if let Some(mut slot) = free.peek_mut() {
            slot.0 = slot.0.max(submit) + run;
        }
    }
    free.into_iter().map(|Reverse(end)| end).max().unwrap()
}

static EXPECTED: LazyLock<Ms> = LazyLock::new(|| by_hand(&TASK_TIMES));

#[divan::bench(sample_count = 5)]
fn hand_loop(bencher: Bencher<'_, '_>) {
    let tasks = &*TASK_TIMES;
    bencher.counter(ItemsCount::new(TASKS)).bench(|| assert_eq!(by_hand(divan::black_box(tasks)), *EXPECTED));
}

#[derive(Clone, Serialize)]
struct Arrives {}

#[derive(Clone, Serialize)]
struct Ends {}

/// The slots and their queue, as a handler of events.
struct Slots {
    context: SimulationContext,
    tasks: &'static [(Ms, Ms)],
    next: usize,
    free: u32,
    waiting: VecDeque<usize>,
}

impl Slots {
    fn start(&mut self) {
        while let Some(task) = self.waiting.front().copied().filter(|_| self.free > 0) {
            self.waiting.pop_front();
            self.free -= 1;
            self.context.emit_self(Ends {}, self.tasks[task].1 as f64);
        }
    }
}

impl EventHandler for Slots {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Arrives {} => {
                self.waiting.push_back(self.next);
                self.next += 1;
                if let Some((submit, _)) = self.tasks.get(self.next) {
                    self.context.emit_self(Arrives {}, *submit as f64 - self.context.time());
                }
            }
            Ends {} => {
                self.free += 1;
            }
        });
        self.start();
    }
}

#[divan::bench(sample_count = 5)]
fn simcore(bencher: Bencher<'_, '_>) {
    let tasks: &'static [(Ms, Ms)] = &TASK_TIMES;
    bencher.counter(ItemsCount::new(TASKS)).bench(|| {
        let mut simulation = Simulation::new(SEED);
        let context = simulation.create_context("slots");
        context.emit_self(Arrives {}, 0.0);
        let slots = Slots { context, tasks, next: 0, free: SLOTS, waiting: VecDeque::new() };
        simulation.add_handler("slots", Rc::new(RefCell::new(slots)));
        simulation.step_until_no_events();
        assert_eq!(simulation.time().round() as Ms, *EXPECTED);
    });
}

/// The tasks as jobs of one task.
static WORKLOAD: LazyLock<Workload> = LazyLock::new(|| {
    let job = |(number, &(submit, run)): (usize, &(Ms, Ms))| {
        let tries = vec![Try { outcome: Outcome::Success, run }];
        let demand = Resources { cpu: 1_000, memory: 0 };
        let task = TaskSpec { name: number.to_string(), demand, instances: 1, gang: false, tries };
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
