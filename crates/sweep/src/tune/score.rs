//! The scores of a setting by seed, and how far it breaks its bounds.

use resched_analysis::statistics::distribution::mean;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};
use statrs::statistics::Statistics;

/// The score of a setting with one seed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Score {
    /// The objective: smaller is better.
    pub(super) objective: f64,
    /// How far each bound is broken; below 0 if it holds.
    pub(super) excesses: Vec<f64>,
}

/// How far each bound is broken with each seed, by bound.
fn excesses(scores: &[Score]) -> impl Iterator<Item = Vec<f64>> {
    let bounds = scores.first().map_or(0, |score| score.excesses.len());
    (0..bounds).map(|bound| scores.iter().filter_map(|score| score.excesses.get(bound).copied()).collect())
}

/// How far the worst bound is broken, in the mean over the seeds. At most 0 if all bounds hold, or if there are none.
pub(super) fn excess(scores: &[Score]) -> f64 {
    excesses(scores).filter_map(|values| mean(&values)).fold(f64::NEG_INFINITY, f64::max)
}

/// How far the bounds are expected to be broken with many seeds, estimated from a few and summed over the bounds. For each bound it
/// is the mean of the positive part of a normal variable with the seeds' mean and its standard error. So a setting that barely holds
/// a bound ranks below one that surely holds it. A single seed does not show the spread, so its value counts as it is.
pub(super) fn expected_excess(scores: &[Score]) -> f64 {
    let expected = |values: Vec<f64>| {
        let found = mean(&values).unwrap_or(0.0);
        let error = values.iter().std_dev() / (values.len() as f64).sqrt();
        if error > 0.0 && error.is_finite() {
            let normal = Normal::standard();
            let z = found / error;
            found * normal.cdf(z) + error * normal.pdf(z)
        } else {
            found.max(0.0)
        }
    };
    excesses(scores).map(expected).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_seems_to_hold_a_bound_may_break_it() {
        let of = |values: &[f64]| {
            let score = |&value: &f64| Score { objective: 0.0, excesses: vec![value] };
            expected_excess(&values.iter().map(score).collect::<Vec<_>>())
        };
        // A mean of −1 with a standard error of 1: −Φ(−1) + φ(1).
        assert!((of(&[-2.0, 0.0]) - 0.083_315).abs() < 1e-6);
        assert!((of(&[0.0, 2.0]) - 1.083_315).abs() < 1e-6);
        assert_eq!([of(&[-1.0]), of(&[1.0]), of(&[1.0, 1.0]), of(&[])], [0.0, 1.0, 1.0, 0.0]);
    }
}
