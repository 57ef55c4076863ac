//! Nodes fail and return (`docs/model/failures.md`).

use super::{Health, TaskPhase, World};
use crate::hadoop::attempt::Kill;
use crate::hadoop::kind::Kind;
use crate::hadoop::resources::Resources;
use crate::ids::{AttemptId, NodeId, TaskId};
use resched_tables::model::Outcome;

impl World<'_> {
    /// An attempt dies with its node, and the master does not know.
    pub(crate) fn lose(&mut self, id: AttemptId) {
        self.leave_bench(id);
        self.changes.note_attempt();
        let run = &mut self.runs[id.index()];
        run.lost = true;
        // One that was still being launched never ran.
        run.start = run.start.min(self.now);
        run.end = Some(run.end.map_or(self.now, |end| end.min(self.now)));
    }

    /// The master gives a node up. Returns the maps that were done there and are needed again: those of jobs with reduces.
    pub(crate) fn give_up(&mut self, node: NodeId) -> Vec<TaskId> {
        let capacity = self.cluster.node(node).capacity;
        for kind in Kind::BOTH {
            self.slots[kind.index()] -= self.cluster.room(capacity, kind);
        }
        self.live_nodes -= 1;
        self.total = self.total.minus(capacity);
        if let Some(yarn) = &mut self.yarn {
            yarn.free = yarn.free.minus(capacity);
            yarn.reserve(node, None);
        }
        let state = &mut self.nodes[node.index()];
        state.health = Health::Lost;
        state.reported = [0; 2];
        self.set_free(node, Resources::NONE);
        self.version += 1;
        let with_reduces =
            self.active.iter().map(|&job| self.workload.job(job)).filter(|job| job.count(Kind::Reduce) > 0);
        let here = |task: &TaskId| {
            let task = &self.tasks[task.index()];
            task.phase == TaskPhase::Done && task.done_on == node
        };
        with_reduces.flat_map(|job| job.maps.clone().map(TaskId).filter(here)).collect()
    }

    /// A node that was given up is there again, with nothing on it.
    pub(crate) fn welcome(&mut self, node: NodeId) {
        let capacity = self.cluster.node(node).capacity;
        for kind in Kind::BOTH {
            self.slots[kind.index()] += self.cluster.room(capacity, kind);
        }
        self.live_nodes += 1;
        self.total = self.total.plus(capacity);
        if let Some(yarn) = &mut self.yarn {
            yarn.free = yarn.free.plus(capacity);
        }
        self.nodes[node.index()].health = Health::Up;
        self.set_free(node, capacity);
        self.version += 1;
    }

    /// The output of a map that was done is lost: it waits again, and the reduces that still fetch wait for it.
    pub(crate) fn map_lost(&mut self, task: TaskId) {
        let job = self.workload.job_of(task);
        let reduces = self.workload.job(job).count(Kind::Reduce);
        let were_ready = self.reduces_may_start(job);
        self.changes.note_attempt();
        self.changes.note_job(job);
        let state = &mut self.jobs[job.index()];
        self.tasks[task.index()].won = false;
        state.finished[0] -= 1;
        state.maps_done = None;
        if let Some(left) = state.map_output.get_mut(self.tasks[task.index()].done_on.index()) {
            *left = 0.0;
        }
        self.remaining[0] += 1;
        if were_ready && !self.reduces_may_start(job) {
            let state = &self.jobs[job.index()];
            self.ready[1] -= u64::from(state.waiting[1]);
            self.remaining[1] -= u64::from(reduces - state.finished[1]);
        }
        self.mark_ready(job, Kind::Reduce);
        self.task_waits(task);
        for place in 0..self.jobs[job.index()].runs[1].len() {
            let id = self.jobs[job.index()].runs[1][place];
            let run = &mut self.runs[id.index()];
            let fetches = run.shuffle_finish.is_some_and(|at| at > self.now);
            if fetches && run.course.outcome == Outcome::Success && !run.lost && run.kill != Kill::Done {
                (run.shuffle_finish, run.compute, run.end) = (None, None, None);
            }
        }
    }
}
