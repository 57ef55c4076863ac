//! `resched calibrate`: it finds the parameters of the sample and of replays again; real traces; wrong requests.

use resched_sim::ClusterConfig;
use resched_sim::cluster_file::Interval;
use serde_json::Value;

use crate::support::{Dir, nineteen_jobs, repository, shared};

/// Large jobs that fill the cluster and small ones between, with run times that vary.
const WORKLOAD: &str = r#"
name = "planted"

[cluster]
nodes = 24
racks = 4
map_slots = 3
reduce_slots = 2
replication = 2

[classes.grep]
map_mean_s = 40.0
map_variation = 0.3
map_selectivity = 0.5
reduce_mean_s = 60.0
reduce_variation = 0.2

[[jobs]]
class = "grep"
submit_s = 0
maps = 300
reduces = 12
repeat = 6
every_s = 60

[[jobs]]
class = "grep"
submit_s = 30
maps = 20
reduces = 4
repeat = 12
every_s = 90
"#;

const CLUSTER: &str = r#"
[heartbeat]
interval = 5000

[jobs]
slowstart = 0.2
launch_overhead = 1500

[cost]
locality = [1.0, 1.4, 2.2]
reduce = "r2"
shuffle_rate = 2e6
host_factors = { node-00005 = 1.8 }
"#;

/// Asserts that the estimate is within four standard errors of the true value, and that the standard error is small.
fn near(found: &Value, planted: f64, worst_error: f64) {
    let (value, error) = (found["value"].as_f64(), found["standard_error"].as_f64());
    let (Some(value), Some(error)) = (value, error) else { panic!("{planted} was planted, found {found}") };
    assert!((value - planted).abs() < 4.0 * error && error < worst_error, "{planted} was planted, found {found}");
}

#[test]
fn what_a_replay_was_made_with_is_found_again() {
    let dir = Dir::new();
    dir.write("planted.toml", WORKLOAD);
    dir.write("C.toml", CLUSTER);
    dir.ok(&["generate", "planted.toml", "--out", "W"]);
    let replay = ["replay", "W", "--assume", "--cluster", "C.toml", "--out", "R"];
    dir.ok(&[replay.as_slice(), &["--policy", "naive-fair"]].concat());
    let found = dir.json(&["calibrate", "R/naive-fair", "--out", "found.toml", "--json"]);
    near(&found["locality"][0], 1.4, 0.05);
    near(&found["locality"][1], 2.2, 0.2);
    near(&found["heartbeat"]["interval"], 5_000.0, 200.0);
    near(&found["heartbeat"]["launch_overhead"], 1_500.0, 100.0);
    near(&found["host_factors"]["node-00005"], 1.8, 0.1);
    assert_eq!(found["host_factors"].as_object().unwrap().len(), 1, "{found}");
    let rate = found["shuffle_rate"]["value"].as_f64().unwrap();
    assert!((rate / 2e6 - 1.0).abs() < 0.01, "{found}");
    let slowstart = found["slowstart"]["value"].as_f64().unwrap();
    assert!((0.2..0.21).contains(&slowstart), "{found}");
    assert_eq!((&found["map_slots"]["most"], &found["reduce_slots"]["most"]), (&3.into(), &2.into()));

    let file = ClusterConfig::read(&dir.path("found.toml")).unwrap();
    assert_eq!((file.nodes.count, file.nodes.map_slots, file.nodes.reduce_slots), (None, Some(3), Some(2)));
    assert!(matches!(file.heartbeat.interval, Interval::Fixed(ms) if (4_500..5_500).contains(&ms)), "{file:?}");
    assert_eq!(file.cost.host_factors.keys().collect::<Vec<_>>(), ["node-00005"]);
    // The standard errors of the table are in the file, by key.
    let error = |of: &Value| of["standard_error"].as_f64();
    for (key, of) in [
        ("heartbeat.interval", &found["heartbeat"]["interval"]),
        ("jobs.launch_overhead", &found["heartbeat"]["launch_overhead"]),
        ("jobs.slowstart", &found["slowstart"]),
        ("cost.locality.rack", &found["locality"][0]),
        ("cost.locality.off", &found["locality"][1]),
        ("cost.host_factors.node-00005", &found["host_factors"]["node-00005"]),
        ("cost.shuffle_rate", &found["shuffle_rate"]),
        ("nodes.map_slots", &found["map_slots"]),
        ("nodes.reduce_slots", &found["reduce_slots"]),
    ] {
        assert!(error(of).is_some(), "{key}: {of}");
        assert_eq!(file.fitted.get(key).copied(), error(of), "{key}");
    }
    let text = dir.read("found.toml");
    assert!(text.contains("from \"R/naive-fair\", SHA-256 ") && text.contains("# rack: s.e. 0."), "{text}");
    // A replay accepts the file, and a second call writes the same bytes.
    dir.ok(&["replay", "W", "--assume", "--cluster", "found.toml", "--out", "again", "--policy", "naive-fair"]);
    dir.ok(&["calibrate", "R/naive-fair", "--out", "found.toml"]);
    assert_eq!(text, dir.read("found.toml"));
}

