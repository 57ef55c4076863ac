//! What holds in every replay, under every policy; what the engine says of a policy that breaks the rules; and determinism.

#[allow(dead_code, reason = "each test binary uses a part")]
mod worlds;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use resched_policies::PolicySpec;
use resched_sim::cluster_file::{Interval, Phase};
use resched_sim::hadoop::{
    AmState, Ask, Container, ContainerState, Edges, Ended, Kind, Launched, LoggedMap, Offer, Policy, Reach, System,
    View, Wrapper,
};
use resched_sim::{ClusterConfig, Error, JobEnded, JobId, Ms, NodeId, Resources, TaskId, Violation};
use resched_trace::model::{Locality, Outcome, Priority};
use worlds::{Eager, Machine, Map, Schedule, Submitted, Wanted, World, cases, policies, some_policies, world};

/// Where a task stands in its world: its job, its kind (0 map, 1 reduce) and its number among those.
#[derive(Debug, Clone, Copy)]
struct Place {
    job: usize,
    kind: usize,
    number: usize,
}

/// Follows a replay and takes down what should not be.
struct Checker<'w> {
    world: &'w World,
    system: System,
    places: Vec<Place>,
    clock: Ms,
    /// Slots in use, as the master knows it, by node and kind.
    used: Vec<[u32; 2]>,
    /// When each attempt that is on a node was assigned.
    assigned: BTreeMap<(usize, u32), Launched>,
    successes: BTreeMap<usize, u32>,
    /// When each map was done first, and the first reduce of each job.
    map_ends: BTreeMap<usize, Ms>,
    first_reduce_end: BTreeMap<usize, Ms>,
    /// From when to when each reduce that succeeded reduced, by node.
    reducing: BTreeMap<usize, Vec<(Ms, Ms)>>,
    ended_jobs: BTreeMap<usize, Outcome>,
    problems: Vec<String>,
}

