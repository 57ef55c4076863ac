//! Where a result goes: a path is resolved once, before anything is moved, by one rule for all commands.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::{Duration, Instant};

use resched_tables::store::{FileEntry, Inventory, marker};

use crate::interrupts::signal;
use crate::support::{Dir, assert_same};

/// Commands that write a folder, `X`, and the file in it that shows that it is whole.
const FOLDERS: [(&[&str], &str); 8] = [
    (&["ingest", "H", "--out", "X"], "trace.json"),
    (&["generate", "w.toml", "--out", "X"], "trace.json"),
    (&["anonymise", "T", "--key", "key", "--out", "X"], "trace.json"),
    (&["scale", "T", "--jobs", "0.9", "--out", "X"], "trace.json"),
    (&["report", "T", "--format", "svg", "--out", "X"], "report.json"),
    (&["replay", "T", "--assume", "--policy", "fifo", "--robust", "off", "--out", "X"], "fifo/run.json"),
    (&["sweep", "s.toml", "--out", "X"], "sweep.json"),
    (
        &[
            "size", "T", "--assume", "--policy", "fifo", "--metric", "makespan", "--below", "10h", "--robust", "off",
            "--out", "X",
        ],
        "size.json",
    ),
];

/// Commands that write a file, `X`.
const FILES: [&[&str]; 2] = [&["export", "T", "--format", "swf", "--out", "X"], &["calibrate", "T", "--out", "X"]];

fn dir() -> Dir {
    let dir = Dir::with_sample();
    dir.write("w.toml", fs::read(crate::support::repository("traces/delay-locality.toml")).unwrap());
    dir.write("s.toml", "name = \"s\"\ntrace = \"T\"\nassume = true\nseeds = 1\n[variants.fifo]\n");
    dir.write("key", "a key of 16 bytes");
    fs::create_dir(dir.path("H")).unwrap();
    for entry in fs::read_dir(crate::support::sample_history()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.path("H").join(path.file_name().unwrap())).unwrap();
    }
    dir
}

/// The command with another `--out` than `X`.
fn into<'a>(args: &[&'a str], out: &'a str) -> Vec<&'a str> {
    args.iter().map(|arg| if *arg == "X" { out } else { arg }).collect()
}

#[test]
fn a_path_through_its_own_result_loses_nothing() {
    let dir = dir();
    for (args, whole) in FOLDERS {
        dir.ok(args);
        let made = dir.tree("X");
        let inner = made.keys().find(|path| made[*path].is_none()).map(|path| format!("X/{}/../../X", path.display()));
        for out in ["X/../X", "X/.", "./X/../X/"].into_iter().map(str::to_owned).chain(inner) {
            let ran = dir.run(&into(args, &out));
            assert_eq!(ran.code, Some(0), "{out}: {ran:?}");
            assert!(dir.path("X").join(whole).is_file(), "{args:?} into {out}");
            assert_same(&made, &dir.tree("X"), &format!("{args:?} into {out}"));
        }
        let before = dir.tree("");
        let ran = dir.run(&into(args, "missing/../X"));
        ran.fails(2, &["missing/../X: expected `..` only after folders that exist; name another --out"]);
        assert_same(&before, &dir.tree(""), "a path behind a folder that is missing");
        fs::remove_dir_all(dir.path("X")).unwrap();
    }
}

/// `R/fifo/..` is the folder of the runs, of which one is replaced.
#[test]
fn a_path_through_a_run_that_is_replaced_loses_nothing() {
    let dir = dir();
    let replay = ["replay", "T", "--assume", "--policy", "fifo", "--policy", "fair", "--robust", "full", "--out", "X"];
    dir.ok(&into(&replay, "R"));
    let made = dir.tree("R");
    dir.ok(&into(&replay, "R/fifo/.."));
    assert_same(&made, &dir.tree("R"), "R/fifo/..");
    for (args, _) in FOLDERS {
        if ["replay", "sweep", "size"].contains(&args[0]) {
            continue;
        }
        let ran = dir.run(&into(args, "R/fifo/.."));
        ran.fails(2, &["R/fifo/..: expected the name of a folder to write; name another --out"]);
        assert_same(&made, &dir.tree("R"), &format!("{args:?}"));
    }
    for args in FILES {
        dir.run(&into(args, "R/fifo/..")).fails(2, &["R/fifo/..: expected the name of a file to write"]);
    }
    assert_same(&made, &dir.tree("R"), "nothing is lost");
}

