//! Whole requests of applications: a master and all first tasks, or nothing.

use resched_sim::JobId;
use resched_sim::hadoop::Resources;
use resched_sim::hadoop::{Ask, JobView, Kind, Offer, View};
use resched_tables::model::Reason;

use super::YarnCapacity;
use super::calculator::Calculator;
use super::partitions::PARTITIONS;
use crate::parts::whole_requests::{Next, Room, WholeRequests};

/// The tasks that a job asks for first (r): its maps, or else its reduces.
pub(crate) fn first_tasks(job: JobView<'_>) -> (Ask, u32) {
    match (job.desired(Kind::Map), job.desired(Kind::Reduce)) {
        (0, reduces) => (Ask::Reduce, reduces),
        (maps, _) => (Ask::Map, maps),
    }
}

impl YarnCapacity {
    /// The jobs that wait for whole requests.
    pub(crate) fn whole(&self) -> Option<&WholeRequests> {
        self.whole.as_ref()
    }

    /// Decides which of the jobs that wait for whole requests is next in each partition, or without them which job is served first.
    pub(crate) fn set_next(&mut self, next: Next) {
        self.next = next;
    }

    /// A job that has arrived waits for its whole request.
    pub(super) fn wait_for_whole(&mut self, job: JobId, view: View<'_>) {
        let lane = self.partitions.as_ref().map_or(self.jobs[job].queue, |partitions| partitions.of(job));
        let Some(whole) = &mut self.whole else { return };
        let (ask, count) = first_tasks(view.job(job));
        let tasks = view.yarn().demand(ask).times(u64::from(count));
        whole.put(job, lane, view.yarn().demand(Ask::Am).plus(tasks), u64::from(count));
    }

    /// Admits as many jobs as there is room for. It is asked only where the node has room, so that a heartbeat that brings nothing
    /// changes nothing.
    pub(super) fn admit_whole(&mut self, offer: &Offer<'_, '_>) {
        let view = offer.view();
        let Some(mut whole) = self.whole.take() else { return };
        if self.has_room(offer.node(), view) {
            let lanes = if self.partitions.is_some() { PARTITIONS } else { self.queues.len() };
            for lane in 0..lanes {
                while self.admit_next(&mut whole, lane, view) {}
            }
        }
        self.whole = Some(whole);
    }

    /// Admits the next job of a lane if there is room for it.
    fn admit_next(&mut self, whole: &mut WholeRequests, lane: usize, view: View<'_>) -> bool {
        let Some(job) = whole.next(lane, self.next) else { return false };
        let leaf = self.jobs[job].queue;
        let (most, room) = (self.most_active(leaf, view), self.room(lane, view));
        let may_be_active = self.may_become_active(job, most);
        if !may_be_active || !whole.admit(job, room) {
            let reason = match whole.fits_beyond(job, room) {
                _ if !may_be_active => Reason::JobLimit,
                true => Reason::Reserve,
                false => Reason::Master,
            };
            view.pass_over_request(job, Ask::Am, reason);
            return false;
        }
        self.make_active(job, view);
        true
    }

    /// What decides about the next job of a lane, which is a partition or a queue.
    fn room(&self, lane: usize, view: View<'_>) -> Room {
        let (used, limit): (Resources, Resources) = match &self.partitions {
            Some(partitions) => (partitions.used(lane), partitions.limit(lane, view)),
            None => {
                let (by, queue) = (Calculator::of(view), &self.queues[lane]);
                (queue.used, by.part_rounded_down(by.cluster, queue.shares.limit))
            }
        };
        Room { used, limit, free: view.yarn().free_in_all() }
    }
}
