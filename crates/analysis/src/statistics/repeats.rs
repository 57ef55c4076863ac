//! A number measured once per seed: its mean and the interval of the mean.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::statistics::distribution::mean;
use crate::statistics::estimate::Estimate;
use crate::statistics::practical::Ratio;

/// The share of intervals that contain the mean over all seeds.
const CONFIDENCE: f64 = 0.95;

/// The mean of `values` with its 95 % interval by Student's t, `mean ± t·s/√n` with `n − 1` degrees of freedom (Student 1908).
/// The interval of equal values has no width. That of a single value has none either, as it does not show the spread. `None` for no
/// values.
pub fn t_interval(values: &[f64]) -> Option<Estimate> {
    let value = mean(values)?;
    let n = values.len() as f64;
    let free = n - 1.0;
    let half = match StudentsT::new(0.0, 1.0, free) {
        Ok(t) if free >= 1.0 => {
            let variance = values.iter().map(|x| (x - value).powi(2)).sum::<f64>() / free;
            t.inverse_cdf(0.5 + CONFIDENCE / 2.0) * (variance / n).sqrt()
        }
        _ => 0.0,
    };
    Some(Estimate { value, low: value - half, high: value + half })
}

/// The ratio whose logarithm was measured once per seed: the mean of the logarithms, with intervals by Student's t on their scale.
/// `None` without values, or if any is not finite.
pub fn log_ratio(logs: &[f64]) -> Option<Ratio> {
    let value = mean(logs).filter(|value| value.is_finite())?;
    let n = logs.len() as f64;
    let variance = logs.iter().map(|log| (log - value).powi(2)).sum::<f64>() / (n - 1.0);
    Some(Ratio::of_log(value, (variance / n).sqrt(), logs.len()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // By hand: the squares about the mean add up to 60, so s/√n = √(60/4/5) = 1.7320508; t of 4 degrees is 2.7764451 in any
    // table.
    #[test]
    fn the_interval_is_students() {
        let found = t_interval(&[1.0, 2.0, 4.0, 8.0, 10.0]).unwrap();
        assert!((found.value - 5.0).abs() < 1e-12);
        assert!((found.low - 0.191_056).abs() < 1e-5 && (found.high - 9.808_944).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn a_ratio_of_one_seed_has_no_interval() {
        assert_eq!(log_ratio(&[0.0]), Some(Ratio::bare(1.0)));
        assert_eq!((log_ratio(&[]), log_ratio(&[0.1, f64::NEG_INFINITY]), log_ratio(&[f64::NAN])), (None, None, None));
    }

    #[test]
    fn one_value_has_no_width_and_none_no_interval() {
        assert_eq!(t_interval(&[3.0]), Some(Estimate { value: 3.0, low: 3.0, high: 3.0 }));
        assert_eq!(t_interval(&[]), None);
    }
}
