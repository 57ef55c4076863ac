//! The order in which pools and jobs are asked at a heartbeat, and how many tasks it gets.

use resched_sim::hadoop::{Kind, Offer, View};
use resched_sim::{JobId, Ms, Violation};
use resched_tables::model::Reason;

use super::{Answer, Pools, Scratch, Stage};
use crate::parts::fair_share::{Standing, fair_order, load_cap, priority_weight};
use crate::queues::allocations::PoolMode;

/// A job counts three times for so long, if boosted, ms.
const BOOST_TIME: Ms = 300_000;

impl Pools {
    /// What a job counts for against others of its pool.
    pub fn weight(&self, view: View<'_>, job: JobId, kind: Kind) -> f64 {
        let mut weight = priority_weight(view.job(job).priority());
        if self.rules.size_weight {
            weight *= f64::from(self.jobs[job].demand[kind.index()]).ln_1p() / std::f64::consts::LN_2;
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
            for &job in pool.jobs.iter().filter(|&&job| self.jobs[job].stage == Stage::Runnable) {
                for kind in Kind::BOTH {
                    running[kind.index()] += view.job(job).running(kind);
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
            running: running[pool][kind.index()].into(),
            min_share: self.pools[pool].min_share(kind).min(self.pools[pool].demand[kind.index()]).into(),
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
                    running: (view.job(job).running(kind) + self.left_idle(job, kind)).into(),
                    min_share: 0,
                    weight: self.weight(view, job, kind),
                };
                jobs.sort_by(|&a, &b| fair_order(&standing(a), &standing(b)).then(a.cmp(&b)));
            }
        }
        self.scratch.jobs = jobs;
    }

    /// The first job in the order that passes the test, to be launched by the caller.
    pub fn first(&mut self, kind: Kind, view: View<'_>, passes: impl Fn(JobId) -> bool) -> Option<JobId> {
        self.count_running(view);
        self.sort_pools(kind);
        for place in 0..self.scratch.pools.len() {
            let pool = self.scratch.pools[place];
            if self.scratch.running[pool][kind.index()] < self.pools[pool].max_share(kind) {
                self.sort_jobs(pool, kind, view);
                let found = self.scratch.jobs.iter().copied().find(|&job| passes(job));
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Reports that the jobs of a pool may run no more tasks of a kind.
    fn report_limit(&self, pool: usize, kind: Kind, view: View<'_>) {
        if view.wants_reasons() {
            self.pools[pool].jobs.iter().for_each(|&job| view.pass_over(job, kind, Reason::QueueLimit));
        }
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
            if self.scratch.running[pool][kind.index()] >= self.pools[pool].max_share(kind) {
                self.report_limit(pool, kind, offer.view());
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
                    self.scratch.running[pool][kind.index()] += 1;
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
        self.rules.caps[kind.index()].map_or(free, |cap| cap.min(free))
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
            let cap = load_cap(slots, self.rules.max_diff, self.demand[kind.index()], offer.view().slots(kind));
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
                assigned[kind.index()] += 1;
                running[kind.index()] += 1;
            } else {
                open[kind.index()] = false;
            }
        }
    }
}
