//! What a workload takes from a log, and that a log in memory means the same as its trace on disk.
#![allow(clippy::unwrap_used)]

use resched_sim::cluster_file::Splits;
use resched_sim::hadoop::{Cluster, Kind, Loaded, Resources, Workload, load, load_records};
use resched_sim::{ClusterConfig, Scope, Skipped};
use resched_tables::model::{
    AttemptRow, JobRecord, JobRow, Locality, NodeChange, NodeRow, Outcome, SplitRow, TaskKind, TaskRecord, TaskRow,
};
use resched_tables::sink::Collected;
use resched_tables::store::{Trace, TraceParts, TraceWriter};
use resched_workload::{Workload as WorkloadFile, generate, write_trace};

const WORKLOAD: &str = r#"
name = "two"
about = "a job that reads splits, and one that reads nothing"

[cluster]
nodes = 3
replication = 2
split_bytes = 5_000_000

[classes.reads]
map_mean_s = 3.0

[classes.makes]
map_mean_s = 3.0
reads_input = false

[[jobs]]
name = "1"
class = "reads"
submit_s = 0
maps = 4
reduces = 1

[[jobs]]
name = "2"
class = "makes"
submit_s = 1
maps = 2
"#;

fn scope(seed: u64) -> Scope {
    Scope { seed, ..Scope::default() }
}

fn loaded() -> Workload {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("two.toml"), dir.path().join("trace"));
    std::fs::write(&file, WORKLOAD).unwrap();
    write_trace(&file, 1, &out).unwrap();
    let trace = Trace::open(&out).unwrap();
    let cluster = Cluster::for_trace(ClusterConfig::default(), &trace).unwrap();
    load(&trace, &cluster, &scope(1)).unwrap().workload
}

#[test]
fn maps_know_their_hosts_and_how_much_they_read() {
    let workload = loaded();
    let splits = |job: usize| -> Vec<(Option<u64>, usize)> {
        let job = workload.find(&workload.jobs()[job].id).unwrap();
        let maps = (0..workload.job(job).count(Kind::Map)).map(|number| workload.task(job, Kind::Map, number).unwrap());
        maps.map(|map| (workload.input_bytes(map), workload.replicas(map).len())).collect()
    };
    assert_eq!(splits(0), [(Some(5_000_000), 2); 4]);
    assert_eq!(splits(1), [(Some(0), 0); 2]);
}

#[test]
fn a_generated_workload_in_memory_is_that_of_its_trace_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let traces = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    let mut files = 0;
    for entry in std::fs::read_dir(traces).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        files += 1;
        let out = dir.path().join(path.file_stem().unwrap());
        write_trace(&path, 3, &out).unwrap();
        let trace = Trace::open(&out).unwrap();
        let mut made = Collected::default();
        generate(&WorkloadFile::read(&path).unwrap(), 3, &mut made).unwrap();
        let on_disk = Cluster::for_trace(ClusterConfig::default(), &trace).unwrap();
        let in_memory = Cluster::of_rows(ClusterConfig::default(), &made.nodes).unwrap();
        assert!(format!("{on_disk:?}") == format!("{in_memory:?}"), "the cluster of {}", path.display());
        let on_disk = load(&trace, &on_disk, &scope(3)).unwrap();
        let in_memory = load_records(&made.jobs, &in_memory, &scope(3)).unwrap();
        assert!(format!("{on_disk:?}") == format!("{in_memory:?}"), "the jobs of {}", path.display());
    }
    assert!(files > 10, "found {files} workload files");
}

#[test]
fn rows_of_machines_mean_the_same_in_memory_and_on_disk() {
    let row = |host: &str, event| NodeRow { host: host.to_owned(), event, ..NodeRow::default() };
    let rows = [
        NodeRow { map_slots: Some(7), rack: Some("/r2".to_owned()), ..row("b", NodeChange::Add) },
        NodeRow { map_slots: Some(9), ..row("b", NodeChange::Add) },
        NodeRow { map_slots: Some(5), ..row("c", NodeChange::Remove) },
        NodeRow { cpu: Some(6_500), memory: Some(3 << 30), reduce_slots: Some(-1), ..row("a", NodeChange::Add) },
    ];
    for count in [None, Some(4)] {
        let mut config = ClusterConfig::default();
        config.nodes.count = count;
        let dir = tempfile::tempdir().unwrap();
        let on_disk = Cluster::for_trace(config.clone(), &trace_of(dir.path(), &[], &rows)).unwrap();
        let in_memory = Cluster::of_rows(config, &rows).unwrap();
        assert_eq!(format!("{on_disk:?}"), format!("{in_memory:?}"));
        assert_eq!(in_memory.nodes().len(), count.unwrap_or(2) as usize);
        if count.is_none() {
            let slots: Vec<_> = in_memory.nodes().iter().map(|node| (node.name.as_str(), node.capacity)).collect();
            assert_eq!(slots, [("a", Resources::slots(2, 2)), ("b", Resources::slots(7, 2))]);
            assert_eq!(in_memory.racks(), ["/default-rack", "/r2"]);
        }
    }
}

