//! Everything that a policy of your own needs: the engines with their `Policy` traits, the policies of the registry to compare with, and
//! [`compare`], which replays them on the same jobs. It has no reports, no sweeps and no readers of logs, so that it builds quickly.
//!
//! `resched new-policy NAME --rust` makes a crate that uses it.
//!
//! ```
//! use resched_kit::hadoop::{Kind, Offer, Policy, Reach};
//! use resched_kit::prelude::*;
//!
//! /// A free slot goes to the job that came last.
//! struct LastFirst;
//!
//! impl Policy for LastFirst {
//!     fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
//!         let jobs = offer.view().jobs().to_vec();
//!         for &job in jobs.iter().rev() {
//!             while offer.free(Kind::Map) > 0 && offer.launch_map(job, Reach::Any)?.is_some() {}
//!             while offer.free(Kind::Reduce) > 0 && offer.launch_reduce(job)? {}
//!         }
//!         Ok(())
//!     }
//! }
//!
//! fn main() -> Result<(), Error> {
//!     let source = Source::open("../../traces/sample-history.toml")?; // or the folder of a trace
//!     let policies = [Candidate::listed("fifo"), Candidate::hadoop("last-first", || LastFirst)];
//!     let table = compare(&source, &Setup::default(), 3, &policies)?;
//!     assert_eq!(table.rows.len(), 2);
//!     println!("{table}");
//!     Ok(())
//! }
//! ```
//!
//! | you need | use |
//! |---|---|
//! | a policy for MapReduce 1 or YARN | [`hadoop::Policy`], [`hadoop::Offer`], [`hadoop::View`] |
//! | a policy for tasks that request processor and memory | [`batch::Policy`], [`batch::Offer`], [`batch::View`] |
//! | a trace or a workload file | [`Source::open`](prelude::Source::open), [`workload`] |
//! | a few jobs for a test | [`workload`], [`Requests`] |
//! | a cluster file, a seed, a window | [`Setup`](prelude::Setup), [`ClusterConfig`](prelude::ClusterConfig) |
//! | a table of several policies | [`compare`] |
//! | every row of a replay | [`World::replay`](prelude::World::replay) with [`Memory`](prelude::Memory) |
//! | when each job started and ended | [`World::replay`](prelude::World::replay) with [`Times`](prelude::Times) |
//! | all metrics of a run | [`Run`](prelude::Run), [`Summary`](prelude::Summary), [`analysis`] |
//!
//! The crates below it are here in full under the names [`analysis`], [`policies`], [`replay`], [`sim`] and [`tables`].

mod candidate;
mod compare;
mod requests;
mod table;

pub use candidate::Candidate;
pub use compare::compare;
pub use requests::Requests;
pub use table::{Row, Table};

pub use resched_analysis as analysis;
pub use resched_policies as policies;
pub use resched_replay as replay;
pub use resched_sim as sim;
pub use resched_sim::{batch, hadoop};
pub use resched_tables as tables;

use resched_replay::{Error, Source};
use resched_workload::Workload;

/// The names that most programs need.
pub mod prelude {
    pub use crate::{Candidate, Requests, Row, Table, compare, workload};
    pub use resched_analysis::{Run, Summary};
    pub use resched_replay::{
        ClusterConfig, Engine, Error, Files, Memory, Nothing, PolicySpec, Replayed, Scheduler, Setup, Source, Times,
        World,
    };
    pub use resched_sim::{AttemptId, JobId, Ms, NodeId, RackId, Resources, TaskId, Violation};
}

/// A workload from the text of a workload file, for a test. `name` is its name in messages.
///
/// # Errors
/// [`Error::Request`] or [`Error::Sim`] if the text is no workload.
pub fn workload(name: &str, text: &str) -> Result<Source, Error> {
    Ok(Source::workload(Workload::parse(text, name)?, text.to_owned(), name.to_owned()))
}
