//! A second simulator of YARN, written from the rules and not from the engine or the policies: the referee of their schedules.
//!
//! It is plain on purpose. Every heartbeat of every node and every master happens, and nothing is kept that can be counted: what
//! is free, used, asked for or reserved is summed up whenever a rule asks. The rules are those of the golden schedules:
//! `docs/model/containers.md`, `docs/model/yarn-policies.md`, and C1 to C7, F1 to F7 and E1 of `docs/yarn.md`, which the comments
//! name.

pub(crate) mod capacity;
pub(crate) mod capacity34;
pub(crate) mod fair;
pub(crate) mod fair34;
mod ramp;

use resched_sim::Ms;
use resched_sim::cluster_file::{Calculator, Size};
use resched_tables::model::{Locality, Outcome};

use crate::worlds::{End, JobEnd, Launch, Schedule, World};
use capacity::Capacity;
use capacity34::Capacity as Capacity34;
use fair::Fair;
use fair34::Fair as Fair34;

/// A world in which so many rounds of heartbeats pass without anything else has come to a stop.
const PATIENCE: usize = 300;
/// A world that starts so many containers kills them again and again.
const MOST_CONTAINERS: usize = 3_000;

/// Requests by priority, most urgent first (MapReduce's 0, 10 and 20; nothing fails here, so that 5 does not come).
pub(crate) const AM: usize = 0;
pub(crate) const REDUCE: usize = 1;
pub(crate) const MAP: usize = 2;
pub(crate) const PRIORITIES: [usize; 3] = [AM, REDUCE, MAP];

/// An amount of both resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Amount {
    pub(crate) memory: i64,
    pub(crate) vcores: i64,
}

impl Amount {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { memory: self.memory + other.memory, vcores: self.vcores + other.vcores }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self { memory: self.memory - other.memory, vcores: self.vcores - other.vcores }
    }

    pub(crate) fn times(self, count: i64) -> Self {
        self.each(|value| value * count)
    }

    /// The same change to each resource.
    pub(crate) fn each(self, change: impl Fn(i64) -> i64) -> Self {
        Self { memory: change(self.memory), vcores: change(self.vcores) }
    }

    pub(crate) fn fits_in(self, other: Self) -> bool {
        self.memory <= other.memory && self.vcores <= other.vcores
    }

    pub(crate) fn sum(amounts: impl Iterator<Item = Self>) -> Self {
        amounts.fold(Self::default(), Self::plus)
    }
}

/// The nearest multiple of `step` that is no less.
pub(crate) fn round_up(value: i64, step: i64) -> i64 {
    (value + step - 1).div_euclid(step) * step
}

/// A scheduler of the referee.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant)]
pub(crate) enum Rules {
    /// YARN's FIFO scheduler.
    Fifo,
    /// YARN's Capacity Scheduler.
    Capacity(capacity::Settings),
    /// That of Hadoop 3.4.
    Capacity34(capacity::Settings),
    /// YARN's Fair Scheduler.
    Fair(fair::Settings),
    /// That of Hadoop 3.4.
    Fair34(fair34::Settings),
}

/// What a scheduler keeps.
enum Scheduler {
    Fifo,
    Capacity(Box<Capacity>),
    Capacity34(Box<Capacity34>),
    Fair(Box<Fair>),
    Fair34(Box<Fair34>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Coming,
    Running,
    /// All is done; the resource manager does not know yet.
    Ended,
    /// E1: the end of its master's container has been reported, and it has left its queue.
    Left,
}

/// An application: a job, its master and its requests.
#[derive(Debug, Clone)]
pub(crate) struct App {
    phase: Phase,
    /// Requests for the master and for reduces. Those for maps are the maps that wait once the master has asked.
    asked: [i64; 2],
    asked_for_maps: bool,
    /// When the master starts, if it has a container.
    am_start: Option<Ms>,
    /// Tasks that wait: those that were killed at the front, the others by number. (The place 0 is not used.)
    waiting: [Vec<usize>; 3],
    done: [usize; 3],
    tries: [Vec<u32>; 3],
    /// Containers whose ends were reported and not learned.
    unlearned: Vec<usize>,
    /// When a map last got a container, or maps were first asked for.
    map_served: Ms,
    maps_done: Option<Ms>,
    launch: Option<Ms>,
}

/// A kill on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kill {
    No,
    /// Its node ends it at its next heartbeat.
    Ordered,
    /// It is dead; the node has not said so.
    Done,
}

