//! Hostile or odd input gives sensible numbers or a clean error, and never a panic.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Dir, POLICIES, Ran, Tree, gzip};

fn attempt(id: &str, number: usize, start: i64, finish: i64, result: &str) -> Value {
    let id = format!("{}_{number}", id.replacen("task_", "attempt_", 1));
    json!({"attemptID": id, "hostName": "/rack/host", "startTime": start, "finishTime": finish, "result": result,
           "shuffleFinished": start.saturating_add(1), "sortFinished": start.saturating_add(2)})
}

/// A task with a successful try of each of these spans.
pub(crate) fn task(job: u32, kind: char, number: u32, spans: &[(i64, i64)]) -> Value {
    let id = format!("task_1_{job:04}_{kind}_{number:06}");
    let attempts: Vec<Value> =
        spans.iter().enumerate().map(|(n, &(start, finish))| attempt(&id, n, start, finish, "SUCCESS")).collect();
    let kind = if kind == 'm' { "MAP" } else { "REDUCE" };
    json!({"taskID": id, "taskType": kind, "taskStatus": "SUCCESS", "startTime": 2000, "finishTime": 9000,
           "preferredLocations": [{"layers": ["rack", "host"]}], "attempts": attempts})
}

pub(crate) fn job(number: u32, maps: Vec<Value>, reduces: Vec<Value>) -> Value {
    json!({"jobID": format!("job_1_{number:04}"), "jobName": "plain", "user": "ann", "queue": "default",
           "submitTime": 1000, "launchTime": 1000, "finishTime": 9000, "outcome": "SUCCESS",
           "totalMaps": maps.len(), "totalReduces": reduces.len(), "mapTasks": maps, "reduceTasks": reduces})
}

/// Two maps of 3 s and a reduce.
pub(crate) fn plain(number: u32) -> Value {
    let maps = [0, 1].map(|map| task(number, 'm', map, &[(2000, 5000)]));
    job(number, maps.to_vec(), vec![task(number, 'r', 0, &[(3000, 9000)])])
}

pub(crate) fn with(mut job: Value, field: &str, value: impl Into<Value>) -> Value {
    job[field] = value.into();
    job
}

