//! The source of a replay.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use once_cell::sync::OnceCell;
use resched_policies::{Engine, Submitter, Submitters};
use resched_sim::{ClusterConfig, Window};
use resched_tables::clock::{Covered, Instant, Span, Zone};
use resched_tables::model::{JobRow, NodeRow};
use resched_tables::run::RunTrace;
use resched_tables::sink::Collected;
use resched_tables::store::{System, TimeZero, Trace, sha256};
use resched_workload::{Workload, make_trace, read_text};
use toml::{Table, Value as Toml};

use crate::Error;

/// The source of a replay: a trace, a workload file, or tables in memory. It is cheap to clone, and one source serves
/// any number of worlds.
#[derive(Debug, Clone)]
pub struct Source(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    origin: Origin,
    /// Its path as you gave it. `run.json` and messages name it.
    name: String,
    engine: Engine,
    covered: OnceCell<Covered>,
}

/// The place of the tables.
#[derive(Debug)]
pub(crate) enum Origin {
    /// A folder to read them from.
    Trace(Box<Trace>),
    /// A workload file; they are generated with each seed.
    Workload { workload: Box<Workload>, text: String },
    /// Memory.
    Tables { tables: Box<Collected>, sha256: String },
}

impl Source {
    /// Opens the folder of a trace, or a workload file (`.toml`).
    ///
    /// # Errors
    /// [`Error::Request`] or [`Error::Sim`] if it is neither or cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let is_workload = path.extension().is_some_and(|extension| extension == "toml") && !path.is_dir();
        if is_workload {
            let (text, name) = (read_text(path)?, path.display().to_string());
            return Ok(Self::workload(Workload::parse(&text, &name)?, text, name));
        }
        Self::trace(Trace::open(path)?)
    }

    /// A trace.
    ///
    /// # Errors
    /// [`Error::Sim`] if its first rows cannot be read.
    pub fn trace(trace: Trace) -> Result<Self, Error> {
        Ok(Self::new(trace.dir().display().to_string(), trace.manifest().engine, Origin::Trace(Box::new(trace))))
    }

    /// A workload file: its content, its text, which identifies it, and its name for messages.
    pub fn workload(workload: Workload, text: String, name: String) -> Self {
        Self::new(name, Engine::Hadoop, Origin::Workload { workload: Box::new(workload), text })
    }

    /// Tables in memory. `named` is for `run.json`: a name, and a hash of the data that identifies them.
    pub fn tables(tables: Collected, named: RunTrace) -> Self {
        let engine = tables.engine;
        let origin = Origin::Tables { tables: Box::new(tables), sha256: named.sha256 };
        Self::new(named.path, engine, origin)
    }

    /// Its jobs, counted by what decides their queues and limits, to check a configuration against them. It reads one table of a trace.
    ///
    /// # Errors
    /// [`Error::Sim`] if it cannot be read.
    pub fn submitters(&self) -> Result<Submitters, Error> {
        fn of(job: &JobRow) -> Submitter<'_> {
            let [queue, user, group, qos] =
                [&job.queue, &job.user, &job.group, &job.qos].map(|text| text.as_deref().unwrap_or_default());
            Submitter { queue, user, group, qos }
        }
        match self.origin() {
            Origin::Trace(trace) => {
                let mut counted = Submitters::default();
                for job in trace.rows::<JobRow>()? {
                    counted.add(of(&job?));
                }
                Ok(counted)
            }
            Origin::Tables { tables, .. } => Ok(tables.jobs.iter().map(|record| of(&record.job)).collect()),
            Origin::Workload { workload, text } => {
                // Seeds change the times of a workload, not its queues and users.
                let (tables, _) = make_trace(workload, text, self.name(), 1)?;
                Ok(tables.jobs.iter().map(|record| of(&record.job)).collect())
            }
        }
    }

    /// The version of the scheduler that wrote the log of the jobs, if the log says it.
    pub fn scheduler_version(&self) -> Option<&str> {
        match self.origin() {
            Origin::Trace(trace) => trace.manifest().scheduler_version(),
            Origin::Tables { .. } | Origin::Workload { .. } => None,
        }
    }

    /// The host names of the machines that a trace names, in order.
    ///
    /// # Errors
    /// [`Error::Sim`] if it cannot be read.
    pub fn hosts(&self) -> Result<BTreeSet<String>, Error> {
        let mut hosts = BTreeSet::new();
        match self.origin() {
            Origin::Trace(trace) => {
                for node in trace.rows::<NodeRow>()? {
                    hosts.insert(node?.host);
                }
            }
            Origin::Tables { tables, .. } => hosts.extend(tables.nodes.iter().map(|node| node.host.clone())),
            Origin::Workload { .. } => {}
        }
        Ok(hosts)
    }

    /// The source on a cluster of `nodes` machines ([`set_machines`]).
    ///
    /// # Errors
    /// [`Error::Sim`] if the workload cannot have as many machines.
    pub fn resized(self, cluster: &mut ClusterConfig, nodes: u32) -> Result<Self, Error> {
        let mut workload = match self.origin() {
            Origin::Workload { text, .. } => Some(table_of(text).map_err(Error::Request)?),
            Origin::Trace(_) | Origin::Tables { .. } => None,
        };
        let generated = set_machines(cluster, workload.as_mut(), nodes);
        let Some(workload) = workload.filter(|_| generated) else { return Ok(self) };
        let text = toml::to_string(&workload).map_err(|error| Error::Request(error.to_string()))?;
        Ok(Self::workload(Workload::parse(&text, self.name())?, text, self.name().to_owned()))
    }

    /// The SHA-256 that identifies it, hexadecimal: of the tables of a trace, or of the text of a workload file.
    ///
    /// # Errors
    /// [`Error::Sim`] if a trace cannot be read.
    pub fn fingerprint(&self) -> Result<String, Error> {
        match self.origin() {
            Origin::Trace(trace) => Ok(trace.fingerprint()?),
            Origin::Workload { text, .. } => Ok(sha256(text.as_bytes())),
            Origin::Tables { sha256, .. } => Ok(sha256.clone()),
        }
    }

    fn new(name: String, engine: Engine, origin: Origin) -> Self {
        Self(Arc::new(Opened { origin, name, engine, covered: OnceCell::new() }))
    }

    /// Whether it holds Hadoop's maps and reduces or batch tasks. Hadoop's can also be replayed under batch policies, but not the
    /// other way around.
    pub fn engine(&self) -> Engine {
        self.0.engine
    }

    /// What ran its jobs; the usual one if that is not known.
    pub fn system(&self) -> System {
        match self.origin() {
            Origin::Trace(trace) => trace.manifest().system.unwrap_or_default(),
            Origin::Tables { .. } | Origin::Workload { .. } => System::default(),
        }
    }

    /// True if its times count from a date.
    pub fn is_dated(&self) -> bool {
        matches!(self.origin(), Origin::Trace(trace) if trace.manifest().time_zero == TimeZero::Epoch)
    }

    /// The time that a trace covers, for a window by the clock. It reads one table of a trace. A source of any other kind has no dates.
    ///
    /// # Errors
    /// [`Error::Sim`] if it cannot be read.
    pub fn covered(&self) -> Result<Covered, Error> {
        self.0.covered.get_or_try_init(|| self.find_covered()).copied()
    }

    fn find_covered(&self) -> Result<Covered, Error> {
        let mut covered: Option<Covered> = None;
        if let Origin::Trace(trace) = self.origin() {
            for job in trace.rows::<JobRow>()? {
                let Some(submit) = job?.submit else { continue };
                covered =
                    Covered::of_all(covered.into_iter().chain([Covered { start: submit, last: submit, dated: true }]));
            }
        }
        let covered = covered.unwrap_or(Covered { start: 0, last: 0, dated: false });
        Ok(Covered { dated: covered.dated && self.is_dated(), ..covered })
    }

    /// Checks that a window ends after its start and has a part of the trace.
    ///
    /// # Errors
    /// [`Error::Request`] if not; [`Error::Sim`] if the trace cannot be read.
    pub(crate) fn check_window(&self, window: Window) -> Result<(), Error> {
        if window == Window::default() {
            return Ok(());
        }
        let covered = match self.origin() {
            Origin::Trace(_) => self.covered()?,
            // When the jobs of a workload are submitted is known when they are made. Two ends of one kind can be compared all the same.
            Origin::Workload { .. } | Origin::Tables { .. } if window.is_of_one_kind() => {
                Covered { start: 0, last: i64::MAX, dated: false }
            }
            Origin::Workload { .. } | Origin::Tables { .. } => return Ok(()),
        };
        let at = |instant: Instant| match instant {
            Instant::At(at) | Instant::Date(at) => at,
            Instant::AfterFirst(after) => covered.start.saturating_add(after),
        };
        let span = Span { from: window.from.map(at), to: window.to.map(at) };
        let is_met = covered.meets(span, Zone::default());
        is_met.map_err(|problem| Error::Request(format!("{}: {problem}", self.name())))
    }

    /// Its path or name as you gave it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// True if all seeds have the same jobs: those of a trace. A workload file makes its jobs with each seed.
    pub fn has_fixed_jobs(&self) -> bool {
        !matches!(self.origin(), Origin::Workload { .. })
    }

    /// What all seeds and sizes of a workload file have in common; `None` for any other source.
    pub(crate) fn workload_identity(&self) -> Option<String> {
        match self.origin() {
            Origin::Workload { text, .. } => Some(without_machines(text)),
            Origin::Trace(_) | Origin::Tables { .. } => None,
        }
    }

    /// What identifies the trace, if it is one on disk.
    ///
    /// # Errors
    /// [`Error::Sim`] if its manifest cannot be encoded.
    pub fn trace_fingerprint(&self) -> Result<Option<String>, Error> {
        match self.origin() {
            Origin::Trace(trace) => Ok(Some(trace.fingerprint()?)),
            Origin::Tables { .. } | Origin::Workload { .. } => Ok(None),
        }
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.0.origin
    }
}

