//! The places that the rows of a replay can go to.

use std::path::Path;

use resched_tables::engine::RunEngine;
use resched_tables::run::{self, Optional, RowSink, RunInfo, RunTables};
use resched_tables::store::Out;
use resched_tables::validity::{NEVER_START, Validity};

use crate::Error;
use crate::run::Pending;
use crate::times::Timed;

/// The receiver of the rows of a replay: [`Files`], [`Memory`], [`ReadBy`], [`Times`] or [`Nothing`].
pub trait Sink {
    /// Its result.
    type Output;

    /// Starts the replay and takes its rows. `info` is the content of `run.json` except events and rows.
    ///
    /// # Errors
    /// Errors of the replay, or of keeping the rows.
    fn take(self, run: Pending<'_>, info: RunInfo) -> Result<Self::Output, Error>;
}

/// Writes a run: a folder with `run.json` and its tables. The folder is complete or absent, and replaces an earlier
/// run.
#[derive(Debug, Clone)]
pub struct Files<R = ()> {
    out: Out,
    decisions: bool,
    resume: bool,
    reader: R,
}

impl Files {
    /// Writes to this folder.
    pub fn to(out: impl Into<Out>) -> Self {
        Self { out: out.into(), decisions: false, resume: false, reader: () }
    }
}

impl<R> Files<R> {
    /// Also gives the rows to a reader while they are written. It gets none of a run that is kept.
    #[must_use]
    pub fn read_by<N>(self, reader: N) -> Files<N> {
        let Self { out, decisions, resume, .. } = self;
        Files { out, decisions, resume, reader }
    }

    /// Whether to write the decisions of the policy, and why it passed over jobs, too, in tables of their own.
    #[must_use]
    pub fn with_decisions(self, decisions: bool) -> Self {
        Self { decisions, ..self }
    }

    /// Whether to keep an existing run of the same trace, cluster, site, policy, seed and version of resched, if its files are whole.
    #[must_use]
    pub fn resume(self, resume: bool) -> Self {
        Self { resume, ..self }
    }
}

/// A run on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The content of its `run.json`.
    pub info: RunInfo,
    /// True if the run existed already, so that nothing was replayed.
    pub kept: bool,
}

impl<R: RowSink> Sink for Files<R> {
    type Output = Written;

    fn take(mut self, run: Pending<'_>, info: RunInfo) -> Result<Written, Error> {
        if let Some(info) = self.resume.then(|| found(&self.out.path, &info, self.decisions)).flatten() {
            return Ok(Written { info, kept: true });
        }
        let on_request = if self.decisions { [Optional::Decisions, Optional::Reasons].as_slice() } else { &[] };
        let shares_nodes = info.engine == RunEngine::Hadoop && info.rules.cost.contention.is_some();
        let tables = [on_request, if shares_nodes { &[Optional::Resources] } else { &[] }].concat();
        let mut files = resched_sim::Files::create(&self.out, &tables, &mut self.reader)?;
        let info = run.record(&mut files)?.noted_in(info);
        Ok(Written { info: files.finish(info)?, kept: false })
    }
}

/// The run in the folder, if it is the wanted one and has decisions and reasons if they are wanted.
fn found(dir: &Path, wanted: &RunInfo, decisions: bool) -> Option<RunInfo> {
    let found = run::read(dir).ok()?;
    // What the replay itself showed is known after it only.
    let shown = found.validity.facts.iter().filter(|fact| fact.about == NEVER_START).cloned().collect();
    let same = RunInfo {
        validity: wanted.validity.clone().and(&Validity { facts: shown }),
        events: found.events,
        bound: found.bound.clone(),
        rows: found.rows.clone(),
        files: found.files.clone(),
        ..wanted.clone()
    };
    let is_wanted =
        found == same && (!decisions || ["decisions", "reasons"].iter().all(|table| found.rows.contains_key(*table)));
    let is_whole = || found.files.iter().all(|(name, entry)| entry.is_content_of(&dir.join(name)));
    (is_wanted && is_whole()).then_some(found)
}

/// Keeps a run in memory, whose size grows with the number of attempts.
#[derive(Debug, Clone, Copy)]
pub struct Memory;

/// A run in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The content that its `run.json` would have.
    pub info: RunInfo,
    /// Its rows, including the decisions of its policy.
    pub tables: RunTables,
}

impl Sink for Memory {
    type Output = Replayed;

    fn take(self, run: Pending<'_>, info: RunInfo) -> Result<Replayed, Error> {
        let mut tables = RunTables::default();
        let info = ReadBy(&mut tables).take(run, info)?;
        Ok(Replayed { info, tables })
    }
}

/// Gives the rows of a run to a reader and keeps none.
#[derive(Debug, Clone, Copy)]
pub struct ReadBy<R>(pub R);

impl<R: RowSink> Sink for ReadBy<R> {
    /// The content that its `run.json` would have.
    type Output = RunInfo;

    fn take(mut self, run: Pending<'_>, info: RunInfo) -> Result<RunInfo, Error> {
        Ok(run.record(&mut self.0)?.noted_in(info))
    }
}

/// Keeps only when each job was submitted, started and ended.
#[derive(Debug, Clone, Copy)]
pub struct Times;

impl Sink for Times {
    type Output = Timed;

    fn take(self, run: Pending<'_>, info: RunInfo) -> Result<Timed, Error> {
        Ok(Timed { jobs: run.times()?, window: info.window })
    }
}

/// Keeps only the number of events handled.
#[derive(Debug, Clone, Copy)]
pub struct Nothing;

impl Sink for Nothing {
    type Output = u64;

    fn take(self, run: Pending<'_>, _: RunInfo) -> Result<u64, Error> {
        Ok(run.count()?.events)
    }
}
