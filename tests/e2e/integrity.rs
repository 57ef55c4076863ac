//! Damage is noticed: no changed byte gives another answer with exit status 0.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::interrupts::killed_ingest_of_tables;
use crate::support::{Dir, Tree, assert_same};
use crate::sweep;

/// Draws numbers below a bound, always the same ones.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        // Numerical Recipes' generator; its upper bits are good enough to choose bytes.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// The files in a folder of the test, in order.
fn files(dir: &Dir, name: &str) -> Vec<PathBuf> {
    let tree = dir.tree(name);
    let files = tree.iter().filter(|(_, bytes)| bytes.as_ref().is_some_and(|bytes| !bytes.is_empty()));
    files.map(|(path, _)| dir.path(name).join(path)).collect()
}

/// Puts a folder back as it was.
fn restore(dir: &Dir, name: &str, tree: &Tree) {
    let _ = fs::remove_dir_all(dir.path(name));
    fs::create_dir_all(dir.path(name)).unwrap();
    for (path, bytes) in tree {
        let path = dir.path(name).join(path);
        match bytes {
            Some(bytes) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
            None => fs::create_dir_all(path).unwrap(),
        }
    }
}

/// Changes one byte of one of the `files`, `times` times, and runs `command` each time. It must fail, or `result` must be as without
/// the change. Returns how many changes were noticed.
fn flip(
    (dir, folder): (&Dir, &str),
    files: &[PathBuf],
    times: usize,
    command: &[&str],
    result: &dyn Fn() -> Tree,
) -> usize {
    let whole = dir.tree(folder);
    let expected = {
        dir.ok(command);
        result()
    };
    let mut draws = Draws(times as u64);
    let mut noticed = 0;
    for time in 0..times {
        restore(dir, folder, &whole);
        let path = &files[draws.below(files.len())];
        let mut bytes = fs::read(path).unwrap();
        let place = draws.below(bytes.len());
        bytes[place] ^= 1 + draws.below(255) as u8;
        fs::write(path, bytes).unwrap();
        let ran = dir.run(command);
        let what = format!("change {time}: byte {place} of {}", path.display());
        match ran.code {
            Some(0) => assert_same(&expected, &result(), &what),
            Some(1 | 2) => noticed += 1,
            _ => panic!("{what}: {ran:?}"),
        }
        assert!(!ran.stderr.contains("panicked"), "{what}: {ran:?}");
    }
    restore(dir, folder, &whole);
    noticed
}

/// Changes `times` bytes each of a trace, of runs, of cells, of a plan and of the parts of an interrupted ingest.
fn flip_all(times: usize) {
    let dir = Dir::with_sample();
    let replay = ["replay", "T", "--assume", "--policy", "fair", "--policy", "fifo", "--out", "R"];
    let runs = || {
        let tree = dir.tree("R");
        // A run that was refused leaves nothing new; the next one begins without it.
        fs::remove_dir_all(dir.path("R")).unwrap();
        tree
    };
    let trace = flip((&dir, "T"), &files(&dir, "T"), times, &replay, &runs);

    dir.ok(&replay);
    let report = ["report", "R", "--out", "P", "--format", "html,tables"];
    let page = || {
        let tree = dir.tree("P");
        fs::remove_dir_all(dir.path("P")).unwrap();
        tree
    };
    let run = flip((&dir, "R"), &files(&dir, "R"), times, &report, &page);

    let dir = sweep::dir();
    let again = ["sweep", "sweep.toml", "--out", "S", "--threads", "1"];
    dir.ok(&again);
    // A harmless change stays where it is.
    let result = || {
        let mut tree = dir.tree("S");
        tree.retain(|path, _| !path.starts_with("cells") && !path.ends_with("sweep.json"));
        tree
    };
    let cells: Vec<PathBuf> =
        files(&dir, "S").into_iter().filter(|path| path.parent().unwrap().ends_with("cells")).collect();
    let cell = flip((&dir, "S"), &cells, times, &["sweep", "merge", "S"], &result);
    // A whole sweep makes damaged cells again.
    assert_eq!(flip((&dir, "S"), &cells, times.div_ceil(4), &again, &result), 0);
    let plan = flip((&dir, "S"), &[dir.path("S/sweep.json")], times, &["sweep", "merge", "S"], &result);

    let dir = Dir::new();
    let (ingest, work) = killed_ingest_of_tables(&dir);
    let parts = files(&dir, &work);
    let parts: Vec<PathBuf> = parts.into_iter().filter(|path| !path.ends_with("lock")).collect();
    let joined = || {
        let tree = dir.tree("new/T");
        fs::remove_dir_all(dir.path("new/T")).unwrap();
        tree
    };
    let ingest: Vec<&str> = ingest.iter().map(String::as_str).collect();
    let part = flip((&dir, &work), &parts, times.div_ceil(4), &ingest, &joined);
    eprintln!(
        "noticed of {times}: trace {trace}, run {run}, cell {cell}, plan {plan}; of {}: part {part}",
        times.div_ceil(4)
    );
    // The others were harmless; most bytes matter.
    assert!(trace * 2 > times && run * 2 > times && plan * 2 > times, "{trace}, {run}, {plan} of {times}");
    assert_eq!(part, 0, "a damaged part is made again");
}

