//! Placement in clusters of GPUs, as published: parts of a device, several whole devices, models.
//!
//! The policies are those that Weng et al. compare in *Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
//! Fragmentation Gradient Descent* (USENIX ATC 2023), with the scores of their simulator: whole numbers from 0 to 100, equal
//! scores by a rank of the nodes that the caller gives.
//!
//! A [`Cluster`] says where a pod goes ([`Cluster::choose`]); the caller books it there ([`Cluster::book`]) and frees it when it
//! ends. [`openb`] reads the lists of that paper and repeats its experiment.

mod cluster;
mod demand;
mod fragments;
mod go_rand;
pub mod openb;
mod policy;
mod states;
#[cfg(test)]
mod tests;

pub use cluster::{Cluster, GpuNode, Place, Wrong};
pub use demand::{Demand, MOST_DEVICES, MOST_MODELS, Shape};
pub use fragments::Typical;
pub use go_rand::GoRand;
pub use policy::{Policy, UnknownPolicy};
