//! Reading the tables of a trace: what the loaders of both engines share.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use resched_trace::store::Trace;
use resched_trace::store::columns::Row;

use crate::Error;
use crate::ids::Ms;

/// Longer than any attempt or trace lasts (100 years): a longer time in a trace is damage.
pub const LONGEST: Ms = 100 * 366 * 86_400_000;

/// What was left out or mended while loading, by cause.
pub type Skipped = BTreeMap<String, u64>;

/// A job id as Hadoop orders it: `job_1_9999` before `job_1_10000`.
pub(crate) fn natural(id: &str) -> (Vec<(usize, &str)>, &str) {
    (id.split('_').map(|part| (part.len(), part)).collect(), id)
}

/// That no row of a table is left over.
pub(crate) fn check_end(trace: &Trace, table: &str, left: bool) -> Result<(), Error> {
    if !left {
        return Ok(());
    }
    Err(Error::Trace(resched_trace::Error::Trace {
        path: trace.dir().join(format!("{table}.parquet")),
        problem: "the rows are not grouped in the order of the jobs and tasks tables".to_owned(),
        remedy: "ingest the sources again".to_owned(),
    }))
}

/// Goes through some columns of a table, row by row.
pub(crate) struct Cursor {
    batches: Box<dyn Iterator<Item = Result<RecordBatch, resched_trace::Error>>>,
    names: &'static [&'static str],
    columns: Vec<Column>,
    row: usize,
    length: usize,
}

/// A column of the current batch.
enum Column {
    Text(StringArray),
    Int(Int64Array),
}

impl Cursor {
    pub(crate) fn new<R: Row + 'static>(trace: &Trace, names: &'static [&'static str]) -> Result<Self, Error> {
        let batches = Box::new(trace.columns::<R>(names)?);
        Ok(Self { batches, names, columns: Vec::new(), row: 0, length: 0 })
    }

    /// Whether there is a current row; fetches the next batch when this one is used up.
    pub(crate) fn ready(&mut self) -> Result<bool, Error> {
        while self.row == self.length {
            let Some(batch) = self.batches.next() else { return Ok(false) };
            let batch = batch?;
            (self.row, self.length) = (0, batch.num_rows());
            self.columns = self.names.iter().filter_map(|name| Column::of(batch.column_by_name(name)?)).collect();
        }
        Ok(true)
    }

    pub(crate) fn advance(&mut self) {
        self.row += 1;
    }

    /// The text in a column of the current row, by the column's place among those asked for.
    pub(crate) fn text(&self, column: usize) -> Option<&str> {
        match self.columns.get(column)? {
            Column::Text(array) => array.is_valid(self.row).then(|| array.value(self.row)),
            Column::Int(_) => None,
        }
    }

    /// The number in a column of the current row.
    pub(crate) fn int(&self, column: usize) -> Option<i64> {
        match self.columns.get(column)? {
            Column::Int(array) => array.is_valid(self.row).then(|| array.value(self.row)),
            Column::Text(_) => None,
        }
    }
}

impl Column {
    fn of(array: &ArrayRef) -> Option<Self> {
        let array = array.as_any();
        let text = || array.downcast_ref::<StringArray>().map(|array| Column::Text(array.clone()));
        text().or_else(|| array.downcast_ref::<Int64Array>().map(|array| Column::Int(array.clone())))
    }
}
