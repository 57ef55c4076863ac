//! The maps in `traces/maps`, each with a made table in the columns of the real set. `maps/make.py` wrote the tables from made jobs, and
//! those jobs beside them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use resched_ingest::formats::mapped::{Map, suggest};
use resched_ingest::{Options, ingest_into};
use resched_tables::model::JobRecord;
use resched_tables::placed;
use resched_tables::sink::Collected;
use serde::Deserialize;

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Expected {
    id: String,
    user: Option<String>,
    queue: Option<String>,
    submit: Option<i64>,
    start: Option<i64>,
    finish: Option<i64>,
    limit: Option<i64>,
    outcome: String,
    instances: Option<i64>,
    cpu: Option<i64>,
    memory: Option<i64>,
    gpus: u64,
    /// How many hosts it ran on.
    hosts: usize,
}

impl Expected {
    fn of(JobRecord { job, tasks, .. }: &JobRecord) -> Self {
        let [task] = tasks.as_slice() else { panic!("{tasks:?}") };
        let [attempt] = task.attempts.as_slice() else { panic!("{tasks:?}") };
        let several = attempt.hosts.as_deref().map(|hosts| placed::places(hosts).unwrap().len());
        let gpus = task.task.resources.as_deref().and_then(|text| text.strip_prefix("gres/gpu=")?.parse().ok());
        Self {
            id: job.job_id.clone(),
            user: job.user.clone(),
            queue: job.queue.clone(),
            submit: job.submit,
            start: attempt.start,
            finish: job.finish,
            limit: job.requested_time,
            outcome: job.outcome.to_string(),
            instances: task.task.instances,
            cpu: task.task.cpu_request,
            memory: task.task.memory_request,
            gpus: gpus.unwrap_or(0),
            hosts: several.unwrap_or(usize::from(attempt.host.is_some())),
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/formats/maps")
}

fn maps() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../traces/maps")
}

fn read(map: Map, paths: &[PathBuf]) -> Result<Collected, String> {
    let mut found = Collected::default();
    let options = Options { map: Some(map), ..Options::default() };
    ingest_into(paths, &mut found, &options, &mut ()).map_err(|error| error.to_string())?;
    Ok(found)
}

/// The made table of a set. That of the book is bundled beside its map.
fn table(name: &str) -> PathBuf {
    let bundled = maps().join(format!("{name}-made.csv"));
    let made = ["json", "csv"].map(|kind| folder().join(format!("{name}.{kind}")));
    [bundled].into_iter().chain(made).find(|path| path.is_file()).unwrap()
}

#[test]
fn each_map_finds_the_jobs_of_its_made_table() {
    let expected: BTreeMap<String, Vec<Expected>> =
        serde_json::from_slice(&fs::read(folder().join("expected.json")).unwrap()).unwrap();
    let mut names: Vec<String> = fs::read_dir(maps())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, expected.keys().cloned().collect::<Vec<_>>(), "each map has a table");
    for (name, expected) in expected {
        let path = maps().join(format!("{name}.toml"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# Not tried on the real set: "), "{name}");
        let found = read(Map::read(&path).unwrap(), &[table(&name)]).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut jobs: Vec<Expected> = found.jobs.iter().map(Expected::of).collect();
        jobs.sort_by(|one, other| one.id.cmp(&other.id));
        assert_eq!(jobs, expected, "{name}");
        for cause in ["unknown-state", "time-zone-assumed", "damaged-row", "damaged-node-list"] {
            assert_eq!(found.skipped.get(cause).copied().unwrap_or(0), 0, "{name}: {cause}");
        }
    }
}

/// The rows pass through in pieces if a map lists the machines. They are the same jobs.
#[test]
fn machines_of_a_map_are_those_of_the_trace() {
    let found = read(Map::read(&maps().join("lassen.toml")).unwrap(), &[table("lassen")]).unwrap();
    assert_eq!(found.nodes.len(), 792);
    let node = &found.nodes[0];
    assert_eq!((node.host.as_str(), node.cpu, node.memory), ("lassen1", Some(40_000), Some(256 << 30)));
    assert_eq!(node.resources.as_deref(), Some("gres/gpu=4"));
}

/// A map names files below the folder, and nothing else is read.
#[test]
fn a_map_reads_only_the_files_that_it_names() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("data/Venus")).unwrap();
    fs::copy(table("helios"), at("data/Venus/cluster_log.csv")).unwrap();
    fs::write(at("data/Venus/cluster_gpu_number.csv"), "date,total\n2020-09-01,8\n").unwrap();
    let map = || Map::read(&maps().join("helios.toml")).unwrap();
    let found = read(map(), &[at("data")]).unwrap();
    assert_eq!((found.jobs.len(), found.skipped["file-not-in-map"]), (12, 1));
    let outside = "files = [\"../*\", \"/etc/*\"]\n[fields]\nsubmit = \"a\"\nrun = \"b\"\n";
    let error = read(Map::parse(outside, "m.toml").unwrap(), &[at("data")]).unwrap_err();
    assert!(error.contains("0 files without histories"), "{error}");
}

