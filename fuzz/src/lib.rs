//! Fuzz targets: one for each reader of what users and other tools write.
//!
//! ```text
//! seeds/<target>/* ──▶ Mutator ──▶ Target::run        the target must not panic, hang or take unbounded memory
//!                        ▲
//!        tests/targets.rs (a fixed number of inputs, on any Rust) or libFuzzer (as long as you like)
//! ```
//!
//! * [`Target`] is a reader and its seeds; [`targets`] lists all. Each format is one, without a line here.
//! * [`Mutator`] changes records, fields, words and brackets rather than bytes, so that most inputs get past the first check.
//!
//! docs/developers/add-a-format.md says how to run them, how to add one, and what to do with an input that a run has found.

mod mutator;
mod readers;
mod target;

pub use mutator::{LONGEST, Mutator};
pub use target::{Target, targets};
