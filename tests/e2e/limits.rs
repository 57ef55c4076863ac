//! Absurd requests are refused before work begins, and hostile texts stay texts.

use std::fs;
use std::process::Command;
use std::time::Duration;

use resched_tables::model::{AttemptRow, JobRow, Outcome, TaskKind};
use resched_tables::store::TableWriter;
use serde_json::{Value, json};

use crate::support::{Dir, Ran, assert_same, repository, shared};

/// The address space of a command (KiB): 4 GB, as on a small machine.
const MEMORY: u32 = 4_000_000;

/// Runs a command that may take 4 GB, and at most a minute.
fn limited(dir: &Dir, args: &[&str]) -> Ran {
    let script = format!("ulimit -v {MEMORY}; exec timeout 120 \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_resched")]).args(args).current_dir(dir.path(""));
    Ran::of(args, command.output().unwrap())
}

/// Runs a command that must be refused, and leave everything as it was.
fn refused(dir: &Dir, args: &[&str], parts: &[&str]) {
    let before = dir.tree("");
    limited(dir, args).fails(2, parts);
    assert_same(&before, &dir.tree(""), &format!("{args:?}"));
}

const SWEEP: &str = "name = \"s\"\nworkload = \"w.toml\"\n";

fn with_workload() -> Dir {
    let dir = Dir::new();
    dir.write("w.toml", fs::read(repository("traces/coupling-table3.toml")).unwrap());
    dir
}

#[test]
fn too_many_samples_and_cells_are_refused_with_the_number_that_would_do() {
    let dir = with_workload();
    let samples = "[design]\nkind = \"random\"\nsamples = 4000000000\n[variants.delay]\nD = { from = 1, to = 64 }\n";
    dir.write("samples.toml", format!("{SWEEP}{samples}"));
    let tune = "[tune]\nobjective = { mean_completion = 1 }\n";
    dir.write("tune.toml", format!("{SWEEP}{samples}{tune}"));
    for args in [&["sweep", "samples.toml", "--out", "S"][..], &["tune", "tune.toml", "--out", "S"]] {
        refused(&dir, args, &["design.samples: expected at most 1000000, found 4000000000"]);
    }
    let grid = "seeds = 100000\n[variants.delay]\nD = { from = 1, to = 640, steps = 640 }\n";
    dir.write("grid.toml", format!("{SWEEP}{grid}"));
    let parts = ["grid.toml: expected at most 1000000 cells, found 64000000", "--most-cells 64000000"];
    refused(&dir, &["sweep", "grid.toml", "--out", "S"], &parts);
    refused(&dir, &["sweep", "plan", "grid.toml", "--out", "S"], &parts);
    dir.write("three.toml", format!("{SWEEP}seeds = 3\n[variants.fifo]\n"));
    let three = ["sweep", "plan", "three.toml", "--out", "P", "--most-cells"];
    refused(&dir, &[&three[..], &["2"]].concat(), &["at most 2 cells, found 3", "--most-cells 3"]);
    assert_eq!(dir.ok(&[&three[..], &["3"]].concat()), "P/sweep.json: 3 cells\n");
}

/// With these values, no task would ever start: a replay could only stall.
#[test]
fn values_with_which_nothing_starts_are_refused_at_once() {
    let dir = Dir::with_sample();
    for (policy, key, expected) in [
        ("fair:map_cap=0", "map_cap", "auto|1..100000"),
        ("fair:reduce_cap=0", "reduce_cap", "auto|1..100000"),
        ("yarn-fair:max_am_share=0", "max_am_share", "auto|-1|0.000001..1"),
        ("yarn-capacity:user_limit_factor=0", "user_limit_factor", "0.000001..1000000"),
    ] {
        let found = format!("{key}: expected {expected}, found `0`");
        refused(&dir, &["replay", "T", "--assume", "--policy", policy, "--out", "R"], &[&found]);
    }
}

