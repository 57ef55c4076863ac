//! What a source does not say stays unknown: waits, times of damaged attempts, machines, units, clusters.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::support::{Dir, shared};

/// A real run of Slurm under EASY.
const EASY: &str = "truth/slurm/easy/pool.swf";
/// A real job of ten maps.
const JOB: &str = "traces/hadoop-common-2014/hs/job_1329348432655_0001-1329348443227-user-Sleep+job-1329348468601-10-1-SUCCEEDED-default.jhist";

/// The log of [`EASY`] without its waits.
fn without_waits() -> Option<String> {
    let text = fs::read_to_string(shared(EASY)?).unwrap();
    let mut all = String::new();
    for line in text.lines() {
        let mut fields: Vec<&str> = line.split_whitespace().collect();
        match fields.get_mut(2) {
            Some(wait) if !line.starts_with(';') => *wait = "-1",
            _ => fields = vec![line],
        }
        writeln!(all, "{}", fields.join(" ")).unwrap();
    }
    Some(all)
}

/// The facts of a replay: what each is about, its grade and what it says.
fn facts(dir: &Dir, args: &[&str]) -> Vec<(String, String, String)> {
    let reported = dir.ok(&[args, &["--json"]].concat());
    let run: Value = serde_json::from_str(reported.lines().next().unwrap()).unwrap();
    let text = |fact: &Value, key: &str| fact[key].as_str().unwrap().to_owned();
    let facts = run["validity"].as_array().unwrap().iter();
    facts.map(|fact| (text(fact, "about"), text(fact, "grade"), text(fact, "says"))).collect()
}

/// Whether a fact of that grade is about something and says these words.
fn has(facts: &[(String, String, String)], about: &str, grade: &str, words: &str) -> bool {
    facts.iter().any(|fact| fact.0 == about && fact.1 == grade && fact.2.contains(words))
}

/// Without waits there is nothing observed, but run times are known, so a replay is as with them.
#[test]
fn a_log_without_waits_has_no_observed_starts() {
    let Some(text) = without_waits() else { return };
    let dir = Dir::new();
    dir.write("none.swf", &text);
    dir.ok(&["ingest", "none.swf", "--out", "T"]);
    dir.ok(&["ingest", &shared(EASY).unwrap(), "--out", "O"]);
    let completion = |trace: &str| {
        let reported = dir.ok(&["replay", trace, "--policy", "easy", "--out", "R", "--json"]);
        let run: Value = serde_json::from_str(reported.lines().next().unwrap()).unwrap();
        run["mean_completion_ms"].as_f64().unwrap()
    };
    // The last replay stays: the report below is of T.
    assert_eq!(completion("O"), completion("T"));
    let nothing = ["T: the trace holds no observed attempts"];
    dir.run(&["validate", "T"]).fails(2, &nothing);
    dir.run(&["report", "T", "R", "--out", "P"]).fails(2, &nothing);
    dir.run(&["calibrate", "T", "--out", "C.toml"]).fails(2, &nothing);
    assert!(dir.ok(&["explain", "T"]).contains("No job has a known completion time"));
    let inspection = dir.json(&["inspect", "T", "--json"]);
    assert_eq!((&inspection["max_finish"], &inspection["made"]), (&Value::Null, &json!({})));
    dir.ok(&["export", "T", "--format", "swf", "--out", "back.swf"]);
    let rows =
        |text: &str| -> Vec<String> { text.lines().filter(|line| !line.starts_with(';')).map(str::to_owned).collect() };
    assert_eq!(rows(&dir.read("back.swf")), rows(&text));
}

