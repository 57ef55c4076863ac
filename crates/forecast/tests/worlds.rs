//! Forecasts in small worlds whose laws are known. What happened in them was made by a replay of the whole world.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use rand::RngExt;
use resched_forecast::{
    Asked, Backtest, Model, Options, Prepared, Report, Row, answer, asked, backtest, encode, moments, validity_of,
};
use resched_replay::{ClusterConfig, Engine, Memory, PolicySpec, Setup, Source, Threads, World};
use resched_tables::draws::{Purpose, stream};
use resched_tables::engine::RunEngine;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskKind, TaskRecord, TaskRow};
use resched_tables::store::{Manifest, TimeZero, Trace, TraceWriter};
use resched_tables::validity::Grade;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const MACHINES: u64 = 6;

/// A job for whole machines of one core.
#[derive(Debug, Clone)]
struct Job {
    user: &'static str,
    name: String,
    machines: i64,
    submit: i64,
    limit: i64,
    run: i64,
    /// When it started; `None`: it did not, and was cancelled at `end`, or still waits.
    start: Option<i64>,
    end: Option<i64>,
}

/// How long a job runs, ms: `level` is from 0 to 1.
type Law = fn(name: usize, level: f64) -> i64;

/// Each name always runs as long.
fn fixed(name: usize, _: f64) -> i64 {
    [20, 50, 90, 130][name] * MINUTE
}

/// Exponential, but for a few that end at the limit.
fn exponential(name: usize, level: f64) -> i64 {
    let mean = [20, 50, 90, 130][name] as f64;
    (-mean * (1.0 - level).ln()) as i64 * MINUTE / 2 + MINUTE
}

/// Jobs of four names over so many days, in the order of submission. Limits are far above run times.
fn jobs(days: i64, gap: f64, law: Law, seed: u64) -> Vec<Job> {
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
            machines: [1, 1, 2, 4][draws.random_range(0..4_usize)],
            submit: at as i64 / 1_000 * 1_000,
            limit,
            run: law(name, draws.random()).min(limit),
            start: None,
            end: None,
        });
    }
}

fn record(number: usize, job: &Job, start: Option<i64>, end: Option<i64>) -> JobRecord {
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
    let attempt = AttemptRow { job_id, task_id, kind: TaskKind::Other, start, finish: end, outcome, ..AttemptRow::default() };
    let attempts = if start.is_some() { vec![attempt] } else { Vec::new() };
    JobRecord { job: row, tasks: vec![TaskRecord { task, splits: Vec::new(), attempts }], counters: Vec::new() }
}

fn write(dir: &Path, records: &[JobRecord]) -> Trace {
    let mut writer = TraceWriter::create(dir).unwrap();
    records.iter().for_each(|record| writer.job(record).unwrap());
    for number in 0..MACHINES {
        writer.node(&NodeRow { host: format!("m{number}"), cpu: Some(1_000), ..NodeRow::default() }).unwrap();
    }
    let manifest = Manifest { time_zero: TimeZero::Relative, engine: RunEngine::Batch, ..Manifest::default() };
    writer.finish(manifest.stamped()).unwrap();
    Trace::open(dir).unwrap()
}

fn policy(name: &str) -> PolicySpec {
    PolicySpec::parse_for(name, Engine::Batch).unwrap()
}

/// Lets these jobs start when a replay under a policy starts them.
fn happen(dir: &Path, jobs: &mut [Job], under: &str) {
    let plain: Vec<JobRecord> =
        jobs.iter().enumerate().map(|(number, job)| record(number, job, Some(job.submit), Some(job.submit + job.run))).collect();
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

fn records(jobs: &[Job]) -> Vec<JobRecord> {
    jobs.iter().enumerate().map(|(number, job)| record(number, job, job.start, job.end)).collect()
}

/// A world in which jobs came so, as a trace.
fn world(dir: &Path, mut jobs: Vec<Job>, under: &str) -> (Vec<Job>, Trace) {
    happen(dir, &mut jobs, under);
    let trace = write(&dir.join("T"), &records(&jobs));
    (jobs, trace)
}

fn prepared(trace: &Trace, policies: &[&str]) -> Prepared {
    let policies: Vec<PolicySpec> = policies.iter().map(|name| policy(name)).collect();
    let setup = Setup { cluster: ClusterConfig::default(), ..Setup::default() };
    Prepared::open(&Source::trace(trace.clone()).unwrap(), trace, setup, &policies).unwrap()
}

fn few() -> Options {
    Options { draws: 20, ..Options::default() }
}

fn threads(count: &str) -> Threads {
    count.parse().unwrap()
}

fn test(model: Model<'_>, count: u32, threads: Threads) -> Backtest {
    let moments = moments(model.past, count, None, 1).unwrap();
    backtest(model, &moments, threads, &|| ()).unwrap()
}

/// Where each name always runs as long and later jobs cannot pass, nothing is left to chance: every draw is what happened.
#[test]
fn what_is_certain_is_forecast_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let (_, trace) = world(dir.path(), jobs(12, 34.0, fixed, 1), "batch-fifo");
    let prepared = prepared(&trace, &["batch-fifo"]);
    let tested = test(prepared.model(0, few()).unwrap(), 30, Threads::ONE);
    assert!(tested.rows.len() > 30, "{} rows", tested.rows.len());
    for row in &tested.rows {
        assert!(row.raw.iter().all(|at| Some(*at) == row.start), "{row:?}");
    }
    assert_eq!(tested.misplaced, 0.0);
}

