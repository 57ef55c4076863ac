//! Lulls: nothing has started, ended or arrived for a day. Then most heartbeats and ticks are left out, so that years in which
//! a single task runs cost little.
//!
//! Up to a day, every heartbeat and tick counts that could change something: policies wait for their data, and speculators
//! watch progress. After that, time is cut into windows of powers of two, each at most a 512th of the time since something
//! happened. Of each window, the first heartbeat of a node or master counts, and the first tick. So a decision that only time
//! brings about comes late by at most a 512th of the wait for it. Once something happens, all heartbeats and ticks count
//! again.
//!
//! Windows depend only on when something last happened. So parking makes no difference in a lull either.

use super::Engine;
use super::events::Position;
use crate::hadoop::containers::AmState;
use crate::ids::{JobId, Ms, NodeId};

/// When a lull begins, and how much of it is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lulls {
    /// After how long without a start, an end or an arrival, ms.
    pub after: Ms,
    /// How many windows of its present length a lull has lasted for at least.
    pub windows: Ms,
}

impl Default for Lulls {
    /// After a day, which is the longest wait that a parameter of a policy can ask for.
    fn default() -> Self {
        Self { after: 86_400_000, windows: 512 }
    }
}

impl Lulls {
    /// The first instant that counts at `due` or later, if nothing has happened since `since`; `from` finds the first instant
    /// of its kind at some time or later.
    fn that_counts(self, since: Ms, due: Ms, from: impl Fn(Ms) -> Ms) -> Ms {
        let (quiet, windows) = (due.saturating_sub(since), self.windows.max(1));
        if quiet < self.after.max(windows) {
            return due;
        }
        let length = 1 << (quiet / windows).ilog2();
        let start = due - quiet % length;
        if from(start) == due { due } else { from(start + length) }
    }
}

/// The first instant at `at` or later of those that lie one `period` apart, of which `one` is one.
fn first_from(at: Ms, one: Ms, period: Ms) -> Ms {
    at + (one - at).rem_euclid(period)
}

impl Engine<'_, '_> {
    /// When something last started, ended or arrived; now if this event has changed the world.
    fn quiet_since(&self) -> Ms {
        if self.world.version == self.progressed.0 { self.progressed.1 } else { self.world.now }
    }

    /// The first heartbeat of a node that counts, at its heartbeat `beat` or later.
    pub(super) fn beat_that_counts(&mut self, node: NodeId, beat: Ms) -> Ms {
        let counts = self.lulls.that_counts(self.quiet_since(), beat, |at| self.world.beats.from(node, at));
        self.thinned |= counts > beat;
        counts
    }

    /// The first heartbeat of a job's master that counts, at `at` or later.
    pub(super) fn master_beat_that_counts(&mut self, job: JobId, at: Ms) -> Ms {
        let Some(yarn) = &self.world.yarn else { return at };
        let beat = yarn.am_beat(job, at);
        let counts = self.lulls.that_counts(self.quiet_since(), beat, |at| yarn.am_beat(job, at));
        self.thinned |= counts > beat;
        counts
    }

    /// The first tick that counts, at the tick `due` or later.
    pub(super) fn tick_that_counts(&mut self, due: Ms, period: Ms) -> Ms {
        let counts = self.lulls.that_counts(self.quiet_since(), due, |at| first_from(at, due, period));
        self.thinned |= counts > due;
        counts
    }

    /// When it is next reported what nodes use, if that is done every `time`. Of a lull that has ended, the rest is reported
    /// with the first time after it.
    pub(super) fn sample_that_counts(&self, time: Ms) -> Ms {
        let (grid, since) = (self.sampled + time, self.quiet_since());
        let due = first_from(grid.max(since), grid, time);
        self.lulls.that_counts(since, due, |at| first_from(at, grid, time))
    }

    /// Notes whether the event at this place has changed the world. If that ends a lull, everything counts again.
    pub(super) fn note_progress(&mut self, at: Position) {
        if self.world.version != self.progressed.0 {
            self.progressed = (self.world.version, self.world.now);
            if std::mem::take(&mut self.thinned) {
                self.end_lull(at);
            }
        }
    }

    fn end_lull(&mut self, at: Position) {
        if let (Some(tick), Some(period)) = (self.next_tick, self.policy.period()) {
            let is_past = self.classes.tick <= at.1;
            self.next_tick = Some(first_from((at.0 + Ms::from(is_past)).max(tick), tick, period));
        }
        let needs = self.find_needs();
        for node in self.world.cluster.node_ids() {
            if self.needs_node(needs, node) {
                self.plan_call(node, self.beat_after(node, at.0, at));
            }
        }
        for place in 0..self.world.active.len() {
            let job = self.world.active[place];
            if self.world.yarn.as_ref().is_some_and(|yarn| yarn.apps[job.index()].am == AmState::Running) {
                self.plan_next_of_master(job, at);
            }
        }
    }
}
