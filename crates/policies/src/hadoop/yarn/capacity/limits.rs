//! The limits of users and applications (`docs/model/yarn-policies.md`).

use resched_sim::hadoop::Resources;

use super::calculator::{Calculator, divided_up, part};

/// What decides how much a user may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserLimit {
    /// How amounts are compared.
    pub(super) calculator: Calculator,
    /// The share of the cluster that the queue is guaranteed.
    pub(super) capacity: f32,
    /// What the queue uses.
    pub(super) used: Resources,
    /// Users of the queue that ask for containers.
    pub(super) users: u64,
    /// What each user gets at least, percent.
    pub(super) minimum: u32,
    /// How many times the guarantee one user may have.
    pub(super) factor: f32,
}

impl UserLimit {
    /// What one user may have before a container of this size; one more is given while no more than that is used
    /// (`LeafQueue.computeUserLimit`).
    pub(super) fn before(&self, required: Resources) -> Resources {
        let by = self.calculator;
        let capacity = by.max(by.part_rounded_up(by.cluster, self.capacity), required);
        let below = by.order(self.used, capacity).is_lt();
        let current = if below { capacity } else { self.used.plus(required) };
        let guaranteed = divided_up(current.times(self.minimum.into()), 100);
        let shared = by.max(divided_up(current, self.users), guaranteed);
        by.rounded_up(by.min(shared, part(capacity, self.factor)))
    }
}

/// How many applications of a queue may be active: so many smallest containers as fit into the share of masters, at least one
/// (`CSQueueUtils.computeMaxActiveApplications`).
pub(super) fn most_active(by: Calculator, am_share: f32, limit: f32) -> u32 {
    (by.ratio(by.cluster, by.smallest) * am_share * limit).ceil().max(1.0) as u32
}

/// True if an application may take a container far from its data: it must have been passed over by as many nodes as it asks for
/// containers, less where its requests have ever named few of the nodes (`FiCaSchedulerApp.getLocalityWaitFactor`).
pub(super) fn may_go_far(missed: u64, asked: u32, locations: u32, nodes: usize) -> bool {
    let named = locations as f32 / nodes.max(1) as f32;
    asked as f32 * named.min(1.0) < missed as f32
}

/// How many nodes may be kept for requests of an application beyond the requests themselves, if nodes have been kept for it
/// and a heartbeat of one of them has found no room so often (`LeafQueue.needContainers`): the more, the smaller the container
/// is beside the largest one. `size` and `range` are shares of the largest container: the container's, and all but the smallest.
pub(super) fn extra_reservations(reserved: u32, again: u32, size: f32, range: f32) -> u32 {
    if reserved == 0 { 0 } else { (again as f32 / reserved as f32 * (1.0 - size.min(range))) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(mb: u64) -> Resources {
        Resources::of(0, mb)
    }

    fn by(cluster: u64) -> Calculator {
        Calculator::new(memory(cluster), memory(1024))
    }

    #[test]
    fn users_share_the_guarantee_or_what_is_used() {
        let limit = UserLimit {
            calculator: by(102_400),
            capacity: 0.5,
            used: memory(30_720),
            users: 4,
            minimum: 25,
            factor: 1.0,
        };
        assert_eq!(limit.before(memory(1024)), memory(13_312));
        assert_eq!(UserLimit { users: 1, ..limit }.before(memory(1024)), memory(51_200));
        // Beyond its guarantee the queue shares what it uses, but no user more than the guarantee.
        let over = UserLimit { used: memory(61_440), users: 2, ..limit };
        assert_eq!(over.before(memory(1024)), memory(31_744));
        assert_eq!(UserLimit { users: 1, ..over }.before(memory(1024)), memory(51_200));
        assert_eq!(UserLimit { users: 1, factor: 2.0, ..over }.before(memory(1024)), memory(62_464));
    }

    #[test]
    fn when_a_request_may_go_off_switch() {
        assert!(!may_go_far(5, 20, 10, 40));
        assert!(may_go_far(6, 20, 10, 40));
        assert!(!may_go_far(20, 20, 200, 40) && may_go_far(21, 20, 200, 40), "as often as it asks at most");
        assert!(may_go_far(1, 20, 0, 40), "who asks for no place need not wait");
    }

    #[test]
    fn active_applications() {
        assert_eq!(most_active(by(102_400), 0.1, 1.0), 10);
        assert_eq!(most_active(by(8_192), 0.1, 0.5), 1);
    }

    #[test]
    fn c1_reservations_beyond_the_requests() {
        // A master of 2 GB, the largest container is 8 GB, the smallest 1 GB: 3/4 of a node for each heartbeat without room.
        let extra = |reserved, again| extra_reservations(reserved, again, 0.25, 0.875);
        assert_eq!([extra(0, 5), extra(1, 1), extra(1, 2), extra(2, 2), extra(2, 3)], [0, 0, 1, 0, 1]);
        assert_eq!(
            extra_reservations(1, 9, 1.0, 0.875),
            1,
            "a container of a whole node counts as one but the smallest"
        );
    }
}
