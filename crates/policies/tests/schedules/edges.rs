//! A job before its first task and after its last, in worlds made by hand (`docs/model/heartbeats.md`): nodes call every 3 s from 0 on.

use crate::worlds::by_hand::{job, launches, map, replay, world};
use crate::worlds::{Submitted, World};
use resched_sim::Ms;
use resched_sim::hadoop::Edges;
use resched_tables::model::Outcome;

fn logged(init: Ms, setup: Ms, cleanup: Ms) -> Edges {
    Edges { init: Some(init), setup: Some(setup), cleanup: Some(cleanup), ..Edges::default() }
}

/// When jobs ended, in their order.
fn finishes(world: &World, policy: &str) -> Vec<Ms> {
    let mut ended = replay(world, policy).jobs;
    ended.sort_by_key(|ended| ended.job);
    ended.iter().map(|ended| ended.finish).collect()
}

/// Initialised at 1,000, set up from 3,000 to 5,000, known at 6,000; the map runs from 6,000 to 10,000, known at 12,000; cleaned up from
/// 12,000 to 13,000, known at 15,000.
#[test]
fn a_job_begins_and_ends_with_tasks_of_the_master() {
    let alone = Submitted { edges: logged(1_000, 2_000, 1_000), ..job(0, vec![map(4_000, &[0])]) };
    let mut world = world(1, vec![alone]);
    for policy in ["fifo", "naive-fair"] {
        assert_eq!(launches(&replay(&world, policy)), [(6_000, 0, 0, 0)], "{policy}");
        assert_eq!(finishes(&world, policy), [15_000], "{policy}");
    }
    // With heartbeats out of band: map from 5,000 to 9,000, clean-up until 10,000.
    world.config.heartbeat.out_of_band = true;
    assert_eq!(launches(&replay(&world, "fifo")), [(5_000, 0, 0, 0)]);
    assert_eq!(finishes(&world, "fifo"), [10_000]);
    // Without any of it, as the cluster file says for jobs that do not know.
    world.jobs[0].edges = Edges::default();
    assert_eq!(finishes(&world, "fifo"), [4_000]);
    (world.config.jobs.setup_time, world.config.jobs.cleanup_time) = (500, 700);
    assert_eq!(finishes(&world, "fifo"), [5_200], "set up at 0, the map from 500 to 4,500");
}

/// The only map slot is the first job's from 0 to 20,000, known at 21,000. The second job arrives after the heartbeat at 0; its set-up
/// takes the reduce slot from 3,000 to 5,000, and its map runs from 21,000 to 25,000, known at 27,000. Then its clean-up
/// comes before the third job's set-up, which waits since 26,500 and has its turn at 30,000: a heartbeat hands out one of them.
#[test]
fn set_up_takes_any_slot_and_clean_up_comes_first() {
    let second = Submitted { edges: logged(0, 2_000, 1_000), ..job(0, vec![map(4_000, &[0])]) };
    let third = Submitted { edges: logged(0, 2_000, 1_000), ..job(26_500, vec![map(4_000, &[0])]) };
    let mut world = world(1, vec![job(0, vec![map(20_000, &[0])]), second, third]);
    world.machines.iter_mut().for_each(|machine| machine.slots = [1, 1]);
    let maps: Vec<(Ms, usize)> = launches(&replay(&world, "fifo")).iter().map(|launch| (launch.0, launch.1)).collect();
    assert_eq!(maps, [(0, 0), (21_000, 1), (33_000, 2)]);
    assert_eq!(finishes(&world, "fifo"), [21_000, 30_000, 42_000]);
}

/// The node dies at 4,000 with the set-up task on it, and is given up when it returns at 10,000. The task starts anew at 12,000 and is
/// known to have ended at 18,000.
#[test]
fn a_set_up_task_that_is_lost_with_its_node_starts_anew() {
    let alone = Submitted { edges: logged(0, 5_000, 1_000), ..job(0, vec![map(4_000, &[0])]) };
    let mut world = world(1, vec![alone]);
    world.config.outages =
        vec![resched_sim::cluster_file::Outage { host: "n000".to_owned(), from: 4_000, to: Some(10_000) }];
    let schedule = replay(&world, "fifo");
    assert_eq!(launches(&schedule), [(18_000, 0, 0, 0)]);
    assert_eq!(schedule.jobs.iter().map(|job| job.outcome).collect::<Vec<_>>(), [Outcome::Success]);
}

/// The Capacity Scheduler polls every 5 s for jobs to initialise; a job that was initialised by its log does not wait for it.
#[test]
fn a_logged_initialisation_is_not_repeated() {
    let mut world = world(1, vec![job(0, vec![map(4_000, &[0])])]);
    assert_eq!(launches(&replay(&world, "capacity")), [(6_000, 0, 0, 0)], "after the poll at 5,000");
    world.jobs[0].edges.init = Some(1_000);
    assert_eq!(launches(&replay(&world, "capacity")), [(3_000, 0, 0, 0)]);
}
