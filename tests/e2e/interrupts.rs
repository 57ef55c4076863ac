//! The files that stay if the binary is interrupted in the middle of its work.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Dir, Ran, Tree, assert_same};

/// SWIM jobs with many made-up tasks, which take long to write.
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
const REPLAY: &[&str] = &["replay", "T", "--assume", "--policy", "fifo", "--policy", "fair", "--out", "new/runs"];

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
    tree.keys().any(|path| path.to_string_lossy().contains(".resched-partial-") && path.ends_with("attempts.parquet"))
}

pub(crate) fn signal(child: &Child, name: &str) {
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
        &["replay", "T", "--assume", "--policy", "fifo", "--out", "R"],
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

/// A configuration with a slip, about which every command that reads it warns.
const SITE: &str = "<configuration><property><name>mapred.fairscheduler.preemptoin</name><value>true</value></property></configuration>";

#[test]
fn messages_that_nobody_reads_are_no_error() {
    let dir = Dir::with_sample();
    dir.write("S/mapred-site.xml", SITE);
    dir.write("sweep.toml", "name = \"s\"\ntrace = \"T\"\nassume = true\nseeds = 1\n[world]\n[variants.fifo]\n");
    let replay: &[&str] = &["replay", "T", "--assume", "--policy", "fifo", "--site-conf", "S", "--out", "R"];
    let warned = dir.run(replay);
    assert!(warned.code == Some(0) && warned.stderr.starts_with("warning: "), "{warned:?}");
    let whole = dir.tree("R");
    let commands: [(&[&str], i32); 6] = [
        (replay, 0),
        (&["sweep", "sweep.toml", "--site-conf", "S", "--out", "W", "--engine", "slurm"], 0),
        (&["--help"], 0),
        (&["replay", "T", "--nonsense"], 2),
        (&["replay", "nowhere", "--assume", "--policy", "fifo", "--out", "Q"], 2),
        (&[], 2),
    ];
    for (args, code) in commands {
        let (reader, closed) = std::io::pipe().unwrap();
        drop(reader);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        for nowhere in [Stdio::from(closed.try_clone().unwrap()), full.into()] {
            let ran = dir.command(args).stdout(Stdio::null()).stderr(nowhere).status().unwrap();
            assert_eq!(ran.code(), Some(code), "{args:?}");
        }
        // As `resched … 2>&1 | true` does it.
        let ran = dir.command(args).stdout(closed.try_clone().unwrap()).stderr(closed).status().unwrap();
        assert_eq!(ran.code(), Some(code), "{args:?}, both");
        assert!(args != replay || dir.tree("R") == whole, "a run that nobody reads about is whole");
    }
}

/// Events of Google's tasks in several files. An ingest makes several parts of them.
pub(crate) fn event_tables(dir: &Dir) {
    for part in 0..6_u64 {
        let row = |row: u64| {
            let (time, job, index) = (1_000_000 * (part * 20_000 + row), row * 7919 % 997, row % 13);
            let event = [0, 1, 4][part as usize % 3];
            format!("{time},,{job},{index},{},{event},user,1,9,0.125,0.1,0.1,0\n", row % 50)
        };
        dir.write(&format!("tables/part-{part}"), (0..20_000).map(row).collect::<String>());
    }
}

pub(crate) const TABLES: &[&str] = &["ingest", "tables", "--partition-bytes", "500000", "--out", "new/T", "--threads"];

/// The names in the working folder of an ingest.
fn working(dir: &Dir) -> Vec<String> {
    let folders = fs::read_dir(dir.path("new")).into_iter().flatten().flatten();
    let work = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with(".T.ingest-"));
    let names = work.flat_map(|work| fs::read_dir(work.path()).into_iter().flatten().flatten());
    names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Starts an ingest of tables and waits until the name `until` is in its working folder, or it is done.
fn begun(dir: &Dir, threads: &str, until: &str) -> Child {
    let mut command = dir.command(&[TABLES, &[threads]].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && !working(dir).iter().any(|name| name == until) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn a_killed_ingest_of_tables_goes_on_and_gives_the_same_bytes() {
    let dir = Dir::new();
    event_tables(&dir);
    dir.ok(&[TABLES, &["1"]].concat());
    let whole = dir.tree("new");
    assert!(whole.keys().any(|path| path.ends_with("attempts/part-00002.parquet")), "{:?}", whole.keys());
    for (threads, moments) in [
        ("1", &["lock", "shard-00000.facts", "shard-00003.facts", "part-00001"][..]),
        ("2", &["shard-00004.facts", "part-00000", "part-00002"]),
        ("2", &[]),
    ] {
        fs::remove_dir_all(dir.path("new")).unwrap();
        for moment in moments {
            let mut child = begun(&dir, threads, moment);
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!dir.path("new/T").exists(), "killed at {moment}: it was faster than the test");
        }
        let kept = working(&dir).iter().filter(|name| name.ends_with(".facts")).count();
        assert!(moments.is_empty() || kept > 4, "what was done is kept: {kept} files");
        dir.ok(&[TABLES, &[threads]].concat());
        assert_same(&whole, &dir.tree("new"), &format!("{threads} threads, killed at {moments:?}"));
    }
}

/// Leaves an ingest that was killed when it had several parts. Returns the command that goes on, and its working folder.
pub(crate) fn killed_ingest_of_tables(dir: &Dir) -> (Vec<String>, String) {
    event_tables(dir);
    let mut child = begun(dir, "1", "part-00002");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!dir.path("new/T").exists(), "it was faster than the test");
    let work = fs::read_dir(dir.path("new")).unwrap().flatten().find(|entry| entry.path().is_dir()).unwrap();
    let command = [TABLES, &["1"]].concat().into_iter().map(str::to_owned).collect();
    (command, format!("new/{}", work.file_name().to_string_lossy()))
}

/// A plan, shards by separate processes in any order, and a merge give the same bytes as one ingest.
#[test]
fn an_ingest_of_tables_in_steps_gives_the_same_bytes() {
    let dir = Dir::new();
    event_tables(&dir);
    dir.ok(&["ingest", "tables", "--out", "new/T"]);
    let whole = dir.tree("new");
    fs::remove_dir_all(dir.path("new")).unwrap();
    let planned = dir.json(&["ingest-plan", "tables", "--out", "new/T"]);
    let plan = planned["plan"].as_str().unwrap();
    assert_eq!(planned["shards"], 6);
    for index in ["4", "0", "4", "5"] {
        dir.ok(&["ingest-shard", "--plan", plan, "--index", index]);
    }
    dir.run(&["ingest-shard", "--plan", plan, "--index", "6"]).fails(2, &["shard 6", "from 0 to 5"]);
    dir.run(&["ingest-shard", "--plan", "tables/part-0", "--index", "0"]).fails(2, &["tables/part-0", "ingest-plan"]);
    dir.ok(&["ingest-merge", "--plan", plan, "--threads", "2"]);
    assert_same(&whole, &dir.tree("new"), "in steps");
}

#[test]
fn an_interrupted_ingest_of_tables_says_where_it_goes_on() {
    let dir = Dir::new();
    event_tables(&dir);
    let child = begun(&dir, "1", "shard-00001.facts");
    signal(&child, "-INT");
    let ran = Ran::of(TABLES, child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""), "{ran:?}");
    assert!(ran.stderr.contains("new/.T.ingest-") && ran.stderr.contains("again to resume"), "{ran:?}");
    assert!(working(&dir).iter().any(|name| name == "shard-00000.facts"));
    // Another ingest to the same place starts again and removes the old working folder.
    dir.ok(&["ingest", "tables/part-0", "--out", "new/T"]);
    assert_eq!(fs::read_dir(dir.path("new")).unwrap().count(), 1);
}
