//! The common part of speculators that choose a task when a node has a free slot.
//!
//! ```text
//! node with a free slot ─▶ is there room for a backup? ─▶ jobs in the order of submission ─▶ slow tasks ─▶ may this node?
//! ```

use resched_sim::hadoop::{AttemptEnd, Kind, Offer, View};
use resched_sim::{JobId, Ms, NodeId, TaskId};
use resched_tables::model::Outcome;

use super::Speculator;
use super::running::{Running, SlowTasks};
use crate::parts::task_progress::StageWeights;

/// The decisions that differ between such speculators.
pub(super) trait Judge {
    /// True if one more backup of a kind may run on the cluster.
    fn has_room(&self, _view: View<'_>, _kind: Kind) -> bool {
        true
    }

    /// True if a job may have one more backup of a kind.
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

    /// True if a node may back up tasks of this job; if not, the next job is asked.
    fn may_serve_job(&mut self, _view: View<'_>, _node: NodeId, _of: (JobId, Kind)) -> bool {
        true
    }

    /// True if a node may back up tasks of a kind at all; asked once a task is chosen.
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
    /// By kind, what is known of there being nothing to back up.
    nothing: [Option<Nothing>; 2],
}

/// No job has a slow task that runs alone, for no node: so it stays as long as no attempt changes and no job is looked at.
#[derive(Debug, Clone, Copy)]
struct Nothing {
    /// The version of the attempts.
    version: u64,
    /// When the next job is to be looked at, ms.
    until: Ms,
}

impl Nothing {
    fn holds(self, view: View<'_>) -> bool {
        view.attempts_version() == Some(self.version) && view.now() < self.until
    }
}

/// The result of a search.
enum Found {
    Task(TaskId),
    /// None for this node; another one might have more luck.
    NotHere,
    /// None for any node before the next look at the job; `None` if the job is not to be looked at.
    Nowhere(Option<Ms>),
}

impl<J: Judge> WhenAsked<J> {
    pub(super) fn new(judge: J) -> Self {
        Self { judge, slow_tasks: SlowTasks::default(), nothing: [None; 2] }
    }

    /// True if a node might get a backup of a kind.
    fn may_pick_of(&self, view: View<'_>, kind: Kind) -> bool {
        view.running(kind) > 0 && self.judge.has_room(view, kind)
    }

    /// True if it is known that there is nothing of a kind to back up, for no node.
    fn has_nothing(&self, view: View<'_>, kind: Kind) -> bool {
        self.nothing[kind.index()].is_some_and(|nothing| nothing.holds(view))
    }

    /// The slow task of a job that the node should run, too.
    fn pick_of(&mut self, offer: &Offer<'_, '_>, of: (JobId, Kind)) -> Found {
        let (judge, view, node) = (&mut self.judge, offer.view(), offer.node());
        if !judge.job_has_room(view, of) {
            return Found::Nowhere(None);
        }
        let slow = self.slow_tasks.of(view, of, |running| {
            super::running::list(view, of, |node| judge.weights(view, node, of), running);
            judge.keep_slow(view, of, running);
        });
        let mut slow = slow.peekable();
        if slow.peek().is_none() {
            drop(slow);
            return Found::Nowhere(Some(self.slow_tasks.next_look(of)));
        }
        let elsewhere = slow.filter(|&task| view.runs_on(node, of.1).all(|run| run.task != task));
        match judge.choose(offer, of.1, elsewhere) {
            Some(task) if judge.may_serve_job(view, node, of) => Found::Task(task),
            _ => Found::NotHere,
        }
    }

    /// The first slow task that the node should run, too, by the order of the jobs.
    fn search(&mut self, offer: &Offer<'_, '_>, kind: Kind) -> Option<TaskId> {
        let view = offer.view();
        // Jobs of which a task still waits have better use for a slot.
        let all_launched = |job: &&JobId| view.job(**job).running(kind) > 0 && view.job(**job).ready(kind) == 0;
        let mut until = Some(Ms::MAX);
        for &job in view.jobs().iter().filter(all_launched) {
            match self.pick_of(offer, (job, kind)) {
                Found::Task(task) => return Some(task),
                Found::NotHere => until = None,
                Found::Nowhere(next) => until = until.map(|until| until.min(next.unwrap_or(Ms::MAX))),
            }
        }
        let nothing = view.attempts_version().zip(until).map(|(version, until)| Nothing { version, until });
        self.nothing[kind.index()] = nothing;
        None
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

    fn declines(&self, view: View<'_>) -> bool {
        Kind::BOTH.iter().all(|&kind| !self.may_pick_of(view, kind) || self.has_nothing(view, kind))
    }

    fn pick(&mut self, offer: &Offer<'_, '_>, kind: Kind) -> Option<TaskId> {
        let view = offer.view();
        if !self.may_pick_of(view, kind) {
            return None;
        }
        if self.has_nothing(view, kind) {
            debug_assert_eq!(self.search(offer, kind), None);
            return None;
        }
        let task = self.search(offer, kind)?;
        self.judge.may_serve(view, offer.node(), kind).then_some(task)
    }
}
