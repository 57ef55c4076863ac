//! What a site says that the rules of 2014 do not know.

use super::Settings;
use crate::error::Error;
use crate::hadoop::yarn::rules::older_than_site;
use crate::info::Idle;
use crate::queues::yarn_capacity::YarnQueue;
use crate::settings::Values;
use crate::site::Site;

/// Parameters that only a site of Hadoop 3 sets, each with its property.
const OF_3: [(&str, &str); 5] = [
    ("reservations_look_on", "reservations-continue-look-all-nodes"),
    ("several_per_heartbeat", "per-node-heartbeat.multiple-assignments-enabled"),
    ("most_per_heartbeat", "per-node-heartbeat.maximum-container-assignments"),
    ("most_far_per_heartbeat", "per-node-heartbeat.maximum-offswitch-assignments"),
    ("rack_locality_delay", "rack-locality-additional-delay"),
];

/// What shows that a queue is one of Hadoop 3.
fn sign(queue: &YarnQueue) -> Option<&'static str> {
    let signs = [
        ("capacity=…w", queue.weight.is_some()),
        ("capacity=[memory=…]", queue.memory_mb.is_some()),
        ("ordering-policy", queue.order.is_some()),
        ("priority", queue.priority.is_some()),
        ("max-parallel-apps", queue.maximum_parallel_applications.is_some()),
        ("user-settings", !queue.user_weights.is_empty()),
        ("legacy-queue-mode.enabled", queue.vectors.is_some()),
    ];
    signs.into_iter().find(|(_, is_set)| *is_set).map(|(name, _)| name)
}

/// Whether the site is newer than the rules.
///
/// # Errors
/// Values of another policy.
pub(super) fn find_idle(values: &Values, site: &Site) -> Result<Vec<Idle>, Error> {
    let settings = Settings::read(values)?;
    let of_parameters = OF_3.into_iter().find(|(key, _)| site.parameters.contains_key(&("yarn-capacity", *key)));
    let of_queues = || site.yarn_queues.iter().flat_map(|tree| tree.queues()).find_map(|queue| sign(&queue.settings));
    let sign = of_parameters.map(|(_, property)| property).or_else(of_queues);
    Ok(older_than_site(settings.rules, values, sign).into_iter().collect())
}
