//! `[machines]`: the machines of a production cluster.

use std::collections::BTreeSet;

use crate::reference::Value as _;
use crate::{choices, host_list, keys, named};

use super::MOST_NODES;

/// The most memory of a machine or a request, bytes. More is damage.
pub const MOST_MEMORY: u64 = 1 << 46;

keys! {
    /// The machines of a production cluster, for the policies without slots and heartbeats. Of the other parts of a cluster file,
    /// these policies read only `outages`, `jobs.first_submit`, `cost.locality`, `cost.host_factors`, `cost.slow_nodes` and, for Hadoop
    /// logs, the slots in `[nodes]`.
    pub struct Machines: Default {
        /// How many machines there are, all alike. It needs `cores`. If you leave it out, the machines are those of the
        /// trace, which come, go and change.
        count: Option<u32> = None, unit "machines", range 1..=MOST_NODES;
        /// The number of machines to which those of the trace are cut or grown, like `nodes.clones`. With Slurm's partitions
        /// (`--site-conf`), each of them keeps its share. Do not give it together with `count`.
        clones: Option<u32> = None, unit "machines", range 1..=MOST_NODES, serde(skip_serializing_if = "Option::is_none");
        /// The cores of each machine. Without `count`, they apply to machines without a size in the trace.
        cores: Option<f64> = None, unit "cores", range 1e-3..=1e6;
        /// The memory of each machine. If you leave it out and the trace gives it for no machine, memory is unlimited.
        memory: Option<u64> = None, unit "bytes", range 1..=MOST_MEMORY;
        /// Which of the machines with enough room a task gets.
        placement: Placement = Placement::FirstFit;
        /// Resources that the whole cluster has, not a machine: `name=count`, joined by commas (`license/matlab=4`).
        licenses: Option<String> = None, serde(skip_serializing_if = "Option::is_none");
        /// Machines by name. They replace those of the trace, in this order, from the start to the end. Do not give them
        /// together with `count` or `cores`.
        named: Vec<NamedMachines> = Vec::new(), serde(skip_serializing_if = "Vec::is_empty");
    }
}

keys! {
    /// Machines that differ only in their names.
    pub struct NamedMachines {
        /// Their host names, as Slurm writes lists of hosts: `n[0-7]`, `gpu1,gpu2`.
        hosts: String;
        /// The cores of each machine.
        cores: f64, unit "cores", range 1e-3..=1e6;
        /// The memory of each machine. If you leave it out, it is `machines.memory`. Without both, memory is unlimited; then
        /// no other machine may have a limit.
        memory: Option<u64> = None, unit "bytes", range 1..=MOST_MEMORY, serde(skip_serializing_if = "Option::is_none");
        /// Other resources of each machine: `name=count`, joined by commas (`gres/gpu=2`).
        resources: Option<String> = None, serde(skip_serializing_if = "Option::is_none");
        /// The features of each machine, joined by commas.
        features: Option<String> = None, serde(skip_serializing_if = "Option::is_none");
    }
}

impl NamedMachines {
    /// The host names, in the order of the list; none if the list is malformed, which no cluster file has.
    pub fn names(&self) -> Vec<String> {
        host_list::expand(&self.hosts, MOST_NODES as usize).unwrap_or_default()
    }

    /// What is wrong with the machines, if anything. `met` holds the names of those before them.
    fn check(&self, met: &mut BTreeSet<String>) -> Result<(), String> {
        let Self { hosts, resources, .. } = self;
        self.check_ranges(&format!("machines.named ({hosts})"))?;
        check_amounts(resources.as_deref(), &format!("machines.named ({hosts}).resources"))?;
        let names = host_list::expand(hosts, MOST_NODES as usize).ok_or_else(|| {
            format!(
                "machines.named: expected a list of at most {MOST_NODES} hosts such as `n[0-7],m1`, found `{hosts}`"
            )
        })?;
        for name in names {
            if met.contains(&name) {
                return Err(format!("machines.named: expected each host once, found `{name}` twice"));
            }
            met.insert(name);
        }
        Ok(())
    }
}

/// Checks a text of named amounts.
fn check_amounts(text: Option<&str>, key: &str) -> Result<(), String> {
    match text {
        Some(text) if named::amounts(text).count() != text.split(',').count() => {
            Err(format!("{key}: expected `name=count`, joined by commas, with counts from 1, found `{text}`"))
        }
        _ => Ok(()),
    }
}

