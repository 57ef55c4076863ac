//! What a node offers to a policy for YARN at a heartbeat.

use super::apps::{AmState, Reservation};
use super::view::YarnView;
use crate::error::Violation;
use crate::hadoop::ask::Ask;
use crate::hadoop::world::{JobPhase, Reach, World};
use crate::ids::{JobId, NodeId, TaskId};

/// What a node offers to requests for containers. The tasks that it finds are launched by [`crate::hadoop::Offer::launch`].
#[derive(Clone, Copy)]
pub struct YarnOffer<'a> {
    pub(crate) world: &'a World<'a>,
    pub(crate) node: NodeId,
}

impl YarnOffer<'_> {
    /// The task that would run if this node served such a request of a job. A map is no farther from its input than
    /// `reach`; other tasks have no such limit. `None` for the application master.
    pub fn find(&self, job: JobId, ask: Ask, reach: Reach) -> Option<TaskId> {
        match ask {
            Ask::Am => None,
            Ask::FailedMap => self.world.find_failed_map(job, self.node),
            Ask::Reduce => self.world.find_reduce(job, self.node),
            Ask::Map => self.world.find_map(job, self.node, reach),
        }
    }

    /// Whether the node has room for the container of such a request.
    #[inline]
    pub fn fits(&self, ask: Ask) -> bool {
        self.world.nodes[self.node.index()].free.holds(self.world.cluster.demand_of(ask))
    }

    /// Whether the node has room for the smallest container.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.world.nodes[self.node.index()].free.holds(self.world.cluster.smallest())
    }

    /// The request that the node is kept for.
    #[inline]
    pub fn reservation(&self) -> Option<Reservation> {
        YarnView { world: self.world }.reservation(self.node)
    }

    /// Whether the resource manager knows that a master of this job runs. A backup needs one. On slots every job has a master.
    #[inline]
    pub fn has_master(&self, job: JobId) -> bool {
        self.world.has_master(job)
    }
}

/// The means to keep a node for a request, and to launch application masters.
pub struct YarnOfferMut<'a, 'w> {
    pub(crate) world: &'a mut World<'w>,
    pub(crate) node: NodeId,
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
        let problem = if self.offer().reservation().is_some() {
            "the node is kept for another request"
        } else if (YarnView { world: self.world }).app(job).asked(ask) == 0 {
            "the job does not ask for it"
        } else if self.offer().fits(ask) {
            "the node has room for it"
        } else {
            self.set_reservation(Some(Reservation { job, ask }));
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

    fn set_reservation(&mut self, reservation: Option<Reservation>) {
        if let Some(yarn) = &mut self.world.yarn {
            yarn.reserve(self.node, reservation);
            self.world.version += 1;
        }
    }

    /// Gives the application master of a job its container on this node.
    ///
    /// # Errors
    /// [`Violation`] if the job is not active, has a master, or the node has no room.
    pub fn launch_am(&mut self, job: JobId) -> Result<(), Violation> {
        let app = YarnView { world: self.world }.app(job);
        let problem = if self.world.jobs[job.index()].phase != JobPhase::Active {
            "its job is not active"
        } else if app.am() != AmState::Waiting || app.asked(Ask::Am) == 0 {
            "it does not wait"
        } else if !self.offer().fits(Ask::Am) {
            "the node has no room for it"
        } else {
            self.world.launch_am(job, self.node);
            return Ok(());
        };
        let what = format!("launches the master of {}", self.world.workload.job(job).id);
        Err(self.world.violation(&what, self.node, problem))
    }
}
