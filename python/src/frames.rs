//! Traces from data frames: any object with the Arrow PyCapsule interface becomes a table of a trace.

#![allow(
    unsafe_code,
    reason = "a stream of Arrow comes as a pointer in a capsule; there is no other way to receive it"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayReader, ArrayRef, AsArray, ListArray, RecordBatch, RecordBatchOptions, new_empty_array, new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::kernels::cmp::distinct;
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Float64Type, Schema, TimeUnit};
use arrow::error::ArrowError;
use arrow::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use resched_ingest::{Given, Made as Trace, ingest_given};
use resched_policies::nearest;
use resched_tables::Error;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, MAPREDUCE, NodeRow, SplitRow, TaskRecord, TaskRow};
use resched_tables::reference::Column;
use resched_tables::store::{Out, Rows, Source, System, TimeZero, columns::Row, decoding, sha256};

use crate::calls::long;
use crate::errors;

/// What a missing column of words stands for.
const DEFAULTS: [(&str, &str); 2] = [("outcome", "SUCCESS"), ("kind", "other")];
/// The columns that may be missing although a table never has a null there, as the trace names them.
const FILLED: [&str; 8] = [
    "jobs.outcome",
    "tasks.outcome",
    "tasks.kind",
    "attempts.outcome",
    "attempts.kind",
    ATTEMPT,
    ORDINAL,
    "nodes.event",
];
/// The columns that a table must have although a trace may lack them: without them, nothing can be replayed. One of each group is enough.
const NEEDED: [(&str, &[&str]); 3] =
    [("jobs", &["submit"]), ("attempts", &["start", "run_time"]), ("attempts", &["finish", "run_time"])];
/// The beginning of the names of columns that pandas makes of an index without a name.
const INDEX: &str = "__index_level_";
const ATTEMPT: &str = "attempts.attempt";
const ORDINAL: &str = "splits.ordinal";
/// The rule by which they are filled.
const RULE: &str = "missing-column";

/// The batches of a data frame.
struct Frame {
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
}

/// Takes the batches of an object with the Arrow PyCapsule interface.
fn frame(py: Python<'_>, table: &str, object: &Bound<'_, PyAny>) -> PyResult<Frame> {
    let stream = object.getattr_opt("__arrow_c_stream__")?.ok_or_else(|| {
        let found = object.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!(
            "{table}: expected a data frame with the Arrow PyCapsule interface (of polars, pandas, pyarrow or duckdb), found {found}"
        ))
    })?;
    let capsule = stream.call0()?.cast_into::<PyCapsule>().map_err(|error| PyTypeError::new_err(error.to_string()))?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the capsule has the name under which the interface puts a stream into it, and it holds the stream until it is dropped.
    // `from_raw` moves the stream out and leaves a released one behind, as the interface asks for.
    let reader = unsafe { ArrayStreamReader::from_raw(pointer.as_ptr()) };
    let failed = |error: &dyn std::fmt::Display| {
        errors::error(py, "RequestError", &format!("{table}: cannot read the data frame: {error}"))
    };
    let reader = reader.map_err(|error| failed(&error))?;
    let DataType::Struct(fields) = reader.field().data_type().clone() else {
        let found = reader.field().data_type().clone();
        return Err(failed(&format!("expected a table, found a column of type {found}")));
    };
    let schema = Arc::new(Schema::new(fields));
    // The reader takes the number of columns and of their buffers on trust, and panics if they are wrong (arrow 60.1).
    let batches = decoding(|| reader.map(|array| batch_of(&array?, &schema)).collect::<Result<Vec<_>, ArrowError>>());
    let batches =
        batches.ok_or_else(|| failed(&"its batches do not fit its schema"))?.map_err(|error| failed(&error))?;
    Ok(Frame { schema, batches })
}

/// The rows of a stream. What they hold is checked once, as all that comes later takes it on trust: texts are UTF-8, and keys of dictionaries
/// have values.
fn batch_of(array: &ArrayRef, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
    array.to_data().validate_full()?;
    let rows = array.as_struct();
    if let Some(row) = (0..rows.len()).find(|&row| rows.is_null(row)) {
        return Err(ArrowError::InvalidArgumentError(format!("row {row} of a batch is null")));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::clone(schema), rows.columns().to_vec(), &options)
}

