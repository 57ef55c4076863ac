//! Whom a pod may preempt, and where.

use std::cmp::Reverse;

use super::filter::{self, Change};
use super::kinds::Kind;
use super::nodes::Nodes;
use super::numbers::{NodeId, PodId};
use super::pods::Pod;

/// A node on which a pod would fit without some others.
#[derive(Clone, Debug)]
struct Candidate {
    node: NodeId,
    /// Most important first.
    victims: Vec<PodId>,
}

/// Smaller is better: the top victim's priority, the sum of priorities, the number of victims, the later start of the top ones.
type Cost = (i32, i64, usize, Reverse<i64>);

/// What the search looks at.
pub(super) struct Search<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) pods: &'a [Pod],
    pub(super) kinds: &'a [Kind],
}

impl Search<'_> {
    /// The best nodes for `pod`, each with its victims. Several are equally good.
    pub(super) fn run(&self, pod: PodId) -> Vec<(NodeId, Vec<PodId>)> {
        let kind = self.kind(pod);
        let mut best: Option<Cost> = None;
        let mut found: Vec<Candidate> = Vec::new();
        for place in kind.eligible.ones() {
            let node = NodeId::at(place);
            if !filter::could_hold(self.nodes, node, kind) {
                continue;
            }
            let Some(candidate) = self.victims(pod, kind, node) else { continue };
            let cost = self.cost(&candidate);
            if best.is_none_or(|best| cost < best) {
                found.clear();
                best = Some(cost);
            }
            if best == Some(cost) {
                found.push(candidate);
            }
        }
        found.into_iter().map(|candidate| (candidate.node, candidate.victims)).collect()
    }

    /// All less important pods leave the node; then they come back, the most important first, as long as the pod still fits.
    fn victims(&self, pod: PodId, kind: &Kind, node: NodeId) -> Option<Candidate> {
        let priority = self.pods[pod.place()].priority;
        let lower = |id: &PodId| self.pods[id.place()].priority < priority;
        let mut leaving: Vec<PodId> = self.nodes.pods[node.place()].iter().copied().filter(lower).collect();
        if leaving.is_empty() {
            return None;
        }
        let mut change = Change::default();
        filter::add_promised(&mut change, self.nodes, node, pod, self.pods, self.kinds);
        for &id in &leaving {
            change.take(self.kind(id), -1);
        }
        if !filter::has_room_after(self.nodes, node, kind, &change) {
            return None;
        }
        leaving.sort_by_key(|id| (Reverse(self.pods[id.place()].priority), self.pods[id.place()].started));
        leaving.retain(|&id| {
            change.take(self.kind(id), 1);
            let stays = filter::has_room_after(self.nodes, node, kind, &change);
            if !stays {
                change.take(self.kind(id), -1);
            }
            !stays
        });
        Some(Candidate { node, victims: leaving })
    }

    fn cost(&self, candidate: &Candidate) -> Cost {
        // Each priority is counted from the lowest one there is, so that more victims are worse even below 0.
        let counted = |id: &PodId| i64::from(self.pods[id.place()].priority) + i64::from(i32::MAX) + 1;
        let pods = |id: &PodId| &self.pods[id.place()];
        let top = candidate.victims.first().map_or(i32::MIN, |id| pods(id).priority);
        let of_top = candidate.victims.iter().map(pods).filter(|pod| pod.priority == top);
        let earliest = of_top.map(|pod| pod.started).min().unwrap_or(i64::MAX);
        (top, candidate.victims.iter().map(counted).sum(), candidate.victims.len(), Reverse(earliest))
    }

    fn kind(&self, pod: PodId) -> &Kind {
        filter::kind_of(self.kinds, self.pods[pod.place()].kind)
    }
}