#[test]
fn too_many_threads_are_refused() {
    let dir = with_workload();
    dir.write("s.toml", format!("{SWEEP}seeds = 300\n[variants.fifo]\n"));
    for args in [
        &["sweep", "s.toml", "--out", "S", "--threads", "60000"][..],
        &["replay", "w.toml", "--policy", "fifo", "--out", "R", "--threads", "60000"],
        &["ingest", "w.toml", "--out", "T", "--threads", "60000"],
    ] {
        refused(&dir, args, &["from 1 to ", "found `60000`", "leave --threads out"]);
    }
}

#[test]
fn a_workload_of_too_many_tasks_is_refused() {
    let dir = Dir::new();
    let workload =
        "name = \"x\"\n[cluster]\nnodes = 3\n[classes.c]\nmap_mean_s = 1\n[[jobs]]\nclass = \"c\"\nsubmit_s = 0\n";
    dir.write("w.toml", format!("{workload}maps = 999999\nrepeat = 800000\n"));
    refused(
        &dir,
        &["generate", "w.toml", "--out", "W"],
        &["w.toml: expected at most 20000000 tasks in all jobs, found 799999200000", "--most-tasks 799999200000"],
    );
    let replay = ["replay", "w.toml", "--assume", "--policy", "fifo", "--out", "R"];
    refused(&dir, &replay, &["w.toml: expected at most 2000000 tasks in all jobs", "`resched generate`"]);
    dir.write("small.toml", format!("{workload}maps = 5\nrepeat = 2\n"));
    let few = ["generate", "small.toml", "--out", "W", "--most-tasks"];
    refused(&dir, &[&few[..], &["9"]].concat(), &["at most 9 tasks in all jobs, found 10"]);
    dir.ok(&[&few[..], &["10"]].concat());
}

/// A file that is read whole is a regular file of a limited size.
#[test]
fn files_without_an_end_are_refused() {
    let dir = Dir::with_sample();
    dir.write("w.toml", fs::read(repository("traces/coupling-table3.toml")).unwrap());
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--policy", "fair", "--out", "R"]);
    let file = fs::File::create(dir.path("huge")).unwrap();
    file.set_len(5_000_000_000).unwrap();
    assert!(Command::new("mkfifo").arg(dir.path("pipe")).status().unwrap().success());
    let replay = ["replay", "T", "--assume", "--out", "X", "--policy"];
    let commands: [&[&str]; 11] = [
        &["generate", "FILE", "--out", "X"],
        &[&replay[..], &["fifo", "--cluster", "FILE"]].concat(),
        &[&replay[..], &["fifo", "--validation", "FILE"]].concat(),
        &[&replay[..], &["capacity:queues=FILE"]].concat(),
        &[&replay[..], &["fair:allocations=FILE"]].concat(),
        &[&replay[..], &["yarn-capacity:queues=FILE"]].concat(),
        &[&replay[..], &["yarn-fair:queues=FILE"]].concat(),
        &["ingest", "T", "--tasks", "FILE", "--out", "X"],
        &["anonymise", "T", "--key", "FILE", "--out", "X"],
        &["sweep", "FILE", "--out", "X"],
        &["tune", "FILE", "--out", "X"],
    ];
    for (path, problem) in [
        ("/dev/zero", "expected a file, found a pipe or a device"),
        ("pipe", "expected a file, found a pipe or a device"),
        ("huge", "expected a file of at most"),
    ] {
        for args in commands {
            let args: Vec<String> = args.iter().map(|arg| arg.replace("FILE", path)).collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            limited(&dir, &args).fails(2, &[path, problem]);
        }
    }
    fs::hard_link(dir.path("huge"), dir.path("huge.toml")).unwrap();
    let replayed = ["replay", "huge.toml", "--assume", "--policy", "fifo", "--out", "X"];
    limited(&dir, &replayed).fails(2, &["huge.toml", "expected a file of at most 64 MiB, found a larger one"]);
    let production = crate::trust::without_sizes();
    let weighed = ["replay", "T", "--assume", "--policy", "fair:weights=/dev/zero", "--out", "X"];
    limited(&production, &weighed).fails(2, &["/dev/zero", "expected a file, found a pipe or a device"]);
    // The JSON files of results.
    for (marker, args) in [
        ("T/trace.json", &["inspect", "T"][..]),
        ("R/fifo/run.json", &["report", "R/fifo", "--out", "X"]),
        ("R/runs.json", &["report", "R", "--out", "X"]),
        ("R/variants.json", &["report", "R", "--out", "X"]),
    ] {
        let path = dir.path(marker);
        let kept = fs::read(&path).unwrap_or_else(|error| panic!("{marker}: {error}"));
        fs::File::options().write(true).open(&path).unwrap().set_len(5_000_000_000).unwrap();
        let ran = limited(&dir, args);
        ran.fails(1, &[marker, "expected a file of at most 512 MiB, found a larger one"]);
        fs::write(&path, kept).unwrap();
    }
}

