//! What may be compared: what really ran is no policy, and runs of other traces or engines are refused.

use serde_json::Value;

use crate::support::{Dir, shared};

/// A log of `jobs` jobs, each of `cores` of 4 processors for 60 s, submitted every `gap` s after a wait of `wait` s.
fn swf(jobs: u64, cores: u64, gap: u64, wait: u64) -> String {
    let job = |job: u64| {
        let submit = job * gap;
        format!("{job} {submit} {wait} 60 {cores} -1 -1 {cores} 100 -1 1 {} 1 1 1 -1 -1 -1\n", job % 3)
    };
    "; MaxProcs: 4\n".to_owned() + &(1..=jobs).map(job).collect::<String>()
}

/// A folder with the traces of some logs.
fn with_logs(logs: &[(&str, String)]) -> Dir {
    let dir = Dir::new();
    for (name, text) in logs {
        dir.write(&format!("{name}.swf"), text);
        dir.ok(&["ingest", &format!("{name}.swf"), "--out", name]);
    }
    dir
}

fn report(dir: &Dir, name: &str) -> Value {
    serde_json::from_str(&dir.read(&format!("{name}/report.json"))).unwrap()
}

/// A real Slurm ran EASY. Its replay is no improvement of it, but an error of the model, and no test is about it.
/// The terminal and the page of the same runs give the same sentence about the sign, and neither calls a difference significant that the
/// log does not let it.
#[test]
fn the_terminal_and_the_page_say_the_same_of_the_sign() {
    let dir = Dir::with_sample();
    let terminal = dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--policy", "fair", "--out", "R"]);
    let sentence = terminal.lines().find(|line| line.contains("fair stays sooner than fifo")).unwrap();
    let sentence = sentence.trim().trim_start_matches("assumed: ").split(" The size of").next().unwrap();
    assert!(sentence.contains("for these jobs only") && sentence.contains("95 % interval"), "{sentence}");
    dir.ok(&["report", "R", "--out", "P"]);
    let page = dir.read("P/report.html");
    assert!(page.contains(sentence), "the page does not say: {sentence}");
    assert!(!page.contains("significantly") && !terminal.contains("significantly"));
}

#[test]
fn what_really_ran_is_no_policy() {
    let Some(log) = shared("truth/slurm/easy/pool.swf") else { return };
    let dir = Dir::new();
    dir.ok(&["ingest", &log, "--out", "T"]);
    dir.ok(&["replay", "T", "--policy", "easy", "--policy", "fifo", "--policy", "conservative", "--out", "R"]);
    let reported = dir.ok(&["report", "T", "R", "--out", "P"]);
    assert!(reported.starts_with("Over 130 jobs, ") && !reported.contains("significantly faster:"), "{reported}");
    assert!(!reported.contains("than observed") && reported.contains("Model error:"), "{reported}");
    let found = report(&dir, "P");
    assert_eq!(found["baseline"], "easy");
    for place in ["comparisons", "policies", "groups", "most_slowed"] {
        assert!(!found[place].to_string().contains("observed"), "{place}: {}", found[place]);
    }
    let errors = &found["model_error"]["policies"];
    let mean = errors[0]["quantities"]["mean_completion"]["relative"].as_f64().unwrap();
    assert!((-0.2..-0.1).contains(&mean), "{errors:#}");
    for quantity in ["median_completion", "p95_completion", "mean_waiting", "makespan"] {
        assert!(errors[0]["quantities"][quantity]["relative"].is_number(), "{quantity}: {errors:#}");
    }
    // conservative differs from easy by 1.7 %, and no replay is nearer to what ran than 13.7 %.
    assert_eq!(found["validity"]["grade"], "assumed");
    let facts = found["validity"]["facts"].to_string();
    assert!(facts.contains("as large as the difference between conservative and easy"), "{facts}");
    assert!(dir.read("P/summary.csv").contains("observed,observed,"), "it is there, and marked");
    assert!(dir.read("P/report.ipynb").contains("OBSERVED = \\\"observed\\\""));
    dir.run(&["report", "T", "R", "--out", "P", "--baseline", "observed"])
        .fails(2, &["--baseline", "not a policy", "easy, batch-fifo, conservative"]);
    let reported = dir.ok(&["diff", "T", "R/easy"]);
    assert!(reported.starts_with("Model error of easy:") && !reported.contains("get faster"), "{reported}");
    let diff = dir.json(&["diff", "T", "R/easy", "--json"]);
    assert_eq!((&diff["phases"], &diff["all"]["through"]), (&Value::Array(Vec::new()), &Value::Null));
    assert!(diff["model_error"]["quantities"]["mean_waiting"]["relative"].as_f64().unwrap() < -0.1, "{diff:#}");
    dir.run(&["diff", "R/easy", "T"]).fails(2, &["T: expected a run", "diff TRACE RUN"]);
    // With one replay, or a validation, the likely scheduler is known.
    dir.ok(&["report", "T", "R/easy", "--out", "Q"]);
    assert_eq!(report(&dir, "Q")["model_error"]["likely"], "easy");
    let validation = dir.ok(&["validate", "T", "--policy", "easy", "--json"]);
    dir.write("V.json", validation);
    dir.ok(&["report", "T", "R", "--out", "Q", "--validation", "V.json"]);
    let reported = dir.ok(&[
        "replay",
        "T",
        "--policy",
        "easy",
        "--policy",
        "conservative",
        "--validation",
        "V.json",
        "--out",
        "V",
    ]);
    let doubt = "at least as large as the difference between conservative and easy in mean completion (difference −1.7 %, error −13.7 %)";
    assert!(reported.contains(doubt), "{reported}");
    assert!(dir.ok(&["diff", "V/easy", "V/conservative"]).contains(doubt));
    assert_eq!(report(&dir, "Q")["model_error"]["likely"], "easy");
}

