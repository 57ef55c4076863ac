//! After the last job: what still runs on nodes ends as it would if another job followed.
//!
//! Attempts that were ordered to end are killed at the next heartbeats of their nodes, those of a failed job that is not killed run
//! on, and application masters give their containers back. No policy is asked, and nothing is counted.

use super::Engine;
use super::parking::Needs;
use crate::Error;

impl Engine<'_, '_> {
    /// Settles the numbers of the replay: all jobs have ended.
    pub(super) fn tally_up(&mut self) -> Result<(), Error> {
        self.tally.end = self.world.now;
        if self.sampled < self.world.now {
            self.report_use_at(self.world.now)?;
        }
        self.tally.bound = self.bottlenecks();
        Ok(())
    }

    /// Lets what is still on nodes end.
    pub(super) fn wind_down(&mut self) -> Result<(), Error> {
        self.over = true;
        self.next_tick = None;
        let at = self.latest;
        for node in self.world.cluster.node_ids() {
            self.planned.cancel_node(node);
            self.plan(node, at, self.beat_after(node, at.0, at), Needs::default());
        }
        while self.something_ends() {
            let Some((at, event)) = self.next_event() else { break };
            self.world.now = at.0;
            self.handle(event, at)?;
            self.retune();
        }
        Ok(())
    }

    /// True if a node has something to report, or is silent and holds a master until it is given up.
    fn something_ends(&mut self) -> bool {
        self.planned.first().is_some()
            || self.next_work().is_some()
            || self.world.yarn.iter().flat_map(|yarn| &yarn.nodes).any(|node| !node.ams.is_empty())
    }
}
