//! Reading the tables of a run or trace for metrics: only the columns that metrics need, batch by batch.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::path::Path;

use arrow::array::{Array, ArrayAccessor, Int64Array, RecordBatch, StringArray};
use hashbrown::{DefaultHashBuilder, HashTable};
use resched_tables::model::{
    AttemptRow, DecisionRow, JobRow, Locality, Outcome, Priority, ReasonRow, ResourceRow, TaskKind,
};
use resched_tables::store::columns::Row;
use resched_tables::store::{Rows, TableReader, read_columns, read_table};
use resched_tables::texts::Texts;

use crate::runs::attempts::{Attempt, Sums};
use crate::runs::jobs::JobMetrics;
use crate::{Error, Origin};

/// Times further from zero than this (ms; some 140,000 years) count as damaged, so that sums and differences of times
/// never overflow.
pub(crate) const MAX_TIME: i64 = 1 << 52;

/// The jobs of a run as their table has them, and what their attempts add up to.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) jobs: Jobs,
    pub(crate) sums: Sums,
    /// The number of values that could not be used, by cause: `implausible-time` (taken as unknown) and `attempt-of-unknown-job` (left
    /// out).
    pub(crate) skipped: BTreeMap<String, u64>,
}

impl Tables {
    /// Reads `jobs.parquet` and `attempts.parquet` in `dir`. `origin` has their lengths and hashes.
    ///
    /// # Errors
    /// [`Error::Trace`] if a table is missing, damaged or of another length.
    pub(crate) fn load(dir: &Path, origin: &Origin) -> Result<Self, Error> {
        let mut implausible = 0;
        let jobs = Jobs::load(dir, origin, &mut implausible)?;
        let index = Index::of(&jobs.rows);
        let mut sums = Sums::default();
        let mut of_unknown_job = 0;
        let is_observed = origin.observes("attempts.start");
        for batch in columns::<AttemptRow>(dir, origin, &ATTEMPT_COLUMNS)? {
            let batch = AttemptBatch::of(&batch?)?;
            for row in 0..batch.job_id.len() {
                match index.row_of(batch.job_id.value(row)) {
                    Some(job) => {
                        let attempt = batch.attempt(row, &mut implausible);
                        let attempt = Attempt { kind: origin.role(attempt.kind), ..attempt };
                        sums.add(job, &if is_observed { attempt } else { attempt.without_times() });
                    }
                    None => of_unknown_job += 1,
                }
            }
        }
        let counts = [("implausible-time", implausible), ("attempt-of-unknown-job", of_unknown_job)];
        let skipped = counts.into_iter().filter(|(_, n)| *n > 0).map(|(cause, n)| (cause.to_owned(), n)).collect();
        Ok(Self { jobs, sums, skipped })
    }

