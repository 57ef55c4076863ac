//! YARN's Fair Scheduler in replays (`docs/model/yarn-policies.md`).

use crate::worlds::{Launch, Machine, Map, Schedule, Submitted, World, at_site};
use resched_policies::queues::FairQueue;
use resched_policies::queues::QueueTree;
use resched_policies::{PolicySpec, Site};
use resched_sim::cluster_file::{Phase, ReduceModel, Size};
use resched_sim::hadoop::{LoggedMap, Policy};
use resched_sim::{ClusterConfig, Ms};
use resched_tables::model::{Locality, Outcome, Priority};

const SECOND: Ms = 1_000;

fn build(policy: &str) -> Box<dyn Policy> {
    PolicySpec::parse(policy).and_then(|spec| spec.build()).unwrap_or_else(|error| panic!("{error}"))
}

/// The policy with these queues.
fn with_queues(policy: &str, root: FairQueue, queues: &[(&str, FairQueue)]) -> Box<dyn Policy> {
    let queues = queues.iter().map(|(path, queue)| ((*path).to_owned(), queue.clone())).collect();
    let tree = QueueTree::from_paths(root, queues).expect("a tree");
    at_site(policy, Site { yarn_fair: Some(tree), ..Site::default() })
}

fn weighing(weight: f64) -> FairQueue {
    FairQueue { weight, ..FairQueue::default() }
}

/// A job of so many maps; `queue` is the number of its queue and of its user.
fn job(submit: Ms, queue: usize, maps: usize, run: Ms) -> Submitted {
    let logged = LoggedMap { outcome: Outcome::Success, level: Locality::Node, run: run * SECOND };
    Submitted {
        submit: submit * SECOND,
        user: queue,
        queue,
        priority: Priority::Normal,
        maps: vec![Map { replicas: Vec::new(), tries: vec![logged] }; maps],
        reduces: Vec::new(),
        first_shuffle: None,
        typical_shuffle: None,
        shuffle_bytes: 0,
        edges: resched_sim::hadoop::Edges::default(),
    }
}

/// So many nodes of so many containers that call together once a second; a master takes as much as a map.
fn cluster(nodes: usize, containers: u32, jobs: Vec<Submitted>) -> World {
    let mut config = ClusterConfig::default();
    config.heartbeat.phase = Phase::Together;
    config.cost.reduce = ReduceModel::R0;
    config.containers.memory_mb = Some(1_024 * containers);
    config.containers.vcores = Some(containers);
    config.containers.am = Size { memory_mb: 1_024, vcores: 1 };
    World {
        unit: 1,
        seed: 1,
        machines: vec![Machine { rack: 0, slots: [1, 1] }; nodes],
        config,
        jobs,
        lulls: Default::default(),
    }
}

fn replay(world: &World, mut policy: Box<dyn Policy>) -> Schedule {
    world.replay("yarn-fair:rules=2014", &mut *policy, true).expect("the world finishes")
}

/// How many tasks of each of the first two jobs were allocated by then.
fn allocated(schedule: &Schedule, world: &World, second: Ms) -> [usize; 2] {
    let first = world.jobs[0].maps.len();
    let by_then = |launch: &&Launch| launch.at <= second * SECOND;
    let of_first = schedule.launches.iter().filter(by_then).filter(|launch| launch.task < first).count();
    let of_second = schedule.launches.iter().filter(by_then).filter(|launch| launch.task >= first).count();
    [of_first, of_second]
}

#[test]
fn queues_share_memory_by_weight() {
    let world = cluster(2, 10, vec![job(0, 0, 40, 100), job(0, 1, 40, 100)]);
    let shares = |weights: [f64; 2]| {
        let [a, b] = weights.map(weighing);
        let policy = with_queues("yarn-fair:rules=2014", FairQueue::default(), &[("queue0", a), ("queue1", b)]);
        allocated(&replay(&world, policy), &world, 60)
    };
    // 20 containers, of which two are the masters'.
    assert_eq!(shares([1.0, 1.0]), [9, 9]);
    // By memory used for its weight: 3 to 1 with the masters counted.
    assert_eq!(shares([3.0, 1.0]), [14, 4]);
}

#[test]
fn a_node_gets_one_container_per_heartbeat_unless_asked_otherwise() {
    let world = cluster(1, 10, vec![job(0, 0, 6, 100)]);
    let times = |policy: &str| -> Vec<Ms> {
        replay(&world, build(policy)).launches.iter().map(|launch| launch.at / SECOND).collect()
    };
    // The master has its container at 0 and asks at 1.
    assert_eq!(times("yarn-fair:rules=2014"), [2, 3, 4, 5, 6, 7]);
    assert_eq!(times("yarn-fair:rules=2014,assign_multiple=true"), [2; 6]);
    assert_eq!(times("yarn-fair:rules=2014,assign_multiple=true,max_assign=4"), [2, 2, 2, 2, 3, 3]);
}

#[test]
fn starved_queues_take_back_their_share_after_a_warning() {
    // The first job holds all 20 containers for 500 s when the second comes at 60 s.
    let world = cluster(2, 10, vec![job(0, 0, 40, 500), job(60, 1, 40, 500)]);
    let root = FairQueue { fair_share_timeout: Some(10 * SECOND), ..FairQueue::default() };
    let queues = [("queue0", weighing(1.0)), ("queue1", weighing(1.0))];
    let schedule = |preemption: &str| {
        replay(&world, with_queues(&format!("yarn-fair:rules=2014,preemption={preemption}"), root.clone(), &queues))
    };
    let killed = |schedule: &Schedule| -> Vec<Ms> {
        let of_killed = schedule.ends.iter().filter(|end| end.outcome == Outcome::Killed);
        of_killed.filter_map(|end| end.finish).map(|at| at / SECOND).collect()
    };
    let patient = schedule("false");
    assert_eq!(killed(&patient), [0; 0]);
    let preempted = schedule("true");
    let mut killed = killed(&preempted);
    killed.sort_unstable();
    // At first the second queue asks for a master alone: starving since 60, it has one warned at the check after 70, and that is
    // killed at the one more than 15 s later. But both nodes were full, and are kept for the first job: it takes that container,
    // and the second queue gets the next one. With its master at 120 it has all that it asks for until that asks for maps.
    assert_eq!(killed, [95, 120, 155, 155, 155, 155, 155, 155, 155, 155, 155]);
    let [_, second] = allocated(&preempted, &world, 250);
    assert_eq!(second, 7, "the first job takes two of the freed containers, on the nodes that are kept for it");
}

#[test]
fn jobs_beyond_a_queues_limit_wait_for_others_to_end() {
    let world = cluster(2, 10, vec![job(0, 0, 2, 20), job(0, 0, 2, 20), job(0, 1, 2, 20)]);
    let limited = FairQueue { max_apps: Some(1), ..FairQueue::default() };
    let schedule = replay(&world, with_queues("yarn-fair:rules=2014", FairQueue::default(), &[("queue0", limited)]));
    let first = |job: usize| {
        let of_job = schedule.launches.iter().filter(|launch| launch.task / 2 == job);
        of_job.map(|launch| launch.at / SECOND).min().expect("it ran")
    };
    assert!(first(0) < 5 && first(2) < 5 && first(1) > 20, "{:?}", [first(0), first(1), first(2)]);
}
