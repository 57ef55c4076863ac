//! The contents of a log, in the tables of a trace or in memory.

use resched_tables::model::{AttemptRow, JobRow, Locality, Outcome, SplitRow, TaskKind, TaskRow};
use resched_tables::store::Trace;
use resched_tables::store::columns::Row;

use crate::Error;
use crate::ids::Ms;
use crate::records::{IN_MEMORY, Records};
use crate::tables::{Cursor, columns};

/// Rows for which room is made ahead: a damaged manifest may give any number.
const MOST_ROOM: u64 = 1 << 25;

/// Jobs, each with its tasks, each with its splits and attempts, in the order of the log.
///
/// Ask for all tasks of a job before the next job. Splits and attempts that you do not ask for are passed over.
pub(super) trait Log {
    /// Its name in errors.
    fn name(&self) -> String;

    /// How many tasks, attempts and splits to make room for.
    fn room(&self) -> [usize; 3];

    /// Moves to the next job.
    fn next_job(&mut self) -> Result<Option<JobRow>, Error>;

    /// Moves to the next task of the job.
    fn next_task(&mut self) -> Result<Option<Task<'_>>, Error>;

    /// The next split of the task.
    fn next_split(&mut self) -> Result<Option<Split<'_>>, Error>;

    /// The next attempt at the task.
    fn next_attempt(&mut self) -> Result<Option<Attempt<'_>>, Error>;

    /// Checks that a job has taken every row.
    fn check_end(&mut self) -> Result<(), Error>;
}

/// The columns of the tasks table that a replay needs, for one row.
pub(super) struct Task<'a> {
    pub(super) id: &'a str,
    pub(super) role: Role,
    /// When it was assigned, and when the master learned of its end.
    pub(super) times: [Option<Ms>; 2],
    pub(super) outcome: Outcome,
    /// Bytes that it read and wrote.
    pub(super) bytes: [Option<i64>; 2],
}

/// What a task is to its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Map,
    Reduce,
    SetUp,
    CleanUp,
    /// None of these, such as the clean-up of an attempt.
    Other,
}

impl Role {
    /// Rumen lists set-up and clean-up among other tasks; their stage says what they are.
    fn of(kind: TaskKind, stage: Option<&str>) -> Self {
        match (kind, stage) {
            (TaskKind::Map, _) => Self::Map,
            (TaskKind::Reduce, _) => Self::Reduce,
            (TaskKind::Setup, _) | (TaskKind::Other, Some("setup" | "job_setup")) => Self::SetUp,
            (TaskKind::Cleanup, _) | (TaskKind::Other, Some("cleanup" | "job_cleanup")) => Self::CleanUp,
            (TaskKind::Master | TaskKind::Other, _) => Self::Other,
        }
    }
}

/// The columns of the splits table that a replay needs, for one row.
pub(super) struct Split<'a> {
    pub(super) host: Option<&'a str>,
    pub(super) bytes: Option<i64>,
}

/// The columns of the attempts table that a replay needs, for one row.
pub(super) struct Attempt<'a> {
    pub(super) number: Option<i64>,
    pub(super) start: Option<Ms>,
    pub(super) shuffle_finish: Option<Ms>,
    pub(super) sort_finish: Option<Ms>,
    pub(super) finish: Option<Ms>,
    pub(super) outcome: Outcome,
    pub(super) locality: Option<Locality>,
    /// Where it ran; `None` if that is unknown, or does not matter to the replay.
    pub(super) host: Option<&'a str>,
}

columns! {
    /// The columns of the tasks table that a replay needs.
    TaskColumn of TaskRow {
        JobId = "job_id",
        TaskId = "task_id",
        Kind = "kind",
        Stage = "stage",
        Start = "start",
        Finish = "finish",
        Outcome = "outcome",
        InputBytes = "input_bytes",
        OutputBytes = "output_bytes",
    }
}

columns! {
    /// The columns of the splits table that a replay needs.
    SplitColumn of SplitRow {
        TaskId = "task_id",
        Host = "host",
        Bytes = "bytes",
    }
}

columns! {
    /// The columns of the attempts table that a replay needs.
    AttemptColumn of AttemptRow {
        TaskId = "task_id",
        Number = "attempt",
        Start = "start",
        ShuffleFinish = "shuffle_finish",
        SortFinish = "sort_finish",
        Finish = "finish",
        Outcome = "outcome",
        Locality = "locality",
        Host = "host",
    }
}

/// A log in the tables of a trace.
///
/// Tasks, attempts and splits are grouped in the same order in their tables. So one pass over each is enough, and no index by name
/// is built.
pub(super) struct TraceLog<'a> {
    trace: &'a Trace,
    jobs: Box<dyn Iterator<Item = Result<JobRow, resched_tables::Error>>>,
    /// The id of the current job.
    job: String,
    tasks: Cursor<TaskColumn>,
    attempts: Cursor<AttemptColumn>,
    splits: Cursor<SplitColumn>,
}

