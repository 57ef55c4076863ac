//! What is computed of one run: metrics of jobs, metrics of runs, tables by group.

pub mod bound;
pub mod by_size;
pub mod cells;
pub mod classes;
mod described;
mod expense;
pub mod formulas;
#[cfg(feature = "frames")]
mod frame;
pub mod groups;
pub mod list;
pub mod named;
pub mod share_error;
pub mod summary;
pub mod validity;
mod whole;