/// A container, from its grant on.
#[derive(Debug, Clone)]
pub(crate) struct Container {
    /// F5: given when the container is made, for one that was reserved first at its reservation.
    pub(crate) id: usize,
    pub(crate) app: usize,
    pub(crate) priority: usize,
    task: usize,
    number: u32,
    pub(crate) node: usize,
    level: Option<Locality>,
    /// The heartbeat of the master that takes it over.
    pub(crate) taken_over: Ms,
    start: Ms,
    shuffled: Option<Ms>,
    end: Option<Ms>,
    kill: Kill,
    /// The node has reported that it runs.
    pub(crate) running: bool,
    /// The node has reported its end.
    over: bool,
    /// The scheduler counts it no longer.
    pub(crate) freed: bool,
}

/// A node that is kept for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reservation {
    pub(crate) app: usize,
    pub(crate) priority: usize,
    id: usize,
}

/// The cluster as the resource manager and the masters know it.
pub(crate) struct Cluster<'w> {
    pub(crate) world: &'w World,
    pub(crate) calculator: Calculator,
    pub(crate) now: Ms,
    pub(crate) apps: Vec<App>,
    /// In the order of their grants.
    pub(crate) containers: Vec<Container>,
    pub(crate) reserved: Vec<Option<Reservation>>,
    made: usize,
    schedule: Schedule,
}

/// What the world does under a scheduler, if the first heartbeats of the nodes come at these instants.
pub(crate) fn simulate(world: &World, rules: &Rules, first_heartbeats: &[Ms]) -> Schedule {
    let calculator = match rules {
        // "Which resources count".
        Rules::Fifo => Calculator::Memory,
        Rules::Capacity(_) | Rules::Capacity34(_) => world.config.containers.calculator,
        Rules::Fair(_) | Rules::Fair34(_) => Calculator::Dominant,
    };
    let mut cluster = Cluster::new(world, calculator);
    let start = world.config.heartbeat.first;
    let mut scheduler = match rules {
        Rules::Fifo => Scheduler::Fifo,
        Rules::Capacity(settings) => Scheduler::Capacity(Box::new(Capacity::new(settings, &cluster))),
        Rules::Capacity34(settings) => Scheduler::Capacity34(Box::new(Capacity34::new(settings, &cluster))),
        Rules::Fair(settings) => Scheduler::Fair(Box::new(Fair::new(settings, &cluster, start))),
        Rules::Fair34(settings) => Scheduler::Fair34(Box::new(Fair34::new(settings, &cluster))),
    };
    cluster.run(&mut scheduler, start, first_heartbeats);
    cluster.close()
}

impl<'w> Cluster<'w> {
    fn new(world: &'w World, calculator: Calculator) -> Self {
        let app = |job: &crate::worlds::Submitted| App {
            phase: Phase::Coming,
            asked: [0; 2],
            asked_for_maps: false,
            am_start: None,
            waiting: [Vec::new(), (0..job.reduces.len()).collect(), (0..job.maps.len()).collect()],
            done: [0; 3],
            tries: [Vec::new(), vec![0; job.reduces.len()], vec![0; job.maps.len()]],
            unlearned: Vec::new(),
            map_served: 0,
            maps_done: None,
            launch: None,
        };
        Self {
            world,
            calculator,
            now: 0,
            apps: world.jobs.iter().map(app).collect(),
            containers: Vec::new(),
            reserved: vec![None; world.machines.len()],
            made: 0,
            schedule: Schedule::default(),
        }
    }

