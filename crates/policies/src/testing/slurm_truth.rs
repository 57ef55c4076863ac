//! What real Slurms did, as the folder of shared traces has it (`truth/slurm`, 22.05, and `truth/slurm-24.11`), as traces in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use resched_sim::batch::{Loaded, load_records};
use resched_sim::{ClusterConfig, Scope};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::sink::Collected;

/// A row of a table.
pub(crate) type Row = BTreeMap<String, String>;

/// The folder of the runs of a version; `None` without the shared traces.
pub(crate) fn runs_of(version: &str) -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = if version == "22.05" { "truth/slurm".to_owned() } else { format!("truth/slurm-{version}") };
    let path = std::env::var_os("RESCHED_SHARED").map_or_else(default, PathBuf::from).join(folder);
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

/// The rows of a table of a run.
pub(crate) fn table(run: &Path, name: &str) -> Vec<Row> {
    let mut text = String::new();
    GzDecoder::new(File::open(run.join(name)).unwrap()).read_to_string(&mut text).unwrap();
    let mut lines = text.lines().map(fields);
    let names = lines.next().unwrap();
    lines.map(|line| names.iter().cloned().zip(line).collect()).collect()
}

/// The rows of a run's jobs, in the order of their submission.
pub(crate) fn jobs(run: &Path) -> Vec<Row> {
    let mut rows = table(run, "truth.csv.gz");
    rows.sort_by_key(|row| (number(row, "submit"), number(row, "job_raw")));
    rows
}

/// A whole number of a row.
pub(crate) fn number(row: &Row, column: &str) -> i64 {
    row[column].parse().unwrap()
}

/// The memory in a list of resources, such as `mem=32000M` or `mem=62.50G`, bytes.
fn memory(row: &Row, column: &str) -> Option<i64> {
    let memory = row[column].split(',').find_map(|part| part.strip_prefix("mem="))?;
    let (number, unit) = memory.split_at(memory.len() - 1);
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
pub(crate) fn loaded(rows: &[Row]) -> Loaded {
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