/// The SHA-256 of a workload file without its machines.
fn without_machines(text: &str) -> String {
    let mut workload: Table = text.parse().unwrap_or_default();
    workload.remove("cluster");
    sha256(toml::to_string(&workload).unwrap_or_default().as_bytes())
}

/// Sets the number of machines, by one rule for options, sweeps and searches. A workload file is generated for as many, on no more racks
/// than these. The machines of any other source, and those that the cluster file names, are cut or cloned ([`ClusterConfig::resize`]).
/// `workload` is the table of the workload file, if the source is one. Returns whether it was changed.
pub fn set_machines(cluster: &mut ClusterConfig, workload: Option<&mut Table>, nodes: u32) -> bool {
    let names_machines = !cluster.cost.host_factors.is_empty() || !cluster.outages.is_empty();
    let Some(workload) = workload.filter(|_| !names_machines) else {
        cluster.resize(nodes);
        return false;
    };
    cluster.nodes.count = None;
    if let Some(Toml::Table(cluster)) = workload.get_mut("cluster") {
        cluster.insert("nodes".to_owned(), i64::from(nodes).into());
        if cluster.get("racks").and_then(Toml::as_integer).is_some_and(|racks| racks > i64::from(nodes)) {
            cluster.insert("racks".to_owned(), i64::from(nodes).into());
        }
    }
    true
}

fn table_of(text: &str) -> Result<Table, String> {
    text.parse().map_err(|error: toml::de::Error| error.to_string())
}
