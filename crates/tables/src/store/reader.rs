//! Reading a trace back.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;

use super::columns::Row;
use super::manifest::{LAYOUT, MANIFEST, Manifest};
use super::marker;
use super::table::{TableReader, read_columns, read_table};
use crate::{Error, whole};

/// A trace on disk.
#[derive(Debug, Clone)]
pub struct Trace {
    dir: PathBuf,
    manifest: Manifest,
}

impl Trace {
    /// Opens the trace in `dir`.
    ///
    /// # Errors
    /// [`Error::Request`] if there is none; [`Error::Trace`] if it is damaged or of another version; [`Error::Io`] if it cannot
    /// be read.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(MANIFEST);
        if !path.is_file() {
            let problem = if dir.exists() { "is not a trace: it holds no trace.json" } else { "no such trace" };
            let remedy = "make one with `resched ingest <PATH>… --out <TRACE>`";
            return Err(Error::Request(format!("{}: {problem}; {remedy}", dir.display())));
        }
        let bytes = whole::marker(&path).map_err(Error::io(&path, "read"))?;
        let manifest: Manifest = marker::decode(&bytes, &LAYOUT)
            .map_err(|unusable| trace_error(&path, &unusable.problem, &unusable.remedy))?;
        Ok(Self { dir: dir.to_path_buf(), manifest })
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What identifies the trace.
    ///
    /// # Errors
    /// As [`Manifest::fingerprint`].
    pub fn fingerprint(&self) -> Result<String, Error> {
        self.manifest.fingerprint()
    }

    /// A table as Arrow batches, with the schema of `R`.
    ///
    /// # Errors
    /// [`Error::Trace`] if the number of rows differs from the manifest; [`Error::Io`] and [`Error::Table`] as for
    /// [`read_table`]. The iterator ends with the first error.
    pub fn batches<R: Row>(&self) -> Result<impl Iterator<Item = Result<RecordBatch, Error>> + use<R>, Error> {
        self.checked(read_table::<R>(&self.dir, &self.manifest.files)?)
    }

    /// Like [`Trace::batches`], but decodes only the columns of these names.
    ///
    /// # Errors
    /// As [`Trace::batches`].
    pub fn columns<R: Row>(
        &self,
        names: &[&str],
    ) -> Result<impl Iterator<Item = Result<RecordBatch, Error>> + use<R>, Error> {
        self.checked(read_columns::<R>(&self.dir, &self.manifest.files, names)?)
    }

    fn checked<R: Row>(
        &self,
        table: TableReader<R>,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, Error>> + use<R>, Error> {
        let expected = self.manifest.rows.get(R::TABLE).copied().unwrap_or(0);
        if table.rows() != expected {
            let problem = format!("expected {expected} rows as trace.json says, found {}", table.rows());
            return Err(trace_error(table.path(), &problem, "ingest the sources again"));
        }
        Ok(table.batches())
    }

    /// The rows of a table, in order.
    ///
    /// # Errors
    /// As [`Trace::batches`].
    pub fn rows<R: Row>(&self) -> Result<Rows<R, impl Iterator<Item = Result<RecordBatch, Error>> + use<R>>, Error> {
        Ok(Rows::new(self.batches::<R>()?))
    }
}

fn trace_error(path: &Path, problem: &str, remedy: &str) -> Error {
    Error::Trace { path: path.to_path_buf(), problem: problem.to_owned(), remedy: remedy.to_owned() }
}

/// Reads a table row by row. After an error it ends.
pub struct Rows<R: Row, B> {
    batches: B,
    columns: R::Read,
    row: usize,
    length: usize,
}

impl<R: Row, B: Iterator<Item = Result<RecordBatch, Error>>> Rows<R, B> {
    /// The rows of these batches, whose values were checked.
    pub fn new(batches: B) -> Self {
        Self { batches, columns: R::Read::default(), row: 0, length: 0 }
    }

    fn advance(&mut self) -> Option<Result<(), Error>> {
        while self.row == self.length {
            let batch = match self.batches.next()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            };
            self.columns = R::read(&batch);
            (self.row, self.length) = (0, batch.num_rows());
        }
        Some(Ok(()))
    }
}

impl<R: Row, B: Iterator<Item = Result<RecordBatch, Error>>> Iterator for Rows<R, B> {
    type Item = Result<R, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.advance()? {
            return Some(Err(error));
        }
        let row = self.row;
        self.row += 1;
        Some(Ok(R::get(&self.columns, row)))
    }
}
