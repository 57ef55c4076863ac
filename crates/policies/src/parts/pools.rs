//! Pools of jobs that share the slots fairly: whom the Fair Scheduler of 2011 asks for a task (policies B.5a).
//!
//! A free slot goes to the pool that is farthest below its guarantee, else to the one that runs the fewest tasks for its weight,
//! and in the pool likewise to a job. Which task the job launches, if any, is the policy's own business.

use std::collections::BTreeMap;

use resched_sim::hadoop::{Kind, Offer, View};
use resched_sim::{JobId, Ms, Violation};

use crate::error::Error;
use crate::parts::fair_share::{Standing, fair_order, load_cap, priority_weight};
use crate::queues::allocations::{Allocations, PoolConfig, PoolMode};
use crate::settings::{File, choices, parameter};

/// A job counts three times for so long, if boosted, ms.
const BOOST_TIME: Ms = 300_000;

choices! {
    /// What names a job's pool.
    pub(crate) enum PoolsBy {
        User = "user",
        Queue = "queue",
    }
}

parameter! {
    /// what names a job's pool
    pub(crate) POOLS: PoolsBy = "pools" {
        choice: PoolsBy::User,
        hadoop: ["mapred.fairscheduler.poolnameproperty"],
    }
}

parameter! {
    /// TOML file with guarantees, limits, weights and timeouts of pools
    pub(crate) ALLOCATIONS: File = "allocations" {}
}

parameter! {
    /// weigh a job by log2(1 + its demand)
    pub(crate) SIZE_WEIGHT: bool = "size_weight" { default: false, hadoop: ["mapred.fairscheduler.sizebasedweight"] }
}

parameter! {
    /// weigh a job three times in its first five minutes
    pub(crate) BOOST: bool = "boost" { default: false, hadoop: ["mapred.fairscheduler.weightadjuster"] }
}

parameter! {
    /// between two computations of demands and shares
    pub(crate) UPDATE: Ms = "update" {
        default: 500, range: 1..=3_600_000, unit: "ms", hadoop: ["mapred.fairscheduler.update.interval"],
    }
}

/// The order of pools and jobs, and how many tasks a heartbeat may get.
#[derive(Debug, Clone)]
pub struct Rules {
    /// A job's pool is named by its queue, not by its user.
    pub by_queue: bool,
    /// Weigh a job by `log2(1 + its demand)`.
    pub size_weight: bool,
    /// Weigh a job three times in its first five minutes.
    pub boost: bool,
    /// Fill all free slots at one heartbeat, not one.
    pub assign_multiple: bool,
    /// Tasks of each kind that one heartbeat may get; `None`: as many as slots are free.
    pub caps: [Option<u32>; 2],
    /// By how much a node may be fuller than the cluster, as a share of its slots.
    pub max_diff: f64,
}

impl Rules {
    /// With pools of these names and these weights; all free slots are filled.
    pub(crate) fn new(pools: PoolsBy, size_weight: bool, boost: bool) -> Self {
        Self {
            by_queue: pools == PoolsBy::Queue,
            size_weight,
            boost,
            assign_multiple: true,
            caps: [None; 2],
            max_diff: 0.0,
        }
    }
}

/// What a job did that was asked for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It launched one.
    Launched,
    /// It has none for this node: the next job is asked.
    Nothing,
    /// It has one but will not launch it here: the slot stays idle until the next heartbeat, and counts as the job's until then.
    LeftIdle,
}

impl Answer {
    /// The answer of a job that launched a task if it had one.
    pub fn launched(some: bool) -> Self {
        if some { Answer::Launched } else { Answer::Nothing }
    }
}

/// A pool.
#[derive(Debug)]
pub struct Pool {
    name: String,
    /// What it may claim.
    pub config: PoolConfig,
    /// Its jobs, in the order of submission.
    pub jobs: Vec<JobId>,
    demand: [u32; 2],
}

impl Pool {
    /// What it could use of a kind at the last update, its limit included.
    pub fn demand(&self, kind: Kind) -> u32 {
        self.demand[at(kind)]
    }

    /// Slots of a kind that it is guaranteed.
    pub fn min_share(&self, kind: Kind) -> u32 {
        match kind {
            Kind::Map => self.config.min_maps,
            Kind::Reduce => self.config.min_reduces,
        }
    }

    fn max_share(&self, kind: Kind) -> u32 {
        let limit = match kind {
            Kind::Map => self.config.max_maps,
            Kind::Reduce => self.config.max_reduces,
        };
        limit.unwrap_or(u32::MAX)
    }

