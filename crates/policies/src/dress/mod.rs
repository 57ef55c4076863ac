//! DRESS (policies B.9).

pub mod delta;
pub mod phases;