/// Makes a trace of data frames. Returns its marker as JSON, what looks like a mistake in them, and the ms from the first to the last time.
#[pyfunction]
#[pyo3(signature = (out, name, system, dated, force, jobs, tasks, attempts, splits, nodes))]
#[allow(clippy::too_many_arguments, reason = "the façade in Python has names for them")]
pub(crate) fn from_frames(
    py: Python<'_>,
    out: PathBuf,
    name: String,
    system: Option<String>,
    dated: bool,
    force: bool,
    jobs: Bound<'_, PyAny>,
    tasks: Option<Bound<'_, PyAny>>,
    attempts: Option<Bound<'_, PyAny>>,
    splits: Option<Bound<'_, PyAny>>,
    nodes: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>, Option<i64>)> {
    let take = |table, object: Option<Bound<'_, PyAny>>| object.map(|object| frame(py, table, &object)).transpose();
    let frames = Frames {
        jobs: frame(py, JobRow::TABLE, &jobs)?,
        tasks: take(TaskRow::TABLE, tasks)?,
        attempts: take(AttemptRow::TABLE, attempts)?,
        splits: take(SplitRow::TABLE, splits)?,
        nodes: take(NodeRow::TABLE, nodes)?,
    };
    let system = system.map(|name| system_of(py, &name)).transpose()?;
    let work = move || {
        let mut made = BTreeMap::new();
        let (records, nodes) = frames.into_records(system, &mut made)?;
        let source = Source { path: name, format: "frames".to_owned(), ..fingerprint(&records, &nodes) };
        let time_zero = if dated { TimeZero::Epoch } else { TimeZero::Relative };
        let made = made.into_iter().map(|(column, (rule, rows))| (column, rule, rows)).collect();
        let out = Out { path: out, force };
        ingest_given(records.into_iter().map(Ok), nodes, Given { source, system, time_zero, made }, out)
    };
    let Trace { manifest, doubts, span } =
        long(py, work)?.map_err(|error| errors::of_library(py, error.is_request(), &error))?;
    let marker = serde_json::to_string(&manifest).map_err(|error| errors::of_library(py, false, &error))?;
    Ok((marker, doubts, span))
}

fn system_of(py: Python<'_>, name: &str) -> PyResult<System> {
    let all = [System::MapReduce1, System::Yarn, System::Spark, System::Slurm, System::Kubernetes, System::Batch];
    let word = |system: &System| serde_json::to_value(system).ok().and_then(|word| word.as_str().map(str::to_owned));
    all.into_iter().find(|system| word(system).as_deref() == Some(name)).ok_or_else(|| {
        let words: Vec<String> = all.iter().filter_map(word).collect();
        errors::error(py, "RequestError", &format!("system: expected one of {}, found `{name}`", words.join(", ")))
    })
}

/// What identifies the content: there is no file whose hash would.
fn fingerprint(records: &[JobRecord], nodes: &[NodeRow]) -> Source {
    let (mut bytes, mut hash) = (0, String::new());
    let mut add = |row: String| {
        bytes += row.len() as u64;
        hash = sha256((std::mem::take(&mut hash) + &row).as_bytes());
    };
    records.iter().for_each(|record| add(format!("{record:?}")));
    nodes.iter().for_each(|node| add(format!("{node:?}")));
    Source { bytes, sha256: hash, ..Source::default() }
}

struct Frames {
    jobs: Frame,
    tasks: Option<Frame>,
    attempts: Option<Frame>,
    splits: Option<Frame>,
    nodes: Option<Frame>,
}

/// Columns that were filled by a rule, with it and the number of rows.
type Made = BTreeMap<&'static str, (&'static str, u64)>;

