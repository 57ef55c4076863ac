//! A replay's result, or what really ran, ready for metrics.

use std::path::Path;

use resched_trace::model::{AttemptRow, DecisionRow, JobRow};
use resched_trace::run::{self, RunInfo};
use resched_trace::store::{Manifest, Trace};

use crate::intervals::{Interval, intervals};
use crate::jobs::{JobMetrics, job_metrics};
use crate::tables::decisions;
use crate::{Error, Tables};

/// Where the tables come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A replay.
    Replay(Box<RunInfo>),
    /// A trace: what really ran.
    Observed(Box<Manifest>),
}

/// A run with its jobs' metrics.
#[derive(Debug, Clone)]
pub struct Run {
    /// What to call it: the policy with its parameters, or `observed`.
    pub label: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What of its tables could not be used, by cause.
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// The metrics of its jobs, in the order of the jobs table.
    pub jobs: Vec<JobMetrics>,
    /// Its attempts over time; their `job` is an index of `jobs`.
    pub intervals: Vec<Interval>,
    /// What its policy told of its decisions, in order; empty if the run was not asked to keep them.
    pub decisions: Vec<DecisionRow>,
}

impl Run {
    /// Opens the run or trace in `dir` and computes the metrics of its jobs.
    ///
    /// # Errors
    /// [`Error::Trace`] if it is neither or it is damaged; [`Error::Frame`] if a metric cannot be computed.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let (origin, label, rows) = if dir.join(TRACE_MARKER).is_file() && !dir.join(run::MARKER).is_file() {
            let manifest = Trace::open(dir)?.manifest().clone();
            let rows = manifest.rows.clone();
            (Origin::Observed(Box::new(manifest)), "observed".to_owned(), rows)
        } else {
            let info = run::read(dir)?;
            let (label, rows) = (info.label.clone(), info.rows.clone());
            (Origin::Replay(Box::new(info)), label, rows)
        };
        let tables = Tables::load(dir, &rows)?;
        Ok(Self {
            label,
            origin,
            jobs: job_metrics(&tables)?,
            intervals: intervals(&tables)?,
            decisions: decisions(dir, &rows)?,
            skipped: tables.skipped,
        })
    }

    /// A replay that was kept in memory, as `info` describes it.
    ///
    /// # Errors
    /// [`Error::Frame`] if a metric cannot be computed.
    pub fn of_rows(
        info: RunInfo,
        (jobs, attempts, decisions): (Vec<JobRow>, Vec<AttemptRow>, Vec<DecisionRow>),
    ) -> Result<Self, Error> {
        let tables = Tables::of_rows(&jobs, &attempts)?;
        Ok(Self {
            label: info.label.clone(),
            origin: Origin::Replay(Box::new(info)),
            jobs: job_metrics(&tables)?,
            intervals: intervals(&tables)?,
            decisions,
            skipped: tables.skipped,
        })
    }

    /// What the replay says of itself; `None` for a trace.
    pub fn replay(&self) -> Option<&RunInfo> {
        match &self.origin {
            Origin::Replay(info) => Some(info),
            Origin::Observed(_) => None,
        }
    }

    /// The jobs that means are over ([`crate::metrics::finished`]).
    pub fn finished_jobs(&self) -> impl Iterator<Item = &JobMetrics> {
        self.jobs.iter().filter(|job| job.finished)
    }
}

/// The file that makes a folder a trace.
const TRACE_MARKER: &str = "trace.json";
