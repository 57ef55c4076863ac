//! The resource manager's view of applications, their requests and their containers.

use super::locations::Locations;
use crate::hadoop::ask::Ask;
use crate::hadoop::attempt::Attempt;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::kind::Kind;
use crate::hadoop::resources::Resources;
use crate::ids::{AttemptId, JobId, Ms, NodeId, TaskId};

/// When a master that is dead calls: later than all else.
pub(crate) const NO_BEAT: Ms = Ms::MAX / 4;

/// The state of the application master of a job, as the resource manager knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmState {
    /// It waits for its container.
    Waiting,
    /// It has its container.
    Allocated,
    /// A heartbeat of its node has reported that it runs.
    Running,
    /// Its job has ended, and its container has been released.
    Finished,
}

/// The state of a container. Between allocation and running, the application master takes it over at a heartbeat. No
/// policy needs that event, so it is not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerState {
    /// The resource manager has given it to a job.
    Allocated,
    /// A heartbeat of its node has reported that it runs.
    Running,
    /// A heartbeat of its node has reported its end, and its resources are free.
    Completed,
}

/// A container whose state has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Container {
    /// Which container of the replay it is, by the order in which they were made; 0 for that of an application master.
    pub id: u64,
    /// The job that has it.
    pub job: JobId,
    /// The task that runs in it; `None` for the application master.
    pub task: Option<TaskId>,
    /// The kind of that task.
    pub kind: Option<Kind>,
    /// Its node.
    pub node: NodeId,
    /// Its resources.
    pub size: Resources,
    /// Its new state.
    pub state: ContainerState,
}

/// A reservation: the node is kept for a request that does not fit there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// The job that asks.
    pub job: JobId,
    /// Its request.
    pub ask: Ask,
    /// Which container of the replay it will be, by the order in which they were made ([`crate::hadoop::AttemptView::container`]).
    pub container: u64,
}

/// An application: a job, its master and its requests.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) am: AmState,
    pub(crate) am_node: Option<NodeId>,
    /// When its master starts; its heartbeats follow at whole intervals.
    pub(crate) am_start: Ms,
    /// True if its master died with its node, and no other has been started.
    pub(crate) dead: bool,
    /// True if its master has passed slow-start, which holds though maps are lost later (Hadoop's `getIsReduceStarted`).
    pub(crate) reduces_started: bool,
    /// Outstanding requests, by [`Ask`].
    pub(crate) asked: [u32; 4],
    /// What its containers hold.
    pub(crate) held: Resources,
    /// Maps that have a container which its master has not taken over yet, in the order in which they were given; empty where the
    /// task of a container is settled at once (`am.withdraws`).
    pub(crate) granted: Vec<AttemptId>,
    /// Nodes that are kept for it, by [`Ask`].
    pub(crate) reserved: [u32; 4],
    /// Attempts whose end its master has not learned yet, in the order in which the resource manager did.
    pub(crate) unlearned: Vec<Attempt>,
    pub(crate) hosts: Locations,
    pub(crate) racks: Locations,
    /// When a map was last given a container, or its maps were first asked for.
    pub(crate) map_served: Ms,
}

/// The containers of a node, beside its attempts.
#[derive(Debug, Default)]
pub(crate) struct NodeContainers {
    /// Jobs whose masters are here.
    pub(crate) ams: Vec<JobId>,
    /// How many masters are still here whose containers were taken back.
    pub(crate) dying_ams: u32,
    pub(crate) reservation: Option<Reservation>,
}

/// The state of a cluster under YARN.
#[derive(Debug)]
pub(crate) struct Yarn {
    pub(crate) apps: Vec<App>,
    pub(crate) nodes: Vec<NodeContainers>,
    /// Outstanding requests of all active jobs, by [`Ask`].
    pub(crate) asked: [u64; 4],
    /// Nodes that are kept for requests.
    pub(crate) kept: u32,
    /// What all nodes have free.
    pub(crate) free: Resources,
    am_interval: Ms,
}

