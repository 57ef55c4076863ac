//! The tree of cohorts, downwards.

use super::model::Model;
use super::quota::Quotas;

/// Who is below whom.
#[derive(Debug)]
pub(crate) struct Links {
    /// The queues directly below each node.
    pub(crate) queues: Vec<Vec<u32>>,
    /// The cohorts directly below each node.
    pub(crate) cohorts: Vec<Vec<u32>>,
    /// All queues of the tree of which a node is the root.
    pub(crate) trees: Vec<Vec<u32>>,
}

impl Links {
    pub(crate) fn new(model: &Model, quotas: &Quotas) -> Self {
        let nodes = quotas.parent.len();
        let mut links =
            Self { queues: vec![Vec::new(); nodes], cohorts: vec![Vec::new(); nodes], trees: vec![Vec::new(); nodes] };
        for node in 0..nodes {
            let queue = node < model.queues.len();
            if queue {
                links.trees[quotas.root(node)].push(node as u32);
            }
            if let Some(above) = quotas.above(node) {
                if queue { links.queues[above].push(node as u32) } else { links.cohorts[above].push(node as u32) }
            }
        }
        links
    }

    /// All queues of the tree below a root.
    pub(crate) fn tree_of(&self, root: usize) -> &[u32] {
        &self.trees[root]
    }
}
