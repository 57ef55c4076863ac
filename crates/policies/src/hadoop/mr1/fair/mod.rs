//! Hadoop's Fair Scheduler of 2011: pools with guarantees and weights, delay scheduling, preemption (`docs/model/fair.md`).
//!
//! **What it does.** A free slot goes to the pool that is farthest below its guarantee, else to the pool that runs the
//! fewest tasks for its weight. In the pool, a job is chosen by the same rule. Maps wait for their data
//! ([`LocalityWaits`]). Reduces are launched as soon as slow-start allows, which causes the starvation that the
//! Coupling paper describes. Demands and shares are computed every 500 ms and when a job arrives. With preemption, if a
//! pool was below its share for too long, the newest tasks of other pools are killed for it.
//!
//! A starving pool does not wait for its data. Without preemption, Hadoop never records that a pool has its share
//! (MAPREDUCE-4986). This policy does the same: once a timeout that you set is over, the pool's jobs no longer wait for
//! their data. With `preemption` and `only_log`, the time below the share starts anew whenever the pool has half its share, and
//! nothing is killed.
//!
//! **Source.** Hadoop MapReduce, June 2011: `FairScheduler` and its classes, whose schedules it reproduces to the
//! millisecond. Attempts that started at the same time are preempted in the order of their tasks; Hadoop's order is
//! arbitrary.

mod preemption;

use std::collections::BTreeSet;

use resched_sim::hadoop::{Kind, Offer, Orders, Policy, System, View};
use resched_sim::{JobId, Ms, TaskId, Violation};

use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::input::Input;
use crate::parts::locality_wait::{DELAY_NODE, DELAY_RACK, LocalityWaits, Waits};
use crate::parts::pools::{
    ALLOCATIONS, Answer, BOOST, MAP_CAP, POOLS, Pools, PoolsBy, REDUCE_CAP, Rules, SIZE_WEIGHT, UPDATE, allocations,
};
use crate::settings::{File, settings};
use crate::site::Site;
use crate::spec::PolicySpec;
use preemption::{Preemption, Standing};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "fair",
    title: "Hadoop Fair Scheduler of 2011 (pools, delay, preemption)",
    source: "Hadoop MapReduce 1 (June 2011)",
    family: Family::MapReduce1,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[Input::Pools],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, site| Ok(Box::new(Fair::new(&Settings::read(values)?, site)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        pools: PoolsBy = POOLS,
        allocations: File = ALLOCATIONS,
        delay_node: Option<Ms> = DELAY_NODE,
        delay_rack: Option<Ms> = DELAY_RACK,
        /// fill all free slots at one heartbeat; false: one task
        assign_multiple: bool = "assign_multiple" { default: true, hadoop: ["mapred.fairscheduler.assignmultiple"] },
        map_cap: Option<u32> = MAP_CAP,
        reduce_cap: Option<u32> = REDUCE_CAP,
        /// how much fuller than the cluster a node may be, as a share of its slots
        max_diff: f64 = "max_diff" { default: 0, range: 0..=1, hadoop: ["mapred.fairscheduler.load.max.diff"] },
        size_weight: bool = SIZE_WEIGHT,
        boost: bool = BOOST,
        update: Ms = UPDATE,
        /// time below half its fair share before a pool preempts and stops waiting for data; auto: as `allocations`
        /// says, else never
        fair_share_timeout: Option<Ms> = "fair_share_timeout" { auto: Nothing, range: 0..=86_400_000, unit: "ms" },
        /// kill tasks of other pools for pools that are kept below their share
        preemption: bool = "preemption" { default: false, hadoop: ["mapred.fairscheduler.preemption"] },
        /// with preemption, record which pools have their share, and kill nothing
        only_log: bool = "only_log" { default: false, hadoop: ["mapred.fairscheduler.preemption.only.log"] },
        /// time between two checks for preemption
        preemption_interval: Ms = "preemption_interval" {
            default: 15000, range: 1..=86_400_000, unit: "ms", hadoop: ["mapred.fairscheduler.preemption.interval"],
        },
    }
}

/// The policy.
#[derive(Debug)]
pub struct Fair {
    delays: (Option<Ms>, Option<Ms>),
    update_period: Ms,
    /// When the latest update was.
    updated: Option<Ms>,
    pools: Pools,
    /// How the pools stand against their shares, by their places.
    standings: Vec<[Standing; 2]>,
    waits: LocalityWaits,
    preemption: Option<Preemption>,
}

impl Fair {
    /// The policy that a text of the registry asks for, to be changed by hand before a replay.
    ///
    /// # Errors
    /// As [`PolicySpec::build`].
    pub fn from_spec(spec: &PolicySpec) -> Result<Self, Error> {
        Self::new(&Settings::read(spec.values())?, spec.site())
    }

