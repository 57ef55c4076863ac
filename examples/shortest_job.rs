//! Your own policy, replayed beside one of the registry. docs/developers/own-policy.md explains this file.
//!
//! `cargo run -p resched-kit --example shortest_job -- traces/sample-history.toml`

use std::path::Path;

use resched_kit::hadoop::{Kind, Offer, Policy, Reach};
use resched_kit::prelude::*;

/// A free slot goes to the job with the fewest tasks left to launch. Among equals, it goes to the job that came first.
struct ShortestJob;

impl Policy for ShortestJob {
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let mut jobs = offer.view().jobs().to_vec();
        for kind in Kind::BOTH {
            jobs.sort_by_key(|&job| (offer.view().job(job).waiting(kind), job));
            for &job in &jobs {
                while offer.free(kind) > 0 && launch(offer, job, kind)? {}
            }
        }
        Ok(())
    }
}

/// Launches a task of a job; a map starts as near to its data as possible. Returns whether there was a task.
fn launch(offer: &mut Offer<'_, '_>, job: JobId, kind: Kind) -> Result<bool, Violation> {
    match kind {
        Kind::Map => Ok(offer.launch_map(job, Reach::Any)?.is_some()),
        Kind::Reduce => offer.launch_reduce(job),
    }
}

/// Replays a workload file, or a trace, under both policies; returns a summary of each run.
pub(crate) fn compare(path: &Path) -> Result<[Summary; 2], Error> {
    let world = World::open(&Source::open(path)?, Setup::default())?;
    let fifo = world.replay(&PolicySpec::parse("fifo")?, Memory)?;
    let own = world.replay(Scheduler::Hadoop("shortest-job", &mut ShortestJob), Memory)?;
    Ok([fifo, own].map(|run| Summary::of(&Run::of_rows(run.info, run.tables))))
}

#[allow(clippy::print_stdout, reason = "it prints for people")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workload = std::env::args().nth(1).ok_or("name a workload file, such as traces/sample-history.toml")?;
    for summary in compare(Path::new(&workload))? {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    }
    Ok(())
}
