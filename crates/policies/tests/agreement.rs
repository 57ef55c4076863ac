//! The engine and a second, deliberately naive simulator agree to the millisecond.

mod naive;
#[allow(dead_code, reason = "each test binary uses a part")]
mod worlds;

use naive::{Rule, simulate};
use proptest::prelude::*;
use resched_policies::PolicySpec;
use resched_sim::first_heartbeats;
use worlds::{Wanted, World, cases, difference, world};

/// Worlds in which the rules of the referee hold.
fn worlds() -> impl Strategy<Value = World> {
    world(Wanted { every_rule: false, finishes: false }).prop_map(|mut world| {
        world.config.heartbeat.out_of_band = false;
        world
    })
}

fn agree(world: &World, policy: &str, rule: Rule) -> Result<(), TestCaseError> {
    let referee = simulate(world, rule, &first_heartbeats(&world.cluster(), world.seed));
    if referee.stalled {
        // A failed job holds the last reduce slots (oracle F10). The engine finds out, too, but only after 30 days.
        return Ok(());
    }
    let mut built = PolicySpec::parse(policy).and_then(|spec| spec.build()).map_err(TestCaseError::fail)?;
    let engine = world.replay(policy, &mut built, true).map_err(|error| TestCaseError::fail(error.to_string()))?;
    match difference(["engine", "referee"], [&engine, &referee]) {
        Some(difference) => Err(TestCaseError::fail(format!("{policy}: {difference}\n{world:#?}"))),
        None => Ok(()),
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn fifo(world in worlds()) {
        agree(&world, "fifo", Rule::Fifo { pad_fraction: 0.01, min_cluster: 3, many_maps: true })?;
    }

    #[test]
    fn fifo_with_much_padding(world in worlds()) {
        let rule = Rule::Fifo { pad_fraction: 0.3, min_cluster: 1, many_maps: true };
        agree(&world, "fifo:pad_fraction=0.3,min_cluster=1", rule)?;
    }

    #[test]
    fn fifo_with_one_task_a_heartbeat(world in worlds()) {
        let rule = Rule::Fifo { pad_fraction: 0.01, min_cluster: 3, many_maps: false };
        agree(&world, "fifo:many_maps=false", rule)?;
    }

    #[test]
    fn naive_fair(world in worlds()) {
        agree(&world, "naive-fair", Rule::NaiveFair)?;
    }

    #[test]
    fn delay(world in worlds(), skips in prop_oneof![0..=4_u32, 5..=40_u32]) {
        agree(&world, &format!("delay:D={skips}"), Rule::Delay(skips))?;
    }
}
