//! `resched scale`: makes a smaller, denser or shorter trace.

use std::path::PathBuf;

use resched_ingest::scale::{Scale, scale};
use resched_tables::clock::Instant;
use resched_tables::store::MANIFEST;

use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::out::ForceArg;
use crate::written::print_written;

/// Make a trace smaller or denser, or cut a time window out of it.
///
/// Jobs are sampled so that the mix of queues and sizes stays the same. A window keeps every job submitted in it, with all its
/// attempts. It also keeps the jobs that ran or waited at its start: they are replayed, but count in no metric. Run times do not change. If you change the gaps, the new trace has no
/// observed waits.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched scale T --jobs 0.1 --nodes 0.1 --out small\n  resched scale T --time 0.667 --out busy"
)]
pub(crate) struct Args {
    /// The trace folder.
    trace: PathBuf,
    /// The folder to write the new trace to. An earlier trace there is replaced.
    #[arg(long, value_name = "TRACE")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// The share of the jobs to keep, for example 0.1.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    jobs: f64,
    /// The factor for the gaps between submissions: 2 makes them twice as long, 0.5 half as long.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    time: f64,
    /// The share of the machines to keep, rack by rack.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    nodes: f64,
    /// The start of the window: milliseconds, a date (2009-04-21T17:46:02Z), or a time after the first submission (+2h).
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<Instant>,
    /// The end of the window, which is not part of it; written like --from.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<Instant>,
    /// The seed of the random sample.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Args { jobs, time, nodes, from, to, seed, .. } = *args;
    let manifest =
        scale(&args.trace, args.force.out(&args.out, MANIFEST), &Scale { jobs, time, nodes, from, to, seed })?;
    print_written(&manifest, &args.out, args.format)
}