/// The right scheduler covers what it should; the wrong one does not, and the answer says so.
#[test]
fn a_wrong_scheduler_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let (_, trace) = world(dir.path(), jobs(40, 17.5, exponential, 3), "easy");
    let prepared = prepared(&trace, &["easy", "batch-fifo"]);
    let of = |place: usize| test(prepared.model(place, few()).unwrap(), 80, threads("2"));
    let (right, wrong) = (of(0), of(1));
    let report = |own: &Backtest, other: &Backtest, labels: [&str; 2]| {
        Report::of(labels[0], own, &[(labels[1].to_owned(), other.clone())], prepared.past(), 1)
    };
    let (own, other) = (report(&right, &wrong, ["easy", "batch-fifo"]), report(&wrong, &right, ["batch-fifo", "easy"]));
    let covered = |report: &Report| report.coverage["raw"]["80"];
    assert!((0.68..0.92).contains(&covered(&own)), "{}", covered(&own));
    assert!(covered(&other) < covered(&own) - 0.15, "{} beside {}", covered(&other), covered(&own));
    let says = |report: &Report, tested: &Backtest| {
        let validity = report.validity(tested);
        (validity.facts.iter().any(|fact| fact.about == "scheduler"), validity.facts.iter().any(|fact| fact.about == "model"))
    };
    assert_eq!(says(&own, &right), (false, false), "{:?}", own.validity(&right));
    assert_eq!(says(&other, &wrong), (true, true), "{:?}", other.validity(&wrong));
    let last = &own.baselines[0];
    assert!(last.times.unwrap().low > 1.0, "the last waits are worse: {last:?}");
}

/// Everything after a moment is another: no forecast up to then changes by a byte.
#[test]
fn nothing_that_comes_later_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let (mut all, trace) = world(dir.path(), jobs(20, 17.5, exponential, 5), "easy");
    // Some of those that wait are cancelled, which a forecast before must not know.
    let moment = 14 * DAY;
    let last = all.len() - 1;
    let of = |trace: &Trace| {
        let prepared = prepared(trace, &["easy"]);
        let model = prepared.model(0, few()).unwrap();
        let tested = test(model, 25, threads("2"));
        let rows: Vec<Row> = tested.rows.into_iter().filter(|row| row.asked_at <= moment).collect();
        let own = answer(model, moment, &Asked { groups: true, ..Asked::default() }, None, threads("2")).unwrap();
        (rows.iter().map(|row| (row.place, row.asked_at, row.raw, row.corrected, row.last_waits, row.bound, row.at_limits)).collect::<Vec<_>>(), own)
    };
    let before = of(&trace);
    for (number, job) in all.iter_mut().enumerate().filter(|(number, _)| *number != last) {
        let later = |at: Option<i64>| at.is_none_or(|at| at > moment);
        if job.submit > moment {
            (job.user, job.name, job.machines) = ("zoe", format!("x{}", number % 3), 1 + number as i64 % 5);
            (job.limit, job.start, job.end) = (5 * HOUR, Some(job.submit), Some(job.submit + 7 * MINUTE));
        } else if later(job.start) {
            (job.start, job.end) = if number % 3 == 0 { (None, Some(moment + 1)) } else { (Some(moment + 5), Some(moment + 9)) };
        } else if later(job.end) {
            job.end = if number % 4 == 0 { None } else { Some(moment + 1) };
        }
    }
    let changed = write(&dir.path().join("changed"), &records(&all));
    let after = of(&changed);
    assert!(before.0.len() > 20 && !before.1.jobs.is_empty() && !before.1.groups.is_empty());
    assert_eq!(before, after);
}

