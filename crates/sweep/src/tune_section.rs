//! The section `[tune]` of a sweep file.

use std::collections::BTreeMap;

use resched_analysis::metrics::named::{Metric, Problem};
use resched_tables::keys;
use resched_tables::reference::Value as _;

keys! {
    /// The objective and the bounds of `resched tune`.
    pub(crate) struct TuneSection {
        /// Weights of metrics. Each metric is divided by that of the baseline; if more is better, that of the baseline is
        /// divided by it. The winner has the least weighted sum.
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
    /// A bound on the mean of a metric. Give either `at_most` or `at_least`.
    pub(crate) struct Bound {
        /// The metric.
        metric: String, rule "a metric";
        /// The metric is at most this many times that of the baseline.
        at_most: Option<f64> = None;
        /// The metric is at least this many times that of the baseline.
        at_least: Option<f64> = None;
    }
}

impl TuneSection {
    /// The problem of the section, if there is one.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.objective.is_empty() {
            return Err("expected an objective, for example { mean_completion = 1 }, found none".to_owned());
        }
        self.names()
            .try_for_each(|name| Metric::named(name).map(drop))
            .map_err(|problem: Problem| problem.to_string())?;
        for bound in &self.bounds {
            if bound.at_most.is_some() == bound.at_least.is_some() {
                return Err(format!("bound of {}: expected either `at_most` or `at_least`", bound.metric));
            }
        }
        self.check_ranges("tune")
    }

    /// The metrics of the objective and the bounds, as they are written.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.objective.keys().chain(self.bounds.iter().map(|bound| &bound.metric)).map(String::as_str)
    }

    /// The metrics of the objective and the bounds.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = Metric> {
        self.names().filter_map(|name| Metric::named(name).ok())
    }
}
