//! The published SWIM files: the jobs that are read, and the tasks that are made for them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use resched_ingest::formats::swim;
use resched_tables::model::{JobRecord, JobRow, TaskKind};
use resched_tables::sink::Collected;
use resched_workload::synthesise::{Rules, Synthesiser};

/// The jobs of a file; nothing in it may be skipped.
fn read(path: &Path) -> Vec<JobRecord> {
    let mut input = BufReader::new(File::open(path).unwrap());
    assert!((swim::FORMAT.sniff)(input.fill_buf().unwrap()), "{} is not recognised", path.display());
    let mut found = Collected::default();
    (swim::FORMAT.read)(&mut input, &path.display().to_string(), &mut found).unwrap();
    assert!(found.nodes.is_empty(), "a SWIM file has no machines, found {:?}", found.nodes);
    assert!(found.skipped.is_empty(), "nothing is damaged, found {:?}", found.skipped);
    found.jobs
}

#[test]
fn golden_counts() {
    let Some(traces) = crate::support::real_traces() else { return };
    let golden = File::open(traces.join("golden_counts.json")).unwrap();
    let golden: BTreeMap<String, serde_json::Value> = serde_json::from_reader(golden).unwrap();
    let files: Vec<_> = golden.into_iter().filter(|(name, _)| name.starts_with("swim/")).collect();
    assert_eq!(files.len(), 5);
    for (name, expected) in files {
        let jobs = read(&traces.join(&name));
        let submits = || jobs.iter().filter_map(|record| record.job.submit);
        let sum = |bytes: fn(&JobRow) -> Option<i64>| jobs.iter().filter_map(|record| bytes(&record.job)).sum::<i64>();
        let zeros =
            |bytes: fn(&JobRow) -> Option<i64>| jobs.iter().filter(|record| bytes(&record.job) == Some(0)).count();
        let found = serde_json::json!({
            "format": "swim-tsv",
            "rows": jobs.len(),
            "columns": expected["columns"],
            "min_submit_s": submits().min().unwrap() / 1_000,
            "max_submit_s": submits().max().unwrap() / 1_000,
            "map_input_bytes": sum(|job| job.input_bytes),
            "shuffle_bytes": sum(|job| job.shuffle_bytes),
            "reduce_output_bytes": sum(|job| job.output_bytes),
            "zero_input": zeros(|job| job.input_bytes),
            "zero_shuffle": zeros(|job| job.shuffle_bytes),
            "zero_output": zeros(|job| job.output_bytes),
        });
        assert_eq!(found, expected, "{name}");
    }
}

/// All bytes of the jobs end up in tasks, and nothing else does.
#[test]
fn a_workload_is_divided_completely() {
    let Some(traces) = crate::support::real_traces() else { return };
    let synthesiser = Synthesiser::new(&Rules::default(), 1).unwrap();
    let (mut maps, mut reduces, mut input, mut shuffled) = (0, 0, 0, 0);
    for (ordinal, mut record) in (0..).zip(read(&traces.join("swim/FB-2009_samples_24_times_1hr_0.tsv"))) {
        synthesiser.synthesise(&mut record, ordinal).unwrap();
        for task in &record.tasks {
            let bytes = task.task.input_bytes.unwrap();
            if task.task.kind == TaskKind::Map {
                (maps, input) = (maps + 1, input + bytes);
            } else {
                (reduces, shuffled) = (reduces + 1, shuffled + bytes);
            }
        }
    }
    // Tasks: counted from the file by another program, Σ max(1, ⌈input / 2²⁷⌉) and Σ min(1,000, ⌈shuffle / 2³⁰⌉).
    assert_eq!((maps, reduces), (205_713, 14_678));
    // Bytes, as another program added them up.
    assert_eq!((input, shuffled), (26_886_497_357_605, 22_216_712_306_762));
}
