//! What the resource manager knows of applications, their requests and their containers.

use super::asks::Ask;
use super::locations::Locations;
use super::ramp::Standing;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::kind::Kind;
use crate::hadoop::view::RunId;
use crate::hadoop::world::{JobPhase, Kill, Run, TaskPhase, World};
use crate::ids::{JobId, Ms, NodeId, TaskId};
use crate::resources::Resources;

/// When a master that is dead calls: later than all else.
const NO_BEAT: Ms = Ms::MAX / 4;

/// Where the application master of a job stands, as the resource manager knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmState {
    /// It waits for its container.
    Waiting,
    /// It has its container.
    Allocated,
    /// A heartbeat of its node has reported that it runs.
    Running,
    /// Its job has ended and its container is given back.
    Finished,
}

/// Where a container stands. Between allocation and running lies the heartbeat at which the application master takes it over; no
/// policy asks for that, so it is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerState {
    /// The resource manager has given it to a job.
    Allocated,
    /// A heartbeat of its node has reported that it runs.
    Running,
    /// A heartbeat of its node has reported that it is over, and what it held is free.
    Completed,
}

/// A container whose state has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Container {
    /// The job that has it.
    pub job: JobId,
    /// What runs in it; `None`: the application master.
    pub task: Option<TaskId>,
    /// The kind of that task.
    pub kind: Option<Kind>,
    /// Where it is.
    pub node: NodeId,
    /// What it takes.
    pub size: Resources,
    /// Its new state.
    pub state: ContainerState,
}

/// A node that is kept for a request that does not fit there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// The job that asks.
    pub job: JobId,
    /// What it asks for.
    pub ask: Ask,
}

/// An application: a job, its master and its requests.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) am: AmState,
    pub(crate) am_node: Option<NodeId>,
    /// When its master starts; its heartbeats follow at whole intervals.
    pub(crate) am_start: Ms,
    /// Whether its master died with its node, and no other has been started.
    pub(crate) dead: bool,
    /// Whether its master has passed slow-start, which holds though maps are lost later (Hadoop's `getIsReduceStarted`).
    pub(crate) reduces_started: bool,
    /// Outstanding requests, by [`Ask`].
    pub(crate) asked: [u32; 4],
    /// What its containers hold.
    pub(crate) held: Resources,
    /// Nodes that are kept for it, by [`Ask`].
    pub(crate) reserved: [u32; 4],
    /// Attempts whose end its master has not learned yet, in the order in which the resource manager did.
    pub(crate) unlearned: Vec<Run>,
    hosts: Locations,
    racks: Locations,
    /// When a map was last given a container, or its maps were first asked for.
    map_served: Ms,
}

/// The containers of a node, beside its attempts.
#[derive(Debug, Default)]
pub(crate) struct NodeContainers {
    /// Jobs whose masters are here.
    pub(crate) ams: Vec<JobId>,
    pub(crate) reservation: Option<Reservation>,
}

/// The state of a cluster under YARN.
#[derive(Debug)]
pub(crate) struct Yarn {
    pub(crate) apps: Vec<App>,
    pub(crate) nodes: Vec<NodeContainers>,
    /// Outstanding requests of all active jobs, by [`Ask`].
    pub(crate) asked: [u64; 4],
    /// What all nodes have free.
    pub(crate) free: Resources,
    /// Jobs whose masters were launched at the heartbeat that is being handled.
    pub(crate) new_ams: Vec<JobId>,
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
            free: cluster.total(),
            new_ams: Vec::new(),
            am_interval: cluster.config.containers.am_heartbeat,
        }
    }

    /// Whether any request of any job is outstanding.
    pub(crate) fn any_asked(&self) -> bool {
        self.asked.iter().any(|&asked| asked > 0)
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

    fn set_asked(&mut self, job: JobId, ask: Ask, count: u32) -> bool {
        let asked = &mut self.apps[job.index()].asked[ask.index()];
        let before = std::mem::replace(asked, count);
        let all = &mut self.asked[ask.index()];
        *all = *all + u64::from(count) - u64::from(before);
        before != count
    }

    fn holds(&mut self, job: JobId, demand: Resources) {
        self.free = self.free.minus(demand);
        let app = &mut self.apps[job.index()];
        app.held = app.held.plus(demand);
    }

    fn took(&mut self, job: JobId, ask: Ask, demand: Resources) {
        self.holds(job, demand);
        let app = &self.apps[job.index()];
        let left = app.asked[ask.index()].saturating_sub(1);
        self.set_asked(job, ask, left);
    }

    fn gave_back(&mut self, job: JobId, demand: Resources) {
        self.free = self.free.plus(demand);
        let app = &mut self.apps[job.index()];
        app.held = app.held.minus(demand);
    }

    /// How many places the outstanding requests for maps of a job name: hosts, racks, and "anywhere".
    pub(crate) fn locations(&self, job: JobId) -> u32 {
        let app = &self.apps[job.index()];
        app.hosts.count() + app.racks.count() + u32::from(app.asked[Ask::Map.index()] > 0)
    }

    /// Keeps a node for a request, or no longer.
    pub(crate) fn reserve(&mut self, node: NodeId, reservation: Option<Reservation>) {
        let before = std::mem::replace(&mut self.nodes[node.index()].reservation, reservation);
        if let Some(Reservation { job, ask }) = before {
            self.apps[job.index()].reserved[ask.index()] -= 1;
        }
        if let Some(Reservation { job, ask }) = reservation {
            self.apps[job.index()].reserved[ask.index()] += 1;
        }
    }
}

