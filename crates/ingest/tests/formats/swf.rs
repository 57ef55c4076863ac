//! Logs in the Standard Workload Format with fields that the standard does not have, beside what another program read in them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use resched_ingest::export::export;
use resched_ingest::{Options, ingest, ingest_into};
use resched_tables::model::JobRecord;
use resched_tables::named::amounts;
use resched_tables::sink::Collected;
use serde_json::{Value, json};

use crate::support::{answers, fixture};

fn read(path: &Path, counters: bool) -> Collected {
    let options = Options { counters, ..Options::default() };
    let mut found = Collected::default();
    ingest_into(&[path.to_path_buf()], &mut found, &options, &mut ()).unwrap();
    found
}

/// What the other program counted.
fn counted(found: &Collected) -> Value {
    let tasks = || found.jobs.iter().map(|record| &record.tasks[0].task);
    let jobs = || found.jobs.iter().map(|record| &record.job);
    let gpus = |text: &str| amounts(text).map(|(_, count)| i64::try_from(count).unwrap()).sum::<i64>();
    let mut features: BTreeMap<String, u64> = BTreeMap::new();
    jobs().filter_map(|job| job.features.clone()).for_each(|feature| *features.entry(feature).or_default() += 1);
    let soft = |record: &JobRecord| record.counters.iter().map(|counter| counter.value).sum::<i64>();
    json!({
        "jobs": found.jobs.len(),
        "gpus": tasks().map(|task| gpus(task.resources.as_deref().unwrap_or_default()) * task.instances.unwrap()).sum::<i64>(),
        "soft": found.jobs.iter().map(soft).sum::<i64>(),
        "machines": tasks().filter_map(|task| task.machines).sum::<i64>(),
        "exclusive": tasks().filter(|task| task.exclusive == Some(true)).count(),
        "processors": tasks().map(|task| task.instances.unwrap() * task.cpu_request.unwrap() / 1_000).sum::<i64>(),
        "waits": jobs().map(|job| job.launch.unwrap() - job.submit.unwrap()).sum::<i64>(),
        "runs": jobs().map(|job| job.finish.unwrap() - job.launch.unwrap()).sum::<i64>(),
        "features": features,
    })
}

#[test]
fn further_fields_are_what_the_header_names_them() {
    let found = read(&fixture("extended.swf"), true);
    assert_eq!(counted(&found), answers("extended_swf"));
    let names: Vec<&str> = found.jobs.iter().flat_map(|job| &job.counters).map(|one| one.name.as_str()).collect();
    assert!(!names.is_empty() && names.iter().all(|name| *name == "soft_walltime"));
    // More processors of a machine than it has: 112 of 64.
    assert!(found.skipped["processors-beyond-machine"] > 0, "{:?}", found.skipped);
    let without = read(&fixture("extended.swf"), false);
    assert!(without.skipped["soft-walltime-left-out"] > 0, "{:?}", without.skipped);
    assert!(!without.skipped.contains_key("line-with-further-fields"), "{:?}", without.skipped);
}

#[test]
fn what_was_read_is_exported() {
    let dir = tempfile::tempdir().unwrap();
    let read = |file: PathBuf, out: &Path| {
        ingest(&[file], out, &Options { counters: true, ..Options::default() }, &mut ()).unwrap();
    };
    let unnamed = dir.path().join("unnamed.swf");
    fs::write(&unnamed, "; MaxProcs: 4\n1 0 5 10 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1 7 -1\n").unwrap();
    for (source, extended) in [(fixture("extended.swf"), true), (unnamed, false)] {
        let folder = dir.path().join(extended.to_string());
        fs::create_dir(&folder).unwrap();
        let [before, after, file] = ["before", "after", "out.swf"].map(|name| folder.join(name));
        read(source, &before);
        let exported = export(&before, "swf", &file).unwrap();
        assert_eq!(exported.left_out, BTreeMap::new());
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.contains("; Field 19: used_GPUs\n; Field 20: soft_walltime\n"), extended, "{text}");
        read(file, &after);
        for table in ["jobs", "tasks", "attempts", "nodes", "counters"] {
            let bytes = |trace: &Path| fs::read(trace.join(format!("{table}.parquet"))).unwrap();
            assert!(bytes(&before) == bytes(&after), "{table} differs");
        }
    }
}
