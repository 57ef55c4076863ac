//! Nodes that fail, slow nodes and attempts, and backups, in worlds made by hand.

use crate::worlds::by_hand::{ends, job, launches, map, replay, world};
use crate::worlds::{Eager, Map, Submitted, World};
use resched_policies::PolicySpec;
use resched_sim::ClusterConfig;
use resched_sim::cluster_file::{Outage, ReduceModel};
use resched_sim::hadoop::{Cluster, LoggedMap, LoggedReduce, Resources};
use resched_tables::model::Outcome;

fn down(node: usize, from: i64, to: Option<i64>) -> Outage {
    Outage { host: format!("n{node:03}"), from, to }
}

fn reduce(run: i64) -> Vec<LoggedReduce> {
    vec![LoggedReduce { outcome: Outcome::Success, shuffle: 0, sort: 0, reduce: Some(run) }]
}

#[test]
fn what_ran_on_a_lost_node_counts_as_killed_once_it_has_expired() {
    let mut world = world(2, vec![job(0, vec![map(20_000, &[0]), map(20_000, &[1])])]);
    world.config.jobs.max_attempts = 1;
    world.config.outages = vec![down(0, 10_000, None)];
    world.config.heartbeat.expiry = 12_000;
    let schedule = replay(&world, "naive-fair");
    // The last heartbeat came at 9,000, so the node is given up at 21,000; node 1 has a slot free at its next one.
    assert_eq!(launches(&schedule), [(0, 0, 0, 0), (0, 1, 0, 1), (21_000, 0, 1, 1)]);
    assert_eq!(ends(&schedule)[0], (0, 0, Some(10_000), Outcome::Killed, false));
    assert_eq!(schedule.jobs[0].outcome, Outcome::Success, "a killed attempt is no failure");
}

#[test]
fn a_node_that_is_back_before_it_expires_is_given_up_at_once() {
    let mut world = world(2, vec![job(0, vec![map(20_000, &[0]), map(20_000, &[1])])]);
    world.config.outages = vec![down(0, 10_000, Some(13_000))];
    let schedule = replay(&world, "naive-fair");
    assert_eq!(launches(&schedule).last(), Some(&(15_000, 0, 1, 0)), "node 0 calls again at 15,000, and has the input");
}

#[test]
fn done_maps_of_a_lost_node_run_again_only_for_reduces() {
    let maps = || vec![map(4_000, &[0]), map(30_000, &[1])];
    let mut world = world(2, vec![job(0, maps()), Submitted { reduces: vec![reduce(1_000)], ..job(0, maps()) }]);
    world.config.outages = vec![down(0, 10_000, None)];
    world.config.heartbeat.expiry = 9_000;
    world.machines.iter_mut().for_each(|machine| machine.slots = [2, 1]);
    let schedule = replay(&world, "delay:D=3");
    // Tasks 0 and 1 are the first job's maps, 2 and 3 the second's; both of node 0 are reported by 9,000.
    let again: Vec<_> = launches(&schedule).into_iter().filter(|launch| launch.2 == 1).collect();
    assert_eq!(again.len(), 2, "{again:?}");
    assert_eq!(
        (again[0].1, again[1].1),
        (4, 2),
        "the second job's map, and its reduce, which had started on node 0: {again:?}"
    );
    assert!(schedule.jobs.iter().all(|job| job.outcome == Outcome::Success));
}

#[test]
fn slow_hosts_take_as_many_times_as_long() {
    let mut world = world(2, vec![job(0, vec![map(4_000, &[0]), map(4_000, &[1])])]);
    world.config.cost.host_factors = [("n001".to_owned(), 2.5)].into();
    let finishes: Vec<_> = replay(&world, "naive-fair").ends.iter().map(|end| end.finish).collect();
    assert_eq!(finishes, [Some(4_000), Some(10_000)]);
}

