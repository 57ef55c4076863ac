//! Amounts of resources and the limits of users and applications (policies B.6b).

use resched_sim::Resources;

/// Memory in MB and vcores; vcores are 0 throughout where memory alone decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Amount([u64; 2]);

impl Amount {
    pub(crate) fn of(resources: Resources) -> Self {
        Self(resources.0.map(u64::from))
    }

    /// What of it counts if the smallest container is this.
    pub(crate) fn counted(self, smallest: Amount) -> Self {
        self.zip(smallest, |own, smallest| if smallest == 0 { 0 } else { own })
    }

    pub(crate) fn plus(self, other: Amount) -> Self {
        self.zip(other, |a, b| a + b)
    }

    pub(crate) fn minus(self, other: Amount) -> Self {
        self.zip(other, u64::saturating_sub)
    }

    pub(crate) fn min(self, other: Amount) -> Self {
        self.zip(other, u64::min)
    }

    pub(crate) fn max(self, other: Amount) -> Self {
        self.zip(other, u64::max)
    }

    pub(crate) fn resources(self) -> Resources {
        Resources(self.0.map(|part| u32::try_from(part).unwrap_or(u32::MAX)))
    }

    /// How much of `whole` it is, by the resource of which it is most.
    pub(crate) fn share(self, whole: Amount) -> f64 {
        let part = |part: usize| if whole.0[part] == 0 { 0.0 } else { self.0[part] as f64 / whole.0[part] as f64 };
        part(0).max(part(1))
    }

    /// Whether no resource of it is more than that of `limit`.
    pub(crate) fn is_within(self, limit: Amount) -> bool {
        self.0[0] <= limit.0[0] && self.0[1] <= limit.0[1]
    }

    /// So many times as much, rounded down.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self(self.0.map(|part| (part as f64 * factor) as u64))
    }

    /// The next multiple of `step`.
    pub(super) fn rounded_up(self, step: Amount) -> Self {
        self.zip(step, |own, step| if step == 0 { own } else { own.div_ceil(step).saturating_mul(step) })
    }

    fn divided_up(self, by: u64) -> Self {
        Self(self.0.map(|part| part.div_ceil(by.max(1))))
    }

    fn zip(self, other: Amount, join: impl Fn(u64, u64) -> u64) -> Self {
        Self([join(self.0[0], other.0[0]), join(self.0[1], other.0[1])])
    }
}

/// What decides how much a user may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserLimit {
    /// What the whole cluster has.
    pub(super) cluster: Amount,
    /// The smallest container.
    pub(super) smallest: Amount,
    /// The share of the cluster that the queue is guaranteed.
    pub(super) capacity: f64,
    /// What the queue uses.
    pub(super) used: Amount,
    /// Users of the queue that ask for containers.
    pub(super) users: u64,
    /// What each user gets at least, percent.
    pub(super) minimum: u32,
    /// How many times the guarantee one user may have.
    pub(super) factor: f64,
}

impl UserLimit {
    /// What one user may have before a container of this size; one more is given while no more than that is used.
    pub(super) fn before(&self, required: Amount) -> Amount {
        let capacity = self.cluster.times(self.capacity).rounded_up(self.smallest).max(required);
        let below = self.used.share(self.cluster) < capacity.share(self.cluster);
        let current = if below { capacity } else { self.used.plus(required) };
        let guaranteed = current.times(f64::from(self.minimum)).divided_up(100);
        current.divided_up(self.users).max(guaranteed).min(capacity.times(self.factor)).rounded_up(self.smallest)
    }
}

/// How many applications of a queue may be active: so many smallest containers as fit into the share of masters, at least one.
pub(super) fn most_active(cluster: Amount, smallest: Amount, am_share: f64, limit: f64) -> u32 {
    let containers = (0..2).filter(|&part| smallest.0[part] > 0);
    let ratio = containers.map(|part| cluster.0[part] as f64 / smallest.0[part] as f64).fold(0.0, f64::max);
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

    fn memory(mb: u64) -> Amount {
        Amount([mb, 0])
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
        let cluster = Amount([1000, 10]);
        assert_eq!(Amount([100, 5]).share(cluster), 0.5);
        assert_eq!(Amount([100, 5]).counted(memory(1)).share(cluster), 0.1);
    }
}