    fn new(settings: &Settings, site: &Site) -> Result<Self, Error> {
        let rules = Rules {
            assign_multiple: settings.assign_multiple,
            caps: [settings.map_cap, settings.reduce_cap],
            max_diff: settings.max_diff,
            ..Rules::new(settings.pools, settings.size_weight, settings.boost)
        };
        let mut allocations = allocations(&settings.allocations, site.pools.as_ref())?;
        allocations.fair_share_timeout = settings.fair_share_timeout.or(allocations.fair_share_timeout);
        let preemption = settings.preemption.then(|| Preemption::new(settings.preemption_interval, settings.only_log));
        let mut fair = Self {
            delays: (settings.delay_node, settings.delay_rack),
            update_period: settings.update,
            updated: None,
            pools: Pools::new(rules, allocations),
            standings: Vec::new(),
            waits: LocalityWaits::default(),
            preemption,
        };
        fair.add_standings(0);
        Ok(fair)
    }

    /// Preempts these attempts (task and number) before others that started at the same time. Their order is arbitrary in
    /// Hadoop, so its own record is needed to follow it.
    pub fn prefer_victims(&mut self, victims: BTreeSet<(TaskId, u32)>) {
        if let Some(preemption) = &mut self.preemption {
            preemption.preferred = victims;
        }
    }

    /// Pools that are new lack nothing yet.
    fn add_standings(&mut self, now: Ms) {
        self.standings.resize(self.pools.pools().len(), [Standing::since(now); 2]);
    }
}

/// True if a job's pool has been kept below its share for too long, so that it does not wait for its data any more.
fn starves(pools: &Pools, standings: &[[Standing; 2]], job: JobId, now: Ms) -> bool {
    let (pool, allocations) = (pools.pool_of(job), pools.allocations());
    let maps = standings[pool][Kind::Map.index()];
    let over = |since: Ms, timeout: Option<Ms>| timeout.is_some_and(|timeout| now - since > timeout);
    over(maps.at_min_share, allocations.min_share_timeout_of(&pools.pools()[pool].config))
        || over(maps.at_half_fair_share, allocations.fair_share_timeout)
}

impl Policy for Fair {
    fn follows_output(&self) -> bool {
        false
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.pools.submit(job, view);
        self.add_standings(view.now());
        if let Some(preemption) = &self.preemption {
            preemption.update(&self.pools, &mut self.standings, view);
        }
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.pools.finish(job);
    }

    fn period(&self) -> Option<Ms> {
        Some(self.update_period)
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        self.pools.update(view);
        let updated = self.updated.replace(view.now()).unwrap_or(view.clock_start());
        if let Some(preemption) = &self.preemption {
            preemption.update(&self.pools, &mut self.standings, view);
            if preemption.is_due(view, updated) {
                preemption.check(&self.pools, &self.standings, view, orders);
            }
        }
    }

    fn skips_idle_ticks(&self, view: View<'_>) -> bool {
        self.preemption.is_none() || view.jobs().is_empty()
    }

    /// A job is visited, and may be marked as skipped, whenever fewer maps run than the last update demanded; and a mark is
    /// taken off by whichever node is consulted next.
    fn restless(&self, view: View<'_>) -> bool {
        self.waits.any_skipped() || self.pools.demand(Kind::Map) != view.running(Kind::Map)
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let limits = Waits::resolve(self.delays.0, self.delays.1, offer.view().heartbeat_interval());
        let (waits, standings) = (&mut self.waits, &self.standings);
        waits.begin(offer.view().now());
        self.pools.assign(offer, &Kind::BOTH, |pools, offer, job, kind| {
            if kind == Kind::Reduce {
                return offer.launch_reduce(job).map(Answer::launched);
            }
            let now = offer.view().now();
            waits.launch_map(offer, job, limits, || starves(pools, standings, job, now)).map(Answer::launched)
        })?;
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

    /// Of a job with its data on one node of two: the first of its maps that runs away from it.
    #[test]
    fn a_pool_below_half_its_share_for_too_long_waits_for_its_data_no_more() {
        let first_away = |policy: &str| {
            let launches = Scenario::nodes(2, 4, 1)
                .heartbeat(1_000)
                .job(job("job_1_0001").maps(60, map(3_000).on(&[0])))
                .launches(&format!("fair:delay_node=20000,delay_rack=20000{policy}"));
            launches.iter().find(|launch| launch.node == 1).map(|launch| launch.at)
        };
        // Half of its share is 4 slots, and it has 4: but with preemption off that is never noted (MAPREDUCE-4986).
        let at = first_away(",fair_share_timeout=10000").unwrap_or_default();
        assert!((10_001..12_001).contains(&at), "{at}");
        assert_eq!(first_away(",fair_share_timeout=10000,preemption=true"), None);
        assert_eq!(first_away(",fair_share_timeout=10000,preemption=true,only_log=true"), None);
        assert_eq!(first_away(""), None);
    }
}
