//! Every command on the bundled sample, with the fields and files that it promises.

use serde_json::{Value, json};

use crate::support::{Dir, POLICIES, repository};

#[test]
fn inspect_reports_what_the_sample_holds() {
    let dir = Dir::with_sample();
    let found = dir.json(&["inspect", "T", "--json"]);
    let expected = json!({
        "jobs": 15,
        "job_outcome": {"SUCCESS": 15},
        "tasks": {"map": 213, "reduce": 18, "setup": 0, "cleanup": 0, "master": 0, "other": 0},
        "attempts": {"map/FAILED": 4, "map/KILLED": 3, "map/SUCCESS": 213, "reduce/KILLED": 1, "reduce/SUCCESS": 18},
        "locality": {"node": 128, "rack": 56, "off": 29, "unknown": 0},
        "splits": 213,
        "nodes": 12,
        "min_submit": 1_267_430_400_000_i64,
        "max_finish": 1_267_430_833_961_i64,
        "map_input_bytes": 14_294_188_032_u64,
        "skipped": {},
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&found[field], value, "{field}");
    }
    let text = dir.ok(&["inspect", "T"]);
    for (what, number) in [("jobs", "15"), ("machines", "12"), ("tasks, map", "213"), ("attempts: map/KILLED", "3")] {
        let row = text.lines().find(|line| line.trim().starts_with(&format!("{what}  ")));
        assert!(row.is_some_and(|row| row.ends_with(&format!(" {number}"))), "{what} {number} is missing in\n{text}");
    }
}

/// The names of an object's fields.
fn fields(value: &Value) -> Vec<&str> {
    let mut fields: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    fields
}

#[test]
fn replay_prints_an_object_a_policy() {
    let dir = Dir::with_sample();
    let mut args = vec!["replay", "T", "--assume", "--out", "R", "--json"];
    args.extend(POLICIES.iter().flat_map(|policy| ["--policy", policy]));
    let printed = dir.ok(&args);
    let reported: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reported.iter().map(|run| run["policy"].as_str().unwrap()).collect::<Vec<_>>(), *POLICIES);
    for (place, run) in reported.iter().enumerate() {
        // The first is the baseline, which has no sign.
        let mut expected = vec![
            "bound",
            "events",
            "grade",
            "jobs_counted",
            "jobs_finished",
            "locality",
            "makespan_ms",
            "mean_completion_ms",
            "mean_starvation_ms",
            "mean_waiting_ms",
            "median_completion_ms",
            "p95_completion_ms",
            "p95_waiting_ms",
            "params",
            "policy",
            "tasks",
            "unfinished",
            "validity",
            "wall_ms",
            "window",
        ];
        expected.extend((place > 0).then_some("sign"));
        expected.sort_unstable();
        assert_eq!(fields(run), expected);
        assert_eq!(fields(&run["locality"]), ["node", "off", "rack"]);
        assert_eq!((&run["jobs_finished"], &run["tasks"]), (&json!(15), &json!(231)));
        for number in ["makespan_ms", "mean_completion_ms", "median_completion_ms", "events"] {
            assert!(run[number].as_f64().is_some_and(|number| number > 0.0), "{number} of {run}");
        }
        assert!(run["mean_waiting_ms"].as_f64() < run["mean_completion_ms"].as_f64());
        // Four attempts of the log failed, and each is launched again.
        let launches: u64 = ["node", "rack", "off"].iter().map(|level| run["locality"][level].as_u64().unwrap()).sum();
        assert_eq!(launches, 213 + 4, "{run}");
    }
    let local = |run: &Value| run["locality"]["node"].as_u64().unwrap();
    assert!(local(&reported[2]) > local(&reported[1]) + 50, "delay scheduling brings locality");
    let text =
        dir.ok(&["replay", "T", "--assume", "--out", "R", "--policy", "delay:D=1|2", "--policy", "fifo", "--resume"]);
    assert!(text.contains("delay:D=1 ") && text.contains("delay:D=2 "), "{text}");
    assert!(text.lines().any(|line| line.contains("fifo") && line.ends_with("kept")), "{text}");
}

