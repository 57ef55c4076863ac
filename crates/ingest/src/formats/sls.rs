//! Inputs of Hadoop's Scheduler Load Simulator: jobs with their containers, and nodes, each as concatenated JSON objects.
//!
//! Page: `docs/formats/sls.md`. Times are milliseconds from the start of the simulation. A container is a task with one
//! attempt that succeeded on the host that the file names. If the file gives only a duration, the attempt starts with
//! its job. `job.count` and `count` repeat jobs and containers. A job without an id is named after its place in the
//! file. The generators of SLS (`syn.json`) are not traces.

use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;

use super::format::{Format, ReadAs};
use super::json::{Objects, Piece, top_level_keys};
use super::topology::{host, place, rack};
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskKind, TaskRecord, TaskRow};
use resched_tables::sink::{Damage, Sink};

/// Jobs of the Scheduler Load Simulator.
pub const FORMAT: Format = Format {
    name: "sls",
    title: "jobs of the Scheduler Load Simulator (JSON)",
    time_zero: Some(resched_tables::store::TimeZero::Relative),
    system: Some(resched_tables::store::System::Yarn),
    has_tasks: true,
    group: "sls",
    is_whole: false,
    has_times_of_tasks: false,
    folded: true,
    sniff: |head| top_level_keys(head).contains(&"job.tasks"),
    reads: READS,
    read: read_jobs,
};

/// Nodes of the Scheduler Load Simulator.
pub const NODES: Format = Format {
    name: "sls-nodes",
    title: "nodes of the Scheduler Load Simulator (JSON)",
    time_zero: None,
    system: Some(resched_tables::store::System::Yarn),
    has_tasks: true,
    group: "sls",
    is_whole: false,
    has_times_of_tasks: false,
    folded: false,
    sniff: |head| {
        let keys = top_level_keys(head);
        keys.contains(&"rack") && keys.contains(&"nodes")
    },
    reads: READS_OF_NODES,
    read: read_nodes,
};

/// What the columns of jobs are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["job.id"]),
    ("jobs.user", &["job.user"]),
    ("jobs.queue", &["job.queue.name"]),
    ("jobs.priority_number", &["job.priority"]),
    ("jobs.framework", &["am.type"]),
    ("jobs.submit", &["job.start.ms"]),
    ("jobs.launch", &["container.start.ms"]),
    ("jobs.finish", &["job.end.ms"]),
    ("tasks.kind", &["container.type"]),
    ("tasks.stage", &["container.type"]),
    ("tasks.start", &["container.start.ms"]),
    ("tasks.finish", &["container.end.ms", "container.duration.ms", "duration.ms"]),
    ("tasks.cpu_request", &["container.vcores"]),
    ("tasks.memory_request", &["container.memory-mb"]),
    ("attempts.kind", &["container.type"]),
    ("attempts.start", &["container.start.ms"]),
    ("attempts.finish", &["container.end.ms", "container.duration.ms", "duration.ms"]),
    ("attempts.host", &["container.host"]),
    ("attempts.rack", &["container.host"]),
];

/// What the columns of machines are read from.
const READS_OF_NODES: &[ReadAs] = &[
    ("nodes.host", &["node"]),
    ("nodes.rack", &["rack"]),
    ("nodes.cpu", &["vcores"]),
    ("nodes.memory", &["memory-mb"]),
];

/// The most bytes of a job or rack: some 300,000 containers.
pub(crate) const MAX_OBJECT: usize = 64 << 20;
/// The most objects in a job or rack. A hostile file packs more into its bytes than any real one.
pub(crate) const MAX_PARTS: usize = 1_000_000;
/// The most tasks of a job, including repeated ones.
pub(crate) const MAX_TASKS: i64 = 1_000_000;
/// The most jobs that `job.count` makes of one.
pub(crate) const MAX_COUNT: i64 = 100_000;

#[derive(Deserialize)]
struct Job {
    #[serde(rename = "am.type")]
    am_type: Option<String>,
    #[serde(rename = "job.id")]
    id: Option<String>,
    #[serde(rename = "job.start.ms", default)]
    start: i64,
    #[serde(rename = "job.end.ms")]
    end: Option<i64>,
    #[serde(rename = "job.queue.name")]
    queue: Option<String>,
    #[serde(rename = "job.user")]
    user: Option<String>,
    #[serde(rename = "job.priority")]
    priority: Option<i64>,
    #[serde(rename = "job.count", default = "one")]
    count: i64,
    #[serde(rename = "job.tasks", default)]
    tasks: Vec<Container>,
}

