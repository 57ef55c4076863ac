//! What a site says that the rules of 2014 do not know.

use super::Settings;
use super::rules::Rules;
use crate::error::Error;
use crate::hadoop::yarn::rules::older_than_site;
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

/// Whether the site is newer than the rules, and the settings of its queues without effect.
///
/// # Errors
/// Values of another policy.
pub(super) fn find_idle(values: &Values, site: &Site) -> Result<Vec<Idle>, Error> {
    let settings = Settings::read(values)?;
    let is_set = |of: fn(&FairQueue) -> bool| {
        site.yarn_fair.iter().flat_map(|tree| tree.queues()).any(|queue| of(&queue.settings))
    };
    let of_queues = [
        ("fairSharePreemptionThreshold", is_set(|queue| queue.fair_share_threshold.is_some())),
        ("allowPreemptionFrom", is_set(|queue| queue.preemptable.is_some())),
    ];
    let of_queues: Vec<&str> = of_queues.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
    let of_parameters = OF_3.into_iter().find(|(key, _)| site.parameters.contains_key(&("yarn-fair", *key)));
    let sign = of_parameters.map(|(_, property)| property).or(of_queues.first().copied());
    let mut all: Vec<Idle> = older_than_site(settings.rules, values, sign).into_iter().collect();
    if settings.preemption && !Rules::of(&settings).starved_jobs_preempt {
        all.extend(of_queues.into_iter().map(|name| Idle {
            says: format!("`{name}` has no effect, because the rules of 2014 do not know it"),
            remedy: "Set `rules=3.4`, or `starved_jobs_preempt=true`.".to_owned(),
        }));
    }
    Ok(all)
}
