//! `resched reproduce`: the list, a cheap experiment, and wrong requests.

use serde_json::Value;

use crate::support::Dir;

#[test]
fn reproduce_lists_its_experiments() {
    let dir = Dir::new();
    let list = dir.ok(&["reproduce", "--list"]);
    for name in ["coupling-table4", "coupling-fig10", "triple-queue", "dress-spark", "delay-locality"] {
        assert!(list.lines().any(|line| line.trim().starts_with(name)), "{name} is missing in\n{list}");
    }
    assert_eq!(dir.ok(&["reproduce", "coupling-fig10", "--list"]).lines().count(), 2);
}

#[test]
fn reproduce_writes_rows_page_and_figures() {
    let dir = Dir::new();
    let args = ["reproduce", "coupling-fig10", "dress-toy", "--seeds", "2", "--out", "R"];
    let printed = dir.ok(&args);
    assert!(
        printed.lines().any(|line| line.contains("Eq. 2") && line.contains("92.9") && line.ends_with("agrees")),
        "{printed}"
    );
    let rows: Value = serde_json::from_str(&dir.read("R/reproduction.json")).unwrap();
    assert_eq!(rows["seeds"], 2);
    assert!(rows["rows"].as_array().unwrap().iter().any(|row| row["verdict"] == "differs" && row["why"] != ""));
    let text = dir.read("R/REPRODUCTION.md");
    assert!(text.contains("cost.locality") && text.contains("Assumptions"), "{text}");
    assert!(std::fs::read(dir.path("R/coupling-fig10.png")).unwrap().starts_with(b"\x89PNG"));
    // A second call replaces the first result.
    assert_eq!(dir.ok(&args), printed);
}

#[test]
fn wrong_requests_are_refused_before_any_replay() {
    let dir = Dir::new();
    for (args, reported) in [
        (vec!["reproduce", "coupling-fig11", "--out", "R"], "unknown experiment `coupling-fig11`"),
        (vec!["reproduce", "dress-toy"], "--out"),
        (vec!["reproduce", "dress-toy", "--seeds", "0", "--out", "R"], "--seeds"),
    ] {
        let ran = dir.run(&args);
        assert!(ran.code == Some(2) && ran.stderr.contains(reported), "{ran:?}");
        assert!(!dir.path("R").exists());
    }
    dir.write("taken/note.txt", "mine");
    assert_eq!(dir.run(&["reproduce", "dress-toy", "--out", "taken"]).code, Some(2));
}
