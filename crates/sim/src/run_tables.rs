//! From what an engine reports to the rows of a run, a batch of columns at a time: the tables `jobs` and `attempts` of a trace, in ms of the simulated clock. On
//! request, also the decisions of the policy and why it passed over jobs, and under the cost model `contention` the use of the nodes.
//!
//! ```text
//! engine ──▶ Observer ──▶ Recorder (columns) ──▶ RowSink: files, memory, sums of metrics
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use arrow_array::RecordBatch;
use resched_tables::model::{AttemptRow, DecisionRow, JobRow, Outcome, ReasonRow, ResourceRow};
use resched_tables::run::{
    AttemptBatches, Attempts, FORMAT_VERSION, MARKER, Names, Optional, RowSink, RunAttempt, RunInfo,
};
use resched_tables::store::columns::Row;
use resched_tables::store::{BATCH_ROWS, Batch, Batches, Out, StagedDir, TableWriter, contents};

use crate::Error;
use crate::ids::{JobId, Ms};
use crate::observer::{Decided, JobEnded, PassedOver, Reports};

/// The source of the rows of a run: the workload and the machines of an engine.
pub trait RowSource: Names {
    /// The engine's report of the end of an attempt.
    type Ended;

    /// How many jobs there are.
    fn jobs(&self) -> usize;

    /// True if a job had not ended when its trace ended, so that nobody knows how it would have gone on.
    fn is_incomplete(&self, job: JobId) -> bool;

    /// Adds what is known of these jobs beside their outcomes and times to a batch of their table.
    fn add_jobs(&self, jobs: Range<usize>, batch: &mut Batch<'_>);

    /// The attempt whose end is reported.
    fn attempt(&self, ended: &Self::Ended) -> RunAttempt;
}

/// Records a replay: attempts in the order in which their ends are reported, jobs in the order of submission.
pub struct Recorder<'s, R> {
    pub(crate) source: R,
    sink: &'s mut dyn RowSink,
    /// Attempts that the sink has not taken yet.
    attempts: Attempts,
    ends: Ends,
    /// How many rows the sink took of `attempts`, `decisions`, `reasons` and `resources`.
    taken: [u64; 4],
}

/// How jobs ended, by their places.
struct Ends {
    /// From when on they could start, ms, or [`NEVER`] if that is their submission; empty as long as it is so for all.
    eligible: Vec<Ms>,
    /// When their first tasks were assigned, ms, or [`NEVER`].
    launch: Vec<Ms>,
    /// When they ended, ms, or [`NEVER`].
    finish: Vec<Ms>,
    outcome: Vec<Outcome>,
}

/// Stands for a time that did not come.
const NEVER: Ms = Ms::MIN;

impl Ends {
    fn new(jobs: usize) -> Self {
        let never = || vec![NEVER; jobs];
        Self { eligible: Vec::new(), launch: never(), finish: never(), outcome: vec![Outcome::Incomplete; jobs] }
    }

    fn note(&mut self, ended: &JobEnded) {
        let JobEnded { job, eligible, launch, finish, outcome } = *ended;
        let place = job.index();
        if let Some(eligible) = eligible {
            self.eligible.resize(self.finish.len(), NEVER);
            if let Some(of_place) = self.eligible.get_mut(place) {
                *of_place = eligible;
            }
        }
        if let (Some(of_launch), Some(of_finish), Some(of_outcome)) =
            (self.launch.get_mut(place), self.finish.get_mut(place), self.outcome.get_mut(place))
        {
            (*of_launch, *of_finish, *of_outcome) = (launch.unwrap_or(NEVER), finish, outcome);
        }
    }
}

fn times(of: &[Ms], jobs: Range<usize>) -> impl Iterator<Item = Option<Ms>> {
    of.get(jobs).unwrap_or_default().iter().map(|time| (*time != NEVER).then_some(*time))
}

impl<'s, R: RowSource> Recorder<'s, R> {
    pub(crate) fn of(source: R, sink: &'s mut dyn RowSink) -> Self {
        let ends = Ends::new(source.jobs());
        Self { source, sink, attempts: Attempts::default(), ends, taken: [0; 4] }
    }

    pub(crate) fn take_ended(&mut self, ended: &R::Ended) -> Result<(), Error> {
        self.take_attempt(self.source.attempt(ended))
    }

    /// True if the sink wants the nodes of attempts on several.
    pub(crate) fn keeps_places(&self) -> bool {
        self.sink.keeps_places()
    }

    /// As [`Self::take_ended`], for an attempt on several nodes, each with the number of its instances there.
    pub(crate) fn take_ended_on(&mut self, ended: &R::Ended, places: Box<[(u32, u32)]>) -> Result<(), Error> {
        self.attempts.push_on(self.source.attempt(ended), places);
        if self.attempts.is_full() { self.pass_attempts() } else { Ok(()) }
    }

    pub(crate) fn take_attempt(&mut self, attempt: RunAttempt) -> Result<(), Error> {
        self.attempts.push(attempt);
        if self.attempts.is_full() { self.pass_attempts() } else { Ok(()) }
    }

