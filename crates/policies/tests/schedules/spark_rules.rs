//! The rules of Spark's scheduler, one by one, in small worlds.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs::write;
use std::sync::Arc;

use resched_policies::{PolicySpec, SiteConf};
use resched_sim::batch::{Checked, Ended, Launched, Observer, load_records, replay_seeded};
use resched_sim::{ClusterConfig, Error, Ms, Reports, Scope};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, Locality, NodeRow, Outcome, SplitRow, TaskRecord, TaskRow};
use resched_tables::sink::Collected;

/// A stage: its name, those that it reads, and its tasks with their run times and preferred hosts.
type Stage<'a> = (&'a str, &'a [&'a str], Vec<(Ms, &'a [&'a str])>);

/// A world under construction.
#[derive(Default)]
struct World(Collected);

impl World {
    /// Hosts with so many cores, without executors of anybody.
    fn hosts(hosts: &[(&str, i64)]) -> Self {
        let node = |&(host, cores): &(&str, i64)| NodeRow {
            host: host.to_owned(),
            cpu: Some(cores * 1_000),
            ..NodeRow::default()
        };
        let mut world = Self::default();
        world.0.engine = resched_tables::run::RunEngine::Batch;
        world.0.nodes = hosts.iter().map(node).collect();
        world.application("app", &[])
    }

    fn application(mut self, id: &str, settings: &[(&str, &str)]) -> Self {
        let settings = settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        self.0.applications.insert(id.to_owned(), settings);
        self
    }

    /// Adds a job, whose tasks are named `<job>.<stage>.<index>`.
    fn job(mut self, id: &str, (group, pool): (&str, &str), submit: Ms, stages: &[Stage<'_>]) -> Self {
        let tasks = stages.iter().flat_map(|stage| tasks(id, stage)).collect();
        let job = JobRow {
            job_id: id.to_owned(),
            group: Some(group.to_owned()),
            queue: Some(pool.to_owned()).filter(|pool| !pool.is_empty()),
            submit: Some(submit),
            ..JobRow::default()
        };
        self.0.jobs.push(JobRecord { job, tasks, counters: Vec::new() });
        self
    }

    /// With offers of everything at whole intervals.
    fn run(&self, policy: &str) -> Vec<Ran> {
        let (name, set) = policy.split_once(':').unwrap_or((policy, ""));
        let set = ["phase=0", set].join(",");
        self.run_as(&PolicySpec::parse(&format!("{name}:{}", set.trim_end_matches(','))).unwrap())
    }

    /// What ran, in the order of starts.
    fn run_as(&self, policy: &PolicySpec) -> Vec<Ran> {
        let loaded = load_records(&self.0, &ClusterConfig::default(), &Scope::default()).unwrap();
        let (workload, machines) = (&loaded.workload, &loaded.machines);
        let zero = workload.jobs().get(0).unwrap().submit;
        assert_eq!(zero % 1_000, 0, "offers of everything come at whole seconds");
        let mut seen = Seen::default();
        let mut checked = Checked::new(workload, machines, "spark", &mut seen);
        let mut made = policy.build_batch().unwrap();
        let tally = replay_seeded(workload, machines, ("spark", &mut *made), 1, &mut checked, &mut |_| {}).unwrap();
        checked.close().unwrap();
        assert_eq!(tally.left_waiting, 0);
        let ran = |(task, at, node, level): (resched_sim::TaskId, Ms, usize, Option<Locality>)| Ran {
            task: workload.task_name(task).to_owned(),
            at: at - zero,
            host: machines.nodes()[node].name.clone(),
            level,
        };
        seen.ran.into_iter().map(ran).collect()
    }
}

fn tasks(job: &str, (stage, after, tasks): &Stage<'_>) -> Vec<TaskRecord> {
    let task = |(index, &(run, hosts)): (usize, &(Ms, &[&str]))| {
        let task_id = format!("{job}.{stage}.{index}");
        let place = |(ordinal, host): (i64, &&str)| SplitRow {
            task_id: task_id.clone(),
            ordinal,
            host: Some((*host).to_owned()),
            ..SplitRow::default()
        };
        TaskRecord {
            splits: (0..).zip(hosts).map(place).collect(),
            attempts: vec![AttemptRow {
                job_id: job.to_owned(),
                task_id: task_id.clone(),
                start: Some(0),
                finish: Some(run),
                outcome: Outcome::Success,
                ..AttemptRow::default()
            }],
            task: TaskRow {
                job_id: job.to_owned(),
                stage: Some((*stage).to_owned()),
                depends_on: after.iter().map(|&stage| stage.to_owned()).collect(),
                outcome: Outcome::Success,
                cpu_request: Some(1_000),
                task_id,
                ..TaskRow::default()
            },
        }
    };
    tasks.iter().enumerate().map(task).collect()
}

/// A start.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ran {
    task: String,
    at: Ms,
    host: String,
    level: Option<Locality>,
}

