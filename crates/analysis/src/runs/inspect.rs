//! What a trace holds: counts, time span, what was skipped, oddities.
//!
//! Tables are streamed batch by batch and never held in memory. Tasks and attempts are in the same order, so one pass over both
//! finds which attempts belong to which task.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use resched_tables::demand::gpus;
use resched_tables::model::{AttemptRow, JobRow, Locality, NodeRow, Outcome, SplitRow, TaskKind, TaskRow};
use resched_tables::named::amounts;
use resched_tables::reader::{Cursor, View};
use resched_tables::store::columns::Row;
use resched_tables::store::{Amounts, Source, System, TimeZero, Trace};
use serde::Serialize;

use crate::Error;

/// Tasks by kind; all are always listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct KindCounts {
    /// Map tasks.
    pub map: u64,
    /// Reduce tasks.
    pub reduce: u64,
    /// Set-up tasks.
    pub setup: u64,
    /// Clean-up tasks.
    pub cleanup: u64,
    /// Application masters of YARN, one for each job with a known one.
    pub master: u64,
    /// Others.
    pub other: u64,
}

/// Successful map attempts by distance from their input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct InputDistance {
    /// On a node that holds the input.
    pub node: u64,
    /// In a rack of such a node.
    pub rack: u64,
    /// Elsewhere.
    pub off: u64,
    /// The places of the input are not known.
    pub unknown: u64,
}

/// How many jobs were submitted over time. Submissions far outside of the trace are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Arrivals {
    /// When the first part begins, ms.
    pub from: i64,
    /// How long a part is, ms.
    pub step_ms: i64,
    /// The jobs of each part; empty without a submission.
    pub counts: Vec<u64>,
}

impl Arrivals {
    /// The most parts.
    const PARTS: i64 = 60;

    fn of(sorted: &[i64], usual: Usual) -> Self {
        let inside = |time: &&i64| (usual.first..=usual.last).contains(*time);
        let submits = || sorted.iter().filter(inside).copied();
        let (Some(from), Some(last)) = (submits().next(), submits().next_back()) else { return Self::default() };
        let step_ms = last.saturating_sub(from) / Self::PARTS + 1;
        let place = |time: i64| usize::try_from((time - from) / step_ms).unwrap_or(0);
        let mut counts = vec![0; place(last) + 1];
        submits().for_each(|time| counts[place(time)] += 1);
        Self { from, step_ms, counts }
    }
}

/// How many numbers lie between a power of two and the next one, by its exponent. Zero counts as one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Powers(pub BTreeMap<u32, u64>);

impl Powers {
    fn add(&mut self, number: u64) {
        *self.0.entry(number.max(1).ilog2()).or_default() += 1;
    }
}

/// How many jobs ask for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Asks {
    /// For CPUs: those whose CPUs are known.
    pub cpus: u64,
    /// For GPUs.
    pub gpus: u64,
    /// For more than one machine.
    pub several_nodes: u64,
    /// For a time limit.
    pub limit: u64,
}

