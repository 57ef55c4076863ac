//! The cluster of a replay: the file that describes it, and its nodes.

use std::collections::BTreeMap;
use std::path::Path;

use resched_trace::model::{NodeChange, NodeRow};
use resched_trace::run::RunCluster;
use resched_trace::store::Trace;
use resched_trace::workload::explain_toml;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::Error;
use crate::containers::{Ask, Containers, System};
use crate::ids::{Kind, Ms, NodeId, RackId};
use crate::resources::Resources;
use crate::workload::LONGEST;
use resched_trace::synthesise::{host_name, rack_name, rack_of};

/// More nodes than any cluster has; a larger number in a file is a slip.
const MOST_NODES: u32 = 1_000_000;
/// More slots than any node has.
const MOST_SLOTS: u32 = 100_000;

/// A cluster file (TOML). Every part has defaults, so an empty file is a cluster: the trace's own nodes with two map
/// and two reduce slots each and the heartbeats of 2009.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClusterConfig {
    /// What it describes, for people.
    pub description: String,
    /// The machines.
    pub nodes: Nodes,
    /// When they call the master.
    pub heartbeat: Heartbeat,
    /// How the master treats jobs.
    pub jobs: Jobs,
    /// How long tasks take.
    pub cost: Cost,
    /// When nodes fail.
    pub outages: Vec<Outage>,
    /// What the machines offer and how they are shared under YARN, for the policies that schedule containers.
    pub containers: Containers,
    /// The machines under the policies for production traces ([`crate::batch`]).
    #[serde(skip_serializing_if = "Machines::is_default")]
    pub machines: Machines,
}

/// The machines of a production cluster, for the policies that know neither slots nor heartbeats. Of the rest of a cluster file
/// only `jobs.first_submit` counts for these.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Machines {
    /// How many, all alike; absent: the trace's own, as they come, go and change.
    pub count: Option<u32>,
    /// Cores of each; of the trace's own, where the trace does not say.
    pub cores: Option<f64>,
    /// Memory of each, bytes; absent, and not in the trace for any machine: it is not limited.
    pub memory: Option<u64>,
    /// Which of the machines with enough room a task gets.
    pub placement: Placement,
}

impl Machines {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    fn check(&self) -> Result<(), String> {
        let Self { count, cores, memory, .. } = *self;
        if count.is_some_and(|count| !(1..=MOST_NODES).contains(&count)) {
            return Err(format!(
                "machines.count: expected a number from 1 to {MOST_NODES}, found {}",
                count.unwrap_or(0)
            ));
        }
        if count.is_some() && cores.is_none() {
            return Err("machines.count: expected machines.cores beside it".to_owned());
        }
        if let Some(cores) = cores.filter(|cores| !(1e-3..=1e6).contains(cores)) {
            return Err(format!("machines.cores: expected a number from 0.001 to 1000000, found {cores}"));
        }
        let most = crate::batch::Machines::MOST.memory;
        match memory.filter(|memory| !(1..=most).contains(memory)) {
            Some(memory) => Err(format!("machines.memory: expected bytes, from 1 to {most}, found {memory}")),
            None => Ok(()),
        }
    }
}

/// Which of the machines with enough room a task gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The first, by name.
    #[default]
    FirstFit,
    /// The one on which least is left over of the resource of which most is left over, each as a share of the largest machine;
    /// of equal ones the one with less processor free, then with less memory free, then the first by name.
    BestFit,
}

/// A time in which a node is down (policies A.8). What runs there dies; the master learns of it when it has heard nothing for
/// `heartbeat.expiry`, or when the node is back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// The node's host name.
    pub host: String,
    /// From when on it is down, ms of the simulated clock.
    pub from: Ms,
    /// When it is back, ms; absent: never.
    pub to: Option<Ms>,
}

/// An outage of a node of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Down {
    pub(crate) node: NodeId,
    pub(crate) from: Ms,
    pub(crate) to: Option<Ms>,
}

