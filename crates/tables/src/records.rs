//! Reads a trace or a run job by job, each job with all its rows.
//!
//! In every table of a trace, the rows of a job stand together, and all tables have the jobs in the same order. So one
//! pass over each table is enough, and only one job is held. The attempts of a run stand in the order in which they
//! ended. They are all held, and the tasks are made from them.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::model::{
    AttemptRow, CounterRow, CounterScope, JobRecord, JobRow, NodeRow, Outcome, SplitRow, TaskKind, TaskRecord, TaskRow,
};
use crate::run::{self, RunInfo};
use crate::store::columns::Row;
use crate::store::{Manifest, Rows, System, TimeZero, Trace, read_table};

/// The jobs of a trace or a run, in the order of its jobs table.
pub struct Records {
    jobs: Cursor<JobRow>,
    rest: Rest,
}

/// The rows that belong to the jobs.
enum Rest {
    Trace(Box<Tables>),
    /// The attempts of each job of a run.
    Run(BTreeMap<String, Vec<AttemptRow>>),
}

/// The tables of a trace, except the jobs table.
struct Tables {
    dir: PathBuf,
    tasks: Cursor<TaskRow>,
    attempts: Cursor<AttemptRow>,
    splits: Cursor<SplitRow>,
    counters: Cursor<CounterRow>,
}

/// A folder of tables: a trace or a run.
pub struct Source {
    dir: PathBuf,
    tables: Opened,
}

/// What the folder is.
enum Opened {
    Trace(Box<Trace>),
    /// A run, with its description.
    Run(Box<RunInfo>),
}

impl Source {
    /// Opens the trace or the run in `dir`.
    ///
    /// # Errors
    /// [`Error::Request`] if it is neither; otherwise as [`Trace::open`] and [`run::read`].
    pub fn open(dir: &Path) -> Result<Self, Error> {
        if dir.join(run::MARKER).is_file() {
            return Ok(Self { dir: dir.to_path_buf(), tables: Opened::Run(Box::new(run::read(dir)?)) });
        }
        Ok(Self { dir: dir.to_path_buf(), tables: Opened::Trace(Box::new(Trace::open(dir)?)) })
    }

    /// The manifest of a trace.
    pub fn manifest(&self) -> Option<&Manifest> {
        match &self.tables {
            Opened::Trace(trace) => Some(trace.manifest()),
            Opened::Run(..) => None,
        }
    }

    /// The machines of a run under a policy for production traces, and their processors together; `None` for anything else, or if
    /// amounts are shares of the largest machine.
    pub fn machines_of_run(&self) -> Option<(u64, i64)> {
        let Opened::Run(info) = &self.tables else { return None };
        let cluster = &info.cluster;
        let has_slots = cluster.map_slots + cluster.reduce_slots > 0;
        let cores = i64::try_from(cluster.vcores.filter(|_| !has_slots)?).ok()?;
        Some((cluster.nodes, cores))
    }

    /// What ran its jobs, or was simulated.
    pub fn system(&self) -> System {
        match &self.tables {
            Opened::Trace(trace) => trace.manifest().system.unwrap_or_default(),
            Opened::Run(info) => info.system,
        }
    }

    /// The label of the policy under which it was replayed; `None` for a trace.
    pub fn policy(&self) -> Option<&str> {
        match &self.tables {
            Opened::Trace(_) => None,
            Opened::Run(info) => Some(&info.label),
        }
    }

    /// The date of one of its times, ms since the epoch; `None` if its times have no dates.
    pub fn date(&self, time: i64) -> Option<i64> {
        match &self.tables {
            Opened::Trace(trace) => (trace.manifest().time_zero == TimeZero::Epoch).then_some(time),
            Opened::Run(info) => info.clock?.date(time),
        }
    }

    /// The zero of its times. The times of a run are those of the simulated clock, which has the same zero as the
    /// trace.
    pub fn time_zero(&self) -> TimeZero {
        self.manifest().map_or(TimeZero::Relative, |manifest| manifest.time_zero)
    }

    /// The rows of its jobs table.
    ///
    /// # Errors
    /// As [`Trace::batches`].
    pub fn jobs(&self) -> Result<impl Iterator<Item = Result<JobRow, Error>> + use<>, Error> {
        self.rows::<JobRow>()
    }

    /// The rows of its nodes table; a run has none.
    ///
    /// # Errors
    /// As [`Trace::batches`].
    pub fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        match &self.tables {
            Opened::Trace(trace) => trace.rows::<NodeRow>()?.collect(),
            Opened::Run(..) => Ok(Vec::new()),
        }
    }

    /// Its jobs with all that belongs to them.
    ///
    /// # Errors
    /// As [`Trace::batches`]. Further errors come from the iterator, which ends with the first.
    pub fn records(&self) -> Result<Records, Error> {
        let jobs = Cursor::new(self.rows::<JobRow>()?);
        let rest = match &self.tables {
            Opened::Trace(trace) => Rest::Trace(Box::new(Tables {
                dir: self.dir.clone(),
                tasks: Cursor::new(trace.rows()?),
                attempts: Cursor::new(trace.rows()?),
                splits: Cursor::new(trace.rows()?),
                counters: Cursor::new(trace.rows()?),
            })),
            Opened::Run(..) => {
                let mut attempts: BTreeMap<String, Vec<AttemptRow>> = BTreeMap::new();
                for row in self.rows::<AttemptRow>()? {
                    let row = row?;
                    if row.kind == TaskKind::Master {
                        continue;
                    }
                    attempts.entry(row.job_id.clone()).or_default().push(row);
                }
                Rest::Run(attempts)
            }
        };
        Ok(Records { jobs, rest })
    }

    fn rows<R: Row + 'static>(&self) -> Result<Box<dyn Iterator<Item = Result<R, Error>>>, Error> {
        Ok(match &self.tables {
            Opened::Trace(trace) => Box::new(trace.rows::<R>()?),
            Opened::Run(info) => {
                let table = read_table::<R>(&self.dir, &info.files)?;
                Box::new(Rows::<R, _>::new(table.batches()))
            }
        })
    }
}

