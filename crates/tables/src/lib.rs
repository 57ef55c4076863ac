//! The tables of resched: the one form in which jobs stand between a source, a replay and a report.
//!
//! ```text
//! ingest (readers of sources) ──▶ Sink ──▶ TraceWriter ──▶ <trace>/jobs.parquet, tasks.parquet, …, trace.json
//! replay (engines)            ──▶ rows ──▶ run tables  ──▶ <run>/jobs.parquet, attempts.parquet, …, run.json
//! ```
//!
//! * [`model`] declares the rows of the tables and their enumerations. Each column is declared there, once.
//! * [`store`] writes a trace whole or not at all, and reads it back. [`reader`] goes through it row by row without copies, and
//!   [`records`] job by job.
//! * [`sink`] takes jobs one by one, or keeps them in memory. [`cause`] lists what readers may leave out, mend or assume.
//! * [`standing`] says whether a job counts.
//! * [`run`] describes a replay. The tables of a run have the same form as those of a trace.
//! * [`reference`](mod@reference) declares the keys, columns and metrics that users meet, and makes pages from them.
//! * [`engine`] names the two engines that replay jobs.
//! * [`cluster_file`] declares the cluster file, which says on what and by which rules a replay runs.
//! * [`toml_file`] says where a hand-written TOML file is wrong.
//! * [`call`] lets a program that embeds resched stop what it asked for.
//! * [`clock`] reads and writes times as people do: dates, zones and windows.
//! * [`validity`] says how far an answer can be trusted.
//! * [`whole`] reads small files whole, through a limit; [`limits`] has the form in which each crate lists its limits.
//! * [`draws`] gives random numbers that depend only on (seed, purpose, entity).
//! * [`pods`] has what pods of Kubernetes ask of nodes.
//! * [`names`] names machines that are made up, and tasks; [`words`] and [`texts`] write and share texts.
//!
//! This crate depends on no other of resched. It reads no format and runs no scheduler, prints nothing and never exits.

pub mod call;
pub mod cause;
pub mod clock;
pub mod cluster_file;
pub mod contrast;
pub mod demand;
pub mod draws;
pub mod engine;
mod error;
pub mod host_list;
pub mod limits;
pub mod model;
pub mod named;
pub mod names;
pub mod placed;
pub mod pods;
pub mod reader;
pub mod records;
pub mod reference;
pub mod run;
pub mod sink;
pub mod standing;
pub mod store;
mod system_words;
pub mod texts;
pub mod toml_file;
pub mod validity;
pub mod whole;
pub mod words;

pub use error::Error;
#[doc(hidden)]
pub use {arrow_array, arrow_schema};
