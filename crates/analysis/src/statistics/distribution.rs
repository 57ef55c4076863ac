//! Empirical distributions.

/// A sample in ascending order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distribution {
    sorted: Vec<f64>,
}

/// How two empirical distributions compare over all values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dominance {
    /// The first is nowhere below the second and somewhere above: the first's values are stochastically smaller.
    First,
    /// The second is nowhere below the first and somewhere above.
    Second,
    /// They are the same.
    Equal,
    /// They cross.
    Neither,
}

/// The quantiles of a sample at `at` (0 to 1, ascending), as [`Distribution::quantile`] has them. It only orders what they need, which takes
/// a third of the time of a sort.
pub(crate) fn quantiles<const N: usize>(sample: impl IntoIterator<Item = f64>, at: [f64; N]) -> [Option<f64>; N] {
    let mut sample: Vec<f64> = sample.into_iter().filter(|value| value.is_finite()).collect();
    let Some(last) = sample.len().checked_sub(1) else { return [None; N] };
    // Nothing before this place is larger than what stands there.
    let mut ordered = 0;
    at.map(|p| {
        let position = p.clamp(0.0, 1.0) * last as f64;
        let place = position.floor() as usize;
        let rest = sample.get_mut(ordered..)?;
        let (_, low, above) = rest.select_nth_unstable_by(place.checked_sub(ordered)?, f64::total_cmp);
        ordered = place;
        let low = *low;
        let high = above.iter().copied().min_by(f64::total_cmp).filter(|_| position.fract() > 0.0).unwrap_or(low);
        Some(low + (high - low) * position.fract())
    })
}

impl Distribution {
    /// The distribution of `sample`; values that are not finite are left out.
    pub fn new(sample: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = sample.into_iter().filter(|value| value.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Self { sorted }
    }

    /// The values, ascending.
    pub fn values(&self) -> &[f64] {
        &self.sorted
    }

    /// The share of values that are at most `x`; 0 for an empty sample.
    pub fn cdf(&self, x: f64) -> f64 {
        let below = self.sorted.partition_point(|&value| value <= x);
        below as f64 / self.sorted.len().max(1) as f64
    }

    /// The mean; `None` for an empty sample.
    pub fn mean(&self) -> Option<f64> {
        mean(&self.sorted)
    }

    /// The median; of an even sample, the mean of the middle two. `None` for an empty sample.
    pub fn median(&self) -> Option<f64> {
        self.quantile(0.5)
    }

    /// The quantile at `p` (0 to 1), interpolated linearly between order statistics (type 7 of Hyndman and Fan 1996,
    /// numpy's default). `None` for an empty sample.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let last = self.sorted.len().checked_sub(1)?;
        let position = p.clamp(0.0, 1.0) * last as f64;
        let (low, high) = (position.floor() as usize, position.ceil() as usize);
        let (low, high) = (*self.sorted.get(low)?, *self.sorted.get(high)?);
        Some(low + (high - low) * position.fract())
    }

    /// Corners of the cumulative curve: (value, share at most that value), one per distinct value. They are thinned to about
    /// `limit`; the first and the last always stay.
    pub fn curve(&self, limit: usize) -> Vec<(f64, f64)> {
        let n = self.sorted.len();
        let stride = n.div_ceil(limit.max(1)).max(1);
        let mut corners: Vec<(f64, f64)> = Vec::new();
        for (index, &value) in self.sorted.iter().enumerate() {
            let ends = self.sorted.get(index + 1) != Some(&value);
            let kept = corners.last().map_or(0, |corner| (corner.1 * n as f64).round() as usize);
            if ends && (corners.is_empty() || index + 1 == n || index + 1 - kept >= stride) {
                corners.push((value, (index + 1) as f64 / n as f64));
            }
        }
        corners
    }

    /// The share of values that are at most `x`, here and in `other`, for each `x` in either of them.
    fn beside<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (f64, f64)> + 'a {
        let samples = [self.sorted.as_slice(), other.sorted.as_slice()];
        let mut below = [0; 2];
        std::iter::from_fn(move || {
            let heads = samples.iter().zip(below).filter_map(|(sample, below)| sample.get(below).copied());
            let x = heads.reduce(f64::min)?;
            for (sample, below) in samples.iter().zip(&mut below) {
                *below += sample.get(*below..).unwrap_or_default().iter().take_while(|&&value| value <= x).count();
            }
            let share = |place: usize| below[place] as f64 / samples[place].len().max(1) as f64;
            Some((share(0), share(1)))
        })
    }

    /// The distance of Kolmogorov and Smirnov: the largest vertical gap between the two cumulative curves, 0 (the same) to
    /// 1 (no overlap). `None` if either sample is empty.
    pub fn ks_distance(&self, other: &Self) -> Option<f64> {
        if self.sorted.is_empty() || other.sorted.is_empty() {
            return None;
        }
        Some(self.beside(other).map(|(first, second)| (first - second).abs()).fold(0.0, f64::max))
    }

    /// How the cumulative curve of this distribution compares with that of `other` (first-order stochastic dominance).
    pub fn dominance(&self, other: &Self) -> Dominance {
        let (mut above, mut below) = (false, false);
        for (first, second) in self.beside(other) {
            above |= first > second;
            below |= first < second;
        }
        match (above, below) {
            (true, false) => Dominance::First,
            (false, true) => Dominance::Second,
            (false, false) => Dominance::Equal,
            (true, true) => Dominance::Neither,
        }
    }
}

