//! Production traces: the short names of policies, the results of replays, and wrong requests.

use resched_tables::engine::RunEngine;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::store::{TraceParts, TraceWriter};
use serde_json::Value;

use crate::support::{Dir, assert_same};

/// A job of one gang that was submitted and ran at these times, s.
pub(crate) fn job(number: u32, user: &str, submit: i64, run: i64, processors: i64) -> JobRecord {
    let (job_id, task_id) = (number.to_string(), format!("{number}_0"));
    let attempt = AttemptRow {
        job_id: job_id.clone(),
        task_id: task_id.clone(),
        start: Some(submit * 1000),
        finish: Some((submit + run) * 1000),
        outcome: Outcome::Success,
        ..AttemptRow::default()
    };
    let task = TaskRow {
        job_id: job_id.clone(),
        task_id,
        outcome: Outcome::Success,
        cpu_request: Some(1_000),
        instances: Some(processors),
        gang: Some(true),
        ..TaskRow::default()
    };
    let job = JobRow {
        job_id,
        user: Some(user.to_owned()),
        framework: Some("swf".to_owned()),
        submit: Some(submit * 1000),
        outcome: Outcome::Success,
        ..JobRow::default()
    };
    let tasks = vec![TaskRecord { task, splits: Vec::new(), attempts: vec![attempt] }];
    JobRecord { job, tasks, counters: Vec::new() }
}

/// A folder with the trace `T` of a machine with ten processors: 6 of them for 10 s, 8 for 10 s, and 2 for 5 s.
fn with_trace(nodes: &[NodeRow]) -> Dir {
    let dir = Dir::new();
    let mut writer = TraceWriter::create(dir.path("T")).unwrap();
    for record in [job(1, "a", 0, 10, 6), job(2, "b", 1, 10, 8), job(3, "c", 2, 5, 2)] {
        writer.job(&record).unwrap();
    }
    for node in nodes {
        writer.node(node).unwrap();
    }
    writer.finish(TraceParts { engine: RunEngine::Batch, ..TraceParts::default() }).unwrap();
    dir
}

fn ten_processors() -> NodeRow {
    NodeRow { host: "pool".to_owned(), cpu: Some(10_000), ..NodeRow::default() }
}

