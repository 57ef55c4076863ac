//! A second simulator, written from the rules and not from the engine: the referee of the engine's schedules.
//!
//! It is plain on purpose. Every heartbeat of every node happens, the end of an attempt is an event, every look-up goes
//! through all tasks, and nothing is kept that can be counted. The rules are those of `docs/model`: of heartbeats, the
//! picking of tasks, locality, reduces and failures, and of the policies here. Random draws are those of the engine's keyed streams.

mod coupling;
mod waits;

use std::collections::BTreeMap;

use resched_sim::Ms;
use resched_sim::cluster_file::ReduceModel;
use resched_sim::hadoop::LoggedMap;
use resched_tables::model::{Locality, Outcome, Priority};

pub(crate) use coupling::{Coupling, Maps};

use crate::worlds::{End, JobEnd, Launch, Schedule, Submitted, World};

const MAP: usize = 0;
const REDUCE: usize = 1;

/// A world in which so many heartbeats of each node pass without anything else has come to a stop.
const PATIENCE: usize = 500;

/// A policy of the referee.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// `docs/model/fifo.md`.
    Fifo { pad_fraction: f64, min_cluster: usize, many_maps: bool },
    /// `docs/model/naive-fair.md`.
    NaiveFair,
    /// Delay scheduling by skip count (`docs/model/delay.md`), with `D`.
    Delay(u32),
    /// Delay scheduling by waiting time, as in Hadoop, with T1 and T2.
    DelayTime([Ms; 2]),
    /// `docs/model/coupling.md`.
    Coupling(Coupling),
}

/// What happens at an instant.
#[derive(Debug, Clone, Copy)]
enum Event {
    Submit(usize),
    Heartbeat(usize),
    End(usize),
    /// Of the demands of the Fair Scheduler.
    Update,
}

/// Events that come first among those of an instant: an attempt that ends at the very instant of its node's heartbeat is
/// reported in it. Hadoop's simulator needs no such rule, as it puts an end into its queue before the node's next
/// heartbeat; in model R1 another node's heartbeat may put it there.
const ENDS: u8 = 0;
const OTHERS: u8 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Coming,
    Running,
    Ended,
}

#[derive(Debug, Clone, Default)]
struct Task {
    /// Tries so far.
    tries: u32,
    failed_on: Vec<usize>,
    failures: u32,
    done: bool,
}

#[derive(Debug, Clone)]
struct Job {
    phase: Phase,
    tasks: [Vec<Task>; 2],
    /// Tasks that wait: in the order of their splits or ids, those that failed at the front.
    waiting: [Vec<usize>; 2],
    launch: Option<Ms>,
    /// When the master learned that all maps are done.
    maps_done: Option<Ms>,
    /// Delay scheduling: how often it was skipped.
    skips: u32,
}

/// An attempt, from its launch to the end of the replay.
#[derive(Debug, Clone)]
struct Attempt {
    job: usize,
    kind: usize,
    task: usize,
    number: u32,
    node: usize,
    level: Option<Locality>,
    start: Ms,
    outcome: Outcome,
    shuffled: Option<Ms>,
    sorted: Option<Ms>,
    /// When it ends, once that is known.
    end: Option<Ms>,
    /// The end has come.
    ended: bool,
    /// The master has learned of the end.
    known: bool,
}

/// The simulation.
pub(crate) struct Naive<'w> {
    world: &'w World,
    rule: Rule,
    first_heartbeats: &'w [Ms],
    now: Ms,
    queue: BTreeMap<(Ms, u8, u64), Event>,
    put: u64,
    jobs: Vec<Job>,
    /// In the order of their launches.
    attempts: Vec<Attempt>,
    /// Attempts of each kind that ran at the latest heartbeat of each node.
    reported: Vec<[usize; 2]>,
    /// Delay scheduling by time: the jobs' waits, the last consultation of any node, and which jobs have launched a map in this one.
    waits: Vec<waits::Wait>,
    last_consultation: Ms,
    launched_here: Vec<bool>,
    /// Fair Scheduler: how many updates each job has seen, and the demand at the last one.
    updates: Vec<u32>,
    demand: [usize; 2],
    /// Coupling Scheduler: the candidate of Algorithm 2.
    candidate: Option<coupling::Candidate>,
    schedule: Schedule,
}

