//! Node labels: each node has at most one, the queues have shares of the nodes of each, and a request asks for the nodes of one label or
//! for those without (rule N10).
//!
//! **Source.** `CapacityScheduler.allocateOrReserveNewContainers`, `RegularContainerAllocator.preCheckForNodeCandidateSet` and
//! `QueueCapacities` of Hadoop 3.4.1.
//!
//! **Decisions.** The parts of the cluster are numbered: 0 are the nodes without a label. Preemption looks at these alone.

use std::collections::BTreeMap;

use resched_sim::hadoop::{AmState, Ask, Resources, View};
use resched_sim::{JobId, NodeId};
use serde::Deserialize;

use super::YarnCapacity;
use super::amounts::Amounts;
use super::calculator::{Calculator, counted};
use super::serve::Tried;
use super::state::Part;
use crate::queues::toml;
use crate::queues::tree::QueueTree;
use crate::queues::yarn_capacity::YarnQueue;

/// A file of node labels: `[labels.gpu]` with `hosts`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelFile {
    labels: BTreeMap<String, LabelSet>,
}

/// A label.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelSet {
    /// True if only requests for it may use its nodes.
    #[serde(default = "yes")]
    exclusive: bool,
    /// The nodes that have it.
    hosts: Vec<String>,
}

fn yes() -> bool {
    true
}

/// The labels, by the number of their part of the cluster.
#[derive(Debug)]
pub(super) struct Labels {
    names: Vec<String>,
    exclusive: Vec<bool>,
    of_host: BTreeMap<String, usize>,
    /// The part of each node, and what each part has; empty until the cluster is known.
    of_node: Vec<usize>,
    totals: Vec<Resources>,
}

/// Which part of the cluster is being served.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Walk {
    pub(super) part: usize,
    /// True if it is lent to requests for nodes without a label.
    pub(super) is_lent: bool,
}

impl Labels {
    /// Reads a file of labels.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(path: &str) -> Result<Self, String> {
        toml::read(path, "labels", |text| {
            let file: LabelFile = toml::parse(text)?;
            let mut labels = Self {
                names: vec![String::new()],
                exclusive: vec![true],
                of_host: BTreeMap::new(),
                of_node: Vec::new(),
                totals: Vec::new(),
            };
            for (part, (name, set)) in file.labels.into_iter().enumerate() {
                labels.names.push(name);
                labels.exclusive.push(set.exclusive);
                for host in set.hosts {
                    if labels.of_host.insert(host.clone(), part + 1).is_some() {
                        return Err(format!("`{host}`: expected one label, found two"));
                    }
                }
            }
            Ok(labels)
        })
    }

    fn part_named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name).filter(|&part| part > 0)
    }

    /// Counts what each part has.
    fn count(&mut self, view: View<'_>) {
        if self.of_node.is_empty() {
            self.of_node = view.nodes().map(|node| self.of_host.get(view.host(node)).copied().unwrap_or(0)).collect();
        }
        self.totals = vec![Resources::NONE; self.names.len()];
        for node in view.nodes().filter(|&node| view.is_live(node)) {
            let total = &mut self.totals[self.of_node[node.index()]];
            *total = total.plus(view.capacity(node));
        }
    }
}

impl YarnCapacity {
    /// The part of the cluster to which a node belongs.
    #[inline]
    pub(super) fn part_of(&self, node: NodeId) -> usize {
        self.labels.as_ref().and_then(|labels| labels.of_node.get(node.index())).copied().unwrap_or(0)
    }

    /// How amounts are compared in a part of the cluster.
    #[inline]
    pub(super) fn by(&self, part: usize, view: View<'_>) -> Calculator {
        match &self.labels {
            None => Calculator::of(view),
            Some(labels) => {
                let total = labels.totals.get(part).copied().unwrap_or(Resources::NONE);
                Calculator::new(total, view.yarn().smallest())
            }
        }
    }

    pub(super) fn used(&self, place: usize, part: usize) -> Amounts {
        let queue = &self.queues[place];
        if part == 0 { queue.used.into() } else { queue.parts[part - 1].used }
    }

    pub(super) fn guarantee_of(&self, place: usize, part: usize) -> Amounts {
        let queue = &self.queues[place];
        if part == 0 { queue.guarantee } else { queue.parts[part - 1].guarantee }
    }

    pub(super) fn most(&self, place: usize, part: usize) -> Amounts {
        let queue = &self.queues[place];
        if part == 0 { queue.most } else { queue.parts[part - 1].most }
    }

    pub(super) fn used_by(&self, leaf: usize, user: usize, part: usize) -> Amounts {
        let user = &self.queues[leaf].users[user];
        if part == 0 { user.used.into() } else { user.parts[part - 1].used }
    }

