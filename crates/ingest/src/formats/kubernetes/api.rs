//! From an object of the API to what it says.

use resched_tables::model::Ms;
use resched_tables::pods::{Label, Taint, Term, Toleration, as_text, terms_as_text};
use serde::de::DeserializeOwned;

use super::amounts;
use super::object::{self, Metadata, Object, or_default, time, time_of};
use super::seen::{Condition, Job, Kind, Node, Owner, Pod, PodSet, Seen, Shape, Stage, What, Workload};

/// Marks of the controllers that put pods together.
const GROUP_OF_PODS: &str = "kueue.x-k8s.io/pod-group-name";
const IS_GROUP: &str = "kueue.x-k8s.io/is-group-workload";
const QUEUE: &str = "kueue.x-k8s.io/queue-name";
const POD_SET: &str = "kueue.x-k8s.io/podset";
const JOB_SET: &str = "jobset.sigs.k8s.io/jobset-name";
const RAY_KIND: &str = "ray.io/originated-from-crd";
const RAY_NAME: &str = "ray.io/originated-from-cr-name";
const TRAINING_JOB: &str = "training.kubeflow.org/job-name";
const TRAINING_OPERATOR: &str = "training.kubeflow.org/operator-name";
const JOB_NAMES: [&str; 2] = ["batch.kubernetes.io/job-name", "job-name"];
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// Where Kueue's own classes of priorities are from, in `v1beta1`.
const CLASS_SOURCE: &str = "kueue.x-k8s.io/workloadpriorityclass";

/// The most pod sets of a Workload. The API has 8, or 10.
pub(crate) const MOST_SETS: usize = 64;

/// The owner of a Workload that stands for a group of pods.
pub(super) const POD_GROUP: &str = "PodGroup";

/// Something that is read from a text, and how many amounts in it are none.
pub(super) type Read<V> = (V, u64);

/// Where in a text the object stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// It is the text.
    Whole,
    /// In the event of a watch.
    Watched,
    /// What the server answered, in an event of an audit log.
    Answered,
    /// What it was asked, in the same.
    Requested,
}

/// What an object of a kind says; `None` for a kind that is not read.
///
/// # Errors
/// The error of the JSON.
pub(super) fn read(kind: &str, text: &[u8], place: Where) -> Result<Option<Read<Seen>>, serde_json::Error> {
    Ok(Some(match kind {
        "Workload" => of_workload(&parse(text, place)?),
        "Job" => job(&parse(text, place)?),
        "Pod" => pod(&parse(text, place)?),
        "Node" => node(&parse(text, place)?),
        _ => return Ok(None),
    }))
}

/// An object within another.
#[derive(serde::Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound = "V: DeserializeOwned + Default")]
struct Within<V> {
    #[serde(deserialize_with = "or_default")]
    object: V,
    #[serde(deserialize_with = "or_default")]
    response_object: V,
}

/// The same for what was asked: its answer may be of another kind.
#[derive(serde::Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound = "V: DeserializeOwned + Default")]
struct Request<V> {
    #[serde(deserialize_with = "or_default")]
    request_object: V,
}

fn parse<V: DeserializeOwned + Default>(text: &[u8], place: Where) -> Result<V, serde_json::Error> {
    Ok(match place {
        Where::Whole => serde_json::from_slice(text)?,
        Where::Watched => serde_json::from_slice::<Within<V>>(text)?.object,
        Where::Answered => serde_json::from_slice::<Within<V>>(text)?.response_object,
        Where::Requested => serde_json::from_slice::<Request<V>>(text)?.request_object,
    })
}

/// What all objects say.
fn seen<S, T>(object: &Object<S, T>, what: What) -> Seen {
    let metadata = &object.metadata;
    let version = metadata.resource_version.as_ref().and_then(|version| version.0.parse().ok());
    Seen {
        uid: metadata.uid.clone(),
        created: time_of(metadata.creation_timestamp.as_ref()),
        deleted: time_of(metadata.deletion_timestamp.as_ref()),
        version: version.unwrap_or(0),
        owner: owner(metadata),
        ..Seen::of(&metadata.namespace, &metadata.name, what)
    }
}