impl Frames {
    /// The jobs with all that belongs to them, and the machines.
    fn into_records(self, system: Option<System>, made: &mut Made) -> Result<(Vec<JobRecord>, Vec<NodeRow>), Error> {
        let framework = match system {
            Some(system) if system.is_hadoop() => MAPREDUCE,
            Some(System::Spark) => "spark",
            Some(System::Slurm) => "slurm",
            _ => "batch",
        };
        let mut places = BTreeMap::new();
        let mut records: Vec<JobRecord> = Vec::new();
        for (row, mut job) in rows::<JobRow>(self.jobs, made)?.into_iter().enumerate() {
            job.framework.get_or_insert_with(|| framework.to_owned());
            if places.insert(job.job_id.clone(), records.len()).is_some() {
                return Err(wrong(
                    JobRow::TABLE,
                    "job_id",
                    row,
                    "an id of its own",
                    &format!("`{}` again", job.job_id),
                ));
            }
            records.push(JobRecord { job, ..JobRecord::default() });
        }
        let mut of_tasks: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (row, task) in
            self.tasks.map(|tasks| rows::<TaskRow>(tasks, made)).transpose()?.into_iter().flatten().enumerate()
        {
            let place = place_of(&places, TaskRow::TABLE, row, &task.job_id)?;
            let record = &mut records[place];
            if of_tasks.insert(task.task_id.clone(), (place, record.tasks.len())).is_some() {
                return Err(wrong(
                    TaskRow::TABLE,
                    "task_id",
                    row,
                    "an id of its own",
                    &format!("`{}` again", task.task_id),
                ));
            }
            record.tasks.push(TaskRecord { task, ..TaskRecord::default() });
        }
        let has_tasks = !of_tasks.is_empty();
        let attempts = self.attempts.map(|attempts| rows::<AttemptRow>(attempts, made)).transpose()?;
        for (row, mut attempt) in attempts.into_iter().flatten().enumerate() {
            let place = place_of(&places, AttemptRow::TABLE, row, &attempt.job_id)?;
            let record = &mut records[place];
            let (_, task) = match of_tasks.get(&attempt.task_id) {
                Some(&(of_job, task)) if of_job == place => (of_job, task),
                Some(_) => {
                    let found = format!("task `{}`, which is of another job", attempt.task_id);
                    return Err(wrong(AttemptRow::TABLE, "task_id", row, "a task of the job", &found));
                }
                None if has_tasks => {
                    let found = format!("`{}`", attempt.task_id);
                    return Err(wrong(AttemptRow::TABLE, "task_id", row, "a task of the table `tasks`", &found));
                }
                // Without a table of tasks, the attempts say what tasks there are.
                None => {
                    let (job_id, task_id) = (attempt.job_id.clone(), attempt.task_id.clone());
                    let task =
                        TaskRow { job_id, task_id, kind: attempt.kind, outcome: attempt.outcome, ..TaskRow::default() };
                    of_tasks.insert(attempt.task_id.clone(), (place, record.tasks.len()));
                    record.tasks.push(TaskRecord { task, ..TaskRecord::default() });
                    (place, record.tasks.len() - 1)
                }
            };
            let record = &mut record.tasks[task];
            if made.contains_key(ATTEMPT) {
                attempt.attempt = record.attempts.len() as i64;
            }
            if !has_tasks {
                // A task ends as its last try does.
                record.task.outcome = attempt.outcome;
            }
            record.attempts.push(attempt);
        }
        for (row, mut split) in
            self.splits.map(|splits| rows::<SplitRow>(splits, made)).transpose()?.into_iter().flatten().enumerate()
        {
            let Some(&(job, task)) = of_tasks.get(&split.task_id) else {
                return Err(wrong(SplitRow::TABLE, "task_id", row, "a known task", &format!("`{}`", split.task_id)));
            };
            let splits = &mut records[job].tasks[task].splits;
            if made.contains_key(ORDINAL) {
                split.ordinal = splits.len() as i64;
            }
            splits.push(split);
        }
        let nodes = self.nodes.map(|nodes| rows::<NodeRow>(nodes, made)).transpose()?.unwrap_or_default();
        Ok((records, nodes))
    }
}

fn place_of(places: &BTreeMap<String, usize>, table: &str, row: usize, job: &str) -> Result<usize, Error> {
    places
        .get(job)
        .copied()
        .ok_or_else(|| wrong(table, "job_id", row, "a job of the table `jobs`", &format!("`{job}`")))
}