    /// The tables of a run that is kept in memory. The caller made these rows, so their times are not checked.
    pub(crate) fn of_rows(rows: &[JobRow], attempts: &[AttemptRow]) -> Self {
        let mut jobs = Jobs::default();
        rows.iter().for_each(|row| jobs.push(row));
        let index = Index::of(&jobs.rows);
        let mut sums = Sums::default();
        let mut skipped = BTreeMap::new();
        for attempt in attempts {
            match index.row_of(&attempt.job_id) {
                Some(job) => sums.add(job, &Attempt::of(attempt)),
                None => *skipped.entry("attempt-of-unknown-job".to_owned()).or_default() += 1,
            }
        }
        Self { jobs, sums, skipped }
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

/// The rows of `reasons.parquet` in `dir` with plausible times; none if the run has no such table.
pub(crate) fn reasons(dir: &Path, origin: &Origin) -> Result<Vec<ReasonRow>, Error> {
    all(dir, origin, |row: &ReasonRow| row.time)
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
) -> Result<impl Iterator<Item = Result<RecordBatch, resched_tables::Error>> + use<R>, Error> {
    whole(read_table::<R>(dir, origin.files())?, origin)
}

/// As [`checked`], but decodes only the columns of these names.
pub(crate) fn columns<R: Row>(
    dir: &Path,
    origin: &Origin,
    names: &[&str],
) -> Result<impl Iterator<Item = Result<RecordBatch, resched_tables::Error>> + use<R>, Error> {
    whole(read_columns::<R>(dir, origin.files(), names)?, origin)
}

fn whole<R: Row>(
    table: TableReader<R>,
    origin: &Origin,
) -> Result<impl Iterator<Item = Result<RecordBatch, resched_tables::Error>> + use<R>, Error> {
    match origin.rows().get(R::TABLE) {
        Some(&expected) if expected != table.rows() => Err(resched_tables::Error::Table {
            path: table.path().to_path_buf(),
            action: "read",
            message: format!("expected {expected} rows, found {}", table.rows()),
        }
        .into()),
        _ => Ok(table.batches()),
    }
}

/// The columns of the table of jobs that metrics need.
const JOB_COLUMNS: [&str; 14] = [
    "job_id",
    "name",
    "user",
    "queue",
    "group",
    "framework",
    "priority",
    "priority_number",
    "scheduling_class",
    "input_bytes",
    "submit",
    "launch",
    "finish",
    "outcome",
];

/// The columns of the table of attempts that metrics need.
const ATTEMPT_COLUMNS: [&str; 12] = [
    "job_id",
    "task_id",
    "kind",
    "queued",
    "start",
    "shuffle_finish",
    "finish",
    "outcome",
    "locality",
    "host",
    "cpu_request",
    "memory_request",
];

/// The jobs of a run without their metrics.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    /// A row for each job, in the order of the table. Only what the table itself has is filled in.
    pub(crate) rows: Vec<JobMetrics>,
    /// The launches of the jobs.
    pub(crate) launches: Vec<Option<i64>>,
    texts: Texts,
}

impl Jobs {
    /// Reads the table of jobs in `dir`, and counts implausible times.
    pub(crate) fn load(dir: &Path, origin: &Origin, implausible: &mut u64) -> Result<Self, Error> {
        let mut jobs = Self::default();
        for batch in columns::<JobRow>(dir, origin, &JOB_COLUMNS)? {
            jobs.append(&batch?, implausible)?;
        }
        if !origin.observes("jobs.finish") {
            jobs.rows.iter_mut().for_each(|job| job.finish = None);
            jobs.launches.iter_mut().for_each(|launch| *launch = None);
        }
        Ok(jobs)
    }

    fn append(&mut self, batch: &RecordBatch, implausible: &mut u64) -> Result<(), Error> {
        let (text, number) = (|name: &str| strings(batch, name), |name: &str| integers(batch, name));
        let (job_id, name, user, queue) = (text("job_id")?, text("name")?, text("user")?, text("queue")?);
        let (group, framework, priority) = (text("group")?, text("framework")?, text("priority")?);
        let (priority_number, class) = (number("priority_number")?, number("scheduling_class")?);
        let (submit, launch, finish) = (number("submit")?, number("launch")?, number("finish")?);
        let (outcome, input_bytes) = (text("outcome")?, number("input_bytes")?);
        for row in 0..batch.num_rows() {
            let texts = &mut self.texts;
            let job = JobMetrics {
                job_id: job_id.value(row).to_owned(),
                name: at(name, row).map(|text| texts.share(text)),
                user: at(user, row).map(|text| texts.share(text)),
                queue: at(queue, row).map(|text| texts.share(text)),
                group: at(group, row).map(|text| texts.share(text)),
                framework: at(framework, row).map(|text| texts.share(text)),
                priority: at(priority, row).and_then(Priority::from_name),
                priority_number: at(priority_number, row),
                scheduling_class: at(class, row),
                input_bytes: at(input_bytes, row),
                submit: plausible(at(submit, row), implausible),
                finish: plausible(at(finish, row), implausible),
                outcome: at(outcome, row).and_then(Outcome::from_name).unwrap_or_default(),
                ..JobMetrics::default()
            };
            self.add(job, plausible(at(launch, row), implausible));
        }
        Ok(())
    }

    /// Adds a job.
    pub(crate) fn push(&mut self, row: &JobRow) {
        let texts = &mut self.texts;
        let job = JobMetrics {
            job_id: row.job_id.clone(),
            name: row.name.as_deref().map(|text| texts.share(text)),
            user: row.user.as_deref().map(|text| texts.share(text)),
            queue: row.queue.as_deref().map(|text| texts.share(text)),
            group: row.group.as_deref().map(|text| texts.share(text)),
            framework: row.framework.as_deref().map(|text| texts.share(text)),
            priority: row.priority,
            priority_number: row.priority_number,
            scheduling_class: row.scheduling_class,
            input_bytes: row.input_bytes,
            submit: row.submit,
            finish: row.finish,
            outcome: row.outcome,
            ..JobMetrics::default()
        };
        self.add(job, row.launch);
    }