/// The quantile at `p` of a sample in any order, as [`Distribution::quantile`] has it. It is found without sorting the sample.
pub fn quantile(sample: &[f64], p: f64) -> Option<f64> {
    let mut values: Vec<f64> = sample.iter().copied().filter(|value| value.is_finite()).collect();
    let last = values.len().checked_sub(1)?;
    let position = p.clamp(0.0, 1.0) * last as f64;
    let (_, &mut low, above) = values.select_nth_unstable_by(position.floor() as usize, f64::total_cmp);
    let next = || above.iter().copied().min_by(f64::total_cmp);
    let high = if position.fract() > 0.0 { next()? } else { low };
    Some(low + (high - low) * position.fract())
}

/// The one-sided Kolmogorov–Smirnov test on how far `upper`'s cumulative curve rises above `lower`'s: the largest difference
/// `D⁺ = max(F_upper − F_lower)`, 0 if it never does, and the probability that chance alone makes one as large,
/// `exp(−2·D²·nm/(n + m))` (Smirnov 1939, for large samples). `None` for an empty sample. Jobs of one run are not independent, so
/// the p-value is only a guide.
pub fn rises_above(upper: &Distribution, lower: &Distribution) -> Option<(f64, f64)> {
    let (n, m) = (upper.values().len() as f64, lower.values().len() as f64);
    if n == 0.0 || m == 0.0 {
        return None;
    }
    let distance = upper.beside(lower).map(|(upper, lower)| upper - lower).fold(0.0, f64::max);
    Some((distance, (-2.0 * distance * distance * n * m / (n + m)).exp()))
}

/// The arithmetic mean; `None` for no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Distribution {
        Distribution::new(values.iter().copied())
    }

    // numpy.quantile([1, 2, 4, 8], [0.25, 0.5, 1]) = [1.75, 3, 8]
    #[test]
    fn quantiles_are_interpolated() {
        let sample = of(&[8.0, 1.0, 4.0, 2.0]);
        assert_eq!([0.25, 0.5, 1.0].map(|p| sample.quantile(p)), [Some(1.75), Some(3.0), Some(8.0)]);
        assert_eq!((sample.mean(), of(&[]).median()), (Some(3.75), None));
    }

    #[test]
    fn a_curve_has_one_corner_per_value() {
        assert_eq!(of(&[1.0, 1.0, 3.0, f64::NAN]).curve(10), [(1.0, 2.0 / 3.0), (3.0, 1.0)]);
        assert_eq!(of(&[]).curve(10), []);
    }

    #[test]
    fn a_long_curve_is_thinned_and_stays_on_the_distribution() {
        let sample = Distribution::new((0..100_000).map(f64::from));
        let curve = sample.curve(500);
        assert!(curve.len() <= 502, "{}", curve.len());
        assert_eq!(curve.last(), Some(&(99_999.0, 1.0)));
        assert!(curve.iter().all(|&(value, share)| (sample.cdf(value) - share).abs() < 1e-12));
    }

    // scipy.stats.ks_2samp([1, 2, 3, 4], [3, 4, 5, 6]).statistic = 0.5
    #[test]
    fn the_ks_distance_is_the_largest_gap() {
        let sample = of(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(sample.ks_distance(&of(&[3.0, 4.0, 5.0, 6.0])), Some(0.5));
        assert_eq!(sample.ks_distance(&sample), Some(0.0));
        assert_eq!(sample.ks_distance(&of(&[9.0])), Some(1.0));
        assert_eq!(sample.ks_distance(&of(&[])), None);
    }

    // By hand: the curves are 1/2 apart from 2 to 3 and from 4 to 5, and exp(−2·(1/2)²·4·4/8) = 1/e.
    #[test]
    fn a_curve_that_rises_above_another_is_reported_with_its_chance() {
        let (early, late) = (of(&[1.0, 2.0, 3.0, 4.0]), of(&[3.0, 4.0, 5.0, 6.0]));
        assert_eq!(rises_above(&early, &late), Some((0.5, (-1.0f64).exp())));
        assert_eq!(rises_above(&late, &early), Some((0.0, 1.0)));
        assert_eq!(rises_above(&late, &of(&[])), None);
    }

    #[test]
    fn dominance_is_seen_from_both_sides() {
        let (low, high, across) = (of(&[1.0, 2.0]), of(&[1.0, 3.0]), of(&[0.0, 4.0]));
        assert_eq!(low.dominance(&high), Dominance::First);
        assert_eq!(high.dominance(&low), Dominance::Second);
        assert_eq!(low.dominance(&across), Dominance::Neither);
        assert_eq!(low.dominance(&low), Dominance::Equal);
    }
}
