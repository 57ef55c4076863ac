//! Nodes that are kept for requests which do not fit yet, and how a job gives one up for another (rules C1, K1 and K2).

use resched_sim::hadoop::{Ask, Offer, Reach, Reservation, View};
use resched_sim::{JobId, NodeId, Violation};

use super::YarnCapacity;
use super::amounts::Amounts;
use super::calculator::Calculator;
use super::limits::extra_reservations;
use super::serve::Limits;
use crate::hadoop::yarn::hash_tables::{hash_of_node, place, places};

/// A node that is kept for a request, in the order in which they were.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptNode {
    job: JobId,
    ask: Ask,
    node: NodeId,
}

impl YarnCapacity {
    /// Gives back what was charged for nodes that are no longer kept for a job.
    pub(super) fn drop_reservations(&mut self, job: JobId, view: View<'_>) {
        for ask in Ask::ALL {
            while self.jobs[job].reserved[ask.index()] > view.yarn().app(job).reserved(ask) {
                let gone = self.kept.iter().find(|kept| {
                    let is_kept = |reservation: Reservation| (reservation.job, reservation.ask) == (job, ask);
                    (kept.job, kept.ask) == (job, ask) && !view.yarn().reservation(kept.node).is_some_and(is_kept)
                });
                let node = gone.map(|kept| kept.node);
                self.note_unreserved(job, ask, node, view);
                if let Some(node) = node {
                    self.discharge(job, view.yarn().demand_of(job, ask), node, view);
                }
            }
        }
    }

    /// A node is kept for a job from now on.
    pub(super) fn note_reserved(&mut self, job: JobId, ask: Ask, node: NodeId, view: View<'_>) {
        let state = &mut self.jobs[job];
        state.reserved[ask.index()] += 1;
        state.most_reserved[ask.index()] = state.most_reserved[ask.index()].max(state.reserved[ask.index()]);
        state.again[ask.index()] = 0;
        self.kept.push(KeptNode { job, ask, node });
        let size = Amounts::from(view.yarn().demand_of(job, ask));
        for place in self.tree.with_ancestors(self.jobs[job].queue) {
            self.queues[place].reserved += size;
        }
    }

    /// A node is no longer kept for a job.
    pub(super) fn note_unreserved(&mut self, job: JobId, ask: Ask, node: Option<NodeId>, view: View<'_>) {
        let state = &mut self.jobs[job];
        state.reserved[ask.index()] -= 1;
        state.again[ask.index()] = 0;
        if state.reserved[ask.index()] == 0 {
            state.most_reserved[ask.index()] = 0;
        }
        let is_it = |kept: &KeptNode| (kept.job, kept.ask) == (job, ask) && node.is_none_or(|node| node == kept.node);
        if let Some(place) = self.kept.iter().position(is_it) {
            self.kept.remove(place);
        }
        let size = Amounts::from(view.yarn().demand_of(job, ask));
        for place in self.tree.with_ancestors(self.jobs[job].queue) {
            self.queues[place].reserved -= size;
        }
    }

    /// What is kept for a job on all nodes.
    pub(super) fn reserved_by(&self, job: JobId, view: View<'_>) -> Amounts {
        let reserved = self.jobs[job].reserved;
        if reserved == [0; 4] {
            return Amounts::NONE;
        }
        let of = |ask: Ask| view.yarn().demand_of(job, ask).times(reserved[ask.index()].into());
        Ask::ALL.into_iter().fold(Amounts::NONE, |sum, ask| sum + of(ask).into())
    }

    /// What of that a job could give up for a container elsewhere.
    pub(super) fn releasable(&self, job: JobId, view: View<'_>) -> Amounts {
        if self.rules.reservations_look_on { self.reserved_by(job, view) } else { Amounts::NONE }
    }

    /// True if a job needs containers, or nodes to be kept for it (`LeafQueue.needContainers`).
    pub(super) fn needs(&self, job: JobId, ask: Ask, view: View<'_>) -> bool {
        let (reserved, again) = (self.jobs[job].reserved[ask.index()], self.jobs[job].again[ask.index()]);
        let asked = view.yarn().app(job).asked(ask);
        if asked > reserved || reserved == 0 {
            return asked > reserved;
        }
        let by = Calculator::of(view);
        let largest = view.yarn().largest();
        let size = by.ratio(view.yarn().demand_of(job, ask), largest);
        let range = by.ratio(largest.minus(by.smallest), largest);
        extra_reservations(reserved, again, size, range) + asked > reserved
    }

