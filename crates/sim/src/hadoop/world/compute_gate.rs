//! Copy-compute splitting (delay scheduling's technical report, EECS-2009-55): a node admits more reduces than it has
//! reduce slots, but only as many as it has slots sort and reduce at a time; the others may fetch.

use super::World;
use crate::hadoop::attempt::Kill;
use crate::hadoop::kind::Kind;
use crate::ids::{AttemptId, JobId, Ms, NodeId};

impl World<'_> {
    /// Fixes anew when each reduce of a node whose input is complete, or will be at a known time, computes: first come,
    /// first served; those that compute already go on. To be called whenever that may have changed.
    pub(crate) fn plan_computing(&mut self, node: NodeId) {
        let Some(slots) = self.cluster.computing(node) else { return };
        let mut free_at: Vec<Ms> = Vec::new();
        let mut waiting: Vec<(Ms, u64, AttemptId)> = Vec::new();
        for &id in &self.nodes[node.index()].runs {
            let run = &self.runs[id.index()];
            let (Kind::Reduce, Some(fetched), Some(end)) = (run.kind, run.shuffle_finish, run.end) else { continue };
            if run.kill == Kill::Done || run.lost || end <= self.now {
                continue;
            }
            if run.compute.is_some_and(|start| start <= self.now) {
                free_at.push(end);
            } else {
                waiting.push((fetched, run.launch, id));
            }
        }
        free_at.resize(slots as usize, self.now);
        waiting.sort_unstable();
        for (fetched, _, id) in waiting {
            let Some(slot) = free_at.iter_mut().min() else { return };
            let run = &mut self.runs[id.index()];
            let start = fetched.max(*slot);
            *slot = start + run.course.sort + run.course.run;
            (run.compute, run.end) = (Some(start), Some(*slot));
            self.changes.note_attempt();
        }
    }

    /// True if a node runs as many reduces of a job as it has reduce slots: then it admits no more of them, so that no job
    /// can take all room for fetching.
    pub(crate) fn fetches_enough(&self, job: JobId, node: NodeId) -> bool {
        let Some(slots) = self.cluster.computing(node) else { return false };
        let of_job = |id: &&AttemptId| {
            let run = &self.runs[id.index()];
            run.job == job && run.kind == Kind::Reduce
        };
        self.nodes[node.index()].runs.iter().filter(of_job).count() >= slots as usize
    }
}
