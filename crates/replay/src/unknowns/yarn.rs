//! What a cluster under YARN leaves open.

use resched_sim::cluster_file::{Containers, Size};
use resched_sim::hadoop::{Kind, System};

use super::hadoop::seconds;
use super::{Change, Unknown};

/// What a node offers.
pub(super) const CAPACITY: Unknown = Unknown {
    name: "capacity",
    title: "memory and vcores of a node",
    from: "half and twice the assumed amount; for a lower bound, 1.5 times and twice as much",
    variants: |open| {
        if !open.is_under(System::Containers) {
            return Ok(Vec::new());
        }
        let assumed = open.hadoop()?.cluster.for_system(System::Containers)?.assumed(&Kind::BOTH) > 0;
        let containers = &open.config().containers;
        let (memory, vcores) = (
            containers.memory_mb.unwrap_or(Containers::ASSUMED_MEMORY_MB),
            containers.vcores.unwrap_or(Containers::ASSUMED_VCORES),
        );
        let set = |factor: f64| {
            let [memory, vcores] = [memory, vcores].map(|amount| (f64::from(amount) * factor) as u32);
            let change = open.with(|config| {
                (config.containers.memory_mb, config.containers.vcores) = (Some(memory), Some(vcores));
            });
            (format!("with {memory} MB and {vcores} vcores on each node"), change)
        };
        Ok(match () {
            () if assumed => vec![set(0.5), set(2.0)],
            () if containers.at_least => vec![set(1.5), set(2.0)],
            () => Vec::new(),
        })
    },
};

/// What a map or a reduce asks for.
pub(super) const CONTAINERS: Unknown = Unknown {
    name: "containers",
    title: "containers of maps and reduces",
    from: "twice Hadoop's default",
    variants: |open| {
        let sizes = |config: &resched_sim::ClusterConfig| (config.containers.map, config.containers.reduce);
        let is_open = open.is_under(System::Containers)
            && open.is_open("containers.map", sizes)
            && open.is_open("containers.reduce", sizes);
        if !is_open {
            return Ok(Vec::new());
        }
        let twice = |size: Size| Size { memory_mb: size.memory_mb.saturating_mul(2), ..size };
        let (map, reduce) = sizes(open.config());
        let change = open.with(|config| {
            (config.containers.map, config.containers.reduce) = (twice(map), twice(reduce));
        });
        Ok(vec![(format!("with containers of {} MB", twice(map).memory_mb), change)])
    },
};

/// What the master of a job holds.
pub(super) const MASTERS: Unknown = Unknown {
    name: "masters",
    title: "containers of masters",
    from: "the smallest container and twice Hadoop's default",
    variants: |open| {
        if !open.is_under(System::Containers) || !open.is_open("containers.am", |config| config.containers.am) {
            return Ok(Vec::new());
        }
        let containers = &open.config().containers;
        let set = |memory_mb: u32| {
            let change: Change = open.with(|config| config.containers.am.memory_mb = memory_mb);
            (format!("with masters of {memory_mb} MB"), change)
        };
        Ok(vec![set(containers.minimum.memory_mb), set(containers.am.memory_mb.saturating_mul(2))])
    },
};

/// How often nodes and masters call.
pub(super) const HEARTBEAT: Unknown = Unknown {
    name: "node-heartbeat",
    title: "time between heartbeats",
    from: "a third of YARN's default and three times it",
    variants: |open| {
        let key = "containers.node_heartbeat";
        if !open.is_under(System::Containers) || !open.is_open(key, |config| config.containers.node_heartbeat) {
            return Ok(Vec::new());
        }
        let every = |ms: i64| {
            let change = open.with(|config| config.containers.node_heartbeat = ms);
            (format!("with heartbeats every {}", seconds(ms)), change)
        };
        Ok(vec![every(333), every(3_000)])
    },
};
