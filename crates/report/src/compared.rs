//! The policies of a report, and one against the baseline.

use resched_analysis::statistics::compare::Comparison;
use serde::Serialize;

/// The runs of one policy, which differ only in their seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Policy {
    /// Its label.
    pub(crate) label: String,
    /// The places of its runs, in order.
    pub(crate) runs: Vec<usize>,
    /// In how many variants of what is not known its difference from the baseline keeps its sign, as a sentence; stands after its
    /// headline. `None` if that was not tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sign: Option<String>,
}

/// A policy against the baseline in one metric.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Compared {
    /// The metric.
    pub(crate) metric: &'static str,
    #[serde(skip)]
    pub(crate) title: &'static str,
    /// The label of the policy.
    pub(crate) policy: String,
    #[serde(flatten)]
    pub(crate) found: Comparison,
}
