//! A workload of OpenDC 2: a folder with `tasks.parquet` and `fragments.parquet`.
//!
//! **Source.** Names and types are those of its page on workloads, and of the first version of its schemas (`TaskSchemas.kt`,
//! `FragmentSchemas.kt`), in which ids are texts. Memory is in kilobytes of 1,000 bytes: the loader divides it by 1,000, although the page
//! says megabytes.
//!
//! A task of OpenDC runs on one host. So a task of several instances becomes one for each machine, if the trace says how many there were, or
//! else one for each instance. A core counts as [`MHZ`], because a trace does not say how fast its cores were: give the hosts of the topology
//! the same speed. Each task has one fragment: it needs the processor time that it used, or all of its cores if that is unknown.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::held::is_work;
use super::losses::Losses;
use super::{Exported, Output, Target, Write};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{JobRecord, JobRow, TaskRecord};
use resched_tables::records::Source;

/// The workload.
pub(super) const TARGET: Target =
    Target { name: "opendc", title: "workload of OpenDC 2 (a folder of Parquet)", write: Write::Folder(FILES, write) };

/// The files of the folder.
const FILES: &[&str] = &[TASKS, FRAGMENTS];
const TASKS: &str = "tasks.parquet";
const FRAGMENTS: &str = "fragments.parquet";
/// The speed of a core, MHz.
const MHZ: f64 = 1_000.0;
/// A core, in thousandths.
const CORE: i64 = 1_000;
/// Rows of a batch.
const BATCH: usize = 8_192;
/// The most parts of a task. One that has more is left out.
const MOST_PARTS: i64 = 1_000_000;
/// The columns of the tables that the files have a place for, or whose values follow from others in them.
const KEPT: &[&str] = &[
    "jobs.submit",
    "jobs.launch",
    "jobs.finish",
    "jobs.requested_containers",
    "jobs.requested_cpu",
    "jobs.requested_memory",
    "jobs.demand_cpu",
    "jobs.demand_memory",
    "jobs.demand_machines",
    "tasks.start",
    "tasks.finish",
    "tasks.cpu_request",
    "tasks.memory_request",
    "tasks.instances",
    "tasks.machines",
    "attempts.start",
    "attempts.finish",
    "attempts.run_time",
    "attempts.cpu_ms",
];

fn write(source: &Source, folder: &Path, output: &mut Output<'_>) -> Result<(), Error> {
    let mut losses = Losses::default();
    let mut files = Files::create(folder)?;
    for record in source.records()? {
        let mut record = record?;
        losses.add(&record);
        output.counted(cause::APPLICATION_MASTER, !record.tasks.iter().all(is_work));
        record.tasks.retain(is_work);
        job(&record, &mut files, output.exported)?;
    }
    losses.report(KEPT, output);
    output.counted(cause::SPEED_OF_CORES_ASSUMED, output.exported.written > 0);
    files.finish()
}

/// Writes the tasks of a job.
fn job(record: &JobRecord, files: &mut Files, exported: &mut Exported) -> Result<(), Error> {
    let Some(submit) = record.job.submit else {
        exported.count(cause::JOB_WITHOUT_SUBMIT, 1);
        return Ok(());
    };
    let mut is_written = false;
    for task in &record.tasks {
        let Some(run) = run_time(task) else {
            exported.count(cause::TASK_WITHOUT_RUN_TIME, 1);
            continue;
        };
        let part = Part::of(&record.job, task, run);
        if part.number > MOST_PARTS {
            exported.count(cause::TOO_MANY_TASKS, 1);
            continue;
        }
        is_written = true;
        exported.count(cause::GANG_DIVIDED, u64::from(part.number > 1));
        let name = name(&record.job, task);
        for number in 1..=part.number {
            let id = if part.number == 1 { name.clone() } else { format!("{name}#{number}") };
            files.add(id, submit, &part)?;
        }
    }
    exported.written += u64::from(is_written);
    Ok(())
}

/// How long the last try of a task ran, ms.
fn run_time(task: &TaskRecord) -> Option<i64> {
    let last = task.attempts.iter().rev().find_map(|one| {
        let between = one.start.zip(one.finish).and_then(|(start, finish)| finish.checked_sub(start));
        between.or(one.run_time)
    });
    let of_row = || task.task.start.zip(task.task.finish).and_then(|(start, finish)| finish.checked_sub(start));
    last.or_else(of_row).filter(|&run| run >= 0)
}

/// The id of a task in the whole trace.
fn name(job: &JobRow, task: &TaskRecord) -> String {
    let task_id = task.task.task_id.as_str();
    if task_id == job.job_id { task_id.to_owned() } else { format!("{}/{task_id}", job.job_id) }
}

/// A task on one host, of which there are several that are alike.
struct Part {
    number: i64,
    cores: i32,
    /// Memory, kilobytes of 1,000 bytes.
    memory: i64,
    /// How long it ran, ms.
    run: i64,
    /// The processor that it needs, MHz.
    usage: f64,
}

