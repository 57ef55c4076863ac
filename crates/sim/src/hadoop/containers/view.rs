//! The part of the view for policies for YARN.

use super::apps::{AmState, Reservation, Yarn};
use crate::hadoop::ask::Ask;
use crate::hadoop::resources::Resources;
use crate::hadoop::world::World;
use crate::ids::{JobId, NodeId, RackId};

/// The state that the resource manager of YARN knows (`docs/model/containers.md`). On slots there are no requests and no containers,
/// so their counts are 0.
#[derive(Clone, Copy)]
pub struct YarnView<'a> {
    pub(crate) world: &'a World<'a>,
}

/// The resource manager's view of the application of one job.
#[derive(Clone, Copy)]
pub struct AppView<'a> {
    yarn: Option<&'a Yarn>,
    job: JobId,
}

impl<'a> YarnView<'a> {
    fn yarn(self) -> Option<&'a Yarn> {
        self.world.yarn.as_deref()
    }

    /// The resources of all nodes that the master has not given up.
    #[inline]
    pub fn total(self) -> Resources {
        self.world.total
    }

    /// The free resources of all nodes together.
    #[inline]
    pub fn free_in_all(self) -> Resources {
        self.yarn().map_or(Resources::NONE, |yarn| yarn.free)
    }

    /// The size of the container for such a request of a job.
    #[inline]
    pub fn demand_of(self, job: JobId, ask: Ask) -> Resources {
        self.world.demand_of(job, ask)
    }

    /// The memory and the vcores of the container for a request.
    #[inline]
    pub fn demand(self, ask: Ask) -> Resources {
        self.world.cluster.demand_of(ask)
    }

    /// The names of the resources beside memory and vcores that count, in the order of [`Resources::further`].
    pub fn further(self) -> &'a [String] {
        let cluster = self.world.cluster;
        if cluster.counts_further() { cluster.further() } else { &[] }
    }

    /// The size of the smallest container.
    #[inline]
    pub fn smallest(self) -> Resources {
        self.world.cluster.smallest()
    }

    /// The size of the largest container.
    #[inline]
    pub fn largest(self) -> Resources {
        self.world.cluster.largest()
    }

    /// True if a node has room for the smallest container.
    #[inline]
    pub fn has_room(self, node: NodeId) -> bool {
        self.world.nodes[node.index()].free.holds(self.smallest())
    }

    /// How many requests of all jobs are outstanding.
    #[inline]
    pub fn asked(self, ask: Ask) -> u64 {
        self.yarn().map_or(0, |yarn| yarn.asked[ask.index()])
    }

    /// The request that a node is reserved for.
    #[inline]
    pub fn reservation(self, node: NodeId) -> Option<Reservation> {
        self.yarn().and_then(|yarn| yarn.nodes[node.index()].reservation)
    }

    /// The jobs whose application masters are on a node, in the order of their launches.
    #[inline]
    pub fn masters_on(self, node: NodeId) -> &'a [JobId] {
        self.yarn().map_or(&[], |yarn| &yarn.nodes[node.index()].ams)
    }

    /// The application of a job.
    #[inline]
    pub fn app(self, job: JobId) -> AppView<'a> {
        AppView { yarn: self.yarn(), job }
    }
}

impl<'a> AppView<'a> {
    /// How many of its requests are outstanding.
    #[inline]
    pub fn asked(&self, ask: Ask) -> u32 {
        self.yarn.map_or(0, |yarn| yarn.apps[self.job.index()].asked[ask.index()])
    }

    /// The state of its application master.
    #[inline]
    pub fn am(&self) -> AmState {
        self.yarn.map_or(AmState::Waiting, |yarn| yarn.apps[self.job.index()].am)
    }

    /// The resources of its containers, including its application master's.
    #[inline]
    pub fn held(&self) -> Resources {
        self.yarn.map_or(Resources::NONE, |yarn| yarn.apps[self.job.index()].held)
    }

    /// How many nodes are reserved for such a request of it.
    #[inline]
    pub fn reserved(&self, ask: Ask) -> u32 {
        self.yarn.map_or(0, |yarn| yarn.apps[self.job.index()].reserved[ask.index()])
    }

    /// How many hosts and racks its requests for maps have ever named. The resource manager forgets none of them.
    #[inline]
    pub fn locations(&self) -> u32 {
        self.yarn.map_or(0, |yarn| yarn.locations(self.job))
    }

    /// How many of them it has named since it asked for any map again: the resource manager of Hadoop 3.x forgets all places once a
    /// master says that it asks for no map.
    #[inline]
    pub fn locations_now(&self) -> u32 {
        self.yarn.map_or(0, |yarn| yarn.locations_now(self.job))
    }

    /// The sum of its outstanding requests for maps on hosts and in racks. A map with input on three hosts of two racks counts
    /// five times.
    #[inline]
    pub fn placed_requests(&self) -> u64 {
        self.yarn.map_or(0, |yarn| {
            let app = &yarn.apps[self.job.index()];
            app.hosts.requests() + app.racks.requests()
        })
    }

    /// The nodes that its requests for maps have named, and how many of these are outstanding.
    pub fn host_requests(&self) -> impl Iterator<Item = (NodeId, u32)> + use<'a> {
        let places = self.yarn.map(|yarn| yarn.apps[self.job.index()].hosts.known());
        places.into_iter().flatten().map(|(place, count)| (NodeId(place), count))
    }

    /// The racks that its requests for maps have named, and how many of these are outstanding.
    pub fn rack_requests(&self) -> impl Iterator<Item = (RackId, u32)> + use<'a> {
        let places = self.yarn.map(|yarn| yarn.apps[self.job.index()].racks.known());
        places.into_iter().flatten().map(|(place, count)| (RackId(place), count))
    }
}
