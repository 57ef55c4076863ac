//! Replays policies and compares them: what the commands do, as functions with typed results.
//!
//! ```text
//!                     ┌─ replay    replays policies into folders, on one set of jobs, with the test of their signs ──▶ Comparison
//! World, policies ────┼─ log       replays what may have run, beside the log ───────────────────────────────────────▶ BesideLog
//!                     ├─ validate  replays what ran beside what was observed ─────────────────────────────────────▶ Validated
//!                     └─ sign      replays every policy in variants of the world ──────────────────────────────────▶ Variants
//! folders of runs ─┬─── diff       pairs of runs: what differs beside the policies, and how sure the change is ────▶ Diffed
//!                  └─── gate       may this run be merged: bounds, and comparisons with other runs ────────────────▶ Gate
//! ```
//!
//! What an answer rests on is put together in one place, [`resched_analysis::answer`], so that every command gives the same facts and the same
//! grade. This crate prints nothing: a [`Watch`] hears how far the work is.

pub mod diff;
mod error;
pub mod gate;
pub mod log;
pub mod replay;
pub mod sign;
pub mod validate;
mod watch;

pub use error::Error;
pub use replay::{Comparison, Kept, Replayed};
pub use sign::{Asked, Plan};
pub use watch::Watch;
