//! Where the map output of a job lies, and how central a node is to it (Coupling paper, Eq. 1; policies B.7).

use resched_sim::{NodeId, RackId};

/// How many maps of a job have left their output on each node and in each rack.
///
/// The trace tells what all maps of a job made together, so each counts the same: counting them ranks nodes as bytes would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapOutput {
    nodes: Vec<u32>,
    racks: Vec<u32>,
    all: u32,
}

impl MapOutput {
    /// No output yet, on so many nodes in so many racks.
    pub fn new(nodes: usize, racks: usize) -> Self {
        Self { nodes: vec![0; nodes], racks: vec![0; racks], all: 0 }
    }

    /// A map has finished on a node of this rack.
    pub fn add(&mut self, node: NodeId, rack: RackId) {
        self.nodes[node.index()] += 1;
        self.racks[rack.index()] += 1;
        self.all += 1;
    }

    /// `C(v) = Σ_u w(u)·h(u,v)`, the cost of fetching the output to a node of this rack; in maps times hops, which are 0 on the
    /// node itself, 2 in its rack and 4 elsewhere.
    pub fn centrality(&self, node: NodeId, rack: RackId) -> u64 {
        4 * u64::from(self.all) - 2 * u64::from(self.racks[rack.index()]) - 2 * u64::from(self.nodes[node.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::some_nodes;

    #[test]
    fn b7_w_centrality() {
        let nodes = some_nodes(4, 2);
        let mut output = MapOutput::new(4, 2);
        for (place, maps) in [(0, 6), (2, 4)] {
            for _ in 0..maps {
                output.add(nodes[place].0, nodes[place].1);
            }
        }
        let costs: Vec<u64> = nodes.iter().map(|&(node, rack)| output.centrality(node, rack)).collect();
        assert_eq!(costs, [16, 28, 24, 32]);
    }
}
