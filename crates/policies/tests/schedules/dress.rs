//! DRESS in replays: what it comes to without small jobs, and what it does for them (`docs/model/dress.md`, `docs/papers/dress.md`).

use crate::worlds::{Machine, Map, Submitted, Wanted, World, cases, difference, world};
use proptest::prelude::*;
use resched_policies::PolicySpec;
use resched_sim::Reports;
use resched_sim::cluster_file::{Phase, ReduceModel, Size};
use resched_sim::hadoop::{Launched, LoggedMap, Observer, Policy};
use resched_sim::{ClusterConfig, Decided, Error, Ms};
use resched_tables::model::{Locality, Outcome, Priority};

fn build(policy: &str) -> Box<dyn Policy> {
    PolicySpec::parse(policy).and_then(|spec| spec.build()).unwrap_or_else(|error| panic!("{error}"))
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn with_nothing_kept_and_one_category_it_is_the_capacity_scheduler(
        world in world(Wanted { every_rule: true, finishes: true }),
    ) {
        let schedule = |policy: &str| {
            world.replay(policy, &mut *build(policy), true).map_err(|error| TestCaseError::fail(error.to_string()))
        };
        for whole in [false, true] {
            // θ = 0 makes every job large.
            let dress = schedule(&format!("dress:theta=0,delta=0,delta_min=0,whole={whole}"))?;
            let capacity = schedule(&format!("yarn-capacity:rules=2014,whole={whole}"))?;
            if let Some(difference) = difference(["dress", "capacity"], [&dress, &capacity]) {
                return Err(TestCaseError::fail(format!("whole={whole}: {difference}\n{world:#?}")));
            }
        }
    }
}

const SECOND: Ms = 1_000;

/// Five nodes of 20 containers. A job of 170 maps of 40 s comes at 0, one of 5 maps of 10 s at 30 s.
fn congested() -> World {
    with_jobs(&[(0, 170, 40 * SECOND), (30 * SECOND, 5, 10 * SECOND)])
}

/// Five nodes of 20 containers. Each job comes at a time, with so many maps of such a length.
fn with_jobs(jobs: &[(Ms, usize, Ms)]) -> World {
    let job = |submit: Ms, maps: usize, run: Ms| {
        let logged = LoggedMap { outcome: Outcome::Success, level: Locality::Node, run };
        Submitted {
            submit,
            user: 0,
            queue: 0,
            priority: Priority::Normal,
            maps: vec![Map { replicas: Vec::new(), tries: vec![logged] }; maps],
            reduces: Vec::new(),
            first_shuffle: None,
            typical_shuffle: None,
            shuffle_bytes: 0,
            edges: resched_sim::hadoop::Edges::default(),
        }
    };
    let mut config = ClusterConfig::default();
    config.heartbeat.phase = Phase::Together;
    config.cost.reduce = ReduceModel::R0;
    config.containers.memory_mb = Some(20_480);
    config.containers.am = Size { memory_mb: 1_024, vcores: 1 };
    let machines = vec![Machine { rack: 0, slots: [1, 1] }; 5];
    let jobs = jobs.iter().map(|&(submit, maps, run)| job(submit, maps, run)).collect();
    World { unit: 1, seed: 1, machines, config, jobs, lulls: Default::default() }
}

/// When each task was allocated, and each δ with the time from which it held, ms.
#[derive(Default)]
struct Seen {
    allocated: Vec<(usize, Ms)>,
    deltas: Vec<(Ms, f64)>,
    categories: Vec<(Ms, usize, f64)>,
}

impl Reports for Seen {
    fn decided(&mut self, decided: &Decided) -> Result<(), Error> {
        match (decided.name, decided.job) {
            ("delta", None) => self.deltas.push((decided.at, decided.value)),
            ("category", Some(job)) => self.categories.push((decided.at, job.index(), decided.value)),
            _ => panic!("{decided:?}"),
        }
        Ok(())
    }
}

impl Observer for Seen {
    fn launched(&mut self, launched: &Launched) -> Result<(), Error> {
        self.allocated.push((launched.task.index(), launched.at));
        Ok(())
    }
}

impl Seen {
    fn of(policy: &str) -> Self {
        Self::in_world(&congested(), policy)
    }

    fn in_world(world: &World, policy: &str) -> Self {
        let mut seen = Seen::default();
        world.observe(policy, &mut *build(policy), true, &mut seen).expect("the world finishes");
        seen
    }

    /// When the first and the last map of the small job were allocated, s after it came.
    fn waits_of_small(&self) -> (Ms, Ms) {
        let of_small = || self.allocated.iter().filter(|(task, _)| *task >= 170).map(|(_, at)| at / SECOND - 30);
        (of_small().min().expect("it ran"), of_small().max().expect("it ran"))
    }

    fn delta_at(&self, second: Ms) -> Option<f64> {
        self.deltas.iter().rev().find(|(at, _)| *at <= second * SECOND).map(|(_, delta)| *delta)
    }
}