    /// Instant by instant: submissions by number, the tick, the nodes that are due in name order, the masters by job.
    fn run(&mut self, scheduler: &mut Scheduler, start: Ms, first_heartbeats: &[Ms]) {
        let rules = &self.world.config.containers;
        let (node_interval, update) = (rules.node_heartbeat, scheduler.update());
        let mut next_beats = first_heartbeats.to_vec();
        let mut next_tick = update.map(|update| start + update);
        let mut idle = 0;
        loop {
            let submissions = self.indices(|app| app.phase == Phase::Coming);
            let submission = submissions.iter().map(|&job| self.world.jobs[job].submit).min();
            let masters = self.indices(|app| app.phase == Phase::Running && app.am_start.is_some());
            // The beat of this very instant has been already.
            let beats = masters.iter().map(|&job| self.am_beat(job, self.now + 1));
            let times = submission.into_iter().chain(next_tick).chain(next_beats.iter().copied()).chain(beats);
            self.now = times.min().expect("nodes call for ever");
            let before = self.progress();
            for job in submissions {
                if self.world.jobs[job].submit == self.now {
                    self.submit(scheduler, job);
                }
            }
            if next_tick == Some(self.now) {
                next_tick = update.map(|update| self.now + update);
                scheduler.tick(self);
            }
            for (node, next_beat) in next_beats.iter_mut().enumerate() {
                if *next_beat == self.now {
                    *next_beat += node_interval;
                    self.node_heartbeat(scheduler, node);
                }
            }
            // A master that got its container just now has its first heartbeat later.
            for job in self.indices(|app| app.phase == Phase::Running && app.am_start.is_some()) {
                if self.am_beat(job, self.now) == self.now {
                    self.master_heartbeat(scheduler, job);
                    if self.apps.iter().all(|app| matches!(app.phase, Phase::Ended | Phase::Left)) {
                        return;
                    }
                }
            }
            let comes = self.apps.iter().any(|app| app.phase == Phase::Coming)
                || self
                    .containers
                    .iter()
                    .any(|container| !container.over && container.end.is_some_and(|end| end > self.now));
            idle = if comes || self.progress() != before { 0 } else { idle + 1 };
            if idle > PATIENCE * (1 + self.world.machines.len()) || self.containers.len() > MOST_CONTAINERS {
                self.schedule.stalled = true;
                return;
            }
        }
    }

    /// Numbers that change whenever something happens.
    fn progress(&self) -> (usize, usize, usize) {
        let over = self.containers.iter().filter(|container| container.over).count();
        (self.made, over, self.apps.iter().map(|app| app.done[MAP] + app.done[REDUCE]).sum())
    }

    fn indices(&self, wanted: impl Fn(&App) -> bool) -> Vec<usize> {
        (0..self.apps.len()).filter(|&job| wanted(&self.apps[job])).collect()
    }

    fn submit(&mut self, scheduler: &mut Scheduler, job: usize) {
        let now = self.now;
        let app = &mut self.apps[job];
        (app.phase, app.asked[AM]) = (Phase::Running, 1);
        app.maps_done = self.world.jobs[job].maps.is_empty().then_some(now);
        scheduler.arrive(self, job);
    }

    /// A heartbeat of a node: containers that have ended or started, in launch order, then masters; then the scheduler.
    fn node_heartbeat(&mut self, scheduler: &mut Scheduler, node: usize) {
        let here = |container: &Container| container.node == node && !container.over;
        let on_node: Vec<usize> =
            (0..self.containers.len()).filter(|&container| here(&self.containers[container])).collect();
        let (masters, tasks): (Vec<usize>, Vec<usize>) =
            on_node.into_iter().partition(|&container| self.containers[container].priority == AM);
        for task in tasks {
            let now = self.now;
            let container = &mut self.containers[task];
            // A kill comes too late for one that has ended by itself.
            let ended = container.end.is_some_and(|end| end <= now);
            if ended || container.kill == Kill::Ordered {
                if !ended {
                    container.die(now);
                } else if container.kill == Kill::Ordered {
                    container.kill = Kill::No;
                }
                (container.over, container.freed) = (true, true);
                let app = container.app;
                if self.apps[app].phase == Phase::Running {
                    self.apps[app].unlearned.push(task);
                }
            } else if container.start <= now {
                container.running = true;
            }
        }
        let mut left = Vec::new();
        for master in masters {
            let (app, start) = (self.containers[master].app, self.containers[master].start);
            if self.apps[app].phase == Phase::Ended {
                (self.containers[master].over, self.containers[master].freed) = (true, true);
                left.push(app);
            } else if start <= self.now {
                self.containers[master].running = true;
            }
        }
        scheduler.node_update(self, node);
        // E1.
        for app in left {
            self.apps[app].phase = Phase::Left;
            for reserved in &mut self.reserved {
                if reserved.is_some_and(|reservation| reservation.app == app) {
                    *reserved = None;
                }
            }
            scheduler.leave(self, app);
        }
    }

