//! A policy of your own, replayed beside one of the registry. CONTRIBUTING.md walks through this file.
//!
//! `cargo run -p resched --example shortest_job -- traces/sample-history.toml`

use std::error::Error;
use std::path::Path;

use resched_analysis::{Run, Summary};
use resched_policies::PolicySpec;
use resched_sim::hadoop::{Cluster, Kind, Offer, Options, Policy, Reach, RunWriter, load, replay};
use resched_sim::{ClusterConfig, JobId, Violation};
use resched_trace::run::RunInfo;
use resched_trace::store::Trace;
use resched_trace::workload::write_trace;

/// A free slot goes to the job that has the fewest tasks left to launch; among equals, to the one that came first.
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

/// Launches a task of a job, a map as near to its data as it can. Returns whether there was one.
fn launch(offer: &mut Offer<'_, '_>, job: JobId, kind: Kind) -> Result<bool, Violation> {
    match kind {
        Kind::Map => Ok(offer.launch_map(job, Reach::Any)?.is_some()),
        Kind::Reduce => offer.launch_reduce(job),
    }
}

/// Replays a workload file under both policies; returns what came of each.
pub(crate) fn compare(workload: &Path) -> Result<[Summary; 2], Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    write_trace(workload, 1, &dir.path().join("trace"))?;
    let trace = Trace::open(&dir.path().join("trace"))?;
    let mut fifo = PolicySpec::parse("fifo")?.build()?;
    Ok([run("fifo", &mut *fifo, &trace, dir.path())?, run("shortest-job", &mut ShortestJob, &trace, dir.path())?])
}

/// Replays a trace under a policy, on the trace's own machines.
fn run(name: &str, policy: &mut dyn Policy, trace: &Trace, dir: &Path) -> Result<Summary, Box<dyn Error>> {
    let cluster = Cluster::for_trace(ClusterConfig::default(), trace)?;
    let (workload, _) = load(trace, &cluster, 1)?;
    let mut writer = RunWriter::create(&dir.join(name), &workload, &cluster)?;
    let tally = replay(&workload, &cluster, (name, policy), &Options::default(), &mut writer, &mut |_| {})?;
    let (label, policy, events) = (name.to_owned(), name.to_owned(), tally.events);
    writer.finish(RunInfo { label, policy, events, ..RunInfo::default() })?;
    Ok(Summary::of(&Run::open(&dir.join(name))?))
}

#[allow(clippy::print_stdout, reason = "it prints for people")]
fn main() -> Result<(), Box<dyn Error>> {
    let workload = std::env::args().nth(1).ok_or("name a workload file, such as traces/sample-history.toml")?;
    for summary in compare(Path::new(&workload))? {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    }
    Ok(())
}
