//! Rumen's job trace and topology, as Hadoop's Mumak, GridMix and the Scheduler Load Simulator read them.
//!
//! `docs/formats/export.md` has what is lost. The fields are those that [`crate::formats::rumen`] reads, with one job per line.
//! Unknown numbers are −1. The format has only maps, reduces and other tasks. A task of another kind is written among
//! the others, under its stage or kind.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Output, Target, Write};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{
    AttemptRow, CounterRow, CounterScope, JobRecord, JobRow, NodeChange, Outcome, TaskKind, TaskRecord, TaskRow,
};
use resched_tables::records::Source;

/// The job trace.
pub(super) const TRACE: Target =
    Target { name: "rumen", title: "Rumen job trace (JSON)", write: Write::File(write_trace) };

/// The topology.
pub(super) const TOPOLOGY: Target =
    Target { name: "rumen-topology", title: "Rumen network topology (JSON)", write: Write::File(write_topology) };

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Job<'a> {
    #[serde(rename = "jobID")]
    job_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<&'static str>,
    submit_time: i64,
    launch_time: i64,
    finish_time: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    total_maps: i64,
    total_reduces: i64,
    #[serde(rename = "jobMapMB")]
    map_megabytes: i64,
    #[serde(rename = "jobReduceMB")]
    reduce_megabytes: i64,
    map_tasks: Vec<Task<'a>>,
    reduce_tasks: Vec<Task<'a>>,
    other_tasks: Vec<Task<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Task<'a> {
    #[serde(rename = "taskID")]
    task_id: &'a str,
    task_type: Option<String>,
    task_status: Option<&'static str>,
    start_time: i64,
    finish_time: i64,
    input_bytes: i64,
    input_records: i64,
    output_bytes: i64,
    output_records: i64,
    preferred_locations: Vec<Location<'a>>,
    attempts: Vec<Attempt<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attempt<'a> {
    #[serde(rename = "attemptID")]
    attempt_id: String,
    host_name: Option<String>,
    location: Option<Location<'a>>,
    start_time: i64,
    finish_time: i64,
    shuffle_finished: i64,
    sort_finished: i64,
    result: Option<&'static str>,
    hdfs_bytes_read: i64,
    hdfs_bytes_written: i64,
    file_bytes_read: i64,
    file_bytes_written: i64,
    map_input_bytes: i64,
    map_output_bytes: i64,
    reduce_shuffle_bytes: i64,
    spilled_records: i64,
    /// The counters, under their names.
    #[serde(flatten)]
    counters: BTreeMap<&'static str, i64>,
    resource_usage_metrics: ResourceUsage,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceUsage {
    cumulative_cpu_usage: i64,
    physical_memory_usage: i64,
}

#[derive(Serialize)]
struct Location<'a> {
    layers: Vec<&'a str>,
}

/// The counters of an attempt that have a field, with its name.
const COUNTERS: [(&str, &str); 6] = [
    ("MAP_INPUT_RECORDS", "mapInputRecords"),
    ("MAP_OUTPUT_RECORDS", "mapOutputRecords"),
    ("COMBINE_INPUT_RECORDS", "combineInputRecords"),
    ("REDUCE_INPUT_GROUPS", "reduceInputGroups"),
    ("REDUCE_INPUT_RECORDS", "reduceInputRecords"),
    ("REDUCE_OUTPUT_RECORDS", "reduceOutputRecords"),
];

fn write_trace(source: &Source, output: &mut Output<'_>) -> Result<(), Error> {
    let are_made = source.manifest().is_some_and(|manifest| manifest.made_whole("attempts.start").is_some());
    for record in source.records()? {
        let record = record?;
        // Nobody who reads the file can see that a rule made its times.
        output.counted(cause::TIMES_NOT_OBSERVED, are_made);
        let job = job(&record, output);
        output.json(&job)?;
        output.exported.written += 1;
    }
    Ok(())
}

