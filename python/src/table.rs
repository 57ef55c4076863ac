//! Tables for Python, without a copy: the Arrow PyCapsule interface.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchIterator};
use arrow::datatypes::SchemaRef;
use arrow::ffi::FFI_ArrowSchema;
use arrow::ffi_stream::FFI_ArrowArrayStream;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use resched_tables::Error;
use resched_tables::model::{
    AttemptRow, CounterRow, DecisionRow, JobRow, NodeRow, ReasonRow, ResourceRow, SplitRow, TaskRow,
};
use resched_tables::run;
use resched_tables::store::{Inventory, Trace, columns::Row, read_table};

use crate::calls::long;
use crate::errors;

/// A table in memory. It gives a new stream each time it is asked, and never a copy.
#[pyclass(module = "resched._native", frozen, name = "RawTable")]
pub(crate) struct Table {
    batches: Vec<RecordBatch>,
    schema: SchemaRef,
}

#[pymethods]
impl Table {
    /// The table as a stream of Arrow; see the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a table to leave it at its own schema.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, Arc::clone(&self.schema))));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The schema of the table for Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(|error| errors::of_library(py, false, &error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The first rows, as text for people.
    fn head(&self, rows: usize) -> Vec<Vec<String>> {
        let mut all = Vec::new();
        for batch in &self.batches {
            for row in 0..batch.num_rows().min(rows - all.len()) {
                let cell = |column: &arrow::array::ArrayRef| {
                    arrow::util::display::array_value_to_string(column, row).unwrap_or_default()
                };
                all.push(batch.columns().iter().map(cell).collect());
            }
        }
        all
    }

    /// The addresses of the buffers of a column, one list for each batch: a test shows by them that nothing is copied.
    fn _addresses(&self, column: &str) -> Vec<Vec<usize>> {
        let of = |batch: &RecordBatch| {
            let data = batch.column_by_name(column).map(|array| array.to_data());
            data.map(|data| data.buffers().iter().map(|buffer| buffer.as_ptr() as usize).collect()).unwrap_or_default()
        };
        self.batches.iter().map(of).collect()
    }
}

/// Reads a table of a trace or of a run into memory.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, folder: PathBuf, table: String) -> PyResult<Table> {
    let read = move || batches(&folder, &table);
    let (schema, batches) = long(py, read)?.map_err(|error| errors::of_library(py, error.is_request(), &error))?;
    Ok(Table { batches, schema })
}

/// The tables of a trace or a run, by name.
#[pyfunction]
pub(crate) fn tables(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<String>> {
    let files = inventory(&folder).map_err(|error| errors::of_library(py, error.is_request(), &error))?;
    let table = |file: &String| {
        let name = file.split_once('/').map_or(file.as_str(), |(folder, _)| folder);
        let name = name.strip_suffix(".parquet").unwrap_or(name);
        TABLES.contains(&name).then(|| name.to_owned())
    };
    let mut tables: Vec<String> = files.keys().filter_map(table).collect();
    tables.dedup();
    Ok(tables)
}

/// What the marker of a trace or of a run lists.
fn inventory(folder: &Path) -> Result<Inventory, Error> {
    if folder.join(run::MARKER).exists() {
        Ok(run::read(folder)?.files)
    } else {
        Ok(Trace::open(folder)?.manifest().files.clone())
    }
}

/// The tables that there are, by the types of their rows.
macro_rules! tables {
    ($($row:ident,)+) => {
        const TABLES: &[&str] = &[$($row::TABLE,)+];

        fn batches(folder: &Path, table: &str) -> Result<(SchemaRef, Vec<RecordBatch>), Error> {
            let files = inventory(folder)?;
            match table {
                $(table if table == $row::TABLE => of::<$row>(folder, &files),)+
                _ => Err(Error::Request(format!("expected a table ({}), found `{table}`", TABLES.join(", ")))),
            }
        }
    };
}

tables! { JobRow, TaskRow, AttemptRow, SplitRow, NodeRow, CounterRow, DecisionRow, ReasonRow, ResourceRow, }

fn of<R: Row>(folder: &Path, files: &Inventory) -> Result<(SchemaRef, Vec<RecordBatch>), Error> {
    let batches = read_table::<R>(folder, files)?.batches().collect::<Result<Vec<_>, _>>()?;
    let schema = batches.first().map_or_else(|| R::schema(), RecordBatch::schema);
    Ok((schema, batches))
}
