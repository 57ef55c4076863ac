//! Makes a job from events, for both encodings.
//!
//! Events of one task or attempt are merged by id: the first start and the last end count. An application master that
//! is restarted reports recovered tasks again. A job without a final event is `INCOMPLETE`, and so are its tasks and
//! attempts. Each application master becomes an attempt at one task of kind `master`.

use std::collections::{BTreeMap, HashMap};

use super::event::{Counters, Event, Family, Fields, Int};
use crate::formats::topology::{host, place, rack};
use resched_tables::cause::{self, Cause};
use resched_tables::model::{
    AttemptRow, CounterRow, CounterScope, JobRecord, JobRow, Locality, Outcome, Priority, SplitRow, TaskKind,
    TaskRecord, TaskRow,
};
use resched_tables::names::master_task;
use resched_tables::sink::Sink;
use resched_tables::store::System;

/// A job under construction.
pub(super) struct History {
    job: JobRow,
    tasks: Vec<TaskRecord>,
    /// The place in `tasks` of the task with that id, without the `task_` in front.
    task_places: HashMap<String, usize>,
    /// The place of an attempt in its task, by the place of the task and the attempt's number.
    attempt_places: HashMap<(usize, i64), usize>,
    /// Counters by scope, id, group and name; `None` if they are not wanted.
    counters: Option<BTreeMap<(CounterScope, String, String, String), i64>>,
    /// True if an application master wrote it.
    has_master: bool,
    /// True if its tasks ran in the container of its master.
    is_uber: bool,
    /// The application masters that the job had, by number: when each started, and where.
    masters: BTreeMap<i64, (Option<i64>, Option<String>)>,
}

impl History {
    /// A job about which nothing is known yet.
    pub(super) fn new(wants_counters: bool) -> Self {
        Self {
            job: JobRow { framework: Some("mapreduce".to_owned()), outcome: Outcome::Incomplete, ..JobRow::default() },
            tasks: Vec::new(),
            task_places: HashMap::new(),
            attempt_places: HashMap::new(),
            counters: wants_counters.then(BTreeMap::new),
            has_master: false,
            is_uber: false,
            masters: BTreeMap::new(),
        }
    }

    /// What ran the job: YARN has application masters, and only MapReduce 1 has set-up tasks.
    pub(super) fn system(&self) -> Option<System> {
        let of_setup = || self.tasks.iter().any(|record| record.task.kind == TaskKind::Setup);
        let of_slots = || of_setup().then_some(System::MapReduce1);
        if self.has_master { Some(System::Yarn) } else { of_slots() }
    }

    /// True if its tasks ran one after another in the container of its master, which no table says.
    pub(super) fn is_uber(&self) -> bool {
        self.is_uber
    }

    /// Adds an event, or counts it as left out.
    pub(super) fn record(&mut self, event: Event<'_>, sink: &mut dyn Sink) {
        if let Err(cause) = self.report(event) {
            sink.skip(cause, 1);
        }
    }

    /// The job; `None` if no event named one.
    pub(super) fn finish(mut self) -> Option<JobRecord> {
        if self.job.job_id.is_empty() {
            return None;
        }
        for record in &mut self.tasks {
            for attempt in &mut record.attempts {
                attempt.kind = record.task.kind;
                // Reduces are always `OFF_SWITCH`: their input has no place.
                attempt.locality = attempt.locality.filter(|_| attempt.kind == TaskKind::Map);
            }
        }
        let masters = self.master_task();
        self.tasks.extend(masters);
        let counters = self.counters.unwrap_or_default().into_iter();
        let counters = counters.map(|((scope, id, group, name), value)| CounterRow { scope, id, group, name, value });
        Some(JobRecord { job: self.job, tasks: self.tasks, counters: counters.collect() })
    }

