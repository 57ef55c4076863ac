//! `resched generate`: a synthetic trace from a workload file.

use resched_tables::store::MANIFEST;
use std::path::PathBuf;

use resched_workload::{MAX_WRITTEN_TASKS, write_trace_up_to};

use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::out::ForceArg;
use crate::written::print_written;

/// Generate a synthetic trace from a workload file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched generate traces/delay-locality.toml --out T")]
pub(crate) struct Args {
    /// The workload file (TOML). `traces/` has those of the papers.
    workload: PathBuf,
    /// The folder to write the trace to. An earlier trace there is replaced.
    #[arg(long, value_name = "TRACE")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// The seed of all random draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The largest number of tasks that the workload may have.
    #[arg(long, value_name = "N", default_value_t = MAX_WRITTEN_TASKS)]
    most_tasks: u64,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let out = args.force.out(&args.out, MANIFEST);
    let manifest = write_trace_up_to(args.most_tasks, &args.workload, args.seed, &out)?;
    print_written(&manifest, &args.out, args.format)
}
