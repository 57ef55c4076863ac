//! Small worlds made by hand, and what a replay makes of them in few words.

use resched_policies::PolicySpec;
use resched_sim::ClusterConfig;
use resched_sim::cluster_file::{Interval, Phase, ReduceModel};
use resched_sim::hadoop::LoggedMap;
use resched_tables::model::{Locality, Outcome, Priority};

use super::{Machine, Map, Schedule, Submitted, World};

/// A map that takes so long where its input is.
pub(crate) fn map(run: i64, replicas: &[usize]) -> Map {
    Map {
        replicas: replicas.to_vec(),
        tries: vec![LoggedMap { outcome: Outcome::Success, level: Locality::Node, run }],
    }
}

/// A job of these maps.
pub(crate) fn job(submit: i64, maps: Vec<Map>) -> Submitted {
    Submitted {
        submit,
        user: 0,
        queue: 0,
        priority: Priority::Normal,
        maps,
        reduces: Vec::new(),
        first_shuffle: None,
        typical_shuffle: None,
        shuffle_bytes: 0,
        edges: resched_sim::hadoop::Edges::default(),
    }
}

/// So many nodes with one slot of each kind that call every 3 s, all at once, from 0 on.
pub(crate) fn world(nodes: usize, jobs: Vec<Submitted>) -> World {
    let mut config = ClusterConfig::default();
    config.heartbeat.interval = Interval::Fixed(3_000);
    config.heartbeat.phase = Phase::Together;
    config.cost.reduce = ReduceModel::R0;
    let machines = vec![Machine { rack: 0, slots: [1, 1] }; nodes];
    World { unit: 500, seed: 1, machines, config, jobs, lulls: Default::default() }
}

/// What a policy does with a world, with parking and without.
pub(crate) fn replay(world: &World, policy: &str) -> Schedule {
    let mut built = PolicySpec::parse(policy).and_then(|spec| spec.build()).expect("a policy");
    let parked = world.replay(policy, &mut *built, true).expect("it ends");
    let mut built = PolicySpec::parse(policy).and_then(|spec| spec.build()).expect("a policy");
    assert_eq!(parked, world.replay(policy, &mut *built, false).expect("it ends"), "parking");
    parked
}

/// (when, task, attempt, node) of every launch.
pub(crate) fn launches(schedule: &Schedule) -> Vec<(i64, usize, u32, usize)> {
    schedule.launches.iter().map(|launch| (launch.at, launch.task, launch.attempt, launch.node)).collect()
}

/// (task, attempt, finish, outcome, discarded) of every end.
pub(crate) fn ends(schedule: &Schedule) -> Vec<(usize, u32, Option<i64>, Outcome, bool)> {
    schedule.ends.iter().map(|end| (end.task, end.attempt, end.finish, end.outcome, end.discarded)).collect()
}
