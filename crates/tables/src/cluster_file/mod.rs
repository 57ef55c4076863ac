//! The cluster file (TOML): the machines and the rules of a replay, for both engines.

mod am;
mod containers;
mod cost;
mod fitted;
mod heartbeat;
mod jobs;
mod machines;
mod nodes;
mod outages;
mod price;

pub use am::{Am, Withdraws};
pub use containers::{Calculator, Containers, Size};
pub use cost::{Backup, Contention, Cost, ReduceModel, Slow};
pub use heartbeat::{Era, Heartbeat, Interval, Phase};
pub use jobs::{Jobs, SetUp, Splits};
pub use machines::{MOST_MEMORY, Machines, NamedMachines, Placement};
pub use nodes::Nodes;
pub use outages::Outage;
pub use price::{Power, Price};

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::keys;
use crate::limits::Limit;
use crate::reference::Value as _;
use crate::toml_file::explain_toml;
use toml::{Table, Value};

use crate::Error;
use crate::model::Ms;

/// The longest time of most keys, ms.
const DAY: Ms = 86_400_000;
/// More nodes than any cluster has; a larger number in a file is a slip.
const MOST_NODES: u32 = 1_000_000;
/// More slots than any node has.
const MOST_SLOTS: u32 = 100_000;

const REFUSED: &str = "The file is refused.";
/// The limits of cluster files.
pub const LIMITS: &[Limit] = &[
    Limit::number("machines of a cluster file", MOST_NODES as u64, REFUSED),
    Limit::number("slots of a machine for maps, or for reduces", MOST_SLOTS as u64, REFUSED),
    Limit::bytes("memory of a machine", MOST_MEMORY, REFUSED),
];

keys! {
    /// A cluster file. Every key has a default. An empty file stands for the machines of the trace and the heartbeats of Hadoop
    /// in 2009.
    pub struct ClusterConfig: Default {
        /// What the file describes, for people.
        description: String = String::new();
        /// The machines of a Hadoop cluster.
        nodes: Nodes = Nodes::default();
        /// When the machines send heartbeats to the master.
        heartbeat: Heartbeat = Heartbeat::default();
        /// How the master treats jobs.
        jobs: Jobs = Jobs::default();
        /// How long tasks take.
        cost: Cost = Cost::default();
        /// When nodes are down.
        outages: Vec<Outage> = Vec::new();
        /// What the machines offer under YARN, for the policies that schedule containers.
        containers: Containers = Containers::default();
        /// How the application masters of YARN ask for containers.
        am: Am = Am::default();
        /// The machines under the policies for production traces.
        machines: Machines = Machines::default(), serde(skip_serializing_if = "Machines::is_default");
        /// What the cluster costs.
        price: Price = Price::default(), serde(skip_serializing_if = "Price::is_default");
        /// What the machines draw.
        power: Power = Power::default(), serde(skip_serializing_if = "Power::is_default");
        /// The standard errors of the values of this file, by key, in the unit of the key. `resched calibrate` writes them.
        /// `cost.locality.rack` and `cost.locality.off` are the second and the third number of `cost.locality`. A value
        /// without a line here was not fitted, or its error is not known. Replays do not use them. The variants of `--robust`
        /// change a fitted value by two standard errors to each side.
        fitted: BTreeMap<String, f64> = BTreeMap::new(), range 0.0..=1e15, serde(skip_serializing_if = "BTreeMap::is_empty");
    }
}

