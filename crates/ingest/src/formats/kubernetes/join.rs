//! What belongs together: a Workload, its Job, and their pods. The object at the top, which created them, is what they have in common.

use std::collections::BTreeMap;

use resched_tables::model::{Ms, Outcome};
use resched_tables::placed;
use serde::{Deserialize, Serialize};

use super::api::POD_GROUP;
use super::incarnations::last_then;
use super::pod::{JobLife, PodLife};
use super::seen::Owner;
use super::workload::{Life, Run};

/// A pod is of the last Workload or Job of its name that was created before it, or so soon after it, ms.
const NEAR: Ms = 2_000;
/// Kinds that make several Jobs.
const OF_JOBS: [&str; 2] = ["JobSet", "MPIJob"];

/// A life, before it is known what belongs to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Part {
    Workload(Box<Life>),
    Job(Box<JobLife>),
    Pod(Box<PodLife>),
}

impl Part {
    /// The object at the top: its namespace, kind and name, with a mark between that no name has.
    pub(super) fn key(&self) -> String {
        let (namespace, kind, name) = match self {
            Self::Workload(life) if life.is_group => (&life.namespace, POD_GROUP, &life.name),
            Self::Workload(life) => {
                let (kind, name) = of_owner(life.owner.as_ref(), "Workload", &life.name);
                (&life.namespace, kind, name)
            }
            Self::Job(job) => {
                let owner = job.owner.as_ref().filter(|owner| OF_JOBS.contains(&owner.kind.as_str()));
                let (kind, name) = of_owner(owner, &job.kind, &job.name);
                (&job.namespace, kind, name)
            }
            Self::Pod(pod) => {
                let (kind, name) = of_owner(pod.owner.as_ref(), "Pod", &pod.name);
                (&pod.namespace, kind, name)
            }
        };
        [namespace, kind, name].join("\n")
    }

    /// When it was created.
    pub(super) fn created(&self) -> Option<Ms> {
        match self {
            Self::Workload(life) => life.created,
            Self::Job(job) => job.created,
            Self::Pod(pod) => pod.created,
        }
    }
}

fn of_owner<'o>(owner: Option<&'o Owner>, kind: &'o str, name: &'o String) -> (&'o str, &'o String) {
    owner.map_or((kind, name), |owner| (&owner.kind, &owner.name))
}

/// A job of the tables, before it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Done {
    /// A Workload, with where the pods of each of its runs were.
    Workload(Box<Life>, Vec<Places>),
    /// Pods without a Workload.
    Pods(Box<Pods>),
}

/// Where the pods of a run were: of each pod set, the nodes with the number of pods on each. Without any: nobody saw them.
pub(super) type Places = BTreeMap<String, Vec<(String, u32)>>;

/// Pods without a Workload, and the object that created them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Pods {
    pub(super) namespace: String,
    pub(super) kind: String,
    pub(super) name: String,
    /// Which of the objects with this name it is, from 0.
    pub(super) again: u32,
    pub(super) job: Option<JobLife>,
    /// By creation and name.
    pub(super) pods: Vec<PodLife>,
}

impl Done {
    /// When it was submitted.
    pub(super) fn submit(&self) -> Option<Ms> {
        match self {
            Self::Workload(life, _) => life.created,
            Self::Pods(pods) => pods.submit(),
        }
    }

    /// What comes first of two that were submitted at once: Kueue takes that with the smaller UID.
    pub(super) fn order(&self) -> String {
        match self {
            Self::Workload(life, _) => format!("{}\n{}/{}", life.uid, life.namespace, life.name),
            Self::Pods(pods) => format!("\n{}/{}/{}", pods.namespace, pods.kind, pods.name),
        }
    }

    /// When it ended, and whether it has.
    pub(super) fn end(&self) -> Option<Ms> {
        match self {
            Self::Workload(life, _) => life.end,
            Self::Pods(pods) => pods.end(),
        }
    }

    /// True if a source saw its creation.
    pub(super) fn is_birth(&self) -> bool {
        matches!(self, Self::Workload(life, _) if life.is_birth)
    }
}

impl Pods {
    /// When the first of them was created.
    pub(super) fn submit(&self) -> Option<Ms> {
        let of_job = self.job.as_ref().and_then(|job| job.created);
        of_job.or_else(|| self.pods.iter().filter_map(|pod| pod.created).min())
    }

    /// How they ended: as their Job says it, or all together.
    pub(super) fn outcome(&self) -> Outcome {
        let job = self.job.as_ref();
        if let Some(succeeded) = job.and_then(|job| job.job.succeeded) {
            return if succeeded { Outcome::Success } else { Outcome::Failed };
        }
        if job.is_some_and(|job| job.deleted.is_some()) {
            return Outcome::Killed;
        }
        let ends = self.pods.iter().map(|pod| pod.outcome);
        let of_job = job.and_then(|job| job.job.end).map(|_| Outcome::Success);
        // The worst is last in this order.
        let order =
            [Outcome::Success, Outcome::Unknown, Outcome::Killed, Outcome::Evicted, Outcome::Lost, Outcome::Failed];
        let rank = |outcome: &Outcome| order.iter().position(|one| one == outcome).unwrap_or(order.len());
        of_job.or_else(|| ends.max_by_key(rank)).unwrap_or(Outcome::Incomplete)
    }

    /// When the last of them ended, if all have.
    pub(super) fn end(&self) -> Option<Ms> {
        let job = self.job.as_ref();
        let of_job = job.and_then(|job| job.job.end.or(job.deleted));
        let all = || self.pods.iter().map(|pod| pod.end).collect::<Option<Vec<Ms>>>();
        of_job.or_else(|| all()?.into_iter().max()).filter(|_| self.outcome() != Outcome::Incomplete)
    }
}