    fn report(&mut self, event: Event<'_>) -> Result<(), Cause> {
        let kind = event.kind.as_str().ok_or(cause::DAMAGED_EVENT)?;
        let fields = event.record.0;
        match kind {
            "JOB_SUBMITTED" | "JOB_INITED" | "JOB_INFO_CHANGED" | "JOB_QUEUE_CHANGED" | "JOB_PRIORITY_CHANGED" => {
                self.describe_job(fields)
            }
            "JOB_FINISHED" => self.end_job(fields, Outcome::Success),
            "JOB_FAILED" | "JOB_ERROR" => self.end_job(fields, Outcome::Failed),
            "JOB_KILLED" => self.end_job(fields, Outcome::Killed),
            "TASK_STARTED" => self.start_task(fields),
            "TASK_UPDATED" => self.end_task(fields, None),
            "TASK_FINISHED" => self.end_task(fields, Some(Outcome::Success)),
            "TASK_FAILED" => self.end_task(fields, Some(Outcome::Failed)),
            "AM_STARTED" => {
                self.has_master = true;
                self.start_master(fields)
            }
            // The status before the end says nothing.
            "JOB_STATUS_CHANGED" | "NORMALIZED_RESOURCE" => Ok(()),
            _ => match kind.split_once("_ATTEMPT_") {
                Some((task_type, "STARTED")) => self.start_attempt(fields, task_type),
                Some((task_type, "FINISHED")) => self.end_attempt(fields, task_type, Outcome::Success),
                Some((task_type, "FAILED")) => self.end_attempt(fields, task_type, Outcome::Failed),
                Some((task_type, "KILLED")) => self.end_attempt(fields, task_type, Outcome::Killed),
                _ => Err(cause::UNKNOWN_EVENT),
            },
        }
    }

    fn describe_job(&mut self, fields: Fields<'_>) -> Result<(), Cause> {
        self.is_of_job(fields.job_id.as_str())?;
        self.is_uber |= fields.uberized.0;
        let job = &mut self.job;
        job.name = fields.job_name.into_owned().or(job.name.take());
        job.user = fields.user_name.into_owned().or(job.user.take());
        job.queue = fields.job_queue_name.into_owned().or(job.queue.take());
        job.priority = fields.priority.as_str().and_then(Priority::from_name).or(job.priority);
        job.submit = job.submit.or(time(fields.submit_time));
        job.launch = job.launch.or(time(fields.launch_time));
        job.declared_maps = fields.total_maps.0.or(job.declared_maps);
        job.declared_reduces = fields.total_reduces.0.or(job.declared_reduces);
        Ok(())
    }

    fn end_job(&mut self, fields: Fields<'_>, outcome: Outcome) -> Result<(), Cause> {
        self.is_of_job(fields.job_id.as_str())?;
        self.job.finish = time(fields.finish_time).or(self.job.finish);
        self.job.outcome = outcome_of(fields.job_status.as_str()).unwrap_or(outcome);
        let id = self.job.job_id.clone();
        self.count(CounterScope::Job, &id, &fields.total_counters.0);
        self.count(CounterScope::Map, &id, &fields.map_counters.0);
        self.count(CounterScope::Reduce, &id, &fields.reduce_counters.0);
        Ok(())
    }

    /// A later master reports the earlier ones again, so the number decides which one it is.
    fn start_master(&mut self, fields: Fields<'_>) -> Result<(), Cause> {
        let (job, number) =
            fields.application_attempt_id.as_str().and_then(split_master_id).ok_or(cause::DAMAGED_EVENT)?;
        self.is_of_job(Some(&format!("job_{job}")))?;
        let (start, host) = self.masters.entry(number).or_default();
        *start = start.or(time(fields.start_time));
        *host = host.take().or(fields.node_manager_host.as_str().and_then(|name| place(name).0));
        Ok(())
    }

    /// The task of the application masters. The last one lived until the job ended; the log does not say when earlier ones ended.
    fn master_task(&mut self) -> Option<TaskRecord> {
        let masters = std::mem::take(&mut self.masters);
        let job = &self.job;
        let (&last, (first_start, _)) = (masters.last_key_value()?.0, masters.first_key_value()?.1);
        let task = TaskRow {
            job_id: job.job_id.clone(),
            task_id: master_task(&job.job_id),
            kind: TaskKind::Master,
            start: *first_start,
            finish: job.finish,
            outcome: job.outcome,
            ..TaskRow::default()
        };
        let attempts = masters.into_iter().map(|(number, (start, host))| AttemptRow {
            job_id: task.job_id.clone(),
            task_id: task.task_id.clone(),
            kind: TaskKind::Master,
            attempt: number,
            start,
            finish: job.finish.filter(|_| number == last),
            outcome: if number == last { job.outcome } else { Outcome::Unknown },
            host,
            ..AttemptRow::default()
        });
        Some(TaskRecord { attempts: attempts.collect(), task, ..TaskRecord::default() })
    }