/// The object that `--json` prints for each policy.
fn replayed(dir: &Dir, args: &[&str]) -> Vec<Value> {
    let text = dir.ok(&[&["replay", "T", "--assume", "--json"], args].concat());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn short_names_mean_the_policies_for_such_traces() {
    let dir = with_trace(&[ten_processors()]);
    let reported =
        replayed(&dir, &["--policy", "fifo", "--policy", "easy", "--policy", "fifo:skip=true", "--out", "R"]);
    let of = |key: &str| reported.iter().map(|one| one[key].clone()).collect::<Vec<Value>>();
    assert_eq!(of("policy"), ["batch-fifo", "easy", "batch-fifo"]);
    // The second waits for the first, from 1 to 10 s; the third runs at once, or behind the second, from 2 to 10 s.
    assert_eq!(of("mean_waiting_ms"), [17_000.0 / 3.0, 3_000.0, 3_000.0]);
    assert_eq!(of("jobs_finished"), [3, 3, 3]);
    assert_eq!(of("makespan_ms"), [20_000, 20_000, 20_000]);
    let run: Value = serde_json::from_str(&dir.read("R/batch-fifo/run.json")).unwrap();
    assert_eq!((&run["cluster"]["nodes"], &run["cluster"]["vcores"]), (&1.into(), &10.into()));
    dir.ok(&["report", "R/batch-fifo", "R/easy", "--out", "report"]);
    assert!(dir.read("report/report.html").contains("batch-fifo"));
}

/// A job that was held waits from then on. The summary is made without the whole run, unless a metric needs it; both are the same.
#[test]
fn a_job_that_was_held_waits_from_then_on_in_every_output() {
    let dir = Dir::new();
    let mut writer = TraceWriter::create(dir.path("T")).unwrap();
    let mut held = job(1, "a", 0, 10, 6);
    held.job.eligible = Some(5_000);
    writer.job(&held).unwrap();
    writer.node(&ten_processors()).unwrap();
    writer.finish(TraceParts { engine: RunEngine::Batch, ..TraceParts::default() }).unwrap();
    let args = ["replay", "T", "--policy", "fifo", "--out", "R", "--json"];
    for more in [&[][..], &["--metric", "mean_completion"]] {
        let found = dir.json(&[&args[..], more].concat());
        assert_eq!(
            (found["mean_completion_ms"].as_f64(), found["mean_waiting_ms"].as_f64()),
            (Some(10e3), Some(0.0)),
            "{more:?}"
        );
    }
}

#[test]
fn a_cluster_file_takes_the_place_of_the_machines() {
    let dir = with_trace(&[]);
    dir.run(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R"])
        .fails(2, &["names no machine", "[machines]", "cores"]);
    dir.write("c.toml", "[machines]\ncount = 20\ncores = 1\n");
    let reported = replayed(&dir, &["--cluster", "c.toml", "--policy", "fifo", "--out", "R"]);
    assert_eq!(reported[0]["mean_waiting_ms"], 0.0);
    for (text, problem) in [
        ("[machines]\ncount = 20\n", "expected machines.cores"),
        ("[machines]\ncount = 0\ncores = 1\n", "machines.count: expected a number from 1"),
        ("[machines]\ncount = 1\ncores = -1\n", "machines.cores: expected a number from"),
        ("[machines]\nplacement = \"worst-fit\"\n", "first-fit"),
    ] {
        dir.write("wrong.toml", text);
        dir.run(&["replay", "T", "--assume", "--cluster", "wrong.toml", "--policy", "fifo", "--out", "W"])
            .fails(2, &[problem]);
    }
}

#[test]
fn policies_for_hadoop_are_refused() {
    let dir = with_trace(&[ten_processors()]);
    dir.run(&["replay", "T", "--assume", "--policy", "delay", "--out", "R"])
        .fails(2, &["policy `delay`", "Hadoop", "choose one of batch-fifo"]);
    dir.run(&["replay", "T", "--assume", "--policy", "fifo+late", "--out", "R"]).fails(2, &["expected no speculator"]);
    assert!(!dir.path("R").exists());
}

#[test]
fn policies_for_production_traces_replay_a_trace_of_hadoop_and_do_so_twice_alike() {
    let dir = Dir::with_sample();
    let policies =
        ["batch-fifo", "batch-drf", "batch-dress", "easy", "fifo"].map(|policy| ["--policy", policy]).concat();
    let reported = replayed(&dir, &[&policies[..], &["--decisions", "--out", "A", "--threads", "1"]].concat());
    for one in &reported {
        assert_eq!(one["jobs_finished"], 15);
    }
    replayed(&dir, &[&policies[..], &["--decisions", "--out", "B", "--threads", "3"]].concat());
    assert_same(&dir.tree("A"), &dir.tree("B"), "one thread and three");
    let kept = replayed(&dir, &["--policy", "batch-fifo", "--resume", "--decisions", "--out", "A"]);
    assert_eq!(kept[0]["wall_ms"], Value::Null);
}

#[test]
fn short_names_mean_the_same_in_sweeps_and_searches() {
    let dir = with_trace(&[ten_processors()]);
    let sweep =
        "name = \"s\"\ntrace = \"T\"\nbaseline = \"fifo\"\n[variants.fifo]\nskip = [false, true]\n[variants.easy]\n";
    dir.write("s.toml", sweep);
    let ranked = dir.json(&["sweep", "s.toml", "--out", "S", "--json"]);
    let mut policies: Vec<&str> =
        ranked.as_array().unwrap().iter().map(|one| one["policy"].as_str().unwrap()).collect();
    policies.sort_unstable();
    assert_eq!(policies, ["batch-fifo:skip=false", "batch-fifo:skip=true", "easy"]);
    dir.write("t.toml", format!("{sweep}[tune]\nobjective = {{ mean_completion = 1 }}\n"));
    assert_eq!(dir.json(&["tune", "t.toml", "--out", "U", "--json"])["baseline"], "batch-fifo");
    // A merge does not need the trace.
    std::fs::rename(dir.path("T"), dir.path("elsewhere")).unwrap();
    dir.ok(&["sweep", "merge", "S"]);
}

#[test]
fn a_sweep_of_both_kinds_of_sources_is_refused() {
    let dir = with_trace(&[ten_processors()]);
    dir.write(
        "W.toml",
        "name = \"w\"\n[cluster]\nnodes = 2\n[classes.a]\n[[jobs]]\nclass = \"a\"\nsubmit_s = 0\nmaps = 2\n",
    );
    dir.write("s.toml", "name = \"s\"\ntrace = \"T\"\nworkload = \"W.toml\"\n[variants.fifo]\n");
    let refused = dir.run(&["sweep", "s.toml", "--out", "S"]);
    refused.fails(2, &["s.toml: ", "sources of one kind", "(W.toml)", "a production trace (T)", "a sweep for each"]);
}

/// The trace of `with_trace`, where fifo lets the second job wait for the first: 6 + 8 of 10 processors. With twenty processors, in
/// two machines of ten, it starts at once on the clone.
#[test]
fn machines_of_a_trace_are_cloned() {
    let dir = with_trace(&[ten_processors()]);
    let of = |args: &[&str]| {
        let reported = replayed(&dir, &[&["--policy", "fifo", "--out", "R"], args].concat());
        reported[0]["mean_waiting_ms"].as_f64().unwrap()
    };
    // The second job waits from 1 s to 10 s, the third behind it from 2 s to 10 s.
    assert_eq!(of(&[]), (9_000.0 + 8_000.0) / 3.0);
    assert_eq!(of(&["--nodes", "1"]), of(&[]));
    assert_eq!(of(&["--nodes", "2"]), 0.0);
    assert_eq!(of(&["--nodes", "1", "--cores", "20"]), 0.0);
    dir.run(&["replay", "T", "--assume", "--policy", "fifo", "--slots", "2+2", "--out", "Q"])
        .fails(2, &["--slots: ", "--cores"]);
}