fn wrong(table: &str, column: &str, row: usize, expected: &str, found: &str) -> Error {
    Error::Request(format!("{table}: column `{column}`, row {row}: expected {expected}, found {found}"))
}

/// The rows of a data frame, whose columns become those of the table.
fn rows<R: Row + 'static>(frame: Frame, made: &mut Made) -> Result<Vec<R>, Error> {
    let wanted = R::reference();
    let names = || wanted.iter().map(|column| column.name);
    for (place, field) in frame.schema.fields().iter().enumerate() {
        if frame.schema.fields().iter().take(place).any(|other| other.name() == field.name()) {
            let (table, name) = (R::TABLE, field.name());
            return Err(Error::Request(format!("{table}: column `{name}` is there twice; leave one out")));
        }
        if field.name().starts_with(INDEX) {
            continue;
        }
        if !names().any(|name| name == field.name()) {
            let hint = nearest(field.name(), names());
            let all = names().collect::<Vec<_>>().join(", ");
            return Err(Error::Request(format!(
                "{}: `{}` is no column of this table{hint}; rename it or leave it out. The columns are {all}",
                R::TABLE,
                field.name()
            )));
        }
    }
    for (_, group) in NEEDED.iter().filter(|(table, _)| *table == R::TABLE) {
        if !group.iter().any(|name| frame.schema.column_with_name(name).is_some()) {
            let [name, others @ ..] = *group else { continue };
            let meaning = wanted.iter().find(|column| column.name == *name).map_or("", |column| column.meaning.trim());
            let or = others.iter().map(|other| format!(" (or `{other}`)")).collect::<String>();
            return Err(Error::Request(format!("{}: column `{name}`{or} is missing; it holds: {meaning}", R::TABLE)));
        }
    }
    let mut batches = Vec::with_capacity(frame.batches.len());
    let mut before = 0;
    for batch in frame.batches {
        batches.push(Ok(conformed::<R>(&batch, &wanted, before, made)?));
        before += batch.num_rows();
    }
    Rows::<R, _>::new(batches.into_iter()).collect()
}

/// A batch with the columns of a table and their types. `before` is the number of rows before it.
fn conformed<R: Row>(
    batch: &RecordBatch,
    wanted: &[Column],
    before: usize,
    made: &mut Made,
) -> Result<RecordBatch, Error> {
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (field, column) in R::schema().fields().iter().zip(wanted) {
        // Readers of tables have texts as views.
        let kind = if *field.data_type() == DataType::Utf8 { DataType::Utf8View } else { field.data_type().clone() };
        let array = match batch.column_by_name(column.name) {
            Some(array) => converted::<R>(array, &kind, column, before)?,
            None if column.nullable => new_null_array(&kind, batch.num_rows()),
            None => default_of::<R>(column, &kind, batch.num_rows(), made)?,
        };
        fields.push(Arc::new(field.as_ref().clone().with_data_type(kind).with_nullable(true)));
        arrays.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| Error::Request(error.to_string()))
}

/// A missing column that may not be null: some have defaults.
fn default_of<R: Row>(column: &Column, kind: &DataType, rows: usize, made: &mut Made) -> Result<ArrayRef, Error> {
    let text = |word: &str| -> ArrayRef {
        Arc::new(arrow::array::StringViewArray::from_iter_values(std::iter::repeat_n(word, rows)))
    };
    if let DataType::List(field) = kind {
        let none = (OffsetBuffer::new_zeroed(rows), new_empty_array(field.data_type()));
        return Ok(Arc::new(ListArray::new(Arc::clone(field), none.0, none.1, None)));
    }
    let array = match DEFAULTS.iter().find(|(name, _)| *name == column.name) {
        Some((_, word)) => text(word),
        None if !column.words.is_empty() => text(column.words[0].word),
        None if *kind == DataType::Int64 => Arc::new(arrow::array::Int64Array::from_value(0, rows)),
        None => {
            let (table, name, meaning) = (R::TABLE, column.name, column.meaning.trim());
            return Err(Error::Request(format!("{table}: column `{name}` is missing; it holds: {meaning}")));
        }
    };
    let full_name = format!("{}.{}", R::TABLE, column.name);
    if let Some(name) = FILLED.iter().find(|name| **name == full_name) {
        made.entry(name).or_insert((RULE, 0)).1 += rows as u64;
    }
    Ok(array)
}