/// What the world does under a policy, if the first heartbeats of the nodes come at these instants.
///
/// Where Hadoop leaves it open: the first submission is put into the queue before all else, and each first heartbeat
/// one interval ahead like the others, as if the nodes had always called and not been heard before.
pub(crate) fn simulate(world: &World, rule: Rule, first_heartbeats: &[Ms]) -> Schedule {
    let mut naive = Naive::new(world, rule, first_heartbeats);
    let first_submit = world.jobs[0].submit;
    naive.put(first_submit, OTHERS, Event::Submit(0));
    for (node, &first) in first_heartbeats.iter().enumerate() {
        let earlier = (first - first_submit).max(0) / world.interval() + 1;
        naive.put(first - earlier * world.interval(), OTHERS, Event::Heartbeat(node));
    }
    if let Rule::Coupling(Coupling { update, .. }) = rule {
        // Updates, too, have always been; before all heartbeats, so that none of these is put after one by chance.
        let start = world.config.heartbeat.first;
        let earlier = (start - first_submit).max(0) / update + 2 * world.interval() / update + 2;
        naive.put(start - earlier * update, OTHERS, Event::Update);
    }
    naive.run();
    naive.close()
}

impl<'w> Naive<'w> {
    fn new(world: &'w World, rule: Rule, first_heartbeats: &'w [Ms]) -> Self {
        let job = |job: &Submitted| Job {
            phase: Phase::Coming,
            tasks: [vec![Task::default(); job.maps.len()], vec![Task::default(); job.reduces.len()]],
            waiting: [(0..job.maps.len()).collect(), (0..job.reduces.len()).collect()],
            launch: None,
            maps_done: None,
            skips: 0,
        };
        Self {
            world,
            rule,
            first_heartbeats,
            now: 0,
            queue: BTreeMap::new(),
            put: 0,
            jobs: world.jobs.iter().map(job).collect(),
            attempts: Vec::new(),
            reported: vec![[0; 2]; world.machines.len()],
            waits: vec![waits::Wait::default(); world.jobs.len()],
            last_consultation: 0,
            launched_here: Vec::new(),
            updates: vec![0; world.jobs.len()],
            demand: [0; 2],
            candidate: None,
            schedule: Schedule::default(),
        }
    }

    fn put(&mut self, at: Ms, class: u8, event: Event) {
        self.put += 1;
        self.queue.insert((at, class, self.put), event);
    }

    fn run(&mut self) {
        let mut idle = 0;
        while self.jobs.iter().any(|job| job.phase != Phase::Ended) {
            let Some(((at, ..), event)) = self.queue.pop_first() else { return };
            self.now = at;
            let before = self.attempts.len();
            let beats = usize::from(matches!(event, Event::Heartbeat(_)));
            match event {
                Event::Submit(job) => self.submit(job),
                Event::Heartbeat(node) => {
                    if at >= self.first_heartbeats[node] {
                        self.heartbeat(node);
                    }
                    self.put(at + self.world.interval(), OTHERS, Event::Heartbeat(node));
                }
                Event::End(attempt) => self.attempts[attempt].ended = true,
                Event::Update => self.update_at(at),
            }
            let periodic = |event: &Event| matches!(event, Event::Heartbeat(_) | Event::Update);
            let nothing_comes = self.queue.values().all(periodic);
            idle = if nothing_comes && self.attempts.len() == before { idle + beats } else { 0 };
            if idle > PATIENCE * self.world.machines.len() {
                self.schedule.stalled = true;
                return;
            }
        }
    }

    /// Updates come every period, first one period after the start of the clock.
    fn update_at(&mut self, at: Ms) {
        let Rule::Coupling(Coupling { update, .. }) = self.rule else { return };
        if at > self.world.config.heartbeat.first {
            self.update();
        }
        self.put(at + update, OTHERS, Event::Update);
    }

