//! Containers that stand in the way of reservations: those on one node that free enough for what the node is kept for.
//!
//! **Source.** `ReservedContainerCandidatesSelector` of Hadoop 3.4.1.

use resched_sim::NodeId;
use resched_sim::hadoop::{Ask, AttemptView, Kind, View};

use super::ideal::{Ideal, Needs};
use super::{Choice, Preemption, Victim};
use crate::hadoop::yarn::capacity::YarnCapacity;
use crate::hadoop::yarn::capacity::amounts::Amounts;

impl YarnCapacity {
    /// Chooses containers on kept nodes, where the fewest have to go first.
    pub(super) fn choose_on_kept_nodes(&mut self, preemption: &Preemption, choice: &mut Choice, view: View<'_>) {
        let before = choice.victims.len();
        let by = self.by(0, view);
        let ideal = Ideal::of(self, Needs { counts_reserved: true, balances: false }, choice.allowed, view);
        let mut obtain: Vec<Amounts> = vec![Amounts::NONE; self.queues.len()];
        for leaf in ideal.leaves().into_iter().filter(|&leaf| !self.is_spared(leaf)) {
            obtain[leaf] = ideal.to_obtain(leaf, preemption.ignored, preemption.unnatural, by);
        }
        let nodes = self.all_nodes(view);
        let mut costs: Vec<(f32, NodeId)> = Vec::new();
        for node in nodes {
            if let Some((cost, _)) = self.victims_on(node, &mut obtain.clone(), choice, view) {
                costs.push((cost, node));
            }
        }
        costs.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, node) in costs {
            let mut left = obtain.clone();
            if let Some((_, victims)) = self.victims_on(node, &mut left, choice, view) {
                obtain = left;
                for victim in victims {
                    choice.allowed -= victim.size;
                    choice.victims.push((victim, preemption.wait));
                }
            }
        }
        choice.sort_from(before);
    }

    /// The containers on a kept node that would free enough, the newest first, and what part of the request they are; `None` if there are
    /// not enough, or the request fits already.
    fn victims_on(
        &self,
        node: NodeId,
        obtain: &mut [Amounts],
        choice: &Choice,
        view: View<'_>,
    ) -> Option<(f32, Vec<Victim>)> {
        let by = self.by(0, view);
        let kept = view.yarn().reservation(node)?;
        let wanted = Amounts::from(view.yarn().demand_of(kept.job, kept.ask));
        let mut free = Amounts::from(view.free(node));
        if by.holds(free, wanted) {
            return None;
        }
        let (mut victims, mut sum) = (Vec::new(), Amounts::NONE);
        for run in newest_first(node, view) {
            let queue = self.jobs[view.job_of(run.task)].queue;
            let size = Amounts::from(view.yarn().demand_of(view.job_of(run.task), Ask::of(run.kind)));
            let may = by.is_any(obtain[queue]) && by.holds(obtain[queue], size) && by.holds(choice.allowed, size);
            if !may {
                continue;
            }
            obtain[queue] -= size;
            if !choice.has(run.container) {
                victims.push(Victim { job: view.job_of(run.task), container: run.container, run: Some(run.id), size });
                sum += size;
            }
            free += size;
            if by.holds(free, wanted) {
                return Some((by.part_of(sum, wanted), victims));
            }
        }
        None
    }
}

/// The containers on a node, those of the last application first, and of those the newest.
fn newest_first(node: NodeId, view: View<'_>) -> Vec<AttemptView> {
    let mut all: Vec<AttemptView> =
        Kind::BOTH.into_iter().flat_map(|kind| view.runs_on(node, kind)).filter(|run| !run.taken_back).collect();
    all.sort_by_key(|run| std::cmp::Reverse((view.job_of(run.task), run.container)));
    all
}
