//! Spark's scheduler from its log alone, beside another real run of the same jobs.

use std::fs::File;
use std::path::Path;

use crate::support::{Dir, Ran, assert_same, shared};

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

/// A log of one job, as Spark 4 writes it.
const LOG: &str = r#"{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}
{"Event":"SparkListenerApplicationStart","App Name":"four","App ID":"app-4","Timestamp":1000,"User":"ann"}
{"Event":"SparkListenerExecutorAdded","Timestamp":1000,"Executor ID":"1","Executor Info":{"Host":"h1","Total Cores":2}}
{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1900,"Stage Infos":[{"Stage ID":0,"Stage Attempt ID":0,"Parent IDs":[]}],"Stage IDs":[0]}
{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":0,"Index":0,"Attempt":0,"Launch Time":2000,"Executor ID":"1","Host":"h1","Locality":"ANY","Speculative":false,"Finish Time":3000}}
{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":3001,"Job Result":{"Result":"JobSucceeded"}}
"#;

#[test]
fn standard_input_gives_the_tables_of_the_file() {
    let dir = Dir::new();
    dir.write("plain", LOG);
    dir.write("packed", zstd::encode_all(LOG.as_bytes(), 1).unwrap());
    for name in ["plain", "packed"] {
        dir.ok(&["ingest", name, "--out", "file", "--force"]);
        let args = ["ingest", "-", "--format", "spark", "--out", "piped", "--force"];
        let log = File::open(dir.path(name)).unwrap();
        let ran = Ran::of(&args, dir.command(&args).stdin(log).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let (mut file, mut piped) = (dir.tree("file"), dir.tree("piped"));
        // The manifest names the source.
        let manifests = [&mut file, &mut piped].map(|tree| tree.remove(Path::new("trace.json")).unwrap().unwrap());
        assert_same(&file, &piped, name);
        assert!(file.contains_key(Path::new("attempts.parquet")), "{file:?}");
        let [of_file, of_piped] = manifests.map(|text| serde_json::from_slice::<serde_json::Value>(&text).unwrap());
        assert_eq!(of_piped["sources"][0]["path"], "-");
        for part in ["bytes", "sha256", "format"] {
            assert_eq!(of_file["sources"][0][part], of_piped["sources"][0][part], "{part}");
        }
        assert_eq!(of_file["files"], of_piped["files"]);
    }
}

#[test]
fn standard_input_needs_its_format() {
    let dir = Dir::new();
    let ran = dir.run(&["ingest", "-", "--out", "T"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("name it with --format"), "{ran:?}");
}