/// What `inspect` reports about a trace. Times are in ms since the zero that `time_zero` names, sizes in bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// Jobs.
    pub jobs: u64,
    /// When they were submitted.
    pub arrivals: Arrivals,
    /// How many tasks they have. Jobs without tasks are left out.
    pub job_tasks: Powers,
    /// How many CPUs they ask for. Jobs of which that is unknown are left out.
    pub job_cpus: Powers,
    /// What they ask for.
    pub asks: Asks,
    /// How long tasks ran, ms: from their own start to their own finish.
    pub task_runs: Powers,
    /// Jobs by outcome.
    pub job_outcome: BTreeMap<String, u64>,
    /// Tasks by kind.
    pub tasks: KindCounts,
    /// Attempts by kind and outcome, as in `map/SUCCESS`.
    pub attempts: BTreeMap<String, u64>,
    /// Successful map attempts by distance from their input.
    pub locality: InputDistance,
    /// Rows of the splits table.
    pub splits: u64,
    /// Distinct machines.
    pub nodes: u64,
    /// First submission.
    pub min_submit: Option<i64>,
    /// Last finish of a job.
    pub max_finish: Option<i64>,
    /// `max_finish − min_submit`.
    pub span_ms: Option<i64>,
    /// The known bytes that maps read: the sum of the column `input_bytes` of the jobs table.
    pub map_input_bytes: u64,
    /// What ingest left out or mended, by cause.
    pub skipped: BTreeMap<String, u64>,
    /// Columns that a rule filled, `table.column` to the rule.
    pub made: BTreeMap<String, String>,
    /// The tables that the sources lack, and what ingest did about each.
    pub absent: BTreeMap<String, String>,
    /// How many rows of such a column a rule filled, if not all.
    pub made_rows: BTreeMap<String, u64>,
    /// What ran the jobs, if the sources say it.
    pub system: Option<System>,
    /// What the amounts of processor and memory are.
    pub amounts: Amounts,
    /// Files in no known format, which were left out: their paths, or the first of them.
    pub unrecognised: Vec<String>,
    /// The zero of times.
    pub time_zero: TimeZero,
    /// The source files.
    pub sources: Vec<Source>,
    /// Oddities, which may be true, by kind. Kinds that do not occur are left out.
    pub oddities: BTreeMap<String, u64>,
}

/// Inspects `trace`.
///
/// # Errors
/// [`Error::Trace`] if a table is missing or damaged.
pub fn inspect(trace: &Trace) -> Result<Inspection, Error> {
    let manifest = trace.manifest();
    let submits = submits(trace)?;
    let usual = Usual::of(&submits);
    let mut found = Inspection {
        jobs: 0,
        arrivals: Arrivals::of(&submits, usual),
        job_tasks: Powers::default(),
        job_cpus: Powers::default(),
        asks: Asks::default(),
        task_runs: Powers::default(),
        job_outcome: BTreeMap::new(),
        tasks: KindCounts::default(),
        attempts: BTreeMap::new(),
        locality: InputDistance::default(),
        splits: 0,
        nodes: 0,
        min_submit: None,
        max_finish: None,
        span_ms: None,
        map_input_bytes: 0,
        skipped: manifest.skipped.clone(),
        made: manifest.made.clone(),
        absent: manifest.absent.clone(),
        made_rows: manifest.made_rows.clone(),
        system: manifest.system,
        amounts: manifest.amounts,
        unrecognised: manifest.unrecognised.clone(),
        time_zero: manifest.time_zero,
        sources: manifest.sources.clone(),
        oddities: BTreeMap::new(),
    };
    let mut job_ids = Seen::default();
    let mut jobs = whole::<JobRow>(trace)?;
    while jobs.advance()? {
        found.count_job(&jobs.row(), &mut job_ids, usual);
    }
    found.count_tasks(trace, usual)?;
    found.odd(FAR, manifest.skipped.get("far-time").copied().unwrap_or(0));
    for batch in trace.batches::<SplitRow>()? {
        found.splits += batch?.num_rows() as u64;
    }
    let mut hosts = Seen::default();
    let mut nodes = whole::<NodeRow>(trace)?;
    while nodes.advance()? {
        found.nodes += u64::from(hosts.is_new(nodes.row().host));
    }
    found.span_ms = found.max_finish.zip(found.min_submit).and_then(|(last, first)| last.checked_sub(first));
    Ok(found)
}

impl Inspection {
    fn odd(&mut self, kind: &str, n: u64) {
        if n > 0 {
            *self.oddities.entry(kind.to_owned()).or_default() += n;
        }
    }

