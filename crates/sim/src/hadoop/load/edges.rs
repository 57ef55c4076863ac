//! Initialisation, set-up and clean-up of a job, from its log.
//!
//! ```text
//! submission ── the master waits for its container ──▶ the master starts ── initialisation ──▶ launch ──▶ first task
//! ```
//!
//! The wait for the master's container is a product of the scheduler, so a replay makes its own. A log without the start of the master
//! (MapReduce 1 has none) only says how long both took together.

use resched_tables::model::JobRow;
use resched_tables::reader::Lazy;

use super::log::Attempt;
use super::times::length;
use crate::hadoop::workload::Edges;
use crate::ids::Ms;

/// What a log shows before a job's first task and after its last.
#[derive(Default)]
pub(super) struct LoggedEdges {
    /// How long the set-up task held its slot.
    pub(super) setup: Option<Ms>,
    /// How long the clean-up task held its slot.
    pub(super) cleanup: Option<Ms>,
    first_start: Option<Ms>,
    last_finish: Option<Ms>,
    /// When the masters of the job started, in the order of the log.
    masters: Vec<Ms>,
}

impl LoggedEdges {
    /// Takes note of an attempt at a map or reduce.
    pub(super) fn saw(&mut self, attempt: Attempt<'_>) {
        if let Some(start) = attempt.start() {
            self.first_start = Some(self.first_start.map_or(start, |first| first.min(start)));
        }
        self.last_finish = self.last_finish.max(attempt.finish());
    }

    /// Takes note of an application master.
    pub(super) fn saw_master(&mut self, attempt: Attempt<'_>) {
        self.masters.extend(attempt.start());
    }

    /// How many masters of the job were lost, so that another one took over.
    pub(super) fn lost_masters(&self) -> u64 {
        self.masters.len().saturating_sub(1) as u64
    }

    /// From the submission to the start of the first master, ms.
    pub(super) fn master_wait(&self, submit: Ms) -> Option<Ms> {
        length(Some(submit), self.masters.iter().min().copied()).filter(|&wait| wait >= 0)
    }

    /// The edges of a job.
    ///
    /// The launch in the log is the end of the initialisation. In logs of some other tools it is the first start of a task, and the
    /// job may have waited until then. So it counts only if something came between: a set-up task, or some time. A job without a
    /// clean-up task ends once a heartbeat has reported its last attempt; only a later end shows a commit.
    pub(super) fn of_job(&self, job: Lazy<'_, JobRow>) -> Edges {
        let is_init = self.setup.is_some() || job.launch() < self.first_start;
        // A master that took over later did not initialise the job.
        let master = self.masters.iter().copied().filter(|&start| Some(start) <= job.launch()).max();
        let tail = length(self.last_finish, job.finish()).filter(|_| self.cleanup.is_none());
        Edges {
            init: length(master.or(job.submit()), job.launch()).filter(|&init| is_init && init >= 0),
            from_master: master.is_some(),
            setup: self.setup,
            cleanup: self.cleanup,
            tail: tail.unwrap_or(0),
        }
    }
}

/// How long an attempt held its slot, given when its task was assigned and when the master learned of its end: its run time, and
/// before it the time from the assignment to the start if both clocks agree.
pub(super) fn held(attempt: Attempt<'_>, [assigned, learned]: [Option<Ms>; 2]) -> Option<Ms> {
    let run = length(attempt.start(), attempt.finish()).filter(|&run| run >= 0)?;
    let agree = assigned <= attempt.start() && attempt.finish() <= learned;
    let before = length(assigned, attempt.start()).filter(|_| agree);
    Some(run + before.unwrap_or(0))
}
