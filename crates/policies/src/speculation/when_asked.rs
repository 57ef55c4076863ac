//! The common part of speculators that choose a task when a node has a free slot.
//!
//! ```text
//! node with a free slot ─▶ is there room for a backup? ─▶ jobs in the order of submission ─▶ slow tasks ─▶ may this node?
//! ```

use resched_sim::hadoop::{AttemptEnd, Kind, Offer, View};
use resched_sim::{JobId, NodeId, TaskId};
use resched_tables::model::Outcome;

use super::Speculator;
use super::running::{Running, SlowTasks};
use crate::parts::task_progress::StageWeights;

/// The decisions that differ between such speculators.
pub(super) trait Judge {
    /// Whether one more backup of a kind may run on the cluster.
    fn has_room(&self, _view: View<'_>, _kind: Kind) -> bool {
        true
    }

    /// Whether a job may have one more backup of a kind.
    fn job_has_room(&self, _view: View<'_>, _of: (JobId, Kind)) -> bool {
        true
    }

    /// The weights by which a node's attempts of a job are scored.
    fn weights(&self, _view: View<'_>, _node: NodeId, (_, kind): (JobId, Kind)) -> StageWeights {
        StageWeights::fixed(kind)
    }

    /// Keeps the slow ones of the running tasks of a job, which are given by id, and puts those first that should be backed up
    /// first.
    fn keep_slow(&mut self, view: View<'_>, of: (JobId, Kind), running: &mut Vec<Running>);

    /// Chooses among the slow tasks of a job that the node could run, too; the first one unless a speculator knows better.
    fn choose(&self, _offer: &Offer<'_, '_>, _kind: Kind, mut slow: impl Iterator<Item = TaskId>) -> Option<TaskId> {
        slow.next()
    }

    /// Whether a node may back up tasks of this job; if not, the next job is asked.
    fn may_serve_job(&mut self, _view: View<'_>, _node: NodeId, _of: (JobId, Kind)) -> bool {
        true
    }

    /// Whether a node may back up tasks of a kind at all; asked once a task is chosen.
    fn may_serve(&mut self, _view: View<'_>, _node: NodeId, _kind: Kind) -> bool {
        true
    }

    /// An attempt at a task has succeeded.
    fn task_succeeded(&mut self, _ended: &AttemptEnd) {}

    /// A job has ended, well or not.
    fn job_finished(&mut self, _job: JobId, _view: View<'_>) {}
}

/// A speculator that chooses a task when a node asks, as its judge says.
#[derive(Debug)]
pub(super) struct WhenAsked<J> {
    judge: J,
    slow_tasks: SlowTasks,
}

impl<J: Judge> WhenAsked<J> {
    pub(super) fn new(judge: J) -> Self {
        Self { judge, slow_tasks: SlowTasks::default() }
    }

    /// Whether a node might get a backup of a kind.
    fn may_pick_of(&self, view: View<'_>, kind: Kind) -> bool {
        view.running(kind) > 0 && self.judge.has_room(view, kind)
    }

    /// The slow task of a job that the node should run, too.
    fn pick_of(&mut self, offer: &Offer<'_, '_>, of: (JobId, Kind)) -> Option<TaskId> {
        let (judge, view) = (&mut self.judge, offer.view());
        if !judge.job_has_room(view, of) {
            return None;
        }
        let slow = self.slow_tasks.of(offer, of, |running| {
            super::running::list(view, of, |node| judge.weights(view, node, of), running);
            judge.keep_slow(view, of, running);
        });
        let task = judge.choose(offer, of.1, slow)?;
        judge.may_serve_job(view, offer.node(), of).then_some(task)
    }
}

impl<J: Judge> Speculator for WhenAsked<J> {
    fn task_finished(&mut self, ended: &AttemptEnd, _view: View<'_>) {
        if ended.outcome == Outcome::Success {
            self.judge.task_succeeded(ended);
        }
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.judge.job_finished(job, view);
        self.slow_tasks.remove(job);
    }

    fn may_pick(&self, view: View<'_>) -> bool {
        Kind::BOTH.iter().any(|&kind| self.may_pick_of(view, kind))
    }

    fn pick(&mut self, offer: &Offer<'_, '_>, kind: Kind) -> Option<TaskId> {
        let view = offer.view();
        if !self.may_pick_of(view, kind) {
            return None;
        }
        // Jobs of which a task still waits have better use for a slot.
        let all_launched = |job: &&JobId| view.job(**job).running(kind) > 0 && view.job(**job).ready(kind) == 0;
        let task = view.jobs().iter().filter(all_launched).find_map(|&job| self.pick_of(offer, (job, kind)))?;
        self.judge.may_serve(view, offer.node(), kind).then_some(task)
    }
}
