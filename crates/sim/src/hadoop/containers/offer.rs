//! What a node offers to a policy for YARN at a heartbeat.

use super::apps::Reservation;
use super::view::YarnView;
use crate::error::Violation;
use crate::hadoop::ask::Ask;
use crate::hadoop::given::Given;
use crate::hadoop::world::{Reach, World};
use crate::ids::{JobId, NodeId};

/// What a node offers to requests for containers. [`crate::hadoop::Offer::grant`] serves them.
#[derive(Clone, Copy)]
pub struct YarnOffer<'a> {
    pub(crate) world: &'a World<'a>,
    pub(crate) node: NodeId,
}

impl YarnOffer<'_> {
    /// How near to its data the node could serve such a request of a job, as far as the resource manager knows: a request
    /// for a map names hosts, racks and "anywhere", other requests name no place. `None` if the job does not ask for it, or its
    /// tasks have failed here too often.
    pub fn nearest(&self, job: JobId, ask: Ask) -> Option<Reach> {
        let world = self.world;
        // A failed map may wait that the job's master has not asked for.
        if (YarnView { world }).app(job).asked(ask) == 0 {
            return None;
        }
        match ask {
            Ask::Am => Some(Reach::Any),
            Ask::FailedMap => world.find_failed_map(job, self.node).map(|_| Reach::Any),
            Ask::Reduce => world.find_reduce(job, self.node).map(|_| Reach::Any),
            Ask::Map => world.nearest_request(job, self.node),
        }
    }

    /// True if the node has the memory and the vcores for the container of such a request.
    #[inline]
    pub fn fits(&self, ask: Ask) -> bool {
        self.world.nodes[self.node.index()].free.holds(self.world.cluster.demand_of(ask))
    }

    /// True if the node has room for the container of such a request of a job, whose tasks may take more than memory and vcores.
    #[inline]
    pub fn fits_for(&self, job: JobId, ask: Ask) -> bool {
        self.world.nodes[self.node.index()].free.holds(self.world.demand_of(job, ask))
    }

    /// True if the node has room for the smallest container.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.world.nodes[self.node.index()].free.holds(self.world.cluster.smallest())
    }

    /// The request that the node is kept for.
    #[inline]
    pub fn reservation(&self) -> Option<Reservation> {
        YarnView { world: self.world }.reservation(self.node)
    }

    /// True if the resource manager knows that a master of this job runs. A backup needs one. On slots every job has a master.
    #[inline]
    pub fn has_master(&self, job: JobId) -> bool {
        self.world.has_master(job)
    }
}

/// The means to keep a node for a request.
pub struct YarnOfferMut<'a, 'w> {
    pub(crate) world: &'a mut World<'w>,
    pub(crate) node: NodeId,
    pub(crate) given: &'a mut Vec<Given>,
}

impl YarnOfferMut<'_, '_> {
    fn offer(&self) -> YarnOffer<'_> {
        YarnOffer { world: self.world, node: self.node }
    }

    /// Keeps the node for a request that does not fit now, until [`YarnOfferMut::unreserve`] or the end of the job.
    ///
    /// # Errors
    /// [`Violation`] if the node is reserved already, if it has room, or if the job has no such request.
    pub fn reserve(&mut self, job: JobId, ask: Ask) -> Result<(), Violation> {
        let app = (YarnView { world: self.world }).app(job);
        let problem = if self.offer().reservation().is_some() {
            "the node is kept for another request"
        } else if app.asked(ask) == 0 && app.reserved(ask) == 0 {
            "the job does not ask for it"
        } else if self.offer().fits_for(job, ask) {
            "the node has room for it"
        } else {
            let container = self.world.next_container();
            self.set_reservation(Some(Reservation { job, ask, container }));
            return Ok(());
        };
        let what = format!("reserves for {ask:?} of {}", self.world.workload.job(job).id);
        Err(self.world.violation(&what, self.node, problem))
    }

    /// Ends the reservation of the node.
    pub fn unreserve(&mut self) {
        if self.offer().reservation().is_some() {
            self.set_reservation(None);
        }
    }

    /// Ends the reservation of another node at this heartbeat.
    pub fn give_up(&mut self, node: NodeId) {
        let other = YarnOfferMut { world: &mut *self.world, node, given: &mut *self.given };
        if other.offer().reservation().is_some() {
            let YarnOfferMut { world, given, .. } = other;
            if let Some(yarn) = &mut world.yarn {
                yarn.reserve(node, None);
                world.version += 1;
            }
            given.push(Given::Freed(node));
        }
    }

    fn set_reservation(&mut self, reservation: Option<Reservation>) {
        if let Some(yarn) = &mut self.world.yarn {
            yarn.reserve(self.node, reservation);
            self.world.version += 1;
        }
    }
}