/// The sample was made with these factors, slots and heartbeats (`traces/sample-history.toml`).
#[test]
fn the_cluster_of_the_sample_is_found() {
    let dir = Dir::with_sample();
    let found = dir.json(&["calibrate", "T", "--out", "C/found.toml", "--json"]);
    near(&found["locality"][0], 1.2, 0.1);
    near(&found["locality"][1], 1.5, 0.15);
    near(&found["heartbeat"]["interval"], 3_000.0, 300.0);
    assert_eq!((&found["map_slots"]["most"], &found["reduce_slots"]["most"]), (&2.into(), &1.into()));
    assert_eq!(found["host_factors"], serde_json::json!({}));
    let error = |args: &[&str]| {
        let reported = dir.json(&[&["validate", "T", "--assume", "--policy", "fifo", "--json"], args].concat());
        reported["errors"]["completion_mean"].as_f64().unwrap()
    };
    assert!(
        error(&["--cluster", "C/found.toml"]) < error(&[]) / 2.0,
        "the fitted cluster explains more than the default"
    );
    let text = dir.ok(&["calibrate", "T", "--out", "C/found.toml"]);
    assert!(text.contains("heartbeat interval") && text.ends_with("C/found.toml\n"), "{text}");
}

#[test]
fn what_cannot_be_fitted_is_refused_and_nothing_is_overwritten() {
    let dir = Dir::with_sample();
    let workload = repository("traces/coupling-table3.toml");
    dir.ok(&["generate", &workload, "--out", "W"]);
    dir.write("mine.toml", "[nodes]\nmap_slots = 7\n");
    for (args, parts) in [
        (["W", "--out", "X.toml"], &["W: the trace holds no observed attempts", "made by the rule"][..]),
        (["none", "--out", "X.toml"], &["none: no such trace"]),
        (["T", "--out", "mine.toml"], &["mine.toml: exists", "name another --out", "--force"]),
        (["T", "--out", "W"], &["W: ", "name another --out"]),
    ] {
        dir.run(&[&["calibrate"], args.as_slice()].concat()).fails(2, parts);
    }
    assert_eq!(dir.read("mine.toml"), "[nodes]\nmap_slots = 7\n");
    assert!(!dir.path("X.toml").exists());
    // An earlier file of its own is replaced, unless you have edited it.
    dir.ok(&["calibrate", "T", "--out", "C.toml"]);
    dir.ok(&["calibrate", "T", "--out", "C.toml"]);
    let edited = dir.read("C.toml").replacen("map_slots = 2", "map_slots = 3", 1);
    dir.write("C.toml", &edited);
    dir.run(&["calibrate", "T", "--out", "C.toml"]).fails(2, &["C.toml: exists", "--force"]);
    assert_eq!(dir.read("C.toml"), edited);
}

/// The factors that a file holds where only one was found are those that it has without it.
#[test]
fn default_factors_are_those_of_a_cluster_file() {
    assert_eq!(resched_analysis::calibration::DEFAULT_FACTORS, ClusterConfig::default().cost.locality);
}

/// A cluster of 1,545 nodes of 2009, whose rule gives 16 s of heartbeats; other jobs, which the trace does not hold, take slots.
#[test]
fn the_cluster_of_mumaks_nineteen_jobs() {
    let Some(dir) = nineteen_jobs() else { return };
    let found = dir.json(&["calibrate", "T", "--out", "C.toml", "--json"]);
    assert_eq!((&found["map_slots"]["most"], &found["reduce_slots"]["most"]), (&2.into(), &2.into()));
    let interval = found["heartbeat"]["interval"]["value"].as_f64().unwrap();
    assert!((15_000.0..24_000.0).contains(&interval), "{found}");
    for factor in found["locality"].as_array().unwrap() {
        assert!(factor["value"].as_f64().is_some_and(|factor| (0.8..1.2).contains(&factor)), "{found}");
    }
    let error = |args: &[&str]| {
        let reported = dir.json(&[&["validate", "T", "--assume", "--policy", "fifo", "--json"], args].concat());
        reported["errors"]["completion_mean"].as_f64().unwrap()
    };
    assert!(error(&["--cluster", "C.toml"]) < error(&[]));
}

/// Small real histories: whatever they hold, `calibrate` writes a file that a replay accepts.
#[test]
fn real_histories_give_files_that_are_read_back() {
    let Some(traces) = shared("traces") else { return };
    let dir = Dir::new();
    for source in [
        "hadoop-mapreduce-2011/gridmix/trace_10m.json.gz",
        "hadoop-mapreduce-2011/gridmix/trace_5m.json.gz",
        "hadoop-mapreduce-2011/rumen-small-trace/sample-job-tracker-logs.gz",
        "hadoop-common-2014/hs",
        "hadoop-common-2014/sls",
        "hadoop-3x/hs",
        "dr-elephant/history",
        "chukwa/JobHistory.log",
    ] {
        dir.ok(&["ingest", &format!("{traces}/{source}"), "--merge", "--out", "T"]);
        let found = dir.json(&["calibrate", "T", "--out", "C.toml", "--json"]);
        assert!(found["map_slots"]["most"].as_u64() > Some(0), "{source}: {found}");
        ClusterConfig::read(&dir.path("C.toml")).unwrap_or_else(|error| panic!("{source}: {error}"));
        dir.json(&["validate", "T", "--assume", "--policy", "fifo", "--cluster", "C.toml", "--json"]);
    }
}
