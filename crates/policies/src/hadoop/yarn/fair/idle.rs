//! Settings of queues that the rules of 2014 do not know.

use super::Settings;
use super::rules::Rules;
use crate::error::Error;
use crate::info::Idle;
use crate::queues::yarn_fair::FairQueue;
use crate::settings::Values;
use crate::site::Site;

/// The settings of the site's queues without effect.
///
/// # Errors
/// Values of another policy.
pub(super) fn find_idle(values: &Values, site: &Site) -> Result<Vec<Idle>, Error> {
    let settings = Settings::read(values)?;
    if !settings.preemption || Rules::of(&settings).starved_jobs_preempt {
        return Ok(Vec::new());
    }
    let is_set = |of: fn(&FairQueue) -> bool| {
        site.yarn_fair.iter().flat_map(|tree| tree.queues()).any(|queue| of(&queue.settings))
    };
    let of_34 = [
        ("fairSharePreemptionThreshold", is_set(|queue| queue.fair_share_threshold.is_some())),
        ("allowPreemptionFrom", is_set(|queue| queue.preemptable.is_some())),
    ];
    let idle = |(name, _)| Idle {
        says: format!("`{name}` has no effect, because the rules of 2014 do not know it"),
        remedy: "Set `rules=3.4`, or `starved_jobs_preempt=true`.".to_owned(),
    };
    Ok(of_34.into_iter().filter(|(_, is_set)| *is_set).map(idle).collect())
}
