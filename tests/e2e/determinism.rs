//! The same request gives the same bytes.

use std::fs;

use crate::support::{Dir, POLICIES, assert_same, repository, sample_history};

fn replay(dir: &Dir, trace: &str, out: &str, more: &[&str]) {
    let mut args = vec!["replay", trace, "--assume", "--out", out];
    args.extend(POLICIES.iter().flat_map(|policy| ["--policy", policy]));
    args.extend(more);
    dir.ok(&args);
}

#[test]
fn ingest_replay_and_report_twice() {
    let dir = Dir::with_sample();
    dir.ok(&["ingest", &sample_history(), "--out", "T2"]);
    assert_same(&dir.tree("T"), &dir.tree("T2"), "ingest");

    replay(&dir, "T", "R", &["--threads", "1"]);
    let one = dir.tree("R");
    assert_eq!(
        one.values().flatten().count(),
        3 * POLICIES.len() + 3,
        "jobs, attempts and run.json of each, runs.json, variants.json and log.json"
    );
    replay(&dir, "T", "R2", &["--threads", "2"]);
    assert_same(&one, &dir.tree("R2"), "replay by two threads");
    replay(&dir, "T", "R", &[]);
    assert_same(&one, &dir.tree("R"), "replay in place of the first");

    dir.ok(&["report", "R", "T", "--out", "P"]);
    let first = dir.tree("P");
    dir.ok(&["report", "R", "T", "--out", "P"]);
    assert_same(&first, &dir.tree("P"), "report");
}

#[test]
fn another_seed_is_another_schedule() {
    let dir = Dir::with_sample();
    replay(&dir, "T", "R1", &["--seed", "1"]);
    replay(&dir, "T", "R2", &["--seed", "2"]);
    for policy in POLICIES.iter() {
        let attempts = |run: &str| fs::read(dir.path(run).join(policy).join("attempts.parquet")).unwrap();
        assert!(attempts("R1") != attempts("R2"), "{policy}");
    }
}

#[test]
fn generated_traces_depend_on_the_seed_alone() {
    let dir = Dir::new();
    let workload = repository("traces/coupling-table4.toml");
    for (out, seed) in [("A", "7"), ("B", "7"), ("C", "8")] {
        dir.ok(&["generate", &workload, "--out", out, "--seed", seed]);
    }
    assert_same(&dir.tree("A"), &dir.tree("B"), "generate");
    assert!(dir.tree("A") != dir.tree("C"));
    replay(&dir, "A", "RA", &[]);
    replay(&dir, &workload, "RW", &["--seed", "7"]);
    replay(&dir, &workload, "RW2", &["--seed", "7", "--threads", "2"]);
    assert_same(&dir.tree("RW"), &dir.tree("RW2"), "replay of a workload");
}
