//! The policy `slurm` beside what Slurm itself did (`truth/slurm` of the folder of shared traces): each run is replayed
//! under its own settings, with twenty seeds, which decide at which part of a second the schedulers look for work.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use resched_policies::PolicySpec;
use resched_sim::batch::{Checked, Ended, Launched, Loaded, Observer, load_records, replay_seeded};
use resched_sim::{ClusterConfig, Error, Ms, Reports, Scope};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::sink::Collected;

const SEEDS: u64 = 20;

/// A row of a truth table.
type Row = BTreeMap<String, String>;

fn shared() -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("RESCHED_SHARED").map_or_else(default, PathBuf::from).join("truth/slurm");
    if path.is_dir() {
        return Some(path);
    }
    let required = std::env::var_os("RESCHED_REQUIRE_SHARED").is_some_and(|value| value == "1");
    assert!(!required, "{} not found", path.display());
    None
}

/// The fields of a line, some of which are quoted.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

fn rows(run: &Path) -> Vec<Row> {
    let mut text = String::new();
    GzDecoder::new(File::open(run.join("truth.csv.gz")).unwrap()).read_to_string(&mut text).unwrap();
    let mut lines = text.lines().map(fields);
    let names = lines.next().unwrap();
    lines.map(|line| names.iter().cloned().zip(line).collect()).collect()
}

fn number(row: &Row, column: &str) -> i64 {
    row[column].parse().unwrap()
}

/// The memory in a list of resources, such as `mem=32000M` or `mem=62.50G`, bytes.
fn memory(row: &Row, column: &str) -> Option<i64> {
    let own = row[column].split(',').find_map(|part| part.strip_prefix("mem="))?;
    let (number, unit) = own.split_at(own.len() - 1);
    let unit = if unit == "G" { 30 } else { 20 };
    Some((number.parse::<f64>().unwrap() * f64::from(1 << unit)) as i64)
}

fn job(row: &Row) -> JobRecord {
    let id = row["job_raw"].clone();
    let ms = |column: &str| Some(number(row, column) * 1_000);
    let cpus = number(row, "req_cpus");
    let (machines, held) = (number(row, "nodes"), number(row, "cpus"));
    let is_exclusive = row["layout"] == "whole nodes";
    let (instances, each, machines) = match row["layout"].as_str() {
        "one node" => (1, cpus, Some(1)),
        "whole nodes" => (machines, held / machines, Some(machines)),
        _ => (cpus, 1, None),
    };
    let outcome = Outcome::Success;
    JobRecord {
        job: JobRow {
            job_id: id.clone(),
            user: Some(row["user"].clone()),
            queue: Some(row["partition"].clone()),
            qos: Some(row["qos"].clone()),
            framework: Some("slurm".to_owned()),
            priority_number: Some(number(row, "priority")),
            submit: ms("submit"),
            eligible: ms("eligible"),
            finish: ms("end"),
            requested_time: Some(number(row, "limit_minutes") * 60_000),
            outcome,
            ..JobRow::default()
        },
        tasks: vec![TaskRecord {
            task: TaskRow {
                job_id: id.clone(),
                task_id: id.clone(),
                outcome,
                cpu_request: Some(each * 1_000),
                memory_request: memory(row, "alloc_tres").map(|all| all / instances),
                instances: Some(instances),
                gang: Some(true),
                machines,
                exclusive: Some(is_exclusive),
                ..TaskRow::default()
            },
            attempts: vec![AttemptRow {
                job_id: id.clone(),
                task_id: id,
                start: ms("start"),
                finish: ms("end"),
                outcome,
                ..AttemptRow::default()
            }],
            splits: Vec::new(),
        }],
        counters: Vec::new(),
    }
}

/// A run as a trace in memory, on eight machines of 16 processors and 32 GB.
fn loaded(rows: &[Row]) -> Loaded {
    let node = |number| NodeRow {
        host: format!("n{number}"),
        cpu: Some(16_000),
        memory: Some(32_000 << 20),
        ..NodeRow::default()
    };
    let tables = Collected {
        engine: resched_tables::run::RunEngine::Batch,
        jobs: rows.iter().map(job).collect(),
        nodes: (0..8).map(node).collect(),
        ..Collected::default()
    };
    load_records(&tables, &ClusterConfig::default(), &Scope::default()).unwrap()
}

/// When jobs started, ms.
#[derive(Default)]
struct Seen(BTreeMap<usize, Ms>);

impl Reports for Seen {}

impl Observer for Seen {
    fn launched(&mut self, launched: &Launched<'_>) -> Result<(), Error> {
        self.0.insert(launched.task.index(), launched.at);
        Ok(())
    }

    fn ended(&mut self, _: &Ended) -> Result<(), Error> {
        Ok(())
    }
}

