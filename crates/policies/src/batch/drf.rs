//! Dominant Resource Fairness.
//!
//! **What it does.** The dominant share of a user is the larger of its shares of all processor and of all memory. The user with
//! the least dominant share for its weight is served next; its tasks start in the order of submission.
//!
//! **Source.** Ghodsi et al., *Dominant Resource Fairness: fair allocation of multiple resource types*, NSDI 2011, Algorithm 1.
//!
//! **Decisions.** Algorithm 1 ends when the next task finds no room; here the user leaves the turn to the others, so that nothing
//! is left free that one of them could use, as the paper's own implementation in Mesos does. Before that its first `depth` tasks are
//! tried. Of equals, who came first comes first. Nothing is preempted.

use super::fifo::PRIORITY;
use super::shares::{By, DEPTH, Measure, Rules, Shares, WEIGHTS, read_claims, shares_as_policy};
use crate::error::Error;
use crate::info::{Build, Engine, Family, PolicyInfo};
use crate::parameter::{Parameter, Values};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-drf",
    title: "Dominant Resource Fairness between users or queues",
    source: "Ghodsi et al. 2011, Algorithm 1",
    family: Family::Production,
    engine: Engine::Batch,
    oracle: false,
    parameters: &[
        Parameter::choice("by", "user", &["user", "queue", "group", "job"], "who shares"),
        WEIGHTS,
        DEPTH,
        PRIORITY,
    ],
    build: Build::Batch(|values, _| Ok(Box::new(BatchDrf::new(values)?))),
};

/// The policy.
#[derive(Debug)]
pub struct BatchDrf(Shares);

impl BatchDrf {
    fn new(values: &Values) -> Result<Self, Error> {
        Ok(Self(Shares::new(Rules {
            by: By::named(values.text("by")),
            measure: Measure::Dominant,
            claims: read_claims(values.text("weights")).map_err(Error::File)?,
            elastic: true,
            by_priority: values.boolean("priority"),
            depth: values.integer("depth") as u32,
        })))
    }
}

shares_as_policy!(BatchDrf);
