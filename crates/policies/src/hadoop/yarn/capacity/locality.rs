//! How far from its data a request may run (rules C2, K3 and K14).

use resched_sim::JobId;
use resched_sim::hadoop::{Ask, Offer, Reach};

use super::YarnCapacity;
use super::limits::may_go_far;

/// How long requests wait for nodes near their data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delays {
    /// Offers that are missed before the rack is good enough.
    pub(super) node: u64,
    /// Offers beyond those before any node is; `None`: by the number of requests.
    pub(super) rack: Option<u64>,
    /// True if a container in the rack ends the wait, too.
    pub(super) rack_resets: bool,
}

impl YarnCapacity {
    /// How far from its data a job may use this node; `None` if it waits for another (`RegularContainerAllocator.canAssign`).
    pub(super) fn reach(&self, offer: &Offer<'_, '_>, job: JobId, ask: Ask) -> Option<Reach> {
        let (view, missed) = (offer.view(), self.jobs[job].missed[ask.index()]);
        let nodes = view.node_count() as u64;
        let app = view.yarn().app(job);
        match offer.yarn().nearest(job, ask) {
            Some(Reach::Node) => return Some(Reach::Node),
            Some(Reach::Rack) if self.delays.node.min(nodes) < missed => return Some(Reach::Rack),
            _ => {}
        }
        let locations = match ask {
            Ask::Map if self.rules.places_forgotten => app.locations_now(),
            Ask::Map => app.locations(),
            _ => 0,
        };
        let may = match self.delays.rack {
            _ if locations == 0 => true,
            Some(rack) => missed > nodes.min(self.delays.node + rack),
            None => {
                self.rules.far_wait_capped && nodes < missed
                    || may_go_far(missed, app.asked(ask), locations, nodes as usize)
            }
        };
        may.then_some(Reach::Any)
    }

    /// A request has got a container, or a node that is kept for it, so near its data.
    pub(super) fn end_wait_for_data(&mut self, job: JobId, ask: Ask, reach: Reach) {
        if reach == Reach::Node || reach == Reach::Rack && self.delays.rack_resets {
            self.jobs[job].missed[ask.index()] = 0;
        }
    }
}
