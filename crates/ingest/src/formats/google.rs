//! What the two traces of Google's Borg have in common: from the events of jobs and tasks to attempts.
//!
//! Pages: `docs/formats/google2011.md` and `docs/formats/google2019.md`. A task is tried as often as it is scheduled. Each try ends with
//! the next event that ends the task. An event may end a task whose start was not seen. If it names a machine, it ends a try all the same:
//! the start was before the files, or is lost.

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use super::tables::{Assemble, Fact, FactSink, Key, Machine, RowSink, encode, worse};
use resched_tables::Error;
use resched_tables::cause::{self, Cause};
use resched_tables::model::{AttemptRow, JobRow, Outcome, Priority, TaskKind, TaskRow};

/// The value of `jobs.framework`.
const BORG: &str = "borg";
/// One processor of the largest machine, in the unit of the tables' columns.
pub(super) const CPU_UNIT: f64 = 1e6;
/// The memory of the largest machine, in the unit of the tables' columns.
pub(super) const MEMORY_UNIT: f64 = 1e12;
/// The units, for the manifest.
pub(super) const UNITS: (&str, &str) = (
    "units",
    "normalised to the largest machine: 1.0 of its processors is 1,000,000 in cpu columns, 1.0 of its memory is \
     1,000,000,000,000 in memory columns",
);
/// The zero of times, for the manifest.
pub(super) const TIME_ZERO: (&str, &str) =
    ("time 0", "before the trace: it begins at 600 s, and earlier events have the time 0");
/// When both traces begin, ms.
pub(super) const BEGIN: i64 = 600_000;
/// The time of what happened after the trace.
const AFTER: i64 = i64::MAX;
/// The most jobs that are remembered because their user and priority were passed on. Further task events of these jobs
/// need not repeat them.
const REMEMBERED: usize = 1 << 16;
/// The most events of one time that are sorted by their kind. More events keep the order of the source.
const MAX_AT_ONCE: usize = 64;

/// An event of a job or a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Event {
    /// It was submitted.
    Submit,
    /// The batch scheduler holds it back (2019).
    Queue,
    /// It may be scheduled (2019).
    Enable,
    /// It was started on a machine.
    Schedule,
    /// It was changed before or while it ran.
    Update,
    /// It had to make room.
    Evict,
    /// It failed.
    Fail,
    /// It ended well.
    Finish,
    /// Somebody ended it, or what it depends on died.
    Kill,
    /// It ended, and nobody knows how.
    Lost,
}

impl Event {
    fn outcome(self) -> Option<Outcome> {
        match self {
            Event::Evict => Some(Outcome::Evicted),
            Event::Fail => Some(Outcome::Failed),
            Event::Finish => Some(Outcome::Success),
            Event::Kill => Some(Outcome::Killed),
            Event::Lost => Some(Outcome::Lost),
            Event::Submit | Event::Queue | Event::Enable | Event::Schedule | Event::Update => None,
        }
    }
}

/// The content of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Stored<'a> {
    /// An event of a job.
    Job {
        event: Event,
        #[serde(borrow)]
        about: About<'a>,
    },
    /// Facts about a job in the events of its tasks. One per job and file is enough.
    Aside {
        #[serde(borrow)]
        about: About<'a>,
    },
    /// An event of a task.
    Task { event: Event, machine: Option<u64>, cpu: Option<i64>, memory: Option<i64> },
}

/// Facts about a job other than its events.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct About<'a> {
    pub(super) user: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) class: Option<i64>,
    pub(super) priority: Option<i64>,
    /// The job that it is a part of.
    pub(super) parent: Option<u64>,
    /// The jobs that must end before it starts.
    pub(super) after: Vec<u64>,
}

/// Passes facts on.
pub(super) struct Facts<'s> {
    sink: &'s mut dyn FactSink,
    value: Vec<u8>,
    /// The jobs whose facts from task events were passed on.
    reported: HashSet<u64>,
}

