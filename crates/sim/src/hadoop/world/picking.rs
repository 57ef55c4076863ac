//! Which task of a job a node should run (`docs/model/task-picking.md`).

use super::map_index::{Found, Reach, level};
use super::{JobPhase, TaskPhase, World};
use crate::hadoop::kind::Kind;
use crate::ids::{JobId, NodeId, TaskId};
use resched_tables::model::Locality;

/// A node that had so many failures of one job gets no more tasks of it (`docs/model/task-picking.md`).
const FLAKY_FAILURES: u32 = 4;

impl World<'_> {
    /// True if so many attempts of this job failed on this node that it gets no more of them.
    pub(crate) fn refuses(&self, job: JobId, node: NodeId) -> bool {
        let failures = &self.jobs[job.index()].node_failures;
        if failures.is_empty() {
            return false;
        }
        let flaky = |&&(_, failed): &&(NodeId, u32)| failed >= FLAKY_FAILURES;
        let known = failures.iter().filter(flaky).count();
        4 * known < self.live_nodes && failures.iter().filter(flaky).any(|&(other, _)| other == node)
    }

    /// The map of a job that a node should run, no farther from its input than `reach`.
    pub(crate) fn find_map(&self, job: JobId, node: NodeId, reach: Reach) -> Option<Found> {
        let state = &self.jobs[job.index()];
        if self.ready_of(job, Kind::Map) == 0 || self.refuses(job, node) {
            return None;
        }
        state.maps.as_ref()?.find(self.workload, self.cluster, (node, self.live_nodes), reach)
    }

    /// The reduce of a job that a node should run.
    pub(crate) fn find_reduce(&self, job: JobId, node: NodeId) -> Option<TaskId> {
        let state = &self.jobs[job.index()];
        let open = state.phase == JobPhase::Active && self.ready_of(job, Kind::Reduce) > 0;
        if !open || self.refuses(job, node) || self.fetches_enough(job, node) {
            return None;
        }
        let everywhere = self.live_nodes;
        let fits = |task: &&TaskId| {
            let failed_on = state.failed_reduces.iter().find(|(other, _)| other == *task);
            failed_on.is_none_or(|(_, nodes)| !nodes.contains(&node) || nodes.len() >= everywhere)
        };
        let returned = state.returned_reduces.iter().rev();
        let again = returned.filter(|task| self.tasks[task.index()].phase == TaskPhase::Returned);
        let first = again.into_iter().find(fits).copied();
        let fresh = (state.next_reduce < self.workload.job(job).reduces.end).then_some(TaskId(state.next_reduce));
        first.or(fresh)
    }

    /// The map of a job among those that failed that this node should run (YARN asks for them by themselves).
    pub(crate) fn find_failed_map(&self, job: JobId, node: NodeId) -> Option<TaskId> {
        if self.ready_of(job, Kind::Map) == 0 || self.refuses(job, node) {
            return None;
        }
        self.jobs[job.index()].maps.as_ref()?.find_failed((node, self.live_nodes))
    }

    /// How near to its input a task of a kind would run on a node.
    pub(crate) fn level_as(&self, kind: Kind, task: TaskId, node: NodeId) -> Locality {
        if kind == Kind::Map { self.level(task, node) } else { Locality::Off }
    }

    /// How near to its input a map would run on a node.
    pub(crate) fn level(&self, task: TaskId, node: NodeId) -> Locality {
        level(self.workload, self.cluster, task, node)
    }
}
