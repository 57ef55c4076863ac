//! What one source says of an object at one moment. All sources are brought to it: lists, watches, audit logs, events, metrics.

use std::collections::BTreeMap;

use resched_tables::model::Ms;
use serde::{Deserialize, Serialize};

use super::amounts::Asked;

/// An object, as a source shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) namespace: String,
    pub(super) name: String,
    /// Empty if the source does not say it.
    pub(super) uid: String,
    pub(super) created: Option<Ms>,
    /// When it was removed, or was to be.
    pub(super) deleted: Option<Ms>,
    /// The version of the object, by which its states are ordered; 0: unknown.
    pub(super) version: u64,
    /// When the source saw it, if it says so.
    pub(super) at: Option<Ms>,
    /// True if the source saw how it was created.
    pub(super) is_birth: bool,
    /// What created it, and for what.
    pub(super) owner: Option<Owner>,
    /// Who created it.
    pub(super) user: Option<String>,
    pub(super) what: What,
}

impl Seen {
    /// An object of which nothing is known yet.
    pub(super) fn of(namespace: &str, name: &str, what: What) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: String::new(),
            created: None,
            deleted: None,
            version: 0,
            at: None,
            is_birth: false,
            owner: None,
            user: None,
            what,
        }
    }

    /// The latest time in it.
    pub(super) fn latest(&self) -> Option<Ms> {
        let times = [self.created, self.deleted, self.at].into_iter().flatten();
        times.chain(self.what.latest()).max()
    }
}

/// The object that created another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub(super) struct Owner {
    pub(super) kind: String,
    pub(super) name: String,
    /// Empty if the source does not say it.
    pub(super) uid: String,
}

/// What is said of an object, by its kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum What {
    Workload(Box<Workload>),
    /// A Job, or the object of another kind whose name is first, that has pods or a Workload.
    Job(String, Box<Job>),
    Pod(Box<Pod>),
    Node(Box<Node>),
}

impl What {
    fn latest(&self) -> Option<Ms> {
        match self {
            Self::Workload(workload) => workload.conditions.iter().map(|condition| condition.time).max(),
            Self::Job(_, job) => job.end.or(job.start),
            Self::Pod(pod) => pod.end.or(pod.scheduled),
            Self::Node(_) => None,
        }
    }
}

/// A state of an object, and since when it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Condition {
    pub(super) kind: Kind,
    pub(super) is: bool,
    /// As the object has it, to the whole second.
    pub(super) time: Ms,
    /// To the millisecond, if the source shows that.
    pub(super) exact: Option<Ms>,
    /// True if it is from an event, which another clock dates: it counts where no object has it.
    pub(super) is_hint: bool,
    pub(super) reason: String,
    pub(super) message: String,
}

/// The kinds of conditions of a Workload that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Kind {
    QuotaReserved,
    Admitted,
    Evicted,
    Preempted,
    Requeued,
    Finished,
}

impl Kind {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "QuotaReserved" => Self::QuotaReserved,
            "Admitted" => Self::Admitted,
            "Evicted" => Self::Evicted,
            "Preempted" => Self::Preempted,
            "Requeued" => Self::Requeued,
            "Finished" => Self::Finished,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Workload {
    /// The queue in its namespace.
    pub(super) queue: Option<String>,
    pub(super) priority: Option<i64>,
    /// Its WorkloadPriorityClass.
    pub(super) class: Option<String>,
    /// Whether it may run; `Some(false)`: somebody stopped it.
    pub(super) is_active: Option<bool>,
    /// True if it stands for a group of pods.
    pub(super) is_group: bool,
    pub(super) sets: Vec<PodSet>,
    pub(super) conditions: Vec<Condition>,
    /// The ClusterQueue that has admitted it.
    pub(super) cluster_queue: Option<String>,
    /// The flavours that each pod set got: `resource=flavour`, joined by commas.
    pub(super) flavors: BTreeMap<String, String>,
    /// How often it was evicted.
    pub(super) evictions: Option<u64>,
    /// How long it ran in all before its last requeue, ms.
    pub(super) ran: Option<Ms>,
}

/// Pods that are alike.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PodSet {
    pub(super) name: String,
    pub(super) count: i64,
    pub(super) shape: Shape,
}

/// What a pod asks for: amounts, and texts of the tables about its node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) asked: Asked,
    pub(super) node_selector: Option<String>,
    pub(super) tolerations: Option<String>,
    pub(super) affinity: Option<String>,
    /// True if it asks for places in a way that is not read.
    pub(super) has_unread: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Job {
    /// The queue that it names; a Job without one never queued.
    pub(super) queue: Option<String>,
    /// True if the source would show that.
    pub(super) has_labels: bool,
    /// How many pods run at once.
    pub(super) pods: Option<i64>,
    pub(super) shape: Shape,
    /// When it was last resumed, and when it ended.
    pub(super) start: Option<Ms>,
    pub(super) end: Option<Ms>,
    /// Whether it succeeded, once it has ended.
    pub(super) succeeded: Option<bool>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Pod {
    /// Its pod set, as Kueue labels it.
    pub(super) set: Option<String>,
    /// Its place in its Job: of two pods with one place, the second is another try.
    pub(super) index: Option<String>,
    pub(super) priority: Option<i64>,
    pub(super) node: Option<String>,
    /// When it was bound to its node.
    pub(super) scheduled: Option<Ms>,
    pub(super) end: Option<Ms>,
    pub(super) stage: Stage,
    /// Why it was evicted or failed.
    pub(super) why: Option<String>,
    /// What it waits for.
    pub(super) waits: Option<String>,
    /// What it asks for, by container: a source may show each by itself. Without a name: the whole pod.
    pub(super) asked: BTreeMap<String, Asked>,
    pub(super) shape: Shape,
}

/// How far a pod has come. Later states are better known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Stage {
    #[default]
    Unknown,
    Pending,
    Running,
    Succeeded,
    Failed,
    /// Something took its place from it.
    Evicted,
    /// Its node was lost.
    Lost,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Node {
    pub(super) allocatable: Asked,
    pub(super) labels: BTreeMap<String, String>,
    /// As a text of the tables.
    pub(super) taints: Option<String>,
    pub(super) is_cordoned: bool,
}
