//! Replay of a Hadoop cluster: maps and reduces on slots or in containers, heartbeats, places of input.
//!
//! ```text
//! Trace ──load──▶ Workload ─┐
//! cluster file ──▶ Cluster ─┼─replay──▶ Observer (tables of a run, a test)
//! Policy ───────────────────┘
//!            heartbeat ──▶ reports ──▶ policy.heartbeat(offer) ──▶ launches
//! ```
//!
//! A policy sees a [`View`] that hides run times, outcomes and future jobs. It launches tasks through an [`Offer`] that
//! checks every launch.

mod ask;
mod attempt;
mod beats;
mod bits;
mod check;
mod cluster;
mod containers;
mod contention;
mod cost;
mod engine;
mod given;
mod kind;
mod load;
mod logged;
mod observer;
mod offer;
mod oracle;
mod policy;
mod progress;
mod resources;
mod run_rows;
mod system;
mod view;
mod workload;
mod world;
mod wrapper;

pub use crate::ids::AttemptId;
pub use ask::Ask;
pub use beats::first_heartbeats;
pub use check::Checked;
pub use cluster::{Cluster, Node};
pub use containers::{AmState, AppView, Container, ContainerState, Reservation, YarnOffer, YarnOfferMut, YarnView};
pub use cost::{Fluid, Script, slowstart_threshold};
pub use engine::{Lulls, Options, Tally, replay};
pub use kind::Kind;
pub use load::{Loaded, Starts, load, load_records};
pub use logged::{Logged, LoggedMap, LoggedReduce, Packed};
pub use observer::{Ended, Kept, Launched, MasterEnded, MasterLaunched, Observer, TakenBack, Used};
pub use offer::Offer;
pub use oracle::Oracle;
pub use policy::{Orders, Policy};
pub use progress::{Part, Progress};
pub use resources::{FURTHER, Resources};
pub use run_rows::RunRows;
pub use system::System;
pub use view::{AttemptEnd, AttemptView, JobView, View};
pub use workload::{Edges, Job, TaskSpec, Workload, usual_task_name};
pub use world::Reach;
pub use wrapper::Wrapper;
