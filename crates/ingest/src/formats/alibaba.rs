//! What the two traces of Alibaba's batch jobs have in common: tasks of many instances, and the instances as attempts.
//!
//! Pages: `docs/formats/alibaba2017.md` and `docs/formats/alibaba2018.md`. A row of the table of tasks is a task, with the number of its
//! instances. A row of the table of instances is a try at one of them. Times are in s from the start of the trace. For what began before
//! it, they are 0 or negative.

use std::io::BufRead;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::csv::{Piece, Record, Records};
use super::tables::{Assemble, Fact, FactSink, Key, Machine, RowSink, encode, worse};
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::model::{AttemptRow, JobRow, Outcome, TaskKind, TaskRow};

/// The value of `jobs.framework`: Alibaba's scheduler of batch jobs.
const FUXI: &str = "fuxi";
/// Factor from a plan's processor (100 is a core) to the tables' unit (1,000 is a core).
pub(super) const PLAN_CPU_UNIT: f64 = 10.0;
/// A core in the tables' units.
pub(super) const CORE_UNIT: f64 = 1_000.0;

/// The state of a task or an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Status {
    /// It has not begun.
    Waiting,
    Running,
    Terminated,
    Failed,
    /// It was cancelled or interrupted.
    Ended,
}

impl Status {
    /// The status of that name, as both traces spell it.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"Ready" | b"Waiting" => Status::Waiting,
            b"Running" => Status::Running,
            b"Terminated" => Status::Terminated,
            b"Failed" => Status::Failed,
            b"Cancelled" | b"Interrupted" | b"Interupted" => Status::Ended,
            _ => return None,
        })
    }

    fn outcome(self) -> Outcome {
        match self {
            Status::Waiting | Status::Running => Outcome::Incomplete,
            Status::Terminated => Outcome::Success,
            Status::Failed => Outcome::Failed,
            Status::Ended => Outcome::Killed,
        }
    }

    fn has_begun(self) -> bool {
        self != Status::Waiting
    }

    fn has_ended(self) -> bool {
        self.outcome() != Outcome::Incomplete
    }
}

/// The content of a record. Times in s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Stored<'a> {
    Task {
        status: Status,
        start: i64,
        end: i64,
        instances: Option<i64>,
        cpu: Option<i64>,
        memory: Option<i64>,
    },
    Instance {
        status: Status,
        start: i64,
        end: Option<i64>,
        #[serde(borrow)]
        machine: Option<&'a str>,
    },
}

/// Takes a record of one table. Returns whether it is one. It counts other faults of the record itself.
pub(super) type Take = fn(record: &Record<'_>, sink: &mut Facts<'_>) -> Result<bool, Error>;

/// Passes facts on.
pub(super) struct Facts<'s> {
    sink: &'s mut dyn FactSink,
    value: Vec<u8>,
}

impl Facts<'_> {
    pub(super) fn skip(&mut self, cause: Cause) {
        self.sink.skip(cause);
    }

    /// Passes on a fact about a task. The task's own row comes before its instances.
    pub(super) fn task(&mut self, job: Key<'_>, task: Key<'_>, reported: &Stored<'_>) -> Result<(), Error> {
        let time = match reported {
            Stored::Task { .. } => i64::MIN,
            Stored::Instance { start, .. } => *start,
        };
        if encode(reported, &mut self.value) {
            self.sink.fact(&Fact { job, task, time, value: &self.value })?;
        }
        Ok(())
    }

    /// Passes on a fact about a machine at `time`, s.
    pub(super) fn machine(&mut self, id: Key<'_>, time: i64, machine: &Machine) -> Result<(), Error> {
        if encode(machine, &mut self.value) {
            self.sink.machine(&Fact { job: id, task: Key::None, time, value: &self.value })?;
        }
        Ok(())
    }
}

/// Reads a table, record by record; the first may name the columns.
pub(super) fn read(take: Take, input: &mut dyn BufRead, path: &str, sink: &mut dyn FactSink) -> Result<(), Error> {
    let mut facts = Facts { sink, value: Vec::new() };
    let mut records = Records::new(input, false);
    let mut is_first = true;
    while let Some(piece) = records.next().map_err(Error::io(Path::new(path), "read"))? {
        match piece {
            Piece::Record(record) => {
                let is_heading = is_first && record.is_header();
                if !take(&record, &mut facts)? && !is_heading {
                    facts.skip(cause::DAMAGED_RECORD);
                }
            }
            Piece::Oversized => facts.skip(cause::OVERSIZED_RECORD),
        }
        is_first = false;
    }
    Ok(())
}

/// The time of a machine's event, s, as ms. One beyond the end of time is at its end, and so far from all jobs.
pub(super) fn machine_ms(seconds: i64) -> Option<i64> {
    (seconds > 0).then(|| seconds.saturating_mul(1_000))
}

