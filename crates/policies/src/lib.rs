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
pub mod batch;
pub mod hadoop;
pub mod parts;
pub mod queues;
mod registry;
mod site;
pub mod speculation;
#[cfg(test)]
mod testing;

pub use any::AnyPolicy;
pub use registry::{
    BATCH_POLICIES, FAMILIES, POLICIES, Parameter, PolicyInfo, PolicySpec, Range, SpeculatorInfo, SpeculatorSpec,
    family, nearest,
};
pub use site::{CLUSTER_SETTINGS, ClusterSetting, Site, SiteConf};
pub use speculation::SPECULATORS;