/// Ingests the jobs and replays them under every policy. Returns the printed object of each.
fn replayed(dir: &Dir, jobs: &[Value]) -> Vec<Value> {
    dir.write("trace.json", jobs.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"));
    dir.ok(&["ingest", "trace.json", "--out", "T"]);
    let mut args = vec!["replay", "T", "--assume", "--out", "R", "--json"];
    args.extend(POLICIES.iter().flat_map(|policy| ["--policy", policy]));
    dir.ok(&args).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Asserts the finished jobs, the finished tasks and the largest makespan (ms) under every policy.
fn check(what: &str, jobs: &[Value], finished: u64, tasks: u64, makespan: i64) {
    let dir = Dir::new();
    for run in replayed(&dir, jobs) {
        assert_eq!((&run["jobs_finished"], &run["tasks"]), (&json!(finished), &json!(tasks)), "{what}: {run}");
        // Only jobs that count have a makespan.
        assert_eq!(run["makespan_ms"].is_null(), finished == 0, "{what}: {run}");
        if finished > 0 {
            let found = run["makespan_ms"].as_i64().unwrap();
            assert!((1..=makespan).contains(&found), "{what}: {run}");
            let mean = run["mean_completion_ms"].as_f64().unwrap();
            assert!(mean > 0.0 && mean <= found as f64, "{what}: {run}");
        }
    }
    dir.ok(&["report", "R", "--out", "P", "--format", "svg,html"]);
}

const CENTURY: i64 = 100 * 366 * 86_400_000;

#[test]
fn odd_jobs_end() {
    let map = |spans: &[(i64, i64)]| vec![task(1, 'm', 0, spans)];
    let minute = 60_000;
    check("one map", &[job(1, map(&[(2000, 5000)]), vec![])], 1, 1, minute);
    check("reduces alone", &[job(1, vec![], vec![task(1, 'r', 0, &[(3000, 9000)])])], 1, 1, minute);
    check("no tasks beside a plain one", &[job(1, vec![], vec![]), plain(2)], 1, 3, minute);
    check("alike submissions", &[plain(1), plain(2), plain(3)], 3, 9, minute);
    check("negative run times", &[job(1, map(&[(5000, 2000)]), vec![task(1, 'r', 0, &[(9000, 3000)])])], 1, 2, minute);
    check("no attempts", &[job(1, map(&[]), vec![task(1, 'r', 0, &[])])], 1, 2, minute);
    let declared = with(with(plain(1), "totalMaps", i64::MAX), "totalReduces", i64::MAX);
    check("more declared than can be", &[declared], 1, 3, minute);
    let (id, tries) = ("task_1_0001_m_000000", 0..4);
    let failed: Vec<Value> =
        tries.map(|n| attempt(id, n, 2000 + 1000 * n as i64, 2500 + 1000 * n as i64, "FAILED")).collect();
    let failing = with(with(task(1, 'm', 0, &[]), "attempts", failed), "taskStatus", "FAILED");
    let failing = with(job(1, vec![failing], vec![]), "outcome", "FAILED");
    check("a map that fails four times", &[failing.clone(), plain(2)], 1, 3, 2 * minute);
    check("nothing but failure", &[failing], 0, 0, minute);
}

#[test]
fn times_at_the_edge_of_numbers_end() {
    let (low, high) = (i64::MIN, i64::MAX);
    let spans = [(low, high), (0, high), (high - 5, high), (1, high), (high, low), (-1, -1)];
    let maps = spans.iter().zip(0..).map(|(span, number)| task(1, 'm', number, &[*span])).collect();
    let reduces = spans.iter().zip(0..).map(|(span, number)| task(1, 'r', number, &[*span])).collect();
    check("run times", &[job(1, maps, reduces), plain(2)], 2, 15, 600_000);
    let at = |number: u32, submit: i64| with(plain(number), "submitTime", submit);
    check(
        "submissions",
        &[at(1, 1), at(2, high), at(3, high - 1), with(at(4, 5), "finishTime", high)],
        4,
        12,
        2 * CENTURY,
    );
    check("unknown submissions", &[at(1, low), at(2, -1), at(3, 5)], 1, 3, 60_000);
}

#[test]
fn a_trace_without_a_job_to_replay_says_so() {
    let dir = Dir::new();
    dir.write("trace.json", with(plain(1), "outcome", "KILLED").to_string());
    dir.ok(&["ingest", "trace.json", "--out", "T"]);
    dir.run(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R"])
        .fails(2, &["T: no job is left", "killed-job"]);
}

/// The names of files and folders, without their contents.
fn names(tree: &Tree) -> Vec<String> {
    tree.keys().map(|path| path.display().to_string()).collect()
}

#[test]
fn names_lead_nowhere() {
    let evil = [
        "../../etc/passwd",
        "/etc/passwd",
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(2)>",
        "a\u{0}b\u{1b}[31m\u{7}\r\n\t\u{fffe}",
        "日本語 🎉 \u{202e}thgir",
        "]]>&lt;!--",
        "",
    ];
    let mut jobs: Vec<Value> =
        evil.iter().zip(1..).map(|(name, number)| with(plain(number), "jobName", *name)).collect();
    jobs.push(with(plain(90), "jobName", "x".repeat(300_000)));
    jobs.push(with(with(plain(91), "user", "../<b>u"), "queue", "../<b>q"));
    jobs.push(with(plain(92), "jobID", "../../<i>job"));
    jobs.push(with(plain(93), "jobID", "/job_1_\u{0}"));
    let dir = Dir::new();
    // The command runs in a folder below the folder that is checked.
    let inner = dir.path("inner");
    std::fs::create_dir(&inner).unwrap();
    dir.write("inner/trace.json", jobs.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"));
    let run = |args: &[&str]| {
        let ran = Ran::of(args, dir.command(args).current_dir(&inner).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    };
    run(&["ingest", "trace.json", "--out", "T"]);
    // The one machine must hold the masters of all jobs and one task, or YARN's FIFO and Fair Scheduler cannot proceed.
    let elsewhere = Dir::new();
    elsewhere.write("large.toml", "[containers]\nmemory_mb = 100_000\nvcores = 100\n");
    let rules = elsewhere.path("large.toml").display().to_string();
    for policy in POLICIES.iter() {
        run(&["replay", "T", "--assume", "--policy", policy, "--cluster", &rules, "--out", "R"]);
    }
    run(&["report", "R", "T", "--out", "P"]);
    run(&["inspect", "T"]);
    let found = names(&dir.tree(""));
    let strange: Vec<&String> = found.iter().filter(|name| !is_expected(name)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    let page = dir.read("inner/P/report.html");
    for raw in ["<script>alert", "<img src=x", "<b>u", "<i>job", "]]>&lt;!--"] {
        assert!(!page.contains(raw), "{raw} stands in the page as it is");
    }
    for (path, bytes) in dir.tree("inner/P") {
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap()).into_owned();
        if path.extension().is_some_and(|ending| ending == "svg") {
            assert!(text.len() > 1000 && !text.contains("<script") && !text.contains('\u{1b}'), "{}", path.display());
        }
        if path.extension().is_some_and(|ending| ending == "png") {
            assert!(bytes.unwrap().len() > 1000, "{}", path.display());
        }
    }
}

fn is_expected(name: &str) -> bool {
    let folders =
        ["inner", "inner/trace.json", "inner/T", "inner/R", "inner/R/runs.json", "inner/R/log.json", "inner/P"];
    let below = ["inner/T/", "inner/P/"].iter().any(|folder| name.starts_with(folder));
    let of_run = name.strip_prefix("inner/R/").is_some_and(|rest| POLICIES.contains(&rest.split('/').next().unwrap()));
    folders.contains(&name) || below && !name.contains("..") || of_run
}

/// The address space that ingest may take, KiB.
const MEMORY: u32 = 1_500_000;

/// A file of a few hundred kB that unpacks to a hundred MB or two is refused, or read, without taking much memory.
#[test]
fn bombs_do_not_go_off() {
    const MB: usize = 1 << 20;
    let dir = Dir::new();
    let text = "Meta VERSION=\"1\" .\nJob JOBID=\"job_1_0001\" JOBNAME=\"";
    for (name, head, unit, megabytes) in [
        ("zeros", "", "\0", 200),
        ("endless line", text, "a", 150),
        ("endless name", r#"{"jobID":"job_1_0001","jobName":""#, "a", 60),
        ("empty tasks", r#"{"jobID":"job_1_0001","mapTasks":["#, "{},", 60),
        ("empty attempts", r#"{"jobID":"job_1_0001","mapTasks":[{"attempts":["#, "{},", 60),
        ("deep", r#"{"jobID":"job_1_0001","mapTasks":"#, "[", 60),
        ("jhist", "Avro-Json\n", "a", 150),
        ("swim", "job1\t1\t2\t", "1", 150),
    ] {
        let mut bytes = head.as_bytes().to_vec();
        bytes.extend(unit.repeat(megabytes * MB / unit.len()).into_bytes());
        let packed = gzip(&bytes);
        drop(bytes);
        assert!(packed.len() < 2 * MB, "{name}: {}", packed.len());
        dir.write("bomb.gz", packed);
        let script = format!("ulimit -v {MEMORY}; exec \"$0\" ingest bomb.gz --out X");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_resched")]).current_dir(dir.path(""));
        let ran = Ran::of(&[name], command.output().unwrap());
        ran.fails(1, &["bomb.gz: ", "expected"]);
    }
}

/// Times that contradict each other are counted and null, so no length of time is negative.
#[test]
fn times_that_go_backwards_or_to_the_end_of_time_are_counted() {
    for (path, cause) in [
        ("negative_span/in", "finish-before-start"),
        ("odd_alibaba2017_order_tasks_finish_start", "finish-before-start"),
        ("odd_spark_far_future_nodes_time", "far-time"),
    ] {
        let Some(source) = crate::support::shared(&format!("hostile/{path}")) else { return };
        let dir = Dir::new();
        dir.ok(&["ingest", &source, "--out", "T"]);
        let found = dir.json(&["inspect", "T", "--json"]);
        assert!(found["skipped"][cause].as_u64() >= Some(1), "{path}: {found:#}");
        assert!(found["span_ms"].as_i64().is_none_or(|span| span >= 0), "{path}: {found:#}");
        let odd = found["oddities"].as_object().unwrap();
        assert!(!odd.keys().any(|kind| kind.contains("finish-before")), "{path}: {odd:?}");
        let nodes = resched_tables::store::Trace::open(&dir.path("T")).unwrap();
        let nodes = nodes.rows::<resched_tables::model::NodeRow>().unwrap();
        assert!(nodes.map(Result::unwrap).all(|node| node.time != Some(i64::MAX)), "{path}");
    }
}

/// A record without an end in a table is skipped.
#[test]
fn endless_records_of_tables_do_not_go_off() {
    const MB: usize = 1 << 20;
    let dir = Dir::new();
    for (name, head) in [
        ("google2011", "0,,1,0,5,0,user,1,9,0.1,0.1,0.1,0\n0,,1,0,5,"),
        (
            "google2019",
            "{\"time\":\"0\",\"type\":\"0\",\"collection_id\":\"1\",\"instance_index\":\"0\"}\n{\"time\":\"",
        ),
        ("kaggle", ",time,collection_id,instance_index,event\n0,0,1,0,SUBMIT\n1,\""),
        ("alibaba2018", "M1,1,j_1,1,Terminated,1,2,100,0.3\nM2,1,j_1,1,"),
    ] {
        let mut bytes = head.as_bytes().to_vec();
        bytes.resize(150 * MB, b'7');
        let packed = gzip(&bytes);
        drop(bytes);
        dir.write("bomb.gz", packed);
        let script = format!("ulimit -v {MEMORY}; exec \"$0\" ingest bomb.gz --out X");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_resched")]).current_dir(dir.path(""));
        let ran = Ran::of(&[name], command.output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains(": 1 job, 1 task,") && ran.stdout.contains("1 × oversized-record"), "{ran:?}");
    }
}
