//! From a workload file to a trace, on disk or in memory.

use std::path::Path;

use super::generate::check_tasks;
use super::{MADE, MAX_HELD_TASKS, MAX_WRITTEN_TASKS, Workload, generate};
use crate::synthesise;
use resched_tables::Error;
use resched_tables::cause::Cause;
use resched_tables::model::{JobRecord, NodeRow};
use resched_tables::sink::{Collected, Sink, Tasks};
use resched_tables::store::{Manifest, Out, Source, TimeZero, TraceWriter, WORKLOAD_FORMAT, sha256};

/// Makes the trace of the workload file at `path` in the folder `out`, and returns its manifest. The seed decides what
/// the file leaves open.
///
/// # Errors
/// As [`write_trace_up_to`] with [`MAX_WRITTEN_TASKS`].
pub fn write_trace(path: &Path, seed: u64, out: impl Into<Out>) -> Result<Manifest, Error> {
    write_trace_up_to(MAX_WRITTEN_TASKS, path, seed, out)
}

/// As [`write_trace`], of a workload with at most `most_tasks` tasks.
///
/// # Errors
/// As [`Workload::read`] and [`generate`]; [`Error::Request`] if there are more tasks, or `out` is something other than a trace,
/// [`Error::Io`] and [`Error::Table`] if it cannot be written. Then `out` stays as it was.
pub fn write_trace_up_to(most_tasks: u64, path: &Path, seed: u64, out: impl Into<Out>) -> Result<Manifest, Error> {
    let text = super::read_text(path)?;
    let name = path.display().to_string();
    let workload = Workload::parse(&text, &name)?;
    let remedy = |tasks| format!("use fewer or smaller jobs, or allow them with --most-tasks {tasks}");
    check_tasks(&workload, seed, &name, most_tasks, remedy)?;
    let mut sink = TraceSink { writer: TraceWriter::create(out)?, failed: None };
    generate(&workload, seed, &mut sink)?;
    if let Some(error) = sink.failed {
        return Err(error);
    }
    sink.writer.finish(manifest(&workload, &text, &path.display().to_string(), seed))
}

/// Makes the trace of a workload in memory: its tables, and the manifest that [`write_trace`] would write beside them. `text` is
/// that of the workload file, `path` its name.
///
/// # Errors
/// As [`generate`]; [`Error::Request`] if there are more than [`MAX_HELD_TASKS`] tasks.
pub fn make_trace(workload: &Workload, text: &str, path: &str, seed: u64) -> Result<(Collected, Manifest), Error> {
    let remedy = |_| "use fewer or smaller jobs, or write the trace with `resched generate` and name that".to_owned();
    check_tasks(workload, seed, path, MAX_HELD_TASKS, remedy)?;
    let mut tables = Collected::default();
    generate(workload, seed, &mut tables)?;
    let manifest = Manifest { rows: tables.rows(), ..manifest(workload, text, path, seed) };
    Ok((tables, manifest.stamped()))
}

/// The manifest of a workload's trace, except its rows.
fn manifest(workload: &Workload, text: &str, path: &str, seed: u64) -> Manifest {
    let made = MADE.iter().chain(synthesise::MADE);
    Manifest {
        time_zero: TimeZero::Relative,
        sources: vec![Source {
            path: path.to_owned(),
            bytes: text.len() as u64,
            sha256: sha256(text.as_bytes()),
            format: WORKLOAD_FORMAT.to_owned(),
        }],
        made: made.map(|column| ((*column).to_owned(), "generator".to_owned())).collect(),
        parameters: [("seed".to_owned(), seed.into()), ("workload".to_owned(), workload.name.clone().into())].into(),
        ..Manifest::default()
    }
}

/// Writes what is generated. A sink cannot return an error about a machine, so the error is kept until the end.
struct TraceSink {
    writer: TraceWriter,
    failed: Option<Error>,
}

impl Sink for TraceSink {
    fn job(&mut self, job: JobRecord) -> Result<(), Error> {
        self.writer.job(&job)
    }

    fn made_job(&mut self, job: JobRecord, tasks: &mut dyn Tasks) -> Result<(), Error> {
        self.writer.made_job(&job, tasks)
    }

    fn node(&mut self, node: NodeRow) {
        if let Err(error) = self.writer.node(&node) {
            self.failed.get_or_insert(error);
        }
    }

    fn skip(&mut self, _: Cause, _: u64) {}
}