impl<'w> Checker<'w> {
    fn new(world: &'w World, system: System) -> Self {
        let mut places = Vec::new();
        for (job, spec) in world.jobs.iter().enumerate() {
            places.extend((0..spec.maps.len()).map(|number| Place { job, kind: 0, number }));
            places.extend((0..spec.reduces.len()).map(|number| Place { job, kind: 1, number }));
        }
        Self {
            world,
            system,
            places,
            clock: Ms::MIN,
            used: vec![[0; 2]; world.machines.len()],
            assigned: BTreeMap::new(),
            successes: BTreeMap::new(),
            map_ends: BTreeMap::new(),
            first_reduce_end: BTreeMap::new(),
            reducing: BTreeMap::new(),
            ended_jobs: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    fn expect(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.problems.push(what());
        }
    }

    /// The level at which a task runs on a node, from the definition (policies A.5).
    fn level(&self, place: Place, node: usize) -> Option<Locality> {
        let replicas = match place.kind {
            0 => &self.world.jobs[place.job].maps[place.number].replicas,
            _ => return None,
        };
        let rack = self.world.machines[node].rack;
        let nearest = replicas.iter().map(|&replica| match replica {
            replica if replica == node => Locality::Node,
            replica if self.world.machines[replica].rack == rack => Locality::Rack,
            _ => Locality::Off,
        });
        nearest.min()
    }

    /// What must hold once the replay has ended.
    fn close(mut self) -> Vec<String> {
        let ended = self.ended_jobs.len();
        self.expect(ended == self.world.jobs.len(), || format!("only {ended} jobs ended"));
        for (node, times) in std::mem::take(&mut self.reducing) {
            let slots = match self.system {
                System::Slots => self.world.machines[node].slots[1] as usize,
                System::Containers => usize::MAX,
            };
            let at_once = |at: Ms| times.iter().filter(|&&(from, to)| from <= at && at < to).count();
            let most = times.iter().map(|&(from, _)| at_once(from)).max().unwrap_or(0);
            self.expect(most <= slots, || format!("{most} reduces compute at once on node {node}"));
        }
        let attempts: Vec<_> = self.assigned.keys().copied().collect();
        self.expect(attempts.is_empty(), || format!("nothing is known of the ends of {attempts:?}"));
        for (task, place) in self.places.clone().into_iter().enumerate() {
            let successes = self.successes.get(&task).copied().unwrap_or(0);
            let job_failed = self.ended_jobs.get(&place.job) != Some(&Outcome::Success);
            // A map runs again if the node with its output fails before the job is done.
            let job = &self.world.jobs[place.job];
            let again = place.kind == 0 && !job.reduces.is_empty() && !self.world.config.outages.is_empty();
            self.expect(successes == 1 || job_failed || again && successes > 1, || {
                format!("{place:?} succeeded {successes} times")
            });
            if let (0, Some(&reduced)) = (place.kind, self.first_reduce_end.get(&place.job)) {
                let done = self.map_ends.get(&task).copied().unwrap_or(Ms::MAX);
                self.expect(reduced >= done, || format!("a reduce ended at {reduced}, {place:?} at {done}"));
            }
        }
        self.problems
    }
}

impl resched_sim::hadoop::Observer for Checker<'_> {
    fn launched(&mut self, own: &Launched) -> Result<(), Error> {
        let (task, node) = (own.task.index(), own.node.index());
        let place = self.places[task];
        let submit = self.world.jobs[place.job].submit;
        self.used[node][place.kind] += 1;
        let (used, mut slots) = (self.used[node], self.world.machines[node].slots);
        slots[1] += if slots[1] > 0 { self.world.config.nodes.copying_reduces } else { 0 };
        let level = self.level(place, node);
        let (clock, ended) = (self.clock, self.ended_jobs.contains_key(&place.job));
        let running = self.assigned.range((task, 0)..=(task, u32::MAX)).next().is_some();
        self.expect(own.at >= clock, || format!("{own:?} after {clock}"));
        self.expect(own.at >= submit, || format!("{own:?} before its job came at {submit}"));
        self.expect(!ended, || format!("{own:?} after its job ended"));
        // With nodes that fail the master may back up an attempt that is dead, or run a lost map again while a loser is killed.
        let fits = running == own.backup || !self.world.config.outages.is_empty();
        self.expect(fits, || format!("{own:?}, another attempt runs: {running}"));
        let host = format!("n{node:03}");
        let down = self
            .world
            .config
            .outages
            .iter()
            .any(|outage| outage.host == host && own.at >= outage.from && outage.to.is_none_or(|to| own.at < to));
        self.expect(!down, || format!("{own:?} on a node that is down"));
        let full = self.system == System::Slots && used[place.kind] > slots[place.kind];
        self.expect(!full, || format!("{own:?}: {used:?} of {slots:?} slots used"));
        self.expect(own.level == level, || format!("{own:?}: its level is {level:?}"));
        self.clock = own.at;
        self.assigned.insert((task, own.attempt), *own);
        Ok(())
    }

    fn ended(&mut self, own: &Ended) -> Result<(), Error> {
        let task = own.task.index();
        let place = self.places[task];
        let launched = self.assigned.remove(&(task, own.attempt));
        let overhead = self.world.config.jobs.launch_overhead;
        let fits = launched.is_some_and(|launched| {
            let start = launched.at + overhead;
            let late = own.start - start;
            let taken_over =
                self.system == System::Containers && (0..=self.world.config.containers.am_heartbeat).contains(&late);
            let never_ran = match own.outcome {
                Outcome::Killed => own.finish == Some(own.start),
                Outcome::Incomplete => own.start == self.clock,
                _ => false,
            };
            let started = late == 0 || taken_over || never_ran;
            started && launched.node == own.node && launched.level == own.level
        });
        self.expect(fits, || format!("{own:?} was assigned as {launched:?}"));
        self.used[own.node.index()][place.kind] -= 1;
        let phases = [Some(own.start), own.shuffle_finish, own.sort_finish, own.finish];
        self.expect(phases.into_iter().flatten().is_sorted(), || format!("{own:?} goes back in time"));
        self.expect((own.outcome == Outcome::Incomplete) == own.finish.is_none(), || format!("{own:?}"));
        if let (Some(from), Some(to)) = (own.sort_finish, own.finish) {
            self.reducing.entry(own.node.index()).or_default().push((from, to));
        }
        if own.outcome == Outcome::Success && !own.discarded {
            *self.successes.entry(task).or_insert(0) += 1;
            let finish = own.finish.unwrap_or(Ms::MAX);
            if place.kind == 0 {
                self.map_ends.entry(task).or_insert(finish);
            } else {
                let first = self.first_reduce_end.entry(place.job).or_insert(finish);
                *first = finish.min(*first);
            }
        }
        Ok(())
    }

