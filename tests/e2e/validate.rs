//! `resched validate`: the trace of a known scheduler, real traces, and traces without observed attempts.

use serde_json::Value;

use crate::support::{Dir, nineteen_jobs, repository, shared};

/// The sample was made by a strict FIFO on the cluster of this file, whatever seeds drew its heartbeats.
#[test]
fn the_scheduler_that_ran_the_sample_explains_it_best() {
    let dir = Dir::with_sample();
    let cluster = repository("traces/clusters/sample.toml");
    let mut args = vec!["validate", "T", "--cluster", &cluster, "--json"];
    for policy in ["fifo", "naive-fair", "fair"] {
        args.extend(["--policy", policy]);
    }
    let printed = dir.ok(&args);
    let told: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let error = |run: &Value, name: &str| run["errors"][name].as_f64().unwrap();
    assert_eq!(
        told.iter().map(|run| run["policy"].as_str().unwrap()).collect::<Vec<_>>(),
        ["fifo", "naive-fair", "fair"]
    );
    let [fifo, others @ ..] = told.as_slice() else { panic!("{printed}") };
    assert_eq!((&fifo["assumed"], &fifo["replays"][0]["jobs_compared"]), (&Value::Bool(false), &Value::from(15)));
    assert!(error(fifo, "completion_mean") < 0.06, "{fifo}");
    assert!(error(fifo, "makespan").abs() < 0.02 && error(fifo, "map_time_ks") < 0.05, "{fifo}");
    for other in others {
        for name in ["completion_median", "completion_mean", "completion_ks", "reduce_utilisation"] {
            assert!(error(other, name) > 3.0 * error(fifo, name), "{name} of {other}");
        }
    }
    assert_eq!(printed, dir.ok(&args), "the same numbers twice");
    assert_eq!(dir.tree("").keys().filter(|path| path.components().count() == 1).count(), 1, "only the trace is there");
}

#[test]
fn a_policy_that_nobody_named_is_assumed_and_said_to_be() {
    let dir = Dir::with_sample();
    let text = dir.ok(&["validate", "T"]);
    assert!(text.contains("`fifo` was assumed; name another with --policy"), "{text}");
    assert!(!dir.ok(&["validate", "T", "--policy", "fifo"]).contains("assumed"));
    let told = dir.json(&["validate", "T", "--seed", "5", "--seeds", "3", "--json"]);
    let replays = told["replays"].as_array().unwrap();
    assert_eq!(told["assumed"], true);
    assert_eq!(replays.iter().map(|replay| replay["seed"].as_u64().unwrap()).collect::<Vec<_>>(), [5, 6, 7]);
    let medians: Vec<f64> = replays.iter().map(|replay| replay["completion"]["median"].as_f64().unwrap()).collect();
    let mean = told["errors"]["completion_median"].as_f64().unwrap();
    assert!((mean - medians.iter().sum::<f64>() / 3.0).abs() < 1e-12, "{told}");
    assert!(medians[0] != medians[1], "seeds differ");
}

#[test]
fn what_was_never_observed_is_refused() {
    let dir = Dir::with_sample();
    let workload = repository("traces/coupling-table3.toml");
    dir.ok(&["generate", &workload, "--out", "W"]);
    dir.ok(&["replay", "T", "--policy", "fifo", "--out", "R"]);
    for (trace, parts) in [
        ("W", &["W: the trace holds no observed attempts", "made by the rule", "job histories"][..]),
        (
            workload.as_str(),
            &["expected the folder of a trace, found a file", "no observed attempts", "resched ingest"],
        ),
        ("R/fifo", &["R/fifo: is not a trace"]),
        ("none", &["none: no such trace"]),
    ] {
        dir.run(&["validate", trace]).fails(2, parts);
    }
    dir.run(&["validate", "T", "--seeds", "0"]).fails(2, &["--seeds", "1..=1000"]);
    dir.run(&["validate", "T", "--policy", "fiffo"]).fails(2, &["`fiffo`"]);
    if let Some(swim) = shared("traces/swim/FB-2009_samples_24_times_1hr_0_first50jobs.tsv") {
        dir.write("few.toml", "split_bytes = 1_000_000_000_000_000\nreduce_bytes = 1_000_000_000_000_000\n");
        dir.ok(&["ingest", &swim, "--out", "W", "--tasks", "few.toml"]);
        dir.run(&["validate", "W"]).fails(2, &["W: the trace holds no observed attempts"]);
    }
}

/// Nineteen jobs of a cluster whose other jobs the trace does not hold.
#[test]
fn the_nineteen_jobs_of_mumak() {
    let Some(dir) = nineteen_jobs() else { return };
    let told = dir.json(&["validate", "T", "--json"]);
    let replay = &told["replays"][0];
    assert_eq!((&replay["jobs_compared"], &replay["not_compared"]["observed-failed"]), (&14.into(), &5.into()));
    let error = |name: &str| told["errors"][name].as_f64().unwrap();
    // Alone on the cluster the jobs are faster than they were, and their maps take as long.
    assert!(error("completion_mean_signed") < 0.0 && error("completion_mean") < 0.4, "{told}");
    assert!(error("makespan").abs() < 0.1 && error("map_time_ks") < 0.1, "{told}");
}
