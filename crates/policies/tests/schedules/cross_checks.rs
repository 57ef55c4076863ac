//! Where policies must agree with each other or with a plain fact, in random worlds (policies D).

use crate::worlds::{Schedule, Wanted, World, cases, difference, world};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use resched_policies::PolicySpec;
use resched_sim::cluster_file::Phase;
use resched_tables::model::{Locality, Outcome};

fn plain_worlds() -> impl Strategy<Value = World> {
    world(Wanted { every_rule: false, finishes: true })
}

/// Worlds in which there is time between two heartbeats.
fn long_units() -> impl Strategy<Value = World> {
    plain_worlds().prop_filter("half a unit is needed", |world| world.unit > 1)
}

/// Fair without delay, Fair with deficits, and Capacity, with updates and polls so often that a job can run at the first heartbeat after it came.
const PROMPT: [&str; 3] = [
    "fair:delay_node=0,delay_rack=0,update=50",
    "capacity:init_poll=50",
    "fair-deficit:assign_multiple=true,update=50",
];

fn replay(world: &World, policy: &str) -> Result<Schedule, TestCaseError> {
    let mut built = PolicySpec::parse(policy)
        .and_then(|spec| spec.build())
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    world.replay(policy, &mut *built, true).map_err(|error| TestCaseError::fail(format!("{error}\n{world:#?}")))
}

fn agree(world: &World, policies: [&str; 2], schedules: [&Schedule; 2]) -> Result<(), TestCaseError> {
    match difference(policies, schedules) {
        Some(difference) => Err(TestCaseError::fail(format!("{difference}\n{world:#?}"))),
        None => Ok(()),
    }
}

/// One job on nodes of one slot of each kind. It comes between two heartbeats, after the clock has started.
///
/// With one slot a heartbeat gets at most one map and one reduce, so the caps of the schedulers make no difference: that FIFO
/// launches one map away from its rack and one reduce a heartbeat, that Capacity launches one task of each kind, and that FIFO
/// and Fair spread the load over the nodes. A job that fails leaves what it runs alone: whether an attempt that ends in the same
/// heartbeat still counts depends on which of the two was launched first. What FIFO keeps free for failures binds only where another job follows, or another
/// slot. Slow-start is off, as Fair sees only at its next update that enough maps are done.
fn one_job_on_single_slots(world: World) -> World {
    let mut world = one_job(world);
    for machine in &mut world.machines {
        machine.slots = machine.slots.map(|slots| slots.min(1));
    }
    world
}

fn one_job(mut world: World) -> World {
    world.jobs.truncate(1);
    world.jobs[0].submit += world.unit / 2;
    world.config.jobs.first_submit = world.jobs[0].submit;
    world.config.jobs.slowstart = 0.0;
    world.config.jobs.kill_failed = false;
    world.config.heartbeat.phase = Phase::Together;
    world.config.heartbeat.first = 0;
    world
}

/// In this order: which of a node's launches of one heartbeat comes first, a map or a reduce, differs between schedulers.
fn by_task(mut schedule: Schedule) -> Schedule {
    schedule.launches.sort_unstable_by_key(|launch| (launch.at, launch.node, launch.task, launch.attempt));
    schedule
}

fn agrees_with_fifo(world: &World, policy: &str) -> Result<(), TestCaseError> {
    let [fifo, other] = ["fifo", policy].map(|policy| replay(world, policy).map(by_task));
    agree(world, ["fifo", policy], [&fifo?, &other?])
}

/// As if every try had been the one that succeeded.
fn without_failures(mut world: World) -> World {
    for map in world.jobs.iter_mut().flat_map(|job| &mut job.maps) {
        map.tries.retain(|tried| tried.outcome == Outcome::Success);
    }
    for tries in world.jobs.iter_mut().flat_map(|job| &mut job.reduces) {
        tries.retain(|tried| tried.outcome == Outcome::Success);
    }
    world
}

fn maps_are_local(world: &World, schedule: &Schedule) -> bool {
    let tasks = world.jobs.iter().map(|job| [job.maps.len(), job.reduces.len()]);
    let is_map: Vec<bool> =
        tasks.flat_map(|[maps, reduces]| [vec![true; maps], vec![false; reduces]].concat()).collect();
    schedule.launches.iter().all(|launch| !is_map[launch.task] || launch.level == Some(Locality::Node))
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn one_job_runs_alike_under_fifo_fair_and_capacity(world in long_units()) {
        let world = one_job_on_single_slots(world);
        for policy in &PROMPT[..2] {
            agrees_with_fifo(&world, policy)?;
        }
    }

    /// Only without failures: the first Fair Scheduler learns at its next update that a task waits again.
    #[test]
    fn one_job_without_failures_runs_alike_under_fifo_and_fair_with_deficits(world in long_units()) {
        agrees_with_fifo(&without_failures(one_job_on_single_slots(world)), PROMPT[2])?;
    }

    #[test]
    fn delay_without_skips_is_naive_fair_sharing(world in plain_worlds()) {
        let policies = ["naive-fair", "delay:D=0"];
        agree(&world, policies, [&replay(&world, policies[0])?, &replay(&world, policies[1])?])?;
    }

    #[test]
    fn delay_by_time_without_waits_is_naive_fair_sharing(world in plain_worlds()) {
        let policies = ["naive-fair", "delay-time:T1=0,T2=0"];
        agree(&world, policies, [&replay(&world, policies[0])?, &replay(&world, policies[1])?])?;
    }

    #[test]
    fn who_waits_for_ever_runs_every_map_at_its_data(world in plain_worlds()) {
        let mut world = without_failures(world);
        // A job with a map of unknown place does not wait.
        for map in world.jobs.iter_mut().flat_map(|job| &mut job.maps).filter(|map| map.replicas.is_empty()) {
            map.replicas.push(0);
        }
        for policy in ["delay:D=1000000000", "delay-time:T1=86400000"] {
            prop_assert!(maps_are_local(&world, &replay(&world, policy)?), "{policy}: {world:#?}");
        }
    }

    #[test]
    fn with_every_block_on_every_node_every_map_is_local(world in plain_worlds()) {
        let mut world = world;
        let nodes = world.machines.len();
        for map in world.jobs.iter_mut().flat_map(|job| &mut job.maps) {
            map.replicas = (0..nodes).collect();
        }
        for policy in ["delay:D=1000000000", "delay-time:T1=86400000"] {
            prop_assert!(maps_are_local(&world, &replay(&world, policy)?), "{policy}: {world:#?}");
        }
    }
}

/// The agreement above says something: with several slots a node the caps say the schedulers apart.
#[test]
fn one_job_runs_differently_where_the_caps_bind() -> Result<(), TestCaseError> {
    let mut runner = TestRunner::deterministic();
    let mut different = [0; PROMPT.len()];
    for _ in 0..50 {
        let world = one_job(
            long_units().new_tree(&mut runner).map_err(|error| TestCaseError::fail(error.to_string()))?.current(),
        );
        let fifo = by_task(replay(&world, "fifo")?);
        for (place, policy) in PROMPT.into_iter().enumerate() {
            different[place] += u32::from(fifo != by_task(replay(&world, policy)?));
        }
    }
    assert!(different.into_iter().all(|worlds| worlds > 5), "{different:?} of 50 worlds differ");
    Ok(())
}
