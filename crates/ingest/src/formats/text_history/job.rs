//! One job, put together from its records.

use std::collections::BTreeMap;

use super::counters::{self, Counter};
use super::record::{Record, RecordType};
use crate::formats::names::split_rack_and_host;
use resched_tables::cause::{self, Cause};
use resched_tables::model::MAPREDUCE;
use resched_tables::model::{
    AttemptRow, CounterRow, CounterScope, JobRecord, JobRow, Locality, Outcome, Priority, SplitRow, TaskKind,
    TaskRecord, TaskRow,
};

/// The longest id (bytes): every row of a task holds a copy of it.
const LONGEST_ID: usize = 256;
/// The longest text that is kept (bytes), such as the error of a failed attempt.
const LONGEST_TEXT: usize = 16 << 10;
/// The most places of one task's input that are kept.
pub(crate) const MOST_SPLITS: usize = 10_000;

/// The job that a record belongs to and, unless it is a Job record, the task.
pub(super) struct Owner {
    pub(super) job: String,
    task: Option<String>,
}

impl Owner {
    /// Reads the ids of a record; a task's id holds that of its job (`task_<job>_m_000000`).
    pub(super) fn of(record: &Record) -> Option<Self> {
        match record.kind {
            RecordType::Job => {
                let job = record.get("JOBID").filter(|id| is_id(id, "job_"))?;
                Some(Self { job: job.to_owned(), task: None })
            }
            RecordType::Task | RecordType::Attempt => {
                let task = task_of(record)?;
                let (kind, _) = task.strip_prefix("task_")?.rsplit_once('_')?;
                let (job, _) = kind.rsplit_once('_')?;
                Some(Self { job: format!("job_{job}"), task: Some(task) })
            }
            RecordType::Meta | RecordType::Unknown => None,
        }
    }
}

fn is_id(id: &str, prefix: &str) -> bool {
    id.len() <= LONGEST_ID && id.starts_with(prefix)
}

/// The task that a record belongs to; an attempt's id holds that of its task (`attempt_<task>_0`).
fn task_of(record: &Record) -> Option<String> {
    let id = match record.get("TASKID") {
        Some(task) => task.to_owned(),
        None => {
            let (task, _) = record.get("TASK_ATTEMPT_ID")?.strip_prefix("attempt_")?.rsplit_once('_')?;
            format!("task_{task}")
        }
    };
    is_id(&id, "task_").then_some(id)
}

/// A job under construction.
pub(super) struct JobBuilder {
    job: JobRow,
    tasks: BTreeMap<String, TaskBuilder>,
    /// Keyed by what they belong to, so that a repeated record replaces them.
    counters: BTreeMap<(CounterScope, String), Vec<CounterRow>>,
    wants_counters: bool,
}

struct TaskBuilder {
    /// Its place in the order of the source.
    ordinal: usize,
    task: TaskRow,
    splits: Vec<SplitRow>,
    attempts: BTreeMap<i64, AttemptRow>,
    /// True if it has a Task record, and not only attempts.
    reported: bool,
    /// True if a Task record gave its kind. A record that is cut may not.
    kind_reported: bool,
}

impl JobBuilder {
    pub(super) fn new(job_id: String, wants_counters: bool) -> Self {
        let job =
            JobRow { job_id, framework: Some(MAPREDUCE.to_owned()), outcome: Outcome::Incomplete, ..JobRow::default() };
        Self { job, tasks: BTreeMap::new(), counters: BTreeMap::new(), wants_counters }
    }

    pub(super) fn id(&self) -> &str {
        &self.job.job_id
    }

    /// Merges a record of this job. `faults` receives the causes to count.
    pub(super) fn apply(&mut self, record: &Record, owner: &Owner, faults: &mut Vec<Cause>) {
        match &owner.task {
            None => self.apply_job(record, faults),
            Some(task) if record.kind == RecordType::Task => self.apply_task(record, task, faults),
            Some(task) => self.apply_attempt(record, task, faults),
        }
    }

    fn apply_job(&mut self, record: &Record, faults: &mut Vec<Cause>) {
        let job = &mut self.job;
        put(&mut job.name, text(record, "JOBNAME", faults));
        put(&mut job.user, text(record, "USER", faults));
        put(&mut job.queue, text(record, "JOB_QUEUE", faults));
        put(&mut job.priority, record.get("JOB_PRIORITY").and_then(Priority::from_name));
        put(&mut job.submit, record.time("SUBMIT_TIME"));
        put(&mut job.launch, record.time("LAUNCH_TIME"));
        put(&mut job.finish, record.time("FINISH_TIME"));
        put(&mut job.declared_maps, record.count("TOTAL_MAPS"));
        put(&mut job.declared_reduces, record.count("TOTAL_REDUCES"));
        if let Some(status) = record.get("JOB_STATUS") {
            job.outcome = outcome(status);
        }
        let id = self.job.job_id.clone();
        for (key, scope) in [
            ("COUNTERS", CounterScope::Job),
            ("MAP_COUNTERS", CounterScope::Map),
            ("REDUCE_COUNTERS", CounterScope::Reduce),
        ] {
            let counters = parse_counters(record, key, faults);
            self.keep_counters(scope, &id, counters);
        }
    }