impl<'s> Facts<'s> {
    pub(super) fn new(sink: &'s mut dyn FactSink) -> Self {
        Self { sink, value: Vec::new(), reported: HashSet::new() }
    }

    pub(super) fn skip(&mut self, cause: Cause) {
        self.sink.skip(cause);
    }

    /// Passes on a fact, unless it was after the trace.
    fn put(&mut self, job: u64, task: Key<'_>, time: i64, reported: &Stored<'_>) -> Result<(), Error> {
        if time == AFTER {
            self.skip(cause::EVENT_AFTER_TRACE);
            return Ok(());
        }
        if encode(reported, &mut self.value) {
            self.sink.fact(&Fact { job: Key::Number(job), task, time, value: &self.value })?;
        }
        Ok(())
    }

    /// Passes on an event of a job.
    pub(super) fn job(&mut self, job: u64, time: i64, event: Event, about: About<'_>) -> Result<(), Error> {
        self.put(job, Key::None, time, &Stored::Job { event, about })
    }

    /// Passes on the facts about a job in an event of its task, unless another event had them.
    pub(super) fn aside<'a>(&mut self, job: u64, time: i64, about: impl Fn() -> About<'a>) -> Result<(), Error> {
        if self.reported.contains(&job) {
            return Ok(());
        }
        if self.reported.len() == REMEMBERED {
            self.reported.clear();
        }
        self.reported.insert(job);
        self.put(job, Key::None, time, &Stored::Aside { about: about() })
    }

    /// Passes on an event of a task.
    pub(super) fn task(&mut self, job: u64, index: u64, time: i64, reported: &Stored<'_>) -> Result<(), Error> {
        self.put(job, Key::Number(index), time, reported)
    }

    /// Passes on what a machine offers at `time`, µs.
    pub(super) fn machine(&mut self, id: u64, time: i64, machine: Machine) -> Result<(), Error> {
        if time == AFTER {
            self.skip(cause::EVENT_AFTER_TRACE);
            return Ok(());
        }
        let machine = Machine { time: (time > 0).then(|| ms(time)), ..machine };
        if encode(&machine, &mut self.value) {
            self.sink.machine(&Fact { job: Key::Number(id), task: Key::None, time, value: &self.value })?;
        }
        Ok(())
    }
}

/// Times of both traces are in µs.
pub(super) fn ms(micros: i64) -> i64 {
    micros.div_euclid(1_000)
}

/// Puts together the events of one job after another.
pub(super) struct Assembler {
    /// Maps the source's priorities to ours.
    priority: fn(i64) -> Priority,
    /// True if the source keeps events of one time in order.
    ordered: bool,
    job: Job,
    task: Task,
    /// Events of one time.
    at_once: Vec<TaskEvent>,
}

#[derive(Default)]
struct Job {
    row: JobRow,
    submitted: u64,
    has_events: bool,
    /// The values from its tasks, which count if it has no events of its own.
    submit: Option<i64>,
    launch: Option<i64>,
    finish: Option<i64>,
    outcome: Option<Outcome>,
}

#[derive(Default)]
struct Task {
    row: TaskRow,
    /// When it was last submitted, while it waits.
    pending: Option<i64>,
    running: Option<AttemptRow>,
    attempts: i64,
    /// True if it has had an event.
    seen: bool,
}

#[derive(Clone, Copy)]
struct TaskEvent {
    time: i64,
    event: Event,
    machine: Option<u64>,
    cpu: Option<i64>,
    memory: Option<i64>,
}

impl Assembler {
    pub(super) fn new(priority: fn(i64) -> Priority, ordered: bool) -> Self {
        Self { priority, ordered, job: Job::default(), task: Task::default(), at_once: Vec::new() }
    }