/// The machines of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Nodes {
    /// How many; absent: the trace's own.
    pub count: Option<u32>,
    /// In how many racks; only with `count`.
    pub racks: u32,
    /// Maps that a node runs at once, where the trace does not say.
    pub map_slots: u32,
    /// Reduces that a node runs at once, where the trace does not say.
    pub reduce_slots: u32,
    /// Further reduces that a node admits, which may fetch but not compute until a reduce slot is free (copy-compute splitting).
    pub copying_reduces: u32,
}

impl Default for Nodes {
    fn default() -> Self {
        Self { count: None, racks: 1, map_slots: 2, reduce_slots: 2, copying_reduces: 0 }
    }
}

/// The heartbeats of a cluster (policies A.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Heartbeat {
    /// Time between two heartbeats of a node.
    pub interval: Interval,
    /// How many heartbeats a second the master wants to get; for the rules of an era.
    pub per_second: u32,
    /// The shortest interval, ms; absent: the era's own. For the rules of an era.
    pub least: Option<Ms>,
    /// When the clock starts: the first heartbeats come from here on, ms.
    pub first: Ms,
    /// How the first heartbeats lie within one interval.
    pub phase: Phase,
    /// By how much a heartbeat may come early or late, ms; less than half an interval.
    pub jitter: Ms,
    /// Whether a node also calls at once when an attempt ends.
    pub out_of_band: bool,
    /// A node that the master has not heard of for so long is given up, ms.
    pub expiry: Ms,
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self {
            interval: Interval::Era(Era::Mr1_2009),
            per_second: 100,
            least: None,
            first: 0,
            phase: Phase::Spread,
            jitter: 0,
            out_of_band: false,
            expiry: 600_000,
        }
    }
}

impl Heartbeat {
    /// The interval of a cluster of so many nodes, ms (policies A.1).
    pub fn interval_of(&self, nodes: usize) -> Ms {
        let (nodes, per_second) = (nodes as Ms, Ms::from(self.per_second.max(1)));
        let of_era = match self.interval {
            Interval::Fixed(ms) => return ms,
            Interval::Era(Era::Mr1_2009) => 1000 * ((nodes + per_second - 1) / per_second),
            Interval::Era(Era::Mr1_2011) => 1000 * nodes / per_second,
        };
        of_era.max(self.shortest())
    }

    /// The shortest interval that may come of it, ms.
    fn shortest(&self) -> Ms {
        match self.interval {
            Interval::Fixed(ms) => ms,
            Interval::Era(Era::Mr1_2009) => self.least.unwrap_or(3000),
            Interval::Era(Era::Mr1_2011) => self.least.unwrap_or(300),
        }
    }
}

/// The time between two heartbeats of a node: milliseconds, or Hadoop's rule of an era.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected milliseconds, or one of \"mr1-2009\" and \"mr1-2011\"")]
pub enum Interval {
    /// Milliseconds.
    Fixed(Ms),
    /// A rule that depends on the number of nodes.
    Era(Era),
}

/// Hadoop's rules for the heartbeat interval (policies A.1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Era {
    /// `max(3000, 1000·ceil(N/100))` ms; 100 and 3000 are `per_second` and `least` of [`Heartbeat`].
    #[serde(rename = "mr1-2009")]
    Mr1_2009,
    /// `max(300, floor(1000·N/100))` ms, likewise.
    #[serde(rename = "mr1-2011")]
    Mr1_2011,
}

/// How the nodes' first heartbeats lie within one interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// All at once, nodes in name order.
    Together,
    /// Uniformly, each node by a draw of its own.
    Spread,
}

/// How the master treats jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Jobs {
    /// When the first job is submitted; the others keep their distance to it, ms.
    pub first_submit: Ms,
    /// From the submission of a job until its tasks may be launched, ms: its set-up, which is not replayed (policies A.1).
    pub init_delay: Ms,
    /// Share of a job's maps that must be finished before its reduces may start (policies A.3).
    pub slowstart: f64,
    /// A task that fails so often fails its job (policies A.8).
    pub max_attempts: u32,
    /// Whether what still runs of a job that has failed is killed, as Hadoop does. Mumak lets it run, and its reduces hold
    /// their slots for ever (`oracle/README.md` F10). Slots only: under YARN it is killed.
    pub kill_failed: bool,
    /// From the heartbeat that assigns an attempt to its start, ms.
    pub launch_overhead: Ms,
    /// Leave out jobs that were killed: how they would have ended is unknown.
    pub skip_killed: bool,
    /// Which split a map reads.
    pub splits: Splits,
}

