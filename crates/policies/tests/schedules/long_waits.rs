//! Tasks that run for weeks, in worlds made by hand: a replay neither takes them for a stall nor lives through them.

use crate::worlds::by_hand::{job, map, world};
use crate::worlds::{Schedule, Submitted, World};
use resched_policies::{POLICIES, PolicySpec, SPECULATORS};
use resched_sim::Reports;
use resched_sim::cluster_file::{Contention, ReduceModel};
use resched_sim::hadoop::{Edges, LoggedReduce, Observer, Offer, Orders, Policy, Used, View, Wrapper};
use resched_sim::{Error, Ms, Violation};
use resched_tables::model::Outcome;

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

/// A policy that must not be called more often than this.
struct Counted {
    policy: Box<dyn Policy>,
    left: u32,
}

impl Counted {
    /// Thirty years of heartbeats of one node are hundreds of times as many.
    const MOST: u32 = 1_000_000;

    fn count(&mut self) {
        self.left = self.left.checked_sub(1).expect("a call for every heartbeat of a lull");
    }
}

impl Wrapper for Counted {
    type Inner = dyn Policy;
    fn inner(&self) -> &Self::Inner {
        &*self.policy
    }
    fn inner_mut(&mut self) -> &mut Self::Inner {
        &mut *self.policy
    }
    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        self.count();
        self.policy.tick(view, orders);
    }
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.count();
        self.policy.heartbeat(offer)
    }
}

/// All policies, and all speculators beside some of them.
fn combinations() -> Vec<String> {
    let bases = ["fifo", "fair:preemption=true", "yarn-capacity", "yarn-fair:preemption=true"];
    let beside = |base: &'static str| SPECULATORS.iter().map(move |info| format!("{base}+{}", info.name));
    policies().map(str::to_owned).chain(bases.into_iter().flat_map(beside)).collect()
}

#[test]
fn a_task_of_thirty_years_takes_few_heartbeats_and_ticks() {
    // A job of reduces that may start early waits, too, so that masters call to ask for more or less.
    let mut world = with_one_long_map(1_000_000_000_000);
    let reduce = LoggedReduce { outcome: Outcome::Success, shuffle: 0, sort: 0, reduce: Some(3_000) };
    world.jobs[0].reduces = vec![vec![reduce]; 9];
    for policy in combinations() {
        let policy = PolicySpec::parse(&policy).and_then(|spec| spec.build()).map(|built| (policy, built));
        let (name, built) = policy.expect("a policy");
        let mut counted = Counted { policy: built, left: Counted::MOST };
        let schedule = world.replay(&name, &mut counted, true).expect("it ends");
        assert!(!schedule.stalled && schedule.jobs.len() == 2, "{name}");
    }
}

#[test]
fn a_task_of_thirty_years_fills_no_table_with_samples() {
    let mut world = with_one_long_map(1_000_000_000_000);
    world.config.cost.contention = Some(Contention::default());
    let mut samples = Samples(0);
    let mut policy = PolicySpec::parse("fifo").and_then(|spec| spec.build()).expect("a policy");
    world.observe("fifo", &mut *policy, true, &mut samples).expect("it ends");
    assert!((1..200_000).contains(&samples.0), "{}", samples.0);
}

/// Counts what is reported of the use of nodes.
struct Samples(u32);

impl Reports for Samples {}

impl Observer for Samples {
    fn used(&mut self, _used: &Used) -> Result<(), Error> {
        self.0 += 1;
        Ok(())
    }
}
