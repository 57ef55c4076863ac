//! Outages and slow hosts of a cluster file, under every policy.

use proptest::prelude::*;
use resched_sim::batch::{Machine, Machines, Workload};
use resched_sim::cluster_file::{Outage, Placement};
use resched_sim::{ClusterConfig, Ms, Resources};
use resched_tables::model::Outcome;

use crate::cases::cases;
use crate::support::{Seen, cores, job, machine, seen, task};
use crate::worlds::{self, POLICIES, World, world};

fn down(node: usize, from: Ms, to: Option<Ms>) -> Outage {
    Outage { host: format!("n{node}"), from, to }
}

fn with(outages: Vec<Outage>) -> ClusterConfig {
    let mut config = ClusterConfig { outages, ..ClusterConfig::default() };
    config.jobs.first_submit = 0;
    config
}

/// At most one outage for each machine of a world; all are back in the end.
fn outages(machines: usize) -> impl Strategy<Value = Vec<Outage>> {
    prop::collection::vec((0..machines, 0..60_i64, 1..40_i64), 1..5).prop_map(|mut all| {
        all.sort_unstable();
        all.dedup_by_key(|outage| outage.0);
        all.into_iter().map(|(node, from, length)| down(node, from, Some(from + length))).collect()
    })
}

fn world_with_outages() -> impl Strategy<Value = (World, Vec<Outage>)> {
    world().prop_flat_map(|world| {
        let outages = outages(world.capacities.len());
        (Just(world), outages)
    })
}

/// Nothing runs on a machine between the ends of its outage.
fn check_idle(seen: &Seen, outages: &[Outage]) {
    for outage in outages {
        let node: usize = outage.host.trim_start_matches('n').parse().unwrap();
        let to = outage.to.unwrap_or(Ms::MAX);
        for ran in seen.ran.iter().filter(|ran| ran.places.iter().any(|(place, _)| place.index() == node)) {
            assert!(ran.finish <= outage.from || ran.start >= to, "{ran:?} runs in {outage:?}");
        }
    }
}

fn alike(count: usize) -> Machines {
    let of = |number| Machine { name: format!("n{number}"), capacity: cores(1), ..Machine::default() };
    Machines::new((0..count).map(of).collect(), &[], Placement::FirstFit).unwrap()
}

fn workload(jobs: Vec<resched_sim::batch::JobSpec>) -> Workload {
    Workload::new(jobs, 0).unwrap().0
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn nothing_runs_on_a_machine_that_is_down((world, outages) in world_with_outages()) {
        let workload = world.workload();
        let machines = world.machines().with_mishaps(&with(outages.clone())).unwrap();
        for policy in POLICIES {
            let seen = seen(policy, &workload, &machines);
            check_idle(&seen, &outages);
            worlds::check_tries(&workload, &seen);
            prop_assert_eq!((seen.tally.left_waiting, seen.jobs.len()), (0, world.jobs.len()), "{}", policy);
        }
    }

    /// Half of a cluster that is down from the start to the end is as good as none.
    #[test]
    fn machines_that_are_always_down_are_none(
        world in world(),
        more in prop::collection::vec((1..=9_u64, 1..=9_u64), 1..5),
    ) {
        let (workload, fewer) = (world.workload(), world.machines());
        let first = world.capacities.len();
        let more = more.into_iter().map(|(cpu, memory)| Resources { cpu, memory });
        let whole = World { capacities: world.capacities.iter().copied().chain(more).collect(), ..world };
        let outages = (first..whole.capacities.len()).map(|node| down(node, 0, None)).collect();
        let machines = whole.machines().with_mishaps(&with(outages)).unwrap();
        for policy in POLICIES {
            prop_assert_eq!(seen(policy, &workload, &machines), seen(policy, &workload, &fewer), "{}", policy);
        }
    }
}

/// The policies that use every machine at once. DRESS keeps some back.
fn quick() -> impl Iterator<Item = &'static str> {
    POLICIES.into_iter().filter(|policy| !policy.starts_with("batch-dress"))
}

/// Two machines of a core, and two tasks of 100 s. The second machine is away from 50 s to 70 s: its task is lost, and runs again.
#[test]
fn what_runs_on_a_machine_that_goes_down_is_tried_again() {
    let workload = workload(vec![job(0, "u", 0, None, task(cores(1), 2, false, 100_000))]);
    let machines = alike(2).with_mishaps(&with(vec![down(1, 50_000, Some(70_000))])).unwrap();
    for policy in quick() {
        let seen = seen(policy, &workload, &machines);
        let lost: Vec<Ms> = seen.ran.iter().filter(|ran| ran.outcome == Outcome::Lost).map(|ran| ran.finish).collect();
        assert_eq!(lost, [50_000], "{policy}");
        let again = seen.ran.last().unwrap();
        assert!(again.start >= 70_000 && again.finish == again.start + 100_000, "{policy}: {again:?}");
    }
}