    fn count_job(&mut self, job: &View<'_, JobRow>, ids: &mut Seen, usual: Usual) {
        self.jobs += 1;
        let bytes = job.input_bytes.and_then(|bytes| u64::try_from(bytes).ok());
        self.map_input_bytes = self.map_input_bytes.saturating_add(bytes.unwrap_or(0));
        *self.job_outcome.entry(job.outcome.to_string()).or_default() += 1;
        if let Some(cpu) = job.demand_cpu.and_then(|cpu| u64::try_from(cpu).ok()) {
            self.job_cpus.add(cpu / 1_000);
            self.asks.cpus += 1;
        }
        self.asks.gpus += u64::from(gpus(amounts(job.demand_resources.unwrap_or_default())) > 0);
        self.asks.several_nodes += u64::from(job.demand_machines.is_some_and(|machines| machines > 1));
        self.asks.limit += u64::from(job.requested_time.is_some());
        let (submit, finish) = (job.submit, job.finish);
        self.min_submit = [self.min_submit, submit].into_iter().flatten().min();
        self.max_finish = self.max_finish.max(finish);
        self.odd("job-id-seen-before", u64::from(!ids.is_new(job.job_id)));
        self.odd("job-without-submit", u64::from(submit.is_none()));
        self.odd("job-without-finish", u64::from(finish.is_none()));
        self.odd("job-finish-before-submit", u64::from(before(finish, submit)));
        // What was there before a trace began has a negative time if times count from the begin of the trace.
        let negative = submit.is_some_and(|submit| submit < 0) && self.time_zero == TimeZero::Epoch;
        self.odd("job-submit-before-1970", u64::from(negative));
        self.odd(FAR, usual.far([submit, finish]));
    }

    /// Counts tasks and attempts side by side.
    fn count_tasks(&mut self, trace: &Trace, usual: Usual) -> Result<(), Error> {
        let (mut tasks, mut attempts) = (whole::<TaskRow>(trace)?, whole::<AttemptRow>(trace)?);
        // The tasks of a job stand together, so only the ids of one job are kept.
        let (mut job, mut ids, mut of_job) = (String::new(), Seen::default(), 0);
        while tasks.advance()? {
            let task = tasks.row();
            self.count_task(task.kind);
            if task.job_id != job {
                task.job_id.clone_into(&mut job);
                ids = Seen::default();
                self.count_job_tasks(std::mem::take(&mut of_job));
            }
            // A master does none of the job's work.
            let is_work = task.kind != TaskKind::Master;
            of_job += u64::from(is_work);
            self.odd("task-id-seen-before", u64::from(!ids.is_new(task.task_id)));
            let (start, finish) = (task.start, task.finish);
            let run = start.zip(finish).and_then(|(start, finish)| u64::try_from(finish.checked_sub(start)?).ok());
            run.filter(|_| is_work).into_iter().for_each(|run| self.task_runs.add(run));
            self.odd("task-finish-before-start", u64::from(before(finish, start)));
            self.odd(FAR, usual.far([start, finish]));
            let (mut tries, mut last) = (0u64, None);
            while attempts.advance_if(|attempt| attempt.task_id() == task.task_id)? {
                let attempt = attempts.row();
                self.odd("attempt-before-its-task", u64::from(before(attempt.start, start)));
                self.odd("attempt-seen-before", u64::from(last == Some(attempt.attempt)));
                last = Some(attempt.attempt);
                tries += 1;
                self.count_attempt(&attempt);
                self.odd(FAR, usual.far([attempt.start, attempt.finish]));
            }
            self.odd("task-without-attempts", u64::from(tries == 0));
        }
        self.count_job_tasks(of_job);
        // Attempts that are left over follow no task, so the two tables differ in their order.
        while attempts.advance()? {
            self.odd("attempt-out-of-order", 1);
            self.count_attempt(&attempts.row());
        }
        Ok(())
    }

    fn count_job_tasks(&mut self, tasks: u64) {
        if tasks > 0 {
            self.job_tasks.add(tasks);
        }
    }

    fn count_task(&mut self, kind: TaskKind) {
        let tasks = &mut self.tasks;
        let count = match kind {
            TaskKind::Map => &mut tasks.map,
            TaskKind::Reduce => &mut tasks.reduce,
            TaskKind::Setup => &mut tasks.setup,
            TaskKind::Cleanup => &mut tasks.cleanup,
            TaskKind::Master => &mut tasks.master,
            TaskKind::Other => &mut tasks.other,
        };
        *count += 1;
    }

