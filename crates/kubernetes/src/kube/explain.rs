//! Why a pod finds no node, in the scheduler's own words.

use std::collections::BTreeMap;

use super::filter::{self, Change};
use super::matching;
use super::numbers::{NodeId, PodId};
use super::scheduler::Scheduler;

impl Scheduler {
    /// What keeps a pod from each node now, counted, as kube-scheduler says it: `0/10 nodes are available: 7 Insufficient memory.`
    pub fn explain(&self, pod: PodId) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut nodes = 0;
        for place in self.nodes.live.ones() {
            nodes += 1;
            for reason in self.reasons(pod, NodeId::at(place)) {
                *counts.entry(reason).or_insert(0) += 1;
            }
        }
        let mut parts: Vec<String> = counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        parts.sort();
        format!("0/{nodes} nodes are available: {}.", parts.join(", "))
    }

    fn reasons(&self, pod: PodId, node: NodeId) -> Vec<String> {
        let kind = filter::kind_of(&self.kinds, self.pods[pod.place()].kind);
        let spec = &self.nodes.specs[node.place()];
        if let Some(taint) = matching::untolerated(&kind.spec, spec) {
            return vec![format!("node(s) had untolerated taint {{{}: {}}}", taint.key, taint.value)];
        }
        if !kind.eligible.contains(node.place()) {
            return vec!["node(s) didn't match Pod's node affinity/selector".to_owned()];
        }
        let mut change = Change::default();
        filter::add_promised(&mut change, &self.nodes, node, pod, &self.pods, &self.kinds);
        let mut reasons: Vec<String> = change
            .short(&self.nodes, node, kind)
            .map(|resource| format!("Insufficient {}", self.resources().name(resource)))
            .collect();
        if change.lacks_place(&self.nodes, node) {
            reasons.push("Too many pods".to_owned());
        }
        reasons
    }
}
