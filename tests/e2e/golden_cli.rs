//! `ingest` and `inspect --json` on every file of `golden_counts.json`, compared with the counts of an independent parser.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::support::{Dir, shared};

/// Tasks of SWIM workloads are made up; few are enough here.
const FEW_TASKS: &str = "split_bytes = 1_000_000_000_000_000\nreduce_bytes = 1_000_000_000_000_000\n";

#[test]
fn inspect_agrees_with_the_golden_counts() {
    let Some(traces) = shared("traces") else { return };
    let text = std::fs::read(format!("{traces}/golden_counts.json")).unwrap();
    let golden: BTreeMap<String, Map<String, Value>> = serde_json::from_slice(&text).unwrap();
    assert_eq!(golden.len(), 61);
    let mut files: BTreeMap<&str, Vec<&Map<String, Value>>> = BTreeMap::new();
    for (key, row) in &golden {
        files.entry(key.split("::").next().unwrap()).or_default().push(row);
    }
    let dir = Dir::new();
    dir.write("few.toml", FEW_TASKS);
    let mut differences = String::new();
    for (file, parts) in files {
        dir.ok(&["ingest", &format!("{traces}/{file}"), "--out", "T", "--tasks", "few.toml"]);
        let found = dir.json(&["inspect", "T", "--json"]);
        for (field, expected) in expected(&parts) {
            let found = normalised(&without_masters(&found[field]));
            if found != expected {
                differences += &format!("{file}: {field}: expected {expected}, found {found}\n");
            }
        }
    }
    assert_eq!(differences, "");
}

/// The golden counts have no application masters, which are tasks of a kind of their own.
fn without_masters(found: &Value) -> Value {
    let mut found = found.clone();
    if let Value::Object(counts) = &mut found {
        counts.retain(|name, _| name != "master" && !name.starts_with("master/"));
    }
    found
}

/// What `inspect` must print for a file that consists of these parts.
fn expected(parts: &[&Map<String, Value>]) -> Vec<(&'static str, Value)> {
    let is_swim = parts[0]["format"] == "swim-tsv";
    let all = |field: &str| parts.iter().map(|part| &part[field]).collect::<Vec<_>>();
    let jobs = if is_swim { "rows" } else { "jobs" };
    let mut expected = vec![("jobs", sum(&all(jobs)))];
    if is_swim {
        expected.push(("min_submit", json!(parts[0]["min_submit_s"].as_i64().unwrap() * 1000)));
        expected.push(("map_input_bytes", sum(&all("map_input_bytes"))));
        return expected;
    }
    for field in ["job_outcome", "tasks", "attempts"] {
        expected.push((field, sum(&all(field))));
    }
    let times = |field: &str| all(field).into_iter().map(|time| time.as_i64().unwrap()).collect::<Vec<_>>();
    expected.push(("min_submit", json!(times("min_submit").iter().min())));
    expected.push(("max_finish", json!(times("max_finish").iter().max())));
    expected
}

/// The sum of numbers, or of tallies, with our names of outcomes.
fn sum(values: &[&Value]) -> Value {
    if values[0].is_u64() {
        return json!(values.iter().map(|value| value.as_u64().unwrap()).sum::<u64>());
    }
    let mut tally: BTreeMap<String, u64> = BTreeMap::new();
    for (name, count) in values.iter().flat_map(|value| value.as_object().unwrap()) {
        let name = name.replace("SUCCEEDED", "SUCCESS").replace("None", "INCOMPLETE");
        *tally.entry(name).or_default() += count.as_u64().unwrap();
    }
    json!(tally)
}

/// Tallies without zeroes, which the golden file leaves out.
fn normalised(value: &Value) -> Value {
    let Value::Object(tally) = value else { return value.clone() };
    Value::Object(tally.iter().filter(|(_, count)| **count != json!(0)).map(|(k, v)| (k.clone(), v.clone())).collect())
}
