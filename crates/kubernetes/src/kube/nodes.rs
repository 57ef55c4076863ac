//! Nodes and what is taken of them.

use fixedbitset::FixedBitSet;

use super::numbers::{NodeId, PodId};
use super::resources::{CPU, MEMORY, Resource};
use super::spec::NodeSpec;

/// What pods take of a node, by resource.
#[derive(Clone, Debug)]
pub(super) struct Amounts {
    pub(super) requests: Vec<(Resource, i64)>,
    /// `cpu` and `memory` as scores count them.
    pub(super) scored: [i64; 2],
}

/// All nodes, as tables of `width` resources a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    width: usize,
    capacity: Vec<i64>,
    used: Vec<i64>,
    scored: Vec<[i64; 2]>,
    pub(super) most_pods: Vec<usize>,
    pub(super) pods: Vec<Vec<PodId>>,
    /// Pods that are promised the node.
    pub(super) nominated: Vec<Vec<PodId>>,
    pub(super) live: FixedBitSet,
    pub(super) specs: Vec<NodeSpec>,
}

impl Nodes {
    pub(super) fn len(&self) -> usize {
        self.specs.len()
    }

    /// Makes room for `width` resources.
    pub(super) fn widen(&mut self, width: usize) {
        if width <= self.width {
            return;
        }
        for table in [&mut self.capacity, &mut self.used] {
            let mut wider = vec![0; self.specs.len() * width];
            for (row, old) in table.chunks(self.width.max(1)).enumerate() {
                wider[row * width..row * width + old.len()].copy_from_slice(old);
            }
            *table = wider;
        }
        self.width = width;
    }

    /// Adds a node with its capacity by resource.
    pub(super) fn add(&mut self, spec: NodeSpec, capacity: &[(Resource, i64)]) -> NodeId {
        let place = self.specs.len();
        self.capacity.resize((place + 1) * self.width, 0);
        self.used.resize((place + 1) * self.width, 0);
        for &(resource, amount) in capacity {
            self.capacity[place * self.width + usize::from(resource.0)] = amount;
        }
        self.scored.push([0; 2]);
        self.most_pods.push(usize::try_from(spec.pods).unwrap_or(usize::MAX));
        self.pods.push(Vec::new());
        self.nominated.push(Vec::new());
        self.live.grow(place + 1);
        self.live.insert(place);
        self.specs.push(spec);
        NodeId::at(place)
    }

    pub(super) fn capacity(&self, node: NodeId, resource: Resource) -> i64 {
        self.capacity[node.place() * self.width + usize::from(resource.0)]
    }

    pub(super) fn used(&self, node: NodeId, resource: Resource) -> i64 {
        self.used[node.place() * self.width + usize::from(resource.0)]
    }

    /// What is taken of `cpu` or `memory` as scores count it; of others, what is requested.
    pub(super) fn scored(&self, node: NodeId, resource: Resource) -> i64 {
        match resource {
            CPU => self.scored[node.place()][0],
            MEMORY => self.scored[node.place()][1],
            other => self.used(node, other),
        }
    }

    /// Books a pod, or with `sign` −1 takes it off.
    pub(super) fn book(&mut self, node: NodeId, amounts: &Amounts, sign: i64) {
        let row = node.place() * self.width;
        for &(resource, amount) in &amounts.requests {
            self.used[row + usize::from(resource.0)] += sign * amount;
        }
        for (sum, amount) in self.scored[node.place()].iter_mut().zip(amounts.scored) {
            *sum += sign * amount;
        }
    }
}
