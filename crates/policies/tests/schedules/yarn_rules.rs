//! The rules of YARN's schedulers, one by one, in worlds made by hand. Their letters are those of `docs/yarn.md`.

use crate::worlds::by_hand::{job, map};
use crate::worlds::{Machine, Map, Submitted, World, at_site};
use resched_policies::queues::{FairQueue, QueueTree};
use resched_policies::{PolicySpec, Site};
use resched_sim::Reports;
use resched_sim::cluster_file::{Calculator, Outage, Phase, ReduceModel, Size, Withdraws};
use resched_sim::hadoop::{Kept, Launched, MasterEnded, MasterLaunched, Observer, Policy, TakenBack};
use resched_sim::{ClusterConfig, Error, Ms};
use resched_tables::model::Locality;

const SECOND: Ms = 1_000;

/// Nodes of so many containers, each in a rack of its own, that call together once a second; a master takes as much as a map.
fn cluster(nodes: usize, containers: u32, jobs: Vec<Submitted>) -> World {
    let mut config = ClusterConfig::default();
    config.heartbeat.phase = Phase::Together;
    config.cost.reduce = ReduceModel::R0;
    config.containers.memory_mb = Some(1_024 * containers);
    config.containers.vcores = Some(containers);
    config.containers.am = Size { memory_mb: 1_024, vcores: 1 };
    config.am.withdraws = Withdraws::Grant;
    let machines = (0..nodes).map(|rack| Machine { rack, slots: [1, 1] }).collect();
    World { unit: 1, seed: 1, machines, config, jobs, lulls: Default::default() }
}

/// So many maps without a place, which take so many seconds.
fn anywhere(maps: usize, seconds: Ms) -> Vec<Map> {
    vec![map(seconds * SECOND, &[]); maps]
}

/// What the resource manager did: second, and what.
#[derive(Default)]
struct Diary {
    entries: Vec<(Ms, String)>,
    levels: Vec<Option<Locality>>,
}

impl Diary {
    fn of(world: &World, mut policy: Box<dyn Policy>) -> Self {
        let mut diary = Diary::default();
        world.observe("yarn", &mut *policy, true, &mut diary).expect("the world finishes");
        diary
    }

    fn under(world: &World, policy: &str) -> Self {
        let built = PolicySpec::parse(policy).and_then(|spec| spec.build());
        Self::of(world, built.unwrap_or_else(|error| panic!("{error}")))
    }

    fn write(&mut self, at: Ms, entry: String) {
        self.entries.push((at / SECOND, entry));
    }

    /// When such entries were written, s.
    fn times(&self, what: &str) -> Vec<Ms> {
        self.entries.iter().filter(|(_, entry)| entry == what).map(|(at, _)| *at).collect()
    }

    /// How many entries that begin so were written by then.
    fn count(&self, what: &str, until: Ms) -> usize {
        self.entries.iter().filter(|(at, entry)| entry.starts_with(what) && *at <= until).count()
    }
}

impl Reports for Diary {}

impl Observer for Diary {
    fn launched(&mut self, launched: &Launched) -> Result<(), Error> {
        self.levels.push(launched.level);
        self.write(launched.at, format!("map {} on {}", launched.task.index(), launched.node.index()));
        Ok(())
    }

    fn master_launched(&mut self, master_launched: &MasterLaunched) -> Result<(), Error> {
        self.write(
            master_launched.at,
            format!("master {} on {}", master_launched.job.index(), master_launched.node.index()),
        );
        Ok(())
    }

    fn master_ended(&mut self, master_ended: &MasterEnded) -> Result<(), Error> {
        self.write(master_ended.at, format!("end of master {}: {}", master_ended.job.index(), master_ended.outcome));
        Ok(())
    }

    fn kept(&mut self, report: &Kept) -> Result<(), Error> {
        let whom = report.reservation.map_or_else(|| "nobody".to_owned(), |kept| kept.job.index().to_string());
        self.write(report.at, format!("{} kept for {whom}", report.node.index()));
        Ok(())
    }

