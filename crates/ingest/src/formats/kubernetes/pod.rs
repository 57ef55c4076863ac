//! The life of a pod, of a Job, and of a node, from all that is said of each.

use std::collections::BTreeMap;

use resched_tables::model::{Ms, Outcome};
use serde::{Deserialize, Serialize};

use super::amounts::{self, Asked};
use super::seen::{Job, Node, Owner, Pod, Seen, Shape, Stage, What};

/// A pod from its creation on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PodLife {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) owner: Option<Owner>,
    pub(super) user: Option<String>,
    pub(super) set: Option<String>,
    pub(super) index: Option<String>,
    pub(super) priority: Option<i64>,
    pub(super) node: Option<String>,
    pub(super) created: Option<Ms>,
    pub(super) scheduled: Option<Ms>,
    pub(super) end: Option<Ms>,
    pub(super) outcome: Outcome,
    pub(super) why: Option<String>,
    pub(super) waits: Option<String>,
    pub(super) shape: Shape,
}

impl PodLife {
    /// The life of a pod from what is said of it, the latest state last.
    pub(super) fn of(all: &[Seen]) -> Self {
        let looks: Vec<&Pod> = all.iter().filter_map(pod_of).collect();
        fn last<'p, V>(looks: &[&'p Pod], of: impl Fn(&'p Pod) -> Option<V>) -> Option<V> {
            looks.iter().rev().find_map(|pod| of(pod))
        }
        let stage = looks.iter().map(|pod| pod.stage).max().unwrap_or_default();
        let deleted = all.iter().filter_map(|seen| seen.deleted).min();
        let end = looks.iter().filter_map(|pod| pod.end).min();
        let node = last(&looks, |pod| pod.node.clone());
        let scheduled = looks.iter().filter_map(|pod| pod.scheduled).max().filter(|_| node.is_some());
        let named = named(all);
        Self {
            set: last(&looks, |pod| pod.set.clone()),
            index: last(&looks, |pod| pod.index.clone()),
            priority: last(&looks, |pod| pod.priority),
            node,
            scheduled,
            end: end.or(deleted),
            outcome: outcome(stage, deleted.is_some(), end.is_some()),
            why: last(&looks, |pod| pod.why.clone()),
            waits: last(&looks, |pod| pod.waits.clone()).filter(|_| scheduled.is_none()),
            shape: Shape { asked: asked(&looks), ..last(&looks, |pod| shape_of(&pod.shape)).unwrap_or_default() },
            namespace: named.namespace,
            name: named.name,
            owner: named.owner,
            user: named.user,
            created: named.created,
        }
    }
}

fn pod_of(seen: &Seen) -> Option<&Pod> {
    match &seen.what {
        What::Pod(pod) => Some(pod),
        _ => None,
    }
}

fn shape_of(shape: &Shape) -> Option<Shape> {
    Some(shape.clone()).filter(|shape| *shape != Shape::default())
}

fn outcome(stage: Stage, is_deleted: bool, has_end: bool) -> Outcome {
    match stage {
        Stage::Succeeded => Outcome::Success,
        Stage::Failed => Outcome::Failed,
        Stage::Evicted => Outcome::Evicted,
        Stage::Lost => Outcome::Lost,
        Stage::Unknown | Stage::Pending | Stage::Running if is_deleted => Outcome::Killed,
        // Metrics have the end of a pod, and may lack how it ended.
        Stage::Unknown | Stage::Pending | Stage::Running if has_end => Outcome::Unknown,
        Stage::Unknown | Stage::Pending | Stage::Running => Outcome::Incomplete,
    }
}

/// What a pod asks for: as one look has all of it, or else what the looks have of its containers together.
fn asked(looks: &[&Pod]) -> Asked {
    let mut by_container: BTreeMap<&str, Asked> = BTreeMap::new();
    for (container, asked) in looks.iter().flat_map(|pod| &pod.asked) {
        by_container.entry(container).or_default().extend(asked.iter().map(|(resource, n)| (resource.clone(), *n)));
    }
    if let Some(whole) = by_container.remove("").filter(|asked| !asked.is_empty()) {
        return whole;
    }
    let mut all = Asked::new();
    by_container.values().for_each(|asked| amounts::add(&mut all, asked));
    all
}

/// A Job from its creation on, or the object of another kind that owns pods or a Workload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct JobLife {
    pub(super) namespace: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
    /// The object that created it.
    pub(super) owner: Option<Owner>,
    pub(super) user: Option<String>,
    pub(super) created: Option<Ms>,
    pub(super) deleted: Option<Ms>,
    pub(super) job: Job,
}

impl JobLife {
    /// The life of a Job from what is said of it, the latest state last.
    pub(super) fn of(all: &[Seen]) -> Self {
        let mut job = Job::default();
        let mut kind = String::new();
        for seen in all {
            let What::Job(own_kind, look) = &seen.what else { continue };
            kind.clone_from(own_kind);
            job = Job {
                queue: look.queue.clone().or(job.queue),
                has_labels: look.has_labels || job.has_labels,
                pods: look.pods.or(job.pods),
                shape: shape_of(&look.shape).unwrap_or(job.shape),
                start: look.start.or(job.start),
                end: look.end.or(job.end),
                succeeded: look.succeeded.or(job.succeeded),
            };
        }
        let named = named(all);
        Self {
            namespace: named.namespace,
            kind,
            name: named.name,
            uid: all.iter().map(|seen| &seen.uid).find(|uid| !uid.is_empty()).cloned().unwrap_or_default(),
            owner: named.owner,
            user: named.user,
            created: named.created,
            deleted: all.iter().filter_map(|seen| seen.deleted).min(),
            job,
        }
    }
}

/// A node while it is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct NodeLife {
    pub(super) name: String,
    pub(super) created: Option<Ms>,
    pub(super) deleted: Option<Ms>,
    pub(super) node: Node,
}

impl NodeLife {
    /// The life of a node from what is said of it, the latest state last.
    pub(super) fn of(all: &[Seen]) -> Self {
        let mut node = Node::default();
        for seen in all {
            let What::Node(look) = &seen.what else { continue };
            // Metrics show each amount and each label by itself.
            node.allocatable.extend(look.allocatable.iter().map(|(resource, n)| (resource.clone(), *n)));
            node.labels.extend(look.labels.iter().map(|(key, value)| (key.clone(), value.clone())));
            node.taints = look.taints.clone().or(node.taints);
            node.is_cordoned |= look.is_cordoned;
        }
        let named = named(all);
        let deleted = all.iter().filter_map(|seen| seen.deleted).min();
        Self { name: named.name, created: named.created, deleted, node }
    }
}

/// What all objects have.
struct Named {
    namespace: String,
    name: String,
    owner: Option<Owner>,
    user: Option<String>,
    created: Option<Ms>,
}

fn named(all: &[Seen]) -> Named {
    let first = all.first();
    Named {
        namespace: first.map_or_else(String::new, |seen| seen.namespace.clone()),
        name: first.map_or_else(String::new, |seen| seen.name.clone()),
        owner: all.iter().rev().find_map(|seen| seen.owner.clone()),
        user: all.iter().find_map(|seen| seen.user.clone()),
        created: all.iter().filter_map(|seen| seen.created).min(),
    }
}
