//! The attempts of a trace or run, as the estimators need them.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use resched_tables::model::{AttemptRow, JobRow, Locality, Outcome, TaskKind, TaskRow};
use resched_tables::store::Rows;
use resched_tables::store::columns::Row;

use crate::runs::tables::checked;
use crate::runs::times::MAX_TIME;
use crate::{Error, Origin};

/// A job, as far as the estimators need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Job {
    /// The number of maps that it announced.
    pub maps: Option<u64>,
    /// The number of reduces that it announced.
    pub reduces: Option<u64>,
    /// Bytes that all its reduces fetch.
    pub shuffle_bytes: Option<u64>,
    /// When it was submitted.
    pub submit: Option<i64>,
    /// When it was launched: initialised, or the first start of a task.
    pub launch: Option<i64>,
}

/// An attempt. Times in ms, sizes in bytes, unknown is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attempt {
    /// Its job, an index of [`Observed::jobs`].
    pub job: usize,
    /// Where it ran, an index of [`Observed::hosts`].
    pub host: Option<usize>,
    /// Its task, as a number. Attempts at one task stand together.
    pub task: usize,
    /// Its stage, as a number over all jobs; `None` if its task names none.
    pub stage: Option<usize>,
    /// The kind of its task. Set-up and clean-up tasks count as such also if the source lists them among others.
    pub kind: TaskKind,
    /// When its task was assigned to a node for the first time, by the master's clock; known for the first try only.
    pub assigned: Option<i64>,
    /// When the master learned that its task was done; known for the successful try only.
    pub learned: Option<i64>,
    /// True if it is the first try at its task. Its task has then waited since the start of its job.
    pub first: bool,
    /// When it started.
    pub start: Option<i64>,
    /// When a reduce had all its input.
    pub shuffle_finish: Option<i64>,
    /// When a reduce had sorted its input.
    pub sort_finish: Option<i64>,
    /// When it ended.
    pub finish: Option<i64>,
    /// True if it ended well.
    pub succeeded: bool,
    /// How near its input a map ran.
    pub locality: Option<Locality>,
    /// Bytes that a map read.
    pub input_bytes: Option<u64>,
    /// Bytes that a reduce fetched.
    pub shuffle_bytes: Option<u64>,
}

impl Attempt {
    /// The time from start to finish, ms, if it is above 0.
    pub fn run_time(&self) -> Option<f64> {
        span(self.start?, self.finish?)
    }

    /// True if it is a map that ended well.
    pub fn is_good_map(&self) -> bool {
        self.kind == TaskKind::Map && self.succeeded
    }

    /// True if it is a reduce that ended well.
    pub fn is_good_reduce(&self) -> bool {
        self.kind == TaskKind::Reduce && self.succeeded
    }
}

/// The time between two instants, ms, if it is above 0.
pub(super) fn span(from: i64, to: i64) -> Option<f64> {
    (to > from).then(|| (to - from) as f64)
}

/// The observed jobs and attempts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// The attempts.
    pub attempts: Vec<Attempt>,
    /// The hosts on which they ran.
    pub hosts: Vec<String>,
    /// How many racks these hosts are in.
    pub racks: u64,
}

