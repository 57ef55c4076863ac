//! The columnar trace of resched: what a cluster's job history holds, as six Parquet tables and a manifest.
//!
//! ```text
//! source files ──▶ formats::* ──▶ JobRecord ──▶ TraceWriter ──▶ <trace>/jobs.parquet, tasks.parquet, …, trace.json
//!                  (one a format)  (one job)     (streams)
//! ```
//!
//! * [`model`] has the rows of the tables and their enumerations; each column is declared there, once.
//! * [`run`] says what a replay did; a run's tables are those of a trace.
//! * [`formats`] has one module a source format; [`ingest`] finds files, picks their format and completes the jobs.
//! * [`formats::tables`] and [`ingest::tables`] are for formats that spread a job over tables of many files.
//! * [`store`] writes a trace so that it is either whole or absent, and reads it back.
//! * [`synthesise`] makes tasks for jobs that come with sizes only; [`workload`] makes whole jobs from a TOML file.
//! * [`history_writer`] writes jobs back as Hadoop text history, for the bundled sample.
//! * [`records`] reads a trace back job by job; [`export`] writes it in the formats of other tools.
//! * [`anonymise`] gives a trace other names, [`scale`] makes it smaller or denser.
//! * [`reference`](mod@reference) declares what users write and read, and makes pages of it.
//! * [`draws`] gives random numbers that depend on (seed, purpose, entity) only.
//!
//! This crate knows nothing of schedulers, prints nothing and never exits.

pub mod anonymise;
pub mod draws;
mod error;
pub mod export;
pub mod formats;
pub mod history_writer;
pub mod ingest;
pub mod model;
pub mod records;
pub mod reference;
pub mod run;
pub mod scale;
pub mod store;
pub mod synthesise;
pub mod workload;

pub use error::Error;
