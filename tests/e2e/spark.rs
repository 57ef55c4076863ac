//! Spark's scheduler from its log alone, beside another real run of the same jobs.

use crate::support::{Dir, shared};

/// What ran with a wait of 3 s is replayed without one, and compared with a real run that had none. Its jobs have other ids.
#[test]
fn a_log_replayed_under_the_settings_of_another_run_resembles_that_run() {
    let Some(truth) = shared("truth/spark") else { return };
    let dir = Dir::new();
    for run in ["mixed-fifo-w3", "mixed-fifo-w0"] {
        dir.ok(&["ingest", &format!("{truth}/{run}/eventlog.json.gz"), "--out", run]);
    }
    let replayed = |policy: &str| {
        let other = ["--against", "mixed-fifo-w0", "--skip", "warm-up", "--seeds", "20", "--json"];
        dir.json(&[&["validate", "mixed-fifo-w3", "--policy", policy], &other[..]].concat())
    };
    let (without, with) = (replayed("spark:wait=0"), replayed("spark"));
    assert_eq!((&without["against"]["by"], &without["against"]["jobs"]), (&"name".into(), &31.into()), "{without}");
    assert!(without["over_seeds"]["median"].as_f64().unwrap() < 0.1, "{without}");
    assert!(without["errors"]["mean_completion"].as_f64().unwrap().abs() < 0.04, "{without}");
    // A wait keeps tasks at their input: the real runs differ by 17 points.
    let points = |own: &serde_json::Value| own["errors"]["locality_node_points"].as_f64().unwrap();
    assert!((10.0..=20.0).contains(&(points(&with) - points(&without))), "{with}\n{without}");
}
