//! A trace that is cut at both ends, made from a whole one: what each way to treat unfinished work says about the whole.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use rand::RngExt;
use resched_ingest::scale::{Scale, scale};
use resched_replay::{Engine, Memory, PolicySpec, Replayed, Setup, Source, Unfinished, Window, World};
use resched_tables::clock::Instant;
use resched_tables::draws::{Purpose, stream};
use resched_tables::engine::RunEngine;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskKind, TaskRecord, TaskRow};
use resched_tables::store::{Manifest, TimeZero, Trace, TraceWriter};
use resched_tables::validity::Grade;

/// When the cut trace begins and ends, ms.
const FROM: i64 = 6 * HOUR;
const TO: i64 = 12 * HOUR;
const HOUR: i64 = 3_600_000;

/// A job of one task that starts as it is submitted.
#[derive(Clone, Copy)]
struct Whole {
    submit: i64,
    run: i64,
}

/// 18 hours of jobs: one every 4 s, run times of 20 min on average, of which one in ten takes an hour on average. They are
/// exponential within each kind, so one in twenty-five jobs is cut by each end.
fn whole() -> Vec<Whole> {
    let mut draws = stream(7, Purpose::JobArrival, &[]);
    let mut exponential = |mean: f64| (-mean * (1.0 - draws.random::<f64>()).ln()) as i64;
    let mut submit = 0;
    let mut jobs = Vec::new();
    for number in 0.. {
        submit += exponential(4_000.0);
        if submit >= 18 * HOUR {
            break;
        }
        let mean = if number % 10 == 0 { 60.0 } else { 15.5 };
        jobs.push(Whole { submit, run: exponential(mean * 60_000.0) });
    }
    jobs
}

/// The trace that an observer from `FROM` to `TO` writes: what happened before has the time 0, as in Google's traces.
fn cut(jobs: &[Whole], dir: &Path) -> Trace {
    let mut writer = TraceWriter::create(dir).unwrap();
    let seen = |job: &&Whole| job.submit < TO && job.submit + job.run >= FROM;
    for (number, job) in jobs.iter().enumerate().filter(|(_, job)| seen(job)) {
        let start = if job.submit < FROM { 0 } else { job.submit };
        let finish = Some(job.submit + job.run).filter(|&finish| finish < TO);
        let outcome = if finish.is_some() { Outcome::Success } else { Outcome::Incomplete };
        let (job_id, task_id) = (format!("j{number}"), format!("j{number}/0"));
        let row = JobRow {
            job_id: job_id.clone(),
            framework: Some("borg".to_owned()),
            submit: Some(start),
            finish,
            outcome,
            ..JobRow::default()
        };
        let task = TaskRow {
            job_id: job_id.clone(),
            task_id: task_id.clone(),
            kind: TaskKind::Other,
            cpu_request: Some(1_000),
            outcome,
            ..TaskRow::default()
        };
        let attempt = AttemptRow {
            job_id,
            task_id,
            kind: TaskKind::Other,
            start: Some(start),
            finish,
            outcome,
            ..AttemptRow::default()
        };
        let task = TaskRecord { task, splits: Vec::new(), attempts: vec![attempt] };
        writer.job(&JobRecord { job: row, tasks: vec![task], counters: Vec::new() }).unwrap();
    }
    writer.node(&NodeRow { host: "m".to_owned(), cpu: Some(100_000_000), ..NodeRow::default() }).unwrap();
    let manifest = Manifest { begin: Some(FROM), time_zero: TimeZero::Relative, ..Manifest::default() };
    writer.finish(manifest).unwrap();
    Trace::open(dir).unwrap()
}

fn replayed(trace: &Trace, unfinished: Unfinished, window: Window) -> Replayed {
    let source = Source::trace(trace.clone()).unwrap();
    let world = World::open(&source, Setup { unfinished, window, ..Setup::default() }).unwrap();
    world.replay(&PolicySpec::parse_for("fifo", Engine::Batch).unwrap(), Memory).unwrap()
}

/// The completion times that count: of jobs that ended well and were submitted in the window.
fn completions(run: &Replayed) -> Vec<f64> {
    let window = run.info.window.unwrap();
    let counts = |job: &&JobRow| {
        job.outcome == Outcome::Success && job.submit.is_some_and(|submit| (window.from..window.to).contains(&submit))
    };
    let time = |job: &JobRow| (job.finish.unwrap() - job.submit.unwrap()) as f64;
    run.tables.jobs.iter().filter(counts).map(time).collect()
}

fn mean_and_p95(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times.iter().sum::<f64>() / times.len() as f64, times[times.len() * 95 / 100])
}

#[test]
fn the_estimate_is_near_the_whole_and_the_others_say_how_they_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = whole();
    let of_window = jobs.iter().filter(|job| (FROM..TO).contains(&job.submit));
    let (mean, p95) = mean_and_p95(of_window.map(|job| job.run as f64).collect());
    let trace = cut(&jobs, &dir.path().join("T"));
    let error = |unfinished| {
        let run = replayed(&trace, unfinished, Window::default());
        let found = mean_and_p95(completions(&run));
        let said = run.info.validity.facts.into_iter().find(|fact| fact.about == "unfinished").unwrap();
        ((found.0 / mean - 1.0, found.1 / p95 - 1.0), said)
    };
    let (estimate, said) = error(Unfinished::Estimate);
    assert!(estimate.0.abs() < 0.05 && estimate.1.abs() < 0.05, "mean and p95 under estimate: {estimate:?}");
    assert!(said.grade == Grade::Assumed && said.says.contains("Kaplan–Meier"), "{said:?}");
    let (drop, said) = error(Unfinished::Drop);
    assert!(drop.0 < -0.03, "long jobs are missing: {drop:?}");
    assert!(said.says.contains("count in no metric, so long jobs are missing"), "{said:?}");
    let (cap, said) = error(Unfinished::Cap);
    assert!(cap.0 < -0.03, "times are lower bounds: {cap:?}");
    assert!(said.says.contains("lower bounds"), "{said:?}");
}

