//! Pools of jobs that share the slots fairly: the order in which the Fair Scheduler of 2011 asks jobs for a task
//! (`docs/model/fair.md`).
//!
//! A free slot goes to the pool that is farthest below its guarantee, else to the pool that runs the fewest tasks for
//! its weight. In the pool, a job is chosen by the same rule. The policy decides which task the job launches, if any.

mod order;
mod rank;
mod update;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use resched_sim::hadoop::{Kind, View};
use resched_sim::{JobId, Ms};

use crate::error::Error;
use crate::parts::by_id::ByJob;
use crate::parts::ranking::{Key, Ranking};
use crate::queues::allocations::{Allocations, PoolConfig};
use crate::settings::{File, choices, parameter};

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
    /// maps per heartbeat; auto: the free slots
    pub(crate) MAP_CAP: Option<u32> = "map_cap" {
        auto: Negative, range: 1..=100_000, unit: "tasks", hadoop: ["mapred.fairscheduler.assignmultiple.maps"],
    }
}

parameter! {
    /// reduces per heartbeat; auto: the free slots
    pub(crate) REDUCE_CAP: Option<u32> = "reduce_cap" {
        auto: Negative, range: 1..=100_000, unit: "tasks", hadoop: ["mapred.fairscheduler.assignmultiple.reduces"],
    }
}

parameter! {
    /// multiply a job's weight by log2(1 + its demand)
    pub(crate) SIZE_WEIGHT: bool = "size_weight" { default: false, hadoop: ["mapred.fairscheduler.sizebasedweight"] }
}

parameter! {
    /// multiply a job's weight by three in its first five minutes
    pub(crate) BOOST: bool = "boost" { default: false, hadoop: ["mapred.fairscheduler.weightadjuster"] }
}

parameter! {
    /// time between two computations of demands and shares
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
    named: Named,
    /// What it may claim.
    pub config: PoolConfig,
    /// Its jobs, in the order of submission.
    pub jobs: Vec<JobId>,
    demand: [u32; 2],
    /// What its jobs demand, a kind each, its limit not included.
    demand_of_jobs: [u32; 2],
    /// Its jobs that may run, in the order in which they are asked for each kind.
    rankings: [Ranking; 2],
    /// Tasks that these jobs run.
    running: [u32; 2],
    /// Slots that they have left idle at this heartbeat.
    idle: [u32; 2],
    /// How it stands in line, for each kind; `None` without jobs.
    standing: [Option<Stand>; 2],
}

/// A pool in line: those that stand alike are asked by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    name: Arc<str>,
    place: usize,
}

/// What a pool's place in line goes by.
type Stand = (bool, Key);
/// Pools in the order in which they are asked.
type Line = Ranking<Named, Stand>;

impl Pool {
    /// What it could use of a kind at the last update, its limit included.
    pub fn demand(&self, kind: Kind) -> u32 {
        self.demand[kind.index()]
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

/// How far a job has come before it may run: the update at its arrival initialises it, and it may run from the next one on.
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
    /// How it stands in its pool's order.
    ranked: Option<Ranked>,
}

/// What a job's place in its pool's order goes by, for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ranked {
    keys: [Key; 2],
    running: [u32; 2],
}

/// The pools with their jobs.
#[derive(Debug)]
pub struct Pools {
    rules: Rules,
    allocations: Allocations,
    pools: Vec<Pool>,
    names: BTreeMap<String, usize>,
    jobs: ByJob<Job>,
    /// Demand of all pools at the last update, a kind each.
    demand: [u64; 2],
    /// Tasks that jobs run that may run, a kind each.
    running: [u64; 2],
    /// Jobs that have arrived and may not run yet, in the order of submission; not kept if jobs are limited.
    arrived: Vec<JobId>,
    followed: Followed,
    /// How many changes of jobs their demands know.
    counted: u64,
    /// Pools whose demand may have changed since the last update. One may be named several times.
    recounted: Vec<usize>,
    /// Whose slots stay idle at this heartbeat, once a slot.
    idle: Vec<(JobId, Kind)>,
    /// The pools that have jobs. There may be many others, for users who come only once.
    busy: BTreeSet<usize>,
    /// The pools that have jobs in the order in which they are asked, for each kind.
    lines: [Line; 2],
    /// Pools whose place in line may have changed. One may be named several times.
    moved: Vec<usize>,
    /// True if a pool limits how many of its jobs may run.
    limits_jobs: bool,
}

