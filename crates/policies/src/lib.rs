//! The scheduling policies of resched: one file each, the parts that several share, and the registry.
//!
//! ```
//! use resched_policies::PolicySpec;
//!
//! let spec = PolicySpec::parse("delay:D=24").unwrap();
//! assert_eq!(spec.label(), "delay:D=24");
//! assert!(PolicySpec::parse("dely").unwrap_err().contains("did you mean `delay`"));
//! ```

mod any;
mod aria;
pub mod batch;
mod capacity;
mod cogrs;
mod coupling;
mod delay;
mod delay_time;
mod dress;
mod fair;
mod fair_deficit;
mod fifo;
mod flex;
mod naive_fair;
pub mod parts;
mod quincy;
mod registry;
mod site;
pub mod speculation;
mod srpt;
#[cfg(test)]
mod testing;
mod triple_queue;
mod yarn_capacity;
mod yarn_fair;
mod yarn_fifo;

pub use any::AnyPolicy;
pub use aria::Aria;
pub use capacity::{Capacity, CapacityQueue};
pub use cogrs::CoGrs;
pub use coupling::Coupling;
pub use delay::Delay;
pub use delay_time::DelayTime;
pub use dress::Dress;
pub use fair::Fair;
pub use fair_deficit::FairDeficit;
pub use fifo::Fifo;
pub use flex::Flex;
pub use naive_fair::NaiveFair;
pub use parts::allocations::{Allocations, PoolConfig, PoolMode};
pub use quincy::Quincy;
pub use registry::{
    BATCH_POLICIES, FAMILIES, POLICIES, Parameter, PolicyInfo, PolicySpec, Range, SpeculatorInfo, SpeculatorSpec,
    family, nearest,
};
pub use site::{CLUSTER_SETTINGS, ClusterSetting, Site, SiteConf};
pub use speculation::SPECULATORS;
pub use srpt::Srpt;
pub use triple_queue::TripleQueue;
pub use yarn_capacity::{YarnCapacity, YarnQueue};
pub use yarn_fair::{FairQueue, SharePolicy, YarnFair};
pub use yarn_fifo::YarnFifo;
