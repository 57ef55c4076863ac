//! What holds in every replay, under every policy; what the engine says of a policy that breaks the rules; and determinism.

use std::collections::{BTreeMap, BTreeSet};

use crate::worlds::{
    Eager, Machine, Map, Schedule, Submitted, Wanted, World, cases, difference, policies, some_policies, world,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use resched_policies::PolicySpec;
use resched_sim::cluster_file::{Interval, Phase};
use resched_sim::hadoop::{
    AmState, Ask, Checked, Container, ContainerState, Edges, Ended, Kind, Launched, LoggedMap, MasterEnded,
    MasterLaunched, Observer, Offer, Policy, Reach, Resources, System, View, Wrapper,
};
use resched_sim::{ClusterConfig, Error, JobEnded, JobId, Ms, NodeId, Reports, TaskId, Violation};
use resched_tables::model::{Locality, Outcome, Priority};

/// Who has a container: a job's attempt, by the number of its container, or its application master.
type Holder = (JobId, Option<u64>);

/// A policy, and what every container of the cluster holds by its own account.
struct Watched<'p> {
    policy: &'p mut dyn Policy,
    /// Node and size of each container.
    held: BTreeMap<Holder, (NodeId, Resources)>,
}

impl Watched<'_> {
    /// Takes down the masters that were launched, and checks that the node holds no more than it has.
    fn check(&mut self, offer: &Offer<'_, '_>) -> Result<(), String> {
        let (view, node) = (offer.view(), offer.node());
        for &job in view.jobs() {
            if view.yarn().app(job).am() == AmState::Allocated {
                self.held.entry((job, None)).or_insert((node, view.yarn().demand(Ask::Am)));
            }
            for (kind, run) in Kind::BOTH.iter().flat_map(|&kind| view.runs(job, kind).map(move |run| (kind, run))) {
                let size = view.yarn().demand(if kind == Kind::Map { Ask::Map } else { Ask::Reduce });
                if !run.taken_back {
                    self.held.entry((job, Some(run.container))).or_insert((run.node, size));
                }
                // What a master had that was lost with its node is on its way out.
                if !self.held.contains_key(&(job, None)) && !run.dying {
                    return Err(format!("{run:?} before its master"));
                }
            }
        }
        let held = self.held.values().filter(|&&(on, _)| on == node);
        let sum = held.fold(Resources::NONE, |sum, (_, size)| sum.plus(*size));
        let free = view.free(node);
        let each = view.yarn().total().map(|part| part / view.live_nodes() as u64);
        if sum.plus(free) == each {
            Ok(())
        } else {
            Err(format!("{node:?} holds {sum:?} and has {free:?} free of {each:?}"))
        }
    }
}

impl<'p> Wrapper for Watched<'p> {
    type Inner = dyn Policy + 'p;
    fn inner(&self) -> &Self::Inner {
        self.policy
    }
    fn inner_mut(&mut self) -> &mut Self::Inner {
        self.policy
    }
    fn container_changed(&mut self, container: &Container, view: View<'_>) {
        if container.state == ContainerState::Completed {
            self.held.remove(&(container.job, container.task.map(|_| container.id)));
        }
        self.policy.container_changed(container, view);
    }
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.policy.heartbeat(offer)?;
        if self.policy.system() == System::Containers {
            self.check(offer).unwrap_or_else(|problem| panic!("{problem}"));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn the_invariants_hold_under_every_policy(world in world(Wanted { every_rule: true, finishes: true })) {
        for (label, mut policy) in some_policies(&world) {
            let mut watched = Watched { policy: &mut *policy, held: BTreeMap::new() };
            let checked = world.check(&label, &mut watched);
            prop_assert!(checked.is_ok(), "{checked:?}\n{world:#?}");
        }
    }

}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn the_invariants_hold_with_backups(world in world(Wanted { every_rule: true, finishes: true })) {
        for (label, policy) in some_policies(&world) {
            let checked = world.check(&label, &mut Eager::new(policy, 2));
            prop_assert!(checked.is_ok(), "{checked:?}\n{world:#?}");
        }
    }

