//! `resched ingest-plan`, `ingest-shard` and `ingest-merge`: an ingest of tables in steps.
//!
//! Use them to let several machines read the shards. All machines must see the same files under the same paths.

use std::path::PathBuf;

use resched_ingest::{Options, plan_tables, tables};
use resched_replay::Threads;
use resched_tables::store::Out;
use serde::Serialize;

use super::engine::{DaskArgs, ProgramArgs, Task, dask};
use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::output::print_json;
use crate::progress::IngestProgress;
use crate::written::{print_explained, print_written};

/// Plan an ingest of tables: split them into shards and write the plan. Prints the plan's path and the number of shards as JSON.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct PlanArgs {
    /// Files or folders of tables to read.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The folder to write the trace to. The plan is written beside it.
    #[arg(long, value_name = "TRACE")]
    out: PathBuf,
    /// The format of all files. `auto` detects it from each file's content.
    #[arg(long, default_value = "auto")]
    format: String,
}

/// Read one shard of a plan. A finished shard is skipped, so shards may run on any machine, in any order and more than once.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct ShardArgs {
    /// The plan, at the path that `ingest-plan` printed.
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// The shard's number, counted from 0.
    #[arg(long, value_name = "N")]
    index: usize,
}

/// Merge the shards of a plan into a trace. Missing shards are read first.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct MergeArgs {
    /// The plan, at the path that `ingest-plan` printed.
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// Number of threads [default: one per core].
    #[arg(long, value_name = "N")]
    threads: Option<Threads>,
}

/// The output of `ingest-plan`.
#[derive(Serialize)]
struct Planned {
    plan: PathBuf,
    shards: usize,
}

pub(crate) fn plan(args: &PlanArgs) -> Result<(), Failure> {
    let format = (args.format != "auto").then(|| args.format.clone());
    let plan = plan_tables(&args.paths, &Options { format, ..Options::default() })?;
    print_json(&Planned { plan: tables::write_plan(&plan, &args.out)?, shards: plan.shards().len() })
}

pub(crate) fn shard(args: &ShardArgs) -> Result<(), Failure> {
    let (plan, out) = tables::read_plan(&args.plan)?;
    Ok(tables::shard(&plan, &out, args.index, &mut IngestProgress::new())?)
}

pub(crate) fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let (plan, out) = tables::read_plan(&args.plan)?;
    let manifest =
        tables::finish(&plan, out.as_path(), args.threads.unwrap_or_default().count(), &mut IngestProgress::new())?;
    print_written(&manifest, &out, FormatArgs::default())
}

/// Ingests tables on a Dask cluster: its workers read the shards, and this process merges them. With `explain`, it prints what each count
/// means.
pub(super) fn on_dask(
    paths: &[PathBuf],
    out: &Out,
    options: &Options,
    (args, program): (&DaskArgs, &ProgramArgs),
    (explain, format): (bool, FormatArgs),
) -> Result<(), Failure> {
    let plan = plan_tables(paths, options)?;
    let file = tables::write_plan(&plan, &out.path)?.display().to_string();
    let task = |number: usize| {
        // `ingest-shard` skips a finished shard itself.
        ["ingest-shard", "--plan", &file, "--index", &number.to_string()].map(str::to_owned).into()
    };
    dask(&(0..plan.shards().len()).map(task).collect::<Vec<Task>>(), args, program)?;
    let threads = options.threads.map(Threads::from).unwrap_or_default();
    let manifest = tables::finish(&plan, out, threads.count(), &mut IngestProgress::new())?;
    print_explained(&manifest, &out.path, explain, format)
}