impl Machines {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// What is wrong with keys that depend on each other, if anything.
    pub(super) fn check(&self) -> Result<(), String> {
        check_amounts(self.licenses.as_deref(), "machines.licenses")?;
        self.check_named()?;
        match (self.count, self.cores) {
            (Some(_), None) => Err("machines.count: expected machines.cores as well".to_owned()),
            (Some(_), _) if self.clones.is_some() => {
                Err("machines.clones: expected no machines.count as well".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// What is wrong with the machines that have names, if anything.
    fn check_named(&self) -> Result<(), String> {
        if self.named.is_empty() {
            return Ok(());
        }
        if self.count.is_some() || self.cores.is_some() {
            return Err("machines.named: expected neither machines.count nor machines.cores as well".to_owned());
        }
        let with_memory = self.named.iter().filter(|named| named.memory.or(self.memory).is_some()).count();
        if with_memory != 0 && with_memory != self.named.len() {
            return Err("machines.named: expected memory for all machines or for none".to_owned());
        }
        let mut met = BTreeSet::new();
        self.named.iter().try_for_each(|named| named.check(&mut met))?;
        if met.len() > MOST_NODES as usize {
            return Err(format!("machines.named: expected at most {MOST_NODES} hosts, found {}", met.len()));
        }
        Ok(())
    }
}

choices! {
    /// Which of the machines with enough room a task gets.
    pub enum Placement {
        /// The first by name, or in the order of `machines.named`.
        FirstFit = "first-fit",
        /// The one that the task leaves fullest, judged by the resource of which most is left over, as a share of the largest
        /// machine. Among equal ones, the one with less free processor comes first, then the one with less free memory, then
        /// the first by name.
        BestFit = "best-fit",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::cluster_file::ClusterConfig;

    #[test]
    fn machines_with_names_are_read_and_written() {
        let text = "[machines]\nlicenses = \"license/lic=2\"\n\n[[machines.named]]\nhosts = \"n[0-2]\"\ncores = 16.0\n\
                    memory = 64\nresources = \"gres/gpu=2\"\nfeatures = \"fast,big\"\n\n[[machines.named]]\nhosts = \"m1\"\n\
                    cores = 0.5\nmemory = 8\n";
        let config = ClusterConfig::parse(text).unwrap();
        let named: Vec<_> = config.machines.named.iter().map(|one| (one.names().join(" "), one.cores)).collect();
        assert_eq!(named, [("n0 n1 n2".to_owned(), 16.0), ("m1".to_owned(), 0.5)]);
        assert_eq!(config.machines.licenses.as_deref(), Some("license/lic=2"));
        let written = toml::to_string(&config).unwrap();
        assert_eq!(ClusterConfig::parse(&written).unwrap(), config);
    }

    #[test]
    fn what_is_wrong_with_machines_is_said() {
        let problem = |text: &str| ClusterConfig::parse(text).map_err(|error| error.to_string()).unwrap_err();
        let one = "[[machines.named]]\nhosts = \"n[0-2]\"\ncores = 1.0\n";
        let of = |rest: &str| problem(&format!("{one}{rest}"));
        let another = |rest: &str| of(&format!("[[machines.named]]\n{rest}"));
        for (found, expected) in [
            (problem("[[machines.named]]\nhosts = \"n1\"\n"), "cores"),
            (of("resources = \"gpu\"\n"), "(n[0-2]).resources: expected `name=count`"),
            (of("resources = \"gpu=0\"\n"), "with counts from 1, found `gpu=0`"),
            (of("memory = 0\n"), "(n[0-2]).memory: expected a number from 1"),
            (another("hosts = \"n1\"\ncores = 0.0\n"), "(n1).cores: expected a number from 0.001"),
            (another("hosts = \"n1\"\ncores = 1.0\n"), "expected each host once, found `n1` twice"),
            (another("hosts = \"m[\"\ncores = 1.0\n"), "expected a list of at most 1000000 hosts such as `n[0-7],m1`"),
            (another("hosts = \"m[0-9999999]\"\ncores = 1.0\n"), "expected a list of at most 1000000 hosts"),
            (another("hosts = \"m[0-999999]\"\ncores = 1.0\n"), "at most 1000000 hosts, found 1000003"),
            (another("hosts = \"m\"\ncores = 1.0\nmemory = 1\n"), "expected memory for all machines or for none"),
            (
                problem(&format!("[machines]\ncount = 2\ncores = 1.0\n{one}")),
                "neither machines.count nor machines.cores",
            ),
            (problem("[machines]\nlicenses = \"lic\"\n"), "machines.licenses: expected `name=count`"),
        ] {
            assert!(found.contains(expected), "{found}");
        }
    }
}
