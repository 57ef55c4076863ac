//! Preemption of the Fair Scheduler of 2011 (`docs/model/fair.md`).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use resched_sim::hadoop::{AttemptView, Kind, Orders, View};
use resched_sim::{Ms, TaskId};

use crate::parts::fair_share::{Claim, fair_shares};
use crate::parts::periods::is_due;
use crate::parts::pools::{Pool, Pools};

/// When a pool last had what it may claim of one kind of slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    fair_share: f64,
    /// When it last had its guarantee, or all that it demanded, ms.
    pub(super) at_min_share: Ms,
    /// When it last had half its fair share, or all that it demanded, ms.
    pub(super) at_half_fair_share: Ms,
}

impl Standing {
    pub(super) fn since(now: Ms) -> Self {
        Self { fair_share: 0.0, at_min_share: now, at_half_fair_share: now }
    }
}

#[derive(Debug)]
pub(super) struct Preemption {
    interval: Ms,
    /// Kill nothing.
    only_log: bool,
    /// Attempts that come first among those that started at the same time.
    pub(super) preferred: BTreeSet<(TaskId, u32)>,
}

/// The slots of one kind that a pool lacks.
#[derive(Debug, Clone, Copy)]
struct Lack {
    min_share: u32,
    fair_share: f64,
    demand: u32,
    running: u32,
}

impl Lack {
    fn of(pool: &Pool, fair_share: f64, kind: Kind, view: View<'_>) -> Self {
        Self {
            min_share: pool.min_share(kind),
            fair_share,
            demand: pool.demand(kind),
            running: pool.running(kind, view),
        }
    }

    fn below_min_share(&self) -> bool {
        self.running < self.min_share.min(self.demand)
    }

    fn below_half_fair_share(&self) -> bool {
        self.running < (self.fair_share / 2.0).min(f64::from(self.demand)) as u32
    }

    /// How many tasks to preempt for it, if its waits for the guarantee and for the fair share are over.
    fn tasks(&self, min_share_due: bool, fair_share_due: bool) -> u32 {
        let min_share = if min_share_due { self.min_share.min(self.demand) } else { 0 };
        let fair_share = if fair_share_due { self.fair_share.min(f64::from(self.demand)) as u32 } else { 0 };
        min_share.max(fair_share).saturating_sub(self.running)
    }
}

impl Preemption {
    pub(super) fn new(interval: Ms, only_log: bool) -> Self {
        Self { interval, only_log, preferred: BTreeSet::new() }
    }

    /// Computes the shares, and notes which pools have theirs.
    pub(super) fn update(&self, pools: &Pools, standings: &mut [[Standing; 2]], view: View<'_>) {
        for kind in Kind::BOTH {
            let claim = |pool: &Pool| Claim {
                weight: pool.config.weight,
                min_share: pool.min_share(kind),
                demand: pool.demand(kind),
            };
            let claims: Vec<Claim> = pools.pools().iter().map(claim).collect();
            let shares = fair_shares(&claims, view.slots(kind));
            for ((pool, standing), share) in pools.pools().iter().zip(&mut *standings).zip(shares) {
                let standing = &mut standing[kind.index()];
                standing.fair_share = share;
                let lack = Lack::of(pool, share, kind, view);
                if !lack.below_min_share() {
                    standing.at_min_share = view.now();
                }
                if !lack.below_half_fair_share() {
                    standing.at_half_fair_share = view.now();
                }
            }
        }
    }

    /// True if a check falls into the time since the latest update, if it may kill.
    pub(super) fn is_due(&self, view: View<'_>, updated: Ms) -> bool {
        !self.only_log && is_due(self.interval, updated - view.clock_start(), view.now() - view.clock_start())
    }

    /// Orders the newest attempts of pools above their share to be killed, as many as the starving pools lack.
    pub(super) fn check(&self, pools: &Pools, standings: &[[Standing; 2]], view: View<'_>, orders: &mut Orders) {
        let allocations = pools.allocations();
        for kind in Kind::BOTH {
            let due = |since: Ms, timeout: Option<Ms>| timeout.is_some_and(|timeout| view.now() - since > timeout);
            let lacks = pools.pools().iter().zip(standings).map(|(pool, standing)| {
                let standing = standing[kind.index()];
                let min_share_due = due(standing.at_min_share, allocations.min_share_timeout_of(&pool.config));
                let fair_share_due = due(standing.at_half_fair_share, allocations.fair_share_timeout);
                Lack::of(pool, standing.fair_share, kind, view).tasks(min_share_due, fair_share_due)
            });
            let wanted = lacks.sum();
            if wanted > 0 {
                self.kill(pools.pools(), standings, kind, wanted, view, orders);
            }
        }
    }

    fn kill(
        &self,
        pools: &[Pool],
        standings: &[[Standing; 2]],
        kind: Kind,
        mut wanted: u32,
        view: View<'_>,
        orders: &mut Orders,
    ) {
        let fair_share = |place: usize| standings[place][kind.index()].fair_share;
        let mut left: Vec<f64> = pools.iter().map(|pool| f64::from(pool.running(kind, view))).collect();
        let mut victims: Vec<(usize, AttemptView)> = Vec::new();
        for (place, pool) in pools.iter().enumerate() {
            if left[place] > fair_share(place) {
                let runs = pool.jobs.iter().flat_map(|&job| view.runs(job, kind)).filter(|run| run.reported);
                victims.extend(runs.map(|run| (place, run)));
            }
        }
        victims.sort_by_key(|(_, run)| {
            let preferred = self.preferred.contains(&(run.task, run.attempt));
            (Reverse(run.assigned), !preferred, run.task, run.attempt)
        });
        for (place, run) in victims {
            if wanted == 0 {
                return;
            }
            if left[place] > fair_share(place) {
                orders.kill(run.id);
                left[place] -= 1.0;
                wanted -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_to_preempt() {
        let lack = Lack { min_share: 4, fair_share: 8.0, demand: 10, running: 1 };
        assert_eq!(lack.tasks(true, true), 7);
        assert_eq!(lack.tasks(true, false), 3);
        assert_eq!(lack.tasks(false, false), 0);
        assert!(lack.below_min_share() && lack.below_half_fair_share());
    }
}
