//! What changes over the time of a run.

pub mod over_time;
pub mod timeline;
