//! What a site says of its nodes and pods.

use std::collections::BTreeMap;

/// Whom a taint keeps away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Pods that do not tolerate it are not placed here.
    NoSchedule,
    /// Pods that do not tolerate it are placed elsewhere if they can.
    PreferNoSchedule,
    /// As `NoSchedule`; pods that run here already are evicted, which is not covered.
    NoExecute,
}

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// Its key, such as `nvidia.com/gpu`.
    pub key: String,
    /// Its value, often empty.
    pub value: String,
    /// Whom it keeps away.
    pub effect: Effect,
}

/// A toleration of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Toleration {
    /// The key of the taints; empty stands for all keys, with `any_value` alone.
    pub key: String,
    /// The value of the taints, unless `any_value`.
    pub value: String,
    /// The operator `Exists`: whatever the value is.
    pub any_value: bool,
    /// The effect of the taints; none stands for all.
    pub effect: Option<Effect>,
}

/// How a [`Requirement`] looks at a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The value is one of those.
    In,
    /// The value is none of those, or the label is missing.
    NotIn,
    /// The label exists.
    Exists,
    /// The label is missing.
    DoesNotExist,
    /// The value is a whole number above the one given.
    Gt,
    /// The value is a whole number below the one given.
    Lt,
}

/// A condition on one label of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// The label; `metadata.name` with `of_name` stands for the name of the node.
    pub key: String,
    /// True if this is a condition on the name of the node (`matchFields`).
    pub of_name: bool,
    /// How it looks at the label.
    pub operator: Operator,
    /// The values it compares with.
    pub values: Vec<String>,
}

/// Conditions that hold together. A term without conditions holds nowhere.
pub type Term = Vec<Requirement>;

/// A node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeSpec {
    /// Its name, unique among the nodes that are there.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its taints. A cordoned node has `node.kubernetes.io/unschedulable` among them.
    pub taints: Vec<Taint>,
    /// What pods can take: `cpu` in thousandths, `memory` in bytes, others in units.
    pub allocatable: Vec<(String, i64)>,
    /// How many pods it takes.
    pub pods: u32,
}

/// A pod, or rather all pods that look like it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodSpec {
    /// What it asks for, summed over its containers; units as in [`NodeSpec::allocatable`].
    pub requests: Vec<(String, i64)>,
    /// How many of its containers name no cpu. Scores count each as 100m.
    pub without_cpu: u32,
    /// How many of its containers name no memory. Scores count each as 200 MiB.
    pub without_memory: u32,
    /// Its priority.
    pub priority: i32,
    /// Its preemption policy is `Never`.
    pub never_preempts: bool,
    /// The taints it tolerates.
    pub tolerations: Vec<Toleration>,
    /// The labels that a node must have.
    pub selector: Vec<(String, String)>,
    /// Node affinity: one of these terms must hold, if there are any.
    pub required: Vec<Term>,
    /// Node affinity: each term that holds adds its weight.
    pub preferred: Vec<(i32, Term)>,
}
