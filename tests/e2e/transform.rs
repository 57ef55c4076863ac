//! Traces made from traces: exported, anonymised, scaled.

use std::fs;

use serde_json::Value;

use crate::support::{Dir, assert_same};

#[test]
fn an_exported_trace_is_ingested_as_it_was() {
    let dir = Dir::with_sample();
    for (file, reported) in [("out.json", "out.json: 15 jobs\n"), ("out.json.gz", "out.json.gz: 15 jobs\n")] {
        let printed = dir.ok(&["export", "T", "--format", "rumen", "--out", file]);
        assert!(printed.starts_with(reported), "{printed}");
        assert!(printed.contains("left out or mended: ") && printed.contains("× attempts.error"), "{printed}");
        dir.ok(&["ingest", file, "--out", "X"]);
        let [mut before, mut after] = ["T", "X"].map(|trace| dir.json(&["inspect", trace, "--json"]));
        for found in [&mut before, &mut after] {
            // Rumen's format does not say what ran the jobs.
            for field in ["sources", "oddities", "system"] {
                found.as_object_mut().unwrap().remove(field);
            }
        }
        assert_eq!(before, after, "{file}");
    }
    assert!(fs::read(dir.path("out.json.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
}

#[test]
fn a_run_is_exported_too() {
    let dir = Dir::with_sample();
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R"]);
    dir.ok(&["export", "R/fifo", "--format", "rumen", "--out", "run.json"]);
    dir.ok(&["ingest", "run.json", "--out", "X"]);
    let found = dir.json(&["inspect", "X", "--json"]);
    assert_eq!(
        (&found["jobs"], &found["tasks"]["map"], &found["tasks"]["reduce"]),
        (&15.into(), &213.into(), &18.into())
    );
    dir.ok(&["export", "R/fifo", "--format", "swf", "--out", "run.swf"]);
    assert_eq!(dir.read("run.swf").lines().filter(|line| !line.starts_with(';')).count(), 15);
}

#[test]
fn an_export_that_cannot_be_leaves_nothing() {
    let dir = Dir::with_sample();
    let before = dir.tree("");
    dir.run(&["export", "T", "--format", "xml", "--out", "x"]).fails(2, &["xml", "rumen"]);
    dir.run(&["export", "nothing", "--format", "swf", "--out", "x"]).fails(2, &["nothing", "no such trace"]);
    dir.run(&["export", "T", "--format", "swf", "--out", "T/jobs.parquet/x"]).fails(2, &["--out"]);
    dir.run(&["export", "T", "--format", "swf", "--out", "T"]).fails(2, &["found a folder"]);
    assert_same(&before, &dir.tree(""), "after four wrong requests");
}

/// The result of a replay of a trace.
fn replayed(dir: &Dir, trace: &str) -> Value {
    dir.json(&["replay", trace, "--assume", "--policy", "fifo", "--out", &format!("R-{trace}"), "--json"])
}

#[test]
fn an_anonymised_trace_is_the_same_but_for_names() {
    let dir = Dir::with_sample();
    let printed = dir.ok(&["anonymise", "T", "--out", "A"]);
    assert!(printed.contains("A.key: the key; keep it secret"), "{printed}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(dir.path("A.key")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let [mut before, mut after] = ["T", "A"].map(|trace| dir.json(&["inspect", trace, "--json"]));
    assert_ne!(before["sources"], after["sources"]);
    for found in [&mut before, &mut after] {
        found.as_object_mut().unwrap().remove("sources");
    }
    assert_eq!(before, after);
    let [before, after] = ["T", "A"].map(|trace| replayed(&dir, trace));
    for field in ["jobs_finished", "tasks"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    // Names break ties between machines and between pools; where there is one, a replay is the same to the millisecond.
    dir.write("one.toml", "[nodes]\ncount = 1\nracks = 1\nmap_slots = 12\nreduce_slots = 4\n");
    let [before, after] = ["T", "A"].map(|trace| {
        let args = [
            "replay",
            trace,
            "--assume",
            "--cluster",
            "one.toml",
            "--policy",
            "fifo",
            "--out",
            &format!("R1-{trace}"),
            "--json",
        ];
        let mut run = dir.json(&args);
        let fields = run.as_object_mut().unwrap();
        fields.remove("wall_ms");
        // One machine of the trace happens to have the name that the cluster generates; no other name is on it.
        fields.remove("validity");
        run
    });
    assert_eq!(before, after);
}

#[test]
fn a_key_gives_the_same_names_again_and_is_not_written_over() {
    let dir = Dir::with_sample();
    dir.ok(&["anonymise", "T", "--out", "A"]);
    dir.ok(&["anonymise", "T", "--out", "B", "--key", "A.key"]);
    assert_same(&dir.tree("A"), &dir.tree("B"), "one key, two traces");
    assert!(!dir.path("B.key").exists());
    dir.ok(&["anonymise", "T", "--out", "C"]);
    assert_ne!(dir.tree("A"), dir.tree("C"), "another key");
    let before = dir.tree("");
    dir.run(&["anonymise", "T", "--out", "A"]).fails(2, &["A.key", "--key"]);
    dir.run(&["anonymise", "nothing", "--out", "D"]).fails(2, &["no such trace"]);
    dir.run(&["anonymise", "R-none", "--out", "D", "--key", "missing"]).fails(2, &["missing", "cannot read the key"]);
    assert_same(&before, &dir.tree(""), "after three wrong requests");
}

#[test]
fn a_part_of_a_trace_is_drawn_by_its_seed() {
    let dir = Dir::with_sample();
    let part = |out: &str, seed: &str| {
        dir.ok(&["scale", "T", "--jobs", "0.5", "--time", "0.5", "--nodes", "0.5", "--seed", seed, "--out", out])
    };
    let printed = part("A", "1");
    assert!(printed.contains("× job-not-drawn"), "{printed}");
    part("B", "1");
    assert_same(&dir.tree("A"), &dir.tree("B"), "one seed");
    assert!((2..8).any(|seed| {
        part("C", &seed.to_string());
        dir.tree("A") != dir.tree("C")
    }));
    let found = dir.json(&["inspect", "A", "--json"]);
    assert_eq!(found["nodes"], 6);
    assert_eq!(replayed(&dir, "A")["jobs_finished"], found["jobs"]);
}

#[test]
fn a_window_is_named_by_ms_dates_or_times_after_the_start() {
    let dir = Dir::with_sample();
    let window = |from: &str, to: &str| {
        dir.ok(&["scale", "T", "--from", from, "--to", to, "--out", "W"]);
        let manifest: Value = serde_json::from_str(&dir.read("W/trace.json")).unwrap();
        (manifest["begin"].as_i64(), manifest["rows"]["jobs"].as_i64())
    };
    let first = dir.json(&["inspect", "T", "--json"])["min_submit"].as_i64().unwrap();
    let expected = window("+1m", "+3m");
    assert_eq!(expected.0, Some(first + 60_000));
    assert_eq!(window(&(first + 60_000).to_string(), "+3m"), expected);
    assert_eq!(window("2010-03-01T08:01:00Z", "+3m"), expected);
    dir.run(&["scale", "T", "--from", "noon", "--out", "W"]).fails(2, &["noon", "+2h"]);
    dir.run(&["scale", "T", "--jobs", "2", "--out", "X"])
        .fails(2, &["jobs: expected a share above 0 and at most 1, found 2"]);
    dir.run(&["scale", "T", "--to", "0", "--out", "X"]).fails(2, &["lies outside of the trace", "2010-03-01 08:00:00"]);
    assert!(!dir.path("X").exists());
}
