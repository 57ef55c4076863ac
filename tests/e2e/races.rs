//! Two commands on one folder at the same time: one waits or refuses, and neither damages the result.

use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use crate::support::{Dir, Ran, Tree};
use crate::sweep;

/// Pairs of commands that write the same place. Whoever comes first may replace the other one's result.
const PAIRS: [(&[&str], &[&str]); 8] = [
    (&["ingest", "H", "--out", "X"], &["ingest", "H", "--out", "X"]),
    (&["generate", "workload.toml", "--out", "X"], &["ingest", "H", "--out", "X"]),
    (
        &["replay", "T", "--assume", "--policy", "fifo", "--out", "X"],
        &["replay", "T", "--assume", "--policy", "fifo", "--out", "X"],
    ),
    (&["report", "T", "--out", "X", "--format", "html,svg"], &["report", "T", "--out", "X", "--format", "html,svg"]),
    (&["sweep", "sweep.toml", "--out", "X"], &["sweep", "sweep.toml", "--out", "X"]),
    (&["export", "T", "--format", "swf", "--out", "X"], &["export", "T", "--format", "rumen", "--out", "X"]),
    (
        &["reproduce", "dress-spark", "--seeds", "1", "--out", "X"],
        &["reproduce", "dress-spark", "--seeds", "1", "--out", "X"],
    ),
    (&["scale", "T", "--jobs", "0.5", "--out", "X"], &["anonymise", "T", "--out", "X", "--key", "key"]),
];

/// Whether this user may make pid namespaces, as containers do.
static NAMESPACES: LazyLock<bool> = LazyLock::new(|| {
    let tried = Command::new("unshare").args(["--user", "--map-root-user", "--pid", "--fork", "true"]).output();
    tried.is_ok_and(|ran| ran.status.success())
});

/// The command, as the first process of a pid namespace of its own if that is asked for.
fn command(dir: &Dir, args: &[&str], own_namespace: bool) -> Command {
    if !own_namespace {
        return dir.command(args);
    }
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--pid", "--fork", env!("CARGO_BIN_EXE_resched")]);
    command.args(args).current_dir(dir.path(""));
    command
}

/// The files, with what a hidden name would show.
fn result(dir: &Dir) -> Tree {
    let tree = dir.tree("");
    tree.into_iter().filter(|(path, _)| path.starts_with("X") || path.to_string_lossy().contains("resched-")).collect()
}

fn race(pair: usize, own_namespaces: bool, delay: Duration) {
    let dir = sweep::dir();
    dir.ok(&["ingest", &crate::support::sample_history(), "--out", "T"]);
    dir.write("key", "0123456789abcdef0123456789abcdef");
    let history = crate::support::sample_history();
    let (one, other) = PAIRS[pair];
    let both = [one, other].map(|args| {
        args.iter().map(|arg| if *arg == "H" { history.clone() } else { (*arg).to_owned() }).collect::<Vec<String>>()
    });
    let mut possible = Vec::new();
    for args in &both {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        dir.ok(&args);
        possible.push(result(&dir));
        let path = dir.path("X");
        if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }
    let started: Vec<_> = both
        .iter()
        .map(|args| {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let mut command = command(&dir, &args, own_namespaces);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            std::thread::sleep(delay);
            child
        })
        .collect();
    let ended: Vec<Ran> = started.into_iter().map(|child| Ran::of(one, child.wait_with_output().unwrap())).collect();
    for ran in &ended {
        let refused = ["another resched command is writing it", "exists; name another --out", "does not belong to it"];
        let is_fine =
            ran.code == Some(0) || ran.code == Some(2) && refused.iter().any(|text| ran.stderr.contains(text));
        assert!(is_fine, "{one:?} and {other:?}: {ended:?}");
    }
    assert!(ended.iter().any(|ran| ran.code == Some(0)), "{ended:?}");
    assert!(possible.contains(&result(&dir)), "{one:?} and {other:?} after {delay:?}: {:?}", result(&dir).keys());
}

fn races(times: usize) {
    for time in 0..times {
        let own_namespaces = *NAMESPACES && time % 2 == 1;
        race((time / 2) % PAIRS.len(), own_namespaces, Duration::from_millis((time as u64 * 7) % 40));
    }
    eprintln!("{times} pairs, every second one in two pid namespaces: {}", *NAMESPACES);
}

#[test]
fn two_commands_on_one_folder_do_not_damage_it() {
    races(2 * PAIRS.len());
}

/// `cargo test --workspace --test e2e -- --ignored --nocapture hundreds_of_pairs`
#[test]
#[ignore = "takes some minutes"]
fn hundreds_of_pairs_do_not_damage_a_folder() {
    races(200);
}
