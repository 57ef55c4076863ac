//! A few jobs that request processor, for tests of a policy.

use resched_replay::{Engine, RunTrace, Source};
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::sink::Collected;
use resched_tables::store::sha256;

/// A few jobs that request processor, on machines of one size. For a test of a policy, this is quicker to write than a trace.
///
/// ```
/// use resched_kit::prelude::*;
///
/// let source = Requests::on(1, 4).job(0, 3, 60, 60).job(1, 4, 10, 20).source();
/// let world = World::open(&source, Setup::default())?;
/// let times = world.replay(&PolicySpec::parse_for("fifo", Engine::Batch)?, Times)?;
/// assert_eq!(times.jobs[1].start, Some(60_000));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Requests {
    tables: Collected,
}

/// Thousandths of a core, and ms of a second.
const MILLI: i64 = 1_000;

impl Requests {
    /// So many machines with so many cores each, and no jobs.
    pub fn on(machines: u32, cores: u32) -> Self {
        let machine = |number: u32| NodeRow {
            host: format!("node-{number:05}"),
            cpu: Some(i64::from(cores) * MILLI),
            ..NodeRow::default()
        };
        let nodes = (0..machines).map(machine).collect();
        Self { tables: Collected { nodes, engine: Engine::Batch, ..Collected::default() } }
    }

    /// Adds a job with one task: when it is submitted, how many cores it needs at once, how long it runs, and how long its user said
    /// that it runs at most. Times are seconds. Jobs are in the order of their submission.
    #[must_use]
    pub fn job(mut self, submit: u32, cores: u32, run: u32, estimate: u32) -> Self {
        let job_id = format!("job-{:05}", self.tables.jobs.len() + 1);
        let [submit, run, estimate] = [submit, run, estimate].map(|seconds| i64::from(seconds) * MILLI);
        let task = TaskRow {
            job_id: job_id.clone(),
            task_id: job_id.clone(),
            outcome: Outcome::Success,
            cpu_request: Some(MILLI),
            instances: Some(i64::from(cores)),
            gang: Some(true),
            ..TaskRow::default()
        };
        let attempt = AttemptRow {
            job_id: job_id.clone(),
            task_id: job_id.clone(),
            start: Some(submit),
            finish: Some(submit.saturating_add(run)),
            outcome: Outcome::Success,
            ..AttemptRow::default()
        };
        let job = JobRow {
            job_id,
            submit: Some(submit),
            requested_time: Some(estimate),
            outcome: Outcome::Success,
            ..JobRow::default()
        };
        let tasks = vec![TaskRecord { task, attempts: vec![attempt], ..TaskRecord::default() }];
        self.tables.jobs.push(JobRecord { job, tasks, ..JobRecord::default() });
        self
    }

    /// The source of a replay.
    pub fn source(self) -> Source {
        let sha256 = sha256(format!("{:?}", self.tables).as_bytes());
        let jobs = u64::try_from(self.tables.jobs.len()).ok();
        Source::tables(self.tables, RunTrace { path: "requests".to_owned(), sha256, jobs, ..RunTrace::default() })
    }
}