#[test]
fn the_first_attempt_to_succeed_wins_and_the_other_is_killed() {
    let mut world = world(2, vec![job(0, vec![map(20_000, &[1])])]);
    world.config.cost.host_factors = [("n000".to_owned(), 0.1)].into();
    let below = PolicySpec::parse("naive-fair").and_then(|spec| spec.build()).expect("a policy");
    // The fast node is there too late for the first attempt.
    world.config.outages = vec![down(0, 0, Some(1_000))];
    world.config.heartbeat.expiry = 1;
    let schedule = world.replay("eager", &mut Eager::new(below, 2), true).expect("it ends");
    // Off its data, but ten times as fast: 20,000 · 1.5 / 10 on a node of the same rack.
    assert_eq!(launches(&schedule), [(0, 0, 0, 1), (3_000, 0, 1, 0)]);
    assert_eq!(
        ends(&schedule),
        [(0, 0, Some(6_000), Outcome::Killed, false), (0, 1, Some(6_000), Outcome::Success, false)],
        "the job is over at 6,000, and the loser's node calls after the winner's"
    );
    assert_eq!(schedule.jobs[0].finish, 6_000);
}

#[test]
fn copy_compute_splitting_lets_further_reduces_fetch_but_not_compute() {
    let fetching = |reduce| LoggedReduce { outcome: Outcome::Success, shuffle: 4_000, sort: 500, reduce: Some(reduce) };
    let with_reduces =
        |submit, run| Submitted { reduces: vec![vec![fetching(run)]], ..job(submit, vec![map(1_000, &[])]) };
    let mut world = world(1, vec![with_reduces(0, 10_000), with_reduces(3_000, 1_000)]);
    world.config.cost.reduce = ReduceModel::R1;
    let reduces = |world: &World| -> Vec<_> {
        let ends = replay(world, "fifo").ends;
        let of = |task: usize| {
            ends.iter().find(|end| end.task == task).map(|end| (end.start, end.shuffle_finish, end.finish))
        };
        vec![of(1), of(3)]
    };
    // The first reduce starts at 3,000; the second, with one slot, at the heartbeat after the first has ended.
    let first = Some((3_000, Some(7_000), Some(17_500)));
    assert_eq!(reduces(&world), [first, Some((18_000, Some(22_000), Some(23_500)))]);
    // Admitted beside it, it has fetched when the slot is free.
    world.config.nodes.copying_reduces = 1;
    assert_eq!(reduces(&world), [first, Some((6_000, Some(10_000), Some(19_000)))]);
}

#[test]
fn a_cluster_file_with_an_unknown_host_or_two_outages_at_once_is_refused() {
    let mut world = world(1, vec![job(0, vec![map(1_000, &[])])]);
    let made = |config: &ClusterConfig| {
        let machine = ("n000".to_owned(), "/r".to_owned(), Resources::slots(1, 1));
        Cluster::new(config.clone(), [machine]).map(drop).map_err(|error| error.to_string())
    };
    world.config.outages = vec![down(7, 0, None)];
    assert!(made(&world.config).is_err_and(|error| error.contains("`n007`")));
    world.config.outages = vec![down(0, 0, Some(10)), down(0, 10, None)];
    assert!(made(&world.config).is_err_and(|error| error.contains("down at 10 already")));
    world.config.outages = vec![down(0, 0, Some(10)), down(0, 11, None)];
    assert_eq!(made(&world.config), Ok(()));
}

#[test]
fn what_runs_of_a_failed_job_is_killed_unless_it_is_mumak_that_is_replayed() {
    // The first map fails at once, and for good; the second runs for long.
    let failed =
        Map { tries: vec![LoggedMap { outcome: Outcome::Failed, ..map(1_000, &[0]).tries[0] }], ..map(0, &[0]) };
    let mut world = world(2, vec![job(0, vec![failed, map(60_000, &[1])]), job(0, vec![map(5_000, &[1])])]);
    world.config.jobs.max_attempts = 1;
    let second_map = |world: &World| ends(&replay(world, "fifo"))[1];
    assert_eq!(second_map(&world), (1, 0, Some(3_000), Outcome::Killed, false), "at the heartbeat after the failure");
    world.config.jobs.kill_failed = false;
    assert_eq!(
        second_map(&world),
        (1, 0, Some(60_000), Outcome::Success, false),
        "it runs on, though the other job has ended on node 0"
    );
}

#[test]
fn a_job_is_set_up_before_its_tasks_may_be_launched() {
    let mut world = world(1, vec![job(0, vec![map(4_000, &[0])])]);
    world.config.jobs.init_delay = 4_000;
    let schedule = replay(&world, "fifo");
    assert_eq!(launches(&schedule), [(6_000, 0, 0, 0)], "the first heartbeat after 4,000");
}
