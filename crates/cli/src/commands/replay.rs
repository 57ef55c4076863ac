//! `resched replay`: replays a trace under one or more policies.

use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::ProgressBar;
use resched_analysis::{Run, Summary};
use resched_policies::PolicySpec;
use resched_replay::{Engine, Files, RunFolders, Threads, World};
use serde::Serialize;

use super::ingest::left_out;
use crate::failure::Failure;
use crate::output::{count, duration, print, table};
use crate::progress::ReplayProgress;
use crate::threads::ThreadsArg;
use crate::world_args::{WorldArgs, check_rules};

/// Replay a trace under one or more policies.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A trace, or a workload file (TOML).
    #[arg(value_name = "TRACE|WORKLOAD.toml")]
    trace: PathBuf,
    /// A policy: `name` or `name:key=value,…`. Repeat the option to compare policies. `key=1|2|3` stands for three policies.
    /// `name+speculator` adds backups of slow tasks. On a production trace, `fifo` means `batch-fifo`, and so on.
    #[arg(long = "policy", required = true, value_name = "POLICY")]
    policies: Vec<String>,
    #[command(flatten)]
    world: WorldArgs,
    /// The folder to write the runs to. Each policy gets a folder in it.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Also write what policies decided over time. Only some policies report it; `dress` reports its δ.
    #[arg(long)]
    decisions: bool,
    /// Keep earlier runs of the same trace, cluster, site, policy and seed.
    #[arg(long)]
    resume: bool,
    /// Print JSON instead of a table: one object per policy, each on its own line.
    #[arg(long)]
    json: bool,
}

/// A run, new or kept, with its summary.
#[derive(Debug, Serialize)]
pub(super) struct Done {
    #[serde(skip)]
    pub(super) dir: PathBuf,
    #[serde(skip)]
    pub(super) label: String,
    /// The number of jobs that were replayed, whether they succeeded or not.
    #[serde(skip)]
    jobs: u64,
    #[serde(flatten)]
    summary: Summary,
    /// The time that the replay took, ms; null for a run that was kept.
    wall_ms: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (source, setup) = args.world.open(&args.trace)?;
    let policies = policies(&args.policies, source.engine())?;
    let world = World::open(&source, setup)?;
    let options = Options { decisions: args.decisions, resume: args.resume, threads: args.threads.get() };
    let done = replay_all(&world, &policies, &args.out, &options)?;
    if args.json {
        let lines: Result<Vec<String>, _> = done.iter().map(serde_json::to_string).collect();
        return print(&lines.map_err(|error| Failure::work(error.to_string()))?.join("\n"));
    }
    print(&(told(&done) + &left_out(&world.skipped())))
}

/// The policies that the user names, for a source of this kind.
pub(super) fn policies(texts: &[String], engine: Engine) -> Result<Vec<PolicySpec>, Failure> {
    let parse = match engine {
        Engine::Hadoop => PolicySpec::parse_grid,
        Engine::Batch => PolicySpec::parse_grid_for_batch,
    };
    let grids = texts.iter().map(|text| parse(text)).collect::<Result<Vec<_>, _>>()?;
    Ok(grids.into_iter().flatten().collect())
}

/// Options of [`replay_all`].
#[derive(Debug, Default)]
pub(super) struct Options {
    decisions: bool,
    resume: bool,
    threads: Threads,
}

/// Replays every policy into a folder of `out`, several at once.
pub(super) fn replay_all(
    world: &World,
    policies: &[PolicySpec],
    out: &Path,
    options: &Options,
) -> Result<Vec<Done>, Failure> {
    let folders = RunFolders::open(out, policies)?;
    // Reports errors of the source and the cluster before the first replay.
    policies.iter().try_for_each(|policy| world.check(policy))?;
    check_rules(world, policies)?;
    let progress = ReplayProgress::new();
    let bar = |policy: &PolicySpec| progress.add(&policy.label(), world.jobs(policy));
    let bars: Vec<ProgressBar> = policies.iter().map(bar).collect();
    let all: Vec<_> = policies.iter().zip(folders.dirs()).zip(&bars).collect();
    let replay = |((policy, dir), bar): &((&PolicySpec, &PathBuf), &ProgressBar)| {
        let files = Files::to(dir.as_path()).with_decisions(options.decisions).resume(options.resume);
        let started = Instant::now();
        let written = world.replay_with(*policy, files, &mut |jobs| bar.set_position(jobs));
        bar.finish_and_clear();
        let wall_ms = if written?.kept { None } else { u64::try_from(started.elapsed().as_millis()).ok() };
        let summary = Summary::of(&Run::open(dir)?);
        Ok(Done { summary, dir: dir.to_path_buf(), label: policy.label(), jobs: world.jobs(policy), wall_ms })
    };
    // A policy that fails does not keep the others from their runs.
    let done = options.threads.in_order(&all, |item| Ok::<_, Failure>(replay(item)))?;
    done.into_iter().collect()
}

/// The table that compares the runs.
pub(super) fn told(done: &[Done]) -> String {
    let rows = done.iter().map(|done| {
        let Summary { locality, .. } = &done.summary;
        let maps = locality.node + locality.rack + locality.off;
        let share =
            |n: u64| if maps == 0 { "-".to_owned() } else { format!("{:.1} %", n as f64 / maps as f64 * 100.0) };
        vec![
            done.label.clone(),
            format!("{} of {}", count(done.summary.jobs_finished), count(done.jobs)),
            duration(done.summary.makespan_ms.map(|ms| ms as f64)),
            duration(done.summary.mean_completion_ms),
            duration(done.summary.median_completion_ms),
            duration(done.summary.mean_waiting_ms),
            duration(done.summary.mean_starvation_ms),
            share(locality.node),
            share(locality.rack),
            share(locality.off),
            done.wall_ms.map_or_else(|| "kept".to_owned(), |ms| duration(Some(ms as f64))),
        ]
    });
    let heading = [
        "policy",
        "jobs done",
        "makespan",
        "mean completion",
        "median",
        "mean waiting",
        "mean starvation",
        "node",
        "rack",
        "off",
        "replayed in",
    ];
    table(&heading, rows.collect(), 1..11)
}
