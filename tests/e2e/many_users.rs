//! As many users and queues as the largest sites have: no table of them grows into gigabytes, and no scheduler walks them for each slot.

use std::fmt::Write;
use std::process::Command;

use serde_json::Value;

use crate::support::{Dir, Ran};

/// The address space of a command (KiB).
const MEMORY: u32 = 4_000_000;

/// Runs a command that may take 4 GB. Work that grows with the square of the users does not end within the two minutes.
fn limited(dir: &Dir, args: &[&str]) -> String {
    let script = format!("ulimit -v {MEMORY}; exec timeout 120 \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_resched")]).args(args).current_dir(dir.path(""));
    let ran = Ran::of(args, command.output().unwrap());
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    ran.stdout
}

/// Of 400,000 users, `report.json` once had 338 MB, and the report took more than 110 s.
#[test]
fn a_hundred_thousand_users_are_replayed_and_reported() {
    const USERS: u64 = 100_000;
    let dir = Dir::new();
    let mut log = "; MaxNodes: 64\n; MaxProcs: 64\n".to_owned();
    for user in 1..=USERS {
        let submit = user / 32;
        writeln!(log, "{user} {submit} 0 1 1 -1 -1 1 2 -1 1 {user} 1 1 1 -1 -1 -1").unwrap();
    }
    dir.write("log.swf", log);
    dir.ok(&["ingest", "log.swf", "--out", "T"]);
    let replay = ["replay", "T", "--policy", "batch-fifo", "--policy", "batch-fair", "--robust", "off", "--out", "R"];
    let by_user = limited(&dir, &[&replay[..], &["--by", "user", "--csv"]].concat());
    assert_eq!(by_user.matches("completion_p50_ms").count() as u64, 2 * USERS, "each user under each policy");
    limited(&dir, &["report", "R", "--out", "P"]);
    let report = dir.read("P/report.json");
    assert!(report.len() < 1 << 20, "{} bytes", report.len());
    let report: Value = serde_json::from_str(&report).unwrap();
    let users = report["groups"].as_array().unwrap().iter().find(|way| way["by"] == "user").unwrap();
    let kept = users["rows"].as_array().unwrap().len() as u64;
    assert_eq!(kept / 2 + users["left_out"].as_u64().unwrap(), USERS);
}

/// Each has a queue of its own. With 30,000 of them, the Fair Scheduler of YARN once took more than 110 s, and `fair` more than 20 s.
#[test]
fn thousands_of_users_and_queues_of_hadoop_are_replayed() {
    const USERS: u32 = 3_000;
    let dir = Dir::new();
    let mut workload = "name = \"crowd\"\n[cluster]\nnodes = 50\n[classes.c]\nmap_mean_s = 1\n".to_owned();
    for user in 0..USERS {
        let submit = f64::from(user) * 0.05;
        write!(
            workload,
            "[[jobs]]\nclass = \"c\"\nuser = \"u{user}\"\nqueue = \"q{user}\"\nmaps = 1\nsubmit_s = {submit}\n"
        )
        .unwrap();
    }
    dir.write("w.toml", workload);
    // Under the rules of 3.4, a queue with so small a share of the cluster has no room for its master, and the jobs wait for ever.
    for policy in ["fair:pools=queue", "delay", "yarn-fair:rules=2014", "capacity", "yarn-capacity:rules=2014"] {
        let args = ["replay", "w.toml", "--assume", "--policy", policy, "--robust", "off", "--json", "--out", policy];
        let found = limited(&dir, &args);
        let run: Value = serde_json::from_str(found.lines().next().unwrap()).unwrap();
        assert_eq!(run["jobs_counted"], USERS, "{policy}: {run}");
    }
}
