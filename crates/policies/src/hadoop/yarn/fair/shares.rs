//! Fair shares of a resource (`docs/model/yarn-policies.md`, `ComputeFairShares`).

use std::cmp::Ordering;

/// The claim of an active queue to a resource of its parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Claim {
    pub(super) weight: f64,
    /// What it is guaranteed.
    pub(super) min: u32,
    /// The most that it may have.
    pub(super) max: u32,
}

impl Claim {
    /// Its share at `ratio` units per weight, cut to whole units.
    fn share(&self, ratio: f64) -> u64 {
        (self.weight * ratio).max(f64::from(self.min)).min(f64::from(self.max)) as u64
    }

    /// A queue without weight has its guarantee.
    fn fixed(&self) -> Option<u64> {
        (self.weight <= 0.0).then_some(self.min.min(self.max).into())
    }
}

/// The share of each claim of so many units (MB, or virtual cores). Demands do not bound them. As in [`crate::parts::fair_share::fair_shares`] the
/// ratio is doubled, then bisected 25 times; here over whole units, and until they are all given out.
pub(super) fn fair_shares(claims: &[Claim], units: u64) -> Vec<u64> {
    let open = || claims.iter().filter(|claim| claim.fixed().is_none());
    let fixed: u64 = claims.iter().filter_map(Claim::fixed).sum();
    let most: u64 = open().map(|claim| u64::from(claim.max)).sum();
    let total = units.saturating_sub(fixed).min(most);
    let ratio = ratio(total, |ratio| open().map(|claim| claim.share(ratio)).sum());
    claims.iter().map(|claim| claim.fixed().unwrap_or_else(|| claim.share(ratio))).collect()
}

/// The share of each of so many claims alike that want no less and no more than others.
pub(super) fn equal_share(claims: usize, units: u64) -> u64 {
    if claims == 0 {
        return 0;
    }
    ratio(units, |ratio| claims as u64 * ratio as u64) as u64
}

/// The units per weight at which so many units are used, nearest from above.
fn ratio(total: u64, used: impl Fn(f64) -> u64) -> f64 {
    let mut right = 1.0;
    while used(right) < total {
        right *= 2.0;
    }
    let mut left = 0.0;
    for _ in 0..25 {
        let middle = (left + right) / 2.0;
        match used(middle).cmp(&total) {
            Ordering::Less => left = middle,
            Ordering::Equal => return middle,
            Ordering::Greater => right = middle,
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(weight: f64, min: u32, max: u32) -> Claim {
        Claim { weight, min, max }
    }

    #[test]
    fn shares_are_whole_and_bounded_by_limits_not_demands() {
        let all = u32::MAX;
        assert_eq!(fair_shares(&[claim(2.0, 0, all), claim(1.0, 0, all)], 30_720), [20_480, 10_240]);
        assert_eq!(fair_shares(&[claim(1.0, 12, all), claim(1.0, 0, all), claim(1.0, 0, 5)], 24), [12, 7, 5]);
        // One MB cannot be divided in two; the search ends at the nearest ratio that is not below.
        let thirds = fair_shares(&[claim(1.0, 0, all), claim(1.0, 0, all), claim(1.0, 0, all)], 10);
        assert!(thirds == [4, 4, 4] || thirds == [3, 3, 3], "{thirds:?}");
    }

    #[test]
    fn claims_alike_have_the_share_that_each_of_them_has_among_all() {
        for claims in 1..40 {
            for units in [0, 1, 7, 1_024, 73_728, 163_840, 1_000_003] {
                let all = fair_shares(&vec![claim(1.0, 0, u32::MAX); claims], units);
                assert_eq!(all, vec![equal_share(claims, units); claims], "{claims} of {units}");
            }
        }
    }

    #[test]
    fn a_queue_without_weight_has_its_guarantee() {
        assert_eq!(fair_shares(&[claim(0.0, 6, 100), claim(1.0, 0, 100)], 24), [6, 18]);
        assert_eq!(fair_shares(&[claim(1.0, 0, 8), claim(1.0, 0, 8)], 24), [8, 8], "no more than they may have");
        assert!(fair_shares(&[], 24).is_empty());
    }
}
