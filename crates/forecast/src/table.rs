//! The table of a back-test: a row for each forecast.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use resched_sim::Ms;

use crate::Error;
use crate::backtest::Row;
use crate::past::Past;

/// The names of the quantiles in the table.
const NAMES: [&str; 9] = ["p025", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p975"];

/// The rows as a Parquet file. Times are ms of the clock of the trace. `p…` are the corrected quantiles, `raw_p…` those of the draws.
///
/// # Errors
/// [`Error::Encoding`].
pub fn encode(rows: &[Row], past: &Past) -> Result<Vec<u8>, Error> {
    let number =
        |of: &dyn Fn(&Row) -> Option<Ms>| -> ArrayRef { Arc::new(rows.iter().map(of).collect::<Int64Array>()) };
    let text = |of: &dyn Fn(&Row) -> String| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(of(row))).collect::<StringArray>())
    };
    let job = |row: &Row| past.jobs.get(row.place as usize);
    let mut columns: Vec<(String, ArrayRef)> = vec![
        ("job_id".to_owned(), text(&|row| job(row).map_or_else(String::new, |job| job.id.clone()))),
        ("queue".to_owned(), text(&|row| job(row).map_or_else(String::new, |job| past.queue(job).to_owned()))),
        ("asked_at".to_owned(), number(&|row| Some(row.asked_at))),
        ("submit".to_owned(), number(&|row| Some(row.submit))),
        ("start".to_owned(), number(&|row| row.start)),
    ];
    for (place, name) in NAMES.into_iter().enumerate() {
        columns.push((name.to_owned(), number(&|row| row.corrected.get(place).copied())));
    }
    for (place, name) in NAMES.into_iter().enumerate() {
        columns.push((format!("raw_{name}"), number(&|row| row.raw.get(place).copied())));
    }
    columns.push(("set".to_owned(), text(&|row| if row.is_judged { "judge" } else { "fit" }.to_owned())));
    written(columns).map_err(|error| Error::Encoding(error.to_string()))
}

fn written(columns: Vec<(String, ArrayRef)>) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let field = |(name, column): &(String, ArrayRef)| {
        Field::new(name, column.data_type().clone(), *column.data_type() == DataType::Int64)
    };
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns.into_iter().map(|column| column.1).collect())?;
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
    writer.write(&batch)?;
    Ok(writer.into_inner()?)
}
