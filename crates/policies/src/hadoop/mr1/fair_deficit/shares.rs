//! The guarantees and fair shares of jobs in the first Fair Scheduler (`docs/model/fair.md`).

use std::cmp::Reverse;

/// A job that could use slots of a kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    /// Its part of its pool's weight.
    pub(super) weight: f64,
    /// Tasks that it runs or could launch.
    pub(super) runnable: u32,
    /// By how much it has been kept below its share.
    pub(super) deficit: i128,
    /// Slots that it is guaranteed.
    pub(super) minimum: u32,
}

/// Splits the slots that a pool is guaranteed over its jobs: by weight, in whole slots, none more than it can use. What is
/// left in the end goes to the jobs with the most weight, then with the largest deficit.
pub(super) fn split_minimum(claims: &mut [Claim], slots: u32) {
    let mut left = slots;
    while left > 0 {
        let mut open: Vec<&mut Claim> = claims.iter_mut().filter(|claim| claim.runnable > claim.minimum).collect();
        let total: f64 = open.iter().map(|claim| claim.weight).sum();
        if open.is_empty() {
            return;
        }
        let before = left;
        let part = |claim: &Claim| f64::from(before) * claim.weight / total;
        for claim in &mut open {
            left -= give(claim, part(claim).floor(), left);
        }
        if left == before {
            open.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(Reverse(a.deficit).cmp(&Reverse(b.deficit))));
            for claim in &mut open {
                left -= give(claim, part(claim).ceil(), left);
            }
            return;
        }
    }
}

/// Guarantees a job so many more slots, or what is left or it can use of them. Returns how many.
fn give(claim: &mut Claim, slots: f64, left: u32) -> u32 {
    let slots = (slots as u32).min(claim.runnable - claim.minimum).min(left);
    claim.minimum += slots;
    slots
}

/// The shares of all slots: by weight, but none below its guarantee. They are not bounded by what a job can use.
pub(super) fn fair_shares(claims: &[Claim], slots: u32) -> Vec<f64> {
    let mut shares = vec![0.0; claims.len()];
    let mut open: Vec<usize> = (0..claims.len()).collect();
    let mut left = f64::from(slots);
    loop {
        let total: f64 = open.iter().map(|&place| claims[place].weight).sum();
        for &place in &open {
            shares[place] = claims[place].weight / total * left;
        }
        let guaranteed = |place: usize| f64::from(claims[place].minimum);
        let (short, rest): (Vec<_>, Vec<_>) = open.iter().partition(|&&place| guaranteed(place) > shares[place]);
        if short.is_empty() {
            return shares;
        }
        for place in short {
            shares[place] = guaranteed(place);
            left -= guaranteed(place);
        }
        open = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(weight: f64, runnable: u32, deficit: i128) -> Claim {
        Claim { weight, runnable, deficit, minimum: 0 }
    }

    fn minima(mut claims: Vec<Claim>, slots: u32) -> Vec<u32> {
        split_minimum(&mut claims, slots);
        claims.iter().map(|claim| claim.minimum).collect()
    }

    #[test]
    fn guaranteed_slots_are_split_by_weight_then_by_deficit() {
        assert_eq!(minima(vec![claim(1.0, 10, 0), claim(1.0, 10, 0)], 6), [3, 3]);
        assert_eq!(minima(vec![claim(1.0, 10, 0), claim(2.0, 10, 0)], 6), [2, 4]);
        assert_eq!(minima(vec![claim(1.0, 10, 3), claim(1.0, 10, 4)], 5), [2, 3], "the one left goes by deficit");
        assert_eq!(minima(vec![claim(1.0, 10, 4), claim(1.0, 10, 4)], 5), [3, 2], "then to the first");
        assert_eq!(minima(vec![claim(1.0, 10, 4), claim(1.5, 10, 0)], 1), [0, 1], "weight comes before deficit");
        assert_eq!(minima(vec![claim(1.0, 1, 0), claim(1.0, 10, 0)], 6), [1, 5], "no more than a job can use");
        assert_eq!(minima(vec![claim(1.0, 2, 0), claim(1.0, 1, 0)], u32::MAX), [2, 1]);
        assert!(minima(vec![], 5).is_empty());
    }

    #[test]
    fn shares_go_by_weight_above_the_guarantees_and_are_not_bounded_by_demand() {
        let with = |minimum, claim: Claim| Claim { minimum, ..claim };
        assert_eq!(fair_shares(&[claim(1.0, 1, 0), claim(1.0, 100, 0)], 10), [5.0, 5.0]);
        assert_eq!(fair_shares(&[claim(1.0, 9, 0), claim(3.0, 9, 0)], 10), [2.5, 7.5]);
        assert_eq!(fair_shares(&[with(8, claim(1.0, 9, 0)), claim(1.0, 9, 0)], 10), [8.0, 2.0]);
        let many = [with(6, claim(1.0, 9, 0)), with(3, claim(1.0, 9, 0)), claim(1.0, 9, 0)];
        assert_eq!(fair_shares(&many, 10), [6.0, 3.0, 1.0], "the second lacks only once the first has its own");
        let over_committed = [with(20, claim(1.0, 50, 0)), with(20, claim(1.0, 50, 0)), claim(1.0, 9, 0)];
        assert_eq!(fair_shares(&over_committed, 30), [20.0, 20.0, 0.0]);
        assert!(fair_shares(&[], 10).is_empty());
    }
}
