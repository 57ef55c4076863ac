//! A second scheduler of Spark, written from its rules and not from the policy: the referee of its schedules.
//!
//! It is plain on purpose. Nothing is kept that can be counted: who runs, what is free, what waits and which levels there are is looked up
//! whenever a rule asks. The rules are those of Spark's `TaskSchedulerImpl`, `TaskSetManager`, `Pool` and `Master`. It shares the draws of
//! the offers with the policy: executors by name, shuffled for each offer of everything while something waits by (application, how many
//! there were).
#![allow(clippy::unwrap_used)]

use std::cmp::Ordering;

use rand::seq::SliceRandom;
use resched_sim::Ms;
use resched_tables::draws::{Purpose, stream};

/// The levels of locality, the most local first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Process,
    Node,
    NoPref,
    Rack,
    Any,
}

/// A host with an executor.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) cores: u32,
    pub(crate) rack: Option<u32>,
    /// When its executor registers; `None`: before all.
    pub(crate) registers: Option<Ms>,
}

#[derive(Debug, Clone)]
pub(crate) struct Task {
    /// How long it runs on a preferred host, and whether its first try fails.
    pub(crate) run: Ms,
    pub(crate) fails: bool,
    pub(crate) hosts: Vec<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Stage {
    /// Places of stages of the same job.
    pub(crate) parents: Vec<usize>,
    pub(crate) tasks: Vec<Task>,
}

#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) submit: Ms,
    pub(crate) pool: usize,
    pub(crate) stages: Vec<Stage>,
}

#[derive(Debug, Clone)]
pub(crate) struct Pool {
    pub(crate) name: &'static str,
    pub(crate) fair: bool,
    pub(crate) weight: u32,
    pub(crate) min_share: u32,
}

/// What is replayed.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) hosts: Vec<Host>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) pools: Vec<Pool>,
    pub(crate) fair: bool,
    pub(crate) wait_node: Ms,
    pub(crate) wait_rack: Ms,
    pub(crate) legacy_reset: bool,
    pub(crate) revive: Ms,
    pub(crate) phase: Ms,
    pub(crate) task_cpus: u32,
    /// How many times as long a task takes in the rack of its hosts, and elsewhere.
    pub(crate) factors: [f64; 2],
    pub(crate) seed: u64,
}

/// A start: job, stage of the job, index, instant, host.
pub(crate) type Start = (usize, usize, usize, Ms, usize);

/// A task set.
struct Set {
    job: usize,
    stage: usize,
    /// The number of the stage in the application.
    number: usize,
    /// The hosts that each task prefers.
    hosts: Vec<Vec<usize>>,
    /// The tasks that wait, the next one first.
    pending: Vec<usize>,
    levels: Vec<Level>,
    current: usize,
    timer: Ms,
    quiet: bool,
}

struct Run {
    end: Ms,
    set: usize,
    index: usize,
    host: usize,
    fails: bool,
}

struct Naive<'a> {
    world: &'a World,
    now: Ms,
    sets: Vec<Set>,
    runs: Vec<Run>,
    /// Of each job and stage, where tasks have succeeded.
    succeeded: Vec<Vec<Vec<usize>>>,
    failed: Vec<(usize, usize)>,
    alive: Vec<bool>,
    offers: u64,
    starts: Vec<Start>,
}

/// What starts when, in the order of the starts.
pub(crate) fn simulate(world: &World) -> Vec<Start> {
    let mut naive = Naive {
        world,
        now: 0,
        sets: Vec::new(),
        runs: Vec::new(),
        succeeded: world.jobs.iter().map(|job| vec![Vec::new(); job.stages.len()]).collect(),
        failed: Vec::new(),
        alive: vec![false; world.hosts.len()],
        offers: 0,
        starts: Vec::new(),
    };
    let mut next_job = 0;
    while let Some((now, ticks)) = naive.next_instant(next_job) {
        naive.now = now;
        let ended: Vec<Run> = naive.runs.extract_if(.., |run| run.end == now).collect();
        // All ends at an instant are there before anybody is offered what they free: a core is offered with its own end.
        for (place, run) in ended.iter().enumerate() {
            naive.end(run, &ended[place + 1..]);
        }
        naive.register();
        while world.jobs.get(next_job).is_some_and(|job| job.submit == now) {
            naive.submit_ready(next_job);
            next_job += 1;
        }
        if ticks {
            naive.round(None, &[]);
        }
    }
    naive.starts
}

