//! `resched replay`: replays a trace under one or more policies.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use indicatif::ProgressBar;
use resched_analysis::{Population, Run, Summary};
use resched_policies::{PolicySpec, SiteConf};
use resched_replay::{Engine, Error, Files, RunFolders, RunSite, Setup, Source, Threads, World};
use resched_sim::ClusterConfig;
use serde::Serialize;

use super::ingest::left_out;
use crate::failure::Failure;
use crate::output::{count, duration, print, table};
use crate::progress::ReplayProgress;
use crate::threads::ThreadsArg;

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
    /// The cluster file (TOML) [default: the trace's own machines].
    #[arg(long, value_name = "CLUSTER.toml")]
    cluster: Option<PathBuf>,
    /// A folder with the configuration of your Hadoop site (mapred-site.xml, fair-scheduler.xml, …). Its settings replace the
    /// defaults. --policy and --cluster take precedence over them.
    #[arg(long, value_name = "DIR")]
    site_conf: Option<PathBuf>,
    /// The seed of all random draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder to write the runs to. Each policy gets a folder in it.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Also write what policies decided over time. Only some policies report it; `dress` reports its δ.
    #[arg(long)]
    decisions: bool,
    /// The label of the policy that the others are compared with [default: the first --policy].
    #[arg(long, value_name = "LABEL")]
    baseline: Option<String>,
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
    let source = Source::open(&args.trace)?;
    let parse = match source.engine() {
        Engine::Hadoop => PolicySpec::parse_grid,
        Engine::Batch => PolicySpec::parse_grid_for_batch,
    };
    let mut policies = Vec::new();
    for text in &args.policies {
        policies.extend(parse(text).map_err(Error::from)?);
    }
    let baseline = baseline_of(args.baseline.as_deref(), &policies)?;
    let SiteConf { site, cluster, files, warnings } =
        args.site_conf.as_deref().map_or_else(|| Ok(SiteConf::default()), SiteConf::read).map_err(Error::from)?;
    let cluster = match &args.cluster {
        Some(path) => ClusterConfig::read_over(&cluster, path)?,
        None => ClusterConfig::of_settings(cluster)?,
    };
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    let site_files = args.site_conf.as_ref().map(|_| RunSite { files, warnings });
    let setup = Setup { cluster, site: Arc::new(site), site_files, seed: args.seed, ..Setup::default() };
    let world = World::open(&source, setup)?;
    let options = Options { decisions: args.decisions, resume: args.resume, threads: args.threads.get() };
    let done = replay_all(&world, &policies, &args.out, &options)?;
    if args.json {
        let lines: Result<Vec<String>, _> = done.iter().map(serde_json::to_string).collect();
        return print(&lines.map_err(|error| Failure::work(error.to_string()))?.join("\n"));
    }
    print(&(told(&done, baseline) + &left_out(&world.skipped())))
}

/// The place of the policy of that label, or the first.
fn baseline_of(label: Option<&str>, policies: &[PolicySpec]) -> Result<usize, Failure> {
    let Some(label) = label else { return Ok(0) };
    let labels: Vec<String> = policies.iter().map(PolicySpec::label).collect();
    labels.iter().position(|own| own == label).ok_or_else(|| {
        Failure::request(format!("--baseline: no policy is labelled `{label}`; the labels are {}", labels.join(", ")))
    })
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
        // The summary needs no attempts and no decisions, which take most of the memory.
        let run = Run { intervals: Vec::new(), decisions: Vec::new(), resources: Vec::new(), ..Run::open(dir)? };
        Ok::<_, Failure>((run, dir.to_path_buf(), world.jobs(policy), wall_ms))
    };
    // A policy that fails does not keep the others from their runs.
    let done = options.threads.in_order(&all, |item| Ok::<_, Failure>(replay(item)))?;
    let mut runs = Vec::new();
    let mut others = Vec::new();
    for ended in done {
        let (run, dir, jobs, wall_ms) = ended?;
        runs.push(run);
        others.push((dir, jobs, wall_ms));
    }
    folders.note_order(out)?;
    // The policies are compared on the jobs that count under all of them.
    Population::share(&mut runs);
    let told = |(run, (dir, jobs, wall_ms)): (Run, (PathBuf, u64, Option<u64>))| Done {
        summary: Summary::of(&run),
        label: run.label,
        dir,
        jobs,
        wall_ms,
    };
    Ok(runs.into_iter().zip(others).map(told).collect())
}

/// The table that compares the runs, with the change of the mean completion time against the baseline.
pub(super) fn told(done: &[Done], baseline: usize) -> String {
    let base = done.get(baseline);
    let base_mean = base.and_then(|base| base.summary.mean_completion_ms).filter(|mean| *mean > 0.0);
    let change = |own: Option<f64>| match own.zip(base_mean) {
        Some((own, base)) => format!("{:+.1} %", 100.0 * (own / base - 1.0)),
        None => "-".to_owned(),
    };
    let rows = done.iter().map(|done| {
        let Summary { locality, .. } = &done.summary;
        let maps = locality.node + locality.rack + locality.off;
        let share =
            |n: u64| if maps == 0 { "-".to_owned() } else { format!("{:.1} %", n as f64 / maps as f64 * 100.0) };
        vec![
            done.label.clone(),
            format!("{} of {}", count(done.summary.jobs_counted), count(done.jobs)),
            duration(done.summary.makespan_ms.map(|ms| ms as f64)),
            duration(done.summary.mean_completion_ms),
            change(done.summary.mean_completion_ms),
            duration(done.summary.median_completion_ms),
            duration(done.summary.mean_waiting_ms),
            duration(done.summary.mean_starvation_ms),
            share(locality.node),
            share(locality.rack),
            share(locality.off),
            done.wall_ms.map_or_else(|| "kept".to_owned(), |ms| duration(Some(ms as f64))),
        ]
    });
    let against = base.map_or_else(String::new, |base| format!("vs {}", base.label));
    let heading = [
        "policy",
        "jobs that count",
        "makespan",
        "mean completion",
        against.as_str(),
        "median",
        "mean waiting",
        "mean starvation",
        "node",
        "rack",
        "off",
        "replayed in",
    ];
    table(&heading, rows.collect(), 1..12)
}