/// The jobs of all that has one object at the top.
pub(super) fn join(key: &str, parts: Vec<Part>) -> Vec<Done> {
    let (mut lives, mut jobs, mut pods) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Workload(life) => lives.push(*life),
            Part::Job(job) => jobs.push(*job),
            Part::Pod(pod) => pods.push(*pod),
        }
    }
    lives.sort_by(|one, other| (one.created, &one.uid, &one.name).cmp(&(other.created, &other.uid, &other.name)));
    jobs.sort_by(|one, other| (one.created, &one.uid, &one.name).cmp(&(other.created, &other.uid, &other.name)));
    pods.sort_by(|one, other| (one.created, &one.name).cmp(&(other.created, &other.name)));
    if lives.is_empty() { without_workload(key, jobs, pods) } else { of_workloads(lives, &jobs, &pods) }
}

fn of_workloads(lives: Vec<Life>, jobs: &[JobLife], pods: &[PodLife]) -> Vec<Done> {
    let created: Vec<Option<Ms>> = lives.iter().map(|life| life.created).collect();
    let mut of_each: Vec<Vec<&PodLife>> = vec![Vec::new(); lives.len()];
    for pod in pods {
        if let Some(pods) = of_each.get_mut(last_then(&created, pod.created, NEAR)) {
            pods.push(pod);
        }
    }
    let with_user: Vec<&JobLife> = jobs.iter().filter(|job| job.user.is_some()).collect();
    let users: Vec<Option<Ms>> = with_user.iter().map(|job| job.created).collect();
    let done = |(mut life, pods): (Life, Vec<&PodLife>)| {
        let of_job = with_user.get(last_then(&users, life.created, NEAR)).and_then(|job| job.user.clone());
        life.user = of_job.or_else(|| pods.iter().find_map(|pod| pod.user.clone()));
        let places = places(&life, &pods);
        Done::Workload(Box::new(life), places)
    };
    lives.into_iter().zip(of_each).map(done).collect()
}

/// The number of pods that were seen, and how many of them on each host.
type Hosts<'a> = (i64, BTreeMap<&'a str, u32>);

/// Where the pods of each run were.
fn places(life: &Life, pods: &[&PodLife]) -> Vec<Places> {
    let only = life.sets.first().filter(|_| life.sets.len() == 1);
    // A pod that failed is made again: of more than there are, the first count.
    let mut counts = BTreeMap::<(usize, &str), Hosts<'_>>::new();
    for pod in pods {
        let set = only.or_else(|| life.sets.iter().find(|set| Some(&set.name) == pod.set.as_ref()));
        let (Some(set), Some(node), Some(run)) = (set, &pod.node, run_of(&life.runs, pod.created)) else { continue };
        let (all, of_nodes) = counts.entry((run, &set.name)).or_default();
        if *all < set.count {
            *all += 1;
            *of_nodes.entry(node).or_default() += 1;
        }
    }
    let mut places: Vec<Places> = vec![Places::new(); life.runs.len()];
    for ((run, set), (_, of_nodes)) in counts {
        let hosts = of_nodes.into_iter().take(placed::MOST + 1).map(|(node, pods)| (node.to_owned(), pods));
        if let Some(places) = places.get_mut(run) {
            places.insert(set.to_owned(), hosts.collect());
        }
    }
    places
}

/// The run in which a pod was created.
fn run_of(runs: &[Run], created: Option<Ms>) -> Option<usize> {
    let created = created?;
    // Runs are in the order of their starts; the first may have none.
    let is_before = |run: &Run| run.start.is_none_or(|start| start <= created.saturating_add(NEAR));
    let at = runs.partition_point(is_before).checked_sub(1)?;
    let run = runs.get(at).filter(|run| run.start.is_some())?;
    run.end.is_none_or(|end| created <= end).then_some(at)
}

/// The jobs of pods and Jobs that no Workload stands for.
fn without_workload(key: &str, jobs: Vec<JobLife>, pods: Vec<PodLife>) -> Vec<Done> {
    let mut parts = key.split('\n').map(str::to_owned);
    let mut next = || parts.next().unwrap_or_default();
    let of_key = Pods { namespace: next(), kind: next(), name: next(), ..Pods::default() };
    let mut all: Vec<Pods> = Vec::new();
    // Of other kinds, nothing is known but who created them.
    for job in jobs.into_iter().filter(|job| job.kind == "Job") {
        all.push(Pods { job: Some(job), ..of_key.clone() });
    }
    let jobs: Vec<(Option<Ms>, String)> =
        all.iter().flat_map(|one| &one.job).map(|job| (job.created, job.uid.clone())).collect();
    let created: Vec<Option<Ms>> = jobs.iter().map(|(created, _)| *created).collect();
    let named = jobs.iter().enumerate().filter(|(_, (_, uid))| !uid.is_empty());
    let mut by_uid: BTreeMap<String, usize> = named.map(|(at, (_, uid))| (uid.clone(), at)).collect();
    for pod in pods {
        let uid = pod.owner.as_ref().map_or("", |owner| &owner.uid);
        let at = match by_uid.get(uid) {
            Some(&at) => at,
            None if !jobs.is_empty() => last_then(&created, pod.created, NEAR),
            None => {
                all.push(of_key.clone());
                by_uid.insert(uid.to_owned(), all.len() - 1);
                all.len() - 1
            }
        };
        if let Some(known) = all.get_mut(at) {
            known.pods.push(pod);
        }
    }
    all.sort_by_key(Pods::submit);
    let numbered = all.into_iter().zip(0..);
    numbered.map(|(pods, again)| Done::Pods(Box::new(Pods { again, ..pods }))).collect()
}