impl Naive<'_> {
    fn is_active(&self, job: usize) -> bool {
        let stages = &self.world.jobs[job].stages;
        stages.iter().zip(&self.succeeded[job]).any(|(stage, done)| done.len() < stage.tasks.len())
    }

    /// The next instant at which something happens, and whether everything is offered then.
    fn next_instant(&self, next_job: usize) -> Option<(Ms, bool)> {
        let is_active = (0..next_job).any(|job| self.is_active(job));
        let submit = self.world.jobs.get(next_job).map(|job| job.submit);
        let end = self.runs.iter().map(|run| run.end).min();
        let registers = self.world.hosts.iter().filter_map(|host| host.registers).filter(|&at| at > self.now).min();
        let registers = registers.filter(|_| is_active || submit.is_some());
        let World { revive, phase, .. } = *self.world;
        let tick = ((self.now - phase).div_euclid(revive) + 1) * revive + phase;
        let tick = is_active.then_some(tick);
        let now = [submit, end, registers, tick].into_iter().flatten().min()?;
        Some((now, tick == Some(now)))
    }

    /// Executors that are there are offered when they have registered, and all sets look at their levels anew.
    fn register(&mut self) {
        let is_there = |host: &Host| host.registers.is_none_or(|at| at <= self.now);
        let came: Vec<usize> =
            (0..self.alive.len()).filter(|&host| !self.alive[host] && is_there(&self.world.hosts[host])).collect();
        came.iter().for_each(|&host| self.alive[host] = true);
        if came.is_empty() {
            return;
        }
        for set in 0..self.sets.len() {
            let old = std::mem::take(&mut self.sets[set].levels);
            let new = self.levels(set);
            let state = &mut self.sets[set];
            let was = old[state.current];
            let kept = new.iter().position(|&level| level >= was).unwrap();
            // If the old one moved back, it is the most local of those that are new.
            let added = new.iter().position(|level| !old.contains(level));
            state.current = if kept > state.current { added.unwrap_or(kept) } else { kept };
            state.levels = new;
        }
        for host in came {
            self.round(Some(host), &[]);
        }
    }

    /// A task ends: its core is free, and its executor is offered. `later` are those that end now, too.
    fn end(&mut self, run: &Run, later: &[Run]) {
        let Set { job, stage, .. } = self.sets[run.set];
        if run.fails {
            self.failed.push((run.set, run.index));
        } else {
            self.succeeded[job][stage].push(run.host);
        }
        self.round(Some(run.host), later);
        if run.fails {
            self.sets[run.set].pending.insert(0, run.index);
            self.round(None, later);
        } else if self.succeeded[job][stage].len() == self.world.jobs[job].stages[stage].tasks.len() {
            self.submit(job, stage, later);
        }
    }

    /// A job is submitted: its stages without parents are.
    fn submit_ready(&mut self, job: usize) {
        for stage in 0..self.world.jobs[job].stages.len() {
            if self.world.jobs[job].stages[stage].parents.is_empty() {
                self.create(job, stage, &[]);
            }
        }
    }

    /// A stage has ended: those that waited for it alone are submitted.
    fn submit(&mut self, job: usize, ended: usize, later: &[Run]) {
        let stages = &self.world.jobs[job].stages;
        let done = |&parent: &usize| self.succeeded[job][parent].len() == stages[parent].tasks.len();
        let ready: Vec<usize> = (0..stages.len())
            .filter(|&stage| stages[stage].parents.contains(&ended) && stages[stage].parents.iter().all(done))
            .collect();
        ready.into_iter().for_each(|stage| self.create(job, stage, later));
    }

    /// A task set is created, and everything is offered.
    fn create(&mut self, job: usize, stage: usize, later: &[Run]) {
        let world = self.world;
        let described = &world.jobs[job].stages[stage];
        let held = match described.parents.as_slice() {
            [parent] => self.succeeded[job][*parent].clone(),
            _ => Vec::new(),
        };
        let on = |host: usize| held.iter().filter(|&&other| other == host).count();
        // `REDUCER_PREF_LOCS_FRACTION` of the input: 20 %.
        let near: Vec<usize> =
            (0..world.hosts.len()).filter(|&host| on(host) > 0 && 5 * on(host) >= held.len()).collect();
        let number = world.jobs[..job].iter().map(|job| job.stages.len()).sum::<usize>() + stage;
        let hosts = described
            .tasks
            .iter()
            .map(|task| if described.parents.is_empty() { task.hosts.clone() } else { near.clone() });
        self.sets.push(Set {
            job,
            stage,
            number,
            hosts: hosts.collect(),
            pending: (0..described.tasks.len()).collect(),
            levels: Vec::new(),
            current: 0,
            timer: self.now,
            quiet: true,
        });
        let set = self.sets.len() - 1;
        self.sets[set].levels = self.levels(set);
        self.round(None, later);
    }

    /// The levels that a set has.
    fn levels(&self, set: usize) -> Vec<Level> {
        let set_state = &self.sets[set];
        let is_rack_known = |host: &usize| self.world.hosts[*host].rack.is_some();
        let waits = |index: &usize| &set_state.hosts[*index];
        let mut levels = Vec::new();
        // Of all tasks that the set ever had, some prefers a host with an executor; what waits is what matters below.
        let some_alive = set_state.hosts.iter().flatten().any(|&host| self.alive[host]);
        if some_alive && set_state.pending.iter().any(|index| !waits(index).is_empty()) {
            levels.push(Level::Node);
        }
        if set_state.pending.iter().any(|index| waits(index).is_empty()) {
            levels.push(Level::NoPref);
        }
        let in_rack =
            |a: usize, b: usize| self.world.hosts[a].rack.is_some_and(|host| self.world.hosts[b].rack == Some(host));
        let is_near = |host: usize| (0..self.alive.len()).any(|other| self.alive[other] && in_rack(other, host));
        let some_near = set_state.hosts.iter().flatten().any(|&host| is_near(host));
        if some_near && set_state.pending.iter().any(|index| waits(index).iter().any(is_rack_known)) {
            levels.push(Level::Rack);
        }
        levels.push(Level::Any);
        levels
    }

    fn running(&self, set: usize) -> u32 {
        self.runs.iter().filter(|run| run.set == set).count() as u32
    }

    /// The free cores of an executor. Those of tasks that end at this instant and were not heard of yet are not free.
    fn free(&self, host: usize, later: &[Run]) -> u32 {
        let used = self.runs.iter().chain(later).filter(|run| run.host == host).count() as u32;
        self.world.hosts[host].cores - used * self.world.task_cpus
    }

    /// The sets with something pending, in scheduling order.
    fn queue(&self, later: &[Run]) -> Vec<usize> {
        let mut waiting: Vec<usize> = (0..self.sets.len()).filter(|&set| !self.sets[set].pending.is_empty()).collect();
        let number = |set: usize| self.sets[set].number;
        let runs = |set: usize| self.running(set) + later.iter().filter(|run| run.set == set).count() as u32;
        if !self.world.fair {
            waiting.sort_by_key(|&set| number(set));
            return waiting;
        }
        let pool_of = |set: usize| self.world.jobs[self.sets[set].job].pool;
        let of_pool = |pool: usize| (0..self.sets.len()).filter(|&set| pool_of(set) == pool).map(runs).sum::<u32>();
        waiting.sort_by(|&a, &b| {
            let (pool_a, pool_b) = (pool_of(a), pool_of(b));
            let [one, other] = [pool_a, pool_b].map(|pool| &self.world.pools[pool]);
            if pool_a != pool_b {
                return fair(
                    (of_pool(pool_a), one.min_share, one.weight, one.name),
                    (of_pool(pool_b), other.min_share, other.weight, other.name),
                );
            }
            let [name_a, name_b] = [a, b].map(|set| format!("TaskSet_{}.0", number(set)));
            match one.fair {
                true => fair((runs(a), 0, 1, &name_a), (runs(b), 0, 1, &name_b)),
                false => number(a).cmp(&number(b)),
            }
        });
        waiting
    }

    /// One round of offers, of one executor or of everything.
    fn round(&mut self, only: Option<usize>, later: &[Run]) {
        if self.sets.iter().all(|set| set.pending.is_empty()) {
            return;
        }
        let offers: Vec<usize> = match only {
            Some(host) => vec![host],
            None => {
                let mut all: Vec<usize> =
                    (0..self.alive.len()).filter(|&host| self.alive[host] && self.free(host, later) > 0).collect();
                self.offers += 1;
                all.shuffle(&mut stream(self.world.seed, Purpose::OfferOrder, &[0, self.offers]));
                all
            }
        };
        for set in self.queue(later) {
            let (mut no_rejects, mut best): (bool, Option<Level>) = (true, None);
            for level in self.sets[set].levels.clone() {
                loop {
                    let mut any = false;
                    for &host in &offers {
                        if self.free(host, later) < self.world.task_cpus {
                            continue;
                        }
                        match self.offer(set, host, level) {
                            Ok(taken) => {
                                best = Some(best.map_or(taken, |best| best.min(taken)));
                                any = true;
                            }
                            Err(rejected) => no_rejects &= !rejected,
                        }
                    }
                    if !any {
                        break;
                    }
                }
            }
            let now = self.now;
            let state = &mut self.sets[set];
            if !no_rejects {
                state.quiet = false;
            } else if let Some(best) = best.filter(|_| !self.world.legacy_reset && (only.is_none() || state.quiet)) {
                reset(state, best, now);
                state.quiet = true;
            }
        }
    }

    /// What a set answers to an offer: the level of the task that it starts, or whether it has rejected the executor.
    fn offer(&mut self, set: usize, host: usize, most: Level) -> Result<Level, bool> {
        let allowed = if most == Level::NoPref { most } else { most.min(self.level_now(set)) };
        let set_state = &self.sets[set];
        let rack = self.world.hosts[host].rack;
        let in_rack = |other: &usize| rack.is_some() && self.world.hosts[*other].rack == rack;
        let first =
            |is: &dyn Fn(&[usize]) -> bool| set_state.pending.iter().position(|&index| is(&set_state.hosts[index]));
        let ways: [(Level, Level, Option<usize>); 4] = [
            (Level::Node, Level::Node, first(&|hosts| hosts.contains(&host))),
            (Level::NoPref, Level::Process, first(&|hosts| hosts.is_empty())),
            (Level::Rack, Level::Rack, first(&|hosts| hosts.iter().any(in_rack))),
            (Level::Any, Level::Any, first(&|_| true)),
        ];
        let found = ways.into_iter().find_map(|(from, level, place)| Some((place.filter(|_| allowed >= from)?, level)));
        let Some((place, level)) = found else { return Err(most == Level::Any && !set_state.pending.is_empty()) };
        self.start(set, place, host);
        if self.world.legacy_reset && most != Level::NoPref {
            let now = self.now;
            reset(&mut self.sets[set], level, now);
        }
        Ok(level)
    }

    /// The level up to which a set may take an executor now.
    fn level_now(&mut self, set: usize) -> Level {
        let World { wait_node, wait_rack, .. } = *self.world;
        loop {
            let set_state = &self.sets[set];
            let level = set_state.levels[set_state.current];
            let waits =
                |is: &dyn Fn(&[usize]) -> bool| set_state.pending.iter().any(|&index| is(&set_state.hosts[index]));
            let (pending, wait) = match level {
                Level::Process => (false, 0),
                Level::Node => (waits(&|hosts| !hosts.is_empty()), wait_node),
                Level::NoPref => (waits(&|hosts| hosts.is_empty()), 0),
                Level::Rack => {
                    (waits(&|hosts| hosts.iter().any(|&host| self.world.hosts[host].rack.is_some())), wait_rack)
                }
                Level::Any => return level,
            };
            let now = self.now;
            let state = &mut self.sets[set];
            if !pending {
                state.timer = now;
            } else if now - state.timer >= wait {
                state.timer += wait;
            } else {
                return level;
            }
            state.current += 1;
        }
    }

    fn start(&mut self, set: usize, place: usize, host: usize) {
        let state = &mut self.sets[set];
        let index = state.pending.remove(place);
        let (job, stage) = (state.job, state.stage);
        let task = &self.world.jobs[job].stages[stage].tasks[index];
        let hosts = &self.world.hosts;
        let in_rack =
            hosts[host].rack.is_some() && task.hosts.iter().any(|&other| hosts[other].rack == hosts[host].rack);
        // Who reads what another stage wrote takes as long anywhere.
        let is_source = self.world.jobs[job].stages[stage].parents.is_empty();
        let factor = match () {
            () if !is_source || task.hosts.is_empty() || task.hosts.contains(&host) => 1.0,
            () if in_rack => self.world.factors[0],
            () => self.world.factors[1],
        };
        let fails = task.fails && !self.failed.contains(&(set, index));
        let end = self.now + (task.run as f64 * factor).round() as Ms;
        self.runs.push(Run { end, set, index, host, fails });
        self.starts.push((job, stage, index, self.now, host));
    }
}

/// The timer starts anew at the first level that is not more local than this one.
fn reset(set: &mut Set, level: Level, now: Ms) {
    set.timer = now;
    set.current = set.levels.iter().position(|&other| other >= level).unwrap();
}

/// The fair rule: what runs, the least share, the weight and the name.
fn fair(a: (u32, u32, u32, &str), b: (u32, u32, u32, &str)) -> Ordering {
    let needy = |(running, least, ..): (u32, u32, u32, &str)| running < least;
    let by_least = |(running, least, ..): (u32, u32, u32, &str)| f64::from(running) / f64::from(least.max(1));
    let by_weight = |(running, _, weight, _): (u32, u32, u32, &str)| f64::from(running) / f64::from(weight);
    match (needy(a), needy(b)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (true, true) => by_least(a).total_cmp(&by_least(b)).then(a.3.cmp(b.3)),
        (false, false) => by_weight(a).total_cmp(&by_weight(b)).then(a.3.cmp(b.3)),
    }
}