/// Up to where the orders of jobs have been kept up to date.
#[derive(Debug, Default)]
struct Followed {
    /// How many changes of jobs have been followed.
    changes: u64,
    /// When a job begins to weigh less, ms.
    until: Ms,
    /// True if an update has changed what jobs weigh.
    stale: bool,
    /// Jobs of which an update has changed whether they may run.
    restaged: Vec<JobId>,
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
    /// The pools that the allocations name; others come with their first jobs, as in Hadoop.
    pub fn new(rules: Rules, allocations: Allocations) -> Self {
        let names: Vec<String> = allocations.pools.keys().cloned().collect();
        let mut pools = Self {
            rules,
            allocations,
            pools: Vec::new(),
            names: BTreeMap::new(),
            jobs: ByJob::default(),
            demand: [0; 2],
            running: [0; 2],
            arrived: Vec::new(),
            followed: Followed::default(),
            counted: 0,
            recounted: Vec::new(),
            idle: Vec::new(),
            busy: BTreeSet::new(),
            lines: Default::default(),
            moved: Vec::new(),
            limits_jobs: false,
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
        self.jobs[job].pool
    }

    /// What all pools could use of a kind at the last update.
    pub fn demand(&self, kind: Kind) -> u64 {
        self.demand[kind.index()]
    }

    /// True if a job may run: not before the second update after its arrival, nor beyond the limits of its user and pool.
    pub fn may_run(&self, job: JobId) -> bool {
        self.jobs[job].stage == Stage::Runnable
    }

    /// True if a job's pool may run one more task of a kind.
    pub fn may_grow(&self, job: JobId, kind: Kind, view: View<'_>) -> bool {
        let pool = &self.pools[self.pool_of(job)];
        let limit = pool.max_share(kind);
        limit == u32::MAX || pool.running(kind, view) < limit
    }

    /// How many slots of a kind a job has left idle at this heartbeat.
    pub fn left_idle(&self, job: JobId, kind: Kind) -> u32 {
        self.idle.iter().filter(|&&idle| idle == (job, kind)).count() as u32
    }

    /// A job has arrived: an update.
    pub fn submit(&mut self, job: JobId, view: View<'_>) {
        let name = if self.rules.by_queue { view.job(job).queue() } else { view.job(job).user() };
        let pool = self.pool(name);
        self.pools[pool].jobs.push(job);
        self.busy.insert(pool);
        self.moved.push(pool);
        self.jobs[job].pool = pool;
        self.arrived.push(job);
        self.update(view);
    }

    /// A job has ended.
    pub fn finish(&mut self, job: JobId) {
        let pool = self.pool_of(job);
        self.pools[pool].jobs.retain(|&other| other != job);
        self.take_out(job);
        self.arrived.retain(|&other| other != job);
        self.jobs[job].stage = Stage::Arrived;
        // What its pool demands falls at the next update.
        let demand = std::mem::take(&mut self.jobs[job].demand);
        let of_jobs = &mut self.pools[pool].demand_of_jobs;
        *of_jobs = [of_jobs[0] - demand[0], of_jobs[1] - demand[1]];
        self.recounted.push(pool);
        if self.pools[pool].jobs.is_empty() {
            self.busy.remove(&pool);
        }
        self.moved.push(pool);
    }

    /// The pool of that name, made if it is new.
    fn pool(&mut self, name: &str) -> usize {
        if let Some(&pool) = self.names.get(name) {
            return pool;
        }
        let config = self.allocations.pool(name).clone();
        self.limits_jobs |= config.max_jobs.is_some();
        self.pools.push(Pool {
            named: Named { name: Arc::from(name), place: self.pools.len() },
            config,
            jobs: Vec::new(),
            demand: [0; 2],
            demand_of_jobs: [0; 2],
            rankings: Default::default(),
            running: [0; 2],
            idle: [0; 2],
            standing: [None; 2],
        });
        self.names.insert(name.to_owned(), self.pools.len() - 1);
        self.pools.len() - 1
    }
}
