//! Attempts start and end, and tasks with them.

use super::{JobPhase, Reach, TaskPhase, TaskState, World};
use crate::hadoop::ask::Ask;
use crate::hadoop::attempt::{Attempt, Kill};
use crate::hadoop::cost::Course;
use crate::hadoop::kind::Kind;
use crate::hadoop::resources::Resources;
use crate::ids::Ms;
use crate::ids::{AttemptId, JobId, NodeId, TaskId};
use resched_tables::model::Locality;

impl World<'_> {
    /// Puts a task that waits on a node that has room for it. Under YARN its container was given as one so `near` its input.
    pub(crate) fn launch(
        &mut self,
        task: TaskId,
        node: NodeId,
        course: (Course, Locality),
        (near, next_beat): (Reach, Ms),
    ) -> AttemptId {
        let job = self.workload.job_of(task);
        let kind = self.workload.job(job).place(task).0;
        let placed = !self.workload.replicas(task).is_empty();
        self.container_taken(task, (job, kind), (node, near));
        let reduces_ready = self.reduces_may_start(job);
        let state = &mut self.jobs[job.index()];
        match kind {
            Kind::Map => {
                if let Some(maps) = &mut state.maps {
                    maps.launched(task, placed);
                }
                self.ready[0] -= 1;
            }
            Kind::Reduce => {
                if task.0 == state.next_reduce {
                    state.next_reduce += 1;
                }
                self.ready[1] -= u64::from(reduces_ready);
            }
        }
        state.waiting[kind.index()] -= 1;
        state.launch = state.launch.or(Some(self.now));
        self.mark_ready(job, kind);
        let id = self.start(task, node, course, next_beat, false);
        self.note_granted(id);
        id
    }

    /// The number of a container that is made now.
    pub(crate) fn next_container(&mut self) -> u64 {
        self.launches += 1;
        self.launches
    }

    /// Grows with every change but launches. A container that a node is kept for has its number since then, as one that is launched.
    pub(crate) fn earlier_version(&self) -> u64 {
        self.version + self.changes.of_earlier_attempts() - self.launches
    }

    /// Puts another attempt at a task that runs on a node that has room for it.
    pub(crate) fn launch_backup(
        &mut self,
        task: TaskId,
        node: NodeId,
        course: (Course, Locality),
        next_beat: Ms,
    ) -> AttemptId {
        let id = self.start(task, node, course, next_beat, true);
        let run = &self.runs[id.index()];
        let (job, k) = (run.job, run.kind.index());
        self.container_added(job, Kind::BOTH[k]);
        self.jobs[job.index()].backups[k] += 1;
        self.backups[k] += 1;
        id
    }

    /// Starts an attempt that will go so, so near to its input.
    fn start(
        &mut self,
        task: TaskId,
        node: NodeId,
        (course, level): (Course, Locality),
        next_beat: Ms,
        backup: bool,
    ) -> AttemptId {
        let job = self.workload.job_of(task);
        let kind = self.workload.job(job).place(task).0;
        debug_assert_eq!(level, self.level_as(kind, task, node), "a list of maps is not its node's");
        let start = self.start_of(job);
        let k = kind.index();
        let state = &mut self.jobs[job.index()];
        state.running[k] += 1;
        self.running[k] += 1;
        self.changes.note_job(job);
        let launch = self.next_container();
        let state = &mut self.jobs[job.index()];
        let run = Attempt {
            task,
            job,
            kind,
            attempt: self.tasks[task.index()].tries,
            node,
            level,
            assigned: self.now,
            start,
            course,
            shuffle_finish: None,
            compute: None,
            end: (kind == Kind::Map && self.bench.is_none()).then_some(start + course.run),
            reported: false,
            kill: Kill::No,
            backup,
            lost: false,
            unwanted: false,
            place: state.runs[k].len() as u32,
            launch,
            container: launch,
            taken_back: false,
            keeps_room: false,
            granted: false,
            announced: false,
        };
        let id = self.free_runs.pop().unwrap_or(AttemptId(self.runs.len() as u32));
        state.runs[k].push(id);
        if id.index() == self.runs.len() {
            self.runs.push(run);
        } else {
            self.runs[id.index()] = run;
        }
        let task = &mut self.tasks[task.index()];
        task.phase = TaskPhase::Running;
        task.tries += 1;
        task.live += 1;
        self.nodes[node.index()].runs.push(id);
        if let Some(bench) = &mut self.bench {
            bench.launch(id, start);
        }
        let demand = self.demand_of(job, Ask::of(kind));
        self.set_free(node, self.nodes[node.index()].free.minus(demand));
        if self.yarn.is_none() {
            self.expect_report(next_beat, node, id);
        }
        self.version += 1;
        id
    }

    /// True if this names an attempt that is on a node.
    pub(crate) fn is_on_node(&self, id: AttemptId) -> bool {
        self.runs.get(id.index()).is_some_and(|run| self.nodes[run.node.index()].runs.contains(&id))
    }

    /// A node has so much free from now on.
    pub(crate) fn set_free(&mut self, node: NodeId, free: Resources) {
        let before = std::mem::replace(&mut self.nodes[node.index()].free, free);
        for kind in Kind::BOTH {
            let has_room = |free: Resources| u32::from(free.holds(self.cluster.demand(kind)));
            let roomy = &mut self.roomy[kind.index()];
            *roomy = *roomy + has_room(free) - has_room(before);
            self.short[kind.index()].change(before.main(), free.main(), self.cluster.demand(kind).main());
        }
    }

    /// Frees what an attempt held. Its task is where the caller puts it. How it stands can still be read until the next one is launched.
    pub(crate) fn release(&mut self, id: AttemptId) {
        self.leave_bench(id);
        let Attempt { task, job, kind, node, place, backup, reported, granted, taken_back, keeps_room, .. } =
            self.runs[id.index()];
        let k = kind.index();
        self.tasks[task.index()].live -= 1;
        self.nodes[node.index()].runs.retain(|&other| other != id);
        if !taken_back {
            self.give_back(node, job, kind);
        } else if keeps_room {
            self.give_room_back(node, job, kind);
        }
        if granted {
            self.forget_granted(id, job);
        }
        let state = &mut self.jobs[job.index()];
        let active = u64::from(state.phase == JobPhase::Active);
        state.running[k] -= 1;
        self.changes.note_job(job);
        self.running[k] -= active;
        if backup {
            state.backups[k] -= 1;
            self.backups[k] -= active;
        }
        state.runs[k].swap_remove(place as usize);
        if let Some(&moved) = state.runs[k].get(place as usize) {
            self.runs[moved.index()].place = place;
        }
        if reported {
            self.reported[k] -= 1;
        }
        self.free_runs.push(id);
        self.version += 1;
    }

    /// What an attempt of a job at a task of a kind holds on a node is free again.
    fn give_back(&mut self, node: NodeId, job: JobId, kind: Kind) {
        self.give_room_back(node, job, kind);
        self.container_given_back(job, kind);
    }

    fn give_room_back(&mut self, node: NodeId, job: JobId, kind: Kind) {
        let demand = self.demand_of(job, Ask::of(kind));
        self.set_free(node, self.nodes[node.index()].free.plus(demand));
    }

    /// The resource manager takes the container of an attempt back at once; its node will end it, and may keep its room until then.
    pub(crate) fn take_back(&mut self, id: AttemptId, keeps_room: bool) {
        let run = &mut self.runs[id.index()];
        (run.taken_back, run.keeps_room) = (true, keeps_room);
        let (node, job, kind) = (run.node, run.job, run.kind);
        if keeps_room {
            self.container_given_back(job, kind);
        } else {
            self.give_back(node, job, kind);
        }
        self.version += 1;
    }

    /// A task has done its work. Returns whether it was the last map of its job.
    pub(crate) fn task_done(&mut self, run: &Attempt) -> bool {
        let task = &mut self.tasks[run.task.index()];
        task.phase = TaskPhase::Done;
        let again = std::mem::replace(&mut task.done_on, run.node) != TaskState::NOWHERE;
        let was_ready = self.reduces_may_start(run.job);
        let spec = self.workload.job(run.job);
        let state = &mut self.jobs[run.job.index()];
        state.finished[run.kind.index()] += 1;
        if run.kind == Kind::Reduce {
            self.remaining[1] -= u64::from(was_ready);
            return false;
        }
        self.remaining[0] -= 1;
        let maps = spec.count(Kind::Map);
        let reduces = spec.count(Kind::Reduce);
        if reduces > 0 {
            let made = spec.shuffle_bytes.unwrap_or(0).max(0) as f64 / f64::from(maps) / f64::from(reduces);
            if again {
                state.fluid.map_redone(self.now, made);
            } else {
                state.fluid.map_ended(self.now, made);
            }
            if self.follows_output {
                let bytes = self.workload.output_bytes(run.task).filter(|_| state.output_in_bytes);
                state.map_output.resize(self.nodes.len(), 0.0);
                state.map_output[run.node.index()] += bytes.map_or(1.0, |bytes| bytes as f64);
            }
            self.feed(run.job, if again { 0.0 } else { made }, run.node);
        }
        let state = &mut self.jobs[run.job.index()];
        let last = state.finished[0] == maps;
        if last {
            state.maps_done = Some(self.now);
        }
        if !was_ready && self.reduces_may_start(run.job) {
            self.release_reduces(run.job);
        }
        last
    }

    /// An attempt failed: its task should not run on that node again.
    pub(crate) fn attempt_failed(&mut self, run: &Attempt) {
        self.tasks[run.task.index()].failures += 1;
        let state = &mut self.jobs[run.job.index()];
        match state.node_failures.iter_mut().find(|(other, _)| *other == run.node) {
            Some((_, failed)) => *failed += 1,
            None => state.node_failures.push((run.node, 1)),
        }
        match (&mut state.maps, run.kind) {
            (Some(maps), Kind::Map) => maps.failed(run.task, run.node),
            (None, Kind::Map) => {}
            (_, Kind::Reduce) => match state.failed_reduces.iter_mut().find(|(task, _)| *task == run.task) {
                Some((_, nodes)) if nodes.contains(&run.node) => {}
                Some((_, nodes)) => nodes.push(run.node),
                None => state.failed_reduces.push((run.task, vec![run.node])),
            },
        }
    }

    /// A task of which no attempt runs waits again, at the front.
    pub(crate) fn task_waits(&mut self, task: TaskId) {
        let job = self.workload.job_of(task);
        let kind = self.workload.job(job).place(task).0;
        let placed = !self.workload.replicas(task).is_empty();
        let reduces_ready = self.reduces_may_start(job);
        self.tasks[task.index()].phase = TaskPhase::Returned;
        let state = &mut self.jobs[job.index()];
        state.waiting[kind.index()] += 1;
        match kind {
            Kind::Map => {
                if let Some(maps) = &mut state.maps {
                    maps.returned(task, placed);
                }
                self.ready[0] += 1;
            }
            Kind::Reduce => {
                state.returned_reduces.retain(|&other| other != task);
                state.returned_reduces.push(task);
                self.ready[1] += u64::from(reduces_ready);
            }
        }
        self.mark_ready(job, kind);
    }
}
