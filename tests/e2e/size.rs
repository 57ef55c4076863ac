//! The smallest cluster within a bound, and clusters that are cut and grown.

use serde_json::{Value, json};

use crate::support::Dir;

/// 40 maps of exactly 10 s, submitted at once. N machines of two slots run them in ⌈40 / 2N⌉ waves.
const WAVES: &str = "name = \"waves\"\n[cluster]\nnodes = 3\n[classes.a]\nmap_mean_s = 10.0\nmap_variation = 0.0\nreads_input = false\n\
                     [[jobs]]\nclass = \"a\"\nsubmit_s = 0\nmaps = 40\n";

fn waves() -> Dir {
    let dir = Dir::new();
    dir.write("W.toml", WAVES);
    dir.write("c.toml", "[heartbeat]\ninterval = 10\n");
    dir
}

const SIZE: &[&str] = &["size", "W.toml", "--policy", "fifo", "--cluster", "c.toml", "--metric", "makespan"];

fn makespan(dir: &Dir, args: &[&str]) -> f64 {
    let replay = ["replay", "W.toml", "--assume", "--policy", "fifo", "--cluster", "c.toml", "--out", "R", "--json"];
    dir.json(&[&replay, args].concat())["makespan_ms"].as_f64().unwrap()
}

#[test]
fn the_planted_size_is_found_and_replays_alike() {
    let dir = waves();
    let found = dir.json(&[SIZE, &["--below", "45s", "--json"]].concat());
    assert_eq!((&found["verdict"], &found["size"], &found["seeds"]), (&json!("smallest"), &json!(5), &json!(3)));
    let first = |size: u64| {
        let probes = found["probes"].as_array().unwrap();
        probes.iter().find(|probe| probe["size"] == size).unwrap()["values"][0].as_f64().unwrap()
    };
    for nodes in [4, 5] {
        assert_eq!(first(nodes), makespan(&dir, &["--nodes", &nodes.to_string()]), "{nodes} nodes");
    }
    let told = dir.ok(&[SIZE, &["--below", "45s", "--seeds", "1"]].concat());
    assert!(told.contains("5 nodes is the smallest size that keeps makespan at most 45.0 s."), "{told}");
    assert!(told.contains("One seed does not show the spread"), "{told}");
    let never = dir.ok(&[SIZE, &["--below", "45s", "--to", "4"]].concat());
    assert!(never.contains("makespan is not at most 45.0 s with 4 nodes, the largest size to try"), "{never}");
    // Three machines of S slots run ⌈40 / 3S⌉ waves: four need S = 4.
    let slots = dir.json(&[SIZE, &["--below", "45s", "--vary", "slots", "--json"]].concat());
    assert_eq!(slots["size"], 4);
    assert!(makespan(&dir, &["--slots", "4+4"]) < 45_000.0 && makespan(&dir, &["--slots", "3+3"]) > 45_000.0);
}

#[test]
fn wrong_sizes_and_bounds_are_refused() {
    let dir = waves();
    dir.run(&[SIZE, &["--below", "45"]].concat()).fails(2, &["makespan: expected a time with its unit", "found `45`"]);
    dir.run(&[SIZE, &["--below", "45s", "--from", "9", "--to", "8"]].concat()).fails(2, &["--from and --to"]);
    dir.run(&["size", "W.toml", "--policy", "fifo", "--metric", "makspan", "--below", "1s"])
        .fails(2, &["unknown metric `makspan`; did you mean `makespan`?"]);
    dir.run(&[SIZE, &["--below", "1s", "--above", "1s"]].concat()).fails(2, &["cannot be used with"]);
    let list = ["size", "W.toml", "--policy", "delay:D=1|2", "--metric", "makespan", "--below", "1s"];
    dir.run(&list).fails(2, &["--policy: expected one policy"]);
}

/// A cluster file that names machines of the trace grows and shrinks with them, in `replay` and in sweeps.
#[test]
fn a_calibrated_cluster_grows_and_shrinks() {
    let dir = Dir::with_sample();
    dir.write("c.toml", "[cost.host_factors]\nnode-00000 = 2.0\nnode-00003 = 0.5\n");
    dir.write(
        "s.toml",
        "name = \"s\"\ntrace = \"T\"\nassume = true\ncluster = \"c.toml\"\n[world]\nnodes = [3, 10, 40]\n[variants.fifo]\n",
    );
    let ranked = dir.json(&["sweep", "s.toml", "--out", "S", "--json"]);
    let mean = |nodes: &str| {
        let label = format!("fifo (nodes = {nodes})");
        let found = ranked.as_array().unwrap().iter().find(|one| one["setting"] == label);
        found.unwrap_or_else(|| panic!("{label}: {ranked}"))["mean"].as_f64().unwrap()
    };
    let alone = |args: &[&str]| -> Value {
        let replay = ["replay", "T", "--assume", "--policy", "fifo", "--cluster", "c.toml", "--out", "R", "--json"];
        dir.json(&[&replay, args].concat())
    };
    for nodes in ["3", "10", "40"] {
        assert_eq!(mean(nodes), alone(&["--nodes", nodes])["mean_completion_ms"].as_f64().unwrap(), "{nodes}");
    }
    assert!(mean("3") > mean("10") && mean("10") > mean("40"));
    let info: Value = serde_json::from_str(&dir.read("R/fifo/run.json")).unwrap();
    assert_eq!((&info["cluster"]["nodes"], &info["rules"]["nodes"]["clones"]), (&json!(40), &json!(40)));
    // At its own size, the cluster is itself.
    let manifest: Value = serde_json::from_str(&dir.read("T/trace.json")).unwrap();
    let own = manifest["rows"]["nodes"].to_string();
    assert_eq!(alone(&["--nodes", &own])["mean_completion_ms"], alone(&[])["mean_completion_ms"]);
}