impl Records {
    fn record(&mut self, job: JobRow) -> Result<JobRecord, Error> {
        match &mut self.rest {
            Rest::Trace(tables) => tables.record(job),
            Rest::Run(attempts) => {
                let tasks = tasks_of(attempts.remove(&job.job_id).unwrap_or_default());
                Ok(JobRecord { job, tasks, counters: Vec::new() })
            }
        }
    }
}

impl Iterator for Records {
    type Item = Result<JobRecord, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.jobs.next() {
            Ok(Some(job)) => Some(self.record(job)),
            Ok(None) => match &mut self.rest {
                Rest::Trace(tables) => tables.check_end().err().map(Err),
                Rest::Run(_) => None,
            },
            Err(error) => Some(Err(error)),
        }
    }
}

impl Tables {
    fn record(&mut self, job: JobRow) -> Result<JobRecord, Error> {
        let mut tasks = Vec::new();
        while let Some(task) = self.tasks.next_if(|task| task.job_id == job.job_id)? {
            let (mut splits, mut attempts) = (Vec::new(), Vec::new());
            while let Some(split) = self.splits.next_if(|split| split.task_id == task.task_id)? {
                splits.push(split);
            }
            while let Some(attempt) = self.attempts.next_if(|attempt| attempt.task_id == task.task_id)? {
                attempts.push(attempt);
            }
            tasks.push(TaskRecord { task, splits, attempts });
        }
        let mut counters = Vec::new();
        let ids: BTreeSet<&str> = match self.counters.is_at_end() {
            true => BTreeSet::new(),
            false => tasks.iter().map(|task| task.task.task_id.as_str()).collect(),
        };
        let is_own = |counter: &CounterRow| match counter.scope {
            CounterScope::Task => ids.contains(counter.id.as_str()),
            CounterScope::Attempt => counter.id.rsplit_once('/').is_some_and(|(task, _)| ids.contains(task)),
            CounterScope::Job | CounterScope::Map | CounterScope::Reduce => counter.id == job.job_id,
        };
        while let Some(counter) = self.counters.next_if(is_own)? {
            counters.push(counter);
        }
        Ok(JobRecord { job, tasks, counters })
    }

    /// Rows that no job took.
    fn check_end(&mut self) -> Result<(), Error> {
        let left = [
            ("tasks", self.tasks.next()?.is_some()),
            ("splits", self.splits.next()?.is_some()),
            ("attempts", self.attempts.next()?.is_some()),
            ("counters", self.counters.next()?.is_some()),
        ];
        match left.iter().find(|(_, left)| *left) {
            None => Ok(()),
            Some((table, _)) => Err(Error::Trace {
                path: self.dir.join(format!("{table}.parquet")),
                problem: "expected the rows in the order of the jobs, found another order".to_owned(),
                remedy: "ingest the sources again".to_owned(),
            }),
        }
    }
}

/// The tasks that the attempts of a run belong to, by kind and name.
fn tasks_of(mut attempts: Vec<AttemptRow>) -> Vec<TaskRecord> {
    attempts.sort_by(|a, b| (a.kind.as_str(), &a.task_id, a.attempt).cmp(&(b.kind.as_str(), &b.task_id, b.attempt)));
    let mut tasks: Vec<TaskRecord> = Vec::new();
    for attempt in attempts {
        match tasks.last_mut().filter(|task| task.task.task_id == attempt.task_id) {
            Some(task) => task.attempts.push(attempt),
            None => tasks.push(TaskRecord {
                task: TaskRow {
                    job_id: attempt.job_id.clone(),
                    task_id: attempt.task_id.clone(),
                    kind: attempt.kind,
                    ..TaskRow::default()
                },
                splits: Vec::new(),
                attempts: vec![attempt],
            }),
        }
    }
    for TaskRecord { task, attempts, .. } in &mut tasks {
        let reported = attempts.iter().find(|attempt| attempt.outcome == Outcome::Success).or(attempts.last());
        task.start = attempts.iter().filter_map(|attempt| attempt.start).min();
        task.finish = reported.and_then(|attempt| attempt.finish);
        task.outcome = reported.map_or(Outcome::Unknown, |attempt| attempt.outcome);
    }
    tasks
}

/// The rows of a table. You can look at the next one before you take it.
struct Cursor<R> {
    rows: Peekable<Box<dyn Iterator<Item = Result<R, Error>>>>,
}

impl<R: 'static> Cursor<R> {
    fn new(rows: impl Iterator<Item = Result<R, Error>> + 'static) -> Self {
        let rows: Box<dyn Iterator<Item = Result<R, Error>>> = Box::new(rows);
        Self { rows: rows.peekable() }
    }

    fn next(&mut self) -> Result<Option<R>, Error> {
        self.rows.next().transpose()
    }

    /// The next row, if `is` holds for it or it is an error.
    fn next_if(&mut self, is: impl Fn(&R) -> bool) -> Result<Option<R>, Error> {
        self.rows.next_if(|row| row.as_ref().is_ok_and(&is) || row.is_err()).transpose()
    }

    fn is_at_end(&mut self) -> bool {
        self.rows.peek().is_none()
    }
}
