//! The pages in a real browser: they ask for nothing, report no error, and what they offer works.
//!
//! `RESCHED_PYTHON` is a Python with `playwright`, and Chromium must be in the path (or `RESCHED_CHROMIUM` names it). Without them the
//! tests are skipped, unless `RESCHED_REQUIRE_BROWSER` is set. `RESCHED_SCREENSHOTS` names a folder to keep pictures in for a look.

use std::path::PathBuf;
use std::process::Command;

use crate::hostile::{job, plain, task, with};
use crate::support::{Dir, repository};
use crate::sweep::dir as with_sweep;
use crate::sweep_engines::skip;

/// Chromium under one of its names.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("RESCHED_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = || std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name)).to_vec());
    named.or_else(|| found().find(|program| program.is_file()))
}

/// Tries out the page of this kind. Returns without a look if there is no browser.
fn try_out(dir: &Dir, kind: &str, page: &str) {
    let (Some(python), Some(chromium)) = (std::env::var_os("RESCHED_PYTHON"), chromium()) else {
        return skip("RESCHED_PYTHON or Chromium is missing", "RESCHED_REQUIRE_BROWSER");
    };
    let pictures = std::env::var_os("RESCHED_SCREENSHOTS").map_or_else(|| dir.path("pictures"), PathBuf::from);
    std::fs::create_dir_all(&pictures).unwrap();
    let mut command = Command::new(python);
    command.arg(repository("tests/python/page_in_browser.py")).arg(chromium).args([kind, page]).arg(pictures);
    let ran = command.current_dir(dir.path("")).output().unwrap();
    assert!(ran.status.success(), "{page}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Names that would do harm if anything took them for more than a text.
const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "</script><script>alert(3)</script>",
    "=cmd|' /C calc'!A0",
    "a\u{1b}[31m\u{7}\u{202e}b",
    "😀 \"quoted\" 'names' & <b>",
    "a-name-that-is-much-longer-than-any-column-of-a-table-and-has-no-place-to-break",
    "{{constructor.constructor('alert(4)')()}}",
];

#[test]
fn a_report_works_in_a_browser() {
    let dir = Dir::new();
    let jobs = (1..=120u32).map(|number| {
        let evil = HOSTILE[number as usize % HOSTILE.len()];
        let job = with(plain(number), "submitTime", 1_000 + 2_000 * i64::from(number));
        let job = with(with(job, "jobName", format!("{evil} {number}")), "queue", evil);
        with(job, "user", ["ann", "<i>bob</i>"][number as usize % 2])
    });
    dir.write("trace.json", jobs.map(|job| job.to_string()).collect::<Vec<_>>().join("\n"));
    dir.ok(&["ingest", "trace.json", "--out", "T"]);
    dir.ok(&[
        "replay",
        "T",
        "--assume",
        "--policy",
        "fifo",
        "--policy",
        "naive-fair",
        "--policy",
        "fair",
        "--out",
        "R",
    ]);
    dir.ok(&["report", "R", "--out", "P"]);
    try_out(&dir, "report", "P/report.html");
}

/// Jobs of several sizes on one machine, from 2011-05-01T19:40:00Z on: most wait. Some of the 41 users have few jobs.
fn evening(number: u32) -> serde_json::Value {
    let from = i64::from(number % 7);
    let maps =
        (0..1 + number % 5).map(|map| task(number, 'm', map, &[(2_000, 3_500 + 1_000 * from + 10 * i64::from(map))]));
    let reduces = (0..number % 2).map(|reduce| task(number, 'r', reduce, &[(3_000, 6_000 + 500 * from)]));
    let made = job(number, maps.collect(), reduces.collect());
    let made = with(made, "submitTime", EVENING + 7_000 * i64::from(number));
    let user = if number.is_multiple_of(11) { number % 37 } else { number * number % 17 };
    let named = with(with(made, "user", format!("user{user}")), "queue", HOSTILE[number as usize % HOSTILE.len()]);
    with(named, "jobName", format!("{} {number}", HOSTILE[number as usize % 3]))
}

/// 2011-05-01T19:40:00Z.
const EVENING: i64 = 1_304_278_800_000;

/// Done-when: every table, sentence and chart of the page follows its window.
#[test]
fn the_page_with_a_window_is_what_polars_computes() {
    let (Some(python), Some(chromium)) = (std::env::var_os("RESCHED_PYTHON"), chromium()) else {
        return skip("RESCHED_PYTHON or Chromium is missing", "RESCHED_REQUIRE_BROWSER");
    };
    let dir = Dir::new();
    dir.write("trace.json", (1..=300).map(|number| evening(number).to_string()).collect::<Vec<_>>().join("\n"));
    dir.ok(&["ingest", "trace.json", "--out", "T"]);
    let policies = ["--policy", "fifo", "--policy", "fair", "--policy", "naive-fair"];
    dir.ok(&[&["replay", "T", "--assume", "--out", "R"], &policies[..]].concat());
    dir.ok(&["report", "R", "--timezone", "Europe/Berlin", "--out", "P", "--format", "html,tables"]);
    let mut command = Command::new(python);
    command.arg(repository("tests/python/window_by_polars.py")).arg(chromium).args(["P/report.html", "Europe/Berlin"]);
    let ran = command.arg((EVENING + 7_000).to_string()).current_dir(dir.path("")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// The commands that a report names make the same numbers again.
#[test]
fn the_commands_of_a_report_make_it_again() {
    let dir = Dir::with_sample();
    dir.ok(&[
        "replay",
        "T",
        "--slots",
        "2+1",
        "--seed",
        "7",
        "--policy",
        "fifo",
        "--policy",
        "delay:D=4",
        "--out",
        "R",
    ]);
    dir.ok(&["report", "R", "--baseline", "delay:D=4", "--out", "P"]);
    let page = dir.read("P/report.html");
    let part = |name: &str| {
        let found = page.split(&format!("{name}</summary><pre>")).nth(1).unwrap().split("</pre>").next().unwrap();
        found.replace("&#34;", "\"").replace("&#39;", "'")
    };
    dir.write("cluster.toml", part("cluster.toml"));
    let commands = page.split("<pre id=\"again\">").nth(1).unwrap().split("</pre>").next().unwrap();
    let before = (dir.read("P/report.json"), dir.read("P/summary.csv"));
    std::fs::remove_dir_all(dir.path("R")).unwrap();
    for command in commands.lines() {
        let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).skip(1).collect();
        dir.ok(&words);
    }
    let numbers = |report: &str| serde_json::from_str::<serde_json::Value>(report).unwrap()["runs"].clone();
    assert_eq!(numbers(&dir.read("REPORT/report.json")), numbers(&before.0));
    assert_eq!(dir.read("REPORT/summary.csv"), before.1);
}

#[test]
fn a_sweep_works_in_a_browser() {
    let dir = with_sweep();
    dir.ok(&["sweep", "sweep.toml", "--out", "S"]);
    try_out(&dir, "tables", "S/index.html");
}

#[test]
fn a_search_works_in_a_browser() {
    let dir = with_sweep();
    let tune = "[tune]\nobjective = { mean_completion = 1 }\nbounds = [{ metric = \"makespan\", at_most = 2 }]\ncandidates = 6\n";
    dir.write("tune.toml", dir.read("sweep.toml").replace("speedup = [1, 2.0]", "speedup = 1") + tune);
    dir.ok(&["tune", "tune.toml", "--out", "U"]);
    try_out(&dir, "tables", "U/index.html");
}

#[test]
fn a_reproduction_works_in_a_browser() {
    let dir = Dir::new();
    dir.ok(&["reproduce", "coupling-fig10", "dress-toy", "--seeds", "2", "--out", "R"]);
    try_out(&dir, "tables", "R/index.html");
}
