//! A trace that is ingested, exported and ingested again stays the same.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use resched_ingest::export::{Exported, export};
use resched_ingest::{Options, ingest};
use resched_tables::store::Trace;

const TABLES: [&str; 6] = ["jobs", "tasks", "attempts", "splits", "nodes", "counters"];

fn read(paths: &[PathBuf], out: &Path) {
    let options = Options { counters: true, ..Options::default() };
    ingest(paths, out, &options, &mut ()).unwrap();
}

/// Ingests files, exports them as `format` to `name`, and ingests that. The folders of both traces, and what was left out.
fn there_and_back(dir: &Path, files: &[PathBuf], format: &str, name: &str) -> (PathBuf, PathBuf, Exported) {
    let (before, after, file) = (dir.join("before"), dir.join("after"), dir.join(name));
    read(files, &before);
    let exported = export(&before, format, &file).unwrap();
    read(&[file], &after);
    (before, after, exported)
}

fn assert_same_tables(before: &Path, after: &Path, what: &str) {
    for table in TABLES {
        let bytes = |trace: &Path| fs::read(trace.join(format!("{table}.parquet"))).unwrap();
        assert!(bytes(before) == bytes(after), "{what}: the table {table} differs");
    }
}

/// The files of a shared folder whose names have this ending, sorted.
fn shared_files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    files.sort();
    files
}

#[test]
fn every_rumen_trace_comes_back_as_it_was() {
    let Some(traces) = crate::support::real_traces() else { return };
    let golden = fs::read(traces.join("golden_counts.json")).unwrap();
    let golden: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&golden).unwrap();
    let mut files: Vec<PathBuf> =
        golden.iter().filter(|(_, row)| row["format"] == "rumen-json").map(|(name, _)| traces.join(name)).collect();
    files.extend(shared_files(&traces.join("../oracle"), ".trace.json.gz"));
    assert!(files.len() >= 35, "only {} files", files.len());
    for (number, file) in files.iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        // Every other one packed.
        let name = if number % 2 == 0 { "trace.json.gz" } else { "trace.json" };
        let (before, after, exported) = there_and_back(dir.path(), std::slice::from_ref(file), "rumen", name);
        assert_same_tables(&before, &after, &file.display().to_string());
        assert_eq!(exported.left_out, BTreeMap::new(), "{}", file.display());
        assert_eq!(exported.written, Trace::open(&before).unwrap().manifest().rows["jobs"]);
    }
}

#[test]
fn a_trace_with_its_topology_comes_back_as_it_was() {
    let Some(traces) = crate::support::real_traces() else { return };
    let mumak = traces.join("hadoop-mapreduce-2011/mumak");
    let dir = tempfile::tempdir().unwrap();
    let [before, again, trace, topology] = ["before", "again", "t.json", "n.json"].map(|name| dir.path().join(name));
    read(&["19-jobs.trace.json.gz", "19-jobs.topology.json.gz"].map(|file| mumak.join(file)), &before);
    export(&before, "rumen", &trace).unwrap();
    assert_eq!(export(&before, "rumen-topology", &topology).unwrap().written, 1_545);
    read(&[trace, topology], &again);
    for table in TABLES.iter().filter(|table| **table != "nodes") {
        let bytes = |trace: &Path| fs::read(trace.join(format!("{table}.parquet"))).unwrap();
        assert!(bytes(&before) == bytes(&again), "the table {table} differs");
    }
    let machines = |trace: &Path| {
        let rows = Trace::open(trace).unwrap().rows::<resched_tables::model::NodeRow>().unwrap();
        let mut machines: Vec<_> = rows.map(|row| row.map(|row| (row.rack, row.host)).unwrap()).collect();
        machines.sort();
        machines
    };
    assert_eq!(machines(&before), machines(&again));
}

#[test]
fn every_swf_log_comes_back_as_it_was() {
    let Some(traces) = crate::support::real_traces() else { return };
    let mut files = shared_files(&traces.join("swf"), ".swf");
    files.extend(shared_files(&traces.join("swf"), ".swf.gz"));
    files.extend(shared_files(&traces.join("../oracle"), ".swf.gz"));
    assert!(files.len() >= 4, "only {} files", files.len());
    for file in files {
        let dir = tempfile::tempdir().unwrap();
        let (before, after, exported) = there_and_back(dir.path(), std::slice::from_ref(&file), "swf", "log.swf");
        assert_same_tables(&before, &after, &file.display().to_string());
        assert_eq!(exported.left_out, BTreeMap::new(), "{}", file.display());
        let parameters = |trace: &Path| Trace::open(trace).unwrap().manifest().parameters.clone();
        assert_eq!(parameters(&before), parameters(&after), "{}", file.display());
    }
}

#[test]
fn what_a_format_cannot_say_is_counted() {
    let Some(traces) = crate::support::real_traces() else { return };
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace");
    read(&[traces.join("spark/dr-elephant/event_log_1")], &trace);
    let rumen = export(&trace, "rumen", dir.path().join("out.json")).unwrap();
    assert_eq!(rumen.left_out["jobs.group"], 1);
    assert_eq!(rumen.left_out["tasks.stage"], 10);
    let swf = export(&trace, "swf", dir.path().join("out.swf")).unwrap();
    assert_eq!(swf.left_out["job-of-several-tasks"], 1);
    let text = fs::read_to_string(dir.path().join("out.swf")).unwrap();
    assert!(text.contains("; UnixStartTime: 1458126390\n"), "{text}");
    assert!(text.contains("; Note: user 1 hdfs\n"), "{text}");
    assert!(text.contains("; MaxNodes: 1\n; MaxProcs: 4\n"), "two executors on a host: {text}");
    // Four cores in all, but a task ends for the driver when it has its result.
    let line: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
    assert_eq!((line[0], line[1], line[4], line[10]), ("1", "0.17", "5", "1"), "{text}");
    let error = export(&trace, "xml", dir.path().join("out")).unwrap_err();
    assert!(error.is_request() && error.to_string().contains("rumen, rumen-topology, swf"), "{error}");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}
