//! Leaving out the heartbeats and ticks that change nothing changes nothing, under every policy.

use crate::worlds::{Eager, Schedule, Wanted, World, cases, difference, some_policies, world};
use proptest::prelude::*;
use resched_policies::PolicySpec;
use resched_sim::hadoop::{Lulls, Policy};

/// What each policy does with the world, by the policy's name.
fn schedules(world: &World, parking: bool) -> Vec<(String, Schedule)> {
    let replay = |(label, mut policy): (String, Box<dyn Policy>)| match world.replay(&label, &mut *policy, parking) {
        Ok(schedule) => (label, schedule),
        Err(error) => panic!("{label}: {error}"),
    };
    some_policies(world).into_iter().map(replay).collect()
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn parking_changes_no_schedule_with_backups(world in world(Wanted { every_rule: true, finishes: true })) {
        for (label, _) in some_policies(&world).into_iter().filter(|(label, _)| !label.contains(" with ")) {
            let replay = |parking| {
                let below = PolicySpec::parse(&label).and_then(|spec| spec.build()).map_err(|error| TestCaseError::fail(error.to_string()))?;
                let mut eager = Eager::new(below, 3);
                world.replay(&label, &mut eager, parking).map_err(|error| TestCaseError::fail(error.to_string()))
            };
            if let Some(difference) = difference(["parking on", "parking off"], [&replay(true)?, &replay(false)?]) {
                return Err(TestCaseError::fail(format!("{label}: {difference}\n{world:#?}")));
            }
        }
    }

    #[test]
    fn parking_changes_no_schedule_in_lulls(
        world in world(Wanted { every_rule: true, finishes: true }),
        (after, windows) in (1..=20_i64, 1..=4_i64),
    ) {
        // These worlds do not last long: their lulls begin soon, and most of a lull is left out.
        let world = World { lulls: Lulls { after: after * world.unit, windows }, ..world };
        let parked = schedules(&world, true);
        for ((label, parked), (_, unparked)) in parked.iter().zip(&schedules(&world, false)) {
            if let Some(difference) = difference(["parking on", "parking off"], [parked, unparked]) {
                return Err(TestCaseError::fail(format!("{label}: {difference}\n{world:#?}")));
            }
        }
    }

    #[test]
    fn heartbeats_in_a_ring_change_neither_a_schedule_nor_the_number_of_events(
        world in world(Wanted { every_rule: true, finishes: true }),
        (is_quiet, after, windows) in (any::<bool>(), 1..=20_i64, 1..=4_i64),
    ) {
        let lulls = if is_quiet { Lulls { after: after * world.unit, windows } } else { world.lulls };
        let world = World { lulls, ..world };
        let in_ring = some_policies(&world).into_iter();
        for ((label, mut policy), (_, mut same)) in in_ring.zip(some_policies(&world)) {
            let replay = |policy: &mut dyn Policy, one_by_one| {
                world.replay_by(&label, policy, one_by_one).map_err(|error| TestCaseError::fail(error.to_string()))
            };
            let (ring, events) = replay(&mut *policy, false)?;
            let (heap, all) = replay(&mut *same, true)?;
            let parted = difference(["in a ring", "one by one"], [&ring, &heap]);
            let parted = parted.or_else(|| (events != all).then(|| format!("{events:?} events, one by one {all:?}")));
            if let Some(difference) = parted {
                return Err(TestCaseError::fail(format!("{label}: {difference}\n{world:#?}")));
            }
        }
    }

    #[test]
    fn parking_changes_no_schedule(world in world(Wanted { every_rule: true, finishes: true })) {
        let parked = schedules(&world, true);
        for ((label, parked), (_, unparked)) in parked.iter().zip(&schedules(&world, false)) {
            if let Some(difference) = difference(["parking on", "parking off"], [parked, unparked]) {
                return Err(TestCaseError::fail(format!("{label}: {difference}\n{world:#?}")));
            }
        }
    }
}