/// A queue that never empties: a job every 10 s for three hours, on 9 cores that need 12 s for one.
fn queue(dir: &Path) -> Vec<JobRow> {
    let mut draws = stream(8, Purpose::JobArrival, &[]);
    let jobs: Vec<Whole> =
        (0..1_000).map(|job| Whole { submit: job * 10_000, run: draws.random_range(1_000..=215_000) }).collect();
    let write = |name: &str, of: &dyn Fn(usize, &Whole) -> [Option<i64>; 2]| {
        let mut writer = TraceWriter::create(dir.join(name)).unwrap();
        for (number, job) in jobs.iter().enumerate() {
            let (job_id, task_id) = (format!("{number}"), format!("{number}/0"));
            let ([start, finish], outcome) = (of(number, job), Outcome::Success);
            let row = JobRow { submit: Some(job.submit), launch: start, finish, outcome, job_id, ..JobRow::default() };
            let job_id = row.job_id.clone();
            let task = TaskRow { cpu_request: Some(1_000), outcome, task_id, job_id, ..TaskRow::default() };
            let (job_id, task_id) = (row.job_id.clone(), task.task_id.clone());
            let attempt = AttemptRow { job_id, task_id, start, finish, outcome, ..AttemptRow::default() };
            let task = TaskRecord { task, splits: Vec::new(), attempts: vec![attempt] };
            writer.job(&JobRecord { job: row, tasks: vec![task], counters: Vec::new() }).unwrap();
        }
        writer.node(&NodeRow { host: "m".to_owned(), cpu: Some(9_000), ..NodeRow::default() }).unwrap();
        writer.finish(Manifest { engine: RunEngine::Batch, ..Manifest::default() }).unwrap();
        Trace::open(&dir.join(name)).unwrap()
    };
    // First as if each had run at once, then as they run on that machine.
    let alone = write("alone", &|_, job| [Some(job.submit), Some(job.submit + job.run)]);
    let ran = replayed(&alone, Unfinished::Drop, Window::default()).tables.jobs;
    write("T", &|number, _| {
        let row = ran.iter().find(|row| row.job_id == number.to_string()).unwrap();
        [row.launch, row.finish]
    });
    ran
}

/// A window of a log begins as full as the cluster was, so that a replay of what ran gives the same waits. Without the jobs that ran or
/// waited at its start, it gives much shorter ones.
#[test]
fn a_window_begins_as_full_as_the_cluster_was() {
    let dir = tempfile::tempdir().unwrap();
    let really = queue(dir.path());
    let from = 6_000_000;
    let window = Scale { from: Some(Instant::At(from)), ..Scale::default() };
    let manifest = scale(&dir.path().join("T"), dir.path().join("W"), &window).unwrap();
    let at_start = |what: &str| manifest.parameters["scale"][what].as_u64().unwrap();
    assert_eq!(at_start("running_at_start"), 9);
    assert!(at_start("waiting_at_start") > 50, "{:?}", manifest.parameters);
    let run = replayed(&Trace::open(&dir.path().join("W")).unwrap(), Unfinished::Drop, Window::default());
    let found: Vec<(String, i64)> =
        run.tables.jobs.iter().filter_map(|row| Some((row.job_id.clone(), row.launch? - row.submit?))).collect();
    let expected: Vec<(String, i64)> = really
        .iter()
        .filter(|row| row.submit >= Some(from))
        .filter_map(|row| Some((row.job_id.clone(), row.launch? - row.submit?)))
        .collect();
    assert_eq!(found, expected, "the waits of the jobs of the window are those of the whole log");
}

/// Jobs that were there before the trace began have no submission, and count in nothing; no task runs beyond the trace unless it
/// is estimated.
#[test]
fn both_ends_are_edges() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = whole();
    let trace = cut(&jobs, &dir.path().join("T"));
    let before = jobs.iter().filter(|job| job.submit < FROM && job.submit + job.run >= FROM).count();
    for unfinished in [Unfinished::Drop, Unfinished::Cap] {
        let run = replayed(&trace, unfinished, Window::default());
        assert_eq!(run.tables.jobs.iter().filter(|job| job.submit.is_none()).count(), before);
        let last = run.tables.jobs.iter().filter_map(|job| job.finish).max().unwrap();
        assert!(last <= TO, "the trace ends at {TO}, the run at {last}");
    }
    let window = Window { from: Some("+1h".parse().unwrap()), to: Some("+2h".parse().unwrap()) };
    let run = replayed(&trace, Unfinished::Drop, window);
    let expected = jobs.iter().filter(|job| (FROM + HOUR..FROM + 2 * HOUR).contains(&job.submit)).count();
    assert!(completions(&run).len() <= expected && completions(&run).len() > expected * 9 / 10);
}