impl Default for Jobs {
    fn default() -> Self {
        Self {
            first_submit: 0,
            init_delay: 0,
            slowstart: 0.05,
            max_attempts: 4,
            kill_failed: true,
            launch_overhead: 0,
            skip_killed: true,
            splits: Splits::ByNumber,
        }
    }
}

/// Which split a map reads, where the trace lists the tasks of a job in another order than by number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Splits {
    /// Its own.
    ByNumber,
    /// Map i reads the split of the i-th task that is listed, as Mumak has it (`oracle/README.md` F8).
    ByPosition,
}

/// How long tasks take (policies A.5, A.6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cost {
    /// By how much a map takes longer on a node with its split, in such a rack, elsewhere.
    pub locality: [f64; 3],
    /// How a reduce gets its input.
    pub reduce: ReduceModel,
    /// Bytes per second that a reduce fetches; only for the fluid model.
    pub shuffle_rate: f64,
    /// Nodes on which everything takes longer, drawn from the seed.
    pub slow_nodes: Slow,
    /// By how much everything takes longer on nodes that are known to be slow (or less than 1: fast), by host name. What such a
    /// host logged in the trace holds its factor already and is divided by it.
    pub host_factors: BTreeMap<String, f64>,
    /// Attempts that take longer than their tasks should, drawn from the seed.
    pub stragglers: Slow,
    /// How long another attempt at a running task takes.
    pub backup: Backup,
    /// What the tasks of a node share (model `contention`); without it they do not hinder each other (model `logged`).
    pub contention: Option<Contention>,
}

/// What a node has for its tasks to share; what is not set does not run short.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contention {
    /// Cores.
    pub cores: Option<f64>,
    /// What its disks read and write, bytes per second.
    pub disk: Option<f64>,
    /// What its network takes in, and also what it gives out, bytes per second.
    pub network: Option<f64>,
    /// How often what nodes use is noted, ms.
    #[serde(default = "minute")]
    pub sample: Ms,
}

fn minute() -> Ms {
    60_000
}

/// Which share of some things takes so many times as long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slow {
    /// The share, from 0 to 1.
    pub share: f64,
    /// How many times as long.
    pub factor: f64,
}

impl Slow {
    /// None is slow.
    pub const NONE: Slow = Slow { share: 0.0, factor: 1.0 };
}

/// How long a backup takes: a log cannot tell whether a slow attempt was slow by its task or by its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backup {
    /// As long as the task's own logged attempt: it was slow by its task. Only `slow_nodes`, `host_factors` and `stragglers`
    /// let a backup win.
    Task,
    /// A time drawn from the job's attempts: it was slow by its node.
    Job,
}

impl Cost {
    /// The name of the cost model: `contention` or `logged`.
    pub fn model(&self) -> &'static str {
        if self.contention.is_some() { "contention" } else { "logged" }
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self {
            locality: [1.0, 1.5, 3.0],
            reduce: ReduceModel::R1,
            shuffle_rate: 10e6,
            slow_nodes: Slow::NONE,
            host_factors: BTreeMap::new(),
            stragglers: Slow::NONE,
            backup: Backup::Task,
            contention: None,
        }
    }
}

/// How a reduce gets its input (policies A.6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReduceModel {
    /// Mumak's: no shuffle and no sort; the reduce phase starts when the node is told that all maps are done.
    R0,
    /// Template: the job's logged shuffle times. A reduce that started before the master learned of the last map has its input
    /// one mean shuffle tail later; another one mean shuffle after its start. Then it sorts and reduces as logged.
    R1,
    /// Fluid: a reduce fetches at a fixed rate what the finished maps have made, as [`crate::Fluid`] says; then as R1.
    R2,
}

impl ReduceModel {
    /// Its name in cluster files.
    pub fn name(self) -> &'static str {
        match self {
            ReduceModel::R0 => "r0",
            ReduceModel::R1 => "r1",
            ReduceModel::R2 => "r2",
        }
    }
}