    fn job_ended(&mut self, own: &JobEnded) -> Result<(), Error> {
        let job = own.job.index();
        let (clock, submit) = (self.clock, self.world.jobs[job].submit);
        let again = self.ended_jobs.insert(job, own.outcome).is_some();
        self.expect(!again, || format!("{own:?} again"));
        self.expect(own.launch.is_some_and(|launch| (submit..=own.finish).contains(&launch)), || format!("{own:?}"));
        // What the master does at the end takes no slot, and others go on meanwhile.
        let edges = self.world.jobs[job].edges;
        let cleanup = if self.system == System::Containers { edges.cleanup.unwrap_or(0) } else { 0 };
        let known = own.finish - edges.commit - cleanup;
        self.expect(known >= clock, || format!("{own:?} after {clock}"));
        self.clock = known;
        Ok(())
    }
}

/// Who has a container: a job's attempt, by task and node, or its application master.
type Holder = (JobId, Option<(TaskId, NodeId)>);

/// A policy, and what every container of the cluster holds by its own account.
struct Watched<'p> {
    policy: &'p mut dyn Policy,
    /// Node and size of each container, by job, task and node; without these that of an application master.
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
                self.held.entry((job, Some((run.task, run.node)))).or_insert((run.node, size));
                // What a master had that was lost with its node is on its way out.
                if !self.held.contains_key(&(job, None)) && !run.dying {
                    return Err(format!("{run:?} before its master"));
                }
            }
        }
        let held = self.held.values().filter(|&&(on, _)| on == node);
        let sum = held.fold(Resources::NONE, |sum, (_, size)| sum.plus(*size));
        let free = view.free(node);
        let own = view.yarn().total().map(|part| part / view.live_nodes() as u64);
        if sum.plus(free) == own {
            Ok(())
        } else {
            Err(format!("{node:?} holds {sum:?} and has {free:?} free of {own:?}"))
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
            self.held.remove(&(container.job, container.task.map(|task| (task, container.node))));
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
            let mut checker = Checker::new(&world, policy.system());
            let mut watched = Watched { policy: &mut *policy, held: BTreeMap::new() };
            let finished = world.observe(&label, &mut watched, true, &mut checker);
            prop_assert!(finished.is_ok(), "{label}: {finished:?}\n{world:#?}");
            let problems = checker.close();
            prop_assert!(problems.is_empty(), "{label}: {}\n{world:#?}", problems.join("\n"));
        }
    }

}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn the_invariants_hold_with_backups(world in world(Wanted { every_rule: true, finishes: true })) {
        for (label, policy) in some_policies(&world) {
            let mut checker = Checker::new(&world, policy.system());
            let finished = world.observe(&label, &mut Eager::new(policy, 2), true, &mut checker);
            prop_assert!(finished.is_ok(), "{label}: {finished:?}\n{world:#?}");
            let problems = checker.close();
            prop_assert!(problems.is_empty(), "{label}: {}\n{world:#?}", problems.join("\n"));
        }
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
        "Incomplete ",
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
fn only_an_oracle_is_told_run_times() {
    struct Curious {
        oracle: bool,
        told: Option<Vec<Option<Ms>>>,
    }
    impl Policy for Curious {
        fn is_oracle(&self) -> bool {
            self.oracle
        }
        fn job_submitted(&mut self, job: JobId, view: View<'_>) {
            self.told = view.oracle().map(|oracle| oracle.run_times(job, Kind::Map).collect());
        }
        fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
            for job in offer.view().jobs().to_vec() {
                offer.launch_map(job, Reach::Any)?;
            }
            Ok(())
        }
    }
    for (oracle, expected) in [(false, None), (true, Some(vec![Some(1_000); 2]))] {
        let mut policy = Curious { oracle, told: None };
        small(2).observe("curious", &mut policy, true, &mut ()).expect("the world finishes");
        assert_eq!(policy.told, expected);
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