    fn report(&mut self, about: About<'_>) {
        let row = &mut self.job.row;
        let text = |text: Option<&str>| text.map(str::to_owned);
        row.user = row.user.take().or_else(|| text(about.user));
        row.name = row.name.take().or_else(|| text(about.name));
        row.scheduling_class = row.scheduling_class.or(about.class);
        row.priority_number = row.priority_number.or(about.priority);
        row.priority = row.priority_number.map(self.priority);
        row.group = row.group.take().or_else(|| about.parent.map(|parent| parent.to_string()));
        if row.depends_on.is_empty() {
            row.depends_on = about.after.iter().map(u64::to_string).collect();
        }
    }

    fn job_event(&mut self, time: i64, event: Event, rows: &mut dyn RowSink) {
        let Job { row, submitted, has_events, .. } = &mut self.job;
        *has_events = true;
        match event {
            Event::Submit => {
                row.submit = row.submit.or(Some(ms(time)));
                *submitted += 1;
                if *submitted > 1 {
                    rows.skip(cause::JOB_SUBMITTED_AGAIN);
                }
                (row.finish, row.outcome) = (None, Outcome::Incomplete);
            }
            Event::Schedule => {
                row.launch = row.launch.or(Some(ms(time)));
                (row.finish, row.outcome) = (None, Outcome::Incomplete);
            }
            Event::Queue | Event::Enable | Event::Update => {
                if row.finish.is_none() {
                    row.outcome = Outcome::Incomplete;
                }
            }
            Event::Evict | Event::Fail | Event::Finish | Event::Kill | Event::Lost => {
                if row.finish.is_some() {
                    rows.skip(cause::JOB_ENDED_TWICE);
                } else {
                    row.finish = Some(ms(time));
                    row.outcome = event.outcome().unwrap_or_default();
                }
            }
        }
    }

    /// Takes the events of one time: those that end a running task first, then in the order of a task's life.
    fn settle(&mut self, rows: &mut dyn RowSink) -> Result<(), Error> {
        let mut events = std::mem::take(&mut self.at_once);
        if !self.ordered && events.len() > 1 {
            let running = self.task.running.is_some();
            events.sort_by_key(|event| (running && event.event.outcome().is_none(), event.event));
        }
        for event in events.drain(..) {
            self.task_event(event, rows)?;
        }
        self.at_once = events;
        Ok(())
    }

    fn task_event(&mut self, reported: TaskEvent, rows: &mut dyn RowSink) -> Result<(), Error> {
        let time = ms(reported.time);
        let row = &mut self.task.row;
        row.cpu_request = row.cpu_request.or(reported.cpu);
        row.memory_request = row.memory_request.or(reported.memory);
        match reported.event {
            Event::Submit => {
                self.job.submit = Some(self.job.submit.map_or(time, |first| first.min(time)));
                if self.task.running.is_some() {
                    rows.skip(cause::SUBMIT_WHILE_RUNNING);
                    self.end_attempt(None, Outcome::Unknown, rows)?;
                }
                if self.task.pending.replace(time).is_some() {
                    rows.skip(cause::TASK_SUBMITTED_AGAIN);
                }
                (self.task.row.finish, self.task.row.outcome) = (None, Outcome::Incomplete);
            }
            Event::Schedule => {
                if self.task.running.is_some() {
                    rows.skip(cause::SCHEDULE_WHILE_RUNNING);
                    self.end_attempt(None, Outcome::Unknown, rows)?;
                }
                self.begin_attempt(Some(time), reported.machine);
            }
            Event::Queue | Event::Enable | Event::Update => {}
            Event::Evict | Event::Fail | Event::Finish | Event::Kill | Event::Lost => {
                let outcome = reported.event.outcome().unwrap_or_default();
                let ended =
                    self.task.running.is_none() && self.task.pending.is_none() && self.task.row.finish.is_some();
                if ended {
                    rows.skip(cause::TASK_ENDED_TWICE);
                    return Ok(());
                }
                if self.task.running.is_none() && reported.machine.is_some() {
                    rows.skip(cause::END_WITHOUT_SCHEDULE);
                    self.begin_attempt(None, reported.machine);
                }
                self.end_attempt(Some(time), outcome, rows)?;
                self.task.pending = None;
                (self.task.row.finish, self.task.row.outcome) = (Some(time), outcome);
            }
        }
        Ok(())
    }