impl ClusterConfig {
    /// Reads a cluster file.
    ///
    /// # Errors
    /// [`Error::Config`] if it cannot be read, or, with its line, if it is not one.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::read_over(&Table::new(), path)
    }

    /// Reads a cluster file over other settings, as its keys have them: what the file says wins.
    ///
    /// # Errors
    /// As [`ClusterConfig::read`].
    pub fn read_over(settings: &Table, path: &Path) -> Result<Self, Error> {
        let named = |problem: String| Error::Config(format!("{}: {problem}", path.display()));
        let text = std::fs::read_to_string(path)
            .map_err(|error| named(format!("cannot read the cluster file ({error}); name another --cluster")))?;
        let remedy = "correct it (traces/clusters holds examples)";
        let explained = |error| explain_toml(&error, &text, &path.display().to_string(), remedy);
        let alone: Self = toml::from_str(&text).map_err(explained)?;
        alone.check().map_err(|problem| named(format!("{problem}; {remedy}")))?;
        let own: Table = toml::from_str(&text).map_err(explained)?;
        let mut all = settings.clone();
        lay_over(&mut all, own);
        Self::of_settings(all).map_err(|error| named(format!("over the other settings, {error}; {remedy}")))
    }

    /// The cluster of these settings, as the keys of a cluster file have them; the rest has its defaults, part by part.
    ///
    /// # Errors
    /// [`Error::Config`] if a key is unknown or a value is wrong.
    pub fn of_settings(settings: Table) -> Result<Self, Error> {
        let mut all = Table::try_from(Self::default()).map_err(|error| Error::Config(error.to_string()))?;
        lay_over(&mut all, settings);
        let config: Self = all.try_into().map_err(|error: toml::de::Error| Error::Config(error.to_string()))?;
        config.check().map_err(Error::Config)?;
        Ok(config)
    }

    /// Reads the text of a cluster file.
    ///
    /// # Errors
    /// [`Error::Config`] with line and column if it is not one.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let config: Self = toml::from_str(text).map_err(|error| Error::Config(error.to_string()))?;
        config.check().map_err(Error::Config)?;
        Ok(config)
    }

    /// What is wrong with the numbers, if anything.
    fn check(&self) -> Result<(), String> {
        let inside = |name: &str, value: f64, low: f64, high: f64| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(format!("{name}: expected a number from {low} to {high}, found {value}"))
            }
        };
        let day = 86_400_000.0;
        if let Some(count) = self.nodes.count {
            inside("nodes.count", f64::from(count), 1.0, f64::from(MOST_NODES))?;
            inside("nodes.racks", f64::from(self.nodes.racks), 1.0, f64::from(count))?;
        }
        inside("nodes.map_slots", f64::from(self.nodes.map_slots), 0.0, f64::from(MOST_SLOTS))?;
        inside("nodes.reduce_slots", f64::from(self.nodes.reduce_slots), 0.0, f64::from(MOST_SLOTS))?;
        inside("nodes.copying_reduces", f64::from(self.nodes.copying_reduces), 0.0, f64::from(MOST_SLOTS))?;
        if let Interval::Fixed(ms) = self.heartbeat.interval {
            inside("heartbeat.interval", ms as f64, 1.0, day)?;
        }
        inside("heartbeat.per_second", f64::from(self.heartbeat.per_second), 1.0, 1e6)?;
        if let Some(least) = self.heartbeat.least {
            inside("heartbeat.least", least as f64, 1.0, day)?;
        }
        inside("heartbeat.jitter", self.heartbeat.jitter as f64, 0.0, ((self.heartbeat.shortest() - 1) / 2) as f64)?;
        inside("heartbeat.first", self.heartbeat.first as f64, 0.0, day)?;
        inside("jobs.first_submit", self.jobs.first_submit as f64, 0.0, day)?;
        inside("jobs.init_delay", self.jobs.init_delay as f64, 0.0, day)?;
        inside("jobs.slowstart", self.jobs.slowstart, 0.0, 1.0)?;
        inside("jobs.max_attempts", f64::from(self.jobs.max_attempts), 1.0, 1000.0)?;
        inside("jobs.launch_overhead", self.jobs.launch_overhead as f64, 0.0, day)?;
        for factor in self.cost.locality {
            inside("cost.locality", factor, 1e-3, 1e3)?;
        }
        for (name, slow) in [("cost.slow_nodes", self.cost.slow_nodes), ("cost.stragglers", self.cost.stragglers)] {
            inside(&format!("{name}.share"), slow.share, 0.0, 1.0)?;
            inside(&format!("{name}.factor"), slow.factor, 1e-3, 1e3)?;
        }
        for (host, &factor) in &self.cost.host_factors {
            inside(&format!("cost.host_factors.{host}"), factor, 1e-3, 1e3)?;
        }
        inside("heartbeat.expiry", self.heartbeat.expiry as f64, 1.0, day)?;
        for Outage { host, from, to } in &self.outages {
            inside(&format!("outages: {host}: from"), *from as f64, 0.0, LONGEST as f64)?;
            inside(&format!("outages: {host}: to"), to.unwrap_or(LONGEST) as f64, *from as f64 + 1.0, LONGEST as f64)?;
        }
        inside("cost.shuffle_rate", self.cost.shuffle_rate, 1.0, 1e15)?;
        if let Some(contention) = &self.cost.contention {
            self.check_contention(contention, inside)?;
        }
        self.machines.check()?;
        self.containers.check()
    }

    fn check_contention(
        &self,
        own: &Contention,
        inside: impl Fn(&str, f64, f64, f64) -> Result<(), String>,
    ) -> Result<(), String> {
        inside("cost.contention.cores", own.cores.unwrap_or(1.0), 1e-3, 1e6)?;
        for (name, rate) in [("disk", own.disk), ("network", own.network)] {
            inside(&format!("cost.contention.{name}"), rate.unwrap_or(1.0), 1.0, 1e15)?;
        }
        inside("cost.contention.sample", own.sample as f64, 1.0, 86_400_000.0)?;
        if self.cost.reduce != ReduceModel::R2 {
            return Err("cost.contention follows bytes; expected cost.reduce = \"r2\" beside it".to_owned());
        }
        if self.nodes.copying_reduces > 0 {
            return Err("cost.contention: expected nodes.copying_reduces = 0 beside it".to_owned());
        }
        Ok(())
    }
}

