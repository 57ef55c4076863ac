//! Small worlds whose laws are known. What happened in them was made by a replay of the whole world.

use std::path::Path;

use rand::RngExt;
use resched_forecast::{Backtest, Model, Options, Prepared, backtest, moments};
use resched_replay::{ClusterConfig, Engine, Memory, PolicySpec, Setup, Source, Threads, World};
use resched_tables::draws::{Purpose, stream};
use resched_tables::engine::RunEngine;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskKind, TaskRecord, TaskRow};
use resched_tables::store::{Manifest, TimeZero, Trace, TraceWriter};

pub(crate) const MINUTE: i64 = 60_000;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;
pub(crate) const MACHINES: u64 = 6;

/// A job for whole machines of one core.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) user: &'static str,
    pub(crate) name: String,
    pub(crate) machines: i64,
    pub(crate) submit: i64,
    pub(crate) limit: i64,
    pub(crate) run: i64,
    /// When it started; `None`: it did not, and was cancelled at `end`, or still waits.
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
}

/// How long a job runs, ms: `level` is from 0 to 1.
pub(crate) type Law = fn(name: usize, level: f64) -> i64;

/// Each name always runs as long.
pub(crate) fn fixed(name: usize, _: f64) -> i64 {
    [20, 50, 90, 130][name] * MINUTE
}

/// Exponential, but for a few that end at the limit.
pub(crate) fn exponential(name: usize, level: f64) -> i64 {
    let mean = [20, 50, 90, 130][name] as f64;
    (-mean * (1.0 - level).ln()) as i64 * MINUTE / 2 + MINUTE
}

/// Jobs of four names over so many days, in the order of submission. Limits are far above run times.
pub(crate) fn jobs(days: i64, gap: f64, law: Law, seed: u64) -> Vec<Job> {
    let mut draws = stream(seed, Purpose::JobArrival, &[]);
    let (mut at, mut made) = (0.0, Vec::new());
    loop {
        at += -gap * (1.0 - draws.random::<f64>()).ln() * MINUTE as f64 + 1_000.0;
        if at as i64 > days * DAY {
            return made;
        }
        let name = draws.random_range(0..4_usize);
        let limit = [3, 6, 8, 12][name] * HOUR;
        made.push(Job {
            user: ["ann", "ben"][name % 2],
            name: format!("n{name}"),
            machines: [1, 1, 2, 5][draws.random_range(0..4_usize)],
            submit: at as i64 / 1_000 * 1_000,
            limit,
            run: law(name, draws.random()).min(limit),
            start: None,
            end: None,
        });
    }
}

pub(crate) fn record(number: usize, job: &Job, start: Option<i64>, end: Option<i64>) -> JobRecord {
    let (job_id, task_id) = (format!("{number}"), format!("{number}/0"));
    let outcome = match (start, end) {
        (Some(_), Some(_)) => Outcome::Success,
        (None, Some(_)) => Outcome::Killed,
        (_, None) => Outcome::Incomplete,
    };
    let row = JobRow {
        job_id: job_id.clone(),
        name: Some(job.name.clone()),
        user: Some(job.user.to_owned()),
        queue: Some(if job.limit > 7 * HOUR { "long" } else { "short" }.to_owned()),
        submit: Some(job.submit),
        finish: end,
        requested_time: Some(job.limit),
        outcome,
        ..JobRow::default()
    };
    let task = TaskRow {
        job_id: job_id.clone(),
        task_id: task_id.clone(),
        kind: TaskKind::Other,
        cpu_request: Some(1_000),
        instances: Some(job.machines),
        gang: Some(true),
        machines: Some(job.machines),
        outcome,
        ..TaskRow::default()
    };
    let attempt =
        AttemptRow { job_id, task_id, kind: TaskKind::Other, start, finish: end, outcome, ..AttemptRow::default() };
    let attempts = if start.is_some() { vec![attempt] } else { Vec::new() };
    JobRecord { job: row, tasks: vec![TaskRecord { task, splits: Vec::new(), attempts }], counters: Vec::new() }
}

pub(crate) fn write(dir: &Path, records: &[JobRecord]) -> Trace {
    let mut writer = TraceWriter::create(dir).unwrap();
    records.iter().for_each(|record| writer.job(record).unwrap());
    for number in 0..MACHINES {
        writer.node(&NodeRow { host: format!("m{number}"), cpu: Some(1_000), ..NodeRow::default() }).unwrap();
    }
    let manifest = Manifest { time_zero: TimeZero::Epoch, engine: RunEngine::Batch, ..Manifest::default() };
    writer.finish(manifest.stamped()).unwrap();
    Trace::open(dir).unwrap()
}

pub(crate) fn policy(name: &str) -> PolicySpec {
    PolicySpec::parse_for(name, Engine::Batch).unwrap()
}

/// Lets these jobs start when a replay under a policy starts them.
pub(crate) fn happen(dir: &Path, jobs: &mut [Job], under: &str) {
    let plain: Vec<JobRecord> = jobs
        .iter()
        .enumerate()
        .map(|(number, job)| record(number, job, Some(job.submit), Some(job.submit + job.run)))
        .collect();
    let trace = write(&dir.join("plain"), &plain);
    let world = World::open(&Source::trace(trace).unwrap(), Setup::default()).unwrap();
    let run = world.replay(&policy(under), Memory).unwrap();
    let zero = run.info.clock.unwrap().zero;
    for attempt in &run.tables.attempts {
        let job = &mut jobs[attempt.job_id.parse::<usize>().unwrap()];
        job.start = attempt.start.map(|at| at + zero);
        job.end = job.start.map(|at| at + job.run);
    }
}

pub(crate) fn records(jobs: &[Job]) -> Vec<JobRecord> {
    jobs.iter().enumerate().map(|(number, job)| record(number, job, job.start, job.end)).collect()
}

/// A world in which jobs came so, as a trace.
pub(crate) fn world(dir: &Path, mut jobs: Vec<Job>, under: &str) -> (Vec<Job>, Trace) {
    happen(dir, &mut jobs, under);
    let trace = write(&dir.join("T"), &records(&jobs));
    (jobs, trace)
}

pub(crate) fn prepared(trace: &Trace, policies: &[&str]) -> Prepared {
    let policies: Vec<PolicySpec> = policies.iter().map(|name| policy(name)).collect();
    let setup = Setup { cluster: ClusterConfig::default(), ..Setup::default() };
    Prepared::open(&Source::trace(trace.clone()).unwrap(), trace, setup, &policies).unwrap()
}

pub(crate) fn few() -> Options {
    Options { draws: 20, ..Options::default() }
}

pub(crate) fn threads(count: &str) -> Threads {
    count.parse().unwrap()
}

pub(crate) fn test(model: Model<'_>, count: u32, threads: Threads) -> Backtest {
    let moments = moments(model.past, count, None, 1).unwrap();
    backtest(model, &moments, threads, &|| ()).unwrap()
}
