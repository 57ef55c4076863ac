//! Max-min fair sharing of processor.
//!
//! **What it does.** The user or job with the least processor for its weight is served next. Within a user or job,
//! tasks start in the order of submission.
//!
//! **Source.** Max-min fairness by progressive filling (Bertsekas and Gallager, *Data Networks*, 1992, 6.5.2), as in the Fair
//! Scheduler of Hadoop.
//!
//! **Decisions.** Memory must suffice, but does not count for shares. Among equals, the user or job that came first is
//! served first. If there is room for none of its first `depth` tasks, the turn passes to the others. Nothing is
//! preempted.

use super::claims::By;
use super::fifo::PRIORITY;
use super::shares::{DEPTH, Measure, Rules, Shares, WEIGHTS};
use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::settings::{File, settings};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-fair",
    title: "Fair sharing of processor between users or jobs",
    source: "Bertsekas and Gallager 1992 (max-min fairness)",
    family: Family::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Batch(|values, _| Ok(Box::new(policy(Measure::Cpu, &Settings::read(values)?)?))),
};

settings! {
    /// What you can set, whatever is shared.
    pub(super) struct Settings {
        /// what shares the machines: users, jobs, groups or queues
        by: By = "by" { choice: By::User, of: [By::User, By::Job, By::Group, By::Queue] },
        weights: File = WEIGHTS,
        depth: u32 = DEPTH,
        priority: bool = PRIORITY,
    }
}

/// Fair sharing of what is measured.
pub(super) fn policy(measure: Measure, settings: &Settings) -> Result<Shares, Error> {
    let rules = Rules::new(measure, settings.by, &settings.weights, settings.priority, settings.depth)?;
    Ok(Shares::new(rules))
}
