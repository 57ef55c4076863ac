//! The replay engines of resched: clock, events, machines, jobs and cost models. They know no policy by name.
//!
//! Two engines stand side by side. [`hadoop`] replays maps and reduces with heartbeats, on slots or in containers;
//! [`batch`] replays production traces, whose tasks request processor and memory. Both share the modules of this level:
//! ids, [`Resources`], [`Error`], the reports of a replay, and the tables of a run. Both read one [`cluster_file`].
//!
//! Time is whole milliseconds, and one seed gives one schedule.

pub mod batch;
mod bottlenecks;
mod clones;
mod error;
pub mod hadoop;
mod ids;
mod loading;
mod observer;
mod reasons;
mod resources;
mod run_tables;
mod scope;

pub use bottlenecks::Bottlenecks;
pub use error::{Error, Violation};
pub use ids::{AttemptId, JobId, Ms, NodeId, RackId, TaskId};
pub use loading::{LONGEST, Skipped};
pub use observer::{Decided, JobEnded, PassedOver, Reports};
pub use resched_tables::cluster_file::{self, ClusterConfig};
pub use resources::Resources;
pub use run_tables::Files;
pub use scope::{Scope, Window, Work};
