//! The log in `traces/sample-spark`: what an invented Spark application might have written. It is made here, and nothing of it was observed.
//!
//! `UPDATE_SAMPLE=1 cargo test --workspace --test e2e spark_log` writes it again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::repository;

const HOSTS: usize = 6;
const CORES: usize = 2;
const JOBS: usize = 24;
/// When the application starts, ms since 1970.
const ZERO: i64 = 1_767_600_000_000;
/// How long a stage waits for a preferred host, ms.
const WAIT: i64 = 3_000;
/// How many times as long a task takes on another host.
const ELSEWHERE: f64 = 1.8;
/// The pools, each with how many of four jobs it has.
const POOLS: [&str; 4] = ["etl", "etl", "adhoc", "adhoc"];

/// Numbers that are the same on every machine (Knuth's MMIX).
struct Draws(u64);

impl Draws {
    /// A number from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() * end as f64) as usize
    }
}

/// A task that waits.
struct Task {
    index: usize,
    /// The hosts that it prefers; none of a reducer.
    hosts: Vec<usize>,
    run: i64,
}

/// A stage of a job: it can start once all tasks of the stage before have ended.
struct Stage {
    number: usize,
    after: Option<usize>,
    tasks: Vec<Task>,
    size: usize,
    ended: usize,
    /// When it was submitted. As Spark's since 3.1, it waits from then on, once.
    submitted: Option<i64>,
}

struct Job {
    submit: i64,
    stages: Vec<Stage>,
}

fn jobs() -> Vec<Job> {
    let mut draws = Draws(7);
    let (mut submit, mut number) = (2_000, 0);
    let mut all = Vec::new();
    for _ in 0..JOBS {
        submit += 1_000 + (draws.next() * 4_500.0) as i64;
        let maps = 6 + draws.below(18);
        let run = 900.0 + draws.next() * 1_600.0;
        // The input of a job lies on few hosts, and the first of them have most of all input.
        let home = (draws.next() * draws.next() * HOSTS as f64) as usize;
        let mut task = |index: usize, is_map: bool| {
            let near = |step: usize| (home + step) % HOSTS;
            let hosts = if is_map { vec![near(draws.below(2)), near(2 + draws.below(2))] } else { Vec::new() };
            let run = run * if is_map { 1.0 } else { 0.5 } * (0.9 + 0.2 * draws.next());
            Task { index, hosts, run: run as i64 }
        };
        let mut stage = |size: usize, after: Option<usize>| {
            let tasks: Vec<Task> = (0..size).map(|index| task(index, after.is_none())).collect();
            number += 1;
            Stage { number: number - 1, after, tasks, size, ended: 0, submitted: None }
        };
        let first = stage(maps, None);
        let second = stage(1 + maps / 6, Some(first.number));
        all.push(Job { submit, stages: vec![first, second] });
    }
    all
}

/// A task that runs: when it ends, its core, job, stage, and its line of the log.
type Running = (i64, usize, usize, usize, String);

/// The task that a core is given, with Spark's word for its level: that of the first job which takes the core.
fn take(jobs: &mut [Job], host: usize, now: i64) -> Option<(usize, usize, Task, &'static str)> {
    for (number, job) in jobs.iter_mut().enumerate() {
        for (place, stage) in job.stages.iter_mut().enumerate() {
            let Some(since) = stage.submitted.filter(|_| !stage.tasks.is_empty()) else { continue };
            let near = stage.tasks.iter().position(|task| task.hosts.contains(&host));
            let free = stage.tasks.iter().position(|task| task.hosts.is_empty());
            let (at, level) = match (near, free) {
                (Some(at), _) => (at, "NODE_LOCAL"),
                (None, Some(at)) => (at, "PROCESS_LOCAL"),
                (None, None) if now - since >= WAIT => (0, "ANY"),
                (None, None) => continue,
            };
            return Some((number, place, stage.tasks.remove(at), level));
        }
    }
    None
}

