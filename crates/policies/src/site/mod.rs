//! A site's own configuration, as its Hadoop had it: what policies take from it instead of their defaults.

use crate::parts::allocations::Allocations;

/// What the configuration of a site says to policies; empty unless one was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Site {
    /// The pools of MapReduce 1's `fair-scheduler.xml`.
    pub pools: Option<Allocations>,
}
