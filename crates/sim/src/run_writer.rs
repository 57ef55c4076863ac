//! Writes a replay as a run: the tables `jobs` and `attempts` of a trace, in ms of the simulated clock, on request what the
//! policy decided, under the cost model `contention` what the nodes used, and `run.json`.

use std::path::Path;

use resched_trace::model::{AttemptRow, DecisionRow, JobRow, Locality, Outcome, ResourceRow, TaskKind};
use resched_trace::run::{FORMAT_VERSION, MARKER, RunInfo};
use resched_trace::store::{StagedDir, TableWriter};

use crate::Error;
use crate::cluster::Cluster;
use crate::ids::{Kind, Level};
use crate::observer::{Decided, Ended, JobEnded, Observer, Used};
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
            jobs.append(&JobRow {
                job_id: job.id.clone(),
                name: job.name.clone(),
                user: some(&job.user),
                queue: some(&job.queue),
                priority: Some(job.priority),
                framework: Some("mapreduce".to_owned()),
                submit: Some(job.submit),
                launch: end.and_then(|end| end.launch),
                finish: end.map(|end| end.finish),
                outcome: end.map_or(Outcome::Incomplete, |end| end.outcome),
                declared_maps: Some(i64::from(job.count(Kind::Map))),
                declared_reduces: Some(i64::from(job.count(Kind::Reduce))),
                shuffle_bytes: job.shuffle_bytes,
                ..JobRow::default()
            })?;
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
        let job = self.workload.job(self.workload.job_of(ended.task));
        let node = self.cluster.node(ended.node);
        let row = &mut self.row;
        row.job_id.clone_from(&job.id);
        row.task_id.clear();
        self.workload.write_task_name(ended.task, &mut row.task_id);
        row.kind = match job.place(ended.task).0 {
            Kind::Map => TaskKind::Map,
            Kind::Reduce => TaskKind::Reduce,
        };
        row.attempt = i64::from(ended.attempt);
        row.start = Some(ended.start);
        row.shuffle_finish = ended.shuffle_finish;
        row.sort_finish = ended.sort_finish;
        row.finish = ended.finish;
        // What the master threw away counts as killed, whatever the node says.
        row.outcome = if ended.discarded { Outcome::Killed } else { ended.outcome };
        row.host.get_or_insert_default().clone_from(&node.name);
        row.rack.get_or_insert_default().clone_from(&self.cluster.racks()[node.rack.index()]);
        row.locality = ended.level.map(|level| match level {
            Level::Node => Locality::Node,
            Level::Rack => Locality::Rack,
            Level::Off => Locality::Off,
        });
        row.speculative = Some(ended.backup);
        row.error = ended.discarded.then(|| "ended well, but the master did not count it".to_owned());
        Ok(self.attempts.append(row)?)
    }

    fn decided(&mut self, decided: &Decided) -> Result<(), Error> {
        let Some(decisions) = &mut self.decisions else { return Ok(()) };
        let job_id = decided.job.map(|job| self.workload.job(job).id.clone());
        let (time, name) = (decided.at, decided.name.to_owned());
        Ok(decisions.append(&DecisionRow { time, name, job_id, value: decided.value })?)
    }

    fn used(&mut self, used: &Used) -> Result<(), Error> {
        let Some(resources) = &mut self.resources else { return Ok(()) };
        let Used { at, node, cpu, io_wait, disk, net_in, net_out } = *used;
        let host = self.cluster.node(node).name.clone();
        Ok(resources.append(&ResourceRow { time: at, host, cpu, io_wait, disk, net_in, net_out })?)
    }

    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        self.ends[ended.job.index()] = Some(*ended);
        Ok(())
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