/// A start that is damaged comes from the task, and is counted; if the task lacks it too, nobody knows what ran.
#[test]
fn a_damaged_start_comes_from_the_task_or_is_unknown() {
    let Some(path) = shared(JOB) else { return };
    let text = fs::read_to_string(path).unwrap();
    let damaged = |kinds: &[&str]| -> String {
        let is_hit = |line: &&str| line.contains("_m_000003") && kinds.iter().any(|kind| line.contains(kind));
        let damage = |line: &str| line.replace("\"startTime\":", "\"startTimX\":");
        text.lines().map(|line| if is_hit(&line) { damage(line) } else { line.to_owned() } + "\n").collect()
    };
    let dir = Dir::new();
    dir.write("attempt.jhist", damaged(&["MAP_ATTEMPT_STARTED"]));
    dir.write("both.jhist", damaged(&["MAP_ATTEMPT_STARTED", "\"TASK_STARTED\""]));
    dir.ok(&["ingest", "attempt.jhist", "--out", "A"]);
    let inspection = dir.json(&["inspect", "A", "--json"]);
    assert_eq!(inspection["made"], json!({"attempts.start": "times-of-task"}));
    assert_eq!(inspection["made_rows"], json!({"attempts.start": 1}));
    assert_eq!(inspection["oddities"].get("attempt-without-start"), None);
    let replay = ["replay", "A", "--policy", "fifo", "--slots", "9+9", "--out", "R"];
    assert!(has(&facts(&dir, &replay), "waiting", "assumed", "`times-of-task` for 7.7 % of the rows"));
    dir.ok(&["ingest", "both.jhist", "--out", "B"]);
    assert_eq!(dir.json(&["inspect", "B", "--json"])["oddities"]["attempt-without-start"], 1);
    let replay = ["replay", "B", "--policy", "fifo", "--slots", "9+9", "--out", "R2"];
    assert!(has(&facts(&dir, &replay), "run-times", "assumed", "no run time for 8.3 % of the tasks"));
    let reported = dir.ok(&["explain", "B"]);
    assert!(reported.contains("the log does not show what ran") && !reported.contains("cleaned up"), "{reported}");
}

/// Machines, places and tasks that rules made are said to be made.
#[test]
fn what_swim_does_not_give_is_said_to_be_made() {
    let Some(swim) = shared("traces/swim/FB-2009_samples_24_times_1hr_0_first50jobs.tsv") else { return };
    let dir = Dir::new();
    dir.ok(&["ingest", &swim, "--out", "T"]);
    let found = facts(&dir, &["replay", "T", "--policy", "fifo", "--slots", "4+2", "--out", "R"]);
    assert!(
        has(&found, "capacity", "assumed", "The machines and their racks are not those of the cluster"),
        "{found:?}"
    );
    assert!(has(&found, "placement", "assumed", "all numbers of locality depend on the draw"), "{found:?}");
    assert!(has(&found, "run-times", "assumed", "made by the rule `synthesiser`"), "{found:?}");
    assert!(!found.iter().any(|fact| fact.2.contains("all 600 nodes are given")), "{found:?}");
}

/// Amounts that are shares have a unit, and tasks that fit on no machine decide the grade.
#[test]
fn shares_of_the_largest_machine_have_a_unit() {
    let dir = crate::trust::without_sizes();
    dir.run(&["replay", "T", "--policy", "fifo", "--out", "R"])
        .fails(2, &["shares of the largest machine", "1,000 cores"]);
    assert!(dir.ok(&["inspect", "T"]).contains("unit: shares of the largest machine"));
    assert_eq!(dir.json(&["inspect", "T", "--json"])["amounts"], "of-largest");
    // Two jobs ask for half a core and more of machines with a tenth.
    let dir = Dir::new();
    dir.write("l.swf", "; MaxNodes: 4\n; MaxProcs: 4\n1 0 0 9 2 -1 -1 2 -1 -1 1 1 -1 -1 1 -1 -1 -1\n2 1 0 9 8 -1 -1 8 -1 -1 1 1 -1 -1 1 -1 -1 -1\n");
    dir.ok(&["ingest", "l.swf", "--out", "T"]);
    let found = facts(&dir, &["replay", "T", "--policy", "fifo", "--out", "R"]);
    let never = |says: &str| has(&found, "never-start", "not-answerable", says);
    assert!(never("1 of 2 tasks fit on no machine and are left out") && never("1 of 2 jobs"), "{found:?}");
}

