//! The heartbeats of nodes: their reports, and the work they get.

use resched_tables::model::Reason;

use super::Engine;
use super::events::{NEVER, Position};
use super::parking::Needs;
use crate::Error;
use crate::cluster_file::ReduceModel;
use crate::hadoop::attempt::Attempt;
use crate::hadoop::given::Given;
use crate::hadoop::kind::Kind;
use crate::hadoop::observer::{Kept, MasterLaunched};
use crate::hadoop::offer::Offer;
use crate::hadoop::resources::Resources;
use crate::hadoop::view::{AttemptView, View};
use crate::hadoop::world::{Health, JobPhase};
use crate::ids::{AttemptId, Ms, NodeId};

impl Engine<'_, '_> {
    /// The first heartbeat of a node at `at` or later that comes after the event at `position`.
    pub(super) fn beat_after(&self, node: NodeId, at: Ms, position: Position) -> Ms {
        let beat = self.world.beats.from(node, at);
        if (beat, self.classes.heartbeat, node.0) > position { beat } else { self.world.beats.from(node, beat + 1) }
    }

    /// The heartbeat that reports an attempt that ends at `end`.
    pub(super) fn beat_for_end(&self, node: NodeId, end: Ms, at: Position) -> Ms {
        let out_of_band = self.world.cluster.config.heartbeat.out_of_band;
        if out_of_band && (end, self.classes.heartbeat, node.0) > at { end } else { self.beat_after(node, end, at) }
    }

    /// What is on a node has changed: it has a heartbeat at `at`, if it has none before.
    pub(super) fn schedule(&mut self, node: NodeId, at: Ms) {
        self.disturb(node);
        self.plan_call(node, at);
    }

    /// The node has a heartbeat at `at`, if it has none before.
    #[inline]
    pub(super) fn plan_call(&mut self, node: NodeId, at: Ms) {
        if at < self.planned.of_node(node) && self.world.nodes[node.index()].health == Health::Up {
            self.planned.plan_node(node, at);
        }
    }

    /// The node's next heartbeat may have something to report or to hear.
    #[inline]
    pub(super) fn disturb(&mut self, node: NodeId) {
        self.rests[node.index()] = Ms::MIN;
    }

    /// Handles the heartbeat of a node. An out-of-band heartbeat is dropped if the attempt that would have triggered it was killed first.
    /// Returns which nodes are needed after it.
    pub(super) fn heartbeat_if_due(&mut self, node: NodeId, at: Position) -> Result<Needs, Error> {
        if self.rests[node.index()] > at.0 {
            return self.heartbeat_at_rest(node, at);
        }
        let next = self.beat_after(node, at.0, at);
        let runs = &self.world.nodes[node.index()].runs;
        let ended = |id: &AttemptId| self.world.runs[id.index()].end.is_some_and(|end| end <= at.0);
        let due = !self.world.cluster.config.heartbeat.out_of_band
            || self.world.beats.from(node, at.0) == at.0
            || runs.iter().any(ended)
            || self.world.nodes[node.index()].chores.iter().any(|chore| chore.end <= at.0);
        if due && self.world.yarn.is_some() {
            self.container_heartbeat(node, at, next)?;
        } else if due {
            self.heartbeat(node, at, next)?;
        }
        self.disturb(node);
        let needs = self.find_needs();
        self.plan(node, at, next, needs);
        Ok(needs)
    }

    /// A node with slots calls: it reports, is given work, and carries out what it is reported.
    fn heartbeat(&mut self, node: NodeId, at: Position, next: Ms) -> Result<(), Error> {
        self.world.settle_reports(at.0, node);
        self.take_reports(node, at)?;
        self.take_chore_reports(node)?;
        self.serve(node, at, next)?;
        self.carry_out_kills(node)?;
        self.notify_reduces(node)
    }

    /// A node calls that has nothing to report: all is as at its heartbeat before, but for what it is given now.
    fn heartbeat_at_rest(&mut self, node: NodeId, at: Position) -> Result<Needs, Error> {
        let (version, rests) = (self.world.version, self.rests[node.index()]);
        let next = at.0 + self.world.cluster.interval();
        self.world.settle_reports(at.0, node);
        self.serve(node, at, next)?;
        let needs = self.find_needs();
        if self.world.version == version {
            self.stay_at_rest(node, (rests, at), next, needs);
        } else {
            self.disturb(node);
            self.plan(node, at, next, needs);
        }
        Ok(needs)
    }

    /// Plans the next heartbeat of a node that has nothing to report until `rests`.
    pub(super) fn stay_at_rest(&mut self, node: NodeId, (rests, at): (Ms, Position), next: Ms, needs: Needs) {
        self.plan_beat(node, false, next, needs);
        if rests < NEVER && self.planned.of_node(node) > next {
            self.plan_call(node, self.beat_for_end(node, rests, at));
        }
    }

