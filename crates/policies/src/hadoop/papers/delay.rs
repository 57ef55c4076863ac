//! Fair sharing with delay scheduling, by skip count: Algorithm 2 of the delay scheduling paper (`docs/model/delay.md`).
//!
//! **What it does.** This is naive fair sharing with one change: a job without data on the node is skipped. Once it has
//! been skipped at D heartbeats, it may launch maps anywhere, until it launches a local map again.
//!
//! **Source.** Delay scheduling (EuroSys 2010), Algorithm 2. Decisions where it is silent: a launch away from data does not reset
//! the count; a job counts at most one skip per heartbeat; only heartbeats of nodes with a free map slot count; a job with maps
//! whose place is unknown never waits.

use resched_sim::hadoop::{Kind, Offer, Policy, Reach, System, View};
use resched_sim::{JobId, Violation};
use resched_tables::model::Locality;

use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::by_id::ByJob;
use crate::parts::delay_formulas::skips_for;
use crate::parts::equal_order::EqualOrder;
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "delay",
    title: "Fair sharing with delay scheduling, by skip count",
    source: "Delay Scheduling, Algorithm 2",
    family: Family::Paper,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, _| Ok(Box::new(Delay::new(Settings::read(values)?)))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// skips after which a job may launch elsewhere; 0: naive fair sharing
        skips_allowed: u32 = "D" { default: 24, range: 0..=1_000_000_000, unit: "heartbeats" },
        /// share of local maps from which each job's D is computed, even if D is 0; auto: D as you set it
        lambda: Option<f64> = "lambda" { auto: Nothing, range: 0..=0.9999 },
        /// replicas of a block, used with lambda
        replication: u32 = "replication" { default: 3, range: 1..=100 },
    }
}

/// The policy.
#[derive(Debug)]
struct Delay {
    settings: Settings,
    jobs: ByJob<Skips>,
    heartbeats: u64,
    order: EqualOrder,
}

/// How often a job was skipped.
#[derive(Debug, Clone, Copy, Default)]
struct Skips {
    count: u32,
    allowed: u32,
    /// The heartbeat that counted last.
    counted_at: u64,
}

impl Delay {
    fn new(settings: Settings) -> Self {
        Self { settings, jobs: ByJob::default(), heartbeats: 0, order: EqualOrder::default() }
    }

    /// The first job that has a map for this node gives one; those before it are skipped. Returns whether there was one.
    fn launch_map(&mut self, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        for job in self.order.of(offer.view(), Kind::Map) {
            if !offer.view().job(job).any_ready(Kind::Map) {
                continue;
            }
            let skips = &mut self.jobs[job];
            // Of a job that was skipped at this heartbeat and still waits, nothing has changed since.
            if skips.counted_at == self.heartbeats && skips.count < skips.allowed {
                continue;
            }
            let anywhere = skips.count >= skips.allowed || offer.view().job(job).has_unplaced_maps();
            let level = offer.launch_map(job, if anywhere { Reach::Any } else { Reach::Node })?;
            match level {
                Some(Locality::Node) => skips.count = 0,
                Some(_) => {}
                // Only who waits for data is skipped; who may launch anywhere and cannot has failed on this node before.
                None if !anywhere && skips.counted_at < self.heartbeats => {
                    skips.count = skips.count.saturating_add(1);
                    skips.counted_at = self.heartbeats;
                }
                None => {}
            }
            if level.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Policy for Delay {
    fn follows_output(&self) -> bool {
        false
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        let maps = view.job(job).desired(Kind::Map);
        let Settings { skips_allowed, lambda, replication } = self.settings;
        let allowed = match lambda {
            Some(lambda) => skips_for(lambda, maps.max(1), view.live_nodes(), replication),
            None => skips_allowed,
        };
        self.jobs[job].allowed = allowed;
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.heartbeats += 1;
        while offer.free(Kind::Map) > 0 && offer.view().ready(Kind::Map) > 0 {
            if !self.launch_map(offer)? {
                break;
            }
        }
        self.order.launch(offer, Kind::Reduce)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Scenario, job, map};
    use resched_tables::model::Locality;

    #[test]
    fn a_job_waits_for_d_heartbeats_and_then_launches_elsewhere_without_limit() {
        // One job with two maps on node 3, which is busy with another job. Nodes 0, 1 and 2 offer a slot every 1,000 ms.
        let world = |policy: &str| {
            Scenario::nodes(4, 1, 0)
                .heartbeat(1_000)
                .job(job("job_1_0001").maps(1, map(60_000).on(&[3])))
                .job(job("job_1_0002").at(500).maps(2, map(60_000).on(&[3])))
                .launches(policy)
        };
        let second = |policy: &str| -> Vec<(i64, usize, Option<Locality>)> {
            let launches = world(policy);
            let of_second = launches.iter().filter(|launch| launch.job == "job_1_0002");
            of_second.map(|launch| (launch.at, launch.node, launch.level)).collect()
        };
        // D=4: skipped by nodes 0, 1, 2 at 1,000 and by node 0 at 2,000; launched on nodes 1 and 2 then.
        assert_eq!(second("delay:D=4"), [(2_000, 1, Some(Locality::Rack)), (2_000, 2, Some(Locality::Rack))]);
        // D=0: the first job has not waited for node 3 either, but taken node 0 at 0.
        assert_eq!(second("delay:D=0"), [(1_000, 1, Some(Locality::Rack)), (1_000, 2, Some(Locality::Rack))]);
    }

    #[test]
    fn d_0_is_naive_fair_sharing_and_a_large_d_keeps_every_map_local() {
        let world = Scenario::crowded;
        assert_eq!(world().launches("delay:D=0"), world().launches("naive-fair"));
        let patient = world().launches("delay:D=1000000");
        assert!(patient.iter().all(|launch| launch.level.is_none_or(|level| level == Locality::Node)));
        assert_ne!(patient, world().launches("naive-fair"), "the world must tell the two apart");
    }
}
