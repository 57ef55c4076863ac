//! Hadoop's first Fair Scheduler, of 2008 and 2009, with deficits (`docs/model/fair.md`).
//!
//! **What it does.** Every 500 ms, and when a job arrives, each job's fair share of the slots is computed. The slot
//! time that the job has lacked since the last computation is added to its deficit. A free slot goes to a job below its
//! guarantee, else to the job with the largest deficit, wherever its data lies. So a job that had to wait later gets
//! more than its share until it has caught up. This is why Hadoop dropped deficits later.
//!
//! **Source.** Hadoop's contrib Fair Scheduler up to 0.20, the version of the first papers. Pools, and the jobs that
//! may run, follow [`Pools`]. The maximum slots of a pool, its mode and preemption came later and are ignored.
//!
//! **Decisions.** Deficits are counted in 2^−20 slot·ms and are not rounded down to whole slot·ms at each update. So
//! many updates without a launch have the same effect as one. Jobs with equal deficits go by submission; Hadoop's order
//! is arbitrary.

mod shares;

use std::cmp::Reverse;

use resched_sim::hadoop::{Kind, Offer, Orders, Policy, System, View};
use resched_sim::{JobId, Ms, Violation};

use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::input::Input;
use crate::parts::by_id::ByJob;
use crate::parts::fair_share::load_cap;
use crate::parts::launch::launch_first;
use crate::parts::pools::{ALLOCATIONS, BOOST, POOLS, Pool, Pools, PoolsBy, Rules, SIZE_WEIGHT, UPDATE, allocations};
use crate::settings::{File, settings};
use crate::site::Site;
use shares::{Claim, fair_shares, split_minimum};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "fair-deficit",
    title: "Hadoop Fair Scheduler of 2008–09 (pools, deficits)",
    source: "Hadoop 0.20, contrib/fairscheduler",
    family: Family::MapReduce1,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[Input::Pools],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, site| Ok(Box::new(FairDeficit::new(&Settings::read(values)?, site)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        pools: PoolsBy = POOLS,
        allocations: File = ALLOCATIONS,
        /// launch a map and a reduce at one heartbeat; false: one task
        assign_multiple: bool = "assign_multiple" { default: false, hadoop: ["mapred.fairscheduler.assignmultiple"] },
        size_weight: bool = SIZE_WEIGHT,
        boost: bool = BOOST,
        update: Ms = UPDATE,
    }
}

/// The units of a share or deficit in one slot.
const UNITS: i64 = 1 << 20;

/// The policy.
#[derive(Debug)]
struct FairDeficit {
    assign_multiple: bool,
    update_period: Ms,
    pools: Pools,
    /// By job, each with one for maps and one for reduces.
    accounts: ByJob<[Account; 2]>,
    /// Tasks of each kind that all jobs ran or could have launched at the last update.
    runnable: [u64; 2],
    updated: Ms,
    /// Room for the order of one heartbeat, kept so that it is not made anew each time.
    order: Vec<JobId>,
}

/// What a job has, and should have, of one kind of slot since the last update.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    /// Tasks that it ran, and those launched since.
    running: u32,
    /// Tasks that it could launch, without those launched since.
    needed: u32,
    minimum: u32,
    /// In units.
    share: i64,
    /// In units · ms.
    deficit: i128,
}

impl Account {
    /// So much time has passed since the last update, ms.
    fn accrue(&mut self, time: Ms) {
        let lacks = i128::from(self.share) - i128::from(self.running) * i128::from(UNITS);
        self.deficit += lacks * i128::from(time);
    }

    /// Tasks that it ran or could have launched at the last update.
    fn runnable(&self) -> u32 {
        self.running + self.needed
    }
}

impl FairDeficit {
    fn new(settings: &Settings, site: &Site) -> Result<Self, Error> {
        let &Settings { pools, assign_multiple, size_weight, boost, update, .. } = settings;
        let allocations = allocations(&settings.allocations, site.pools.as_ref())?;
        Ok(Self {
            assign_multiple,
            update_period: update,
            pools: Pools::new(Rules::new(pools, size_weight, boost), allocations),
            accounts: ByJob::default(),
            runnable: [0; 2],
            updated: 0,
            order: Vec::new(),
        })
    }

    // Updates. The pools have been updated before.

    fn update(&mut self, view: View<'_>) {
        let since = view.now() - std::mem::replace(&mut self.updated, view.now());
        for kind in Kind::BOTH {
            self.runnable[kind.index()] = 0;
            for &job in view.jobs() {
                let account = &mut self.accounts[job][kind.index()];
                account.accrue(since);
                account.running = view.job(job).running(kind);
                account.needed = if self.pools.may_run(job) { view.job(job).ready(kind) } else { 0 };
                self.runnable[kind.index()] += u64::from(account.runnable());
            }
            self.share(kind, view);
        }
    }

    /// Computes what each job is guaranteed and its share.
    fn share(&mut self, kind: Kind, view: View<'_>) {
        let (mut jobs, mut claims) = (Vec::new(), Vec::new());
        for pool in self.pools.pools() {
            let first = claims.len();
            for &job in &pool.jobs {
                let account = &mut self.accounts[job][kind.index()];
                (account.minimum, account.share) = (0, 0);
                let (runnable, deficit) = (account.runnable(), account.deficit);
                if self.pools.may_run(job) && runnable > 0 {
                    let weight = self.pools.weight(view, job, kind);
                    jobs.push(job);
                    claims.push(Claim { weight, runnable, deficit, minimum: 0 });
                }
            }
            share_weight(&mut claims[first..], pool);
            split_minimum(&mut claims[first..], pool.min_share(kind));
        }
        let shares = fair_shares(&claims, view.slots(kind));
        for ((job, claim), share) in jobs.into_iter().zip(claims).zip(shares) {
            let account = &mut self.accounts[job][kind.index()];
            account.minimum = claim.minimum;
            account.share = (share * UNITS as f64).round() as i64;
        }
    }