    #[test]
    fn what_runs_when_the_last_job_ends_ends_as_if_another_followed(
        world in world(Wanted { every_rule: true, finishes: true }),
        yarn in any::<bool>(),
    ) {
        let name = if yarn { "yarn-fifo" } else { "fifo" };
        let schedule = |world: &World| {
            let below = PolicySpec::parse(name).and_then(|spec| spec.build()).expect("a policy");
            world.replay(name, &mut Eager::new(below, 2), true).expect("every world finishes")
        };
        let alone = schedule(&world);
        let mut followed = world.clone();
        // Far later, so that all has ended before it, also on a node that is down.
        let last = alone.jobs.iter().map(|job| job.finish).chain(alone.ends.iter().filter_map(|end| end.finish)).max();
        let submit = last.unwrap_or(0) + 2_000 * world.unit;
        followed.jobs.push(Submitted { submit, ..world.jobs[0].clone() });
        let tasks: usize = world.jobs.iter().map(|job| job.maps.len() + job.reduces.len()).sum();
        let mut with_more = schedule(&followed);
        with_more.launches.retain(|launch| launch.task < tasks);
        with_more.ends.retain(|end| end.task < tasks);
        with_more.jobs.retain(|job| job.job < world.jobs.len());
        let difference = difference(["alone", "followed"], [&alone, &with_more]);
        prop_assert!(difference.is_none(), "{name}: {}\n{world:#?}", difference.unwrap_or_default());
    }

    #[test]
    fn one_seed_gives_one_schedule(world in world(Wanted { every_rule: true, finishes: true })) {
        let replays = [some_policies(&world), some_policies(&world)].map(|policies| {
            let replay = |(label, mut policy): (String, Box<dyn Policy>)| world.replay(&label, &mut *policy, true);
            policies.into_iter().map(replay).collect::<Result<Vec<Schedule>, Error>>()
        });
        let [Ok(first), Ok(second)] = replays else { return Err(TestCaseError::fail("a replay failed")) };
        prop_assert!(first == second, "{world:#?}");
    }
}

#[test]
fn the_random_worlds_hold_all_that_the_invariants_speak_of() {
    let mut runner = TestRunner::deterministic();
    let worlds = world(Wanted { every_rule: true, finishes: true });
    let mut seen = BTreeSet::new();
    for _ in 0..100 {
        let world = worlds.new_tree(&mut runner).expect("a world").current();
        for (label, mut policy) in policies(&world) {
            let schedule = world.replay(&label, &mut *policy, true).expect("every world finishes");
            for end in schedule.ends {
                seen.insert(format!("{:?} {}", end.outcome, if end.discarded { "discarded" } else { "" }));
                seen.insert(format!("level {:?}", end.level));
            }
            seen.extend(schedule.jobs.iter().map(|job| format!("job {:?}", job.outcome)));
        }
    }
    for expected in [
        "Success ",
        "Success discarded",
        "Failed ",
        "Killed ",
        "level None",
        "level Some(Node)",
        "level Some(Rack)",
        "level Some(Off)",
        "job Success",
        "job Failed",
    ] {
        assert!(seen.contains(expected), "no replay holds `{expected}`: {seen:?}");
    }
}

/// One node with one slot of each kind, and a job with so many maps of 1 s.
fn small(maps: usize) -> World {
    let success = LoggedMap { outcome: Outcome::Success, level: Locality::Node, run: 1_000 };
    let map = Map { replicas: vec![0], tries: vec![success] };
    let job = Submitted {
        submit: 700,
        user: 0,
        queue: 0,
        priority: Priority::Normal,
        maps: vec![map; maps],
        reduces: Vec::new(),
        first_shuffle: None,
        typical_shuffle: None,
        shuffle_bytes: 0,
        edges: Edges::default(),
    };
    let mut config = ClusterConfig::default();
    config.heartbeat.interval = Interval::Fixed(3_000);
    config.heartbeat.phase = Phase::Together;
    config.jobs.first_submit = job.submit;
    World {
        unit: 1,
        seed: 1,
        machines: vec![Machine { rack: 0, slots: [1, 1] }],
        config,
        jobs: vec![job],
        lulls: Default::default(),
    }
}

