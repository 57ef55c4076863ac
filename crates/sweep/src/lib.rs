//! Sweeps: from one replay to an answer with error bars, on one machine or many.
//!
//! ```text
//! sweep file ──plan──▶ sweep.json (cells) ──cell──▶ cells/<id>.parquet ──merge──▶ tables, figures, index.html
//!                                           any engine, any order,      (nothing missing)
//!                                           twice, after a crash
//! ```
//!
//! * [`SweepFile`] is the sweep file, read and checked; the module [`file`](SweepFile) shows it.
//! * [`Plan`] has the cells with their identities: the hash of all that a result depends on.
//! * [`CellStore`] has their results, in a folder or an object store. What is there is done.
//! * [`carry_out`] replays cells on this machine's cores; Dask and Slurm call `resched sweep cell` instead.
//! * [`tune`] searches for parameters, by successive halving over seeds.
//! * [`Merged`] reads all results; [`statistics`] says which differences are real.
//!
//! The merged tables and figures are the same bytes whatever engine made the cells, in whatever order.

mod cell_store;
mod design;
mod error;
mod figures;
mod file;
mod halving;
mod local;
mod location;
mod merge;
mod metrics;
mod objects;
mod page;
mod plan;
mod results;
pub mod statistics;
mod tune;
mod values;
mod world;

pub use cell_store::{CELLS, CellStore};
pub use error::Error;
pub use file::{FileCopy, SweepFile};
pub use local::{Progress, Told, carry_out, replay_alone};
pub use location::Location;
pub use merge::Merged;
pub use metrics::{METRICS, Metric};
pub use plan::{Cell, MARKER, Plan};
pub use results::CellResult;
pub use tune::{Candidate, MeanInterval, Tuned, tune};
pub use world::{WORLD_KEYS, WorldKey};
