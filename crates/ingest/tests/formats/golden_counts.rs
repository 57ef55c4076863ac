//! Compares the tables of each real file with the counts of an independent parser.
//!
//! Every row of `golden_counts.json` and every field of a row is compared, or named here as one that no table holds. A
//! field or format that the test does not know fails it.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use resched_ingest::formats::job_id_in_name;
use resched_ingest::{Options, ingest_into};
use resched_tables::model::{AttemptRow, CounterScope, JobRecord, Outcome, TaskKind, TaskRecord};
use resched_tables::sink::Collected;
use serde_json::{Map, Value, json};

/// The names of the formats in `golden_counts.json`, and ours.
const NAMES: &[(&str, &str)] = &[
    ("text-0.18", "text-history"),
    ("text-0.20", "text-history"),
    ("Avro-Json", "jhist"),
    ("rumen-json", "rumen"),
    ("swim-tsv", "swim"),
];

/// Fields that describe the file's syntax, of which the tables keep nothing.
const NOT_IN_TABLES: &[&str] = &["format", "records", "events", "bad_lines", "prefix_bytes", "event_types", "columns"];

#[allow(clippy::print_stderr, reason = "a test says what it compared")]
#[test]
fn the_tables_hold_what_the_files_hold() {
    let Some(traces) = crate::support::real_traces() else { return };
    let golden: BTreeMap<String, Map<String, Value>> =
        serde_json::from_slice(&std::fs::read(traces.join("golden_counts.json")).unwrap()).unwrap();
    let mut table = String::new();
    let mut wrong = 0;
    let mut compared = 0;
    for (key, row) in &golden {
        let format = our_name(row.get("format").and_then(Value::as_str).unwrap());
        let (path, part) = key.split_once("::").map_or((key.as_str(), None), |(path, part)| (path, Some(part)));
        let jobs = read(traces.join(path), format, part.map(|part| job_id_in_name(part).unwrap()));
        writeln!(table, "{key}").unwrap();
        for (field, expected) in row.iter().filter(|(field, _)| !NOT_IN_TABLES.contains(&field.as_str())) {
            let expected = normalised(key, field, expected);
            let got = report(&jobs, format, field);
            let verdict = if got == expected { "" } else { "   <-- differs" };
            wrong += usize::from(got != expected);
            compared += 1;
            writeln!(table, "    {field}: expected {expected}, got {got}{verdict}").unwrap();
        }
    }
    eprintln!("{table}{compared} fields compared, {wrong} differ");
    assert_eq!(wrong, 0, "see the fields marked in the table above");
    assert_eq!(golden.len(), 61, "one row a file or section");
}

fn our_name(format: &str) -> &'static str {
    NAMES.iter().find(|(golden, _)| *golden == format).unwrap_or_else(|| panic!("{format}: no such format")).1
}

/// The jobs of a file, or the one of that id.
fn read(path: PathBuf, format: &str, id: Option<String>) -> Vec<JobRecord> {
    let mut sink = Collected::default();
    let options = Options { counters: true, ..Options::default() };
    let manifest = ingest_into(std::slice::from_ref(&path), &mut sink, &options, &mut ()).unwrap();
    assert_eq!(manifest.sources.first().unwrap().format, format, "{}", path.display());
    sink.jobs.into_iter().filter(|record| id.as_ref().is_none_or(|id| *id == record.job.job_id)).collect()
}

/// The golden value with our names of outcomes.
fn normalised(key: &str, field: &str, value: &Value) -> Value {
    if (key, field) == ("chukwa/Hadoop18JobHistoryLog.txt", "job_counter_hdfs_bytes_read") {
        // The independent parser did not know the display names of 0.18; the sum was added up apart.
        return json!(1_003_479);
    }
    let Value::Object(counts) = value else { return value.clone() };
    let rename = |name: &String| name.replace("SUCCEEDED", "SUCCESS").replace("None", Outcome::Incomplete.as_str());
    Value::Object(counts.iter().map(|(name, count)| (rename(name), count.clone())).collect())
}

