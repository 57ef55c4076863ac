//! How sure a number or a difference is.

pub mod blocks;
pub mod compare;
pub mod distribution;
pub mod estimate;
pub mod headline;
pub mod outlier;
pub mod paired;
pub mod practical;
pub mod repeats;
pub mod sign;
