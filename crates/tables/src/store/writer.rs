//! Writing a trace, job by job.

use std::path::Path;

use super::manifest::{MANIFEST, Manifest};
use super::staging::{Out, StagedDir, write_file};
use super::table::{TableWriter, contents, filled};
use crate::Error;
use crate::model::{AttemptRow, CounterRow, JobRecord, JobRow, NodeRow, SplitRow, TaskRecord, TaskRow};
use crate::sink::Tasks;

/// The parts of a manifest that the writer cannot know. The writer fills in `rows`, the version and the writer's name.
pub type TraceParts = Manifest;

/// Writes a trace. It appears under its name on [`TraceWriter::finish`], and not at all if you drop it before.
pub struct TraceWriter {
    dir: StagedDir,
    jobs: TableWriter<JobRow>,
    tasks: TableWriter<TaskRow>,
    attempts: TableWriter<AttemptRow>,
    splits: TableWriter<SplitRow>,
    nodes: TableWriter<NodeRow>,
    counters: TableWriter<CounterRow>,
}

impl TraceWriter {
    /// Starts the trace `out`.
    ///
    /// # Errors
    /// [`Error::Request`] if something other than a trace is there; [`Error::Io`].
    pub fn create(out: impl Into<Out>) -> Result<Self, Error> {
        let dir = StagedDir::create(out, MANIFEST)?;
        let at = dir.path();
        Ok(Self {
            jobs: TableWriter::create(at)?,
            tasks: TableWriter::create(at)?,
            attempts: TableWriter::create(at)?,
            splits: TableWriter::create(at)?,
            nodes: TableWriter::create(at)?,
            counters: TableWriter::create(at)?,
            dir,
        })
    }

    /// Adds a job with its tasks, attempts, splits and counters.
    ///
    /// # Errors
    /// [`Error::Table`] if a row group cannot be written.
    pub fn job(&mut self, record: &JobRecord) -> Result<(), Error> {
        self.jobs.append(&record.job)?;
        for task in &record.tasks {
            self.task(task)?;
        }
        for counter in &record.counters {
            self.counters.append(counter)?;
        }
        Ok(())
    }

    /// Adds a job without tasks and the tasks that are made for it. They are never held together.
    ///
    /// # Errors
    /// [`Error::Table`] if a row group cannot be written.
    pub fn made_job(&mut self, record: &JobRecord, tasks: &mut dyn Tasks) -> Result<(), Error> {
        self.job(record)?;
        let mut task = TaskRecord::default();
        while tasks.next(&mut task) {
            self.task(&task)?;
        }
        Ok(())
    }

    fn task(&mut self, TaskRecord { task, splits, attempts }: &TaskRecord) -> Result<(), Error> {
        self.tasks.append(task)?;
        attempts.iter().try_for_each(|attempt| self.attempts.append(attempt))?;
        splits.iter().try_for_each(|split| self.splits.append(split))
    }

    /// Adds a machine event.
    ///
    /// # Errors
    /// [`Error::Table`] if a row group cannot be written.
    pub fn node(&mut self, node: &NodeRow) -> Result<(), Error> {
        self.nodes.append(node)
    }

    /// The folder in which the trace is built, which goes if it is not finished.
    pub fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// How many jobs were added.
    pub fn jobs(&self) -> u64 {
        self.jobs.rows()
    }

    /// Ends the trace and gives it its name. Returns the manifest as written.
    ///
    /// # Errors
    /// [`Error::Table`] or [`Error::Io`]; nothing is left behind then.
    pub fn finish(self, parts: TraceParts) -> Result<Manifest, Error> {
        let tables = [
            self.jobs.finish()?,
            self.tasks.finish()?,
            self.attempts.finish()?,
            self.splits.finish()?,
            self.nodes.finish()?,
            self.counters.finish()?,
        ];
        let filled = filled(&tables);
        let (rows, files) = contents(tables);
        let manifest = write_manifest(self.dir.path(), Manifest { rows, files, filled, ..parts })?;
        self.dir.commit()?;
        Ok(manifest)
    }
}

/// Writes the manifest of the trace that is built in `dir`. Returns it as written.
pub(super) fn write_manifest(dir: &Path, manifest: Manifest) -> Result<Manifest, Error> {
    let manifest = manifest.stamped();
    let path = dir.join(MANIFEST);
    write_file(&path, &manifest.encode(&path)?)?;
    Ok(manifest)
}
