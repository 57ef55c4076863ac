//! One table in one Parquet file, or in a folder of them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::{Array, StringViewArray};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use hashbrown::HashSet;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::batch::BATCH_ROWS;
use super::checked::CheckedFile;
use super::columns::Row;
use super::inventory::{FileEntry, Hashed, Inventory};
use super::read::for_each_run;
use crate::Error;
use crate::call::checkpoint;
use crate::reference::{Column, Word};

/// Rows of a row group: it is written out when it is full, so memory does not grow with the table.
const ROW_GROUP_ROWS: usize = 131_072;

/// Columns whose values are nearly all different.
const DISTINCT: [&str; 2] = ["id", "task_id"];

/// A column is one of these, too, if more than this many of the texts of its first batch are different: the ids in a table of jobs, and
/// those in a table of attempts whose jobs have a task each. Of fewer rows than a batch, a dictionary is small anyway.
const MANY_TEXTS: usize = BATCH_ROWS / 8 * 7;

/// Writes a table row by row; the file is whole after [`TableWriter::finish`].
pub struct TableWriter<R: Row> {
    path: PathBuf,
    schema: SchemaRef,
    /// The file, until the first batch shows how to write it.
    file: Option<File>,
    writer: Option<ArrowWriter<Hashed<File>>>,
    builders: R::Builders,
    pending: usize,
    rows: u64,
    /// How many rows have a value, column by column.
    filled: Vec<u64>,
}

impl<R: Row> TableWriter<R> {
    /// Starts `<dir>/<table>.parquet`.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be made.
    pub fn create(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(format!("{}.parquet", R::TABLE));
        let file = File::create(&path).map_err(Error::io(&path, "create the file"))?;
        let (schema, builders) = (R::schema(), R::Builders::default());
        let filled = vec![0; schema.fields().len()];
        Ok(Self { path, schema, file: Some(file), writer: None, builders, pending: 0, rows: 0, filled })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`Error::Table`] if a full row group cannot be written.
    pub fn append(&mut self, row: &R) -> Result<(), Error> {
        row.append(&mut self.builders);
        self.pending += 1;
        self.rows += 1;
        if self.pending == BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    /// Adds the rows of a batch of the table.
    ///
    /// # Errors
    /// As [`TableWriter::append`].
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        if self.pending > 0 {
            self.flush()?;
        }
        self.rows += batch.num_rows() as u64;
        self.encode(batch)
    }

    fn encode(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        checkpoint();
        for (filled, column) in self.filled.iter_mut().zip(batch.columns()) {
            *filled += (column.len() - column.logical_null_count()) as u64;
        }
        self.open(batch)?;
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write(batch)).map_err(failed(&self.path, "written"))
    }

    /// Opens the writer, unless it is open. `first` is the first batch.
    fn open(&mut self, first: &RecordBatch) -> Result<(), Error> {
        if let Some(file) = self.file.take() {
            let writer = properties(&self.schema, first).and_then(|properties| {
                ArrowWriter::try_new(Hashed::new(file), Arc::clone(&self.schema), Some(properties))
            });
            self.writer = Some(writer.map_err(failed(&self.path, "written"))?);
        }
        Ok(())
    }

    /// How many rows were added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn flush(&mut self) -> Result<(), Error> {
        let columns = R::finish(&mut self.builders);
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(failed(&self.path, "written"))?;
        self.pending = 0;
        self.encode(&batch)
    }

    /// Writes what is left, ends the file and makes it durable.
    ///
    /// # Errors
    /// [`Error::Table`] or [`Error::Io`].
    pub fn finish(mut self) -> Result<WrittenTable, Error> {
        if self.pending > 0 {
            self.flush()?;
        }
        self.open(&RecordBatch::new_empty(Arc::clone(&self.schema)))?;
        let hashed = self.writer.map(ArrowWriter::into_inner).transpose().map_err(failed(&self.path, "written"))?;
        let (file, entry) = hashed.ok_or("no file is open").map_err(failed(&self.path, "written"))?.finish();
        file.sync_all().map_err(Error::io(&self.path, "write to the disk"))?;
        let named = self.schema.fields().iter().zip(&self.filled).filter(|(_, filled)| **filled > 0);
        let filled = named.map(|(field, &filled)| (format!("{}.{}", R::TABLE, field.name()), filled)).collect();
        Ok(WrittenTable { table: R::TABLE, rows: self.rows, filled, entry })
    }
}

