//! Replay of production traces: tasks that request processor and memory, stages, gangs; no heartbeats.
//!
//! ```text
//! Trace, cluster file ──load──▶ Workload, Machines ─┐
//! Policy ───────────────────────────────────────────┼─replay──▶ Observer (tables of a run, a test)
//!            something changed ──▶ policy.schedule(offer) ──▶ starts
//! ```
//!
//! **World.** A job has stages, a stage has tasks, and a task has one or more instances that request the same
//! `Resources`. A stage starts when all stages that it depends on have ended. A job starts when all jobs that it
//! depends on have ended. Failure counts as an end. The instances of a gang start together or not at all. Machines
//! come, go and change as the trace says. If a machine leaves, the instances on it are lost and wait again. If one
//! instance of a gang is lost, the whole gang waits again. A policy may evict what runs ([`Offer::evict`]):
//! the work that was done is lost or kept, and the machines are free at once or later.
//!
//! **Time.** Time is whole milliseconds. The events of one instant have this order: tasks end, in the order of their
//! starts; machines change; jobs are submitted; the policy has its tick; and, if tasks wait, the policy is asked once.
//! A task of zero length ends at the instant of its start, after that pass, and another pass follows.
//!
//! **Places.** A task may prefer machines: those that the trace names, or, in a trace of Spark, those that hold much of
//! what a stage wrote that it reads. Only some policies look at that. How near a task ran is recorded under all of them, and
//! a task takes longer away from the machines that the trace names ([`LocalityCost`]).
//!
//! **Attempt times** come from the log, by the rules in the module of [`load`]. A policy does not see them, except through
//! [`View::estimate`].

mod again;
mod amounts;
mod arrays;
mod attempts;
mod check;
mod dim;
mod dimensions;
mod draft;
mod engine;
mod evictions;
mod index;
mod jobs;
mod ledger;
mod load;
mod log;
mod looks;
mod machines;
mod names;
mod needs;
mod observer;
mod order;
mod places;
mod policy;
mod redraw;
mod run_rows;
mod scarcity;
mod shuffles;
mod stock;
mod survival;
mod tries;
mod view;
mod workload;
mod world;

pub use crate::ids::AttemptId;
pub use amounts::Amounts;
pub use check::Checked;
pub use dim::Dim;
pub use dimensions::Dimensions;
pub use engine::{Tally, replay, replay_seeded};
pub use evictions::{Eviction, Then, Work};
pub use jobs::{Again, Job, JobView, Jobs};
pub use load::{Loaded, TooLarge, load, load_records};
pub use machines::{Change, Executor, Machine, Machines, SizeRule, unit_of};
pub use needs::{Needs, Pods};
pub use observer::{Ended, Launched, Observer};
pub use places::{Fitted, LocalityCost};
pub use policy::{Offer, Orders, Policy};
pub use run_rows::RunRows;
pub use view::View;
pub use workload::{Cut, JobSpec, MissingLimit, StageSpec, Task, TaskSpec, Try, Workload};
pub use world::Placed;
