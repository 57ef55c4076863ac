//! The objects of Kubernetes' API, as far as they are read: of each, the fields that say when and where something ran.
//!
//! `v1beta1` and `v1beta2` of Kueue differ in names that are not needed here, except the class of a priority.

use std::collections::BTreeMap;
use std::fmt;

use resched_tables::pods::Expression;
use serde::de::{Deserialize, Deserializer, IgnoredAny, Visitor};

/// An object of the API.
#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, bound = "S: Deserialize<'de> + Default, T: Deserialize<'de> + Default")]
pub(super) struct Object<S, T> {
    pub(super) metadata: Metadata,
    #[serde(deserialize_with = "or_default")]
    pub(super) spec: S,
    #[serde(deserialize_with = "or_default")]
    pub(super) status: T,
}

pub(super) type Workload = Object<WorkloadSpec, WorkloadStatus>;
pub(super) type Job = Object<JobSpec, JobStatus>;
pub(super) type Pod = Object<PodSpec, PodStatus>;
pub(super) type Node = Object<NodeSpec, NodeStatus>;
pub(super) type LocalQueue = Object<LocalQueueSpec, Nothing>;

/// A part that is not read.
#[derive(serde::Deserialize, Debug, Default)]
pub(super) struct Nothing {}

/// What a text says about itself, whatever it is.
#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Head {
    pub(super) kind: Option<String>,
    pub(super) api_version: Option<String>,
    /// Of an event of a watch: `ADDED`, `MODIFIED`, `DELETED`.
    pub(super) r#type: Option<String>,
    pub(super) object: Option<Inner>,
    /// Of an event of an audit log.
    #[serde(rename = "auditID")]
    pub(super) audit_id: Option<IgnoredAny>,
    pub(super) stage: Option<String>,
    pub(super) object_ref: Option<ObjectRef>,
}

/// The object within an event of a watch.
#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct Inner {
    pub(super) kind: Option<String>,
}

/// The object that an event of an audit log is about.
#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct ObjectRef {
    #[serde(deserialize_with = "or_default")]
    pub(super) resource: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) subresource: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) namespace: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) uid: String,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) namespace: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) uid: String,
    pub(super) resource_version: Option<Amount>,
    pub(super) creation_timestamp: Option<String>,
    pub(super) deletion_timestamp: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) labels: BTreeMap<String, Amount>,
    #[serde(deserialize_with = "or_default")]
    pub(super) annotations: BTreeMap<String, Amount>,
    #[serde(deserialize_with = "or_default")]
    pub(super) owner_references: Vec<OwnerReference>,
}

impl Metadata {
    /// The value of a label; `None` if it is empty, too.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(|value| value.0.as_str()).filter(|value| !value.is_empty())
    }

    /// The same for an annotation.
    pub(super) fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.get(name).map(|value| value.0.as_str()).filter(|value| !value.is_empty())
    }
}