/// The log, and the hosts that its tasks prefer.
fn made() -> (String, String) {
    let mut jobs = jobs();
    let mut preferred = "stage,index,hosts\n".to_owned();
    for stage in jobs.iter().flat_map(|job| &job.stages) {
        for task in &stage.tasks {
            let hosts: Vec<String> = task.hosts.iter().map(|&number| host(number)).collect();
            let _ = writeln!(preferred, "{},{},{}", stage.number, task.index, hosts.join(" "));
        }
    }
    // Lines by time; those of one time in the order in which they were made.
    let mut lines: BTreeMap<(i64, usize), String> = BTreeMap::new();
    let mut log = |at: i64, line: String| {
        let next = lines.len();
        lines.insert((at, next), line);
    };
    head().into_iter().for_each(|line| log(0, line));
    let mut running: Vec<Running> = Vec::new();
    let (mut free, mut now, mut tasks) = (vec![true; HOSTS * CORES], 0, 0);
    while jobs.iter().flat_map(|job| &job.stages).any(|stage| stage.ended < stage.size) {
        running.sort_by_key(|task| (task.0, task.1));
        while running.first().is_some_and(|task| task.0 <= now) {
            let (at, core, job, stage, line) = running.remove(0);
            free[core] = true;
            let state = &mut jobs[job].stages[stage];
            state.ended += 1;
            log(at, line);
            if state.ended == state.size {
                log(at, completed(state, at));
                if stage == 1 {
                    log(at, json!({"Event": "SparkListenerJobEnd", "Job ID": job, "Completion Time": ZERO + at, "Job Result": {"Result": "JobSucceeded"}}).to_string());
                }
            }
        }
        for (number, job) in jobs.iter_mut().enumerate().filter(|(_, job)| job.submit <= now) {
            if job.stages[0].submitted.is_none() {
                log(job.submit, started(number, job));
            }
            let ready = [true, job.stages[0].ended == job.stages[0].size];
            for (stage, _) in
                job.stages.iter_mut().zip(ready).filter(|(stage, is_ready)| *is_ready && stage.submitted.is_none())
            {
                stage.submitted = Some(now);
            }
        }
        // Cores of one host are not offered in a row.
        for core in (0..HOSTS * CORES).map(|place| (place % CORES) * HOSTS + place / CORES) {
            let on = core % HOSTS;
            if !free[core] {
                continue;
            }
            let Some((job, stage, task, level)) = take(&mut jobs, on, now) else { continue };
            let run = if level == "ANY" { (task.run as f64 * ELSEWHERE) as i64 } else { task.run };
            free[core] = false;
            let info = json!({"Task ID": tasks, "Index": task.index, "Attempt": 0, "Partition ID": task.index, "Launch Time": ZERO + now, "Executor ID": on.to_string(), "Host": host(on), "Locality": level, "Speculative": false, "Finish Time": ZERO + now + run});
            let kind = if stage == 0 { "ShuffleMapTask" } else { "ResultTask" };
            let line = json!({"Event": "SparkListenerTaskEnd", "Stage ID": jobs[job].stages[stage].number, "Stage Attempt ID": 0, "Task Type": kind, "Task End Reason": {"Reason": "Success"}, "Task Info": info});
            running.push((now + run, core, job, stage, line.to_string()));
            tasks += 1;
        }
        now += 20;
    }
    log(now, json!({"Event": "SparkListenerApplicationEnd", "Timestamp": ZERO + now}).to_string());
    (lines.into_values().map(|line| line + "\n").collect(), preferred)
}

fn host(number: usize) -> String {
    format!("worker-{}", number + 1)
}

fn head() -> Vec<String> {
    let settings = json!({"spark.executor.cores": CORES.to_string(), "spark.executor.memory": "2g", "spark.scheduler.mode": "FIFO", "spark.locality.wait": "3s"});
    let mut lines = vec![
        json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"}),
        json!({"Event": "SparkListenerApplicationStart", "App Name": "sample", "App ID": "app-sample", "Timestamp": ZERO, "User": "ann"}),
        json!({"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings}),
    ];
    lines.extend((0..HOSTS).map(|number| {
        json!({"Event": "SparkListenerExecutorAdded", "Timestamp": ZERO, "Executor ID": number.to_string(), "Executor Info": {"Host": host(number), "Total Cores": CORES}})
    }));
    lines.into_iter().map(|line| line.to_string()).collect()
}

fn started(number: usize, job: &Job) -> String {
    let info = |stage: &Stage| {
        let parents: Vec<usize> = stage.after.into_iter().collect();
        json!({"Stage ID": stage.number, "Stage Attempt ID": 0, "Stage Name": "sample", "Number of Tasks": stage.size, "Parent IDs": parents})
    };
    let infos: Vec<serde_json::Value> = job.stages.iter().map(info).collect();
    let ids: Vec<usize> = job.stages.iter().map(|stage| stage.number).collect();
    json!({"Event": "SparkListenerJobStart", "Job ID": number, "Submission Time": ZERO + job.submit, "Stage Infos": infos, "Stage IDs": ids, "Properties": {"spark.scheduler.pool": POOLS[number % POOLS.len()]}})
        .to_string()
}

fn completed(stage: &Stage, at: i64) -> String {
    let info = json!({"Stage ID": stage.number, "Stage Attempt ID": 0, "Number of Tasks": stage.size, "Submission Time": ZERO + stage.submitted.unwrap_or(0), "Completion Time": ZERO + at});
    json!({"Event": "SparkListenerStageCompleted", "Stage Info": info}).to_string()
}

#[test]
fn the_sample_is_what_this_program_writes() {
    let (log, preferred) = made();
    for (name, text) in [("eventlog.json", log), ("preferred.csv", preferred)] {
        let path = Path::new(&repository("traces")).join("sample-spark").join(name);
        if std::env::var_os("UPDATE_SAMPLE").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        assert!(fs::read_to_string(&path).unwrap() == text, "{} is stale: see spark_log.rs", path.display());
    }
}