#[derive(Deserialize)]
struct Container {
    #[serde(rename = "container.host")]
    host: Option<String>,
    #[serde(rename = "container.duration.ms", alias = "duration.ms")]
    duration: Option<i64>,
    #[serde(rename = "container.start.ms")]
    start: Option<i64>,
    #[serde(rename = "container.end.ms")]
    end: Option<i64>,
    #[serde(rename = "container.type")]
    kind: Option<String>,
    #[serde(default = "one")]
    count: i64,
    #[serde(rename = "container.memory-mb")]
    megabytes: Option<i64>,
    #[serde(rename = "container.vcores")]
    vcores: Option<i64>,
}

#[derive(Deserialize)]
struct Rack {
    rack: String,
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    node: Option<String>,
    #[serde(rename = "memory-mb")]
    megabytes: Option<i64>,
    vcores: Option<i64>,
}

fn one() -> i64 {
    1
}

/// What to do about an object that is damaged.
const REMEDY: &str = "write the file again with rumen2sls.sh, or mend the object";

/// Passes on each object of the input. `damaged` is the cause that counts everything else.
fn each<T: serde::de::DeserializeOwned>(
    input: &mut dyn BufRead,
    path: &str,
    damaged: Cause,
    sink: &mut dyn Sink,
    mut take: impl FnMut(T, &mut dyn Sink) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut objects = Objects::new(input, MAX_OBJECT);
    while let Some(piece) = objects.next().map_err(Error::io(Path::new(path), "read"))? {
        let (line, object) = match piece {
            Piece::Object { line, text } if text.iter().filter(|&&byte| byte == b'{').nth(MAX_PARTS).is_some() => {
                (line, Err(format!("more than {MAX_PARTS} parts")))
            }
            Piece::Object { line, text } => {
                (line, serde_json::from_str(&String::from_utf8_lossy(text)).map_err(|error| error.to_string()))
            }
            Piece::Junk => {
                sink.skip(damaged, 1);
                continue;
            }
        };
        match object {
            Ok(object) => take(object, sink)?,
            Err(found) => {
                sink.skip(damaged, 1);
                let place = format!("the object at line {line}: ");
                sink.damage(&|| Damage::new(&place, "what the Scheduler Load Simulator reads", &found, REMEDY));
            }
        }
    }
    Ok(())
}

fn read_jobs(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut number = 0u64;
    each(input, path, cause::DAMAGED_JOB, sink, |job: Job, sink| {
        number += 1;
        let id = job.id.clone().filter(|id| !id.is_empty()).unwrap_or_else(|| format!("sls_job_{number}"));
        let tasks = job.tasks.iter().fold(0, |sum: i64, task| sum.saturating_add(task.count.max(0)));
        if tasks > MAX_TASKS {
            sink.skip(cause::TOO_MANY_TASKS, 1);
            return Ok(());
        }
        if job.count > MAX_COUNT {
            sink.skip(cause::TOO_MANY_JOBS, job.count.abs_diff(MAX_COUNT));
        }
        for copy in 1..=job.count.min(MAX_COUNT) {
            let id = if copy == 1 { id.clone() } else { format!("{id}_{copy}") };
            sink.job(record(&job, &id))?;
        }
        Ok(())
    })
}

fn record(job: &Job, job_id: &str) -> JobRecord {
    let submit = known(Some(job.start));
    let mut tasks = Vec::new();
    for container in &job.tasks {
        for _ in 0..container.count {
            tasks.push(task(container, job_id, tasks.len(), submit));
        }
    }
    let last = tasks.iter().filter_map(|task| task.task.finish).max();
    let row = JobRow {
        job_id: job_id.to_owned(),
        user: Some(job.user.clone().unwrap_or_else(|| "default".to_owned())),
        queue: job.queue.clone(),
        priority_number: job.priority,
        framework: Some(job.am_type.clone().unwrap_or_else(|| resched_tables::model::MAPREDUCE.to_owned())),
        submit,
        launch: tasks.iter().filter_map(|task| task.task.start).min(),
        finish: known(job.end).or(last),
        outcome: Outcome::Success,
        ..JobRow::default()
    };
    JobRecord { job: row, tasks, counters: Vec::new() }
}