#[derive(Default)]
struct Seen {
    ran: Vec<(resched_sim::TaskId, Ms, usize, Option<Locality>)>,
    open: BTreeMap<usize, usize>,
}

impl Reports for Seen {}

impl Observer for Seen {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        self.open.insert(launched.run.index(), self.ran.len());
        self.ran.push((launched.task, launched.at, launched.places[0].0.index(), None));
        Ok(())
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        self.ran[self.open[&ended.run.index()]].3 = ended.locality;
        Ok(())
    }
}

/// What ran as (task, at, host).
fn short(ran: &[Ran]) -> Vec<(&str, Ms, &str)> {
    ran.iter().map(|ran| (ran.task.as_str(), ran.at, ran.host.as_str())).collect()
}

const APP: (&str, &str) = ("app", "");
const A: &[&str] = &["a"];
const B: &[&str] = &["b"];
const NONE: &[&str] = &[];

#[test]
fn a_stage_is_submitted_when_its_parents_have_ended() {
    let world = World::hosts(&[("a", 4)]).job(
        "1",
        APP,
        0,
        &[("0", &[], vec![(100, NONE), (300, NONE)]), ("1", &["0"], vec![(50, NONE)])],
    );
    assert_eq!(short(&world.run("spark")), [("1.0.0", 0, "a"), ("1.0.1", 0, "a"), ("1.1.0", 300, "a")]);
}