fn trace_of(dir: &std::path::Path, jobs: &[JobRecord], nodes: &[NodeRow]) -> Trace {
    let path = dir.join("trace");
    let mut writer = TraceWriter::create(&path).unwrap();
    jobs.iter().for_each(|job| writer.job(job).unwrap());
    nodes.iter().for_each(|node| writer.node(node).unwrap());
    writer.finish(TraceParts::default()).unwrap();
    Trace::open(&path).unwrap()
}

/// A task of that id with one replica on each host and these attempts.
fn task(kind: TaskKind, id: &str, hosts: &[&str], attempts: Vec<AttemptRow>) -> TaskRecord {
    let task = TaskRow { task_id: id.to_owned(), kind, outcome: Outcome::Success, ..TaskRow::default() };
    let split = |(ordinal, host): (i64, &&str)| SplitRow {
        task_id: id.to_owned(),
        ordinal,
        host: Some((*host).to_owned()),
        rack: None,
        bytes: Some(64 + ordinal),
    };
    TaskRecord { task, splits: (0..).zip(hosts).map(split).collect(), attempts }
}

/// An attempt on a host, with its start, the ends of shuffle and sort, and its finish.
fn attempt(attempt: i64, outcome: Outcome, host: &str, times: [Option<i64>; 4]) -> AttemptRow {
    let [start, shuffle_finish, sort_finish, finish] = times;
    let host = Some(host.to_owned());
    AttemptRow { attempt, outcome, host, start, shuffle_finish, sort_finish, finish, ..AttemptRow::default() }
}

fn job(id: &str, outcome: Outcome, tasks: Vec<TaskRecord>) -> JobRecord {
    let job = JobRow { job_id: id.to_owned(), submit: Some(5), outcome, ..JobRow::default() };
    let mut record = JobRecord { job, tasks, counters: Vec::new() };
    for TaskRecord { task, attempts, .. } in &mut record.tasks {
        task.job_id = id.to_owned();
        for attempt in attempts {
            attempt.job_id = id.to_owned();
            attempt.task_id.clone_from(&task.task_id);
            attempt.kind = task.kind;
        }
    }
    record
}

/// Jobs with much that no generated workload has.
fn odd_jobs() -> Vec<JobRecord> {
    use Outcome::{Failed, Incomplete, Killed, Success, Unknown};
    use TaskKind::{Map, Reduce, Setup};

    let ran = |number, outcome, host, start, finish| AttemptRow {
        locality: Some(Locality::Rack),
        ..attempt(number, outcome, host, [Some(start), None, None, Some(finish)])
    };
    let mut tried = job(
        "job_1_0001",
        Failed,
        vec![
            task(Setup, "task_1_0001_m_000009", &["a"], vec![ran(0, Success, "a", 0, 9)]),
            // Listed before its number; its attempts are out of order, and one is missing.
            task(
                Map,
                "task_1_0001_m_000002",
                &["a", "a", "x"],
                vec![
                    ran(1, Failed, "slow", 10, 30),
                    ran(0, Killed, "a", 10, 15),
                    ran(3, Success, "slow", 40, 80),
                    ran(20_000, Success, "a", 40, 80),
                    ran(4, Success, "a", 90, i64::MAX),
                ],
            ),
            task(Map, "task_1_0001_m_000000", &["b"], vec![attempt(0, Success, "a", [Some(10), None, None, None])]),
            // Never seen to end.
            task(Map, "task_1_0001_m_000001", &["slow"], vec![ran(0, Success, "a", 10, 95)]),
            // Running when the last map ended; without a sort; without a shuffle; ended before its start.
            task(
                Reduce,
                "task_1_0001_r_000000",
                &[],
                vec![
                    attempt(0, Success, "slow", [Some(20), Some(99), Some(101), Some(120)]),
                    attempt(1, Success, "a", [Some(200), Some(230), None, Some(240)]),
                    attempt(2, Failed, "a", [Some(200), None, None, Some(240)]),
                    attempt(3, Unknown, "a", [Some(300), None, None, Some(240)]),
                ],
            ),
        ],
    );
    tried.tasks[3].task.outcome = Incomplete;
    (tried.tasks[1].task.input_bytes, tried.tasks[1].task.output_bytes) = (Some(-1), Some(7));
    (tried.job.declared_maps, tried.job.declared_reduces) = (Some(5), Some(i64::MAX));
    // Two tasks of one number: all stand in the order of the log, under their own names.
    let named = job(
        "odd",
        Success,
        vec![
            task(Map, "map_1", &["b"], vec![ran(0, Success, "a", 0, 1)]),
            task(Map, "again_1", &["a"], vec![ran(0, Success, "a", 0, 2)]),
            task(Reduce, "no number", &[], Vec::new()),
        ],
    );
    let killed =
        job("job_1_0003", Killed, vec![task(Map, "task_1_0003_m_000000", &[], vec![ran(0, Success, "a", 0, 1)])]);
    let mut unknown = job("job_1_0004", Success, vec![task(Map, "task_1_0004_m_000000", &[], Vec::new())]);
    unknown.job.submit = None;
    vec![tried, named, killed, unknown, job("job_1_0005", Success, Vec::new())]
}

