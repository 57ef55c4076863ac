//! What is yours stays: a command replaces only what resched wrote, as it wrote it.

use std::fs;

use crate::support::{Dir, assert_same};
use crate::sweep;

/// Commands that replace a folder of results as a whole, with the marker of that folder.
const COMMANDS: [(&[&str], &str); 4] = [
    (&["ingest", "H", "--out", "X"], "X"),
    (&["replay", "T", "--assume", "--policy", "fifo", "--out", "X"], "X/fifo"),
    (&["report", "T", "--out", "X", "--format", "html,notebook,svg"], "X"),
    (&["reproduce", "dress-spark", "--seeds", "2", "--out", "X"], "X"),
];

#[test]
fn a_rerun_keeps_what_is_yours() {
    for (args, folder) in COMMANDS {
        let dir = Dir::with_sample();
        let history = crate::support::sample_history();
        let args: Vec<&str> = args.iter().map(|arg| if *arg == "H" { history.as_str() } else { arg }).collect();
        dir.ok(&args);
        let whole = dir.tree("X");
        dir.ok(&args);
        assert_same(&whole, &dir.tree("X"), "made twice");
        for name in ["notes.md", "mine.ipynb", "mine.parquet", "figure.png", "page.html", "sub/data.csv"] {
            dir.write(&format!("{folder}/{name}"), "mine");
            let before = dir.tree("");
            for force in [&[][..], &["--force"]] {
                let ran = dir.run(&[&args[..], force].concat());
                ran.fails(2, &[name.split('/').next().unwrap(), "does not belong to it", "--out"]);
            }
            assert_same(&before, &dir.tree(""), name);
            fs::remove_file(dir.path(folder).join(name)).unwrap();
            let _ = fs::remove_dir(dir.path(folder).join("sub"));
        }
    }
}

#[test]
fn an_edited_file_is_replaced_only_if_you_say_so() {
    let dir = Dir::with_sample();
    let report = ["report", "T", "--out", "P", "--format", "html,notebook"];
    dir.ok(&report);
    let whole = dir.tree("P");
    let executed = dir.read("P/report.ipynb").replace("\"execution_count\": null", "\"execution_count\": 1");
    dir.write("P/report.ipynb", &executed);
    dir.run(&report).fails(2, &["`report.ipynb` in it was changed since", "--force"]);
    assert_eq!(dir.read("P/report.ipynb"), executed);
    let ran = dir.run(&[&report[..], &["--force"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("replacing P/report.ipynb"), "{ran:?}");
    assert_same(&whole, &dir.tree("P"), "made again");
}

#[test]
fn a_file_that_you_name_is_not_overwritten() {
    let dir = Dir::with_sample();
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R"]);
    dir.write("mine.txt", "mine");
    let before = dir.tree("");
    for path in ["T/trace.json", "T/jobs.parquet", "R/fifo/run.json", "R/fifo/attempts.parquet"] {
        for args in [&["export", "T", "--format", "swf"][..], &["calibrate", "T"]] {
            for force in [&[][..], &["--force"]] {
                let ran = dir.run(&[args, &["--out", path], force].concat());
                ran.fails(2, &[path, "belongs to the result", "--out"]);
            }
        }
    }
    for args in [&["export", "T", "--format", "swf"][..], &["calibrate", "T"]] {
        dir.run(&[args, &["--out", "mine.txt"]].concat()).fails(2, &["mine.txt: exists", "--force"]);
    }
    assert_same(&before, &dir.tree(""), "nothing was written");
    let ran = dir.run(&["export", "T", "--format", "swf", "--out", "mine.txt", "--force"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("replacing mine.txt"), "{ran:?}");
}

#[test]
fn a_sweep_keeps_what_is_yours_in_its_folder() {
    let dir = sweep::dir();
    let sweep = ["sweep", "sweep.toml", "--out", "S"];
    dir.ok(&sweep);
    let whole = dir.tree("S");
    dir.write("S/notes.md", "mine");
    dir.write("S/figures/mine.svg", "mine");
    dir.ok(&sweep);
    assert_eq!((dir.read("S/notes.md"), dir.read("S/figures/mine.svg")), ("mine".to_owned(), "mine".to_owned()));
    dir.write("S/summary.csv", "edited");
    for args in [&sweep[..], &["sweep", "merge", "S"]] {
        dir.run(args).fails(2, &["S/summary.csv: was not written by resched, or was changed since", "--force"]);
    }
    assert_eq!(dir.read("S/summary.csv"), "edited");
    let ran = dir.run(&[&sweep[..], &["--force"]].concat());
    assert!(ran.code == Some(0) && ran.stderr.contains("replacing S/summary.csv"), "{ran:?}");
    fs::remove_file(dir.path("S/notes.md")).unwrap();
    fs::remove_file(dir.path("S/figures/mine.svg")).unwrap();
    assert_same(&whole, &dir.tree("S"), "made again");
}

/// A plan under construction has a hidden name. A sweep that is killed then leaves nothing else.
#[test]
fn a_sweep_that_was_killed_while_it_wrote_its_plan_is_resumed() {
    let dir = sweep::dir();
    dir.write("S/.sweep.json.resched-partial-0123456789abcdef", "{\"format_ver");
    dir.ok(&["sweep", "sweep.toml", "--out", "S"]);
    dir.ok(&["sweep", "sweep.toml", "--out", "one"]);
    assert_same(&dir.tree("one"), &dir.tree("S"), "resumed");
}

/// A key that was made for nothing is not in the way.
#[test]
fn an_interrupted_anonymise_can_be_repeated() {
    let dir = Dir::with_sample();
    dir.write(".A.key.resched-partial-0123456789abcdef", "half a key");
    dir.ok(&["anonymise", "T", "--out", "A"]);
    assert!(dir.path("A.key").is_file() && !dir.path(".A.key.resched-partial-0123456789abcdef").exists());
    dir.run(&["anonymise", "T", "--out", "A"]).fails(2, &["A.key", "use it with --key"]);
}
