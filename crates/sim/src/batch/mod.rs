//! Replay of production traces: tasks that request processor and memory, stages, gangs; no heartbeats and no places of input.
//!
//! ```text
//! Trace, cluster file ──load──▶ Workload, Machines ─┐
//! Policy ───────────────────────────────────────────┼─replay──▶ Observer (tables of a run, a test)
//!            something changed ──▶ policy.schedule(offer) ──▶ starts
//! ```
//!
//! **World.** A job has stages, a stage has tasks, a task has one or more instances that ask for the same `Resources`. A stage
//! starts when all instances of the stages that it depends on have ended, well or not; a job when all jobs have that it depends
//! on. The instances of a gang start together or not at all. Machines come, go and change as the trace says; what runs on one
//! that leaves is lost and waits again, a gang with all its instances.
//!
//! **Time.** Whole milliseconds. At an instant first the tasks end that end then, in the order in which they started; then
//! machines change, jobs are submitted, the policy has its tick; then it is asked once, if anything waits. A task of no length
//! ends at the instant at which it starts, after that pass, and another pass follows.
//!
//! **Run times** are those of the log, by the rules that the module of [`load`] gives. A policy sees none of them, but for [`View::estimate`].

mod engine;
mod index;
mod load;
mod log;
mod machines;
mod observer;
mod order;
mod policy;
mod run_rows;
mod runs;
mod tries;
mod view;
mod workload;
mod world;

pub use crate::ids::RunId;
pub use engine::{Tally, replay};
pub use load::{Loaded, load, load_records};
pub use log::{is_batch, is_batch_records};
pub use machines::{Change, Machine, Machines};
pub use observer::{Ended, Launched, Observer};
pub use policy::{Offer, Orders, Policy};
pub use run_rows::{BatchRows, RunRows, RunWriter};
pub use view::View;
pub use workload::{Job, JobSpec, StageSpec, Task, TaskSpec, Try, Workload};
