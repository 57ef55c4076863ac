//! The jobs of each pool in the order in which they are asked, and what they run, kept up to date from one heartbeat to the next.

use resched_sim::hadoop::{Kind, View};
use resched_sim::{JobId, Ms};

use super::order::BOOST_TIME;
use super::{Pools, Ranked};
use crate::parts::fair_share::Standing;
use crate::parts::ranking::{Key, Ranking, total_order};
use crate::queues::allocations::PoolMode;

impl Pools {
    /// Follows what has happened since the last heartbeat or launch.
    pub(super) fn follow(&mut self, view: View<'_>) {
        let is_valid = !self.followed.stale && view.now() < self.followed.until;
        let restaged = std::mem::take(&mut self.followed.restaged);
        match view.jobs_changed_after(self.followed.changes).filter(|_| is_valid) {
            Some(jobs) => {
                restaged.into_iter().for_each(|job| self.restage(job, view));
                jobs.for_each(|job| self.rank(job, view));
            }
            None => self.rank_all(view),
        }
        self.followed.changes = view.job_changes();
        debug_assert!(self.is_ranked(view), "the order of jobs is not theirs");
    }

    /// A job has left a slot idle that it could have had: it counts as one that it uses.
    pub(super) fn leave_idle(&mut self, job: JobId, kind: Kind, view: View<'_>) {
        let pool = self.pool_of(job);
        self.pools[pool].idle[kind.index()] += 1;
        self.moved.push(pool);
        self.idle.push((job, kind));
        self.rank(job, view);
    }

    /// A heartbeat begins: what was left idle is offered again.
    pub(super) fn forget_idle(&mut self, view: View<'_>) {
        for (job, kind) in std::mem::take(&mut self.idle) {
            let pool = self.pool_of(job);
            self.pools[pool].idle[kind.index()] -= 1;
            self.moved.push(pool);
            self.rank(job, view);
        }
    }

    /// Lists the jobs that may run, and only those.
    fn rank_all(&mut self, view: View<'_>) {
        self.running = [0; 2];
        self.moved.extend(&self.busy);
        for place in self.busy.clone() {
            let jobs = std::mem::take(&mut self.pools[place].jobs);
            let mut running = [0; 2];
            for &job in &jobs {
                let ranked = self.may_run(job).then(|| self.ranked(job, view));
                self.jobs[job].ranked = ranked;
                let of_job = ranked.map_or([0; 2], |ranked| ranked.running);
                running = [running[0] + of_job[0], running[1] + of_job[1]];
            }
            let pool = &mut self.pools[place];
            for (kind, ranking) in pool.rankings.iter_mut().enumerate() {
                let key = |job: JobId| self.jobs[job].ranked.map(|ranked| (ranked.keys[kind], job));
                ranking.fill(jobs.iter().filter_map(|&job| key(job)));
            }
            (pool.jobs, pool.running) = (jobs, running);
            self.running = [0, 1].map(|kind| self.running[kind] + u64::from(running[kind]));
        }
        (self.followed.stale, self.followed.until) = (false, self.next_change_of_weight(view));
    }

    /// When the next job is no longer boosted.
    fn next_change_of_weight(&self, view: View<'_>) -> Ms {
        view.jobs().iter().map(|&job| self.end_of_boost(job, view)).min().unwrap_or(Ms::MAX)
    }

    /// When a job is no longer boosted; never if it is not.
    fn end_of_boost(&self, job: JobId, view: View<'_>) -> Ms {
        let end = view.job(job).submit() + BOOST_TIME;
        if self.rules.boost && end > view.now() { end } else { Ms::MAX }
    }

    /// Lists a job if it may run, and only then.
    fn restage(&mut self, job: JobId, view: View<'_>) {
        if !self.may_run(job) {
            return self.take_out(job);
        }
        if self.jobs[job].ranked.is_some() {
            return self.rank(job, view);
        }
        let (ranked, place) = (self.ranked(job, view), self.pool_of(job));
        self.jobs[job].ranked = Some(ranked);
        let pool = &mut self.pools[place];
        for kind in [0, 1] {
            pool.rankings[kind].insert(job, ranked.keys[kind]);
            pool.running[kind] += ranked.running[kind];
            self.running[kind] += u64::from(ranked.running[kind]);
        }
        self.moved.push(place);
        self.followed.until = self.followed.until.min(self.end_of_boost(job, view));
    }

    /// Moves a job, if it is listed, to where it stands now.
    fn rank(&mut self, job: JobId, view: View<'_>) {
        let Some(before) = self.jobs[job].ranked else { return };
        let after = self.ranked(job, view);
        self.jobs[job].ranked = Some(after);
        let place = self.pool_of(job);
        self.moved.push(place);
        let pool = &mut self.pools[place];
        for kind in [0, 1] {
            pool.rankings[kind].change(&job, [before.keys[kind], after.keys[kind]]);
            let (more, less) = (after.running[kind], before.running[kind]);
            pool.running[kind] = pool.running[kind] + more - less;
            self.running[kind] = self.running[kind] + u64::from(more) - u64::from(less);
        }
    }

    /// A job has ended.
    pub(super) fn take_out(&mut self, job: JobId) {
        let Some(ranked) = self.jobs[job].ranked.take() else { return };
        let place = self.pool_of(job);
        self.moved.push(place);
        let pool = &mut self.pools[place];
        for kind in [0, 1] {
            pool.rankings[kind].remove(&job, ranked.keys[kind]);
            pool.running[kind] -= ranked.running[kind];
            self.running[kind] -= u64::from(ranked.running[kind]);
        }
    }

    /// How a job stands in its pool now.
    fn ranked(&self, job: JobId, view: View<'_>) -> Ranked {
        Ranked {
            keys: Kind::BOTH.map(|kind| self.key(job, kind, view)),
            running: Kind::BOTH.map(|kind| view.job(job).running(kind)),
        }
    }

    fn key(&self, job: JobId, kind: Kind, view: View<'_>) -> Key {
        match self.pools[self.pool_of(job)].config.mode {
            PoolMode::Fifo => view.job(job).priority() as Key,
            PoolMode::Fair => {
                let running = view.job(job).running(kind) + self.left_idle(job, kind);
                let standing = Standing { running: running.into(), min_share: 0, weight: self.weight(view, job, kind) };
                total_order(standing.use_ratio())
            }
        }
    }

    /// True if all orders and sums are those that are found if they are made anew.
    fn is_ranked(&self, view: View<'_>) -> bool {
        let mut total = [0; 2];
        let pools = self.pools.iter().all(|pool| {
            Kind::BOTH.into_iter().all(|kind| {
                let jobs = || pool.jobs.iter().copied().filter(|&job| self.may_run(job));
                let mut sorted = Ranking::default();
                sorted.fill(jobs().map(|job| (self.key(job, kind, view), job)));
                let running: u32 = jobs().map(|job| view.job(job).running(kind)).sum();
                total[kind.index()] += u64::from(running);
                pool.rankings[kind.index()] == sorted && pool.running[kind.index()] == running
            })
        });
        pools && self.running == total
    }
}
