//! The result of a cell: its metrics and the times of its jobs, in one Parquet file. The file appears whole or not at all.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::{Array, Float64Array, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use resched_analysis::metrics::named::Metric;
use resched_analysis::{JobMetrics, Run, answer};
use resched_tables::run::RunBound;
use resched_tables::store::sha256;
use resched_tables::validity::Validity;

use crate::Error;
use crate::metrics::measure;

/// The metrics of a job that the result of a cell keeps.
const JOB_METRICS: [&str; 3] = ["completion", "waiting", "submit"];

/// The keys of the validity and of the bottlenecks in the metadata of a cell's file.
const VALIDITY: &str = "validity";
const BOUND: &str = "bound";

/// The result of a cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellResult {
    /// Its metrics by name, without those that are unknown.
    pub metrics: BTreeMap<String, f64>,
    /// For each job that ended well, by id: the time from its submission to its end, ms.
    pub completions: BTreeMap<String, f64>,
    /// How far it can be trusted.
    pub validity: Validity,
    /// For how long each resource was the bottleneck.
    pub bound: BTreeMap<String, RunBound>,
    /// The rows of the file.
    rows: Vec<MeasurementRow>,
}

/// For how long each resource was the bottleneck of a replay.
pub(crate) fn bound(run: &Run) -> BTreeMap<String, RunBound> {
    run.replay().map(|info| info.bound.clone()).unwrap_or_default()
}

/// A row: a number of the whole cell, or of one of its jobs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MeasurementRow {
    pub(crate) metric: String,
    pub(crate) job: Option<String>,
    pub(crate) value: f64,
}

impl CellResult {
    /// The result of a replay, with these metrics beside those that have a name.
    pub(crate) fn of(run: &Run, further: &[Metric]) -> Self {
        let measured =
            measure(run, further).into_iter().map(|(metric, value)| MeasurementRow { metric, job: None, value });
        let jobs = run.finished_jobs().flat_map(|job| {
            let values = [job.completion, job.waiting, job.submit];
            JOB_METRICS.into_iter().zip(values).filter_map(|(metric, value)| {
                Some(MeasurementRow { metric: metric.to_owned(), job: Some(job.job_id.clone()), value: value? as f64 })
            })
        });
        Self { validity: answer::of_run(run), bound: bound(run), ..Self::of_rows(measured.chain(jobs).collect()) }
    }

    fn of_rows(rows: Vec<MeasurementRow>) -> Self {
        let mut result = Self::default();
        for MeasurementRow { metric, job, value } in &rows {
            match job {
                None => result.metrics.insert(metric.clone(), *value),
                Some(job) if *metric == JOB_METRICS[0] => result.completions.insert(job.clone(), *value),
                Some(_) => None,
            };
        }
        Self { rows, ..result }
    }

    /// The jobs that ended well, with their submissions, waiting and completion times.
    pub(crate) fn jobs(&self) -> Vec<JobMetrics> {
        let mut jobs: BTreeMap<&str, JobMetrics> = BTreeMap::new();
        for MeasurementRow { metric, job, value } in &self.rows {
            let Some(id) = job else { continue };
            let job = jobs.entry(id).or_insert_with(|| JobMetrics { job_id: id.clone(), ..JobMetrics::default() });
            let value = Some(*value as i64);
            match metric.as_str() {
                "completion" => job.completion = value,
                "waiting" => job.waiting = value,
                "submit" => job.submit = value,
                _ => {}
            }
        }
        jobs.into_values().collect()
    }

    pub(crate) fn rows(&self) -> &[MeasurementRow] {
        &self.rows
    }

    /// The file of the cell with that id.
    ///
    /// # Errors
    /// [`Error::Work`] if it cannot be encoded.
    pub(crate) fn encode(&self, id: &str) -> Result<Vec<u8>, Error> {
        let encoded = || {
            let text = |error: serde_json::Error| error.to_string();
            let validity = serde_json::to_string(&self.validity).map_err(text)?;
            let bound = serde_json::to_string(&self.bound).map_err(text)?;
            let metadata = HashMap::from([(VALIDITY.to_owned(), validity), (BOUND.to_owned(), bound)]);
            // A cell has a few hundred rows: to set up the packing of each column would take longer than to write them.
            let mut writer = Measurements::with(Vec::new(), metadata, Compression::UNCOMPRESSED)?;
            writer.add(id, &self.rows)?;
            Ok::<_, String>(sealed(id, writer.finish()?))
        };
        encoded().map_err(|problem| Error::Work(format!("cell {id} cannot be encoded: {problem}")))
    }

    /// Reads the file of the cell with that id. Whatever changed it since is an error.
    pub(crate) fn decode(id: &str, bytes: Vec<u8>) -> Result<Self, String> {
        if !is_whole(id, &bytes) {
            return Err("it is damaged".to_owned());
        }
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).map_err(|error| text(&error))?;
        let validity = builder.schema().metadata().get(VALIDITY).map(|json| serde_json::from_str(json));
        let validity = validity.transpose().map_err(|error| text(&error))?.unwrap_or_default();
        let bound = builder.schema().metadata().get(BOUND).map(|json| serde_json::from_str(json));
        let bound = bound.transpose().map_err(|error| text(&error))?.unwrap_or_default();
        let mut rows = Vec::new();
        for batch in builder.build().map_err(|error| text(&error))? {
            let batch = batch.map_err(|error| text(&error))?;
            let column = |name: &str| batch.column_by_name(name).ok_or_else(|| format!("column `{name}` is missing"));
            let texts = |name: &str| {
                let column = column(name)?.as_any().downcast_ref::<StringArray>();
                column.cloned().ok_or_else(|| format!("column `{name}` holds no texts"))
            };
            let (metrics, jobs) = (texts("metric")?, texts("job_id")?);
            let values = column("value")?.as_any().downcast_ref::<Float64Array>();
            let values = values.ok_or("column `value` holds no numbers")?;
            rows.extend((0..batch.num_rows()).map(|row| MeasurementRow {
                metric: metrics.value(row).to_owned(),
                job: jobs.is_valid(row).then(|| jobs.value(row).to_owned()),
                value: values.value(row),
            }));
        }
        Ok(Self { validity, bound, ..Self::of_rows(rows) })
    }
}

