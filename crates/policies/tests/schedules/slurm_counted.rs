//! Slurm's scheduler counts equal machines, and leaves out tries whose end it knows. On random worlds, it starts the same jobs at the same
//! time on the same machines as if it looked at each machine at each try.
//!
//! A job that asks for something beside processor and memory has its machines looked at one by one, and with an administrator's
//! reservation, no try is left out. So the twin of a world offers plenty of something, of which each job asks for one, and has a reservation
//! of no machine that is over when the log begins.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use resched_policies::queues::slurm::{NodeGroup, Partition, Reservation, SlurmConf};
use resched_policies::{PolicySpec, Site};
use resched_sim::batch::{Checked, Launched, Observer, load_records, replay_seeded};
use resched_sim::{ClusterConfig, Error, Ms, Reports, Scope};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::sink::Collected;

use crate::cases::cases;

#[derive(Debug, Clone)]
struct Drawn {
    /// s.
    submit: Ms,
    instances: i64,
    cores: i64,
    machines: Option<i64>,
    exclusive: bool,
    /// min.
    limit: Ms,
    /// Of its limit; above 100, it runs beyond it.
    percent: Ms,
    partition: usize,
}

#[derive(Debug, Clone)]
struct World {
    /// The cores of each machine.
    machines: Vec<i64>,
    /// What the first machines weigh more than the others, if any does.
    heavy: usize,
    /// From which machine on those of the second partition lie.
    split: usize,
    jobs: Vec<Drawn>,
    set: String,
    seed: u64,
}

fn jobs(most: i64) -> impl Strategy<Value = Vec<Drawn>> {
    let instances = prop_oneof![3 => 1..=6_i64, 2 => 1..=most];
    let shape = (
        instances,
        prop_oneof![3 => Just(4_i64), 1 => Just(1), 1 => 1..=4_i64],
        prop::option::weighted(0.2, 1..=4_i64),
    );
    let times = (0..1_500_i64, 1..=30_i64, prop_oneof![9 => 1..=100_i64, 1 => 100..=150_i64]);
    let job = (shape, times, prop::bool::weighted(0.15), 0..3_usize);
    let job = job.prop_map(|((instances, cores, machines), (submit, limit, percent), exclusive, partition)| {
        let machines = machines.map(|machines| machines.min(instances));
        Drawn { submit, instances, cores, machines, exclusive, limit, percent, partition }
    });
    vec(job, 1..=40)
}

fn worlds() -> impl Strategy<Value = World> {
    let machines = prop_oneof![
        2 => (2..=140_usize).prop_map(|count| vec![4; count]),
        1 => vec(prop_oneof![4 => Just(4_i64), 1 => Just(2_i64)], 2..=140),
    ];
    let set = prop_oneof![
        Just(""),
        Just("bf_interval=5000,bf_resolution=1000"),
        Just("bf_interval=5000,bf_window_linear=1000,reservations=2,bf_max_job_start=1"),
        Just("bf_window=600000,limit_grain=1,bf_min_age_reserve=60000"),
        Just("preempt=partition_prio,preempt_mode=requeue,bf_interval=5000"),
        Just("scheduler=builtin"),
    ];
    let version = prop_oneof![
        Just("version=22.05"),
        Just("version=24.11"),
        Just("version=22.05,bf_overlap_first=true"),
        Just("version=24.11,bf_from_later=false"),
    ];
    let set = (version, set).prop_map(|(version, set): (&str, &str)| format!("{version},{set}"));
    (machines, any::<[u8; 2]>(), set, 1..=1_000_u64).prop_flat_map(|(machines, [heavy, split], set, seed)| {
        let count = machines.len();
        let [heavy, split] = [usize::from(heavy) % (count * 2), usize::from(split) % count];
        jobs(count as i64 + 2).prop_map(move |jobs| World {
            machines: machines.clone(),
            heavy: if heavy < count { heavy } else { 0 },
            split,
            jobs,
            set: set.trim_end_matches(',').to_owned(),
            seed,
        })
    })
}

/// A start: the task, the time, and the machines with the number of instances on each.
type Start = (usize, Ms, Vec<(usize, u32)>);

/// The starts: the task, when, and how many instances on which machines.
#[derive(Default, Debug, PartialEq, Eq)]
struct Starts(Vec<Start>);

impl Reports for Starts {}

