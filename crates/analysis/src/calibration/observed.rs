//! The attempts of a trace or run, as the estimators need them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use resched_trace::model::{AttemptRow, JobRow, Locality, Outcome, TaskKind};
use resched_trace::store::Rows;
use resched_trace::store::columns::Row;

use crate::Error;
use crate::tables::{MAX_TIME, checked};

/// A job, as far as the estimators need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Job {
    /// The number of maps that it announced.
    pub maps: Option<u64>,
    /// The number of reduces that it announced.
    pub reduces: Option<u64>,
    /// Bytes that all its reduces fetch.
    pub shuffle_bytes: Option<u64>,
}

/// An attempt. Times in ms, sizes in bytes, unknown is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attempt {
    /// Its job, an index of [`Observed::jobs`].
    pub job: usize,
    /// Where it ran, an index of [`Observed::hosts`].
    pub host: Option<usize>,
    /// The kind of its task.
    pub kind: TaskKind,
    /// Whether it is the first try at its task. Its task has then waited since the start of its job.
    pub first: bool,
    /// When it started.
    pub start: Option<i64>,
    /// When a reduce had all its input.
    pub shuffle_finish: Option<i64>,
    /// When a reduce had sorted its input.
    pub sort_finish: Option<i64>,
    /// When it ended.
    pub finish: Option<i64>,
    /// Whether it ended well.
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

    /// Whether it is a map that ended well.
    pub fn is_good_map(&self) -> bool {
        self.kind == TaskKind::Map && self.succeeded
    }

    /// Whether it is a reduce that ended well.
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
    /// Reads the tables `jobs` and `attempts` in `dir`. `rows` has their lengths from the folder's marker file. Attempts of unknown
    /// jobs are left out, and implausible times count as unknown.
    ///
    /// # Errors
    /// [`Error::Trace`] if a table is missing, damaged or of another length.
    pub fn load(dir: &Path, rows: &BTreeMap<String, u64>) -> Result<Self, Error> {
        let path = |table: &str| dir.join(format!("{table}.parquet"));
        let mut observed = Self::default();
        let mut jobs: HashMap<String, usize> = HashMap::new();
        for row in Rows::<JobRow, _>::new(path(JobRow::TABLE), checked::<JobRow>(dir, rows)?) {
            let row = row?;
            jobs.entry(row.job_id).or_insert(observed.jobs.len());
            observed.jobs.push(Job {
                maps: size(row.declared_maps),
                reduces: size(row.declared_reduces),
                shuffle_bytes: size(row.shuffle_bytes),
            });
        }
        let mut hosts: HashMap<String, usize> = HashMap::new();
        let mut racks = BTreeSet::new();
        for row in Rows::<AttemptRow, _>::new(path(AttemptRow::TABLE), checked::<AttemptRow>(dir, rows)?) {
            let row = row?;
            let Some(&job) = jobs.get(&row.job_id) else { continue };
            racks.extend(row.rack);
            let host = row.host.map(|name| {
                *hosts.entry(name).or_insert_with_key(|name| {
                    observed.hosts.push(name.clone());
                    observed.hosts.len() - 1
                })
            });
            observed.attempts.push(Attempt {
                job,
                host,
                kind: row.kind,
                first: row.attempt == 0,
                start: time(row.start),
                shuffle_finish: time(row.shuffle_finish),
                sort_finish: time(row.sort_finish),
                finish: time(row.finish),
                succeeded: row.outcome == Outcome::Success,
                locality: row.locality,
                input_bytes: size(row.hdfs_bytes_read).or(size(row.map_input_bytes)),
                shuffle_bytes: size(row.reduce_shuffle_bytes),
            });
        }
        observed.racks = racks.len() as u64;
        Ok(observed)
    }
}

/// A count, or a number of bytes; `None` if it is negative, which is damage.
fn size(number: Option<i64>) -> Option<u64> {
    number.and_then(|number| u64::try_from(number).ok())
}

fn time(time: Option<i64>) -> Option<i64> {
    time.filter(|time| (-MAX_TIME..=MAX_TIME).contains(time))
}
