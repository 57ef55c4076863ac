//! What a policy for YARN may read beside the rest of the world.

use super::apps::{AmState, Reservation, Yarn};
use crate::hadoop::ask::Ask;
use crate::hadoop::world::World;
use crate::ids::{JobId, NodeId};
use crate::resources::Resources;

/// What the resource manager of YARN knows (policies A.9). On slots nobody asks for containers: what counts requests or
/// containers is 0 there.
#[derive(Clone, Copy)]
pub struct YarnView<'a> {
    pub(crate) world: &'a World<'a>,
}

/// What the resource manager knows of the application of one job.
#[derive(Clone, Copy)]
pub struct AppView<'a> {
    yarn: Option<&'a Yarn>,
    job: JobId,
}

impl<'a> YarnView<'a> {
    fn yarn(self) -> Option<&'a Yarn> {
        self.world.yarn.as_deref()
    }

    /// What all nodes offer that the master has not given up.
    #[inline]
    pub fn total(self) -> Resources {
        self.world.total
    }

    /// What all nodes together have free.
    #[inline]
    pub fn free_in_all(self) -> Resources {
        self.yarn().map_or(Resources::NONE, |yarn| yarn.free)
    }

    /// What the container for a request takes.
    #[inline]
    pub fn demand(self, ask: Ask) -> Resources {
        self.world.cluster.demand_of(ask)
    }

    /// What the smallest container takes.
    #[inline]
    pub fn smallest(self) -> Resources {
        self.world.cluster.smallest()
    }

    /// How many requests of all jobs are outstanding.
    #[inline]
    pub fn asked(self, ask: Ask) -> u64 {
        self.yarn().map_or(0, |yarn| yarn.asked[ask.index()])
    }

    /// The request that a node is kept for.
    #[inline]
    pub fn reservation(self, node: NodeId) -> Option<Reservation> {
        self.yarn().and_then(|yarn| yarn.nodes[node.index()].reservation)
    }

    /// The application of a job.
    #[inline]
    pub fn app(self, job: JobId) -> AppView<'a> {
        AppView { yarn: self.yarn(), job }
    }
}

impl AppView<'_> {
    /// How many of its requests are outstanding.
    #[inline]
    pub fn asked(&self, ask: Ask) -> u32 {
        self.yarn.map_or(0, |yarn| yarn.apps[self.job.index()].asked[ask.index()])
    }

    /// Where its application master stands.
    #[inline]
    pub fn am(&self) -> AmState {
        self.yarn.map_or(AmState::Waiting, |yarn| yarn.apps[self.job.index()].am)
    }

    /// What its containers hold, that of its application master included.
    #[inline]
    pub fn held(&self) -> Resources {
        self.yarn.map_or(Resources::NONE, |yarn| yarn.apps[self.job.index()].held)
    }

    /// How many nodes are kept for such a request of it.
    #[inline]
    pub fn reserved(&self, ask: Ask) -> u32 {
        self.yarn.map_or(0, |yarn| yarn.apps[self.job.index()].reserved[ask.index()])
    }

    /// How many places its outstanding requests for maps name: hosts, racks, and "anywhere".
    #[inline]
    pub fn locations(&self) -> u32 {
        self.yarn.map_or(0, |yarn| yarn.locations(self.job))
    }
}
