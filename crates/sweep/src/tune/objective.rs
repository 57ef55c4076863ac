//! The score of a replay by the section `[tune]`, relative to the baseline with the same seed.

use std::collections::BTreeSet;

use resched_analysis::metrics::named::Metric;

use super::score::Score;
use crate::results::CellResult;
use crate::tune_section::{Bound, TuneSection};

/// The metrics of the objective and the bounds, each once.
pub(super) fn metrics(section: &TuneSection) -> BTreeSet<&str> {
    section.names().collect()
}

/// A metric divided by that of the baseline with the same seed: 1 if both are 0, infinite if one is unknown.
pub(super) fn relative(metric: &str, cell: &CellResult, base: &CellResult) -> f64 {
    match cell.metrics.get(metric).zip(base.metrics.get(metric)) {
        Some((value, base)) if value == base => 1.0,
        Some((value, base)) => value / base,
        None => f64::INFINITY,
    }
}

/// The score of a replay relative to the baseline.
pub(super) fn score(section: &TuneSection, cell: &CellResult, base: &CellResult) -> Score {
    let cost = |name: &str| {
        let relative = relative(name, cell, base);
        let less = Metric::named(name).is_ok_and(|metric| metric.less_is_better);
        if less { relative } else { 1.0 / relative }
    };
    let objective = section.objective.iter().map(|(name, weight)| weight * cost(name)).sum();
    let excess = |bound: &Bound| {
        let relative = relative(&bound.metric, cell, base);
        let over = bound.at_most.map(|most| relative - most);
        over.or(bound.at_least.map(|least| least - relative)).unwrap_or(0.0)
    };
    Score { objective, excesses: section.bounds.iter().map(excess).collect() }
}
