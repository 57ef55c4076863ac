//! The heartbeats of nodes and of application masters under YARN (`docs/model/containers.md`).
//!
//! ```text
//! allocated ──▶ taken over ──▶ starts ──▶ runs ──▶ ends ──▶ completed ──▶ learned
//! node's        master's       + launch   node's            node's        master's
//! heartbeat     next           overhead   next              next          next
//! ```
//!
//! All of these instants follow from the first one and the phases of the two heartbeats. So a heartbeat of a master is
//! an event only if the master learns of an end, or may change its requests. Heartbeats of nodes are parked as on
//! slots.
//!
//! Decisions: a master sends its requests at the heartbeat at which it decides them. A master fails only with its node.
//! When a job ends, its containers end at their nodes' next heartbeats.

use resched_tables::model::{Outcome, Reason};

use super::Engine;
use super::events::{NEVER, Position};
use super::parking::Needs;
use crate::Error;
use crate::hadoop::ask::Ask;
use crate::hadoop::attempt::Kill;
use crate::hadoop::containers::{AmState, Container, ContainerState, Reservation, container_of};
use crate::hadoop::observer::{Kept, MasterEnded, TakenBack};
use crate::hadoop::view::View;
use crate::hadoop::world::JobPhase;
use crate::ids::{AttemptId, JobId, Ms, NodeId};

impl Engine<'_, '_> {
    // Heartbeats of nodes.

    pub(super) fn container_heartbeat(&mut self, node: NodeId, at: Position, next: Ms) -> Result<(), Error> {
        self.take_container_reports(node, at)?;
        self.take_master_reports(node, at)?;
        self.serve_containers(node, at, next)?;
        // The application goes once the node's update has been handled (rule E1 of `docs/yarn.md`).
        let mut left = std::mem::take(&mut self.left);
        for job in left.drain(..) {
            self.leave(job)?;
        }
        self.left = left;
        Ok(())
    }

    /// Gives a node containers.
    pub(super) fn serve_containers(&mut self, node: NodeId, at: Position, next: Ms) -> Result<(), Error> {
        let view = View { world: &self.world };
        if self.policy.may_use(node, view) || self.policy.counts_heartbeats(view) {
            let before = self.kept_for(node);
            self.consult(node, at, next)?;
            self.report_kept(node, before)?;
        }
        Ok(())
    }

    /// The request that a node is kept for.
    pub(super) fn kept_for(&self, node: NodeId) -> Option<Reservation> {
        self.world.yarn.as_ref()?.nodes[node.index()].reservation
    }

    /// Reports what a node is kept for, if that was another request, or none, before.
    pub(super) fn report_kept(&mut self, node: NodeId, before: Option<Reservation>) -> Result<(), Error> {
        let reservation = self.kept_for(node);
        let request = |kept: Option<Reservation>| kept.map(|kept| (kept.job, kept.ask));
        if request(reservation) == request(before) {
            return Ok(());
        }
        self.observer.kept(&Kept { at: self.world.now, node, reservation })
    }

    /// Applies what the node reports of attempts: those that ended, in launch order, and those that run. What was ordered to
    /// be killed ends now.
    fn take_container_reports(&mut self, node: NodeId, at: Position) -> Result<(), Error> {
        let mut ended = std::mem::take(&mut self.ended);
        let mut running = [0; 2];
        for place in 0..self.world.nodes[node.index()].runs.len() {
            let id = self.world.nodes[node.index()].runs[place];
            let run = &mut self.world.runs[id.index()];
            let over = run.end.is_some_and(|end| end <= at.0);
            if over && run.kill == Kill::Ordered {
                // The order came too late.
                run.kill = Kill::No;
            }
            if over || run.kill == Kill::Ordered {
                ended.push(id);
            } else if run.start <= at.0 {
                running[run.kind.index()] += 1;
                if !run.reported {
                    let size = self.world.cluster.demand_of_job(self.world.workload.job(run.job), Ask::of(run.kind));
                    let container = container_of(run, size, ContainerState::Running);
                    self.world.mark_reported(id);
                    self.world.version += 1;
                    self.policy.container_changed(&container, View { world: &self.world });
                }
            }
        }
        self.world.nodes[node.index()].reported = running;
        for id in ended.drain(..) {
            if self.world.runs[id.index()].kill == Kill::Ordered {
                self.kill_now(id)?;
            }
            self.container_ended(id, at)?;
        }
        self.ended = ended;
        Ok(())
    }

    /// The resource manager learns that a container is over; the master of its job will at its next heartbeat.
    pub(super) fn container_ended(&mut self, id: AttemptId, at: Position) -> Result<(), Error> {
        self.take_off(id)?;
        let run = self.world.runs[id.index()].clone();
        if !run.taken_back {
            let size = self.world.demand_of(run.job, Ask::of(run.kind));
            let container = container_of(&run, size, ContainerState::Completed);
            self.policy.container_changed(&container, View { world: &self.world });
        }
        if self.world.jobs[run.job.index()].phase == JobPhase::Active {
            let job = run.job;
            self.with_yarn(|yarn| yarn.apps[job.index()].unlearned.push(run));
            self.plan_master(job, at.0);
        }
        Ok(())
    }

