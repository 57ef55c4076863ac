//! Quantiles of few draws.

use resched_sim::Ms;

/// The levels of the quantiles of a forecast.
pub const LEVELS: [f64; 9] = [0.025, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.975];

/// The place of the median in [`LEVELS`].
pub(crate) const MEDIAN: usize = 4;

/// The places of the ends of the intervals of 50, 80 and 95 %.
pub(crate) const INTERVALS: [[usize; 2]; 3] = [[3, 5], [2, 6], [0, 8]];

/// The quantile of sorted values at a level from 0 to 1: type 6 of Hyndman and Fan, 1996, at the place (n+1)p. Type 7, which many programs
/// have by default, would make an interval of 80 % of 100 draws one of 78.4 %. `None` without values.
pub fn quantile(sorted: &[Ms], level: f64) -> Option<f64> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let place = (sorted.len() + 1) as f64 * level - 1.0;
    if place <= 0.0 {
        return Some(first as f64);
    }
    let below = place.floor();
    match (sorted.get(below as usize), sorted.get(below as usize + 1)) {
        (Some(&low), Some(&high)) => Some(low as f64 + (high - low) as f64 * (place - below)),
        _ => Some(last as f64),
    }
}

/// The quantiles at all levels, whole ms. Without values, `none`.
pub(crate) fn quantiles(sorted: &[Ms], none: Ms) -> [Ms; 9] {
    LEVELS.map(|level| quantile(sorted, level).map_or(none, |value| value.round() as Ms))
}

/// The quantile of values with weights at a level, by the same rule: a value stands at the weight up to and with it, of the whole and one
/// mean weight. `sorted` ascends by value. `None` without weight.
pub(crate) fn weighted_quantile(sorted: &[(f64, f64)], level: f64) -> Option<f64> {
    let whole: f64 = sorted.iter().map(|weighted| weighted.1).sum();
    let target = level * (whole + whole / sorted.len().max(1) as f64);
    let mut before: Option<(f64, f64)> = None;
    let mut sum = 0.0;
    for &(value, weight) in sorted {
        sum += weight;
        if sum >= target {
            return Some(before.map_or(value, |(low, at)| low + (value - low) * ((target - at) / (sum - at))));
        }
        before = Some((value, sum));
    }
    before.map(|(value, _)| value)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// By R: `quantile(x, p, type = 6)`.
    #[test]
    fn quantiles_are_of_type_6() {
        let hundred: Vec<Ms> = (1..=100).map(|number| number * 10).collect();
        let few = [3, 5, 9];
        let cases: [(&[Ms], f64, f64); 6] = [
            (&hundred, 0.1, 101.0),
            (&hundred, 0.9, 909.0),
            (&hundred, 0.5, 505.0),
            (&few, 0.5, 5.0),
            (&few, 0.1, 3.0),
            (&few, 0.9, 9.0),
        ];
        for (values, level, expected) in cases {
            assert!((quantile(values, level).unwrap() - expected).abs() < 1e-9, "{level}: {expected}");
        }
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn equal_weights_are_no_weights() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        let weighted = values.map(|value| (value, 0.3));
        let plain = values.map(|value| value as Ms);
        for level in [0.05, 0.2, 0.5, 0.77, 0.95] {
            let (one, other) = (weighted_quantile(&weighted, level).unwrap(), quantile(&plain, level).unwrap());
            assert!((one - other).abs() < 1e-9, "{level}: {one} {other}");
        }
        assert_eq!(weighted_quantile(&[(1.0, 1.0), (2.0, 98.0), (3.0, 1.0)], 0.5).map(f64::round), Some(2.0));
        assert_eq!(weighted_quantile(&[], 0.5), None);
    }
}