impl ClusterConfig {
    /// Reads a cluster file.
    ///
    /// # Errors
    /// [`Error::Request`] if it cannot be read, or, with its line, if it is not one.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::read_over(&Table::new(), path)
    }

    /// Reads a cluster file over other settings, as its keys have them: what the file says wins.
    ///
    /// # Errors
    /// As [`ClusterConfig::read`].
    pub fn read_over(settings: &Table, path: &Path) -> Result<Self, Error> {
        Ok(Self::read_given(settings, path)?.0)
    }

    /// As [`ClusterConfig::read_over`], with the keys that the settings and the file give ([`keys_of`]).
    ///
    /// # Errors
    /// As [`ClusterConfig::read`].
    pub fn read_given(settings: &Table, path: &Path) -> Result<(Self, BTreeSet<String>), Error> {
        let remedy = "correct it (traces/clusters holds examples)";
        let settings = Self::settings_over(settings, path)?;
        let given = keys_of(&settings);
        let config = Self::of_settings(settings).map_err(|error| {
            Error::Request(format!("{}: over the other settings, {error}; {remedy}", path.display()))
        })?;
        Ok((config, given))
    }

    /// The settings of a cluster file over others.
    ///
    /// # Errors
    /// As [`ClusterConfig::read`].
    pub fn settings_over(settings: &Table, path: &Path) -> Result<Table, Error> {
        let named = |problem: String| Error::Request(format!("{}: {problem}", path.display()));
        let text = crate::whole::text(path)
            .map_err(|error| named(format!("cannot read the cluster file ({error}); name another --cluster")))?;
        let remedy = "correct it (traces/clusters holds examples)";
        let explained = |error| explain_toml(&error, &text, &path.display().to_string(), remedy);
        let alone: Self = toml::from_str(&text).map_err(explained)?;
        alone.check_values().map_err(|problem| named(format!("{problem}; {remedy}")))?;
        let table: Table = toml::from_str(&text).map_err(explained)?;
        let mut all = settings.clone();
        let gives = |key: &str| table.get("machines").is_some_and(|machines| machines.get(key).is_some());
        if gives("count") || gives("cores") {
            forget_names(&mut all);
        }
        lay_over(&mut all, table);
        Ok(all)
    }

    /// Forgets the standard error of a key, and of the keys below it, because somebody gives its value.
    pub fn is_given(&mut self, key: &str) {
        let below =
            |fitted: &str| fitted.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.fitted.retain(|fitted, _| !below(fitted));
    }

    /// Cuts or grows the cluster to `count` machines. Machines that the file describes by their number are all alike, so the number
    /// changes; machines of the trace, and machines that the file names, are kept and cloned (`nodes.clones`, `machines.clones`).
    pub fn resize(&mut self, count: u32) {
        if self.nodes.count.is_some() && self.cost.host_factors.is_empty() && self.outages.is_empty() {
            self.nodes.count = Some(count);
            self.nodes.racks = self.nodes.racks.min(count);
        } else {
            self.nodes.clones = Some(count);
        }
        match &mut self.machines.count {
            Some(known) => *known = count,
            None => self.machines.clones = Some(count),
        }
    }

    /// The cluster of these settings, as the keys of a cluster file have them; the rest has its defaults, part by part.
    ///
    /// # Errors
    /// [`Error::Request`] if a key is unknown or a value is wrong.
    pub fn of_settings(settings: Table) -> Result<Self, Error> {
        let mut all = Table::try_from(Self::default()).map_err(|error| Error::Request(error.to_string()))?;
        lay_over(&mut all, settings);
        let config: Self = all.try_into().map_err(|error: toml::de::Error| Error::Request(error.to_string()))?;
        config.check()?;
        Ok(config)
    }

    /// Reads the text of a cluster file.
    ///
    /// # Errors
    /// [`Error::Request`] with line and column if it is not one.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let config: Self = toml::from_str(text).map_err(|error| Error::Request(error.to_string()))?;
        config.check()?;
        Ok(config)
    }

    /// Checks the numbers, as every reader does.
    ///
    /// # Errors
    /// [`Error::Request`] with the key of the first wrong number.
    pub fn check(&self) -> Result<(), Error> {
        self.check_values().map_err(Error::Request)
    }

    /// What is wrong with the numbers, if anything.
    fn check_values(&self) -> Result<(), String> {
        self.check_ranges("")?;
        self.nodes.check()?;
        self.heartbeat.check()?;
        self.outages.iter().try_for_each(Outage::check)?;
        self.check_contention()?;
        self.machines.check()?;
        self.containers.check()?;
        fitted::check(&self.fitted)
    }

    /// What keeps tasks from sharing their node, if anything.
    fn check_contention(&self) -> Result<(), String> {
        if self.cost.contention.is_none() {
            return Ok(());
        }
        if self.cost.reduce != ReduceModel::R2 {
            return Err("cost.contention: expected cost.reduce = \"r2\" as well".to_owned());
        }
        if self.nodes.copying_reduces > 0 {
            return Err("cost.contention: expected nodes.copying_reduces = 0 as well".to_owned());
        }
        Ok(())
    }
}

