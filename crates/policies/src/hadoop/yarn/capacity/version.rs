//! The version of YARN whose rules hold, as a site shows it.

use super::Settings;
use crate::error::Error;
use crate::hadoop::yarn::rules::{Basis, Version, unknown_version};
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

/// What shows that a site is one of Hadoop 3.
fn sign_of(site: &Site) -> Option<&'static str> {
    let of_parameters = OF_3.into_iter().find(|(key, _)| site.parameters.contains_key(&("yarn-capacity", *key)));
    let of_queues = || site.yarn_queues.iter().flat_map(|tree| tree.queues()).find_map(|queue| sign(&queue.settings));
    of_parameters.map(|(_, property)| property).or_else(of_queues)
}

impl Settings {
    /// The version whose rules hold at a site.
    pub(super) fn version(&self, site: &Site) -> (Version, Basis) {
        Version::of(self.rules, sign_of(site), site)
    }
}

/// Whether the version is a mere default, and shares of vcores without effect.
///
/// # Errors
/// Values of another policy, or a file of queues that cannot be read.
pub(super) fn find_idle(values: &Values, site: &Site) -> Result<Vec<Idle>, Error> {
    let settings = Settings::read(values)?;
    let (_, basis) = settings.version(site);
    let tree = settings.tree(site)?;
    let odd = tree.without_shares_of_vcores().map(|path| Idle {
        says: format!(
            "the shares of vcores of the queues below `{path}` have no effect, because they do not add up to 100 %: those of memory count"
        ),
        remedy: "Correct them, or leave them out.".to_owned(),
    });
    Ok(unknown_version(basis).into_iter().chain(odd).collect())
}
