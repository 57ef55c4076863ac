//! Dominant Resource Fairness.
//!
//! **What it does.** The dominant share of a user is the largest of its shares: of all processor, all memory, all GPUs and other
//! named resources, and all licences. The
//! user with the least dominant share for its weight is served next. Its tasks start in the order of submission.
//!
//! **Source.** Ghodsi et al., *Dominant Resource Fairness: fair allocation of multiple resource types*, NSDI 2011, Algorithm 1.
//!
//! **Decisions.** Algorithm 1 ends when there is no room for the next task. Here the turn passes to the other users, so
//! that nothing stays free that one of them could use. The paper's own implementation in Mesos does the same. Before
//! the turn passes, the first `depth` tasks of the user are tried. Among equals, the user who came first is served
//! first. Nothing is preempted.

use super::fair::{Settings, policy};
use super::shares::Measure;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "batch-drf",
    title: "Dominant Resource Fairness between users or queues",
    source: "Ghodsi et al. 2011, Algorithm 1",
    family: Family::Batch,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Batch(|values, _| Ok(Box::new(policy(Measure::Dominant, &Settings::read(values)?)?))),
};