fn job<'a>(record: &'a JobRecord, output: &mut Output<'_>) -> Job<'a> {
    let row = &record.job;
    for (column, is_lost) in unsayable(row) {
        output.lost(column, is_lost);
    }
    let mut counters: BTreeMap<&str, Vec<&CounterRow>> = BTreeMap::new();
    for counter in &record.counters {
        counters.entry(&counter.id).or_default().push(counter);
    }
    let of_kind = |kind| record.tasks.iter().map(|task| &task.task).filter(move |task| task.kind == kind);
    let mut written = Job {
        job_id: &row.job_id,
        job_name: row.name.as_deref(),
        user: row.user.as_deref(),
        queue: row.queue.as_deref(),
        priority: row.priority.map(|priority| priority.as_str()),
        submit_time: number(row.submit),
        launch_time: number(row.launch),
        finish_time: number(row.finish),
        outcome: status(row.outcome),
        total_maps: number(row.declared_maps),
        total_reduces: number(row.declared_reduces),
        map_megabytes: megabytes(of_kind(TaskKind::Map)),
        reduce_megabytes: megabytes(of_kind(TaskKind::Reduce)),
        map_tasks: Vec::new(),
        reduce_tasks: Vec::new(),
        other_tasks: Vec::new(),
    };
    output.lost(
        "jobs.outcome",
        !matches!(row.outcome, Outcome::Success | Outcome::Failed | Outcome::Killed | Outcome::Unknown),
    );
    for reported in &record.tasks {
        let (list, memory) = match reported.task.kind {
            TaskKind::Map => (&mut written.map_tasks, written.map_megabytes),
            TaskKind::Reduce => (&mut written.reduce_tasks, written.reduce_megabytes),
            _ => (&mut written.other_tasks, -1),
        };
        let said = Some(memory).filter(|&memory| memory >= 0).and_then(|memory| memory.checked_mul(1 << 20));
        output.lost("tasks.memory_request", reported.task.memory_request != said);
        list.push(task(reported, &counters, output));
    }
    output.lost_counters(&record.counters);
    written
}

/// Columns of a job that have no field, and whether this job has a value there.
fn unsayable(row: &JobRow) -> [(&'static str, bool); 18] {
    [
        ("jobs.priority_number", row.priority_number.is_some()),
        ("jobs.scheduling_class", row.scheduling_class.is_some()),
        ("jobs.group", row.group.is_some()),
        ("jobs.framework", row.framework.as_deref().is_some_and(|name| name != resched_tables::model::MAPREDUCE)),
        ("jobs.requested_containers", row.requested_containers.is_some()),
        ("jobs.requested_cpu", row.requested_cpu.is_some()),
        ("jobs.requested_memory", row.requested_memory.is_some()),
        ("jobs.requested_time", row.requested_time.is_some()),
        ("jobs.depends_on", !row.depends_on.is_empty()),
        ("jobs.eligible", row.eligible.is_some()),
        ("jobs.array", row.array.is_some()),
        ("jobs.array_limit", row.array_limit.is_some()),
        ("jobs.together", row.together.is_some()),
        ("jobs.nice", row.nice.is_some()),
        ("jobs.qos", row.qos.is_some()),
        ("jobs.reservation", row.reservation.is_some()),
        ("jobs.features", row.features.is_some()),
        ("jobs.licenses", row.licenses.is_some()),
    ]
}

/// The memory of a job's tasks of a kind, megabytes: that of the first.
fn megabytes<'a>(mut tasks: impl Iterator<Item = &'a TaskRow>) -> i64 {
    number(tasks.next().and_then(|task| task.memory_request).map(|bytes| bytes >> 20))
}

fn task<'a>(
    reported: &'a TaskRecord,
    counters: &BTreeMap<&str, Vec<&CounterRow>>,
    output: &mut Output<'_>,
) -> Task<'a> {
    let row = &reported.task;
    let is_other = !matches!(row.kind, TaskKind::Map | TaskKind::Reduce);
    let task_type = match (row.kind, &row.stage) {
        (TaskKind::Other, stage) => stage.as_ref().map(|stage| stage.to_uppercase()),
        (kind, _) => Some(kind.as_str().to_uppercase()),
    };
    output.lost("tasks.kind", matches!(row.kind, TaskKind::Setup | TaskKind::Cleanup));
    output.lost("tasks.stage", row.stage.as_ref().is_some_and(|stage| !is_other || stage.to_lowercase() != *stage));
    output.lost("tasks.depends_on", !row.depends_on.is_empty());
    output.lost("tasks.cpu_request", row.cpu_request.is_some());
    output.lost("tasks.instances", row.instances.is_some());
    output.lost("tasks.gang", row.gang.is_some());
    output.lost("tasks.resources", row.resources.is_some());
    output.lost("tasks.machines", row.machines.is_some());
    output.lost("tasks.exclusive", row.exclusive.is_some());
    output.lost("tasks.outcome", matches!(row.outcome, Outcome::Lost | Outcome::Evicted));
    output.lost("splits.bytes", reported.splits.iter().any(|split| split.bytes.is_some()));
    Task {
        task_id: &row.task_id,
        task_type,
        task_status: task_status(row.outcome),
        start_time: number(row.start),
        finish_time: number(row.finish),
        input_bytes: number(row.input_bytes),
        input_records: number(row.input_records),
        output_bytes: number(row.output_bytes),
        output_records: number(row.output_records),
        preferred_locations: reported.splits.iter().map(|split| location(&split.host, &split.rack)).collect(),
        attempts: reported.attempts.iter().map(|row| attempt(row, reported, counters, output)).collect(),
    }
}