/// Puts the settings of one table over those of another, key by key.
fn lay_over(beneath: &mut Table, above: Table) {
    for (key, value) in above {
        match (beneath.get_mut(&key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => lay_over(under, over),
            (_, value) => {
                beneath.insert(key, value);
            }
        }
    }
}

/// A machine of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its host name.
    pub name: String,
    /// Its rack.
    pub rack: RackId,
    /// What it offers.
    pub capacity: Resources,
    /// What it offers under each system.
    offers: [Resources; 2],
}

/// A machine as a trace or a cluster file names it.
struct Machine {
    name: String,
    rack: String,
    /// What it offers under each system.
    offers: [Resources; 2],
}

/// The machines of a replay and the rules by which it runs.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The rules.
    pub config: ClusterConfig,
    nodes: Vec<Node>,
    racks: Vec<String>,
    system: System,
    /// What the container of each [`Ask`] takes, or the slot of a task.
    demands: [Resources; 4],
    /// What all nodes offer.
    total: Resources,
    /// How many tasks of each kind fit on the nodes.
    slots: [u32; 2],
    interval: Ms,
    outages: Vec<Down>,
}

impl Cluster {
    /// The cluster that `config` describes, with the trace's own nodes where it names none.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no node or no slot; [`Error::Trace`] if the trace cannot be read.
    pub fn for_trace(config: ClusterConfig, trace: &Trace) -> Result<Self, Error> {
        if config.nodes.count.is_some() {
            return Self::generated(config);
        }
        let mut machines = BTreeMap::new();
        for row in trace.rows::<NodeRow>()? {
            let row = row?;
            if row.event == NodeChange::Add {
                let or = |own: Option<i64>, default| own.and_then(|own| u32::try_from(own).ok()).unwrap_or(default);
                let slots = Resources([
                    or(row.map_slots, config.nodes.map_slots),
                    or(row.reduce_slots, config.nodes.reduce_slots),
                ]);
                let containers = Resources([
                    or(row.memory.map(|bytes| bytes >> 20), config.containers.memory_mb),
                    or(row.cpu.map(|thousandths| thousandths / 1000), config.containers.vcores),
                ]);
                let rack = row.rack.unwrap_or_else(|| "/default-rack".to_owned());
                machines.entry(row.host).or_insert((rack, [slots, containers]));
            }
        }
        if machines.is_empty() {
            return Err(Error::Config(format!(
                "{}: the trace names no machine; give a cluster with `--cluster C.toml` that holds `[nodes]` and \
                 `count = <how many>`",
                trace.dir().display()
            )));
        }
        let machine = |(name, (rack, offers))| Machine { name, rack, offers };
        Self::of_machines(config, machines.into_iter().map(machine).collect())
    }