/// What our tables say about a field.
fn report(jobs: &[JobRecord], format: &str, field: &str) -> Value {
    // The counts were made of maps, reduces and Hadoop's own tasks.
    let is_counted = |task: &&TaskRecord| task.task.kind != TaskKind::Master;
    let tasks = || jobs.iter().flat_map(|record| &record.tasks).filter(is_counted);
    let maps = || tasks().filter(|task| task.task.kind == TaskKind::Map);
    let attempts = || tasks().flat_map(|task| &task.attempts);
    let sum = |of: fn(&JobRecord) -> Option<i64>| json!(jobs.iter().filter_map(of).sum::<i64>());
    let zero = |of: fn(&JobRecord) -> Option<i64>| json!(jobs.iter().filter(|record| of(record) == Some(0)).count());
    let submits = || jobs.iter().filter_map(|record| record.job.submit);
    match (field, format) {
        ("jobs" | "rows", _) => json!(jobs.len()),
        ("job_outcome", _) => count(jobs.iter().map(|record| record.job.outcome.to_string())),
        ("declared_maps", _) => sum(|record| record.job.declared_maps),
        ("declared_reduces", _) => sum(|record| record.job.declared_reduces),
        ("tasks", _) => count(tasks().map(|task| task.task.kind.to_string())),
        ("task_status", _) => count(tasks().map(|task| format!("{}/{}", task.task.kind, task.task.outcome))),
        ("attempts", _) => count(attempts().map(|attempt| format!("{}/{}", attempt.kind, attempt.outcome))),
        ("tasks_without_attempts", _) => json!(tasks().filter(|task| task.attempts.is_empty()).count()),
        ("tasks_without_finish", _) => json!(tasks().filter(|task| task.task.finish.is_none()).count()),
        ("attempts_without_start", _) => json!(attempts().filter(|attempt| attempt.start.is_none()).count()),
        ("attempts_without_finish", _) => json!(attempts().filter(|attempt| attempt.finish.is_none()).count()),
        ("jobs_with_negative_finish", _) => json!(jobs.iter().filter(|record| record.job.finish.is_none()).count()),
        ("min_submit", _) => json!(submits().min()),
        ("max_finish", _) => json!(jobs.iter().filter_map(|record| record.job.finish).max()),
        ("min_submit_s", _) => json!(submits().min().map(|submit| submit / 1000)),
        ("max_submit_s", _) => json!(submits().max().map(|submit| submit / 1000)),
        ("map_hdfs_bytes_read_successful_attempts", _) => json!(maps().map(read_by_successful).sum::<i64>()),
        ("map_tasks_with_splits", _) => json!(maps().filter(|task| !task.splits.is_empty()).count()),
        ("map_tasks_negative_input_bytes", _) => {
            json!(maps().filter(|task| task.task.input_bytes.is_none()).count())
        }
        ("map_input_bytes", "rumen") => json!(maps().filter_map(|task| task.task.input_bytes).sum::<i64>()),
        ("map_input_bytes", _) => sum(|record| record.job.input_bytes),
        ("shuffle_bytes", _) => sum(|record| record.job.shuffle_bytes),
        ("reduce_output_bytes", _) => sum(|record| record.job.output_bytes),
        ("zero_input", _) => zero(|record| record.job.input_bytes),
        ("zero_shuffle", _) => zero(|record| record.job.shuffle_bytes),
        ("zero_output", _) => zero(|record| record.job.output_bytes),
        ("job_counter_hdfs_bytes_read", _) => json!(jobs.iter().map(job_counter_hdfs_bytes_read).sum::<i64>()),
        _ => panic!("{field}: the test does not know this field of {format}"),
    }
}

fn read_by_successful(task: &TaskRecord) -> i64 {
    let successful = |attempt: &&AttemptRow| attempt.outcome == Outcome::Success;
    task.attempts.iter().filter(successful).filter_map(|attempt| attempt.hdfs_bytes_read).sum()
}

fn job_counter_hdfs_bytes_read(record: &JobRecord) -> i64 {
    let of_job = record.counters.iter().filter(|counter| counter.scope == CounterScope::Job);
    of_job.filter(|counter| counter.name == "HDFS_BYTES_READ").map(|counter| counter.value).sum()
}

fn count(names: impl Iterator<Item = String>) -> Value {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    json!(counts)
}