    /// A heartbeat of a master: it learns, ends or takes over, and asks anew. What it takes over was settled at the grant.
    fn master_heartbeat(&mut self, scheduler: &mut Scheduler, job: usize) {
        // Maps that wait again are asked for at the end of this heartbeat.
        let asked_maps = self.asked(job, MAP);
        for app in std::mem::take(&mut self.apps[job].unlearned) {
            self.learn(job, app);
            let spec = &self.world.jobs[job];
            if self.apps[job].done[MAP] == spec.maps.len() && self.apps[job].done[REDUCE] == spec.reduces.len() {
                self.apps[job].phase = Phase::Ended;
                let (launch, finish) = (self.apps[job].launch, self.now);
                self.schedule.jobs.push(JobEnd { job, launch, finish, outcome: Outcome::Success });
                return;
            }
        }
        let headroom = scheduler.headroom(self, job);
        let stop = self.ask(job, asked_maps, headroom);
        // The newest reduces have done the least. (The rules are silent about ties: as the engine, by task.)
        let runs = |container: &usize| {
            let state = &self.containers[*container];
            state.app == job
                && state.priority == REDUCE
                && !state.over
                && state.kill == Kill::No
                && state.end.is_none_or(|end| end > self.now)
        };
        let mut newest: Vec<usize> = (0..self.containers.len()).filter(runs).collect();
        newest.sort_by_key(|&container| {
            std::cmp::Reverse((self.containers[container].start, self.containers[container].task))
        });
        for &container in newest.iter().take(stop) {
            self.containers[container].die(self.now);
        }
    }

    fn learn(&mut self, job: usize, held: usize) {
        let Container { priority, task, kill, .. } = self.containers[held];
        if kill == Kill::Done {
            self.apps[job].waiting[priority].insert(0, task);
            return;
        }
        self.apps[job].done[priority] += 1;
        if priority == MAP && self.apps[job].done[MAP] == self.world.jobs[job].maps.len() {
            self.apps[job].maps_done = Some(self.now);
            for container in 0..self.containers.len() {
                if self.containers[container].app == job && self.containers[container].priority == REDUCE {
                    self.end_reduce(container);
                }
            }
        }
    }

    /// R0: the reduce phase starts when the reduce runs and its master knows that all maps are done.
    fn end_reduce(&mut self, held: usize) {
        let Container { app, task, start, end, .. } = self.containers[held];
        if let (Some(done), None) = (self.apps[app].maps_done, end) {
            let shuffled = start.max(done);
            let run = self.world.jobs[app].reduces[task][0].reduce.expect("a reduce with a time");
            (self.containers[held].shuffled, self.containers[held].end) = (Some(shuffled), Some(shuffled + run));
        }
    }

    /// The heartbeat of a master at `at` or later. The first one comes an interval after its start.
    fn am_beat(&self, job: usize, at: Ms) -> Ms {
        let start = self.apps[job].am_start.expect("a master");
        let mut beat = start + self.world.config.containers.am_heartbeat;
        while beat < at {
            beat += self.world.config.containers.am_heartbeat;
        }
        beat
    }

    // What a scheduler may do.

    /// Gives a container on a node for a request. If the node was kept for it, it is no longer.
    pub(crate) fn grant(&mut self, app: usize, priority: usize, node: usize) {
        let kept = self.reserved[node].take();
        let id = kept.map_or_else(|| self.next_id(), |kept| kept.id);
        let overhead = self.world.config.jobs.launch_overhead;
        let mut container = Container {
            id,
            app,
            priority,
            task: 0,
            number: 0,
            node,
            level: None,
            taken_over: self.now,
            start: self.now + overhead,
            shuffled: None,
            end: None,
            kill: Kill::No,
            running: false,
            over: false,
            freed: false,
        };
        if priority != MAP {
            self.apps[app].asked[priority] -= 1;
        }
        if priority == AM {
            self.apps[app].am_start = Some(container.start);
            self.containers.push(container);
            return;
        }
        let task = if priority == MAP { self.find_map(app, node) } else { self.apps[app].waiting[REDUCE][0] };
        if priority == MAP {
            self.apps[app].map_served = self.now;
            container.level = self.level(app, task, node);
        }
        container.taken_over = self.am_beat(app, self.now);
        container.start = container.taken_over + overhead;
        container.task = task;
        let state = &mut self.apps[app];
        container.number = state.tries[priority][task];
        state.tries[priority][task] += 1;
        state.waiting[priority].retain(|&other| other != task);
        state.launch.get_or_insert(self.now);
        if priority == MAP {
            container.end = Some(container.start + self.map_run(app, task, container.level));
        }
        let (attempt, level) = (container.number, container.level);
        let launch = Launch { at: self.now, task: self.task_id(app, priority, task), attempt, node, level };
        self.schedule.launches.push(launch);
        self.containers.push(container);
        if priority == REDUCE {
            self.end_reduce(self.containers.len() - 1);
        }
    }

