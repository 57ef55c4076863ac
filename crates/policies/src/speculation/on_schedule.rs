//! The common part of speculators that look for slow tasks at times of their own, and ask for backups that start on the first node with room.
//!
//! ```text
//! every period ─▶ look at the jobs ─▶ requests ─▶ node with a free slot ─▶ the first request that it may take
//! ```

use resched_sim::hadoop::{AttemptEnd, AttemptView, Kind, Offer, Orders, View};
use resched_sim::{JobId, Ms, TaskId};
use resched_tables::model::Outcome;

use super::Speculator;
use super::requests::Requests;

/// The decisions that differ between such speculators.
pub(super) trait Search {
    /// How often it looks, ms.
    fn period(&self) -> Ms;

    /// Looks at the running tasks of all jobs, and asks for backups.
    fn look(&mut self, view: View<'_>, requests: &mut Requests, orders: &mut Orders);

    /// An attempt was launched, as a backup or not.
    fn task_started(&mut self, _started: &AttemptView) {}

    /// An attempt at a task has succeeded.
    fn task_succeeded(&mut self, ended: &AttemptEnd);

    /// A job has ended, well or not.
    fn job_finished(&mut self, job: JobId);
}

/// A speculator that asks for the backups that its search finds.
#[derive(Debug)]
pub(super) struct OnSchedule<S> {
    search: S,
    /// The requested backups that have not started.
    requests: Requests,
}

impl<S: Search> OnSchedule<S> {
    pub(super) fn new(search: S) -> Self {
        Self { search, requests: Requests::default() }
    }
}

impl<S: Search> Speculator for OnSchedule<S> {
    fn task_started(&mut self, started: &AttemptView, _view: View<'_>) {
        self.search.task_started(started);
    }

    fn task_finished(&mut self, ended: &AttemptEnd, _view: View<'_>) {
        if ended.outcome == Outcome::Success {
            self.search.task_succeeded(ended);
        }
        self.requests.remove(ended.task, ended.kind);
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.search.job_finished(job);
        self.requests.remove_job(view, job);
    }

    fn period(&self) -> Option<Ms> {
        Some(self.search.period())
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        self.search.look(view, &mut self.requests, orders);
    }

    fn may_pick(&self, _view: View<'_>) -> bool {
        !self.requests.is_empty()
    }

    fn pick(&mut self, offer: &Offer<'_, '_>, kind: Kind) -> Option<TaskId> {
        self.requests.pick(offer, kind)
    }
}
