//! The one reader of jobs, tasks, splits and attempts: from the tables of a trace, or from memory.
//!
//! A row comes as a [`View`] or, from a [`JobReader`], as a [`Lazy`]: its texts are borrowed, its enumerations are decoded, and only the
//! columns that you name are read.

use std::path::{Path, PathBuf};
use std::slice::Iter;

use arrow_array::RecordBatch;

use crate::Error;
use crate::model::{AttemptRow, JobRecord, JobRow, SplitRow, TaskRecord, TaskRow};
use crate::store::Trace;
use crate::store::columns::{Row, Source};

/// A row as a reader sees it.
pub type View<'a, R> = <R as Row>::View<'a>;
/// A row as a reader sees it, of which each value is read when it is asked for, by a method named as the column.
pub type Lazy<'a, R> = <R as Row>::Lazy<'a>;

/// Goes through a table row by row. It stands before the first row at first.
pub struct Cursor<R: Row> {
    path: PathBuf,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, Error>>>,
    /// The columns of the current batch.
    columns: R::Read,
    /// The row after the current one, in the batch.
    next: usize,
    length: usize,
}

impl<R: Row + 'static> Cursor<R> {
    /// Goes through these batches of the table in the folder `dir`, whose values were checked. Columns that they lack are not read.
    pub fn new(dir: &Path, batches: impl Iterator<Item = Result<RecordBatch, Error>> + 'static) -> Self {
        let path = dir.join(format!("{}.parquet", R::TABLE));
        Self { path, batches: Box::new(batches), columns: R::Read::default(), next: 0, length: 0 }
    }

    /// Reads the columns of these names.
    ///
    /// # Errors
    /// As [`Trace::columns`].
    pub fn open(trace: &Trace, columns: &[&str]) -> Result<Self, Error> {
        Ok(Self::new(trace.dir(), trace.columns::<R>(columns)?))
    }

    /// Whether no row follows. Fetches the next batch when this one is used up.
    ///
    /// # Errors
    /// The error of the batch.
    pub fn is_at_end(&mut self) -> Result<bool, Error> {
        while self.next == self.length {
            let Some(batch) = self.batches.next() else { return Ok(true) };
            let batch = batch?;
            (self.next, self.length) = (0, batch.num_rows());
            self.columns = R::read(&batch);
        }
        Ok(false)
    }

    /// Moves to the next row, if there is one.
    ///
    /// # Errors
    /// As [`Cursor::is_at_end`].
    #[inline]
    pub fn advance(&mut self) -> Result<bool, Error> {
        let moves = self.next < self.length || !self.is_at_end()?;
        self.next += usize::from(moves);
        Ok(moves)
    }

    /// Moves to the next row if `is` holds for it.
    ///
    /// # Errors
    /// As [`Cursor::is_at_end`].
    #[inline]
    pub fn advance_if(&mut self, is: impl FnOnce(Lazy<'_, R>) -> bool) -> Result<bool, Error> {
        let moves =
            (self.next < self.length || !self.is_at_end()?) && is(Source::Batch(&self.columns, self.next).into());
        self.next += usize::from(moves);
        Ok(moves)
    }

    /// The current row; a row of defaults before the first.
    #[inline]
    pub fn row(&self) -> View<'_, R> {
        self.next.checked_sub(1).map(|row| R::view(&self.columns, row)).unwrap_or_default()
    }

    /// As [`Cursor::row`], with each value read when it is asked for.
    #[inline]
    fn lazy(&self) -> Lazy<'_, R> {
        self.next.checked_sub(1).map_or(Source::Nowhere, |row| Source::Batch(&self.columns, row)).into()
    }

    /// An error if a row follows: the rows are not grouped in the order of the tables above.
    fn check_end(&mut self) -> Result<(), Error> {
        if self.is_at_end()? {
            return Ok(());
        }
        Err(Error::Trace {
            path: self.path.clone(),
            problem: "the rows are not grouped in the order of the jobs and tasks tables".to_owned(),
            remedy: "ingest the sources again".to_owned(),
        })
    }
}

