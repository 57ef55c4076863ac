//! Max-min fair sharing of processor.
//!
//! **What it does.** Whoever has the least processor for its weight is served next; within a user or job tasks start in the order
//! of submission.
//!
//! **Source.** Max-min fairness by progressive filling (Bertsekas and Gallager, *Data Networks*, 1992, 6.5.2), as in the Fair
//! Scheduler of Hadoop.
//!
//! **Decisions.** Memory must suffice, but does not count. Of equals, who came first comes first. Who finds no room with any of
//! its first `depth` tasks leaves the turn to the others. Nothing is preempted.

use super::fifo::PRIORITY;
use super::shares::{By, DEPTH, Measure, Rules, Shares, WEIGHTS, read_claims, shares_as_policy};
use crate::error::Error;
use crate::info::{Build, Engine, Family, PolicyInfo};
use crate::parameter::{Parameter, Values};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-fair",
    title: "Fair sharing of processor between users or jobs",
    source: "Bertsekas and Gallager 1992 (max-min fairness)",
    family: Family::Production,
    engine: Engine::Batch,
    oracle: false,
    parameters: &[
        Parameter::choice("by", "user", &["user", "job", "group", "queue"], "who shares"),
        WEIGHTS,
        DEPTH,
        PRIORITY,
    ],
    build: Build::Batch(|values, _| Ok(Box::new(BatchFair::new(values)?))),
};

/// The policy.
#[derive(Debug)]
pub struct BatchFair(Shares);

impl BatchFair {
    fn new(values: &Values) -> Result<Self, Error> {
        Ok(Self(Shares::new(Rules {
            by: By::named(values.text("by")),
            measure: Measure::Cpu,
            claims: read_claims(values.text("weights")).map_err(Error::File)?,
            elastic: true,
            by_priority: values.boolean("priority"),
            depth: values.integer("depth") as u32,
        })))
    }
}

shares_as_policy!(BatchFair);
