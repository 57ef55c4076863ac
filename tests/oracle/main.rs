//! The golden schedules of Hadoop's own schedulers, row by row: instant, node and level of every assignment, instant and
//! state of every end, in the order of the file for assignments, orders and jobs.
//!
//! Needs `oracle` (and `traces` for the trace of 19 jobs) in the folder of shared traces, which `RESCHED_SHARED` names.

mod golden;
mod support;
mod yarn;

use std::collections::BTreeMap;

use golden::{Golden, Row};
use resched_policies::hadoop::mr1::{Capacity, Fair};
use resched_policies::queues::QueueTree;
use resched_policies::queues::{Allocations, CapacityQueue, PoolConfig};
use resched_policies::{PolicySpec, Site};
use resched_sim::Reports;
use resched_sim::hadoop::{Ended, Launched, Observer, Options, Policy, Script, replay};
use resched_sim::{Error, JobEnded, Ms, TaskId};
use resched_tables::model::{Locality, Outcome};
use support::World;

/// One schedule: the trace, the name of its golden file, and the policy that made it.
#[allow(clippy::print_stderr, reason = "a test says what it compared")]
fn check(world: &World, schedule: &str, policy: &str) {
    let Some(golden) = Golden::read(schedule) else { return };
    let script = world.script(&golden);
    let spec = PolicySpec::parse(policy).unwrap_or_else(|error| panic!("{error}"));
    let site = match schedule {
        "s1-fairpre" | "s2-fairpre" => Site { pools: Some(preemptive()), ..Site::default() },
        "q1-cap3" | "q2-cap3" => Site { mapred_queues: Some(queue_for_each_user()), ..Site::default() },
        _ => Site::default(),
    };
    let spec = spec.at_site(&site.into()).unwrap_or_else(|error| panic!("{error}"));
    let rows = match spec.info.name {
        "fair" => {
            let mut fair = Fair::from_spec(&spec).unwrap_or_else(|error| panic!("{error}"));
            fair.prefer_victims(world.victims(&golden));
            replayed(world, (schedule, &mut fair), script)
        }
        "capacity" => {
            let mut capacity = Capacity::from_spec(&spec).unwrap_or_else(|error| panic!("{error}"));
            let mut rows = replayed(world, (schedule, &mut capacity), script);
            launch_at_polls(&mut rows, world, &capacity);
            rows
        }
        _ => {
            let mut policy = spec.build().unwrap_or_else(|error| panic!("{error}"));
            replayed(world, (schedule, &mut *policy), script)
        }
    };
    if let Some(difference) = golden::first_difference(&golden.rows, &rows) {
        panic!("{schedule}: {difference}");
    }
    eprintln!("{schedule}: {} rows agree", golden.rows.len());
}

/// The schedule of a policy for a trace.
fn replayed(world: &World, (schedule, policy): (&str, &mut dyn Policy), script: Script) -> Vec<Row> {
    let options = Options { script, ..Options::default() };
    let mut found = Found::new(world);
    let tally = replay(&world.workload, &world.cluster, (schedule, policy), &options, &mut found, &mut |_| {});
    found.rows(tally.unwrap_or_else(|error| panic!("{schedule}: {error}")).end)
}

/// The pools of the schedules with preemption.
fn preemptive() -> Allocations {
    let pool = PoolConfig {
        min_maps: 20,
        min_reduces: 4,
        weight: 2.0,
        min_share_timeout: Some(10_000),
        ..PoolConfig::default()
    };
    Allocations {
        fair_share_timeout: Some(30_000),
        pools: BTreeMap::from([("user2".to_owned(), pool)]),
        ..Allocations::default()
    }
}

/// The queues of the schedules with one for each user.
fn queue_for_each_user() -> QueueTree<CapacityQueue> {
    let mut queues = QueueTree::new(CapacityQueue::default());
    for (user, percent) in [("user1", 50.0), ("user2", 30.0), ("user3", 20.0)] {
        let settings = CapacityQueue { capacity: Some(percent), ..CapacityQueue::default() };
        queues.add(QueueTree::<CapacityQueue>::ROOT, user, settings);
    }
    queues
}

/// A row J has the time at which the job was initialised. Under FIFO and Fair this is its submission. Under Capacity it
/// is the poll that chose the job, on a clock that only heartbeats and submissions move. An event at the same instant
/// as the poll comes after it, because it was queued later.
fn launch_at_polls(rows: &mut [Row], world: &World, capacity: &Capacity) {
    let (first, interval) = (world.cluster.config.heartbeat.first, world.cluster.interval());
    let submissions: Vec<Ms> = world.workload.jobs().iter().map(|job| job.submit).collect();
    for row in rows {
        let Row::Job { job, launch, .. } = row else { continue };
        let initialised = world.workload.find(job).and_then(|job| capacity.initialised(job));
        let before = initialised.unwrap_or_else(|| panic!("{job} has never been initialised")) - 1;
        let heartbeat = first + (before - first) / interval * interval;
        let submitted = submissions.iter().copied().filter(|&submit| submit <= before).max();
        *launch = submitted.unwrap_or(heartbeat).max(heartbeat);
    }
}

