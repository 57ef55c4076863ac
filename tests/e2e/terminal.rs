//! What commands print to a terminal, and the same for programs: colours, bars, JSON, CSV, completions and manual pages.

use serde_json::Value;

use crate::support::Dir;

/// The rows of a CSV text, the heading first.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// What a command prints where colours are shown, or where they are not.
fn coloured(dir: &Dir, args: &[&str], name: &str, value: &str) -> String {
    let output = dir.command(args).env_remove("NO_COLOR").env(name, value).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_table_has_colours_only_where_they_are_shown() {
    let dir = Dir::with_sample();
    let inspect = ["inspect", "T"];
    let plain = dir.ok(&inspect);
    assert!(!plain.contains('\u{1b}') && !plain.contains(['\u{206a}', '\u{206e}']), "{plain}");
    let shown = coloured(&dir, &inspect, "CLICOLOR_FORCE", "1");
    assert!(shown.starts_with("\u{1b}[1m what"), "{shown}");
    assert_eq!(coloured(&dir, &inspect, "NO_COLOR", "1"), plain);
    assert_eq!(shown.replace("\u{1b}[1m", "").replace("\u{1b}[0m", ""), plain);
}

#[test]
fn inspect_shows_the_shape_of_the_trace() {
    let dir = Dir::with_sample();
    let text = dir.ok(&["inspect", "T"]);
    for line in ["arrivals", "tasks of a job", "run times of tasks"] {
        let line =
            text.lines().find(|shown| shown.trim().starts_with(line)).unwrap_or_else(|| panic!("{line}: {text}"));
        assert!(line.contains('█'), "{line}");
    }
    let found = dir.json(&["inspect", "T", "--json"]);
    let sum = |of: &Value| -> u64 { of.as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum() };
    assert_eq!(sum(&found["arrivals"]["counts"]), 15);
    let tasks: u64 = found["job_tasks"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(tasks, 15);
}

#[test]
fn csv_holds_the_numbers_of_the_json() {
    let dir = Dir::with_sample();
    let replay = ["replay", "T", "--assume", "--policy", "fifo", "--policy", "delay:D=1|8", "--out"];
    let csv = rows(&dir.ok(&[&replay, ["R", "--csv"].as_slice()].concat()));
    let json = dir.ok(&[&replay, ["S", "--json"].as_slice()].concat());
    let reported: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let column = |name: &str| csv[0].iter().position(|heading| heading == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(csv.len(), 1 + reported.len());
    for (row, run) in csv[1..].iter().zip(&reported) {
        assert_eq!(row[column("policy")], run["policy"].as_str().unwrap());
        assert_eq!(row[column("makespan_ms")], run["makespan_ms"].to_string());
        assert_eq!(row[column("locality.node")], run["locality"]["node"].to_string());
        assert_eq!(row[column("mean_completion_ms")], run["mean_completion_ms"].to_string());
    }
    let inspected = rows(&dir.ok(&["inspect", "T", "--csv"]));
    assert!(inspected.contains(&vec!["tasks.map".to_owned(), "213".to_owned()]), "{inspected:?}");
    let policies = rows(&dir.ok(&["policies", "delay", "--csv"]));
    assert!(policies.iter().any(|row| row[1] == "delay" && row[2] == "D"), "{policies:?}");
    let verified = rows(&dir.ok(&["verify", "T", "R", "--csv"]));
    assert_eq!(verified.len(), 5, "{verified:?}");
    let both = dir.run(&["inspect", "T", "--csv", "--json"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn hostile_names_stay_texts_in_csv() {
    let dir = Dir::new();
    dir.write("=cmd()\u{1b}[31m\u{206a}.swf", "1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\n");
    dir.ok(&["ingest", "=cmd()\u{1b}[31m\u{206a}.swf", "--out", "T"]);
    for form in ["--csv", "--json"] {
        let text = dir.ok(&["inspect", "T", form]);
        assert!(!text.contains(['\u{1b}', '\u{206a}']), "{text}");
    }
    let shown = coloured(&dir, &["inspect", "T"], "CLICOLOR_FORCE", "1");
    assert!(!shown.contains("\u{1b}[31m"), "{shown}");
    assert!(rows(&dir.ok(&["verify", "T", "--csv"])).len() == 2);
}

#[test]
fn shells_and_man_are_served() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = dir.ok(&["completions", shell]);
        assert!(script.contains("resched") && script.contains("validate"), "{shell}");
    }
    let page = dir.ok(&["man", "replay"]);
    assert!(page.contains(".TH") && page.contains("\\-\\-policy"), "{page}");
    assert!(dir.ok(&["man"]).contains("replay"));
    let ran = dir.run(&["man", "repaly"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("repaly") && ran.stderr.contains("replay"), "{ran:?}");
}
