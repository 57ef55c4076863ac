//! Windows by the clock: they mean the same jobs in every command, and are refused where a trace has no dates.

use serde_json::{Value, json};

use crate::support::Dir;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The sample, replayed twice. It begins at 2010-03-01T08:00:00Z, and its last job is submitted at 08:06:30.
fn replayed() -> Dir {
    let dir = Dir::with_sample();
    dir.ok(&["replay", "T", "--slots", "2+1", "--policy", "fifo", "--policy", "fair", "--out", "R"]);
    dir
}

#[test]
fn last_night_is_the_same_jobs_everywhere() {
    let dir = replayed();
    // 11 of 15 jobs are submitted before 08:04, of which 4 from 08:02 on.
    let jobs = |args: &[&str]| parsed(&dir.ok(&[args, &["--json"]].concat()))["jobs"].clone();
    let whole = jobs(&["explain", "T"]);
    let night = ["--from", "22:00", "--to", "08:04"];
    let same = [
        vec!["--window", "2010-02-28T22:00..2010-03-01 08:04"],
        vec!["--window", "22:00..2010-03-01T09:04+01:00"],
        vec!["--from", "23:00", "--to", "09:04", "--timezone", "Europe/Berlin"],
        vec!["--window", "..+4min"],
        vec!["--to", "1267430640000"],
    ];
    for run in ["T", "R/fifo", "R/fair"] {
        let found = jobs(&[&["explain", run], &night[..]].concat());
        assert_eq!((&whole, &found), (&json!(15), &json!(11)), "{run}");
        for window in &same {
            assert_eq!(jobs(&[&["explain", run], &window[..]].concat()), found, "{run} {window:?}");
        }
    }
    for pair in [["T", "R/fair"], ["R/fifo", "R/fair"]] {
        assert_eq!(jobs(&[&["diff"], &pair[..], &night[..]].concat()), json!(11), "{pair:?}");
    }
    // A replay with the window counts the same jobs, and so does a report with it, also of a run with a longer window.
    let replay =
        dir.ok(&[&["replay", "T", "--slots", "2+1", "--policy", "fair", "--out", "N", "--json"], &night[..]].concat());
    let replayed = parsed(&replay);
    assert_eq!(replayed["jobs_counted"], json!(11), "{replay}");
    for (runs, out) in [(["R/fifo", "R/fair"], "P"), (["N/fair", "R/fair"], "Q")] {
        dir.ok(&[&["report"], &runs[..], &["--out", out, "--format", "tables"], &night[..]].concat());
        let report = parsed(&dir.read(&format!("{out}/report.json")));
        assert_eq!(report["population"]["jobs"], json!(11));
        let of_fair =
            report["runs"].as_array().unwrap().iter().find(|run| run["label"].as_str().unwrap().starts_with("fair"));
        assert_eq!(of_fair.unwrap()["mean_completion_ms"], replayed["mean_completion_ms"]);
        assert_eq!(of_fair.unwrap()["p95_completion_ms"], replayed["p95_completion_ms"]);
    }
}

#[test]
fn a_window_is_shown_and_a_job_has_clock_times() {
    let dir = replayed();
    let text = dir.ok(&["explain", "R/fair", "--top", "2", "--from", "08:02"]);
    assert!(text.contains("submitted from 2010-03-01 08:02:00 to 2010-03-01 08:06:30 UTC"), "{text}");
    let found = parsed(&dir.ok(&["explain", "R/fair", "--user", "ann", "--window", "..08:04", "--json"]));
    assert_eq!(
        found["window"],
        json!({"from_ms": null, "to_ms": 1_267_430_640_000_i64, "from": null, "to": "2010-03-01T08:04:00Z"})
    );
    let job = ["--job", "job_201003010800_0005", "--timezone", "+01:00"];
    let observed = parsed(&dir.ok(&[&["explain", "T"], &job[..], &["--json"]].concat()));
    let replayed = parsed(&dir.ok(&[&["explain", "R/fair"], &job[..], &["--json"]].concat()));
    assert_eq!(observed["by_the_clock"]["submitted"], json!("2010-03-01T09:01:10+01:00"));
    assert_eq!(
        replayed["by_the_clock"]["submitted"], observed["by_the_clock"]["submitted"],
        "replays keep submissions"
    );
    let text = dir.ok(&[&["explain", "R/fair"], &job[..]].concat());
    assert!(text.contains(": submitted 2010-03-01 09:01:10 +01:00, started 2010-03-01 09:01:"), "{text}");
}

