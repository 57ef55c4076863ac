//! A site's own objects, as it keeps them in YAML (JSON is YAML, too).
//!
//! ```text
//! files ──▶ yaml: documents with places ──▶ one reader per kind ──▶ Site: names checked ──▶ kueue::Model
//! ```
//!
//! Kinds are given by `kind`; `v1beta1` and `v1beta2` are read alike, older names included. A field that has no effect here becomes a
//! [`Note`], an object of another kind is counted.

mod cluster_queue;
mod cohort;
mod configuration;
mod error;
mod fields;
mod flavor;
mod local_queue;
mod model;
mod namespace;
mod priority;
mod quantity;
mod quotas;
mod site;
#[cfg(test)]
mod tests;
mod topology;
pub mod yaml;

pub use self::cluster_queue::ClusterQueue;
pub use self::cohort::Cohort;
pub use self::configuration::Configuration;
pub use self::error::{Error, Note, Place};
pub use self::flavor::ResourceFlavor;
pub use self::local_queue::LocalQueue;
pub use self::namespace::{Namespace, Selector, SelectorOperator};
pub use self::priority::WorkloadPriorityClass;
pub use self::quantity::{LARGEST, Quantity, amount};
pub use self::quotas::{FlavorQuotas, ResourceGroup, ResourceQuota};
pub use self::site::Site;
pub use self::topology::Topology;