    /// Keeps a node for a request.
    pub(crate) fn reserve(&mut self, app: usize, priority: usize, node: usize) {
        let id = self.next_id();
        self.reserved[node] = Some(Reservation { app, priority, id });
    }

    /// Frees a container at once; its node will end it.
    pub(crate) fn preempt(&mut self, held: usize) {
        self.containers[held].freed = true;
        if self.containers[held].kill == Kill::No {
            self.containers[held].kill = Kill::Ordered;
        }
    }

    fn next_id(&mut self) -> usize {
        self.made += 1;
        self.made
    }

    // What there is, counted.

    fn amount(&self, size: Size) -> Amount {
        let minimum = self.world.config.containers.minimum;
        let up = |value: u32, step: u32| round_up(value.into(), step.into());
        Amount { memory: up(size.memory_mb, minimum.memory_mb), vcores: up(size.vcores, minimum.vcores) }
    }

    /// The size of the container for a request.
    pub(crate) fn size(&self, priority: usize) -> Amount {
        let rules = &self.world.config.containers;
        self.amount([rules.am, rules.reduce, rules.map][priority])
    }

    /// The smallest container.
    pub(crate) fn minimum(&self) -> Amount {
        self.amount(self.world.config.containers.minimum)
    }

    /// The largest container.
    pub(crate) fn maximum(&self) -> Amount {
        let size = self.world.config.containers.maximum;
        Amount { memory: size.memory_mb.into(), vcores: size.vcores.into() }
    }

    pub(crate) fn node_total(&self) -> Amount {
        let rules = &self.world.config.containers;
        let known = |value: Option<u32>| i64::from(value.expect("a node with resources"));
        Amount { memory: known(rules.memory_mb), vcores: known(rules.vcores) }
    }

    pub(crate) fn total(&self) -> Amount {
        self.node_total().times(self.world.machines.len() as i64)
    }

    /// What the containers hold that the scheduler counts.
    pub(crate) fn held(&self, wanted: impl Fn(&Container) -> bool) -> Amount {
        let counted = self.containers.iter().filter(|container| !container.freed && wanted(container));
        Amount::sum(counted.map(|container| self.size(container.priority)))
    }

    pub(crate) fn used_by(&self, app: usize) -> Amount {
        self.held(|container| container.app == app)
    }

    /// What the nodes that are kept for an application will give.
    pub(crate) fn reserved_by(&self, app: usize) -> Amount {
        let reserved = self.reserved.iter().flatten().filter(|reservation| reservation.app == app);
        Amount::sum(reserved.map(|reservation| self.size(reservation.priority)))
    }

    pub(crate) fn free(&self, node: usize) -> Amount {
        self.node_total().minus(self.held(|container| container.node == node))
    }

    /// True if a node has room for the container of a request, by the resources that count.
    pub(crate) fn fits(&self, priority: usize, node: usize) -> bool {
        let (size, free) = (self.size(priority), self.free(node));
        match self.calculator {
            Calculator::Memory => size.memory <= free.memory,
            Calculator::Dominant => size.fits_in(free),
        }
    }

    /// How many containers an application asks for at a priority.
    pub(crate) fn asked(&self, app: usize, priority: usize) -> i64 {
        let state = &self.apps[app];
        match priority {
            MAP if state.asked_for_maps => state.waiting[MAP].len() as i64,
            MAP => 0,
            _ => state.asked[priority],
        }
    }

    pub(crate) fn asks(&self, app: usize) -> bool {
        PRIORITIES.iter().any(|&priority| self.asked(app, priority) > 0)
    }

