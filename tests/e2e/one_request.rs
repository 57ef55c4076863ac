//! The same wrong request ends every command with the same status and message, and no two commands write one folder.

use std::process::Stdio;

use crate::support::{Dir, repository};

/// A sweep file over `T` with the cluster `c.toml`.
const SWEEP: &str = r#"
name = "s"
trace = "T"
assume = true
cluster = "c.toml"
seeds = 2
[variants.fifo]
[variants.delay]
D = [0, 4]
[tune]
objective = { mean_completion = 1 }
candidates = 2
"#;

#[test]
fn a_bad_cluster_file_ends_every_command_alike() {
    let dir = Dir::with_sample();
    dir.write("sweep.toml", SWEEP);
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R"]);
    for (text, problem) in [
        ("[nodes]\nmap_slot = 3\n", "c.toml: line 2, "),
        ("[nodes]\ncount = 3\nmap_slots = 0\n", "error: the cluster has no map slot"),
        ("[cost.host_factors]\nnobody = 2.0\n", "error: the cluster file names `nobody`"),
        ("[containers.map]\nmemory_mb = 0\n", "c.toml: "),
    ] {
        dir.write("c.toml", text);
        let commands: [&[&str]; 6] = [
            &["replay", "T", "--assume", "--policy", "fifo", "--cluster", "c.toml", "--out", "X"],
            &["validate", "T", "--assume", "--cluster", "c.toml"],
            &["sweep", "sweep.toml", "--out", "S"],
            &["sweep", "sweep.toml", "--dry-run"],
            &["tune", "sweep.toml", "--out", "U"],
            &["sweep", "plan", "sweep.toml", "--out", "P"],
        ];
        let checked_at_planning = problem.starts_with("c.toml");
        for args in &commands[..if checked_at_planning { 6 } else { 5 }] {
            dir.run(args).fails(2, &[problem]);
        }
    }
}

#[test]
fn no_thread_is_refused_by_every_command() {
    let dir = Dir::new();
    let commands: [&[&str]; 7] = [
        &["replay", "T", "--assume", "--policy", "fifo", "--out", "X"],
        &["validate", "T", "--assume"],
        &["sweep", "sweep.toml", "--out", "X"],
        &["sweep", "cell", "--manifest", "X", "--index", "0"],
        &["tune", "sweep.toml", "--out", "X"],
        &["reproduce", "--out", "X"],
        &["ingest", "T", "--out", "X"],
    ];
    for args in commands {
        let problem = "invalid value '0' for '--threads <N>': expected a whole number from 1 to 256, found `0`";
        dir.run(&[args, &["--threads", "0"]].concat()).fails(2, &[problem]);
    }
}

/// A workload that takes long, so that its replay is still at work when the second begins.
const LONG: &str = r#"
name = "long"
[cluster]
nodes = 50
[classes.a]
map_mean_s = 10
[[jobs]]
class = "a"
submit_s = 0
maps = 100000
repeat = 20
"#;

#[test]
fn two_commands_on_one_folder_are_distinguished() {
    let dir = Dir::new();
    dir.write("long.toml", LONG);
    let args = ["replay", "long.toml", "--assume", "--policy", "naive-fair", "--out", "new/R"];
    let mut first = dir.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !dir.path("new/R/.resched-lock").exists() {
        assert!(first.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let table3 = repository("traces/coupling-table3.toml");
    let second = ["replay", &table3, "--policy", "fifo", "--out", "new/R"];
    dir.run(&second).fails(2, &["new/R: another resched command is writing it", "name another --out"]);
    first.kill().unwrap();
    first.wait().unwrap();
    // What a killed command leaves behind blocks nobody, and is gone afterwards.
    dir.ok(&second);
    assert!(!dir.path("new/R/.resched-lock").exists());
}