    fn apply_task(&mut self, record: &Record, id: &str, faults: &mut Vec<Cause>) {
        let task = self.task(id);
        let row = &mut task.task;
        if row.start.is_some() && record.get("START_TIME") == Some("0") {
            // Seen after the job's end: it would replace the values of the task's own start record.
            faults.push(cause::REOPENED_TASK);
            return;
        }
        task.reported = true;
        if let Some(kind) = record.get("TASK_TYPE") {
            row.kind = task_kind(kind);
            task.kind_reported = true;
        }
        put(&mut row.start, record.time("START_TIME"));
        put(&mut row.finish, record.time("FINISH_TIME"));
        if let Some(status) = record.get("TASK_STATUS") {
            row.outcome = outcome(status);
        }
        if let Some(places) = record.get("SPLITS") {
            task.splits = split_rows(id, places, faults);
        }
        let mut counters = parse_counters(record, "COUNTERS", faults);
        counters.retain(|counter| !counter.fill_task(row));
        self.keep_counters(CounterScope::Task, id, counters);
    }

    fn apply_attempt(&mut self, record: &Record, task_id: &str, faults: &mut Vec<Cause>) {
        let number = record.get("TASK_ATTEMPT_ID").and_then(|id| id.rsplit_once('_')).map(|(_, number)| number);
        let Some(number) = number.and_then(|number| number.parse::<u32>().ok()) else {
            faults.push(cause::DAMAGED_RECORD);
            return;
        };
        let task = self.task(task_id);
        if let (Some(kind), false) = (record.get("TASK_TYPE"), task.kind_reported) {
            task.task.kind = task_kind(kind);
        }
        let row = task.attempt(i64::from(number));
        fill_attempt(row, record, faults);
        let mut counters = parse_counters(record, "COUNTERS", faults);
        counters.retain(|counter| !counter.fill_attempt(row));
        self.keep_counters(CounterScope::Attempt, &format!("{task_id}/{number}"), counters);
    }

    /// The task of that id, made on its first mention.
    fn task(&mut self, id: &str) -> &mut TaskBuilder {
        let ordinal = self.tasks.len();
        let job_id = &self.job.job_id;
        self.tasks.entry(id.to_owned()).or_insert_with_key(|id| TaskBuilder {
            ordinal,
            task: TaskRow {
                job_id: job_id.clone(),
                task_id: id.clone(),
                outcome: Outcome::Incomplete,
                ..TaskRow::default()
            },
            splits: Vec::new(),
            attempts: BTreeMap::new(),
            reported: false,
            kind_reported: false,
        })
    }

    fn keep_counters(&mut self, scope: CounterScope, id: &str, counters: Vec<Counter>) {
        if !self.wants_counters || counters.is_empty() {
            return;
        }
        let row = |Counter { group, name, value }| CounterRow { scope, id: id.to_owned(), group, name, value };
        self.counters.insert((scope, id.to_owned()), counters.into_iter().map(row).collect());
    }

    /// The job, and how many of its tasks have no Task record.
    pub(super) fn finish(self) -> (JobRecord, u64) {
        let mut builders: Vec<TaskBuilder> = self.tasks.into_values().collect();
        builders.sort_unstable_by_key(|task| task.ordinal);
        let mut unreported = 0;
        let mut tasks = Vec::with_capacity(builders.len());
        for builder in builders {
            unreported += u64::from(!builder.reported);
            tasks.push(builder.finish());
        }
        (JobRecord { job: self.job, tasks, counters: self.counters.into_values().flatten().collect() }, unreported)
    }
}

impl TaskBuilder {
    /// The attempt of that number, made on its first mention.
    fn attempt(&mut self, number: i64) -> &mut AttemptRow {
        let task = &self.task;
        self.attempts.entry(number).or_insert_with(|| AttemptRow {
            job_id: task.job_id.clone(),
            task_id: task.task_id.clone(),
            attempt: number,
            outcome: Outcome::Incomplete,
            ..AttemptRow::default()
        })
    }

