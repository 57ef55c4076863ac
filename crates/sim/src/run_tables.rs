//! Records a replay as a run: the tables `jobs` and `attempts` of a trace, in ms of the simulated clock. On request, it
//! also records the decisions of the policy. Under the cost model `contention`, it records the use of the nodes. The
//! tables are on disk with `run.json` beside them, or in memory.

use resched_trace::model::{AttemptRow, DecisionRow, JobRow, Outcome, ResourceRow};
use resched_trace::run::{FORMAT_VERSION, MARKER, RunInfo, RunTables};
use resched_trace::store::{Out, StagedDir, TableWriter, contents};

use crate::Error;
use crate::ids::JobId;
use crate::observer::{Decided, JobEnded};

/// The source of the rows of a run: the workload and the machines of an engine.
pub trait RowSource {
    /// The engine's report of the end of an attempt.
    type Ended;

    /// How many jobs there are.
    fn jobs(&self) -> usize;

    /// The id of a job.
    fn job_id(&self, job: JobId) -> &str;

    /// Whether a job had not ended when its trace ended, so that nobody knows how it would have gone on.
    fn is_incomplete(&self, job: JobId) -> bool;

    /// The row of a job, without its outcome and times.
    fn job_row(&self, job: JobId) -> JobRow;

    /// Fills `row` for an attempt. It overwrites the texts in place, without new memory.
    fn fill_attempt(&self, row: &mut AttemptRow, ended: &Self::Ended);
}

/// A text of a row. An empty text is unknown.
pub(crate) fn known(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The place that rows go to.
pub trait RowSink {
    /// Takes an attempt.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    fn attempt(&mut self, row: &AttemptRow) -> Result<(), Error>;

    /// Takes a decision, if decisions are kept.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    fn decision(&mut self, row: impl FnOnce() -> DecisionRow) -> Result<(), Error>;

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
        self.sink.attempt(&self.row)
    }

    pub(crate) fn take_decision(&mut self, decided: &Decided) -> Result<(), Error> {
        self.sink.decision(|| DecisionRow {
            time: decided.at,
            name: decided.name.to_owned(),
            job_id: decided.job.map(|job| self.source.job_id(job).to_owned()),
            value: decided.value,
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

    fn job_rows(&self) -> impl Iterator<Item = JobRow> {
        (0..).zip(&self.ends).map(|(job, end)| JobRow {
            launch: end.and_then(|end| end.launch),
            finish: end.map(|end| end.finish),
            outcome: self.outcome(JobId(job), end.map_or(Outcome::Incomplete, |end| end.outcome)),
            ..self.source.job_row(JobId(job))
        })
    }
}

/// The tables of a run on disk. The memory that they need does not grow with the number of attempts.
pub struct Files {
    dir: StagedDir,
    attempts: TableWriter<AttemptRow>,
    decisions: Option<TableWriter<DecisionRow>>,
    resources: Option<TableWriter<ResourceRow>>,
}

impl RowSink for Files {
    fn attempt(&mut self, row: &AttemptRow) -> Result<(), Error> {
        Ok(self.attempts.append(row)?)
    }

    fn decision(&mut self, row: impl FnOnce() -> DecisionRow) -> Result<(), Error> {
        let Some(decisions) = &mut self.decisions else { return Ok(()) };
        Ok(decisions.append(&row())?)
    }

    fn resource(&mut self, row: impl FnOnce() -> ResourceRow) -> Result<(), Error> {
        let Some(resources) = &mut self.resources else { return Ok(()) };
        Ok(resources.append(&row())?)
    }
}

/// The tables of a run in memory. Their size grows with the attempts. Use it for many small replays that need no
/// folder.
impl RowSink for RunTables {
    fn attempt(&mut self, row: &AttemptRow) -> Result<(), Error> {
        self.attempts.push(row.clone());
        Ok(())
    }

    fn decision(&mut self, row: impl FnOnce() -> DecisionRow) -> Result<(), Error> {
        self.decisions.push(row());
        Ok(())
    }

    fn resource(&mut self, row: impl FnOnce() -> ResourceRow) -> Result<(), Error> {
        self.resources.push(row());
        Ok(())
    }
}

impl<S: RowSource> Recorder<S, Files> {
    /// Starts the run `out`, which replaces an earlier run of that name. The run appears under its name on
    /// [`Recorder::finish`]. If you drop the recorder before, nothing appears.
    pub(crate) fn start(out: impl Into<Out>, source: S) -> Result<Self, Error> {
        let dir = StagedDir::create(out, MARKER)?;
        let attempts = TableWriter::create(dir.path())?;
        Ok(Self::of(source, Files { dir, attempts, decisions: None, resources: None }))
    }

    /// Also writes the table `decisions`.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    pub fn with_decisions(mut self) -> Result<Self, Error> {
        self.sink.decisions = Some(TableWriter::create(self.sink.dir.path())?);
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
    pub fn finish(self, mut info: RunInfo) -> Result<RunInfo, Error> {
        let mut jobs = TableWriter::<JobRow>::create(self.sink.dir.path())?;
        for row in self.job_rows() {
            jobs.append(&row)?;
        }
        let Files { dir, attempts, decisions, resources } = self.sink;
        info.format_version = FORMAT_VERSION;
        info.written_by = concat!("resched ", env!("CARGO_PKG_VERSION")).to_owned();
        let mut tables = vec![jobs.finish()?, attempts.finish()?];
        if let Some(decisions) = decisions {
            tables.push(decisions.finish()?);
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

impl<S: RowSource> Recorder<S, RunTables> {
    /// The tables.
    pub fn finish(self) -> RunTables {
        let jobs = self.job_rows().collect();
        RunTables { jobs, ..self.sink }
    }
}