/// A machine is down, and a job that needs both waits. No policy promises the machine that is down: a short job behind starts at once.
#[test]
fn backfill_does_not_promise_a_machine_that_is_down() {
    let wide = task(cores(1), 2, true, 50_000);
    let jobs = vec![
        job(0, "u", 0, Some(100_000), task(cores(1), 1, false, 100_000)),
        job(1, "u", 1_000, Some(50_000), wide),
        job(2, "u", 2_000, Some(10_000), task(cores(1), 1, false, 10_000)),
    ];
    let workload = workload(jobs);
    let machines = alike(3).with_mishaps(&with(vec![down(2, 0, Some(1_000_000))])).unwrap();
    for policy in ["easy", "conservative", "slurm:bf_interval=1000,limit_grain=1"] {
        let seen = seen(policy, &workload, &machines);
        let [_, wide, short] = [0, 1, 2].map(|task| seen.ran.iter().find(|ran| ran.task == task).unwrap());
        // The wide job waits for the first one, as two machines are there; the short one fits before it.
        assert!((100_000..120_000).contains(&wide.start), "{policy}: {wide:?}");
        assert!(short.start < 60_000, "{policy}: {short:?}");
    }
}

#[test]
fn a_slow_host_lengthens_what_is_placed_there_and_a_gang_goes_with_the_slowest() {
    let single = workload(vec![job(0, "u", 0, None, task(cores(1), 2, false, 100_000))]);
    let gang = workload(vec![job(0, "u", 0, None, task(cores(1), 2, true, 100_000))]);
    let mut config = with(Vec::new());
    config.cost.host_factors = [("n1".to_owned(), 1.5)].into();
    let machines = alike(2).with_mishaps(&config).unwrap();
    for policy in quick() {
        let runs = |workload: &Workload| -> Vec<Ms> {
            let mut runs: Vec<Ms> =
                seen(policy, workload, &machines).ran.iter().map(|ran| ran.finish - ran.start).collect();
            runs.sort_unstable();
            runs
        };
        assert_eq!(runs(&single), [100_000, 150_000], "{policy}");
        assert_eq!(runs(&gang), [150_000], "{policy}");
    }
}

/// Of 100 machines, about a quarter is slow. Which ones depends on the seed alone.
#[test]
fn slow_nodes_are_drawn_from_the_seed() {
    let workload = workload(vec![job(0, "u", 0, None, task(cores(1), 100, false, 1_000))]);
    let mut config = with(Vec::new());
    config.cost.slow_nodes = resched_sim::cluster_file::Slow { share: 0.25, factor: 3.0 };
    let machines = alike(100).with_mishaps(&config).unwrap();
    let seen = seen("batch-fifo", &workload, &machines);
    let slow = seen.ran.iter().filter(|ran| ran.finish - ran.start == 3_000).count();
    assert!((10..40).contains(&slow), "{slow}");
    assert!(seen.ran.iter().all(|ran| [1_000, 3_000].contains(&(ran.finish - ran.start))));
}

#[test]
fn unknown_hosts_and_two_outages_at_once_are_refused() {
    let error = |config: &ClusterConfig| alike(3).with_mishaps(config).unwrap_err().to_string();
    let unknown = error(&with(vec![down(7, 0, None)]));
    assert!(
        unknown.contains("outages of the cluster file names `n7`") && unknown.contains("did you mean `n"),
        "{unknown}"
    );
    let mut config = with(Vec::new());
    config.cost.host_factors = [("n01".to_owned(), 2.0)].into();
    let unknown = error(&config);
    assert!(unknown.contains("cost.host_factors of the cluster file names `n01`"), "{unknown}");
    let twice = error(&with(vec![down(0, 0, Some(10)), down(0, 10, None)]));
    assert!(twice.contains("`n0` is down at 10 already"), "{twice}");
    assert!(alike(3).with_mishaps(&with(vec![down(0, 0, Some(10)), down(0, 11, None)])).is_ok());
    assert!(machine(1).with_mishaps(&with(Vec::new())).is_ok());
}