/// What a replay held is written, so that the same replay of the export waits as long.
#[test]
fn an_exported_run_replays_as_it_ran() {
    let Some(log) = shared(EASY) else { return };
    let dir = Dir::new();
    dir.ok(&["ingest", &log, "--out", "T"]);
    let mean = |trace: &str, out: &str| {
        let reported = dir.ok(&["replay", trace, "--policy", "easy", "--out", out, "--json"]);
        let run: Value = serde_json::from_str(reported.lines().next().unwrap()).unwrap();
        (run["completion_ms"]["mean"].clone(), run["waiting_ms"]["mean"].clone())
    };
    let first = mean("T", "R");
    dir.ok(&["export", "R/easy", "--format", "swf", "--out", "easy.swf"]);
    dir.ok(&["ingest", "easy.swf", "--out", "T2"]);
    assert_eq!(mean("T2", "R2"), first);
}

/// What `scale` changes is said, and nothing at other times took place.
#[test]
fn a_scaled_trace_has_no_observed_waits_and_says_what_it_is() {
    let dir = Dir::with_sample();
    dir.ok(&["scale", "T", "--time", "0.5", "--out", "busy"]);
    dir.run(&["validate", "busy", "--assume"])
        .fails(2, &["busy: the trace holds no observed attempts", "scaled-times"]);
    dir.run(&["report", "busy", "--out", "P"]).fails(2, &["expected an observed trace", "scaled-times"]);
    let replay = |trace: &str| {
        facts(&dir, &["replay", trace, "--policy", "fifo", "--slots", "2+1", "--out", &format!("R-{trace}")])
    };
    let found = replay("busy");
    assert!(
        has(&found, "load", "assumed", "`scaled-times`") && has(&found, "waiting", "assumed", "not observed"),
        "{found:?}"
    );
    dir.ok(&["scale", "T", "--jobs", "0.5", "--out", "half"]);
    dir.ok(&["scale", "half", "--jobs", "0.5", "--nodes", "0.5", "--out", "quarter"]);
    let found = replay("quarter");
    assert!(has(&found, "load", "assumed", "is a sample of 25.0 % of the jobs"), "{found:?}");
    assert!(has(&found, "capacity", "assumed", "has a sample of 50.0 % of the machines"), "{found:?}");
    let whole = replay("T");
    assert!(!whole.iter().any(|fact| fact.0 == "load"), "{whole:?}");
}

/// A folder with the jobs of several clusters is refused for Hadoop and for Spark, unless you say that it is one.
#[test]
fn several_clusters_in_one_folder_are_refused() {
    let Some(traces) = shared("traces") else { return };
    let dir = Dir::new();
    let (histories, spark) = (format!("{traces}/hadoop-common-2014/hs"), format!("{traces}/spark/dr-elephant"));
    let ways = ["--split", "--merge"];
    dir.run(&["ingest", &histories, "--out", "T"]).fails(2, &[&ways[..], &["found those of 5"]].concat());
    assert!(dir.ok(&["ingest", &histories, "--merge", "--out", "T"]).contains("5 jobs"));
    dir.run(&["ingest", &format!("{traces}/spark/rapids-tools"), "--out", "T2"]).fails(2, &ways);
    // Two applications of one ResourceManager.
    dir.ok(&["ingest", &spark, "--out", "T3"]);
}

