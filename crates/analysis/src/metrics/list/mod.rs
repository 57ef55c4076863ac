//! The list of metrics. Each number of a job, and each number of a run, is declared here once.
//!
//! * [`JobMetrics`] declares what is known of a job: its name, type, unit, meaning, when it is null, and its formula. What metrics
//!   aggregate and filters compare are its [`QUANTITIES`]; those that follow from others have no field, only a line.
//! * [`NUMBERS`] declares the numbers of a run, each with its formula in the grammar of [`crate::metrics::named`].
//!
//! Everything else reads the list: the grammar, [`crate::Summary`] and [`crate::Details`], the columns of sweeps, and in a report the main
//! table, the data and the formulas of the page's scripts, the notebook, and the reference page.

mod job;
mod run;

pub use self::job::{JobMetrics, Page, QUANTITIES, Quantity};
pub(crate) use self::job::{Known, quantity};
pub use self::run::{Form, NUMBERS, Number, Row};
pub(crate) use self::run::{OfRun, Way};

/// Which values are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Smaller ones.
    Less,
    /// Larger ones.
    More,
    /// None is better than another.
    Neither,
}