/// The controller among the owners, or else the first.
fn owner(metadata: &Metadata) -> Option<Owner> {
    let owners = &metadata.owner_references;
    let owner = owners.iter().find(|owner| owner.controller).or_else(|| owners.first())?;
    Some(Owner { kind: owner.kind.clone(), name: owner.name.clone(), uid: owner.uid.clone() })
        .filter(|owner| !owner.name.is_empty())
}

/// What stands for a pod or a Job in Kueue: the object at the top, as far as its labels and its owner say it.
fn top_owner(metadata: &Metadata) -> Option<Owner> {
    let named = |kind: &str, name: &str| {
        let of_owner = owner(metadata).filter(|owner| owner.kind == kind && owner.name == name);
        Some(of_owner.unwrap_or_else(|| Owner { kind: kind.to_owned(), name: name.to_owned(), uid: String::new() }))
    };
    if let Some(group) = metadata.label(GROUP_OF_PODS) {
        return named(POD_GROUP, group);
    }
    if let Some(name) = metadata.label(JOB_SET) {
        return named("JobSet", name);
    }
    if let (Some(kind), Some(name)) = (metadata.label(RAY_KIND), metadata.label(RAY_NAME)) {
        return named(kind, name);
    }
    if let (Some("mpi-operator"), Some(name)) = (metadata.label(TRAINING_OPERATOR), metadata.label(TRAINING_JOB)) {
        return named("MPIJob", name);
    }
    owner(metadata).or_else(|| JOB_NAMES.iter().find_map(|label| named("Job", metadata.label(label)?)))
}

/// What a Workload says.
pub(super) fn of_workload(object: &object::Workload) -> Read<Seen> {
    let (spec, status) = (&object.spec, &object.status);
    let assigned = status.admission.as_ref().map(|admission| &admission.pod_set_assignments);
    let mut unread = 0;
    let mut sets = Vec::new();
    // The API allows no more; without one, a Workload would ask for less than it did.
    unread += spec.pod_sets.len().saturating_sub(MOST_SETS) as u64;
    for set in spec.pod_sets.iter().take(MOST_SETS) {
        let (mut shape, of_set) = shape(&set.template.spec);
        unread += of_set;
        let assigned = assigned.and_then(|all| all.iter().find(|one| one.name == set.name));
        let count = set.count.unwrap_or(1);
        // What all its pods took is all that is known of some.
        let used = assigned.filter(|_| shape.asked.is_empty()).zip(assigned.and_then(|one| one.count));
        if let Some((one, pods)) = used.filter(|(_, pods)| *pods > 0) {
            let (usage, of_usage) = amounts::of_all(&one.resource_usage);
            unread += of_usage;
            shape.asked = usage.into_iter().map(|(resource, n)| (resource, n / pods)).collect();
        }
        shape.has_unread |= set.topology_request.is_some() || set.min_count.is_some();
        if count > 0 {
            sets.push(PodSet { name: set.name.clone(), count, shape });
        }
    }
    let stats = status.scheduling_stats.as_ref();
    let what = Workload {
        queue: spec.queue_name.clone().filter(|queue| !queue.is_empty()),
        priority: spec.priority,
        class: class(spec),
        is_active: spec.active,
        is_group: object.metadata.annotation(IS_GROUP) == Some("true"),
        sets,
        conditions: status.conditions.iter().filter_map(condition).collect(),
        cluster_queue: status.admission.as_ref().map(|admission| admission.cluster_queue.clone()),
        flavors: assigned.into_iter().flatten().map(|one| (one.name.clone(), flavors(one))).collect(),
        evictions: stats.map(|stats| stats.evictions.iter().map(|one| u64::from(one.count)).sum()),
        ran: status
            .accumulated_past_execution_time_seconds
            .and_then(|ran| ran.checked_mul(1_000))
            .filter(|&ran| ran >= 0),
    };
    (seen(object, What::Workload(Box::new(what))), unread)
}

