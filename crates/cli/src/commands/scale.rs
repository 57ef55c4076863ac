//! `resched scale`: a part of a trace.

use std::path::PathBuf;

use resched_trace::scale::{Instant, Scale, scale};

use super::ingest::told;
use crate::failure::Failure;
use crate::output::print;

/// Make a trace smaller or denser, or cut a window out of it.
///
/// Jobs are drawn so that the mix of queues and sizes stays. A job belongs to the window in which it was submitted, with all its
/// attempts; jobs that run over an edge are counted. Waiting and run times stay as they are.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The trace.
    trace: PathBuf,
    /// The folder to write the new trace to; an earlier trace there is replaced.
    #[arg(long, value_name = "TRACE")]
    out: PathBuf,
    /// The share of the jobs to keep, such as 0.1.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    jobs: f64,
    /// Multiplies the gaps between submissions: 2 makes them twice as long, 0.5 the trace twice as dense.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    time: f64,
    /// The share of the machines to keep, rack by rack.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    nodes: f64,
    /// The start of the window: ms, a date (2009-04-21T17:46:02Z), or +2h after the first submission.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<Instant>,
    /// The first instant after the window, likewise.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<Instant>,
    /// The seed of the draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Args { jobs, time, nodes, from, to, seed, .. } = *args;
    let manifest = scale(&args.trace, &args.out, &Scale { jobs, time, nodes, from, to, seed })?;
    print(&told(&manifest, &args.out))
}
