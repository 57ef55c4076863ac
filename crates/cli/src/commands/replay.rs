//! `resched replay`: a trace under one or more policies.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use indicatif::ProgressBar;
use resched_analysis::{Run, Summary};
use resched_policies::{Family, PolicySpec, SiteConf};
use resched_sim::hadoop::{Cluster, Options, RunWriter, Workload, load, replay};
use resched_sim::{ClusterConfig, Skipped, batch};
use resched_trace::run::{self, RunInfo, RunSite, RunTrace};
use resched_trace::store::{StagedDir, Trace};
use resched_trace::workload::write_trace;
use serde::Serialize;

use super::ingest::left_out;
use crate::failure::Failure;
use crate::output::{count, duration, print, table};
use crate::progress::ReplayProgress;

/// Replay a trace under one or more policies.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A trace, or a workload file (TOML).
    #[arg(value_name = "TRACE|WORKLOAD.toml")]
    trace: PathBuf,
    /// A policy, `name` or `name:key=value,…`; may be given more than once. `key=1|2|3` stands for three policies,
    /// `name+speculator` for a policy with backups of slow tasks. For a trace of a production cluster `fifo` stands for
    /// `batch-fifo`, and so on.
    #[arg(long = "policy", required = true, value_name = "POLICY")]
    policies: Vec<String>,
    /// The cluster to replay on (TOML); without it the trace's own machines.
    #[arg(long, value_name = "CLUSTER.toml")]
    cluster: Option<PathBuf>,
    /// A folder with the configuration of a Hadoop site (mapred-site.xml, fair-scheduler.xml, …): its settings take the place
    /// of defaults. What --policy or --cluster sets wins.
    #[arg(long, value_name = "DIR")]
    site_conf: Option<PathBuf>,
    /// The seed of all draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder to write the runs to, one folder a policy.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Policies replayed at once; without it, one a core.
    #[arg(long)]
    threads: Option<usize>,
    /// Also write what policies decide over time, where they tell of it (such as `dress` of its δ).
    #[arg(long)]
    decisions: bool,
    /// Keep runs that are there already, of the same trace, cluster, site, policy and seed.
    #[arg(long)]
    resume: bool,
    /// Print one JSON object a policy, a line each.
    #[arg(long)]
    json: bool,
}

/// A run that was made, or found, and what it says.
#[derive(Debug, Serialize)]
pub(super) struct Done {
    #[serde(skip)]
    pub(super) dir: PathBuf,
    #[serde(skip)]
    pub(super) label: String,
    /// Jobs that were replayed, ended well or not.
    #[serde(skip)]
    jobs: u64,
    #[serde(flatten)]
    summary: Summary,
    /// Time of the replay itself, ms; null for a run that was there already.
    wall_ms: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    // What is wrong with the trace is said once it is opened for the replay.
    let of_production = is_folder_of_production(&args.trace);
    let parse = if of_production { PolicySpec::parse_grid_for_production } else { PolicySpec::parse_grid };
    let mut policies = Vec::new();
    for text in &args.policies {
        policies.extend(parse(text)?);
    }
    let SiteConf { site, cluster, files, warnings } =
        args.site_conf.as_deref().map_or_else(|| Ok(SiteConf::default()), SiteConf::read)?;
    let site = Arc::new(site);
    let policies: Vec<PolicySpec> = policies.iter().map(|policy| policy.at_site(&site)).collect::<Result<_, _>>()?;
    let config = match &args.cluster {
        Some(path) => ClusterConfig::read_over(&cluster, path)?,
        None => ClusterConfig::of_settings(cluster)?,
    };
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    let request = Request {
        policies: &policies,
        config,
        site: args.site_conf.as_ref().map(|_| RunSite { files, warnings }),
        seed: args.seed,
        threads: args.threads,
        decisions: args.decisions,
        resume: args.resume,
    };
    let Outcome { done, skipped } = request.carry_out(&args.trace, &args.out)?;
    if args.json {
        let lines: Result<Vec<String>, _> = done.iter().map(serde_json::to_string).collect();
        return print(&lines.map_err(|error| Failure::work(error.to_string()))?.join("\n"));
    }
    print(&(told(&done) + &left_out(&skipped)))
}

/// Whether there is a trace, and one of a production cluster.
fn is_folder_of_production(path: &Path) -> bool {
    path.is_dir() && Trace::open(path).is_ok_and(|trace| batch::is_production(&trace).unwrap_or(false))
}

/// The runs, and what of the trace they leave out, by cause.
pub(super) struct Outcome {
    pub(super) done: Vec<Done>,
    pub(super) skipped: Skipped,
}

/// What to replay.
pub(super) struct Request<'a> {
    pub(super) policies: &'a [PolicySpec],
    pub(super) config: ClusterConfig,
    pub(super) site: Option<RunSite>,
    pub(super) seed: u64,
    pub(super) threads: Option<usize>,
    pub(super) decisions: bool,
    pub(super) resume: bool,
}

