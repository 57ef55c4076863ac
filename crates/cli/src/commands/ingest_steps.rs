//! `resched ingest-plan`, `ingest-shard` and `ingest-merge`: an ingest of tables in steps, for programs that let several
//! machines read the shards. All machines see the same files under the same paths.

use std::path::{Path, PathBuf};

use resched_replay::Threads;
use resched_trace::ingest::{Options, plan_tables, tables};
use serde::Serialize;

use super::engine::{DaskArgs, ProgramArgs, Task, dask};
use super::ingest::told;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::progress::IngestProgress;

/// Find out which tables are to be read, and write it down: prints the plan's file and the number of shards as JSON.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct PlanArgs {
    /// Files or folders of tables.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The folder to write the trace to; the plan is kept beside it.
    #[arg(long, value_name = "TRACE")]
    out: PathBuf,
    /// The format of all files; `auto` looks at each file's content.
    #[arg(long, default_value = "auto")]
    format: String,
}

/// Read one shard of a plan, unless that is done. Any machine may, in any order, also twice.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct ShardArgs {
    /// The file that `ingest-plan` printed.
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// The number of the shard, from 0.
    #[arg(long, value_name = "N")]
    index: usize,
}

/// Make the trace of the shards of a plan; those that are missing are read.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct MergeArgs {
    /// The file that `ingest-plan` printed.
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// How many threads work; without it, one for each core.
    #[arg(long, value_name = "N")]
    threads: Option<Threads>,
}

/// What a program needs to know of a plan.
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
    let manifest = tables::finish(&plan, &out, args.threads.unwrap_or_default().count(), &mut IngestProgress::new())?;
    print(&told(&manifest, &out))
}

/// An ingest of tables whose shards are read by the workers of a Dask cluster; here they are brought together.
pub(super) fn on_dask(
    paths: &[PathBuf],
    out: &Path,
    options: &Options,
    (args, program): (&DaskArgs, &ProgramArgs),
) -> Result<(), Failure> {
    let plan = plan_tables(paths, options)?;
    let file = tables::write_plan(&plan, out)?.display().to_string();
    let task = |number: usize| {
        // A shard that is done is passed over by the call itself.
        ["ingest-shard", "--plan", &file, "--index", &number.to_string()].map(str::to_owned).into()
    };
    dask(&(0..plan.shards().len()).map(task).collect::<Vec<Task>>(), args, program)?;
    merge(&MergeArgs { plan: PathBuf::from(file), threads: options.threads.map(Threads::from) })
}
