//! Policies for Hadoop clusters, by where they come from.

pub mod mr1;
pub mod papers;
pub mod yarn;