/// The events of a replay, as rows of a golden file.
struct Found<'a> {
    world: &'a World,
    rows: Vec<Row>,
    ends: Vec<Row>,
    local: BTreeMap<String, (u32, u32)>,
}

impl<'a> Found<'a> {
    fn new(world: &'a World) -> Self {
        Self { world, rows: Vec::new(), ends: Vec::new(), local: BTreeMap::new() }
    }

    fn attempt(&self, task: TaskId, attempt: u32) -> String {
        self.world.attempt_name(task, attempt)
    }

    /// All rows. As in the file, ends after the last instant are left out.
    fn rows(mut self, end: Ms) -> Vec<Row> {
        self.rows.extend(self.ends.into_iter().filter(|row| row.time() <= end));
        self.rows
    }
}

impl Reports for Found<'_> {
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        let job = self.world.workload.job(ended.job);
        let (node, rack) = self.local.get(&job.id).copied().unwrap_or_default();
        let state = if ended.outcome == Outcome::Success { "SUCCEEDED" } else { "FAILED" };
        self.rows.push(Row::Job {
            job: job.id.clone(),
            submit: job.submit,
            launch: job.submit,
            finish: ended.finish,
            state: state.to_owned(),
            node_local: node,
            rack_local: rack,
        });
        Ok(())
    }
}

impl Observer for Found<'_> {
    fn launched(&mut self, launched: &Launched) -> Result<(), Error> {
        let level = launched.level.map_or(-1, |level| level as i64);
        let job = self.world.workload.job(self.world.workload.job_of(launched.task)).id.clone();
        let counts = self.local.entry(job).or_default();
        match launched.level {
            Some(Locality::Node) => counts.0 += 1,
            Some(Locality::Rack) => counts.1 += 1,
            _ => {}
        }
        self.rows.push(Row::Assigned {
            at: launched.at,
            attempt: self.attempt(launched.task, launched.attempt),
            host: self.world.cluster.node(launched.node).name.clone(),
            level,
        });
        Ok(())
    }

    fn notified(&mut self, at: Ms, task: TaskId, attempt: u32) -> Result<(), Error> {
        self.rows.push(Row::Notified { at, attempt: self.attempt(task, attempt) });
        Ok(())
    }

    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        if let Some(at) = ended.finish {
            let state = match ended.outcome {
                Outcome::Success => "SUCCEEDED",
                other => other.as_str(),
            };
            let attempt = self.attempt(ended.task, ended.attempt);
            self.ends.push(Row::Ended { at, attempt, state: state.to_owned() });
        }
        Ok(())
    }
}

fn all_of(name: &str, schedules: &[(&str, &str)]) {
    let Some(world) = World::load(name) else { return };
    for (suffix, policy) in schedules {
        check(&world, &format!("{name}-{suffix}"), policy);
    }
}

const FIFO: (&str, &str) = ("fifo", "fifo");
const FAIR: (&str, &str) = ("fair", "fair");
const FAIR_D0: (&str, &str) = ("fair-d0", "fair:delay_node=0,delay_rack=0");
const FAIR_D15: (&str, &str) = ("fair-d15", "fair:delay_node=15000,delay_rack=15000");
const CAP1: (&str, &str) = ("cap1", "capacity");
const CAP3: (&str, &str) = ("cap3", "capacity");
const FAIRPRE: (&str, &str) = ("fairpre", "fair:preemption=true");

#[test]
fn s1() {
    all_of("s1", &[FIFO, FAIR, FAIRPRE, CAP1]);
}

#[test]
fn s2() {
    all_of("s2", &[FIFO, FAIR, FAIRPRE, CAP1]);
}

#[test]
fn m1() {
    all_of("m1", &[FIFO, FAIR, FAIR_D0, FAIR_D15, CAP1]);
}

#[test]
fn z1() {
    all_of("z1", &[FIFO, FAIR, FAIR_D0, FAIR_D15, CAP1]);
}

#[test]
fn q1() {
    all_of("q1", &[CAP3]);
}

#[test]
fn q2() {
    all_of("q2", &[CAP3]);
}

#[test]
fn jobs_19() {
    all_of("19-jobs", &[FIFO, FAIR]);
}

/// Every golden schedule distinguishes its policy: a replay under another policy differs.
#[test]
fn the_goldens_report_policies_apart() {
    let Some(world) = World::load("z1") else { return };
    let Some(golden) = Golden::read("z1-fair") else { return };
    for policy in ["fifo", "naive-fair", "delay", "delay-time", "fair:delay_node=0,delay_rack=0", "capacity"] {
        let mut other =
            PolicySpec::parse(policy).and_then(|spec| spec.build()).unwrap_or_else(|error| panic!("{error}"));
        let mut found = Found::new(&world);
        let options = Options::default();
        let tally = replay(&world.workload, &world.cluster, (policy, &mut *other), &options, &mut found, &mut |_| {})
            .unwrap_or_else(|error| panic!("{policy}: {error}"));
        let difference = golden::first_difference(&golden.rows, &found.rows(tally.end));
        assert!(difference.is_some(), "{policy} makes the schedule of fair");
    }
}
