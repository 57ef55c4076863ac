//! The contents of a production log, in the tables of a trace or in memory.

use resched_tables::engine::RunEngine;
use resched_tables::model::{AttemptRow, JobRow, NodeRow, Outcome, Priority, TaskKind, TaskRow};
use resched_tables::sink::Collected;
use resched_tables::store::{Amounts, Trace};

use super::tries::Logged;
use crate::Error;
use crate::ids::Ms;
use crate::records::{IN_MEMORY, Records};
use crate::tables::{Columns, Cursor, LONGEST, columns};

/// The questions that the loader asks about a whole log.
pub(super) trait Log {
    /// Its name in errors.
    fn name(&self) -> String;

    /// Its rows about machines.
    fn nodes(&self) -> Result<Vec<NodeRow>, Error>;

    /// What its amounts of processor and memory are.
    fn amounts(&self) -> Amounts;

    /// The engine that its jobs are for.
    fn engine(&self) -> RunEngine;

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
    /// Moves to the next job, if there is one.
    fn next_job(&mut self) -> Result<bool, Error>;

    /// The current job.
    fn job(&self) -> JobEntry<'_>;

    /// Moves to the next task of the job, if there is one.
    fn next_task(&mut self) -> Result<bool, Error>;

    /// The current task.
    fn task(&self) -> TaskEntry<'_>;

    /// The next attempt at the task.
    fn next_attempt(&mut self) -> Result<Option<Logged>, Error>;

    /// Checks that a job has taken every row.
    fn check_end(&mut self) -> Result<(), Error>;
}

/// The columns of the jobs table that a replay needs, for one row.
#[derive(Debug, Clone, Default)]
pub(super) struct JobEntry<'a> {
    pub(super) id: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) user: Option<&'a str>,
    pub(super) queue: Option<&'a str>,
    pub(super) group: Option<&'a str>,
    pub(super) framework: Option<&'a str>,
    pub(super) priority: Option<Priority>,
    pub(super) priority_number: Option<i64>,
    pub(super) scheduling_class: Option<i64>,
    pub(super) submit: Option<Ms>,
    pub(super) requested_time: Option<Ms>,
    pub(super) requested_cpu: Option<i64>,
    pub(super) requested_memory: Option<i64>,
    pub(super) depends_on: Vec<&'a str>,
}

/// The columns of the tasks table that a replay needs, for one row.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskEntry<'a> {
    pub(super) id: &'a str,
    pub(super) kind: TaskKind,
    pub(super) stage: Option<&'a str>,
    pub(super) depends_on: Vec<&'a str>,
    pub(super) cpu_request: Option<i64>,
    pub(super) memory_request: Option<i64>,
    pub(super) instances: Option<i64>,
    pub(super) gang: Option<bool>,
    /// Its own times and outcome, for a task that no attempt is known of.
    pub(super) logged: Logged,
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
    /// The columns of the jobs table that a replay needs.
    JobColumn of JobRow {
        JobId = "job_id",
        Name = "name",
        User = "user",
        Queue = "queue",
        Group = "group",
        Framework = "framework",
        Priority = "priority",
        PriorityNumber = "priority_number",
        SchedulingClass = "scheduling_class",
        Submit = "submit",
        RequestedTime = "requested_time",
        RequestedCpu = "requested_cpu",
        RequestedMemory = "requested_memory",
        DependsOn = "depends_on",
    }
}

columns! {
    /// The columns of the tasks table that a replay needs.
    TaskColumn of TaskRow {
        JobId = "job_id",
        TaskId = "task_id",
        Kind = "kind",
        Stage = "stage",
        DependsOn = "depends_on",
        Start = "start",
        Finish = "finish",
        Outcome = "outcome",
        CpuRequest = "cpu_request",
        MemoryRequest = "memory_request",
        Instances = "instances",
        Gang = "gang",
    }
}

