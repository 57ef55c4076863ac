//! Tests on pairs: does one policy treat the same jobs better, or may chance explain it?

use serde::Serialize;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

/// Up to this many differences, without ties, the Wilcoxon test is exact (scipy's rule).
const EXACT_LIMIT: usize = 50;

/// Sign test: how many differences are negative and positive, and how probable a split at least as uneven is if both
/// signs are equally likely.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SignTest {
    /// Differences below zero.
    pub negative: u64,
    /// Differences above zero.
    pub positive: u64,
    /// Two-sided p-value; zero differences are left out.
    pub p: f64,
}

/// Wilcoxon signed-rank test (Wilcoxon 1945): are the differences symmetric about zero?
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SignedRankTest {
    /// Sum of the ranks of the positive differences; equal sizes share their mean rank.
    pub rank_sum: f64,
    /// Two-sided p-value; zero differences are left out.
    pub p: f64,
    /// True if `p` is exact (at most 50 differences, no ties) or from the normal approximation with tie correction.
    pub exact: bool,
}

/// The least two-sided p-value that the sign test and the signed-rank test can reach with `n` differences: all of them have one sign,
/// which happens with the chance `2/2ⁿ`. Five differences cannot reach 5 %.
pub fn least_p(n: usize) -> f64 {
    2.0 * 0.5f64.powf(n as f64)
}

/// The sign test on `differences`; `None` if all are zero.
pub fn sign_test(differences: &[f64]) -> Option<SignTest> {
    let negative = differences.iter().filter(|&&d| d < 0.0).count() as u64;
    let positive = differences.iter().filter(|&&d| d > 0.0).count() as u64;
    if negative + positive == 0 {
        return None;
    }
    let binomial = Binomial::new(0.5, negative + positive).ok()?;
    Some(SignTest { negative, positive, p: (2.0 * binomial.cdf(negative.min(positive))).min(1.0) })
}

/// The Wilcoxon signed-rank test on `differences`; `None` if all are zero.
pub fn signed_rank_test(differences: &[f64]) -> Option<SignedRankTest> {
    let mut nonzero: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0 && d.is_finite()).collect();
    if nonzero.is_empty() {
        return None;
    }
    nonzero.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let n = nonzero.len();
    let (mut rank_sum, mut ties, mut before) = (0.0, 0.0, 0.0);
    for group in nonzero.chunk_by(|a, b| a.abs() == b.abs()) {
        let size = group.len() as f64;
        let positive = group.iter().filter(|&&d| d > 0.0).count() as f64;
        rank_sum += positive * (before + (size + 1.0) / 2.0);
        ties += size * size * size - size;
        before += size;
    }
    if n <= EXACT_LIMIT && ties == 0.0 {
        return Some(SignedRankTest { rank_sum, p: exact_p(n, rank_sum as usize), exact: true });
    }
    let n = n as f64;
    let mean = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let z = (rank_sum - mean) / variance.sqrt();
    let p = 2.0 * Normal::standard().sf(z.abs());
    Some(SignedRankTest { rank_sum, p: p.min(1.0), exact: false })
}

/// Two-sided p-value of the rank sum `w` of `n` untied differences, each sign equally likely: every rank is in the sum
/// or not, so the distribution of the sum grows rank by rank.
fn exact_p(n: usize, w: usize) -> f64 {
    let largest = n * (n + 1) / 2;
    let mut probability = vec![0.0; largest + 1];
    if let Some(zero) = probability.first_mut() {
        *zero = 1.0;
    }
    for rank in 1..=n {
        let without: Vec<f64> = probability.clone();
        for (sum, p) in probability.iter_mut().enumerate() {
            let with = sum.checked_sub(rank).and_then(|rest| without.get(rest)).copied().unwrap_or(0.0);
            *p = (*p + with) / 2.0;
        }
    }
    let low: f64 = probability.iter().take(w + 1).sum();
    let high: f64 = probability.iter().skip(w).sum();
    (2.0 * low.min(high)).min(1.0)
}

/// P-values of several tests, each raised so that the chance that any of them is below a level by chance alone is at most that
/// level: Holm's step-down method (Holm 1979). In the order of `p`.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p.get(a).partial_cmp(&p.get(b)).unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(&b)));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0;
    for (rank, &place) in order.iter().enumerate() {
        let Some((&p_value, slot)) = p.get(place).zip(adjusted.get_mut(place)) else { continue };
        // A step down never falls below an earlier one.
        largest = f64::max(largest, (p_value * (p.len() - rank) as f64).min(1.0));
        *slot = largest;
    }
    adjusted
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const UNTIED: [f64; 10] = [-3.0, 1.5, -7.0, -2.0, 4.0, -9.0, -0.5, -6.0, 2.5, -8.0];

    // scipy 1.17.1: stats.wilcoxon(d, method='exact').pvalue; the rank sum is stats.rankdata(abs(d))[d > 0].sum().
    #[test]
    fn few_untied_differences_are_ranked_exactly() {
        let found = signed_rank_test(&UNTIED).unwrap();
        assert_eq!((found.rank_sum, found.exact), (12.0, true));
        assert!((found.p - 0.130_859_375).abs() < 1e-12, "{found:?}");
    }

    // scipy 1.17.1: stats.wilcoxon(d, method='approx', zero_method='wilcox', correction=False).pvalue.
    #[test]
    fn ties_are_corrected_for_and_zeros_left_out() {
        let tied = [1.0, -1.0, 2.0, 2.0, -3.0, 3.0, -3.0, 4.0, 0.0, -5.0, -5.0, -6.0, 0.0];
        let found = signed_rank_test(&tied).unwrap();
        assert_eq!((found.rank_sum, found.exact), (22.5, false));
        assert!((found.p - 0.348_856_584_915_724_9).abs() < 1e-9, "{found:?}");
    }

    // scipy 1.17.1: as above, and stats.binomtest(27, 60, 0.5).pvalue.
    #[test]
    fn many_differences_are_approximated() {
        let many: Vec<f64> = (0..60).map(|i| f64::from((i * 37) % 101 - 45) / 10.0).collect();
        let found = signed_rank_test(&many).unwrap();
        assert_eq!((found.rank_sum, found.exact), (1066.5, false));
        assert!((found.p - 0.264_708_191_947_923_5).abs() < 1e-9, "{found:?}");
        let signs = sign_test(&many).unwrap();
        assert_eq!((signs.negative, signs.positive), (27, 33));
        assert!((signs.p - 0.518_958_003_189_648).abs() < 1e-9, "{signs:?}");
    }

    // scipy 1.17.1: stats.binomtest(3, 10, 0.5).pvalue.
    #[test]
    fn signs_are_counted() {
        let found = sign_test(&UNTIED).unwrap();
        assert_eq!((found.negative, found.positive), (7, 3));
        assert!((found.p - 0.343_75).abs() < 1e-12);
    }

    // statsmodels 0.15.0: stats.multitest.multipletests(p, method='holm')[1].
    #[test]
    fn many_tests_are_held_to_one_level() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn few_differences_cannot_be_significant() {
        let all_alike = |n: usize| signed_rank_test(&(1..=n).map(|d| d as f64).collect::<Vec<_>>()).unwrap().p;
        for n in [3, 5, 6] {
            assert!((all_alike(n) - least_p(n)).abs() < 1e-12, "{n}");
        }
        assert!(least_p(5) > 0.05 && least_p(6) < 0.05);
    }

    #[test]
    fn without_differences_there_is_no_test() {
        assert_eq!(sign_test(&[0.0, 0.0]), None);
        assert_eq!(signed_rank_test(&[]), None);
    }
}
