//! Whether a pod fits on a node now.

use super::kinds::Kind;
use super::nodes::Nodes;
use super::numbers::{KindId, NodeId, PodId};
use super::pods::Pod;
use super::resources::Resource;

/// Room on a node that is promised, or would become free.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    amounts: Vec<(Resource, i64)>,
    pods: i64,
}

impl Change {
    /// Takes what a pod asks for, or with `sign` −1 gives it back.
    pub(super) fn take(&mut self, kind: &Kind, sign: i64) {
        for &(resource, amount) in &kind.amounts.requests {
            match self.amounts.iter_mut().find(|(known, _)| *known == resource) {
                Some((_, sum)) => *sum += sign * amount,
                None => self.amounts.push((resource, sign * amount)),
            }
        }
        self.pods += sign;
    }

    pub(super) fn clear(&mut self) {
        self.amounts.clear();
        self.pods = 0;
    }

    /// The resources of which there is too little after the change.
    pub(super) fn short<'a>(
        &'a self,
        nodes: &'a Nodes,
        node: NodeId,
        kind: &'a Kind,
    ) -> impl Iterator<Item = Resource> + 'a {
        let short = move |&&(resource, amount): &&(Resource, i64)| {
            nodes.used(node, resource) + self.of(resource) + amount > nodes.capacity(node, resource)
        };
        kind.amounts.requests.iter().filter(short).map(|&(resource, _)| resource)
    }

    /// True if the node has as many pods as it takes.
    pub(super) fn lacks_place(&self, nodes: &Nodes, node: NodeId) -> bool {
        let pods = i64::try_from(nodes.pods[node.place()].len()).unwrap_or(i64::MAX);
        pods + self.pods >= i64::try_from(nodes.most_pods[node.place()]).unwrap_or(i64::MAX)
    }

    fn of(&self, resource: Resource) -> i64 {
        self.amounts.iter().find(|(known, _)| *known == resource).map_or(0, |&(_, amount)| amount)
    }
}

/// True if there is room for one more pod of this kind.
pub(super) fn has_room(nodes: &Nodes, node: NodeId, kind: &Kind) -> bool {
    nodes.pods[node.place()].len() < nodes.most_pods[node.place()]
        && kind
            .amounts
            .requests
            .iter()
            .all(|&(resource, amount)| nodes.used(node, resource) + amount <= nodes.capacity(node, resource))
}

/// The same with a change of what is taken.
pub(super) fn has_room_after(nodes: &Nodes, node: NodeId, kind: &Kind, change: &Change) -> bool {
    !change.lacks_place(nodes, node) && change.short(nodes, node, kind).next().is_none()
}

/// True if the node could hold such a pod if it were empty.
pub(super) fn could_hold(nodes: &Nodes, node: NodeId, kind: &Kind) -> bool {
    kind.amounts.requests.iter().all(|&(resource, amount)| amount <= nodes.capacity(node, resource))
}

/// Adds what is promised there to pods that are at least as important as `pod`.
pub(super) fn add_promised(change: &mut Change, nodes: &Nodes, node: NodeId, pod: PodId, pods: &[Pod], kinds: &[Kind]) {
    let priority = pods[pod.place()].priority;
    for &other in &nodes.nominated[node.place()] {
        let promised = &pods[other.place()];
        if other != pod && promised.priority >= priority {
            change.take(kind_of(kinds, promised.kind), 1);
        }
    }
}

pub(super) fn kind_of(kinds: &[Kind], kind: KindId) -> &Kind {
    &kinds[kind.place()]
}