impl Observed {
    /// Reads the tables `jobs` and `attempts` in `dir`. `origin` has their lengths and hashes. Attempts of unknown
    /// jobs are left out, and implausible times count as unknown.
    ///
    /// # Errors
    /// [`Error::Trace`] if a table is missing, damaged or of another length.
    pub fn load(dir: &Path, origin: &Origin) -> Result<Self, Error> {
        let mut observed = Self::default();
        let mut jobs: HashMap<String, usize> = HashMap::new();
        for row in Rows::<JobRow, _>::new(checked::<JobRow>(dir, origin)?) {
            let row = row?;
            jobs.entry(row.job_id).or_insert(observed.jobs.len());
            observed.jobs.push(Job {
                maps: size(row.declared_maps),
                reduces: size(row.declared_reduces),
                shuffle_bytes: size(row.shuffle_bytes),
                submit: time(row.submit),
                launch: time(row.launch),
            });
        }
        let mut tasks = Tasks::open(dir, origin)?;
        let mut hosts: HashMap<String, usize> = HashMap::new();
        let mut stages: HashMap<(usize, String), usize> = HashMap::new();
        let mut racks = BTreeSet::new();
        for row in Rows::<AttemptRow, _>::new(checked::<AttemptRow>(dir, origin)?) {
            let row = row?;
            let Some(&job) = jobs.get(&row.job_id) else { continue };
            racks.extend(row.rack);
            let host = row.host.map(|name| {
                *hosts.entry(name).or_insert_with_key(|name| {
                    observed.hosts.push(name.clone());
                    observed.hosts.len() - 1
                })
            });
            let (task, task_row) = tasks.of(&row.task_id)?;
            let stage = task_row.and_then(|task| task.stage.clone()).map(|stage| {
                let next = stages.len();
                *stages.entry((job, stage)).or_insert(next)
            });
            let succeeded = row.outcome == Outcome::Success;
            observed.attempts.push(Attempt {
                job,
                host,
                task,
                stage,
                kind: task_row.map_or(row.kind, role),
                assigned: task_row.filter(|_| row.attempt == 0).and_then(|task| time(task.start)),
                learned: task_row.filter(|_| succeeded).and_then(|task| time(task.finish)),
                first: row.attempt == 0,
                start: time(row.start),
                shuffle_finish: time(row.shuffle_finish),
                sort_finish: time(row.sort_finish),
                finish: time(row.finish),
                succeeded,
                locality: row.locality,
                input_bytes: size(row.hdfs_bytes_read).or(size(row.map_input_bytes)),
                shuffle_bytes: size(row.reduce_shuffle_bytes),
            });
        }
        observed.racks = racks.len() as u64;
        Ok(observed)
    }
}

/// The tasks of a trace, in the order of its attempts. A run has no such table.
struct Tasks<'a> {
    rows: Box<dyn Iterator<Item = Result<TaskRow, resched_tables::Error>> + 'a>,
    /// The task of the latest attempt, its number and its row.
    id: String,
    number: usize,
    row: Option<TaskRow>,
}

impl<'a> Tasks<'a> {
    fn open(dir: &'a Path, origin: &'a Origin) -> Result<Self, Error> {
        let rows: Box<dyn Iterator<Item = _> + 'a> = match origin.rows().contains_key(TaskRow::TABLE) {
            true => Box::new(Rows::<TaskRow, _>::new(checked::<TaskRow>(dir, origin)?)),
            false => Box::new(std::iter::empty()),
        };
        Ok(Self { rows, id: String::new(), number: 0, row: None })
    }

    /// The task of the next attempt: its number and, if the table has it, its row.
    fn of(&mut self, id: &str) -> Result<(usize, Option<&TaskRow>), Error> {
        if self.id != id {
            self.number += 1;
            id.clone_into(&mut self.id);
            self.row = None;
            // Tasks without attempts come between.
            while let Some(row) = self.rows.next().transpose()? {
                if row.task_id == id {
                    self.row = Some(row);
                    break;
                }
            }
        }
        Ok((self.number, self.row.as_ref()))
    }
}

/// What a task is to its job: Rumen lists set-up and clean-up among others, and their stage says what they are.
fn role(task: &TaskRow) -> TaskKind {
    match (task.kind, task.stage.as_deref()) {
        (TaskKind::Other, Some("setup" | "job_setup")) => TaskKind::Setup,
        (TaskKind::Other, Some("cleanup" | "job_cleanup")) => TaskKind::Cleanup,
        (kind, _) => kind,
    }
}

/// A count, or a number of bytes; `None` if it is negative, which is damage.
fn size(number: Option<i64>) -> Option<u64> {
    number.and_then(|number| u64::try_from(number).ok())
}

fn time(time: Option<i64>) -> Option<i64> {
    time.filter(|time| (-MAX_TIME..=MAX_TIME).contains(time))
}