#[derive(serde::Deserialize, Debug, Default, Clone)]
#[serde(default)]
pub(super) struct OwnerReference {
    #[serde(deserialize_with = "or_default")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) uid: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) controller: bool,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Condition {
    #[serde(deserialize_with = "or_default")]
    pub(super) r#type: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) status: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) reason: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) message: String,
    pub(super) last_transition_time: Option<String>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WorkloadSpec {
    pub(super) queue_name: Option<String>,
    pub(super) priority: Option<i64>,
    pub(super) priority_class_ref: Option<ClassRef>,
    /// The class and where it is from, in `v1beta1`.
    pub(super) priority_class_name: Option<String>,
    pub(super) priority_class_source: Option<String>,
    pub(super) active: Option<bool>,
    #[serde(deserialize_with = "or_default")]
    pub(super) pod_sets: Vec<PodSet>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct ClassRef {
    #[serde(deserialize_with = "or_default")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PodSet {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    pub(super) count: Option<i64>,
    pub(super) min_count: Option<i64>,
    pub(super) topology_request: Option<IgnoredAny>,
    #[serde(deserialize_with = "or_default")]
    pub(super) template: Template,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct Template {
    #[serde(deserialize_with = "or_default")]
    pub(super) spec: PodSpec,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WorkloadStatus {
    #[serde(deserialize_with = "or_default")]
    pub(super) conditions: Vec<Condition>,
    pub(super) admission: Option<Admission>,
    pub(super) accumulated_past_execution_time_seconds: Option<i64>,
    pub(super) scheduling_stats: Option<SchedulingStats>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Admission {
    #[serde(deserialize_with = "or_default")]
    pub(super) cluster_queue: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) pod_set_assignments: Vec<Assignment>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Assignment {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    pub(super) count: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    pub(super) flavors: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) resource_usage: Amounts,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct SchedulingStats {
    #[serde(deserialize_with = "or_default")]
    pub(super) evictions: Vec<Evictions>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct Evictions {
    #[serde(deserialize_with = "or_default")]
    pub(super) count: u32,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct JobSpec {
    pub(super) parallelism: Option<i64>,
    pub(super) completions: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    pub(super) template: Template,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct JobStatus {
    pub(super) start_time: Option<String>,
    pub(super) completion_time: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) conditions: Vec<Condition>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PodSpec {
    #[serde(deserialize_with = "or_default")]
    pub(super) containers: Vec<Container>,
    #[serde(deserialize_with = "or_default")]
    pub(super) init_containers: Vec<Container>,
    #[serde(deserialize_with = "or_default")]
    pub(super) overhead: Amounts,
    /// What the pod asks for as a whole, which stands before its containers.
    #[serde(deserialize_with = "or_default")]
    pub(super) resources: Resources,
    #[serde(deserialize_with = "or_default")]
    pub(super) node_selector: BTreeMap<String, Amount>,
    #[serde(deserialize_with = "or_default")]
    pub(super) tolerations: Vec<Toleration>,
    #[serde(deserialize_with = "or_default")]
    pub(super) affinity: Affinity,
    pub(super) topology_spread_constraints: Option<Vec<IgnoredAny>>,
    #[serde(deserialize_with = "or_default")]
    pub(super) node_name: String,
    pub(super) priority: Option<i64>,
}

/// What a pod asks of its place. Of its node, only what it requires is read.
#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Affinity {
    #[serde(deserialize_with = "or_default")]
    pub(super) node_affinity: NodeAffinity,
    pub(super) pod_affinity: Option<BTreeMap<String, IgnoredAny>>,
    pub(super) pod_anti_affinity: Option<BTreeMap<String, IgnoredAny>>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct NodeAffinity {
    #[serde(deserialize_with = "or_default")]
    pub(super) required_during_scheduling_ignored_during_execution: NodeSelector,
    pub(super) preferred_during_scheduling_ignored_during_execution: Option<Vec<IgnoredAny>>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct NodeSelector {
    #[serde(deserialize_with = "or_default")]
    pub(super) node_selector_terms: Vec<NodeTerm>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct NodeTerm {
    #[serde(deserialize_with = "or_default")]
    pub(super) match_expressions: Vec<Expression>,
    /// Fields of the node in place of labels.
    pub(super) match_fields: Option<Vec<IgnoredAny>>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Container {
    #[serde(deserialize_with = "or_default")]
    pub(super) resources: Resources,
    pub(super) restart_policy: Option<String>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct Resources {
    #[serde(deserialize_with = "or_default")]
    pub(super) requests: Amounts,
    #[serde(deserialize_with = "or_default")]
    pub(super) limits: Amounts,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct Toleration {
    #[serde(deserialize_with = "or_default")]
    pub(super) key: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) operator: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) value: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) effect: String,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PodStatus {
    #[serde(deserialize_with = "or_default")]
    pub(super) phase: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) reason: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) message: String,
    pub(super) start_time: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) conditions: Vec<Condition>,
    #[serde(deserialize_with = "or_default")]
    pub(super) container_statuses: Vec<ContainerStatus>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct ContainerStatus {
    #[serde(deserialize_with = "or_default")]
    pub(super) state: ContainerState,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct ContainerState {
    pub(super) terminated: Option<Terminated>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Terminated {
    pub(super) finished_at: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) reason: String,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct NodeSpec {
    #[serde(deserialize_with = "or_default")]
    pub(super) taints: Vec<Taint>,
    #[serde(deserialize_with = "or_default")]
    pub(super) unschedulable: bool,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct Taint {
    #[serde(deserialize_with = "or_default")]
    pub(super) key: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) value: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) effect: String,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct NodeStatus {
    #[serde(deserialize_with = "or_default")]
    pub(super) allocatable: Amounts,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct LocalQueueSpec {
    #[serde(deserialize_with = "or_default")]
    pub(super) cluster_queue: String,
}

/// What an event of Kubernetes (`kubectl get events`) says of an object.
#[derive(serde::Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Event {
    pub(super) involved_object: InvolvedObject,
    #[serde(deserialize_with = "or_default")]
    pub(super) reason: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) message: String,
    pub(super) first_timestamp: Option<String>,
    pub(super) last_timestamp: Option<String>,
    pub(super) event_time: Option<String>,
}

#[derive(serde::Deserialize, Debug, Default)]
#[serde(default)]
pub(super) struct InvolvedObject {
    #[serde(deserialize_with = "or_default")]
    pub(super) kind: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) namespace: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) uid: String,
}

/// Amounts by resource.
pub(super) type Amounts = BTreeMap<String, Amount>;

/// An amount as Kubernetes writes it, or another short value: a text, or a number as one.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Amount(pub(super) String);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor).map(Self)
    }
}

struct AmountVisitor;

impl Visitor<'_> for AmountVisitor {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or a number")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_u64<E>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_i64<E>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_f64<E>(self, number: f64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_bool<E>(self, is: bool) -> Result<String, E> {
        Ok(is.to_string())
    }

    fn visit_unit<E>(self) -> Result<String, E> {
        Ok(String::new())
    }
}

/// The value, or its default for `null`.
pub(super) fn or_default<'de, D: Deserializer<'de>, V: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<V, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A time as the API writes it (RFC 3339), ms since the epoch; finer parts are cut. `None` for anything else.
pub(super) fn time(text: &str) -> Option<i64> {
    let at = humantime::parse_rfc3339(text).ok()?;
    i64::try_from(at.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// The same of a field that may be absent.
pub(super) fn time_of(text: Option<&String>) -> Option<i64> {
    time(text?)
}