    fn count_attempt(&mut self, attempt: &View<'_, AttemptRow>) {
        *self.attempts.entry(format!("{}/{}", attempt.kind, attempt.outcome)).or_default() += 1;
        self.odd("attempt-finish-before-start", u64::from(before(attempt.finish, attempt.start)));
        self.odd("attempt-without-start", u64::from(attempt.start.is_none()));
        if attempt.kind == TaskKind::Map && attempt.outcome == Outcome::Success {
            let level = match attempt.locality {
                Some(Locality::Node) => &mut self.locality.node,
                Some(Locality::Rack) => &mut self.locality.rack,
                Some(Locality::Off) => &mut self.locality.off,
                None => &mut self.locality.unknown,
            };
            *level += 1;
        }
    }
}

/// All columns of a table, so that damage in any of them is found.
fn whole<R: Row + 'static>(trace: &Trace) -> Result<Cursor<R>, Error> {
    Ok(Cursor::new(trace.dir(), trace.batches::<R>()?))
}

/// The oddity of times far outside of the trace: those that ingest left out, and those that are in its tables.
const FAR: &str = "time-far-outside";

/// When jobs were submitted, in order.
fn submits(trace: &Trace) -> Result<Vec<i64>, Error> {
    let mut submits: Vec<i64> = Vec::new();
    let mut jobs = Cursor::<JobRow>::open(trace, &["submit"])?;
    while jobs.advance()? {
        submits.extend(jobs.row().submit);
    }
    submits.sort_unstable();
    Ok(submits)
}

/// The times between which those of a trace usually lie.
#[derive(Debug, Clone, Copy)]
struct Usual {
    first: i64,
    last: i64,
}

impl Usual {
    /// Four fifths of all jobs are submitted in the middle of the trace. Ten times as long before and after it, and a year more, is
    /// usual, so that neither a long trace nor a long job is odd.
    fn of(submits: &[i64]) -> Self {
        const YEAR: i64 = 366 * 86_400_000;
        let at =
            |tenths: usize| submits.get((submits.len() * tenths / 10).min(submits.len().saturating_sub(1))).copied();
        let (Some(early), Some(late)) = (at(1), at(9)) else { return Self { first: i64::MIN, last: i64::MAX } };
        let margin = late.saturating_sub(early).saturating_mul(10).saturating_add(YEAR);
        Self { first: early.saturating_sub(margin), last: late.saturating_add(margin) }
    }

    /// How many of these times are far outside.
    fn far(self, times: [Option<i64>; 2]) -> u64 {
        times.iter().flatten().filter(|time| !(self.first..=self.last).contains(*time)).count() as u64
    }
}

/// True if both times are known and the first is earlier.
fn before(first: Option<i64>, second: Option<i64>) -> bool {
    first.zip(second).is_some_and(|(first, second)| first < second)
}

/// Remembers texts by a 64-bit hash with fixed keys, in eight bytes each. With ten million texts, the chance that two are confused
/// is three in a million.
#[derive(Default)]
struct Seen(HashSet<u64>);

impl Seen {
    fn is_new(&mut self, text: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        self.0.insert(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_counted_between_the_first_and_the_last() {
        let usual = Usual { first: 0, last: 10_000 };
        let found = Arrivals::of(&[-5, 100, 100, 160, 6_099, 20_000], usual);
        assert_eq!((found.from, found.step_ms, found.counts.len()), (100, 100, 60));
        assert_eq!((found.counts[0], found.counts[59], found.counts.iter().sum::<u64>()), (3, 1, 4));
        assert_eq!(Arrivals::of(&[7], usual), Arrivals { from: 7, step_ms: 1, counts: vec![1] });
        assert_eq!(Arrivals::of(&[], usual), Arrivals::default());
    }

    #[test]
    fn numbers_are_counted_by_powers_of_two() {
        let mut powers = Powers::default();
        [0, 1, 2, 3, 1_023, 1_024].into_iter().for_each(|number| powers.add(number));
        assert_eq!(powers.0, BTreeMap::from([(0, 2), (1, 2), (9, 1), (10, 1)]));
    }
}
