//! The bound of a metric.

use serde::Serialize;

/// A bound on a metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// The metric is at most this; times in ms.
    Below(f64),
    /// The metric is at least this; times in ms.
    Above(f64),
}

impl Bound {
    /// True if a value is within the bound.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Below(most) => value <= most,
            Self::Above(least) => value >= least,
        }
    }
}
