//! Metrics as expressions, from the command line: the same numbers as SQL over the Parquet tables, tables by group, sweeps, and
//! errors that point at the place.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Dir, repository, shared};
use crate::sweep_engines::python;

/// Expressions for any run, each with its SQL over the views of `tests/python/metrics_by_sql.py`.
const ANY: &[(&str, &str)] = &[
    ("mean(completion)", "SELECT avg(completion) FROM done"),
    ("median(waiting)", "SELECT quantile_cont(waiting, 0.5) FROM done"),
    ("p95(completion)", "SELECT quantile_cont(completion, 0.95) FROM done"),
    ("p99.9(completion) where tasks <= 10", "SELECT quantile_cont(completion, 0.999) FROM done WHERE tasks <= 10"),
    (
        "p50(execution) where not (user = 'u1' or user is null)",
        "SELECT quantile_cont(execution, 0.5) FROM done WHERE NOT (user = 'u1' OR user IS NULL)",
    ),
    (
        "count() where user in ('1', '7', 'ann') and waiting > 1s",
        "SELECT count(*) FROM done WHERE user IN ('1', '7', 'ann') AND waiting > 1000",
    ),
    ("count() where user != '7'", "SELECT count(*) FROM done WHERE user != '7'"),
    ("count() where outcome != 'SUCCESS'", "SELECT count(*) FROM j WHERE outcome != 'SUCCESS'"),
    ("share(completion > 2min)", "SELECT avg((completion > 120000)::INT) FROM done"),
    ("sum(slot_time) where name like '%_%'", "SELECT sum(slot_time) FROM done WHERE name LIKE '%_%'"),
    ("max(tasks)", "SELECT max(tasks) FROM done"),
    (
        "min(completion) where submit_hour in (0, 8, 10)",
        "SELECT min(completion) FROM done WHERE submit_hour IN (0, 8, 10)",
    ),
    ("p95(bounded_slowdown)", "SELECT quantile_cont(bounded_slowdown, 0.95) FROM done"),
    ("stddev(completion)", "SELECT stddev_samp(completion) FROM done"),
];

/// Expressions for a run of Hadoop.
const HADOOP: &[(&str, &str)] = &[
    ("mean(starvation)", "SELECT avg(starvation) FROM done"),
    ("max(starvation) where maps > 5", "SELECT max(starvation) FROM done WHERE maps > 5"),
    ("node_locality", "SELECT sum(node_maps) / sum(placed_maps) FROM done"),
    ("min(node_locality)", "SELECT min(node_maps / placed_maps) FROM done WHERE placed_maps > 0"),
    ("mean(cpu_time)", "SELECT NULL"),
];

/// Expressions for a run of a production trace.
const PRODUCTION: &[(&str, &str)] = &[
    ("sum(cpu_time)", "SELECT sum(cpu_time) FROM done"),
    ("p95(queueing) where priority = 0", "SELECT quantile_cont(queueing, 0.95) FROM done WHERE priority_number = 0"),
    ("mean(starvation)", "SELECT NULL"),
    ("mean(node_locality)", "SELECT NULL"),
    ("node_locality", "SELECT NULL"),
    ("reduce_utilisation", "SELECT NULL"),
];

/// What `resched replay` prints for these expressions, and what SQL finds in the tables of the run.
fn both(dir: &Dir, trace: &str, policy: &str, pairs: &[(&str, &str)]) -> Option<[BTreeMap<String, Option<f64>>; 2]> {
    let python = python()?;
    let mut args = vec!["replay", trace, "--assume", "--policy", policy, "--out", "R", "--json"];
    args.extend(pairs.iter().flat_map(|(metric, _)| ["--metric", metric]));
    let ours = dir.json(&args)["metrics"].clone();
    let queries: BTreeMap<&str, &str> = pairs.iter().copied().collect();
    let mut sql = Command::new(python)
        .arg(repository("tests/python/metrics_by_sql.py"))
        .arg(dir.path("R").join(policy))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    sql.stdin.take().unwrap().write_all(json!(queries).to_string().as_bytes()).unwrap();
    let output = sql.wait_with_output().unwrap();
    assert!(output.status.success(), "metrics_by_sql.py failed; does the Python of RESCHED_PYTHON have duckdb?");
    Some([serde_json::from_value(ours).unwrap(), serde_json::from_slice(&output.stdout).unwrap()])
}