impl Observer for Starts {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        let places = launched.places.iter().map(|&(node, count)| (node.index(), count)).collect();
        self.0.push((launched.task.index(), launched.at, places));
        Ok(())
    }
}

impl World {
    fn starts(&self, is_plain: bool) -> Starts {
        let plenty = |amount: u64| is_plain.then(|| format!("plenty={amount}"));
        let host = |number: usize| format!("n{number}");
        let job = |(number, drawn): (usize, &Drawn)| {
            let (id, outcome) = (number.to_string(), Outcome::Success);
            let job = JobRow {
                job_id: id.clone(),
                user: Some(format!("user{}", number % 3)),
                queue: Some(format!("p{}", drawn.partition)),
                submit: Some(drawn.submit * 1_000),
                requested_time: Some(drawn.limit * 60_000),
                outcome,
                ..JobRow::default()
            };
            let task = TaskRow {
                job_id: id.clone(),
                task_id: id.clone(),
                outcome,
                cpu_request: Some(drawn.cores * 1_000),
                instances: Some(drawn.instances),
                gang: Some(drawn.instances > 1),
                machines: drawn.machines,
                exclusive: Some(drawn.exclusive),
                resources: plenty(1),
                ..TaskRow::default()
            };
            let run_time = Some(drawn.limit * 600 * drawn.percent);
            let attempt = AttemptRow { job_id: id.clone(), task_id: id, run_time, outcome, ..AttemptRow::default() };
            JobRecord {
                job,
                tasks: vec![TaskRecord { task, attempts: vec![attempt], splits: Vec::new() }],
                counters: Vec::new(),
            }
        };
        let node = |(number, cores): (usize, &i64)| NodeRow {
            host: host(number),
            cpu: Some(cores * 1_000),
            resources: plenty(1_000_000),
            ..NodeRow::default()
        };
        let tables = Collected {
            engine: resched_tables::run::RunEngine::Batch,
            jobs: self.jobs.iter().enumerate().map(job).collect(),
            nodes: self.machines.iter().enumerate().map(node).collect(),
            ..Collected::default()
        };
        // Without a job that fits on the machines, there is nothing to replay.
        let Ok(loaded) = load_records(&tables, &ClusterConfig::default(), &Scope::default()) else {
            return Starts::default();
        };
        let hosts = |range: std::ops::Range<usize>| range.map(host).collect::<Vec<_>>();
        let partition =
            |name: &str, nodes, tier| Partition { name: name.to_owned(), nodes, tier, ..Partition::default() };
        let nowhere = Reservation {
            name: "nowhere".to_owned(),
            start: -2_000,
            end: -1_000,
            nodes: vec!["no machine".to_owned()],
        };
        let conf = SlurmConf {
            partitions: vec![
                partition("p0", Vec::new(), 1),
                partition("p1", hosts(self.split..self.machines.len()), 2),
            ],
            nodes: vec![NodeGroup { hosts: hosts(0..self.heavy), weight: 7 }],
            reservations: is_plain.then_some(nowhere).into_iter().collect(),
            ..SlurmConf::default()
        };
        let site = Arc::new(Site { slurm: Some(conf), ..Site::default() });
        let policy = PolicySpec::parse(&format!("slurm:{}", self.set)).unwrap();
        let mut made = policy.at_site(&site).unwrap().build_batch().unwrap();
        let mut starts = Starts::default();
        let mut checked = Checked::new(&loaded.workload, &loaded.machines, "slurm", &mut starts);
        let (workload, machines) = (&loaded.workload, &loaded.machines);
        replay_seeded(workload, machines, ("slurm", &mut *made), self.seed, &mut checked, &mut |_| {}).unwrap();
        checked.close().unwrap();
        starts
    }
}

proptest! {
    #![proptest_config(Config { rng_seed: RngSeed::Fixed(47), ..cases(200) })]

    #[test]
    fn equal_machines_may_be_counted(world in worlds()) {
        prop_assert_eq!(world.starts(false), world.starts(true));
    }
}

proptest! {
    #![proptest_config(Config { rng_seed: RngSeed::Fixed(61), ..cases(5_000) })]

    /// `cargo test -p resched-policies --test schedules both_versions -- --ignored`
    #[test]
    #[ignore = "minutes; a part of its worlds always runs"]
    fn equal_machines_may_be_counted_in_many_worlds_of_both_versions(world in worlds()) {
        prop_assert_eq!(world.starts(false), world.starts(true));
    }
}