    fn start_task(&mut self, fields: Fields<'_>) -> Result<(), Cause> {
        let record = self.task(&fields)?;
        record.task.start = record.task.start.or(time(fields.start_time));
        if let (true, Some(locations)) = (record.splits.is_empty(), fields.split_locations.as_str()) {
            let hosts = locations.split(',').map(place).filter(|(host, _)| host.is_some());
            let task_id = &record.task.task_id;
            record.splits = hosts
                .zip(0..)
                .map(|((host, rack), ordinal)| SplitRow { task_id: task_id.clone(), ordinal, host, rack, bytes: None })
                .collect();
        }
        Ok(())
    }

    /// Takes over a task's end. `outcome` is the outcome that the event's type implies, if any.
    fn end_task(&mut self, fields: Fields<'_>, outcome: Option<Outcome>) -> Result<(), Cause> {
        let is_counting = self.counters.is_some();
        let counters = &fields.counters.0;
        let task = &mut self.task(&fields)?.task;
        task.finish = time(fields.finish_time).or(task.finish);
        task.outcome = outcome_of(fields.status.as_str()).or(outcome).unwrap_or(task.outcome);
        count_task(task, counters);
        if let Some(id) = is_counting.then(|| task.task_id.clone()) {
            self.count(CounterScope::Task, &id, counters);
        }
        Ok(())
    }

    fn start_attempt(&mut self, fields: Fields<'_>, task_type: &str) -> Result<(), Cause> {
        let row = self.attempt(&fields, task_type)?;
        row.start = row.start.or(time(fields.start_time));
        row.host = row.host.take().or(fields.tracker_name.as_str().and_then(tracker_host));
        row.locality = fields.locality.as_str().and_then(locality).or(row.locality);
        row.speculative = fields.avataar.as_str().and_then(speculative).or(row.speculative);
        Ok(())
    }

    fn end_attempt(&mut self, fields: Fields<'_>, task_type: &str, outcome: Outcome) -> Result<(), Cause> {
        let is_counting = self.counters.is_some();
        let row = self.attempt(&fields, task_type)?;
        row.shuffle_finish = time(fields.shuffle_finish_time).or(row.shuffle_finish);
        row.sort_finish = time(fields.sort_finish_time).or(row.sort_finish);
        row.finish = time(fields.finish_time).or(row.finish);
        row.outcome = outcome_of(fields.task_status.as_str().or(fields.status.as_str())).unwrap_or(outcome);
        let (host, rack_of_host) = fields.hostname.as_str().map_or((None, None), place);
        row.host = host.or(row.host.take());
        row.rack = fields.rackname.as_str().and_then(rack).or(rack_of_host).or(row.rack.take());
        row.error = fields.error.into_owned().or(row.error.take());
        let counters = &fields.counters.0;
        for (family, name, column) in ATTEMPT_COLUMNS {
            let column = column(row);
            *column = counters.get(family, name).or(*column);
        }
        if let Some(id) = is_counting.then(|| format!("{}/{}", row.task_id, row.attempt)) {
            self.count(CounterScope::Attempt, &id, counters);
        }
        Ok(())
    }

    /// Takes over the job's id. It is an error if the event belongs to another job.
    fn is_of_job(&mut self, job_id: Option<&str>) -> Result<(), Cause> {
        let job_id = job_id.ok_or(cause::DAMAGED_EVENT)?;
        if self.job.job_id.is_empty() {
            self.job.job_id = job_id.to_owned();
        } else if self.job.job_id != job_id {
            return Err(cause::FOREIGN_EVENT);
        }
        Ok(())
    }

    /// As [`Self::is_of_job`], with the id of a task without its `task_`: `1_2_m_000003` is of the job `job_1_2`.
    fn task_is_of_job(&mut self, task: &str) -> Result<(), Cause> {
        let numbers = task.split_once('_').and_then(|(cluster, rest)| Some((cluster, rest.split('_').next()?)));
        let (cluster, job) = numbers.ok_or(cause::DAMAGED_EVENT)?;
        match self.job.job_id.strip_prefix("job_").and_then(|id| id.split_once('_')) {
            Some(parts) if parts == (cluster, job) => Ok(()),
            _ => self.is_of_job(Some(&format!("job_{cluster}_{job}"))),
        }
    }

