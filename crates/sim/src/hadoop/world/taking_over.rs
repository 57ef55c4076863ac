//! The application master of a job takes over the containers that it was given for maps, and chooses the maps
//! (`am.withdraws = "heartbeat"`).
//!
//! **Source.** Hadoop's `RMContainerAllocator.ScheduledRequests`: at a heartbeat of the master, the containers it was given since the
//! last one get maps in three rounds: maps with data on the container's node, maps with data in its rack, any maps. Requests of the
//! chosen maps are withdrawn.
//!
//! From the grant on, a container holds a map that may be another one later, so that the world can count it. Nothing has happened to
//! that map yet: it would start after the master's heartbeat.

use super::{Reach, TaskPhase, World};
use crate::cluster_file::Withdraws;
use crate::hadoop::ask::Ask;
use crate::hadoop::attempt::{Attempt, Kill};
use crate::hadoop::cost::CostModel;
use crate::hadoop::kind::Kind;
use crate::ids::{AttemptId, JobId, TaskId};

impl World<'_> {
    /// True if the map of a container is settled only when its job's master takes it over.
    fn is_settled_later(&self, id: AttemptId) -> bool {
        let run = &self.runs[id.index()];
        self.yarn.is_some()
            && self.cluster.config.am.withdraws == Withdraws::Heartbeat
            && run.kind == Kind::Map
            && self.ask_of(run.task, run.kind) == Ask::Map
    }

    /// Notes a container whose map is settled later. It does no work before, and nobody knows when it will end.
    pub(super) fn note_granted(&mut self, id: AttemptId) {
        if self.is_settled_later(id)
            && let Some(yarn) = &mut self.yarn
        {
            yarn.apps[self.runs[id.index()].job.index()].granted.push(id);
            let run = &mut self.runs[id.index()];
            (run.granted, run.end) = (true, None);
            self.leave_bench(id);
        }
    }

    /// A container ends; if its map was to be settled later, it is no longer.
    pub(super) fn forget_granted(&mut self, id: AttemptId, job: JobId) {
        if let Some(yarn) = &mut self.yarn {
            yarn.apps[job.index()].granted.retain(|&other| other != id);
        }
    }

    /// True if the master of a job was given containers for maps that it has not taken over.
    pub(crate) fn has_granted(&self, job: JobId) -> bool {
        self.yarn.as_ref().is_some_and(|yarn| !yarn.apps[job.index()].granted.is_empty())
    }

    /// Takes the containers that wait for their maps: they wait no longer.
    pub(super) fn take_granted(&mut self, job: JobId) -> Vec<AttemptId> {
        let Some(yarn) = &mut self.yarn else { return Vec::new() };
        let granted = std::mem::take(&mut yarn.apps[job.index()].granted);
        for id in &granted {
            self.runs[id.index()].granted = false;
        }
        granted
    }

    /// The master of a job chooses the maps for the containers that it was given. Returns these, in the order of the grants.
    pub(crate) fn take_over(&mut self, job: JobId, cost: &mut CostModel<'_>) -> Vec<AttemptId> {
        let granted = self.take_granted(job);
        self.changes.note_attempt();
        let open: Vec<AttemptId> = granted.iter().copied().filter(|&id| self.may_get_another_map(id)).collect();
        // The latest first: of maps that came back, the one that was taken first is found first again.
        for &id in open.iter().rev() {
            self.put_back(self.runs[id.index()].task);
        }
        let mut left = open;
        for reach in [Reach::Node, Reach::Rack, Reach::Any] {
            left.retain(|&id| match self.map_for(id, reach) {
                Some(task) => {
                    self.settle(id, task, cost);
                    false
                }
                None => true,
            });
        }
        debug_assert!(left.is_empty(), "as many maps wait as were put back");
        for &id in &granted {
            self.withdraw_map(self.runs[id.index()].task);
            let run = &mut self.runs[id.index()];
            if run.kill == Kill::No && !run.lost && self.bench.is_none() {
                run.end = Some(run.start + run.course.run);
            }
            if let Some(bench) = &mut self.bench {
                bench.launch(id, self.runs[id.index()].start);
            }
        }
        granted
    }

    /// One that was ordered to end keeps its map, and so does one whose map was backed up, or has failed in the meantime.
    fn may_get_another_map(&self, id: AttemptId) -> bool {
        let run = &self.runs[id.index()];
        let task = &self.tasks[run.task.index()];
        run.kill == Kill::No && !run.lost && !run.announced && task.live == 1 && task.failures == 0
    }

    /// A map that had a container has not been launched, after all.
    fn put_back(&mut self, task: TaskId) {
        let job = self.workload.job_of(task);
        let placed = !self.workload.replicas(task).is_empty();
        let state = &mut self.tasks[task.index()];
        state.tries -= 1;
        state.live -= 1;
        let is_new = state.tries == 0;
        state.phase = if is_new { TaskPhase::Waiting } else { TaskPhase::Returned };
        let job = &mut self.jobs[job.index()];
        job.waiting[0] += 1;
        self.ready[0] += 1;
        match &mut job.maps {
            Some(maps) if is_new => maps.not_launched(self.workload, self.cluster, task),
            Some(maps) => maps.returned(task, placed),
            None => {}
        }
    }

    /// The map that waits for the node of a container.
    fn map_for(&self, id: AttemptId, reach: Reach) -> Option<TaskId> {
        let run = &self.runs[id.index()];
        let maps = self.jobs[run.job.index()].maps.as_ref()?;
        maps.find(self.workload, self.cluster, (run.node, self.live_nodes), reach).map(|found| found.task)
    }

    /// Gives a map to a container.
    fn settle(&mut self, id: AttemptId, task: TaskId, cost: &mut CostModel<'_>) {
        let Attempt { job, node, .. } = self.runs[id.index()];
        let placed = !self.workload.replicas(task).is_empty();
        if let Some(maps) = &mut self.jobs[job.index()].maps {
            maps.launched(task, placed);
        }
        self.jobs[job.index()].waiting[0] -= 1;
        self.ready[0] -= 1;
        let state = &mut self.tasks[task.index()];
        let attempt = state.tries;
        state.phase = TaskPhase::Running;
        state.tries += 1;
        state.live += 1;
        let level = self.level(task, node);
        let course = cost.course(task, attempt, level, node, false);
        let run = &mut self.runs[id.index()];
        (run.task, run.attempt, run.level, run.course) = (task, attempt, level, course);
    }
}
