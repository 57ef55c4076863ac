//! Sweeps: from one replay to an answer with error bars, on one machine or many.
//!
//! ```text
//! sweep file ──plan──▶ sweep.json (cells) ──cell──▶ cells/<id>.parquet ──merge──▶ tables, figures, index.html
//!                                           any engine, any order,      (nothing missing)
//!                                           twice, after a crash
//! ```
//!
//! Each module uses those above it in this table, never those below:
//!
//! | what | modules |
//! |---|---|
//! | values, what is replayed, the site, metrics, places for files | `values`, `source`, `site`, `metrics`, `location` |
//! | [`SweepFile`]: the sweep file, read and checked | `world_keys`, `tune_section`, `file`, `design` |
//! | the worlds that cells are replayed in | `world` |
//! | [`Cell`], its result, and [`CellStore`] with the results, in a folder or an object store | `cell`, `results`, `cell_store` |
//! | [`Plan`]: the cells with their identities, each the hash of all that its result depends on | `plan` |
//! | [`carry_out`] replays cells on this machine's cores; Dask and Slurm call `resched sweep cell` instead | `local` |
//! | [`Merged`] reads all results; [`statistics`] shows which differences are real | [`statistics`], `merge` |
//! | the answer in sentences, tables, figures and the page that shows them | `answer`, `tables`, `figures`, `page`, `output` |
//! | [`size`] finds the smallest cluster that keeps a metric within a bound | `size` |
//! | [`tune()`] searches for parameters, by successive halving over seeds | `tune` |
//!
//! A cell whose result is in the store is done. The merged tables and figures are the same bytes for every engine and every order
//! of the cells.

mod answer;
mod cell;
mod cell_store;
mod design;
mod error;
mod figures;
mod file;
mod idle;
mod interval;
mod limits;
mod local;
mod location;
mod logs;
mod merge;
mod metrics;
mod output;
mod page;
mod plan;
mod results;
mod sign;
mod site;
pub mod size;
mod source;
pub mod statistics;
mod tables;
mod tune;
mod tune_section;
mod values;
mod world;
mod world_keys;

pub use cell::Cell;
pub use cell_store::{CELLS, CellStore};
pub use error::Error;
pub use file::{FileCopy, MOST_SEEDS, SweepFile};
pub use interval::MeanInterval;
pub use limits::LIMITS;
pub use local::{OnProgress, Progress, Replaying, carry_out, replay_alone};
pub use location::Location;
pub use merge::Merged;
pub use plan::{MARKER, MOST_CELLS, Plan};
pub use results::CellResult;
pub use site::site_warnings;
pub use tune::{Candidate, MARKER as TUNED, Tuned, tune};
pub use world_keys::{WORLD_KEYS, WorldKey};
