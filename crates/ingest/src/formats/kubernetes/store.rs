//! What all sources say of a cluster's objects, sorted until the last source ends.
//!
//! ```text
//! Seen ──▶ by kind and name ──▶ incarnations, lives ──┬──▶ by the object at the top ──▶ join ──▶ by submission ──▶ records
//!                                                     └──▶ nodes
//! ```
//!
//! Each arrow is a [`Sorter`], which holds a part in memory and the rest on the disk. So neither the number of objects nor their order
//! matters.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;

use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::Ms;
use resched_tables::sink::{Kept, Sink};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::incarnations;
use super::join::{Done, Part, Pods, join};
use super::nodes::Nodes;
use super::pod::{JobLife, NodeLife, PodLife};
use super::records;
use super::seen::{Seen, What};
use super::workload;
use crate::formats::tables::{Fact, Key};
use crate::packed::encoding;
use crate::sorted::{Sorter, in_order};

/// The most things that are said of one name, and the most objects that have one object at the top.
pub(crate) const MOST_SEEN: usize = 100_000;
/// The longest name of an object, or of its namespace (bytes). Kubernetes has 253.
pub(crate) const LONGEST_NAME: usize = 253;
/// The most LocalQueues that are kept.
pub(crate) const MOST_QUEUES: usize = 100_000;
/// Owners of pods that are on each node, or on the node that made them.
const OF_NODES: [&str; 2] = ["DaemonSet", "Node"];

/// What is said of a cluster.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    seen: Option<Sorter>,
    /// How many things about jobs were said.
    taken: u64,
    /// The ClusterQueue of each LocalQueue, by namespace and name.
    queues: BTreeMap<String, String>,
    bytes: Vec<u8>,
}

/// What the sink keeps from earlier sources of the format, or nothing yet.
pub(super) fn begin(sink: &mut dyn Sink) -> Cluster {
    let kept = sink.kept().and_then(Option::take).map(|kept| (kept as Box<dyn Any>).downcast::<Cluster>());
    if let Some(Ok(cluster)) = kept { *cluster } else { Cluster::default() }
}

/// Gives it back to the sink, or hands over the jobs if it keeps nothing for the next source. `before` is how much there was.
pub(super) fn end(cluster: Cluster, before: u64, sink: &mut dyn Sink) -> Result<(), Error> {
    sink.keeps(cluster.taken.saturating_sub(before));
    let Some(kept) = sink.kept() else { return cluster.hand_over(sink) };
    *kept = Some(Box::new(cluster));
    Ok(())
}

impl Kept for Cluster {
    fn hand_over(self: Box<Self>, sink: &mut dyn Sink) -> Result<(), Error> {
        (*self).hand_over(sink)
    }
}

impl Cluster {
    /// How many things about jobs were said.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes what is said of an object. A name that none can have is counted.
    ///
    /// # Errors
    /// [`Error::Io`] if it has to go to the disk, and cannot.
    pub(super) fn take(&mut self, mut seen: Seen, sink: &mut dyn Sink) -> Result<(), Error> {
        let (kind, owner) = seen.owner.as_ref().map_or(("", ""), |owner| (&owner.kind, &owner.name));
        if !is_name(&seen.name) || ![&seen.namespace, kind, owner].iter().all(|name| name.is_empty() || is_name(name)) {
            sink.skip(cause::DAMAGED_RECORD, 1);
            return Ok(());
        }
        if let What::Pod(pod) = &mut seen.what
            && pod.node.take_if(|node| !is_name(node)).is_some()
        {
            sink.skip(cause::DAMAGED_NODE_LIST, 1);
        }
        let kind = match &seen.what {
            What::Workload(_) => "1",
            What::Job(kind, _) => kind,
            What::Pod(_) => "2",
            What::Node(_) => "3",
        };
        self.taken += u64::from(!matches!(seen.what, What::Node(_)));
        let key = [kind, &seen.namespace, &seen.name].join("\n");
        // States that are alike come behind each other.
        let time = seen.version.cast_signed();
        push(&mut self.seen, &mut self.bytes, (Key::Text(&key), time), &seen, sink)
    }

