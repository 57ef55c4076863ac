//! The container model of YARN (`docs/model/containers.md`): when what happens, to the millisecond.

use crate::worlds::{Machine, Map, Submitted, Wanted, World, cases, difference, world};
use proptest::prelude::*;
use resched_policies::PolicySpec;
use resched_sim::cluster_file::{Phase, ReduceModel, Size};
use resched_sim::hadoop::{
    AmState, Ask, AttemptEnd, AttemptView, Container, ContainerState, LoggedMap, LoggedReduce, Offer, Policy, Reach,
    System, View, Wrapper,
};
use resched_sim::{ClusterConfig, JobId, Ms, Violation};
use resched_tables::model::{Locality, Outcome, Priority};

/// One node with so much memory that calls every 1,000 ms from 0 on, and a job that comes at 100 ms; nothing takes time to launch but
/// 70 ms.
fn small(memory_mb: u32, maps: &[Ms], reduces: &[Ms]) -> World {
    let map = |&run: &Ms| Map {
        replicas: vec![0],
        tries: vec![LoggedMap { outcome: Outcome::Success, level: Locality::Node, run }],
    };
    let reduce = |&run: &Ms| vec![LoggedReduce { outcome: Outcome::Success, shuffle: 0, sort: 0, reduce: Some(run) }];
    let job = Submitted {
        submit: 100,
        user: 0,
        queue: 0,
        priority: Priority::Normal,
        maps: maps.iter().map(map).collect(),
        reduces: reduces.iter().map(reduce).collect(),
        first_shuffle: None,
        typical_shuffle: None,
        shuffle_bytes: 0,
        edges: resched_sim::hadoop::Edges::default(),
    };
    let mut config = ClusterConfig::default();
    config.heartbeat.phase = Phase::Together;
    config.jobs.first_submit = 100;
    config.jobs.launch_overhead = 70;
    config.cost.reduce = ReduceModel::R0;
    config.containers.memory_mb = Some(memory_mb);
    config.containers.am = Size { memory_mb: 1024, vcores: 1 };
    World {
        unit: 1,
        seed: 1,
        machines: vec![Machine { rack: 0, slots: [1, 1] }],
        config,
        jobs: vec![job],
        lulls: Default::default(),
    }
}

/// A policy, and what it is reported, with the instant.
struct Diary {
    below: Box<dyn Policy>,
    entries: Vec<(Ms, String)>,
}

impl Diary {
    fn of(policy: &str, world: &World) -> Vec<(Ms, String)> {
        let below = PolicySpec::parse(policy).and_then(|spec| spec.build()).expect("a policy");
        let mut diary = Diary { below, entries: Vec::new() };
        world.observe(policy, &mut diary, true, &mut ()).expect("the world finishes");
        diary.entries
    }

    fn write(&mut self, view: View<'_>, entry: String) {
        self.entries.push((view.now(), entry));
    }
}

impl Wrapper for Diary {
    type Inner = dyn Policy;
    fn inner(&self) -> &Self::Inner {
        &*self.below
    }
    fn inner_mut(&mut self) -> &mut Self::Inner {
        &mut *self.below
    }
    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.write(view, "job over".to_owned());
        self.below.job_finished(job, view);
    }
    fn task_started(&mut self, started: &AttemptView, view: View<'_>) {
        self.write(view, format!("{} allocated", started.task.index()));
        self.below.task_started(started, view);
    }
    fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
        let AttemptEnd { task, start, finish, outcome, .. } = ended;
        self.write(view, format!("{} {outcome:?} {start}..{finish}", task.index()));
        self.below.task_finished(ended, view);
    }
    fn container_changed(&mut self, container: &Container, view: View<'_>) {
        let what = container.task.map_or_else(|| "master".to_owned(), |task| task.index().to_string());
        let state = match container.state {
            ContainerState::Allocated => "allocated",
            ContainerState::Running => "running",
            ContainerState::Completed => "completed",
        };
        self.write(view, format!("{what} {state}"));
        self.below.container_changed(container, view);
    }
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let waits = |offer: &Offer<'_, '_>| -> Vec<JobId> {
            let view = offer.view();
            view.jobs().iter().copied().filter(|&job| view.yarn().app(job).am() == AmState::Waiting).collect()
        };
        let before = waits(offer);
        self.below.heartbeat(offer)?;
        if before != waits(offer) {
            self.write(offer.view(), "master allocated".to_owned());
        }
        Ok(())
    }
}