#[test]
fn without_small_jobs_delta_collapses_at_the_first_tick() {
    let seen = Seen::of("dress:delta_min=0");
    assert_eq!(seen.deltas.first(), Some(&(SECOND, 0.0)));
    assert_eq!(seen.delta_at(29), Some(0.0));
    assert_eq!(seen.categories, [(SECOND, 0, 2.0), (30 * SECOND, 1, 1.0)]);
    assert_eq!(Seen::of("dress").deltas, [(SECOND, 0.1)], "the share of the start stays reserved");
}

#[test]
fn what_is_kept_lets_a_small_job_start_at_once() {
    let first = |policy: &str| Seen::of(policy).waits_of_small();
    // The master has its container at the next heartbeat, and asks for maps a second later.
    let (kept, last) = first("dress");
    assert!(kept <= 4 && last <= 4, "{kept} s, {last} s");
    // The large job's first tasks end at about 45 s, and it takes what they held until all its maps run.
    let (waited, _) = first("yarn-capacity:rules=2014");
    assert!(waited >= 10, "{waited} s");
    assert!(first("dress:whole=false,delta_min=0").0 < waited, "one container is always kept");
}

/// When the first and the last map of each job were allocated, s, where the jobs have so many maps.
fn spans(seen: &Seen, maps: &[usize]) -> Vec<(Ms, Ms)> {
    let first_of = |job: usize| maps.iter().take(job).sum::<usize>();
    let of_job = |job: usize| first_of(job)..first_of(job + 1);
    let times = |job: usize| {
        seen.allocated.iter().filter(move |(task, _)| of_job(job).contains(task)).map(|(_, at)| at / SECOND)
    };
    (0..maps.len()).map(|job| (times(job).min().unwrap_or(-1), times(job).max().unwrap_or(-1))).collect()
}

#[test]
fn a_job_waits_until_all_that_it_asks_for_is_free() {
    // 61 of 100 containers are taken for 300 s, masters included, when a job comes that asks for 50. (Maps far from their data take three
    // times as long, and here no data is anywhere.)
    let world = with_jobs(&[(0, 60, 100 * SECOND), (10 * SECOND, 49, 10 * SECOND), (20 * SECOND, 20, 10 * SECOND)]);
    let waits = |policy: &str| spans(&Seen::in_world(&world, policy), &[60, 49, 20]);
    let whole = waits("yarn-capacity:rules=2014,whole=true");
    assert!(whole[1].0 >= 300 && whole[1].1 - whole[1].0 <= 10, "{whole:?}");
    assert!(whole[2].0 >= 300, "nobody overtakes it: {whole:?}");
    assert!(waits("yarn-capacity:rules=2014")[1].0 <= 30, "Hadoop grants one container after the other");
}

#[test]
fn while_both_kinds_are_short_the_smallest_job_is_next() {
    // The first small job takes what is kept, and the second one is short. So are both large ones that wait, of 60 and of 25.
    let jobs = [(0, 60, 100), (5, 9, 300), (8, 60, 10), (9, 25, 10), (10, 9, 10)];
    let world = with_jobs(&jobs.map(|(submit, maps, run)| (submit * SECOND, maps, run * SECOND)));
    let starts = |policy: &str| spans(&Seen::in_world(&world, policy), &jobs.map(|(_, maps, _)| maps));
    let (smallest, submission) = (starts("dress"), starts("dress:order=submission"));
    assert!(smallest[3].0 < 100, "29 containers of large jobs are free, and it asks for 26: {smallest:?}");
    assert!(submission[3].0 >= 300, "it waits behind the job of 60: {submission:?}");
}

#[test]
fn while_both_kinds_are_short_the_smallest_job_gets_the_next_container() {
    // A job of 85 and a small one fill the cluster but for two containers until 300 s, because maps take three times as long here. Jobs of 120
    // and of 15 come next, and two more small ones, so that both kinds are short from 50 s on.
    let jobs = [(0, 85, 100), (30, 9, 300), (40, 120, 10), (40, 15, 10), (50, 9, 10), (50, 9, 10)];
    let world = with_jobs(&jobs.map(|(submit, maps, run)| (submit * SECOND, maps, run * SECOND)));
    let starts = |policy: &str| spans(&Seen::in_world(&world, policy), &jobs.map(|(_, maps, _)| maps));
    let (smallest, submission) = (starts("dress:whole=false"), starts("dress:whole=false,order=submission"));
    assert!(smallest[3].0 < 200, "the job of 15 gets what the maps of the job of 120 leave: {smallest:?}");
    assert!(submission[3].0 > 300, "it waits until the job of 120 asks for no more: {submission:?}");
}

#[test]
fn decisions_do_not_depend_on_what_is_parked() {
    let decisions = |parking: bool| {
        let mut seen = Seen::default();
        congested().observe("dress", &mut *build("dress"), parking, &mut seen).expect("the world finishes");
        (seen.deltas, seen.categories, seen.allocated)
    };
    assert_eq!(decisions(true), decisions(false));
}