/// A trace is explained by what its system hands out.
#[test]
fn a_trace_is_explained_by_the_resources_of_its_system() {
    let Some(traces) = shared("traces") else { return };
    let dir = Dir::new();
    for (source, system, phase, others) in [
        ("hadoop-mapreduce-2011/gridmix/trace_1m.json.gz", "mapreduce-1", "map-slot", &["resources", "container"][..]),
        (JOB.trim_start_matches("traces/"), "yarn", "container", &["map-slot", "reduce-slot", "resources"]),
        ("spark/dr-elephant/event_log_1", "spark", "resources", &["map-slot", "reduce-slot", "container"]),
    ] {
        dir.ok(&["ingest", &format!("{traces}/{source}"), "--out", "T"]);
        assert_eq!(dir.json(&["inspect", "T", "--json"])["system"], system);
        let explanation = dir.json(&["explain", "T", "--json"]);
        let phases: Vec<&str> =
            explanation["phases"].as_array().unwrap().iter().map(|row| row["phase"].as_str().unwrap()).collect();
        assert!(phases.contains(&phase) && others.iter().all(|other| !phases.contains(other)), "{source}: {phases:?}");
        let blamed = explanation["blame"].as_array().unwrap().iter().any(|row| row["holder"] == "job");
        assert!(blamed, "{source}: somebody held what others waited for");
    }
}

/// What `calibrate` writes of a history of YARN is enough for `validate`.
#[test]
fn a_calibrated_history_of_yarn_needs_no_more() {
    let Some(history) = shared("traces/dr-elephant/history") else { return };
    let dir = Dir::new();
    dir.ok(&["ingest", &history, "--out", "T"]);
    dir.ok(&["calibrate", "T", "--out", "C.toml"]);
    dir.ok(&["validate", "T", "--cluster", "C.toml"]);
    dir.ok(&["validate", "T", "--cluster", "C.toml", "--policy", "yarn-fair"]);
}

/// Nodes that are smaller than what ran on them make a what-if.
#[test]
fn fewer_slots_than_the_trace_used_are_a_what_if() {
    let dir = Dir::with_sample();
    let replay = |slots: &str| facts(&dir, &["replay", "T", "--policy", "fifo", "--slots", slots, "--out", "R"]);
    assert!(has(
        &replay("1+1"),
        "slots",
        "assumed",
        "The trace ran up to 2 maps at once on a node, but this cluster offers only 1."
    ));
    assert!(!replay("2+1").iter().any(|fact| fact.2.contains("at once on a node")));
}

/// Values, JSON and names of files that were left out.
#[test]
fn amounts_have_units_and_files_have_names() {
    let dir = Dir::with_sample();
    dir.write("l.swf", "; MaxNodes: 1\n; MaxProcs: 4\n1 0 0 9 2 -1 -1 2 -1 -1 1 1 -1 -1 1 -1 -1 -1\n");
    dir.write("logs/a.txt", "neither a history nor a log\n");
    dir.write("logs/l.swf", dir.read("l.swf"));
    let written = dir.json(&["ingest", "logs", "--out", "L", "--json"]);
    assert_eq!((&written["rows"]["jobs"], &written["system"]), (&json!(1), &json!("batch")));
    assert!(dir.ok(&["inspect", "L"]).contains("not recognised: logs/a.txt"));
    let world = ["replay", "L", "--policy", "fifo", "--nodes", "1", "--cores", "4", "--out", "R", "--memory"];
    for memory in ["64GiB", "64 GiB", "68719476736"] {
        dir.ok(&[&world[..], &[memory]].concat());
        let info: Value = serde_json::from_str(&dir.read("R/batch-fifo/run.json")).unwrap();
        assert_eq!(info["cluster"]["memory_mb"], 65_536, "{memory}");
    }
    dir.run(&[&world[..], &["64 apples"]].concat()).fails(2, &["--memory"]);
    let scaled = dir.json(&["scale", "L", "--out", "L2", "--json"]);
    assert_eq!(scaled["rows"], written["rows"]);
    let exported = dir.json(&["export", "L", "--format", "swf", "--out", "x.swf", "--json"]);
    assert_eq!(exported["written"], 1);
    assert!(dir.ok(&["export", "L", "--format", "swf", "--out", "y.swf"]).starts_with("y.swf: 1 job\n"));
    let completions = dir.ok(&["completions", "bash"]);
    assert!(completions.contains("naive-fair") && completions.contains("yarn-capacity"), "policies are completed");
    assert!(!dir.ok(&["replay", "--help"]).contains("possible values: fifo"));
}
