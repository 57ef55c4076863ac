//! The engine with Spark's scheduler and a second, deliberately naive scheduler start every task at the same instant on the same host.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use crate::cases::cases;
use crate::naive_spark::{Host, Job, Pool, Stage, Start, Task, World, simulate};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use resched_policies::queues::SparkPools;
use resched_policies::queues::spark_pools::{Mode, PoolConf};
use resched_policies::{PolicySpec, Site};
use resched_sim::batch::{Checked, Launched, Observer, load_records, replay_seeded};
use resched_sim::{ClusterConfig, Error, Ms, Reports, Scope};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, Locality, NodeRow, Outcome, SplitRow, TaskRecord, TaskRow};
use resched_tables::sink::Collected;

const HOSTS: usize = 6;
const POOLS: [&str; 3] = ["adhoc", "default", "etl"];

fn tasks() -> impl Strategy<Value = Vec<Task>> {
    let hosts = prop_oneof![Just(Vec::new()), subsequence((0..HOSTS).collect::<Vec<_>>(), 1..=3)];
    let task = (1..=40_i64, 0..10_u8, hosts);
    // Many tasks run as long as others, so that ends fall together.
    vec(task.prop_map(|(run, fails, hosts)| Task { run: run * 50, fails: fails == 0, hosts }), 1..=12)
}

/// One to four stages. Each of the first ones is read by one other.
fn stages() -> impl Strategy<Value = Vec<Stage>> {
    vec((tasks(), any::<prop::sample::Index>()), 1..=4).prop_map(|drawn| {
        let count = drawn.len();
        let mut stages: Vec<Stage> = Vec::new();
        let mut parents = vec![Vec::new(); count];
        for (place, (tasks, reader)) in drawn.into_iter().enumerate() {
            if place + 1 < count {
                parents[place + 1 + reader.index(count - place - 1)].push(place);
            }
            stages.push(Stage { parents: std::mem::take(&mut parents[place]), tasks });
        }
        stages
    })
}

fn worlds() -> impl Strategy<Value = World> {
    let host = (1..=3_u32, prop_oneof![3 => Just(None), 1 => (1..=40_i64).prop_map(|at| Some(at * 100))]);
    let hosts = (vec(host, HOSTS), 0..=3_u32);
    let job = (0..=30_i64, 0..POOLS.len(), stages());
    let pools = vec((any::<bool>(), 1..=3_u32, 0..=3_u32), POOLS.len());
    let wait = || select(vec![0, 150, 1_000, 3_000]);
    let rules = (any::<bool>(), wait(), wait(), any::<bool>(), select(vec![200, 700, 1_000]), 0..1_000_i64);
    (hosts, vec(job, 1..=5), pools, rules, 1..=2_u32, 1..=1_000_u64).prop_map(
        |((hosts, racks), jobs, pools, rules, task_cpus, seed)| {
            let host = |(place, (cores, registers)): (usize, (u32, Option<Ms>))| Host {
                // A task of two cores needs a host with as many.
                cores: cores.max(task_cpus),
                rack: (racks > 0).then(|| place as u32 % racks),
                registers: registers.filter(|_| place > 0),
            };
            let mut submit = 0;
            let job = |(place, (after, pool, stages)): (usize, (Ms, usize, Vec<Stage>))| {
                submit += if place == 0 { 0 } else { after * 100 };
                Job { submit, pool, stages }
            };
            let pool = |(&name, (fair, weight, min_share)): (&&'static str, (bool, u32, u32))| Pool {
                name,
                fair,
                weight,
                min_share,
            };
            let (fair, wait_node, wait_rack, legacy_reset, revive, phase) = rules;
            World {
                hosts: hosts.into_iter().enumerate().map(host).collect(),
                jobs: jobs.into_iter().enumerate().map(job).collect(),
                pools: POOLS.iter().zip(pools).map(pool).collect(),
                fair,
                wait_node,
                wait_rack,
                legacy_reset,
                revive,
                phase: phase % revive,
                task_cpus,
                factors: [1.5, 2.0],
                seed,
            }
        },
    )
}

fn host_name(host: usize) -> String {
    format!("h{host}")
}

/// The world as a trace. Each task ran on a host that it prefers.
fn trace(world: &World) -> Collected {
    let mut tables = Collected { engine: resched_tables::run::RunEngine::Batch, ..Collected::default() };
    let version = ("spark.version".to_owned(), "3.5.6".to_owned());
    tables.applications.insert("app".to_owned(), [version].into());
    let node = |(place, host): (usize, &Host)| NodeRow {
        host: host_name(place),
        rack: host.rack.map(|rack| format!("r{rack}")),
        cpu: Some(i64::from(host.cores) * 1_000),
        group: Some("app".to_owned()),
        time: host.registers,
        ..NodeRow::default()
    };
    tables.nodes = world.hosts.iter().enumerate().map(node).collect();
    for (job, described) in world.jobs.iter().enumerate() {
        let id = job.to_string();
        let stages = described.stages.iter().enumerate();
        let tasks = stages.flat_map(|(place, stage)| {
            let of_stage = stage.tasks.iter().enumerate();
            of_stage.map(|(index, task)| record(&id, (place, stage), (index, task))).collect::<Vec<_>>()
        });
        tables.jobs.push(JobRecord {
            job: JobRow {
                job_id: id.clone(),
                group: Some("app".to_owned()),
                queue: Some(POOLS[described.pool].to_owned()),
                submit: Some(described.submit),
                ..JobRow::default()
            },
            tasks: tasks.collect(),
            counters: Vec::new(),
        });
    }
    tables
}

