//! From the tables of a run to metrics and statistics.
//!
//! ```text
//! run folder ──▶ tables ──▶ attempts ──▶ metrics ──▶ JobMetrics ──▶ Summary, Details
//! (or a trace)  (columns)   (sums)     (formulas)        │
//!                              └──▶ Interval ──▶ timeline     compare (two runs, paired by job)
//! ```
//!
//! * [`runs`] opens runs and traces: their jobs, which of them count, what may be compared, and the part of the time that is looked at.
//! * [`metrics`] has what is computed of one run: the list of metrics, their formulas, metrics as users write them
//!   (`p95(completion) where queue = 'adhoc'`), and tables by user, queue, size and hour.
//! * [`time`] has what changes over the time of a run.
//! * [`statistics`] says how sure a number or a difference is, and whether a comparison keeps its sign under what the data leaves open.
//! * [`validation`] computes how far a replay is from what really ran, [`calibration`] fits a cluster file to a trace.
//! * [`answer`] puts together what a comparison rests on, for all commands.
//! * [`why`] explains why jobs waited, and who held what they waited for. [`advice`] says what to change where the tables show it.
//!
//! A trace has the tables of a run, so every metric works on what really ran as well. This is the only crate that uses
//! polars: with the feature `frames`, `Run::jobs_frame` hands the jobs out as a DataFrame.

pub mod advice;
pub mod answer;
pub mod calibration;
mod error;
pub mod metrics;
pub mod runs;
pub mod statistics;
pub mod time;
pub mod validation;
pub mod why;

pub use error::Error;
pub use metrics::list::JobMetrics;
pub use metrics::summary::{Details, LocalityCounts, Summary};
/// The version of polars whose types [`Run::jobs_frame`] returns.
#[cfg(feature = "frames")]
pub use polars;
pub use runs::compared::Compared;
pub use runs::jobs::JobList;
pub use runs::origin::Origin;
pub use runs::outline::{Outline, Traced};
pub use runs::population::Population;
pub use runs::run::{Gathered, Run};
