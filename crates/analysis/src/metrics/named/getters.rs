//! Functions that give a value of a job.

use resched_tables::run::RunClock;

use crate::JobMetrics;

/// The text of a job; `None` if it is unknown.
pub(crate) type Text = fn(&JobMetrics) -> Option<&str>;

/// The number of a job, whose times the clock dates; `None` if it is unknown.
pub(crate) type Number = fn(&JobMetrics, RunClock) -> Option<f64>;
