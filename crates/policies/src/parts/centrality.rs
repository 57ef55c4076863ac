//! How near a node is to the map output of a job (Coupling paper, Eq. 1; `docs/model/coupling.md`).

use resched_sim::hadoop::View;
use resched_sim::{JobId, NodeId};

/// What fetching the map output of one job would cost each node. It is kept up to date, node by node.
#[derive(Debug, Default)]
pub struct Centrality {
    /// Empty as long as there is no output.
    nodes: Vec<f64>,
    racks: Vec<f64>,
    all: f64,
}

impl Centrality {
    /// Takes down what the job's finished maps have left on a node by now. To be called when one has finished there, and when the
    /// node is lost.
    pub fn update(&mut self, node: NodeId, job: JobId, view: View<'_>) {
        let output = view.job(job).map_output(node);
        if self.nodes.is_empty() && output > 0.0 {
            self.nodes.resize(view.node_count(), 0.0);
            self.racks.resize(view.rack_count(), 0.0);
        }
        if let Some(before) = self.nodes.get_mut(node.index()) {
            let more = output - std::mem::replace(before, output);
            self.racks[view.rack(node).index()] += more;
            self.all += more;
        }
    }

    /// `C(v) = Σ_u w(u)·h(u,v)` of a node: the output on each node times its hops, which are 0 on the node itself, 2 in its rack
    /// and 4 elsewhere. In bytes, or maps, times hops.
    pub fn cost(&self, node: NodeId, view: View<'_>) -> f64 {
        match self.nodes.get(node.index()) {
            Some(&cost) => self.cost_beside(cost, view.rack(node).index()),
            None => 0.0,
        }
    }

    fn cost_beside(&self, cost: f64, rack: usize) -> f64 {
        4.0 * self.all - 2.0 * self.racks[rack] - 2.0 * cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centrality_of_four_nodes_in_two_racks() {
        let centrality = Centrality { nodes: vec![6.0, 0.0, 4.0, 0.0], racks: vec![6.0, 4.0], all: 10.0 };
        let costs = [(6.0, 0), (0.0, 0), (4.0, 1), (0.0, 1)].map(|(cost, rack)| centrality.cost_beside(cost, rack));
        assert_eq!(costs, [16.0, 28.0, 24.0, 32.0]);
    }
}
