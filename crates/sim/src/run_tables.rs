//! Records a replay as a run: the tables `jobs` and `attempts` of a trace, in ms of the simulated clock. On request, it
//! also records the decisions of the policy and why it passed over jobs. Under the cost model `contention`, it records the use of the nodes. The
//! tables are on disk with `run.json` beside them, or go to a [`RowReader`] only.

use std::collections::BTreeMap;

use resched_tables::model::{AttemptRow, DecisionRow, JobRow, Outcome, ReasonRow, ResourceRow};
use resched_tables::run::{FORMAT_VERSION, MARKER, RowReader, RunInfo};
use resched_tables::store::{Out, StagedDir, TableWriter, contents};

use crate::Error;
use crate::ids::JobId;
use crate::observer::{Decided, JobEnded, PassedOver};

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

    /// The rows of what holds a place without being an attempt at a task, and runs when the replay ends.
    fn running(&mut self) -> Vec<(JobId, AttemptRow)> {
        Vec::new()
    }

    /// Fills `row` for an attempt. It overwrites the texts in place, without new memory.
    fn fill_attempt(&self, row: &mut AttemptRow, ended: &Self::Ended);
}

/// A text of a row. An empty text is unknown.
pub(crate) fn known(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The place that rows go to.
pub trait RowSink {
    /// Takes an attempt of a job.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    fn attempt(&mut self, job: JobId, row: &AttemptRow) -> Result<(), Error>;

    /// Takes a decision, if decisions are kept.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    fn decision(&mut self, row: impl FnOnce() -> DecisionRow) -> Result<(), Error>;

    /// Whether reasons are kept.
    fn wants_reasons(&self) -> bool;

    /// Takes a reason, if reasons are kept.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    fn reason(&mut self, row: impl FnOnce() -> ReasonRow) -> Result<(), Error>;

    /// Takes the use of a node, if that is kept.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    fn resource(&mut self, row: impl FnOnce() -> ResourceRow) -> Result<(), Error>;
}

/// Records a replay: attempts in the order in which their ends are reported, jobs in the order of submission.
pub struct Recorder<S, K> {
    pub(crate) source: S,
    pub(crate) sink: K,
    /// The row that is filled for each attempt, so that its texts are not made anew.
    row: AttemptRow,
    ends: Vec<Option<JobEnded>>,
}

impl<S: RowSource, K: RowSink> Recorder<S, K> {
    pub(crate) fn of(source: S, sink: K) -> Self {
        let ends = vec![None; source.jobs()];
        Self { source, sink, row: AttemptRow::default(), ends }
    }

    pub(crate) fn take_attempt(&mut self, ended: &S::Ended) -> Result<(), Error> {
        self.source.fill_attempt(&mut self.row, ended);
        self.sink.attempt(self.source.job_of(ended), &self.row)
    }

    /// Takes what still runs.
    fn take_rest(&mut self) -> Result<(), Error> {
        for (job, row) in self.source.running() {
            self.sink.attempt(job, &row)?;
        }
        Ok(())
    }

    pub(crate) fn take_decision(&mut self, decided: &Decided) -> Result<(), Error> {
        self.sink.decision(|| DecisionRow {
            time: decided.at,
            name: decided.name.to_owned(),
            job_id: decided.job.map(|job| self.source.job_id(job).to_owned()),
            value: decided.value,
        })
    }

    pub(crate) fn take_reason(&mut self, passed: &PassedOver) -> Result<(), Error> {
        self.sink.reason(|| ReasonRow {
            time: passed.at,
            job_id: passed.job.map(|job| self.source.job_id(job).to_owned()),
            kind: passed.kind,
            reason: passed.reason,
            other_job: passed.other.map(|job| self.source.job_id(job).to_owned()),
        })
    }

    pub(crate) fn take_job_end(&mut self, ended: &JobEnded) {
        if let Some(end) = self.ends.get_mut(ended.job.index()) {
            *end = Some(*ended);
        }
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
}

/// The tables of a run on disk. The memory that they need does not grow with the number of attempts. The reader gets their rows, too.
pub struct Files<R> {
    dir: StagedDir,
    attempts: TableWriter<AttemptRow>,
    decisions: Option<TableWriter<DecisionRow>>,
    reasons: Option<TableWriter<ReasonRow>>,
    resources: Option<TableWriter<ResourceRow>>,
    reader: R,
}

impl<R: RowReader> RowSink for Files<R> {
    fn attempt(&mut self, job: JobId, row: &AttemptRow) -> Result<(), Error> {
        self.reader.attempt(job.index(), row);
        Ok(self.attempts.append(row)?)
    }

    fn decision(&mut self, row: impl FnOnce() -> DecisionRow) -> Result<(), Error> {
        let Some(decisions) = &mut self.decisions else { return Ok(()) };
        let row = row();
        self.reader.decision(&row);
        Ok(decisions.append(&row)?)
    }

    fn wants_reasons(&self) -> bool {
        self.reasons.is_some()
    }

    fn reason(&mut self, row: impl FnOnce() -> ReasonRow) -> Result<(), Error> {
        let Some(reasons) = &mut self.reasons else { return Ok(()) };
        let row = row();
        self.reader.reason(&row);
        Ok(reasons.append(&row)?)
    }

    fn resource(&mut self, row: impl FnOnce() -> ResourceRow) -> Result<(), Error> {
        let Some(resources) = &mut self.resources else { return Ok(()) };
        let row = row();
        self.reader.resource(&row);
        Ok(resources.append(&row)?)
    }
}

/// The rows of a run for a reader only, with how many there are of each table.
pub struct Read<R> {
    reader: R,
    attempts: u64,
    decisions: u64,
    reasons: u64,
    resources: u64,
}

impl<R: RowReader> RowSink for Read<R> {
    fn attempt(&mut self, job: JobId, row: &AttemptRow) -> Result<(), Error> {
        self.attempts += 1;
        self.reader.attempt(job.index(), row);
        Ok(())
    }

    fn decision(&mut self, row: impl FnOnce() -> DecisionRow) -> Result<(), Error> {
        self.decisions += 1;
        self.reader.decision(&row());
        Ok(())
    }

    fn wants_reasons(&self) -> bool {
        self.reader.wants_reasons()
    }

    fn reason(&mut self, row: impl FnOnce() -> ReasonRow) -> Result<(), Error> {
        self.reasons += 1;
        self.reader.reason(&row());
        Ok(())
    }

    fn resource(&mut self, row: impl FnOnce() -> ResourceRow) -> Result<(), Error> {
        self.resources += 1;
        self.reader.resource(&row());
        Ok(())
    }
}

impl<S: RowSource, R: RowReader> Recorder<S, Files<R>> {
    /// Starts the run `out`, which replaces an earlier run of that name. The run appears under its name on
    /// [`Recorder::finish`]. If you drop the recorder before, nothing appears.
    pub(crate) fn start(out: impl Into<Out>, source: S, reader: R) -> Result<Self, Error> {
        let dir = StagedDir::create(out, MARKER)?;
        let attempts = TableWriter::create(dir.path())?;
        Ok(Self::of(source, Files { dir, attempts, decisions: None, reasons: None, resources: None, reader }))
    }

    /// Also writes the tables `decisions` and `reasons`.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    pub fn with_decisions(mut self) -> Result<Self, Error> {
        self.sink.decisions = Some(TableWriter::create(self.sink.dir.path())?);
        self.sink.reasons = Some(TableWriter::create(self.sink.dir.path())?);
        Ok(self)
    }

    /// Also writes the table `resources`.
    pub(crate) fn with_resources(mut self) -> Result<Self, Error> {
        self.sink.resources = Some(TableWriter::create(self.sink.dir.path())?);
        Ok(self)
    }

    /// Ends the run and gives it its name. `info` describes the replay. The version and the rows are filled in.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written; nothing is left behind then.
    pub fn finish(mut self, mut info: RunInfo) -> Result<RunInfo, Error> {
        self.take_rest()?;
        let mut jobs = TableWriter::<JobRow>::create(self.sink.dir.path())?;
        for job in 0..self.ends.len() {
            let row = self.job_row(job);
            self.sink.reader.job(&row);
            jobs.append(&row)?;
        }
        let Files { dir, attempts, decisions, reasons, resources, .. } = self.sink;
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

impl<S: RowSource, R: RowReader> Recorder<S, Read<R>> {
    /// Starts without rows.
    pub(crate) fn reading(source: S, reader: R) -> Self {
        Self::of(source, Read { reader, attempts: 0, decisions: 0, reasons: 0, resources: 0 })
    }

    /// Ends the run. Returns the number of rows of each table.
    ///
    /// # Errors
    /// None: a reader takes every row.
    pub fn finish(mut self) -> Result<BTreeMap<String, u64>, Error> {
        self.take_rest()?;
        for job in 0..self.ends.len() {
            let row = self.job_row(job);
            self.sink.reader.job(&row);
        }
        let has_reasons = self.sink.wants_reasons();
        let Read { attempts, decisions, reasons, resources, .. } = self.sink;
        let jobs = self.ends.len() as u64;
        let counts = [("jobs", jobs), ("attempts", attempts), ("decisions", decisions), ("resources", resources)];
        let counts = counts.into_iter().chain(has_reasons.then_some(("reasons", reasons)));
        Ok(counts.map(|(table, rows)| (table.to_owned(), rows)).collect())
    }
}
