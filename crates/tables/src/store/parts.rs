//! A trace that is written in parts: each part holds some of the jobs, and is whole by itself.

use std::fs;
use std::path::Path;

use super::inventory::Inventory;
use super::manifest::Manifest;
use super::staging::{Claim, sync_dir};
use super::table::{TableWriter, WrittenTable, contents, filled};
use super::writer::write_manifest;
use crate::Error;
use crate::model::{AttemptRow, CounterRow, JobRow, NodeRow, SplitRow, TaskRow};

/// Tables that may be folders of parts.
const TABLES_IN_PARTS: [&str; 3] = ["jobs", "tasks", "attempts"];

/// Writes the rows of a part, table by table in any order, so that no job need be held.
pub struct PartWriter {
    jobs: TableWriter<JobRow>,
    tasks: TableWriter<TaskRow>,
    attempts: TableWriter<AttemptRow>,
}

impl PartWriter {
    /// Starts the part in the folder `dir`, which exists.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Table`] if it cannot be written.
    pub fn create(dir: &Path) -> Result<Self, Error> {
        Ok(Self {
            jobs: TableWriter::create(dir)?,
            tasks: TableWriter::create(dir)?,
            attempts: TableWriter::create(dir)?,
        })
    }

    /// Adds a row to `jobs`.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Table`] if it cannot be written.
    pub fn job(&mut self, row: &JobRow) -> Result<(), Error> {
        self.jobs.append(row)
    }

    /// Adds a row to `tasks`.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Table`] if it cannot be written.
    pub fn task(&mut self, row: &TaskRow) -> Result<(), Error> {
        self.tasks.append(row)
    }

    /// Adds a row to `attempts`.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Table`] if it cannot be written.
    pub fn attempt(&mut self, row: &AttemptRow) -> Result<(), Error> {
        self.attempts.append(row)
    }

    /// Ends the part. Returns its tables.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Table`] if it cannot be written.
    pub fn finish(self) -> Result<[WrittenTable; 3], Error> {
        Ok([self.jobs.finish()?, self.tasks.finish()?, self.attempts.finish()?])
    }
}

/// Puts a trace together from `parts`, each a folder with its files, which stay as they are. One part gives one file per
/// table, several give a folder of files. `nodes` writes the machines, and may add its counts to the manifest;
/// `manifest.rows` and `manifest.filled` hold those of the tables of jobs.
///
/// # Errors
/// As for the rows; [`Error::Io`] if a part cannot be linked or copied.
pub fn join_parts<'p>(
    claim: Claim,
    parts: impl ExactSizeIterator<Item = (&'p Path, &'p Inventory)>,
    nodes: impl FnOnce(&mut TableWriter<NodeRow>, &mut Manifest) -> Result<(), Error>,
    mut manifest: Manifest,
) -> Result<Manifest, Error> {
    let staged = claim.stage()?;
    let dir = staged.path();
    let alone = parts.len() == 1;
    for (number, (part, files)) in parts.enumerate() {
        for table in TABLES_IN_PARTS {
            let file = format!("{table}.parquet");
            let name = if alone { file.clone() } else { format!("{table}/part-{number:05}.parquet") };
            link(&part.join(&file), &dir.join(&name))?;
            manifest.files.extend(files.get(&file).map(|entry| (name, entry.clone())));
        }
    }
    if !alone {
        for table in TABLES_IN_PARTS {
            sync_dir(&dir.join(table))?;
        }
    }
    let mut machines = TableWriter::<NodeRow>::create(dir)?;
    nodes(&mut machines, &mut manifest)?;
    let tables = [
        machines.finish()?,
        TableWriter::<SplitRow>::create(dir)?.finish()?,
        TableWriter::<CounterRow>::create(dir)?.finish()?,
    ];
    manifest.filled.extend(filled(&tables));
    let (rows, files) = contents(tables);
    manifest.rows.extend(rows);
    manifest.files.extend(files);
    let manifest = write_manifest(dir, manifest)?;
    staged.commit()?;
    Ok(manifest)
}

/// Gives a file a second name, or copies it if the file system cannot.
fn link(from: &Path, to: &Path) -> Result<(), Error> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(Error::io(folder, "create the folder"))?;
    }
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(|_| ())).map_err(Error::io(to, "write the file"))
}
