//! The samples that give a job its class: their number on each node, and the sizes and times of the maps that ended.

use resched_sim::{Ms, NodeId};

use crate::parts::by_id::ByNode;
use crate::parts::predict::{MapLoad, shuffle_in};

/// The samples of a job.
#[derive(Debug, Default)]
pub(super) struct Samples {
    nodes: ByNode<NodeSamples>,
    /// Nodes that have a sample.
    sampled: u32,
    /// Nodes that have finished one.
    finished: u32,
    maps: f64,
    /// Sums over the finished maps, MiB and ms.
    input: f64,
    output: f64,
    time: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct NodeSamples {
    running: u32,
    finished: u32,
}

impl Samples {
    /// How many samples were taken on a node.
    pub(super) fn taken_on(&self, node: NodeId) -> u32 {
        self.nodes[node].running + self.nodes[node].finished
    }

    /// On how many nodes there is one.
    pub(super) fn nodes(&self) -> u32 {
        self.sampled
    }

    /// A sample has started.
    pub(super) fn launched(&mut self, node: NodeId) {
        self.change(node, |samples| samples.running += 1);
    }

    /// A map has ended that read and wrote so many MiB in so many ms.
    pub(super) fn succeeded(&mut self, node: NodeId, [input, output]: [f64; 2], time: Ms) {
        self.change(node, |samples| {
            samples.running = samples.running.saturating_sub(1);
            samples.finished += 1;
        });
        self.maps += 1.0;
        self.input += input;
        self.output += output;
        self.time += time as f64;
    }

    /// An attempt runs no more. It may be one that was not launched as a sample, but as the backup of one.
    pub(super) fn lost(&mut self, node: NodeId) {
        self.change(node, |samples| samples.running = samples.running.saturating_sub(1));
    }

    fn change(&mut self, node: NodeId, change: impl FnOnce(&mut NodeSamples)) {
        let samples = &mut self.nodes[node];
        let counts = |node_samples: &NodeSamples| {
            [node_samples.running + node_samples.finished > 0, node_samples.finished > 0].map(u32::from)
        };
        let before = counts(samples);
        change(samples);
        let after = counts(samples);
        self.sampled = self.sampled + after[0] - before[0];
        self.finished = self.finished + after[1] - before[1];
    }

    /// True if such a share of the sampled nodes has finished a sample.
    pub(super) fn suffice(&self, share: f64) -> bool {
        self.sampled > 0 && f64::from(self.finished) >= share * f64::from(self.sampled)
    }

    /// The mean map of a job with so many reduces, spread evenly over so many nodes.
    pub(super) fn mean_map(&self, reduces: u32, nodes: usize) -> MapLoad {
        let (reduces, nodes) = (f64::from(reduces), nodes as f64);
        let output = self.output / self.maps;
        let shuffle_out = if reduces > 0.0 { output } else { 0.0 };
        MapLoad {
            input: self.input / self.maps,
            output,
            shuffle_out,
            shuffle_in: shuffle_in(reduces / nodes, reduces, shuffle_out, nodes),
            time: self.time / self.maps / 1_000.0,
        }
    }
}