    /// Tasks of a kind that its jobs run.
    pub fn running(&self, kind: Kind, view: View<'_>) -> u32 {
        self.jobs.iter().map(|&job| view.job(job).running(kind)).sum()
    }
}

/// How far a job has come before it may run (oracle F5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Stage {
    #[default]
    Arrived,
    Initialised,
    Runnable,
}

#[derive(Debug, Clone, Copy, Default)]
struct Job {
    pool: usize,
    stage: Stage,
    demand: [u32; 2],
}

/// Room for the orders of one heartbeat, kept so that it is not made anew each time.
#[derive(Debug, Default)]
struct Scratch {
    pools: Vec<usize>,
    jobs: Vec<JobId>,
    running: Vec<[u32; 2]>,
    /// Whose slots stay idle, once a slot.
    idle: Vec<(JobId, Kind)>,
}

/// The pools with their jobs.
#[derive(Debug)]
pub struct Pools {
    rules: Rules,
    allocations: Allocations,
    pools: Vec<Pool>,
    names: BTreeMap<String, usize>,
    jobs: Vec<Job>,
    /// Demand of all pools at the last update, a kind each.
    demand: [u64; 2],
    scratch: Scratch,
}

/// The place of a kind in a pair.
fn at(kind: Kind) -> usize {
    match kind {
        Kind::Map => 0,
        Kind::Reduce => 1,
    }
}

/// The allocations of the file that is set, else the site's own.
///
/// # Errors
/// What is wrong with the file.
pub(crate) fn allocations(file: &File, site: Option<&Allocations>) -> Result<Allocations, Error> {
    match file.path() {
        None => Ok(site.cloned().unwrap_or_default()),
        Some(path) => Allocations::read(path).map_err(Error::File),
    }
}

impl Pools {
    /// The pools that the allocations name; others come with their first jobs (oracle F12).
    pub fn new(rules: Rules, allocations: Allocations) -> Self {
        let names: Vec<String> = allocations.pools.keys().cloned().collect();
        let mut pools = Self {
            rules,
            allocations,
            pools: Vec::new(),
            names: BTreeMap::new(),
            jobs: Vec::new(),
            demand: [0; 2],
            scratch: Scratch::default(),
        };
        for name in names {
            pools.pool(&name);
        }
        pools
    }

    /// The order of pools and jobs.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What the pools may claim.
    pub fn allocations(&self) -> &Allocations {
        &self.allocations
    }

    /// The pools, by place.
    pub fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// The place of a job's pool.
    pub fn pool_of(&self, job: JobId) -> usize {
        self.jobs[job.index()].pool
    }

    /// What all pools could use of a kind at the last update.
    pub fn demand(&self, kind: Kind) -> u64 {
        self.demand[at(kind)]
    }

    /// Whether a job may run: not before the second update after its arrival, nor beyond the limits of its user and pool.
    pub fn may_run(&self, job: JobId) -> bool {
        self.jobs[job.index()].stage == Stage::Runnable
    }

    /// Whether a job's pool may run one more task of a kind.
    pub fn may_grow(&self, job: JobId, kind: Kind, view: View<'_>) -> bool {
        let pool = &self.pools[self.pool_of(job)];
        let limit = pool.max_share(kind);
        limit == u32::MAX || pool.running(kind, view) < limit
    }

    /// How many slots of a kind a job has left idle at this heartbeat.
    pub fn left_idle(&self, job: JobId, kind: Kind) -> u32 {
        self.scratch.idle.iter().filter(|&&idle| idle == (job, kind)).count() as u32
    }

    /// A job has arrived: an update.
    pub fn submit(&mut self, job: JobId, view: View<'_>) {
        let name = if self.rules.by_queue { view.job(job).queue() } else { view.job(job).user() };
        let pool = self.pool(name);
        self.pools[pool].jobs.push(job);
        self.jobs.resize(self.jobs.len().max(job.index() + 1), Job::default());
        self.jobs[job.index()].pool = pool;
        self.update(view);
    }

    /// A job has ended.
    pub fn finish(&mut self, job: JobId) {
        let pool = self.pool_of(job);
        self.pools[pool].jobs.retain(|&other| other != job);
    }

    /// The pool of that name, made if it is new.
    fn pool(&mut self, name: &str) -> usize {
        if let Some(&pool) = self.names.get(name) {
            return pool;
        }
        let config = self.allocations.pool(name).clone();
        self.pools.push(Pool { name: name.to_owned(), config, jobs: Vec::new(), demand: [0; 2] });
        self.names.insert(name.to_owned(), self.pools.len() - 1);
        self.pools.len() - 1
    }

