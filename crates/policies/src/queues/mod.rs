//! The queues and pools of schedulers as their files describe them, one file for each scheduler.

pub mod allocations;
pub mod capacity;
pub(crate) mod file;
pub mod slurm;
pub mod spark_pools;
pub(crate) mod toml;
pub mod tree;
pub mod yarn_capacity;
pub mod yarn_fair;

pub use allocations::{Allocations, PoolConfig, PoolMode};
pub use capacity::CapacityQueue;
pub use slurm::SlurmConf;
pub use spark_pools::SparkPools;
pub use tree::QueueTree;
pub use yarn_capacity::YarnQueue;
pub use yarn_fair::{FairQueue, SharePolicy};
