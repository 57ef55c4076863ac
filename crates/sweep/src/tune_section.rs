//! The section `[tune]` of a sweep file.

use std::collections::BTreeMap;

use resched_trace::keys;
use resched_trace::reference::Value as _;

use crate::metrics::Metric;

keys! {
    /// The objective and the bounds of `resched tune`.
    pub(crate) struct TuneSection {
        /// Weights of metrics. Each metric is divided by that of the baseline; where more is better, the other way round. The
        /// winner has the least weighted sum.
        objective: BTreeMap<String, f64>, range 0.0..;
        /// The bounds that a winner must hold.
        bounds: Vec<Bound> = Vec::new();
        /// How many settings are tried first.
        candidates: u32 = 64, unit "settings", range 2..=100_000;
        /// After each round, one of this many settings is kept, and the next round has this many times the seeds.
        keep_one_of: u32 = 3, unit "settings", range 2..=100;
        /// How many seeds the first round has.
        first_seeds: u64 = 1, unit "seeds", range 1..=1_000;
    }
}

keys! {
    /// A bound on a metric, in the mean. Give one of `at_most` and `at_least`.
    pub(crate) struct Bound {
        /// The metric.
        metric: String, rule "a metric";
        /// The metric is at most this, times that of the baseline.
        at_most: Option<f64> = None;
        /// The metric is at least this, times that of the baseline.
        at_least: Option<f64> = None;
    }
}

impl TuneSection {
    /// The problem of the section, if there is one.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.objective.is_empty() {
            return Err("expected an objective, for example { mean_completion = 1 }, found none".to_owned());
        }
        self.objective.keys().try_for_each(|name| Metric::named(name).map(drop))?;
        for bound in &self.bounds {
            Metric::named(&bound.metric)?;
            if bound.at_most.is_some() == bound.at_least.is_some() {
                return Err(format!("bound of {}: expected either `at_most` or `at_least`", bound.metric));
            }
        }
        self.check_ranges("tune")
    }
}