    /// Takes the ClusterQueue of a LocalQueue.
    pub(super) fn queue(&mut self, namespace: &str, name: &str, cluster_queue: &str, sink: &mut dyn Sink) {
        if self.queues.len() >= MOST_QUEUES {
            sink.skip(cause::TOO_MANY_NAMES, 1);
            return;
        }
        self.queues.insert(format!("{namespace}/{name}"), cluster_queue.to_owned());
    }

    /// Hands over the jobs and machines of all sources.
    fn hand_over(self, sink: &mut dyn Sink) -> Result<(), Error> {
        let Self { seen, queues, .. } = self;
        let mut lives = Lives { parts: None, nodes: Nodes::default(), has_pods: false, bytes: Vec::new() };
        if let Some(seen) = seen {
            grouped(seen, sink, |_, all, sink| lives.take(all, sink))?;
        }
        let Lives { parts, nodes, has_pods, .. } = lives;
        let mut jobs = Jobs { done: None, first_end: None, first_submit: None, bytes: Vec::new() };
        if let Some(parts) = parts {
            grouped(parts, sink, |key, parts, sink| {
                join(key, parts).into_iter().try_for_each(|done| jobs.take(&done, sink))
            })?;
        }
        let Jobs { done, first_end, first_submit, .. } = jobs;
        if let Some(done) = done {
            let last = Last { queues, has_pods, first_end };
            done.visit(|fact| match postcard::from_bytes::<Done>(fact.value) {
                Ok(done) => {
                    last.count(&done, sink);
                    let mut record = records::of(&done, sink);
                    sink.lent_job(&mut record)
                }
                Err(_) => {
                    sink.skip(cause::DAMAGED_FACT, 1);
                    Ok(())
                }
            })?;
        }
        nodes.report(first_submit, sink);
        Ok(())
    }
}

/// True if a text may be the name of an object.
fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:@".contains(&byte);
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(is_part)
}