/// The waits of the jobs in seconds, rounded down as sacct does, with a seed.
fn waits(loaded: &Loaded, policy: &str, seed: u64) -> Vec<f64> {
    let mut seen = Seen::default();
    let mut checked = Checked::new(&loaded.workload, &loaded.machines, "slurm", &mut seen);
    let mut policy = PolicySpec::parse(policy).unwrap().build_batch().unwrap();
    replay_seeded(&loaded.workload, &loaded.machines, ("slurm", &mut *policy), seed, &mut checked, &mut |_| {})
        .unwrap();
    checked.close().unwrap();
    let eligible = loaded.workload.jobs().iter().map(|job| job.eligible.unwrap_or(job.submit));
    assert_eq!(seen.0.len(), loaded.workload.jobs().len());
    eligible.zip(seen.0.values()).map(|(eligible, start)| ((start - eligible) / 1_000) as f64).collect()
}

fn mean(of: impl IntoIterator<Item = f64>) -> f64 {
    let all: Vec<f64> = of.into_iter().collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// The largest distance of two distributions, as a share of the distance at which they are different at 5 %.
fn ks(a: &[f64], b: &[f64]) -> f64 {
    let share = |of: &[f64], at: f64| of.iter().filter(|&&x| x <= at).count() as f64 / of.len() as f64;
    let distance = a.iter().chain(b).map(|&at| (share(a, at) - share(b, at)).abs()).fold(0.0, f64::max);
    distance / (1.358 * ((a.len() + b.len()) as f64 / (a.len() * b.len()) as f64).sqrt())
}

struct Found {
    /// The error of the mean wait, a share.
    mean: f64,
    within_2: f64,
    within_10: f64,
    ks: f64,
}

#[allow(clippy::print_stderr, reason = "the figures are what the test is about")]
fn found(run: &Path, policy: &str) -> Found {
    let mut rows = rows(run);
    rows.sort_by_key(|row| (number(row, "submit"), number(row, "job_raw")));
    let loaded = loaded(&rows);
    let real: Vec<f64> = rows.iter().map(|row| (number(row, "start") - number(row, "eligible")) as f64).collect();
    let runs: Vec<Vec<f64>> = (1..=SEEDS).map(|seed| waits(&loaded, policy, seed)).collect();
    let real_mean = mean(real.iter().copied());
    let within = |most: f64| {
        let share = |run: &Vec<f64>| mean(run.iter().zip(&real).map(|(a, b)| f64::from((a - b).abs() <= most)));
        mean(runs.iter().map(share))
    };
    let means: Vec<f64> = runs.iter().map(|run| mean(run.iter().copied())).collect();
    let found = Found {
        mean: mean(means.iter().copied()) / real_mean - 1.0,
        within_2: within(2.0),
        within_10: within(10.0),
        ks: mean(runs.iter().map(|run| ks(run, &real))),
    };
    if std::env::var_os("RESCHED_SHOW").is_some() {
        for (place, row) in rows.iter().enumerate() {
            let ours = mean(runs.iter().map(|run| run[place]));
            eprintln!(
                "SHOW {} {} wait {} ours {ours:.1} diff {:+.1}",
                row["job"],
                row["req_cpus"],
                real[place],
                ours - real[place]
            );
        }
    }
    let range = |of: fn(f64, f64) -> f64, from| means.iter().copied().fold(from, of);
    eprintln!(
        "{}: {policy}: mean wait {real_mean:.1} s, replayed {:+.1} % ({:.1} to {:.1} s); starts within 2 s {:.0} %, 10 s {:.0} %; KS {:.2} of what is different at 5 %",
        run.file_name().unwrap().display(),
        found.mean * 1e2,
        range(f64::min, f64::MAX),
        range(f64::max, 0.0),
        found.within_2 * 1e2,
        found.within_10 * 1e2,
        found.ks,
    );
    found
}

#[test]
fn first_come_first_served_is_replayed_as_it_was() {
    let Some(dir) = shared() else { return };
    let found = found(&dir.join("fifo"), "slurm:scheduler=builtin");
    assert!(found.mean.abs() <= 0.02 && found.within_2 >= 0.70 && found.within_10 >= 0.99);
}

#[test]
fn backfill_is_replayed_as_it_was() {
    let Some(dir) = shared() else { return };
    for (run, set) in [("backfill", "slurm:bf_interval=5000"), ("easy", "slurm:bf_interval=5000,reservations=1")] {
        let found = found(&dir.join(run), set);
        assert!(found.mean.abs() <= 0.15 && found.ks < 1.0, "{run}");
    }
}

#[test]
fn memory_whole_nodes_and_single_nodes_are_replayed_as_they_were() {
    let Some(dir) = shared() else { return };
    let found = found(&dir.join("nodes"), "slurm:bf_interval=5000");
    assert!(found.mean.abs() <= 0.15);
}