impl Request<'_> {
    /// Replays the trace or workload at `path` under each policy, into a folder of `out` each.
    pub(super) fn carry_out(&self, path: &Path, out: &Path) -> Result<Outcome, Failure> {
        let dirs = self.folders(out)?;
        let is_workload = path.extension().is_some_and(|extension| extension == "toml") && !path.is_dir();
        let made;
        let trace = if is_workload {
            // The trace of a workload file is of no use after the replay: its folder is never committed.
            made = StagedDir::create(&out.join("trace"), "trace.json")?;
            write_trace(path, self.seed, &made.path().join("trace"))?;
            Trace::open(&made.path().join("trace"))?
        } else {
            Trace::open(path)?
        };
        self.check_kinds(&trace)?;
        let rules = serde_json::to_value(&self.config).map_err(|error| Failure::work(error.to_string()))?;
        let info = RunInfo {
            trace: RunTrace { path: path.display().to_string(), sha256: trace.fingerprint()? },
            rules,
            site: self.site.clone(),
            cost_model: self.config.cost.model().to_owned(),
            reduce_model: self.config.cost.reduce.name().to_owned(),
            seed: self.seed,
            ..RunInfo::default()
        };
        let wants = |batch: bool| self.policies.iter().any(|policy| policy.info.is_batch() == batch);
        let hadoop = if wants(false) { Some(self.load_hadoop(&trace)?) } else { None };
        let production = if wants(true) { Some(batch::load(&trace, &self.config)?) } else { None };
        let world = World { hadoop, production, info };
        Ok(Outcome { done: self.replay_all(&world, &dirs)?, skipped: world.skipped() })
    }

    /// That no policy for Hadoop is asked for a trace of another kind.
    fn check_kinds(&self, trace: &Trace) -> Result<(), Failure> {
        let Some(policy) = self.policies.iter().find(|policy| !policy.info.is_batch()) else { return Ok(()) };
        if !batch::is_production(trace)? {
            return Ok(());
        }
        let names: Vec<&str> = Family::Production.policies().map(|info| info.name).collect();
        Err(Failure::request(format!(
            "policy `{}` schedules Hadoop's maps and reduces, and the tasks of {} are none; choose one of {}",
            policy.label(),
            trace.dir().display(),
            names.join(", ")
        )))
    }

    fn load_hadoop(&self, trace: &Trace) -> Result<Hadoop, Failure> {
        let cluster = Cluster::for_trace(self.config.clone(), trace)?;
        let (workload, skipped) = load(trace, &cluster, self.seed)?;
        // What is wrong with the cluster under the system of any policy is said before the first replay.
        for policy in self.policies.iter().filter(|policy| !policy.info.is_batch()) {
            cluster.for_system(policy.build()?.system())?;
        }
        Ok(Hadoop { workload, cluster, skipped })
    }

    /// The folder of each run: its label, with what cannot stand in a file's name replaced. All of them can be written.
    fn folders(&self, out: &Path) -> Result<Vec<PathBuf>, Failure> {
        if [run::MARKER, "trace.json"].iter().any(|marker| out.join(marker).is_file()) {
            let problem = "expected a folder for runs, found a trace or a run; name another --out";
            return Err(Failure::request(format!("{}: {problem}", out.display())));
        }
        let mut seen = BTreeSet::new();
        let folder = |policy: &PolicySpec| {
            let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.:=,+".contains(c) { c } else { '_' };
            let name: String = policy.label().chars().map(plain).collect();
            if !seen.insert(name.clone()) {
                return Err(Failure::request(format!("policy `{}` is asked for twice; leave one out", policy.label())));
            }
            let dir = out.join(name);
            StagedDir::check(&dir, run::MARKER)?;
            Ok(dir)
        };
        self.policies.iter().map(folder).collect()
    }

    /// Replays under all policies, several at once; a run does not depend on what runs beside it.
    fn replay_all(&self, world: &World, dirs: &[PathBuf]) -> Result<Vec<Done>, Failure> {
        let progress = ReplayProgress::new();
        let bar = |policy: &PolicySpec| progress.add(&policy.label(), world.jobs(policy));
        let bars: Vec<ProgressBar> = self.policies.iter().map(bar).collect();
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Result<Done, Failure>>>> = dirs.iter().map(|_| Mutex::new(None)).collect();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or_else(cores).clamp(1, self.policies.len().max(1));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let (Some(policy), Some(dir), Some(bar)) =
                            (self.policies.get(place), dirs.get(place), bars.get(place))
                        else {
                            return;
                        };
                        let done = self.replay_one(world, policy, dir, bar);
                        bar.finish_and_clear();
                        if let Some(Ok(mut slot)) = results.get(place).map(Mutex::lock) {
                            *slot = Some(done);
                        }
                    }
                });
            }
        });
        let missing = || Err(Failure::work("a replay ended without a result; this is a defect of resched"));
        results.into_iter().map(|slot| slot.into_inner().ok().flatten().unwrap_or_else(missing)).collect()
    }

    fn replay_one(&self, world: &World, policy: &PolicySpec, dir: &Path, bar: &ProgressBar) -> Result<Done, Failure> {
        let label = policy.label();
        let info =
            RunInfo { label: label.clone(), policy: policy.name(), params: policy.parameters(), ..world.info.clone() };
        let started = Instant::now();
        let kept = match (&world.production, &world.hadoop) {
            (Some(production), _) if policy.info.is_batch() => self.replay_batch(production, policy, info, dir, bar)?,
            (_, Some(hadoop)) => self.replay_hadoop(hadoop, policy, info, dir, bar)?,
            _ => return Err(Failure::work("a policy has no world to replay; this is a defect of resched")),
        };
        let wall_ms = if kept { None } else { u64::try_from(started.elapsed().as_millis()).ok() };
        let summary = Summary::of(&Run::open(dir)?);
        Ok(Done { summary, dir: dir.to_path_buf(), label, jobs: world.jobs(policy), wall_ms })
    }

    /// Returns whether the run was there already.
    fn replay_hadoop(
        &self,
        world: &Hadoop,
        policy: &PolicySpec,
        info: RunInfo,
        dir: &Path,
        bar: &ProgressBar,
    ) -> Result<bool, Failure> {
        let mut made = policy.build()?;
        let cluster = world.cluster.for_system(made.system())?;
        let mut info = RunInfo { cluster: cluster.in_short(), skipped: world.skipped.clone(), ..info };
        if self.resume && is_there(dir, &info, self.decisions) {
            return Ok(true);
        }
        let mut writer = RunWriter::create(dir, &world.workload, &cluster)?;
        if self.decisions {
            writer = writer.with_decisions()?;
        }
        let options = Options { seed: self.seed, ..Options::default() };
        let tally = replay(&world.workload, &cluster, (&info.label, &mut *made), &options, &mut writer, &mut |jobs| {
            bar.set_position(jobs)
        })?;
        info.events = tally.events;
        writer.finish(info)?;
        Ok(false)
    }

    /// Likewise.
    fn replay_batch(
        &self,
        world: &batch::Loaded,
        policy: &PolicySpec,
        info: RunInfo,
        dir: &Path,
        bar: &ProgressBar,
    ) -> Result<bool, Failure> {
        let mut made = policy.build_batch()?;
        let batch::Loaded { workload, machines, skipped } = world;
        let mut info = RunInfo { cluster: machines.in_short(), skipped: skipped.clone(), ..info };
        if self.resume && is_there(dir, &info, self.decisions) {
            return Ok(true);
        }
        let mut writer = batch::RunWriter::create(dir, workload, machines)?;
        if self.decisions {
            writer = writer.with_decisions()?;
        }
        let tally = batch::replay(workload, machines, (&info.label, &mut *made), &mut writer, &mut |jobs| {
            bar.set_position(jobs)
        })?;
        info.events = tally.events;
        writer.finish(info)?;
        Ok(false)
    }
}