    fn submit(&mut self, job: usize) {
        self.jobs[job].phase = Phase::Running;
        if self.jobs[job].tasks[MAP].is_empty() {
            self.jobs[job].maps_done = Some(self.now);
        }
        if matches!(self.rule, Rule::Coupling(_)) {
            self.update();
        }
        if let Some(next) = self.world.jobs.get(job + 1) {
            self.put(next.submit, OTHERS, Event::Submit(job + 1));
        }
    }

    /// What has ended is applied, the policy is asked if a slot of either kind is free, reduces are reported.
    fn heartbeat(&mut self, node: usize) {
        let on_node: Vec<usize> = self.on_node(node).collect();
        let (ended, running): (Vec<usize>, Vec<usize>) =
            on_node.into_iter().partition(|&attempt| self.attempts[attempt].ended);
        // In launch order.
        for attempt in ended {
            self.apply(attempt);
        }
        self.reported[node] = [MAP, REDUCE].map(|kind| self.running_on(node, kind));
        if self.free(node, MAP) > 0 || self.free(node, REDUCE) > 0 {
            match self.rule {
                Rule::Fifo { .. } => self.fifo(node),
                Rule::NaiveFair => self.fair(node, 0),
                Rule::Delay(skips) => self.fair(node, skips),
                Rule::DelayTime(delays) => self.delay_time(node, delays),
                Rule::Coupling(rule) => self.coupling(node, rule),
            }
        } else if let Rule::Coupling(rule) = self.rule {
            // It counts the heartbeats of nodes without any free slot, too.
            self.coupling(node, rule);
        }
        // What was launched just now is not among those that this heartbeat reported.
        if self.world.config.cost.reduce == ReduceModel::R0 {
            self.report(&running);
        }
    }

    /// The master learns that an attempt has ended.
    fn apply(&mut self, attempt: usize) {
        self.attempts[attempt].known = true;
        let Attempt { job, kind, task, node, outcome, .. } = self.attempts[attempt];
        // An attempt of a failed job only gives its slot back.
        if self.jobs[job].phase == Phase::Ended {
            return;
        }
        let state = &mut self.jobs[job].tasks[kind][task];
        if outcome == Outcome::Success {
            state.done = true;
            if kind == MAP && self.all_done(job, MAP) {
                self.maps_done(job);
            }
            if self.all_done(job, MAP) && self.all_done(job, REDUCE) {
                self.end_job(job, Outcome::Success);
            }
        } else {
            state.failures += 1;
            state.failed_on.push(node);
            let fatal = state.failures >= self.world.config.jobs.max_attempts;
            self.jobs[job].waiting[kind].insert(0, task);
            if fatal {
                self.end_job(job, Outcome::Failed);
            }
        }
    }

    fn end_job(&mut self, job: usize, outcome: Outcome) {
        self.jobs[job].phase = Phase::Ended;
        let launch = self.jobs[job].launch;
        self.schedule.jobs.push(JobEnd { job, launch, finish: self.now, outcome });
    }

    /// Model R1: the ends of the reduces that wait for their input are known now.
    fn maps_done(&mut self, job: usize) {
        self.jobs[job].maps_done = Some(self.now);
        if self.world.config.cost.reduce == ReduceModel::R1 {
            for attempt in 0..self.attempts.len() {
                let state = &self.attempts[attempt];
                if state.job == job && state.kind == REDUCE && state.end.is_none() {
                    self.end_shuffle(attempt);
                }
            }
        }
    }

    /// Model R1: when a reduce has all its input, if that can be said by now, and then its end.
    fn end_shuffle(&mut self, attempt: usize) {
        let Attempt { job, start, outcome, .. } = self.attempts[attempt];
        let (logged, spec) = (self.reduce_course(attempt), &self.world.jobs[job]);
        let shuffled = match self.jobs[job].maps_done {
            // A try that fails does so after its logged time, whatever the maps do.
            _ if outcome == Outcome::Failed => start + logged.shuffle,
            None => return,
            Some(done) if start < done => done + spec.first_shuffle.or(spec.typical_shuffle).unwrap_or(0),
            Some(_) => start + spec.typical_shuffle.unwrap_or(logged.shuffle),
        };
        self.end_reduce(attempt, shuffled, shuffled + logged.sort, logged.run);
    }

