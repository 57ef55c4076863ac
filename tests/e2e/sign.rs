//! Whether a comparison keeps its sign under what the data leave open, from the replay to the report.

use serde_json::Value;

use crate::support::{Dir, shared};

/// The lines that `replay --json` prints.
fn replayed(dir: &Dir, args: &[&str]) -> Vec<Value> {
    let mut all = vec!["replay", "T", "--policy", "fifo", "--policy", "fair", "--out", "R", "--json"];
    all.extend(args);
    dir.ok(&all).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Of this trace, the sign hangs on a cost of distance that nobody gave and the log does not show.
#[test]
fn a_sign_that_hangs_on_a_default_is_never_measured() {
    let Some(trace) = shared("traces/hadoop-mapreduce-2011/gridmix/trace_3m.json.gz") else { return };
    let dir = Dir::new();
    dir.ok(&["ingest", &trace, "--out", "T"]);
    dir.ok(&["calibrate", "T", "--out", "C.toml"]);
    let reported = replayed(&dir, &["--cluster", "C.toml"]);
    let sign = &reported[1]["sign"];
    assert_eq!((&reported[1]["grade"], &sign["grade"]), (&"assumed".into(), &"assumed".into()));
    let turned: Vec<&str> =
        sign["turned_by"].as_array().unwrap().iter().map(|variant| variant["unknown"].as_str().unwrap()).collect();
    assert!(turned.contains(&"locality"), "{sign}");
    let says = sign["says"].as_str().unwrap();
    assert!(says.contains("later without a cost of distance"), "{says}");

    // The report and `diff` say the same, and the report draws it.
    dir.ok(&["report", "R", "--out", "P", "--format", "svg,html,tables"]);
    assert_eq!(serde_json::from_str::<Value>(&dir.read("P/report.json")).unwrap()["policies"][1]["sign"], says);
    assert!(dir.path("P/variants.svg").is_file());
    assert!(dir.ok(&["diff", "R/fifo", "R/fair"]).contains(says));

    // Who gives the cost of distance is asked about it no more.
    let given = "[cost]\nlocality = [1.0, 1.0, 1.0]\n";
    dir.write("given.toml", format!("[nodes]\nmap_slots = 2\nreduce_slots = 1\n{given}"));
    let reported = replayed(&dir, &["--cluster", "given.toml"]);
    let tried = reported[1]["sign"]["variants"].as_array().unwrap();
    assert!(tried.iter().all(|variant| variant["unknown"] != "locality"), "{tried:?}");
}

/// A test of other runs says nothing about these.
#[test]
fn a_test_belongs_to_its_runs() {
    let dir = Dir::with_sample();
    replayed(&dir, &["--slots", "2+1"]);
    let text = |dir: &Dir| dir.ok(&["report", "R", "--out", "P", "--format", "tables"]);
    assert!(!text(&dir).contains("was not tested"));
    dir.ok(&["replay", "T", "--policy", "fair", "--slots", "2+1", "--seed", "2", "--out", "R"]);
    assert!(text(&dir).contains("was not tested"));
    let off = replayed(&dir, &["--slots", "2+1", "--robust", "off"]);
    assert!(off[1]["sign"]["says"].as_str().unwrap().contains("was not tested"));
    assert_eq!(off[1]["grade"], "assumed");
    let full = replayed(&dir, &["--slots", "2+1", "--robust", "full"]);
    assert!(full[1]["sign"]["of"].as_u64().unwrap() > 2, "{}", full[1]["sign"]);
    dir.run(&["replay", "T", "--policy", "fifo", "--out", "R", "--robust", "much"]).fails(2, &["full, quick or off"]);
    dir.write("R/variants.json", "{");
    dir.run(&["report", "R", "--out", "P"]).fails(2, &["variants.json", "remove it"]);
}
