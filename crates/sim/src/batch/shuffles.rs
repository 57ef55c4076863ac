//! Which machines hold the input of the tasks that read what another stage wrote, where the system that ran them cares.

use std::collections::BTreeMap;

use resched_tables::model::Locality;

use super::workload::Workload;
use crate::ids::{JobId, NodeId};

/// From how many tasks on, of either stage, nobody looks where the input is.
pub(super) const MOST_TASKS: usize = 1_000;
/// The setting of an application by which its tasks do not look either.
const SWITCH: &str = "spark.shuffle.reduceLocality.enabled";
/// The setting that only a log of Spark has.
const VERSION: &str = "spark.version";
/// A machine is preferred that holds at least one part in so many of the input.
const LEAST_PART: u32 = 5;

/// Where the tasks of stages ran whose output others read.
#[derive(Debug, Default)]
pub(super) struct Shuffles {
    /// For each stage, the one stage whose output it reads; empty if nobody cares.
    parents: Vec<Option<u32>>,
    /// For each stage that is read so, the machines on which its tasks ended, and how many on each, by machine.
    held: Vec<Vec<(NodeId, u32)>>,
    /// Whether a stage is read so.
    is_read: Vec<bool>,
    /// The machines that the tasks of each stage prefer, once it has started.
    preferred: Vec<Vec<NodeId>>,
}

impl Shuffles {
    pub(super) fn of(workload: &Workload) -> Self {
        if !workload.shuffles_have_places {
            return Self::default();
        }
        let stages = workload.stage_tasks.len();
        let few = |stage: usize| workload.stage_tasks[stage].len() < MOST_TASKS;
        let most_look = most_look(workload);
        let cares = |stage: usize| {
            let job = workload.job(JobId(workload.stage_jobs[stage]));
            let settings = workload.applications.get(job.group);
            // Tables of another origin than a log of Spark may lack the levels for other reasons.
            let shown = settings.filter(|settings| settings.contains_key(VERSION)).and_then(|_| {
                let look = workload.stage_looks.get(stage).copied().flatten();
                look.or_else(|| most_look.get(job.group).copied())
            });
            if shown == Some(false) {
                return false;
            }
            let said = settings.and_then(|settings| settings.get(SWITCH));
            said.is_none_or(|said| !said.trim().eq_ignore_ascii_case("false"))
        };
        let mut parents = vec![None; stages];
        for (earlier, number) in (0..stages).zip(0..) {
            for &later in workload.stage_order.followers(earlier) {
                let later = later as usize;
                if workload.stage_order.needs(later) == 1 && few(earlier) && few(later) && cares(later) {
                    parents[later] = Some(number);
                }
            }
        }
        let mut is_read = vec![false; stages];
        parents.iter().flatten().for_each(|&parent: &u32| is_read[parent as usize] = true);
        Self { parents, held: vec![Vec::new(); stages], is_read, preferred: vec![Vec::new(); stages] }
    }

    /// A task of a stage has ended on a machine.
    #[inline]
    pub(super) fn ended(&mut self, stage: u32, node: Option<NodeId>) {
        if self.is_read.get(stage as usize) != Some(&true) {
            return;
        }
        let (Some(held), Some(node)) = (self.held.get_mut(stage as usize), node) else { return };
        match held.binary_search_by_key(&node, |&(node, _)| node) {
            Ok(place) => held[place].1 += 1,
            Err(place) => held.insert(place, (node, 1)),
        }
    }

    /// A stage starts: from now on it is known where its input is.
    pub(super) fn started(&mut self, stage: u32) {
        let Some(parent) = self.parents.get(stage as usize).copied().flatten() else { return };
        let held = &self.held[parent as usize];
        let all: u32 = held.iter().map(|&(_, count)| count).sum();
        self.preferred[stage as usize] =
            held.iter().filter(|&&(_, count)| is_enough(count, all)).map(|&(node, _)| node).collect();
    }

    /// The machines that hold much of the input of a stage.
    #[inline]
    pub(super) fn preferred(&self, stage: u32) -> &[NodeId] {
        self.preferred.get(stage as usize).map_or(&[], Vec::as_slice)
    }
}

/// True if a machine on which `count` of `all` tasks ran is preferred by those that read their output.
pub(super) fn is_enough(count: u32, all: u32) -> bool {
    count.saturating_mul(LEAST_PART) >= all
}

/// For each application, by the group of its jobs, whether most of its stages look at places that show it.
fn most_look(workload: &Workload) -> BTreeMap<&str, bool> {
    let mut balance: BTreeMap<&str, i64> = BTreeMap::new();
    for (&looks, &job) in workload.stage_looks.iter().zip(&workload.stage_jobs) {
        if let Some(looks) = looks {
            *balance.entry(workload.job(JobId(job)).group).or_default() += if looks { 1 } else { -1 };
        }
    }
    balance.into_iter().map(|(group, balance)| (group, balance >= 0)).collect()
}

/// How near a machine is to the nearest of others. `rack` gives the rack of a machine, if it has one.
pub(super) fn level(node: NodeId, preferred: &[NodeId], rack: impl Fn(NodeId) -> Option<u32>) -> Locality {
    if preferred.contains(&node) {
        return Locality::Node;
    }
    let near = rack(node).is_some_and(|home| preferred.iter().any(|&other| rack(other) == Some(home)));
    if near { Locality::Rack } else { Locality::Off }
}
