//! `resched export`: a trace or a run in another tool's format.

use std::path::PathBuf;

use resched_trace::export::{TARGETS, export};

use super::ingest::left_out;
use crate::failure::Failure;
use crate::out::ForceArg;
use crate::output::{count, print};

/// Write a trace or a run in another tool's format: Rumen or SWF.
///
/// Values that the format cannot hold are left out. They are counted by column, and the counts are printed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched export T --format rumen --out T.json.gz\n  resched export R/fifo --format swf --out fifo.swf"
)]
pub(crate) struct Args {
    /// The folder of the trace or the run.
    #[arg(value_name = "TRACE|RUN")]
    source: PathBuf,
    /// The format to write: `rumen` (jobs), `rumen-topology` (machines) or `swf`.
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(TARGETS.iter().map(|target| target.name)))]
    format: String,
    /// The file to write. It is gzipped if its name ends in `.gz`.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let exported = export(&args.source, &args.format, args.force.file(&args.out))?;
    let what = if args.format == "rumen-topology" { "machines" } else { "jobs" };
    let told = format!("{}: {} {what}\n", args.out.display(), count(exported.written));
    print(&(told + &left_out(&exported.left_out)))
}
