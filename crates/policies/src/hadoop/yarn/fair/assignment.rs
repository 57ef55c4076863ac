//! What a node gets at its heartbeat (rules F3, F4 and F7).
//!
//! From the root down, the first queue in line is offered the node, and in it the first job. A request gets a container if there is room
//! for it, else the node may be kept for it ([`super::reservations`]).

use resched_sim::hadoop::{Ask, Kind, Offer, Reach, Resources, View};
use resched_sim::{JobId, Violation};
use resched_tables::model::Reason;

use super::{ROOT, YarnFair};
use crate::queues::yarn_fair::SharePolicy;

/// How many containers a node gets at one heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Most {
    /// So many.
    Count(u32),
    /// As many as it takes until more than half of what was free when it called is gone, of memory or of virtual cores.
    Half,
}

impl Most {
    /// True if a node goes on that had so much free, and now has so much, after so many containers (`FairScheduler.shouldContinueAssigning`).
    fn allows_more(self, given: u32, before: Resources, now: Resources) -> bool {
        match self {
            Self::Count(most) => given < most,
            Self::Half => before.scaled(0.5).holds(before.minus(now)),
        }
    }
}

impl YarnFair {
    /// Gives a node that is not kept for a request its containers.
    pub(super) fn fill(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let before = offer.view().free(offer.node());
        for given in 1.. {
            self.keep_in_line();
            if !self.serve_queue(offer, ROOT)? || offer.yarn().reservation().is_some() {
                break;
            }
            if !self.most_at_once.allows_more(given, before, offer.view().free(offer.node())) {
                break;
            }
        }
        Ok(())
    }

    /// Serves the queue at a place, or one below it; returns whether the node was taken or kept for it.
    fn serve_queue(&mut self, offer: &mut Offer<'_, '_>, place: usize) -> Result<bool, Violation> {
        if !self.rules.never_above_limit && self.is_over_limit(place) {
            self.report_limit(place, offer.view());
            return Ok(false);
        }
        let (share, total) = (self.share_of(place), offer.view().yarn().total());
        if self.tree.is_leaf(place) {
            return self.serve_jobs(offer, place, share);
        }
        if self.serves_by_rank(place) {
            return self.serve_line(offer, place);
        }
        let mut children = std::mem::take(&mut self.queues[place].children);
        children.sort_by(|&a, &b| self.order_queues(share, total, a, b));
        let mut served = Ok(false);
        for &child in &children {
            served = self.serve_queue(offer, child);
            if !matches!(served, Ok(false)) {
                break;
            }
        }
        self.queues[place].children = children;
        served
    }

    /// Serves the first of the queues below one that can be served, by rank. Queues without jobs have nothing to serve.
    fn serve_line(&mut self, offer: &mut Offer<'_, '_>, place: usize) -> Result<bool, Violation> {
        let line = std::mem::take(&mut self.queues[place].line);
        let mut served = Ok(false);
        for (_, child) in &line {
            served = self.serve_queue(offer, *child);
            if !matches!(served, Ok(false)) {
                break;
            }
        }
        self.queues[place].line = line;
        served
    }

    /// True if a queue uses more than it may; in 2014, the container that takes it there it still gets.
    fn is_over_limit(&self, place: usize) -> bool {
        let settings = &self.tree.get(place).settings;
        let Resources { cpu, memory, .. } = self.queues[place].used;
        settings.max_memory_mb.is_some_and(|most| memory > most.into())
            || settings.max_vcores.is_some_and(|most| cpu > most.into())
    }

    /// True if a queue and all above it may have so much more (`FSQueue.fitsInMaxShare`).
    pub(super) fn is_within_limits(&self, queue: usize, size: Resources) -> bool {
        !self.rules.never_above_limit
            || !self.has_limits
            || self.tree.with_ancestors(queue).all(|place| self.most(place).holds(self.queues[place].used.plus(size)))
    }

    /// Reports that the jobs of a queue, and of those below it, may have no more.
    fn report_limit(&self, place: usize, view: View<'_>) {
        if !view.wants_reasons() {
            return;
        }
        let queue = &self.queues[place];
        for kind in Kind::BOTH {
            queue.jobs.iter().for_each(|&job| view.pass_over(job, kind, Reason::QueueLimit));
        }
        queue.children.iter().for_each(|&child| self.report_limit(child, view));
    }