    /// The task of an event, new if need be.
    fn task(&mut self, fields: &Fields<'_>) -> Result<&mut TaskRecord, Cause> {
        let task = fields.task_id.as_str().and_then(|id| id.strip_prefix("task_")).ok_or(cause::DAMAGED_EVENT)?;
        let place = self.task_place(task, fields.task_type.as_str())?;
        Ok(&mut self.tasks[place])
    }

    /// The place in `tasks` of the task `task_<task>`. The first event with a type decides its kind.
    fn task_place(&mut self, task: &str, task_type: Option<&str>) -> Result<usize, Cause> {
        self.task_is_of_job(task)?;
        let place = match self.task_places.get(task) {
            Some(&place) => place,
            None => self.add_task(task),
        };
        let task = &mut self.tasks[place].task;
        let unreported = task.kind == TaskKind::Other && task.stage.is_none();
        if let (true, Some(task_type)) = (unreported, task_type) {
            (task.kind, task.stage) = task_kind(task_type);
        }
        Ok(place)
    }

    fn add_task(&mut self, task: &str) -> usize {
        let place = self.tasks.len();
        self.task_places.insert(task.to_owned(), place);
        let (job_id, task_id) = (self.job.job_id.clone(), format!("task_{task}"));
        let task = TaskRow { job_id, task_id, outcome: Outcome::Incomplete, ..TaskRow::default() };
        self.tasks.push(TaskRecord { task, ..TaskRecord::default() });
        place
    }

    /// The attempt that `fields` describe, new if need be. If they have no task type, the event's own type counts.
    fn attempt(&mut self, fields: &Fields<'_>, task_type: &str) -> Result<&mut AttemptRow, Cause> {
        let (task, number) = fields.attempt_id.as_str().and_then(split_attempt_id).ok_or(cause::DAMAGED_EVENT)?;
        if fields.task_id.as_str().is_some_and(|other| other.strip_prefix("task_") != Some(task)) {
            return Err(cause::DAMAGED_EVENT);
        }
        let task_type = fields.task_type.as_str().unwrap_or(task_type);
        let task_place = self.task_place(task, Some(task_type))?;
        let record = &mut self.tasks[task_place];
        let next = record.attempts.len();
        let place = *self.attempt_places.entry((task_place, number)).or_insert(next);
        if place == next {
            record.attempts.push(AttemptRow {
                job_id: record.task.job_id.clone(),
                task_id: record.task.task_id.clone(),
                attempt: number,
                outcome: Outcome::Incomplete,
                ..AttemptRow::default()
            });
        }
        Ok(&mut record.attempts[place])
    }

    /// Keeps the counters that have no column, if they are wanted.
    fn count(&mut self, scope: CounterScope, id: &str, counters: &Counters<'_>) {
        let Some(kept) = &mut self.counters else { return };
        for group in &counters.groups {
            for counter in &group.counts {
                if scope == CounterScope::Attempt && has_column(group.name.as_str(), counter.name.as_str()) {
                    continue;
                }
                let (group, name) = (group.name.as_str().to_owned(), counter.name.as_str().to_owned());
                let key = (scope, id.to_owned(), group, name);
                kept.insert(key, counter.value);
            }
        }
    }
}

