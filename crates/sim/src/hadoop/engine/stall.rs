//! Replays that stand still: tasks wait, and nothing is on its way that could let them start.

use super::Engine;
use crate::Error;
use crate::hadoop::containers::AmState;
use crate::hadoop::world::NodeState;
use crate::ids::{JobId, Ms};

/// A replay is given up if nothing starts or ends for this long although tasks wait, and nothing will end by itself (7
/// days: longer than the longest wait of any policy).
pub(super) const PATIENCE: Ms = 7 * 86_400_000;

impl Engine<'_, '_> {
    /// Gives the replay up if it stands still.
    ///
    /// # Errors
    /// [`Error::Stalled`].
    pub(super) fn check_progress(&mut self) -> Result<(), Error> {
        let patient = self.world.now - self.progressed.1 < PATIENCE;
        if self.world.active.is_empty() || patient || self.next_change < self.changes.len() || self.goes_on() {
            Ok(())
        } else {
            Err(self.stalled())
        }
    }

    /// True if something will end, whatever the policy does.
    fn goes_on(&mut self) -> bool {
        // What is on nodes stays there until the world changes.
        let version = self.world.version;
        if self.ends_come != Some(version) && self.world.nodes.iter().any(|node| self.something_ends_on(node)) {
            self.ends_come = Some(version);
        }
        self.ends_come == Some(version)
            || self.next_work().is_some()
            || self.world.active.iter().any(|&job| self.is_being_set_up(job))
    }

    /// An attempt may run for longer than our patience. One that has ended is on its way, too, until its node calls.
    fn something_ends_on(&self, node: &NodeState) -> bool {
        !node.chores.is_empty() || node.runs.iter().any(|run| self.world.runs[run.index()].end.is_some())
    }

    /// True if the master of a job is still to start, or to learn at a heartbeat that its job is set up.
    fn is_being_set_up(&self, job: JobId) -> bool {
        let Some(yarn) = &self.world.yarn else { return false };
        match yarn.apps[job.index()].am {
            AmState::Allocated => true,
            AmState::Running => self.world.now <= yarn.am_beat(job, self.set_up_at(job)),
            AmState::Waiting | AmState::Finished => false,
        }
    }

    /// The error of a replay that stands still.
    pub(super) fn stalled(&self) -> Error {
        Error::Stalled {
            policy: self.name.to_owned(),
            at: self.world.now,
            since: self.progressed.1,
            waiting: self.world.remaining.iter().sum(),
        }
    }
}
