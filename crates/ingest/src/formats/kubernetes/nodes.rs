//! The machines: what nodes offer, less what their own pods take.

use std::collections::BTreeMap;

use resched_tables::cause;
use resched_tables::model::{Ms, NodeChange, NodeRow};
use resched_tables::named;
use resched_tables::sink::Sink;

use super::amounts::{self, Asked};
use super::pod::{NodeLife, PodLife};

/// The most nodes; no cluster has as many.
pub(crate) const MOST_NODES: usize = 1 << 17;

/// The nodes of a cluster.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    lives: Vec<NodeLife>,
    /// What the pods of DaemonSets and of the nodes themselves take, by node.
    held: BTreeMap<String, Asked>,
}

impl Nodes {
    /// Takes a node.
    pub(super) fn take(&mut self, life: NodeLife, sink: &mut dyn Sink) {
        if self.lives.len() >= MOST_NODES {
            sink.skip(cause::MACHINE_BEYOND_LIMIT, 1);
            return;
        }
        self.lives.push(life);
    }

    /// Notes that a pod belongs to its node, as one of a DaemonSet does.
    pub(super) fn hold(&mut self, pod: &PodLife) {
        let runs = pod.end.is_none() && pod.scheduled.is_some();
        if let Some(node) = pod.node.as_ref().filter(|_| runs && self.held.len() < MOST_NODES) {
            amounts::add(self.held.entry(node.clone()).or_default(), &pod.shape.asked);
        }
    }

    /// Hands over the machines. One that is older than the first job was there from the start.
    pub(super) fn report(self, first_submit: Option<Ms>, sink: &mut dyn Sink) {
        let Self { lives, held } = self;
        for life in lives {
            sink.skip(cause::CORDONED_NODE, u64::from(life.node.is_cordoned));
            let NodeLife { name, created, deleted, node } = life;
            let mut offers = node.allocatable;
            for (resource, taken) in held.get(&name).into_iter().flatten() {
                if let Some(offer) = offers.get_mut(resource) {
                    *offer = (*offer - taken).max(0);
                }
            }
            let labels = node.labels.iter().map(|(key, value)| format!("{key}={value}"));
            let features = labels.collect::<Vec<_>>().join(",");
            let others = offers.iter().filter(|(name, _)| *name != "cpu" && *name != "memory");
            sink.node(NodeRow {
                resources: named::as_text(others.map(|(name, n)| (name.as_str(), n.unsigned_abs()))),
                cpu: offers.get("cpu").copied(),
                memory: offers.get("memory").copied(),
                features: Some(features).filter(|features| !features.is_empty()),
                taints: node.taints,
                time: created.filter(|&created| first_submit.is_some_and(|first| first < created)),
                host: name.clone(),
                ..NodeRow::default()
            });
            if let Some(time) = deleted {
                sink.node(NodeRow { host: name, time: Some(time), event: NodeChange::Remove, ..NodeRow::default() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use resched_tables::sink::Collected;

    #[test]
    fn as_many_nodes_as_the_limit_and_not_one_more() {
        let (mut nodes, mut sink) = (Nodes::default(), Collected::default());
        for _ in 0..=MOST_NODES {
            nodes.take(NodeLife::default(), &mut sink);
        }
        assert_eq!(sink.skipped.get("machine-beyond-limit"), Some(&1));
        assert_eq!(nodes.lives.len(), MOST_NODES);
    }
}
