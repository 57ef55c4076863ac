//! The world of a cell: what is replayed, on which machines, by which rules. Cells that differ in their policy only share one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use resched_policies::PolicySpec;
use resched_sim::hadoop::{Cluster, Options, RunRows, Workload, load, load_records, replay};
use resched_sim::{ClusterConfig, batch};
use resched_trace::formats::Collected;
use resched_trace::run::RunInfo;
use resched_trace::store::{Trace, sha256};
use resched_trace::workload::{Workload as WorkloadFile, generate};
use toml::{Table, Value as Toml};

use crate::Error;
use crate::file::SourcePath;
use crate::values::Value;

/// A short name for something of the world.
#[derive(Debug)]
pub struct WorldKey {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Whether only whole numbers make sense.
    pub integer: bool,
    /// Where it stands for a workload file, and for a trace; `None` where it cannot be varied.
    paths: [Option<&'static str>; 2],
}

const fn key(
    name: &'static str,
    meaning: &'static str,
    integer: bool,
    workload: Option<&'static str>,
    trace: Option<&'static str>,
) -> WorldKey {
    WorldKey { name, meaning, integer, paths: [workload, trace] }
}

/// The short names; any other key of the cluster file or of a workload file is named by its path, `cluster.heartbeat.jitter`
/// or `workload.cluster.racks`.
pub const WORLD_KEYS: &[WorldKey] = &[
    key("nodes", "machines", true, Some("workload.cluster.nodes"), Some("cluster.nodes.count")),
    key("map_slots", "map slots a machine", true, Some("workload.cluster.map_slots"), Some("cluster.nodes.map_slots")),
    key(
        "reduce_slots",
        "reduce slots a machine",
        true,
        Some("workload.cluster.reduce_slots"),
        Some("cluster.nodes.reduce_slots"),
    ),
    key("replication", "replicas of each block of input", true, Some("workload.cluster.replication"), None),
    key(
        "heartbeat",
        "between two heartbeats of a machine, ms",
        true,
        Some("cluster.heartbeat.interval"),
        Some("cluster.heartbeat.interval"),
    ),
    key(
        "slowstart",
        "share of maps done before reduces start",
        false,
        Some("cluster.jobs.slowstart"),
        Some("cluster.jobs.slowstart"),
    ),
    key("remote_penalty", "how much longer a map takes away from its data", false, Some(PENALTY), Some(PENALTY)),
    key("speedup", "how much closer together the jobs arrive", false, Some(SPEEDUP), Some(SPEEDUP)),
];

/// Set as factors of locality: 1 on a node with the data, this in its rack and elsewhere.
const PENALTY: &str = "cluster.cost.locality";
/// Applied to the submissions.
const SPEEDUP: &str = "speedup";

/// Where a key of `[world]` stands: `cluster.…`, `workload.…` or `speedup`.
///
/// # Errors
/// That it is none for this source.
pub(crate) fn world_path(key: &str, source: &SourcePath) -> Result<String, String> {
    let place = usize::from(matches!(source, SourcePath::Trace(_)));
    if let Some(known) = WORLD_KEYS.iter().find(|known| known.name == key) {
        let path = known.paths.get(place).copied().flatten();
        return path
            .map(str::to_owned)
            .ok_or_else(|| format!("`{key}` cannot be varied of a trace, which has its own"));
    }
    match (key.split_once('.'), place) {
        (Some(("cluster", _)), _) | (Some(("workload", _)), 0) => Ok(key.to_owned()),
        (Some(("workload", _)), _) => Err(format!("`{key}` cannot be varied of a trace, only of a workload file")),
        (None, _) if ["cluster", "workload"].contains(&key) => Err(format!(
            "`{key}`: expected a whole path in quotes, such as \"cluster.jobs.slowstart\", found its first part"
        )),
        _ => {
            let known: Vec<&str> = WORLD_KEYS.iter().map(|known| known.name).collect();
            Err(format!("expected one of {}, `cluster.…` or `workload.…`, found `{key}`", known.join(", ")))
        }
    }
}

/// What is known of a world before anything is replayed in it.
#[derive(Debug, Clone)]
pub(crate) struct WorldSpec {
    source: Arc<Origin>,
    /// The workload file with what varies of it set; `None` for a trace.
    workload: Option<Arc<WorkloadFile>>,
    rules: ClusterConfig,
    speedup: f64,
    /// What tells it from other worlds, but for the seed.
    pub(crate) identity: serde_json::Value,
}

/// What is replayed.
#[derive(Debug)]
pub(crate) enum Origin {
    /// The text of a workload file, and its path for messages.
    Workload { text: String, path: String },
    /// A trace with its fingerprint.
    Trace { trace: Trace, fingerprint: String },
}

impl Origin {
    /// Opens it.
    pub(crate) fn open(source: &SourcePath) -> Result<Self, Error> {
        let path = source.path();
        match source {
            SourcePath::Workload(_) => {
                let read = fs::read_to_string(path).map_err(|error| {
                    Error::Request(format!(
                        "{}: expected a workload file, but it cannot be read ({error}); check the path",
                        path.display()
                    ))
                });
                Ok(Self::Workload { text: read?, path: path.display().to_string() })
            }
            SourcePath::Trace(_) => {
                let trace = Trace::open(path)?;
                let fingerprint = trace.fingerprint()?;
                Ok(Self::Trace { trace, fingerprint })
            }
        }
    }
}

impl WorldSpec {
    /// The world of `source` under the cluster file at `cluster`, with these values set.
    ///
    /// # Errors
    /// [`Error::Request`] if a file is wrong, or wrong with a value set.
    pub(crate) fn new(
        (source, origin): (&SourcePath, &Arc<Origin>),
        cluster: Option<&Path>,
        values: &[(String, Value)],
    ) -> Result<Self, Error> {
        let mut rules = Table::new();
        if let Some(path) = cluster {
            let read = |error| {
                Error::Request(format!("{}: cannot read the cluster file ({error}); check the path", path.display()))
            };
            ClusterConfig::read(path).map_err(|error| Error::Request(error.to_string()))?;
            rules = fs::read_to_string(path)
                .map_err(read)?
                .parse()
                .map_err(|error: toml::de::Error| Error::Request(format!("{}: {}", path.display(), error.message())))?;
        }
        let mut workload = match &**origin {
            Origin::Workload { text, path } => {
                WorkloadFile::parse(text, path)?;
                Some(text.parse::<Table>().map_err(|error| Error::Request(format!("{path}: {}", error.message())))?)
            }
            Origin::Trace { .. } => None,
        };
        let mut speedup = 1.0;
        for (key, value) in values {
            let path = world_path(key, source).map_err(Error::Request)?;
            let wrong = |problem: &str| Error::Request(format!("[world] {key} = {}: {problem}", value.text()));
            match path.split_once('.') {
                Some(("cluster", rest)) => {
                    let penalty = key == "remote_penalty";
                    let factor = || value.number().ok_or_else(|| wrong("expected a number"));
                    let value = if penalty {
                        let factor = factor()?;
                        Toml::Array(vec![Toml::Float(1.0), Toml::Float(factor), Toml::Float(factor)])
                    } else {
                        value.toml()
                    };
                    set(&mut rules, rest, value).map_err(|problem| wrong(&problem))?;
                }
                Some((_, rest)) => {
                    let Some(workload) = &mut workload else { return Err(wrong("a trace has none")) };
                    set(workload, rest, value.toml()).map_err(|problem| wrong(&problem))?;
                }
                None => {
                    speedup = value
                        .number()
                        .filter(|factor| (1e-6..=1e6).contains(factor))
                        .ok_or_else(|| wrong("expected a number from 1e-6 to 1e6"))?;
                }
            }
        }
        let told = |error: &dyn std::fmt::Display| {
            let set: Vec<String> = values.iter().map(|(key, value)| format!("{key} = {}", value.text())).collect();
            let place = if set.is_empty() { String::new() } else { format!("with [world] {}: ", set.join(", ")) };
            Error::Request(format!("{place}{error}"))
        };
        let rules = ClusterConfig::of_settings(rules).map_err(|error| told(&error))?;
        let (workload, content) = match (&**origin, workload) {
            (Origin::Workload { path, .. }, Some(table)) => {
                let text = toml::to_string(&table).map_err(|error| told(&error))?;
                let parsed = WorkloadFile::parse(&text, path)
                    .map_err(|error| if values.is_empty() { Error::from(error) } else { told(&error) })?;
                let own = parsed.cluster().nodes;
                if let Some(count) = rules.nodes.count.filter(|count| *count != own) {
                    return Err(Error::Request(format!(
                        "{path}: the workload has {own} machines, the cluster file {count}; take nodes.count out of the cluster file"
                    )));
                }
                (Some(Arc::new(parsed)), sha256(text.as_bytes()))
            }
            (Origin::Trace { fingerprint, .. }, _) => (None, fingerprint.clone()),
            (Origin::Workload { .. }, None) => (None, String::new()),
        };
        let identity = serde_json::json!({ "content": content, "rules": rules, "speedup": speedup });
        Ok(Self { source: Arc::clone(origin), workload, rules, speedup, identity })
    }