    fn serve_jobs(&mut self, offer: &mut Offer<'_, '_>, queue: usize, share: SharePolicy) -> Result<bool, Violation> {
        let mut jobs = std::mem::take(&mut self.queues[queue].jobs);
        jobs.sort_by(|&a, &b| self.order_jobs(share, offer.view(), a, b));
        let mut served = Ok(false);
        for &job in &jobs {
            if !self.is_asked(job, offer.view()) {
                continue;
            }
            served = self.serve_job(offer, job);
            if !matches!(served, Ok(false)) {
                break;
            }
        }
        self.queues[queue].jobs = jobs;
        served
    }

    /// True if a job is asked what it wants: whether, of what it could use at the last update, it has another amount now
    /// (`FSLeafQueue.fetchAppsWithDemand`).
    fn is_asked(&self, job: JobId, view: View<'_>) -> bool {
        !self.rules.asks_after_update || self.apps[job].demand != view.yarn().app(job).held()
    }

    /// Serves the most urgent request of a job that this node can serve (`FSAppAttempt.assignContainer`).
    pub(super) fn serve_job(&mut self, offer: &mut Offer<'_, '_>, job: JobId) -> Result<bool, Violation> {
        for ask in Ask::ALL {
            if !self.may_be_served(offer, job, ask) {
                continue;
            }
            if let Some(served) = self.serve(offer, job, ask)? {
                return Ok(served);
            }
            if ask == Ask::Am {
                // Its tasks cannot be asked for before it has a master.
                break;
            }
        }
        Ok(false)
    }

    /// True if a job has such a request, the node is large enough for it, and its queue may have it (`FSAppAttempt.hasContainerForNode`).
    pub(super) fn may_be_served(&self, offer: &Offer<'_, '_>, job: JobId, ask: Ask) -> bool {
        let view = offer.view();
        let size = view.yarn().demand_of(job, ask);
        let all = view.capacity(offer.node());
        // In 2014, nobody asked for the virtual cores of a node.
        let is_large_enough = if self.rules.never_above_limit { all.holds(size) } else { all.memory >= size.memory };
        if !is_large_enough || offer.yarn().nearest(job, ask).is_none() {
            return false;
        }
        let is_within = self.is_within_limits(self.apps[job].queue, size);
        if !is_within {
            view.pass_over_request(job, ask, Reason::QueueLimit);
        }
        is_within
    }

    /// Serves a request of a job, for which its master has room, if the node is near enough to its data: with a container if there is
    /// room, else by keeping the node for it, though it be full. Returns whether that was so; `None` if the job's next request may be
    /// served.
    pub(super) fn serve(&mut self, offer: &mut Offer<'_, '_>, job: JobId, ask: Ask) -> Result<Option<bool>, Violation> {
        let view = offer.view();
        self.apps[job].opportunities[ask.index()].offered();
        if ask == Ask::Am && !self.may_start_master(job, view) {
            view.pass_over_request(job, ask, Reason::JobLimit);
            return Ok(None);
        }
        let allowed = self.reach(view, job, ask);
        let Some(near) = offer.yarn().nearest(job, ask).filter(|&near| near <= allowed) else {
            offer.view().pass_over_request(job, ask, Reason::Locality);
            return Ok(None);
        };
        if !offer.yarn().fits_for(job, ask) {
            return self.keep(offer, (job, ask, near)).map(Some);
        }
        self.grant(offer, job, ask, near)?;
        Ok(Some(true))
    }

    fn grant(&mut self, offer: &mut Offer<'_, '_>, job: JobId, ask: Ask, near: Reach) -> Result<(), Violation> {
        let (queue, size) = (self.apps[job].queue, offer.view().yarn().demand_of(job, ask));
        let kept = offer.yarn().reservation().filter(|kept| (kept.job, kept.ask) == (job, ask));
        offer.grant(job, ask, near)?;
        self.apps[job].opportunities[ask.index()].launched(near);
        if ask == Ask::Am {
            self.master_is_there(job, size);
        }
        self.change_used(queue, |used| used.plus(size));
        if self.killing.is_some() {
            self.note_given((job, ask), kept.map(|kept| kept.container), offer);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_gives_half_of_what_is_free_and_the_container_that_takes_it_there() {
        let free = |cpu, memory| Resources::of(cpu, memory);
        let count = |most: Most, before: Resources, size: Resources| {
            (1..).find(|&given| !most.allows_more(given, before, before.minus(size.times(given.into())))).unwrap_or(0)
        };
        assert_eq!(count(Most::Half, free(8, 8_192), free(1, 1_024)), 5);
        assert_eq!(count(Most::Half, free(3, 8_192), free(1, 1_024)), 2, "one core of three is half of them");
        assert_eq!(count(Most::Count(3), free(8, 8_192), free(1, 1_024)), 3);
    }
}