#[test]
fn report_writes_what_is_asked_for() {
    let dir = Dir::with_sample();
    dir.ok(&["replay", "T", "--assume", "--out", "R", "--policy", "fifo", "--policy", "fair"]);
    for (format, endings) in [("png", "png"), ("svg", "svg"), ("html", "html"), ("tables", "parquet")] {
        dir.ok(&["report", "R", "T", "--out", "P", "--format", format]);
        let files: Vec<String> = dir.tree("P").keys().map(|path| path.display().to_string()).collect();
        let of_format = files.iter().filter(|file| file.ends_with(&format!(".{endings}"))).count();
        // report.json, and summary.csv and timelines.csv with the tables.
        let more = if format == "tables" { 3 } else { 1 };
        assert!(of_format > 0 && of_format + more == files.len(), "{format}: {files:?}");
    }
    dir.ok(&["report", "R", "T", "--out", "P", "--format", "notebook"]);
    let files: Vec<String> = dir.tree("P").keys().map(|path| path.display().to_string()).collect();
    let expected = [
        "blame.parquet",
        "jobs.parquet",
        "phases.parquet",
        "report.ipynb",
        "report.json",
        "summary.csv",
        "timelines.csv",
    ];
    assert_eq!(files, expected, "it reads the tables");
    let list: Value = serde_json::from_str(&dir.read("P/report.json")).unwrap();
    let labels: Vec<&Value> = list["runs"].as_array().unwrap().iter().map(|run| &run["label"]).collect();
    assert_eq!(labels, ["fifo", "fair", "observed"], "in the order of replay");
    assert_eq!(list["baseline"], "fifo");
    let printed = dir.ok(&["report", "R/fifo", "--out", "P"]);
    let files: Vec<&str> = printed.lines().skip_while(|line| !line.starts_with("P/")).collect();
    assert!(printed.starts_with("Under fifo, 15 jobs complete in") && files.len() > 10, "{printed}");
    for file in files {
        assert!(dir.path(file).metadata().unwrap().len() > 100, "{file}");
    }
    let svg = dir.read("P/running_tasks.svg");
    assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{}", &svg[..80]);
    assert!(std::fs::read(dir.path("P/running_tasks.png")).unwrap().starts_with(b"\x89PNG"));
    let notebook: Value = serde_json::from_str(&dir.read("P/report.ipynb")).unwrap();
    assert!(notebook["cells"].as_array().unwrap().len() > 3);
}

#[test]
fn workloads_are_generated_and_replayed() {
    let dir = Dir::new();
    let workload = repository("traces/coupling-table3.toml");
    let printed = dir.ok(&["generate", &workload, "--out", "W"]);
    assert!(printed.starts_with("W: 10 jobs, "), "{printed}");
    let found = dir.json(&["inspect", "W", "--json"]);
    assert_eq!((&found["jobs"], &found["nodes"], &found["time_zero"]), (&json!(10), &json!(15), &json!("relative")));
    assert!(found["made"].as_object().unwrap().contains_key("jobs.submit"));
    let replay = |trace: &str, out: &str| {
        let mut run = dir.json(&["replay", trace, "--assume", "--policy", "fifo", "--out", out, "--json"]);
        run["wall_ms"] = Value::Null;
        run
    };
    assert_eq!(replay(&workload, "A"), replay("W", "B"), "a workload replays as the trace that it generates");
    assert_eq!(
        dir.tree("A").keys().filter(|path| path.components().count() == 1).count(),
        2,
        "only the run and runs.json are left"
    );
}

