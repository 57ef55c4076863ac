//! Batches of a table that are made column by column. What a table has and its maker never knows is one array for all batches.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, ListArray, StringArray, new_null_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, FieldRef, SchemaRef};

use super::columns::Row;

/// Rows of a batch: few, so that what is half-filled costs little memory.
pub const BATCH_ROWS: usize = 8_192;

/// What the batches of a table have in common.
#[derive(Debug)]
pub struct Batches<R> {
    schema: SchemaRef,
    /// Each column with [`BATCH_ROWS`] rows in which nothing is known; `None` if it must be known.
    nothing: Vec<Option<ArrayRef>>,
    row: PhantomData<fn() -> R>,
}

impl<R: Row> Default for Batches<R> {
    fn default() -> Self {
        let schema = R::schema();
        let nothing = schema.fields().iter().map(nothing).collect();
        Self { schema, nothing, row: PhantomData }
    }
}

/// A column with nothing in it.
fn nothing(field: &FieldRef) -> Option<ArrayRef> {
    match field.data_type() {
        DataType::List(item) => {
            let none = OffsetBuffer::new_zeroed(BATCH_ROWS);
            let values = new_null_array(item.data_type(), 0);
            Some(Arc::new(ListArray::new(Arc::clone(item), none, values, None)))
        }
        other => field.is_nullable().then(|| new_null_array(other, BATCH_ROWS)),
    }
}

impl<R: Row> Batches<R> {
    /// A batch of so many rows, at most [`BATCH_ROWS`], without columns.
    pub fn batch(&self, rows: usize) -> Batch<'_> {
        Batch { schema: &self.schema, nothing: &self.nothing, columns: vec![None; self.nothing.len()], rows, odd: None }
    }
}

/// A batch to which columns are added.
#[derive(Debug)]
pub struct Batch<'a> {
    schema: &'a SchemaRef,
    nothing: &'a [Option<ArrayRef>],
    columns: Vec<Option<ArrayRef>>,
    rows: usize,
    /// A column that the table does not have.
    odd: Option<&'static str>,
}

impl Batch<'_> {
    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a column. A column that is not added holds nothing.
    pub fn set(&mut self, name: &'static str, column: ArrayRef) {
        let place = self.schema.index_of(name).ok();
        match place.and_then(|place| self.columns.get_mut(place)) {
            Some(of_place) => *of_place = Some(column),
            None => self.odd = Some(name),
        }
    }

    /// Adds a column of numbers, unless none is known.
    pub fn set_numbers(&mut self, name: &'static str, numbers: &Numbers) {
        if let Some(column) = numbers.column() {
            self.set(name, column);
        }
    }

    /// Adds a column of texts.
    pub fn set_texts<'t>(&mut self, name: &'static str, texts: impl IntoIterator<Item = &'t str>) {
        self.set_written_texts(name, texts, |text, all| all.push_str(text));
    }

    /// Adds a column of texts, each of which `write` writes for an item at the end of those before it.
    pub fn set_written_texts<T>(
        &mut self,
        name: &'static str,
        items: impl IntoIterator<Item = T>,
        write: impl Fn(T, &mut String),
    ) {
        let mut all = String::with_capacity(self.rows * 24);
        let lengths = items.into_iter().map(|item| {
            let before = all.len();
            write(item, &mut all);
            all.len() - before
        });
        let ends = OffsetBuffer::from_lengths(lengths);
        self.set(name, Arc::new(StringArray::new(ends, Buffer::from_vec(all.into_bytes()), None)));
    }

    /// Adds a column of texts, unless none is known.
    pub fn set_known_texts<'t>(&mut self, name: &'static str, texts: impl IntoIterator<Item = Option<&'t str>>) {
        let (mut all, mut known) = (String::new(), Vec::with_capacity(self.rows));
        let lengths = texts.into_iter().map(|text| {
            known.push(text.is_some());
            all.push_str(text.unwrap_or_default());
            text.map_or(0, str::len)
        });
        let ends = OffsetBuffer::from_lengths(lengths);
        if known.contains(&true) {
            let nulls = known.contains(&false).then(|| NullBuffer::from(known));
            self.set(name, Arc::new(StringArray::new(ends, Buffer::from_vec(all.into_bytes()), nulls)));
        }
    }

    /// Adds a column of truths, unless none is known.
    pub fn set_truths(&mut self, name: &'static str, truths: &[Option<bool>]) {
        if truths.iter().any(Option::is_some) {
            self.set(name, Arc::new(BooleanArray::from(truths.to_vec())));
        }
    }

    /// The batch.
    ///
    /// # Errors
    /// That of Arrow, if a column is missing that must be known, or one does not belong to the table or is of another length.
    pub fn finish(self) -> Result<RecordBatch, ArrowError> {
        if let Some(odd) = self.odd {
            return Err(ArrowError::SchemaError(format!("the table has no column `{odd}`")));
        }
        let columns = self.columns.into_iter().zip(self.nothing).zip(self.schema.fields());
        let whole = columns.map(|((column, nothing), field)| {
            let column = column.or_else(|| Some(nothing.as_ref()?.slice(0, self.rows)));
            column.ok_or_else(|| ArrowError::SchemaError(format!("column `{}` is missing", field.name())))
        });
        RecordBatch::try_new(Arc::clone(self.schema), whole.collect::<Result<_, _>>()?)
    }
}