/// How a table is stored. Neighbours resemble each other, so numbers and ids are stored as differences from the value before.
/// This takes less time and room than to look each up in a dictionary. Other texts have one as long as it is small. `first` is the first batch.
fn properties(schema: &Schema, first: &RecordBatch) -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by(format!("resched {}", env!("CARGO_PKG_VERSION")));
    for field in schema.fields() {
        let column = ColumnPath::from(field.name().as_str());
        properties = match field.data_type() {
            DataType::Int64 => properties
                .set_column_encoding(column.clone(), Encoding::DELTA_BINARY_PACKED)
                .set_column_dictionary_enabled(column, false),
            DataType::Utf8 => properties
                .set_column_encoding(column.clone(), Encoding::DELTA_BYTE_ARRAY)
                .set_column_dictionary_enabled(column.clone(), !is_distinct(field.name(), first))
                .set_column_statistics_enabled(column, EnabledStatistics::None),
            _ => properties,
        };
    }
    Ok(properties.build())
}

/// True if the texts of a column are nearly all different.
fn is_distinct(name: &str, first: &RecordBatch) -> bool {
    if DISTINCT.contains(&name) {
        return true;
    }
    if first.num_rows() < BATCH_ROWS {
        return false;
    }
    let column = first.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
    let texts = column.filter(|column| column.len() - column.null_count() > MANY_TEXTS);
    texts.is_some_and(|column| column.iter().flatten().collect::<HashSet<&str>>().len() > MANY_TEXTS)
}

/// A table that was written, for the marker of its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenTable {
    /// Its name.
    pub table: &'static str,
    /// How many rows it has.
    pub rows: u64,
    /// How many rows have a value, by `table.column`. A column without any is not there.
    pub filled: BTreeMap<String, u64>,
    /// Its file, `<table>.parquet`.
    pub entry: FileEntry,
}

/// How many rows of each column of these tables have a value, by `table.column`.
pub fn filled(tables: &[WrittenTable]) -> BTreeMap<String, u64> {
    tables.iter().flat_map(|table| table.filled.clone()).collect()
}

/// The rows and the files of these tables, as markers have them.
pub fn contents(tables: impl IntoIterator<Item = WrittenTable>) -> (BTreeMap<String, u64>, Inventory) {
    let both = tables
        .into_iter()
        .map(|WrittenTable { table, rows, entry, .. }| ((table.to_owned(), rows), (format!("{table}.parquet"), entry)));
    both.unzip()
}

/// The rows of `<dir>/<table>.parquet`, or of the parts in `<dir>/<table>/`, a batch at a time. `files` is the list in the
/// folder's marker: what is read is checked by it. If it is empty, as in a trace that another tool made, nothing is.
///
/// # Errors
/// [`Error::Io`] if the file is missing; [`Error::Table`] if it is damaged or has other columns. Errors further in come
/// from the iterator.
pub fn read_table<R: Row>(dir: &Path, files: &Inventory) -> Result<TableReader<R>, Error> {
    read(dir, files, None)
}

/// Like [`read_table`], but decodes only the columns of these names.
///
/// # Errors
/// As [`read_table`]; a name that the table lacks is an error too.
pub fn read_columns<R: Row>(dir: &Path, files: &Inventory, names: &[&str]) -> Result<TableReader<R>, Error> {
    read(dir, files, Some(names))
}

fn read<R: Row>(dir: &Path, files: &Inventory, names: Option<&[&str]>) -> Result<TableReader<R>, Error> {
    let files = table_files(dir, files, R::TABLE)?;
    let mut rows = 0_u64;
    for file in &files {
        let (_, metadata) = file.open()?;
        check_schema::<R>(metadata.schema(), names).map_err(failed(&file.path, "read"))?;
        let found = metadata.metadata().file_metadata().num_rows();
        rows = rows.saturating_add(u64::try_from(found).unwrap_or(0));
    }
    let names = names.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    Ok(TableReader { files, names, rows, row: PhantomData })
}

/// A file of a table, with what the marker says of it.
struct TableFile {
    path: PathBuf,
    entry: Option<FileEntry>,
}

impl TableFile {
    fn open(&self) -> Result<(CheckedFile, ArrowReaderMetadata), Error> {
        let file = CheckedFile::open(&self.path, self.entry.as_ref()).map_err(|error| match error.kind() {
            ErrorKind::InvalidData => failed(&self.path, "read")(error),
            _ => Error::io(&self.path, "read")(error),
        })?;
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
        Ok((file, metadata.map_err(failed(&self.path, "read"))?))
    }
}

