//! Events of the audit log of an API server: what was created, changed, bound and deleted, and when.
//!
//! Only a log of the level `RequestResponse` has the objects. A request that failed, or that is not complete yet, changed nothing.

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::Value;

use super::api::{self, Read, Where};
use super::object::{self, ObjectRef, or_default, time_of};
use super::seen::{Job, Kind, Node, Pod, Seen, Stage, What, Workload};

/// Kinds whose creation is kept, by the resource of their requests: their user is that of their Workload.
const OWNERS: [(&str, &str); 14] = [
    ("jobs", "Job"),
    ("jobsets", "JobSet"),
    ("rayjobs", "RayJob"),
    ("rayclusters", "RayCluster"),
    ("rayservices", "RayService"),
    ("pytorchjobs", "PyTorchJob"),
    ("tfjobs", "TFJob"),
    ("mpijobs", "MPIJob"),
    ("xgboostjobs", "XGBoostJob"),
    ("paddlejobs", "PaddleJob"),
    ("jaxjobs", "JAXJob"),
    ("trainjobs", "TrainJob"),
    ("leaderworkersets", "LeaderWorkerSet"),
    ("appwrappers", "AppWrapper"),
];
/// A change is that of a condition if it came so soon after it, ms.
const SOON: i64 = 2_000;

/// What an event is for.
#[derive(Debug)]
pub(super) enum Heard {
    /// It says something of an object.
    Of(Box<Read<Seen>>),
    /// It changed an object, and the level of the log is too low to show how.
    WithoutObject,
    /// It is about something else, or changed nothing.
    Other,
}

/// An event, with the objects of its request and its response read as `V`.
#[derive(serde::Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound = "V: DeserializeOwned + Default")]
struct Event<V> {
    #[serde(deserialize_with = "or_default")]
    verb: String,
    #[serde(deserialize_with = "or_default")]
    user: User,
    #[serde(deserialize_with = "or_default")]
    object_ref: ObjectRef,
    #[serde(deserialize_with = "or_default")]
    response_status: ResponseStatus,
    request_received_timestamp: Option<String>,
    stage_timestamp: Option<String>,
    /// A patch may be a list of operations.
    #[serde(deserialize_with = "if_object")]
    request_object: Option<V>,
    response_object: Option<V>,
}