    /// Serves the request that the node is kept for, if there is room, or gives the node free if it is not asked for any more.
    pub(super) fn serve_reservation(&mut self, offer: &mut Offer<'_, '_>, kept: Reservation) -> Result<(), Violation> {
        let Reservation { job, ask, .. } = kept;
        let node = offer.node();
        // The tasks that are left may have failed here.
        if offer.yarn().nearest(job, ask).is_none() {
            offer.yarn_mut().unreserve();
            let view = offer.view();
            self.note_unreserved(job, ask, Some(node), view);
            self.discharge(job, view.yarn().demand_of(job, ask), node, view);
            return Ok(());
        }
        self.jobs[job].missed[ask.index()] += u64::from(self.rules.kept_offers_count);
        if offer.yarn().fits_for(job, ask) {
            // It was charged when the node was kept.
            let near = self.reach(offer, job, ask).unwrap_or(Reach::Any);
            self.grant(offer, job, ask, near)?;
            self.note_unreserved(job, ask, Some(node), offer.view());
        } else {
            self.jobs[job].again[ask.index()] += 1;
        }
        Ok(())
    }

    /// The node that a job gives up for a container elsewhere: the first in Hadoop's table that is kept for the same request and frees
    /// as much as is needed (`FiCaSchedulerApp.getNodeIdToUnreserve`).
    fn node_to_give_up(&mut self, job: JobId, ask: Ask, needed: Amounts, view: View<'_>) -> Option<NodeId> {
        if !Calculator::of(view).holds(view.yarn().demand_of(job, ask).into(), needed) {
            return None;
        }
        self.nodes_kept_for(job, ask, view).first().copied()
    }

    fn find_places(&mut self, view: View<'_>) {
        if self.places.is_empty() {
            self.places = view.nodes().map(|node| hash_of_node(view.host(node))).collect();
        }
    }

    /// All nodes in the order of Hadoop's table, which grows as soon as it is three quarters full.
    pub(super) fn all_nodes(&mut self, view: View<'_>) -> Vec<NodeId> {
        self.find_places(view);
        let size = places(view.node_count() + 1);
        let mut nodes: Vec<NodeId> = view.nodes().collect();
        nodes.sort_by_key(|node| place(self.places[node.index()], size));
        nodes
    }

    /// The nodes that are kept for a request, in the order of Hadoop's table.
    pub(super) fn nodes_kept_for(&mut self, job: JobId, ask: Ask, view: View<'_>) -> Vec<NodeId> {
        if self.jobs[job].reserved[ask.index()] == 0 {
            return Vec::new();
        }
        self.find_places(view);
        let size = places(self.jobs[job].most_reserved[ask.index()] as usize);
        let kept = self.kept.iter().filter(|kept| (kept.job, kept.ask) == (job, ask));
        let mut nodes: Vec<NodeId> = kept.map(|kept| kept.node).collect();
        nodes.sort_by_key(|node| place(self.places[node.index()], size));
        nodes
    }

    /// The node that a job must give up to have a container here, or `None` if it may have one without; an `Err` says that it may not.
    pub(super) fn what_to_give_up(
        &mut self,
        job: JobId,
        ask: Ask,
        limits: &Limits,
        view: View<'_>,
    ) -> Result<Option<NodeId>, ()> {
        let by = self.by(self.walk.part, view);
        let size = Amounts::from(view.yarn().demand_of(job, ask));
        let lacking = by.most(size - limits.headroom, limits.to_give_up);
        let must = by.is_any(lacking);
        if !must && self.needs(job, ask, view) {
            return Ok(None);
        }
        let needed = if must { lacking } else { size };
        self.node_to_give_up(job, ask, needed, view).map(Some).ok_or(())
    }

    /// A job gives up a node that is kept for it.
    pub(super) fn give_up(&mut self, offer: &mut Offer<'_, '_>, job: JobId, ask: Ask, node: NodeId) {
        offer.yarn_mut().give_up(node);
        let view = offer.view();
        self.note_unreserved(job, ask, Some(node), view);
        self.discharge(job, view.yarn().demand_of(job, ask), node, view);
    }
}
