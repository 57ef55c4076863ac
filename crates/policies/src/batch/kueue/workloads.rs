//! Workloads: the tasks that are admitted together, and where each workload stands.

use std::collections::{BTreeSet, HashMap};

use resched_kubernetes::kueue::{
    Expression, Operator, PodSet, QueueId, ResourceId, Submission, Toleration, WorkloadId,
};
use resched_kubernetes::objects;
use resched_sim::batch::{AttemptId, JobView, View};
use resched_sim::{JobId, Ms, TaskId};
use resched_tables::pods;

use super::conf::UNCOVERED;

/// The namespace of a job that names none.
const DEFAULT_NAMESPACE: &str = "default";

/// Where a workload stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// It appeared in this instant, and is not created yet.
    New,
    /// No queue takes it.
    Stray,
    Pending,
    Admitted,
    /// It is evicted, and so many of its runs have not left.
    Leaving(usize),
    Done,
}

/// A workload: tasks of one job that began to wait together. Each is a pod set.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) job: JobId,
    pub(super) tasks: Vec<TaskId>,
    pub(super) stand: Stand,
    /// What runs of it.
    pub(super) runs: BTreeSet<AttemptId>,
    /// When it was admitted last, ms.
    pub(super) admitted: Ms,
    pub(super) admissions: u32,
    /// Its number in Kueue, once it is created there.
    pub(super) id: Option<WorkloadId>,
}

impl Workload {
    pub(super) fn new(job: JobId, task: TaskId) -> Self {
        Self { job, tasks: vec![task], stand: Stand::New, runs: BTreeSet::new(), admitted: 0, admissions: 0, id: None }
    }

    /// True if nothing of it runs or waits any more.
    pub(super) fn is_over(&self, view: View<'_>) -> bool {
        self.tasks.iter().all(|&task| view.waiting(task) == 0 && view.running(task) == 0)
    }
}

/// From jobs and tasks of a trace to submissions.
#[derive(Debug)]
pub(super) struct Names {
    resources: HashMap<String, ResourceId>,
    uncovered: ResourceId,
}

impl Names {
    pub(super) fn new(resources: &[String]) -> Self {
        let resources: HashMap<String, ResourceId> = resources.iter().cloned().zip((0..).map(ResourceId)).collect();
        let uncovered = resources.get(UNCOVERED).copied().unwrap_or(ResourceId(0));
        Self { resources, uncovered }
    }

    fn resource(&self, name: &str) -> ResourceId {
        self.resources.get(name).copied().unwrap_or(self.uncovered)
    }

    /// A pod set for each of these tasks.
    ///
    /// # Errors
    /// Affinity that cannot be read.
    pub(super) fn pod_sets(&self, tasks: &[TaskId], view: View<'_>) -> Result<Vec<PodSet>, String> {
        tasks.iter().map(|&task| self.pod_set(task, view)).collect()
    }

    fn pod_set(&self, task: TaskId, view: View<'_>) -> Result<PodSet, String> {
        let (entry, needs) = (view.task(task), view.needs(task));
        let amount = |amount: u64| i64::try_from(amount).unwrap_or(i64::MAX);
        let mut requests = vec![
            (self.resource("cpu"), amount(entry.demand.cpu)),
            (self.resource("memory"), amount(entry.demand.memory)),
        ];
        requests.extend(needs.resources.iter().map(|(name, count)| (self.resource(name), amount(*count))));
        let mut set = PodSet { count: entry.instances, requests, ..PodSet::default() };
        if let Some(pods) = &needs.pods {
            let labels = pods::labels(&pods.node_selector);
            set.node_selector = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            set.tolerations = pods::Toleration::all(&pods.tolerations).map(toleration).collect();
            set.affinity = affinity(&pods.affinity)?;
        }
        Ok(set)
    }
}

fn toleration(pods::Toleration { key, value, effect }: pods::Toleration) -> Toleration {
    Toleration { key, exists: value.is_none(), value: value.unwrap_or_default(), effect }
}

fn affinity(text: &str) -> Result<Vec<Vec<Expression>>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let expression = |pods::Expression { key, operator, values }: pods::Expression| {
        let operator = match operator.as_str() {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            "Gt" => Operator::Gt,
            "Lt" => Operator::Lt,
            other => return Err(format!("expected an operator of node affinity, found `{other}`")),
        };
        Ok(Expression { key, operator, values })
    };
    let term = |pods::Term { match_expressions }| match_expressions.into_iter().map(expression).collect();
    pods::terms(text)?.into_iter().map(term).collect()
}

/// A job as Kueue gets it, without its pod sets; `None` if no queue of the site has the name of its queue.
pub(super) fn submission(site: &objects::Site, job: JobView<'_>, created: Ms, uid: u64) -> Option<Submission> {
    let (queue, takes) = if site.queues.is_empty() { (QueueId(0), true) } else { queue_of(site, job.queue)? };
    let class = site.priorities.iter().find(|class| class.name == job.qos);
    Some(Submission {
        queue,
        priority: class.map_or(job.priority, |class| class.value),
        created,
        uid,
        namespace_matches: takes,
        pod_sets: Vec::new(),
    })
}

/// True if a job that names this queue comes to a ClusterQueue that takes its namespace.
pub(crate) fn takes(site: &objects::Site, name: &str) -> bool {
    queue_of(site, name).is_some_and(|(_, takes)| takes)
}

/// The ClusterQueue behind `namespace/LocalQueue`, and whether it takes the namespace. Without a namespace, the name may also be that of the
/// ClusterQueue.
fn queue_of(site: &objects::Site, name: &str) -> Option<(QueueId, bool)> {
    let (namespace, local) = name.split_once('/').unwrap_or((DEFAULT_NAMESPACE, name));
    if let Some(id) = site.queue(namespace, local) {
        return Some((id, site.takes(id, namespace)));
    }
    let place = site.queues.iter().position(|queue| queue.name == name)?;
    Some((QueueId(u32::try_from(place).ok()?), true))
}
