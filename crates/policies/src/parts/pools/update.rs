//! Updates: which jobs may run, and what they and their pools demand.

use std::collections::BTreeMap;

use resched_sim::JobId;
use resched_sim::hadoop::{Kind, View};
use resched_tables::model::Reason;

use super::{Pools, Stage};

impl Pools {
    /// Computes which jobs may run and what they and their pools demand.
    pub fn update(&mut self, view: View<'_>) {
        self.update_stages(view);
        self.update_demands(view);
        // Demands are weights then.
        self.followed.stale |= self.rules.size_weight;
    }

    /// In the order of priority and submission, jobs may run while the limits of their user and pool allow it.
    fn update_stages(&mut self, view: View<'_>) {
        let limited = self.allocations.limits_users() || self.limits_jobs;
        if self.all_run && !limited {
            return;
        }
        self.all_run = true;
        let mut order: Vec<JobId> = view.jobs().to_vec();
        if limited {
            order.sort_by_key(|&job| (view.job(job).priority(), job));
        }
        let mut of_user: BTreeMap<&str, u32> = BTreeMap::new();
        let mut of_pool = vec![0; if limited { self.pools.len() } else { 0 }];
        for job in order {
            let state = &mut self.jobs[job];
            let before = state.stage;
            if limited {
                let name = view.job(job).user();
                let user = of_user.entry(name).or_insert(0);
                let most_of_user = self.allocations.jobs_of_user(name).unwrap_or(u32::MAX);
                let most_of_pool = self.pools[state.pool].config.max_jobs.unwrap_or(u32::MAX);
                if *user >= most_of_user || of_pool[state.pool] >= most_of_pool {
                    state.stage = state.stage.min(Stage::Initialised);
                    self.all_run = false;
                    self.followed.restaged.extend((state.stage != before).then_some(job));
                    view.pass_over(job, Kind::Map, Reason::JobLimit);
                    continue;
                }
                *user += 1;
                of_pool[state.pool] += 1;
            }
            if state.stage == Stage::Initialised {
                view.pass_over(job, Kind::Map, Reason::None);
            }
            state.stage = match state.stage {
                Stage::Arrived => Stage::Initialised,
                Stage::Initialised | Stage::Runnable => Stage::Runnable,
            };
            self.all_run &= state.stage == Stage::Runnable;
            self.followed.restaged.extend((state.stage != before).then_some(job));
        }
    }

    fn update_demands(&mut self, view: View<'_>) {
        self.demand = [0; 2];
        for pool in std::mem::take(&mut self.emptied) {
            self.pools[pool].demand = [0; 2];
        }
        for &place in &self.busy {
            let pool = &mut self.pools[place];
            if pool.config.min_maps > 0 || pool.config.min_reduces > 0 {
                self.moved.push(place);
            }
            for kind in Kind::BOTH {
                let mut sum = 0;
                for &job in &pool.jobs {
                    let state = &mut self.jobs[job];
                    state.demand[kind.index()] =
                        if state.stage == Stage::Runnable { demand(view, job, kind) } else { 0 };
                    sum += state.demand[kind.index()];
                }
                pool.demand[kind.index()] = sum.min(pool.max_share(kind));
                self.demand[kind.index()] += u64::from(pool.demand[kind.index()]);
            }
        }
    }
}

/// The tasks of a job that run or wait: every unfinished one; no reduces before slow-start.
fn demand(view: View<'_>, job: JobId, kind: Kind) -> u32 {
    let job = view.job(job);
    if kind == Kind::Reduce && !job.reduces_may_start() { 0 } else { job.desired(kind) - job.finished(kind) }
}