impl Part {
    fn of(job: &JobRow, TaskRecord { task, attempts, .. }: &TaskRecord, run: i64) -> Self {
        let instances = task.instances.unwrap_or(1).max(1);
        let machines = task.machines.filter(|&machines| machines > 0 && instances % machines == 0);
        let number = machines.unwrap_or(instances);
        let each = |amount: i64| amount.saturating_mul(instances / number);
        // A part of a core is a core of its host.
        let cpu = each(task.cpu_request.or(job.requested_cpu).unwrap_or(CORE).max(1));
        let cores = i32::try_from(cpu.saturating_add(CORE - 1) / CORE).unwrap_or(i32::MAX);
        let capacity = f64::from(cores) * MHZ;
        let used = attempts.iter().rev().find_map(|attempt| attempt.cpu_ms).filter(|&used| used > 0 && run > 0);
        let usage = used.map_or(capacity, |used| (used as f64 / (number as f64 * run as f64) * MHZ).min(capacity));
        let memory = task.memory_request.or(job.requested_memory).map_or(0, each);
        Self { number, cores, memory: memory / 1_000, run, usage }
    }
}

/// The two files under construction.
struct Files {
    tasks: ParquetFile,
    fragments: ParquetFile,
    rows: Vec<(String, i64, Row)>,
}

/// What both files have of a task.
#[derive(Clone, Copy)]
struct Row {
    cores: i32,
    memory: i64,
    run: i64,
    usage: f64,
}

impl Files {
    fn create(folder: &Path) -> Result<Self, Error> {
        let time = || DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        let tasks = [
            ("id", DataType::Utf8),
            ("submission_time", time()),
            ("duration", DataType::Int64),
            ("cpu_count", DataType::Int32),
            ("cpu_capacity", DataType::Float64),
            ("mem_capacity", DataType::Int64),
        ];
        let fragments = [
            ("id", DataType::Utf8),
            ("timestamp", time()),
            ("duration", DataType::Int64),
            ("cpu_count", DataType::Int32),
            ("cpu_usage", DataType::Float64),
        ];
        let tasks = ParquetFile::create(&folder.join(TASKS), &tasks)?;
        let fragments = ParquetFile::create(&folder.join(FRAGMENTS), &fragments)?;
        Ok(Self { tasks, fragments, rows: Vec::with_capacity(BATCH) })
    }

    fn add(&mut self, id: String, submit: i64, part: &Part) -> Result<(), Error> {
        let Part { cores, memory, run, usage, .. } = *part;
        self.rows.push((id, submit, Row { cores, memory, run, usage }));
        if self.rows.len() == BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let rows = std::mem::take(&mut self.rows);
        let ids: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|(id, ..)| id)));
        let times = TimestampMillisecondArray::from_iter_values(rows.iter().map(|(_, submit, _)| *submit));
        let times: ArrayRef = Arc::new(times.with_timezone("UTC"));
        let whole = |of: fn(&Row) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|(.., row)| of(row))))
        };
        let number = |of: fn(&Row) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(rows.iter().map(|(.., row)| of(row))))
        };
        let cores: ArrayRef = Arc::new(Int32Array::from_iter_values(rows.iter().map(|(.., row)| row.cores)));
        let (run, memory) = (whole(|row| row.run), whole(|row| row.memory));
        let (capacity, usage) = (number(|row| f64::from(row.cores) * MHZ), number(|row| row.usage));
        self.tasks.write(vec![ids.clone(), times.clone(), run.clone(), cores.clone(), capacity, memory])?;
        self.fragments.write(vec![ids, times, run, cores, usage])
    }

    fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        self.tasks.finish()?;
        self.fragments.finish()
    }
}

/// A file of Parquet whose columns have no nulls.
struct ParquetFile {
    path: std::path::PathBuf,
    schema: SchemaRef,
    writer: ArrowWriter<File>,
}

impl ParquetFile {
    fn create(path: &Path, columns: &[(&str, DataType)]) -> Result<Self, Error> {
        let fields: Vec<Field> = columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), false)).collect();
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let file = File::create(path).map_err(Error::io(path, "create the file"))?;
        // All builds of Java's reader know Snappy.
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(failed(path))?;
        Ok(Self { path: path.to_path_buf(), schema, writer })
    }

    fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), Error> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(failed(&self.path))?;
        self.writer.write(&batch).map_err(failed(&self.path))
    }

    fn finish(self) -> Result<(), Error> {
        let file = self.writer.into_inner().map_err(failed(&self.path))?;
        file.sync_all().map_err(Error::io(&self.path, "write to the disk"))
    }
}

fn failed<E: std::fmt::Display>(path: &Path) -> impl FnOnce(E) -> Error {
    move |error| Error::Table { path: path.to_path_buf(), action: "written", message: error.to_string() }
}