impl<'a> TraceLog<'a> {
    /// Opens the tables. `hosts_matter` if the host of an attempt must be known.
    pub(super) fn open(trace: &'a Trace, hosts_matter: bool) -> Result<Self, Error> {
        Ok(Self {
            trace,
            jobs: Box::new(trace.rows::<JobRow>()?),
            job: String::new(),
            tasks: Cursor::open(trace)?,
            attempts: Cursor::open_some(trace, |column| hosts_matter || column != AttemptColumn::Host)?,
            splits: Cursor::open(trace)?,
        })
    }
}

impl Log for TraceLog<'_> {
    fn name(&self) -> String {
        self.trace.dir().display().to_string()
    }

    fn room(&self) -> [usize; 3] {
        let rows = &self.trace.manifest().rows;
        [TaskRow::TABLE, AttemptRow::TABLE, SplitRow::TABLE]
            .map(|table| rows.get(table).map_or(0, |&rows| rows.min(MOST_ROOM) as usize))
    }

    fn next_job(&mut self) -> Result<Option<JobRow>, Error> {
        let job = self.jobs.next().transpose()?;
        if let Some(job) = &job {
            self.job.clone_from(&job.job_id);
        }
        Ok(job)
    }

    fn next_task(&mut self) -> Result<Option<Task<'_>>, Error> {
        while self.next_split()?.is_some() {}
        while self.next_attempt()?.is_some() {}
        let tasks = &mut self.tasks;
        if !tasks.advance_if(TaskColumn::JobId, &self.job)? {
            return Ok(None);
        }
        Ok(Some(Task {
            id: tasks.text(TaskColumn::TaskId).unwrap_or_default(),
            role: Role::of(
                tasks.text(TaskColumn::Kind).and_then(TaskKind::from_name).unwrap_or_default(),
                tasks.text(TaskColumn::Stage),
            ),
            times: [TaskColumn::Start, TaskColumn::Finish].map(|column| tasks.int(column)),
            outcome: tasks.text(TaskColumn::Outcome).and_then(Outcome::from_name).unwrap_or_default(),
            bytes: [TaskColumn::InputBytes, TaskColumn::OutputBytes].map(|column| tasks.int(column)),
        }))
    }

    fn next_split(&mut self) -> Result<Option<Split<'_>>, Error> {
        let (Some(task), splits) = (self.tasks.text(TaskColumn::TaskId), &mut self.splits) else { return Ok(None) };
        if !splits.advance_if(SplitColumn::TaskId, task)? {
            return Ok(None);
        }
        Ok(Some(Split { host: splits.text(SplitColumn::Host), bytes: splits.int(SplitColumn::Bytes) }))
    }

    fn next_attempt(&mut self) -> Result<Option<Attempt<'_>>, Error> {
        let (Some(task), attempts) = (self.tasks.text(TaskColumn::TaskId), &mut self.attempts) else { return Ok(None) };
        if !attempts.advance_if(AttemptColumn::TaskId, task)? {
            return Ok(None);
        }
        Ok(Some(Attempt {
            number: attempts.int(AttemptColumn::Number),
            start: attempts.int(AttemptColumn::Start),
            shuffle_finish: attempts.int(AttemptColumn::ShuffleFinish),
            sort_finish: attempts.int(AttemptColumn::SortFinish),
            finish: attempts.int(AttemptColumn::Finish),
            outcome: attempts.text(AttemptColumn::Outcome).and_then(Outcome::from_name).unwrap_or_default(),
            locality: attempts.text(AttemptColumn::Locality).and_then(Locality::from_name),
            host: attempts.text(AttemptColumn::Host),
        }))
    }

    fn check_end(&mut self) -> Result<(), Error> {
        self.tasks.check_end(self.trace)?;
        self.attempts.check_end(self.trace)?;
        self.splits.check_end(self.trace)
    }
}

impl Log for Records<'_> {
    fn name(&self) -> String {
        IN_MEMORY.to_owned()
    }

    fn room(&self) -> [usize; 3] {
        [0; 3]
    }

    fn next_job(&mut self) -> Result<Option<JobRow>, Error> {
        Ok(Records::next_job(self).cloned())
    }

    fn next_task(&mut self) -> Result<Option<Task<'_>>, Error> {
        Ok(Records::next_task(self).map(|row| Task {
            id: &row.task_id,
            role: Role::of(row.kind, row.stage.as_deref()),
            times: [row.start, row.finish],
            outcome: row.outcome,
            bytes: [row.input_bytes, row.output_bytes],
        }))
    }

    fn next_split(&mut self) -> Result<Option<Split<'_>>, Error> {
        Ok(Records::next_split(self).map(|row| Split { host: row.host.as_deref(), bytes: row.bytes }))
    }

    fn next_attempt(&mut self) -> Result<Option<Attempt<'_>>, Error> {
        Ok(Records::next_attempt(self).map(|row| Attempt {
            number: Some(row.attempt),
            start: row.start,
            shuffle_finish: row.shuffle_finish,
            sort_finish: row.sort_finish,
            finish: row.finish,
            outcome: row.outcome,
            locality: row.locality,
            host: row.host.as_deref(),
        }))
    }

    fn check_end(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