#[test]
fn policies_are_listed_with_their_parameters() {
    let dir = Dir::new();
    let all = dir.json(&["policies", "--json"]);
    let all = all.as_array().unwrap();
    let names = |role: &str| -> Vec<&str> {
        let mut names: Vec<&str> =
            all.iter().filter(|policy| policy["role"] == role).map(|policy| policy["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        names
    };
    let mut expected = POLICIES.clone();
    expected.extend(resched_policies::policies_of(resched_policies::Family::Batch).map(|info| info.name));
    expected.sort_unstable();
    assert_eq!(names("policy"), expected);
    assert!(names("speculator").contains(&"late"));
    for policy in all {
        assert_eq!(fields(policy), ["family", "name", "oracle", "parameters", "role", "source", "title"]);
        for parameter in policy["parameters"].as_array().unwrap() {
            assert_eq!(fields(parameter), ["default", "hadoop", "key", "meaning", "range", "unit"]);
        }
    }
    let delay = dir.json(&["policies", "delay", "--json"]);
    assert_eq!(Some(&delay[0]), all.iter().find(|policy| policy["name"] == "delay"));
    assert_eq!(dir.json(&["policies", "delay:D=3", "--json"]), delay);
    let text = dir.ok(&["policies", "fifo+late"]);
    assert!(text.starts_with("fifo\n") && text.contains("…+late\n") && text.contains("slow_task"), "{text}");
    assert_eq!(dir.ok(&["policies", "late"]).lines().next(), Some("…+late"));
}

#[test]
fn policies_are_reported_in_words_by_family() {
    let dir = Dir::new();
    let text = dir.ok(&["policies"]);
    let line =
        |wanted: &str| text.lines().position(|line| line == wanted).unwrap_or_else(|| panic!("{wanted}\n{text}"));
    let (mapreduce, published) = (line("Hadoop MapReduce 1"), line("Published algorithms"));
    let listed = |name: &str| text.lines().position(|line| line.starts_with(&format!("  {name} "))).unwrap();
    assert!(mapreduce < listed("fair") && listed("fair") < published && published < listed("delay"));
    assert!(text.lines().count() <= 40, "it fits one screen: {text}");
    let all = dir.ok(&["policies", "--all"]);
    assert!(all.starts_with(&text), "the overview first: {all}");
    assert!(POLICIES.iter().all(|name| all[text.len()..].lines().any(|line| line == *name)), "each in full");
    let longest = all.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest <= 180, "a line of {longest} characters");

    let delay = dir.ok(&["policies", "delay"]);
    let expected = [
        "delay",
        "  Fair sharing with delay scheduling, by skip count",
        "  source: Delay Scheduling, Algorithm 2",
        "   parameter    default  range           unit        meaning",
        "   D            24       0..1000000000   heartbeats  skips after which a job may launch elsewhere; 0: naive fair \
         sharing",
    ];
    assert_eq!(delay.lines().take(5).collect::<Vec<_>>(), expected);
    assert!(!delay.contains("--site-conf"), "no property of Hadoop sets its parameters");
    let fair = dir.ok(&["policies", "fair"]);
    let row = fair.lines().find(|line| line.ends_with(" mapred.fairscheduler.preemption"));
    assert!(row.is_some_and(|row| row.trim().starts_with("preemption ")), "{fair}");
    assert!(dir.ok(&["policies", "naive-fair"]).ends_with("  no parameters\n"));
}

#[test]
fn a_policy_with_wrong_words_is_reported_the_right_ones() {
    let dir = Dir::new();
    for (name, parts) in [
        ("fare", &["unknown policy `fare`; did you mean `fair`?"][..]),
        ("fair:preempt=true", &["no parameter `preempt`; did you mean `preemption`?"]),
        ("fair:pools=users", &["pools: expected user|queue, found `users`; did you mean `user`?"]),
        ("delay:D=many", &["D: expected 0..1000000000, found `many`"]),
    ] {
        dir.run(&["policies", name]).fails(2, parts);
    }
}

#[test]
fn demo_goes_all_the_way_and_again() {
    let dir = Dir::new();
    for _ in 0..2 {
        let printed = dir.ok(&["demo"]);
        assert!(printed.contains("15 jobs, 231 tasks") && printed.contains("reports/demo/report.html"), "{printed}");
        assert!(printed.lines().count() <= 40, "it fits one screen: {printed}");
    }
    let page = dir.read("reports/demo/report.html");
    for policy in ["fifo", "naive-fair", "delay:D=12", "fair"] {
        assert!(page.contains(policy), "{policy}");
    }
    let mut left: Vec<String> = dir.tree("reports").keys().map(|path| path.display().to_string()).collect();
    left.retain(|path| !path.starts_with("demo/") && !path.starts_with("demo-data/"));
    assert_eq!(left, ["demo", "demo-data"]);
    dir.ok(&["demo", "--out", "elsewhere/"]);
    assert!(dir.path("elsewhere/report.html").is_file() && dir.path("elsewhere-data/runs/fifo").is_dir());
}

#[test]
fn help_reports_every_flag() {
    let dir = Dir::new();
    for (command, flags) in [
        ("ingest", "<PATH> --out --split --format --counters --tasks --seed"),
        ("inspect", "<TRACE> --json"),
        (
            "replay",
            "<TRACE|WORKLOAD.toml> --policy --cluster --site-conf --nodes --slots --cores --memory --seed --out --threads --resume --json",
        ),
        ("report", "<RUN> --out --format"),
        ("validate", "<TRACE> --policy --cluster --site-conf --nodes --slots --seed --seeds --json"),
        (
            "size",
            "<TRACE|WORKLOAD.toml> --policy --metric --below --above --vary --from --to --seeds --cluster --site-conf --json",
        ),
        ("calibrate", "<TRACE> --out --site-conf --json"),
        ("generate", "<WORKLOAD> --out --seed"),
        ("policies", "[NAME] --json"),
        ("demo", "--out"),
    ] {
        let help = dir.ok(&[command, "--help"]);
        for flag in flags.split(' ') {
            let line = help.lines().position(|line| line.trim_start().contains(flag) && line.starts_with("  "));
            let line = line.unwrap_or_else(|| panic!("{command}: {flag} is missing in\n{help}"));
            let reported =
                help.lines().skip(line).take(2).any(|line| line.split("  ").filter(|part| part.len() > 8).count() > 0);
            assert!(reported, "{command}: {flag} is not explained in\n{help}");
        }
        assert!(dir.ok(&["--help"]).contains(&format!("  {command}")), "{command}");
    }
    assert!(dir.ok(&["--version"]).starts_with("resched "));
    assert!(dir.tree("").is_empty());
}

#[test]
fn a_run_keeps_what_its_policy_decided_if_it_is_asked_to() {
    let dir = Dir::with_sample();
    let replay = ["replay", "T", "--assume", "--policy", "dress", "--policy", "fifo", "--json"];
    dir.ok(&[replay.as_slice(), &["--out", "plain"]].concat());
    assert!(!dir.path("plain/dress/decisions.parquet").exists());
    dir.ok(&[replay.as_slice(), &["--out", "kept", "--decisions"]].concat());
    let rows = |run: &str| -> Value {
        let info: Value = serde_json::from_str(&dir.read(&format!("{run}/run.json"))).unwrap();
        info["rows"]["decisions"].clone()
    };
    // The category of each of the 15 jobs, and each move of δ.
    assert!(rows("kept/dress").as_u64() > Some(15), "{}", rows("kept/dress"));
    assert_eq!((rows("kept/fifo"), rows("plain/dress")), (json!(0), Value::Null));
    // The request asks for decisions, so a run without them is replayed again.
    let kept = |out: &str| dir.ok(&[replay.as_slice(), &["--out", out, "--decisions", "--resume"]].concat());
    assert!(kept("kept").lines().all(|line| line.contains("\"wall_ms\":null")));
    assert!(kept("plain").lines().all(|line| !line.contains("\"wall_ms\":null")));
    dir.ok(&["report", "kept/dress", "kept/fifo", "--out", "with", "--format", "svg"]);
    dir.ok(&["report", "kept/fifo", "--out", "without", "--format", "svg"]);
    assert!(dir.path("with/delta.svg").is_file() && !dir.path("without/delta.svg").exists());
}

/// What a user quotes in a report. Nothing that resched writes depends on it.
#[test]
fn the_long_version_names_commit_features_and_target() {
    let dir = Dir::new();
    let (short, long) = (dir.ok(&["-V"]), dir.ok(&["--version"]));
    assert_eq!(short.trim(), concat!("resched ", env!("CARGO_PKG_VERSION")));
    let (version, build) = long.trim().split_once(" (").unwrap();
    assert_eq!(version, short.trim());
    let parts: Vec<&str> = build.trim_end_matches(')').split(", ").collect();
    let [commit, "avro papers s3", target, "debug" | "release"] = parts[..] else { panic!("{long}") };
    assert!(commit == "unknown commit" || commit.chars().all(|c| c.is_ascii_hexdigit()), "{long}");
    assert!(target.contains('-'), "{long}");
}
