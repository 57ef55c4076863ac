//! Histories of Kubernetes' batch jobs: what `kubectl get … -o json` shows, kept watches, audit logs, and kube-state-metrics.
//!
//! ```text
//! list, watch ──▶ pieces ──▶ api ────┐
//! audit log ────▶ pieces ──▶ audit ──┼──▶ Seen ──▶ store: lives of objects ──▶ join ──▶ records
//! events ───────▶ pieces ──▶ events ─┤
//! metrics ──────▶ lines ───▶ metrics ┘
//! ```
//!
//! An object of the API has its last state alone, so several sources are read together: `store` brings together what they say of each
//! object. `docs/formats/kubernetes.md` has each field and what it hides.

mod amounts;
mod api;
mod audit;
mod events;
mod incarnations;
mod join;
mod metrics;
mod nodes;
mod object;
mod pieces;
mod pod;
mod records;
mod seen;
mod store;
#[cfg(test)]
mod tests;
mod workload;

use std::io::BufRead;
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::sink::{Damage, Sink};

use self::api::Where;
use self::audit::Heard;
use self::object::Head;
use self::pieces::{Piece, Pieces, value_of};
use self::store::Cluster;
use super::format::{Format, ReadAs};
use super::json::first_byte;
use super::lines::{Line, Lines, head_lines};

pub(crate) use self::api::MOST_SETS;
pub(crate) use self::nodes::MOST_NODES;
pub(crate) use self::store::{LONGEST_NAME, MOST_QUEUES, MOST_SEEN};

/// Objects of Kubernetes.
pub const FORMAT: Format = Format {
    name: "kubernetes",
    title: "history of Kubernetes (objects, audit log or metrics)",
    time_zero: Some(resched_tables::store::TimeZero::Epoch),
    system: Some(resched_tables::store::System::Kubernetes),
    has_tasks: true,
    group: "kubernetes",
    is_whole: false,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// The most bytes of an object, or of an event of an audit log.
pub(crate) const MAX_OBJECT: usize = 8 << 20;
/// The longest line of metrics.
pub(crate) const MAX_LINE: usize = 1 << 20;
/// Kinds of the configuration of a site.
const OF_SITE: [&str; 7] = [
    "ClusterQueue",
    "Cohort",
    "ResourceFlavor",
    "WorkloadPriorityClass",
    "Topology",
    "AdmissionCheck",
    "PriorityClass",
];

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["metadata.namespace", "metadata.name"]),
    ("jobs.name", &["metadata.ownerReferences", "metadata.name"]),
    ("jobs.user", &["user.username"]),
    ("jobs.queue", &["spec.queueName", "kueue.x-k8s.io/queue-name"]),
    ("jobs.group", &["metadata.namespace"]),
    ("jobs.priority_number", &["spec.priority"]),
    ("jobs.qos", &["spec.priorityClassRef", "spec.priorityClassName"]),
    ("jobs.framework", &["metadata.ownerReferences"]),
    (
        "jobs.submit",
        &["metadata.creationTimestamp", "requestReceivedTimestamp", "kube_pod_created", "kube_job_created"],
    ),
    ("jobs.launch", &["Admitted", "Requeued", "PodScheduled", "kube_pod_status_scheduled_time"]),
    (
        "jobs.finish",
        &["Finished", "finishedAt", "completionTime", "kube_pod_completion_time", "kube_job_status_completion_time"],
    ),
    ("jobs.outcome", &["Finished", "phase", "Complete", "Failed"]),
    ("jobs.wait_reason", &["QuotaReserved", "PodScheduled"]),
    ("tasks.stage", &["spec.podSets"]),
    ("tasks.start", &["Admitted", "Requeued", "PodScheduled", "kube_pod_status_scheduled_time"]),
    ("tasks.finish", &["Finished", "finishedAt", "kube_pod_completion_time"]),
    ("tasks.outcome", &["Finished", "phase"]),
    ("tasks.instances", &["spec.podSets", "parallelism"]),
    ("tasks.cpu_request", &["resources", "kube_pod_container_resource_requests"]),
    ("tasks.memory_request", &["resources", "kube_pod_container_resource_requests"]),
    ("tasks.resources", &["resources", "kube_pod_container_resource_requests"]),
    ("tasks.node_selector", &["nodeSelector"]),
    ("tasks.tolerations", &["tolerations"]),
    ("tasks.affinity", &["affinity"]),
    ("attempts.queued", &["metadata.creationTimestamp", "Requeued", "Evicted", "kube_pod_created"]),
    ("attempts.start", &["Admitted", "Requeued", "PodScheduled", "kube_pod_status_scheduled_time"]),
    ("attempts.finish", &["Finished", "Evicted", "Requeued", "finishedAt", "kube_pod_completion_time"]),
    ("attempts.run_time", &["accumulatedPastExecutionTimeSeconds"]),
    ("attempts.outcome", &["Finished", "Evicted", "phase"]),
    ("attempts.host", &["nodeName", "kube_pod_info"]),
    ("attempts.hosts", &["nodeName"]),
    ("attempts.error", &["Preempted", "Evicted", "DisruptionTarget", "terminated"]),
    ("attempts.flavors", &["podSetAssignments"]),
    ("nodes.host", &["metadata.name", "kube_node_status_allocatable"]),
    ("nodes.time", &["metadata.creationTimestamp", "requestReceivedTimestamp"]),
    ("nodes.cpu", &["allocatable", "kube_node_status_allocatable"]),
    ("nodes.memory", &["allocatable", "kube_node_status_allocatable"]),
    ("nodes.resources", &["allocatable", "kube_node_status_allocatable"]),
    ("nodes.features", &["metadata.labels"]),
    ("nodes.taints", &["taints"]),
];

