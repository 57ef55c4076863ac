//! `[jobs]`: how the master treats jobs.

use serde::{Deserialize, Serialize};

use crate::ids::Ms;

/// How the master treats jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Jobs {
    /// When the first job is submitted; the others keep their distance to it, ms.
    pub first_submit: Ms,
    /// From the submission of a job until its tasks may be launched, ms: its set-up, which is not replayed (policies A.1).
    pub init_delay: Ms,
    /// Share of a job's maps that must be finished before its reduces may start (policies A.3).
    pub slowstart: f64,
    /// A task that fails so often fails its job (policies A.8).
    pub max_attempts: u32,
    /// Whether what still runs of a job that has failed is killed, as Hadoop does. Mumak lets it run, and its reduces hold
    /// their slots for ever (`oracle/README.md` F10). Slots only: under YARN it is killed.
    pub kill_failed: bool,
    /// From the heartbeat that assigns an attempt to its start, ms.
    pub launch_overhead: Ms,
    /// Leave out jobs that were killed: how they would have ended is unknown.
    pub skip_killed: bool,
    /// Which split a map reads.
    pub splits: Splits,
}

impl Default for Jobs {
    fn default() -> Self {
        Self {
            first_submit: 0,
            init_delay: 0,
            slowstart: 0.05,
            max_attempts: 4,
            kill_failed: true,
            launch_overhead: 0,
            skip_killed: true,
            splits: Splits::ByNumber,
        }
    }
}

/// Which split a map reads, where the trace lists the tasks of a job in another order than by number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Splits {
    /// Its own.
    ByNumber,
    /// Map i reads the split of the i-th task that is listed, as Mumak has it (`oracle/README.md` F8).
    ByPosition,
}
