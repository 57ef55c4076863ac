//! The gate: planted worse, planted equal, too little data, broken files.

use std::fs;

use serde_json::json;

use crate::support::Dir;

/// Twelve small jobs whose maps take longer or shorter by the seed.
fn jobs() -> String {
    let head = "name = \"jobs\"\n[cluster]\nnodes = 3\n[classes.a]\nmap_mean_s = 20.0\nmap_variation = 0.3\nreads_input = false\n";
    head.to_owned() + &"[[jobs]]\nclass = \"a\"\nsubmit_s = 0\nmaps = 12\n".repeat(12)
}

/// Runs with four seeds on three machines (`S/old`) and on two (`S/worse`).
fn runs() -> Dir {
    let dir = Dir::new();
    dir.write("W.toml", jobs());
    for (name, nodes) in [("old", "3"), ("worse", "2")] {
        fs::create_dir_all(dir.path(&format!("S/{name}"))).unwrap();
        for seed in ["1", "2", "3", "4"] {
            let replay = ["replay", "W.toml", "--assume", "--policy", "fifo", "--robust", "off", "--force"];
            dir.ok(&[&replay[..], &["--nodes", nodes, "--seed", seed, "--out", "R"]].concat());
            fs::rename(dir.path("R/fifo"), dir.path(&format!("S/{name}/{seed}"))).unwrap();
        }
    }
    dir
}

#[test]
fn a_gate_ends_with_its_verdict() {
    let dir = runs();
    let gate = |args: &[&str]| dir.run(&[&["gate"], args].concat());

    let worse = gate(&["S/worse", "--no-worse-than", "S/old", "--junit", "gate.xml"]);
    assert_eq!(worse.code, Some(1), "{worse:?}");
    assert!(
        worse.stdout.starts_with("broken: no worse than S/old\n") && worse.stdout.contains("later on average"),
        "{worse:?}"
    );
    let junit = dir.read("gate.xml");
    assert!(
        junit.contains("<testsuites tests=\"1\" failures=\"1\" errors=\"0\">") && junit.contains("<failure message="),
        "{junit}"
    );

    let equal =
        gate(&["S/old", "--no-worse-than", "S/old", "--bound", "makespan < 1d", "--junit", "gate.xml", "--json"]);
    assert_eq!(equal.code, Some(0), "{equal:?}");
    let found: serde_json::Value = serde_json::from_str(&equal.stdout).unwrap();
    assert_eq!((&found["outcome"], &found["checks"][1]["value"]), (&json!("kept"), &json!(1.0)));
    assert!(dir.read("gate.xml").contains("failures=\"0\" errors=\"0\""));

    // One run of one busy period says nothing about other days.
    let little = gate(&["S/worse/1", "--no-worse-than", "S/old/1"]);
    assert_eq!(little.code, Some(2), "{little:?}");
    assert!(little.stdout.contains("cannot tell") && little.stdout.contains("15 are needed"), "{little:?}");
}

#[test]
fn a_bound_inside_the_interval_is_open() {
    let dir = runs();
    let found: serde_json::Value =
        serde_json::from_str(&dir.run(&["gate", "S/old", "--bound", "mean_completion < 1s", "--json"]).stdout).unwrap();
    let check = &found["checks"][0];
    let [mean, low, high] =
        [&check["value"], &check["interval"][0], &check["interval"][1]].map(|end| end.as_f64().unwrap());
    assert!(low < mean && mean < high);
    let status = |bound: f64| {
        let bound = format!("mean_completion < {}ms", bound.round());
        dir.run(&["gate", "S/old", "--bound", &bound]).code
    };
    assert_eq!([low - 2.0, (low + mean) / 2.0, high + 2.0].map(status), [1, 2, 0].map(Some));
}

/// That no job waits makes policies alike, and a bound on waits is kept.
#[test]
fn a_bound_is_kept_where_no_job_waits() {
    let dir = Dir::new();
    dir.write("log.swf", "; MaxNodes: 1\n; MaxProcs: 4\n1 0 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n");
    dir.ok(&["ingest", "log.swf", "--out", "T"]);
    dir.ok(&["replay", "T", "--policy", "easy", "--robust", "off", "--out", "R"]);
    let kept = dir.ok(&["gate", "R/easy", "--bound", "p95(waiting) < 30min"]);
    assert!(kept.starts_with("kept: ") && !kept.contains("cannot answer"), "{kept}");
}

#[test]
fn errors_of_a_gate_are_no_verdict() {
    let dir = runs();
    dir.run(&["gate", "S/old", "--bound", "makespan < 45"]).fails(3, &["makespan: expected a time with its unit"]);
    dir.run(&["gate", "S/old"]).fails(3, &["--bound", "--no-worse-than"]);
    dir.run(&["gate", "S/none", "--bound", "makespan < 45s"]).fails(3, &["S/none"]);
    dir.run(&["gate", "S/old", "--no-worse-than", "W.toml"]).fails(3, &["W.toml"]);
    fs::write(dir.path("S/old/2/run.json"), "{").unwrap();
    dir.run(&["gate", "S/old", "--bound", "makespan < 45s"]).fails(3, &["run.json"]);
    assert_eq!(dir.run(&["gate", "--help"]).code, Some(0));
}