fn task(container: &Container, job_id: &str, number: usize, submit: Option<i64>) -> TaskRecord {
    // A container without a type is a map to SLS.
    let kind = match container.kind.as_deref() {
        None | Some("map") => TaskKind::Map,
        Some("reduce") => TaskKind::Reduce,
        Some(_) => TaskKind::Other,
    };
    let start = known(container.start).or(submit.filter(|_| container.duration.is_some()));
    let finish = known(container.end).or_else(|| start?.checked_add(known(container.duration)?));
    let (host, rack) = container.host.as_deref().map_or((None, None), place);
    let row = TaskRow {
        job_id: job_id.to_owned(),
        task_id: format!("{job_id}_t{number}"),
        kind,
        stage: container.kind.clone().filter(|_| kind == TaskKind::Other),
        start,
        finish,
        outcome: Outcome::Success,
        cpu_request: known(container.vcores).and_then(|cores| cores.checked_mul(1_000)),
        memory_request: known(container.megabytes).and_then(|megabytes| megabytes.checked_mul(1 << 20)),
        ..TaskRow::default()
    };
    let attempt = AttemptRow {
        job_id: job_id.to_owned(),
        task_id: row.task_id.clone(),
        kind,
        start,
        finish,
        outcome: Outcome::Success,
        host,
        rack,
        ..AttemptRow::default()
    };
    TaskRecord { task: row, splits: Vec::new(), attempts: vec![attempt] }
}

fn read_nodes(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    each(input, path, cause::DAMAGED_RACK, sink, |reported: Rack, sink| {
        for node in reported.nodes {
            // The nodes that come with SLS end with an empty one.
            let Some(host) = node.node.as_deref().and_then(host) else {
                sink.skip(cause::NODE_WITHOUT_NAME, 1);
                continue;
            };
            sink.node(NodeRow {
                host,
                rack: rack(&reported.rack),
                cpu: known(node.vcores).and_then(|cores| cores.checked_mul(1_000)),
                memory: known(node.megabytes).and_then(|megabytes| megabytes.checked_mul(1 << 20)),
                ..NodeRow::default()
            });
        }
        Ok(())
    })
}

