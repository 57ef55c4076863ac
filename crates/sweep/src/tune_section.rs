//! The section `[tune]` of a sweep file.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::metrics::Metric;

/// The section `[tune]` of a sweep file: what is looked for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TuneSection {
    /// Weights of metrics, each relative to the baseline: their sum is made as small as it can be. A metric of which more is
    /// better counts as the baseline's over its own.
    pub(crate) objective: BTreeMap<String, f64>,
    /// What must hold of a winner.
    #[serde(default)]
    pub(crate) bounds: Vec<Bound>,
    /// Settings that are tried first.
    #[serde(default = "candidates")]
    pub(crate) candidates: u32,
    /// Of how many settings one is kept after each round, in which the seeds are multiplied by as much.
    #[serde(default = "keep_one_of")]
    pub(crate) keep_one_of: u32,
    /// Seeds of the first round.
    #[serde(default = "first_seeds")]
    pub(crate) first_seeds: u64,
}

/// A bound: the mean of a metric relative to the baseline's.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bound {
    /// The metric.
    pub(crate) metric: String,
    /// At most this, times the baseline's.
    pub(crate) at_most: Option<f64>,
    /// At least this, times the baseline's.
    pub(crate) at_least: Option<f64>,
}

fn candidates() -> u32 {
    64
}

fn keep_one_of() -> u32 {
    3
}

fn first_seeds() -> u64 {
    1
}

impl TuneSection {
    /// What is wrong with it, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.objective.is_empty() {
            return Err("expected an objective, such as { mean_completion = 1 }, found none".to_owned());
        }
        for (name, weight) in &self.objective {
            Metric::named(name)?;
            if !weight.is_finite() || *weight < 0.0 {
                return Err(format!("objective {name}: expected a weight of at least 0, found {weight}"));
            }
        }
        for bound in &self.bounds {
            Metric::named(&bound.metric)?;
            if bound.at_most.is_some() == bound.at_least.is_some() {
                return Err(format!("bound of {}: expected one of `at_most` and `at_least`", bound.metric));
            }
        }
        let counts = (2..=100_000).contains(&self.candidates)
            && (2..=100).contains(&self.keep_one_of)
            && (1..=1_000).contains(&self.first_seeds);
        if !counts {
            return Err("expected 2 to 100000 candidates, keep_one_of 2 to 100 and first_seeds 1 to 1000".to_owned());
        }
        Ok(())
    }
}
