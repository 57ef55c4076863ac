//! Fair sharing with delay scheduling, by waiting time and with rack level (`docs/model/delay.md`).
//!
//! **What it does.** This is naive fair sharing with one change: a job launches in a rack with its data only after it
//! has waited T1 for a node with its data. It launches anywhere only after a further wait of T2. A launch at a level
//! allows the next launch at the same level.
//!
//! **Source.** Delay scheduling (EuroSys 2010), Algorithm 3. If a heartbeat offers one slot, this does the same as
//! Hadoop's Fair Scheduler of 2011 without pools. Both use the rules in [`crate::parts::locality_wait`].
//!
//! **Decisions.** If a job is skipped at a heartbeat of a node with a free map slot, the time until the next such
//! heartbeat counts as waiting. If a heartbeat offers several slots, a job may launch in one and be skipped for
//! another. The paper does not say whether it then begins to wait; as in Hadoop, it does not. On a cluster of one rack,
//! every launch away from the data is in the rack, so only T1 counts. A job with maps whose place is unknown never
//! waits, as in Hadoop.

use resched_sim::hadoop::{Kind, Offer, Policy, System, View};
use resched_sim::{Ms, Violation};

use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::equal_order::EqualOrder;
use crate::parts::locality_wait::{LocalityWaits, Waits};
use crate::settings::settings;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "delay-time",
    title: "Fair sharing with delay scheduling, by waiting time",
    source: "Delay Scheduling, Algorithm 3; Hadoop's Fair Scheduler of 2011",
    family: Family::Paper,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, _| Ok(Box::new(DelayTime::new(Settings::read(values)?)))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// wait for a node with the data; auto: 1.5 heartbeats, 15 s at most
        t1: Option<Ms> = "T1" { auto: Negative, range: 0..=86_400_000, unit: "ms" },
        /// further wait for a rack with the data; auto: 1.5 heartbeats, 15 s at most
        t2: Option<Ms> = "T2" { auto: Negative, range: 0..=86_400_000, unit: "ms" },
    }
}

/// The policy.
#[derive(Debug)]
struct DelayTime {
    settings: Settings,
    jobs: LocalityWaits,
    order: EqualOrder,
}

impl DelayTime {
    fn new(settings: Settings) -> Self {
        Self { settings, jobs: LocalityWaits::default(), order: EqualOrder::default() }
    }

    /// The first job that may launch here does. Returns whether there was one.
    fn launch_map(&mut self, offer: &mut Offer<'_, '_>, waits: Waits) -> Result<bool, Violation> {
        for job in self.order.of(offer.view(), Kind::Map) {
            if offer.view().job(job).any_ready(Kind::Map) && self.jobs.launch_map(offer, job, waits, || false)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Policy for DelayTime {
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        if offer.free(Kind::Map) > 0 {
            let view = offer.view();
            let waits = Waits::resolve(self.settings.t1, self.settings.t2, view.heartbeat_interval());
            self.jobs.begin(view.now());
            while offer.free(Kind::Map) > 0 && offer.view().ready(Kind::Map) > 0 {
                if !self.launch_map(offer, waits)? {
                    break;
                }
            }
            self.jobs.end();
        }
        self.order.launch(offer, Kind::Reduce)
    }

    fn restless(&self, _view: View<'_>) -> bool {
        self.jobs.any_skipped()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Scenario, job, map};
    use resched_tables::model::Locality;

    #[test]
    fn with_a_single_rack_the_first_launch_elsewhere_comes_after_t1_alone() {
        let launches = Scenario::nodes(4, 1, 0)
            .heartbeat(1_000)
            .job(job("job_1_0001").maps(1, map(600_000).on(&[3])))
            .job(job("job_1_0002").at(500).maps(2, map(60_000).on(&[3])))
            .launches("delay-time:T1=15000,T2=15000");
        let second: Vec<_> = launches.iter().filter(|launch| launch.job == "job_1_0002").collect();
        // First asked in vain at 1,000; 15 s later the rack is open, and stays open.
        assert_eq!(second.iter().map(|launch| launch.at).collect::<Vec<_>>(), [16_000, 16_000]);
        assert!(second.iter().all(|launch| launch.level == Some(Locality::Rack)));
    }
}
