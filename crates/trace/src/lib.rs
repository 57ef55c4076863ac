//! The trace of resched: the job history of a cluster as six Parquet tables and a manifest.
//!
//! ```text
//! source files ──▶ formats::* ──▶ JobRecord ──▶ TraceWriter ──▶ <trace>/jobs.parquet, tasks.parquet, …, trace.json
//!                 (per format)    (one job)     (streams)
//! ```
//!
//! * [`model`] declares the rows of the tables and their enumerations. Each column is declared there, once.
//! * [`run`] describes a replay. The tables of a run have the same form as those of a trace.
//! * [`formats`] has one module per source format. [`ingest`] finds files, picks their format and completes the jobs.
//! * [`formats::tables`] and [`ingest::tables`] are for formats that spread a job over the tables of many files.
//! * [`store`] writes a trace whole or not at all, and reads it back.
//! * [`synthesise`] makes tasks for jobs whose source gives only sizes. [`workload`] makes whole jobs from a TOML file.
//! * [`history_writer`] writes jobs as Hadoop text history, for the bundled sample.
//! * [`records`] reads a trace job by job. [`export`] writes it in the formats of other tools.
//! * [`anonymise`] replaces the names in a trace. [`scale`] makes a trace smaller or denser.
//! * [`reference`](mod@reference) declares the keys, columns and metrics that users meet, and makes pages from them.
//! * [`clock`] reads and writes times as people do: dates, zones and windows.
//! * [`validity`] says how far an answer can be trusted.
//! * [`limits`] lists how much of everything there may be.
//! * [`draws`] gives random numbers that depend only on (seed, purpose, entity).
//!
//! This crate knows nothing of schedulers, prints nothing and never exits.

pub mod anonymise;
pub mod clock;
pub mod comparison;
pub mod draws;
mod error;
pub mod export;
pub mod formats;
pub mod history_writer;
pub mod ingest;
pub mod limits;
pub mod model;
pub mod records;
pub mod reference;
pub mod run;
pub mod scale;
pub mod store;
pub mod synthesise;
pub mod texts;
pub mod validity;
pub mod words;
pub mod workload;

pub use error::Error;
