//! The result of a cell: its metrics and the times of its jobs, in one Parquet file. The file appears whole or not at all.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, Float64Array, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use resched_analysis::measure::Metric;
use resched_analysis::{Population, Run, validity};
use resched_trace::store::sha256;
use resched_trace::validity::Validity;

use crate::Error;
use crate::metrics::measure;

/// The metrics of a job that the result of a cell keeps.
const JOB_METRICS: [&str; 2] = ["completion", "waiting"];

/// The key of the validity in the metadata of a cell's file.
const VALIDITY: &str = "validity";
/// The key of the hash of the content in the metadata of a cell's file.
const SEAL: &str = "seal";

/// The result of a cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellResult {
    /// Its metrics by name, without those that are unknown.
    pub metrics: BTreeMap<String, f64>,
    /// For each job that ended well, by id: the time from its submission to its end, ms.
    pub completions: BTreeMap<String, f64>,
    /// How far it can be trusted.
    pub validity: Validity,
    /// The rows of the file.
    rows: Vec<MeasurementRow>,
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
    pub(crate) fn of(run: &Run, own: &[Metric]) -> Self {
        let own = measure(run, own).into_iter().map(|(metric, value)| MeasurementRow { metric, job: None, value });
        let jobs = run.finished_jobs().flat_map(|job| {
            let values = [job.completion, job.waiting];
            JOB_METRICS.into_iter().zip(values).filter_map(|(metric, value)| {
                Some(MeasurementRow { metric: metric.to_owned(), job: Some(job.job_id.clone()), value: value? as f64 })
            })
        });
        let validity = validity::of_runs(std::slice::from_ref(run), &Population::of(&[run]));
        Self { validity, ..Self::of_rows(own.chain(jobs).collect()) }
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

    pub(crate) fn rows(&self) -> &[MeasurementRow] {
        &self.rows
    }

    /// The file of the cell with that id.
    ///
    /// # Errors
    /// [`Error::Work`] if it cannot be encoded.
    pub(crate) fn encode(&self, id: &str) -> Result<Vec<u8>, Error> {
        let encoded = || {
            let validity = serde_json::to_string(&self.validity).map_err(|error| error.to_string())?;
            let seal = seal(id, &self.rows, &validity);
            let metadata = HashMap::from([(VALIDITY.to_owned(), validity), (SEAL.to_owned(), seal)]);
            let mut writer = Measurements::with_metadata(Vec::new(), metadata)?;
            writer.add(id, &self.rows)?;
            writer.finish()
        };
        encoded().map_err(|problem| Error::Work(format!("cell {id} cannot be encoded: {problem}")))
    }

    /// Reads the file of the cell with that id. Whatever changed it since is an error.
    pub(crate) fn decode(id: &str, bytes: Vec<u8>) -> Result<Self, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).map_err(|error| text(&error))?;
        // Results of earlier versions have none.
        let metadata = builder.schema().metadata().clone();
        let json = metadata.get(VALIDITY);
        let validity = json.map(|json| serde_json::from_str(json)).transpose().map_err(|error| text(&error))?;
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
        let json = json.map_or("", String::as_str);
        if metadata.get(SEAL).is_some_and(|expected| *expected != seal(id, &rows, json)) {
            return Err("it is damaged: its content is not what resched wrote".to_owned());
        }
        Ok(Self { validity: validity.unwrap_or_default(), ..Self::of_rows(rows) })
    }
}

/// The SHA-256 of all that a cell's file says. A file cannot hold the hash of its own bytes.
fn seal(id: &str, rows: &[MeasurementRow], validity: &str) -> String {
    let mut all = Vec::new();
    let mut text = |text: &str| {
        all.extend((text.len() as u64).to_le_bytes());
        all.extend(text.as_bytes());
    };
    text(id);
    text(validity);
    for MeasurementRow { metric, job, value } in rows {
        text(metric);
        text(job.as_deref().unwrap_or("\0"));
        text(&format!("{:016x}", value.to_bits()));
    }
    sha256(&all)
}

/// Writes the table `measurements`: cell, metric, job_id (null for a number of the whole cell), value.
pub(crate) struct Measurements<W: std::io::Write + Send> {
    writer: ArrowWriter<W>,
    schema: Arc<Schema>,
}

impl<W: std::io::Write + Send> Measurements<W> {
    /// The table of several cells.
    pub(crate) fn new(sink: W) -> Result<Self, String> {
        Self::with_metadata(sink, HashMap::new())
    }

    fn with_metadata(sink: W, metadata: HashMap<String, String>) -> Result<Self, String> {
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
        let level = ZstdLevel::try_new(1).map_err(|error| error.to_string())?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
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
