//! Divides a whole number by weights.

/// `total` divided in proportion to `weights`, by largest remainder: each gets its exact part rounded down, and what is left goes, one
/// by one, to those with the largest rest, the first of equal ones first. The parts add up to `total` if any weight is above 0; if
/// none is, all are 0. Negative totals count as 0.
pub(super) fn apportion(total: i64, weights: &[u128]) -> Vec<i64> {
    let all = weights.iter().fold(0u128, |all, weight| all.saturating_add(*weight));
    let total = total.max(0) as u128;
    if all == 0 {
        return vec![0; weights.len()];
    }
    // Products must not overflow: a total has at most 63 bits.
    let shift = (128 - all.leading_zeros()).saturating_sub(64);
    let scaled: Vec<u128> = weights.iter().map(|weight| weight >> shift).collect();
    let all: u128 = scaled.iter().sum();
    let mut parts: Vec<i64> = scaled.iter().map(|weight| (weight * total / all) as i64).collect();
    let mut left = total - parts.iter().map(|part| *part as u128).sum::<u128>();
    let mut rests: Vec<(std::cmp::Reverse<u128>, usize)> =
        scaled.iter().enumerate().map(|(place, weight)| (std::cmp::Reverse(weight * total % all), place)).collect();
    rests.sort_unstable();
    for (_, place) in rests {
        if left == 0 {
            break;
        }
        if let Some(part) = parts.get_mut(place) {
            *part += 1;
            left -= 1;
        }
    }
    parts
}

/// The part of `total` that `weight` of `all` gets, rounded down. Negative totals count as 0, and `all` is above 0.
pub(super) fn share(total: i64, weight: u128, all: u128) -> i64 {
    // Products must not overflow: a total has at most 63 bits.
    let shift = (128 - all.leading_zeros()).saturating_sub(64);
    ((weight >> shift) * (total.max(0) as u128) / (all >> shift).max(1)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_ties_go_to_the_first() {
        assert_eq!(apportion(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(apportion(10, &[0, 5, 0]), [0, 10, 0]);
        assert_eq!(apportion(1, &[1, 3]), [0, 1]);
        assert_eq!(apportion(7, &[0, 0]), [0, 0]);
        assert_eq!(apportion(-7, &[1]), [0]);
        assert_eq!(apportion(0, &[]), [] as [i64; 0]);
    }

    #[test]
    fn a_share_is_rounded_down() {
        assert_eq!([share(10, 1, 3), share(10, 3, 3), share(-10, 1, 3)], [3, 10, 0]);
        assert_eq!(share(i64::MAX, u128::MAX, u128::MAX), i64::MAX);
    }

    #[test]
    fn large_weights_do_not_overflow() {
        let parts = apportion(i64::MAX, &[u128::MAX / 2, u128::MAX / 4, 1]);
        assert_eq!(parts.iter().map(|part| i128::from(*part)).sum::<i128>(), i128::from(i64::MAX));
    }
}