    fn begin_attempt(&mut self, start: Option<i64>, machine: Option<u64>) {
        let task = &mut self.task;
        self.job.launch = match (self.job.launch, start) {
            (Some(first), Some(start)) => Some(first.min(start)),
            (first, start) => first.or(start),
        };
        task.row.start = task.row.start.or(start.filter(|_| task.attempts == 0));
        (task.row.finish, task.row.outcome) = (None, Outcome::Incomplete);
        task.running = Some(AttemptRow {
            kind: TaskKind::Other,
            attempt: task.attempts,
            queued: task.pending.take(),
            start,
            host: machine.map(|machine| machine.to_string()),
            ..AttemptRow::default()
        });
        task.attempts += 1;
    }

    fn end_attempt(&mut self, finish: Option<i64>, outcome: Outcome, rows: &mut dyn RowSink) -> Result<(), Error> {
        let Some(attempt) = self.task.running.take() else { return Ok(()) };
        let TaskRow { job_id, task_id, .. } = &self.task.row;
        rows.attempt(AttemptRow { job_id: job_id.clone(), task_id: task_id.clone(), finish, outcome, ..attempt })
    }
}

impl Assemble for Assembler {
    fn fact(&mut self, fact: &Fact<'_>, rows: &mut dyn RowSink) -> Result<(), Error> {
        if self.job.row.job_id.is_empty() {
            self.job.row.job_id = fact.job.to_string();
        }
        let Ok(reported) = postcard::from_bytes::<Stored>(fact.value) else {
            rows.skip(cause::DAMAGED_FACT);
            return Ok(());
        };
        match reported {
            Stored::Job { event, about } => {
                self.report(about);
                self.job_event(fact.time, event, rows);
            }
            Stored::Aside { about } => self.report(about),
            Stored::Task { event, machine, cpu, memory } => {
                if !self.task.seen {
                    let job_id = self.job.row.job_id.clone();
                    let task_id = format!("{job_id}/{}", fact.task);
                    let outcome = Outcome::Incomplete;
                    let row = TaskRow { job_id, task_id, kind: TaskKind::Other, outcome, ..TaskRow::default() };
                    self.task = Task { row, seen: true, ..Task::default() };
                }
                let is_later = self.at_once.last().is_some_and(|last| last.time != fact.time);
                if is_later || self.ordered || self.at_once.len() == MAX_AT_ONCE {
                    self.settle(rows)?;
                }
                self.at_once.push(TaskEvent { time: fact.time, event, machine, cpu, memory });
            }
        }
        Ok(())
    }

    fn end_task(&mut self, rows: &mut dyn RowSink) -> Result<(), Error> {
        self.settle(rows)?;
        if !self.task.seen {
            return Ok(());
        }
        self.end_attempt(None, Outcome::Incomplete, rows)?;
        let task = std::mem::take(&mut self.task);
        self.job.finish = self.job.finish.max(task.row.finish);
        self.job.outcome = Some(worse(self.job.outcome, task.row.outcome));
        rows.task(task.row)
    }

    fn end_job(&mut self, rows: &mut dyn RowSink) -> Result<(), Error> {
        let Job { mut row, has_events, submit, launch, finish, outcome, .. } = std::mem::take(&mut self.job);
        row.framework = Some(BORG.to_owned());
        if !has_events {
            rows.skip(cause::JOB_WITHOUT_JOB_EVENTS);
            row.outcome = outcome.unwrap_or_default();
            row.finish = finish.filter(|_| row.outcome != Outcome::Incomplete);
            row.launch = launch;
        }
        row.submit = row.submit.or(submit);
        rows.job(row)
    }
}
