//! What a replay reads of a production log, in the tables of a trace or in memory.

use std::collections::BTreeMap;

use resched_tables::cause;
use resched_tables::engine::RunEngine;
use resched_tables::model::{AttemptRow, JobRow, NodeRow, TaskRow};
use resched_tables::reader::{Cursor, JobReader, Lazy, View, Wanted};
use resched_tables::sink::Collected;
use resched_tables::store::columns::Row;
use resched_tables::store::{Amounts, System, Trace};

use super::tries::Logged;
use crate::Error;
use crate::ids::Ms;
use crate::loading::{IN_MEMORY, LONGEST};

/// The setting by which an application of Spark asks for executors while it runs.
const DYNAMIC: &str = "spark.dynamicAllocation.enabled";

const WANTED: Wanted<'_> = Wanted {
    jobs: &[
        "job_id",
        "name",
        "user",
        "queue",
        "group",
        "framework",
        "priority",
        "priority_number",
        "scheduling_class",
        "outcome",
        "submit",
        "requested_time",
        "requested_cpu",
        "requested_memory",
        "depends_on",
        "eligible",
        "array",
        "array_limit",
        "together",
        "nice",
        "qos",
        "reservation",
        "features",
        "licenses",
        "wait_reason",
    ],
    tasks: &[
        "job_id",
        "task_id",
        "kind",
        "stage",
        "depends_on",
        "start",
        "finish",
        "outcome",
        "cpu_request",
        "memory_request",
        "instances",
        "gang",
        "resources",
        "machines",
        "exclusive",
        "node_selector",
        "tolerations",
        "affinity",
    ],
    splits: &[],
    attempts: &["task_id", "start", "finish", "run_time", "outcome"],
};
/// What is read beside that of a log that names preferred places, or whose system looks at them.
const WITH_PLACES: Wanted<'_> = Wanted {
    splits: &["task_id", "host"],
    attempts: &["task_id", "start", "finish", "run_time", "outcome", "host", "locality"],
    ..WANTED
};
/// What is read beside that of a log if hosts are known to differ.
const WITH_HOSTS: Wanted<'_> =
    Wanted { attempts: &["task_id", "start", "finish", "run_time", "outcome", "host"], ..WANTED };

