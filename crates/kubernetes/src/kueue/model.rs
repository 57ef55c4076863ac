//! What a site set up: flavours, queues, cohorts, and their quotas, with dense numbers in the place of names.

/// The number of a ClusterQueue in [`Model::queues`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u32);

/// The number of a flavour in [`Model::flavors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlavorId(pub u32);

/// The number of a resource in [`Model::resources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub u32);

/// All that does not change while workloads come and go.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The names of resources. `pods` counts the pods of a set, if a queue covers it.
    pub resources: Vec<String>,
    /// The flavours.
    pub flavors: Vec<Flavor>,
    /// The ClusterQueues.
    pub queues: Vec<Queue>,
    /// The cohorts, those that are only named by a queue or a child included.
    pub cohorts: Vec<Cohort>,
    /// What Kueue's own configuration and the caller decide.
    pub settings: Settings,
}

/// Settings of the whole controller.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Fair sharing, if it is on.
    pub fair_sharing: Option<FairSharing>,
    /// The time between a call that frees something and the wake-up of the parked workloads, milliseconds. 1,000 in reality.
    pub requeue_ms: i64,
    /// True if a resource that a queue does not cover is ignored (`quotaCheckStrategy: IgnoreUndeclared`).
    pub ignore_undeclared: bool,
    /// Keys the draws: entries of one cycle that are equal in all, sibling cohorts of equal share.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { fair_sharing: None, requeue_ms: 1_000, ignore_undeclared: false, seed: 0 }
    }
}

/// Fair sharing and its strategies of preemption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FairSharing {
    /// The strategy tried first.
    pub first: Strategy,
    /// True if [`Strategy::InitialShare`] is tried after it.
    pub then_initial: bool,
}

impl Default for FairSharing {
    fn default() -> Self {
        Self { first: Strategy::FinalShare, then_initial: true }
    }
}

/// When fair sharing lets a workload preempt one of another queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The preemptor's share with it is at most the target's share without the victim (`LessThanOrEqualToFinalShare`).
    FinalShare,
    /// The preemptor's share with it is below the target's share with the victim (`LessThanInitialShare`).
    InitialShare,
}

/// A ResourceFlavor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flavor {
    /// Its name.
    pub name: String,
    /// The labels of its nodes.
    pub labels: Vec<(String, String)>,
    /// The taints of its nodes.
    pub taints: Vec<Taint>,
    /// Tolerations that it gives to every pod.
    pub tolerations: Vec<Toleration>,
}

/// A taint that keeps pods away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taint {
    /// Its key.
    pub key: String,
    /// Its value, empty if it has none.
    pub value: String,
    /// `NoSchedule`, `NoExecute` or `PreferNoSchedule`; the last keeps nobody away.
    pub effect: String,
}

/// A pod's leave to run in spite of taints.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Toleration {
    /// The key; empty with `exists` tolerates everything.
    pub key: String,
    /// True if any value will do (`operator: Exists`).
    pub exists: bool,
    /// The value (`operator: Equal`).
    pub value: String,
    /// The effect; empty means every effect.
    pub effect: String,
}

/// One requirement of a node's label, of a required node affinity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expression {
    /// The label.
    pub key: String,
    /// How the label is compared.
    pub operator: Operator,
    /// What it is compared with.
    pub values: Vec<String>,
}

/// The operator of an [`Expression`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// The value is one of the list.
    In,
    /// The value is none of the list.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is not there.
    DoesNotExist,
    /// The value is a larger integer.
    Gt,
    /// The value is a smaller integer.
    Lt,
}

/// A ClusterQueue.
#[derive(Debug, Clone)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// Its cohort, a number in [`Model::cohorts`]; without one it is a tree of its own.
    pub cohort: Option<u32>,
    /// True if its head blocks it (`StrictFIFO`).
    pub strict: bool,
    /// Whom its workloads may preempt.
    pub preemption: Preemption,
    /// When the search for a flavour stops.
    pub fungibility: Fungibility,
    /// The weight of fair sharing.
    pub weight: f64,
    /// Its resource groups, in their order.
    pub groups: Vec<Group>,
    /// Its quotas.
    pub quotas: Vec<Quota>,
}

impl Queue {
    /// A queue with the defaults of the API and without quotas.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            cohort: None,
            strict: false,
            preemption: Preemption::default(),
            fungibility: Fungibility::default(),
            weight: 1.0,
            groups: Vec::new(),
            quotas: Vec::new(),
        }
    }
}

/// Resources that are always given by the same flavour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// Its resources.
    pub resources: Vec<ResourceId>,
    /// Its flavours, in the order in which they are tried.
    pub flavors: Vec<FlavorId>,
}

/// The quota of one resource in one flavour, in the unit of the resource (thousandths of a CPU, bytes, pieces).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// The flavour.
    pub flavor: FlavorId,
    /// The resource.
    pub resource: ResourceId,
    /// `nominalQuota`.
    pub nominal: i64,
    /// `borrowingLimit`, if it is set.
    pub borrowing: Option<i64>,
    /// `lendingLimit`, if it is set.
    pub lending: Option<i64>,
}

/// Whom the workloads of a queue may preempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Preemption {
    /// In their queue (`withinClusterQueue`).
    pub within: Policy,
    /// In other queues that borrow (`reclaimWithinCohort`).
    pub reclaim: Policy,
    /// In other queues while their own borrows (`borrowWithinCohort`), if it is on.
    pub borrow: Option<BorrowWithinCohort>,
}

/// Which workloads a policy gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// None.
    #[default]
    Never,
    /// Those of strictly lower priority.
    LowerPriority,
    /// Also those of equal priority that were created later.
    LowerOrNewerEqualPriority,
    /// All.
    Any,
}

/// Preemption while borrowing: only of lower priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BorrowWithinCohort {
    /// The highest priority that may be preempted.
    pub threshold: Option<i64>,
}

/// When the search for a flavour stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fungibility {
    /// At one that needs borrowing (`whenCanBorrow: MayStopSearch`).
    pub stop_to_borrow: bool,
    /// At one that needs preemption (`whenCanPreempt: MayStopSearch`).
    pub stop_to_preempt: bool,
    /// Of several, less borrowing counts before less preemption (`preference: PreemptionOverBorrowing`).
    pub preempt_first: bool,
}

impl Default for Fungibility {
    fn default() -> Self {
        Self { stop_to_borrow: true, stop_to_preempt: false, preempt_first: false }
    }
}

/// A cohort.
#[derive(Debug, Clone)]
pub struct Cohort {
    /// Its name.
    pub name: String,
    /// The cohort above it.
    pub parent: Option<u32>,
    /// The weight of fair sharing.
    pub weight: f64,
    /// Quotas beside those of its children.
    pub quotas: Vec<Quota>,
}

impl Cohort {
    /// A cohort that is only a name: no quota, no parent.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), parent: None, weight: 1.0, quotas: Vec::new() }
    }
}