/// What all replays share.
struct World {
    /// For policies for Hadoop, if any is asked for.
    hadoop: Option<Hadoop>,
    /// For policies for production traces, if any is asked for.
    production: Option<batch::Loaded>,
    info: RunInfo,
}

struct Hadoop {
    workload: Workload,
    /// The machines, to be taken under the system of each policy.
    cluster: Cluster,
    skipped: Skipped,
}

impl World {
    /// How many jobs a policy replays.
    fn jobs(&self, policy: &PolicySpec) -> u64 {
        let hadoop = self.hadoop.as_ref().map(|world| world.workload.jobs().len());
        let production = self.production.as_ref().map(|world| world.workload.jobs().len());
        let jobs = if policy.info.is_batch() { production } else { hadoop };
        jobs.unwrap_or(0) as u64
    }

    /// What of the trace was left out or mended; where the two kinds of policies differ in it, the more.
    fn skipped(&self) -> Skipped {
        let mut all = self.hadoop.as_ref().map(|world| world.skipped.clone()).unwrap_or_default();
        for (cause, &n) in self.production.iter().flat_map(|world| &world.skipped) {
            let known = all.entry(cause.clone()).or_default();
            *known = n.max(*known);
        }
        all
    }
}

/// Whether the folder holds a run of the same trace, cluster, site, policy and seed by this version, with decisions if so asked.
fn is_there(dir: &Path, wanted: &RunInfo, decisions: bool) -> bool {
    let Ok(found) = run::read(dir) else { return false };
    let same = RunInfo {
        format_version: found.format_version,
        events: found.events,
        rows: found.rows.clone(),
        written_by: concat!("resched ", env!("CARGO_PKG_VERSION")).to_owned(),
        ..wanted.clone()
    };
    found == same && (!decisions || found.rows.contains_key("decisions"))
}

/// The runs side by side.
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