/// To open a pipe waits for somebody who writes to it.
#[test]
fn a_pipe_in_the_place_of_a_table_does_not_block() {
    for name in ["jobs", "tasks", "attempts"] {
        let dir = Dir::with_sample();
        for (listed, problem) in [(true, "expected a file, found a pipe"), (false, "expected a file, found a pipe")] {
            if !listed {
                dir.without_hashes("T/trace.json");
            }
            let table = dir.path(&format!("T/{name}.parquet"));
            let _ = fs::remove_file(&table);
            assert!(Command::new("mkfifo").arg(&table).status().unwrap().success());
            let file = format!("T/{name}.parquet");
            for args in [&["inspect", "T"][..], &["replay", "T", "--assume", "--policy", "fifo", "--out", "R"]] {
                limited(&dir, args).fails(1, &[&file, problem]);
            }
        }
    }
}

/// A table of many equal rows is a small file.
#[test]
fn a_report_that_would_not_fit_into_memory_is_refused() {
    const ROWS: u64 = 1_000_000;
    let dir = Dir::with_sample();
    let job = resched_tables::store::Trace::open(&dir.path("T")).unwrap().rows::<JobRow>().unwrap().next();
    let row = AttemptRow {
        job_id: job.unwrap().unwrap().job_id,
        task_id: "task".to_owned(),
        kind: TaskKind::Map,
        start: Some(1),
        finish: Some(2),
        outcome: Outcome::Success,
        ..AttemptRow::default()
    };
    fs::create_dir(dir.path("new")).unwrap();
    let mut table = TableWriter::<AttemptRow>::create(&dir.path("new")).unwrap();
    for _ in 0..ROWS {
        table.append(&row).unwrap();
    }
    table.finish().unwrap();
    fs::rename(dir.path("new/attempts.parquet"), dir.path("T/attempts.parquet")).unwrap();
    dir.without_hashes("T/trace.json");
    let bytes = fs::metadata(dir.path("T/attempts.parquet")).unwrap().len();
    assert!(bytes < 500_000, "{bytes}");
    let report = ["report", "T", "--out", "P", "--most-memory"];
    let parts = ["T: expected tables", "at most 0.1GB", "about 0.2GB", "--most-memory 0.2GB"];
    refused(&dir, &[&report[..], &["100MB"]].concat(), &parts);
    refused(&dir, &[&report[..], &["3"]].concat(), &["with its unit, such as 8GB"]);
}

/// More seeds than there are numbers above the largest one.
#[test]
fn seeds_go_on_after_the_largest_number() {
    let dir = with_workload();
    let largest = u64::MAX;
    for seeds in [format!("[{}, {largest}]", largest - 1), format!("[{}, {}]", i64::MAX - 1, i64::MAX)] {
        dir.write("s.toml", format!("{SWEEP}seeds = {seeds}\n[variants.fifo]\n"));
        let mut sweep = dir.command(&["sweep", "s.toml", "--out", "S", "--precision", "0.0001%", "--most-seeds", "5"]);
        let mut running = sweep.stdout(std::process::Stdio::null()).spawn().unwrap();
        let ended = (0..1200).find_map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            running.try_wait().unwrap()
        });
        if ended.is_none() {
            running.kill().unwrap();
        }
        assert_eq!(ended.and_then(|status| status.code()), Some(0), "{seeds}");
        let results = dir.read("S/results.csv");
        assert_eq!(results.lines().count(), 6, "{results}");
        fs::remove_dir_all(dir.path("S")).unwrap();
    }
}

