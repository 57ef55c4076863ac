//! Heartbeats that come to nothing: their nodes have nothing to report, and the policy declines to decide anything. They are counted
//! as events, and no more is done for them.

use super::Engine;
use super::events::{Event, Position};
use super::parking::Needs;
use super::stall::PATIENCE;
use crate::hadoop::view::View;
use crate::ids::{Ms, NodeId};

/// Which heartbeats a policy declines to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declined {
    Nothing,
    /// Those of nodes on which no waiting task fits.
    WhereNothingFits,
    Everywhere,
}

/// When the policy last did not decline. One heartbeat may be enough to change its mind, though the world stays as it was, so it is asked
/// again: after one event, then after two more, four more, and so on.
#[derive(Debug, Default)]
pub(super) struct Insists {
    /// The `world.version` and the instant.
    of: (u64, Ms),
    /// At how many events it is asked again if these are still the same.
    until: u64,
    /// How many events that is after the last time.
    wait: u64,
}

impl Insists {
    /// True if the policy need not be asked.
    fn hold(&self, of: (u64, Ms), events: u64) -> bool {
        self.of == of && events < self.until
    }

    /// The policy does not decline.
    fn note(&mut self, of: (u64, Ms), events: u64) {
        self.wait = if self.of == of { (2 * self.wait).max(1) } else { 1 };
        self.of = of;
        self.until = events + self.wait;
    }
}

impl Engine<'_, '_> {
    /// Passes over the heartbeats that come to nothing, up to the first event that may be another.
    pub(super) fn pass_idle_heartbeats(&mut self) {
        if !self.may_rest || self.world.chores_wait() || self.world.version != self.progressed.0 {
            return;
        }
        // Where no node is needed, each sleeps after its next heartbeat. A policy for YARN orders its queues then.
        if self.world.yarn.is_some() && self.needs == Needs::default() {
            return;
        }
        let mut until = None;
        let mut declined = None;
        while let Some((at, Event::NodeHeartbeat(node))) = self.planned.first_in_ring() {
            let rests = self.rests[node.index()];
            let now = (self.world.version, at.0);
            if rests <= at.0 || self.insists.hold(now, self.tally.events) {
                return;
            }
            if at >= *until.get_or_insert_with(|| self.idle_until()) {
                return;
            }
            let declines = match declined {
                Some((when, declines)) if when == at.0 => declines,
                _ => {
                    self.world.now = at.0;
                    let declines = self.what_is_declined();
                    declined = Some((at.0, declines));
                    declines
                }
            };
            if declines == Declined::Nothing {
                self.insists.note(now, self.tally.events);
                return;
            }
            if declines == Declined::WhereNothingFits && self.something_fits(node) {
                return;
            }
            // All heartbeats count, so that of a node that is needed comes one interval later.
            if self.needs_node(self.needs, node) {
                self.planned.put_off_first();
            } else {
                self.planned.take_node(node);
                self.stay_at_rest(node, (rests, at), at.0 + self.world.cluster.interval(), self.needs);
            }
            self.tally.events += 1;
            self.latest = at;
        }
    }

    /// Which heartbeats come to nothing at this instant.
    fn what_is_declined(&self) -> Declined {
        let view = View { world: &self.world };
        let needs_are_known = || self.find_needs() == self.needs;
        if self.policy.declines(view) && needs_are_known() {
            Declined::Everywhere
        } else if self.world.yarn.is_none() && self.policy.declines_where_nothing_fits(view) && needs_are_known() {
            Declined::WhereNothingFits
        } else {
            Declined::Nothing
        }
    }

    /// True if a task that waits fits on a node.
    fn something_fits(&self, node: NodeId) -> bool {
        self.needs_node(Needs { any_slot: false, ..self.needs }, node)
    }

    /// Up to where nothing but heartbeats of nodes comes, none of them reports an attempt to the master, and all of them count.
    fn idle_until(&mut self) -> Position {
        let lull = self.lulls.after.max(self.lulls.windows).min(PATIENCE);
        let quiet = self.progressed.1.saturating_add(lull - self.world.cluster.interval());
        let report = self.world.first_report().map(|(at, node)| (at, self.classes.heartbeat, node.0));
        let tick = self.next_tick.map(|due| (due, self.classes.tick, 0));
        let master = self.planned.first_in_heap();
        let events = [self.next_submission(), self.next_change(), master].into_iter().flatten().map(|(at, _)| at);
        events.chain(report).chain(tick).fold((quiet, 0, 0), Position::min)
    }
}
