//! The contents of a production log, in the tables of a trace or in memory.

use std::iter::Peekable;

use resched_trace::formats::{Collected, MAPREDUCE};
use resched_trace::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskKind, TaskRow};
use resched_trace::store::Trace;
use resched_trace::store::columns::Row;

use super::tries::Logged;
use crate::Error;
use crate::ids::Ms;
use crate::records::{IN_MEMORY, Records};
use crate::tables::{Columns, Cursor, LONGEST, columns, left_over};

/// Whether a trace is a production trace: its tasks request processor and memory and are not Hadoop's maps and reduces.
/// If its jobs name a framework, it is one unless that is `mapreduce`. Otherwise it is one if its first task is neither
/// a map nor a reduce, or has instances or a stage.
///
/// # Errors
/// [`Error::Trace`] if it cannot be read.
pub fn is_batch(trace: &Trace) -> Result<bool, Error> {
    Log::is_batch(trace)
}

/// As [`is_batch`], for jobs in memory.
pub fn is_batch_records(jobs: &[JobRecord]) -> bool {
    let by_framework = jobs.iter().find_map(|job| job.job.framework.as_deref()).map(of_framework);
    let mut tasks = jobs.iter().flat_map(|job| &job.tasks).map(|task| &task.task);
    let by_task = || tasks.find_map(|task| of_task(Some(task.kind), task.stage.is_some() || task.instances.is_some()));
    by_framework.or_else(by_task).unwrap_or(false)
}

/// The questions that the loader asks about a whole log.
pub(super) trait Log {
    /// Its name in errors.
    fn name(&self) -> String;

    /// Its rows about machines.
    fn nodes(&self) -> Result<Vec<NodeRow>, Error>;

    /// Whether its amounts of processor and memory are shares of the largest machine.
    fn is_normalised(&self) -> bool;

    /// As [`is_batch`].
    fn is_batch(&self) -> Result<bool, Error>;

    /// When it begins, ms, if that is known and not the first submission.
    fn begin(&self) -> Option<Ms>;

    /// The last instant in it, ms: the last start or end of a task or an attempt. If it has none, that of a job. (The table of jobs may
    /// reach further than that of tasks, whose ends are then cut off earlier.)
    fn horizon(&self) -> Result<Ms, Error>;

    /// Its jobs, starting with the first.
    fn jobs(&self) -> Result<impl Jobs, Error>;
}

/// Jobs, each with its tasks, each with its attempts, in the order of the log. Ask for all tasks of a job before the next job, and for
/// all attempts at a task before the next task.
pub(super) trait Jobs {
    /// Moves to the next job.
    fn next_job(&mut self) -> Result<Option<JobRow>, Error>;

    /// Moves to the next task of the job.
    fn next_task(&mut self) -> Result<Option<TaskRow>, Error>;

    /// The next attempt at the task.
    fn next_attempt(&mut self) -> Result<Option<Logged>, Error>;

    /// Checks that a job has taken every row.
    fn check_end(&mut self) -> Result<(), Error>;
}

columns! {
    /// The columns of the jobs table that decide whether a trace is a production trace.
    FrameworkColumn of JobRow {
        Framework = "framework",
    }
}

columns! {
    /// The columns of the tasks table that decide whether a trace is a production trace.
    KindColumn of TaskRow {
        Kind = "kind",
        Stage = "stage",
        Instances = "instances",
    }
}

columns! {
    /// The times of the jobs table.
    JobTime of JobRow {
        Submit = "submit",
        Finish = "finish",
    }
}

columns! {
    /// The times of the tasks table.
    TaskTime of TaskRow {
        Start = "start",
        Finish = "finish",
    }
}

columns! {
    /// The times of the attempts table.
    AttemptTime of AttemptRow {
        Start = "start",
        Finish = "finish",
    }
}

columns! {
    /// The columns of the attempts table that a replay needs.
    AttemptColumn of AttemptRow {
        TaskId = "task_id",
        Start = "start",
        Finish = "finish",
        Outcome = "outcome",
    }
}

impl Log for Trace {
    fn name(&self) -> String {
        self.dir().display().to_string()
    }

    fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        Ok(self.rows::<NodeRow>()?.collect::<Result<_, _>>()?)
    }

    fn is_normalised(&self) -> bool {
        self.manifest().sources.iter().any(|source| source.format.contains("google"))
    }

    fn is_batch(&self) -> Result<bool, Error> {
        let mut jobs = Cursor::<FrameworkColumn>::open(self)?;
        while jobs.advance()? {
            if let Some(framework) = jobs.text(FrameworkColumn::Framework) {
                return Ok(of_framework(framework));
            }
        }
        let mut tasks = Cursor::<KindColumn>::open(self)?;
        while tasks.advance()? {
            let kind = tasks.text(KindColumn::Kind).and_then(TaskKind::from_name);
            let is_staged = tasks.text(KindColumn::Stage).is_some() || tasks.int(KindColumn::Instances).is_some();
            if let Some(answer) = of_task(kind, is_staged) {
                return Ok(answer);
            }
        }
        Ok(false)
    }

    fn begin(&self) -> Option<Ms> {
        self.manifest().begin
    }

    fn horizon(&self) -> Result<Ms, Error> {
        let last = last_time::<TaskTime>(self, Ms::MIN)?;
        match last_time::<AttemptTime>(self, last)? {
            Ms::MIN => last_time::<JobTime>(self, Ms::MIN),
            last => Ok(last),
        }
    }

    fn jobs(&self) -> Result<impl Jobs, Error> {
        Ok(TraceJobs {
            trace: self,
            jobs: self.rows::<JobRow>()?,
            tasks: self.rows::<TaskRow>()?.peekable(),
            attempts: Cursor::open(self)?,
            job: String::new(),
            task: String::new(),
        })
    }
}

