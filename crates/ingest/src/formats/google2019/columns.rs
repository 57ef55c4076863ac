//! Tables of 2019 as Parquet.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::super::google::Facts;
use super::casts::{floats, integers, is_number_or_text, texts};
use super::row::{Row, number_of};
use resched_tables::Error;
use resched_tables::cause;

/// The first bytes of a Parquet file.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// The columns that are read, if the file has them.
const COLUMNS: [&str; 16] = [
    "time",
    "type",
    "collection_id",
    "collection_type",
    "scheduling_class",
    "priority",
    "instance_index",
    "machine_id",
    "user",
    "collection_name",
    "collection_logical_name",
    "parent_collection_id",
    "start_after_collection_ids",
    "resource_request",
    "capacity",
    "switch_id",
];

/// Those of them that are texts.
const TEXTS: [&str; 4] = ["user", "collection_name", "collection_logical_name", "switch_id"];

/// Reads the rows of `table` in the file at `path`.
pub(super) fn read(table: &str, path: &str, facts: &mut Facts<'_>) -> Result<(), Error> {
    let file = File::open(path).map_err(Error::io(Path::new(path), "open"))?;
    let damaged = |error: String| Error::Source {
        path: path.to_owned(),
        place: String::new(),
        expected: format!("a Parquet file of {table}"),
        found: format!("a damaged one ({error})"),
        remedy: "export it again, or leave it out".to_owned(),
    };
    // Without the types of the tool that wrote it, a column has one of the few types of Parquet itself.
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, plain);
    let builder = builder.map_err(|error| damaged(error.to_string()))?;
    if let Some(field) = builder.schema().fields().iter().find(|field| is_unusable(field)) {
        return Err(damaged(format!("the column `{}` is {}, no number and no text", field.name(), field.data_type())));
    }
    let fields = builder.schema().fields().iter().enumerate();
    let used = fields.filter(|(_, field)| COLUMNS.contains(&field.name().as_str())).map(|(number, _)| number);
    let mask = ProjectionMask::roots(builder.parquet_schema(), used.collect::<Vec<_>>());
    let batches = builder.with_projection(mask).with_batch_size(8_192).build();
    for batch in batches.map_err(|error| damaged(error.to_string()))? {
        let batch = batch.map_err(|error| damaged(error.to_string()))?;
        let columns = Columns::of(&batch);
        for row in 0..batch.num_rows() {
            if !columns.row(row).put(table, facts)? {
                facts.skip(cause::DAMAGED_RECORD);
            }
        }
    }
    Ok(())
}

/// True if the column is read, but its type is none that can be read, so that it would be ignored.
fn is_unusable(field: &Field) -> bool {
    let kind = field.data_type();
    COLUMNS.contains(&field.name().as_str()) && !kind.is_nested() && !is_number_or_text(kind)
}

/// The columns of a batch; one that is absent is `None`.
struct Columns {
    numbers: Vec<(&'static str, Option<Numbers>)>,
    texts: Vec<(&'static str, Option<StringArray>)>,
    after: Option<ArrayRef>,
    cpus: Option<Float64Array>,
    memory: Option<Float64Array>,
}

/// A column of whole numbers, or of texts: types may be written by their names.
enum Numbers {
    Plain(Int64Array),
    Named(StringArray),
}

impl Numbers {
    fn of(column: &ArrayRef) -> Option<Self> {
        match column.data_type() {
            DataType::Utf8 | DataType::Binary => texts(column).map(Self::Named),
            _ => integers(column).map(Self::Plain),
        }
    }

    fn get(&self, row: usize) -> Option<i64> {
        match self {
            Self::Plain(numbers) => numbers.is_valid(row).then(|| numbers.value(row)),
            Self::Named(texts) => {
                let text = texts.is_valid(row).then(|| texts.value(row))?;
                text.parse().ok().or_else(|| number_of(text))
            }
        }
    }
}

impl Columns {
    fn of(batch: &RecordBatch) -> Self {
        let column = |name: &str| batch.column_by_name(name);
        let resources = ["resource_request", "capacity"].iter().find_map(|name| column(name));
        let resources = resources.and_then(|array| array.as_any().downcast_ref::<StructArray>());
        let resource = |name: &str| resources?.column_by_name(name).and_then(floats);
        Self {
            numbers: COLUMNS.iter().map(|name| (*name, column(name).and_then(Numbers::of))).collect(),
            texts: TEXTS.iter().map(|name| (*name, column(name).and_then(texts))).collect(),
            after: column("start_after_collection_ids").cloned(),
            cpus: resource("cpus"),
            memory: resource("memory"),
        }
    }

    fn row(&self, row: usize) -> Row<'_> {
        let number = |name: &str| self.numbers.iter().find(|(column, _)| *column == name)?.1.as_ref()?.get(row);
        let text = |name: &str| {
            let texts = self.texts.iter().find(|(column, _)| *column == name)?.1.as_ref()?;
            let text = texts.is_valid(row).then(|| texts.value(row))?;
            (!text.is_empty()).then_some(Cow::Borrowed(text))
        };
        let float = |numbers: &Option<Float64Array>| {
            numbers.as_ref().filter(|numbers| numbers.is_valid(row)).map(|numbers| numbers.value(row))
        };
        Row {
            time: number("time"),
            event: number("type"),
            collection_id: number("collection_id"),
            collection_type: number("collection_type"),
            scheduling_class: number("scheduling_class"),
            priority: number("priority"),
            instance_index: number("instance_index"),
            machine_id: number("machine_id"),
            user: text("user"),
            name: text("collection_logical_name").or(text("collection_name")),
            parent: number("parent_collection_id"),
            after: self.after(row),
            cpus: float(&self.cpus),
            memory: float(&self.memory),
            switch: text("switch_id"),
        }
    }

    fn after(&self, row: usize) -> Vec<i64> {
        let list = self.after.as_ref().and_then(|array| array.as_list_opt::<i32>()).filter(|list| list.is_valid(row));
        let numbers = list.and_then(|list| integers(&list.value(row)));
        numbers.iter().flatten().flatten().collect()
    }
}