    /// What a queue may use of the part that is being served: all of it if it is lent.
    pub(super) fn most_now(&self, place: usize, by: Calculator) -> Amounts {
        if self.walk.is_lent { by.all() } else { self.most(place, self.walk.part) }
    }

    /// The part for which the requests of a job have to ask that may be served now.
    pub(super) fn part_asked(&self) -> usize {
        if self.walk.is_lent { 0 } else { self.walk.part }
    }

    /// True if a queue may use the part that is being served.
    pub(super) fn sees(&self, place: usize) -> bool {
        self.walk.part == 0 || self.walk.is_lent || self.queues[place].parts[self.walk.part - 1].is_seen
    }

    /// The share of a part that a queue is guaranteed.
    pub(super) fn capacity_of(&self, place: usize, part: usize) -> f32 {
        let queue = &self.queues[place];
        if part == 0 { queue.shares.capacity } else { queue.parts[part - 1].capacity }
    }

    /// True if a part may be lent to requests for nodes without a label.
    pub(super) fn is_lendable(&self, part: usize) -> bool {
        self.labels.as_ref().is_some_and(|labels| part > 0 && !labels.exclusive[part])
    }

    /// The part for which the jobs of a queue ask.
    pub(super) fn part_of_jobs(&self, leaf: usize) -> usize {
        let label = self.tree.get(leaf).settings.default_label.as_deref();
        self.labels.as_ref().zip(label).and_then(|(labels, label)| labels.part_named(label)).unwrap_or(0)
    }

    /// Whether a request of a job cannot be served here because of its label, and what comes next. A master never runs on a node that is
    /// lent.
    pub(super) fn check_label(&self, job: JobId, view: View<'_>) -> Option<Tried> {
        self.labels.as_ref()?;
        if self.walk.is_lent && view.yarn().app(job).am() == AmState::Waiting {
            return Some(Tried::NextJob);
        }
        (self.jobs[job].part != self.part_asked()).then_some(Tried::NextRequest)
    }

    /// Counts that a node could serve a request for nodes without a label. One with a label is lent only to those that have been passed
    /// over by as many as there are.
    pub(super) fn may_borrow(&mut self, job: JobId, ask: Ask, view: View<'_>) -> bool {
        let state = &mut self.jobs[job];
        let missed = &mut state.missed_unlabelled[ask.index()];
        if state.part == 0 {
            *missed += 1;
        }
        !self.walk.is_lent || *missed >= view.node_count() as u64
    }

    pub(super) fn count_labels(&mut self, view: View<'_>) {
        if let Some(labels) = &mut self.labels {
            labels.count(view);
        }
    }

    /// The shares of the queues of the nodes of each label.
    pub(super) fn set_parts(&mut self) {
        let Some(labels) = &self.labels else { return };
        for place in 0..self.queues.len() {
            let parent = self.tree.get(place).parent;
            let mut parts = Vec::new();
            for (at, name) in labels.names.iter().skip(1).enumerate() {
                let share = self.tree.get(place).settings.labels.get(name);
                let above = parent.map_or((1.0, 1.0), |parent| {
                    let part = &self.queues[parent].parts[at];
                    (part.capacity, part.limit)
                });
                let part_of = |percent: Option<f64>, otherwise: f64| percent.unwrap_or(otherwise) as f32 / 100.0;
                let of_root = if parent.is_none() { 100.0 } else { 0.0 };
                let capacity = above.0 * part_of(share.and_then(|share| share.capacity), of_root);
                let limit = above.1 * part_of(share.and_then(|share| share.maximum_capacity), 100.0);
                parts.push(Part { is_seen: self.lists(place, name), capacity, limit, ..Part::default() });
            }
            self.queues[place].parts = parts;
        }
    }

    /// True if a queue, or the nearest one above it that lists any, lists a label. The root sees all.
    fn lists(&self, place: usize, name: &str) -> bool {
        let listed = |place: usize| self.tree.get(place).settings.accessible_labels.as_ref();
        let found = self.tree.with_ancestors(place).filter(|&place| place != QueueTree::<YarnQueue>::ROOT);
        found.filter_map(listed).next().map_or(place == QueueTree::<YarnQueue>::ROOT, |labels| {
            labels.iter().any(|label| label == name || label == "*")
        })
    }

    /// What the queues are guaranteed of the nodes of each label, and may use of them.
    pub(super) fn settle_parts(&mut self, view: View<'_>) {
        let Some(labels) = &self.labels else { return };
        let smallest = view.yarn().smallest();
        for queue in &mut self.queues {
            for (part, total) in queue.parts.iter_mut().zip(&labels.totals[1..]) {
                let total = Amounts::from(counted(*total, smallest));
                part.guarantee = total.times(part.capacity.into());
                part.most = total.times(part.limit.into());
            }
        }
    }
}