fn attempt<'a>(
    row: &'a AttemptRow,
    task: &TaskRecord,
    counters: &BTreeMap<&str, Vec<&CounterRow>>,
    output: &mut Output<'_>,
) -> Attempt<'a> {
    // A map's locality follows from the places of its input.
    let follows = row.kind == TaskKind::Map && !task.splits.is_empty();
    output.lost("attempts.queued", row.queued.is_some());
    output.lost("attempts.run_time", row.run_time.is_some());
    output.lost("attempts.locality", row.locality.is_some() && !follows);
    output.lost("attempts.speculative", row.speculative.is_some());
    output.lost("attempts.error", row.error.is_some());
    output.lost("attempts.outcome", matches!(row.outcome, Outcome::Lost | Outcome::Evicted));
    let name = row.task_id.strip_prefix("task_").map_or_else(|| row.task_id.clone(), |rest| format!("attempt_{rest}"));
    let of_attempt = counters.get(format!("{}/{}", row.task_id, row.attempt).as_str());
    let fields = of_attempt.into_iter().flatten().filter_map(|counter| Some((field_of(counter)?, counter.value)));
    Attempt {
        attempt_id: format!("{name}_{}", row.attempt),
        host_name: row.host.as_ref().map(|host| match &row.rack {
            Some(rack) => format!("{rack}/{host}"),
            None => host.clone(),
        }),
        location: row.host.as_ref().map(|_| location(&row.host, &row.rack)),
        start_time: number(row.start),
        finish_time: number(row.finish),
        shuffle_finished: number(row.shuffle_finish),
        sort_finished: number(row.sort_finish),
        result: task_status(row.outcome),
        hdfs_bytes_read: number(row.hdfs_bytes_read),
        hdfs_bytes_written: number(row.hdfs_bytes_written),
        file_bytes_read: number(row.file_bytes_read),
        file_bytes_written: number(row.file_bytes_written),
        map_input_bytes: number(row.map_input_bytes),
        map_output_bytes: number(row.map_output_bytes),
        reduce_shuffle_bytes: number(row.reduce_shuffle_bytes),
        spilled_records: number(row.spilled_records),
        counters: fields.collect(),
        resource_usage_metrics: ResourceUsage {
            cumulative_cpu_usage: row.cpu_ms.unwrap_or(0),
            physical_memory_usage: row.physical_memory.unwrap_or(0),
        },
    }
}

/// The field for a counter.
fn field_of(counter: &CounterRow) -> Option<&'static str> {
    let is_of_attempt = counter.scope == CounterScope::Attempt;
    COUNTERS.iter().find(|(name, _)| is_of_attempt && *name == counter.name).map(|(_, field)| *field)
}

impl Output<'_> {
    fn lost_counters(&mut self, counters: &[CounterRow]) {
        for counter in counters {
            self.lost("counters.value", field_of(counter).is_none());
        }
    }
}

/// A place: the parts of the rack, then the host.
fn location<'a>(host: &'a Option<String>, rack: &'a Option<String>) -> Location<'a> {
    let rack = rack.as_deref().unwrap_or_default().split('/').filter(|part| !part.is_empty());
    Location { layers: rack.chain(host.as_deref()).collect() }
}

fn number(number: Option<i64>) -> i64 {
    number.unwrap_or(-1)
}

/// The outcome of a job.
fn status(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Success => Some("SUCCESS"),
        Outcome::Failed | Outcome::Lost => Some("FAILED"),
        Outcome::Killed | Outcome::Evicted => Some("KILLED"),
        Outcome::Incomplete | Outcome::Unknown => None,
    }
}

/// The status of a task or attempt; `None` if it did not end.
fn task_status(outcome: Outcome) -> Option<&'static str> {
    if outcome == Outcome::Unknown { Some("UNKNOWN") } else { status(outcome) }
}

#[derive(Serialize)]
struct Place {
    name: String,
    children: Option<Vec<Place>>,
}

/// The machines that ever joined, by rack. A machine of an unknown rack is written in Hadoop's default rack.
fn write_topology(source: &Source, output: &mut Output<'_>) -> Result<(), Error> {
    let mut racks: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for row in source.nodes()? {
        let capacity = [row.map_slots, row.reduce_slots, row.cpu, row.memory];
        output.lost("nodes.capacity", capacity.iter().any(Option::is_some));
        output.lost("nodes.time", row.time.is_some());
        output.lost("nodes.rack", row.rack.is_none());
        if row.event != NodeChange::Add {
            output.lost("nodes.event", true);
            continue;
        }
        let rack = row.rack.as_deref().unwrap_or("/default-rack").trim_start_matches('/').to_owned();
        racks.entry(rack).or_default().push(Place { name: row.host, children: None });
        output.exported.written += 1;
    }
    let children = racks.into_iter().map(|(name, hosts)| Place { name, children: Some(hosts) }).collect();
    output.json(&Place { name: "<root>".to_owned(), children: Some(children) })
}
