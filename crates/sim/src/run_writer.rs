//! Writes a replay as a run: the tables `jobs` and `attempts` of a trace, in ms of the simulated clock, on request what the
//! policy decided, under the cost model `contention` what the nodes used, and `run.json`.

use std::path::Path;

use resched_trace::model::{AttemptRow, DecisionRow, JobRow, ResourceRow};
use resched_trace::run::{FORMAT_VERSION, MARKER, RunInfo};
use resched_trace::store::{StagedDir, TableWriter};

use crate::Error;
use crate::cluster::Cluster;
use crate::observer::{Decided, Ended, JobEnded, Observer, Used};
use crate::run_rows::{decision_row, fill_attempt, job_row, resource_row};
use crate::workload::Workload;

/// Takes a replay down; the run appears under its name on [`RunWriter::finish`], and not at all if dropped before.
///
/// Attempts stand in the order in which the master learned of their ends, jobs in the order of submission. The memory it
/// needs does not grow with the number of attempts.
pub struct RunWriter<'w> {
    dir: StagedDir,
    workload: &'w Workload,
    cluster: &'w Cluster,
    attempts: TableWriter<AttemptRow>,
    /// The row that is filled for each attempt, so that its texts are not made anew.
    row: AttemptRow,
    ends: Vec<Option<JobEnded>>,
    decisions: Option<TableWriter<DecisionRow>>,
    resources: Option<TableWriter<ResourceRow>>,
}

impl<'w> RunWriter<'w> {
    /// Starts the run `target`, in place of an earlier one if there is one.
    ///
    /// # Errors
    /// [`Error::Trace`] if something other than a run is there, or it cannot be written.
    pub fn create(target: &Path, workload: &'w Workload, cluster: &'w Cluster) -> Result<Self, Error> {
        let dir = StagedDir::create(target, MARKER)?;
        let attempts = TableWriter::create(dir.path())?;
        let row = AttemptRow { host: Some(String::new()), rack: Some(String::new()), ..AttemptRow::default() };
        let resources = match cluster.config.cost.contention {
            Some(_) => Some(TableWriter::create(dir.path())?),
            None => None,
        };
        let ends = vec![None; workload.jobs().len()];
        Ok(Self { dir, workload, cluster, attempts, row, ends, decisions: None, resources })
    }

    /// Also writes the table `decisions`.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    pub fn with_decisions(self) -> Result<Self, Error> {
        let decisions = Some(TableWriter::create(self.dir.path())?);
        Ok(Self { decisions, ..self })
    }

    /// Ends the run and gives it its name. `info` says what was replayed; the version and the rows are filled in.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written; nothing is left behind then.
    pub fn finish(self, mut info: RunInfo) -> Result<RunInfo, Error> {
        let mut jobs = TableWriter::<JobRow>::create(self.dir.path())?;
        for (job, end) in self.workload.jobs().iter().zip(&self.ends) {
            jobs.append(&job_row(job, *end))?;
        }
        info.format_version = FORMAT_VERSION;
        info.written_by = concat!("resched ", env!("CARGO_PKG_VERSION")).to_owned();
        info.rows = [("jobs", jobs.finish()?), ("attempts", self.attempts.finish()?)]
            .map(|(table, rows)| (table.to_owned(), rows))
            .into();
        if let Some(decisions) = self.decisions {
            info.rows.insert("decisions".to_owned(), decisions.finish()?);
        }
        if let Some(resources) = self.resources {
            info.rows.insert("resources".to_owned(), resources.finish()?);
        }
        info.write(self.dir.path())?;
        self.dir.commit()?;
        Ok(info)
    }
}

impl Observer for RunWriter<'_> {
    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        let row = &mut self.row;
        fill_attempt(row, self.workload, self.cluster, ended);
        Ok(self.attempts.append(row)?)
    }

    fn decided(&mut self, decided: &Decided) -> Result<(), Error> {
        let Some(decisions) = &mut self.decisions else { return Ok(()) };
        Ok(decisions.append(&decision_row(self.workload, decided))?)
    }

    fn used(&mut self, used: &Used) -> Result<(), Error> {
        let Some(resources) = &mut self.resources else { return Ok(()) };
        Ok(resources.append(&resource_row(self.cluster, used))?)
    }

    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        self.ends[ended.job.index()] = Some(*ended);
        Ok(())
    }
}