/// Attempts that a rule made are nothing that ran.
#[test]
fn a_made_trace_has_no_model_error() {
    let dir = Dir::new();
    let workload = crate::support::repository("traces/coupling-table3.toml");
    dir.ok(&["generate", &workload, "--out", "W"]);
    dir.ok(&["replay", "W", "--policy", "fifo", "--policy", "fair", "--out", "R"]);
    dir.run(&["report", "W", "R", "--out", "P"]).fails(2, &["W: expected an observed trace", "leave the trace out"]);
    // Seeds of a workload file are one trace, and so is the trace that it generates.
    for seed in ["1", "2"] {
        dir.ok(&["replay", &workload, "--policy", "fair", "--seed", seed, "--out", &format!("S{seed}")]);
    }
    dir.ok(&["report", "S1", "S2", "--out", "P", "--format", "tables"]);
    assert_eq!(report(&dir, "P")["policies"][0]["runs"], serde_json::json!([0, 1]));
    dir.ok(&["diff", "R/fifo", "S1/fair"]);
}

/// Jobs of two traces have the same ids, and nothing in common.
#[test]
fn runs_of_other_traces_and_engines_are_refused() {
    let dir = with_logs(&[("A", swf(20, 2, 30, 5)), ("B", swf(20, 4, 10, 5))]);
    for trace in ["A", "B"] {
        dir.ok(&["replay", trace, "--policy", "fifo", "--out", &format!("R{trace}")]);
    }
    let both = ["expected runs of one trace", "A (", "B ("];
    dir.run(&["report", "RA", "RB", "--out", "P"]).fails(2, &both);
    dir.run(&["diff", "RA/batch-fifo", "RB/batch-fifo"]).fails(2, &both);
    dir.run(&["report", "B", "RA", "--out", "P"]).fails(2, &both);
    dir.run(&["diff", "B", "RA"]).fails(2, &both);
    dir.run(&["report", "A", "B", "RA", "--out", "P"]).fails(2, &["expected one trace, found two"]);
    // What was made from a trace is another trace.
    dir.ok(&["scale", "A", "--time", "2", "--out", "S"]);
    dir.ok(&["replay", "S", "--policy", "fifo", "--out", "RS"]);
    dir.run(&["diff", "RA/batch-fifo", "RS/batch-fifo"]).fails(2, &["expected runs of one trace", "S ("]);
    let sample = Dir::with_sample();
    sample.ok(&[
        "replay",
        "T",
        "--policy",
        "fifo",
        "--policy",
        "batch-fifo",
        "--slots",
        "2+2",
        "--assume",
        "--out",
        "R",
    ]);
    let engines = ["expected runs of one engine", "(fifo)", "(batch-fifo)"];
    let info = sample.ok(&["replay", "T", "--policy", "fifo", "--policy", "yarn-fifo", "--assume", "--out", "Y"]);
    assert!(info.contains("yarn-fifo and fifo differ in cluster: ") && info.contains("containers in"), "{info}");
    sample.run(&["diff", "R/fifo", "R/batch-fifo"]).fails(2, &engines);
    sample.run(&["report", "R", "--out", "P"]).fails(2, &engines);
}

