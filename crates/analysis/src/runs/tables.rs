//! Reading the tables of a run or trace for metrics: only the columns that metrics need, batch by batch.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use hashbrown::{DefaultHashBuilder, HashTable};
use resched_tables::demand::gpus;
use resched_tables::model::{AttemptRow, DecisionRow, JobRow, ReasonRow, ResourceRow};
use resched_tables::named::amounts;
use resched_tables::reader::{Cursor, View};
use resched_tables::store::columns::Row;
use resched_tables::store::{Rows, TableReader, read_columns, read_table};
use resched_tables::texts::Texts;

use crate::Error;
use crate::metrics::list::JobMetrics;
use crate::runs::attempts::{Attempt, Sums, Where};
use crate::runs::origin::Origin;
use crate::runs::standing::{are_in_order, job_id};
use crate::runs::times::{MAX_TIME, plausible};

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
        let mut attempts = columns::<AttemptRow>(dir, origin, &ATTEMPT_COLUMNS)?;
        while attempts.advance()? {
            let row = attempts.row();
            match index.row_of(row.job_id) {
                Some(job) => {
                    let attempt = Attempt::of(&row).plausible(&mut implausible);
                    let attempt = Attempt { kind: origin.role(attempt.kind), ..attempt };
                    let attempt = if is_observed { attempt } else { attempt.without_times() };
                    sums.add(job, &attempt, |nodes| Where::of(&row, nodes));
                }
                None => of_unknown_job += 1,
            }
        }
        let counts = [("implausible-time", implausible), ("attempt-of-unknown-job", of_unknown_job)];
        let skipped = counts.into_iter().filter(|(_, n)| *n > 0).map(|(cause, n)| (cause.to_owned(), n)).collect();
        Ok(Self { jobs, sums, skipped })
    }

    /// The tables of a run that is kept in memory. The caller made these rows, so their times are not checked.
    pub(crate) fn of_rows(rows: &[JobRow], attempts: &[AttemptRow]) -> Self {
        let mut jobs = Jobs::default();
        rows.iter().for_each(|row| jobs.push(&row.as_view(), &mut 0));
        let index = Index::of(&jobs.rows);
        let mut sums = Sums::default();
        let mut skipped = BTreeMap::new();
        for attempt in attempts {
            match index.row_of(&attempt.job_id) {
                Some(job) => {
                    let row = attempt.as_view();
                    sums.add(job, &Attempt::of(&row), |nodes| Where::of(&row, nodes));
                }
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
    let all: Result<Vec<R>, _> = Rows::new(checked::<R>(dir, origin)?).collect();
    Ok(all?.into_iter().filter(|row| (-MAX_TIME..=MAX_TIME).contains(&time(row))).collect())
}

/// The batches of a table, if its length is that of the marker file.
pub(crate) fn checked<R: Row>(
    dir: &Path,
    origin: &Origin,
) -> Result<impl Iterator<Item = Result<RecordBatch, resched_tables::Error>> + use<R>, Error> {
    whole(read_table::<R>(dir, origin.files())?, origin)
}

/// As [`checked`], but reads only the columns of these names, row by row.
pub(crate) fn columns<R: Row + 'static>(dir: &Path, origin: &Origin, names: &[&str]) -> Result<Cursor<R>, Error> {
    Ok(Cursor::new(dir, whole(read_columns::<R>(dir, origin.files(), names)?, origin)?))
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
const JOB_COLUMNS: [&str; 21] = [
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
    "qos",
    "demand_cpu",
    "demand_memory",
    "demand_resources",
    "demand_machines",
    "requested_time",
    "submit",
    "eligible",
    "launch",
    "finish",
    "outcome",
];

/// The columns of the table of attempts that metrics need.
const ATTEMPT_COLUMNS: [&str; 14] = [
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
    "hosts",
    "cpu_request",
    "memory_request",
    "resources",
];

/// For how many jobs there is room before the first is read: a marker file may name any number.
const MOST_AT_ONCE: u64 = 1_000_000;

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
        let expected = origin.rows().get(JobRow::TABLE).map_or(0, |rows| (*rows).min(MOST_AT_ONCE) as usize);
        let (rows, launches) = (Vec::with_capacity(expected), Vec::with_capacity(expected));
        let mut jobs = Self { rows, launches, texts: Texts::default() };
        let mut rows = columns::<JobRow>(dir, origin, &JOB_COLUMNS)?;
        while rows.advance()? {
            jobs.push(&rows.row(), implausible);
        }
        if !origin.observes("jobs.finish") {
            jobs.rows.iter_mut().for_each(|job| job.finish = None);
            jobs.launches.iter_mut().for_each(|launch| *launch = None);
        }
        Ok(jobs)
    }

    /// Adds a job. Damaged times are counted.
    pub(crate) fn push(&mut self, row: &View<'_, JobRow>, implausible: &mut u64) {
        let (texts, before) = (&mut self.texts, self.rows.last());
        // A text is mostly that of the job before.
        let mut share = |of: fn(&JobMetrics) -> &Option<Arc<str>>, text: Option<&str>| {
            let text = text?;
            let known = before.and_then(|job| of(job).as_ref()).filter(|known| ***known == *text);
            Some(known.map_or_else(|| texts.share(text), Arc::clone))
        };
        let job = JobMetrics {
            job_id: row.job_id.to_owned(),
            name: share(|job| &job.name, row.name),
            user: share(|job| &job.user, row.user),
            queue: share(|job| &job.queue, row.queue),
            group: share(|job| &job.group, row.group),
            framework: share(|job| &job.framework, row.framework),
            priority: row.priority,
            priority_number: row.priority_number,
            scheduling_class: row.scheduling_class,
            input_bytes: row.input_bytes,
            qos: share(|job| &job.qos, row.qos),
            cpus: row.demand_cpu.filter(|cpu| *cpu >= 0).map(|cpu| cpu as f64 / 1e3),
            // Where the processor is known, so is what else a job asks for: a job without named resources asks for no GPU.
            gpus: row
                .demand_cpu
                .map(|_| i64::try_from(gpus(amounts(row.demand_resources.unwrap_or_default()))).unwrap_or(i64::MAX)),
            nodes: row.demand_machines,
            memory: row.demand_memory,
            limit: row.requested_time,
            submit: plausible(row.submit, implausible),
            eligible: plausible(row.eligible, implausible),
            finish: plausible(row.finish, implausible),
            outcome: row.outcome,
            ..JobMetrics::default()
        };
        self.rows.push(job);
        self.launches.push(plausible(row.launch, implausible));
    }
}

