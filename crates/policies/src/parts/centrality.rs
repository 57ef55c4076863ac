//! How near a node is to the map output of a job (Coupling paper, Eq. 1; policies B.7).

use resched_sim::hadoop::View;
use resched_sim::{JobId, NodeId};

/// What fetching the map output of one job would cost each node.
#[derive(Debug, Default)]
pub struct Centrality {
    racks: Vec<f64>,
    all: f64,
}

impl Centrality {
    /// Adds up the map output of a job; as long as the world does not change, [`Centrality::cost`] is about that job.
    pub fn add_up(&mut self, job: JobId, view: View<'_>) {
        self.racks.clear();
        self.racks.resize(view.rack_count(), 0.0);
        self.all = 0.0;
        for node in view.nodes() {
            let output = view.job(job).map_output(node);
            self.racks[view.rack(node).index()] += output;
            self.all += output;
        }
    }

    /// `C(v) = Σ_u w(u)·h(u,v)` of a node: the output on each node times its hops, which are 0 on the node itself, 2 in its rack
    /// and 4 elsewhere. In bytes, or maps, times hops.
    pub fn cost(&self, node: NodeId, job: JobId, view: View<'_>) -> f64 {
        self.cost_beside(view.job(job).map_output(node), view.rack(node).index())
    }

    fn cost_beside(&self, own: f64, rack: usize) -> f64 {
        4.0 * self.all - 2.0 * self.racks[rack] - 2.0 * own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b7_w_centrality() {
        let centrality = Centrality { racks: vec![6.0, 4.0], all: 10.0 };
        let costs = [(6.0, 0), (0.0, 0), (4.0, 1), (0.0, 1)].map(|(own, rack)| centrality.cost_beside(own, rack));
        assert_eq!(costs, [16.0, 28.0, 24.0, 32.0]);
    }
}
