//! A mean over seeds, as searches report it.

use resched_analysis::statistics::estimate::Estimate;
use resched_analysis::statistics::repeats::t_interval;
use serde::Serialize;

/// What intervals over seeds are about, as a sentence; `None` if no interval has a width.
pub(crate) fn over_draws(mut all: impl Iterator<Item = MeanInterval>, has_fixed_jobs: bool) -> Option<&'static str> {
    all.any(|interval| interval.ends().is_some_and(|(low, high)| low < high)).then_some(if has_fixed_jobs {
        "The 95 % intervals are over draws, with the jobs of the trace fixed: they do not say what other days would bring."
    } else {
        "The 95 % intervals are over draws: those of the replay, and those of the workload file, which makes its jobs with each seed."
    })
}

/// A mean with its 95 % interval by Student's t. A single seed does not show the spread, so its interval has no ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanInterval {
    /// The mean.
    pub mean: f64,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl MeanInterval {
    /// That of a value for each seed; `None` without values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let Estimate { value, low, high } = t_interval(values)?;
        let end = |end| (values.len() > 1).then_some(end);
        Some(Self { mean: value, low: end(low), high: end(high) })
    }

    /// Both ends of the interval, if it has any.
    pub fn ends(self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_over_seeds_say_what_is_fixed() {
        let wide = MeanInterval::of(&[1.0, 2.0]);
        let of_trace = over_draws(wide.into_iter(), true).unwrap_or_default();
        assert!(of_trace.contains("jobs of the trace fixed") && of_trace.contains("other days"), "{of_trace}");
        assert!(over_draws(wide.into_iter(), false).unwrap_or_default().contains("makes its jobs with each seed"));
        for none in [MeanInterval::of(&[1.0]), MeanInterval::of(&[2.0, 2.0]), None] {
            assert_eq!(over_draws(none.into_iter(), true), None);
        }
    }
}
