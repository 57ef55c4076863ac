//! What must hold between the Coupling Scheduler, its parts and the Fair Scheduler.

use std::collections::BTreeMap;

use crate::worlds::{Machine, Map, Schedule, Submitted, Wanted, World, cases, difference, world};
use proptest::prelude::*;
use resched_policies::PolicySpec;
use resched_sim::cluster_file::Interval;
use resched_sim::hadoop::{LoggedMap, LoggedReduce};
use resched_sim::{ClusterConfig, Ms};
use resched_tables::model::{Locality, Outcome, Priority};

fn replay(world: &World, policy: &str) -> Schedule {
    let mut built = PolicySpec::parse(policy).and_then(|spec| spec.build()).expect("a policy");
    world.replay(policy, &mut *built, true).expect("the world finishes")
}

fn same(world: &World, policies: [&str; 2]) -> Result<(), TestCaseError> {
    let [first, second] = policies.map(|policy| replay(world, policy));
    match difference(policies, [&first, &second]) {
        Some(difference) => Err(TestCaseError::fail(format!("{difference}\n{world:#?}"))),
        None => Ok(()),
    }
}

proptest! {
    #![proptest_config(cases(500))]

    /// With α = 0 every chance is 1.
    #[test]
    fn without_patience_peeking_is_greedy(world in world(Wanted { every_rule: true, finishes: true }), sample in 1..=3_u32) {
        let impatient = format!("coupling:alpha_both=0,alpha_rack=0,alpha_off=0,K={sample}");
        same(&world, [&impatient, "coupling:maps=greedy"])?;
    }

    #[test]
    fn with_its_own_parts_switched_off_it_is_fair(world in world(Wanted { every_rule: true, finishes: true })) {
        let off = format!("coupling:maps=delay,reduces=greedy,wait=off,update={}", world.unit);
        same(&world, [&off, &format!("fair:update={}", world.unit)])?;
    }

    /// The waits of Algorithm 2 do not hinder maps.
    #[test]
    fn a_job_without_reduces_is_not_touched_by_algorithms_1_and_2(
        mut world in world(Wanted { every_rule: true, finishes: true }),
    ) {
        world.jobs.retain(|job| !job.maps.is_empty());
        world.jobs.iter_mut().for_each(|job| job.reduces.clear());
        prop_assume!(!world.jobs.is_empty());
        for off in ["reduces=greedy", "wait=off", "reduces=greedy,wait=off"] {
            same(&world, ["coupling", &format!("coupling:{off}")])?;
        }
    }
}

/// A job of these many maps and reduces; map number i has its input on node `on(i)`.
fn job(submit: Ms, user: usize, maps: usize, reduces: usize, on: impl Fn(usize) -> usize) -> Submitted {
    let map = |number: usize| {
        let run = 42_000 + (number as Ms * 7_919) % 12_000;
        let success = LoggedMap { outcome: Outcome::Success, level: Locality::Node, run };
        Map { replicas: vec![on(number)], tries: vec![success] }
    };
    let reduce = LoggedReduce { outcome: Outcome::Success, shuffle: 20_000, sort: 2_000, reduce: Some(25_000) };
    Submitted {
        submit,
        user,
        queue: 0,
        priority: Priority::Normal,
        maps: (0..maps).map(map).collect(),
        reduces: vec![vec![reduce]; reduces],
        first_shuffle: Some(10_000),
        typical_shuffle: Some(20_000),
        shuffle_bytes: maps as i64 * 1_000_000,
        edges: resched_sim::hadoop::Edges::default(),
    }
}

/// Nodes with 4 + 2 slots, so many to a rack.
fn cluster(nodes: usize, to_a_rack: usize, jobs: Vec<Submitted>) -> World {
    let mut config = ClusterConfig::default();
    config.heartbeat.interval = Interval::Fixed(3_000);
    let machines = (0..nodes).map(|node| Machine { rack: node / to_a_rack, slots: [4, 2] }).collect();
    World { unit: 500, seed: 1, machines, config, jobs, lulls: Default::default() }
}

/// The first seven jobs of the paper's Table IV (submit in s, maps, reduces) on its Set A of 7 nodes, of which so many hold the
/// input. Two large jobs come first; the small ones follow while these run.
fn table_4(nodes_with_input: usize) -> World {
    let rows = [(0, 148, 15), (30, 148, 15), (150, 5, 1), (170, 8, 1), (190, 8, 2), (210, 8, 2), (230, 8, 3)];
    let jobs = rows.iter().enumerate().map(|(number, &(submit, maps, reduces))| {
        // Spread without a pattern that would fit the slots.
        job(submit * 1_000, number, maps, reduces, |map| (map * map + map / 3 + number) % nodes_with_input)
    });
    cluster(7, 4, jobs.collect())
}

