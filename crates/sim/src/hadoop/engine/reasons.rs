//! Why jobs are passed over, as far as the engine itself knows: they are being started, or their machine was lost.

use std::collections::BTreeSet;

use resched_tables::model::Reason;

use super::Engine;
use crate::Error;
use crate::hadoop::kind::Kind;
use crate::ids::{JobId, NodeId};

impl Engine<'_, '_> {
    /// Reports what has changed at this event.
    pub(super) fn report_reasons(&mut self) -> Result<(), Error> {
        if !self.world.reasons.are_wanted() {
            return Ok(());
        }
        let (world, observer) = (&self.world, &mut *self.observer);
        world.reasons.report(world.now, |passed| observer.passed_over(passed))?;
        let long = world.cluster.interval();
        for kind in Kind::BOTH {
            let is_full = world.roomy[kind.index()] == 0;
            world.reasons.take_room(kind.index(), is_full, (world.now, long), |passed| observer.passed_over(passed))?;
        }
        Ok(())
    }

    /// A job has waited since its submission to be initialised, and may be set up now.
    pub(super) fn note_initialised(&mut self, job: JobId) -> Result<(), Error> {
        let (kind, submit) = (self.first_kind(job), self.world.workload.job(job).submit);
        let passed = self.world.reasons.give_since(job, kind, Reason::Starting, submit);
        passed.map_or(Ok(()), |passed| self.observer.passed_over(&passed))
    }

    /// A job waits for its master, or for what that does first.
    pub(super) fn note_start(&self, job: JobId, reason: Reason) {
        self.world.reasons.give(job, self.first_kind(job), reason, None);
    }

    /// A job has been set up.
    pub(super) fn note_set_up(&self, job: JobId) {
        self.world.reasons.end_if(job, self.first_kind(job), Reason::Starting);
    }

    /// The place of the kind of tasks with which a job begins.
    fn first_kind(&self, job: JobId) -> usize {
        self.world.workload.job(job).first_kind().index()
    }

    /// The jobs with attempts on a node, if reasons are wanted.
    pub(super) fn jobs_on(&self, node: NodeId) -> BTreeSet<JobId> {
        let runs = if self.world.reasons.are_wanted() { &self.world.nodes[node.index()].runs[..] } else { &[] };
        runs.iter().map(|id| self.world.runs[id.index()].job).collect()
    }

    /// Tasks of these jobs wait again, because their node was lost.
    pub(super) fn note_lost(&self, jobs: &BTreeSet<JobId>) {
        for &job in jobs {
            for kind in Kind::BOTH {
                if self.world.ready_of(job, kind) > 0 {
                    self.world.reasons.give(job, kind.index(), Reason::NodeLost, None);
                }
            }
        }
    }
}
