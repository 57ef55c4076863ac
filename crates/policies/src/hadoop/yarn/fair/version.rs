//! The version of YARN whose rules hold, as a site shows it, and what the rules of 2014 do not know.

use super::Settings;
use super::rules::Rules;
use crate::error::Error;
use crate::hadoop::yarn::rules::{Basis, Version, unknown_version};
use crate::info::Idle;
use crate::queues::yarn_fair::FairQueue;
use crate::settings::Values;
use crate::site::Site;

/// Parameters that only a site of Hadoop 3 sets, each with its property.
const OF_3: [(&str, &str); 5] = [
    ("dynamic_max_assign", "yarn.scheduler.fair.dynamic.max.assign"),
    ("reservable_nodes", "yarn.scheduler.fair.reservable-nodes"),
    ("reservation_multiple", "yarn.scheduler.reservation-threshold.increment-multiple"),
    ("starvation_check", "yarn.scheduler.fair.waitTimeBeforeNextStarvationCheck"),
    ("am_preemption", "yarn.scheduler.fair.am.preemption"),
];

/// What only the rules of 3.4 know of queues, and whether a site has it.
fn of_queues(site: &Site) -> impl Iterator<Item = &'static str> {
    let is_set = |of: fn(&FairQueue) -> bool| {
        site.yarn_fair.iter().flat_map(|tree| tree.queues()).any(|queue| of(&queue.settings))
    };
    let of_queues = [
        ("fairSharePreemptionThreshold", is_set(|queue| queue.fair_share_threshold.is_some())),
        ("allowPreemptionFrom", is_set(|queue| queue.preemptable.is_some())),
    ];
    of_queues.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name)
}

/// What shows that a site is one of Hadoop 3.
fn sign_of(site: &Site) -> Option<&'static str> {
    let of_parameters = OF_3.into_iter().find(|(key, _)| site.parameters.contains_key(&("yarn-fair", *key)));
    of_parameters.map(|(_, property)| property).or_else(|| of_queues(site).next())
}

impl Settings {
    /// The version whose rules hold at a site.
    pub(super) fn version(&self, site: &Site) -> (Version, Basis) {
        Version::of(self.rules, sign_of(site), site)
    }
}

/// Whether the version is a mere default, and the settings of queues without effect.
///
/// # Errors
/// Values of another policy.
pub(super) fn find_idle(values: &Values, site: &Site) -> Result<Vec<Idle>, Error> {
    let settings = Settings::read(values)?;
    let (version, basis) = settings.version(site);
    let mut all: Vec<Idle> = unknown_version(basis).into_iter().collect();
    if settings.preemption && !Rules::of(&settings, version).starved_jobs_preempt {
        all.extend(of_queues(site).map(|name| Idle {
            says: format!("`{name}` has no effect, because the rules of 2014 do not know it"),
            remedy: "Set `rules=3.4`, or `starved_jobs_preempt=true`.".to_owned(),
        }));
    }
    Ok(all)
}
