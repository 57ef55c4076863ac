//! Weighted fair shares with minimum shares, and the order that follows from them (`docs/model/fair.md`).

use std::cmp::Ordering;

use resched_tables::model::Priority;

use super::ranking::{Key, total_order};

/// What a job's priority weighs in Hadoop's Fair Scheduler.
pub fn priority_weight(priority: Priority) -> f64 {
    match priority {
        Priority::VeryHigh => 4.0,
        Priority::High => 2.0,
        Priority::Normal => 1.0,
        Priority::Low => 0.5,
        Priority::VeryLow => 0.25,
    }
}

/// The claim of a pool to one kind of slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// Its weight.
    pub weight: f64,
    /// Its guaranteed slots.
    pub min_share: u32,
    /// The slots it could use now.
    pub demand: u32,
}

impl Claim {
    /// Its share at `ratio` slots per weight: within its guarantee and its demand.
    fn share(&self, ratio: f64) -> f64 {
        (self.weight * ratio).max(f64::from(self.min_share)).min(f64::from(self.demand))
    }
}

/// The share of each claim of `slots` slots, as Hadoop computes it: the slots-per-weight ratio is doubled until all
/// slots are used, then bisected 25 times; the right end is taken.
pub fn fair_shares(claims: &[Claim], slots: u32) -> Vec<f64> {
    let used = |ratio: f64| claims.iter().map(|claim| claim.share(ratio)).sum::<f64>();
    let demand: f64 = claims.iter().map(|claim| f64::from(claim.demand)).sum();
    let cap = demand.min(f64::from(slots));
    let mut right = 1.0;
    while used(right) < cap {
        right *= 2.0;
    }
    let mut left = 0.0;
    for _ in 0..25 {
        let middle = (left + right) / 2.0;
        if used(middle) < cap {
            left = middle;
        } else {
            right = middle;
        }
    }
    claims.iter().map(|claim| claim.share(right)).collect()
}

/// The use of a pool or job against its share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// What it uses: slots, or MB.
    pub running: u64,
    /// What it is guaranteed of them, no more than its demand.
    pub min_share: u64,
    /// Its weight.
    pub weight: f64,
}

impl Standing {
    fn is_needy(&self) -> bool {
        self.running < self.min_share
    }

    /// A key whose order is that of [`fair_order`].
    pub(crate) fn key(&self) -> (bool, Key) {
        (!self.is_needy(), total_order(if self.is_needy() { self.min_ratio() } else { self.use_ratio() }))
    }

    fn min_ratio(&self) -> f64 {
        self.running as f64 / self.min_share.max(1) as f64
    }

    /// What it uses for its weight.
    pub fn use_ratio(&self) -> f64 {
        self.running as f64 / self.weight
    }
}

/// The order of service: first those below their guarantee, by how far; then by running tasks per weight. The caller
/// breaks ties.
pub fn fair_order(a: &Standing, b: &Standing) -> Ordering {
    match (a.is_needy(), b.is_needy()) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (true, true) => a.min_ratio().total_cmp(&b.min_ratio()),
        (false, false) => a.use_ratio().total_cmp(&b.use_ratio()),
    }
}

/// How many tasks a node may run of a kind, so that the load is spread: `ceil(slots × min(1, maxDiff + demand/clusterSlots))`.
pub fn load_cap(node_slots: u32, max_diff: f64, demand: u64, cluster_slots: u32) -> u32 {
    let load = max_diff + demand as f64 / f64::from(cluster_slots.max(1));
    (f64::from(node_slots) * load.min(1.0)).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_order_of_service() {
        let mut all = Vec::new();
        for running in [0, 1, 2, 3, 1_000_000] {
            for min_share in [0, 1, 2, 3, 1_000_000] {
                all.extend([0.25, 0.5, 1.0, 3.0, 0.0].map(|weight| Standing { running, min_share, weight }));
            }
        }
        for a in &all {
            for b in &all {
                assert_eq!(a.key().cmp(&b.key()), fair_order(a, b), "{a:?} {b:?}");
            }
        }
    }

    fn claim(weight: f64, min_share: u32, demand: u32) -> Claim {
        Claim { weight, min_share, demand }
    }

    fn close(shares: &[f64], expected: &[f64]) {
        assert_eq!(shares.len(), expected.len());
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share - expected).abs() < 1e-5, "{shares:?}");
        }
    }

    #[test]
    fn shares_are_bounded_by_demand() {
        close(&fair_shares(&[claim(1.0, 0, 20), claim(1.0, 0, 10), claim(1.0, 0, 5)], 24), &[9.5, 9.5, 5.0]);
    }

    #[test]
    fn a_min_share_comes_first() {
        close(&fair_shares(&[claim(1.0, 12, 20), claim(1.0, 0, 10), claim(1.0, 0, 5)], 24), &[12.0, 7.0, 5.0]);
    }

    #[test]
    fn shares_follow_weights() {
        close(&fair_shares(&[claim(2.0, 0, 100), claim(1.0, 0, 100)], 30), &[20.0, 10.0]);
    }

    #[test]
    fn min_shares_may_over_commit() {
        close(&fair_shares(&[claim(1.0, 20, 50), claim(1.0, 20, 50)], 30), &[20.0, 20.0]);
    }

    #[test]
    fn load_is_spread() {
        assert_eq!(load_cap(4, 0.0, 50, 100), 2);
    }

    #[test]
    fn order_of_the_needy_and_the_others() {
        let a = Standing { running: 3, min_share: 4, weight: 1.0 };
        let b = Standing { running: 1, min_share: 2, weight: 1.0 };
        let c = Standing { running: 0, min_share: 0, weight: 1.0 };
        assert_eq!(fair_order(&b, &a), Ordering::Less);
        assert_eq!(fair_order(&a, &c), Ordering::Less);
        assert_eq!(fair_order(&c, &b), Ordering::Greater);
    }

    #[test]
    fn no_claims_have_no_shares() {
        assert!(fair_shares(&[], 10).is_empty());
    }
}
