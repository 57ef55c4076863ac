//! `resched export`: a trace or a run in another tool's format.

use std::collections::BTreeMap;
use std::path::PathBuf;

use resched_ingest::export::{MARKER, TARGETS, Target, export};
use resched_tables::words::counted;
use serde::Serialize;

use crate::failure::Failure;
use crate::format::{FormatArgs, values_of};
use crate::out::ForceArg;
use crate::written::left_out;

/// Write a trace or a run in another tool's format: Rumen, SWF, Batsim's list of jobs, OpenDC, or metrics for Prometheus.
///
/// Values that the format cannot hold are left out. They are counted by column, and the counts are printed. Other counts are explained in
/// `docs/reference/causes.md`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  resched export T --format rumen --out T.json.gz\n  resched export R/fifo --format swf --out fifo.swf\n  resched export R/easy --format batsim-jobs --out jobs.csv\n  resched export T --format opendc --out workload\n  resched export R/easy --format openmetrics --out easy.txt"
)]
pub(crate) struct Args {
    /// The folder of the trace or the run.
    #[arg(value_name = "TRACE|RUN")]
    source: PathBuf,
    /// The format to write. `rumen` has jobs, `rumen-topology` machines, and `batsim-jobs` is the CSV that evalys reads. `opendc` is a folder
    /// with tasks and fragments in Parquet. `openmetrics` has waiting and running jobs over time, and `grafana` is a dashboard for these.
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(TARGETS.iter().map(|target| target.name)))]
    format: String,
    /// The file or folder to write. A file is gzipped if its name ends in `.gz`.
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    format_args: FormatArgs,
}

/// What was written.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    file: &'a str,
    format: &'a str,
    /// Jobs, or machines of a topology.
    written: u64,
    /// Values that the format cannot hold, by column, and other things that were left out or mended, by cause.
    left_out: &'a BTreeMap<String, u64>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let is_folder = Target::named(&args.format)?.is_folder();
    let out = if is_folder { args.force.out(&args.out, MARKER) } else { args.force.file(&args.out) };
    let exported = export(&args.source, &args.format, out)?;
    let what = if args.format == "rumen-topology" { "machine" } else { "job" };
    let file = args.out.display().to_string();
    let value = Answer { file: &file, format: &args.format, written: exported.written, left_out: &exported.left_out };
    let words = || format!("{file}: {}\n{}", counted(exported.written, what), left_out(&exported.left_out));
    args.format_args.print(&value, &values_of(&value)?, words)
}
