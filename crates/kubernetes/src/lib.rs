//! Kubernetes batch: the objects that a site keeps as YAML, the decisions that Kueue makes from them, and how pods are placed: by
//! kube-scheduler, or by the published placements of GPU clusters.
//!
//! ```text
//! the site's YAML ──▶ objects::Site ──▶ kueue::Model ──▶ kueue::Kueue ◀── submit, ended, gone, wake
//!                                                             └──▶ settle ──▶ admissions, preemptions
//! nodes, KubeSchedulerConfiguration ──▶ kube_config ──▶ kube::Scheduler ──▶ bound, failed, preempted
//! nodes with devices, lists of pods ──▶ gpu::Cluster ──▶ gpu::Policy: fgd, best-fit, dot-product, …
//! ```
//!
//! Nothing here knows an engine or a clock: the caller says what happened and when, and asks for the next decisions.

pub mod gpu;
pub mod kube;
pub mod kube_config;
pub mod kueue;
pub mod objects;