    /// The resource manager takes a container back at once (`FairScheduler.warnOrKillContainer`), though the room on its node may stay
    /// taken.
    pub(super) fn take_back(&mut self, id: AttemptId, keeps_room: bool) -> Result<(), Error> {
        self.report_launch(id)?;
        let run = &self.world.runs[id.index()];
        if run.taken_back {
            return Ok(());
        }
        let (task, attempt, node) = (run.task, run.attempt, run.node);
        let container = container_of(run, self.world.demand_of(run.job, Ask::of(run.kind)), ContainerState::Completed);
        self.world.take_back(id, keeps_room);
        self.policy.container_changed(&container, View { world: &self.world });
        self.observer.taken_back(&TakenBack { at: self.world.now, task, attempt, node })
    }

    /// The resource manager gives up a node with masters on it: their jobs' containers are killed, and another master is
    /// started, which learns of all that has ended since the last heartbeat of the first.
    pub(super) fn lose_masters(&mut self, node: NodeId, at: Position) -> Result<(), Error> {
        while let Some(job) = self.master_on(node, 0) {
            self.world.release_am(job, node);
            let size = self.world.cluster.demand_of(Ask::Am);
            let container =
                Container { id: 0, job, task: None, kind: None, node, size, state: ContainerState::Completed };
            self.policy.container_changed(&container, View { world: &self.world });
            self.observer.master_ended(&MasterEnded { at: self.world.now, job, outcome: Outcome::Lost })?;
            if self.world.jobs[job.index()].phase == JobPhase::Active {
                self.planned.cancel_master(job);
                self.world.restart_master(job);
                self.note_start(job, Reason::Master);
                for kind in 0..2 {
                    for id in self.world.jobs[job.index()].runs[kind].clone() {
                        self.will_kill(id, at);
                    }
                }
            } else {
                self.leave(job)?;
            }
        }
        Ok(())
    }

    /// The resource manager takes the container of a master back, and with it those of its job. Another master is asked for; it knows what
    /// was done, and nothing of the rest. The room of those that run is free once their nodes have reported their ends.
    pub(super) fn preempt_master(&mut self, job: JobId, at: Position) -> Result<(), Error> {
        let place = self.world.yarn.as_ref().and_then(|yarn| yarn.apps[job.index()].am_node);
        let Some(node) = place.filter(|_| self.world.jobs[job.index()].phase == JobPhase::Active) else {
            return Ok(());
        };
        self.observer.master_ended(&MasterEnded { at: self.world.now, job, outcome: Outcome::Killed })?;
        self.world.take_back_am(job, node);
        self.schedule(node, self.beat_after(node, at.0, at));
        let size = self.world.cluster.demand_of(Ask::Am);
        let container = Container { id: 0, job, task: None, kind: None, node, size, state: ContainerState::Completed };
        self.policy.container_changed(&container, View { world: &self.world });
        self.world.orphan_containers_of(job);
        for kind in 0..2 {
            for id in self.world.jobs[job.index()].runs[kind].clone() {
                self.order_preemption(id, at)?;
            }
        }
        for kept in self.world.unreserve_all(job) {
            self.observer.kept(&Kept { at: self.world.now, node: kept, reservation: None })?;
        }
        self.planned.cancel_master(job);
        self.world.restart_master(job);
        self.world.forget_places(job);
        self.note_start(job, Reason::Master);
        Ok(())
    }

    /// Applies what the node reports of application masters: those that run now, and those whose jobs have ended.
    fn take_master_reports(&mut self, node: NodeId, at: Position) -> Result<(), Error> {
        self.world.free_room_of_masters(node);
        let mut place = 0;
        while let Some(job) = self.master_on(node, place) {
            place += 1;
            let over = self.world.jobs[job.index()].phase == JobPhase::Over;
            let state = if over {
                self.world.release_am(job, node);
                let outcome = self.world.jobs[job.index()].outcome;
                self.observer.master_ended(&MasterEnded { at: at.0, job, outcome })?;
                self.left.push(job);
                place -= 1;
                ContainerState::Completed
            } else if self.starts_now(job, at.0) {
                self.with_yarn(|yarn| yarn.apps[job.index()].am = AmState::Running);
                self.world.version += 1;
                ContainerState::Running
            } else {
                continue;
            };
            let size = self.world.cluster.demand_of(Ask::Am);
            let container = Container { id: 0, job, task: None, kind: None, node, size, state };
            self.policy.container_changed(&container, View { world: &self.world });
        }
        Ok(())
    }

    fn master_on(&self, node: NodeId, place: usize) -> Option<JobId> {
        self.world.yarn.as_ref()?.nodes[node.index()].ams.get(place).copied()
    }

    /// True if the master of a job has started and no heartbeat has said so.
    fn starts_now(&self, job: JobId, at: Ms) -> bool {
        let app = self.world.yarn.as_ref().map(|yarn| &yarn.apps[job.index()]);
        app.is_some_and(|app| app.am == AmState::Allocated && app.am_start <= at)
    }

