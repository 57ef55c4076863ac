//! The cluster file (TOML): the machines and the rules of a replay, for both engines.

mod containers;
mod cost;
mod heartbeat;
mod jobs;
mod machines;
mod nodes;
mod outages;

pub use containers::{Calculator, Containers, Size};
pub use cost::{Backup, Contention, Cost, ReduceModel, Slow};
pub use heartbeat::{Era, Heartbeat, Interval, Phase};
pub use jobs::{Jobs, Splits};
pub use machines::{Machines, Placement};
pub use nodes::Nodes;
pub use outages::Outage;

use std::path::Path;

use resched_trace::workload::explain_toml;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::Error;
use crate::tables::LONGEST;

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
