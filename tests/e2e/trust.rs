//! What a decision may rest on: an answer says what it assumed, and a question that the data cannot answer is not answered.

use resched_tables::engine::RunEngine;
use resched_tables::store::{Amounts, Source, TraceParts, TraceWriter};
use serde_json::{Value, json};

use crate::support::{Dir, assert_same, shared};

/// The JSON objects that a command prints, one a line.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn grades(of: &Value) -> Vec<(&str, &str)> {
    let facts = of["validity"].as_array().unwrap();
    facts.iter().map(|fact| (fact["about"].as_str().unwrap(), fact["grade"].as_str().unwrap())).collect()
}

fn report(dir: &Dir, name: &str) -> Value {
    serde_json::from_str(&dir.read(&format!("{name}/report.json"))).unwrap()
}

/// The sample's history does not say how many slots a node has.
#[test]
fn slots_that_nobody_gives_are_asked_for() {
    let dir = Dir::with_sample();
    let remedies = ["--slots", "--cluster", "calibrate", "--site-conf", "--assume"];
    for args in [
        &["replay", "T", "--policy", "fifo", "--out", "R"][..],
        &["validate", "T", "--policy", "fifo"],
        &["size", "T", "--policy", "fifo", "--metric", "makespan", "--below", "1h"],
    ] {
        dir.run(args).fails(2, &remedies);
    }
    dir.write("s.toml", "name = \"s\"\ntrace = \"T\"\n[variants.fifo]\n");
    dir.run(&["sweep", "s.toml", "--out", "S"]).fails(2, &["slots", "assume = true"]);

    let replay = |more: &[&str]| {
        lines(&dir.ok(&[&["replay", "T", "--policy", "fifo", "--out", "R", "--json"], more].concat())).remove(0)
    };
    let (given, assumed) = (replay(&["--slots", "3+2"]), replay(&["--assume"]));
    assert!(grades(&given).contains(&("slots", "measured")), "{given}");
    assert!(grades(&assumed).contains(&("slots", "assumed")) && assumed["grade"] == "assumed", "{assumed}");
    let reported = dir.ok(&["replay", "T", "--policy", "fifo", "--out", "R", "--assume"]);
    assert!(
        reported.contains("This answer rests on assumptions.") && reported.contains("2 + 2 slots each"),
        "{reported}"
    );
    let info: Value = serde_json::from_str(&dir.read("R/fifo/run.json")).unwrap();
    assert!(grades(&info).contains(&("slots", "assumed")), "{info}");
    // YARN needs other sizes, which slots do not give.
    dir.run(&["replay", "T", "--policy", "yarn-fifo", "--slots", "3+2", "--out", "R"])
        .fails(2, &["memory", "--assume"]);
    // Only slots that some task needs are asked for, so what `calibrate` finds is enough.
    dir.ok(&["calibrate", "T", "--out", "C.toml"]);
    dir.ok(&["validate", "T", "--policy", "fifo", "--cluster", "C.toml"]);
}

/// A trace in Google's units whose machines have no size: two jobs of one task on a machine.
pub(crate) fn without_sizes() -> Dir {
    let dir = Dir::new();
    let mut writer = TraceWriter::create(dir.path("T")).unwrap();
    for record in [crate::production::job(1, "a", 0, 10, 1), crate::production::job(2, "b", 1, 10, 1)] {
        writer.job(&record).unwrap();
    }
    writer.node(&resched_tables::model::NodeRow { host: "m".to_owned(), ..Default::default() }).unwrap();
    let source = Source { format: "google-2011".to_owned(), ..Source::default() };
    let amounts = Amounts::OfLargest;
    writer
        .finish(TraceParts { engine: RunEngine::Batch, sources: vec![source], amounts, ..TraceParts::default() })
        .unwrap();
    dir
}