/// A text of a job, which mostly is that of the job before it.
pub(crate) fn shared(before: Option<Arc<str>>, text: Option<&str>) -> Option<Arc<str>> {
    if before.as_deref() == text { before } else { text.map(Arc::from) }
}

/// The rows of jobs by id. Of two jobs with one id, the first is found, so it has the attempts of both.
pub(crate) struct Index<'a> {
    jobs: &'a [JobMetrics],
    /// True if the ids are in order, so that each stands once and may be found by the number at its end.
    in_order: bool,
    /// By how much that number is above the row, as it was seen last: mostly, no number is left out.
    ahead: Cell<i64>,
    /// The rows by the hashes of their ids, from when the numbers do not say a row.
    hashed: OnceCell<HashTable<u32>>,
    hasher: DefaultHashBuilder,
}

impl<'a> Index<'a> {
    pub(crate) fn of(jobs: &'a [JobMetrics]) -> Self {
        Self {
            jobs,
            in_order: are_in_order(jobs.iter().map(job_id)),
            ahead: Cell::new(jobs.first().and_then(|job| number_of(&job.job_id)).unwrap_or(0)),
            hashed: OnceCell::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    pub(crate) fn row_of(&self, job_id: &str) -> Option<u32> {
        let number = number_of(job_id).filter(|_| self.in_order);
        let by_number = number.and_then(|number| u32::try_from(number - self.ahead.get()).ok());
        if by_number.is_some_and(|row| self.id_of(row) == Some(job_id)) {
            return by_number;
        }
        let hashed = self.hashed.get_or_init(|| self.hashed());
        let row = *hashed.find(self.hasher.hash_one(job_id), |&row| self.id_of(row) == Some(job_id))?;
        if let Some(number) = number {
            self.ahead.set(number - i64::from(row));
        }
        Some(row)
    }

    fn hashed(&self) -> HashTable<u32> {
        let mut rows = HashTable::with_capacity(self.jobs.len());
        for (row, id) in (0..).zip(self.jobs.iter().map(job_id)) {
            let same = |&other: &u32| self.id_of(other) == Some(id);
            rows.entry(self.hasher.hash_one(id), same, |&other| self.hasher.hash_one(self.id_of(other).unwrap_or("")))
                .or_insert(row);
        }
        rows
    }

    fn id_of(&self, row: u32) -> Option<&'a str> {
        self.jobs.get(row as usize).map(job_id)
    }
}

/// The number at the end of an id: its last 18 digits. `None` without any.
fn number_of(id: &str) -> Option<i64> {
    let digits = id.bytes().rev().take(18).take_while(u8::is_ascii_digit).count();
    id.get(id.len() - digits..)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_found_by_its_id_whatever_the_order_of_ids() {
        let lists: [&[&str]; 4] = [
            &["j9", "j10", "j11", "j14", "j15", "j16"],
            &["j10", "j9", "j11"],
            &["7", "7", "8", "x", "8"],
            &["a", "b", "9223372036854775807123", "9223372036854775807124"],
        ];
        for ids in lists {
            let jobs: Vec<JobMetrics> =
                ids.iter().map(|id| JobMetrics { job_id: (*id).to_owned(), ..JobMetrics::default() }).collect();
            let index = Index::of(&jobs);
            // From the last to the first, and then from the first to the last.
            for id in ids.iter().rev().chain(ids) {
                let first = ids.iter().position(|other| other == id).map(|row| row as u32);
                assert_eq!(index.row_of(id), first, "{id} of {ids:?}");
            }
            for other in ["j12", "k10", "10", "", "9", "99999999999999999999999999", "y"] {
                assert_eq!(index.row_of(other), None, "{other} of {ids:?}");
            }
        }
        assert_eq!(Index::of(&[]).row_of("1"), None);
    }
}