    /// Model R0: reduces of jobs whose maps are all done start their reduce phase; shuffle and sort take no time.
    fn report(&mut self, reported: &[usize]) {
        for &attempt in reported {
            let Attempt { job, kind, start, end, .. } = self.attempts[attempt];
            let job = &self.jobs[job];
            if kind == REDUCE && end.is_none() && job.phase == Phase::Running && job.maps_done.is_some() {
                let given = self.now.max(start);
                self.end_reduce(attempt, given, given, self.reduce_course(attempt).run);
            }
        }
    }

    fn end_reduce(&mut self, attempt: usize, shuffled: Ms, sorted: Ms, run: Ms) {
        let state = &mut self.attempts[attempt];
        (state.shuffled, state.sorted, state.end) = (Some(shuffled), Some(sorted), Some(sorted + run));
        self.put(sorted + run, ENDS, Event::End(attempt));
    }

    fn launch(&mut self, job: usize, kind: usize, task: usize, node: usize, level: Option<Locality>) {
        let start = self.now + self.world.config.jobs.launch_overhead;
        let state = &mut self.jobs[job].tasks[kind][task];
        let number = state.tries;
        state.tries += 1;
        self.jobs[job].waiting[kind].retain(|&waiting| waiting != task);
        self.jobs[job].launch.get_or_insert(self.now);
        let id = self.task_id(job, kind, task);
        self.schedule.launches.push(Launch { at: self.now, task: id, attempt: number, node, level });
        let attempt = self.attempts.len();
        self.attempts.push(Attempt {
            job,
            kind,
            task,
            number,
            node,
            level,
            start,
            outcome: Outcome::Success,
            shuffled: None,
            sorted: None,
            end: None,
            ended: false,
            known: false,
        });
        if kind == MAP {
            let (outcome, run) = self.map_course(attempt);
            self.attempts[attempt].outcome = outcome;
            self.attempts[attempt].end = Some(start + run);
            self.put(start + run, ENDS, Event::End(attempt));
        } else {
            self.attempts[attempt].outcome = self.reduce_course(attempt).outcome;
            if self.world.config.cost.reduce == ReduceModel::R1 {
                self.end_shuffle(attempt);
            }
        }
    }

    /// How a try at a map goes; one that the trace lost goes as the task's success.
    fn map_course(&self, attempt: usize) -> (Outcome, Ms) {
        let state = &self.attempts[attempt];
        let tries = &self.world.jobs[state.job].maps[state.task].tries;
        let success = || tries.iter().find(|logged| logged.outcome == Outcome::Success);
        let logged =
            tries.get(state.number as usize).filter(|logged| logged.outcome != Outcome::Killed).or_else(success);
        let LoggedMap { outcome, level, run } = *logged.expect("every map of these worlds succeeds at some try");
        // A map without locations runs as one far from its input.
        let here = state.level.unwrap_or(Locality::Off);
        let factor = |level| self.world.config.cost.locality[level as usize];
        let run = match outcome {
            // Truncated to whole ms.
            Outcome::Success if here != level => (run as f64 * (factor(here) / factor(level))).trunc() as Ms,
            _ => run,
        };
        (outcome, if run < 0 { 100 } else { run })
    }

    /// How a try at a reduce goes.
    fn reduce_course(&self, attempt: usize) -> ReduceCourse {
        let state = &self.attempts[attempt];
        let tries = &self.world.jobs[state.job].reduces[state.task];
        let success = || tries.iter().find(|logged| logged.outcome == Outcome::Success);
        let logged =
            tries.get(state.number as usize).filter(|logged| logged.outcome != Outcome::Killed).or_else(success);
        let logged = logged.expect("every reduce of these worlds succeeds at some try");
        let run = logged.reduce.expect("every reduce of these worlds has a time");
        let run = if run < 0 { 100 } else { run };
        ReduceCourse { outcome: logged.outcome, shuffle: logged.shuffle, sort: logged.sort, run }
    }