/// A counter of attempts that has its own column.
type AttemptColumn = (Family, &'static str, fn(&mut AttemptRow) -> &mut Option<i64>);

const ATTEMPT_COLUMNS: [AttemptColumn; 10] = [
    (Family::FileSystem, "HDFS_BYTES_READ", |row| &mut row.hdfs_bytes_read),
    (Family::FileSystem, "HDFS_BYTES_WRITTEN", |row| &mut row.hdfs_bytes_written),
    (Family::FileSystem, "FILE_BYTES_READ", |row| &mut row.file_bytes_read),
    (Family::FileSystem, "FILE_BYTES_WRITTEN", |row| &mut row.file_bytes_written),
    (Family::Task, "MAP_INPUT_BYTES", |row| &mut row.map_input_bytes),
    (Family::Task, "MAP_OUTPUT_BYTES", |row| &mut row.map_output_bytes),
    (Family::Task, "REDUCE_SHUFFLE_BYTES", |row| &mut row.reduce_shuffle_bytes),
    (Family::Task, "SPILLED_RECORDS", |row| &mut row.spilled_records),
    (Family::Task, "CPU_MILLISECONDS", |row| &mut row.cpu_ms),
    (Family::Task, "PHYSICAL_MEMORY_BYTES", |row| &mut row.physical_memory),
];

fn has_column(group: &str, name: &str) -> bool {
    ATTEMPT_COLUMNS.iter().any(|(family, column, _)| *column == name && family.has(group))
}

/// Fills a task's columns from its counters. A map's output goes to its reduces, or to the file system if the job has
/// none.
fn count_task(task: &mut TaskRow, counters: &Counters<'_>) {
    let (input, input_records, output, output_records) = match task.kind {
        TaskKind::Map => (
            counters.get(Family::FileSystem, "HDFS_BYTES_READ"),
            counters.get(Family::Task, "MAP_INPUT_RECORDS"),
            counters
                .get(Family::Task, "MAP_OUTPUT_BYTES")
                .or_else(|| counters.get(Family::FileSystem, "HDFS_BYTES_WRITTEN")),
            counters.get(Family::Task, "MAP_OUTPUT_RECORDS"),
        ),
        TaskKind::Reduce => (
            counters.get(Family::Task, "REDUCE_SHUFFLE_BYTES"),
            counters.get(Family::Task, "REDUCE_INPUT_RECORDS"),
            counters.get(Family::FileSystem, "HDFS_BYTES_WRITTEN"),
            counters.get(Family::Task, "REDUCE_OUTPUT_RECORDS"),
        ),
        _ => return,
    };
    task.input_bytes = input.or(task.input_bytes);
    task.input_records = input_records.or(task.input_records);
    task.output_bytes = output.or(task.output_bytes);
    task.output_records = output_records.or(task.output_records);
}

/// A time since the epoch; 0 stands for none.
fn time(ms: Int) -> Option<i64> {
    ms.0.filter(|&ms| ms > 0)
}

/// The outcome for a status of a job, task or attempt that ended.
fn outcome_of(status: Option<&str>) -> Option<Outcome> {
    match status? {
        "SUCCEEDED" | "SUCCESS" => Some(Outcome::Success),
        "FAILED" | "ERROR" => Some(Outcome::Failed),
        "KILLED" => Some(Outcome::Killed),
        _ => None,
    }
}

/// The kind of a task, and its stage if the kind does not say everything.
fn task_kind(task_type: &str) -> (TaskKind, Option<String>) {
    match task_type {
        "MAP" => (TaskKind::Map, None),
        "REDUCE" => (TaskKind::Reduce, None),
        "JOB_SETUP" | "SETUP" => (TaskKind::Setup, None),
        "JOB_CLEANUP" | "CLEANUP" => (TaskKind::Cleanup, None),
        other => (TaskKind::Other, Some(other.to_lowercase())),
    }
}

fn locality(name: &str) -> Option<Locality> {
    match name {
        "NODE_LOCAL" => Some(Locality::Node),
        "RACK_LOCAL" => Some(Locality::Rack),
        "OFF_SWITCH" => Some(Locality::Off),
        _ => None,
    }
}

/// Whether an attempt is a backup, by its avatar (Hadoop spells it `avataar`).
fn speculative(avatar: &str) -> Option<bool> {
    match avatar {
        "SPECULATIVE" => Some(true),
        "VIRGIN" => Some(false),
        _ => None,
    }
}

/// The host in `host` or, before YARN, in `tracker_host:localhost/127.0.0.1:port`.
fn tracker_host(name: &str) -> Option<String> {
    match name.strip_prefix("tracker_") {
        Some(name) => host(name.split(':').next()?),
        None => place(name).0,
    }
}

/// The job's id without its `job_` and the number of the master, from 0, in the id of an application attempt: `1_0002` and 1 for
/// `appattempt_1_0002_000002`.
fn split_master_id(id: &str) -> Option<(&str, i64)> {
    let (job, number) = id.strip_prefix("appattempt_")?.rsplit_once('_')?;
    let number = number.parse().ok().filter(|&number: &i64| number > 0)?;
    Some((job, number - 1))
}

/// The task's id without its `task_` and the attempt's number in an attempt's id: `1_2_m_000003` and 1 for
/// `attempt_1_2_m_000003_1`.
fn split_attempt_id(id: &str) -> Option<(&str, i64)> {
    let (task, number) = id.strip_prefix("attempt_")?.rsplit_once('_')?;
    let number = number.parse().ok().filter(|&number: &i64| number >= 0)?;
    Some((task, number))
}
