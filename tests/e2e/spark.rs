//! Spark's scheduler from its log alone, beside another real run of the same jobs.

use std::fs::File;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Dir, Ran, assert_same, repository, shared};

/// A log of two executors of one core, `a` and `b`, and of one stage of two tasks of 1 s that both prefer `a`. They really ran one after the
/// other: a stage waits 3 s before it takes another host.
fn small(dir: &Dir) {
    let executor = |host: &str| json!({"Event": "SparkListenerExecutorAdded", "Timestamp": 900, "Executor ID": host, "Executor Info": {"Host": host, "Total Cores": 1}});
    let task = |index: i64| {
        let info = json!({"Task ID": index, "Index": index, "Attempt": 0, "Partition ID": index, "Launch Time": 1_000 * (index + 1), "Executor ID": "a",
            "Host": "a", "Locality": "NODE_LOCAL", "Speculative": false, "Finish Time": 1_000 * (index + 2)});
        json!({"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask", "Task End Reason": {"Reason": "Success"}, "Task Info": info})
    };
    let stage =
        json!([{"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": 2, "Parent IDs": []}]);
    let lines = [
        json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"}),
        json!({"Event": "SparkListenerApplicationStart", "App Name": "app", "App ID": "app", "Timestamp": 900, "User": "ann"}),
        json!({"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.locality.wait": "3s"}}),
        executor("a"),
        executor("b"),
        json!({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1_000, "Stage Infos": stage, "Stage IDs": [0], "Properties": {"spark.scheduler.pool": "etl"}}),
        task(0),
        task(1),
        json!({"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": 3_000, "Job Result": {"Result": "JobSucceeded"}}),
        json!({"Event": "SparkListenerApplicationEnd", "Timestamp": 3_000}),
    ];
    dir.write("log/eventlog.json", lines.map(|line| line.to_string()).join("\n"));
    dir.write("log/preferred.csv", "stage,index,hosts\n0,0,a\n0,1,a\n");
    dir.ok(&["ingest", "log/eventlog.json", "--out", "T"]);
}

/// While the first task runs on `a`, the stage refuses `b`.
#[test]
fn a_stage_that_holds_out_for_locality_is_named() {
    let dir = Dir::new();
    small(&dir);
    dir.ok(&["replay", "T", "--policy", "spark", "--policy", "spark:wait=0", "--decisions", "--out", "R"]);
    let explained = |run: &str| dir.json(&["explain", run, "--job", "app_job_0", "--json"]);
    let held_out = |explained: &Value| {
        let phases = explained["phases"].as_array().unwrap();
        phases
            .iter()
            .filter(|phase| phase["phase"] == "locality")
            .map(|phase| phase["ms"].as_i64().unwrap())
            .sum::<i64>()
    };
    assert_eq!((held_out(&explained("R/spark")), held_out(&explained("R/spark:wait=0"))), (1_000, 0));
    let text = dir.ok(&["explain", "R/spark", "--job", "app_job_0"]);
    let says = "others waited 1.0 s for an executor at a nearer level, such as NODE_LOCAL: its stage did not yet accept the free cores of \
                others (spark.locality.wait)";
    assert!(text.contains(says) && text.contains("holding out for locality (spark.locality.wait)"), "{text}");
}

/// All doors use Spark's words.
#[test]
fn a_report_takes_sparks_own_scheduler_for_the_one_that_ran() {
    let dir = Dir::new();
    dir.ok(&["ingest", &repository("traces/sample-spark"), "--out", "T"]);
    let both = ["--policy", "spark", "--policy", "spark:wait=0"];
    dir.ok(&[&["replay", "T"], &both[..], &["--out", "R", "--robust", "off"]].concat());
    // A replay without waits may come as near to the log, but it is not what the settings of the log say.
    let text = dir.ok(&["report", "T", "R", "--out", "P", "--format", "html"]);
    let found = dir.read("P/report.json");
    assert!(found.contains("in the replay, under spark, ") && !found.contains("under spark:wait=0,"), "{found}");
    assert!(
        text.contains("spark is assumed to have run the trace, because it follows the settings in the log"),
        "{text}"
    );
}

