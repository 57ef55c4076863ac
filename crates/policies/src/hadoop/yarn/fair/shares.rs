//! Fair shares of memory, and the order of dominant resource fairness (policies B.5c).

use std::cmp::Ordering;

use resched_sim::Resources;

/// The claim of an active queue to its parent's memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Claim {
    pub(super) weight: f64,
    /// What it is guaranteed, MB.
    pub(super) min: u32,
    /// The most that it may have, MB.
    pub(super) max: u32,
}

impl Claim {
    /// Its share at `ratio` MB per weight, cut to whole MB.
    fn share(&self, ratio: f64) -> u64 {
        (self.weight * ratio).max(f64::from(self.min)).min(f64::from(self.max)) as u64
    }

    /// A queue without weight has its guarantee.
    fn fixed(&self) -> Option<u64> {
        (self.weight <= 0.0).then_some(self.min.min(self.max).into())
    }
}

/// The share of each claim of `memory` MB. Demands do not bound them. As in [`crate::parts::fair_share::fair_shares`] the
/// ratio is doubled, then bisected 25 times; here over whole MB, and until they are all given out.
pub(super) fn memory_shares(claims: &[Claim], memory: u64) -> Vec<u64> {
    let open = || claims.iter().filter(|claim| claim.fixed().is_none());
    let fixed: u64 = claims.iter().filter_map(Claim::fixed).sum();
    let most: u64 = open().map(|claim| u64::from(claim.max)).sum();
    let total = memory.saturating_sub(fixed).min(most);
    let used = |ratio: f64| -> u64 { open().map(|claim| claim.share(ratio)).sum() };
    let mut right = 1.0;
    while used(right) < total {
        right *= 2.0;
    }
    let mut left = 0.0;
    for _ in 0..25 {
        let middle = (left + right) / 2.0;
        match used(middle).cmp(&total) {
            Ordering::Less => left = middle,
            Ordering::Equal => {
                right = middle;
                break;
            }
            Ordering::Greater => right = middle,
        }
    }
    claims.iter().map(|claim| claim.fixed().unwrap_or_else(|| claim.share(right))).collect()
}

/// Where a queue or job stands for dominant resource fairness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Usage {
    pub(super) used: Resources,
    /// What it is guaranteed.
    pub(super) min: Resources,
    pub(super) weight: f64,
}

impl Usage {
    /// Its shares of a pool, the dominant resource first: that of which it uses the larger part of the cluster.
    fn shares(&self, cluster: Resources, pool: Resources, weight: f64) -> [f64; 2] {
        let share = |used: u64, of: u64| match (used, of) {
            (0, 0) => 0.0,
            (used, all) => used as f64 / (all as f64 * weight),
        };
        let shares = |of: Resources| (share(self.used.memory, of.memory), share(self.used.cpu, of.cpu));
        let (of_memory, of_cpu) = shares(cluster);
        let (memory, cpu) = shares(pool);
        if of_memory > of_cpu { [memory, cpu] } else { [cpu, memory] }
    }

    /// Whether it is below its guarantee of its dominant resource.
    fn is_needy(&self, cluster: Resources) -> bool {
        let [dominant, _] = self.shares(cluster, self.min, 1.0);
        self.min != Resources::NONE && dominant < 1.0
    }
}

/// The order of service under dominant resource fairness in a cluster of this size: first those below their guarantee,
/// by how far; then by the dominant share of the cluster per weight. The caller breaks ties.
pub(super) fn drf_order(a: &Usage, b: &Usage, cluster: Resources) -> Ordering {
    let compare = |a: [f64; 2], b: [f64; 2]| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]));
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

    fn claim(weight: f64, min: u32, max: u32) -> Claim {
        Claim { weight, min, max }
    }

    #[test]
    fn b5c_shares_are_whole_and_bounded_by_limits_not_demands() {
        let all = u32::MAX;
        assert_eq!(memory_shares(&[claim(2.0, 0, all), claim(1.0, 0, all)], 30_720), [20_480, 10_240]);
        assert_eq!(memory_shares(&[claim(1.0, 12, all), claim(1.0, 0, all), claim(1.0, 0, 5)], 24), [12, 7, 5]);
        // One MB cannot be divided in two; the search ends at the nearest ratio that is not below.
        let thirds = memory_shares(&[claim(1.0, 0, all), claim(1.0, 0, all), claim(1.0, 0, all)], 10);
        assert!(thirds == [4, 4, 4] || thirds == [3, 3, 3], "{thirds:?}");
    }

    #[test]
    fn b5c_a_queue_without_weight_has_its_guarantee() {
        assert_eq!(memory_shares(&[claim(0.0, 6, 100), claim(1.0, 0, 100)], 24), [6, 18]);
        assert_eq!(memory_shares(&[claim(1.0, 0, 8), claim(1.0, 0, 8)], 24), [8, 8], "no more than they may have");
        assert!(memory_shares(&[], 24).is_empty());
    }

    #[test]
    fn b5c_the_dominant_share_decides() {
        let cluster = Resources { cpu: 10, memory: 100 };
        let of = |[memory, cpu]: [u64; 2]| Resources { cpu, memory };
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