/// The keys that settings give, such as `heartbeat.interval`.
pub fn keys_of(settings: &Table) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let mut add = |key: String, value: &Value, rest: &mut Vec<(String, Table)>| match value {
        Value::Table(below) => rest.push((key, below.clone())),
        _ => {
            keys.insert(key);
        }
    };
    let mut rest = Vec::new();
    settings.iter().for_each(|(key, value)| add(key.clone(), value, &mut rest));
    while let Some((above, table)) = rest.pop() {
        table.iter().for_each(|(key, value)| add(format!("{above}.{key}"), value, &mut rest));
    }
    keys
}

/// Drops the machines that settings name: somebody says how many there are instead, or how large.
fn forget_names(settings: &mut Table) {
    if let Some(machines) = settings.get_mut("machines").and_then(Value::as_table_mut) {
        machines.remove("named");
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_cluster_file_win_over_other_settings() {
        let settings: Table = "[nodes]\nmap_slots = 7\nreduce_slots = 5\n".parse().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "[nodes]\nreduce_slots = 1\n[jobs]\nslowstart = 0.5\n").unwrap();
        let config = ClusterConfig::read_over(&settings, file.path()).unwrap();
        assert_eq!((config.nodes.map_slots, config.nodes.reduce_slots, config.jobs.slowstart), (Some(7), Some(1), 0.5));
        let wrong: Table = "[nodes]\nmap_slots = -1\n".parse().unwrap();
        assert!(ClusterConfig::of_settings(wrong).is_err());
    }

    #[test]
    fn a_cluster_file_that_counts_machines_takes_the_place_of_names() {
        let settings: Table = "[[machines.named]]\nhosts = \"n[0-7]\"\ncores = 2.0\n".parse().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let machines = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            ClusterConfig::read_over(&settings, file.path()).unwrap().machines
        };
        assert_eq!(machines("[machines]\nplacement = \"best-fit\"\n").named.len(), 1);
        let counted = machines("[machines]\ncount = 3\ncores = 4.0\n");
        assert_eq!((counted.named.len(), counted.count), (0, Some(3)));
    }

    fn read(text: &str) -> Result<ClusterConfig, String> {
        ClusterConfig::parse(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_cluster_has_as_many_machines_as_the_limit_and_not_one_more() {
        for file in [
            "[nodes]\ncount = N\n",
            "[machines]\ncount = N\ncores = 1.0\n",
            "[[machines.named]]\nhosts = \"n[1-N]\"\ncores = 1.0\n",
        ] {
            let of = |machines: u32| read(&file.replace('N', &machines.to_string()));
            assert!(of(MOST_NODES).is_ok(), "{file}: {:?}", of(MOST_NODES));
            let problem = of(MOST_NODES + 1).err().unwrap_or_default();
            assert!(problem.contains("1000000"), "{file}: {problem}");
        }
    }

    #[test]
    fn a_machine_has_as_many_slots_as_the_limit_and_not_one_more() {
        for key in ["map_slots", "reduce_slots"] {
            let of = |slots: u32| read(&format!("[nodes]\n{key} = {slots}\n"));
            assert!(of(MOST_SLOTS).is_ok());
            let problem = of(MOST_SLOTS + 1).err().unwrap_or_default();
            assert!(problem.contains(key) && problem.contains("100000") && problem.contains("100001"), "{problem}");
        }
    }

    #[test]
    fn a_machine_has_as_much_memory_as_the_limit_and_not_a_byte_more() {
        let of = |bytes: u64| read(&format!("[machines]\ncount = 1\ncores = 1.0\nmemory = {bytes}\n"));
        assert!(of(MOST_MEMORY).is_ok());
        let problem = of(MOST_MEMORY + 1).err().unwrap_or_default();
        assert!(problem.contains("memory") && problem.contains("70368744177665"), "{problem}");
    }

    #[test]
    fn the_keys_that_are_given_are_known() {
        let settings: Table =
            "description = \"x\"\n[heartbeat]\ninterval = 3\n[containers.am]\nmemory_mb = 5\n".parse().unwrap();
        let keys: Vec<String> = keys_of(&settings).into_iter().collect();
        assert_eq!(keys, ["containers.am.memory_mb", "description", "heartbeat.interval"]);
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_line() {
        let error = toml::from_str::<ClusterConfig>("[nodes]\nslots = 3\n").err().map(|error| error.to_string());
        assert!(error.is_some_and(|text| text.contains("line 2") && text.contains("map_slots")));
    }
}
