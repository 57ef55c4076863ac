//! What an explanation says.

use resched_tables::model::{Outcome, Reason};
use resched_tables::store::System;
use serde::Serialize;

use super::phase::Phase;

/// What is explained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// A job.
    Job {
        /// Its id.
        job_id: String,
        /// The name its user gave it.
        name: Option<String>,
        /// Who submitted it.
        user: Option<String>,
        /// Its queue or pool.
        queue: Option<String>,
        /// When it was submitted, ms.
        submit: Option<i64>,
        /// When its first task started, ms.
        start: Option<i64>,
        /// When it ended, ms.
        finish: Option<i64>,
        /// How it ended.
        outcome: Outcome,
    },
    /// The jobs of a user.
    User(String),
    /// The jobs of a queue or pool.
    Queue(String),
    /// All jobs.
    All,
}

/// Where the time of jobs went, and who is to blame.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The label of the run.
    pub run: String,
    /// As [`super::Why::system`].
    #[serde(skip)]
    pub system: System,
    /// What is explained.
    pub about: About,
    /// True if the run has the reasons for which the policy passed over jobs. Without its reasons, all that waits is said to wait for a slot.
    pub has_reasons: bool,
    /// How many jobs there are whose completion time is known.
    pub jobs: u64,
    /// How many others there are.
    pub left_out: u64,
    /// Their completion times together, ms. The phases add up to it.
    pub completion_ms: i64,
    /// The time in each phase, in the order of [`Phase`].
    pub phases: Vec<PhaseTime>,
    /// Who held what was waited for, the most first. For each phase that is a wait, the parts add up to its time.
    pub blame: Vec<BlameRow>,
    /// The same by user.
    pub users: Vec<Blamed>,
    /// The same by queue.
    pub queues: Vec<Blamed>,
    /// The time of the job from its submission to its end; empty for several jobs.
    pub timeline: Vec<TimelineRow>,
    /// The explanation in words.
    pub sentences: Vec<String>,
}

/// The time in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PhaseTime {
    /// The phase.
    pub phase: Phase,
    /// The reason that the policy gave; `none` if it gave none.
    pub reason: Reason,
    /// True if other tasks of the job ran meanwhile.
    pub while_running: bool,
    /// The time, ms.
    pub ms: i64,
    /// Its share of the completion time.
    pub share: f64,
}

/// A part of the blame for a wait.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlameRow {
    /// The phase that is blamed.
    pub phase: Phase,
    /// The reason that the policy gave.
    pub reason: Reason,
    /// True if other tasks of the job ran meanwhile.
    pub while_running: bool,
    /// `job`, `idle` (what was waited for was free, or its machine was lost) or `rule` (the policy or Hadoop holds the job back).
    pub holder: &'static str,
    /// The id of that job.
    pub job_id: Option<String>,
    /// Its user.
    pub user: Option<String>,
    /// Its queue or pool.
    pub queue: Option<String>,
    /// The waiting time that it is to blame for, ms.
    pub ms: i64,
    /// What it held meanwhile, in seconds × slots, containers, cores or MB; of a limit, in seconds × tasks.
    pub held: f64,
    /// The resource that it held: `map-slots`, `reduce-slots`, `containers`, `cpu`, `memory`, or its name, such as `gres/gpu`; null for
    /// a limit or a rule.
    pub of: Option<String>,
}

/// The blame of a user or a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blamed {
    /// Its name; null if it is unknown, or nobody is to blame.
    pub name: Option<String>,
    /// `job` (its jobs), `idle` or `rule`, as in [`BlameRow::holder`].
    pub holder: &'static str,
    /// The waiting time while nothing of the job ran, ms.
    pub waited_ms: i64,
    /// The waiting time while other tasks of the job ran, ms.
    pub while_running_ms: i64,
}

/// A stretch of the time of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimelineRow {
    /// When it begins, ms.
    pub from: i64,
    /// When it ends, ms.
    pub to: i64,
    /// The phase.
    pub phase: Phase,
    /// The reason that the policy gave.
    pub reason: Reason,
    /// True if other tasks of the job ran meanwhile.
    pub while_running: bool,
}

/// A row of an explanation as CSV: all rows of an explanation add up to the completion time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CsvRow {
    /// The job, user or queue that is explained; empty for all jobs.
    pub about: String,
    /// The name of the phase.
    pub phase: &'static str,
    /// The reason that the policy gave.
    pub reason: &'static str,
    /// True if other tasks of the job ran meanwhile.
    pub while_running: bool,
    /// Who is to blame, as in [`BlameRow::holder`]; empty for a phase that is no wait.
    pub holder: &'static str,
    /// The id of the job that is to blame.
    pub job_id: Option<String>,
    /// Its user.
    pub user: Option<String>,
    /// Its queue or pool.
    pub queue: Option<String>,
    /// The time, ms.
    pub ms: i64,
    /// As [`BlameRow::held`].
    pub held: f64,
}
