//! From what an engine reports to the rows of a run: the tables `jobs` and `attempts` of a trace, in ms of the simulated clock. On
//! request, also the decisions of the policy and why it passed over jobs, and under the cost model `contention` the use of the nodes.
//!
//! ```text
//! engine ──▶ Observer ──▶ Recorder (rows) ──▶ RowSink: files, memory, sums of metrics
//! ```

use std::collections::BTreeMap;

use resched_tables::model::{AttemptRow, DecisionRow, JobRow, Outcome, ReasonRow, ResourceRow};
use resched_tables::run::{FORMAT_VERSION, MARKER, Optional, RowSink, RunInfo};
use resched_tables::store::columns::Row;
use resched_tables::store::{Out, StagedDir, TableWriter, contents};

use crate::Error;
use crate::ids::JobId;
use crate::observer::{Decided, JobEnded, PassedOver, Reports};

/// The source of the rows of a run: the workload and the machines of an engine.
pub trait RowSource {
    /// The engine's report of the end of an attempt.
    type Ended;

    /// How many jobs there are.
    fn jobs(&self) -> usize;

    /// The job of an attempt.
    fn job_of(&self, ended: &Self::Ended) -> JobId;

    /// The id of a job.
    fn job_id(&self, job: JobId) -> &str;

    /// Whether a job had not ended when its trace ended, so that nobody knows how it would have gone on.
    fn is_incomplete(&self, job: JobId) -> bool;

    /// The row of a job, without its outcome and times.
    fn job_row(&self, job: JobId) -> JobRow;

    /// The row of what ends with a job and held a place without being an attempt at a task.
    fn job_ended(&mut self, _ended: &JobEnded) -> Option<AttemptRow> {
        None
    }

    /// The rows of what holds a place without being an attempt at a task, and runs when the replay ends.
    fn running(&mut self) -> Vec<(JobId, AttemptRow)> {
        Vec::new()
    }

    /// Fills `row` for an attempt. It overwrites the texts in place, without new memory.
    fn fill_attempt(&self, row: &mut AttemptRow, ended: &Self::Ended);
}

/// Records a replay: attempts in the order in which their ends are reported, jobs in the order of submission.
pub struct Recorder<R, S> {
    pub(crate) source: R,
    sink: S,
    /// The row that is filled for each attempt, so that its texts are not made anew.
    row: AttemptRow,
    ends: Vec<Option<JobEnded>>,
    /// How many rows the sink took of `attempts`, `decisions`, `reasons` and `resources`.
    taken: [u64; 4],
}

impl<R: RowSource, S: RowSink> Recorder<R, S> {
    pub(crate) fn of(source: R, sink: S) -> Self {
        let ends = vec![None; source.jobs()];
        Self { source, sink, row: AttemptRow::default(), ends, taken: [0; 4] }
    }

    pub(crate) fn take_attempt(&mut self, ended: &R::Ended) -> Result<(), Error> {
        self.source.fill_attempt(&mut self.row, ended);
        self.taken[0] += 1;
        Ok(self.sink.attempt(self.source.job_of(ended).index(), &self.row)?)
    }

    /// Takes the row of what holds a place without being an attempt at a task.
    pub(crate) fn take_row(&mut self, job: JobId, row: &AttemptRow) -> Result<(), Error> {
        self.taken[0] += 1;
        Ok(self.sink.attempt(job.index(), row)?)
    }

    pub(crate) fn take_resource(&mut self, row: impl FnOnce(&R) -> ResourceRow) -> Result<(), Error> {
        if !self.sink.keeps(Optional::Resources) {
            return Ok(());
        }
        self.taken[3] += 1;
        Ok(self.sink.resource(&row(&self.source))?)
    }

    /// The outcome of a job whose tasks that were replayed ended so.
    fn outcome(&self, job: JobId, of_tasks: Outcome) -> Outcome {
        if of_tasks == Outcome::Success && self.source.is_incomplete(job) { Outcome::Incomplete } else { of_tasks }
    }

    fn job_row(&self, place: usize) -> JobRow {
        let (job, end) = (JobId::at(place), self.ends.get(place).copied().flatten());
        JobRow {
            launch: end.and_then(|end| end.launch),
            finish: end.map(|end| end.finish),
            outcome: self.outcome(job, end.map_or(Outcome::Incomplete, |end| end.outcome)),
            ..self.source.job_row(job)
        }
    }

    /// Takes what still runs, and the jobs. Returns the number of rows of each table.
    pub(crate) fn close(&mut self) -> Result<BTreeMap<String, u64>, Error> {
        for (job, row) in self.source.running() {
            self.take_row(job, &row)?;
        }
        for job in 0..self.ends.len() {
            let row = self.job_row(job);
            self.sink.job(&row)?;
        }
        let [attempts, decisions, reasons, resources] = self.taken;
        let jobs = self.ends.len() as u64;
        let counts = [
            (JobRow::TABLE, jobs),
            (AttemptRow::TABLE, attempts),
            (DecisionRow::TABLE, decisions),
            (ResourceRow::TABLE, resources),
        ];
        let counts = counts.into_iter().chain(self.wants_reasons().then_some((ReasonRow::TABLE, reasons)));
        Ok(counts.map(|(table, rows)| (table.to_owned(), rows)).collect())
    }
}