/// Both must be equal to the last bit. Standard deviations, and percentiles of ratios, are computed in other steps, so they are
/// equal to 12 digits.
fn assert_same(found: Option<[BTreeMap<String, Option<f64>>; 2]>, at_least_known: usize) {
    let Some([ours, sql]) = found else { return };
    assert_eq!(ours.len(), sql.len());
    for (metric, ours) in &ours {
        let by_sql = sql[metric];
        match (ours, by_sql) {
            (Some(ours), Some(by_sql)) if metric.contains("stddev") || metric.contains("bounded_slowdown") => {
                assert!((ours - by_sql).abs() <= 1e-12 * by_sql, "{metric}: {ours}, by SQL {by_sql}");
            }
            (ours, by_sql) => assert_eq!(*ours, by_sql, "{metric}"),
        }
    }
    let known = ours.values().flatten().count();
    assert!(known >= at_least_known, "only {known} are known");
}

#[test]
fn metrics_of_hadoop_are_those_of_sql() {
    let dir = Dir::with_sample();
    let pairs = [ANY, HADOOP].concat();
    assert_same(both(&dir, "T", "naive-fair", &pairs), 14);
}

#[test]
fn metrics_of_a_production_trace_are_those_of_sql() {
    let Some(log) = shared("traces/swf/NASA-iPSC-1993-3.1-cln.swf.gz") else { return };
    let dir = Dir::new();
    dir.ok(&["ingest", &log, "--out", "whole"]);
    dir.ok(&["scale", "whole", "--time", "0.6", "--out", "T"]);
    let pairs = [ANY, PRODUCTION].concat();
    assert_same(both(&dir, "T", "batch-fifo", &pairs), 14);
}