    // Updates.

    /// Computes which jobs may run and what they and their pools demand.
    pub fn update(&mut self, view: View<'_>) {
        self.update_stages(view);
        self.update_demands(view);
    }

    /// In the order of priority and submission, jobs may run while the limits of their user and pool allow it.
    fn update_stages(&mut self, view: View<'_>) {
        let limited = self.allocations.limits_users() || self.pools.iter().any(|pool| pool.config.max_jobs.is_some());
        let mut order: Vec<JobId> = view.jobs().to_vec();
        if limited {
            order.sort_by_key(|&job| (view.job(job).priority(), job));
        }
        let mut of_user: BTreeMap<&str, u32> = BTreeMap::new();
        let mut of_pool = vec![0; if limited { self.pools.len() } else { 0 }];
        for job in order {
            let state = &mut self.jobs[job.index()];
            if limited {
                let name = view.job(job).user();
                let user = of_user.entry(name).or_insert(0);
                let most_of_user = self.allocations.jobs_of_user(name).unwrap_or(u32::MAX);
                let most_of_pool = self.pools[state.pool].config.max_jobs.unwrap_or(u32::MAX);
                if *user >= most_of_user || of_pool[state.pool] >= most_of_pool {
                    state.stage = state.stage.min(Stage::Initialised);
                    continue;
                }
                *user += 1;
                of_pool[state.pool] += 1;
            }
            state.stage = match state.stage {
                Stage::Arrived => Stage::Initialised,
                Stage::Initialised | Stage::Runnable => Stage::Runnable,
            };
        }
    }

    fn update_demands(&mut self, view: View<'_>) {
        self.demand = [0; 2];
        for pool in &mut self.pools {
            for kind in Kind::BOTH {
                let mut sum = 0;
                for &job in &pool.jobs {
                    let state = &mut self.jobs[job.index()];
                    state.demand[at(kind)] = if state.stage == Stage::Runnable { demand(view, job, kind) } else { 0 };
                    sum += state.demand[at(kind)];
                }
                pool.demand[at(kind)] = sum.min(pool.max_share(kind));
                self.demand[at(kind)] += u64::from(pool.demand[at(kind)]);
            }
        }
    }

    // The order.

    /// What a job counts for against others of its pool.
    pub fn weight(&self, view: View<'_>, job: JobId, kind: Kind) -> f64 {
        let mut weight = priority_weight(view.job(job).priority());
        if self.rules.size_weight {
            weight *= f64::from(self.jobs[job.index()].demand[at(kind)]).ln_1p() / std::f64::consts::LN_2;
        }
        if self.rules.boost && view.now() - view.job(job).submit() < BOOST_TIME {
            weight *= 3.0;
        }
        weight
    }

    /// Counts the running tasks of each pool and of all.
    fn count_running(&mut self, view: View<'_>) -> [u64; 2] {
        let mut total = [0; 2];
        self.scratch.running.clear();
        for pool in &self.pools {
            let mut running = [0; 2];
            for &job in pool.jobs.iter().filter(|job| self.jobs[job.index()].stage == Stage::Runnable) {
                for kind in Kind::BOTH {
                    running[at(kind)] += view.job(job).running(kind);
                }
            }
            self.scratch.running.push(running);
            for kind in [0, 1] {
                total[kind] += u64::from(running[kind]);
            }
        }
        total
    }

    /// Pools in the order in which they are asked, by name among equals.
    fn sort_pools(&mut self, kind: Kind) {
        let Scratch { pools, running, .. } = &mut self.scratch;
        pools.clear();
        pools.extend(0..self.pools.len());
        let standing = |pool: usize| Standing {
            running: running[pool][at(kind)],
            min_share: self.pools[pool].min_share(kind).min(self.pools[pool].demand[at(kind)]),
            weight: self.pools[pool].config.weight,
        };
        pools.sort_by(|&a, &b| {
            fair_order(&standing(a), &standing(b)).then_with(|| self.pools[a].name.cmp(&self.pools[b].name))
        });
    }

