//! The cost model `contention`: worked examples, and what holds in every world.

use crate::worlds::by_hand::{ends, job, map, replay, world as by_hand};
use crate::worlds::{Map, Submitted, Wanted, World, cases, difference, some_policies, world};
use proptest::prelude::*;
use resched_policies::PolicySpec;
use resched_sim::Reports;
use resched_sim::cluster_file::{Contention, ReduceModel};
use resched_sim::hadoop::{Ended, LoggedMap, LoggedReduce, Observer, Used};
use resched_sim::{Error, Ms};
use resched_tables::model::Outcome;

const UNLIMITED: Contention = Contention {
    cores: None,
    disk: None,
    network: None,
    stream: None,
    seek: 0.0,
    fetch_cores: 0.0,
    reduce_disk: 2.0,
    sample: 1_000,
};

fn sharing(mut world: World, contention: Contention) -> World {
    world.config.cost.reduce = ReduceModel::R2;
    world.config.cost.contention = Some(contention);
    world
}

/// (task, finish) of every end.
fn finishes(world: &World) -> Vec<(usize, Option<Ms>)> {
    ends(&replay(world, "naive-fair")).into_iter().map(|end| (end.0, end.2)).collect()
}

#[test]
fn two_maps_that_compute_on_one_core_take_twice_as_long() {
    let mut world = by_hand(1, vec![job(0, vec![map(10_000, &[0]), map(4_000, &[0])])]);
    world.machines[0].slots = [2, 1];
    let shared = sharing(world.clone(), Contention { cores: Some(1.0), ..UNLIMITED });
    // Both at half speed until 8,000, when 4,000 of the first are left.
    assert_eq!(finishes(&shared), [(0, Some(14_000)), (1, Some(8_000))]);
    let enough = sharing(world, Contention { cores: Some(2.0), ..UNLIMITED });
    assert_eq!(finishes(&enough), [(0, Some(10_000)), (1, Some(4_000))]);
}

/// A job with one map of 1 s and reduces that fetch 8,000 bytes between them, at 1,000 bytes a second each.
fn fetching(reduces: usize) -> Submitted {
    let reduce = LoggedReduce { outcome: Outcome::Success, shuffle: 0, sort: 0, reduce: Some(2_000) };
    Submitted { reduces: vec![vec![reduce]; reduces], shuffle_bytes: 8_000, ..job(0, vec![map(1_000, &[0])]) }
}

#[test]
fn reduces_share_the_network_of_the_node_that_they_fetch_from() {
    let fetched = |network| {
        let mut world = by_hand(3, vec![fetching(2)]);
        world.machines[0].slots = [1, 0];
        world.config.cost.shuffle_rate = 1_000.0;
        let world = sharing(world, Contention { network, ..UNLIMITED });
        let ends = replay(&world, "naive-fair").ends;
        ends.iter().filter(|end| end.task > 0).map(|end| (end.shuffle_finish, end.finish)).collect::<Vec<_>>()
    };
    // The map is known at 3,000; nodes 1 and 2 call then. Alone 4,000 bytes take 4 s; the two get half of 1,000 bytes a second each.
    assert_eq!(fetched(None), [(Some(7_000), Some(9_000)); 2]);
    assert_eq!(fetched(Some(1_000.0)), [(Some(11_000), Some(13_000)); 2]);
}

/// When reduces have fetched and when they end; node 0 has the map, and the others so many slots for reduces.
fn reduces_end(slots: &[u32], contention: Contention) -> Vec<(Option<Ms>, Option<Ms>)> {
    let mut world = by_hand(1 + slots.len(), vec![fetching(2)]);
    world.machines[0].slots = [1, 0];
    world.machines.iter_mut().skip(1).zip(slots).for_each(|(machine, &slots)| machine.slots = [1, slots]);
    world.config.cost.shuffle_rate = 1_000.0;
    let ends = replay(&sharing(world, contention), "naive-fair").ends;
    ends.iter().filter(|end| end.task > 0).map(|end| (end.shuffle_finish, end.finish)).collect()
}

#[test]
fn a_disk_that_seeks_moves_less_for_two_than_for_one() {
    let disk = Contention { disk: Some(2_000.0), ..UNLIMITED };
    // Both read 1,000 bytes a second from node 0.
    assert_eq!(reduces_end(&[1, 1], disk), [(Some(7_000), Some(9_000)); 2]);
    // Every second request needs a seek of twice its time: 2,000 / (1 + 2 × 1/2) are left for both. Nodes 1 and 2 have one stream each.
    assert_eq!(reduces_end(&[1, 1], Contention { seek: 2.0, ..disk }), [(Some(11_000), Some(13_000)); 2]);
}

#[test]
fn reduces_that_fetch_share_the_cores() {
    let core = Contention { cores: Some(1.0), ..UNLIMITED };
    // They sort and reduce for 2 s each, on one core.
    assert_eq!(reduces_end(&[2], core), [(Some(7_000), Some(11_000)); 2]);
    // Two that want 3/4 of the core fetch at 2/3 of their speed: 6 s. Alone on a core, one fetches as fast as ever.
    let fetching = Contention { fetch_cores: 0.75, ..core };
    assert_eq!(reduces_end(&[2], fetching), [(Some(9_000), Some(13_000)); 2]);
    assert_eq!(reduces_end(&[1, 1], fetching), [(Some(7_000), Some(9_000)); 2]);
}