/// What a check says of reports that cannot be, on a world of one job of two maps and one node with a slot for them.
fn broken(reports: impl FnOnce(&mut Checked<'_>, TaskId, NodeId) -> Result<(), Error>) -> String {
    broken_under(System::Slots, reports)
}

/// As [`broken`]; under YARN, the node has room for a master and a map.
fn broken_under(system: System, reports: impl FnOnce(&mut Checked<'_>, TaskId, NodeId) -> Result<(), Error>) -> String {
    let mut world = small(2);
    world.config.containers.memory_mb = Some(3_072);
    world.config.containers.vcores = Some(8);
    let cluster = world.cluster().for_system(system).expect("a cluster");
    let workload = world.workload(&cluster);
    let job = workload.find("job_1_0000").expect("the job");
    let (task, node) = (workload.task(job, Kind::Map, 0).expect("a map"), cluster.find("n000").expect("the node"));
    let mut nobody = ();
    let mut checked = Checked::new(&workload, &cluster, "rogue", &mut nobody);
    let reported = reports(&mut checked, task, node).and_then(|()| checked.close());
    let error = reported.expect_err("a broken rule");
    assert!(!error.is_request());
    error.to_string()
}

#[test]
fn a_broken_rule_is_named_with_the_instant_the_job_and_the_node() {
    let launch =
        |task, node, at, attempt| Launched { at, task, attempt, node, level: Some(Locality::Node), backup: false };
    let end = |launched: Launched, outcome| Ended {
        task: launched.task,
        attempt: launched.attempt,
        node: launched.node,
        level: launched.level,
        start: launched.at,
        shuffle_finish: None,
        sort_finish: None,
        finish: Some(launched.at + 1_000),
        outcome,
        discarded: false,
        backup: false,
    };
    let first = "attempt 0 of task_1_0000_m_000000 of job job_1_0000 at 3000 ms on node n000";
    for (found, rule, place) in [
        (broken(|_, _, _| Ok(())), "every job ends, found job job_1_0000", ""),
        (
            broken(|checked, task, node| checked.launched(&launch(task, node, 699, 0))),
            "`rogue` at 699 ms: expected that no task starts before its job is submitted",
            "on node n000",
        ),
        (
            broken(|checked, task, node| {
                checked.launched(&launch(task, node, 3_000, 0))?;
                checked.launched(&launch(task, node, 3_000, 1))
            }),
            "only a backup starts beside another attempt at its task",
            "attempt 1 of task_1_0000_m_000000 of job job_1_0000",
        ),
        (
            broken(|checked, task, node| {
                checked.launched(&Launched { level: Some(Locality::Off), ..launch(task, node, 3_000, 0) })
            }),
            "the distance to the input follows from the places of its blocks",
            first,
        ),
        (
            broken(|checked, task, node| {
                checked.launched(&launch(task, node, 3_000, 0))?;
                checked.launched(&Launched { backup: true, ..launch(task, node, 3_000, 1) })
            }),
            "no node holds more than it has room for",
            "it holds 2 maps, 0 reduces and 0 application masters",
        ),
        (
            broken(|checked, task, node| {
                checked.launched(&launch(task, node, 3_000, 0))?;
                checked.launched(&launch(task, node, 2_999, 0))
            }),
            "at 3000 ms: expected that time does not go back",
            "at 2999 ms",
        ),
        (
            broken(|checked, task, node| checked.ended(&end(launch(task, node, 3_000, 0), Outcome::Success))),
            "an attempt ends where it was launched",
            "launched as None",
        ),
        (
            broken(|checked, task, node| {
                let launched = launch(task, node, 3_000, 0);
                checked.launched(&launched)?;
                checked.ended(&Ended { finish: Some(2_000), ..end(launched, Outcome::Success) })
            }),
            "the phases of an attempt follow each other",
            "task_1_0000_m_000000",
        ),
        (
            broken(|checked, task, node| {
                let launched = launch(task, node, 3_000, 0);
                checked.launched(&launched)?;
                checked.ended(&Ended { finish: None, ..end(launched, Outcome::Incomplete) })
            }),
            "every attempt ends",
            "task_1_0000_m_000000",
        ),
    ] {
        assert!(found.contains(rule) && found.contains(place), "{found}");
    }
}

#[test]
fn a_broken_rule_about_application_masters_is_named() {
    type Reported<'r> = &'r dyn Fn(&mut Checked<'_>, TaskId, NodeId) -> Result<(), Error>;
    let world = small(2);
    let job = world.workload(&world.cluster()).find("job_1_0000").expect("the job");
    let launch = |at, node| MasterLaunched { at, job, node };
    let end = |at, outcome| MasterEnded { at, job, outcome };
    let map = |task, at, attempt, node| Launched {
        at,
        task,
        attempt,
        node,
        level: Some(Locality::Node),
        backup: attempt > 0,
    };
    let over = JobEnded { job, eligible: None, launch: Some(1_000), finish: 9_000, outcome: Outcome::Success };
    let master = "the application master of job job_1_0000 at 1000 ms on node n000";
    let cases: [(Reported<'_>, &str, &str); 6] = [
        (
            &|checked, task, node| {
                checked.master_launched(&launch(1_000, node))?;
                checked.launched(&map(task, 2_000, 0, node))?;
                checked.launched(&map(task, 2_000, 1, node))
            },
            "no node holds more than it has room for",
            "it holds 2 maps, 0 reduces and 1 application masters",
        ),
        (
            &|checked, _, node| {
                checked.master_launched(&launch(2_000, node))?;
                checked.master_launched(&launch(1_000, node))
            },
            "at 2000 ms: expected that time does not go back",
            master,
        ),
        (
            &|checked, _, node| {
                checked.master_launched(&launch(1_000, node))?;
                checked.master_launched(&launch(1_000, node))
            },
            "a job has one application master at a time",
            master,
        ),
        (
            &|checked, _, _| checked.master_ended(&end(1_000, Outcome::Lost)),
            "ends after its launch",
            "launched as None",
        ),
        (
            &|checked, _, node| {
                checked.master_launched(&launch(1_000, node))?;
                checked.master_ended(&end(2_000, Outcome::Success))
            },
            "ends after its job or with its node",
            "at: 2000",
        ),
        (
            &|checked, _, node| {
                checked.master_launched(&launch(1_000, node))?;
                checked.job_ended(&over)
            },
            "every application master ends",
            master,
        ),
    ];
    for (reports, rule, place) in cases {
        let found = broken_under(System::Containers, reports);
        assert!(found.contains(rule) && found.contains(place), "{found}");
    }
}

/// A policy that breaks a rule by its launches.
enum Rogue {
    Twice,
    BeyondCapacity,
    Never,
}

impl Policy for Rogue {
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let jobs: Vec<JobId> = offer.view().jobs().to_vec();
        for job in jobs {
            match self {
                Rogue::Never => {}
                Rogue::Twice => {
                    if let Some(task) = offer.find_map(job, Reach::Any) {
                        offer.launch(task)?;
                        offer.launch(task)?;
                    }
                }
                Rogue::BeyondCapacity => while offer.launch_map(job, Reach::Any)?.is_some() {},
            }
        }
        Ok(())
    }
}

#[test]
fn a_policy_that_breaks_a_rule_is_named_with_the_instant_and_the_task() {
    for (mut rogue, why) in [(Rogue::Twice, "it does not wait"), (Rogue::BeyondCapacity, "the node has no room for it")]
    {
        match small(3).observe("rogue:x=1", &mut rogue, true, &mut ()) {
            Err(Error::PolicyViolation { policy, at, what }) => {
                assert_eq!((policy.as_str(), at), ("rogue:x=1", 3_000));
                assert!(what.contains(why) && what.contains("task_1_0000_m_00000") && what.contains("n000"), "{what}");
            }
            other => panic!("expected a violation, found {other:?}"),
        }
    }
}

#[test]
fn a_policy_that_launches_nothing_stalls() {
    for parking in [true, false] {
        match small(3).observe("idle", &mut Rogue::Never, parking, &mut ()) {
            Err(Error::Stalled { policy, at, since, waiting }) => {
                assert_eq!((policy.as_str(), since, waiting), ("idle", 700, 3));
                assert!(at > since, "given up at {at}");
            }
            other => panic!("expected a stall, found {other:?}"),
        }
    }
}

#[test]
fn no_reduce_is_offered_before_slow_start() {
    struct Reduces(Vec<(Ms, bool)>);
    impl Policy for Reduces {
        fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
            let view: View<'_> = offer.view();
            let (now, jobs) = (view.now(), view.jobs().to_vec());
            for job in jobs {
                if offer.free(Kind::Reduce) > 0 {
                    let launched = offer.launch_reduce(job)?;
                    self.0.push((now, launched));
                }
                if offer.free(Kind::Map) > 0 {
                    offer.launch_map(job, Reach::Any)?;
                }
            }
            Ok(())
        }
    }
    let mut world = small(2);
    world.config.jobs.slowstart = 0.5;
    world.jobs[0].reduces = vec![vec![resched_sim::hadoop::LoggedReduce {
        outcome: Outcome::Success,
        shuffle: 0,
        sort: 0,
        reduce: Some(1_000),
    }]];
    let mut policy = Reduces(Vec::new());
    world.observe("reduces", &mut policy, true, &mut ()).expect("the world finishes");
    assert_eq!(policy.0[..2], [(3_000, false), (6_000, true)], "one of two maps is done at 6,000");
}

#[test]
fn only_an_oracle_is_reported_run_times() {
    struct Curious {
        oracle: bool,
        reported: Option<Vec<Option<Ms>>>,
    }
    impl Policy for Curious {
        fn is_oracle(&self) -> bool {
            self.oracle
        }
        fn job_submitted(&mut self, job: JobId, view: View<'_>) {
            self.reported = view.oracle().map(|oracle| oracle.run_times(job, Kind::Map).collect());
        }
        fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
            for job in offer.view().jobs().to_vec() {
                offer.launch_map(job, Reach::Any)?;
            }
            Ok(())
        }
    }
    for (oracle, expected) in [(false, None), (true, Some(vec![Some(1_000); 2]))] {
        let mut policy = Curious { oracle, reported: None };
        small(2).observe("curious", &mut policy, true, &mut ()).expect("the world finishes");
        assert_eq!(policy.reported, expected);
    }
}

#[test]
fn another_seed_draws_other_heartbeat_phases_and_another_schedule() {
    let replay = |seed, phase| {
        let mut world = small(6);
        world.machines = vec![Machine { rack: 0, slots: [1, 1] }; 4];
        world.config.heartbeat.phase = phase;
        world.seed = seed;
        let mut policy = PolicySpec::parse("naive-fair").and_then(|spec| spec.build()).expect("a policy");
        world.replay("naive-fair", &mut *policy, true).expect("the world finishes").launches
    };
    assert_ne!(replay(1, Phase::Spread), replay(2, Phase::Spread));
    assert_eq!(replay(1, Phase::Together), replay(2, Phase::Together), "nothing is drawn here");
}