/// What a seal begins with.
const SEAL: &[u8; 8] = b"RESCHED\x01";
/// The bytes of a seal: [`SEAL`] and a SHA-256 in hexadecimal.
const SEAL_BYTES: usize = SEAL.len() + 64;
/// The bytes at the end of a Parquet file: the length of the footer, and `PAR1`.
const TAIL: usize = 8;

/// Puts a seal into the Parquet file of a cell: the hash of its id and of all other bytes. It stands before the footer, where readers do
/// not look, so every tool opens the file as before. Libraries for Parquet may panic at a damaged file, so it is checked before they see it.
fn sealed(id: &str, mut file: Vec<u8>) -> Vec<u8> {
    if let Some(footer) = footer_of(&file) {
        let seal = [SEAL, seal_of(id, &[&file]).as_bytes()].concat();
        file.splice(footer..footer, seal);
    }
    file
}

/// True if the file of the cell with that id is as it was sealed.
fn is_whole(id: &str, file: &[u8]) -> bool {
    let parts = footer_of(file).and_then(|footer| Some((footer.checked_sub(SEAL_BYTES)?, footer)));
    let Some((start, footer)) = parts else { return false };
    let (Some(before), Some(seal), Some(after)) = (file.get(..start), file.get(start..footer), file.get(footer..))
    else {
        return false;
    };
    seal.strip_prefix(SEAL).is_some_and(|found| found == seal_of(id, &[before, after]).as_bytes())
}

/// The place of the footer of a Parquet file.
fn footer_of(file: &[u8]) -> Option<usize> {
    let (rest, tail) = file.split_at_checked(file.len().checked_sub(TAIL)?)?;
    let length = tail.first_chunk::<4>().map(|length| u32::from_le_bytes(*length) as usize)?;
    rest.len().checked_sub(length)
}

fn seal_of(id: &str, parts: &[&[u8]]) -> String {
    sha256(&[id.as_bytes(), b"\0", &parts.concat()].concat())
}

/// Writes the table `measurements`: cell, metric, job_id (null for a number of the whole cell), value.
pub(crate) struct Measurements<W: std::io::Write + Send> {
    writer: ArrowWriter<W>,
    schema: Arc<Schema>,
}

impl<W: std::io::Write + Send> Measurements<W> {
    /// The table of several cells.
    pub(crate) fn new(sink: W) -> Result<Self, String> {
        let level = ZstdLevel::try_new(1).map_err(|error| error.to_string())?;
        Self::with(sink, HashMap::new(), Compression::ZSTD(level))
    }

    fn with(sink: W, metadata: HashMap<String, String>, compression: Compression) -> Result<Self, String> {
        let field = |name, kind, optional| Field::new(name, kind, optional);
        let schema = Arc::new(
            Schema::new(vec![
                field("cell", DataType::Utf8, false),
                field("metric", DataType::Utf8, false),
                field("job_id", DataType::Utf8, true),
                field("value", DataType::Float64, false),
            ])
            .with_metadata(metadata),
        );
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_created_by(format!("resched {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer =
            ArrowWriter::try_new(sink, Arc::clone(&schema), Some(properties)).map_err(|error| error.to_string())?;
        Ok(Self { writer, schema })
    }

    pub(crate) fn add(&mut self, id: &str, rows: &[MeasurementRow]) -> Result<(), String> {
        let columns: Vec<Arc<dyn Array>> = vec![
            Arc::new(StringArray::from_iter_values(rows.iter().map(|_| id))),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.metric.as_str()))),
            Arc::new(rows.iter().map(|row| row.job.as_deref()).collect::<StringArray>()),
            Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.value))),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|error| error.to_string())?;
        self.writer.write(&batch).map_err(|error| error.to_string())
    }

    pub(crate) fn finish(self) -> Result<W, String> {
        self.writer.into_inner().map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A damaged file never reaches the library for Parquet, which may panic.
    #[test]
    fn no_changed_byte_of_a_cell_is_overlooked() {
        let row = |job: &str| MeasurementRow { metric: "completion".to_owned(), job: Some(job.to_owned()), value: 7.0 };
        let result = CellResult::of_rows(vec![row("a"), row("b")]);
        let file = result.encode("00ff").unwrap();
        assert_eq!(CellResult::decode("00ff", file.clone()).unwrap(), result);
        assert!(CellResult::decode("00fe", file.clone()).is_err(), "the file of another cell");
        for place in 0..file.len() {
            let mut changed = file.clone();
            changed[place] ^= 1;
            assert!(CellResult::decode("00ff", changed).is_err(), "byte {place}");
            assert!(CellResult::decode("00ff", file[..place].to_vec()).is_err(), "cut at {place}");
        }
    }
}