    fn asked_maps(&self, app: usize, wanted: impl Fn(&[usize]) -> bool) -> i64 {
        if !self.apps[app].asked_for_maps {
            return 0;
        }
        let maps = &self.world.jobs[app].maps;
        self.apps[app].waiting[MAP].iter().filter(|&&map| wanted(&maps[map].replicas)).count() as i64
    }

    /// How many containers it asks for on a host.
    pub(crate) fn asked_on(&self, app: usize, priority: usize, node: usize) -> i64 {
        if priority == MAP { self.asked_maps(app, |replicas| replicas.contains(&node)) } else { 0 }
    }

    /// How many containers it asks for in the rack of a node.
    pub(crate) fn asked_in_rack(&self, app: usize, priority: usize, node: usize) -> i64 {
        let rack = self.rack(node);
        let in_rack = |replicas: &[usize]| replicas.iter().any(|&replica| self.rack(replica) == rack);
        if priority == MAP { self.asked_maps(app, in_rack) } else { 0 }
    }

    pub(crate) fn rack(&self, node: usize) -> usize {
        self.world.machines[node].rack
    }

    /// Hosts and racks that the maps of an application name, each once.
    pub(crate) fn places(&self, app: usize) -> (Vec<usize>, Vec<usize>) {
        let maps = &self.world.jobs[app].maps;
        let mut hosts: Vec<usize> = maps.iter().flat_map(|map| map.replicas.clone()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let mut racks: Vec<usize> = hosts.iter().map(|&host| self.rack(host)).collect();
        racks.sort_unstable();
        racks.dedup();
        (hosts, racks)
    }

    pub(crate) fn has_asked_for_maps(&self, app: usize) -> bool {
        self.apps[app].asked_for_maps
    }

    /// "Which task a container gets": near before far; one that was killed comes before the others.
    fn find_map(&self, app: usize, node: usize) -> usize {
        let waiting = &self.apps[app].waiting[MAP];
        let maps = &self.world.jobs[app].maps;
        let first =
            |wanted: &dyn Fn(&[usize]) -> bool| waiting.iter().copied().find(|&map| wanted(&maps[map].replicas));
        let in_rack = |rack: usize| first(&|replicas| replicas.iter().any(|&replica| self.rack(replica) == rack));
        let mut racks: Vec<usize> = self.world.machines.iter().map(|machine| machine.rack).collect();
        // The engine's worlds have racks in the order of their first nodes.
        let mut seen = Vec::new();
        racks.retain(|rack| {
            let new = !seen.contains(rack);
            seen.push(*rack);
            new
        });
        first(&|replicas| replicas.contains(&node))
            .or_else(|| in_rack(self.rack(node)))
            .or_else(|| racks.into_iter().find_map(in_rack))
            .or_else(|| first(&|replicas| replicas.is_empty()))
            .expect("a map that waits")
    }

    fn level(&self, app: usize, map: usize, node: usize) -> Option<Locality> {
        let replicas = &self.world.jobs[app].maps[map].replicas;
        if replicas.is_empty() {
            None
        } else if replicas.contains(&node) {
            Some(Locality::Node)
        } else if replicas.iter().any(|&replica| self.rack(replica) == self.rack(node)) {
            Some(Locality::Rack)
        } else {
            Some(Locality::Off)
        }
    }

    /// How long a map takes, by its distance from its input. (Where the rules of the goldens say that a map without
    /// locations takes the time that is logged: those are logged as far from their input, and here the engine scales by
    /// the distance that is logged.)
    fn map_run(&self, app: usize, map: usize, level: Option<Locality>) -> Ms {
        let logged = &self.world.jobs[app].maps[map].tries[0];
        let here = level.unwrap_or(Locality::Off);
        let factor = |level: Locality| self.world.config.cost.locality[level as usize];
        if here == logged.level {
            logged.run
        } else {
            (logged.run as f64 * (factor(here) / factor(logged.level))).trunc() as Ms
        }
    }

    /// The number of a task among all tasks of the world.
    fn task_id(&self, app: usize, priority: usize, task: usize) -> usize {
        let before: usize = self.world.jobs[..app].iter().map(|job| job.maps.len() + job.reduces.len()).sum();
        before + if priority == MAP { task } else { self.world.jobs[app].maps.len() + task }
    }

    /// What happened, with the containers that are on nodes at the end.
    fn close(mut self) -> Schedule {
        for container in self.containers.iter().filter(|container| container.priority != AM) {
            let over = container.end.is_some_and(|end| end <= self.now);
            let outcome = match container.kill {
                Kill::Done => Outcome::Killed,
                _ if over => Outcome::Success,
                _ => Outcome::Incomplete,
            };
            let shuffled = container.shuffled.filter(|_| outcome == Outcome::Success);
            self.schedule.ends.push(End {
                task: self.task_id(container.app, container.priority, container.task),
                attempt: container.number,
                node: container.node,
                level: container.level,
                start: container.start.min(self.now),
                shuffle_finish: shuffled,
                // R0 has no sort.
                sort_finish: shuffled,
                finish: container.end.filter(|_| over),
                outcome,
                discarded: false,
            });
        }
        self.schedule.ends.sort_unstable_by_key(|end| (end.task, end.attempt));
        self.schedule
    }
}

impl Container {
    /// It is killed now. One that was still being launched never ran.
    fn die(&mut self, now: Ms) {
        self.start = self.start.min(now);
        (self.end, self.kill) = (Some(now), Kill::Done);
    }
}

impl Scheduler {
    fn update(&self) -> Option<Ms> {
        match self {
            Self::Fair(fair) => Some(fair.update_interval()),
            Self::Fair34(fair) => Some(fair.update_interval()),
            _ => None,
        }
    }