/// The same file with its texts as views, which takes less time to decode and to compare.
fn with_views(metadata: &ArrowReaderMetadata) -> Result<ArrowReaderMetadata, ParquetError> {
    let schema = metadata.schema();
    let as_view = |field: &FieldRef| match field.data_type() {
        DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        _ => Arc::clone(field),
    };
    let fields: Vec<FieldRef> = schema.fields().iter().map(as_view).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), ArrowReaderOptions::new().with_schema(schema))
}

/// The files of a table: `<table>.parquet`, or the parts in `<table>/` by name. The marker lists them, or else they are looked for.
fn table_files(dir: &Path, files: &Inventory, table: &str) -> Result<Vec<TableFile>, Error> {
    if files.is_empty() {
        let found = found_files(dir, table)?.into_iter();
        return Ok(found.map(|path| TableFile { path, entry: None }).collect());
    }
    let (single, parts) = (format!("{table}.parquet"), format!("{table}/"));
    let of_table = files.iter().filter(|(name, _)| **name == single || name.starts_with(&parts));
    let of_table: Vec<TableFile> =
        of_table.map(|(name, entry)| TableFile { path: dir.join(name), entry: Some(entry.clone()) }).collect();
    if of_table.is_empty() {
        return Err(failed(&dir.join(single), "read")("it is not in the list of files of its folder"));
    }
    Ok(of_table)
}

/// The files of a table in a folder without a list.
fn found_files(dir: &Path, table: &str) -> Result<Vec<PathBuf>, Error> {
    let single = dir.join(format!("{table}.parquet"));
    let folder = dir.join(table);
    if single.exists() || !folder.is_dir() {
        return Ok(vec![single]);
    }
    let mut parts = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Error::io(&folder, "list"))? {
        let path = entry.map_err(Error::io(&folder, "list"))?.path();
        if path.extension().is_some_and(|ending| ending == "parquet") {
            parts.push(path);
        }
    }
    parts.sort_unstable();
    Ok(parts)
}