    /// Makes it with a seed.
    ///
    /// # Errors
    /// What is wrong with the workload, the trace or the cluster.
    pub(crate) fn make(&self, seed: u64) -> Result<World, resched_sim::Error> {
        let (cluster, mut workload) = match (&*self.source, &self.workload) {
            (_, Some(file)) => {
                let mut made = Collected::default();
                generate(file, seed, &mut made)?;
                let cluster = Cluster::of_rows(self.rules.clone(), &made.nodes)?;
                let workload = load_records(&made.jobs, &cluster)?;
                (cluster, workload)
            }
            (Origin::Trace { trace, .. }, None) if batch::is_production(trace)? => {
                if self.speedup != 1.0 {
                    let problem = "the arrivals of a production trace cannot be varied; make another trace with `resched scale --time`";
                    return Err(resched_sim::Error::Config(problem.to_owned()));
                }
                return Ok(World::Production(Box::new(batch::load(trace, &self.rules)?)));
            }
            (Origin::Trace { trace, .. }, None) => {
                let cluster = Cluster::for_trace(self.rules.clone(), trace)?;
                let (workload, _) = load(trace, &cluster, seed)?;
                (cluster, workload)
            }
            (Origin::Workload { path, .. }, None) => {
                return Err(resched_sim::Error::Config(format!("{path}: the workload was not read")));
            }
        };
        workload.hasten(self.speedup);
        Ok(World::Hadoop { cluster: Box::new(cluster), workload, seed })
    }
}

/// Sets `a.b.c` in a table.
fn set(table: &mut Table, path: &str, value: Toml) -> Result<(), String> {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
            Ok(())
        }
        Some((part, rest)) => match table.entry(part).or_insert_with(|| Toml::Table(Table::new())) {
            Toml::Table(inner) => set(inner, rest, value),
            other => Err(format!("`{part}` is {other}, not a table")),
        },
    }
}

