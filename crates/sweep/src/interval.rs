//! A mean over seeds, as searches report it.

use resched_analysis::statistics::estimate::Estimate;
use resched_analysis::statistics::repeats::t_interval;
use serde::Serialize;

/// A mean with its 95 % interval by Student's t. A single seed does not show the spread, so its interval has no ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanInterval {
    /// The mean.
    pub mean: f64,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl MeanInterval {
    /// That of a value for each seed; `None` without values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let Estimate { value, low, high } = t_interval(values)?;
        let end = |end| (values.len() > 1).then_some(end);
        Some(Self { mean: value, low: end(low), high: end(high) })
    }

    /// Both ends of the interval, if it has any.
    pub fn ends(self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}