#[test]
fn a_window_that_says_nothing_is_refused() {
    let dir = replayed();
    dir.run(&["explain", "R/fair", "--from", "22:00", "--to", "23:00"])
        .fails(2, &["from 2010-02-28 22:00:00", "lies outside of the trace", "2010-03-01 08:06:30 UTC"]);
    dir.run(&["explain", "R/fair", "--from", "+3h", "--to", "+2h"]).fails(2, &["end comes after its start"]);
    for command in [vec!["replay", "T", "--assume", "--policy", "fifo", "--out", "O"], vec!["scale", "T", "--out", "O"]]
    {
        let reversed = dir.run(&[&command[..], &["--from", "+3h", "--to", "+2h"]].concat());
        reversed.fails(2, &["end comes after its start, found 2010-03-01 11:0", "exchange the two ends"]);
    }
    dir.run(&["explain", "R/fair", "--window", "2d..1d"]).fails(2, &["2d..1d", "write `+2d`"]);
    dir.run(&["explain", "R/fair", "--from", "25:00"]).fails(2, &["25:00", "a time of day like 22:00"]);
    dir.run(&["explain", "R/fair", "--job", "job_201003010800_0005", "--from", "08:00"])
        .fails(2, &["leave the window out"]);
    dir.run(&["explain", "R/fair", "--from", "08:00", "--window", "08:00..09:00"]).fails(2, &["--window"]);
    dir.run(&["diff", "R/fifo", "R/fair", "--timezone", "Mars"]).fails(2, &["Europe/Berlin"]);
    // The times of a log of a parallel machine count from its own start.
    dir.write(
        "a.swf",
        "; MaxProcs: 4\n1 0 0 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n2 7200 0 10 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1\n",
    );
    dir.ok(&["ingest", "a.swf", "--out", "S"]);
    for command in [vec!["explain", "S"], vec!["replay", "S", "--policy", "fifo", "--out", "O"]] {
        dir.run(&[&command[..], &["--from", "22:00"]].concat()).fails(2, &["do not count from a date", "+2h"]);
    }
    let found = parsed(&dir.ok(&["explain", "S", "--from", "+1h", "--json"]));
    assert_eq!(
        (&found["jobs"], &found["window"]["from"], &found["by_the_clock"]),
        (&json!(1), &Value::Null, &Value::Null)
    );
}

/// The users who lose most are on top, whatever their names are.
#[test]
fn those_who_lose_are_on_top() {
    let dir = replayed();
    let diff = dir.ok(&["diff", "R/fifo", "R/fair"]);
    let users: Vec<&str> = diff
        .split("\n user ")
        .nth(1)
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().next().unwrap_or(""))
        .take(4)
        .collect();
    assert_eq!((users[0], users[3]), ("ann", "all"), "{diff}");
    let back = dir.ok(&["diff", "R/fair", "R/fifo"]);
    let users: Vec<&str> = back
        .split("\n user ")
        .nth(1)
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().next().unwrap_or(""))
        .take(4)
        .collect();
    assert_eq!((users[2], users[3]), ("ann", "all"), "{back}");
    assert!(diff.contains("slower most") && diff.contains("faster most"), "{diff}");
    let json = parsed(&dir.ok(&["diff", "R/fifo", "R/fair", "--json"]));
    assert_eq!(
        (&json["all"]["change_ms"]["low"], &json["all"]["change_ms"]["high"]),
        (&Value::Null, &Value::Null),
        "one seed has no interval"
    );
    dir.ok(&["replay", "T", "--slots", "1+1", "--policy", "fair", "--out", "small"]);
    let diff = dir.ok(&["diff", "R/fair", "small/fair"]);
    assert!(diff.starts_with("fair (small/fair) compared with fair (R/fair)"), "{diff}");
}
