//! The nodes of one partition of Slurm, cut or cloned. The other partitions keep theirs.

use std::collections::BTreeSet;
use std::sync::Arc;

use resched_policies::Site;
use resched_policies::queues::slurm::{NodeGroup, Partition, SlurmConf};
use resched_replay::{ClusterConfig, Setup};
use resched_tables::cluster_file::NamedMachines;

use crate::Error;

/// How many nodes a partition has.
///
/// # Errors
/// [`Error::Request`] if the site has no such partition, or does not name its nodes.
pub(super) fn nodes_of(setup: &Setup, name: &str) -> Result<u32, Error> {
    let partitions = setup.site.slurm.as_ref().map_or(&[][..], |conf| &conf.partitions);
    let known: Vec<String> = partitions.iter().map(|partition| format!("`{}`", partition.name)).collect();
    let Some(partition) = partitions.iter().find(|partition| partition.name == name) else {
        let known = if known.is_empty() { "a site with partitions (--site-conf)".to_owned() } else { known.join(", ") };
        return Err(Error::Request(format!("--partition: expected {known}, found `{name}`")));
    };
    let hosts = hosts(&setup.cluster);
    let count = if partition.nodes.is_empty() { hosts.len() } else { partition.nodes.len() };
    if hosts.is_empty() || count == 0 {
        return Err(Error::Request(format!(
            "--partition: expected the nodes of `{name}` by name, found none; add the lines `NodeName=` to slurm.conf"
        )));
    }
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The setup in which a partition has `count` nodes. The last ones of its list leave it, or its nodes are cloned in turn. A clone is in no
/// other partition.
pub(super) fn resized(setup: &Setup, name: &str, count: u32) -> Setup {
    let mut cluster = setup.cluster.clone();
    let mut site: Site = setup.site.as_ref().clone();
    if let Some(conf) = &mut site.slurm {
        resize(conf, &mut cluster, name, count as usize);
    }
    Setup { cluster, site: Arc::new(site), ..setup.clone() }
}

fn resize(conf: &mut SlurmConf, cluster: &mut ClusterConfig, name: &str, count: usize) {
    let all = hosts(cluster);
    // A partition of all nodes does not get the new ones.
    for partition in conf.partitions.iter_mut().filter(|partition| partition.nodes.is_empty()) {
        partition.nodes.clone_from(&all);
    }
    let Some(Partition { nodes, .. }) = conf.partitions.iter_mut().find(|partition| partition.name == name) else {
        return;
    };
    let originals = nodes.clone();
    nodes.truncate(count);
    let mut known: BTreeSet<String> = all.into_iter().collect();
    for (number, original) in originals.iter().cycle().enumerate().take(count).skip(originals.len()) {
        let mut clone = format!("{original}~{}", number / originals.len() + 1);
        while !known.insert(clone.clone()) {
            clone.push('~');
        }
        let has = |machines: &&NamedMachines| machines.names().contains(original);
        if let Some(machine) = cluster.machines.named.iter().find(has).cloned() {
            cluster.machines.named.push(NamedMachines { hosts: clone.clone(), ..machine });
        }
        if let Some(weight) = conf.nodes.iter().find(|node| node.hosts.contains(original)).map(|node| node.weight) {
            conf.nodes.push(NodeGroup { hosts: vec![clone.clone()], weight });
        }
        nodes.push(clone);
    }
}

/// The names of the machines of a cluster that names them.
fn hosts(cluster: &ClusterConfig) -> Vec<String> {
    cluster.machines.named.iter().flat_map(NamedMachines::names).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Two nodes in `small`, which all of `all` has as well, with one of another weight.
    fn setup() -> Setup {
        let cluster =
            "[[machines.named]]\nhosts = \"n[1-2]\"\ncores = 4.0\n[[machines.named]]\nhosts = \"m1\"\ncores = 8.0\n";
        let partition = |name: &str, nodes: &[&str]| {
            let nodes = nodes.iter().map(|&node| node.to_owned()).collect();
            Partition { name: name.to_owned(), nodes, ..Partition::default() }
        };
        let group =
            |hosts: &[&str], weight| NodeGroup { hosts: hosts.iter().map(|&host| host.to_owned()).collect(), weight };
        let conf = SlurmConf {
            partitions: vec![partition("small", &["n1", "m1"]), partition("all", &[])],
            nodes: vec![group(&["n1", "n2"], 1), group(&["m1"], 7)],
            ..SlurmConf::default()
        };
        let site = Arc::new(Site { slurm: Some(conf), ..Site::default() });
        Setup { cluster: ClusterConfig::of_settings(cluster.parse().unwrap()).unwrap(), site, ..Setup::default() }
    }

    #[test]
    fn a_partition_is_cut_and_cloned_alone() {
        let of = |count| {
            let setup = resized(&setup(), "small", count);
            let conf = setup.site.slurm.as_ref().unwrap();
            let weights: Vec<u32> = conf.nodes.iter().map(|node| node.weight).collect();
            let cores: Vec<f64> = setup.cluster.machines.named.iter().map(|machine| machine.cores).collect();
            (conf.partitions[0].nodes.join(","), conf.partitions[1].nodes.join(","), weights, cores)
        };
        let cut = ("n1".to_owned(), "n1,n2,m1".to_owned(), vec![1, 7], vec![4.0, 8.0]);
        assert_eq!(of(1), cut, "the other partition keeps the node");
        let grown = "n1,m1,n1~2,m1~2,n1~3".to_owned();
        assert_eq!(of(5), (grown, "n1,n2,m1".to_owned(), vec![1, 7, 1, 7, 1], vec![4.0, 8.0, 4.0, 8.0, 4.0]));
        assert_eq!(nodes_of(&setup(), "small").unwrap(), 2);
        assert_eq!(nodes_of(&setup(), "all").unwrap(), 3);
    }

    #[test]
    fn a_partition_without_nodes_is_refused() {
        let problem = |setup: &Setup, name| nodes_of(setup, name).unwrap_err().to_string();
        assert_eq!(problem(&setup(), "smal"), "--partition: expected `small`, `all`, found `smal`");
        assert!(problem(&Setup::default(), "small").contains("expected a site with partitions (--site-conf)"));
        let unnamed = Setup { cluster: ClusterConfig::default(), ..setup() };
        assert!(problem(&unnamed, "all").contains("add the lines `NodeName=` to slurm.conf"));
    }
}