    // What there is, counted.

    /// The attempts that hold a slot of a node, in launch order.
    fn on_node(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.attempts.len())
            .filter(move |&attempt| self.attempts[attempt].node == node && !self.attempts[attempt].known)
    }

    fn running_on(&self, node: usize, kind: usize) -> usize {
        self.on_node(node).filter(|&attempt| self.attempts[attempt].kind == kind).count()
    }

    fn slots(&self, node: usize, kind: usize) -> usize {
        self.world.machines[node].slots[kind] as usize
    }

    fn free(&self, node: usize, kind: usize) -> usize {
        self.slots(node, kind) - self.running_on(node, kind)
    }

    fn cluster_slots(&self, kind: usize) -> usize {
        (0..self.world.machines.len()).map(|node| self.slots(node, kind)).sum()
    }

    fn running_of(&self, job: usize, kind: usize) -> usize {
        self.attempts.iter().filter(|attempt| attempt.job == job && attempt.kind == kind && !attempt.known).count()
    }

    fn finished(&self, job: usize, kind: usize) -> usize {
        self.jobs[job].tasks[kind].iter().filter(|task| task.done).count()
    }

    fn all_done(&self, job: usize, kind: usize) -> bool {
        self.finished(job, kind) == self.jobs[job].tasks[kind].len()
    }

    /// The jobs that have come and not ended, by submission, then by id.
    fn running_jobs(&self) -> Vec<usize> {
        (0..self.jobs.len()).filter(|&job| self.jobs[job].phase == Phase::Running).collect()
    }

    /// Slow-start. The ramp of the Coupling Scheduler takes its place.
    fn past_slowstart(&self, job: usize) -> bool {
        if matches!(self.rule, Rule::Coupling(rule) if rule.gradual && !rule.slowstart) {
            return true;
        }
        let threshold = (self.world.config.jobs.slowstart * self.jobs[job].tasks[MAP].len() as f64).ceil();
        self.finished(job, MAP) as f64 >= threshold
    }

    /// The number of a task among all tasks of the world.
    fn task_id(&self, job: usize, kind: usize, task: usize) -> usize {
        let before: usize = self.jobs[..job].iter().map(|job| job.tasks[MAP].len() + job.tasks[REDUCE].len()).sum();
        before + if kind == MAP { task } else { self.jobs[job].tasks[MAP].len() + task }
    }

    // Picking a task of a job.

    /// Four attempts of this job failed on this node, and not so on a quarter of all nodes.
    fn flaky(&self, job: usize, node: usize) -> bool {
        let nodes = self.world.machines.len();
        let failures = |node: usize| -> usize {
            let tasks = self.jobs[job].tasks.iter().flatten();
            tasks.map(|task| task.failed_on.iter().filter(|&&own| own == node).count()).sum()
        };
        let flaky = (0..nodes).filter(|&node| failures(node) >= 4).count();
        failures(node) >= 4 && flaky * 4 < nodes
    }

    /// This task failed on this node, and not on all.
    fn barred(&self, job: usize, kind: usize, task: usize, node: usize) -> bool {
        let failed_on = &self.jobs[job].tasks[kind][task].failed_on;
        failed_on.contains(&node) && !(0..self.world.machines.len()).all(|node| failed_on.contains(&node))
    }

    /// How near a map would be to its input; `None` if it has no known place.
    fn level(&self, job: usize, map: usize, node: usize) -> Option<Locality> {
        let replicas = &self.world.jobs[job].maps[map].replicas;
        let rack = |node: usize| self.world.machines[node].rack;
        if replicas.is_empty() {
            None
        } else if replicas.contains(&node) {
            Some(Locality::Node)
        } else if replicas.iter().any(|&replica| rack(replica) == rack(node)) {
            Some(Locality::Rack)
        } else {
            Some(Locality::Off)
        }
    }

    /// True if a map waits whose place is unknown: such a job does not wait for its data.
    fn has_unplaced_maps(&self, job: usize) -> bool {
        let unplaced = |&map: &usize| self.world.jobs[job].maps[map].replicas.is_empty();
        self.jobs[job].waiting[MAP].iter().any(unplaced)
    }

    /// The map of a job for this node, no farther from its input than `farthest`.
    fn find_map(&self, job: usize, node: usize, farthest: Locality) -> Option<usize> {
        if self.flaky(job, node) {
            return None;
        }
        let waiting = || {
            let all = self.jobs[job].waiting[MAP].iter().copied();
            all.filter(|&map| !self.barred(job, MAP, map, node))
        };
        let at = |level| waiting().find(|&map| self.level(job, map, node) == Some(level));
        let mut found = at(Locality::Node);
        if farthest >= Locality::Rack {
            found = found.or_else(|| at(Locality::Rack));
        }
        if farthest == Locality::Off {
            let replicas = |map: usize| &self.world.jobs[job].maps[map].replicas;
            // Rack by rack, in the order in which the racks' first nodes joined.
            let in_rack =
                |rack| waiting().find(|&map| replicas(map).iter().any(|&node| self.world.machines[node].rack == rack));
            found = found.or_else(|| self.world.machines.iter().find_map(|machine| in_rack(machine.rack)));
            found = found.or_else(|| waiting().find(|&map| replicas(map).is_empty()));
        }
        found
    }

    /// Launches the map that [`Self::find_map`] finds. Returns whether there was one.
    fn launch_map(&mut self, job: usize, node: usize, farthest: Locality) -> bool {
        let found = self.find_map(job, node, farthest);
        if let Some(map) = found {
            self.launch(job, MAP, map, node, self.level(job, map, node));
        }
        found.is_some()
    }

    /// Launches a reduce of a job, if one may start on this node. Returns whether there was one.
    fn launch_reduce(&mut self, job: usize, node: usize) -> bool {
        if !self.past_slowstart(job) || self.flaky(job, node) {
            return false;
        }
        let mut waiting = self.jobs[job].waiting[REDUCE].iter().copied();
        let found = waiting.find(|&reduce| !self.barred(job, REDUCE, reduce, node));
        if let Some(reduce) = found {
            self.launch(job, REDUCE, reduce, node, None);
        }
        found.is_some()
    }

    // FIFO.

    fn fifo(&mut self, node: usize) {
        let Rule::Fifo { many_maps, .. } = self.rule else { return };
        let mut jobs = self.running_jobs();
        jobs.sort_by_key(|&job| (place(self.world.jobs[job].priority), job));
        let maps = if many_maps { self.fifo_room(node, MAP) } else { self.fifo_room(node, MAP).min(1) };
        let launched = maps > 0 && self.fifo_maps(node, &jobs, maps);
        if self.fifo_room(node, REDUCE) > 0 && (many_maps || !launched) {
            self.fifo_reduce(node, &jobs);
        }
    }

    /// How many more tasks of a kind the node may run, so that the load is spread; by what it reported.
    fn fifo_room(&self, node: usize, kind: usize) -> usize {
        let mut remaining = 0;
        for job in self.running_jobs() {
            if kind == MAP || self.past_slowstart(job) {
                remaining += self.jobs[job].tasks[kind].len() - self.finished(job, kind);
            }
        }
        let load = remaining as f64 / self.cluster_slots(kind) as f64;
        let share = (load * self.slots(node, kind) as f64).ceil() as usize;
        share.min(self.slots(node, kind)).saturating_sub(self.reported[node][kind])
    }

    /// Returns whether a map was launched.
    fn fifo_maps(&mut self, node: usize, jobs: &[usize], room: usize) -> bool {
        let exceeded = self.fifo_exceeded(node, MAP, jobs);
        let before = self.attempts.len();
        'slots: for _ in 0..room {
            for &job in jobs {
                if self.launch_map(job, node, Locality::Rack) {
                    if exceeded {
                        break 'slots;
                    }
                    continue 'slots;
                }
                if self.launch_map(job, node, Locality::Off) {
                    break 'slots;
                }
            }
        }
        self.attempts.len() > before
    }

    fn fifo_reduce(&mut self, node: usize, jobs: &[usize]) {
        let exceeded = self.fifo_exceeded(node, REDUCE, jobs);
        for &job in jobs {
            if self.jobs[job].tasks[REDUCE].is_empty() {
                continue;
            }
            if self.launch_reduce(job, node) || exceeded {
                return;
            }
        }
    }

    /// True if some slots must be kept free ("padding"); by what all nodes reported last.
    fn fifo_exceeded(&self, node: usize, kind: usize, jobs: &[usize]) -> bool {
        let Rule::Fifo { pad_fraction, min_cluster, .. } = self.rule else { return false };
        let running: usize = self.reported.iter().map(|reported| reported[kind]).sum();
        let mut needed = 0;
        jobs.iter().filter(|&&job| !self.jobs[job].tasks[REDUCE].is_empty()).any(|&job| {
            needed += self.jobs[job].tasks[kind].len();
            let padding = if self.world.machines.len() > min_cluster {
                self.slots(node, kind).min((needed as f64 * pad_fraction) as usize)
            } else {
                0
            };
            running + padding >= self.cluster_slots(kind)
        })
    }

    // Naive fair sharing, which is delay scheduling with D = 0.

    fn fair(&mut self, node: usize, longest: u32) {
        let mut counted = vec![false; self.jobs.len()];
        while self.free(node, MAP) > 0 && self.fair_map(node, longest, &mut counted) {}
        while self.free(node, REDUCE) > 0 && self.fair_reduce(node) {}
    }

    /// The running jobs by the tasks of a kind that they run, then by submission, then by id.
    fn fair_order(&self, kind: usize) -> Vec<usize> {
        let mut jobs = self.running_jobs();
        jobs.sort_by_key(|&job| (self.running_of(job, kind), job));
        jobs
    }

    /// Gives a map slot to a job. Returns whether one took it.
    fn fair_map(&mut self, node: usize, longest: u32, counted: &mut [bool]) -> bool {
        for job in self.fair_order(MAP) {
            if self.jobs[job].waiting[MAP].is_empty() {
                continue;
            }
            if self.launch_map(job, node, Locality::Node) {
                self.jobs[job].skips = 0;
                return true;
            }
            if self.jobs[job].skips >= longest || self.has_unplaced_maps(job) {
                if self.launch_map(job, node, Locality::Off) {
                    return true;
                }
            } else if !counted[job] {
                self.jobs[job].skips += 1;
                counted[job] = true;
            }
        }
        false
    }

    fn fair_reduce(&mut self, node: usize) -> bool {
        self.fair_order(REDUCE).into_iter().any(|job| self.launch_reduce(job, node))
    }

    /// What happened, with the attempts that are on nodes at the end: they run on until their ends, if they have any.
    fn close(mut self) -> Schedule {
        for attempt in &self.attempts {
            let task = self.task_id(attempt.job, attempt.kind, attempt.task);
            let outcome = if attempt.end.is_some() { attempt.outcome } else { Outcome::Incomplete };
            let succeeded = |at: Option<Ms>| at.filter(|_| outcome == Outcome::Success);
            self.schedule.ends.push(End {
                task,
                attempt: attempt.number,
                node: attempt.node,
                level: attempt.level,
                start: if attempt.end.is_some() { attempt.start } else { attempt.start.min(self.now) },
                shuffle_finish: succeeded(attempt.shuffled),
                sort_finish: succeeded(attempt.sorted),
                finish: attempt.end,
                outcome,
                discarded: false,
            });
        }
        self.schedule.ends.sort_unstable_by_key(|end| (end.task, end.attempt));
        self.schedule
    }
}

/// How a try at a reduce goes.
struct ReduceCourse {
    outcome: Outcome,
    shuffle: Ms,
    sort: Ms,
    run: Ms,
}

/// VERY_HIGH comes first.
fn place(priority: Priority) -> usize {
    match priority {
        Priority::VeryHigh => 0,
        Priority::High => 1,
        Priority::Normal => 2,
        Priority::Low => 3,
        Priority::VeryLow => 4,
    }
}