/// The starvation time of each job (Coupling, §III-C), ms, and how many of its maps were done when each of its reduces was launched.
fn reduces(world: &World, schedule: &Schedule) -> Vec<(Ms, Vec<usize>)> {
    let mut first_task = 0;
    let starts: BTreeMap<usize, Ms> = schedule.launches.iter().map(|launch| (launch.task, launch.at)).collect();
    let ends: BTreeMap<usize, Ms> = schedule.ends.iter().filter_map(|end| Some((end.task, end.finish?))).collect();
    let of_job = |job: &Submitted| {
        let maps = first_task..first_task + job.maps.len();
        first_task = maps.end + job.reduces.len();
        let map_ends: Vec<Ms> = maps.clone().map(|map| ends[&map]).collect();
        let last = map_ends.iter().copied().max().unwrap_or(0);
        let mut launches: Vec<Ms> = (maps.end..first_task).map(|reduce| starts[&reduce]).collect();
        launches.sort_unstable();
        let late: Vec<Ms> = launches.iter().filter(|&&launch| launch > last).map(|launch| launch - last).collect();
        let starvation = late.iter().sum::<Ms>() / late.len().max(1) as Ms;
        let done = launches.iter().map(|launch| map_ends.iter().filter(|end| *end <= launch).count());
        (starvation, done.collect())
    };
    world.jobs.iter().map(of_job).collect()
}

#[test]
fn small_jobs_starve_under_fair_but_not_under_coupling() {
    let world = table_4(7);
    let [fair, coupling] =
        ["fair:delay_node=15000,delay_rack=15000", "coupling"].map(|policy| reduces(&world, &replay(&world, policy)));
    // Table IV's signs for jobs 3 to 7.
    for job in 2..7 {
        assert!(fair[job].0 > 60_000, "job {} starves for {} ms under fair", job + 1, fair[job].0);
        assert!(coupling[job].0 < fair[job].0 / 20, "job {}: {} of {} ms", job + 1, coupling[job].0, fair[job].0);
    }
    // Under fair the first job has all its reduces, as many as there are slots, soon after slow-start; under coupling one follows
    // the other as its maps come on, up to a share δ of these: reduce k after a share kδ/R.
    let ramp = 1.0 - (-15.0_f64 / 3.0).exp();
    assert!(fair[0].1[..14].iter().all(|&done| done < 148 / 4), "{:?}", fair[0].1);
    for (number, &done) in coupling[0].1.iter().enumerate().filter(|(_, done)| **done < 120) {
        let least = (number + 1) as f64 * ramp / 15.0 * 148.0;
        assert!(done as f64 > least, "reduce {number} after {done} maps, not {least}");
    }
}

#[test]
fn each_combination_of_parts_makes_a_schedule_of_its_own() {
    // With idle nodes that hold no input, maps have something to wait for.
    let world = table_4(3);
    let mut schedules: Vec<(String, Schedule)> = Vec::new();
    for maps in ["peek", "delay", "greedy"] {
        for reduces in ["gradual", "greedy"] {
            for wait in ["on", "off"] {
                let policy = format!("coupling:maps={maps},reduces={reduces},wait={wait}");
                let schedule = replay(&world, &policy);
                for (other, known) in &schedules {
                    assert!(schedule.launches != known.launches, "{policy} makes the schedule of {other}");
                }
                schedules.push((policy, schedule));
            }
        }
    }
    assert_eq!(schedules.len(), 12);
}

#[test]
fn waiting_brings_reduces_nearer_to_their_input() {
    // One small job after the other on a cluster that is never full. Most of a job's input lies on one node; its last maps run
    // elsewhere in the rack, so that a node with little of the output reports them.
    let (nodes, maps) = (12, 8);
    let on = |number: usize, map: usize| {
        let home = number * 5 % nodes;
        if map < 5 { home } else { home / 4 * 4 + (home + map) % 4 }
    };
    let jobs = (0..20).map(|number| job(number as Ms * 90_000, 0, maps, 1, |map| on(number, map)));
    let mut world = cluster(nodes, 4, jobs.collect());
    let mut hops = |policy: &str| -> usize {
        let mut hops = 0;
        for seed in 1..=10 {
            world.seed = seed;
            let schedule = replay(&world, policy);
            let node_of: BTreeMap<usize, usize> = schedule.ends.iter().map(|end| (end.task, end.node)).collect();
            for first_task in (0..world.jobs.len()).map(|job| job * (maps + 1)) {
                let reduce = node_of[&(first_task + maps)];
                hops += (first_task..first_task + maps).fold(0, |hops, map| match node_of[&map] {
                    node if node == reduce => hops,
                    node if node / 4 == reduce / 4 => hops + 2,
                    _ => hops + 4,
                });
            }
        }
        hops
    };
    let [on, off] = ["on", "off"].map(|wait| hops(&format!("coupling:maps=delay,delay_node=86400000,wait={wait}")));
    assert!(4 * on < 3 * off, "{on} hops with waiting, {off} without");
}