columns! {
    /// The columns of the attempts table that a replay needs.
    AttemptColumn of AttemptRow {
        TaskId = "task_id",
        Start = "start",
        Finish = "finish",
        RunTime = "run_time",
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

    fn amounts(&self) -> Amounts {
        self.manifest().amounts
    }

    fn engine(&self) -> RunEngine {
        self.manifest().engine
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
            jobs: Cursor::open(self)?,
            tasks: Cursor::open(self)?,
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

    fn amounts(&self) -> Amounts {
        // Tables in memory hold no shares: whoever has a trace with shares has its folder.
        Amounts::Absolute
    }

    fn engine(&self) -> RunEngine {
        self.engine
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
        Ok(Collection { records: Records::new(&self.jobs), job: None, task: None })
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
struct TraceJobs<'a> {
    trace: &'a Trace,
    jobs: Cursor<JobColumn>,
    tasks: Cursor<TaskColumn>,
    attempts: Cursor<AttemptColumn>,
    /// The id of the current job.
    job: String,
    /// The id of the current task.
    task: String,
}

impl Jobs for TraceJobs<'_> {
    fn next_job(&mut self) -> Result<bool, Error> {
        let moved = self.jobs.advance()?;
        replace(&mut self.job, self.jobs.text(JobColumn::JobId).filter(|_| moved));
        Ok(moved)
    }

    fn job(&self) -> JobEntry<'_> {
        use JobColumn as Of;
        let (text, int) = (|of| self.jobs.text(of), |of| self.jobs.int(of));
        JobEntry {
            id: &self.job,
            name: text(Of::Name),
            user: text(Of::User),
            queue: text(Of::Queue),
            group: text(Of::Group),
            framework: text(Of::Framework),
            priority: text(Of::Priority).and_then(Priority::from_name),
            priority_number: int(Of::PriorityNumber),
            scheduling_class: int(Of::SchedulingClass),
            submit: int(Of::Submit),
            requested_time: int(Of::RequestedTime),
            requested_cpu: int(Of::RequestedCpu),
            requested_memory: int(Of::RequestedMemory),
            depends_on: self.jobs.texts(Of::DependsOn),
        }
    }

    fn next_task(&mut self) -> Result<bool, Error> {
        let moved = self.tasks.advance_if(TaskColumn::JobId, &self.job)?;
        replace(&mut self.task, self.tasks.text(TaskColumn::TaskId).filter(|_| moved));
        Ok(moved)
    }

    fn task(&self) -> TaskEntry<'_> {
        use TaskColumn as Of;
        let (text, int) = (|of| self.tasks.text(of), |of| self.tasks.int(of));
        TaskEntry {
            id: &self.task,
            kind: text(Of::Kind).and_then(TaskKind::from_name).unwrap_or_default(),
            stage: text(Of::Stage),
            depends_on: self.tasks.texts(Of::DependsOn),
            cpu_request: int(Of::CpuRequest),
            memory_request: int(Of::MemoryRequest),
            instances: int(Of::Instances),
            gang: self.tasks.bool(Of::Gang),
            logged: Logged {
                outcome: text(Of::Outcome).and_then(Outcome::from_name).unwrap_or_default(),
                start: int(Of::Start),
                finish: int(Of::Finish),
                run_time: None,
            },
        }
    }

    fn next_attempt(&mut self) -> Result<Option<Logged>, Error> {
        let attempts = &mut self.attempts;
        if !attempts.advance_if(AttemptColumn::TaskId, &self.task)? {
            return Ok(None);
        }
        let outcome = attempts.text(AttemptColumn::Outcome).and_then(Outcome::from_name).unwrap_or_default();
        let [start, finish, run_time] =
            [AttemptColumn::Start, AttemptColumn::Finish, AttemptColumn::RunTime].map(|column| attempts.int(column));
        Ok(Some(Logged { outcome, start, finish, run_time }))
    }

    fn check_end(&mut self) -> Result<(), Error> {
        self.tasks.check_end(self.trace)?;
        self.attempts.check_end(self.trace)
    }
}

/// Replaces a text in the same memory.
fn replace(text: &mut String, by: Option<&str>) {
    text.clear();
    text.push_str(by.unwrap_or_default());
}

/// Jobs in memory.
struct Collection<'a> {
    records: Records<'a>,
    job: Option<&'a JobRow>,
    task: Option<&'a TaskRow>,
}

impl Jobs for Collection<'_> {
    fn next_job(&mut self) -> Result<bool, Error> {
        self.job = self.records.next_job();
        Ok(self.job.is_some())
    }

    fn job(&self) -> JobEntry<'_> {
        let Some(row) = self.job else { return JobEntry::default() };
        JobEntry {
            id: &row.job_id,
            name: row.name.as_deref(),
            user: row.user.as_deref(),
            queue: row.queue.as_deref(),
            group: row.group.as_deref(),
            framework: row.framework.as_deref(),
            priority: row.priority,
            priority_number: row.priority_number,
            scheduling_class: row.scheduling_class,
            submit: row.submit,
            requested_time: row.requested_time,
            requested_cpu: row.requested_cpu,
            requested_memory: row.requested_memory,
            depends_on: row.depends_on.iter().map(String::as_str).collect(),
        }
    }

    fn next_task(&mut self) -> Result<bool, Error> {
        self.task = self.records.next_task();
        Ok(self.task.is_some())
    }

    fn task(&self) -> TaskEntry<'_> {
        let Some(row) = self.task else { return TaskEntry::default() };
        TaskEntry {
            id: &row.task_id,
            kind: row.kind,
            stage: row.stage.as_deref(),
            depends_on: row.depends_on.iter().map(String::as_str).collect(),
            cpu_request: row.cpu_request,
            memory_request: row.memory_request,
            instances: row.instances,
            gang: row.gang,
            logged: Logged { outcome: row.outcome, start: row.start, finish: row.finish, run_time: None },
        }
    }

    fn next_attempt(&mut self) -> Result<Option<Logged>, Error> {
        let logged = |row: &AttemptRow| {
            let &AttemptRow { outcome, start, finish, run_time, .. } = row;
            Logged { outcome, start, finish, run_time }
        };
        Ok(self.records.next_attempt().map(logged))
    }

    fn check_end(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
