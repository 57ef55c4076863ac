//! The outcome of a search.

use std::collections::BTreeMap;

use resched_tables::validity::{Grade, Validity};
use serde::Serialize;

use crate::interval::MeanInterval;

/// A setting and its results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The policy with its parameters.
    pub policy: String,
    /// The number of seeds it was replayed with.
    pub seeds: u64,
    /// The objective, relative to the baseline, with its 95 % interval by Student's t.
    pub objective: MeanInterval,
    /// True if all bounds hold in the mean.
    pub within_bounds: bool,
    /// The metrics of the objective and the bounds, relative to the baseline, with their 95 % intervals.
    pub relative: BTreeMap<String, MeanInterval>,
    /// True if it is on the Pareto front of the last round. It then holds the bounds, and no other setting that holds them is
    /// better in one metric of the objective and the bounds and as good in the rest.
    pub on_front: bool,
}

/// The outcome of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// The sweep's name.
    pub name: String,
    /// The policy of the baseline. All numbers are relative to it.
    pub baseline: String,
    /// All settings that were tried, the best first: those of the last round, then those of the round before, and so on. The first
    /// breaks a bound only if no setting is known to hold them all.
    pub candidates: Vec<Candidate>,
    /// The number of all replays, including those of the baseline.
    pub replays: u64,
    /// What the intervals are over, as a sentence; null if none has a width.
    pub intervals: Option<&'static str>,
    /// How far the answer can be trusted: the worst grade of `validity`.
    pub grade: Grade,
    /// What decides the answer, over all replays, and was not observed.
    pub validity: Validity,
}