    fn taken_back(&mut self, taken_back: &TakenBack) -> Result<(), Error> {
        self.write(taken_back.at, format!("kill {}", taken_back.task.index()));
        Ok(())
    }
}

fn fair_with(policy: &str, root: FairQueue, queues: &[(&str, FairQueue)]) -> Box<dyn Policy> {
    let queues = queues.iter().map(|(path, queue)| ((*path).to_owned(), queue.clone())).collect();
    let tree = QueueTree::from_paths(root, queues).expect("a tree");
    at_site(policy, Site { yarn_fair: Some(tree), ..Site::default() })
}

#[test]
fn c1_a_master_that_waits_has_a_second_node_kept_for_it() {
    // A master takes 2 GB. The first job leaves 1 GB on each of six nodes for a minute.
    let maps = (2..18).map(|place| map(60 * SECOND, &[place / 3])).collect();
    let mut world = cluster(6, 4, vec![job(0, maps), job(10 * SECOND, anywhere(1, 1))]);
    world.config.containers.am = Size { memory_mb: 2_048, vcores: 1 };
    let diary = Diary::under(&world, "yarn-capacity:rules=2014,am_share=1");
    let first = |node: usize| diary.times(&format!("{node} kept for 1")).first().copied();
    // The largest container has 8 GB: for each heartbeat of a kept node without room 3/4 of a node more, shared by the kept ones.
    assert_eq!([first(0), first(1), first(2)], [Some(10), Some(12), Some(15)], "{:?}", diary.entries);
}

#[test]
fn c2_an_application_waits_by_all_places_that_it_ever_named() {
    // Map 0 has its input on nodes 0 and 1, map 1 on nodes 2 and 3, of four. When map 0 runs, one map is left, and the
    // places of both still count: it is passed over once before it goes anywhere.
    let maps = vec![map(30 * SECOND, &[0]), map(30 * SECOND, &[3])];
    let world = cluster(4, 1, vec![job(0, maps)]);
    let diary = Diary::under(&world, "yarn-capacity:rules=2014,am_share=1,node_locality_delay=40");
    // The master takes node 0, so map 0 can run only far from its input; two hosts and two racks of four nodes are a whole.
    let first = diary.entries.iter().find(|(_, entry)| entry.starts_with("map 0"));
    assert!(first.is_some_and(|(at, entry)| *at >= 3 && !entry.ends_with("on 1")), "{:?}", diary.entries);
}

#[test]
fn c5_under_the_dominant_calculator_a_node_without_vcores_is_kept() {
    // Four vcores a node, which the master and seven maps take, and memory for sixteen containers.
    let mut world = cluster(2, 16, vec![job(0, anywhere(9, 20))]);
    world.config.containers.vcores = Some(4);
    world.config.containers.calculator = Calculator::Dominant;
    let diary = Diary::under(&world, "yarn-capacity:rules=2014,am_share=1");
    assert!(diary.count("0 kept for 0", 10) == 1, "{:?}", diary.entries);
    world.config.containers.calculator = Calculator::Memory;
    let diary = Diary::under(&world, "yarn-capacity:rules=2014,am_share=1");
    assert_eq!(diary.count("0 kept", 100), 0, "memory alone: it has room");
}

#[test]
fn f1_a_full_node_is_kept_for_the_first_in_line() {
    let world = cluster(1, 4, vec![job(0, anywhere(9, 20))]);
    let diary = Diary::under(&world, "yarn-fair:rules=2014,assign_multiple=true");
    assert_eq!(diary.times("0 kept for 0").first(), Some(&2), "at the heartbeat that filled it: {:?}", diary.entries);
    let diary = Diary::under(&world, "yarn-capacity:rules=2014,am_share=1");
    assert_eq!(diary.count("0 kept", 100), 0, "the Capacity Scheduler offers no node without room");
}