impl Yarn {
    pub(crate) fn new(jobs: usize, cluster: &Cluster) -> Self {
        let app = || App {
            am: AmState::Waiting,
            am_node: None,
            am_start: 0,
            dead: false,
            reduces_started: false,
            asked: [0; 4],
            held: Resources::default(),
            granted: Vec::new(),
            reserved: [0; 4],
            unlearned: Vec::new(),
            hosts: Locations::default(),
            racks: Locations::default(),
            map_served: 0,
        };
        Self {
            apps: (0..jobs).map(|_| app()).collect(),
            nodes: cluster.nodes().iter().map(|_| NodeContainers::default()).collect(),
            asked: [0; 4],
            kept: 0,
            free: cluster.total(),
            am_interval: cluster.config.containers.am_heartbeat,
        }
    }

    /// True if any request of any job is outstanding, or a node is kept for one.
    pub(crate) fn any_asked(&self) -> bool {
        self.kept > 0 || self.asked.iter().any(|&asked| asked > 0)
    }

    /// The first heartbeat of a job's master at `at` or later. The first of all comes one interval after its start.
    pub(crate) fn am_beat(&self, job: JobId, at: Ms) -> Ms {
        let App { am_start: start, dead, .. } = self.apps[job.index()];
        if dead {
            return NO_BEAT;
        }
        let intervals = (at - start).max(0) as u64;
        start + (intervals.div_ceil(self.am_interval as u64).max(1) as Ms) * self.am_interval
    }

    pub(crate) fn set_asked(&mut self, job: JobId, ask: Ask, count: u32) -> bool {
        let asked = &mut self.apps[job.index()].asked[ask.index()];
        let before = std::mem::replace(asked, count);
        let all = &mut self.asked[ask.index()];
        *all = *all + u64::from(count) - u64::from(before);
        before != count
    }

    pub(crate) fn holds(&mut self, job: JobId, demand: Resources) {
        self.free = self.free.minus(demand);
        let app = &mut self.apps[job.index()];
        app.held = app.held.plus(demand);
    }

    pub(crate) fn took(&mut self, job: JobId, ask: Ask, demand: Resources) {
        self.holds(job, demand);
        let app = &self.apps[job.index()];
        let left = app.asked[ask.index()].saturating_sub(1);
        self.set_asked(job, ask, left);
    }

    pub(crate) fn gave_back(&mut self, job: JobId, demand: Resources) {
        self.free = self.free.plus(demand);
        let app = &mut self.apps[job.index()];
        app.held = app.held.minus(demand);
    }

    /// How many hosts and racks the requests for maps of a job have ever named.
    pub(crate) fn locations(&self, job: JobId) -> u32 {
        let app = &self.apps[job.index()];
        app.hosts.count() + app.racks.count()
    }

    /// How many they have named since they asked for any map again.
    pub(crate) fn locations_now(&self, job: JobId) -> u32 {
        let app = &self.apps[job.index()];
        app.hosts.count_now() + app.racks.count_now()
    }

    /// If a job asks for no map any more, the places that it named are forgotten.
    pub(crate) fn end_round_of_maps(&mut self, job: JobId) {
        let app = &mut self.apps[job.index()];
        if app.asked[Ask::Map.index()] == 0 {
            app.hosts.end_round();
            app.racks.end_round();
        }
    }

    /// Keeps a node for a request, or no longer.
    pub(crate) fn reserve(&mut self, node: NodeId, reservation: Option<Reservation>) {
        let before = std::mem::replace(&mut self.nodes[node.index()].reservation, reservation);
        if let Some(Reservation { job, ask, .. }) = before {
            self.apps[job.index()].reserved[ask.index()] -= 1;
            self.kept -= 1;
        }
        if let Some(Reservation { job, ask, .. }) = reservation {
            self.apps[job.index()].reserved[ask.index()] += 1;
            self.kept += 1;
        }
    }
}

/// The container of an attempt, of that size, in a new state.
pub(crate) fn container_of(run: &Attempt, size: Resources, state: ContainerState) -> Container {
    Container {
        id: run.container,
        job: run.job,
        task: Some(run.task),
        kind: Some(run.kind),
        node: run.node,
        size,
        state,
    }
}