#[test]
fn a_production_trace_has_no_columns_that_do_not_apply() {
    let Some(log) = shared("traces/swf/NASA-iPSC-1993-3.1-cln.swf.gz") else { return };
    let dir = Dir::new();
    dir.ok(&["ingest", &log, "--out", "T"]);
    let reported =
        dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R", "--metric", "cpu_utilisation"]);
    let heading = reported.lines().next().unwrap();
    assert!(
        heading.contains("cpu_utilisation") && !heading.contains("starvation") && !heading.contains("node"),
        "{reported}"
    );
    let json = dir.json(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R", "--json"]);
    assert_eq!((&json["mean_starvation_ms"], &json["locality"]), (&Value::Null, &Value::Null));
    assert_eq!(json.get("metrics"), None, "none was asked for");
}

#[test]
fn a_report_has_further_metrics() {
    let dir = Dir::with_sample();
    let metric = "p95(completion) where size = 'small'";
    let found = dir.json(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R", "--metric", metric, "--json"]);
    dir.ok(&["report", "R", "--out", "A", "--format", "html,tables", "--metric", metric]);
    let json: Value = serde_json::from_str(&dir.read("A/report.json")).unwrap();
    let value = &found["metrics"][metric];
    assert!(value.is_number());
    assert_eq!(&json["runs"][0]["metrics"][metric], value);
    assert!(dir.read("A/summary.csv").lines().next().unwrap().ends_with(metric));
    assert!(dir.read("A/report.html").contains("p95(completion) where size = "));
}

/// By hand: ten cores on two machines; two jobs of four cores for an hour each, one after the other, an hour apart.
#[test]
fn cost_and_energy_are_those_of_a_world_by_hand() {
    let dir = Dir::new();
    let job = |id: u32, submit: u32| format!("{id} {submit} 0 3600 4 -1 -1 4 3600 -1 1 1 1 1 1 1 -1 -1\n");
    dir.write("log.swf", format!("; MaxNodes: 2\n; MaxProcs: 10\n; UnixStartTime: 0\n{}{}", job(1, 0), job(2, 7_200)));
    dir.ok(&["ingest", "log.swf", "--out", "T"]);
    let prices = "[price]\nnode_hour = 2.0\ncore_hour = 0.5\n[power]\nidle = 100.0\ncore = 10.0\nco2 = 400.0\n";
    dir.write("plain.toml", "[machines]\ncount = 2\ncores = 5.0\n");
    dir.write("priced.toml", format!("[machines]\ncount = 2\ncores = 5.0\n{prices}"));
    dir.write("off.toml", format!("[machines]\ncount = 2\ncores = 5.0\n{prices}off_after = 1800000\n"));
    let run = |cluster: &str| {
        let metrics = ["--metric", "cost", "--metric", "energy", "--metric", "co2", "--metric", "makespan"];
        let replay =
            ["replay", "T", "--policy", "batch-fifo", "--cluster", cluster, "--out", cluster.trim_end_matches(".toml")];
        let found = dir.json(&[&replay[..], &metrics[..], &["--robust", "off", "--json"]].concat())["metrics"].clone();
        ["cost", "energy", "co2", "makespan"].map(|name| found[name].as_f64())
    };
    assert_eq!(run("plain.toml"), [None, None, None, Some(10_800_000.0)]);
    // Two machines for three hours, and eight hours of a core.
    let [cost, energy, co2, makespan] = run("priced.toml").map(Option::unwrap);
    assert_eq!((cost, makespan), (2.0 * 2.0 * 3.0 + 0.5 * 8.0, 10_800_000.0));
    assert!((energy - (100.0 * 6.0 + 10.0 * 8.0) / 1e3).abs() < 1e-12 && (co2 - energy * 0.4).abs() < 1e-12);
    // The first machine runs both jobs and is off for half of the second hour. The second is on for half an hour.
    let [_, energy, ..] = run("off.toml").map(Option::unwrap);
    assert!((energy - (100.0 * (2.5 + 0.5) + 10.0 * 8.0) / 1e3).abs() < 1e-12, "{energy}");
}

#[test]
fn groups_are_printed_and_are_in_json() {
    let dir = Dir::with_sample();
    let reported = dir.ok(&[
        "replay", "T", "--assume", "--policy", "fifo", "--policy", "fair", "--out", "R", "--by", "size", "--by", "user",
    ]);
    for part in [" size ", " user ", " waiting p50 ", " change ", " most slowed "] {
        assert!(reported.contains(part), "`{part}` is missing in\n{reported}");
    }
    // A job is compared with itself in the baseline, which is compared with nothing.
    let slowed = reported.split(" most slowed ").nth(1).unwrap();
    let of_baseline: Vec<&str> = slowed.lines().filter(|line| line.contains("  fifo  ")).collect();
    assert!(!of_baseline.is_empty() && of_baseline.iter().all(|line| line.matches(" –").count() == 2), "{slowed}");
    let json = dir.json(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R", "--by", "size", "--json"]);
    let jobs: Vec<(&Value, u64)> = json["groups"]["size"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["group"], row["jobs"].as_u64().unwrap()))
        .collect();
    assert_eq!(jobs.iter().map(|(_, jobs)| jobs).sum::<u64>(), 15, "{jobs:?}");
    assert!(json["most_slowed"].as_array().unwrap().len() <= 10);
}

#[test]
fn a_wrong_metric_is_shown_with_a_caret() {
    let dir = Dir::with_sample();
    let text = "p95(completoin) where queue = 'adhoc'";
    let caret = format!("\n  {text}\n      ^^^^^^^^^^\n");
    dir.run(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R", "--metric", text])
        .fails(2, &["--metric: expected a quantity of a job", "did you mean `completion`?", &caret]);
    assert!(!dir.path("R").exists(), "the request is checked before the replay");
}

#[test]
fn sweeps_and_searches_take_expressions() {
    let dir = Dir::with_sample();
    let file = |metric: &str| {
        format!(
            "name = \"x\"\ntrace = \"T\"\nassume = true\nseeds = 2\nmetric = \"{metric}\"\nmetrics = [\"p95(waiting) where tasks <= 10\"]\n\
             [variants.fifo]\n[variants.delay]\nD = [0, 8]\n\
             [tune]\nobjective = {{ \"mean(completion) where size = 'small'\" = 1 }}\ncandidates = 2\n\
             bounds = [{{ metric = \"max(completion)\", at_most = 2.0 }}]\n"
        )
    };
    dir.write("s.toml", file("share(waiting > 10s), less is better"));
    let reported = dir.ok(&["sweep", "s.toml", "--out", "S"]);
    assert!(reported.contains("share(waiting > 10s), less is better"), "{reported}");
    let results = dir.read("S/results.csv");
    let heading = results.lines().next().unwrap();
    for metric in [
        "p95(waiting) where tasks <= 10",
        "max(completion)",
        "mean_completion",
        "\"share(waiting > 10s), less is better\"",
    ] {
        assert!(heading.contains(metric), "{metric} is missing in {heading}");
    }
    let tuned = dir.json(&["tune", "s.toml", "--out", "U", "--json"]);
    let relative = &tuned["candidates"][0]["relative"];
    assert!(relative["max(completion)"]["mean"].is_number(), "{tuned}");
    dir.write("s.toml", file("share(waiting > 10)"));
    dir.run(&["sweep", "s.toml", "--out", "S2"]).fails(
        2,
        &[
            "s.toml: line 5, column 10: expected a time with its unit",
            "\n  share(waiting > 10)\n                  ^^\n",
        ],
    );
}