/// Seconds as milliseconds, the unit of the tables. A time that does not fit is far from every job, and is counted.
fn ms(seconds: i64, rows: &mut dyn RowSink) -> Option<i64> {
    let ms = seconds.checked_mul(1_000);
    if ms.is_none() {
        rows.skip(cause::FAR_TIME);
    }
    ms
}

/// The parts of a task's name.
#[derive(Debug, PartialEq, Default)]
pub(super) struct TaskName {
    pub(super) kind: TaskKind,
    pub(super) stage: Option<String>,
    pub(super) depends_on: Vec<String>,
    /// True if the list of stages that it depends on was cut.
    pub(super) cut: bool,
}

/// Puts the facts of one job after the other together.
pub(super) struct Assembler {
    /// Reads the name of a task.
    name: fn(Key<'_>) -> TaskName,
    job: JobRow,
    job_outcome: Option<Outcome>,
    task: Option<Task>,
}

#[derive(Default)]
struct Task {
    row: TaskRow,
    has_row: bool,
    attempts: i64,
    /// The first start and the last end of its instances.
    start: Option<i64>,
    finish: Option<i64>,
}

impl Assembler {
    pub(super) fn new(name: fn(Key<'_>) -> TaskName) -> Self {
        Self { name, job: JobRow::default(), job_outcome: None, task: None }
    }

    /// The task that a fact is about.
    fn task(&mut self, fact: &Fact<'_>, rows: &mut dyn RowSink) -> &mut Task {
        let (job_id, name) = (&mut self.job.job_id, self.name);
        self.task.get_or_insert_with(|| {
            *job_id = fact.job.to_string();
            let TaskName { kind, stage, depends_on, cut } = name(fact.task);
            if cut {
                rows.skip(cause::DAG_INCOMPLETE);
            }
            let task_id = format!("{job_id}/{}", fact.task);
            let row = TaskRow { job_id: job_id.clone(), task_id, kind, stage, depends_on, ..TaskRow::default() };
            Task { row, ..Task::default() }
        })
    }
}

impl Assemble for Assembler {
    fn fact(&mut self, fact: &Fact<'_>, rows: &mut dyn RowSink) -> Result<(), Error> {
        let Ok(reported) = postcard::from_bytes::<Stored>(fact.value) else {
            rows.skip(cause::DAMAGED_FACT);
            return Ok(());
        };
        let task = self.task(fact, rows);
        match reported {
            Stored::Task { .. } if task.has_row => rows.skip(cause::DUPLICATE_TASK),
            Stored::Task { status, start, end, instances, cpu, memory } => {
                task.has_row = true;
                let row = &mut task.row;
                // The time of a waiting task, if it has one, is when it was made, not when it started.
                let submit = (status.has_begun() || start != 0).then(|| ms(start, rows)).flatten();
                row.start = submit.filter(|_| status.has_begun());
                row.finish = status.has_ended().then(|| ms(end, rows)).flatten();
                row.outcome = status.outcome();
                (row.instances, row.cpu_request, row.memory_request) = (instances, cpu, memory);
                self.job.submit = self.job.submit.into_iter().chain(submit).min();
            }
            Stored::Instance { status, start, end, machine } => {
                let attempt = AttemptRow {
                    job_id: task.row.job_id.clone(),
                    task_id: task.row.task_id.clone(),
                    kind: task.row.kind,
                    attempt: task.attempts,
                    start: status.has_begun().then(|| ms(start, rows)).flatten(),
                    finish: end.filter(|_| status.has_ended()).and_then(|end| ms(end, rows)),
                    outcome: status.outcome(),
                    host: machine.map(str::to_owned),
                    ..AttemptRow::default()
                };
                task.attempts += 1;
                task.start = task.start.into_iter().chain(attempt.start).min();
                task.finish = task.finish.max(attempt.finish);
                rows.attempt(attempt)?;
            }
        }
        Ok(())
    }

    fn end_task(&mut self, rows: &mut dyn RowSink) -> Result<(), Error> {
        let Some(Task { mut row, has_row, start, finish, .. }) = self.task.take() else { return Ok(()) };
        if !has_row {
            rows.skip(cause::INSTANCES_WITHOUT_TASK);
            (row.start, row.finish, row.outcome) = (start, finish, Outcome::Unknown);
            self.job.submit = self.job.submit.into_iter().chain(start).min();
        }
        self.job.launch = self.job.launch.into_iter().chain(row.start).min();
        self.job.finish = self.job.finish.max(row.finish);
        self.job_outcome = Some(worse(self.job_outcome, row.outcome));
        rows.task(row)
    }

    fn end_job(&mut self, rows: &mut dyn RowSink) -> Result<(), Error> {
        let mut job = std::mem::take(&mut self.job);
        job.framework = Some(FUXI.to_owned());
        job.outcome = self.job_outcome.take().unwrap_or_default();
        // The job ends with its last task. That end is unknown while a task runs.
        job.finish = job.finish.filter(|_| job.outcome != Outcome::Incomplete);
        rows.job(job)
    }
}