/// A column as the type of the table. Nothing is rounded, and no value gets lost.
fn converted<R: Row>(given: &ArrayRef, kind: &DataType, column: &Column, before: usize) -> Result<ArrayRef, Error> {
    let name = column.name;
    let at = |row: usize, expected: &str, found: &str| wrong(R::TABLE, name, before + row, expected, found);
    let given = &unpacked::<R>(given, name)?;
    let shown = |row| arrow::util::display::array_value_to_string(given, row).unwrap_or_default();
    let is_number = *kind == DataType::Int64;
    if is_number && given.data_type().is_floating() {
        let numbers = cast::<R>(given, &DataType::Float64, name)?;
        let numbers = numbers.as_primitive::<Float64Type>();
        if let Some(row) = (0..numbers.len()).find(|&row| numbers.is_valid(row) && numbers.value(row).fract() != 0.0) {
            return Err(at(row, "a whole number", &shown(row)));
        }
    }
    // Times of data frames are instants and durations; tables have milliseconds.
    let array = match given.data_type() {
        DataType::Timestamp(_, zone) if is_number => {
            &cast::<R>(given, &DataType::Timestamp(TimeUnit::Millisecond, zone.clone()), name)?
        }
        DataType::Date32 if is_number => &cast::<R>(given, &DataType::Timestamp(TimeUnit::Millisecond, None), name)?,
        DataType::Duration(_) if is_number => &cast::<R>(given, &DataType::Duration(TimeUnit::Millisecond), name)?,
        // A time of day is neither.
        DataType::Time32(_) | DataType::Time64(_) if is_number => return Err(of_another_type::<R>(given, kind, name)),
        _ => given,
    };
    let found = cast::<R>(array, kind, name)?;
    // A value that cannot be cast has become null.
    let nulls = given.logical_nulls();
    let is_given = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    if let Some(row) = (0..found.len()).find(|&row| found.is_null(row) && is_given(row)) {
        return Err(at(row, column.kind, &format!("`{}`", shown(row))));
    }
    if is_number && given.data_type().is_decimal() {
        let back = cast::<R>(&found, given.data_type(), name)?;
        let differ = distinct(&back, given).map_err(|error| Error::Request(error.to_string()))?;
        if let Some(row) = (0..differ.len()).find(|&row| differ.value(row)) {
            return Err(at(row, "a whole number", &shown(row)));
        }
    }
    if let Some(row) = (0..found.len()).find(|&row| !column.nullable && found.is_null(row)) {
        return Err(at(row, column.kind, "null"));
    }
    if let (false, Some(texts)) = (column.words.is_empty(), found.as_string_view_opt()) {
        let known = |text: &str| column.words.iter().any(|word| word.word == text);
        if let Some(row) = (0..texts.len()).find(|&row| texts.is_valid(row) && !known(texts.value(row))) {
            let words: Vec<&str> = column.words.iter().map(|word| word.word).collect();
            return Err(at(row, &format!("one of {}", words.join(", ")), &format!("`{}`", texts.value(row))));
        }
    }
    Ok(found)
}

/// A column without dictionaries and runs.
fn unpacked<R: Row>(array: &ArrayRef, column: &str) -> Result<ArrayRef, Error> {
    match array.data_type() {
        DataType::Dictionary(_, values) => cast::<R>(array, values, column),
        DataType::RunEndEncoded(_, values) => cast::<R>(array, values.data_type(), column),
        _ => Ok(Arc::clone(array)),
    }
}

fn cast<R: Row>(array: &ArrayRef, kind: &DataType, column: &str) -> Result<ArrayRef, Error> {
    let options = CastOptions { safe: true, ..CastOptions::default() };
    cast_with_options(array, kind, &options).map_err(|_| of_another_type::<R>(array, kind, column))
}

fn of_another_type<R: Row>(array: &ArrayRef, kind: &DataType, column: &str) -> Error {
    let found = array.data_type();
    Error::Request(format!("{}: column `{column}`: expected {kind}, found {found}; cast it", R::TABLE))
}
