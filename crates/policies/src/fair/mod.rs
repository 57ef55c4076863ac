//! Hadoop's Fair Scheduler of 2011: pools with guarantees and weights, delay scheduling, preemption (policies B.5a).
//!
//! **What it does.** A free slot goes to the pool that is farthest below its guarantee, else to the one that runs the fewest tasks
//! for its weight, and in the pool likewise to a job. Maps wait for their data ([`LocalityWaits`]); reduces are launched as soon as
//! they may, which is the starvation that the Coupling paper attacks. Demands and shares are computed every 500 ms and when a
//! job arrives. With preemption on, a pool that was kept below its share for too long has the newest tasks of others killed.
//!
//! **Source.** Hadoop MapReduce, June 2011. `oracle/README.md` F2, F5, F11, F12, F15 and F16 are followed to the millisecond.
//! Attempts that started at the same time are preempted in the order of their tasks; Hadoop's order is arbitrary (F1).

mod allocations;
mod preemption;

use std::collections::{BTreeMap, BTreeSet};

use resched_sim::{JobId, Kind, Ms, Offer, Orders, Policy, Reach, TaskId, View, Violation};

pub use allocations::{Allocations, PoolConfig, PoolMode};

use crate::parts::fair_share::{Standing, fair_order, load_cap, priority_weight};
use crate::parts::locality_wait::{LocalityWaits, Waits};
use crate::registry::{Parameter, PolicyInfo, Values};
use crate::site::Site;
use preemption::Starvation;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "fair",
    title: "Hadoop Fair Scheduler of 2011 (pools, delay, preemption)",
    source: "Hadoop MapReduce 1 (June 2011)",
    parameters: &[
        Parameter::choice("pools", "user", &["user", "queue"], "what names a job's pool"),
        Parameter::file("allocations", "TOML file with guarantees, limits, weights and timeouts of pools"),
        Parameter::integer(
            "delay_node",
            "-1",
            -1,
            86_400_000,
            "ms",
            "wait for a node with the data; -1: 1.5 heartbeats, 15 s at most",
        ),
        Parameter::integer(
            "delay_rack",
            "-1",
            -1,
            86_400_000,
            "ms",
            "further wait for a rack with the data; -1: likewise",
        ),
        Parameter::boolean("assign_multiple", "true", "fill all free slots at one heartbeat; false: one task"),
        Parameter::integer("map_cap", "-1", -1, 100_000, "tasks", "maps per heartbeat; -1: the free slots"),
        Parameter::integer("reduce_cap", "-1", -1, 100_000, "tasks", "reduces per heartbeat; -1: the free slots"),
        Parameter::number("max_diff", "0", 0.0, 1.0, "", "by how much a node may be fuller than the cluster"),
        Parameter::boolean("size_weight", "false", "weigh a job by log2(1 + its demand)"),
        Parameter::boolean("boost", "false", "weigh a job three times in its first five minutes"),
        Parameter::integer("update", "500", 1, 3_600_000, "ms", "between two computations of demands and shares"),
        Parameter::boolean("preemption", "false", "kill tasks of others for pools that are kept below their share"),
        Parameter::integer("preemption_interval", "15000", 1, 86_400_000, "ms", "between two checks for preemption"),
    ],
    build: |values, site| Ok(Fair::new(values, site)?.into()),
};

/// A job counts three times for so long, if boosted, ms.
const BOOST_TIME: Ms = 300_000;

/// The policy.
#[derive(Debug)]
pub struct Fair {
    by_queue: bool,
    delays: (Ms, Ms),
    assign_multiple: bool,
    caps: [i64; 2],
    max_diff: f64,
    size_weight: bool,
    boost: bool,
    update_period: Ms,
    allocations: Allocations,
    pools: Vec<Pool>,
    pool_names: BTreeMap<String, usize>,
    jobs: Vec<Job>,
    waits: LocalityWaits,
    /// Demand of all pools at the last update, a kind each.
    demand: [u64; 2],
    preemption: Option<preemption::Preemption>,
    scratch: Scratch,
}

