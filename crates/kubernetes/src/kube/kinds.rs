//! Kinds of pods, and which nodes suit each.

use fixedbitset::FixedBitSet;

use super::matching::{self, Verdict};
use super::nodes::Amounts;
use super::numbers::NodeId;
use super::spec::{NodeSpec, PodSpec};

/// Pods that ask for the same, and what the nodes are to them.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub(super) spec: PodSpec,
    pub(super) amounts: Amounts,
    verdicts: Vec<Verdict>,
    /// Nodes that suit by taints and labels.
    pub(super) eligible: FixedBitSet,
    pub(super) tainted: usize,
    pub(super) mismatched: usize,
    /// Per node, how many taints ask the pod to stay away.
    pub(super) discouraged: Vec<i64>,
    /// Per node, the weights of the preferred terms that hold; empty without such terms.
    pub(super) preferred: Vec<i64>,
    /// The state of the cluster in which a pod of this kind last found no node: none fits until something is freed.
    pub(super) failed_in: Option<u64>,
}

impl Kind {
    pub(super) fn new(spec: PodSpec, amounts: Amounts) -> Self {
        Self {
            spec,
            amounts,
            verdicts: Vec::new(),
            eligible: FixedBitSet::new(),
            tainted: 0,
            mismatched: 0,
            discouraged: Vec::new(),
            preferred: Vec::new(),
            failed_in: None,
        }
    }

    /// Looks at the next node.
    pub(super) fn meet(&mut self, node: &NodeSpec) {
        let verdict = matching::verdict(&self.spec, node);
        let place = self.verdicts.len();
        self.verdicts.push(verdict);
        self.eligible.grow(place + 1);
        self.eligible.set(place, verdict == Verdict::Suits);
        self.tainted += usize::from(verdict == Verdict::Tainted);
        self.mismatched += usize::from(verdict == Verdict::Mismatched);
        self.discouraged.push(matching::discouraging(&self.spec, node));
        if !self.spec.preferred.is_empty() {
            self.preferred.push(matching::preference(&self.spec, node));
        }
        self.failed_in = None;
    }

    /// Forgets a node that is gone.
    pub(super) fn part(&mut self, node: NodeId) {
        let place = node.place();
        self.tainted -= usize::from(self.verdicts[place] == Verdict::Tainted);
        self.mismatched -= usize::from(self.verdicts[place] == Verdict::Mismatched);
        self.verdicts[place] = Verdict::Gone;
        self.eligible.set(place, false);
    }
}