    /// A cluster of `nodes.count` nodes with generated names.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no node or no slot.
    pub fn generated(config: ClusterConfig) -> Result<Self, Error> {
        let count = config.nodes.count.unwrap_or(0);
        let racks = config.nodes.racks.clamp(1, count.max(1));
        let capacity = Resources([config.nodes.map_slots, config.nodes.reduce_slots]);
        let nodes: Vec<_> =
            (0..count).map(|node| (host_name(node), rack_name(rack_of(node, count, racks)), capacity)).collect();
        Self::new(config, nodes)
    }

    /// A cluster of these machines (name, rack, slots); under YARN each offers what the rules say.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no node or no slot.
    pub fn new(
        config: ClusterConfig,
        machines: impl IntoIterator<Item = (String, String, Resources)>,
    ) -> Result<Self, Error> {
        let offers = config.containers.node();
        let machine = |(name, rack, slots)| Machine { name, rack, offers: [slots, offers] };
        let machines = machines.into_iter().map(machine).collect();
        Self::of_machines(config, machines)
    }

    /// A cluster of the machines that a workload file brings.
    ///
    /// # Errors
    /// As [`Cluster::new`].
    pub fn of_rows(config: ClusterConfig, nodes: &[NodeRow]) -> Result<Self, Error> {
        let slots = |slots: Option<i64>| slots.and_then(|slots| u32::try_from(slots).ok()).unwrap_or(0);
        let machine = |node: &NodeRow| {
            let capacity = Resources([slots(node.map_slots), slots(node.reduce_slots)]);
            (node.host.clone(), node.rack.clone().unwrap_or_default(), capacity)
        };
        Self::new(config, nodes.iter().map(machine))
    }

    /// What `run.json` says of it.
    pub fn in_short(&self) -> RunCluster {
        let [memory_mb, vcores] = match self.system {
            System::Slots => [None; 2],
            System::Containers => self.total.0.map(|part| Some(part.into())),
        };
        RunCluster {
            nodes: self.nodes.len() as u64,
            racks: self.racks.len() as u64,
            map_slots: self.slots(Kind::Map).into(),
            reduce_slots: self.slots(Kind::Reduce).into(),
            memory_mb,
            vcores,
        }
    }

    fn of_machines(config: ClusterConfig, mut machines: Vec<Machine>) -> Result<Self, Error> {
        machines.sort_by(|a, b| a.name.cmp(&b.name));
        machines.dedup_by(|a, b| a.name == b.name);
        let mut racks: Vec<String> = Vec::new();
        let mut known: BTreeMap<String, RackId> = BTreeMap::new();
        let mut nodes = Vec::with_capacity(machines.len());
        for Machine { name, rack, mut offers } in machines {
            let next = RackId::at(racks.len());
            let rack = *known.entry(rack).or_insert_with_key(|rack| {
                racks.push(rack.clone());
                next
            });
            if offers[0].0[1] > 0 {
                offers[0].0[1] = offers[0].0[1].saturating_add(config.nodes.copying_reduces);
            }
            nodes.push(Node { name, rack, capacity: Resources::default(), offers });
        }
        let mut cluster = Self {
            config,
            nodes,
            racks,
            system: System::Slots,
            demands: [Resources::default(); 4],
            total: Resources::default(),
            slots: [0; 2],
            interval: 1,
            outages: Vec::new(),
        };
        cluster.outages = cluster.find_outages()?;
        cluster.under(System::Slots)
    }