#[test]
fn a_changed_byte_is_noticed_or_harmless() {
    flip_all(20);
}

/// `cargo test --workspace --test e2e -- --ignored --nocapture thousands`
#[test]
#[ignore = "takes some minutes"]
fn thousands_of_changed_bytes_are_noticed_or_harmless() {
    flip_all(500);
}

#[test]
fn verify_names_what_is_damaged_and_how_to_make_it_again() {
    let dir = Dir::with_sample();
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--policy", "fair", "--out", "R"]);
    dir.ok(&["report", "R", "--out", "P"]);
    assert!(dir.ok(&["verify", "T", "R", "P"]).lines().all(|line| line.ends_with(": whole")));
    let mut bytes = fs::read(dir.path("R/fair/attempts.parquet")).unwrap();
    bytes[100] ^= 4;
    fs::write(dir.path("R/fair/attempts.parquet"), bytes).unwrap();
    let ran = dir.run(&["verify", "T", "R"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("R/fair: run, 3 files") && ran.stdout.contains("1 damaged or changed"), "{ran:?}");
    assert!(
        ran.stdout.contains("R/fair/attempts.parquet: bytes 0 to ") && ran.stdout.contains("replay the trace again")
    );
    let reported: Value = serde_json::from_str(dir.run(&["verify", "R/fair", "--json"]).stdout.trim()).unwrap();
    assert_eq!(reported["damaged"][0]["file"], "R/fair/attempts.parquet");
    dir.run(&["report", "R", "--out", "Q"]).fails(1, &["R/fair/attempts.parquet", "are not those that resched wrote"]);
    dir.run(&["verify", "none"]).fails(2, &["none: cannot read the folder"]);
    fs::create_dir(dir.path("empty")).unwrap();
    dir.run(&["verify", "empty"]).fails(2, &["empty: expected the folder of a result"]);
}

/// `--resume` keeps whole runs only.
#[test]
fn a_damaged_run_is_replayed() {
    let dir = Dir::with_sample();
    let replay = ["replay", "T", "--assume", "--policy", "fifo", "--out", "R", "--resume", "--force"];
    dir.ok(&replay);
    let whole = dir.tree("R");
    let mut bytes = fs::read(dir.path("R/fifo/jobs.parquet")).unwrap();
    bytes[50] ^= 4;
    fs::write(dir.path("R/fifo/jobs.parquet"), bytes).unwrap();
    let ran = dir.run(&replay);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("replacing R/fifo/jobs.parquet"), "{ran:?}");
    assert_same(&whole, &dir.tree("R"), "replayed");
}

#[test]
fn a_trace_of_another_tool_opens_and_a_newer_layout_is_refused() {
    let dir = Dir::with_sample();
    let summary = dir.ok(&["inspect", "T"]);
    dir.without_hashes("T/trace.json");
    assert_eq!(dir.ok(&["inspect", "T"]), summary);
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R"]);
    assert!(dir.ok(&["verify", "T"]).contains("made by another tool, without hashes"));
    for marker in ["T/trace.json", "R/fifo/run.json"] {
        dir.without_hashes(marker);
        dir.write(marker, dir.read(marker).replace("\"format_version\": 1", "\"format_version\": 9"));
    }
    dir.run(&["inspect", "T"])
        .fails(1, &["T/trace.json", "found version 9, which a newer resched wrote", "update resched"]);
    dir.run(&["report", "R", "--out", "P2"]).fails(1, &["R/fifo/run.json", "found version 9", "update resched"]);
}