#[test]
fn a_trace_of_spark_is_spoken_of_in_its_words() {
    let dir = Dir::new();
    dir.ok(&["ingest", &repository("traces/sample-spark"), "--out", "T"]);
    let both = ["--policy", "spark", "--policy", "spark:wait=0"];
    let replayed = dir.ok(&[&["replay", "T", "--decisions", "--out", "R"], &both[..]].concat());
    assert!(["NODE_LOCAL", "RACK_LOCAL", "ANY"].iter().all(|level| replayed.contains(level)), "{replayed}");
    let size =
        ["size", "T", "--policy", "spark", "--metric", "mean_completion", "--above", "0s", "--to", "6", "--seeds", "1"];
    let texts = [
        dir.ok(&["explain", "R/spark", "--top", "3"]),
        dir.ok(&["explain", "R/spark", "--queue", "adhoc"]),
        dir.ok(&["diff", "R/spark", "R/spark:wait=0"]),
        dir.ok(&size),
        dir.ok(&["validate", "T", "--policy", "spark"]),
        replayed,
    ];
    for text in &texts {
        for word in ["queue", "node ", "nodes", "machine", "processors", "slot", "maps"] {
            assert!(!text.contains(word), "`{word}` in\n{text}");
        }
    }
    assert!(texts[0].contains("pool") && texts[1].contains("the jobs of pool adhoc"), "{texts:?}");
    assert!(texts[2].contains("waiting for a core of an executor") && texts[3].contains("workers"), "{texts:?}");
    assert!(texts[4].contains("tasks launched at NODE_LOCAL"), "{texts:?}");
    dir.ok(&["report", "R/spark", "R/spark:wait=0", "--out", "P"]);
    let page = dir.read("P/report.html");
    assert!(page.contains("Tasks at NODE_LOCAL") && page.contains(">Pool</th>") && !page.contains(">Queue</th>"));
}

/// The factor of the sample is 1.8. A fitted one is measured, and tried out by its error; one that nobody knows is assumed, and tried out.
#[test]
fn what_distance_costs_is_fitted_and_taken_up() {
    let dir = Dir::new();
    dir.ok(&["ingest", &repository("traces/sample-spark"), "--out", "T"]);
    let found = dir.json(&["calibrate", "T", "--out", "C.toml", "--json"]);
    let off = &found["spark"]["factors"][1];
    let [value, error] = ["value", "standard_error"].map(|key| off[key].as_f64().unwrap());
    assert!((value - 1.8).abs() < 3.0 * error && error < 0.1, "{found}");
    assert!(found["spark"]["stages"][1].as_u64().unwrap() >= 3 && found["grade"] == "measured", "{found}");
    let text = dir.ok(&["calibrate", "T", "--out", "C.toml"]);
    assert!(text.contains("run time at ANY / at NODE_LOCAL") && text.contains(" to "), "{text}");
    let both = ["--policy", "spark", "--policy", "spark:wait=0"];
    dir.ok(&[&["replay", "T", "--cluster", "C.toml", "--out", "R"], &both[..]].concat());
    let info = dir.read("R/spark/run.json");
    assert!(info.contains("as `resched calibrate` fitted it"), "{info}");
    // What is fitted varies by its error.
    assert!(dir.read("R/variants.json").contains("cost of distance"));

    let dir = Dir::new();
    small(&dir);
    dir.run(&["calibrate", "T", "--out", "C.toml"])
        .fails(2, &["Too few tasks ran away from their preferred hosts", "0 tasks in 0 stages"]);
    let text = dir.ok(&[&["replay", "T", "--out", "R"], &both[..]].concat());
    assert!(
        text.contains("assumed: Tasks are assumed to take as long away from their hosts")
            && text.contains("Rumen's cost of distance"),
        "{text}"
    );
}

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
    // With the true hosts, the mean is 5.5 % too low: the real runs differ in more than the wait.
    assert!(without["errors"]["mean_completion"].as_f64().unwrap().abs() < 0.1, "{without}");
    // A wait keeps tasks at their input: the real runs differ by 17 points.
    let points = |value: &serde_json::Value| value["errors"]["locality_node_points"].as_f64().unwrap();
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
