//! Makes runs for tests: a coarse scheduler of jobs with maps and reduces, greedy or gradual with reduces.

use std::path::Path;

use rand::RngExt;
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::{AttemptRow, DecisionRow, JobRow, Locality, Outcome, ResourceRow, TaskKind};
use resched_tables::run::{FORMAT_VERSION, RunCluster, RunInfo, RunTrace};
use resched_tables::store::{TableWriter, WrittenTable, contents};

const MAP_SLOTS: usize = 28;
const REDUCE_SLOTS: usize = 14;

/// A run to make.
pub(crate) struct Plan<'a> {
    /// Its label, the policy first.
    pub(crate) label: &'a str,
    /// Jobs, of which every seventh is large.
    pub(crate) jobs: u64,
    /// True if jobs are served in order of size, not of submission; such a run has decisions.
    pub(crate) small_first: bool,
    /// Share of maps that run off their node, in per cent.
    pub(crate) remote: u64,
    /// What job ids and names start with.
    pub(crate) prefix: &'a str,
    /// Jobs that had not ended when the run ended.
    pub(crate) unfinished: &'a [u64],
}

/// Writes the run into the folder `dir`.
pub(crate) fn write(dir: &Path, plan: &Plan<'_>) {
    std::fs::create_dir_all(dir).unwrap();
    let mut jobs = TableWriter::<JobRow>::create(dir).unwrap();
    let mut attempts = TableWriter::<AttemptRow>::create(dir).unwrap();
    let mut map_slots = [0i64; MAP_SLOTS];
    let mut reduce_slots = [0i64; REDUCE_SLOTS];
    for job in order(plan) {
        let submit = job as i64 * 45_000;
        let (maps, reduces) = if job % 7 == 1 { (180, 12) } else { (8 + 3 * (job % 9), job % 4) };
        let row = |task: String, kind, start: i64, finish: i64| AttemptRow {
            job_id: id(plan, job),
            task_id: task,
            kind,
            start: Some(start),
            finish: Some(finish),
            host: Some(format!("{} node {}", plan.prefix, start % 7)),
            outcome: Outcome::Success,
            ..AttemptRow::default()
        };
        let (mut first, mut last) = (i64::MAX, submit);
        for map in 0..maps {
            let mut draws = stream(5, Purpose::TaskDuration, &[job, map]);
            let level = draws.random_range(0..100u64);
            let locality = match level {
                level if level >= plan.remote => Locality::Node,
                level if level * 3 >= plan.remote => Locality::Rack,
                _ => Locality::Off,
            };
            let length = draws.random_range(18_000..60_000) + 8_000 * i64::from(locality != Locality::Node);
            let (start, finish) = take(&mut map_slots, submit + 3_000, length);
            (first, last) = (first.min(start), last.max(finish));
            let task = format!("{}_m_{map}", id(plan, job));
            attempts
                .append(&AttemptRow { locality: Some(locality), ..row(task, TaskKind::Map, start, finish) })
                .unwrap();
        }
        let mut finish = last;
        for reduce in 0..reduces {
            let ready = if plan.small_first { last } else { first + 20_000 };
            let slot = reduce_slots.iter_mut().min().unwrap();
            let start = ready.max(*slot);
            let end = start.max(last) + 40_000 + 5_000 * reduce as i64;
            *slot = end;
            finish = finish.max(end);
            let task = format!("{}_r_{reduce}", id(plan, job));
            let shuffled = Some(start.max(last) + 10_000);
            attempts
                .append(&AttemptRow { shuffle_finish: shuffled, ..row(task, TaskKind::Reduce, start, end) })
                .unwrap();
        }
        let row = JobRow {
            job_id: id(plan, job),
            name: Some(format!("{} job", plan.prefix)),
            queue: Some(format!("{} queue {}", plan.prefix, job % 2)),
            submit: Some(submit),
            launch: Some(first),
            finish: (!plan.unfinished.contains(&job)).then_some(finish),
            outcome: if plan.unfinished.contains(&job) { Outcome::Incomplete } else { Outcome::Success },
            ..JobRow::default()
        };
        jobs.append(&row).unwrap();
    }
    let mut tables = vec![jobs.finish().unwrap(), attempts.finish().unwrap()];
    if plan.small_first {
        tables.extend([write_decisions(dir, plan.jobs), write_resources(dir, plan.jobs)]);
    }
    let (rows, files) = contents(tables);
    let info = RunInfo {
        format_version: FORMAT_VERSION,
        written_by: "resched 0.1.0".to_owned(),
        label: plan.label.to_owned(),
        policy: plan.label.split(':').next().unwrap_or_default().to_owned(),
        trace: RunTrace { path: "traces/made".to_owned(), sha256: "5e".repeat(32), ..RunTrace::default() },
        cluster: RunCluster {
            nodes: 7,
            racks: 1,
            map_slots: MAP_SLOTS as u64,
            reduce_slots: REDUCE_SLOTS as u64,
            ..RunCluster::default()
        },
        cost_model: "logged".to_owned(),
        reduce_model: "r0".to_owned(),
        seed: 1,
        events: 1,
        rows,
        files,
        ..RunInfo::default()
    };
    info.write(dir).unwrap();
}

/// The share kept for small jobs, which changes when a job arrives. Returns the number of rows.
fn write_decisions(dir: &Path, jobs: u64) -> WrittenTable {
    let mut decisions = TableWriter::<DecisionRow>::create(dir).unwrap();
    for job in 0..jobs {
        let value = 0.01 + 0.03 * (job % 7) as f64;
        let row =
            DecisionRow { time: job as i64 * 45_000, name: "delta".to_owned(), job_id: None, value, other_job: None };
        decisions.append(&row).unwrap();
    }
    decisions.finish().unwrap()
}

/// The resources that two nodes used while jobs arrived. Returns the number of rows.
fn write_resources(dir: &Path, jobs: u64) -> WrittenTable {
    let mut resources = TableWriter::<ResourceRow>::create(dir).unwrap();
    for minute in 1..=jobs {
        for node in 0..2 {
            let busy = (minute + node) % 5;
            let row = ResourceRow {
                time: minute as i64 * 45_000,
                host: format!("node-{node:05}"),
                cpu: 0.2 * busy as f64,
                io_wait: 0.1,
                disk: 1e7 * busy as f64,
                net_in: 2e6 * busy as f64,
                net_out: 2e6,
            };
            resources.append(&row).unwrap();
        }
    }
    resources.finish().unwrap()
}

fn id(plan: &Plan<'_>, job: u64) -> String {
    format!("{}_{job:04}", plan.prefix)
}

fn order(plan: &Plan<'_>) -> Vec<u64> {
    let mut order: Vec<u64> = (0..plan.jobs).collect();
    if plan.small_first {
        // A large job steps back behind the five after it.
        order.sort_by_key(|job| if job % 7 == 1 { job + 5 } else { *job });
    }
    order
}

/// Runs a task of that length on the slot that is free first, not before `ready`.
fn take(slots: &mut [i64], ready: i64, length: i64) -> (i64, i64) {
    let slot = slots.iter_mut().min().unwrap();
    let start = ready.max(*slot);
    *slot = start + length;
    (start, *slot)
}
