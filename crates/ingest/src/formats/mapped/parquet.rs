//! The rows of a table as Parquet.

use std::borrow::Cow;
use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use super::cell::Cell;
use super::map::Map;
use super::take::{Take, places};
use resched_tables::Error;
use resched_tables::whole;

/// The first bytes of a Parquet file.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// The rows that are unpacked at once. Curves of power may stand beside the columns that are used, and are not unpacked.
const ROWS: usize = 4_096;

/// Reads the used columns of the file at `path`.
pub(super) fn read(map: &Map, used: &[&str], path: &str, take: &mut dyn Take) -> Result<(), Error> {
    let damaged = |error: String| damaged(path, &error);
    let file = whole::open(Path::new(path)).map_err(Error::io(Path::new(path), "open"))?;
    // Without the types of the tool that wrote it, a column has one of the few types of Parquet itself.
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, plain);
    let builder = builder.map_err(|error| damaged(error.to_string()))?;
    let names: Vec<String> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let places = places(map, used, &names, path)?;
    for place in places.iter().copied().flatten() {
        let field = builder.schema().fields().get(place);
        if let Some(field) = field.filter(|field| !is_readable(field.data_type())) {
            return Err(damaged(format!("the column `{}` is {}, which is not read", field.name(), field.data_type())));
        }
    }
    let mask = ProjectionMask::roots(builder.parquet_schema(), places.iter().copied().flatten());
    let batches = builder.with_projection(mask).with_batch_size(ROWS).build();
    let mut number = 0;
    for batch in batches.map_err(|error| damaged(error.to_string()))? {
        let batch = batch.map_err(|error| damaged(error.to_string()))?;
        let name = |place: &Option<usize>| {
            place.and_then(|place| names.get(place)).and_then(|name| batch.column_by_name(name))
        };
        let columns: Vec<Option<&ArrayRef>> = places.iter().map(name).collect();
        for row in 0..batch.num_rows() {
            number += 1;
            let cells: Vec<Cell<'_>> =
                columns.iter().map(|column| column.map_or(Cell::None, |column| cell(column, row))).collect();
            take.row(number, &cells)?;
        }
    }
    Ok(())
}

/// The names of its columns.
pub(super) fn names(path: &str) -> Result<Vec<String>, Error> {
    let file = whole::open(Path::new(path)).map_err(Error::io(Path::new(path), "open"))?;
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, plain);
    let builder = builder.map_err(|error| damaged(path, &error.to_string()))?;
    let fields = builder.schema().fields();
    Ok(fields.iter().filter(|field| is_readable(field.data_type())).map(|field| field.name().clone()).collect())
}

fn damaged(path: &str, error: &str) -> Error {
    Error::Source {
        path: path.to_owned(),
        place: String::new(),
        expected: "a table as Parquet".to_owned(),
        found: format!("a damaged one ({error})"),
        remedy: "copy it again, or write it as CSV".to_owned(),
    }
}

fn is_readable(kind: &DataType) -> bool {
    match kind {
        DataType::List(entry) | DataType::LargeList(entry) => is_readable(entry.data_type()),
        DataType::Boolean
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal128(..)
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Binary
        | DataType::Date32
        | DataType::Null
        | DataType::Timestamp(..) => true,
        kind => kind.is_integer(),
    }
}

/// A value of a column.
fn cell(column: &ArrayRef, row: usize) -> Cell<'_> {
    if !column.is_valid(row) {
        return Cell::None;
    }
    let whole = |number: i64| Cell::Whole(number);
    match column.data_type() {
        DataType::Int64 => whole(column.as_primitive::<Int64Type>().value(row)),
        DataType::Int32 => whole(column.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int16 => whole(column.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int8 => whole(column.as_primitive::<Int8Type>().value(row).into()),
        DataType::UInt32 => whole(column.as_primitive::<UInt32Type>().value(row).into()),
        DataType::UInt16 => whole(column.as_primitive::<UInt16Type>().value(row).into()),
        DataType::UInt8 => whole(column.as_primitive::<UInt8Type>().value(row).into()),
        DataType::UInt64 => i64::try_from(column.as_primitive::<UInt64Type>().value(row)).map_or(Cell::None, whole),
        DataType::Float64 => Cell::Float(column.as_primitive::<Float64Type>().value(row)),
        DataType::Float32 => Cell::Float(column.as_primitive::<Float32Type>().value(row).into()),
        DataType::Decimal128(_, scale) => {
            let unit = 10_f64.powi(i32::from(*scale));
            Cell::Float(column.as_primitive::<Decimal128Type>().value(row) as f64 / unit)
        }
        DataType::Utf8 => Cell::Text(Cow::Borrowed(column.as_string::<i32>().value(row))),
        DataType::LargeUtf8 => Cell::Text(Cow::Borrowed(column.as_string::<i64>().value(row))),
        DataType::Binary => Cell::Text(String::from_utf8_lossy(column.as_binary::<i32>().value(row))),
        DataType::Boolean => Cell::Text(Cow::Borrowed(if column.as_boolean().value(row) { "true" } else { "false" })),
        DataType::Date32 => {
            Cell::LocalTime(i64::from(column.as_primitive::<Date32Type>().value(row)).saturating_mul(86_400_000))
        }
        DataType::Timestamp(unit, zone) => match instant(column, *unit, row) {
            Some(ms) if zone.is_some() => Cell::Time(ms),
            Some(ms) => Cell::LocalTime(ms),
            None => Cell::None,
        },
        DataType::List(_) => list(&column.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(&column.as_list::<i64>().value(row)),
        _ => Cell::None,
    }
}

/// A time, ms.
fn instant(column: &ArrayRef, unit: TimeUnit, row: usize) -> Option<i64> {
    match unit {
        TimeUnit::Second => column.as_primitive::<TimestampSecondType>().value(row).checked_mul(1_000),
        TimeUnit::Millisecond => Some(column.as_primitive::<TimestampMillisecondType>().value(row)),
        TimeUnit::Microsecond => Some(column.as_primitive::<TimestampMicrosecondType>().value(row).div_euclid(1_000)),
        TimeUnit::Nanosecond => Some(column.as_primitive::<TimestampNanosecondType>().value(row).div_euclid(1_000_000)),
    }
}

fn list(entries: &ArrayRef) -> Cell<'static> {
    let parts = (0..entries.len()).map(|entry| cell(entries, entry)).filter(Cell::is_some);
    Cell::List(parts.map(|entry| entry.text().into_owned()).collect())
}