/// Nobody waits on machines that are as large as the largest of Google's: no policy is better there, and no test says so.
#[test]
fn where_no_task_waits_nothing_is_tested() {
    let dir = without_sizes();
    let replay = ["replay", "T", "--policy", "fifo", "--policy", "fair", "--out", "R"];
    dir.run(&replay).fails(2, &["machine_events", "--nodes", "--assume"]);
    let reported = dir.ok(&[&replay[..], &["--assume"]].concat());
    for part in ["cannot answer", "No task waited: these policies cannot differ here."] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let info: Value = serde_json::from_str(&dir.read("R/batch-fifo/run.json")).unwrap();
    assert_eq!(info["cluster"]["of_largest"], json!([1_000, 1_000]), "one machine, not a million vcores: {info}");
    assert_eq!(info["cluster"].get("vcores"), None);
    dir.ok(&["report", "R", "--out", "P"]);
    let report = report(&dir, "P");
    assert_eq!(report["validity"]["grade"], "not-answerable", "{report:#}");
    let text = report.to_string();
    assert!(!text.contains("\"p\":0") && !text.contains("\"p\":1"), "a test without an answer: {text}");
    let page = dir.read("P/report.html");
    assert!(page.contains("cannot answer") && page.contains("cannot differ here"));
}

/// One trace has one makespan, whoever prints it.
#[test]
fn one_trace_has_one_makespan() {
    let dir = Dir::with_sample();
    let world = ["--slots", "2+2", "--json"];
    let replayed = lines(&dir.ok(&[&["replay", "T", "--policy", "fifo", "--out", "R"], &world[..]].concat())).remove(0);
    let validated = lines(&dir.ok(&[&["validate", "T", "--policy", "fifo"], &world[..]].concat())).remove(0);
    dir.ok(&["report", "T", "R", "--out", "P"]);
    let report = report(&dir, "P");
    let of_run = |number: usize| report["runs"][number]["makespan_ms"].clone();
    let errors = &validated["replays"][0]["makespan"];
    // What really ran comes last, and is no policy.
    assert_eq!(of_run(0), replayed["makespan_ms"]);
    assert_eq!(errors["replayed_ms"], replayed["makespan_ms"]);
    assert_eq!(errors["observed_ms"], of_run(1));
}

/// What a trace cannot have is absent, and a comparison of no jobs has no result.
#[test]
fn what_does_not_apply_is_not_a_number() {
    let dir = without_sizes();
    dir.ok(&["replay", "T", "--policy", "fifo", "--assume", "--out", "R", "--seed", "2"]);
    let reported = dir.ok(&["replay", "T", "--policy", "fifo", "--assume", "--out", "R"]);
    assert!(!reported.contains("starvation") && !reported.contains("rack"), "{reported}");
    let sample = Dir::with_sample();
    sample.ok(&["replay", "T", "--policy", "fifo", "--assume", "--out", "R"]);
    let other = sample.path("R/fifo").display().to_string();
    dir.run(&["report", "R", &other, "--out", "P"]).fails(2, &["expected runs of one trace", "T ("]);
}

/// Waiting has no lower bound, so no mean of ratios of it is given; the ratio of means comes first.
#[test]
fn the_mean_of_ratios_is_given_where_its_denominator_cannot_vanish() {
    let dir = Dir::with_sample();
    dir.ok(&["replay", "T", "--policy", "fifo", "--policy", "fair", "--slots", "2+2", "--out", "R"]);
    dir.ok(&["report", "R", "--out", "P"]);
    let report = report(&dir, "P");
    for compared in report["comparisons"].as_array().unwrap() {
        let waiting = compared["metric"].as_str().unwrap().contains("aiting");
        assert_eq!(compared["mean_of_ratios"].is_null(), waiting, "{compared:#}");
        assert!(!compared["ratio_of_means"].is_null(), "{compared:#}");
    }
}

/// The error of a validation is said beside every answer.
#[test]
fn the_error_of_a_validation_stands_beside_the_answer() {
    let dir = Dir::with_sample();
    let text = dir.ok(&["validate", "T", "--policy", "fifo", "--slots", "2+2", "--json"]);
    dir.write("V.json", text);
    let replay = ["replay", "T", "--policy", "fair", "--slots", "2+2", "--out", "R", "--json", "--validation"];
    let found = lines(&dir.ok(&[&replay[..], &["V.json"]].concat())).remove(0);
    let facts = found["validity"].as_array().unwrap();
    let said = facts.iter().find(|fact| fact["about"] == "validation").unwrap()["says"].as_str().unwrap();
    assert!(said.contains("under fifo") && said.contains('%'), "{said}");
    dir.write("W.json", "{\"policy\": 3}\n");
    dir.run(&[&replay[..], &["W.json"]].concat()).fails(2, &["W.json", "validate TRACE --json"]);
}

