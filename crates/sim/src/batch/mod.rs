//! Replay of production traces: tasks with requests of their own, stages, gangs; no heartbeats and no places of input.
//!
//! ```text
//! Trace, cluster file ──load──▶ Workload, Machines ─┐
//! Policy ───────────────────────────────────────────┼─replay──▶ Observer (tables of a run, a test)
//!            something changed ──▶ policy.schedule(offer) ──▶ starts
//! ```
//!
//! **World.** A job has stages, a stage has tasks, a task has one or more instances that ask for the same [`Resources`]. A stage
//! starts when all instances of the stages that it depends on have ended, well or not; a job when all jobs have that it depends
//! on. The instances of a gang start together or not at all. Machines come, go and change as the trace says; what runs on one
//! that leaves is lost and waits again, a gang with all its instances.
//!
//! **Time.** Whole milliseconds. At an instant first the tasks end that end then, in the order in which they started; then
//! machines change, jobs are submitted, the policy has its tick; then it is asked once, if anything waits. A task of no length
//! ends at the instant at which it starts, after that pass, and another pass follows.
//!
//! **Run times** are those of the log, [`load`] says by which rules. A policy sees none of them, but for [`View::estimate`].

mod engine;
mod index;
mod load;
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

pub use engine::{Tally, replay};
pub use load::{Loaded, is_production, load};
pub use machines::{Change, Machine, Machines};
pub use observer::{Ended, Launched, Observer};
pub use policy::{Offer, Orders, Policy};
pub use run_rows::{BatchRows, RunRows, RunWriter};
pub use runs::RunId;
pub use view::View;
pub use workload::{Job, JobSpec, StageSpec, Task, TaskSpec, Try, Workload};
