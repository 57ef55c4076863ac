//! The engine and a second, deliberately naive simulator agree to the millisecond.

use crate::naive::{Coupling, Maps, Rule, simulate};
use crate::worlds::{Machine, Map, Submitted, Wanted, World, cases, difference, waiting, world};
use proptest::prelude::*;
use proptest::sample::select;
use resched_policies::PolicySpec;
use resched_sim::cluster_file::{Interval, Phase, ReduceModel};
use resched_sim::hadoop::{LoggedMap, first_heartbeats};
use resched_sim::{ClusterConfig, Ms};
use resched_tables::model::{Locality, Outcome, Priority};

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
        // A failed job holds the last reduce slots, as in Mumak. The engine finds out, too, but only after 30 days.
        return Err(TestCaseError::reject("the world comes to a stop"));
    }
    let mut built = PolicySpec::parse(policy)
        .and_then(|spec| spec.build())
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    let engine = world.replay(policy, &mut *built, true).map_err(|error| TestCaseError::fail(error.to_string()))?;
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

    #[test]
    fn delay_time(world in worlds(), delays in delays()) {
        let delays = delays.map(|units| world.wait(units));
        let [t1, t2] = delays.map(waiting);
        agree(&world, &format!("delay-time:T1={t1},T2={t2}"), Rule::DelayTime(delays))?;
    }

    #[test]
    fn fair(world in worlds(), delays in delays(), update in updates()) {
        let rule = Coupling { maps: Maps::Delay(delays.map(|units| world.wait(units))), gradual: false, wait: false, ..PAPER };
        agree_on_fair(&world, Coupling { update: update * world.unit, ..rule })?;
    }

    #[test]
    fn coupling(world in worlds(), update in updates()) {
        agree_on_coupling(&world, Coupling { update: update * world.unit, ..PAPER })?;
    }

    #[test]
    fn coupling_with_other_parameters(world in worlds(), update in updates(), rule in other_parameters()) {
        agree_on_coupling(&world, Coupling { update: update * world.unit, ..rule })?;
    }

    #[test]
    fn coupling_with_parts_switched_off(
        world in worlds(),
        update in updates(),
        delays in delays(),
        (maps, gradual, wait) in (0..3_usize, any::<bool>(), any::<bool>()),
    ) {
        let maps = [Maps::Peek, Maps::Delay(delays.map(|units| world.wait(units))), Maps::Greedy][maps];
        agree_on_coupling(&world, Coupling { update: update * world.unit, maps, gradual, wait, ..PAPER })?;
    }
}

/// The paper's choices.
const PAPER: Coupling = Coupling {
    maps: Maps::Peek,
    gradual: true,
    wait: true,
    update: 500,
    threshold: 3.0,
    d: 7,
    fresh: true,
    slowstart: false,
    rounds: 3,
    k: 0,
    alpha: [0.7, 0.8, 1.0],
    beta: None,
    exclude_self: true,
    refill: false,
};

fn other_parameters() -> impl Strategy<Value = Coupling> {
    let ramp = select(vec![0.1, 1.0, 20.0]);
    let places = (1..=8_usize, any::<bool>(), 0..=3_usize);
    let peeking = (
        0..=8_usize,
        select(vec![[0.2, 0.5, 0.9], [1.0; 3]]),
        select(vec![None, Some(0.0), Some(0.1), Some(0.5), Some(1.0)]),
    );
    let on_and_off = (any::<bool>(), any::<bool>(), any::<bool>());
    (ramp, places, peeking, on_and_off).prop_map(
        |(threshold, (d, fresh, rounds), (k, alpha, beta), (slowstart, exclude_self, refill))| Coupling {
            threshold,
            d,
            fresh,
            slowstart,
            rounds,
            k,
            alpha,
            beta,
            exclude_self,
            refill,
            ..PAPER
        },
    )
}

/// T1 and T2 in units of the world; none: automatic.
fn delays() -> impl Strategy<Value = [Option<Ms>; 2]> {
    [prop::option::of(0..=30_i64), prop::option::of(0..=30_i64)]
}

/// Between two updates, in units of the world; often as long as a heartbeat interval or more.
fn updates() -> impl Strategy<Value = Ms> {
    1..=7_i64
}

fn agree_on_fair(world: &World, rule: Coupling) -> Result<(), TestCaseError> {
    let Maps::Delay(waits) = rule.maps else { return Err(TestCaseError::fail("fair waits")) };
    let [node, rack] = waits.map(waiting);
    let policy = format!("fair:update={},delay_node={node},delay_rack={rack}", rule.update);
    agree(world, &policy, Rule::Coupling(rule))
}

fn agree_on_coupling(world: &World, rule: Coupling) -> Result<(), TestCaseError> {
    let maps = match rule.maps {
        Maps::Peek => "peek".to_owned(),
        Maps::Delay(waits) => {
            let [node, rack] = waits.map(waiting);
            format!("delay,delay_node={node},delay_rack={rack}")
        }
        Maps::Greedy => "greedy".to_owned(),
    };
    let reduces = if rule.gradual { "gradual" } else { "greedy" };
    let wait = if rule.wait { "on" } else { "off" };
    let list = if rule.fresh { "fresh" } else { "free" };
    let Coupling { update, threshold, d, slowstart, rounds, k, alpha: [both, rack, off], .. } = rule;
    let Coupling { beta, exclude_self, refill, .. } = rule;
    let beta = beta.map_or_else(|| "auto".to_owned(), |beta| beta.to_string());
    let k = if k == 0 { "auto".to_owned() } else { k.to_string() };
    let policy = format!(
        "coupling:maps={maps},reduces={reduces},wait={wait},update={update},threshold={threshold},D={d},list={list},\
         slowstart={slowstart},rounds={rounds},K={k},\
         alpha_both={both},alpha_rack={rack},alpha_off={off},beta={beta},exclude_self={exclude_self},refill={refill}"
    );
    agree(world, &policy, Rule::Coupling(rule))
}

/// Found by `delay` above: a job with a map of unknown place does not wait, so it is not skipped either where that map has
/// failed.
#[test]
fn a_job_that_does_not_wait_counts_no_skip() -> Result<(), TestCaseError> {
    let tries = |runs: [i64; 2]| {
        let logged = |(outcome, run)| LoggedMap { outcome, level: Locality::Node, run };
        [Outcome::Failed, Outcome::Success].into_iter().zip(runs).map(logged).collect()
    };
    let job = Submitted {
        submit: 0,
        user: 0,
        queue: 0,
        priority: Priority::Normal,
        maps: vec![
            Map { replicas: vec![0], tries: tries([2_500, 500]) },
            Map { replicas: Vec::new(), tries: tries([500, 500]) },
        ],
        reduces: Vec::new(),
        first_shuffle: None,
        typical_shuffle: None,
        shuffle_bytes: 0,
        edges: resched_sim::hadoop::Edges::default(),
    };
    let mut config = ClusterConfig::default();
    config.heartbeat.interval = Interval::Fixed(1_000);
    config.heartbeat.phase = Phase::Together;
    config.cost.reduce = ReduceModel::R0;
    // Node 0 holds the split but runs no map. Both maps fail on node 1: first the one of unknown place, which goes to node 2,
    // then the other, which waits for its data from then on.
    let machines = [0, 2, 1].map(|maps| Machine { rack: 0, slots: [maps, 1] }).to_vec();
    let world = World { unit: 500, seed: 1, machines, config, jobs: vec![job], lulls: Default::default() };
    for skips in 1..=6 {
        agree(&world, &format!("delay:D={skips}"), Rule::Delay(skips))?;
    }
    Ok(())
}
