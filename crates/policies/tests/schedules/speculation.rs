//! What speculators do with slow nodes, in worlds made by hand.

use crate::worlds::by_hand::{job, map, replay, world};
use crate::worlds::{Schedule, World};
use resched_policies::SPECULATORS;
use resched_sim::cluster_file::Backup;
use resched_tables::model::Outcome;

/// Twenty nodes with a map slot each, and a job of so many maps of 60 s whose input is everywhere. On these nodes everything
/// takes so many times as long.
fn with_slow_nodes(maps: usize, slow: &[(usize, f64)]) -> World {
    let everywhere: Vec<usize> = (0..20).collect();
    let mut world = world(20, vec![job(0, vec![map(60_000, &everywhere); maps])]);
    let factors = slow.iter().map(|&(node, factor)| (format!("n{node:03}"), factor));
    world.config.cost.host_factors = factors.collect();
    world
}

fn finish(schedule: &Schedule) -> i64 {
    schedule.jobs[0].finish
}

/// (when, task, node) of every backup.
fn backups(schedule: &Schedule) -> Vec<(i64, usize, usize)> {
    let backups = schedule.launches.iter().filter(|launch| launch.attempt > 0);
    backups.map(|backup| (backup.at, backup.task, backup.node)).collect()
}

/// How many backups ran at once at most.
fn most_backups(schedule: &Schedule) -> usize {
    let running = |at: i64| {
        let ends = schedule.ends.iter().filter(|end| end.attempt > 0);
        ends.filter(|end| end.start <= at && end.finish.is_none_or(|finish| finish > at)).count()
    };
    backups(schedule).iter().map(|&(at, ..)| running(at)).max().unwrap_or(0)
}

#[test]
fn late_rescues_a_job_from_a_slow_node() {
    let world = with_slow_nodes(40, &[(7, 5.0)]);
    // The other nodes run two maps each by 120 s, and one of them the last one until 180 s.
    assert_eq!(finish(&replay(&world, "fifo")), 300_000);
    let rescued = replay(&world, "fifo+late");
    // At 120 s the slow map is at 0.4, and has 180 s to go; node 0 is the first to call then, and takes the last map.
    assert_eq!(backups(&rescued), [(120_000, 7, 1)]);
    assert_eq!(finish(&rescued), 180_000);
    // Both attempts are at the same map: the first one is killed, and that is no failure.
    let of_slow: Vec<_> = rescued.ends.iter().filter(|end| end.task == 7).map(|end| (end.node, end.outcome)).collect();
    assert_eq!(of_slow, [(7, Outcome::Killed), (1, Outcome::Success)], "though no job is left when its node calls");
    assert_eq!(rescued.jobs[0].outcome, Outcome::Success);
}

#[test]
fn a_killed_loser_is_no_failure() {
    let mut world = with_slow_nodes(40, &[(7, 5.0)]);
    // A second job keeps the replay going, so that the loser is seen to be killed; one failure would end the first job.
    world.config.jobs.max_attempts = 1;
    world.jobs.push(job(150_000, vec![map(60_000, &[0])]));
    let schedule = replay(&world, "fifo+late");
    let loser = schedule.ends.iter().find(|end| (end.task, end.attempt) == (7, 0)).expect("it was launched");
    assert_eq!((loser.outcome, loser.finish), (Outcome::Killed, Some(180_000)));
    assert!(schedule.jobs.iter().all(|job| job.outcome == Outcome::Success));
}

#[test]
fn no_more_backups_run_than_the_cap() {
    let world = with_slow_nodes(40, &[(3, 6.0), (5, 6.0), (7, 6.0), (9, 6.0)]);
    // floor(0.1 · 20) = 2, and floor(0.05 · 20) = 1, and floor(0.04 · 20) = 0.
    for (cap, most) in [("0.1", 2), ("0.05", 1), ("0.04", 0)] {
        let schedule = replay(&world, &format!("fifo+late:cap={cap},slow_task=100"));
        assert_eq!(most_backups(&schedule), most, "cap {cap}");
    }
}

#[test]
fn a_slow_node_gets_no_backups() {
    // At 120 s no map waits. Node 0 calls first; it has done one map, the other nodes but the slowest have done two.
    let world = with_slow_nodes(38, &[(0, 2.0), (7, 9.0)]);
    let first = |policy: &str| backups(&replay(&world, policy))[0];
    assert_eq!(first("naive-fair+late:slow_node=0"), (120_000, 7, 0));
    assert_eq!(first("naive-fair+late"), (120_000, 7, 1));
}

#[test]
fn every_speculator_shortens_a_job_with_a_slow_node() {
    let world = with_slow_nodes(40, &[(7, 5.0)]);
    let alone = finish(&replay(&world, "naive-fair"));
    for info in SPECULATORS {
        let schedule = replay(&world, &format!("naive-fair+{}", info.name));
        assert!(!backups(&schedule).is_empty() && finish(&schedule) < alone, "{}", info.name);
    }
}

/// A job of maps alone has no logged reduce whose times a backup of a map could be given.
#[test]
fn a_backup_takes_a_run_time_of_its_job() {
    let mut world = with_slow_nodes(40, &[(7, 5.0)]);
    world.config.cost.backup = Backup::Job;
    for info in SPECULATORS {
        let schedule = replay(&world, &format!("naive-fair+{}", info.name));
        assert!(!backups(&schedule).is_empty() && finish(&schedule) < 300_000, "{}", info.name);
    }
}
