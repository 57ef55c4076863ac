//! How wide jobs are: CPUs, nodes and limits as groups, filters and sizes, for systems whose jobs ask for CPUs.

use resched_analysis::Run;

use crate::support::Dir;

/// Six jobs of an SWF list on four nodes of 16 processors: submission, run time, processors, limit (s) and user.
const JOBS: [(u32, u32, u32, u32, u32); 6] = [
    (0, 1_000, 16, 1_200, 1),
    (10, 2_000, 40, 4_000, 1),
    (20, 3_000, 1, 800, 2),
    (30, 500, 1, 600, 2),
    (40, 700, 4, 20_000, 3),
    (50, 900, 2, 20_000, 3),
];

fn replayed() -> Dir {
    let dir = Dir::new();
    let mut list = "; MaxNodes: 4\n; MaxProcs: 64\n; UnixStartTime: 1000000000\n".to_owned();
    for (number, (submit, run, cpus, limit, user)) in (1..).zip(JOBS) {
        list += &format!("{number} {submit} 5 {run} {cpus} -1 -1 {cpus} {limit} -1 1 {user} 1 1 1 1 -1 -1\n");
    }
    dir.write("jobs.swf", &list);
    dir.ok(&["ingest", "jobs.swf", "--out", "T"]);
    dir.ok(&["replay", "T", "--policy", "easy", "--policy", "conservative", "--out", "R"]);
    dir
}

fn names(json: &serde_json::Value, by: &str) -> Vec<(String, u64)> {
    let rows = json["groups"][by].as_array().unwrap();
    rows.iter().map(|row| (row["group"].as_str().unwrap().to_owned(), row["jobs"].as_u64().unwrap())).collect()
}

#[test]
fn jobs_are_grouped_and_filtered_by_what_they_ask_for() {
    let dir = replayed();
    let by = ["--by", "cpus", "--by", "limit", "--by", "size", "--by", "partition", "--by", "gpus"];
    let metrics = ["--metric", "count() where cpus >= 16", "--metric", "sum(cpus)", "--metric", "max(limit)"];
    let replay = ["replay", "T", "--policy", "easy", "--out", "Q"];
    let json = dir.json(&[&replay[..], &by, &metrics, &["--json"]].concat());
    let named = |all: &[(&str, u64)]| all.iter().map(|(name, jobs)| ((*name).to_owned(), *jobs)).collect::<Vec<_>>();
    assert_eq!(names(&json, "cpus"), named(&[("1", 2), ("2–4", 2), ("5–16", 1), ("17–64", 1)]));
    assert_eq!(names(&json, "limit"), named(&[("up to 15 min", 2), ("15–60 min", 1), ("1–4 h", 1), ("4–12 h", 2)]));
    assert_eq!(names(&json, "gpus"), named(&[("0", 6)]));
    // Of 1, 1, 2, 4, 16 and 40 CPUs, those up to the third are small. All are one task.
    assert_eq!(names(&json, "size"), named(&[("large", 1), ("medium", 2), ("small", 3)]));
    let metric = |name: &str| json["metrics"][name].as_f64().unwrap();
    assert_eq!([metric("count() where cpus >= 16"), metric("sum(cpus)"), metric("max(limit)")], [2.0, 64.0, 2e7]);
    let text = dir.ok(&[&replay[..], &by].concat());
    assert!(text.contains(" size by CPUs ") && text.contains(" 17–64 "), "{text}");
}

#[test]
fn a_comparison_shows_whether_wide_jobs_pay() {
    let dir = replayed();
    let diff = dir.json(&["diff", "R/easy", "R/conservative", "--json"]);
    let groups = diff["groups"]["CPUs"].as_array().unwrap();
    let names: Vec<&str> = groups.iter().map(|group| group["group"].as_str().unwrap()).collect();
    assert_eq!(names, ["1", "2–4", "5–16", "17–64"], "in their order");
    assert!(diff["groups"].get("GPUs").is_none(), "no job asks for one: {diff:#}");
}

/// The job of 40 processors does not fit on two nodes of 16.
#[test]
fn a_gang_is_listed_on_all_of_its_nodes() {
    let dir = replayed();
    let run = Run::open(&dir.path("R/easy")).unwrap();
    let wide: Vec<(usize, u32)> = run
        .spread
        .iter()
        .filter(|(place, _)| run.jobs[run.intervals[**place].job].cpus == Some(40.0))
        .flat_map(|(_, nodes)| nodes.iter().map(|(node, instances)| (node.place(), *instances)))
        .collect();
    let nodes: std::collections::BTreeSet<usize> = wide.iter().map(|(node, _)| *node).collect();
    assert!(nodes.len() >= 3, "{wide:?}");
    assert_eq!(wide.iter().map(|(_, instances)| instances).sum::<u32>(), 40);
    let held: f64 = run.counted_on_nodes().map(|(_, _, share)| share).sum();
    assert!((held - 6.0).abs() < 1e-9, "each job holds its CPUs once: {held}");
}

#[test]
fn what_is_not_known_is_said_and_no_zero() {
    let dir = Dir::with_sample();
    let text = dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R", "--by", "cpus"]);
    assert!(text.contains("by CPUs: unknown for every job"), "{text}");
    let metric = ["--metric", "mean(cpus)"];
    let json =
        dir.json(&[&["replay", "T", "--assume", "--policy", "fifo", "--out", "R", "--json"][..], &metric].concat());
    assert!(json["metrics"]["mean(cpus)"].is_null(), "{json:#}");
}

#[test]
fn a_trace_of_requests_is_inspected_without_maps() {
    let dir = replayed();
    let text = dir.ok(&["inspect", "T"]);
    assert!(!text.contains("map") && text.contains("jobs that ask for CPUs"), "{text}");
    let validated = dir.ok(&["validate", "T", "--policy", "easy"]);
    assert!(
        validated.contains(" waiting ") && !validated.contains("reduce") && !validated.contains("slots"),
        "{validated}"
    );
}
