//! What takes the rows of a table, whatever its form, and which columns it needs.

use resched_tables::Error;
use resched_tables::cause::Cause;

use super::cell::Cell;
use super::map::Map;

/// Takes the rows of a table.
pub(super) trait Take {
    /// Takes a row: the values of the columns that are used, in their order, and its number, from 1.
    ///
    /// # Errors
    /// The error of the sink.
    fn row(&mut self, number: u64, cells: &[Cell<'_>]) -> Result<(), Error>;

    /// Takes a row that cannot be read.
    fn damaged(&mut self, number: u64, cause: Cause, found: &str);
}

/// Where the used columns stand; `None` for one that the table lacks, but need not have.
pub(super) fn places(map: &Map, used: &[&str], names: &[String], path: &str) -> Result<Vec<Option<usize>>, Error> {
    let place = |column: &str| {
        let exact = names.iter().position(|name| name == column);
        exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(column)))
    };
    match map.lacks(|column| place(column).is_some()) {
        Some(column) => Err(without(column, names, path)),
        None => Ok(used.iter().map(|column| place(column)).collect()),
    }
}

/// A table without a column.
pub(super) fn without(column: &str, names: &[String], path: &str) -> Error {
    let mut shown = names.iter().take(40).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > 40 {
        shown.push_str(", …");
    }
    Error::Source {
        path: path.to_owned(),
        place: "columns: ".to_owned(),
        expected: format!("the column `{column}` of the map"),
        found: format!("the columns {shown}"),
        remedy: "correct the map, or begin with `resched ingest --suggest FILE`".to_owned(),
    }
}