#[test]
fn an_output_that_cannot_be_written_is_a_wrong_request() {
    let dir = Dir::with_sample();
    dir.write("file", "mine");
    dir.write(
        "s.toml",
        format!("{}[variants.fifo]\n", SWEEP.replace("w.toml", &repository("traces/coupling-table3.toml"))),
    );
    for out in ["file/below", "/proc/x.toml"] {
        refused(&dir, &["calibrate", "T", "--out", out], &["name another --out"]);
        refused(&dir, &["sweep", "s.toml", "--out", out], &["name another --out"]);
    }
    // What is no file is not replaced by one.
    let pipe = dir.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    dir.run(&["export", "T", "--format", "swf", "--out", "pipe"]).fails(2, &["pipe: expected a new file", "--out"]);
    assert!(!pipe.is_file());
}

fn rumen(number: u32, name: &str, queue: &str) -> Value {
    let id = |kind: &str| format!("{kind}_1_{number:04}_m_000000");
    let attempt = json!({"attemptID": id("attempt") + "_0", "hostName": "/rack/host", "startTime": 2000, "finishTime": 5000,
                         "result": "SUCCESS"});
    let map = json!({"taskID": id("task"), "taskType": "MAP", "taskStatus": "SUCCESS", "startTime": 2000, "finishTime": 9000,
                     "attempts": [attempt]});
    json!({"jobID": format!("job_1_{number:04}"), "jobName": name, "user": queue, "queue": queue, "submitTime": 1000,
           "launchTime": 1000, "finishTime": 9000, "outcome": "SUCCESS", "totalMaps": 1, "mapTasks": [map], "reduceTasks": []})
}

