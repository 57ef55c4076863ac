//! Which rules hold: those of a version, but for the ones that are set by themselves. Each is named as it is in 3.4.

use super::{DemandCount, Settings};
use crate::hadoop::yarn::rules::Version;

/// The share of the fair share of a queue that its masters may take in 3.4, if nothing is said.
const MASTERS_OF_34: f64 = 0.5;

/// The rules that differ between the versions, as they were resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    /// F1.
    pub(super) rare_reservations: bool,
    /// F2.
    pub(super) placeless_go_anywhere: bool,
    /// F3.
    pub(super) asks_after_update: bool,
    /// F4.
    pub(super) dynamic_max_assign: bool,
    /// F5, but for the share itself.
    pub(super) whole_master_limit: bool,
    /// The opposite of F6: whether a request for a map counts once for every place.
    pub(super) demand_counts_places: bool,
    /// F6, of queues.
    pub(super) whole_demand: bool,
    /// F7.
    pub(super) never_above_limit: bool,
    /// F8.
    pub(super) demand_first: bool,
    /// F9.
    pub(super) drf_breaks_ties: bool,
    /// F11.
    pub(super) headroom_within_limit: bool,
    /// F12.
    pub(super) starved_jobs_preempt: bool,
}

impl Rules {
    pub(super) fn of(settings: &Settings, version: Version) -> Self {
        let has = |rule: Option<bool>| version.has(rule);
        let counts_maps = settings.demand.map(|demand| demand == DemandCount::Maps);
        Self {
            rare_reservations: has(settings.rare_reservations),
            placeless_go_anywhere: has(settings.placeless_go_anywhere),
            asks_after_update: has(settings.asks_after_update),
            dynamic_max_assign: has(settings.dynamic_max_assign),
            whole_master_limit: has(settings.whole_master_limit),
            demand_counts_places: !has(counts_maps),
            whole_demand: has(settings.whole_demand),
            never_above_limit: has(settings.never_above_limit),
            demand_first: has(settings.demand_first),
            drf_breaks_ties: has(settings.drf_breaks_ties),
            headroom_within_limit: has(settings.headroom_within_limit),
            starved_jobs_preempt: has(settings.starved_jobs_preempt),
        }
    }

    /// True if the share of a queue is divided among its jobs.
    pub(super) fn jobs_have_shares(&self) -> bool {
        self.rare_reservations || self.starved_jobs_preempt
    }
}

/// The share of a queue's fair share that masters may take, if the queue does not say; `None`: all.
pub(super) fn share_of_masters(settings: &Settings, version: Version) -> Option<f64> {
    let of_version = (version == Version::Of34).then_some(MASTERS_OF_34);
    settings.max_am_share.or(of_version)
}
