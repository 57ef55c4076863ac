//! The smallest cluster within a bound, and clusters that are cut and grown.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::interrupts::signal;
use crate::support::{Dir, Ran, assert_same};
use crate::sweep::wait_until;

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
    let reported = dir.ok(&[SIZE, &["--below", "45s", "--seeds", "1"]].concat());
    assert!(reported.contains("5 nodes are the smallest size that keeps makespan at most 45.0 s."), "{reported}");
    assert!(reported.contains("One seed does not show the spread"), "{reported}");
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
    dir.run(&[SIZE, &["--below", "45s", "--from", "9", "--to", "8"]].concat())
        .fails(2, &["--from 9 --to 8", "exchange them"]);
    dir.run(&["size", "W.toml", "--policy", "fifo", "--metric", "makspan", "--below", "1s"])
        .fails(2, &["unknown metric `makspan`; did you mean `makespan`?"]);
    dir.run(&[SIZE, &["--below", "1s", "--above", "1s"]].concat()).fails(2, &["cannot be used with"]);
    let list = ["size", "W.toml", "--policy", "delay:D=1|2", "--metric", "makespan", "--below", "1s"];
    dir.run(&list).fails(2, &["--policy: expected one policy"]);
}

/// A search starts at the machines of the trace, and says what it assumes of them.
#[test]
fn a_size_on_assumed_machines_says_so() {
    let dir = Dir::with_sample();
    let size =
        ["size", "T", "--policy", "fair", "--metric", "mean_waiting", "--below", "1h", "--to", "12", "--seeds", "2"];
    dir.run(&size).fails(2, &["neither the trace nor the cluster file", "--assume"]);
    let ran = dir.run(&[&size[..], &["--assume", "--out", "S"]].concat());
    assert!(
        ran.stdout.contains("This answer rests on assumptions.") && ran.stdout.contains("2 + 2 slots each"),
        "{ran:?}"
    );
    // Each probe is shown as soon as it is known; the first is that of the trace's own twelve machines.
    let first = ran.stderr.lines().find(|line| line.contains(" with the first of 2 seeds"));
    assert!(first.is_some_and(|line| line.starts_with("12 nodes: mean_waiting ")), "{ran:?}");
    let page = dir.read("S/index.html");
    assert!(page.contains("<strong id=\"grade\">assumed</strong>") && page.contains("2 + 2 slots each"));
    let found = dir.json(&[&size[..], &["--assume", "--json"]].concat());
    assert_eq!((&found["grade"], &found["own"]), (&json!("assumed"), &json!(12)), "{found}");
    let about: Vec<&str> =
        found["validity"].as_array().unwrap().iter().filter_map(|fact| fact["about"].as_str()).collect();
    assert!(about.contains(&"slots"), "{found}");
    let given = dir.json(&[&size[..], &["--slots", "2+2", "--json"]].concat());
    assert!(
        given["validity"]
            .as_array()
            .unwrap()
            .iter()
            .any(|fact| fact["about"] == "slots" && fact["grade"] == "measured")
    );
}

/// An interrupted search says what is kept, makes none of it again, and ends with the same bytes as one that was not interrupted.
#[test]
fn an_interrupted_size_resumes() {
    let dir = waves();
    dir.write("W.toml", WAVES.replace("maps = 40", "maps = 200\nrepeat = 20\nevery_s = 7"));
    let args =
        |out: &'static str| [SIZE, &["--below", "400s", "--seeds", "6", "--threads", "1", "--out", out]].concat();
    dir.ok(&args("whole"));
    let replays = |out: &str| -> usize {
        let Ok(text) = std::fs::read_to_string(dir.path(out).join("probes.json")) else { return 0 };
        let kept: Value = serde_json::from_str(&text).unwrap();
        kept["replays"].as_array().unwrap().len()
    };
    let all = replays("whole");
    let mut before = 0;
    for _ in 0..3 {
        let args = args("cut");
        let mut child = dir.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Three: a replay stands in the file a moment before it is counted in the message, and "replays" wants two.
        wait_until("further replays", || replays("cut") >= before + 3 || child.try_wait().unwrap().is_some());
        signal(&child, "-INT");
        let ran = Ran::of(&args, child.wait_with_output().unwrap());
        let kept = replays("cut");
        assert!(ran.code == Some(130) && kept >= before + 3 && kept < all, "{kept} of {all}: {ran:?}");
        assert!(
            ran.stderr.contains("replays are done and kept in cut; run the same command again to resume"),
            "{ran:?}"
        );
        before = kept;
    }
    let ran = dir.run(&args("cut"));
    assert!(ran.stderr.contains(&format!("{before} finished replays are kept and not repeated")), "{ran:?}");
    assert_same(&dir.tree("whole"), &dir.tree("cut"), "interrupted and resumed");
    for name in ["curve.svg", "curve.png", "index.html", "probes.csv", "size.json", "probes.json"] {
        assert!(dir.path("cut").join(name).is_file(), "{name}");
    }
    // The probes of another policy are not mixed with them, nor with a sweep.
    let other = [
        "size",
        "W.toml",
        "--policy",
        "fair",
        "--cluster",
        "c.toml",
        "--metric",
        "makespan",
        "--below",
        "400s",
        "--out",
        "cut",
    ];
    dir.run(&other).fails(2, &["another policy", "name another --out"]);
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
    let nodes = manifest["rows"]["nodes"].to_string();
    assert_eq!(alone(&["--nodes", &nodes])["mean_completion_ms"], alone(&[])["mean_completion_ms"]);
}