/// Capacities that are hidden are found, or the answer says that it cannot say. The sample ran with 2 map slots and 1 reduce slot a
/// node, which `traces/clusters/sample.toml` holds; Alibaba's sample names no machine that a task ran on.
#[test]
fn hidden_capacities_are_found_or_said_not_to_be() {
    let dir = Dir::with_sample();
    dir.ok(&["calibrate", "T", "--out", "C.toml"]);
    let found = dir.read("C.toml");
    let known = std::fs::read_to_string(crate::support::repository("traces/clusters/sample.toml")).unwrap();
    let number = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key)).map(str::to_owned);
        line.and_then(|line| line.split(['=', '#']).nth(1)?.trim().parse::<f64>().ok())
    };
    let cannot = found.contains("at_least = true");
    for key in ["map_slots", "reduce_slots"] {
        let (found, known) = (number(&found, key).unwrap(), number(&known, key).unwrap());
        assert!(cannot || (found / known - 1.0).abs() <= 0.1, "{key}: {found}, not {known}");
    }
    let Some(mumak) = crate::support::nineteen_jobs() else { return };
    mumak.ok(&["calibrate", "T", "--out", "C.toml"]);
    let found = mumak.read("C.toml");
    assert_eq!([number(&found, "map_slots"), number(&found, "reduce_slots")], [Some(2.0); 2], "as Hadoop replayed it");
    assert!(!found.contains("at_least = true"), "nine tenths of its 1,545 nodes were full");
    let Some(alibaba) = shared("traces/alibaba2018") else { return };
    let dir = Dir::new();
    dir.ok(&["ingest", &alibaba, "--out", "T"]);
    dir.run(&["calibrate", "T", "--out", "C.toml"]).fails(2, &["T", "no observed attempts"]);
}

/// Under YARN, the master of a job cleans up after the job has left the scheduler, for the usual time if the log has none. Other jobs
/// start meanwhile, which is no step back in time.
#[test]
fn a_check_knows_the_usual_time_of_a_clean_up() {
    let dir = Dir::new();
    dir.write(
        "w.toml",
        "name = \"w\"\n[cluster]\nnodes = 1\n[classes.c]\nmap_mean_s = 0.5\n[[jobs]]\nclass = \"c\"\nsubmit_s = 7.5\nmaps = 3\nrepeat = 2\n",
    );
    dir.write("c.toml", "[jobs]\ncleanup_time = 2000\n");
    let policies = ["fifo", "yarn-fifo", "yarn-fair", "yarn-capacity", "yarn-fifo+yarn-default"]
        .map(|policy| ["--policy", policy]);
    let args = [
        "replay",
        "w.toml",
        "--cluster",
        "c.toml",
        "--assume",
        "--check",
        "--robust",
        "off",
        "--seed",
        "680",
        "--out",
        "R",
    ];
    dir.ok(&[&args[..], policies.as_flattened()].concat());
}

/// The rules that always hold are checked, for both engines, and the check changes no result.
#[test]
fn a_check_passes_and_changes_nothing() {
    let dir = Dir::with_sample();
    let production = without_sizes();
    for (dir, policies) in [(&dir, ["fair", "coupling+late", "yarn-capacity"]), (&production, ["fifo", "easy", "drf"])]
    {
        let policies = policies.map(|policy| ["--policy", policy]);
        let replay = |out: &str, more: &[&str]| {
            let args = [&["replay", "T", "--assume", "--out", out], policies.as_flattened(), more].concat();
            dir.ok(&args);
        };
        replay("plain", &[]);
        replay("checked", &["--check"]);
        assert_same(&dir.tree("plain"), &dir.tree("checked"), "plain and checked");
    }
}
