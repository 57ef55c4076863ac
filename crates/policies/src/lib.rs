//! The scheduling policies of resched: one file for each, shared parts, and the registry.
//!
//! ```
//! use resched_policies::PolicySpec;
//!
//! let spec = PolicySpec::parse("delay:D=24").unwrap();
//! assert_eq!(spec.label(), "delay:D=24");
//! assert!(PolicySpec::parse("dely").unwrap_err().to_string().contains("did you mean `delay`"));
//! ```

mod batch;
mod error;
pub mod foreign;
pub mod hadoop;
mod info;
mod input;
mod loader;
mod order;
mod parameter;
pub mod parts;
mod present;
pub mod queues;
mod registry;
mod routes;
mod settings;
mod site;
mod spec;
pub mod speculation;
mod submitters;
#[cfg(test)]
mod testing;
mod unread;
mod without_effect;
mod zeros;

pub use error::Error;
pub use info::{Family, PolicyInfo};
pub use input::Input;
pub use loader::{Loader, set_loader};
pub use order::order_of;
pub use parameter::{Parameter, Range, Signal};
pub use registry::{POLICIES, SPECULATORS, policies_of, unit_of};
pub use resched_tables::reference::nearest;
pub use resched_tables::run::RunEngine as Engine;
pub use routes::{Finding, Rule, in_words};
pub use site::{CLUSTER_SETTINGS, ClusterSetting, LimitOrigins, Origins, SITES, SettingOrigin, Site, SiteConf};
pub use spec::{LIMITS, PolicySpec, SpeculatorSpec};
pub use speculation::SpeculatorInfo;
pub use submitters::{Submitter, Submitters};
pub use unread::Unread;
pub use zeros::Stops;