#[test]
fn threads_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (_, trace) = world(dir.path(), jobs(12, 20.0, exponential, 7), "easy");
    let prepared = prepared(&trace, &["easy"]);
    let model = prepared.model(0, few()).unwrap();
    let table = |count: &str| encode(&test(model, 12, threads(count)).rows, prepared.past()).unwrap();
    assert!(table("1") == table("3"));
    let one = |count: &str| answer(model, 8 * DAY, &Asked::default(), None, threads(count)).unwrap();
    assert_eq!(one("1"), one("3"));
    assert!(asked((0..50).collect(), 5, 5, 1) != asked((0..50).collect(), 6, 5, 1), "each moment asks others");
}

/// What is damaged or missing is counted and said, and the rest is forecast.
#[test]
fn half_a_state_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = jobs(6, 20.0, exponential, 9);
    happen(dir.path(), &mut all, "batch-fifo");
    let moment = 5 * DAY;
    let mut damaged = records(&all);
    // A job that ends before it starts; one that never was submitted; one without a limit; one for more machines than there are.
    let number = |wanted: &dyn Fn(&Job) -> bool| all.iter().position(wanted).unwrap();
    let waits = |job: &Job| job.submit < moment && job.start.is_some_and(|start| start > moment);
    let ended = number(&|job| job.end.is_some_and(|end| end < moment));
    damaged[ended].tasks[0].attempts[0].finish = Some(damaged[ended].job.submit.unwrap() - 1);
    damaged[ended + 1].job.submit = None;
    let unlimited = number(&waits);
    damaged[unlimited].job.requested_time = None;
    damaged[ended + 2].tasks[0].task.instances = Some(MACHINES as i64 + 1);
    let trace = write(&dir.path().join("damaged"), &damaged);
    let prepared = prepared(&trace, &["batch-fifo"]);
    let skipped = &prepared.past().skipped;
    assert_eq!(skipped["job-that-ends-before-it-starts"], 1);
    assert_eq!(skipped["job-without-submit"], 1);
    assert_eq!(skipped["job-that-no-machine-could-hold"], 1);
    let model = prepared.model(0, few()).unwrap();
    let own = answer(model, moment, &Asked::default(), None, Threads::ONE).unwrap();
    assert!(own.jobs.iter().any(|job| job.job_id == unlimited.to_string()));
    let validity = validity_of(None, Some(&own));
    assert_eq!(validity.grade(), Grade::Assumed);
    let about = |word: &str| validity.facts.iter().any(|fact| fact.about == word);
    assert!(about("back-test") && about("limits"), "{validity:?}");
    let missing = answer(model, moment, &Asked { jobs: vec![ended.to_string()], ..Asked::default() }, None, Threads::ONE);
    assert!(missing.unwrap_err().is_request());
}

/// A lower limit lets a job pass the first in the line.
#[test]
fn another_limit_brings_a_job_sooner() {
    let dir = tempfile::tempdir().unwrap();
    let job = |submit: i64, machines: i64, limit: i64, run: i64| Job {
        user: "ann",
        name: format!("n{machines}"),
        machines,
        submit,
        limit,
        run,
        start: None,
        end: None,
    };
    // For a day, jobs of each kind alone. Then four machines are held for two hours, six are wanted, and a third job would fit beside.
    let mut all: Vec<Job> =
        (0..12).map(|number| job(number * 2 * HOUR, [2, 4, 6][number as usize % 3], 3 * HOUR, HOUR)).collect();
    all.push(job(40 * HOUR, 4, 2 * HOUR, 2 * HOUR));
    all.push(job(40 * HOUR + MINUTE, 6, 3 * HOUR, HOUR));
    all.push(job(40 * HOUR + 2 * MINUTE, 2, 3 * HOUR, HOUR));
    all.push(job(80 * HOUR, 1, HOUR, HOUR));
    let (all, trace) = world(dir.path(), all, "easy");
    assert!(all[14].start > all[13].start, "with three hours, it would delay the first");
    let prepared = prepared(&trace, &["easy"]);
    let ask = Asked { jobs: vec!["14".to_owned()], limit: Some(HOUR), ..Asked::default() };
    let at = 40 * HOUR + 3 * MINUTE;
    let own = answer(prepared.model(0, few()).unwrap(), at, &ask, None, Threads::ONE).unwrap();
    let job = &own.jobs[0];
    assert_eq!(job.what_if, Some([at; 3]), "it starts at once");
    assert!(job.raw_start[0] > at);
    assert_eq!(own.jobs.len(), 1);
}