impl Log for Collected {
    fn name(&self) -> String {
        IN_MEMORY.to_owned()
    }

    fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        Ok(self.nodes.clone())
    }

    fn is_normalised(&self) -> bool {
        // Only Google's traces use shares, and their tables are never collected in memory.
        false
    }

    fn is_batch(&self) -> Result<bool, Error> {
        Ok(is_batch_records(&self.jobs))
    }

    fn begin(&self) -> Option<Ms> {
        None
    }

    fn horizon(&self) -> Result<Ms, Error> {
        let of_tasks = self.jobs.iter().flat_map(|job| &job.tasks).flat_map(|task| {
            let of_attempts = task.attempts.iter().flat_map(|attempt| [attempt.start, attempt.finish]);
            [task.task.start, task.task.finish].into_iter().chain(of_attempts)
        });
        let of_jobs = self.jobs.iter().flat_map(|job| [job.job.submit, job.job.finish]);
        Ok(match of_tasks.fold(Ms::MIN, later) {
            Ms::MIN => of_jobs.fold(Ms::MIN, later),
            last => last,
        })
    }

    fn jobs(&self) -> Result<impl Jobs, Error> {
        Ok(Records::new(&self.jobs))
    }
}

/// Whether the framework of a job makes the job one of a production trace.
fn of_framework(framework: &str) -> bool {
    framework != MAPREDUCE
}

/// Whether a task makes its trace a production trace; `None` if it does not show that.
fn of_task(kind: Option<TaskKind>, is_staged: bool) -> Option<bool> {
    match kind {
        _ if is_staged => Some(true),
        Some(TaskKind::Map | TaskKind::Reduce) => Some(false),
        Some(TaskKind::Other) => Some(true),
        Some(TaskKind::Setup | TaskKind::Cleanup) | None => None,
    }
}

/// The later of two instants. An impossible time does not make the trace longer.
fn later(last: Ms, time: Option<Ms>) -> Ms {
    let time = time.filter(|time| (-LONGEST..=LONGEST).contains(time));
    last.max(time.unwrap_or(last))
}

/// The last of these times of a table, or `last` if that is later.
fn last_time<C: Columns>(trace: &Trace, mut last: Ms) -> Result<Ms, Error> {
    let mut rows = Cursor::<C>::open(trace)?;
    while rows.advance()? {
        for &column in C::ALL {
            last = later(last, rows.int(column));
        }
    }
    Ok(last)
}

/// The jobs in the tables of a trace.
struct TraceJobs<'a, J, T: Iterator> {
    trace: &'a Trace,
    jobs: J,
    tasks: Peekable<T>,
    attempts: Cursor<AttemptColumn>,
    /// The id of the current job.
    job: String,
    /// The id of the current task.
    task: String,
}

impl<J, T> Jobs for TraceJobs<'_, J, T>
where
    J: Iterator<Item = Result<JobRow, resched_trace::Error>>,
    T: Iterator<Item = Result<TaskRow, resched_trace::Error>>,
{
    fn next_job(&mut self) -> Result<Option<JobRow>, Error> {
        let job = self.jobs.next().transpose()?;
        if let Some(job) = &job {
            self.job.clone_from(&job.job_id);
        }
        Ok(job)
    }

    fn next_task(&mut self) -> Result<Option<TaskRow>, Error> {
        let job = &self.job;
        // An error counts as a task, so that it is seen.
        let task = self.tasks.next_if(|row| row.as_ref().map_or(true, |row| row.job_id == *job)).transpose()?;
        if let Some(task) = &task {
            self.task.clone_from(&task.task_id);
        }
        Ok(task)
    }

    fn next_attempt(&mut self) -> Result<Option<Logged>, Error> {
        let attempts = &mut self.attempts;
        if !attempts.advance_if(AttemptColumn::TaskId, &self.task)? {
            return Ok(None);
        }
        let outcome = attempts.text(AttemptColumn::Outcome).and_then(Outcome::from_name).unwrap_or_default();
        let [start, finish] = [AttemptColumn::Start, AttemptColumn::Finish].map(|column| attempts.int(column));
        Ok(Some(Logged { outcome, start, finish }))
    }

    fn check_end(&mut self) -> Result<(), Error> {
        if self.tasks.next().is_some() {
            return Err(left_over(self.trace, TaskRow::TABLE));
        }
        self.attempts.check_end(self.trace)
    }
}

impl Jobs for Records<'_> {
    fn next_job(&mut self) -> Result<Option<JobRow>, Error> {
        Ok(Records::next_job(self).cloned())
    }

    fn next_task(&mut self) -> Result<Option<TaskRow>, Error> {
        Ok(Records::next_task(self).cloned())
    }

    fn next_attempt(&mut self) -> Result<Option<Logged>, Error> {
        let logged = |row: &AttemptRow| Logged { outcome: row.outcome, start: row.start, finish: row.finish };
        Ok(Records::next_attempt(self).map(logged))
    }

    fn check_end(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
