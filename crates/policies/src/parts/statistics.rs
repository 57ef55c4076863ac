//! Means, deviations and percentiles of measurements of tasks.

/// Sums of some values, from which their mean and deviation follow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    count: u32,
    sum: f64,
    squares: f64,
}

impl Moments {
    /// One more value.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// How many.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Of these values and others.
    pub fn with(mut self, values: impl Iterator<Item = f64>) -> Self {
        values.for_each(|value| self.add(value));
        self
    }

    /// Their mean; `None` of nothing.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }

    /// Their population standard deviation; 0 of nothing.
    pub fn std(&self) -> f64 {
        let mean = self.mean().unwrap_or(0.0);
        (self.squares / f64::from(self.count.max(1)) - mean * mean).max(0.0).sqrt()
    }
}

/// The place (from 1) of a percentile among so many values in ascending order, by the nearest-rank rule.
pub fn nearest_rank(count: usize, percentile: f64) -> usize {
    ((percentile / 100.0 * count as f64).ceil() as usize).clamp(1, count.max(1))
}

/// How many whole things a share of `total` is; what floating-point error takes from a whole number is given back.
pub fn whole_share(share: f64, total: u32) -> u64 {
    (share * f64::from(total) + 1e-9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_population_deviation() {
        let rates = Moments::default().with([0.01, 0.01, 0.01, 0.002].into_iter());
        assert!((rates.mean().unwrap_or(0.0) - 0.008).abs() < 1e-12);
        assert!((rates.std() - 0.003_464).abs() < 1e-6);
        assert_eq!((Moments::default().mean(), Moments::default().std()), (None, 0.0));
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        assert_eq!([0.0, 20.0, 25.0, 100.0].map(|percentile| nearest_rank(5, percentile)), [1, 1, 2, 5]);
        assert_eq!(nearest_rank(0, 50.0), 1);
    }

    #[test]
    fn a_tenth_of_48_slots_is_4() {
        assert_eq!(whole_share(0.1, 48), 4);
        assert_eq!(whole_share(0.29, 100), 29);
    }
}