#[derive(Debug)]
struct Pool {
    name: String,
    config: PoolConfig,
    /// Its jobs, in the order of submission.
    jobs: Vec<JobId>,
    demand: [u32; 2],
    fair_share: [f64; 2],
    starvation: [Starvation; 2],
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
}

impl Pool {
    fn min_share(&self, kind: Kind) -> u32 {
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
}

/// The place of a kind in a pair.
fn at(kind: Kind) -> usize {
    match kind {
        Kind::Map => 0,
        Kind::Reduce => 1,
    }
}

impl Fair {
    fn new(values: &Values, site: &Site) -> Result<Self, String> {
        let allocations = match values.text("allocations") {
            "" => site.pools.clone().unwrap_or_default(),
            path => Allocations::read(path)?,
        };
        let preemption =
            values.boolean("preemption").then(|| preemption::Preemption::new(values.integer("preemption_interval")));
        let mut fair = Self {
            by_queue: values.text("pools") == "queue",
            delays: (values.integer("delay_node"), values.integer("delay_rack")),
            assign_multiple: values.boolean("assign_multiple"),
            caps: [values.integer("map_cap"), values.integer("reduce_cap")],
            max_diff: values.number("max_diff"),
            size_weight: values.boolean("size_weight"),
            boost: values.boolean("boost"),
            update_period: values.integer("update"),
            allocations: Allocations::default(),
            pools: Vec::new(),
            pool_names: BTreeMap::new(),
            jobs: Vec::new(),
            waits: LocalityWaits::default(),
            demand: [0; 2],
            preemption,
            scratch: Scratch::default(),
        };
        fair.set_allocations(allocations);
        Ok(fair)
    }

    /// Takes other allocations than those of the file; for use before the replay.
    pub fn set_allocations(&mut self, allocations: Allocations) {
        self.allocations = allocations;
        // A pool that is named exists from the start (oracle F12).
        for name in self.allocations.pools.keys().cloned().collect::<Vec<_>>() {
            self.pool(&name, 0);
        }
    }

    /// Preempts these attempts (task and number) before others that started at the same time. Their order is arbitrary in
    /// Hadoop, so its own record is needed to follow it (oracle F1).
    pub fn prefer_victims(&mut self, victims: BTreeSet<(TaskId, u32)>) {
        if let Some(preemption) = &mut self.preemption {
            preemption.preferred = victims;
        }
    }

    /// The pool of that name, made if it is new.
    fn pool(&mut self, name: &str, now: Ms) -> usize {
        if let Some(&pool) = self.pool_names.get(name) {
            return pool;
        }
        let config = self.allocations.pools.get(name).cloned().unwrap_or_default();
        self.pools.push(Pool {
            name: name.to_owned(),
            config,
            jobs: Vec::new(),
            demand: [0; 2],
            fair_share: [0.0; 2],
            starvation: [Starvation::since(now); 2],
        });
        self.pool_names.insert(name.to_owned(), self.pools.len() - 1);
        self.pools.len() - 1
    }

    // Updates.

    /// Computes which jobs may run, what they demand and what is their pools' share.
    fn update(&mut self, view: View<'_>) {
        self.update_stages(view);
        self.update_demands(view);
        if let Some(preemption) = &self.preemption {
            preemption.update(&mut self.pools, view);
        }
    }

