//! Tasks that run for weeks, in worlds made by hand: a replay neither takes them for a stall nor lives through them.

#[allow(dead_code, reason = "each test binary uses a part")]
mod worlds;

use resched_policies::{POLICIES, PolicySpec};
use resched_sim::cluster_file::ReduceModel;
use resched_sim::hadoop::Edges;
use resched_sim::{Error, Ms};
use resched_trace::model::Outcome;
use worlds::by_hand::{job, map, world};
use worlds::{Schedule, Submitted, World};

const DAY: Ms = 86_400_000;

/// All policies for Hadoop, with their defaults.
fn policies() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().filter(|info| !info.is_batch()).map(|info| info.name)
}

fn replay(world: &World, policy: &str) -> Result<Schedule, Error> {
    let mut built = PolicySpec::parse(policy).and_then(|spec| spec.build()).expect("a policy");
    world.replay(policy, &mut *built, true)
}

/// Three nodes and two jobs, one of which has a map that ends between two heartbeats, after so long.
fn with_one_long_map(run: Ms) -> World {
    let everywhere = [0, 1, 2];
    let long = job(0, vec![map(run, &everywhere), map(3_000, &everywhere)]);
    let mut world = world(3, vec![long, job(1_000, vec![map(3_000, &everywhere); 2])]);
    world.config.cost.reduce = ReduceModel::R1;
    world
}

#[test]
fn a_task_of_a_month_is_no_stall_though_its_node_calls_only_after_its_end() {
    for policy in policies() {
        let schedule = replay(&with_one_long_map(30 * DAY + 700), policy).expect("it ends");
        assert!(!schedule.stalled, "{policy}");
        let outcomes: Vec<Outcome> = schedule.jobs.iter().map(|job| job.outcome).collect();
        assert_eq!(outcomes, [Outcome::Success; 2], "{policy}");
        let last = schedule.jobs.iter().map(|job| job.finish).max().unwrap_or(0);
        assert!((30 * DAY..30 * DAY + 60_000).contains(&last), "{policy}: {last}");
    }
}

#[test]
fn a_set_up_of_a_month_is_no_stall() {
    let edges = Edges { setup: Some(30 * DAY + 700), ..Edges::default() };
    let slow = || Submitted { edges, ..job(0, vec![map(3_000, &[0])]) };
    for policy in policies() {
        let schedule = replay(&world(1, vec![slow(), slow()]), policy).expect("it ends");
        assert_eq!((schedule.stalled, schedule.jobs.len()), (false, 2), "{policy}");
    }
}