#[test]
fn f2_requests_without_places_wait_for_the_thresholds_too() {
    let world = cluster(4, 2, vec![job(0, anywhere(1, 5))]);
    let master = |policy: &str| {
        let diary = Diary::under(&world, policy);
        diary.entries.into_iter().find(|(_, entry)| entry.starts_with("master")).map(|(_, entry)| entry)
    };
    assert_eq!(master("yarn-fair:rules=2014"), Some("master 0 on 0".to_owned()));
    // The first nodes are refused as too far: the second opens the level of racks (2 > 4 * 0.4), a later one the last level.
    let later = master("yarn-fair:rules=2014,locality_node=0.4,locality_rack=0.3");
    assert!(later.is_some_and(|entry| entry != "master 0 on 0"));
}

#[test]
fn f5_the_newest_container_is_taken_and_one_that_was_warned_never_again() {
    // Queue a holds all of ten containers; b comes at 30 s.
    let first = Submitted { user: 0, queue: 0, ..job(0, anywhere(12, 300)) };
    let second = Submitted { user: 1, queue: 1, ..job(30 * SECOND, anywhere(3, 10)) };
    let world = cluster(2, 5, vec![first, second]);
    let root = FairQueue { fair_share_timeout: Some(4 * SECOND), ..FairQueue::default() };
    let queues = [("queue0", FairQueue::default()), ("queue1", FairQueue::default())];
    let preempting =
        "yarn-fair:rules=2014,assign_multiple=true,preemption=true,preemption_interval=1000,preemption_wait=2000";
    let diary = Diary::of(&world, fair_with(preempting, root, &queues));
    let killed: Vec<&str> = diary.entries.iter().filter_map(|(_, entry)| entry.strip_prefix("kill ")).collect();
    // Maps 0 to 8 run; the one whose container was made last goes first.
    assert_eq!(killed.first(), Some(&"8"), "{:?}", diary.entries);
    // It is warned at a check after 34 s, and killed at the first one more than 2 s later.
    assert_eq!(diary.times("kill 8").first(), Some(&37), "{:?}", diary.entries);
    let twice = killed.iter().filter(|&&task| task == "8").count();
    assert!(twice <= 2, "its later attempts are other containers: {killed:?}");
}

#[test]
fn f6_demand_counts_a_request_once_for_every_place() {
    // Two jobs of as many maps; those of the second name three places each, so it weighs more.
    let placed: Vec<Map> = (0..40).map(|_| map(100 * SECOND, &[0, 1, 2])).collect();
    let jobs = || {
        let first = Submitted { user: 0, queue: 0, ..job(0, anywhere(40, 100)) };
        let second = Submitted { user: 1, queue: 0, ..job(0, placed.clone()) };
        vec![first, second]
    };
    let world = cluster(3, 16, jobs());
    let of_second = |demand: &str| {
        let policy = format!("yarn-fair:rules=2014,size_weight=true,demand={demand}");
        let diary = Diary::of(&world, fair_with(&policy, FairQueue::default(), &[("queue0", FairQueue::default())]));
        let is_second = |entry: &str| {
            let task = entry.strip_prefix("map ").and_then(|rest| rest.split(' ').next());
            task.and_then(|task| task.parse::<usize>().ok()).is_some_and(|task| task >= 40)
        };
        diary.entries.iter().filter(|(at, entry)| *at < 50 && is_second(entry)).count()
    };
    assert!(of_second("places") > of_second("maps"), "{} and {}", of_second("places"), of_second("maps"));
}

#[test]
fn f7_who_comes_after_the_job_that_wants_all_keeps_its_demand() {
    // Two jobs of one queue, weighed by their demands: the first one wants all that the queue may have.
    let world = cluster(1, 16, vec![job(0, anywhere(40, 60)), job(3 * SECOND, anywhere(4, 60))]);
    let second = |limited: bool| {
        let most = limited.then_some(8);
        let queue =
            FairQueue { max_memory_mb: most.map(|most| most * 1_024), max_vcores: most, ..FairQueue::default() };
        let policy = fair_with("yarn-fair:rules=2014,size_weight=true", FairQueue::default(), &[("queue0", queue)]);
        Diary::of(&world, policy).times("master 1 on 0").first().copied()
    };
    assert_eq!(second(false), Some(3), "it weighs something since the update at which it came");
    assert!(second(true) > Some(60), "it never has a weight while the first one is there: {:?}", second(true));
}