    /// The same machines under another system.
    ///
    /// # Errors
    /// [`Error::Config`] if a container that every job needs fits on none of them, or no map slot is left.
    pub fn for_system(&self, system: System) -> Result<Self, Error> {
        self.clone().under(system)
    }

    fn under(mut self, system: System) -> Result<Self, Error> {
        self.system = system;
        for node in &mut self.nodes {
            node.capacity = node.offers[system.index()];
        }
        let all = |part: usize| self.nodes.iter().map(|node| u64::from(node.capacity.0[part])).sum::<u64>();
        let (first, second) = (all(0), all(1));
        let (Ok(a), Ok(b)) = (u32::try_from(first), u32::try_from(second)) else {
            let [a, b] = match system {
                System::Slots => ["map slots", "reduce slots"],
                System::Containers => ["MB", "vcores"],
            };
            let most = u32::MAX;
            return Err(Error::Config(format!(
                "the cluster has {first} {a} and {second} {b}; expected at most {most} of each"
            )));
        };
        self.total = Resources([a, b]);
        match system {
            System::Slots => self.share_slots()?,
            System::Containers => self.share_containers()?,
        }
        Ok(self)
    }

    fn share_slots(&mut self) -> Result<(), Error> {
        if self.total.0[0] == 0 {
            return Err(Error::Config(
                "the cluster has no map slot; expected at least one node with `map_slots` above 0".to_owned(),
            ));
        }
        self.interval = self.config.heartbeat.interval_of(self.nodes.len());
        self.demands = [Resources([0, 0]), Resources([1, 0]), Resources([0, 1]), Resources([1, 0])];
        self.slots = self.total.0;
        Ok(())
    }

    fn share_containers(&mut self) -> Result<(), Error> {
        let rules = &self.config.containers;
        self.interval = rules.node_heartbeat;
        self.demands = Ask::ALL.map(|ask| rules.demand(ask));
        let fitting = |ask: Ask| {
            let fits = |node: &Node| node.capacity.fits(self.demands[ask.index()]);
            self.nodes.iter().fold(0, |sum: u32, node| sum.saturating_add(fits(node)))
        };
        for (name, ask) in [("am", Ask::Am), ("map", Ask::Map), ("reduce", Ask::Reduce)] {
            if fitting(ask) == 0 {
                let [memory, vcores] = self.demands[ask.index()].0;
                return Err(Error::Config(format!(
                    "the container of `containers.{name}` takes {memory} MB and {vcores} vcores, and no node has as much; \
                     expected a node that has (`containers.memory_mb` and `containers.vcores`)"
                )));
            }
        }
        self.slots = [fitting(Ask::Map), fitting(Ask::Reduce)];
        Ok(())
    }

    /// The outages of the cluster file, by node and time.
    fn find_outages(&self) -> Result<Vec<Down>, Error> {
        let named = |host: &str| {
            let unknown =
                || Error::Config(format!("the cluster file names `{host}`, but the cluster has no such node"));
            self.find(host).ok_or_else(unknown)
        };
        for host in self.config.cost.host_factors.keys() {
            named(host)?;
        }
        let down = |outage: &Outage| Ok(Down { node: named(&outage.host)?, from: outage.from, to: outage.to });
        let mut outages = self.config.outages.iter().map(down).collect::<Result<Vec<_>, Error>>()?;
        outages.sort_unstable();
        let overlap = |pair: &[Down]| pair[0].node == pair[1].node && pair[0].to.is_none_or(|to| to >= pair[1].from);
        match outages.windows(2).find(|pair| overlap(pair)) {
            Some(pair) => {
                let host = &self.node(pair[0].node).name;
                let problem =
                    format!("outages: `{host}` is down at {} already; expected an earlier `to`", pair[1].from);
                Err(Error::Config(problem))
            }
            None => Ok(outages),
        }
    }