/// A log.
pub(super) enum Log<'a> {
    /// The tables of a trace.
    Trace(&'a Trace),
    /// Memory.
    Memory(&'a Collected),
}

impl<'a> Log<'a> {
    /// Its name in errors.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Trace(trace) => trace.dir().display().to_string(),
            Self::Memory(_) => IN_MEMORY.to_owned(),
        }
    }

    /// Its rows about machines.
    pub(super) fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        match self {
            Self::Trace(trace) => Ok(trace.rows::<NodeRow>()?.collect::<Result<_, _>>()?),
            Self::Memory(tables) => Ok(tables.nodes.clone()),
        }
    }

    /// What its amounts of processor and memory are.
    pub(super) fn amounts(&self) -> Amounts {
        match self {
            Self::Trace(trace) => trace.manifest().amounts,
            // Tables in memory hold no shares: whoever has a trace with shares has its folder.
            Self::Memory(_) => Amounts::Absolute,
        }
    }

    /// True if its machines are as large as their use shows.
    pub(super) fn is_sized_by_use(&self) -> bool {
        let counts = match self {
            Self::Trace(trace) => &trace.manifest().skipped,
            Self::Memory(tables) => &tables.skipped,
        };
        counts.get(cause::MACHINE_SIZED_BY_ITS_USE.name()).is_some_and(|&machines| machines > 0)
    }

    /// The engine that its jobs are for.
    pub(super) fn engine(&self) -> RunEngine {
        match self {
            Self::Trace(trace) => trace.manifest().engine,
            Self::Memory(tables) => tables.engine,
        }
    }

    /// What ran its jobs, if it says so.
    pub(super) fn system(&self) -> Option<System> {
        match self {
            Self::Trace(trace) => trace.manifest().system,
            Self::Memory(_) => None,
        }
    }

    /// When it begins, ms, if that is known and not the first submission.
    pub(super) fn begin(&self) -> Option<Ms> {
        match self {
            Self::Trace(trace) => trace.manifest().begin,
            Self::Memory(_) => None,
        }
    }

    /// The last instant in it, ms: the last start or end of a task or an attempt. If it has none, that of a job. (The table of jobs may
    /// reach further than that of tasks, whose ends are then cut off earlier.)
    pub(super) fn horizon(&self) -> Result<Ms, Error> {
        let last = match self {
            Self::Trace(trace) => {
                let last = last_time::<TaskRow>(trace, ["start", "finish"], |row| [row.start, row.finish])?;
                last.max(last_time::<AttemptRow>(trace, ["start", "finish"], |row| [row.start, row.finish])?)
            }
            Self::Memory(tables) => {
                let of_tasks = tables.jobs.iter().flat_map(|job| &job.tasks).flat_map(|task| {
                    let of_attempts = task.attempts.iter().flat_map(|attempt| [attempt.start, attempt.finish]);
                    [task.task.start, task.task.finish].into_iter().chain(of_attempts)
                });
                of_tasks.fold(Ms::MIN, later)
            }
        };
        if last > Ms::MIN {
            return Ok(last);
        }
        match self {
            Self::Trace(trace) => last_time::<JobRow>(trace, ["submit", "finish"], |row| [row.submit, row.finish]),
            Self::Memory(tables) => {
                let of_jobs = tables.jobs.iter().flat_map(|job| [job.job.submit, job.job.finish]);
                Ok(of_jobs.fold(Ms::MIN, later))
            }
        }
    }

    /// True if it names preferred places of tasks.
    pub(super) fn has_places(&self) -> bool {
        match self {
            Self::Trace(trace) => trace.manifest().rows.get("splits").is_none_or(|&rows| rows > 0),
            Self::Memory(tables) => tables.jobs.iter().flat_map(|job| &job.tasks).any(|task| !task.splits.is_empty()),
        }
    }

    /// True if applications of the log ask for executors while they run.
    pub(super) fn executors_come_on_demand(&self) -> bool {
        let mut all = self.applications().values();
        all.any(|settings| settings.get(DYNAMIC).is_some_and(|said| said.eq_ignore_ascii_case("true")))
    }

    /// The settings of scheduling of its applications.
    pub(super) fn applications(&self) -> &BTreeMap<String, BTreeMap<String, String>> {
        match self {
            Self::Trace(trace) => &trace.manifest().applications,
            Self::Memory(tables) => &tables.applications,
        }
    }

    /// True if the system that ran its tasks looks where their input is that another stage wrote: Spark.
    pub(super) fn shuffles_have_places(&self) -> bool {
        match self {
            Self::Trace(trace) => trace.manifest().system == Some(System::Spark),
            Self::Memory(tables) => !tables.applications.is_empty(),
        }
    }

    /// Its jobs. Where an attempt ran is read only if that matters.
    pub(super) fn jobs(&self, hosts_matter: bool) -> Result<JobReader<'a>, Error> {
        match self {
            Self::Trace(trace) => {
                let wanted = match self.has_places() || self.shuffles_have_places() {
                    true => WITH_PLACES,
                    false if hosts_matter => WITH_HOSTS,
                    false => WANTED,
                };
                Ok(JobReader::of_trace(trace, wanted)?)
            }
            Self::Memory(tables) => Ok(JobReader::of_records(&tables.jobs)),
        }
    }
}

/// The times of an attempt.
pub(super) fn of_attempt(row: Lazy<'_, AttemptRow>) -> Logged {
    Logged {
        outcome: row.outcome(),
        start: row.start(),
        finish: row.finish(),
        run_time: row.run_time(),
        ..Logged::default()
    }
}

/// The times and outcome of a task itself, for a task that no attempt is known of.
pub(super) fn of_task(row: Lazy<'_, TaskRow>) -> Logged {
    Logged { outcome: row.outcome(), start: row.start(), finish: row.finish(), ..Logged::default() }
}

/// The later of two instants. An impossible time does not make the trace longer.
fn later(last: Ms, time: Option<Ms>) -> Ms {
    let time = time.filter(|time| (-LONGEST..=LONGEST).contains(time));
    last.max(time.unwrap_or(last))
}

/// The last of these times of a table.
fn last_time<R: Row + 'static>(
    trace: &Trace,
    columns: [&str; 2],
    times: impl Fn(View<'_, R>) -> [Option<Ms>; 2],
) -> Result<Ms, Error> {
    let mut rows = Cursor::<R>::open(trace, &columns)?;
    let mut last = Ms::MIN;
    while rows.advance()? {
        last = times(rows.row()).into_iter().fold(last, later);
    }
    Ok(last)
}