/// The columns that a [`JobReader`] reads, by table. Jobs, tasks, splits and attempts are found by `job_id` and `task_id`, which every
/// list must have. If the list of the splits is empty, they are not read.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'c> {
    /// Those of `jobs`.
    pub jobs: &'c [&'c str],
    /// Those of `tasks`.
    pub tasks: &'c [&'c str],
    /// Those of `splits`.
    pub splits: &'c [&'c str],
    /// Those of `attempts`.
    pub attempts: &'c [&'c str],
}

/// Jobs, each with its tasks, each with its splits and attempts, in the order of the trace.
///
/// Ask for all tasks of a job before the next job. Splits and attempts that you do not ask for are passed over. One pass over each
/// table is enough, because all have the same order, and no index by name is built.
pub struct JobReader<'a>(Rows<'a>);

enum Rows<'a> {
    Trace(Box<Tables>),
    Memory(Records<'a>),
}

struct Tables {
    jobs: Cursor<JobRow>,
    tasks: Cursor<TaskRow>,
    splits: Option<Cursor<SplitRow>>,
    attempts: Cursor<AttemptRow>,
    /// The id of the current job.
    job: String,
    /// The id of the current task.
    task: String,
    /// True if the next split, and the next attempt, may be the task's: not before the first task, nor after one that was not.
    splits_left: bool,
    attempts_left: bool,
}

/// Jobs in memory, and the tasks, splits and attempts of the current one.
struct Records<'a> {
    jobs: Iter<'a, JobRecord>,
    tasks: Iter<'a, TaskRecord>,
    splits: Iter<'a, SplitRow>,
    attempts: Iter<'a, AttemptRow>,
    job: Option<&'a JobRow>,
    task: Option<&'a TaskRow>,
}

impl<'a> JobReader<'a> {
    /// Reads the tables of a trace.
    ///
    /// # Errors
    /// As [`Trace::columns`].
    pub fn of_trace(trace: &Trace, wanted: Wanted<'_>) -> Result<Self, Error> {
        let splits = if wanted.splits.is_empty() { None } else { Some(Cursor::open(trace, wanted.splits)?) };
        Ok(Self(Rows::Trace(Box::new(Tables {
            jobs: Cursor::open(trace, wanted.jobs)?,
            tasks: Cursor::open(trace, wanted.tasks)?,
            splits,
            attempts: Cursor::open(trace, wanted.attempts)?,
            job: String::new(),
            task: String::new(),
            splits_left: false,
            attempts_left: false,
        }))))
    }

    /// Reads jobs in memory.
    pub fn of_records(jobs: &'a [JobRecord]) -> Self {
        let jobs = jobs.iter();
        Self(Rows::Memory(Records {
            jobs,
            tasks: [].iter(),
            splits: [].iter(),
            attempts: [].iter(),
            job: None,
            task: None,
        }))
    }

    /// Moves to the next job, if there is one.
    ///
    /// # Errors
    /// The error of the table.
    pub fn next_job(&mut self) -> Result<bool, Error> {
        match &mut self.0 {
            Rows::Trace(tables) => {
                let moved = tables.jobs.advance()?;
                replace(&mut tables.job, if moved { tables.jobs.lazy().job_id() } else { "" });
                Ok(moved)
            }
            Rows::Memory(records) => {
                let next = records.jobs.next();
                records.job = next.map(|record| &record.job);
                records.tasks = next.map_or([].iter(), |record| record.tasks.iter());
                Ok(next.is_some())
            }
        }
    }

