//! Kubernetes batch: the objects that a site keeps as YAML, and the decisions that Kueue makes from them.
//!
//! ```text
//! the site's YAML ──▶ objects::Site ──▶ kueue::Model ──▶ kueue::Kueue ◀── submit, ended, gone, wake
//!                                                             └──▶ settle ──▶ admissions, preemptions
//! ```
//!
//! Nothing here knows an engine: the caller says when work ends and when the pods of an evicted workload are gone.

pub mod kueue;
pub mod objects;
