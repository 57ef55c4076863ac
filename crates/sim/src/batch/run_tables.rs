//! Takes a replay down as a run: the tables `jobs` and `attempts` of a trace, in ms of the simulated clock, and on request what
//! the policy decided.
//!
//! Each start of an instance, or of a gang as a whole, is a row of `attempts`; a gang on several machines has no host.

use std::path::Path;

use resched_trace::model::{AttemptRow, DecisionRow, JobRow, Outcome, TaskKind};
use resched_trace::run::{FORMAT_VERSION, MARKER, RunInfo, RunTables};
use resched_trace::store::{StagedDir, TableWriter};

use super::machines::Machines;
use super::observer::{Ended, Observer};
use super::workload::{Job, Workload};
use crate::Error;
use crate::observer::{Decided, JobEnded};

/// Writes a run; it appears under its name on [`RunWriter::finish`], and not at all if dropped before.
///
/// Attempts stand in the order of their ends, jobs in the order of submission. The memory it needs does not grow with the
/// number of attempts.
pub struct RunWriter<'w> {
    dir: StagedDir,
    workload: &'w Workload,
    machines: &'w Machines,
    attempts: TableWriter<AttemptRow>,
    /// The row that is filled for each attempt, so that its texts are not made anew.
    row: AttemptRow,
    ends: Vec<Option<JobEnded>>,
    decisions: Option<TableWriter<DecisionRow>>,
}

impl<'w> RunWriter<'w> {
    /// Starts the run `target`, in place of an earlier one if there is one.
    ///
    /// # Errors
    /// [`Error::Trace`] if something other than a run is there, or it cannot be written.
    pub fn create(target: &Path, workload: &'w Workload, machines: &'w Machines) -> Result<Self, Error> {
        let dir = StagedDir::create(target, MARKER)?;
        let attempts = TableWriter::create(dir.path())?;
        let ends = vec![None; workload.jobs().len()];
        Ok(Self { dir, workload, machines, attempts, row: AttemptRow::default(), ends, decisions: None })
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
        info.write(self.dir.path())?;
        self.dir.commit()?;
        Ok(info)
    }
}

impl Observer for RunWriter<'_> {
    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        let row = &mut self.row;
        fill_attempt(row, self.workload, self.machines, ended);
        Ok(self.attempts.append(row)?)
    }

    fn decided(&mut self, decided: &Decided) -> Result<(), Error> {
        let Some(decisions) = &mut self.decisions else { return Ok(()) };
        Ok(decisions.append(&decision_row(self.workload, decided))?)
    }

    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        self.ends[ended.job.index()] = Some(*ended);
        Ok(())
    }
}

/// Keeps a replay in memory, in the rows that [`RunWriter`] writes to disk. Its size grows with the attempts.
pub struct RunRows<'w> {
    workload: &'w Workload,
    machines: &'w Machines,
    tables: RunTables,
    ends: Vec<Option<JobEnded>>,
}

impl<'w> RunRows<'w> {
    /// Starts without rows.
    pub fn new(workload: &'w Workload, machines: &'w Machines) -> Self {
        Self { workload, machines, tables: RunTables::default(), ends: vec![None; workload.jobs().len()] }
    }

    /// The jobs in order of submission, the attempts in the order of their ends, and what was decided.
    pub fn finish(self) -> RunTables {
        let jobs = self.workload.jobs().iter().zip(&self.ends).map(|(job, end)| job_row(job, *end)).collect();
        RunTables { jobs, ..self.tables }
    }
}

impl Observer for RunRows<'_> {
    fn ended(&mut self, ended: &Ended) -> Result<(), Error> {
        let mut row = AttemptRow::default();
        fill_attempt(&mut row, self.workload, self.machines, ended);
        self.tables.attempts.push(row);
        Ok(())
    }

    fn decided(&mut self, decided: &Decided) -> Result<(), Error> {
        self.tables.decisions.push(decision_row(self.workload, decided));
        Ok(())
    }

    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        self.ends[ended.job.index()] = Some(*ended);
        Ok(())
    }
}

fn job_row(job: &Job, end: Option<JobEnded>) -> JobRow {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    JobRow {
        job_id: job.id.clone(),
        name: job.name.clone(),
        user: some(&job.user),
        queue: some(&job.queue),
        group: some(&job.group),
        framework: job.framework.clone(),
        priority_number: Some(job.priority),
        scheduling_class: job.scheduling_class,
        submit: Some(job.submit),
        launch: end.and_then(|end| end.launch),
        finish: end.map(|end| end.finish),
        outcome: end.map_or(Outcome::Incomplete, |end| end.outcome),
        requested_time: job.requested_time,
        ..JobRow::default()
    }
}

/// Makes `row` that of an attempt; its texts are written over, not made anew.
fn fill_attempt(row: &mut AttemptRow, workload: &Workload, machines: &Machines, ended: &Ended) {
    row.job_id.clone_from(&workload.job(workload.task(ended.task).job).id);
    row.task_id.clear();
    row.task_id.push_str(workload.task_name(ended.task));
    row.kind = TaskKind::Other;
    row.attempt = i64::from(ended.attempt);
    row.queued = Some(ended.queued);
    row.start = Some(ended.start);
    row.finish = Some(ended.finish);
    row.outcome = ended.outcome;
    let node = ended.node.and_then(|node| machines.nodes().get(node.index()));
    write_over(&mut row.host, node.map(|node| node.name.as_str()));
    write_over(&mut row.rack, node.and_then(|node| node.rack.as_deref()));
}

/// Puts a text in the place of another, in its memory where there is one.
fn write_over(text: &mut Option<String>, by: Option<&str>) {
    match by {
        Some(by) => {
            let text = text.get_or_insert_default();
            text.clear();
            text.push_str(by);
        }
        None => *text = None,
    }
}

fn decision_row(workload: &Workload, decided: &Decided) -> DecisionRow {
    let job_id = decided.job.map(|job| workload.job(job).id.clone());
    DecisionRow { time: decided.at, name: decided.name.to_owned(), job_id, value: decided.value }
}