/// Another cluster, another rule for unfinished work or another seed is a question that may be asked. The answer names it.
#[test]
fn what_else_differs_is_named() {
    let dir = Dir::with_sample();
    for (out, slots, seed) in [("two", "2+2", "1"), ("four", "4+2", "1"), ("seed", "2+2", "2")] {
        dir.ok(&["replay", "T", "--policy", "fair", "--slots", slots, "--seed", seed, "--out", out]);
    }
    let reported = dir.ok(&["diff", "two/fair", "four/fair"]);
    for part in ["rules: nodes.map_slots 2 → 4", "cluster: total map slots 24 → 48", "four/fair: mean completion time"]
    {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let diff = dir.json(&["diff", "two/fair", "four/fair", "--json"]);
    assert_eq!(diff["differences"][1]["says"], "nodes.map_slots 2 → 4", "{diff:#}");
    assert!(diff["validity"].to_string().contains("nodes.map_slots 2 → 4"));
    let reported = dir.ok(&["report", "two", "four", "--out", "P"]);
    assert!(reported.contains("also differ in rules: nodes.map_slots 2 → 4"), "{reported}");
    assert!(dir.read("P/report.html").contains("id=\"differences\""));
    assert_eq!(report(&dir, "P")["differences"][1]["about"], "rules");
    let diff = dir.json(&["diff", "two/fair", "seed/fair", "--json"]);
    assert_eq!((&diff["differences"][0]["about"], &diff["grade"]), (&"seed".into(), &"assumed".into()));
    // Slots beside containers are two capacities.
    dir.ok(&["replay", "T", "--policy", "yarn-fair", "--assume", "--out", "yarn"]);
    let diff = dir.json(&["diff", "two/fair", "yarn/yarn-fair", "--json"]);
    let says = diff["differences"][0]["says"].as_str().unwrap();
    assert!(says.contains("24 map and 24 reduce slots → containers in") && diff["grade"] == "assumed", "{diff:#}");
    // Nothing in common is no answer.
    for (out, window) in [("first", "..+5m"), ("rest", "+5m..")] {
        dir.ok(&["replay", "T", "--policy", "fair", "--slots", "2+2", "--window", window, "--out", out]);
    }
    dir.run(&["diff", "first/fair", "rest/fair"]).fails(2, &["no job counts in both"]);
    dir.run(&["report", "first", "rest", "--out", "P"]).fails(2, &["no job counts in all"]);
}

/// The file is of this trace, and its error is that of the mean, which is compared.
#[test]
fn a_validation_is_of_this_trace_and_of_the_mean() {
    let dir = with_logs(&[("A", swf(20, 4, 30, 5)), ("B", swf(20, 4, 10, 5))]);
    let validation = dir.ok(&["validate", "A", "--policy", "fifo", "--json"]);
    dir.write("V.json", &validation);
    let found: Value = serde_json::from_str(&validation).unwrap();
    assert_eq!(found["trace"]["path"], "A");
    let mean = found["errors"]["mean_completion"].as_f64().unwrap();
    let quantity = &found["replays"][0]["quantities"]["mean_completion"];
    let ratio = quantity["replayed_ms"].as_f64().unwrap() / quantity["observed_ms"].as_f64().unwrap() - 1.0;
    assert!((mean - ratio).abs() < 1e-12 && mean > 0.5, "one job after the other, where all started at once: {mean}");
    let replay = |trace: &str, out: &str| {
        dir.run(&[
            "replay",
            trace,
            "--policy",
            "fifo",
            "--policy",
            "easy",
            "--validation",
            "V.json",
            "--out",
            out,
            "--json",
        ])
    };
    replay("B", "RB").fails(2, &["V.json", "expected a validation of B (", "found one of A ("]);
    let reported = replay("A", "RA");
    let line: Value = serde_json::from_str(reported.stdout.lines().next().unwrap()).unwrap();
    let fact = line["validity"].as_array().unwrap().iter().find(|fact| fact["about"] == "validation").unwrap();
    assert_eq!(fact["grade"], "assumed");
    let percent = format!("{:+.1} % in the mean completion time", 100.0 * mean);
    assert!(fact["says"].as_str().unwrap().contains(&percent), "{fact}");
    let text = dir.ok(&["validate", "A", "--policy", "fifo"]);
    for row in ["completion time: mean (observed → replayed)", "waiting time: mean", "p95"] {
        assert!(text.contains(row), "{row}: {text}");
    }
    // Another cluster is named.
    let other = [
        "replay",
        "A",
        "--policy",
        "fifo",
        "--nodes",
        "2",
        "--cores",
        "4",
        "--validation",
        "V.json",
        "--out",
        "R2",
        "--json",
    ];
    assert!(dir.ok(&other).contains("with other rules of the cluster"));
    dir.write("old.json", "{\"policy\":\"fifo\",\"errors\":{\"completion_median\":0.1}}\n");
    let old = ["replay", "A", "--policy", "fifo", "--validation", "old.json", "--out", "X"];
    dir.run(&old).fails(2, &["old.json", "does not name its trace"]);
}

/// The terminal has the headline, the grade with its facts, and why a chart is missing.
#[test]
fn grades_are_everywhere() {
    let dir = Dir::with_sample();
    dir.ok(&["replay", "T", "--policy", "fifo", "--policy", "fair", "--assume", "--out", "R"]);
    let assumed = "This answer rests on assumptions.";
    let reported = dir.ok(&["report", "R", "--out", "P", "--only", "gantt,seeds"]);
    for part in ["Over 15 jobs, ", assumed, "no chart `seeds`: no policy has several seeds"] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    for args in [&["diff", "R/fifo", "R/fair"][..], &["explain", "R/fair"], &["explain", "R/fair", "--top", "2"]] {
        let reported = dir.ok(args);
        assert!(reported.contains(assumed) && reported.contains("slots"), "{args:?}: {reported}");
        let found = dir.json(&[args, &["--json"]].concat());
        assert_eq!(found["grade"], "assumed", "{args:?}");
        assert!(found["validity"].to_string().contains("slots"), "{args:?}");
    }
    let reported = dir.ok(&["calibrate", "T", "--out", "C.toml"]);
    assert!(reported.contains(assumed) || reported.contains("Grade: measured."), "{reported}");
    let found = dir.json(&["calibrate", "T", "--out", "C.toml", "--json"]);
    assert!(found["grade"].is_string() && found["validity"].is_array(), "{found}");
    dir.write("log.swf", swf(5, 1, 30, 0));
    dir.ok(&["ingest", "log.swf", "--out", "L"]);
    assert!(dir.ok(&["explain", "L"]).contains("Grade: measured. Nothing that decides the answer had to be assumed."));
}

/// Jobs that were not even replayed are missing, too.
#[test]
fn all_jobs_are_those_of_the_trace() {
    let small = swf(20, 2, 30, 5);
    let large: String = swf(30, 4, 30, 5).lines().skip(21).map(|line| format!("{line}\n")).collect();
    let dir = with_logs(&[("A", small + &large)]);
    let line = dir.ok(&["replay", "A", "--policy", "fifo", "--nodes", "1", "--cores", "2", "--out", "R", "--json"]);
    let found: Value = serde_json::from_str(&line).unwrap();
    let facts = found["validity"].as_array().unwrap();
    let fact = facts.iter().find(|fact| fact["about"] == "population").unwrap_or_else(|| panic!("{found:#}"));
    let says = fact["says"].as_str().unwrap();
    assert!(says.contains("20 of 30 jobs of the trace count") && says.contains("not replayed"), "{says}");
    assert_eq!(fact["grade"], "assumed");
}
