//! Reading the tables of a trace, row by row: what the loaders of both engines share.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, BooleanArray, Int64Array, ListArray, RecordBatch, StringArray};
use arrow::datatypes::DataType;
use resched_tables::store::Trace;
use resched_tables::store::columns::Row;

use crate::Error;

pub use resched_tables::model::LONGEST;

/// Counts of what was left out or mended while loading, by cause.
pub type Skipped = BTreeMap<String, u64>;

/// Counts `n` things that were left out or mended.
pub(crate) fn skip(skipped: &mut Skipped, cause: &str, n: u64) {
    if n == 0 {
        return;
    }
    match skipped.get_mut(cause) {
        Some(count) => *count += n,
        None => {
            skipped.insert(cause.to_owned(), n);
        }
    }
}

/// The columns of a table that a loader reads, by name. `columns!` declares them.
pub(crate) trait Columns: Copy + 'static {
    /// The table's rows.
    type Row: Row + 'static;
    /// All of them, by place.
    const ALL: &'static [Self];
    /// The column's name in the table.
    fn name(self) -> &'static str;
    /// Its place in [`Columns::ALL`].
    fn place(self) -> usize;
}

/// Declares the columns of a table that a loader reads.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident of $row:ty { $($column:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum $name { $($column,)+ }

        impl $crate::tables::Columns for $name {
            type Row = $row;
            const ALL: &'static [Self] = &[$(Self::$column,)+];
            fn name(self) -> &'static str {
                match self { $(Self::$column => $text,)+ }
            }
            #[inline]
            fn place(self) -> usize {
                self as usize
            }
        }
    };
}
pub(crate) use columns;

/// Goes through some columns of a table, row by row. It stands before the first row at first.
pub(crate) struct Cursor<C> {
    batches: Box<dyn Iterator<Item = Result<RecordBatch, resched_tables::Error>>>,
    wanted: Vec<C>,
    /// The columns of the current batch, by place.
    columns: Vec<Option<Column>>,
    /// The row after the current one, in the batch.
    next: usize,
    length: usize,
}

/// A column of the current batch.
enum Column {
    Text(StringArray),
    Int(Int64Array),
    Bool(BooleanArray),
    /// The texts of all lists of the column, and the list of each row.
    Texts(StringArray, ListArray),
}

impl<C: Columns> Cursor<C> {
    /// Reads all of the columns.
    pub(crate) fn open(trace: &Trace) -> Result<Self, Error> {
        Self::open_some(trace, |_| true)
    }

    /// Reads only the columns that are wanted; each value of the others is `None`.
    pub(crate) fn open_some(trace: &Trace, is_wanted: impl Fn(C) -> bool) -> Result<Self, Error> {
        let wanted: Vec<C> = C::ALL.iter().copied().filter(|&column| is_wanted(column)).collect();
        let names: Vec<&str> = wanted.iter().map(|column| column.name()).collect();
        let batches = Box::new(trace.columns::<C::Row>(&names)?);
        Ok(Self { batches, wanted, columns: Vec::new(), next: 0, length: 0 })
    }

    /// Whether no row follows. Fetches the next batch when this one is used up.
    pub(crate) fn is_at_end(&mut self) -> Result<bool, Error> {
        while self.next == self.length {
            let Some(batch) = self.batches.next() else { return Ok(true) };
            let batch = batch?;
            (self.next, self.length) = (0, batch.num_rows());
            self.columns.clear();
            self.columns.resize_with(C::ALL.len(), || None);
            for column in &self.wanted {
                self.columns[column.place()] = batch.column_by_name(column.name()).and_then(Column::of);
            }
        }
        Ok(false)
    }

    /// Moves to the next row, if there is one.
    pub(crate) fn advance(&mut self) -> Result<bool, Error> {
        let moves = !self.is_at_end()?;
        self.next += usize::from(moves);
        Ok(moves)
    }

    /// Moves to the next row if it holds `text` in `column`.
    pub(crate) fn advance_if(&mut self, column: C, text: &str) -> Result<bool, Error> {
        let moves = !self.is_at_end()? && self.text_at(self.next, column) == Some(text);
        self.next += usize::from(moves);
        Ok(moves)
    }

    /// The text in a column of the current row.
    pub(crate) fn text(&self, column: C) -> Option<&str> {
        self.text_at(self.next.checked_sub(1)?, column)
    }

    /// The number in a column of the current row.
    pub(crate) fn int(&self, column: C) -> Option<i64> {
        let row = self.next.checked_sub(1)?;
        match self.columns.get(column.place())? {
            Some(Column::Int(array)) => array.is_valid(row).then(|| array.value(row)),
            _ => None,
        }
    }

    /// The answer in a column of the current row.
    pub(crate) fn bool(&self, column: C) -> Option<bool> {
        let row = self.next.checked_sub(1)?;
        match self.columns.get(column.place())? {
            Some(Column::Bool(array)) => array.is_valid(row).then(|| array.value(row)),
            _ => None,
        }
    }

    /// The list of texts in a column of the current row. An empty one needs no memory.
    pub(crate) fn texts(&self, column: C) -> Vec<&str> {
        let row = self.next.wrapping_sub(1);
        match self.columns.get(column.place()) {
            Some(Some(Column::Texts(texts, lists))) if lists.is_valid(row) => {
                let ends = lists.value_offsets();
                let list = (ends[row] as usize..ends[row + 1] as usize).filter(|&place| texts.is_valid(place));
                list.map(|place| texts.value(place)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn text_at(&self, row: usize, column: C) -> Option<&str> {
        match self.columns.get(column.place())? {
            Some(Column::Text(array)) => array.is_valid(row).then(|| array.value(row)),
            _ => None,
        }
    }

    /// An error if a row follows: the rows are not grouped in the order of the tables above.
    pub(crate) fn check_end(&mut self, trace: &Trace) -> Result<(), Error> {
        if self.is_at_end()? { Ok(()) } else { Err(left_over(trace, C::Row::TABLE)) }
    }
}

impl Column {
    fn of(array: &ArrayRef) -> Option<Self> {
        let any = array.as_any();
        match array.data_type() {
            DataType::Utf8 => any.downcast_ref().cloned().map(Column::Text),
            DataType::Int64 => any.downcast_ref().cloned().map(Column::Int),
            DataType::Boolean => any.downcast_ref().cloned().map(Column::Bool),
            DataType::List(_) => {
                let lists: &ListArray = any.downcast_ref()?;
                lists.values().as_any().downcast_ref().cloned().map(|texts| Column::Texts(texts, lists.clone()))
            }
            _ => None,
        }
    }
}

/// That rows of a table belong to no job or task.
pub(crate) fn left_over(trace: &Trace, table: &str) -> Error {
    Error::Trace(resched_tables::Error::Trace {
        path: trace.dir().join(format!("{table}.parquet")),
        problem: "the rows are not grouped in the order of the jobs and tasks tables".to_owned(),
        remedy: "ingest the sources again".to_owned(),
    })
}