    // Heartbeats.

    /// Launches a task of a kind of the first job that has one for this node. Returns whether there was one.
    fn launch_one(&mut self, offer: &mut Offer<'_, '_>, kind: Kind) -> Result<bool, Violation> {
        let (view, accounts) = (offer.view(), &mut self.accounts);
        self.order.clear();
        let needs = |&job: &JobId| accounts[job][kind.index()].needed > 0;
        self.order.extend(view.jobs().iter().copied().filter(needs));
        self.order.sort_unstable_by_key(|&job| {
            let account = &accounts[job][kind.index()];
            let needy = view.job(job).running(kind) < account.minimum;
            (!needy, Reverse(account.deficit), job)
        });
        let launched = launch_first(offer, kind, self.order.iter().copied(), |_, _| Ok(()))?;
        if let Some(job) = launched {
            let account = &mut accounts[job][kind.index()];
            account.running += 1;
            account.needed -= 1;
        }
        Ok(launched.is_some())
    }
}

/// Scales the weights of a pool's jobs so that together they weigh as much as the pool.
fn share_weight(claims: &mut [Claim], pool: &Pool) {
    let total: f64 = claims.iter().map(|claim| claim.weight).sum();
    for claim in claims {
        claim.weight *= pool.config.weight / total;
    }
}

impl Policy for FairDeficit {
    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.pools.submit(job, view);
        self.update(view);
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.pools.finish(job);
    }

    fn period(&self) -> Option<Ms> {
        Some(self.update_period)
    }

    fn tick(&mut self, view: View<'_>, _orders: &mut Orders) {
        self.pools.update(view);
        self.update(view);
    }

    /// Deficits grow evenly as long as the shares stay. They would not stay if what is left of a guarantee went from one job to
    /// another by deficit, or if the weight of a job fell with its age.
    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        let guaranteed = |pool: &Pool| Kind::BOTH.iter().any(|&kind| pool.min_share(kind) > 0);
        let steady = !self.pools.rules().boost && !self.pools.pools().iter().any(guaranteed);
        steady || view.jobs().is_empty()
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        for kind in Kind::BOTH {
            let slots = offer.view().node_slots(offer.node(), kind);
            let cap = load_cap(slots, 0.0, self.runnable[kind.index()], offer.view().slots(kind));
            let open = offer.free(kind) > 0 && offer.reported(kind) < cap;
            if open && self.launch_one(offer, kind)? && !self.assign_multiple {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Scenario, job, map};

    #[test]
    fn deficits_of_two_equal_jobs_of_which_one_runs_all() {
        let after_30_s = |running| {
            let mut account = Account { running, share: 5 * UNITS, ..Account::default() };
            account.accrue(10_000);
            account.accrue(20_000);
            account.deficit / i128::from(1_000 * UNITS)
        };
        assert_eq!((after_30_s(10), after_30_s(0)), (-150, 150), "slot · s");
    }

    #[test]
    fn who_had_to_wait_exceeds_its_share_until_the_deficits_cross() {
        // A holds all ten slots until 41 s; B comes at 11 s and lacks five slots for 30 s. Then B gets all ten, for 30 s.
        let everywhere: Vec<usize> = (0..10).collect();
        let short = || map(10_000).on(&everywhere);
        let a = [vec![map(40_000).on(&everywhere); 10], vec![short(); 90]].concat();
        let world = Scenario::nodes(10, 1, 0)
            .heartbeat(1_000)
            .job(job("job_1_0001").user("ann").each_map(a))
            .job(job("job_1_0002").user("bob").at(11_000).maps(120, short()));
        let launched = |policy: &str, from: Ms, to: Ms| {
            let launches = world.launches(policy);
            let then = launches.iter().filter(|launch| (from..to).contains(&launch.at));
            let of = |id: &str| then.clone().filter(|launch| launch.job == id).count();
            [of("job_1_0001"), of("job_1_0002")]
        };
        assert_eq!(launched("fair-deficit", 0, 41_000), [10, 0]);
        assert_eq!(launched("fair-deficit", 41_000, 71_000), [0, 30]);
        assert_eq!(launched("fair:delay_node=0", 41_000, 71_000), [15, 15], "without deficits they share at once");
        let after = launched("fair-deficit", 71_000, 191_000);
        assert!(after[0].abs_diff(after[1]) <= 10, "then they share: {after:?}");
    }

    #[test]
    fn a_heartbeat_gets_one_task_or_one_of_each_kind() {
        let world = || Scenario::nodes(1, 4, 4).job(job("job_1_0001").maps(20, map(1_000)).reduces(2, 1_000));
        let at = |policy: &str, at: Ms| world().launches(policy).iter().filter(|launch| launch.at == at).count();
        // One map of twenty is done at 6,000: reduces may start.
        assert_eq!([3_000, 9_000].map(|then| at("fair-deficit", then)), [1, 1]);
        assert_eq!([3_000, 9_000].map(|then| at("fair-deficit:assign_multiple=true", then)), [1, 2]);
    }
}
