//! Replays a workload or a trace under a policy. Every replay in this project calls [`World::replay`]. You can call it,
//! too:
//!
//! ```
//! use resched_replay::{Memory, PolicySpec, Setup, Source, World};
//!
//! fn main() -> Result<(), resched_replay::Error> {
//!     let source = Source::open("../../traces/sample-history.toml")?; // or the folder of a trace
//!     let world = World::open(&source, Setup::default())?;
//!     for policy in ["fifo", "delay:D=12"] {
//!         let policy = PolicySpec::parse(policy)?;
//!         let run = world.replay(&policy, Memory)?;
//!         let last = run.tables.jobs.iter().filter_map(|job| job.finish).max().unwrap_or(0);
//!         println!("{}: {} jobs, done after {} s", policy.label(), run.tables.jobs.len(), last / 1000);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! ```text
//! trace folder, workload file, tables in memory
//!      │ Source::open
//!      ▼
//!    Source ──┐
//! Setup ──────┴─ World::open ──▶ World ──▶ world.replay(policy, sink) ──▶ what the sink makes of it
//! (cluster, site, seed)          │         PolicySpec, or your own       Files: a folder · Memory: tables · Nothing: numbers
//!                                └─ with_seed: the same world with other draws
//! ```
//!
//! * A [`Source`] is the work that you replay. It knows its [`Engine`]: Hadoop's maps and reduces, or batch tasks that
//!   request processor and memory.
//! * A [`World`] is a source on a cluster with a seed. It loads machines and jobs once, when the first policy needs
//!   them. You can replay any number of policies in it, also from several threads at once.
//! * A [`Scheduler`] is a policy of the registry ([`PolicySpec`], or [`ReadyPolicy`] if you checked it before) or your own.
//! * A [`Sink`] takes the rows: [`Files`], [`Memory`], [`ReadBy`], [`Times`] or [`Nothing`].
//! * [`World::variants`] are the same world with another value for what the data leaves open ([`UNKNOWNS`]), to test whether an answer
//!   depends on it.
//! * [`Threads`] runs many replays at once and keeps their order.
//!
//! This crate prints nothing and computes no metric.

mod binding;
mod error;
mod facts;
mod keys;
mod left_out;
mod log;
mod ready;
mod run;
mod run_list;
mod runs;
mod scheduler;
mod share;
mod sink;
mod source;
mod threads;
mod times;
mod unknowns;
mod usual;
mod world;

pub use error::Error;
pub use keys::is_read_by;
pub use log::Log;
pub use ready::ReadyPolicy;
pub use run::Pending;
pub use run_list::runs_in;
pub use runs::RunFolders;
pub use scheduler::Scheduler;
pub use sink::{Files, Memory, Nothing, ReadBy, Replayed, Sink, Times, Written};
pub use source::{Source, set_machines};
pub use threads::{LIMITS, MOST_THREADS, Threads};
pub use times::{JobTimes, Timed};
pub use unknowns::{UNKNOWNS, Unknown, Variant};
pub use usual::usual_schedulers;
pub use world::{Setup, World, unknown_hosts};

pub use resched_policies::{Engine, PolicySpec, Site};
pub use resched_sim::{ClusterConfig, Skipped, Window, batch, hadoop};
pub use resched_tables::run::{RunInfo, RunSite, RunTables, RunTrace, Unfinished};