    /// The jobs of a pool that may run, in the order in which they are asked.
    fn sort_jobs(&mut self, pool: usize, kind: Kind, view: View<'_>) {
        let mut jobs = std::mem::take(&mut self.scratch.jobs);
        jobs.clear();
        jobs.extend(self.pools[pool].jobs.iter().copied().filter(|&job| self.may_run(job)));
        match self.pools[pool].config.mode {
            PoolMode::Fifo => jobs.sort_by_key(|&job| (view.job(job).priority(), job)),
            PoolMode::Fair => {
                let standing = |job: JobId| Standing {
                    running: view.job(job).running(kind) + self.left_idle(job, kind),
                    min_share: 0,
                    weight: self.weight(view, job, kind),
                };
                jobs.sort_by(|&a, &b| fair_order(&standing(a), &standing(b)).then(a.cmp(&b)));
            }
        }
        self.scratch.jobs = jobs;
    }

    // Heartbeats.

    /// The first job in the order that passes the test, to be launched by the caller.
    pub fn first(&mut self, kind: Kind, view: View<'_>, passes: impl Fn(JobId) -> bool) -> Option<JobId> {
        self.count_running(view);
        self.sort_pools(kind);
        for place in 0..self.scratch.pools.len() {
            let pool = self.scratch.pools[place];
            if self.scratch.running[pool][at(kind)] < self.pools[pool].max_share(kind) {
                self.sort_jobs(pool, kind, view);
                let found = self.scratch.jobs.iter().copied().find(|&job| passes(job));
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Asks pools and jobs in order for one task of a kind. Returns whether a slot was used up.
    fn ask(
        &mut self,
        offer: &mut Offer<'_, '_>,
        kind: Kind,
        launch: &mut impl FnMut(&Self, &mut Offer<'_, '_>, JobId, Kind) -> Result<Answer, Violation>,
    ) -> Result<bool, Violation> {
        self.sort_pools(kind);
        for place in 0..self.scratch.pools.len() {
            let pool = self.scratch.pools[place];
            if self.scratch.running[pool][at(kind)] >= self.pools[pool].max_share(kind) {
                continue;
            }
            self.sort_jobs(pool, kind, offer.view());
            for place in 0..self.scratch.jobs.len() {
                let job = self.scratch.jobs[place];
                let answer = launch(self, offer, job, kind)?;
                if answer == Answer::LeftIdle {
                    self.scratch.idle.push((job, kind));
                }
                if answer != Answer::Nothing {
                    self.scratch.running[pool][at(kind)] += 1;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// How many tasks of a kind one heartbeat may get.
    fn cap(&self, offer: &Offer<'_, '_>, kind: Kind) -> u32 {
        if !self.rules.assign_multiple {
            return 1;
        }
        let free = offer.free(kind);
        self.rules.caps[at(kind)].map_or(free, |cap| cap.min(free))
    }

    /// Asks for tasks of these kinds until the node gets no more of either; `launch` launches what the job has, if anything.
    ///
    /// # Errors
    /// Those of `launch`.
    pub fn assign(
        &mut self,
        offer: &mut Offer<'_, '_>,
        kinds: &[Kind],
        mut launch: impl FnMut(&Self, &mut Offer<'_, '_>, JobId, Kind) -> Result<Answer, Violation>,
    ) -> Result<(), Violation> {
        self.scratch.idle.clear();
        let mut running = self.count_running(offer.view());
        let mut assigned = [0; 2];
        let mut open = Kind::BOTH.map(|kind| kinds.contains(&kind));
        let caps = Kind::BOTH.map(|kind| self.cap(offer, kind));
        let full = Kind::BOTH.map(|kind| {
            let slots = offer.view().node_slots(offer.node(), kind);
            let cap = load_cap(slots, self.rules.max_diff, self.demand[at(kind)], offer.view().slots(kind));
            offer.reported(kind) >= cap
        });
        loop {
            for kind in [0, 1] {
                open[kind] &= !full[kind] && assigned[kind] < caps[kind] && running[kind] != self.demand[kind];
            }
            let some = assigned != [0, 0];
            let kind = match open {
                _ if some && !self.rules.assign_multiple => return Ok(()),
                [true, true] if offer.reported(Kind::Map) <= offer.reported(Kind::Reduce) => Kind::Map,
                [true, false] => Kind::Map,
                [_, true] => Kind::Reduce,
                [false, false] => return Ok(()),
            };
            if offer.free(kind) > 0 && self.ask(offer, kind, &mut launch)? {
                assigned[at(kind)] += 1;
                running[at(kind)] += 1;
            } else {
                open[at(kind)] = false;
            }
        }
    }
}

/// The tasks of a job that run or wait: every unfinished one; no reduces before slow-start.
fn demand(view: View<'_>, job: JobId, kind: Kind) -> u32 {
    let job = view.job(job);
    if kind == Kind::Reduce && !job.reduces_may_start() { 0 } else { job.desired(kind) - job.finished(kind) }
}
