//! The metrics of a cell: all that have a name, and those of the sweep file.

use resched_analysis::Run;
use resched_analysis::metrics::named::{Measured, Metric, known};
use resched_analysis::statistics::estimate::Estimate;

/// The known values of a run, by the name of the metric: of the metrics that have a name, then of these.
pub(crate) fn measure(run: &Run, further: &[Metric]) -> Vec<(String, f64)> {
    let run = Measured::new(run);
    let value = |metric: &Metric| Some((metric.name.clone(), metric.of(&run)?));
    known().iter().chain(further).filter_map(value).collect()
}

/// A point of a chart at `x`, with its interval.
pub(crate) fn point(metric: &Metric, x: f64, found: Estimate) -> (f64, f64, f64, f64) {
    (x, metric.shown(found.value), metric.shown(found.low), metric.shown(found.high))
}