#[test]
fn e1_an_application_leaves_its_queue_after_the_heartbeat_that_reports_its_master() {
    let world = cluster(1, 4, vec![job(0, anywhere(1, 5)), job(0, anywhere(1, 5))]);
    let limited = FairQueue { max_apps: Some(1), ..FairQueue::default() };
    let diary = Diary::of(&world, fair_with("yarn-fair:rules=2014", FairQueue::default(), &[("queue0", limited)]));
    // The map runs from 2 to 17, as one without a place. Its master ends then, and the node reports that at 18. At this heartbeat the
    // application still counts.
    assert_eq!(diary.times("master 1 on 0"), [19], "{:?}", diary.entries);
    assert_eq!(diary.times("end of master 0: SUCCESS"), [18], "its container is free, {:?}", diary.entries);
}

#[test]
fn a_master_holds_its_container_until_its_node_reports_its_end() {
    // The map runs from 2 to 17 as above. What the master does at the end of its job takes no container.
    let mut world = cluster(1, 2, vec![job(0, anywhere(1, 5))]);
    world.config.jobs.cleanup_time = 60 * SECOND;
    let ends = |world: &World| {
        let diary = Diary::under(world, "yarn-fifo");
        let ends = diary.entries.into_iter().filter(|(_, entry)| entry.starts_with("end of master"));
        ends.map(|(at, entry)| (at, entry.replace("end of master ", ""))).collect::<Vec<_>>()
    };
    assert_eq!(ends(&world), [(18, "0: SUCCESS".to_owned())], "though no job follows");
    // The node falls silent after the end of the job, and before it reports that of the master.
    let at = world.config.containers.node_heartbeat;
    assert_eq!(at, SECOND);
    world.config.outages = vec![Outage { host: "n000".to_owned(), from: 17 * SECOND + 1, to: None }];
    world.config.heartbeat.expiry = 100 * SECOND;
    assert_eq!(ends(&world), [(117, "0: LOST".to_owned())], "until the node is given up");
}

#[test]
fn the_fair_scheduler_counts_vcores_and_the_fifo_scheduler_does_not() {
    let mut world = cluster(1, 8, vec![job(0, anywhere(7, 30))]);
    world.config.containers.vcores = Some(4);
    let maps = |world: &World, policy: &str| Diary::under(world, policy).count("map", 10);
    world.config.containers.calculator = Calculator::Memory;
    assert_eq!([maps(&world, "yarn-fair:rules=2014,assign_multiple=true"), maps(&world, "yarn-fifo")], [3, 7]);
    assert_eq!(maps(&world, "yarn-capacity:rules=2014,am_share=1"), 7);
    world.config.containers.calculator = Calculator::Dominant;
    assert_eq!([maps(&world, "yarn-fair:rules=2014,assign_multiple=true"), maps(&world, "yarn-fifo")], [3, 7]);
    assert_eq!(maps(&world, "yarn-capacity:rules=2014,am_share=1"), 3);
}

#[test]
fn a_master_withdraws_what_it_asked_for_at_its_own_heartbeat() {
    // Map 0 has its input on nodes 0 and 1, map 1 on node 2.
    let maps = vec![map(10 * SECOND, &[0, 1]), map(10 * SECOND, &[2])];
    let mut world = cluster(3, 2, vec![job(0, maps)]);
    let levels = |world: &World| Diary::under(world, "yarn-capacity:rules=2014,am_share=1").levels;
    // Node 0 gets map 0, and node 1 is asked for no more; node 2 gets map 1.
    assert_eq!(levels(&world), [Some(Locality::Node); 2]);
    // The resource manager does not know that the map for node 1 has a container on node 0, and gives one there, too. The
    // master has map 1 left for it.
    world.config.am.withdraws = Withdraws::Heartbeat;
    assert_eq!(levels(&world), [Some(Locality::Node), Some(Locality::Off)]);
}