/// Numbers, some of which are unknown.
#[derive(Debug, Clone, Default)]
pub struct Numbers(Vec<i64>);

/// Stands for a number that is unknown. No time of a replay and no amount is that far from zero.
const UNKNOWN: i64 = i64::MIN;

impl Numbers {
    /// Adds a number.
    #[inline]
    pub fn push(&mut self, number: Option<i64>) {
        self.0.push(number.unwrap_or(UNKNOWN));
    }

    /// The number in that row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<i64> {
        self.0.get(row).copied().filter(|number| *number != UNKNOWN)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The column; `None` if no number is known.
    fn column(&self) -> Option<ArrayRef> {
        let unknown = self.0.iter().filter(|number| **number == UNKNOWN).count();
        if unknown == self.0.len() {
            return None;
        }
        let nulls = (unknown > 0).then(|| {
            let known = |row: usize| self.0.get(row).is_some_and(|number| *number != UNKNOWN);
            NullBuffer::new(BooleanBuffer::collect_bool(self.0.len(), known))
        });
        Some(Arc::new(Int64Array::new(ScalarBuffer::from(self.0.clone()), nulls)))
    }
}

impl FromIterator<Option<i64>> for Numbers {
    fn from_iter<I: IntoIterator<Item = Option<i64>>>(numbers: I) -> Self {
        Self(numbers.into_iter().map(|number| number.unwrap_or(UNKNOWN)).collect())
    }
}

/// A column that holds one text [`BATCH_ROWS`] times.
pub fn repeated(text: &str) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, BATCH_ROWS)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::model::{JobRow, Outcome};

    #[test]
    fn a_batch_has_the_rows_that_its_columns_give() {
        let rows = [
            JobRow {
                job_id: "a".to_owned(),
                user: None,
                submit: Some(5),
                outcome: Outcome::Success,
                ..JobRow::default()
            },
            JobRow {
                job_id: "b".to_owned(),
                user: Some("ann".to_owned()),
                outcome: Outcome::Failed,
                ..JobRow::default()
            },
        ];
        let batches = Batches::<JobRow>::default();
        let mut batch = batches.batch(2);
        batch.set_texts("job_id", rows.iter().map(|row| row.job_id.as_str()));
        batch.set_known_texts("user", rows.iter().map(|row| row.user.as_deref()));
        batch.set_known_texts("queue", rows.iter().map(|row| row.queue.as_deref()));
        batch.set_numbers("submit", &rows.iter().map(|row| row.submit).collect());
        batch.set_texts("outcome", rows.iter().map(|row| row.outcome.as_str()));
        let batch = batch.finish().unwrap();
        let columns = JobRow::read(&batch);
        assert_eq!([0, 1].map(|row| JobRow::get(&columns, row)), rows);
        // A builder that is filled row by row makes the same.
        let mut builders = <JobRow as Row>::Builders::default();
        rows.iter().for_each(|row| row.append(&mut builders));
        assert_eq!(batch, RecordBatch::try_new(JobRow::schema(), JobRow::finish(&mut builders)).unwrap());
    }

    #[test]
    fn what_must_be_known_is_missed() {
        let batches = Batches::<JobRow>::default();
        assert!(batches.batch(1).finish().unwrap_err().to_string().contains("`job_id` is missing"));
        let mut odd = batches.batch(1);
        odd.set_texts("jobs", ["a"]);
        assert!(odd.finish().unwrap_err().to_string().contains("no column `jobs`"));
    }
}
