//! Results of attempts, node by node.

use resched_sim::NodeId;

use crate::parts::statistics::Moments;

/// Values of attempts, by the node on which they ran.
#[derive(Debug, Default)]
pub(super) struct NodeTally {
    nodes: Vec<Moments>,
}

impl Clone for NodeTally {
    fn clone(&self) -> Self {
        Self { nodes: self.nodes.clone() }
    }

    /// Keeps its memory, as the derived one would not.
    fn clone_from(&mut self, source: &Self) {
        self.nodes.clone_from(&source.nodes);
    }
}

impl NodeTally {
    /// One more attempt.
    pub(super) fn add(&mut self, node: NodeId, value: f64) {
        if self.nodes.len() <= node.index() {
            self.nodes.resize(node.index() + 1, Moments::default());
        }
        self.nodes[node.index()].add(value);
    }

    /// What the attempts of a node did; `None` if it had none.
    pub(super) fn get(&self, node: NodeId) -> Option<&Moments> {
        self.nodes.get(node.index()).filter(|node| node.count() > 0)
    }

    /// The mean of each node that had attempts, by their places.
    pub(super) fn means(&self) -> impl Iterator<Item = (usize, f64)> {
        self.nodes.iter().enumerate().filter_map(|(node, other)| Some((node, other.mean()?)))
    }
}