/// Objects have a version of the API and a kind; other lists in JSON have other keys.
fn sniff(head: &[u8]) -> bool {
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(b'{' | b'[') => {
            let version = value_of(head, "\"apiVersion\"").unwrap_or_default();
            let is_own = |version: &str| version == "v1" || version == "batch/v1" || version.contains("k8s.io/");
            let has_kind = value_of(head, "\"kind\"").is_some() || memchr::memmem::find(head, b"\"items\"").is_some();
            (is_own(version) && has_kind) || memchr::memmem::find(head, b"audit.k8s.io/").is_some()
        }
        _ => {
            let lines = head_lines(head);
            lines.iter().any(|line| metrics::PREFIXES.iter().any(|prefix| line.starts_with(prefix)))
        }
    }
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut cluster = store::begin(sink);
    let before = cluster.taken();
    let first = first_byte(input).map_err(Error::io(Path::new(path), "read"))?;
    let result = match first {
        Some(b'{' | b'[') => read_objects(&mut cluster, input, path, sink),
        _ => read_metrics(&mut cluster, input, path, sink),
    };
    store::end(cluster, before, sink)?;
    result
}

fn read_objects(cluster: &mut Cluster, input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut pieces = Pieces::new(input, MAX_OBJECT);
    let mut of_site = 0;
    while let Some(piece) = pieces.next().map_err(Error::io(Path::new(path), "read"))? {
        let Piece::Object { line, kind, text } = piece else {
            sink.skip(cause::DAMAGED_RECORD, 1);
            continue;
        };
        let taken = serde_json::from_slice::<Head>(text).and_then(|head| of_head(&head, kind, text));
        match taken {
            Ok(Taken::Seen(seen)) => {
                for (seen, unread) in seen {
                    sink.skip(cause::REQUEST_NOT_READ, unread);
                    cluster.take(seen, sink)?;
                }
            }
            Ok(Taken::Queue(queue)) => {
                let metadata = &queue.metadata;
                cluster.queue(&metadata.namespace, &metadata.name, &queue.spec.cluster_queue, sink);
            }
            Ok(Taken::Site) => of_site += 1,
            Ok(Taken::WithoutObject) => sink.skip(cause::AUDIT_WITHOUT_OBJECT, 1),
            Ok(Taken::Other) => sink.skip(cause::OTHER_RECORD, 1),
            Err(error) => {
                sink.skip(cause::DAMAGED_RECORD, 1);
                sink.damage(&|| damage(line, &error));
            }
        }
    }
    sink.skip(cause::OBJECT_OF_SITE, of_site);
    if of_site > 0 {
        sink.damage(&of_site_alone);
    }
    Ok(())
}