#[test]
fn a_link_is_followed_by_all_commands_alike() {
    let dir = dir();
    fs::create_dir(dir.path("disk")).unwrap();
    symlink("disk/there", dir.path("L")).unwrap();
    for (args, whole) in FOLDERS {
        let ran = dir.run(&into(args, "L"));
        ran.fails(2, &["L: expected a folder or a file, found a link that leads nowhere; name another --out"]);
        fs::create_dir(dir.path("disk/there")).unwrap();
        for _ in 0..2 {
            dir.ok(&into(args, "L"));
            assert!(fs::symlink_metadata(dir.path("L")).unwrap().is_symlink(), "{args:?}");
            assert!(dir.path("disk/there").join(whole).is_file(), "{args:?}");
            assert_eq!(fs::read_dir(dir.path("disk")).unwrap().count(), 1, "{args:?}");
        }
        fs::remove_dir_all(dir.path("disk/there")).unwrap();
    }
    for args in FILES {
        dir.run(&into(args, "L")).fails(2, &["L", "found a link that leads nowhere"]);
        dir.write("disk/there", "earlier");
        dir.run(&into(args, "L")).fails(2, &["L: exists; name another --out, or replace it with --force"]);
        dir.ok(&[into(args, "L"), vec!["--force"]].concat());
        assert!(
            fs::symlink_metadata(dir.path("L")).unwrap().is_symlink() && dir.read("disk/there") != "earlier",
            "{args:?}"
        );
        fs::remove_file(dir.path("disk/there")).unwrap();
    }
}

/// Whoever made a folder of results must not choose where else is written.
#[test]
fn links_inside_a_folder_of_results_are_not_followed() {
    let dir = dir();
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--robust", "off", "--out", "R"]);
    fs::create_dir(dir.path("S")).unwrap();
    symlink(dir.path("R/fifo"), dir.path("S/fifo")).unwrap();
    let before = dir.tree("R");
    let replay = ["replay", "T", "--assume", "--seed", "2", "--policy", "fifo", "--robust", "off", "--out", "S"];
    dir.run(&replay).fails(2, &["S/fifo: expected a folder or nothing, found a link", "remove it"]);
    assert_same(&before, &dir.tree("R"), "the run elsewhere");
    let dir = crate::sweep::dir();
    for inside in ["cells", "figures"] {
        fs::create_dir_all(dir.path("elsewhere")).unwrap();
        dir.ok(&["sweep", "sweep.toml", "--out", "W"]);
        fs::remove_dir_all(dir.path("W").join(inside)).unwrap();
        symlink(dir.path("elsewhere"), dir.path("W").join(inside)).unwrap();
        dir.run(&["sweep", "sweep.toml", "--out", "W"]).fails(2, &[inside, "found a link"]);
        assert_eq!(fs::read_dir(dir.path("elsewhere")).unwrap().count(), 0, "{inside}");
        fs::remove_dir_all(dir.path("W")).unwrap();
    }
}

#[test]
fn a_trace_is_not_replaced_by_what_is_made_of_it() {
    let dir = dir();
    symlink("T", dir.path("L")).unwrap();
    let before = dir.tree("");
    for args in [&["anonymise", "T", "--key", "key"][..], &["anonymise", "T"], &["scale", "T", "--jobs", "0.5"]] {
        for out in ["T", "L", "T/../T", "./T/"] {
            for force in [&[][..], &["--force"]] {
                let ran = dir.run(&[args, &["--out", out], force].concat());
                ran.fails(
                    2,
                    &[
                        out,
                        "expected a folder other than the one that is read, which would be lost; name another --out",
                    ],
                );
                assert_same(&before, &dir.tree(""), out);
            }
        }
    }
}

/// The earlier result has so many files that its removal takes a while, in which the signal comes.
#[test]
fn a_signal_while_the_earlier_result_is_removed_leaves_none_of_it() {
    let dir = dir();
    const FILES: usize = 20_000;
    for name in ["-TERM", "-INT"] {
        let mut files = Inventory::new();
        for number in 0..FILES {
            let file = format!("part-{number:05}.parquet");
            dir.write(&format!("X/{file}"), "");
            files.insert(file, FileEntry::of(b""));
        }
        let sealed = marker::encode(&serde_json::json!({ "format_version": 1, "files": files })).unwrap();
        dir.write("X/trace.json", sealed);
        let args = ["scale", "T", "--jobs", "0.9", "--out", "X"];
        let mut child = dir.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (begun, aside) = (Instant::now(), dir.path(".X.resched-replaced"));
        while !aside.exists() {
            assert!(
                begun.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none(),
                "no earlier result is set aside"
            );
        }
        signal(&child, name);
        // The new result is whole already, so the command may also end as if nothing had happened.
        assert!([Some(130), Some(0)].contains(&child.wait().unwrap().code()), "{name}");
        let left: Vec<String> = dir
            .tree("")
            .into_keys()
            .map(|path| path.display().to_string())
            .filter(|path| path.contains("resched-"))
            .collect();
        assert!(left.is_empty(), "{name}: {} files, such as {:?}", left.len(), left.first());
        dir.ok(&["verify", "X"]);
        fs::remove_dir_all(dir.path("X")).unwrap();
    }
}
