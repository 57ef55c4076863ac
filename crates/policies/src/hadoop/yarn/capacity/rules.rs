//! The rules of the Capacity Scheduler that differ between the versions of YARN (`docs/yarn-capacity-3.md`).

use super::Settings;
use crate::hadoop::yarn::rules::Version;

/// Which rules hold: `true` is that of 3.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rules {
    /// K1: a job that holds a reservation goes on looking, and gives one up for a container elsewhere.
    pub(super) reservations_look_on: bool,
    /// K2: a node that was kept for a request when it called serves this request alone.
    pub(super) heartbeat_ends_with_reservation: bool,
    /// K3: a map waits for at most as many offers as there are nodes.
    pub(super) far_wait_capped: bool,
    /// K4: masters are limited by their memory, not by their number.
    pub(super) masters_by_memory: bool,
    /// K5: the limit of a user goes by what active users use.
    pub(super) user_limit_by_use: bool,
    /// K6: a container or a reservation needs room in all queues above, and a user's limit is asked before the queue's.
    pub(super) room_above: bool,
    /// K7: guarantees are whole amounts, and not rounded up to whole containers.
    pub(super) guarantee_unrounded: bool,
    /// K8: of queues that are equally full, the larger one is first.
    pub(super) larger_queue_first: bool,
    /// K9: the headroom is computed when the master asks.
    pub(super) headroom_when_asked: bool,
    /// K10: a node has room only if it has some of every resource.
    pub(super) room_in_every_resource: bool,
    /// K14: once a job asks for no map any more, the places that its requests have named are forgotten.
    pub(super) places_forgotten: bool,
    /// K15: the offer of a node to the request for which it is kept counts as one that was missed.
    pub(super) kept_offers_count: bool,
}

impl Rules {
    pub(super) fn of(settings: &Settings, version: Version) -> Self {
        let has = |rule| version.has(rule);
        Self {
            reservations_look_on: has(settings.reservations_look_on),
            heartbeat_ends_with_reservation: has(settings.heartbeat_ends_with_reservation),
            far_wait_capped: has(settings.far_wait_capped),
            masters_by_memory: has(settings.masters_by_memory),
            user_limit_by_use: has(settings.user_limit_by_use),
            room_above: has(settings.room_above),
            guarantee_unrounded: has(settings.guarantee_unrounded),
            larger_queue_first: has(settings.larger_queue_first),
            headroom_when_asked: has(settings.headroom_when_asked),
            room_in_every_resource: has(settings.room_in_every_resource),
            places_forgotten: has(settings.places_forgotten),
            kept_offers_count: has(settings.kept_offers_count),
        }
    }

    /// True if any of them needs to know what a queue may have now.
    pub(super) fn follow_limits(self) -> bool {
        self.room_above || self.headroom_when_asked || self.masters_by_memory
    }
}