/// What an object is for.
enum Taken {
    Seen(Vec<api::Read<seen::Seen>>),
    Queue(Box<object::LocalQueue>),
    /// It is of the configuration of the site.
    Site,
    WithoutObject,
    Other,
}

/// What an object says; `of_list` is the kind that its list gives it.
fn of_head(head: &Head, of_list: &str, text: &[u8]) -> Result<Taken, serde_json::Error> {
    if let Some(about) = head.object_ref.as_ref().filter(|_| head.audit_id.is_some()) {
        // Each request has an event at its begin, too.
        if head.stage.as_deref() != Some("ResponseComplete") {
            return Ok(Taken::Other);
        }
        return Ok(match audit::read(about, text)? {
            Heard::Of(seen) => Taken::Seen(vec![*seen]),
            Heard::WithoutObject => Taken::WithoutObject,
            Heard::Other => Taken::Other,
        });
    }
    if let (Some(_), Some(inner)) = (&head.r#type, &head.object) {
        let kind = inner.kind.as_deref().unwrap_or_default();
        return of_kind(kind, text, Where::Watched);
    }
    of_kind(head.kind.as_deref().unwrap_or(of_list), text, Where::Whole)
}

fn of_kind(kind: &str, text: &[u8], place: Where) -> Result<Taken, serde_json::Error> {
    match kind {
        "LocalQueue" if place == Where::Whole => Ok(Taken::Queue(Box::new(serde_json::from_slice(text)?))),
        "Event" => {
            let said = events::read(&serde_json::from_slice(text)?);
            let said: Vec<_> = said.into_iter().map(|seen| (seen, 0)).collect();
            Ok(if said.is_empty() { Taken::Other } else { Taken::Seen(said) })
        }
        kind if OF_SITE.contains(&kind) => Ok(Taken::Site),
        kind => Ok(api::read(kind, text, place)?.map_or(Taken::Other, |read| Taken::Seen(vec![read]))),
    }
}

/// What is wrong with an object that cannot be read.
fn damage(line: u64, error: &serde_json::Error) -> Damage {
    let place = format!("line {line}: ");
    let found = format!("an object that cannot be read ({error})");
    let remedy = "write the list again: `kubectl get workloads,jobs,pods,nodes -A -o json`";
    Damage::new(&place, "a Workload, a Job, a Pod or a Node as JSON", &found, remedy)
}

/// What is wrong with a file that has the configuration of a site alone.
fn of_site_alone() -> Damage {
    let found = "only the configuration of a site: queues, cohorts, flavours or classes";
    let remedy = "keep it in a folder, and name that with `--site-conf`; the history is `kubectl get workloads,jobs,pods,nodes -A -o json`";
    Damage::new("", "Workloads, Jobs or Pods", found, remedy)
}

fn read_metrics(cluster: &mut Cluster, input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut lines = Lines::new(input, MAX_LINE);
    let (mut number, mut before) = (0_u64, String::new());
    while let Some(line) = lines.next().map_err(Error::io(Path::new(path), "read"))? {
        number += 1;
        let Line::Text(line) = line else {
            sink.skip(cause::OVERSIZED_LINE, 1);
            continue;
        };
        // A dump repeats each value with the time of each sample.
        let said = line.rfind('}').and_then(|end| {
            let value = line.get(end + 1..)?.split_ascii_whitespace().next()?;
            Some([line.get(..=end)?, value].concat())
        });
        if said.as_ref() == Some(&before) {
            continue;
        }
        match metrics::read(&line) {
            metrics::Line::Of(seen) => cluster.take(*seen, sink)?,
            metrics::Line::Other => {}
            metrics::Line::Damaged => {
                sink.skip(cause::DAMAGED_LINE, 1);
                sink.damage(&|| damage_of_line(number, &line));
            }
        }
        before = said.unwrap_or_default();
    }
    Ok(())
}

/// What is wrong with a line that is no metric.
fn damage_of_line(number: u64, line: &str) -> Damage {
    let start = line.get(..line.floor_char_boundary(120)).unwrap_or_default();
    let (place, found) = (format!("line {number}: "), format!("`{start}`"));
    Damage::new(&place, "a metric, its labels in braces, and its value", &found, "write the metrics again, as text")
}
