//! An estimate with its standard error.

use rand::RngExt;
use resched_tables::draws::{Purpose, stream};
use serde::Serialize;

use crate::statistics::distribution::mean;

/// The largest standard error that a cluster file allows.
pub(super) const MOST_ERROR: f64 = 1e15;
/// The fewest observations that determine a mean, ratio or rate.
pub const LEAST: u64 = 10;
/// Resamples of a bootstrap: a standard error needs some 200 (Efron and Tibshirani 1993, ch. 6).
const RESAMPLES: u64 = 200;
/// The most values that a bootstrap draws from. From a longer list it uses evenly spaced ones, so that the time stays bounded.
const MOST_RESAMPLED: usize = 20_000;

/// An estimated parameter.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Fitted {
    /// The estimate; null if it is not determined.
    pub value: Option<f64>,
    /// Its standard error; null if it is not known.
    pub standard_error: Option<f64>,
    /// The number of observations, also if they are too few.
    pub n: u64,
}

impl Fitted {
    /// A parameter that `n` observations do not determine.
    pub(super) fn unknown(n: u64) -> Self {
        Self { value: None, standard_error: None, n }
    }

    /// An estimate; undetermined if it is not finite.
    pub(super) fn of(value: f64, standard_error: Option<f64>, n: u64) -> Self {
        if value.is_finite() {
            Self { value: Some(value), standard_error: standard_error.filter(|error| error.is_finite()), n }
        } else {
            Self::unknown(n)
        }
    }
}

/// Fewer observations than [`LEAST`] determine an estimate if its standard error is below this share of it.
const SHARP: f64 = 0.25;

/// The estimate if its observations determine it: there are enough, or they agree.
pub(super) fn determined(fitted: Fitted) -> Fitted {
    let agree = fitted.value.zip(fitted.standard_error).is_some_and(|(value, error)| error <= SHARP * value);
    if fitted.n >= LEAST || agree { fitted } else { Fitted::unknown(fitted.n) }
}

/// The standard error of `statistic` by the bootstrap: the standard deviation over resamples of the values.
pub(super) fn bootstrap_error(values: &[f64], purpose: u64, statistic: impl Fn(&[f64]) -> Option<f64>) -> Option<f64> {
    let step = values.len().div_ceil(MOST_RESAMPLED).max(1);
    let kept: Vec<f64> = values.iter().copied().step_by(step).collect();
    if kept.len() < 2 {
        return None;
    }
    let estimates: Vec<f64> = (0..RESAMPLES)
        .filter_map(|resample| {
            let mut draws = stream(0, Purpose::Bootstrap, &[purpose, resample]);
            let sample: Vec<f64> =
                (0..kept.len()).filter_map(|_| kept.get(draws.random_range(0..kept.len())).copied()).collect();
            statistic(&sample)
        })
        .collect();
    let middle = mean(&estimates)?;
    let squares: f64 = estimates.iter().map(|estimate| (estimate - middle).powi(2)).sum();
    // The thinned sample is smaller than the whole.
    (estimates.len() > 1)
        .then(|| (squares / (estimates.len() - 1) as f64 * kept.len() as f64 / values.len() as f64).sqrt())
}