#[test]
fn an_odd_log_means_the_same_in_memory_and_on_disk() {
    let jobs = odd_jobs();
    let nodes = ["a", "b", "slow"].map(|host| NodeRow { host: host.to_owned(), ..NodeRow::default() });
    let dir = tempfile::tempdir().unwrap();
    let trace = trace_of(dir.path(), &jobs, &nodes);
    let both = |change: &dyn Fn(&mut ClusterConfig)| -> (Workload, Skipped) {
        let mut config = ClusterConfig::default();
        change(&mut config);
        let cluster = Cluster::of_rows(config, &nodes).unwrap();
        let on_disk = load(&trace, &cluster, &scope(3)).unwrap();
        let in_memory = load_records(&jobs, &cluster, &scope(3)).unwrap();
        assert_eq!(format!("{on_disk:?}"), format!("{in_memory:?}"));
        (in_memory.workload, in_memory.skipped)
    };
    let runs = |workload: &Workload, number| -> Vec<i64> {
        let job = workload.find("job_1_0001").unwrap();
        let map = workload.task(job, Kind::Map, number).unwrap();
        workload.logged_maps(map).iter().map(|logged| logged.run).collect()
    };

    let (workload, skipped) = both(&|_| {});
    let skipped: Vec<_> = skipped.iter().map(|(cause, &n)| (cause.as_str(), n)).collect();
    let expected = [
        ("attempt-number-out-of-place", 2),
        ("attempt-without-run-time", 3),
        ("declared-tasks-out-of-range", 1),
        ("job-without-submit", 1),
        ("job-without-tasks", 1),
        ("killed-job", 1),
        ("split-host-outside-cluster", 1),
        ("split-host-twice", 1),
    ];
    assert_eq!(skipped, expected);
    assert_eq!(
        [0, 1, 2, 3, 4].map(|number| runs(&workload, number)),
        [vec![0], vec![], vec![0, 20, 0, 40, 0], vec![], vec![]]
    );
    let job = workload.job(workload.find("job_1_0001").unwrap());
    // Both reduces with a shuffle ran when the last map ended, at i64::MAX, so long after them that it cannot be.
    assert_eq!((job.first_shuffle, job.typical_shuffle), (None, None));
    let odd = workload.find("odd").unwrap();
    let name = |kind, number| workload.task_name(workload.task(odd, kind, number).unwrap());
    assert_eq!([name(Kind::Map, 0), name(Kind::Map, 1), name(Kind::Reduce, 0)], ["map_1", "again_1", "no number"]);

    let (workload, _) = both(&|config| config.cost.host_factors = [("slow".to_owned(), 2.0)].into());
    assert_eq!(runs(&workload, 2), [0, 10, 0, 20, 0]);

    let (workload, skipped) = both(&|config| {
        (config.jobs.splits, config.jobs.skip_killed) = (Splits::ByPosition, false);
    });
    let first = workload.task(workload.find("job_1_0001").unwrap(), Kind::Map, 0).unwrap();
    assert_eq!(workload.input_bytes(first), Some(66), "the split of the map that is listed first");
    assert!(!skipped.contains_key("killed-job") && workload.jobs().len() == 3);

    let (_, skipped) = both(&|config| config.nodes.count = Some(4));
    assert_eq!(skipped.get("split-host-drawn-anew"), Some(&8), "a generated cluster has none of these hosts");
}

#[test]
fn without_a_job_there_is_nothing_to_replay() {
    let nodes = [NodeRow { host: "a".to_owned(), ..NodeRow::default() }];
    let cluster = Cluster::of_rows(ClusterConfig::default(), &nodes).unwrap();
    let error = load_records(&odd_jobs()[2..], &cluster, &scope(1)).unwrap_err().to_string();
    assert!(error.starts_with("the workload: no job is left to replay (left out: "), "{error}");
    assert!(error.contains(" × ") && !error.contains('{'), "{error}");
    let error = Cluster::of_rows(ClusterConfig::default(), &[]).unwrap_err().to_string();
    assert!(error.contains("names no machine"), "{error}");
}