    pub(super) fn needs_container_node(&self, needs: Needs, node: NodeId) -> bool {
        needs.any_slot && self.policy.may_use(node, View { world: &self.world })
    }

    /// When this node must call next: as [`Engine::plan`], and once a container has started.
    pub(super) fn plan_containers(&mut self, node: NodeId, at: Position, next: Ms, needs: Needs) {
        let (mut first_start, mut first_end) = (NEVER, NEVER);
        let mut awake = false;
        for id in &self.world.nodes[node.index()].runs {
            let run = &self.world.runs[id.index()];
            awake |= run.kill == Kill::Ordered || self.is_over(run, at);
            first_end = first_end.min(self.end_to_come(run, at));
            if !run.reported {
                first_start = first_start.min(run.start);
            }
        }
        let Some(yarn) = &self.world.yarn else { return };
        awake |= yarn.nodes[node.index()].dying_ams > 0;
        for job in &yarn.nodes[node.index()].ams {
            awake |= self.world.jobs[job.index()].phase == JobPhase::Over;
            let app = &yarn.apps[job.index()];
            if app.am == AmState::Allocated {
                first_start = first_start.min(app.am_start);
            }
        }
        self.plan_beat(node, awake, next, needs);
        if first_start < NEVER {
            self.plan_call(node, self.beat_after(node, first_start, at));
        }
        if first_end < NEVER {
            self.plan_call(node, self.beat_for_end(node, first_end, at));
        }
        // A start is reported at a heartbeat, while an end may bring one of its own.
        if self.may_rest && !awake && first_start == NEVER {
            self.rests[node.index()] = first_end;
        }
    }

    // Heartbeats of application masters.

    /// The master of a job learns what has ended, takes over what it was given, and asks anew.
    pub(super) fn master_heartbeat(&mut self, job: JobId, at: Position) -> Result<(), Error> {
        if self.world.yarn.as_ref().is_some_and(|yarn| yarn.apps[job.index()].dead) {
            return Ok(());
        }
        let unlearned = self.with_yarn(|yarn| std::mem::take(&mut yarn.apps[job.index()].unlearned));
        for run in unlearned.unwrap_or_default() {
            if self.world.jobs[job.index()].phase == JobPhase::Active {
                self.learn_end(&run, at)?;
            }
        }
        if self.world.jobs[job.index()].phase != JobPhase::Active {
            self.end_containers(job, at);
            return Ok(());
        }
        if !self.is_set_up(job, at) {
            return Ok(());
        }
        self.note_set_up(job);
        for id in self.world.take_over(job, &mut self.cost) {
            self.report_start(id)?;
            let run = &self.world.runs[id.index()];
            if let Some(end) = run.end {
                let node = run.node;
                self.schedule(node, self.beat_for_end(node, end, at));
            }
        }
        let headroom = self.policy.headroom(job, View { world: &self.world });
        let stop = self.world.ask_for_tasks(job, headroom);
        for id in self.world.newest_reduces(job, stop) {
            self.kill_now(id)?;
            let node = self.world.runs[id.index()].node;
            self.world.version += 1;
            self.schedule(node, self.beat_after(node, at.0, at));
        }
        self.plan_next_of_master(job, at);
        Ok(())
    }

    /// The master of a job calls again after this event if it may ask for something else then.
    pub(super) fn plan_next_of_master(&mut self, job: JobId, at: Position) {
        if !self.parking || self.world.is_ramping(job) {
            let is_past = (at.0, self.classes.master, job.0) <= at;
            let beat = self.master_beat_that_counts(job, at.0 + Ms::from(is_past));
            self.plan_master(job, beat);
        }
    }

    /// A job has ended: what it still has ends when its nodes are reported.
    fn end_containers(&mut self, job: JobId, at: Position) {
        let am_node = self.world.yarn.as_ref().and_then(|yarn| yarn.apps[job.index()].am_node);
        let mut nodes: Vec<NodeId> = am_node.into_iter().collect();
        let world = &mut self.world;
        world.changes.note_attempt();
        for id in world.jobs[job.index()].runs.iter().flatten() {
            let run = &mut world.runs[id.index()];
            if run.kill == Kill::No {
                run.kill = Kill::Ordered;
            }
            nodes.push(run.node);
        }
        for node in nodes {
            self.schedule(node, self.beat_after(node, at.0, at));
        }
    }

    /// The master of a job that was given a container must take it over if that may change what it asks for.
    pub(super) fn plan_taking_over(&mut self, job: JobId, at: Position) {
        if self.world.yarn.is_some() && (self.world.has_granted(job) || self.world.is_ramping(job)) {
            self.plan_master(job, at.0);
        }
    }

    /// The master of this job, if it has one, has something to say or to hear at its first heartbeat at `at` or later.
    pub(super) fn plan_master(&mut self, job: JobId, at: Ms) {
        let Some(yarn) = &self.world.yarn else { return };
        let beat = yarn.am_beat(job, at);
        self.planned.plan_master(job, beat);
    }

    fn with_yarn<T>(&mut self, change: impl FnOnce(&mut crate::hadoop::containers::Yarn) -> T) -> Option<T> {
        self.world.yarn.as_deref_mut().map(change)
    }
}