    /// Gives a node work.
    fn serve(&mut self, node: NodeId, at: Position, next: Ms) -> Result<(), Error> {
        if self.world.yarn.is_some() {
            return self.serve_containers(node, at, next);
        }
        // A node that gets a set-up or clean-up task gets nothing else at this heartbeat.
        let served = self.world.chores_wait() && self.world.start_chore(node);
        let view = View { world: &self.world };
        if !served && (view.free(node) != Resources::NONE || self.policy.counts_heartbeats(view)) {
            self.consult(node, at, next)?;
        }
        Ok(())
    }

    /// Applies what the node reports: attempts that ended, in launch order, and those that run.
    fn take_reports(&mut self, node: NodeId, at: Position) -> Result<(), Error> {
        let mut ended = std::mem::take(&mut self.ended);
        let mut running = [0; 2];
        for place in 0..self.world.nodes[node.index()].runs.len() {
            let id = self.world.nodes[node.index()].runs[place];
            let run = &self.world.runs[id.index()];
            if run.end.is_some_and(|end| end <= at.0) {
                ended.push(id);
            } else {
                running[run.kind.index()] += 1;
                self.world.mark_reported(id);
            }
        }
        self.world.nodes[node.index()].reported = running;
        for id in ended.drain(..) {
            self.attempt_ended(id, at)?;
        }
        self.ended = ended;
        Ok(())
    }

    /// Asks the policy what the node should run, and reports what it launched. When all jobs have ended, nobody is asked.
    pub(super) fn consult(&mut self, node: NodeId, at: Position, next_beat: Ms) -> Result<(), Error> {
        if self.over {
            return Ok(());
        }
        let mut offer = Offer { world: &mut self.world, cost: &mut self.cost, node, next_beat, given: &mut self.given };
        self.policy.heartbeat(&mut offer).map_err(|violation| self.violation(violation))?;
        let mut all_given = std::mem::take(&mut self.given);
        for &given in &all_given {
            match given {
                Given::Master(job) => {
                    self.observer.master_launched(&MasterLaunched { at: at.0, job, node })?;
                    self.note_start(job, Reason::Starting);
                    self.plan_master(job, at.0);
                }
                // They are reported after what was given.
                Given::Freed(_) => {}
                Given::Attempt(id) => {
                    self.fix_reduce_end(id);
                    self.tally.launches += 1;
                    if self.world.runs[id.index()].backup {
                        // A map that is backed up is settled.
                        self.report_others(id)?;
                    }
                    if !self.world.runs[id.index()].granted {
                        self.report_start(id)?;
                    }
                    self.plan_taking_over(self.world.runs[id.index()].job, at);
                }
            }
        }
        for given in all_given.drain(..) {
            if let Given::Freed(node) = given {
                self.observer.kept(&Kept { at: at.0, node, reservation: None })?;
                self.schedule(node, self.beat_after(node, at.0, at));
            }
        }
        self.given = all_given;
        Ok(())
    }

    /// Reports the other attempts at the task of this one, if they have not been.
    fn report_others(&mut self, id: AttemptId) -> Result<(), Error> {
        let run = &self.world.runs[id.index()];
        let others = &self.world.jobs[run.job.index()].runs[run.kind.index()];
        let unreported = |other: &&AttemptId| {
            let other = &self.world.runs[other.index()];
            other.task == run.task && !other.announced
        };
        let others: Vec<AttemptId> = others.iter().filter(unreported).copied().filter(|&other| other != id).collect();
        others.into_iter().try_for_each(|other| self.report_start(other))
    }

    /// The task of an attempt has been chosen.
    pub(super) fn report_start(&mut self, id: AttemptId) -> Result<(), Error> {
        if self.world.runs[id.index()].announced {
            return Ok(());
        }
        self.report_launch(id)?;
        self.policy.task_started(&AttemptView::of(&self.world, id), View { world: &self.world });
        Ok(())
    }

    /// Model R0: the reduces that this heartbeat reported, of jobs whose maps are all done, start their reduce phase; there is
    /// no sort. One that is still being launched starts it at its start.
    fn notify_reduces(&mut self, node: NodeId) -> Result<(), Error> {
        if self.world.cluster.config.cost.reduce != ReduceModel::R0 {
            return Ok(());
        }
        for place in 0..self.world.nodes[node.index()].runs.len() {
            let id = self.world.nodes[node.index()].runs[place];
            if self.waits_for_notice(&self.world.runs[id.index()]) && self.world.runs[id.index()].reported {
                let now = self.world.now;
                let run = &mut self.world.runs[id.index()];
                let shuffled = now.max(run.start);
                run.shuffle_finish = Some(shuffled);
                run.end = Some(shuffled + run.course.run);
                self.world.changes.note_attempt();
                self.observer.notified(now, run.task, run.attempt)?;
                self.world.plan_computing(node);
            }
        }
        Ok(())
    }

    /// True if a reduce waits for its node to learn that all maps are done.
    pub(super) fn waits_for_notice(&self, run: &Attempt) -> bool {
        let job = &self.world.jobs[run.job.index()];
        run.end.is_none() && run.kind == Kind::Reduce && job.phase == JobPhase::Active && job.maps_done.is_some()
    }
}