    fn add(&mut self, job: JobMetrics, launch: Option<i64>) {
        self.rows.push(job);
        self.launches.push(launch);
    }
}

/// The rows of jobs by id. Of two jobs with one id, the first is found, so it has the attempts of both.
pub(crate) struct Index<'a> {
    jobs: &'a [JobMetrics],
    rows: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl<'a> Index<'a> {
    pub(crate) fn of(jobs: &'a [JobMetrics]) -> Self {
        let hasher = DefaultHashBuilder::default();
        let mut rows = HashTable::with_capacity(jobs.len());
        let id_of = |row: u32| jobs.get(row as usize).map_or("", |job| job.job_id.as_str());
        for (row, job) in (0..).zip(jobs) {
            let hash = hasher.hash_one(job.job_id.as_str());
            rows.entry(hash, |&other| id_of(other) == job.job_id, |&other| hasher.hash_one(id_of(other)))
                .or_insert(row);
        }
        Self { jobs, rows, hasher }
    }

    pub(crate) fn row_of(&self, job_id: &str) -> Option<u32> {
        let same = |&row: &u32| self.jobs.get(row as usize).is_some_and(|job| job.job_id == job_id);
        self.rows.find(self.hasher.hash_one(job_id), same).copied()
    }
}

/// The columns of a batch of attempts.
struct AttemptBatch {
    job_id: StringArray,
    task_id: StringArray,
    kind: StringArray,
    outcome: StringArray,
    locality: StringArray,
    host: StringArray,
    queued: Int64Array,
    start: Int64Array,
    shuffle_finish: Int64Array,
    finish: Int64Array,
    cpu_request: Int64Array,
    memory_request: Int64Array,
}

impl AttemptBatch {
    fn of(batch: &RecordBatch) -> Result<Self, Error> {
        let text = |name: &str| strings(batch, name).cloned();
        let number = |name: &str| integers(batch, name).cloned();
        Ok(Self {
            job_id: text("job_id")?,
            task_id: text("task_id")?,
            kind: text("kind")?,
            outcome: text("outcome")?,
            locality: text("locality")?,
            host: text("host")?,
            queued: number("queued")?,
            start: number("start")?,
            shuffle_finish: number("shuffle_finish")?,
            finish: number("finish")?,
            cpu_request: number("cpu_request")?,
            memory_request: number("memory_request")?,
        })
    }

    fn attempt(&self, row: usize, implausible: &mut u64) -> Attempt<'_> {
        let mut time = |column: &Int64Array| plausible(at(column, row), implausible);
        Attempt {
            task_id: self.task_id.value(row),
            kind: TaskKind::from_name(self.kind.value(row)).unwrap_or_default(),
            outcome: Outcome::from_name(self.outcome.value(row)).unwrap_or_default(),
            locality: at(&self.locality, row).and_then(Locality::from_name),
            host: at(&self.host, row),
            queued: time(&self.queued),
            start: time(&self.start),
            shuffle_finish: time(&self.shuffle_finish),
            finish: time(&self.finish),
            cpu_request: at(&self.cpu_request, row),
            memory_request: at(&self.memory_request, row),
        }
    }
}

/// The value in a row of a column; `None` for null.
pub(crate) fn at<A: ArrayAccessor>(column: A, row: usize) -> Option<A::Item> {
    column.is_valid(row).then(|| column.value(row))
}

/// A time, unless it is damaged; that is counted.
pub(crate) fn plausible(time: Option<i64>, implausible: &mut u64) -> Option<i64> {
    let plausible = time.filter(|time| (-MAX_TIME..=MAX_TIME).contains(time));
    *implausible += u64::from(plausible != time);
    plausible
}

/// A text column of a batch.
pub(crate) fn strings<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a StringArray, Error> {
    batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref()).ok_or_else(|| missing(name))
}

/// An integer column of a batch.
pub(crate) fn integers<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Int64Array, Error> {
    batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref()).ok_or_else(|| missing(name))
}

/// The error of a missing column. The reader has checked the schema.
fn missing(name: &str) -> Error {
    Error::Column(name.to_owned())
}