fn known(number: Option<i64>) -> Option<i64> {
    number.filter(|&number| number >= 0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::golden::{Collected, Found as _, each_damage, read_shared};
    use super::*;

    fn shared(file: &str) -> Option<Vec<u8>> {
        read_shared(&format!("hadoop-3x/sls/{file}"))
    }

    /// What another program counted in the file that comes with SLS.
    #[test]
    fn the_jobs_of_sls_give_their_golden_counts() {
        let Some(bytes) = shared("inputsls.json") else { return };
        assert!((FORMAT.sniff)(&bytes) && !(NODES.sniff)(&bytes));
        let found = Collected::read(&FORMAT, &bytes).unwrap();
        let reported: Vec<_> = found
            .jobs
            .iter()
            .map(|record| {
                (
                    record.job.job_id.as_str(),
                    record.job.queue.as_deref().unwrap(),
                    record.job.submit,
                    record.job.finish,
                    record.tasks.len(),
                )
            })
            .collect();
        assert_eq!(
            reported,
            [
                ("job_1", "sls_queue_1", Some(0), Some(95_375), 3),
                ("job_2", "sls_queue_2", Some(105_204), Some(197_256), 2)
            ]
        );
        let map = &found.jobs[0].tasks[1].attempts[0];
        assert_eq!(
            (map.host.as_deref(), map.rack.as_deref(), map.start, map.finish),
            (Some("node3"), Some("/default-rack"), Some(6_665), Some(21_593))
        );
        assert!(found.jobs.iter().flat_map(|record| &record.tasks).all(|task| task.task.kind == TaskKind::Map));
        assert!(found.skipped.is_empty());
    }

    /// What another program counted in the file that comes with SLS.
    #[test]
    fn the_nodes_of_sls_give_their_golden_counts() {
        let Some(bytes) = shared("nodes.json") else { return };
        assert!((NODES.sniff)(&bytes) && !(FORMAT.sniff)(&bytes));
        let found = Collected::read(&NODES, &bytes).unwrap();
        let racks: std::collections::BTreeSet<_> = found.nodes.iter().map(|node| node.rack.clone()).collect();
        assert_eq!((found.nodes.len(), racks.len()), (19, 5));
        assert_eq!(found.skipped, [("node-without-name".to_owned(), 1)].into());
        let Some(bytes) = shared("nodes-with-resources.json") else { return };
        let found = Collected::read(&NODES, &bytes).unwrap();
        let reported: Vec<_> = found.nodes.iter().map(|node| (node.host.as_str(), node.cpu, node.memory)).collect();
        assert_eq!(
            reported,
            [
                ("node1", Some(6_000), Some(2 << 30)),
                ("node2", None, None),
                ("node3", None, None),
                ("node4", Some(12_000), Some(6 << 30))
            ]
        );
    }

    #[test]
    fn generators_and_rumen_traces_are_not_taken_for_jobs() {
        for file in ["syn.json", "syn_generic.json", "syn_stream.json", "2jobs2min-rumen-jh.json"] {
            let Some(bytes) = shared(file) else { return };
            assert!(!(FORMAT.sniff)(&bytes) && !(NODES.sniff)(&bytes), "{file}");
        }
    }

    #[test]
    fn counts_repeat_jobs_and_containers_and_a_duration_starts_with_the_job() {
        let text = r#"{"job.start.ms": 5, "job.queue.name": "q", "job.count": 2, "job.tasks": [
            {"count": 2, "duration.ms": 7, "container.type": "reduce", "container.memory-mb": 1, "container.vcores": 2},
            {"container.start.ms": 1, "container.end.ms": 3, "container.type": "spot"}]}"#;
        let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
        let ids: Vec<_> = found.jobs.iter().map(|record| record.job.job_id.as_str()).collect();
        assert_eq!(ids, ["sls_job_1", "sls_job_1_2"]);
        let tasks: Vec<_> = found.jobs[1]
            .tasks
            .iter()
            .map(|task| (task.task.task_id.as_str(), task.task.kind, task.task.start, task.task.finish))
            .collect();
        assert_eq!(
            tasks,
            [
                ("sls_job_1_2_t0", TaskKind::Reduce, Some(5), Some(12)),
                ("sls_job_1_2_t1", TaskKind::Reduce, Some(5), Some(12)),
                ("sls_job_1_2_t2", TaskKind::Other, Some(1), Some(3)),
            ]
        );
        let reduce = &found.jobs[0].tasks[0].task;
        assert_eq!((reduce.cpu_request, reduce.memory_request), (Some(2_000), Some(1 << 20)));
        assert_eq!((found.jobs[0].job.user.as_deref(), found.jobs[0].job.finish), (Some("default"), Some(12)));
    }

    #[test]
    fn a_job_runs_as_often_as_the_limit_and_the_rest_is_counted() {
        for (surplus, expected) in [(0, None), (3, Some(3))] {
            let text = format!("{{\"job.count\": {}, \"job.tasks\": []}}", MAX_COUNT + surplus);
            let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
            let skipped = found.skipped.get("too-many-jobs").copied();
            assert_eq!((found.jobs.len() as i64, skipped), (MAX_COUNT, expected));
        }
    }

    #[test]
    fn hostile_counts_are_refused() {
        let text = r#"{"job.count": -1, "job.tasks": []} {"job.tasks": [{"count": 99999999999}]} {"job.count": 100003, "job.tasks": []} 7"#;
        let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
        assert_eq!(found.jobs.len(), 100_000);
        let causes = [("damaged-job", 1), ("too-many-jobs", 3), ("too-many-tasks", 1)];
        assert_eq!(found.skipped, causes.map(|(cause, n)| (cause.to_owned(), n)).into());
    }

    #[test]
    fn no_damage_makes_it_panic() {
        for (format, file) in [(&FORMAT, "inputsls.json"), (&NODES, "nodes-with-resources.json")] {
            let Some(bytes) = shared(file) else { return };
            each_damage(&bytes, 300, |damaged| {
                (format.sniff)(damaged);
                Collected::read(format, damaged).unwrap();
            });
        }
    }
}
