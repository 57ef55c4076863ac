//! Updates: which jobs may run, and what they and their pools demand.

use std::collections::BTreeMap;

use resched_sim::JobId;
use resched_sim::hadoop::{Kind, View};
use resched_tables::model::Reason;

use super::{Pools, Stage};

impl Pools {
    /// Computes which jobs may run and what they and their pools demand.
    pub fn update(&mut self, view: View<'_>) {
        let restaged = self.followed.restaged.len();
        if self.allocations.limits_users() || self.limits_jobs {
            self.stage_within_limits(view);
        } else {
            self.stage_arrived(view);
        }
        self.update_demands(restaged, view);
        // Demands are weights then.
        self.followed.stale |= self.rules.size_weight;
    }

    /// Without limits, only jobs that have arrived lately may not run yet.
    fn stage_arrived(&mut self, view: View<'_>) {
        for job in std::mem::take(&mut self.arrived) {
            self.advance(job, view);
            if self.jobs[job].stage != Stage::Runnable {
                self.arrived.push(job);
            }
        }
    }

    /// In the order of priority and submission, jobs may run while the limits of their user and pool allow it.
    fn stage_within_limits(&mut self, view: View<'_>) {
        self.arrived.clear();
        let mut order: Vec<JobId> = view.jobs().to_vec();
        order.sort_by_key(|&job| (view.job(job).priority(), job));
        let mut of_user: BTreeMap<&str, u32> = BTreeMap::new();
        let mut of_pool = vec![0; self.pools.len()];
        for job in order {
            let name = view.job(job).user();
            let user = of_user.entry(name).or_insert(0);
            let most_of_user = self.allocations.jobs_of_user(name).unwrap_or(u32::MAX);
            let state = &mut self.jobs[job];
            let most_of_pool = self.pools[state.pool].config.max_jobs.unwrap_or(u32::MAX);
            if *user < most_of_user && of_pool[state.pool] < most_of_pool {
                *user += 1;
                of_pool[state.pool] += 1;
                self.advance(job, view);
                continue;
            }
            let before = state.stage;
            state.stage = before.min(Stage::Initialised);
            self.followed.restaged.extend((state.stage != before).then_some(job));
            view.pass_over(job, Kind::Map, Reason::JobLimit);
        }
    }

    /// A job comes one stage further.
    fn advance(&mut self, job: JobId, view: View<'_>) {
        let state = &mut self.jobs[job];
        if state.stage == Stage::Initialised {
            view.pass_over(job, Kind::Map, Reason::None);
        }
        let after = match state.stage {
            Stage::Arrived => Stage::Initialised,
            Stage::Initialised | Stage::Runnable => Stage::Runnable,
        };
        if after != state.stage {
            state.stage = after;
            self.followed.restaged.push(job);
        }
    }

    /// Computes the demands of the jobs that have changed since the last update, and of their pools. The jobs that this update has
    /// restaged are those beyond the first `restaged`.
    fn update_demands(&mut self, restaged: usize, view: View<'_>) {
        match view.jobs_changed_after(self.counted) {
            Some(jobs) => {
                for place in restaged..self.followed.restaged.len() {
                    self.count_demand(self.followed.restaged[place], view);
                }
                jobs.for_each(|job| self.count_demand(job, view));
            }
            None => view.jobs().iter().for_each(|&job| self.count_demand(job, view)),
        }
        self.counted = view.job_changes();
        let mut recounted = std::mem::take(&mut self.recounted);
        for place in recounted.drain(..) {
            let pool = &mut self.pools[place];
            for kind in Kind::BOTH {
                let after = pool.demand_of_jobs[kind.index()].min(pool.max_share(kind));
                let before = std::mem::replace(&mut pool.demand[kind.index()], after);
                let of_all = &mut self.demand[kind.index()];
                *of_all = *of_all + u64::from(after) - u64::from(before);
            }
            // Nobody is guaranteed more than he demands.
            if pool.config.min_maps > 0 || pool.config.min_reduces > 0 {
                self.moved.push(place);
            }
        }
        self.recounted = recounted;
        debug_assert!(self.is_counted(view), "the demands are not those of the jobs");
    }

    /// Computes what a job demands. It may have ended.
    fn count_demand(&mut self, job: JobId, view: View<'_>) {
        let after = self.demand_of(job, view);
        let state = &mut self.jobs[job];
        let before = std::mem::replace(&mut state.demand, after);
        if before != after {
            let pool = &mut self.pools[state.pool];
            for kind in [0, 1] {
                pool.demand_of_jobs[kind] = pool.demand_of_jobs[kind] + after[kind] - before[kind];
            }
            self.recounted.push(state.pool);
        }
    }

    /// The tasks of a job that run or wait, a kind each: every unfinished one; no reduces before slow-start; none of a job that may not
    /// run.
    fn demand_of(&self, job: JobId, view: View<'_>) -> [u32; 2] {
        if self.jobs[job].stage != Stage::Runnable {
            return [0; 2];
        }
        let job = view.job(job);
        Kind::BOTH.map(|kind| {
            let may_start = kind == Kind::Map || job.reduces_may_start();
            if may_start { job.desired(kind) - job.finished(kind) } else { 0 }
        })
    }

    /// True if all demands are those that are found if they are computed anew.
    fn is_counted(&self, view: View<'_>) -> bool {
        let mut total = [0; 2];
        let pools = self.pools.iter().all(|pool| {
            let of_jobs = pool.jobs.iter().map(|&job| self.demand_of(job, view));
            let sum = of_jobs.fold([0; 2], |sum, of_job| [sum[0] + of_job[0], sum[1] + of_job[1]]);
            Kind::BOTH.into_iter().all(|kind| {
                let demand = sum[kind.index()].min(pool.max_share(kind));
                total[kind.index()] += u64::from(demand);
                pool.demand(kind) == demand
            })
        });
        pools && self.demand == total
    }
}
