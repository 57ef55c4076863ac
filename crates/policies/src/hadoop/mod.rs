//! Policies for Hadoop clusters, by where they come from.

pub mod mr1;
pub(crate) mod papers;
pub(crate) mod yarn;
