//! What belongs together: a Workload, its Job, and their pods. The object at the top, which created them, is what they have in common.

use std::collections::BTreeMap;

use resched_tables::model::{Ms, Outcome};
use resched_tables::placed;
use serde::{Deserialize, Serialize};

use super::api::POD_GROUP;
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

    /// Whether a source saw its creation.
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

/// The last of them that was there at that time, or else the first.
fn then(created: impl DoubleEndedIterator<Item = Option<Ms>> + ExactSizeIterator, time: Option<Ms>) -> usize {
    let was_there = |created: &Option<Ms>| match (created, time) {
        (Some(created), Some(time)) => *created <= time.saturating_add(NEAR),
        _ => true,
    };
    created.enumerate().rev().find(|(_, created)| was_there(created)).map_or(0, |(at, _)| at)
}

fn of_workloads(lives: Vec<Life>, jobs: &[JobLife], pods: &[PodLife]) -> Vec<Done> {
    let place = |pod: &PodLife| then(lives.iter().map(|life| life.created), pod.created);
    let mut of_each: Vec<Vec<&PodLife>> = vec![Vec::new(); lives.len()];
    for pod in pods {
        if let Some(own) = of_each.get_mut(place(pod)) {
            own.push(pod);
        }
    }
    let done = |(mut life, pods): (Life, Vec<&PodLife>)| {
        let with_user: Vec<&JobLife> = jobs.iter().filter(|job| job.user.is_some()).collect();
        let user = with_user.get(then(with_user.iter().map(|job| job.created), life.created));
        life.user = user.and_then(|job| job.user.clone()).or_else(|| pods.iter().find_map(|pod| pod.user.clone()));
        let places = places(&life, &pods);
        Done::Workload(Box::new(life), places)
    };
    lives.into_iter().zip(of_each).map(done).collect()
}

/// Where the pods of each run were.
fn places(life: &Life, pods: &[&PodLife]) -> Vec<Places> {
    let mut all: Vec<Places> = vec![Places::new(); life.runs.len()];
    let only = life.sets.first().filter(|_| life.sets.len() == 1).map(|set| &set.name);
    for set in &life.sets {
        let is_own = |pod: &&&PodLife| match (&pod.set, only) {
            (Some(own), None) => *own == set.name,
            (None, None) => false,
            _ => true,
        };
        let mut counts: Vec<BTreeMap<&str, u32>> = vec![BTreeMap::new(); life.runs.len()];
        for pod in pods.iter().filter(is_own) {
            let Some((node, run)) = pod.node.as_deref().zip(run_of(&life.runs, pod.created)) else { continue };
            let Some(counts) = counts.get_mut(run) else { continue };
            // A pod that failed is made again: of more than there are, the first count.
            if i64::from(counts.values().sum::<u32>()) < set.count {
                *counts.entry(node).or_default() += 1;
            }
        }
        for (places, counts) in all.iter_mut().zip(counts).filter(|(_, counts)| !counts.is_empty()) {
            let hosts = counts.into_iter().take(placed::MOST + 1).map(|(node, pods)| (node.to_owned(), pods));
            places.insert(set.name.clone(), hosts.collect());
        }
    }
    all
}

/// The run in which a pod was created.
fn run_of(runs: &[Run], created: Option<Ms>) -> Option<usize> {
    let created = created?;
    let is_before = |run: &Run| run.start.is_some_and(|start| start <= created.saturating_add(NEAR));
    runs.iter().rposition(is_before).filter(|&at| {
        let end = runs.get(at).and_then(|run| run.end);
        end.is_none_or(|end| created <= end)
    })
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
    let mut by_owner: BTreeMap<String, usize> = BTreeMap::new();
    for pod in pods {
        let uid = pod.owner.as_ref().map_or("", |owner| &owner.uid);
        let at = if all.iter().any(|one| one.job.is_some()) {
            let of_job = |one: &Pods| one.job.as_ref().is_some_and(|job| !uid.is_empty() && job.uid == uid);
            let by_time = || then(all.iter().map(|one| one.job.as_ref().and_then(|job| job.created)), pod.created);
            all.iter().position(of_job).unwrap_or_else(by_time)
        } else {
            *by_owner.entry(uid.to_owned()).or_insert_with(|| {
                all.push(of_key.clone());
                all.len() - 1
            })
        };
        if let Some(own) = all.get_mut(at) {
            own.pods.push(pod);
        }
    }
    all.sort_by_key(Pods::submit);
    let numbered = all.into_iter().zip(0..);
    numbered.map(|(pods, again)| Done::Pods(Box::new(Pods { again, ..pods }))).collect()
}