fn record(job: &str, (place, stage): (usize, &Stage), (index, task): (usize, &Task)) -> TaskRecord {
    let task_id = format!("{job}.{place}.{index:02}");
    let hosts: &[usize] = if stage.parents.is_empty() { &task.hosts } else { &[] };
    let attempt = |(attempt, outcome): (i64, Outcome)| AttemptRow {
        job_id: job.to_owned(),
        task_id: task_id.clone(),
        start: Some(attempt * 10_000),
        finish: Some(attempt * 10_000 + task.run),
        // A log shows a level of each task that looks where its input is.
        locality: (!hosts.is_empty() || !stage.parents.is_empty()).then_some(Locality::Node),
        host: hosts.first().map(|&host| host_name(host)),
        outcome,
        ..AttemptRow::default()
    };
    let outcomes: &[Outcome] = if task.fails { &[Outcome::Failed, Outcome::Success] } else { &[Outcome::Success] };
    TaskRecord {
        splits: (0..)
            .zip(hosts)
            .map(|(ordinal, &host)| SplitRow {
                task_id: task_id.clone(),
                ordinal,
                host: Some(host_name(host)),
                ..SplitRow::default()
            })
            .collect(),
        attempts: (0_i64..).zip(outcomes.iter().copied()).map(attempt).collect(),
        task: TaskRow {
            job_id: job.to_owned(),
            stage: Some(place.to_string()),
            depends_on: stage.parents.iter().map(ToString::to_string).collect(),
            outcome: Outcome::Success,
            cpu_request: Some(1_000),
            task_id,
            ..TaskRow::default()
        },
    }
}

struct Starts<'a>(&'a resched_sim::batch::Loaded, Vec<Start>);

impl Reports for Starts<'_> {}

impl Observer for Starts<'_> {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        let name = self.0.workload.task_name(launched.task);
        let parts: Vec<usize> = name.split('.').map(|part| part.parse().unwrap()).collect();
        let host = self.0.machines.nodes()[launched.places[0].0.index()].name[1..].parse().unwrap();
        self.1.push((parts[0], parts[1], parts[2], launched.at, host));
        Ok(())
    }
}

fn replayed(world: &World) -> Vec<Start> {
    let trace = trace(world);
    let scope = Scope { locality: Some([1.0, world.factors[0], world.factors[1]]), ..Scope::default() };
    let loaded = load_records(&trace, &ClusterConfig::default(), &scope).unwrap();
    let pool = |pool: &Pool| {
        let mode = if pool.fair { Mode::Fair } else { Mode::Fifo };
        (pool.name.to_owned(), PoolConf { mode, weight: f64::from(pool.weight), min_share: pool.min_share })
    };
    let pools = SparkPools { pools: world.pools.iter().map(pool).collect() };
    let World { wait_node, wait_rack, legacy_reset, revive, phase, task_cpus, .. } = world;
    let mode = if world.fair { "fair" } else { "fifo" };
    let set = format!(
        "spark:mode={mode},wait_node={wait_node},wait_rack={wait_rack},legacy_reset={legacy_reset},revive={revive},\
         phase={phase},task_cpus={task_cpus}"
    );
    let site = Site { spark_pools: Some(pools), ..Site::default() };
    let mut policy = PolicySpec::parse(&set).unwrap().at_site(&Arc::new(site)).unwrap().build_batch().unwrap();
    let mut starts = Starts(&loaded, Vec::new());
    let mut checked = Checked::new(&loaded.workload, &loaded.machines, "spark", &mut starts);
    let (workload, machines) = (&loaded.workload, &loaded.machines);
    replay_seeded(workload, machines, ("spark", &mut *policy), world.seed, &mut checked, &mut |_| {}).unwrap();
    checked.close().unwrap();
    starts.1
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn a_naive_scheduler_starts_the_same_tasks(world in worlds()) {
        let (ours, naive) = (replayed(&world), simulate(&world));
        let tasks: usize = world.jobs.iter().flat_map(|job| &job.stages).map(|stage| stage.tasks.len()).sum();
        prop_assert!(naive.len() >= tasks, "{} of {} started", naive.len(), tasks);
        for (place, (ours, naive)) in ours.iter().zip(&naive).enumerate() {
            prop_assert_eq!(ours, naive, "start {} (job, stage, index, at, host)", place);
        }
        prop_assert_eq!(ours.len(), naive.len());
    }
}