/// A world that cells are replayed in.
#[derive(Debug)]
pub(crate) enum World {
    /// Maps and reduces on the machines of a Hadoop cluster.
    Hadoop { cluster: Box<Cluster>, workload: Workload, seed: u64 },
    /// Tasks with requests of their own on those of a production cluster.
    Production(Box<batch::Loaded>),
}

impl World {
    /// Replays it under a policy.
    ///
    /// # Errors
    /// What the engine or the policy says.
    pub(crate) fn replay(&self, label: &str, spec: &PolicySpec) -> Result<resched_analysis::Run, Error> {
        let failed = |error: resched_sim::Error| Error::Work(format!("{label}: {error}"));
        let mut info =
            RunInfo { label: label.to_owned(), policy: spec.name(), params: spec.parameters(), ..RunInfo::default() };
        let rows = match self {
            Self::Hadoop { cluster, workload, seed } => {
                let mut policy = spec.build()?;
                let cluster = cluster.for_system(policy.system()).map_err(failed)?;
                let mut rows = RunRows::new(workload, &cluster);
                let options = Options { seed: *seed, ..Options::default() };
                let tally = replay(workload, &cluster, (label, &mut *policy), &options, &mut rows, &mut |_| {});
                info.events = tally.map_err(failed)?.events;
                info.seed = *seed;
                info.cluster = cluster.in_short();
                rows.finish()
            }
            Self::Production(loaded) => {
                let mut policy = spec.build_batch()?;
                let batch::Loaded { workload, machines, .. } = &**loaded;
                let mut rows = batch::RunRows::new(workload, machines);
                let tally = batch::replay(workload, machines, (label, &mut *policy), &mut rows, &mut |_| {});
                info.events = tally.map_err(failed)?.events;
                info.cluster = machines.in_short();
                rows.finish()
            }
        };
        Ok(resched_analysis::Run::of_rows(info, rows)?)
    }

    /// Replays it under a policy and keeps nothing.
    ///
    /// # Errors
    /// As [`World::replay`].
    pub(crate) fn replay_only(&self, spec: &PolicySpec) -> Result<(), Error> {
        let failed = |error: resched_sim::Error| Error::Work(error.to_string());
        match self {
            Self::Hadoop { cluster, workload, seed } => {
                let mut policy = spec.build()?;
                let cluster = cluster.for_system(policy.system()).map_err(failed)?;
                let options = Options { seed: *seed, ..Options::default() };
                let named = ("alone", &mut *policy);
                replay(workload, &cluster, named, &options, &mut (), &mut |_| {}).map(|_| ()).map_err(failed)
            }
            Self::Production(loaded) => {
                let mut policy = spec.build_batch()?;
                let batch::Loaded { workload, machines, .. } = &**loaded;
                batch::replay(workload, machines, ("alone", &mut *policy), &mut (), &mut |_| {})
                    .map(|_| ())
                    .map_err(failed)
            }
        }
    }
}

/// The files that a policy's parameters name, by path, with the hashes of what they hold: a change of one makes other cells.
///
/// # Errors
/// [`Error::Request`] if one cannot be read.
pub(crate) fn policy_files(spec: &PolicySpec) -> Result<BTreeMap<String, String>, Error> {
    let files = spec.info.parameters.iter().filter(|parameter| parameter.range == resched_policies::Range::File);
    let named = files.filter_map(|parameter| spec.set.get(parameter.key)).filter(|path| !path.is_empty());
    named
        .map(|path| {
            let bytes = fs::read(path)
                .map_err(|error| Error::Request(format!("{path}: cannot be read ({error}); check the path")))?;
            Ok((path.clone(), sha256(&bytes)))
        })
        .collect()
}
