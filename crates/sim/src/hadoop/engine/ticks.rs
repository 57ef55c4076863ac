//! The ticks of a policy, and its orders at them.

use super::Engine;
use super::events::Position;
use crate::Error;
use crate::error::Violation;
use crate::hadoop::view::View;
use crate::ids::{AttemptId, Ms, NodeId};
use crate::observer::Decided;

impl Engine<'_, '_> {
    /// Calls the policy, reports its decisions and carries out its orders.
    pub(super) fn tick(&mut self, at: Position) -> Result<(), Error> {
        self.next_tick = self.policy.period().map(|period| self.tick_from(at.0 + period));
        let reported = if self.classes.heartbeat < self.classes.tick { at.0 } else { at.0 - 1 };
        self.world.settle_reports(reported, NodeId(u32::MAX));
        self.before_tick(at)?;
        let unchanged = self.ticked.0 == self.world.version;
        self.policy.tick(View { world: &self.world }, &mut self.orders);
        for (name, job, value) in self.orders.decisions.drain(..) {
            self.observer.decided(&Decided { at: at.0, name, job, value, other: None })?;
        }
        let mut orders = std::mem::take(&mut self.orders.kills);
        for run in orders.drain(..) {
            self.order_kill(run, at)?;
        }
        self.orders.kills = orders;
        let mut orders = std::mem::take(&mut self.orders.preempted);
        for run in orders.drain(..) {
            self.order_preemption(run, at)?;
        }
        self.orders.preempted = orders;
        let mut freed = std::mem::take(&mut self.orders.freed);
        for node in freed.drain(..) {
            self.free_kept(node, at)?;
        }
        self.orders.freed = freed;
        self.ticked = (self.world.version, unchanged && self.ticked.0 == self.world.version);
        Ok(())
    }

    /// The first tick at `due` or later that does anything. In a lull, each may count, because the first of a window does what those before
    /// it would have done.
    fn tick_from(&self, due: Ms) -> Ms {
        if !self.parking {
            return due;
        }
        let start = self.world.cluster.config.heartbeat.first;
        let next = self.policy.tick_from(due - start) + start;
        if next - self.progressed.1 < self.lulls.after { next } else { due }
    }

    fn order_kill(&mut self, id: AttemptId, at: Position) -> Result<(), Error> {
        if !self.world.is_on_node(id) {
            return Err(self.violation(Violation("kills an attempt that is on no node".to_owned())));
        }
        self.will_kill(id, at);
        if self.world.yarn.is_some() { self.take_back(id, false) } else { Ok(()) }
    }

    pub(super) fn order_preemption(&mut self, id: AttemptId, at: Position) -> Result<(), Error> {
        if !self.world.is_on_node(id) {
            return Err(self.violation(Violation("preempts an attempt that is on no node".to_owned())));
        }
        self.will_kill(id, at);
        let keeps_room = self.world.runs[id.index()].reported;
        self.take_back(id, keeps_room)
    }

    /// Carries out what the policy wants to be done before its tick.
    fn before_tick(&mut self, at: Position) -> Result<(), Error> {
        self.policy.before_tick(View { world: &self.world }, &mut self.orders);
        let mut orders = std::mem::take(&mut self.orders.preempted);
        for run in orders.drain(..) {
            // Its job's master may have been preempted before it.
            if self.world.is_on_node(run) {
                self.order_preemption(run, at)?;
            }
        }
        self.orders.preempted = orders;
        let mut masters = std::mem::take(&mut self.orders.masters);
        for job in masters.drain(..) {
            self.preempt_master(job, at)?;
        }
        self.orders.masters = masters;
        Ok(())
    }

    /// A node is kept for a request no longer.
    fn free_kept(&mut self, node: NodeId, at: Position) -> Result<(), Error> {
        let before = self.kept_for(node);
        self.world.keep_no_longer(node);
        self.world.version += 1;
        self.schedule(node, self.beat_after(node, at.0, at));
        self.report_kept(node, before)
    }
}
