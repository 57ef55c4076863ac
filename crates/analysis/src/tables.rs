//! The tables of a run or trace as polars frames.
//!
//! Parquet is read by `resched-trace`; the few columns that metrics need are copied into polars, batch by batch.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use arrow::array::{Array, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow::compute::filter_record_batch;
use polars::error::PolarsError;
use polars::prelude::{Column, DataFrame};
use resched_trace::model::{AttemptRow, DecisionRow, JobRow, ResourceRow};
use resched_trace::store::columns::Row;
use resched_trace::store::{Rows, read_table};

use crate::{Error, Origin};

/// Times further from zero than this (ms; some 140,000 years) count as damaged, so that sums and differences of times
/// never overflow.
pub(crate) const MAX_TIME: i64 = 1 << 52;

/// The two tables that metrics are computed from.
///
/// `jobs`: `job` (its row, from 0), `job_id`, `submit`, `launch`, `finish`, `outcome`, `name`, `user`, `queue`, `group`,
/// `framework`, `priority`, `priority_number`, `scheduling_class`, `input_bytes`.
/// `attempts`: `job` (the row of its job), `task_id`, `kind`, `queued`, `start`, `shuffle_finish`, `finish`, `outcome`, `locality`,
/// `cpu_request`, `memory_request`.
/// Times in ms, enumerations by name, unknown is null.
#[derive(Debug, Clone)]
pub struct Tables {
    /// The jobs.
    pub jobs: DataFrame,
    /// The attempts, in the order of the file.
    pub attempts: DataFrame,
    /// The number of values that could not be used, by cause: `implausible-time` (set to null) and `attempt-of-unknown-job` (left out).
    pub skipped: BTreeMap<String, u64>,
}

impl Tables {
    /// Reads `jobs.parquet` and `attempts.parquet` in `dir`. `origin` has their lengths and hashes.
    ///
    /// # Errors
    /// [`Error::Trace`] if a table is missing, damaged or of another length; [`Error::Frame`].
    pub fn load(dir: &Path, origin: &Origin) -> Result<Self, Error> {
        let mut jobs = JobColumns::default();
        for batch in checked::<JobRow>(dir, origin)? {
            jobs.append(&batch?)?;
        }
        let mut attempts = AttemptColumns::default();
        for batch in checked::<AttemptRow>(dir, origin)? {
            attempts.append(&batch?, &jobs.index)?;
        }
        let mut skipped = BTreeMap::new();
        let implausible = jobs.implausible + attempts.implausible;
        for (cause, n) in [("implausible-time", implausible), ("attempt-of-unknown-job", attempts.of_unknown_job)] {
            if n > 0 {
                skipped.insert(cause.to_owned(), n);
            }
        }
        Ok(Self { jobs: jobs.finish()?, attempts: attempts.finish()?, skipped })
    }

    /// The tables of a run that is kept in memory. The caller made these rows, so their times are not checked.
    ///
    /// # Errors
    /// [`Error::Frame`].
    pub fn of_rows(jobs: &[JobRow], attempts: Vec<AttemptRow>) -> Result<Self, Error> {
        let mut columns = JobColumns::default();
        for (row, job) in (0..).zip(jobs) {
            columns.index.entry(job.job_id.clone()).or_insert(row);
            columns.job_id.push(job.job_id.clone());
            let priority = job.priority.map(|priority| priority.as_str().to_owned());
            let texts = [&job.name, &job.user, &job.queue, &job.group, &job.framework, &priority];
            for (column, text) in columns.texts.iter_mut().zip(texts) {
                column.push(text.clone());
            }
            let numbers = [job.priority_number, job.scheduling_class, job.input_bytes];
            for (column, number) in columns.numbers.iter_mut().zip(numbers) {
                column.push(number);
            }
            columns.submit.push(job.submit);
            columns.launch.push(job.launch);
            columns.finish.push(job.finish);
            columns.outcome.push(job.outcome.as_str().to_owned());
        }
        let mut tries = AttemptColumns::default();
        for attempt in attempts {
            let Some(&job) = columns.index.get(&attempt.job_id) else {
                tries.of_unknown_job += 1;
                continue;
            };
            tries.job.push(job);
            tries.task_id.push(attempt.task_id);
            tries.kind.push(attempt.kind.as_str().into());
            tries.queued.push(attempt.queued);
            tries.start.push(attempt.start);
            tries.shuffle_finish.push(attempt.shuffle_finish);
            tries.finish.push(attempt.finish);
            tries.outcome.push(attempt.outcome.as_str().into());
            tries.cpu_request.push(attempt.cpu_request);
            tries.memory_request.push(attempt.memory_request);
            tries.locality.push(attempt.locality.map(|locality| locality.as_str().into()));
        }
        let unknown = (tries.of_unknown_job > 0).then(|| ("attempt-of-unknown-job".to_owned(), tries.of_unknown_job));
        Ok(Self { jobs: columns.finish()?, attempts: tries.finish()?, skipped: unknown.into_iter().collect() })
    }
}