/// The value if it is an object of that shape.
fn if_object<'de, D: Deserializer<'de>, V: DeserializeOwned>(deserializer: D) -> Result<Option<V>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?.filter(Value::is_object);
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct User {
    #[serde(deserialize_with = "or_default")]
    username: String,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct ResponseStatus {
    code: Option<i64>,
}

/// What a request said of where a pod goes.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Binding {
    #[serde(deserialize_with = "or_default")]
    target: Target,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Target {
    #[serde(deserialize_with = "or_default")]
    name: String,
}

impl<V> Event<V> {
    /// When it happened: the request came, and changed the object at once.
    fn at(&self) -> Option<i64> {
        time_of(self.request_received_timestamp.as_ref()).or_else(|| time_of(self.stage_timestamp.as_ref()))
    }

    fn failed(&self) -> bool {
        self.response_status.code.is_some_and(|code| !(200..300).contains(&code))
    }

    /// What is said of the object without its content.
    fn bare(&self, what: What) -> Seen {
        let about = &self.object_ref;
        let at = self.at();
        let is = |verb: &str| self.verb == verb && about.subresource.is_empty();
        Seen {
            uid: about.uid.clone(),
            at,
            created: at.filter(|_| is("create")),
            is_birth: is("create"),
            deleted: at.filter(|_| is("delete")),
            user: Some(self.user.username.clone()).filter(|user| is("create") && !user.is_empty()),
            ..Seen::of(&about.namespace, &about.name, what)
        }
    }

    /// The same with what its content says.
    fn with(&self, content: Seen) -> Seen {
        let bare = self.bare(content.what.clone());
        let or = |first: String, other: String| if first.is_empty() { other } else { first };
        Seen {
            namespace: or(content.namespace, bare.namespace),
            name: or(content.name, bare.name),
            uid: or(content.uid, bare.uid),
            created: content.created.or(bare.created),
            deleted: bare.deleted.or(content.deleted),
            version: content.version,
            owner: content.owner,
            ..bare
        }
    }
}

/// What an event says, by the object that it is about.
///
/// # Errors
/// The error of the JSON.
pub(super) fn read(about: &ObjectRef, text: &[u8]) -> Result<Heard, serde_json::Error> {
    let kind = match (about.resource.as_str(), about.subresource.as_str()) {
        ("pods", "binding") => return Ok(binding(&serde_json::from_slice(text)?)),
        ("pods", "eviction") => return Ok(eviction(&serde_json::from_slice(text)?)),
        ("workloads", "" | "status") => "Workload",
        ("pods", "" | "status") => "Pod",
        ("jobs", "" | "status") => "Job",
        ("nodes", "") => "Node",
        (resource, "") => match OWNERS.iter().find(|(owner, _)| *owner == resource) {
            Some((_, kind)) => kind,
            None => return Ok(Heard::Other),
        },
        _ => return Ok(Heard::Other),
    };
    let event: Event<Bare> = serde_json::from_slice(text)?;
    if event.failed() || !changes(&event.verb) {
        return Ok(Heard::Other);
    }
    match kind {
        "Workload" => workload(&event, text),
        "Pod" => pod(&event, text),
        "Node" => node(&event, text),
        kind => job(&event, text, kind),
    }
}

/// The verbs that change an object.
fn changes(verb: &str) -> bool {
    ["create", "update", "patch", "delete"].contains(&verb)
}

fn heard(seen: Seen, unread: u64) -> Heard {
    if seen.name.is_empty() { Heard::Other } else { Heard::Of(Box::new((seen, unread))) }
}

fn workload(event: &Event<Bare>, text: &[u8]) -> Result<Heard, serde_json::Error> {
    if let Some((mut seen, unread)) = of_object(event, text, "Workload")? {
        if let (What::Workload(workload), Some(at)) = (&mut seen.what, event.at()) {
            refine(workload, at);
        }
        return Ok(heard(seen, unread));
    }
    let is_known = ["create", "delete"].contains(&event.verb.as_str());
    let bare = event.bare(What::Workload(Box::default()));
    Ok(if is_known { heard(bare, 0) } else { Heard::WithoutObject })
}

/// Gives the conditions that this change wrote its time, which is finer than theirs.
fn refine(workload: &mut Workload, at: i64) {
    let is_own = |time: i64| time <= at && at < time + SOON;
    for condition in workload.conditions.iter_mut().filter(|condition| is_own(condition.time)) {
        // The requeue is compared with whole seconds.
        if condition.kind != Kind::Requeued {
            condition.exact = Some(at);
        }
    }
}

fn binding(event: &Event<Binding>) -> Heard {
    let is_one = event.verb == "create" && !event.failed();
    let target = event.request_object.as_ref().map(|binding| binding.target.name.clone());
    match target.filter(|name| is_one && !name.is_empty()) {
        Some(node) => {
            let pod = Pod { node: Some(node), scheduled: event.at(), ..Pod::default() };
            heard(event.bare(What::Pod(Box::new(pod))), 0)
        }
        None if is_one => Heard::WithoutObject,
        None => Heard::Other,
    }
}

fn eviction(event: &Event<object::Nothing>) -> Heard {
    if event.verb != "create" || event.failed() {
        return Heard::Other;
    }
    let pod =
        Pod { stage: Stage::Evicted, end: event.at(), why: Some("EvictionByEvictionAPI".to_owned()), ..Pod::default() };
    heard(event.bare(What::Pod(Box::new(pod))), 0)
}

/// What a request says: the object of its response, if it is whole, or that of its request. A patch has a part of one.
fn of_object(event: &Event<Bare>, text: &[u8], kind: &str) -> Result<Option<Read<Seen>>, serde_json::Error> {
    let is_answered = event.response_object.as_ref().is_some_and(|object| !object.metadata.name.is_empty());
    let content = match (is_answered, &event.request_object) {
        _ if event.verb == "delete" => None,
        (true, _) => api::read(kind, text, Where::Answered)?,
        (false, Some(_)) => api::read(kind, text, Where::Requested).ok().flatten(),
        (false, None) => None,
    };
    Ok(content.map(|(content, unread)| (event.with(content), unread)))
}

/// An object of which only the name is read.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Bare {
    #[serde(deserialize_with = "or_default")]
    metadata: object::Metadata,
}

fn pod(event: &Event<Bare>, text: &[u8]) -> Result<Heard, serde_json::Error> {
    if let Some((seen, unread)) = of_object(event, text, "Pod")? {
        return Ok(heard(seen, unread));
    }
    let is_known = ["create", "delete"].contains(&event.verb.as_str());
    Ok(if is_known { heard(event.bare(What::Pod(Box::default())), 0) } else { Heard::WithoutObject })
}

fn job(event: &Event<Bare>, text: &[u8], kind: &str) -> Result<Heard, serde_json::Error> {
    match of_object(event, text, kind)? {
        Some((seen, unread)) => Ok(heard(seen, unread)),
        None => Ok(owner(event, kind)),
    }
}

/// Who created an object that has a Workload, and when it was deleted.
fn owner(event: &Event<Bare>, kind: &str) -> Heard {
    let is_known = ["create", "delete"].contains(&event.verb.as_str());
    if !is_known {
        return Heard::Other;
    }
    let bare = event.bare(What::Job(kind.to_owned(), Box::<Job>::default()));
    let named = event.response_object.as_ref().map(|object| object.metadata.name.clone());
    let name = if bare.name.is_empty() { named.unwrap_or_default() } else { bare.name.clone() };
    heard(Seen { name, ..bare }, 0)
}

fn node(event: &Event<Bare>, text: &[u8]) -> Result<Heard, serde_json::Error> {
    let is_known = ["create", "delete"].contains(&event.verb.as_str());
    if !is_known {
        return Ok(Heard::Other);
    }
    Ok(match of_object(event, text, "Node")? {
        Some((seen, unread)) => heard(seen, unread),
        None => heard(event.bare(What::Node(Box::<Node>::default())), 0),
    })
}
