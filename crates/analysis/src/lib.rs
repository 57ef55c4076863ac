//! From the tables of a run to metrics and statistics.
//!
//! ```text
//! run folder ──▶ tables ──▶ attempts ──▶ metrics ──▶ JobMetrics ──▶ Summary, Details
//! (or a trace)  (columns)   (sums)      (polars)         │
//!                              └──▶ Interval ──▶ timeline     compare (two runs, paired by job)
//! ```
//!
//! * [`metrics`] has the formulas of a job's metrics, [`timeline`] those of what changes over time; each is defined once,
//!   with its source.
//! * [`measure`] reads a metric as users write it, `p95(completion) where queue = 'adhoc'`, and computes it for a run.
//! * [`groups`] shows who gains and who loses: jobs by user, queue, priority, size and hour.
//! * [`compare`](mod@compare) computes how sure a difference between two runs is.
//! * [`sign`] says whether a comparison keeps its sign under what the data leaves open.
//! * [`identity`] says which runs may be compared, and in what they differ.
//! * [`validation`] computes how far a replay is from what really ran.
//! * [`bound`] names the resources that were never the bottleneck.
//! * [`advice`] says what to change where the tables show it.
//! * [`why`] explains why jobs waited, and who held what they waited for.
//! * [`window`] narrows runs and traces to a part of their time.
//! * [`inspect`](mod@inspect) reports what a trace holds.
//!
//! A trace has the tables of a run, so every metric works on what really ran as well. This is the only crate that uses
//! polars; none of its types but the expressions of [`metrics`] show it.

pub mod advice;
mod attempts;
pub mod blocks;
pub mod bound;
pub mod by_size;
pub mod calibration;
pub mod cells;
pub mod compare;
pub mod distribution;
mod error;
pub mod groups;
pub mod headline;
pub mod identity;
pub mod inspect;
pub mod intervals;
pub mod jobs;
pub mod measure;
pub mod memory;
pub mod metrics;
pub mod nodes;
pub mod over_time;
pub mod paired;
pub mod population;
pub mod practical;
pub mod repeats;
pub mod run;
pub mod share_error;
pub mod sign;
pub mod summary;
mod tables;
pub mod timeline;
pub mod validation;
pub mod validity;
pub mod why;
pub mod window;

pub use error::Error;
pub use jobs::JobMetrics;
pub use population::Population;
pub use run::{Gathered, Origin, Run};
pub use summary::{Details, LocalityCounts, Summary};
