//! What is left when the binary is ended in the middle of its work.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Dir, Ran, Tree, assert_same};

/// SWIM jobs whose made-up tasks take long to write.
fn large_source(dir: &Dir) {
    let lines = (0..2000).map(|job| format!("job{job}\t{job}\t1\t1000000000000\t1000000000\t1000000000\n"));
    dir.write("large.tsv", lines.collect::<String>());
}

/// A trace of one job with 300,000 maps, which takes long to replay.
fn large_trace(dir: &Dir) {
    dir.write(
        "large.json",
        r#"{"jobID":"job_1_0001","user":"u","submitTime":1000,"finishTime":9000,"outcome":"SUCCESS","totalMaps":300000,
        "mapTasks":[{"taskID":"task_1_0001_m_000000","taskType":"MAP","taskStatus":"SUCCESS","startTime":2000,"finishTime":5000,
        "attempts":[{"attemptID":"attempt_1_0001_m_000000_0","result":"SUCCESS","startTime":2000,"finishTime":5000,
        "hostName":"/r/h"}]}]}"#,
    );
    dir.ok(&["ingest", "large.json", "--out", "T"]);
}

const INGEST: &[&str] = &["ingest", "large.tsv", "--out", "new/folder/X"];
const REPLAY: &[&str] = &["replay", "T", "--policy", "fifo", "--policy", "fair", "--out", "new/runs"];

/// Starts the binary and waits until it writes its result.
fn started(dir: &Dir, args: &[&str]) -> Child {
    let child = dir.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !is_writing(&dir.tree("")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn is_writing(tree: &Tree) -> bool {
    tree.keys().any(|path| path.to_string_lossy().contains(".partial-") && path.ends_with("attempts.parquet"))
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let dir = Dir::new();
    large_source(&dir);
    large_trace(&dir);
    let before = dir.tree("");
    for args in [INGEST, REPLAY] {
        for name in ["-INT", "-TERM"] {
            let child = started(&dir, args);
            signal(&child, name);
            let ran = Ran::of(args, child.wait_with_output().unwrap());
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(130), "", ""), "{name}: {ran:?}");
            assert_same(&before, &dir.tree(""), &format!("{name}, {args:?}"));
        }
    }
}

#[test]
fn an_earlier_result_outlives_an_interrupt() {
    let dir = Dir::with_sample();
    large_source(&dir);
    let before = dir.tree("");
    let args = ["ingest", "large.tsv", "--out", "T"];
    let child = started(&dir, &args);
    signal(&child, "-INT");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert_same(&before, &dir.tree(""), "the earlier trace");
}

#[test]
fn the_next_run_clears_what_a_killed_one_left() {
    let dir = Dir::new();
    large_source(&dir);
    let mut child = started(&dir, INGEST);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_writing(&dir.tree("")), "kill -9 leaves no time to clean up");
    dir.write("small.tsv", "job0\t0\t0\t1000\t1000\t1000\n");
    dir.ok(&["ingest", "small.tsv", "--out", "new/folder/X"]);
    let left = fs::read_dir(dir.path("new/folder")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["X"]);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = Dir::with_sample();
    let commands: [&[&str]; 4] = [
        &["inspect", "T"],
        &["policies"],
        &["replay", "T", "--policy", "fifo", "--out", "R"],
        &["report", "T", "--out", "P", "--format", "svg"],
    ];
    for args in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = Ran::of(args, dir.command(args).stdout(writer).output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = Ran::of(&["inspect"], dir.command(&["inspect", "T"]).stdout(full).output().unwrap());
    ran.fails(1, &["cannot write to standard output"]);
}
