//! The world under YARN: the requests of jobs, and their containers (`docs/model/containers.md`). On slots these functions do
//! nothing.

use super::{JobPhase, Reach, TaskPhase, World};
use crate::cluster_file::Withdraws;
use crate::hadoop::ask::Ask;
use crate::hadoop::attempt::Kill;
use crate::hadoop::cluster::Cluster;
use crate::hadoop::containers::{AmState, Locations, NO_BEAT, Standing, Yarn};
use crate::hadoop::kind::Kind;
use crate::ids::{AttemptId, JobId, Ms, NodeId, TaskId};

impl World<'_> {
    /// A job asks for the container of its master.
    pub(crate) fn ask_for_am(&mut self, job: JobId) {
        if let Some(yarn) = &mut self.yarn {
            yarn.set_asked(job, Ask::Am, 1);
        }
    }

    /// Withdraws all that a job asks for.
    pub(crate) fn withdraw(&mut self, job: JobId) {
        self.take_granted(job);
        let Some(yarn) = &mut self.yarn else { return };
        for ask in Ask::ALL {
            yarn.set_asked(job, ask, 0);
        }
        let app = &mut yarn.apps[job.index()];
        app.hosts.withdraw();
        app.racks.withdraw();
    }

    /// Ends all reservations for a job. Returns the nodes that were kept for it.
    pub(crate) fn unreserve_all(&mut self, job: JobId) -> Vec<NodeId> {
        let Some(yarn) = &mut self.yarn else { return Vec::new() };
        if yarn.apps[job.index()].reserved == [0; 4] {
            return Vec::new();
        }
        let is_kept =
            |node: &NodeId| yarn.nodes[node.index()].reservation.is_some_and(|reservation| reservation.job == job);
        let kept: Vec<NodeId> = self.cluster.node_ids().filter(is_kept).collect();
        for &node in &kept {
            yarn.reserve(node, None);
        }
        self.version += 1;
        kept
    }

    /// Ends the reservation of a node.
    pub(crate) fn keep_no_longer(&mut self, node: NodeId) {
        if let Some(yarn) = &mut self.yarn {
            yarn.reserve(node, None);
        }
    }

    /// The request for a task.
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

    /// [`World::ready_of`] of all jobs.
    pub(crate) fn ready_of_all(&self, kind: Kind) -> u64 {
        match (&self.yarn, kind) {
            (None, _) => self.ready[kind.index()],
            (Some(yarn), Kind::Map) => yarn.asked[Ask::FailedMap.index()] + yarn.asked[Ask::Map.index()],
            (Some(yarn), Kind::Reduce) => yarn.asked[Ask::Reduce.index()],
        }
    }

    /// True if the resource manager knows that a master of a job runs; on slots every job has one.
    pub(crate) fn has_master(&self, job: JobId) -> bool {
        let runs = |yarn: &Yarn| yarn.apps[job.index()].am == AmState::Running;
        self.yarn.as_ref().is_none_or(|yarn| runs(yarn) && self.jobs[job.index()].phase == JobPhase::Active)
    }

    /// True if the reduces of a job still wait for its maps. (Under YARN its master asks for them only when they may start.)
    pub(crate) fn holds_reduces_back(&self, job: JobId) -> bool {
        self.yarn.is_none() && !self.reduces_may_start(job)
    }

    /// True if the master of a job has a container.
    pub(crate) fn has_container_of_master(&self, job: JobId) -> bool {
        let state = self.yarn.as_ref().map(|yarn| yarn.apps[job.index()].am);
        matches!(state, Some(AmState::Allocated | AmState::Running))
    }

    /// Starts the master of a job on a node that has room for it.
    pub(crate) fn launch_am(&mut self, job: JobId, node: NodeId) {
        let start = self.now + self.cluster.config.jobs.launch_overhead.max(self.workload.master_start());
        let demand = self.cluster.demand_of(Ask::Am);
        let Some(yarn) = &mut self.yarn else { return };
        yarn.took(job, Ask::Am, demand);
        yarn.nodes[node.index()].ams.push(job);
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

    /// Takes the container of the master of a job back. If it runs, its room is free once its node has ended it.
    pub(crate) fn take_back_am(&mut self, job: JobId, node: NodeId) {
        let runs = self.yarn.as_ref().is_some_and(|yarn| yarn.apps[job.index()].am == AmState::Running);
        let free = self.nodes[node.index()].free;
        self.release_am(job, node);
        if runs {
            self.set_free(node, free);
            if let Some(yarn) = &mut self.yarn {
                yarn.nodes[node.index()].dying_ams += 1;
            }
        }
    }

    /// The masters on a node whose containers were taken back have ended.
    pub(crate) fn free_room_of_masters(&mut self, node: NodeId) {
        let Some(yarn) = &mut self.yarn else { return };
        let ended = std::mem::take(&mut yarn.nodes[node.index()].dying_ams);
        if ended > 0 {
            let room = self.cluster.demand_of(Ask::Am).times(ended.into());
            self.set_free(node, self.nodes[node.index()].free.plus(room));
            self.version += 1;
        }
    }

    /// The resource manager knows nothing of the places that a job names any more.
    pub(crate) fn forget_places(&mut self, job: JobId) {
        if let Some(yarn) = &mut self.yarn {
            let app = &mut yarn.apps[job.index()];
            (app.hosts, app.racks) = (Locations::default(), Locations::default());
        }
    }

    /// When an attempt that is assigned now starts: at once on a slot; a container once its job's master has taken it over.
    pub(crate) fn start_of(&self, job: JobId) -> Ms {
        let taken_over = self.yarn.as_ref().map_or(self.now, |yarn| yarn.am_beat(job, self.now));
        taken_over + self.cluster.config.jobs.launch_overhead
    }

    /// A container on a node has been given to a task, as one so near its input.
    pub(crate) fn container_taken(&mut self, task: TaskId, (job, kind): (JobId, Kind), (node, near): (NodeId, Reach)) {
        let ask = self.ask_of(task, kind);
        let demand = self.demand_of(job, ask);
        let Some(yarn) = &mut self.yarn else { return };
        yarn.took(job, ask, demand);
        let app = &mut yarn.apps[job.index()];
        if kind == Kind::Map {
            app.map_served = self.now;
        }
        match self.cluster.config.am.withdraws {
            _ if ask != Ask::Map => {}
            Withdraws::Grant => {
                self.withdraw_map(task);
                if let Some(yarn) = &mut self.yarn {
                    yarn.end_round_of_maps(job);
                }
            }
            Withdraws::Heartbeat => {
                if near == Reach::Node {
                    app.hosts.granted(node.0);
                }
                if near <= Reach::Rack {
                    app.racks.granted(self.cluster.node(node).rack.0);
                }
            }
        }
    }

    /// A map has a container: its job asks no longer for it at all the places of its input.
    pub(super) fn withdraw_map(&mut self, task: TaskId) {
        let Some(yarn) = &mut self.yarn else { return };
        let app = &mut yarn.apps[self.workload.job_of(task).index()];
        each_place(self.workload.replicas(task), self.cluster, |host, rack| {
            app.hosts.withdraw_one(host);
            if let Some(rack) = rack {
                app.racks.withdraw_one(rack);
            }
        });
    }

    /// How near to its data a node could serve a job's request for a map, as far as the resource manager knows.
    pub(crate) fn nearest_request(&self, job: JobId, node: NodeId) -> Option<Reach> {
        let app = &self.yarn.as_ref()?.apps[job.index()];
        if app.asked[Ask::Map.index()] == 0 || self.refuses(job, node) {
            return None;
        }
        let rack = app.racks.asks_for(self.cluster.node(node).rack.0);
        Some(match rack {
            true if app.hosts.asks_for(node.0) => Reach::Node,
            true => Reach::Rack,
            false => Reach::Any,
        })
    }

    /// A container has been given to another attempt at a task that runs; its job did not ask for it.
    pub(crate) fn container_added(&mut self, job: JobId, kind: Kind) {
        let demand = self.demand_of(job, Ask::of(kind));
        if let Some(yarn) = &mut self.yarn {
            yarn.holds(job, demand);
        }
    }

    /// The masters on a node die with it. Containers that they have not taken over never start.
    pub(crate) fn orphan_containers(&mut self, node: NodeId) {
        let jobs = self.yarn.as_ref().map_or_else(Vec::new, |yarn| yarn.nodes[node.index()].ams.clone());
        jobs.into_iter().for_each(|job| self.orphan_containers_of(job));
    }

    /// The master of a job dies. Containers that it has not taken over never start.
    pub(crate) fn orphan_containers_of(&mut self, job: JobId) {
        let Some(yarn) = &mut self.yarn else { return };
        let app = &mut yarn.apps[job.index()];
        app.dead = true;
        app.granted.clear();
        for id in self.jobs[job.index()].runs.iter().flatten() {
            let run = &mut self.runs[id.index()];
            let granted = std::mem::take(&mut run.granted);
            if (run.start > self.now || granted) && !run.lost {
                (run.start, run.end) = (NO_BEAT, None);
                if let Some(bench) = &mut self.bench {
                    bench.end(*id, self.now);
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

    /// Frees the resources of a container of this kind.
    pub(crate) fn container_given_back(&mut self, job: JobId, kind: Kind) {
        let demand = self.demand_of(job, Ask::of(kind));
        if let Some(yarn) = &mut self.yarn {
            yarn.gave_back(job, demand);
        }
    }

    /// The master of a job asks for its maps and, as many as `headroom` lets it, for its reduces. Returns how many of its
    /// running reduces are to stop so that a map can run.
    pub(crate) fn ask_for_tasks(&mut self, job: JobId, headroom: u64) -> u32 {
        let state = &self.jobs[job.index()];
        let failed = state.maps.as_ref().map_or(0, |maps| maps.failed_waiting());
        let maps = state.waiting[0] - failed;
        let ramps = self.ramps(job);
        let decision = ramps.then(|| self.standing(job, headroom).decide());
        let before = self.yarn.as_ref().map_or(0, |yarn| yarn.apps[job.index()].asked[Ask::Map.index()]);
        if maps != before {
            self.ask_at_places(job);
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
        yarn.end_round_of_maps(job);
        self.version += u64::from(changed);
        decision.map_or(0, |decision| decision.stop)
    }

    /// The master of a job asks at all places for the maps that wait.
    fn ask_at_places(&mut self, job: JobId) {
        let maps = || self.workload.job(job).maps.clone().map(TaskId);
        let asked = |task: &TaskId| {
            let task = &self.tasks[task.index()];
            matches!(task.phase, TaskPhase::Waiting | TaskPhase::Returned) && task.failures == 0
        };
        let places = |maps: &mut dyn Iterator<Item = TaskId>| {
            let (mut hosts, mut racks) = (Vec::new(), Vec::new());
            for task in maps {
                each_place(self.workload.replicas(task), self.cluster, |host, rack| {
                    hosts.push(host);
                    racks.extend(rack);
                });
            }
            (hosts, racks)
        };
        let is_first = self.yarn.as_ref().is_some_and(|yarn| yarn.locations(job) == 0);
        let named = is_first.then(|| places(&mut maps()));
        let (hosts, racks) = places(&mut maps().filter(asked));
        let Some(yarn) = &mut self.yarn else { return };
        let app = &mut yarn.apps[job.index()];
        if let Some((hosts, racks)) = named {
            (app.hosts, app.racks) = (Locations::named(hosts), Locations::named(racks));
        }
        app.hosts.ask(hosts.into_iter());
        app.racks.ask(racks.into_iter());
    }

    /// The facts by which the master of a job decides about reduces.
    fn standing(&self, job: JobId, headroom: u64) -> Standing {
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
            headroom: u32::try_from(headroom).unwrap_or(u32::MAX),
            hanging: self.maps_hang(job),
        }
    }

    /// True if none of a job's waiting maps has been given a container for long.
    fn maps_hang(&self, job: JobId) -> bool {
        let patience = self.cluster.config.containers.hanging_maps;
        let served = self.yarn.as_ref().map_or(self.now, |yarn| yarn.apps[job.index()].map_served);
        self.ready_of(job, Kind::Map) > 0 && self.now - served >= patience
    }

    /// True if the next heartbeat of a job's master may change what it asks for, though it learns of no end: the reduces that
    /// it asks for, or stops, depend on what others use.
    pub(crate) fn is_ramping(&self, job: JobId) -> bool {
        let state = &self.jobs[job.index()];
        let asked = self.ready_of(job, Kind::Reduce);
        let hold_back = state.waiting[1] > asked;
        let in_the_way = state.waiting[0] > 0 && (asked > 0 || state.running[1] > 0);
        state.phase == JobPhase::Active && self.ramps(job) && (hold_back || in_the_way)
    }

    /// True if the master of a job asks for reduces.
    fn ramps(&self, job: JobId) -> bool {
        let started = self.yarn.as_ref().is_some_and(|yarn| yarn.apps[job.index()].reduces_started);
        started || self.reduces_may_start(job)
    }

    /// The newest running reduces of a job, at most so many: they have done the least.
    pub(crate) fn newest_reduces(&self, job: JobId, most: u32) -> Vec<AttemptId> {
        let run = |id: &AttemptId| &self.runs[id.index()];
        let runs = self.jobs[job.index()].runs[1].iter().copied();
        let mut newest: Vec<AttemptId> =
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
