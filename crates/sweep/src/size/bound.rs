//! The bound of a metric, as a user writes it.

use resched_analysis::metrics::named::Metric;
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
    /// Whether a value is within the bound.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Below(most) => value <= most,
            Self::Above(least) => value >= least,
        }
    }

    /// The number of a bound on a metric: `30s`, `5min` or `1h 30m` for a time, `0.9` or `90%` for a number.
    ///
    /// # Errors
    /// What is expected of this metric.
    pub fn number(text: &str, metric: &Metric) -> Result<f64, String> {
        if metric.unit == "ms" {
            let time = humantime::parse_duration(text.trim());
            return time.map(|time| time.as_millis() as f64).map_err(|_| {
                format!("{}: expected a time with its unit, for example 30s or 5min, found `{text}`", metric.name)
            });
        }
        let share =
            text.trim().strip_suffix('%').map(|percent| percent.trim().parse::<f64>().map(|percent| percent / 100.0));
        let number = share.unwrap_or_else(|| text.trim().parse());
        number
            .ok()
            .filter(|number| number.is_finite())
            .ok_or_else(|| format!("{}: expected a number, for example 0.9 or 90%, found `{text}`", metric.name))
    }
}