/// The rows of `decisions.parquet` in `dir` with plausible times; none if the run has no such table.
pub(crate) fn decisions(dir: &Path, origin: &Origin) -> Result<Vec<DecisionRow>, Error> {
    all(dir, origin, |row: &DecisionRow| row.time)
}

/// The rows of `resources.parquet` in `dir` with plausible times; none if the run has no such table.
pub(crate) fn resources(dir: &Path, origin: &Origin) -> Result<Vec<ResourceRow>, Error> {
    all(dir, origin, |row: &ResourceRow| row.time)
}

fn all<R: Row>(dir: &Path, origin: &Origin, time: impl Fn(&R) -> i64) -> Result<Vec<R>, Error> {
    if !origin.rows().contains_key(R::TABLE) {
        return Ok(Vec::new());
    }
    let path = dir.join(format!("{}.parquet", R::TABLE));
    let all: Result<Vec<R>, _> = Rows::new(path, checked::<R>(dir, origin)?).collect();
    Ok(all?.into_iter().filter(|row| (-MAX_TIME..=MAX_TIME).contains(&time(row))).collect())
}

/// The batches of a table, if its length is that of the marker file.
pub(crate) fn checked<R: Row>(
    dir: &Path,
    origin: &Origin,
) -> Result<impl Iterator<Item = Result<RecordBatch, resched_trace::Error>>, Error> {
    let table = read_table::<R>(dir, origin.files())?;
    match origin.rows().get(R::TABLE) {
        Some(&expected) if expected != table.rows() => Err(resched_trace::Error::Table {
            path: table.path().to_path_buf(),
            action: "read",
            message: format!("expected {expected} rows, found {}", table.rows()),
        }
        .into()),
        _ => Ok(table.batches()),
    }
}

/// The texts of a job that are not its id or its outcome.
const JOB_TEXTS: [&str; 6] = ["name", "user", "queue", "group", "framework", "priority"];
/// The numbers of a job that are not times.
const JOB_NUMBERS: [&str; 3] = ["priority_number", "scheduling_class", "input_bytes"];

#[derive(Default)]
struct JobColumns {
    index: HashMap<String, u32>,
    job_id: Vec<String>,
    texts: [Vec<Option<String>>; JOB_TEXTS.len()],
    numbers: [Vec<Option<i64>>; JOB_NUMBERS.len()],
    submit: Vec<Option<i64>>,
    launch: Vec<Option<i64>>,
    finish: Vec<Option<i64>>,
    outcome: Vec<String>,
    implausible: u64,
}

impl JobColumns {
    fn append(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        for id in strings(batch, "job_id")?.iter().flatten() {
            let row = u32::try_from(self.job_id.len())
                .map_err(|_| Error::frame("jobs")(PolarsError::ComputeError("it has more than 2^32 rows".into())))?;
            // Of two jobs with one id, the first has the attempts.
            self.index.entry(id.to_owned()).or_insert(row);
            self.job_id.push(id.to_owned());
        }
        for (name, column) in JOB_TEXTS.into_iter().zip(&mut self.texts) {
            column.extend(strings(batch, name)?.iter().map(|text| text.map(str::to_owned)));
        }
        for (name, column) in JOB_NUMBERS.into_iter().zip(&mut self.numbers) {
            column.extend(integers(batch, name)?.iter());
        }
        self.outcome.extend(strings(batch, "outcome")?.iter().flatten().map(str::to_owned));
        for (name, column) in [("submit", &mut self.submit), ("launch", &mut self.launch), ("finish", &mut self.finish)]
        {
            column.extend(times(batch, name, &mut self.implausible)?);
        }
        Ok(())
    }