/// Of six maps, one is less than a fifth; of five it is a fifth.
#[test]
fn reducers_prefer_hosts_with_a_fifth_of_their_input() {
    let run = |maps_on_a: usize| {
        let mut maps = vec![(100, A); maps_on_a];
        maps.push((100, B));
        let stages: [Stage<'_>; 2] = [("0", &[], maps), ("1", &["0"], vec![(100, NONE); 10])];
        let ran = World::hosts(&[("a", 8), ("b", 8)]).job("1", APP, 0, &stages).run("spark");
        ran[maps_on_a + 1..].to_vec()
    };
    let six = run(5);
    assert!(six.iter().all(|ran| ran.host == "a" && ran.level == Some(Locality::Node)));
    assert_eq!(six.iter().map(|ran| ran.at).collect::<Vec<_>>(), [[100; 8].as_slice(), &[200; 2]].concat());
    let five = run(4);
    assert!(five.iter().all(|ran| ran.at == 100 && ran.level == Some(Locality::Node)));
    assert!(five.iter().any(|ran| ran.host == "b"));
}

#[test]
fn what_reads_two_stages_has_no_preference() {
    let stages: [Stage<'_>; 3] =
        [("0", &[], vec![(100, A)]), ("1", &[], vec![(100, A)]), ("2", &["0", "1"], vec![(100, NONE); 4])];
    let ran = World::hosts(&[("a", 2), ("b", 2)]).job("1", APP, 0, &stages).run("spark");
    assert!(ran[2..].iter().all(|ran| ran.at == 100 && ran.level.is_none()), "{ran:?}");
}

#[test]
fn low_indices_come_first() {
    let world = World::hosts(&[("a", 1)]).job("1", APP, 0, &[("0", &[], vec![(10, A), (10, NONE), (10, A)])]);
    let ran = world.run("spark");
    assert_eq!(short(&ran), [("1.0.0", 0, "a"), ("1.0.2", 10, "a"), ("1.0.1", 20, "a")], "those that prefer it first");
    let world = World::hosts(&[("a", 1)]).job("1", APP, 0, &[("0", &[], vec![(10, NONE); 3])]);
    assert_eq!(short(&world.run("spark")), [("1.0.0", 0, "a"), ("1.0.1", 10, "a"), ("1.0.2", 20, "a")]);
}

/// No executor is on the preferred host: there is nothing to wait for.
#[test]
fn a_level_needs_an_executor() {
    let world = World::hosts(&[("a", 1), ("b", 1)]).job("1", APP, 0, &[("0", &[], vec![(10, B)])]).job(
        "2",
        APP,
        0,
        &[("0", &[], vec![(10, &["c"])])],
    );
    assert_eq!(short(&world.run("spark")), [("1.0.0", 0, "b"), ("2.0.0", 0, "a")]);
}

/// The wait of 3 s begins at 500 and ends at 3500, which is noticed at the next whole second.
#[test]
fn the_end_of_a_wait_is_noticed_at_the_next_second() {
    let world = World::hosts(&[("a", 1), ("b", 1)]).job("1", APP, 0, &[("0", &[], vec![(10_000, A)])]).job(
        "2",
        APP,
        500,
        &[("0", &[], vec![(10, A)])],
    );
    assert_eq!(short(&world.run("spark")), [("1.0.0", 0, "a"), ("2.0.0", 4_000, "b")]);
    assert_eq!(short(&world.run("spark:revive=300"))[1], ("2.0.0", 3_600, "b"));
    assert_eq!(short(&world.run("spark:wait=1000"))[1], ("2.0.0", 2_000, "b"));
    assert_eq!(short(&world.run("spark:wait=1000,wait_node=0"))[1], ("2.0.0", 500, "b"));
}

/// When the task on a ends at 3200, the waits are over; but only a is offered, until everything is at 10,000.
#[test]
fn the_end_of_a_task_offers_its_executor_alone() {
    let world =
        World::hosts(&[("a", 1), ("b", 1)]).job("1", APP, 0, &[("0", &[], vec![(3_200, A), (20_000, A), (10, A)])]);
    let ran = world.run("spark:revive=10000");
    assert_eq!(short(&ran), [("1.0.0", 0, "a"), ("1.0.1", 3_200, "a"), ("1.0.2", 10_000, "b")]);
}

#[test]
fn the_first_takes_all_that_it_can() {
    let world = World::hosts(&[("a", 2), ("b", 2)])
        .job("1", APP, 0, &[("0", &[], vec![(100, NONE), (100, NONE), (200, NONE), (200, NONE), (100, NONE)])])
        .job("2", APP, 0, &[("0", &[], vec![(100, NONE)])]);
    let ran = world.run("spark");
    let order: Vec<(&str, Ms)> = ran.iter().map(|ran| (ran.task.as_str(), ran.at)).collect();
    assert_eq!(order[4..], [("1.0.4", 100), ("2.0.0", 100)]);
    assert_eq!(ran[..4].iter().filter(|ran| ran.host == "a").count(), 2);
}

/// A task an executor a pass: with four free cores on each of two hosts, two tasks never share one.
#[test]
fn executors_take_turns() {
    let world = World::hosts(&[("a", 4), ("b", 4)]).job("1", APP, 0, &[("0", &[], vec![(10, NONE); 4])]);
    let ran = world.run("spark");
    assert_eq!(ran.iter().filter(|ran| ran.host == "a").count(), 2);
}

/// A set that refuses a core once a second runs out of its wait, although it launches beside its data all the time. Before 3.1 each
/// launch made it wait anew.
#[test]
fn only_a_round_without_refusal_sets_the_wait_back() {
    let world = World::hosts(&[("a", 1), ("b", 1)]).job("1", APP, 0, &[("0", &[], vec![(500, A); 20])]);
    let on_b = |policy: &str| world.run(policy).into_iter().find(|ran| ran.host == "b");
    let first = on_b("spark").unwrap();
    assert_eq!((first.at, first.level), (3_000, Some(Locality::Off)));
    assert_eq!(on_b("spark:legacy_reset=true"), None);
    let before = World::hosts(&[("a", 1), ("b", 1)]).application("app", &[("spark.version", "2.4.8")]);
    let before = before.job("1", APP, 0, &[("0", &[], vec![(500, A); 20])]);
    assert!(before.run("spark").iter().all(|ran| ran.host == "a"), "its version is old");
}

#[test]
fn without_a_wait_local_tasks_still_come_first() {
    let world = World::hosts(&[("a", 1), ("b", 1), ("c", 1)]).job(
        "1",
        APP,
        0,
        &[("0", &[], vec![(100, B), (100, A), (100, A)])],
    );
    let mut ran = world.run("spark:wait=0");
    ran.sort_by(|a, b| a.task.cmp(&b.task));
    assert_eq!(short(&ran), [("1.0.0", 0, "b"), ("1.0.1", 0, "a"), ("1.0.2", 0, "c")]);
}

/// What has no preference starts while the others wait; and while a job waits, the next is served.
#[test]
fn only_who_prefers_waits() {
    let world = World::hosts(&[("a", 1), ("b", 2)])
        .job("1", APP, 0, &[("0", &[], vec![(2_500, A), (100, A), (100, NONE)])])
        .job("2", APP, 0, &[("0", &[], vec![(100, NONE)])]);
    let mut ran = world.run("spark");
    ran.sort_by(|a, b| a.task.cmp(&b.task));
    let expected = [("1.0.0", 0, "a"), ("1.0.1", 2_500, "a"), ("1.0.2", 0, "b"), ("2.0.0", 0, "b")];
    assert_eq!(short(&ran), expected);
}

/// Two pools, of which one is owed three tasks: as the tasks of the other end, it gets them.
#[test]
fn pools_come_from_the_site() {
    let dir = tempfile::tempdir().unwrap();
    let pool =
        "<pool name=\"owed\"><schedulingMode>FAIR</schedulingMode><weight>1</weight><minShare>3</minShare></pool>";
    write(dir.path().join("fairscheduler.xml"), format!("<allocations>{pool}</allocations>")).unwrap();
    write(dir.path().join("spark-defaults.conf"), "spark.scheduler.mode FAIR\nspark.locality.wait = 2s\n").unwrap();
    let site = SiteConf::read(dir.path()).unwrap();
    assert_eq!(site.warnings, Vec::<String>::new());
    let policy = PolicySpec::parse("spark").unwrap().at_site(&Arc::new(site.site)).unwrap();
    assert_eq!((policy.parameters()["mode"].as_str(), policy.parameters()["wait"].as_str()), ("fair", "2000"));
    let world = World::hosts(&[("a", 4)])
        .job("1", ("app", "other"), 0, &[("0", &[], (1..=12).map(|n| (n * 100, NONE)).collect())])
        .job("2", ("app", "owed"), 10, &[("0", &[], vec![(1_000, NONE); 4])]);
    let of = |ran: &[Ran]| ran.iter().filter(|ran| ran.task.starts_with('2')).map(|ran| ran.at).collect::<Vec<Ms>>();
    // At 100, 200 and 300 it gets what it is owed. At 400 it has 3, the other none: the other comes first.
    assert_eq!(of(&world.run_as(&policy))[..3], [100, 200, 300]);
    assert_ne!(of(&world.run_as(&policy))[3], 400);
    // First come, first served, else.
    assert!(of(&world.run("spark"))[0] > 1_000);
    let file = dir.path().join("pools.toml");
    write(&file, "[pools.owed]\nmode = 'fair'\nmin_share = 3\n").unwrap();
    let from_file = world.run(&format!("spark:mode=fair,wait=2000,pools={}", file.display()));
    assert_eq!(of(&from_file)[..3], [100, 200, 300], "a file of the policy may hold them, too");
}

/// Both ask for all four cores: the second waits for the end of the first.
#[test]
fn the_first_application_gets_all_that_it_asks_for() {
    let cores = |most| [("spark.executor.cores", "2"), ("spark.cores.max", most)];
    let world = |most| {
        World::hosts(&[("a", 2), ("b", 2)])
            .application("app", &cores(most))
            .application("next", &cores("4"))
            .job("1", APP, 0, &[("0", &[], vec![(100, NONE)])])
            .job("2", ("next", ""), 10, &[("0", &[], vec![(50, NONE); 3])])
            .job("3", APP, 500, &[("0", &[], vec![(100, NONE)])])
    };
    let starts = |ran: Vec<Ran>| ran.iter().map(|ran| (ran.task.clone(), ran.at)).collect::<BTreeMap<String, Ms>>();
    let all = starts(world("4").run("spark"));
    assert_eq!([&all["1.0.0"], &all["3.0.0"], &all["2.0.0"], &all["2.0.2"]], [&0, &500, &600, &600]);
    // With two cores for the first, the second has one executor of two cores, and the third task waits.
    let half = starts(world("2").run("spark"));
    assert_eq!(
        [&half["1.0.0"], &half["3.0.0"], &half["2.0.0"], &half["2.0.1"], &half["2.0.2"]],
        [&0, &500, &10, &10, &60]
    );
}

const ON_DEMAND: &[(&str, &str)] = &[("spark.dynamicAllocation.enabled", "true"), ("spark.executor.cores", "1")];

/// An executor of one core of four may hold a task that takes more than a quarter of the memory.
#[test]
fn the_memory_of_an_executor_keeps_no_task_out() {
    let mut world = World::hosts(&[("a", 4)])
        .application("small", &[("spark.cores.max", "3")])
        .application("large", &[("spark.cores.max", "1")])
        .job("one", ("small", ""), 0, &[("s", &[], vec![(5_000, &[])])])
        .job("two", ("large", ""), 0, &[("s", &[], vec![(5_000, &[])])]);
    world.0.nodes[0].memory = Some(8_000);
    world.0.jobs[1].tasks[0].task.memory_request = Some(3_000);
    assert_eq!(world.run("spark").len(), 2);
}

/// One executor after a second, two more after the next, and four more then, with which all can run.
#[test]
fn an_application_asks_for_twice_as_many_executors_each_second() {
    let world = World::hosts(&[("a", 4), ("b", 4)]).application("app", ON_DEMAND).job(
        "1",
        APP,
        0,
        &[("0", &[], vec![(20_000, NONE); 6])],
    );
    let starts = |policy: &str| world.run(policy).iter().map(|ran| ran.at).collect::<Vec<Ms>>();
    assert_eq!(starts("spark"), [1_000, 2_000, 2_000, 3_000, 3_000, 3_000]);
    assert_eq!(starts("spark:backlog=500,sustained_backlog=200"), [500, 700, 700, 900, 900, 900]);
    assert_eq!(starts("spark:initial_executors=2,max_executors=3"), [0, 0, 1_000, 20_000, 20_000, 21_000]);
    assert_eq!(starts("spark:executor_start=250"), [1_250, 2_250, 2_250, 3_250, 3_250, 3_250]);
    assert_eq!(starts("spark:dynamic=false"), [0; 6]);
}

/// The first application has both cores. Its executors go after they were idle for long enough, but one that wrote what its job may
/// still read does not.
#[test]
fn idle_executors_go_to_others() {
    let settings = |service| {
        [ON_DEMAND, &[("spark.dynamicAllocation.initialExecutors", "2"), ("spark.shuffle.service.enabled", service)]]
            .concat()
    };
    let world = |service| {
        World::hosts(&[("a", 1), ("b", 1)])
            .application("app", &settings(service))
            .application("next", ON_DEMAND)
            .job("1", APP, 0, &[("0", &[], vec![(1_000, NONE), (100_000, NONE)])])
            .job("2", APP, 90_000, &[("0", &[], vec![(100, NONE)])])
            .job("3", ("next", ""), 10, &[("0", &[], vec![(50, NONE)])])
    };
    let starts = |service, policy: &str| {
        world(service).run(policy).into_iter().map(|ran| (ran.task, ran.at)).collect::<BTreeMap<String, Ms>>()
    };
    assert_eq!(starts("true", "spark")["3.0.0"], 61_000);
    assert_eq!(starts("true", "spark:idle=5000")["3.0.0"], 6_000);
    let held = starts("false", "spark:idle=5000");
    assert_eq!(held["3.0.0"], 100_000, "when the application ends");
}

/// Both ask for all four executors. By the Fair Scheduler each gets two, where the first comes first; in one queue of the Capacity
/// Scheduler the first gets all.
#[test]
fn yarn_gives_out_executors_by_its_queues() {
    let four = [("spark.executor.instances", "4"), ("spark.executor.cores", "1"), ("spark.yarn.queue", "q")];
    let world = World::hosts(&[("a", 2), ("b", 2)])
        .application("app", &four)
        .application("next", &four)
        .job("1", APP, 0, &[("0", &[], vec![(100, NONE); 8])])
        .job("2", ("next", ""), 0, &[("0", &[], vec![(100, NONE); 4])]);
    let starts = |policy: &str| {
        let ran = world.run(policy);
        let of = |job: char, at: Ms| ran.iter().filter(|ran| ran.task.starts_with(job) && ran.at == at).count();
        [of('1', 0), of('2', 0), of('1', 200), of('2', 200)]
    };
    assert_eq!(starts("spark:manager=fair"), [2, 2, 4, 0], "when the second ends, the first gets its executors");
    assert_eq!(starts("spark:manager=fair,executors=2"), [2, 2, 2, 0]);
    assert_eq!(starts("spark:manager=capacity"), [4, 0, 0, 4]);
    assert_eq!(starts("spark:manager=capacity,executors=3"), [3, 1, 2, 1]);
}

/// At first no executor is on `b`, so that there is nothing to wait for, but no core either. When `b` comes, its level does, too.
#[test]
fn levels_are_looked_at_anew_when_an_executor_comes() {
    let mut world = World::hosts(&[("a", 1), ("b", 1)]).job("1", APP, 0, &[("0", &[], vec![(1_500, NONE)])]).job(
        "2",
        APP,
        0,
        &[("0", &[], vec![(2_000, B), (100, B)])],
    );
    world.0.nodes[1].time = Some(1_000);
    let ran = world.run("spark");
    assert_eq!(short(&ran), [("1.0.0", 0, "a"), ("2.0.0", 1_000, "b"), ("2.0.1", 3_000, "b")]);
    // The wait began when the stage was submitted, at 0; without one, the core on `a` is taken when it is free.
    assert_eq!(short(&world.run("spark:wait=0"))[2], ("2.0.1", 1_500, "a"));
}

#[test]
fn an_executor_is_offered_when_it_has_registered() {
    let mut world = World::hosts(&[("a", 1), ("b", 1)]).job("1", APP, 0, &[("0", &[], vec![(9_000, NONE); 2])]);
    world.0.nodes[1].time = Some(500);
    assert_eq!(short(&world.run("spark:revive=10000")), [("1.0.0", 0, "a"), ("1.0.1", 500, "b")]);
}

/// At 1200, the wait is over. The executor on which a task has failed is offered first, and another task takes it. Then everything is offered,
/// and the task tries again on the idle core of `b`, long before the next offer of everything.
#[test]
fn everything_is_offered_when_a_task_has_failed() {
    let stages: [Stage<'_>; 1] = [("0", &[], vec![(9_000, A), (9_000, A), (1_200, &["c"])])];
    let mut world = World::hosts(&[("a", 1), ("b", 1), ("c", 1)]).job("1", APP, 0, &stages);
    let attempts = &mut world.0.jobs[0].tasks[2].attempts;
    attempts.push(AttemptRow { start: Some(5_000), finish: Some(6_200), ..attempts[0].clone() });
    attempts[0].outcome = Outcome::Failed;
    let ran = world.run("spark:revive=5000,wait=1000");
    let expected = [("1.0.0", 0, "a"), ("1.0.2", 0, "c"), ("1.0.1", 1_200, "c"), ("1.0.2", 1_200, "b")];
    let mut ran = short(&ran);
    ran[..2].sort_unstable();
    assert_eq!(ran, expected);
}

#[test]
fn fair_pools_whose_file_is_not_given_are_a_finding_that_names_it() {
    let findings = |settings: &[(&str, &str)], policy: &str| -> Vec<String> {
        let world = World::hosts(&[("a", 1)]).application("app", settings).job(
            "1",
            ("app", "x"),
            0,
            &[("s", &[], vec![(9, &[])])],
        );
        let loaded = load_records(&world.0, &ClusterConfig::default(), &Scope::default()).unwrap();
        let policy = PolicySpec::parse(policy).unwrap();
        policy.missing_files(&loaded.workload).unwrap().iter().map(ToString::to_string).collect()
    };
    let fair = [("spark.scheduler.mode", "FAIR"), ("spark.scheduler.allocation.file", "fair-default.xml")];
    let [found] = findings(&fair, "spark").try_into().unwrap();
    assert!(
        found.contains("1 application of the trace had fair pools") && found.contains("`fair-default.xml`"),
        "{found}"
    );
    assert!(findings(&fair[..1], "spark")[0].contains("whose file is not given, so that"));
    // A file that the log names decides only if pools count.
    assert_eq!(findings(&fair[1..], "spark"), [""; 0]);
    assert_eq!(findings(&fair[1..], "spark:mode=fair").len(), 1);
    assert_eq!(findings(&fair, "spark:mode=fifo"), [""; 0]);
    assert_eq!(findings(&[], "spark:mode=fair"), [""; 0]);
    let file = tempfile::NamedTempFile::new().unwrap();
    write(file.path(), "[pools.x]\nweight = 2.0\n").unwrap();
    assert_eq!(findings(&fair, &format!("spark:pools={}", file.path().display())), [""; 0]);
    assert_eq!(findings(&fair, "fifo"), [""; 0]);
}
