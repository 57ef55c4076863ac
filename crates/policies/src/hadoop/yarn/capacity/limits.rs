//! Amounts of resources, and the limits of users and applications (policies B.6b).

use resched_sim::Resources;

/// What of an amount counts if the smallest container is this: not vcores, where memory alone decides.
pub(super) fn counted(amount: Resources, smallest: Resources) -> Resources {
    amount.zip(smallest, |own, smallest| if smallest == 0 { 0 } else { own })
}

/// The next multiple of `step`.
fn rounded_up(amount: Resources, step: Resources) -> Resources {
    amount.zip(step, |own, step| if step == 0 { own } else { own.div_ceil(step).saturating_mul(step) })
}

fn divided_up(amount: Resources, by: u64) -> Resources {
    amount.map(|part| part.div_ceil(by.max(1)))
}

/// What decides how much a user may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserLimit {
    /// What the whole cluster has.
    pub(super) cluster: Resources,
    /// The smallest container.
    pub(super) smallest: Resources,
    /// The share of the cluster that the queue is guaranteed.
    pub(super) capacity: f64,
    /// What the queue uses.
    pub(super) used: Resources,
    /// Users of the queue that ask for containers.
    pub(super) users: u64,
    /// What each user gets at least, percent.
    pub(super) minimum: u32,
    /// How many times the guarantee one user may have.
    pub(super) factor: f64,
}

impl UserLimit {
    /// What one user may have before a container of this size; one more is given while no more than that is used.
    pub(super) fn before(&self, required: Resources) -> Resources {
        let capacity = rounded_up(self.cluster.scaled(self.capacity), self.smallest).max(required);
        let below = self.used.dominant_share(self.cluster) < capacity.dominant_share(self.cluster);
        let current = if below { capacity } else { self.used.plus(required) };
        let guaranteed = divided_up(current.scaled(f64::from(self.minimum)), 100);
        let limit = divided_up(current, self.users).max(guaranteed).min(capacity.scaled(self.factor));
        rounded_up(limit, self.smallest)
    }
}

/// How many applications of a queue may be active: so many smallest containers as fit into the share of masters, at least one.
pub(super) fn most_active(cluster: Resources, smallest: Resources, am_share: f64, limit: f64) -> u32 {
    let ratio = |all: u64, smallest: u64| if smallest == 0 { 0.0 } else { all as f64 / smallest as f64 };
    let ratio = ratio(cluster.cpu, smallest.cpu).max(ratio(cluster.memory, smallest.memory));
    (ratio * am_share * limit).ceil().max(1.0) as u32
}

/// Whether an application may take a container far from its data: it must have been passed over by as many nodes as it asks for
/// containers, less where its requests name few of the nodes.
pub(super) fn may_go_far(missed: u64, asked: u32, locations: u32, nodes: usize) -> bool {
    let named = f64::from(locations.saturating_sub(1)) / nodes.max(1) as f64;
    f64::from(asked) * named.min(1.0) < missed as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(mb: u64) -> Resources {
        Resources { cpu: 0, memory: mb }
    }

    #[test]
    fn b6b_w1_user_limit() {
        let limit = UserLimit {
            cluster: memory(102_400),
            smallest: memory(1024),
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
    fn b6b_w2_off_switch() {
        assert!(!may_go_far(5, 20, 11, 40));
        assert!(may_go_far(6, 20, 11, 40));
        assert!(!may_go_far(20, 20, 200, 40) && may_go_far(21, 20, 200, 40), "as often as it asks at most");
        assert!(may_go_far(1, 20, 1, 40), "who asks for no place need not wait");
    }

    #[test]
    fn b6b_active_applications() {
        assert_eq!(most_active(memory(102_400), memory(1024), 0.1, 1.0), 10);
        assert_eq!(most_active(memory(8_192), memory(1024), 0.1, 0.5), 1);
    }

    #[test]
    fn the_resource_that_is_used_most_is_what_counts() {
        let cluster = Resources { cpu: 10, memory: 1000 };
        let own = Resources { cpu: 5, memory: 100 };
        assert_eq!(own.dominant_share(cluster), 0.5);
        assert_eq!(counted(own, memory(1)).dominant_share(cluster), 0.1);
    }
}