    fn finish(self) -> Result<DataFrame, Error> {
        let rows: Vec<u32> = (0..).take(self.job_id.len()).collect();
        let mut columns = vec![
            Column::new("job".into(), rows),
            Column::new("job_id".into(), self.job_id),
            Column::new("submit".into(), self.submit),
            Column::new("launch".into(), self.launch),
            Column::new("finish".into(), self.finish),
            Column::new("outcome".into(), self.outcome),
        ];
        let texts = JOB_TEXTS.into_iter().zip(self.texts);
        columns.extend(texts.map(|(name, texts)| Column::new(name.into(), texts)));
        let numbers = JOB_NUMBERS.into_iter().zip(self.numbers);
        columns.extend(numbers.map(|(name, numbers)| Column::new(name.into(), numbers)));
        DataFrame::new_infer_height(columns).map_err(Error::frame("jobs"))
    }
}

#[derive(Default)]
struct AttemptColumns {
    job: Vec<u32>,
    task_id: Vec<String>,
    kind: Vec<Cow<'static, str>>,
    queued: Vec<Option<i64>>,
    start: Vec<Option<i64>>,
    shuffle_finish: Vec<Option<i64>>,
    finish: Vec<Option<i64>>,
    outcome: Vec<Cow<'static, str>>,
    locality: Vec<Option<Cow<'static, str>>>,
    cpu_request: Vec<Option<i64>>,
    memory_request: Vec<Option<i64>>,
    implausible: u64,
    of_unknown_job: u64,
}

impl AttemptColumns {
    fn append(&mut self, batch: &RecordBatch, jobs: &HashMap<String, u32>) -> Result<(), Error> {
        let job: Vec<Option<u32>> =
            strings(batch, "job_id")?.iter().map(|id| id.and_then(|id| jobs.get(id).copied())).collect();
        let known: BooleanArray = job.iter().map(|job| Some(job.is_some())).collect();
        self.of_unknown_job += known.false_count() as u64;
        let batch = filter_record_batch(batch, &known)
            .map_err(|error| Error::frame("attempts")(PolarsError::ComputeError(error.to_string().into())))?;
        self.task_id.extend(strings(&batch, "task_id")?.iter().flatten().map(str::to_owned));
        for (name, column) in [("kind", &mut self.kind), ("outcome", &mut self.outcome)] {
            column.extend(strings(&batch, name)?.iter().flatten().map(|value| Cow::Owned(value.to_owned())));
        }
        self.cpu_request.extend(integers(&batch, "cpu_request")?.iter());
        self.memory_request.extend(integers(&batch, "memory_request")?.iter());
        let locality = strings(&batch, "locality")?;
        self.locality.extend(locality.iter().map(|value| value.map(|value| Cow::Owned(value.to_owned()))));
        for (name, column) in [
            ("queued", &mut self.queued),
            ("start", &mut self.start),
            ("shuffle_finish", &mut self.shuffle_finish),
            ("finish", &mut self.finish),
        ] {
            column.extend(times(&batch, name, &mut self.implausible)?);
        }
        self.job.extend(job.into_iter().flatten());
        Ok(())
    }

    fn finish(self) -> Result<DataFrame, Error> {
        DataFrame::new_infer_height(vec![
            Column::new("job".into(), self.job),
            Column::new("task_id".into(), self.task_id),
            Column::new("kind".into(), self.kind),
            Column::new("queued".into(), self.queued),
            Column::new("start".into(), self.start),
            Column::new("shuffle_finish".into(), self.shuffle_finish),
            Column::new("finish".into(), self.finish),
            Column::new("outcome".into(), self.outcome),
            Column::new("locality".into(), self.locality),
            Column::new("cpu_request".into(), self.cpu_request),
            Column::new("memory_request".into(), self.memory_request),
        ])
        .map_err(Error::frame("attempts"))
    }
}

/// A text column of a batch.
pub(crate) fn strings<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a StringArray, Error> {
    batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref()).ok_or_else(|| missing(name))
}

/// An integer column of a batch.
pub(crate) fn integers<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Int64Array, Error> {
    batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref()).ok_or_else(|| missing(name))
}

/// A column of times. Implausible ones are counted and become null.
fn times(batch: &RecordBatch, name: &str, implausible: &mut u64) -> Result<Vec<Option<i64>>, Error> {
    let column = integers(batch, name)?;
    let plausible = |time: &i64| (-MAX_TIME..=MAX_TIME).contains(time);
    *implausible += column.iter().flatten().filter(|time| !plausible(time)).count() as u64;
    Ok(column.iter().map(|time| time.filter(plausible)).collect())
}

/// The error of a missing column. The reader has checked the schema, so it would be a defect.
fn missing(name: &str) -> Error {
    Error::frame("source")(PolarsError::ColumnNotFound(name.to_owned().into()))
}