/// Adds a value to a sorter, which is made for the first.
fn push(
    sorter: &mut Option<Sorter>,
    bytes: &mut Vec<u8>,
    (key, time): (Key<'_>, i64),
    value: &impl Serialize,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    bytes.clear();
    *bytes = postcard::to_extend(value, std::mem::take(bytes)).map_err(encoding(Path::new("an object")))?;
    let fact = Fact { job: key, task: Key::None, time, value: bytes };
    sorter.get_or_insert_with(|| Sorter::new(sink.room())).push(&fact)
}

/// Passes on all values of each key. Of those that are the same behind each other, one counts.
fn grouped<V: DeserializeOwned>(
    sorter: Sorter,
    sink: &mut dyn Sink,
    mut see: impl FnMut(&str, Vec<V>, &mut dyn Sink) -> Result<(), Error>,
) -> Result<(), Error> {
    let (mut key, mut values) = (String::new(), Vec::new());
    let mut before: Vec<u8> = Vec::new();
    sorter.visit(|fact| {
        let Key::Text(id) = fact.job else { return Ok(()) };
        if id != key {
            if !values.is_empty() {
                see(&key, std::mem::take(&mut values), sink)?;
            }
            id.clone_into(&mut key);
        } else if before == fact.value {
            return Ok(());
        }
        before.clear();
        before.extend_from_slice(fact.value);
        match postcard::from_bytes(fact.value) {
            Ok(_) if values.len() >= MOST_SEEN => sink.skip(cause::TOO_MANY_STATES, 1),
            Ok(value) => values.push(value),
            Err(_) => sink.skip(cause::DAMAGED_FACT, 1),
        }
        Ok(())
    })?;
    if values.is_empty() { Ok(()) } else { see(&key, values, sink) }
}

/// From what is said of each object to its life.
struct Lives {
    parts: Option<Sorter>,
    nodes: Nodes,
    has_pods: bool,
    bytes: Vec<u8>,
}

impl Lives {
    fn take(&mut self, all: Vec<Seen>, sink: &mut dyn Sink) -> Result<(), Error> {
        for (again, object) in (0..).zip(incarnations::of(all)) {
            let part = match object.first().map(|seen| &seen.what) {
                Some(What::Workload(_)) => Part::Workload(Box::new(workload::life(again, &object))),
                Some(What::Job(..)) => Part::Job(Box::new(JobLife::of(&object))),
                Some(What::Pod(_)) => Part::Pod(Box::new(PodLife::of(&object))),
                Some(What::Node(_)) => {
                    self.nodes.take(NodeLife::of(&object), sink);
                    continue;
                }
                None => continue,
            };
            if let Part::Pod(pod) = &part {
                self.has_pods = true;
                // A log may have no more than its end.
                if pod.created.is_none() && pod.owner.is_none() {
                    sink.skip(cause::POD_WITHOUT_OBJECT, 1);
                    continue;
                }
                if pod.owner.as_ref().is_some_and(|owner| OF_NODES.contains(&owner.kind.as_str())) {
                    sink.skip(cause::POD_OF_ITS_NODE, 1);
                    self.nodes.hold(pod);
                    continue;
                }
            }
            let key = part.key();
            let time = part.created().unwrap_or(i64::MIN);
            push(&mut self.parts, &mut self.bytes, (Key::Text(&key), time), &part, sink)?;
        }
        Ok(())
    }
}

/// The jobs, on their way to be sorted by submission.
struct Jobs {
    done: Option<Sorter>,
    /// The first end and the first submission of a job.
    first_end: Option<Ms>,
    first_submit: Option<Ms>,
    bytes: Vec<u8>,
}

impl Jobs {
    fn take(&mut self, done: &Done, sink: &mut dyn Sink) -> Result<(), Error> {
        let earlier = |known: Option<Ms>, time: Option<Ms>| [known, time].into_iter().flatten().min();
        self.first_end = earlier(self.first_end, done.end());
        self.first_submit = earlier(self.first_submit, done.submit());
        self.bytes.clear();
        self.bytes =
            postcard::to_extend(done, std::mem::take(&mut self.bytes)).map_err(encoding(Path::new("a job")))?;
        let order = done.order();
        let submit = done.submit().map_or(Key::None, |submit| Key::Number(in_order(submit)));
        let fact = Fact { job: submit, task: Key::Text(&order), time: 0, value: &self.bytes };
        self.done.get_or_insert_with(|| Sorter::new(sink.room())).push(&fact)
    }
}

/// What is known once all jobs are.
struct Last {
    queues: BTreeMap<String, String>,
    has_pods: bool,
    first_end: Option<Ms>,
}

impl Last {
    /// Counts what the sources have lost of a job, or contradict.
    fn count(&self, done: &Done, sink: &mut dyn Sink) {
        let is_before = done.submit().zip(self.first_end).is_some_and(|(submit, end)| submit < end);
        let outlived = is_before && done.end() != self.first_end && !done.is_birth();
        sink.skip(cause::OUTLIVED_EXPIRED_JOBS, u64::from(outlived));
        match done {
            Done::Workload(life, places) => {
                if self.has_pods {
                    sink.skip(cause::EVICTED_PODS_GONE, records::evicted_unseen(life, places));
                }
                let queue = life.queue.as_ref().map(|queue| format!("{}/{queue}", life.namespace));
                let now = queue.and_then(|queue| self.queues.get(&queue));
                let is_moved = now.zip(life.cluster_queue.as_ref()).is_some_and(|(now, then)| now != then);
                sink.skip(cause::LOCAL_QUEUE_MOVED, u64::from(is_moved));
            }
            Done::Pods(pods) => sink.skip(cause::POD_WITHOUT_WORKLOAD, without_workload(pods)),
        }
    }
}

fn without_workload(pods: &Pods) -> u64 {
    pods.pods.iter().filter(|pod| pod.set.is_some()).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use resched_tables::sink::Collected;

    #[test]
    fn as_many_local_queues_as_the_limit_and_not_one_more() {
        let (mut cluster, mut sink) = (Cluster::default(), Collected::default());
        for number in 0..=MOST_QUEUES {
            cluster.queue("n", &number.to_string(), "q", &mut sink);
        }
        assert_eq!(sink.skipped.get("too-many-names"), Some(&1));
        assert_eq!(cluster.queues.len(), MOST_QUEUES);
    }
}