#[test]
fn a_table_without_a_column_is_refused_with_its_columns() {
    let error = read(Map::read(&maps().join("pm100.toml")).unwrap(), &[table("helios")]).unwrap_err();
    assert!(error.contains("expected the column `user_id` of the map") || error.contains("the column `"), "{error}");
    assert!(error.contains("gpu_num") && error.contains("--suggest"), "{error}");
}

/// The first map of a table is one that reads it.
#[test]
fn a_suggested_map_reads_the_table_that_it_was_made_from() {
    for name in ["helios", "pm100", "mit-supercloud", "kestrel"] {
        let bytes = fs::read(table(name)).unwrap();
        let text = suggest(&mut &bytes[..], &table(name).display().to_string()).unwrap();
        let map = Map::parse(&text, "suggested.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let found = read(map, &[table(name)]).unwrap();
        assert_eq!(found.jobs.len(), 12, "{name}\n{text}");
        assert!(found.jobs.iter().all(|record| record.job.finish > record.job.submit), "{name}");
    }
}

#[test]
fn a_map_that_is_wrong_is_refused_with_its_line() {
    let problem = |text: &str| Map::parse(text, "m.toml").unwrap_err().to_string();
    let fields = "[fields]\nsubmit = \"s\"\nrun = \"r\"\n";
    assert!(
        problem(&format!("{fields}sumbit = \"x\"\n")).contains("m.toml: line 4"),
        "{}",
        problem(&format!("{fields}sumbit = \"x\"\n"))
    );
    assert!(problem("[fields]\nrun = \"r\"\n").contains("`submit`"));
    assert!(problem("[fields]\nsubmit = \"s\"\n").contains("`start`, `end`, `wait` or `run`"));
    assert!(problem(&format!("{fields}id = {{ unit = \"s\" }}\n")).contains("fields.id"));
    assert!(problem(&format!("{fields}[[machines]]\nhosts = \"n[1-\"\n")).contains("machines"));
    assert!(problem(&format!("{fields}[[machines]]\nhosts = \"n[1-9999999]\"\n")).contains("machines"));
    assert!(problem(&format!("files = [\"{}\"]\n{fields}", "*".repeat(300))).contains("at most 256"));
    let long = "x".repeat(200);
    assert!(problem(&format!("{fields}id = \"{long}\"\n")).contains("fields.id: expected at most"));
    assert!(problem(&format!("{fields}hosts = {{ column = \"h\", prefix = \"{long}\" }}\n")).contains("fields.hosts"));
    assert!(problem(&format!("{fields}[[machines]]\nhosts = \"{long}[1-9]\"\n")).contains("machines"));
    assert!(problem(&format!("zone = \"Moon\"\n{fields}")).contains("zone"));
    assert!(Map::read(Path::new("/no/such/map")).unwrap_err().is_request());
}