/// Three machines in two racks, of which one is slow, and a block on each. The cluster is cut to two and grown to five.
#[test]
fn machines_of_a_trace_are_cut_and_cloned_with_their_blocks() {
    let machine = |host: &str, rack: &str, slots: i64| NodeRow {
        host: host.to_owned(),
        rack: Some(rack.to_owned()),
        map_slots: Some(slots),
        reduce_slots: Some(1),
        ..NodeRow::default()
    };
    let nodes = [machine("a", "/x", 1), machine("b", "/x", 2), machine("c", "/y", 3)];
    let cluster = |clones: Option<u32>| {
        let mut config = ClusterConfig::default();
        config.nodes.clones = clones;
        config.cost.host_factors = [("b".to_owned(), 2.0)].into();
        Cluster::of_rows(config, &nodes).unwrap()
    };
    let of = |cluster: &Cluster| -> Vec<(String, String, u64)> {
        let node = |node: &resched_sim::hadoop::Node| {
            let rack = cluster.racks()[node.rack.index()].clone();
            (node.name.clone(), rack, node.capacity.map_slots())
        };
        cluster.nodes().iter().map(node).collect()
    };
    let named = |name: &str, rack: &str, slots| (name.to_owned(), rack.to_owned(), slots);
    let whole = [named("a", "/x", 1), named("b", "/x", 2), named("c", "/y", 3)];
    assert_eq!(of(&cluster(Some(3))), whole);
    // The first of each rack: `b`, although the cluster file names it, is not missed.
    assert_eq!(of(&cluster(Some(2))), [named("a", "/x", 1), named("c", "/y", 3)]);
    // In turn a, c, b; then clones of a and c.
    assert_eq!(
        of(&cluster(Some(5))),
        [named("a", "/x", 1), named("a~2", "/x", 1), named("b", "/x", 2), named("c", "/y", 3), named("c~2", "/y", 3)]
    );

    let task = |number: u32| {
        let task_id = format!("task_1_0001_m_{number:06}");
        let hosts = ["a", "b", "c", "elsewhere"];
        let split = |(ordinal, host): (usize, &&str)| SplitRow {
            task_id: task_id.clone(),
            ordinal: ordinal as i64,
            host: Some((*host).to_owned()),
            ..SplitRow::default()
        };
        let row = TaskRow {
            job_id: "job_1_0001".to_owned(),
            task_id: task_id.clone(),
            kind: TaskKind::Map,
            ..TaskRow::default()
        };
        TaskRecord { task: row, splits: hosts.iter().enumerate().map(split).collect(), attempts: Vec::new() }
    };
    let job = JobRow { job_id: "job_1_0001".to_owned(), submit: Some(0), ..JobRow::default() };
    let jobs = [JobRecord { job, tasks: (0..40).map(task).collect(), counters: Vec::new() }];
    let loaded = |clones: Option<u32>, seed: u64| {
        let cluster = cluster(clones);
        let Loaded { workload, skipped, .. } = load_records(&jobs, &cluster, &scope(seed)).unwrap();
        let names = |map| {
            let mut names: Vec<String> =
                workload.replicas(map).iter().map(|&node| cluster.node(node).name.clone()).collect();
            names.sort_unstable();
            names.join(" ")
        };
        let job = workload.find("job_1_0001").unwrap();
        let all: Vec<String> = (0..40).map(|number| names(workload.task(job, Kind::Map, number).unwrap())).collect();
        (all, skipped)
    };
    let (workload, skipped) = loaded(None, 1);
    assert_eq!(loaded(Some(3), 2), (workload, skipped), "a cluster of its own size is itself");
    // Both machines are left with a block each, and the one of `b` finds no third machine.
    let (cut, skipped) = loaded(Some(2), 1);
    assert!(cut.iter().all(|held| held == "a c"), "{cut:?}");
    assert_eq!((skipped["split-host-drawn-anew"], skipped["split-host-outside-cluster"]), (40, 40));
    // What `a` held is on `a` or on its clone, drawn for each block: about half each (20 ± 3 of 40).
    let (grown, skipped) = loaded(Some(5), 1);
    assert!(!skipped.contains_key("split-host-drawn-anew"));
    let on = |name: &str| grown.iter().filter(|held| held.split(' ').any(|part| part == name)).count();
    assert_eq!((on("a") + on("a~2"), on("b"), on("c") + on("c~2")), (40, 40, 40));
    assert!((10..=30).contains(&on("a")) && (10..=30).contains(&on("c")), "{grown:?}");
    assert_ne!(grown, loaded(Some(5), 2).0, "another seed places them elsewhere");
}