#[test]
fn every_step_of_a_container_takes_its_heartbeats() {
    // The master has its container at 1,000, starts at 1,070 and calls at 2,070, 3,070 …; the node calls at whole seconds.
    let steps = [
        (1_000, "master allocated"),
        (2_000, "master running"),
        // Asked for at 2,070.
        // Given to it at 3,000; at 3,070 its master takes the container over and chooses the map, which starts at 3,140.
        (3_070, "0 allocated"),
        (4_000, "0 running"),
        // Ends at 3,140 + 2,000.
        (6_000, "0 completed"),
        (6_070, "0 Success 3140..5140"),
        // All maps are done: the reduce is asked for at once.
        (7_000, "1 allocated"),
        (8_000, "1 running"),
        (10_000, "1 completed"),
        (10_070, "1 Success 7140..9140"),
        // The application goes with the heartbeat that reports the end of its master, though no job is left.
        (11_000, "master completed"),
        (11_000, "job over"),
    ];
    for policy in ["yarn-fifo", "yarn-capacity:rules=2014"] {
        let entries = Diary::of(policy, &small(8_192, &[2_000], &[2_000]));
        let entries: Vec<(Ms, &str)> = entries.iter().map(|(at, entry)| (*at, entry.as_str())).collect();
        assert_eq!(entries, steps, "{policy}");
    }
}

#[test]
fn reduces_that_fill_the_cluster_make_room_for_a_map() {
    // Room for the master and two tasks. The first map fails at the end of its first try when reduces have all the rest.
    let mut world = small(3_072, &[1_000, 1_000], &[60_000, 60_000]);
    let failed = LoggedMap { outcome: Outcome::Failed, level: Locality::Node, run: 9_000 };
    world.jobs[0].maps[0].tries.insert(0, failed);
    let entries = Diary::of("yarn-fifo", &world);
    let killed = entries.iter().filter(|(_, entry)| entry.contains("Killed")).count();
    assert!(killed >= 1, "{entries:?}");
    let place = |text: &str| entries.iter().position(|(_, entry)| entry.contains(text));
    assert!(place("Failed") < place("Killed") && place("Killed").is_some(), "{entries:?}");
}

#[test]
fn a_container_that_does_not_fit_is_kept_a_node_for_and_blocks_it() {
    // Room for the master and a map; the 2 GB that are left are no use to the next map, so the node is kept for it.
    let mut world = small(7_168, &[5_000, 5_000, 5_000], &[]);
    world.config.containers.map = Size { memory_mb: 4_096, vcores: 1 };
    let entries = Diary::of("yarn-capacity:rules=2014", &world);
    let allocated: Vec<Ms> =
        entries.iter().filter(|(_, entry)| entry.ends_with(" allocated")).map(|(at, _)| *at).collect();
    // A map that ends at 8,140 is reported at 9,000, and the one that the node is kept for takes its place at once.
    // Its master chooses the map 70 ms later.
    assert_eq!(allocated, [1_000, 3_070, 9_070, 15_070]);
}

/// A policy that breaks a rule of containers.
enum Rogue {
    MapWithoutMaster,
    TwoMasters,
    ReservesWhatFits,
}

impl Policy for Rogue {
    fn system(&self) -> System {
        System::Containers
    }
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let Some(&job) = offer.view().jobs().first() else { return Ok(()) };
        match self {
            Rogue::MapWithoutMaster => {
                assert_eq!(offer.yarn().nearest(job, Ask::Map), None, "nothing is asked for yet");
                offer.grant(job, Ask::Am, Reach::Any)?;
                offer.yarn_mut().reserve(job, Ask::Map)
            }
            Rogue::TwoMasters => {
                offer.grant(job, Ask::Am, Reach::Any)?;
                offer.grant(job, Ask::Am, Reach::Any)
            }
            Rogue::ReservesWhatFits => offer.yarn_mut().reserve(job, Ask::Am),
        }
    }
}

#[test]
fn a_policy_that_breaks_a_rule_of_containers_is_reported_which() {
    for (mut rogue, why) in [
        (Rogue::MapWithoutMaster, "the job does not ask for it"),
        (Rogue::TwoMasters, "it does not wait"),
        (Rogue::ReservesWhatFits, "the node has room for it"),
    ] {
        let error = small(8_192, &[1_000], &[]).observe("rogue", &mut rogue, true, &mut ()).expect_err(why);
        assert!(error.to_string().contains(why), "{error}");
    }
}

proptest! {
    #![proptest_config(cases(300))]

    /// What says the two apart is who may have how much, the wait for data and that a far container ends a heartbeat: with one job,
    /// no places of input, and room for one container beside the master there is no difference.
    #[test]
    fn one_job_alone_is_served_alike(mut world in world(Wanted { every_rule: true, finishes: true })) {
        world.jobs.truncate(1);
        let rules = &mut world.config.containers;
        (rules.map, rules.reduce) = (rules.minimum, rules.minimum);
        (rules.memory_mb, rules.vcores) = (Some(2), Some(2));
        world.machines.truncate(1);
        world.config.outages.clear();
        world.jobs[0].maps.iter_mut().for_each(|map| map.replicas.clear());
        let replay = |policy: &str| {
            let mut built = PolicySpec::parse(policy).and_then(|spec| spec.build()).expect("a policy");
            world.replay(policy, &mut *built, true).expect("the world finishes")
        };
        let (fifo, capacity) = (replay("yarn-fifo"), replay("yarn-capacity:rules=2014,user_limit_factor=10"));
        if let Some(difference) = difference(["yarn-fifo", "yarn-capacity:rules=2014"], [&fifo, &capacity]) {
            return Err(TestCaseError::fail(format!("{difference}\n{world:#?}")));
        }
    }
}
