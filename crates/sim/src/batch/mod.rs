//! Replay of production traces: tasks that request processor and memory, stages, gangs; no heartbeats and no places of input.
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
//! instance of a gang is lost, the whole gang waits again.
//!
//! **Time.** Time is whole milliseconds. The events of one instant have this order: tasks end, in the order of their
//! starts; machines change; jobs are submitted; the policy has its tick; and, if tasks wait, the policy is asked once.
//! A task of zero length ends at the instant of its start, after that pass, and another pass follows.
//!
//! **Attempt times** come from the log, by the rules in the module of [`load`]. A policy does not see them, except through
//! [`View::estimate`].

mod attempts;
mod check;
mod draft;
mod engine;
mod index;
mod jobs;
mod load;
mod log;
mod machines;
mod names;
mod observer;
mod order;
mod policy;
mod run_rows;
mod survival;
mod tries;
mod view;
mod workload;
mod world;

pub use crate::ids::AttemptId;
pub use check::Checked;
pub use engine::{Tally, replay};
pub use jobs::{Job, JobView, Jobs};
pub use load::{Loaded, load, load_records};
pub use machines::{Change, Machine, Machines, SizeRule, unit_of};
pub use observer::{Ended, Launched, Observer};
pub use policy::{Offer, Orders, Policy};
pub use run_rows::RunRows;
pub use view::View;
pub use workload::{Cut, JobSpec, StageSpec, Task, TaskSpec, Try, Workload};