    /// In the order of priority and submission, jobs may run while the limits of their user and pool allow it.
    fn update_stages(&mut self, view: View<'_>) {
        let limited = self.allocations.user_max_jobs.is_some()
            || self.allocations.pools.values().any(|pool| pool.max_jobs.is_some());
        let mut order: Vec<JobId> = view.jobs().to_vec();
        if limited {
            order.sort_by_key(|&job| (view.job(job).priority(), job));
        }
        let mut of_user: BTreeMap<&str, u32> = BTreeMap::new();
        let mut of_pool = vec![0; if limited { self.pools.len() } else { 0 }];
        for job in order {
            let state = &mut self.jobs[job.index()];
            if limited {
                let user = of_user.entry(view.job(job).user()).or_insert(0);
                let most = self.pools[state.pool].config.max_jobs.unwrap_or(u32::MAX);
                if *user >= self.allocations.user_max_jobs.unwrap_or(u32::MAX) || of_pool[state.pool] >= most {
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

    // Heartbeats.

    fn weight(&self, view: View<'_>, job: JobId, kind: Kind) -> f64 {
        let mut weight = priority_weight(view.job(job).priority());
        if self.size_weight {
            weight *= f64::from(self.jobs[job.index()].demand[at(kind)]).ln_1p() / std::f64::consts::LN_2;
        }
        if self.boost && view.now() - view.job(job).submit() < BOOST_TIME {
            weight *= 3.0;
        }
        weight
    }

    fn may_run(&self, job: JobId) -> bool {
        self.jobs[job.index()].stage == Stage::Runnable
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
                    running: view.job(job).running(kind),
                    min_share: 0,
                    weight: self.weight(view, job, kind),
                };
                jobs.sort_by(|&a, &b| fair_order(&standing(a), &standing(b)).then(a.cmp(&b)));
            }
        }
        self.scratch.jobs = jobs;
    }

    /// How far from its data a job may launch.
    fn reach(&self, view: View<'_>, job: JobId, waits: Waits) -> Reach {
        let pool = &self.pools[self.jobs[job.index()].pool];
        let (now, starvation) = (view.now(), pool.starvation[at(Kind::Map)]);
        let starves = self.min_share_timeout(pool).is_some_and(|timeout| now - starvation.at_min_share > timeout)
            || self.allocations.fair_share_timeout.is_some_and(|timeout| now - starvation.at_half_fair_share > timeout);
        if starves || view.job(job).has_unplaced_maps() { Reach::Any } else { self.waits.reach(job, waits) }
    }

    fn min_share_timeout(&self, pool: &Pool) -> Option<Ms> {
        pool.config.min_share_timeout.or(self.allocations.min_share_timeout)
    }

    /// Launches one task of a kind from the first pool and job that gives one. Returns whether there was one.
    fn launch_one(&mut self, offer: &mut Offer<'_, '_>, kind: Kind, waits: Waits) -> Result<bool, Violation> {
        self.sort_pools(kind);
        for place in 0..self.scratch.pools.len() {
            let pool = self.scratch.pools[place];
            if self.scratch.running[pool][at(kind)] >= self.pools[pool].max_share(kind) {
                continue;
            }
            self.sort_jobs(pool, kind, offer.view());
            for place in 0..self.scratch.jobs.len() {
                let job = self.scratch.jobs[place];
                if self.launch_of(offer, job, kind, waits)? {
                    self.scratch.running[pool][at(kind)] += 1;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn launch_of(
        &mut self,
        offer: &mut Offer<'_, '_>,
        job: JobId,
        kind: Kind,
        waits: Waits,
    ) -> Result<bool, Violation> {
        if kind == Kind::Reduce {
            return offer.launch_reduce(job);
        }
        self.waits.visit(job);
        let level = offer.launch_map(job, self.reach(offer.view(), job, waits))?;
        if let Some(level) = level {
            self.waits.launch(job, level);
        }
        Ok(level.is_some())
    }

    /// How many tasks of a kind one heartbeat may get.
    fn cap(&self, offer: &Offer<'_, '_>, kind: Kind) -> u32 {
        match self.caps[at(kind)] {
            _ if !self.assign_multiple => 1,
            cap if cap < 0 => offer.free(kind),
            cap => (cap as u32).min(offer.free(kind)),
        }
    }

    /// Launches tasks until neither kind can be launched.
    fn assign(&mut self, offer: &mut Offer<'_, '_>, waits: Waits) -> Result<(), Violation> {
        let mut running = self.count_running(offer.view());
        let (mut assigned, mut open) = ([0; 2], [true; 2]);
        let caps = Kind::BOTH.map(|kind| self.cap(offer, kind));
        let full = Kind::BOTH.map(|kind| {
            let slots = offer.view().node_slots(offer.node(), kind);
            let cap = load_cap(slots, self.max_diff, self.demand[at(kind)], offer.view().slots(kind));
            offer.reported(kind) >= cap
        });
        loop {
            for kind in [0, 1] {
                open[kind] &= !full[kind] && assigned[kind] < caps[kind] && running[kind] != self.demand[kind];
            }
            let some = assigned != [0, 0];
            let kind = match open {
                _ if some && !self.assign_multiple => return Ok(()),
                [true, true] if offer.reported(Kind::Map) <= offer.reported(Kind::Reduce) => Kind::Map,
                [true, false] => Kind::Map,
                [_, true] => Kind::Reduce,
                [false, false] => return Ok(()),
            };
            if offer.free(kind) > 0 && self.launch_one(offer, kind, waits)? {
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

impl Policy for Fair {
    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        let name = if self.by_queue { view.job(job).queue() } else { view.job(job).user() };
        let pool = self.pool(name, view.now());
        self.pools[pool].jobs.push(job);
        self.jobs.resize(self.jobs.len().max(job.index() + 1), Job::default());
        self.jobs[job.index()].pool = pool;
        self.waits.add(job);
        self.update(view);
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        let pool = self.jobs[job.index()].pool;
        self.pools[pool].jobs.retain(|&other| other != job);
    }

    fn period(&self) -> Option<Ms> {
        Some(self.update_period)
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        self.update(view);
        let timeouts: Vec<_> = self.pools.iter().map(|pool| self.min_share_timeout(pool)).collect();
        if let Some(preemption) = &self.preemption {
            let due = preemption.is_due(view, self.update_period);
            if due {
                preemption.check(&self.pools, &timeouts, self.allocations.fair_share_timeout, view, orders);
            }
        }
    }

    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        self.preemption.is_none() || view.jobs().is_empty()
    }

    /// A job is visited, and may be marked as skipped, whenever fewer maps run than the last update demanded; and a mark is
    /// taken off by whichever node is consulted next.
    fn restless(&self, view: View<'_>) -> bool {
        self.waits.any_skipped() || self.demand[at(Kind::Map)] != view.running(Kind::Map)
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let waits = Waits::resolve(self.delays.0, self.delays.1, offer.view().heartbeat_interval());
        self.waits.begin(offer.view().now());
        self.assign(offer, waits)?;
        self.waits.end();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Scenario, job, map};

    #[test]
    fn a_new_job_waits_for_the_second_update() {
        // The job comes at 3,011, a heartbeat at 3,411, the update that makes it runnable at 3,500.
        let launches = Scenario::nodes(1, 2, 1)
            .heartbeat(3_411)
            .job(job("job_1_0001").at(3_011).maps(1, map(1_000).on(&[0])))
            .launches("fair");
        assert_eq!(launches.first().map(|launch| launch.at), Some(6_822));
    }

    #[test]
    fn users_share_the_slots_whatever_the_number_of_their_jobs() {
        let long = |id: &str, user: &str| job(id).user(user).maps(8, map(100_000).on(&[0, 1]));
        let launches = Scenario::nodes(2, 4, 1)
            .job(long("job_1_0001", "ann"))
            .job(long("job_1_0002", "ann"))
            .job(long("job_1_0003", "bob"))
            .launches("fair");
        let first = launches.iter().filter(|launch| launch.at < 10_000);
        let (mut ann, mut bob) = (0, 0);
        for launch in first {
            if launch.job == "job_1_0003" { bob += 1 } else { ann += 1 }
        }
        assert_eq!((ann, bob), (4, 4));
    }
}