    /// Passes the attempts that were kept to the sink.
    fn pass_attempts(&mut self) -> Result<(), Error> {
        self.taken[0] += self.attempts.len() as u64;
        self.sink.attempts(&self.attempts, &self.source)?;
        self.attempts.clear();
        Ok(())
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

    /// Passes these jobs, at most a batch, to the sink.
    fn pass_jobs(&mut self, jobs: Range<usize>, batches: &Batches<JobRow>) -> Result<(), Error> {
        let mut batch = batches.batch(jobs.len());
        self.source.add_jobs(jobs.clone(), &mut batch);
        if !self.ends.eligible.is_empty() {
            batch.set_numbers("eligible", &times(&self.ends.eligible, jobs.clone()).collect());
        }
        batch.set_numbers("launch", &times(&self.ends.launch, jobs.clone()).collect());
        batch.set_numbers("finish", &times(&self.ends.finish, jobs.clone()).collect());
        let outcomes = jobs.clone().zip(self.ends.outcome.get(jobs).unwrap_or_default());
        batch.set_texts("outcome", outcomes.map(|(job, of_tasks)| self.outcome(JobId::at(job), *of_tasks).as_str()));
        let batch = batch.finish().map_err(|error| not_written::<JobRow>(&error))?;
        Ok(self.sink.jobs(&batch)?)
    }

    /// Takes the jobs. Returns the number of rows of each table.
    pub(crate) fn close(&mut self) -> Result<BTreeMap<String, u64>, Error> {
        if !self.attempts.is_empty() {
            self.pass_attempts()?;
        }
        let jobs = self.source.jobs();
        let batches = Batches::default();
        for first in (0..jobs).step_by(BATCH_ROWS) {
            self.pass_jobs(first..jobs.min(first + BATCH_ROWS), &batches)?;
        }
        let [attempts, decisions, reasons, resources] = self.taken;
        let counts = [
            (JobRow::TABLE, jobs as u64),
            (AttemptRow::TABLE, attempts),
            (DecisionRow::TABLE, decisions),
            (ResourceRow::TABLE, resources),
        ];
        let counts = counts.into_iter().chain(self.wants_reasons().then_some((ReasonRow::TABLE, reasons)));
        Ok(counts.map(|(table, rows)| (table.to_owned(), rows)).collect())
    }
}

/// The error of a batch that cannot be made.
fn not_written<R: Row>(error: &impl ToString) -> resched_tables::Error {
    resched_tables::Error::Table { path: R::TABLE.into(), action: "written", message: error.to_string() }
}

/// A text of a row. An empty text is unknown.
pub(crate) fn known(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

impl<R: RowSource> Reports for Recorder<'_, R> {
    fn job_ended(&mut self, ended: &JobEnded) -> Result<(), Error> {
        self.ends.note(ended);
        Ok(())
    }

    fn decided(&mut self, decided: &Decided) -> Result<(), Error> {
        if !self.sink.keeps(Optional::Decisions) {
            return Ok(());
        }
        self.taken[1] += 1;
        Ok(self.sink.decision(&DecisionRow {
            time: decided.at,
            name: decided.name.to_owned(),
            job_id: decided.job.map(|job| self.source.job_id(job.index() as u32).to_owned()),
            value: decided.value,
            other_job: decided.other.map(|job| self.source.job_id(job.index() as u32).to_owned()),
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
            job_id: passed.job.map(|job| self.source.job_id(job.index() as u32).to_owned()),
            kind: passed.kind,
            reason: passed.reason,
            other_job: passed.other.map(|job| self.source.job_id(job.index() as u32).to_owned()),
        })?)
    }
}

/// The tables of a run on disk. The memory that they need does not grow with the number of attempts. Another sink gets their rows, too.
pub struct Files<'s> {
    dir: StagedDir,
    jobs: TableWriter<JobRow>,
    attempts: TableWriter<AttemptRow>,
    batches: AttemptBatches,
    decisions: Option<TableWriter<DecisionRow>>,
    reasons: Option<TableWriter<ReasonRow>>,
    resources: Option<TableWriter<ResourceRow>>,
    also: &'s mut dyn RowSink,
}

impl<'s> Files<'s> {
    /// Starts the run `out` with these tables beside `jobs` and `attempts`. It replaces an earlier run of that name, and appears under
    /// its name on [`Files::finish`]. If you drop it before, nothing appears. `also` gets all rows, too.
    ///
    /// # Errors
    /// [`Error::Trace`] if something other than a run is there, or it cannot be written.
    pub fn create(out: impl Into<Out>, tables: &[Optional], also: &'s mut dyn RowSink) -> Result<Self, Error> {
        let dir = StagedDir::create(out, MARKER)?;
        let wants = |table| tables.contains(&table);
        Ok(Self {
            jobs: TableWriter::create(dir.path())?,
            attempts: TableWriter::create(dir.path())?,
            batches: AttemptBatches::default(),
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

impl RowSink for Files<'_> {
    fn attempts(&mut self, rows: &Attempts, names: &dyn Names) -> Result<(), resched_tables::Error> {
        self.also.attempts(rows, names)?;
        let batch = self.batches.batch(rows, names).map_err(|error| not_written::<AttemptRow>(&error))?;
        self.attempts.write(&batch)
    }

    fn jobs(&mut self, rows: &RecordBatch) -> Result<(), resched_tables::Error> {
        self.also.jobs(rows)?;
        self.jobs.write(rows)
    }

    fn keeps(&self, table: Optional) -> bool {
        match table {
            Optional::Decisions => self.decisions.is_some(),
            Optional::Reasons => self.reasons.is_some(),
            Optional::Resources => self.resources.is_some(),
        }
    }

    fn keeps_places(&self) -> bool {
        true
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