/// The container of an attempt in a new state.
pub(crate) fn container_of(run: &Run, cluster: &Cluster, state: ContainerState) -> Container {
    Container {
        job: run.job,
        task: Some(run.task),
        kind: Some(run.kind),
        node: run.node,
        size: cluster.demand(run.kind),
        state,
    }
}

impl World<'_> {
    /// A job asks for the container of its master.
    pub(crate) fn ask_for_am(&mut self, job: JobId) {
        if let Some(yarn) = &mut self.yarn {
            yarn.set_asked(job, Ask::Am, 1);
        }
    }

    /// Withdraws all that a job asks for.
    pub(crate) fn withdraw(&mut self, job: JobId) {
        let Some(yarn) = &mut self.yarn else { return };
        for ask in Ask::ALL {
            yarn.set_asked(job, ask, 0);
        }
        if yarn.apps[job.index()].reserved != [0; 4] {
            for node in self.cluster.node_ids() {
                if yarn.nodes[node.index()].reservation.is_some_and(|reservation| reservation.job == job) {
                    yarn.reserve(node, None);
                }
            }
        }
    }

    /// Keeps a node for nobody.
    pub(crate) fn keep_no_longer(&mut self, node: NodeId) {
        if let Some(yarn) = &mut self.yarn {
            yarn.reserve(node, None);
        }
    }

    /// What a task is asked for as.
    pub(crate) fn ask_of(&self, task: TaskId, kind: Kind) -> Ask {
        match kind {
            Kind::Reduce => Ask::Reduce,
            Kind::Map if self.tasks[task.index()].failures > 0 => Ask::FailedMap,
            Kind::Map => Ask::Map,
        }
    }

    /// How many requests of a job are outstanding, or, on slots, how many of its tasks could be launched.
    pub(crate) fn ready_of(&self, job: JobId, kind: Kind) -> u32 {
        match (&self.yarn, kind) {
            (Some(yarn), Kind::Map) => {
                let asked = &yarn.apps[job.index()].asked;
                asked[Ask::FailedMap.index()] + asked[Ask::Map.index()]
            }
            (Some(yarn), Kind::Reduce) => yarn.apps[job.index()].asked[Ask::Reduce.index()],
            (None, Kind::Map) => self.jobs[job.index()].waiting[0],
            (None, Kind::Reduce) if self.reduces_may_start(job) => self.jobs[job.index()].waiting[1],
            (None, Kind::Reduce) => 0,
        }
    }

    /// Starts the master of a job on a node that has room for it.
    pub(crate) fn launch_am(&mut self, job: JobId, node: NodeId) {
        let start = self.now + self.cluster.config.jobs.launch_overhead;
        let demand = self.cluster.demand_of(Ask::Am);
        let Some(yarn) = &mut self.yarn else { return };
        yarn.took(job, Ask::Am, demand);
        yarn.nodes[node.index()].ams.push(job);
        yarn.new_ams.push(job);
        let app = &mut yarn.apps[job.index()];
        (app.am, app.am_node, app.am_start, app.dead) = (AmState::Allocated, Some(node), start, false);
        self.set_free(node, self.nodes[node.index()].free.minus(demand));
        self.version += 1;
    }

    /// Takes the master of a job that has ended off its node.
    pub(crate) fn release_am(&mut self, job: JobId, node: NodeId) {
        let demand = self.cluster.demand_of(Ask::Am);
        let Some(yarn) = &mut self.yarn else { return };
        yarn.gave_back(job, demand);
        yarn.nodes[node.index()].ams.retain(|&other| other != job);
        yarn.apps[job.index()].am = AmState::Finished;
        self.set_free(node, self.nodes[node.index()].free.plus(demand));
        self.version += 1;
    }

    /// When an attempt that is assigned now starts: at once on a slot; a container once its job's master has taken it over.
    pub(crate) fn start_of(&self, job: JobId) -> Ms {
        let taken_over = self.yarn.as_ref().map_or(self.now, |yarn| yarn.am_beat(job, self.now));
        taken_over + self.cluster.config.jobs.launch_overhead
    }

    /// A container has been given to a task.
    pub(crate) fn container_taken(&mut self, task: TaskId, job: JobId, kind: Kind) {
        let ask = self.ask_of(task, kind);
        let Some(yarn) = &mut self.yarn else { return };
        yarn.took(job, ask, self.cluster.demand(kind));
        let app = &mut yarn.apps[job.index()];
        if kind == Kind::Map {
            app.map_served = self.now;
        }
        if ask == Ask::Map {
            each_place(self.workload.replicas(task), self.cluster, |host, rack| {
                app.hosts.remove(host);
                if let Some(rack) = rack {
                    app.racks.remove(rack);
                }
            });
        }
    }

    /// A container has been given to another attempt at a task that runs; its job did not ask for it.
    pub(crate) fn container_added(&mut self, job: JobId, kind: Kind) {
        if let Some(yarn) = &mut self.yarn {
            yarn.holds(job, self.cluster.demand(kind));
        }
    }

    /// The masters on a node die with it. Containers that they have not taken over never start.
    pub(crate) fn orphan_containers(&mut self, node: NodeId) {
        let Some(yarn) = &mut self.yarn else { return };
        for &job in &yarn.nodes[node.index()].ams {
            yarn.apps[job.index()].dead = true;
            for id in self.jobs[job.index()].runs.iter().flatten() {
                let run = &mut self.runs[id.index()];
                if run.start > self.now && !run.lost {
                    (run.start, run.end) = (NO_BEAT, None);
                }
            }
        }
    }

    /// Asks for another master of a job.
    pub(crate) fn restart_master(&mut self, job: JobId) {
        self.withdraw(job);
        let Some(yarn) = &mut self.yarn else { return };
        let app = &mut yarn.apps[job.index()];
        (app.am, app.am_node, app.reduces_started) = (AmState::Waiting, None, false);
        self.ask_for_am(job);
    }

    /// What a container of this kind held is free.
    pub(crate) fn container_given_back(&mut self, job: JobId, kind: Kind) {
        if let Some(yarn) = &mut self.yarn {
            yarn.gave_back(job, self.cluster.demand(kind));
        }
    }

    /// The master of a job asks for its maps and, as many as `headroom` lets it, for its reduces. Returns how many of its
    /// running reduces are to stop so that a map can run.
    pub(crate) fn ask_for_tasks(&mut self, job: JobId, headroom: Resources) -> u32 {
        let state = &self.jobs[job.index()];
        let failed = state.maps.as_ref().map_or(0, |maps| maps.failed_waiting());
        let maps = state.waiting[0] - failed;
        let ramps = self.ramps(job);
        let decision = ramps.then(|| self.standing(job, headroom).decide());
        let before = self.yarn.as_ref().map_or(0, |yarn| yarn.apps[job.index()].asked[Ask::Map.index()]);
        if maps != before {
            self.locate_maps(job);
        }
        let Some(yarn) = &mut self.yarn else { return 0 };
        let reduces = decision.map_or(0, |decision| decision.asked);
        let app = &mut yarn.apps[job.index()];
        app.reduces_started = ramps;
        if app.asked[Ask::FailedMap.index()] + app.asked[Ask::Map.index()] == 0 {
            app.map_served = self.now;
        }
        let mut changed = false;
        for (ask, count) in [(Ask::FailedMap, failed), (Ask::Reduce, reduces), (Ask::Map, maps)] {
            changed |= yarn.set_asked(job, ask, count);
        }
        self.version += u64::from(changed);
        decision.map_or(0, |decision| decision.stop)
    }

    /// Counts anew where the maps of a job are asked for.
    fn locate_maps(&mut self, job: JobId) {
        let asked = |task: &TaskId| {
            let task = &self.tasks[task.index()];
            matches!(task.phase, TaskPhase::Waiting | TaskPhase::Returned) && task.failures == 0
        };
        let maps = || self.workload.job(job).maps.clone().map(TaskId).filter(asked);
        let (mut hosts, mut racks) = (Vec::new(), Vec::new());
        for task in maps() {
            each_place(self.workload.replicas(task), self.cluster, |host, rack| {
                hosts.push(host);
                racks.extend(rack);
            });
        }
        let places = (Locations::of(hosts), Locations::of(racks));
        if let Some(yarn) = &mut self.yarn {
            let app = &mut yarn.apps[job.index()];
            (app.hosts, app.racks) = places;
        }
    }

    /// What the master of a job knows when it decides about reduces.
    fn standing(&self, job: JobId, headroom: Resources) -> Standing {
        let state = &self.jobs[job.index()];
        let reduces_asked = self.ready_of(job, Kind::Reduce);
        let stopping = state.runs[1].iter().filter(|run| self.runs[run.index()].kill != Kill::No).count();
        Standing {
            maps: self.workload.job(job).count(Kind::Map),
            done: state.finished[0],
            asked: [state.waiting[0], reduces_asked],
            assigned: state.running,
            stopping: stopping as u32,
            held_back: state.waiting[1] - reduces_asked,
            memory: Kind::BOTH.map(|kind| self.cluster.demand(kind).memory as u32),
            headroom: u32::try_from(headroom.memory).unwrap_or(u32::MAX),
            hanging: self.maps_hang(job),
        }
    }

    /// Whether none of a job's waiting maps has been given a container for long.
    fn maps_hang(&self, job: JobId) -> bool {
        let patience = self.cluster.config.containers.hanging_maps;
        let served = self.yarn.as_ref().map_or(self.now, |yarn| yarn.apps[job.index()].map_served);
        self.ready_of(job, Kind::Map) > 0 && self.now - served >= patience
    }

    /// Whether the next heartbeat of a job's master may change what it asks for, though it learns of no end: the reduces that
    /// it asks for, or stops, depend on what others use.
    pub(crate) fn is_ramping(&self, job: JobId) -> bool {
        let state = &self.jobs[job.index()];
        let asked = self.ready_of(job, Kind::Reduce);
        let hold_back = state.waiting[1] > asked;
        let in_the_way = state.waiting[0] > 0 && (asked > 0 || state.running[1] > 0);
        state.phase == JobPhase::Active && self.ramps(job) && (hold_back || in_the_way)
    }

    /// Whether the master of a job asks for reduces.
    fn ramps(&self, job: JobId) -> bool {
        let started = self.yarn.as_ref().is_some_and(|yarn| yarn.apps[job.index()].reduces_started);
        started || self.reduces_may_start(job)
    }

    /// The newest running reduces of a job, at most so many: they have done the least.
    pub(crate) fn newest_reduces(&self, job: JobId, most: u32) -> Vec<RunId> {
        let run = |id: &RunId| &self.runs[id.index()];
        let runs = self.jobs[job.index()].runs[1].iter().copied();
        let mut newest: Vec<RunId> =
            runs.filter(|id| run(id).kill == Kill::No && run(id).end.is_none_or(|end| end > self.now)).collect();
        newest.sort_unstable_by_key(|id| std::cmp::Reverse((run(id).start, run(id).task)));
        newest.truncate(most as usize);
        newest
    }
}

/// The hosts of a map's input, each with its rack the first time that the rack comes.
fn each_place(replicas: &[NodeId], cluster: &Cluster, mut place: impl FnMut(u32, Option<u32>)) {
    for (number, &host) in replicas.iter().enumerate() {
        let rack = cluster.node(host).rack;
        let new = replicas[..number].iter().all(|&other| cluster.node(other).rack != rack);
        place(host.0, new.then_some(rack.0));
    }
}