    fn arrive(&mut self, cluster: &Cluster<'_>, app: usize) {
        match self {
            Self::Fifo => {}
            Self::Capacity(capacity) => capacity.arrive(cluster, app),
            Self::Capacity34(capacity) => capacity.arrive(cluster, app),
            Self::Fair(fair) => fair.arrive(cluster, app),
            Self::Fair34(fair) => fair.arrive(cluster, app),
        }
    }

    fn leave(&mut self, cluster: &Cluster<'_>, app: usize) {
        match self {
            Self::Fifo => {}
            Self::Capacity(capacity) => capacity.leave(cluster, app),
            Self::Capacity34(capacity) => capacity.leave(cluster, app),
            Self::Fair(fair) => fair.leave(cluster, app),
            Self::Fair34(fair) => fair.leave(cluster, app),
        }
    }

    fn tick(&mut self, cluster: &mut Cluster<'_>) {
        match self {
            Self::Fair(fair) => fair.tick(cluster),
            Self::Fair34(fair) => fair.tick(cluster),
            Self::Fifo | Self::Capacity(_) | Self::Capacity34(_) => {}
        }
    }

    fn node_update(&mut self, cluster: &mut Cluster<'_>, node: usize) {
        match self {
            Self::Fifo => fifo(cluster, node),
            Self::Capacity(capacity) => capacity.node_update(cluster, node),
            Self::Capacity34(capacity) => capacity.node_update(cluster, node),
            Self::Fair(fair) => fair.node_update(cluster, node),
            Self::Fair34(fair) => fair.node_update(cluster, node),
        }
    }

    /// The headroom in the answer to a master.
    fn headroom(&mut self, cluster: &Cluster<'_>, app: usize) -> i64 {
        match self {
            // What is free when the scheduler last looked, and nothing changes in between.
            Self::Fifo => cluster.total().minus(cluster.held(|_| true)).memory,
            Self::Capacity(capacity) => capacity.headroom(app),
            Self::Capacity34(capacity) => capacity.headroom(cluster, app),
            Self::Fair(fair) => fair.headroom(cluster, app),
            Self::Fair34(fair) => fair.headroom(cluster, app),
        }
    }
}

/// FIFO: applications by submission; of each by priority all that fit, until one of its priorities gets nothing.
fn fifo(cluster: &mut Cluster<'_>, node: usize) {
    for app in cluster.indices(|app| matches!(app.phase, Phase::Running | Phase::Ended)) {
        for priority in PRIORITIES {
            let mut wanted = cluster.asked(app, priority);
            if wanted == 0 {
                continue;
            }
            let before = wanted;
            while wanted > 0 && cluster.fits(priority, node) {
                cluster.grant(app, priority, node);
                wanted -= 1;
            }
            if wanted == before {
                break;
            }
        }
        if cluster.free(node).memory < cluster.minimum().memory {
            break;
        }
    }
}
