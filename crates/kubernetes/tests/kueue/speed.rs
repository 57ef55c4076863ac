//! How long large worlds take. Their sizes are those of `RESCHED_SPEED=full`; without it they are a hundredth.

use std::time::Instant;

use resched_kubernetes::kueue::{
    Cohort, FlavorId, Group, Kueue, Model, PodSet, Policy, Preemption, Queue, QueueId, Quota, ResourceId, Settings,
    Submission,
};

use crate::driver::run;
use crate::random::Random;
use crate::world::{Job, World};

fn full() -> bool {
    std::env::var("RESCHED_SPEED").is_ok_and(|value| value == "full")
}

#[allow(clippy::print_stdout, reason = "what was measured")]
fn measure(name: &str, world: &World) {
    let start = Instant::now();
    let (rows, machine) = run(world, Kueue::new(world.model.clone()).unwrap(), false).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let count = |event: char| rows.iter().filter(|row| row.event == event).count();
    let (admitted, preempted, ended) = (count('A'), count('P'), count('F'));
    println!(
        "{name}: {seconds:.2} s on the wall, {admitted} admitted, {preempted} preempted, {ended} ended, {} cycles",
        machine.cycles()
    );
    assert_eq!(ended, world.jobs.len());
}

fn submission(queue: u32, priority: i64, created: i64, uid: usize, requests: Vec<(ResourceId, i64)>) -> Submission {
    let set = PodSet { name: "main".to_owned(), count: 1, requests, ..PodSet::default() };
    Submission {
        queue: QueueId(queue),
        priority,
        created,
        uid: uid as u64,
        namespace_matches: true,
        pod_sets: vec![set],
    }
}

fn quota(flavor: u32, resource: u32, nominal: i64, borrowing: Option<i64>) -> Quota {
    Quota { flavor: FlavorId(flavor), resource: ResourceId(resource), nominal, borrowing, lending: None }
}

/// The classes of Kueue's own performance test: cores, priority, running time, interval (ms), how many of each in each queue.
const CLASSES: [(i64, i64, i64, i64, i64); 3] =
    [(1, 50, 200, 100, 350), (5, 100, 500, 500, 100), (20, 200, 1_000, 1_200, 50)];

/// Kueue's own performance test: 5 cohorts of 6 queues with 500 workloads each.
fn performance_test(share: i64, requeue_ms: i64) -> World {
    let settings = Settings { requeue_ms, ..Settings::default() };
    let mut model =
        Model { resources: vec!["cpu".to_owned()], flavors: vec![Default::default()], settings, ..Model::default() };
    model.cohorts = (0..5).map(|at| Cohort::new(&format!("cohort-{at}"))).collect();
    for at in 0..30 {
        let mut queue = Queue::new(&format!("queue-{at}"));
        queue.cohort = Some(at % 5);
        queue.preemption = Preemption { within: Policy::LowerPriority, reclaim: Policy::Any, borrow: None };
        queue.groups = vec![Group { resources: vec![ResourceId(0)], flavors: vec![FlavorId(0)] }];
        queue.quotas = vec![quota(0, 0, 20, Some(100))];
        model.queues.push(queue);
    }
    let mut jobs = Vec::new();
    for queue in 0..30 {
        for (cores, priority, run, interval, count) in CLASSES {
            for at in 0..count / share {
                let submit = at * interval;
                let submission = submission(queue, priority, submit, jobs.len(), vec![(ResourceId(0), cores)]);
                jobs.push(Job { name: format!("w{}", jobs.len()), submission, submit, run });
            }
        }
    }
    World { model, jobs, strays: Vec::new(), eviction: 20, keep: false, unit: 1, horizon: i64::MAX, ends: None }
}

/// 200 queues in a tree of four levels: a root, 4 organisations, 20 departments, queues.
fn tree(jobs: usize) -> World {
    let mut random = Random::new(7);
    let mut model = Model {
        resources: ["cpu", "memory", "nvidia.com/gpu"].map(str::to_owned).to_vec(),
        flavors: vec![Default::default(); 2],
        settings: Settings::default(),
        ..Model::default()
    };
    model.cohorts.push(Cohort::new("root"));
    for at in 0..24 {
        let mut cohort = Cohort::new(&format!("c{at}"));
        cohort.parent = Some(if at < 4 { 0 } else { 1 + (at - 4) / 5 });
        model.cohorts.push(cohort);
    }
    for at in 0..200 {
        let mut queue = Queue::new(&format!("q{at}"));
        queue.cohort = Some(5 + at / 10);
        queue.preemption = Preemption {
            within: Policy::LowerPriority,
            reclaim: random.pick(&[Policy::Any, Policy::LowerPriority]),
            borrow: None,
        };
        queue.groups =
            vec![Group { resources: (0..3).map(ResourceId).collect(), flavors: vec![FlavorId(0), FlavorId(1)] }];
        // As much is asked for as there is.
        let of_flavor =
            |flavor| [quota(flavor, 0, 104_000, None), quota(flavor, 1, 624, None), quota(flavor, 2, 13, None)];
        queue.quotas = (0..2).flat_map(of_flavor).collect();
        model.queues.push(queue);
    }
    let mut list = Vec::new();
    let mut submit = 0;
    for at in 0..jobs {
        submit += i64::from(random.chance(60)) * 10;
        let gpus = random.pick(&[1, 1, 2, 4, 8, 16]);
        let run = random.pick(&[300, 900, 3_600, 7_200, 14_400]) + random.below(600);
        let requests = vec![(ResourceId(0), gpus * 8_000), (ResourceId(1), gpus * 48), (ResourceId(2), gpus)];
        let submission = submission(random.below(200) as u32, random.below(3) * 100, submit * 1_000, at, requests);
        list.push(Job { name: format!("w{at}"), submission, submit, run });
    }
    World {
        model,
        jobs: list,
        strays: Vec::new(),
        eviction: 30,
        keep: false,
        unit: 1_000,
        horizon: i64::MAX,
        ends: None,
    }
}

#[test]
fn the_performance_test_of_kueue_is_quick() {
    let share = if full() { 1 } else { 10 };
    measure("15,000 workloads of Kueue's performance test", &performance_test(share, 1_000));
    // Parked workloads are looked at far more often than the real code does.
    measure("the same with a wake-up after 10 ms", &performance_test(share, 10));
}

#[test]
fn a_tree_of_200_queues_is_quick() {
    let jobs = if full() { 100_000 } else { 2_000 };
    measure("200 queues in four levels", &tree(jobs));
}
