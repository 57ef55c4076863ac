//! The columnar trace of resched: what a cluster's job history holds, as six Parquet tables and a manifest.
//!
//! ```text
//! source files ──▶ formats::* ──▶ JobRecord ──▶ TraceWriter ──▶ <trace>/jobs.parquet, tasks.parquet, …, trace.json
//!                  (one a format)  (one job)     (streams)
//! ```
//!
//! * [`model`] has the rows of the tables and their enumerations; each column is declared there, once.
//! * [`store`] writes a trace so that it is either whole or absent, and reads it back.
//! * [`synthesise`] makes tasks for jobs that come with sizes only; [`workload`] makes whole jobs from a TOML file.
//! * [`history_writer`] writes jobs back as Hadoop text history, for the bundled sample.
//! * [`draws`] gives random numbers that depend on (seed, purpose, entity) only.
//!
//! This crate knows nothing of schedulers, prints nothing and never exits.

pub mod draws;
mod error;
pub mod formats;
pub mod history_writer;
pub mod model;
pub mod store;
pub mod synthesise;
pub mod workload;

pub use error::Error;
