//! Tables of 2019 as Parquet.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::super::google::Facts;
use super::row::{Row, number_of};
use resched_tables::Error;

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
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| damaged(error.to_string()))?;
    let fields = builder.schema().fields().iter().enumerate();
    let used = fields.filter(|(_, field)| COLUMNS.contains(&field.name().as_str())).map(|(number, _)| number);
    let mask = ProjectionMask::roots(builder.parquet_schema(), used.collect::<Vec<_>>());
    let batches = builder.with_projection(mask).with_batch_size(8_192).build();
    for batch in batches.map_err(|error| damaged(error.to_string()))? {
        let batch = batch.map_err(|error| damaged(error.to_string()))?;
        let columns = Columns::of(&batch);
        for row in 0..batch.num_rows() {
            if !columns.row(row).put(table, facts)? {
                facts.skip("damaged-record");
            }
        }
    }
    Ok(())
}

/// The columns of a batch; one that is absent or of a type that cannot be used is `None`.
struct Columns {
    numbers: Vec<(&'static str, Option<ArrayRef>)>,
    texts: Vec<(&'static str, Option<ArrayRef>)>,
    after: Option<ArrayRef>,
    cpus: Option<ArrayRef>,
    memory: Option<ArrayRef>,
}

impl Columns {
    fn of(batch: &RecordBatch) -> Self {
        let column = |name: &str, to: &DataType| cast(batch.column_by_name(name)?, to).ok();
        let number = |name: &'static str| {
            let array = batch.column_by_name(name);
            // Types may be texts: their names.
            let as_is = array.filter(|array| matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8));
            (name, as_is.map_or_else(|| column(name, &DataType::Int64), |array| cast(array, &DataType::Utf8).ok()))
        };
        let resources = ["resource_request", "capacity"].iter().find_map(|name| batch.column_by_name(name));
        let resources = resources.and_then(|array| array.as_any().downcast_ref::<StructArray>());
        let resource = |name: &str| cast(resources?.column_by_name(name)?, &DataType::Float64).ok();
        Self {
            numbers: COLUMNS.iter().map(|name| number(name)).collect(),
            texts: COLUMNS.iter().map(|name| (*name, column(name, &DataType::Utf8))).collect(),
            after: batch.column_by_name("start_after_collection_ids").cloned(),
            cpus: resource("cpus"),
            memory: resource("memory"),
        }
    }

    fn row(&self, row: usize) -> Row<'_> {
        let number = |name: &str| {
            let array = self.numbers.iter().find(|(column, _)| *column == name)?.1.as_ref()?;
            if array.is_null(row) {
                return None;
            }
            match array.as_primitive_opt::<Int64Type>() {
                Some(numbers) => Some(numbers.value(row)),
                None => {
                    let text = array.as_string_opt::<i32>()?.value(row);
                    text.parse().ok().or_else(|| number_of(text))
                }
            }
        };
        let text = |name: &str| {
            let array = self.texts.iter().find(|(column, _)| *column == name)?.1.as_ref()?;
            let text = array.is_valid(row).then(|| array.as_string_opt::<i32>().map(|texts| texts.value(row)))??;
            (!text.is_empty()).then_some(Cow::Borrowed(text))
        };
        let float = |array: &Option<ArrayRef>| {
            let array = array.as_ref().filter(|array| array.is_valid(row))?;
            array.as_primitive_opt::<Float64Type>().map(|numbers| numbers.value(row))
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
        let numbers = list.and_then(|list| cast(&list.value(row), &DataType::Int64).ok());
        let numbers = numbers.as_ref().and_then(|numbers| numbers.as_primitive_opt::<Int64Type>());
        numbers.into_iter().flatten().flatten().collect()
    }
}