/// The class among Kueue's own of a priority.
fn class(spec: &object::WorkloadSpec) -> Option<String> {
    let name = match (&spec.priority_class_ref, &spec.priority_class_source) {
        (Some(class), _) if class.kind == "WorkloadPriorityClass" => Some(&class.name),
        (None, Some(source)) if source == CLASS_SOURCE => spec.priority_class_name.as_ref(),
        _ => None,
    };
    name.filter(|name| !name.is_empty()).cloned()
}

fn flavors(assignment: &object::Assignment) -> String {
    let all = assignment.flavors.iter().map(|(resource, flavor)| format!("{resource}={flavor}"));
    all.collect::<Vec<_>>().join(",")
}

/// A condition of a Workload that is read.
pub(super) fn condition(condition: &object::Condition) -> Option<Condition> {
    Some(Condition {
        kind: Kind::named(&condition.r#type)?,
        is: match condition.status.as_str() {
            "True" => true,
            "False" => false,
            _ => return None,
        },
        time: time_of(condition.last_transition_time.as_ref())?,
        exact: None,
        is_hint: false,
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    })
}

fn shape(spec: &object::PodSpec) -> Read<Shape> {
    let (asked, unread) = amounts::of_pod(spec);
    let tolerations = spec.tolerations.iter().map(|one| Toleration {
        key: one.key.clone(),
        value: (one.operator != "Exists").then(|| one.value.clone()),
        effect: one.effect.clone(),
    });
    let labels = spec.node_selector.iter().map(|(key, value)| Label(key, &value.0));
    let (affinity, has_unread) = affinity(&spec.affinity);
    let spreads = spec.topology_spread_constraints.as_ref().is_some_and(|all| !all.is_empty());
    let shape = Shape {
        asked,
        node_selector: as_text(labels),
        tolerations: as_text(tolerations),
        affinity,
        has_unread: has_unread || spreads,
    };
    (shape, unread)
}

/// The node affinity that a pod requires, as a text, and whether it asks for more.
fn affinity(affinity: &object::Affinity) -> (Option<String>, bool) {
    let of_node = &affinity.node_affinity;
    let terms = &of_node.required_during_scheduling_ignored_during_execution.node_selector_terms;
    let is_read = terms.iter().all(|term| term.match_fields.as_ref().is_none_or(Vec::is_empty));
    let read = terms.iter().map(|term| Term { match_expressions: term.match_expressions.clone() });
    let required: Vec<Term> = read.filter(|_| is_read).collect();
    let prefers =
        of_node.preferred_during_scheduling_ignored_during_execution.as_ref().is_some_and(|all| !all.is_empty());
    let of_pods = [&affinity.pod_affinity, &affinity.pod_anti_affinity];
    let asks_for_pods = of_pods.iter().any(|one| one.as_ref().is_some_and(|one| !one.is_empty()));
    (terms_as_text(&required), prefers || asks_for_pods || !is_read)
}

fn job(object: &object::Job) -> Read<Seen> {
    let (spec, status) = (&object.spec, &object.status);
    let (shape, unread) = shape(&spec.template.spec);
    let ended = status
        .conditions
        .iter()
        .find(|one| one.status == "True" && ["Complete", "Failed"].contains(&one.r#type.as_str()));
    let at_once = spec.parallelism.unwrap_or(1);
    let what = Job {
        queue: object.metadata.label(QUEUE).map(str::to_owned),
        has_labels: !object.metadata.uid.is_empty(),
        pods: Some(spec.completions.map_or(at_once, |all| at_once.min(all))).filter(|&pods| pods > 0),
        shape,
        start: time_of(status.start_time.as_ref()),
        end: time_of(status.completion_time.as_ref())
            .or_else(|| time_of(ended.and_then(|one| one.last_transition_time.as_ref()))),
        succeeded: ended.map(|one| one.r#type == "Complete"),
    };
    let mut seen = seen(object, What::Job("Job".to_owned(), Box::new(what)));
    seen.owner = top_owner(&object.metadata);
    (seen, unread)
}

fn pod(object: &object::Pod) -> Read<Seen> {
    let (spec, status) = (&object.spec, &object.status);
    let (mut shape, unread) = shape(spec);
    let metadata = &object.metadata;
    let what = Pod {
        set: metadata.label(POD_SET).map(str::to_owned),
        index: metadata.annotation(INDEX).or_else(|| metadata.label(INDEX)).map(str::to_owned),
        priority: spec.priority,
        node: Some(spec.node_name.clone()).filter(|node| !node.is_empty()),
        asked: [(String::new(), std::mem::take(&mut shape.asked))].into(),
        shape,
        ..of_status(status)
    };
    let mut seen = seen(object, What::Pod(Box::new(what)));
    seen.owner = top_owner(metadata);
    (seen, unread)
}

/// What the status of a pod says, or a part of it.
pub(super) fn of_status(status: &object::PodStatus) -> Pod {
    let is = |kind: &str, is: &str| status.conditions.iter().find(|one| one.r#type == kind && one.status == is);
    let since = |one: &object::Condition| time_of(one.last_transition_time.as_ref());
    let target = is("DisruptionTarget", "True");
    let stage = match (status.phase.as_str(), target.map(|one| one.reason.as_str())) {
        (_, Some("DeletionByTaintManager" | "DeletionByPodGC")) => Stage::Lost,
        ("Failed" | "Running" | "Pending" | "", Some(_)) => Stage::Evicted,
        ("Failed", None) if status.reason == "Evicted" || status.reason == "Preempting" => Stage::Evicted,
        ("Failed", None) if status.reason == "NodeLost" => Stage::Lost,
        ("Succeeded", _) => Stage::Succeeded,
        ("Failed", _) => Stage::Failed,
        ("Running", _) => Stage::Running,
        ("Pending", _) => Stage::Pending,
        _ => Stage::Unknown,
    };
    let has_ended = stage > Stage::Running;
    Pod {
        scheduled: is("PodScheduled", "True").and_then(since).or_else(|| time_of(status.start_time.as_ref())),
        end: end(status).or_else(|| since(target?)).or_else(|| since(is("Ready", "False")?)).filter(|_| has_ended),
        stage,
        why: why(status, target).filter(|_| has_ended),
        waits: is("PodScheduled", "False").map(|one| one.message.clone()),
        ..Pod::default()
    }
}

/// When the last container of a pod ended, if all have.
fn end(status: &object::PodStatus) -> Option<Ms> {
    let ends = status.container_statuses.iter().map(|one| time(one.state.terminated.as_ref()?.finished_at.as_ref()?));
    ends.collect::<Option<Vec<Ms>>>()?.into_iter().max()
}

/// Why a pod was ended or failed.
fn why(status: &object::PodStatus, target: Option<&object::Condition>) -> Option<String> {
    let of_container = || {
        let ended = status.container_statuses.iter().filter_map(|one| one.state.terminated.as_ref());
        let mut reasons = ended.map(|one| &one.reason).filter(|reason| !reason.is_empty() && *reason != "Completed");
        reasons.next().cloned()
    };
    let of_target = target.map(|one| format!("{}: {}", one.reason, one.message));
    let of_pod =
        Some([status.reason.as_str(), status.message.as_str()].join(": ")).filter(|_| !status.reason.is_empty());
    of_target.or(of_pod).or_else(of_container).map(|text| text.trim_end_matches(": ").to_owned())
}

fn node(object: &object::Node) -> Read<Seen> {
    let (allocatable, unread) = amounts::of_all(&object.status.allocatable);
    let taints = object.spec.taints.iter();
    let taint =
        |one: &object::Taint| Taint { key: one.key.clone(), value: one.value.clone(), effect: one.effect.clone() };
    let what = Node {
        allocatable,
        labels: object.metadata.labels.iter().map(|(key, value)| (key.clone(), value.0.clone())).collect(),
        taints: as_text(taints.map(taint)),
        is_cordoned: object.spec.unschedulable,
    };
    (seen(object, What::Node(Box::new(what))), unread)
}
