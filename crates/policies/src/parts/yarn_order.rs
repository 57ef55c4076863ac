//! Who is served first: the comparators of YARN's `FairSharePolicy` and `DominantResourceFairnessPolicy` (`docs/model/yarn-policies.md`).
//!
//! Shares per weight are of single precision, as there. Without a weight, a share is boundless: such a queue or job comes last. (A
//! job without a weight is one that came after the last update; Hadoop compares 0/0 as equal to all, and then the later job comes
//! last.)

use std::cmp::Ordering;

use resched_sim::hadoop::Resources;

/// Where a queue or job stands under fair sharing of memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standing {
    /// Memory that it uses, MB.
    pub(crate) used: u64,
    /// What it is guaranteed of it, no more than its demand, MB.
    pub(crate) min_share: u64,
    /// Its weight.
    pub(crate) weight: f32,
}

impl Standing {
    fn is_needy(&self) -> bool {
        self.used < self.min_share
    }

    /// A key whose order is that of [`fair_order`].
    pub(crate) fn key(&self) -> (bool, u64) {
        let share = if self.is_needy() { self.of_guarantee() } else { f64::from(self.per_weight()) };
        let bits = share.to_bits();
        // As `f64::total_cmp` does it.
        (!self.is_needy(), if bits >> 63 == 1 { !bits } else { bits | 1 << 63 })
    }

    fn of_guarantee(&self) -> f64 {
        self.used as f64 / self.min_share.max(1) as f64
    }

    fn per_weight(&self) -> f32 {
        bounded(self.used as f32 / self.weight)
    }
}

/// First those below their guarantee, by how far; then by use per weight. The caller breaks ties.
pub(crate) fn fair_order(a: &Standing, b: &Standing) -> Ordering {
    match (a.is_needy(), b.is_needy()) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (true, true) => a.of_guarantee().total_cmp(&b.of_guarantee()),
        (false, false) => a.per_weight().total_cmp(&b.per_weight()),
    }
}

/// A share without a weight is boundless.
fn bounded(share: f32) -> f32 {
    if share.is_nan() { f32::INFINITY } else { share }
}

/// Where a queue or job stands for dominant resource fairness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Usage {
    pub(crate) used: Resources,
    /// What it is guaranteed.
    pub(crate) min: Resources,
    pub(crate) weight: f32,
}

impl Usage {
    /// Its shares of a pool, the dominant resource first: that of which it uses the larger part of the cluster.
    fn shares(&self, cluster: Resources, pool: Resources, weight: f32) -> [f32; 2] {
        let share = |used: u64, of: u64, weight: f32| bounded(used as f32 / (of as f32 * weight));
        let memory = |of: Resources, weight| share(self.used.memory, of.memory, weight);
        let cpu = |of: Resources, weight| share(self.used.cpu, of.cpu, weight);
        let by_memory = memory(cluster, self.weight) > cpu(cluster, self.weight);
        let (memory, cpu) = (memory(pool, weight), cpu(pool, weight));
        if by_memory { [memory, cpu] } else { [cpu, memory] }
    }

    /// True if it is below its guarantee of its dominant resource.
    fn is_needy(&self, cluster: Resources) -> bool {
        let [dominant, _] = self.shares(cluster, self.min, 1.0);
        dominant < 1.0
    }
}

/// The order of service under dominant resource fairness in a cluster of this size: first those below their guarantee,
/// by how far; then by the dominant share of the cluster per weight, then by the other one. Those that are equal keep the order
/// that they had.
pub(crate) fn drf_order(a: &Usage, b: &Usage, cluster: Resources) -> Ordering {
    let compare = |a: [f32; 2], b: [f32; 2]| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]));
    match (a.is_needy(cluster), b.is_needy(cluster)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (true, true) => compare(a.shares(cluster, a.min, 1.0), b.shares(cluster, b.min, 1.0)),
        (false, false) => compare(a.shares(cluster, cluster, a.weight), b.shares(cluster, cluster, b.weight)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_order_of_fair_sharing() {
        let mut all = Vec::new();
        for used in [0, 1, 2, 1_000, 16_777_216, 16_777_217, u64::MAX] {
            for min_share in [0, 1, 2, 999, 1_000, 1_001, u64::MAX] {
                all.extend([0.0, 0.5, 1.0, 3.0, 1e9].map(|weight| Standing { used, min_share, weight }));
            }
        }
        for a in &all {
            for b in &all {
                assert_eq!(a.key().cmp(&b.key()), fair_order(a, b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn order_of_the_needy_and_the_others() {
        let [a, b, c] = [(3, 4), (1, 2), (0, 0)].map(|(used, min_share)| Standing { used, min_share, weight: 1.0 });
        assert_eq!(fair_order(&b, &a), Ordering::Less);
        assert_eq!(fair_order(&a, &c), Ordering::Less);
        assert_eq!(fair_order(&c, &b), Ordering::Greater);
    }

    #[test]
    fn f4_a_job_without_a_weight_comes_last() {
        let [new, old] = [(0, 0.0), (9_000, 10.5)].map(|(used, weight)| Standing { used, min_share: 0, weight });
        assert_eq!(fair_order(&old, &new), Ordering::Less);
        assert_eq!(fair_order(&new, &new), Ordering::Equal);
    }

    #[test]
    fn shares_are_compared_in_single_precision() {
        let standing = |used, weight| Standing { used, min_share: 0, weight };
        assert_eq!(fair_order(&standing(16_777_216, 1.0), &standing(16_777_217, 1.0)), Ordering::Equal);
    }

    #[test]
    fn f3_equal_dominant_and_other_shares_are_a_tie() {
        let cluster = Resources::of(10, 100);
        let usage = Usage { used: Resources::of(5, 10), min: Resources::NONE, weight: 1.0 };
        assert_eq!(drf_order(&usage, &usage, cluster), Ordering::Equal);
    }

    #[test]
    fn the_dominant_share_decides() {
        let cluster = Resources::of(10, 100);
        let of = |[memory, cpu]: [u64; 2]| Resources::of(cpu, memory);
        let usage = |used, min| Usage { used: of(used), min: of(min), weight: 1.0 };
        // 10 of 100 MB and 5 of 10 cores: cores dominate with 0.5.
        let (cores, memory) = (usage([10, 5], [0, 0]), usage([40, 1], [0, 0]));
        assert_eq!(drf_order(&memory, &cores, cluster), Ordering::Less);
        let heavy = Usage { weight: 2.0, ..cores };
        assert_eq!(drf_order(&heavy, &memory, cluster), Ordering::Less, "0.25 against 0.4");
        let needy = usage([10, 5], [0, 6]);
        assert_eq!(drf_order(&needy, &usage([1, 0], [0, 0]), cluster), Ordering::Less);
    }
}