#[test]
fn the_time_that_a_stream_takes_is_no_time_of_a_core() {
    // Each reduce moves 0.5 × 4,000 bytes in its 2 s. At 2,000 bytes a second, that is half of its time, so two fit on one core.
    let core = Contention { cores: Some(1.0), reduce_disk: 0.5, ..UNLIMITED };
    assert_eq!(reduces_end(&[2], Contention { stream: Some(2_000.0), ..core }), [(Some(7_000), Some(9_000)); 2]);
    assert_eq!(reduces_end(&[2], core), [(Some(7_000), Some(11_000)); 2]);
    // 4,000 bytes in 2 s each are twice what the disk has for both.
    let disk = Contention { disk: Some(2_000.0), reduce_disk: 1.0, ..UNLIMITED };
    assert_eq!(reduces_end(&[2], disk), [(Some(7_000), Some(11_000)); 2]);
}

/// Takes down what nodes used, and what attempts took.
#[derive(Default)]
struct Seen {
    used: Vec<Used>,
    ended: Vec<Ended>,
}

impl Reports for Seen {}

impl Observer for Seen {
    fn used(&mut self, used: &Used) -> Result<(), Error> {
        self.used.push(*used);
        Ok(())
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        self.ended.push(*ended);
        Ok(())
    }
}

/// Worlds in which no attempt fails and no node does, so that all work that was begun is done.
fn quiet() -> impl Strategy<Value = World> {
    world(Wanted { every_rule: false, finishes: true }).prop_map(|mut world| {
        for job in &mut world.jobs {
            for map in &mut job.maps {
                let success = |logged_map: &LoggedMap| LoggedMap {
                    outcome: Outcome::Success,
                    run: logged_map.run.max(0),
                    ..*logged_map
                };
                *map = Map { tries: map.tries.iter().take(1).map(success).collect(), ..map.clone() };
            }
            for tries in &mut job.reduces {
                let time = |logged_reduce: &LoggedReduce| Some(logged_reduce.reduce.unwrap_or(0).max(0));
                let success = |logged_reduce: &LoggedReduce| LoggedReduce {
                    outcome: Outcome::Success,
                    reduce: time(logged_reduce),
                    ..*logged_reduce
                };
                *tries = tries.iter().take(1).map(success).collect();
            }
        }
        world.config.cost.locality = [1.0; 3];
        world
    })
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn where_nothing_is_shared_it_is_the_model_logged(world in world(Wanted { every_rule: true, finishes: true })) {
        let mut logged = world;
        logged.config.cost.contention = None;
        logged.config.cost.reduce = ReduceModel::R2;
        logged.config.nodes.copying_reduces = 0;
        // A map that is done once more is fetched at once here, and last in the closed form.
        logged.config.outages.clear();
        let shared = sharing(logged.clone(), UNLIMITED);
        // What a reduce has fetched is known better here, which speculators see.
        let policies = some_policies(&logged).into_iter().filter(|(label, _)| !label.contains('+'));
        for ((label, mut one), (_, mut other)) in policies.zip(some_policies(&shared).into_iter().filter(|(label, _)| !label.contains('+'))) {
            let failed = |error: Error| TestCaseError::fail(error.to_string());
            let one = logged.replay(&label, &mut *one, true).map_err(failed)?;
            let other = shared.replay(&label, &mut *other, true).map_err(failed)?;
            if let Some(difference) = difference(["logged", "contention"], [&one, &other]) {
                return Err(TestCaseError::fail(format!("{label}: {difference}\n{logged:#?}")));
            }
        }
    }

    #[test]
    fn parking_changes_no_schedule(world in world(Wanted { every_rule: true, finishes: true }), cores in 1..4_u32) {
        let mut world = sharing(world, Contention { cores: Some(f64::from(cores) / 2.0), disk: Some(3e4), network: Some(2e4), ..UNLIMITED });
        world.config.nodes.copying_reduces = 0;
        for (label, _) in some_policies(&world).into_iter().filter(|(label, _)| !label.contains(" with ")) {
            let replay = |parking| {
                let mut policy = PolicySpec::parse(&label).and_then(|spec| spec.build()).map_err(|error| TestCaseError::fail(error.to_string()))?;
                world.replay(&label, &mut *policy, parking).map_err(|error| TestCaseError::fail(error.to_string()))
            };
            if let Some(difference) = difference(["parking on", "parking off"], [&replay(true)?, &replay(false)?]) {
                return Err(TestCaseError::fail(format!("{label}: {difference}\n{world:#?}")));
            }
        }
    }

    /// With one core a node, and nothing else scarce, the cores work for as long as the tasks ask.
    #[test]
    fn work_done_is_work_demanded(world in quiet()) {
        let mut world = sharing(world, Contention { cores: Some(1.0), ..UNLIMITED });
        world.config.nodes.copying_reduces = 0;
        let mut policy = PolicySpec::parse("naive-fair").and_then(|spec| spec.build()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut seen = Seen::default();
        world.observe("naive-fair", &mut *policy, true, &mut seen).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut reported: Vec<Ms> = seen.used.iter().map(|used| used.at).collect();
        reported.dedup();
        let before = |at: Ms| reported.iter().rev().find(|&&other| other < at).copied().unwrap_or(world.config.heartbeat.first);
        let worked: f64 = seen.used.iter().map(|used| used.cpu * (used.at - before(used.at)) as f64).sum();
        let times = |job: &Submitted| {
            let maps: Ms = job.maps.iter().map(|map| map.tries.first().map_or(0, |tried| tried.run)).sum();
            let reduces: Ms = job.reduces.iter().filter_map(|tries| tries.first()).map(|reduce| reduce.sort.max(0) + reduce.reduce.unwrap_or(0)).sum();
            maps + reduces
        };
        let demanded: Ms = world.jobs.iter().map(times).sum();
        // An attempt ends at a whole millisecond.
        prop_assert!((worked - demanded as f64).abs() <= seen.ended.len() as f64 + 1.0, "{worked} of {demanded}: {world:#?}");
    }
}