    /// When nodes are down, by node and time.
    pub(crate) fn outages(&self) -> &[Down] {
        &self.outages
    }

    /// Its nodes, by [`NodeId`].
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The ids of its nodes, in name order.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// A node.
    #[inline]
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    /// The racks' names, by [`RackId`].
    pub fn racks(&self) -> &[String] {
        &self.racks
    }

    /// The node of that name.
    pub fn find(&self, host: &str) -> Option<NodeId> {
        self.nodes.binary_search_by(|node| node.name.as_str().cmp(host)).ok().map(NodeId::at)
    }

    /// How its machines are handed out.
    #[inline]
    pub fn system(&self) -> System {
        self.system
    }

    /// What all nodes offer.
    #[inline]
    pub fn total(&self) -> Resources {
        self.total
    }

    /// All slots of a kind, or how many containers for such tasks would fit.
    #[inline]
    pub fn slots(&self, kind: Kind) -> u32 {
        self.slots[kind.index()]
    }

    /// What an attempt takes of a node.
    #[inline]
    pub fn demand(&self, kind: Kind) -> Resources {
        self.demand_of(Ask::of(kind))
    }

    /// What the container for a request takes.
    #[inline]
    pub fn demand_of(&self, ask: Ask) -> Resources {
        self.demands[ask.index()]
    }

    /// What the smallest container takes.
    #[inline]
    pub fn smallest(&self) -> Resources {
        self.config.containers.smallest()
    }

    /// How many reduces of a node may sort and reduce at a time, if that is fewer than it admits.
    pub(crate) fn computing(&self, node: NodeId) -> Option<u32> {
        let copying = self.config.nodes.copying_reduces;
        (copying > 0 && self.system == System::Slots).then(|| self.node(node).capacity.0[1].saturating_sub(copying))
    }

    /// Time between two heartbeats of a node, ms.
    #[inline]
    pub fn interval(&self) -> Ms {
        self.interval
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn heartbeat(era: Era) -> Heartbeat {
        Heartbeat { interval: Interval::Era(era), ..Heartbeat::default() }
    }

    #[test]
    fn a1_heartbeat_interval_of_both_eras() {
        assert_eq!(heartbeat(Era::Mr1_2009).interval_of(62), 3_000);
        assert_eq!(heartbeat(Era::Mr1_2009).interval_of(1_545), 16_000);
        assert_eq!(heartbeat(Era::Mr1_2011).interval_of(62), 620);
        assert_eq!(heartbeat(Era::Mr1_2011).interval_of(20), 300);
    }

    #[test]
    fn the_rules_of_an_era_take_another_rate_and_another_least() {
        let tuned = |era| Heartbeat { per_second: 40, least: Some(700), ..heartbeat(era) };
        assert_eq!(tuned(Era::Mr1_2009).interval_of(62), 2_000);
        assert_eq!(tuned(Era::Mr1_2011).interval_of(62), 1_550);
        assert_eq!(tuned(Era::Mr1_2011).interval_of(20), 700);
        let fixed = Heartbeat { interval: Interval::Fixed(50), ..tuned(Era::Mr1_2009) };
        assert_eq!(fixed.interval_of(62), 50);
    }

    #[test]
    fn the_keys_of_a_cluster_file_win_over_other_settings() {
        let settings: Table = "[nodes]\nmap_slots = 7\nreduce_slots = 5\n".parse().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "[nodes]\nreduce_slots = 1\n[jobs]\nslowstart = 0.5\n").unwrap();
        let config = ClusterConfig::read_over(&settings, file.path()).unwrap();
        assert_eq!((config.nodes.map_slots, config.nodes.reduce_slots, config.jobs.slowstart), (7, 1, 0.5));
        let wrong: Table = "[nodes]\nmap_slots = -1\n".parse().unwrap();
        assert!(ClusterConfig::of_settings(wrong).is_err());
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_line() {
        let error = toml::from_str::<ClusterConfig>("[nodes]\nslots = 3\n").err().map(|error| error.to_string());
        assert!(error.is_some_and(|text| text.contains("line 2") && text.contains("map_slots")));
    }
}
