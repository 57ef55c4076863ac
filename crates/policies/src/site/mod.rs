//! A site's own configuration, as its Hadoop had it: what policies take from it instead of their defaults.

use crate::capacity::CapacityQueue;
use crate::parts::allocations::Allocations;
use crate::parts::queue_tree::QueueTree;
use crate::yarn_capacity::YarnQueue;
use crate::yarn_fair::FairQueue;

/// What the configuration of a site says to policies; empty unless one was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Site {
    /// The pools of MapReduce 1's `fair-scheduler.xml`.
    pub pools: Option<Allocations>,
    /// The queues of YARN's Capacity Scheduler.
    pub yarn_queues: Option<QueueTree<YarnQueue>>,
    /// The queues of YARN's Fair Scheduler.
    pub yarn_fair: Option<QueueTree<FairQueue>>,
    /// The queues of MapReduce 1's Capacity Scheduler.
    pub mapred_queues: Option<QueueTree<CapacityQueue>>,
}