/// A text of a row. An empty text is unknown.
pub(crate) fn known(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

impl<R: RowSource, S: RowSink> Reports for Recorder<R, S> {
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        if let Some(end) = self.ends.get_mut(ended.job.index()) {
            *end = Some(*ended);
        }
        match self.source.job_ended(ended) {
            Some(row) => self.take_row(ended.job, &row),
            None => Ok(()),
        }
    }

    fn decided(&mut self, decided: &Decided) -> Result<(), Error> {
        if !self.sink.keeps(Optional::Decisions) {
            return Ok(());
        }
        self.taken[1] += 1;
        Ok(self.sink.decision(&DecisionRow {
            time: decided.at,
            name: decided.name.to_owned(),
            job_id: decided.job.map(|job| self.source.job_id(job).to_owned()),
            value: decided.value,
        })?)
    }

    fn wants_reasons(&self) -> bool {
        self.sink.keeps(Optional::Reasons)
    }

    fn passed_over(&mut self, passed: &PassedOver) -> Result<(), Error> {
        if !self.wants_reasons() {
            return Ok(());
        }
        self.taken[2] += 1;
        Ok(self.sink.reason(&ReasonRow {
            time: passed.at,
            job_id: passed.job.map(|job| self.source.job_id(job).to_owned()),
            kind: passed.kind,
            reason: passed.reason,
            other_job: passed.other.map(|job| self.source.job_id(job).to_owned()),
        })?)
    }
}

/// The tables of a run on disk. The memory that they need does not grow with the number of attempts. Another sink gets their rows, too.
pub struct Files<S> {
    dir: StagedDir,
    jobs: TableWriter<JobRow>,
    attempts: TableWriter<AttemptRow>,
    decisions: Option<TableWriter<DecisionRow>>,
    reasons: Option<TableWriter<ReasonRow>>,
    resources: Option<TableWriter<ResourceRow>>,
    also: S,
}

impl<S: RowSink> Files<S> {
    /// Starts the run `out` with these tables beside `jobs` and `attempts`. It replaces an earlier run of that name, and appears under
    /// its name on [`Files::finish`]. If you drop it before, nothing appears. `also` gets all rows, too.
    ///
    /// # Errors
    /// [`Error::Trace`] if something other than a run is there, or it cannot be written.
    pub fn create(out: impl Into<Out>, tables: &[Optional], also: S) -> Result<Self, Error> {
        let dir = StagedDir::create(out, MARKER)?;
        let wants = |table| tables.contains(&table);
        Ok(Self {
            jobs: TableWriter::create(dir.path())?,
            attempts: TableWriter::create(dir.path())?,
            decisions: wants(Optional::Decisions).then(|| TableWriter::create(dir.path())).transpose()?,
            reasons: wants(Optional::Reasons).then(|| TableWriter::create(dir.path())).transpose()?,
            resources: wants(Optional::Resources).then(|| TableWriter::create(dir.path())).transpose()?,
            also,
            dir,
        })
    }

    /// Ends the run and gives it its name. `info` describes the replay. The version and the rows are filled in.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written; nothing is left behind then.
    pub fn finish(self, mut info: RunInfo) -> Result<RunInfo, Error> {
        let Self { dir, jobs, attempts, decisions, reasons, resources, .. } = self;
        info.format_version = FORMAT_VERSION;
        info.written_by = concat!("resched ", env!("CARGO_PKG_VERSION")).to_owned();
        let mut tables = vec![jobs.finish()?, attempts.finish()?];
        if let Some(decisions) = decisions {
            tables.push(decisions.finish()?);
        }
        if let Some(reasons) = reasons {
            tables.push(reasons.finish()?);
        }
        if let Some(resources) = resources {
            tables.push(resources.finish()?);
        }
        (info.rows, info.files) = contents(tables);
        info.write(dir.path())?;
        dir.commit()?;
        Ok(info)
    }
}

impl<S: RowSink> RowSink for Files<S> {
    fn attempt(&mut self, job: usize, row: &AttemptRow) -> Result<(), resched_tables::Error> {
        self.also.attempt(job, row)?;
        self.attempts.append(row)
    }

    fn job(&mut self, row: &JobRow) -> Result<(), resched_tables::Error> {
        self.also.job(row)?;
        self.jobs.append(row)
    }

    fn keeps(&self, table: Optional) -> bool {
        match table {
            Optional::Decisions => self.decisions.is_some(),
            Optional::Reasons => self.reasons.is_some(),
            Optional::Resources => self.resources.is_some(),
        }
    }

    fn decision(&mut self, row: &DecisionRow) -> Result<(), resched_tables::Error> {
        self.also.decision(row)?;
        self.decisions.as_mut().map_or(Ok(()), |table| table.append(row))
    }

    fn reason(&mut self, row: &ReasonRow) -> Result<(), resched_tables::Error> {
        self.also.reason(row)?;
        self.reasons.as_mut().map_or(Ok(()), |table| table.append(row))
    }

    fn resource(&mut self, row: &ResourceRow) -> Result<(), resched_tables::Error> {
        self.also.resource(row)?;
        self.resources.as_mut().map_or(Ok(()), |table| table.append(row))
    }
}
