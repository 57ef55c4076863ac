//! The replay engine of resched: clock, events, cluster, jobs and cost models; it knows no policy by name.
//!
//! ```text
//! Trace ──load──▶ Workload ─┐
//! cluster file ──▶ Cluster ─┼─replay──▶ Observer (tables of a run, a test)
//! Policy ───────────────────┘
//!            heartbeat ──▶ reports ──▶ policy.heartbeat(offer) ──▶ launches
//! ```
//!
//! Time is whole milliseconds; one seed gives one schedule. A policy sees a [`View`] that hides run times, outcomes and jobs
//! to come, and launches through an [`Offer`] that checks every launch.
//!
//! This engine is Hadoop's. Traces of production clusters, whose tasks ask for processor and memory of their own, have another,
//! without heartbeats and localities: [`batch`].

pub mod batch;
mod beats;
mod cluster;
mod compute_gate;
mod containers;
mod contention;
mod cost;
mod engine;
mod error;
mod ids;
mod index;
mod load;
mod load_records;
mod observer;
mod offer;
mod oracle;
mod policy;
mod progress;
mod resources;
mod run_rows;
mod run_tables;
mod view;
mod workload;
mod world;

pub use beats::first_heartbeats;
pub use cluster::{
    Backup, Cluster, ClusterConfig, Contention, Cost, Era, Heartbeat, Interval, Jobs, Machines, Node, Nodes, Outage,
    Phase, Placement, ReduceModel, Slow, Splits,
};
pub use containers::{AmState, Ask, Calculator, Container, ContainerState, Containers, Reservation, Size, System};
pub use cost::{Fluid, Script, slowstart_threshold};
pub use engine::{Options, Tally, replay};
pub use error::Error;
pub use ids::{JobId, Kind, Level, Ms, NodeId, RackId, TaskId};
pub use index::Reach;
pub use load::{Skipped, load};
pub use load_records::load_records;
pub use observer::{Decided, Ended, JobEnded, Launched, Observer, Used};
pub use offer::{Offer, Violation};
pub use oracle::Oracle;
pub use policy::{Orders, Policy};
pub use progress::{Part, Progress};
pub use resources::Resources;
pub use run_rows::{HadoopRows, RunRows, RunWriter};
pub use run_tables::{Files, Recorder, RowSink, RowSource};
pub use view::{AttemptEnd, JobView, RunId, RunView, View};
pub use workload::{Job, LONGEST, LoggedMap, LoggedReduce, TaskSpec, Workload, usual_task_name};
