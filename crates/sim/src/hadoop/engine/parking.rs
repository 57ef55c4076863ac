//! Parking: the heartbeats of nodes that may be left out because they change nothing.

use super::Engine;
use super::events::{NEVER, Position};
use crate::hadoop::attempt::{Attempt, Kill};
use crate::hadoop::kind::Kind;
use crate::hadoop::resources::Resources;
use crate::hadoop::view::View;
use crate::ids::{Ms, NodeId};

/// Which nodes must not sleep: those with a free slot of a kind, with any free slot, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Needs {
    pub(super) maps: bool,
    pub(super) reduces: bool,
    pub(super) any_slot: bool,
    pub(super) all: bool,
}

impl Engine<'_, '_> {
    /// When this node must call next: at its next heartbeat if it could get a task or has something to say or hear,
    /// else once an attempt has ended.
    pub(super) fn plan(&mut self, node: NodeId, at: Position, next: Ms, needs: Needs) {
        if self.world.yarn.is_some() {
            return self.plan_containers(node, at, next, needs);
        }
        let (mut first_end, mut awake) = (NEVER, false);
        for id in &self.world.nodes[node.index()].runs {
            let run = &self.world.runs[id.index()];
            awake |= run.kill != Kill::No || self.waits_for_notice(run) || self.is_over(run, at);
            first_end = first_end.min(self.end_to_come(run, at));
        }
        for chore in &self.world.nodes[node.index()].chores {
            let over = self.is_past(chore.end, node, at);
            awake |= over;
            first_end = first_end.min(if over { NEVER } else { chore.end });
        }
        self.plan_beat(node, awake, next, needs);
        if first_end < NEVER {
            self.plan_call(node, self.beat_for_end(node, first_end, at));
        }
        let state = &self.world.nodes[node.index()];
        let reported = state.reported.iter().sum::<u32>() as usize;
        if self.may_rest && !awake && reported == state.runs.len() + state.chores.len() {
            self.rests[node.index()] = first_end;
        }
    }

    /// Plans the next heartbeat of a node if it must call then, or else the next one that counts if it could get a task.
    pub(super) fn plan_beat(&mut self, node: NodeId, awake: bool, next: Ms, needs: Needs) {
        if awake {
            self.plan_call(node, next);
        } else if self.needs_node(needs, node) {
            let beat = self.beat_that_counts(node, next);
            self.plan_call(node, beat);
        }
    }

    /// True if an attempt is over but too late for this event, if it is its node's heartbeat: the next one reports it.
    pub(super) fn is_over(&self, run: &Attempt, at: Position) -> bool {
        run.end.is_some_and(|end| self.is_past(end, run.node, at))
    }

    /// True if a heartbeat of the node at `end` would come before this event, or is it.
    fn is_past(&self, end: Ms, node: NodeId, at: Position) -> bool {
        (end, self.classes.heartbeat, node.0) <= at
    }

    /// When an attempt that runs will end, if that is known.
    pub(super) fn end_to_come(&self, run: &Attempt, at: Position) -> Ms {
        run.end.filter(|_| !self.is_over(run, at)).unwrap_or(NEVER)
    }

    /// Which nodes must not sleep now; all, if heartbeats are not left out.
    pub(super) fn find_needs(&self) -> Needs {
        if self.over {
            return Needs::default();
        }
        if !self.parking {
            return Needs { all: true, ..Needs::default() };
        }
        let restless = self.policy.restless(View { world: &self.world });
        let all = self.policy.counts_heartbeats(View { world: &self.world });
        if let Some(yarn) = &self.world.yarn {
            return Needs { any_slot: yarn.any_asked() || restless, all, ..Needs::default() };
        }
        let any_slot = restless || self.world.chores_wait();
        Needs { maps: self.world.ready[0] > 0, reduces: self.world.ready[1] > 0, any_slot, all }
    }

    pub(super) fn needs_node(&self, needs: Needs, node: NodeId) -> bool {
        if needs.all || needs == Needs::default() {
            return needs.all;
        }
        if self.world.yarn.is_some() {
            return self.needs_container_node(needs, node);
        }
        let free = self.world.nodes[node.index()].free;
        let fits = |kind| free.holds(self.world.cluster.demand(kind));
        let by_kind = needs.maps && fits(Kind::Map) || needs.reduces && fits(Kind::Reduce);
        by_kind || needs.any_slot && free != Resources::NONE
    }

    /// Wakes the nodes that this event has made needed, if these are what is needed `now`.
    pub(super) fn wake_for_needs(&mut self, at: Position, now: Needs) {
        let before = std::mem::replace(&mut self.needs, now);
        let rises = |need: fn(Needs) -> bool| need(now) && !need(before);
        let more = rises(|n| n.maps) || rises(|n| n.reduces) || rises(|n| n.any_slot) || rises(|n| n.all);
        if !more {
            return;
        }
        // A node that calls within an interval from now calls at its next heartbeat already.
        let soon = if self.planned.are_regular() { at.0 + self.world.cluster.interval() } else { Ms::MIN };
        for node in self.world.cluster.node_ids() {
            if self.planned.of_node(node) >= soon && self.needs_node(now, node) {
                let next = self.beat_after(node, at.0, at);
                let beat = self.beat_that_counts(node, next);
                self.plan_call(node, beat);
            }
        }
    }
}