    /// The current job.
    #[inline]
    pub fn job(&self) -> Lazy<'_, JobRow> {
        match &self.0 {
            Rows::Trace(tables) => tables.jobs.lazy(),
            Rows::Memory(records) => records.job.map_or(Source::Nowhere, Source::Memory).into(),
        }
    }

    /// Moves to the next task of the job, if there is one.
    ///
    /// # Errors
    /// The error of the table.
    pub fn next_task(&mut self) -> Result<bool, Error> {
        while self.next_split()?.is_some() {}
        while self.next_attempt()?.is_some() {}
        match &mut self.0 {
            Rows::Trace(tables) => {
                let moved = tables.tasks.advance_if(|task| are_same(task.job_id(), &tables.job))?;
                replace(&mut tables.task, if moved { tables.tasks.lazy().task_id() } else { "" });
                (tables.splits_left, tables.attempts_left) = (moved, moved);
                Ok(moved)
            }
            Rows::Memory(records) => {
                let next = records.tasks.next();
                records.task = next.map(|record| &record.task);
                records.splits = next.map_or([].iter(), |record| record.splits.iter());
                records.attempts = next.map_or([].iter(), |record| record.attempts.iter());
                Ok(next.is_some())
            }
        }
    }

    /// The current task.
    #[inline]
    pub fn task(&self) -> Lazy<'_, TaskRow> {
        match &self.0 {
            Rows::Trace(tables) => tables.tasks.lazy(),
            Rows::Memory(records) => records.task.map_or(Source::Nowhere, Source::Memory).into(),
        }
    }

    /// The next split of the task.
    ///
    /// # Errors
    /// The error of the table.
    #[inline]
    pub fn next_split(&mut self) -> Result<Option<Lazy<'_, SplitRow>>, Error> {
        match &mut self.0 {
            Rows::Trace(tables) => {
                let (task, Some(splits)) = (&tables.task, &mut tables.splits) else { return Ok(None) };
                tables.splits_left =
                    tables.splits_left && splits.advance_if(|split| are_same(split.task_id(), task))?;
                Ok(tables.splits_left.then(|| splits.lazy()))
            }
            Rows::Memory(records) => Ok(records.splits.next().map(|row| Source::Memory(row).into())),
        }
    }

    /// The next attempt at the task.
    ///
    /// # Errors
    /// The error of the table.
    #[inline]
    pub fn next_attempt(&mut self) -> Result<Option<Lazy<'_, AttemptRow>>, Error> {
        match &mut self.0 {
            Rows::Trace(tables) => {
                let (task, attempts) = (&tables.task, &mut tables.attempts);
                tables.attempts_left =
                    tables.attempts_left && attempts.advance_if(|attempt| are_same(attempt.task_id(), task))?;
                Ok(tables.attempts_left.then(|| attempts.lazy()))
            }
            Rows::Memory(records) => Ok(records.attempts.next().map(|row| Source::Memory(row).into())),
        }
    }

    /// Checks that the jobs have taken every row.
    ///
    /// # Errors
    /// [`Error::Trace`] if rows are left: they are not grouped in the order of the jobs and tasks.
    pub fn check_end(&mut self) -> Result<(), Error> {
        let Rows::Trace(tables) = &mut self.0 else { return Ok(()) };
        tables.tasks.check_end()?;
        tables.attempts.check_end()?;
        tables.splits.as_mut().map_or(Ok(()), Cursor::check_end)
    }
}

/// True if two ids are the same. Most have 16 to 32 bytes: their beginnings and their ends say it, without a call for each row.
#[inline]
fn are_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    match (one.first_chunk::<16>(), one.last_chunk::<16>()) {
        (Some(first), Some(last)) if one.len() <= 32 => {
            one.len() == other.len() && other.first_chunk() == Some(first) && other.last_chunk() == Some(last)
        }
        _ => one == other,
    }
}

/// Replaces a text in the same memory.
fn replace(text: &mut String, by: &str) {
    text.clear();
    text.push_str(by);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_same_if_every_byte_is() {
        let id = |length: usize| "task_200904211745_0001_m_000003_and_more".repeat(2)[..length].to_owned();
        for length in 0..70 {
            assert!(are_same(&id(length), &id(length)));
            assert!(!are_same(&id(length), &id(length + 1)) && !are_same(&id(length + 1), &id(length)));
            for place in 0..length {
                let mut other = id(length);
                other.replace_range(place..=place, "X");
                assert!(!are_same(&id(length), &other), "{length} bytes, another at {place}");
            }
        }
    }
}