/// Whether the file has the columns of `R` that are asked for, with their types. A column that may be null may also be missing: an
/// older build, or another tool, did not know it.
fn check_schema<R: Row>(found: &Schema, names: Option<&[&str]>) -> Result<(), String> {
    for field in R::schema().fields() {
        if names.is_some_and(|names| !names.contains(&field.name().as_str())) {
            continue;
        }
        match found.field_with_name(field.name()) {
            Err(_) if field.is_nullable() => {}
            Err(_) => return Err(format!("column `{}` is missing", field.name())),
            Ok(other) if other.data_type() != field.data_type() => {
                let (name, expected, found) = (field.name(), field.data_type(), other.data_type());
                return Err(format!("column `{name}`: expected {expected}, found {found}"));
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Reads a table batch by batch. Its files are opened one after the other.
pub struct TableReader<R> {
    files: Vec<TableFile>,
    names: Option<Vec<String>>,
    rows: u64,
    row: PhantomData<R>,
}

impl<R: Row> TableReader<R> {
    /// How many rows the table has.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The file, or the first of several.
    pub fn path(&self) -> &Path {
        self.files.first().map_or(Path::new(R::TABLE), |file| file.path.as_path())
    }

    /// The table as Arrow batches, with values that its columns may hold: no null where none is allowed, and only known words.
    pub fn batches(self) -> impl Iterator<Item = Result<RecordBatch, Error>> {
        let Self { files, names, .. } = self;
        let allowed: Arc<[Column]> = R::reference().into();
        files.into_iter().flat_map(move |file| {
            let (batches, error) = match batches_of(&file, names.as_deref()) {
                Ok(batches) => (Some(batches), None),
                Err(error) => (None, Some(Err(error))),
            };
            let allowed = Arc::clone(&allowed);
            let checked = move |batch: Result<RecordBatch, ArrowError>| {
                let batch = batch.map_err(failed(&file.path, "read"))?;
                check_values(&batch, &allowed).map_err(failed(&file.path, "read"))?;
                Ok(batch)
            };
            let batches = batches.into_iter().flat_map(decoded).map(checked);
            error.into_iter().chain(batches)
        })
    }
}

thread_local! {
    static DECODES: Cell<bool> = const { Cell::new(false) };
}

/// True if this thread decodes a table. The decoder panics at some damage, and the error of the table then says so: a program need not
/// print the panic, too.
pub fn is_decoding() -> bool {
    DECODES.get()
}

/// What a decoder makes of something that may be damaged; `None` if it panics at that.
pub fn decoding<T>(decode: impl FnOnce() -> T) -> Option<T> {
    DECODES.set(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    DECODES.set(false);
    decoded.ok()
}

/// The batches of a file. The decoder of definition levels takes lengths on trust and panics if they are wrong (parquet 60.1), which is
/// damage like any other.
fn decoded(
    mut batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> {
    let mut is_broken = false;
    std::iter::from_fn(move || {
        if is_broken {
            return None;
        }
        checkpoint();
        decoding(|| batches.next()).unwrap_or_else(|| {
            is_broken = true;
            Some(Err(ArrowError::ParquetError("the levels of a column are damaged".to_owned())))
        })
    })
}

/// Whether the columns of a batch hold only what they may.
fn check_values(batch: &RecordBatch, allowed: &[Column]) -> Result<(), String> {
    for Column { name, nullable, words, .. } in allowed {
        let Some(array) = batch.column_by_name(name) else { continue };
        if !nullable && array.null_count() > 0 {
            return Err(format!("column `{name}` holds nulls"));
        }
        if let (false, Some(texts)) = (words.is_empty(), array.as_string_view_opt()) {
            check_words(name, texts, words)?;
        }
    }
    Ok(())
}

/// Whether the texts of an enumeration are its words.
fn check_words(name: &str, texts: &StringViewArray, words: &[Word]) -> Result<(), String> {
    let mut unknown = None;
    for_each_run(texts, |text, _| {
        if let Some(text) = text.filter(|text| words.iter().all(|word| word.word != *text)) {
            unknown.get_or_insert(text);
        }
    });
    let Some(unknown) = unknown else { return Ok(()) };
    let words: Vec<&str> = words.iter().map(|word| word.word).collect();
    Err(format!("column `{name}`: expected one of {}, found `{unknown}`", words.join(", ")))
}

fn batches_of(file: &TableFile, names: Option<&[String]>) -> Result<ParquetRecordBatchReader, Error> {
    let (reader, metadata) = file.open()?;
    let metadata = with_views(&metadata).map_err(failed(&file.path, "read"))?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata);
    let builder = match names {
        Some(names) => {
            let mask = ProjectionMask::columns(builder.parquet_schema(), names.iter().map(String::as_str));
            builder.with_projection(mask)
        }
        None => builder,
    };
    builder.with_batch_size(BATCH_ROWS).build().map_err(failed(&file.path, "read"))
}

/// Turns a library's error about the table at `path` into ours.
pub(super) fn failed<E: ToString>(path: &Path, action: &'static str) -> impl FnOnce(E) -> Error {
    let path = path.to_path_buf();
    // The library's word for an error of ours says nothing.
    move |error| Error::Table { path, action, message: error.to_string().replace("External: ", "") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array};

    use super::*;
    use crate::model::JobRow;

    fn checked(name: &str, values: ArrayRef) -> Result<(), String> {
        let batch = RecordBatch::try_from_iter_with_nullable([(name, values, true)]).unwrap();
        check_values(&batch, &JobRow::reference())
    }

    #[test]
    fn a_large_table_has_a_dictionary_of_texts_that_repeat() {
        let dir = tempfile::tempdir().unwrap();
        let has_dictionary = |rows: usize| {
            let mut table = TableWriter::<JobRow>::create(dir.path()).unwrap();
            for row in 0..rows {
                let (job_id, user) = (format!("job_{row}"), Some(format!("user_{}", row % 9)));
                table.append(&JobRow { job_id, user, ..JobRow::default() }).unwrap();
            }
            assert_eq!(table.finish().unwrap().rows, rows as u64);
            let file = File::open(dir.path().join("jobs.parquet")).unwrap();
            let metadata = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().metadata().clone();
            let columns = metadata.row_groups().first().unwrap().columns();
            let of = |name: &str| {
                let column = columns.iter().find(|column| column.column_path().string() == name).unwrap();
                column.dictionary_page_offset().is_some()
            };
            (of("job_id"), of("user"))
        };
        assert_eq!(has_dictionary(BATCH_ROWS - 1), (true, true));
        assert_eq!(has_dictionary(BATCH_ROWS + 1), (false, true));
    }

    #[test]
    fn columns_hold_only_what_they_may() {
        let texts = |texts: &[Option<&str>]| Arc::new(StringViewArray::from(texts.to_vec()));
        checked("outcome", texts(&[Some("SUCCESS"), Some("SUCCESS"), Some("FAILED")])).unwrap();
        checked("submit", Arc::new(Int64Array::from(vec![None, Some(1)]))).unwrap();
        let unknown = checked("outcome", texts(&[Some("SUCCESS"), Some("success")])).unwrap_err();
        assert!(unknown.contains("`outcome`") && unknown.contains("SUCCESS, ") && unknown.contains("`success`"));
        assert_eq!(checked("job_id", texts(&[Some("a"), None])).unwrap_err(), "column `job_id` holds nulls");
    }
}