fn ingested(dir: &Dir, jobs: &[Value]) {
    dir.write("trace.json", jobs.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"));
    dir.ok(&["ingest", "trace.json", "--out", "T"]);
}

/// One wrong digit, or damage.
#[test]
fn times_far_outside_of_their_job_are_shown_and_no_run_time() {
    let dir = Dir::new();
    let mut far = rumen(1, "far", "q");
    far["mapTasks"][0]["attempts"][0]["finishTime"] = json!(1_000_000_002_000_i64);
    let mut furthest = rumen(2, "furthest", "q");
    furthest["mapTasks"][0]["attempts"][0]["finishTime"] = json!(9_000_000_000_000_000_000_i64);
    let mut negative = rumen(3, "negative", "q");
    negative["submitTime"] = json!(-5_000_000);
    let mut twice = rumen(4, "twice", "q");
    let map = twice["mapTasks"][0].clone();
    twice["mapTasks"].as_array_mut().unwrap().push(map);
    ingested(&dir, &[far, furthest, negative, twice, rumen(5, "plain", "q")]);
    let found = dir.json(&["inspect", "T", "--json"]);
    assert_eq!(found["skipped"], json!({"far-time": 2, "negative-time": 1, "repeated-task-renamed": 1}));
    assert_eq!(found["oddities"]["time-far-outside"], 2, "{found}");
    assert_eq!(found["oddities"]["job-without-submit"], 1, "{found}");
    let manifest: Value = serde_json::from_str(&dir.read("T/trace.json")).unwrap();
    assert_eq!(manifest["skipped"]["far-time"], 2);
    let run: Value = serde_json::from_str(
        dir.ok(&["replay", "T", "--assume", "--policy", "dress", "--out", "R", "--json"]).lines().next().unwrap(),
    )
    .unwrap();
    assert!(run["makespan_ms"].as_i64().unwrap() < 600_000, "{run}");
}

#[test]
fn the_hostile_traces_replay_as_if_the_far_time_was_not_there() {
    for (source, policies) in [
        ("hostile/far_finish/trace.json", &["dress", "yarn-capacity", "fair+mantri", "yarn-fifo+yarn-default"][..]),
        ("hostile/long_task/history", &["fifo", "fair", "yarn-capacity"]),
    ] {
        let Some(source) = shared(source) else { return };
        let dir = Dir::new();
        dir.ok(&["ingest", &source, "--out", "T"]);
        let found = dir.json(&["inspect", "T", "--json"]);
        assert_eq!((&found["skipped"]["far-time"], &found["oddities"]["time-far-outside"]), (&json!(1), &json!(1)));
        for policy in policies {
            let args = ["replay", "T", "--assume", "--policy", policy, "--out", "R", "--json"];
            let ran = limited(&dir, &args);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let run: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
            assert!(run["makespan_ms"].as_i64().unwrap() < 3_600_000, "{run}");
        }
    }
}

const EVIL: &str = "evil\u{1b}]0;x\u{7}\u{1b}[31m\u{9b}2J\u{202e}gnp.exe";

/// Whether a text could steer a terminal or turn the order of letters.
fn steers(text: &str) -> bool {
    let turns =
        |letter: char| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().any(|letter| letter.is_control() && letter != '\n' || turns(letter))
}

#[test]
fn names_steer_neither_the_terminal_nor_a_page() {
    let dir = Dir::new();
    let jobs: Vec<Value> = (1..=6).map(|number| rumen(number, EVIL, if number > 3 { EVIL } else { "plain" })).collect();
    ingested(&dir, &jobs);
    for args in [
        &["inspect", "T"][..],
        &["replay", "T", "--assume", "--policy", "fifo", "--policy", "fair", "--by", "queue", "--out", "R"],
        &["replay", "T", "--assume", "--policy", "fifo", "--policy", "fair", "--by", "queue", "--out", "R", "--json"],
        &["report", "R", "T", "--out", "P"],
        &["inspect", EVIL],
        &["replay", "T", "--assume", "--policy", EVIL, "--out", "R"],
    ] {
        let ran = dir.run(args);
        assert!(!steers(&ran.stdout) && !steers(&ran.stderr), "{ran:?}");
    }
    let json = dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--by", "queue", "--out", "J", "--json"]);
    json.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
    for (path, bytes) in dir.tree("P") {
        let is_text =
            path.extension().is_some_and(|ending| ["html", "svg", "ipynb"].iter().any(|text| ending == *text));
        if is_text {
            assert!(!steers(&String::from_utf8(bytes.unwrap()).unwrap()), "{}", path.display());
        }
    }
    serde_json::from_str::<Value>(&dir.read("P/report.ipynb")).unwrap();
}

#[test]
fn a_huge_line_is_not_echoed() {
    let dir = Dir::with_sample();
    let huge = "x".repeat(5_000_000);
    dir.write("w.toml", format!("name = \"x\"\ncluster = \"{huge}\"\n"));
    dir.write("c.toml", format!("[nodes]\nmap_slots = \"{huge}\"\n"));
    dir.write("s.toml", format!("name = \"x\"\nworkload = \"{huge}\"\n[variants.fifo]\n"));
    for args in [
        &["generate", "w.toml", "--out", "W"][..],
        &["replay", "T", "--assume", "--policy", "fifo", "--cluster", "c.toml", "--out", "R"],
        &["sweep", "s.toml", "--out", "S"],
    ] {
        let ran = dir.run(args);
        assert!(ran.code == Some(2) && ran.stderr.len() < 3_000, "{args:?}: {} bytes", ran.stderr.len());
        assert!(ran.stderr.contains("characters left out"), "{ran:?}");
    }
}

/// A spreadsheet would run them.
#[test]
fn names_in_csv_are_no_formulas() {
    let dir = with_workload();
    let sweep = "name = \"s\"\nworkload = \"w.toml\"\nseeds = 2\n";
    dir.write(
        "s.toml",
        format!("{sweep}[variants.\"=cmd|' /C calc'!A0\"]\npolicy = \"fifo\"\n[variants.\"-1\"]\npolicy = \"fair\"\n"),
    );
    dir.ok(&["sweep", "s.toml", "--out", "S"]);
    for file in ["results.csv", "summary.csv"] {
        let table = dir.read(&format!("S/{file}"));
        assert!(table.lines().any(|line| line.starts_with("'=cmd|")), "{table}");
        assert!(table.lines().any(|line| line.starts_with("-1,")), "{table}");
        assert!(!table.contains(",=") && !table.contains("\n="), "{table}");
    }
}
