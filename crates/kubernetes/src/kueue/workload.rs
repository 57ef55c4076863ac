//! Workloads: what they ask for, where they stand, and what they were given.

use super::model::{Expression, FlavorId, QueueId, ResourceId, Toleration};

/// The number of a workload, in the order of submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkloadId(pub u32);

/// A workload as it is created.
#[derive(Debug, Clone)]
pub struct Submission {
    /// Its ClusterQueue.
    pub queue: QueueId,
    /// Its priority.
    pub priority: i64,
    /// When it was created, milliseconds; the API keeps whole seconds, and only these are compared.
    pub created: i64,
    /// Decides between equals, as the UID does. Random in reality: draw it by a seed of yours, or count up for the order of submission.
    pub uid: u64,
    /// True if the queue's namespace selector matches its namespace.
    pub namespace_matches: bool,
    /// Its pod sets, in their order.
    pub pod_sets: Vec<PodSet>,
}

/// Pods of one kind of a workload.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodSet {
    /// Its name.
    pub name: String,
    /// How many pods.
    pub count: u32,
    /// What one pod asks for, in the unit of the quotas. Zero amounts are ignored.
    pub requests: Vec<(ResourceId, i64)>,
    /// What its pods tolerate.
    pub tolerations: Vec<Toleration>,
    /// Labels that its nodes must have.
    pub node_selector: Vec<(String, String)>,
    /// Required node affinity: terms, one of which must hold; all expressions of a term must.
    pub affinity: Vec<Vec<Expression>>,
}

/// What one pod set got of one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assigned {
    /// The position of the pod set.
    pub pod_set: u32,
    /// The resource.
    pub resource: ResourceId,
    /// The flavour that gives it.
    pub flavor: FlavorId,
}

/// Where a pending workload stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the queue proper; the first of it is looked at in each cycle.
    Queued,
    /// Set aside until something of its cohort tree is freed.
    Parked,
}

/// Why a workload was not admitted when it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingReason {
    /// No flavour fits.
    NoFit,
    /// It would have to preempt, and nobody may be preempted.
    NoCandidates,
    /// Its victims are ending.
    PendingPreemption,
    /// An earlier one of the cycle took its place.
    FailedAfterNomination,
    /// The queue does not take workloads of its namespace.
    NamespaceMismatch,
    /// Parked untried, because one of its shape found no place.
    Equivalent,
}

impl PendingReason {
    /// Kueue's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoFit => "NoFit",
            Self::NoCandidates => "PreemptionNoCandidates",
            Self::PendingPreemption => "PendingPreemption",
            Self::FailedAfterNomination => "FailedAfterNomination",
            Self::NamespaceMismatch => "NamespaceMismatch",
            Self::Equivalent => "Equivalent",
        }
    }
}