    fn finish(self) -> TaskRecord {
        let mut task = self.task;
        if !self.reported {
            task.outcome = Outcome::Unknown;
        }
        let mut attempts: Vec<AttemptRow> = self.attempts.into_values().collect();
        for attempt in &mut attempts {
            attempt.kind = task.kind;
        }
        TaskRecord { task, splits: self.splits, attempts }
    }
}

fn fill_attempt(row: &mut AttemptRow, record: &Record, faults: &mut Vec<Cause>) {
    put(&mut row.start, record.time("START_TIME"));
    put(&mut row.shuffle_finish, record.time("SHUFFLE_FINISHED"));
    put(&mut row.sort_finish, record.time("SORT_FINISHED"));
    put(&mut row.finish, record.time("FINISH_TIME"));
    if let Some(status) = record.get("TASK_STATUS") {
        row.outcome = outcome(status);
    }
    if let Some(name) = text(record, "HOSTNAME", faults) {
        let (rack, host) = split_rack_and_host(&name);
        if rack.is_some() || row.host != host {
            row.rack = rack;
        }
        row.host = host;
    } else if row.host.is_none() {
        let tracker = text(record, "TRACKER_NAME", faults);
        row.host = tracker.as_deref().and_then(tracker_host).map(str::to_owned);
    }
    put(&mut row.error, text(record, "ERROR", faults));
    put(&mut row.locality, record.get("LOCALITY").and_then(locality));
    put(&mut row.speculative, record.get("AVATAAR").map(|avataar| avataar == "SPECULATIVE"));
}

/// Replaces a value if the record has one. So the last record that has the value counts.
fn put<T>(slot: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *slot = value;
    }
}

/// A value of bounded length.
fn text(record: &Record, key: &str, faults: &mut Vec<Cause>) -> Option<String> {
    let value = record.get(key)?;
    let end = value.floor_char_boundary(LONGEST_TEXT);
    if end < value.len() {
        faults.push(cause::SHORTENED_TEXT);
    }
    value.get(..end).map(str::to_owned)
}

fn parse_counters(record: &Record, key: &str, faults: &mut Vec<Cause>) -> Vec<Counter> {
    let Some(text) = record.get(key) else { return Vec::new() };
    let (counters, whole) = counters::parse(text);
    if !whole {
        faults.push(cause::DAMAGED_COUNTERS);
    }
    counters
}

fn outcome(status: &str) -> Outcome {
    match status {
        "SUCCESS" | "SUCCEEDED" => Outcome::Success,
        "FAILED" => Outcome::Failed,
        "KILLED" => Outcome::Killed,
        "PREP" | "RUNNING" => Outcome::Incomplete,
        _ => Outcome::Unknown,
    }
}

fn task_kind(text: &str) -> TaskKind {
    match text {
        "MAP" => TaskKind::Map,
        "REDUCE" => TaskKind::Reduce,
        "SETUP" | "JOB_SETUP" => TaskKind::Setup,
        "CLEANUP" | "JOB_CLEANUP" => TaskKind::Cleanup,
        _ => TaskKind::Other,
    }
}

fn locality(text: &str) -> Option<Locality> {
    match text {
        "NODE_LOCAL" => Some(Locality::Node),
        "RACK_LOCAL" => Some(Locality::Rack),
        "OFF_SWITCH" => Some(Locality::Off),
        _ => None,
    }
}

/// The host in `tracker_<host>:localhost/127.0.0.1:50060`, or in a plain `<host>/127.0.0.1:3333`.
fn tracker_host(name: &str) -> Option<&str> {
    let name = name.strip_prefix("tracker_").unwrap_or(name);
    name.split([':', '/']).next().filter(|host| !host.is_empty())
}

/// `SPLITS`: places separated by commas, each `/rack/host`.
fn split_rows(task_id: &str, places: &str, faults: &mut Vec<Cause>) -> Vec<SplitRow> {
    let mut rows = Vec::new();
    for (ordinal, place) in (0..).zip(places.split(',').map(str::trim).filter(|place| !place.is_empty())) {
        if rows.len() == MOST_SPLITS || place.len() > LONGEST_TEXT {
            faults.push(cause::SURPLUS_SPLITS);
            break;
        }
        let (rack, host) = split_rack_and_host(place);
        rows.push(SplitRow { task_id: task_id.to_owned(), ordinal, host, rack, bytes: None });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_as_many_places_as_the_limit_and_the_rest_is_counted() {
        for (surplus, expected) in [(0, vec![]), (1, vec![cause::SURPLUS_SPLITS])] {
            let mut faults = Vec::new();
            let rows = split_rows("m", &vec!["/r/h"; MOST_SPLITS + surplus].join(","), &mut faults);
            assert_eq!((rows.len(), faults), (MOST_SPLITS, expected));
        }
    }
}
