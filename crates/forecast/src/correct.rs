//! The correction of forecasts by how far the last ones were off: rolling conformal correction.
//!
//! **What it does.** For each level, how far the start lay from the forecast's quantile, as a multiple of the median rest of the wait, is
//! looked up over the forecasts of the last [`DAYS`] days whose jobs have started by now. The quantile of that at the level, times the
//! median rest, is added. Each moment has one weight, shared by its jobs. Before there are [`LEAST_MOMENTS`] moments, nothing is corrected.
//!
//! **Limits.** Corrected intervals cover what they should whatever the forecast is, a wrong one too: they are only wider. So they say
//! nothing about the model.
//!
//! **Source.** Conformalised quantile regression: Romano, Patterson and Candès 2019. A split that stays: noisy, and wrong after a change.

use std::collections::BTreeMap;

use resched_sim::Ms;

use crate::quantiles::{LEVELS, MEDIAN, weighted_quantile};

/// Over how many days forecasts correct the next.
pub(crate) const DAYS: i64 = 21;

/// From how many moments on.
pub(crate) const LEAST_MOMENTS: usize = 25;

const DAY: Ms = 86_400_000;

/// The least median rest of a wait that errors are measured by, ms.
const LEAST_REST: f64 = 60_000.0;

/// A forecast that was made, and what came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    pub(crate) asked_at: Ms,
    pub(crate) quantiles: [Ms; 9],
    pub(crate) start: Option<Ms>,
}

impl Made {
    fn scale(&self) -> f64 {
        ((self.quantiles[MEDIAN] - self.asked_at) as f64).max(LEAST_REST)
    }
}

/// What is added at each level, as multiples of the median rest of the wait, for forecasts at a moment. `None`: too few are known.
pub(crate) fn correction(made: &[Made], at: Ms) -> Option<[f64; 9]> {
    let known = |row: &&Made| {
        row.asked_at < at && row.asked_at >= at - DAYS * DAY && row.start.is_some_and(|start| start <= at)
    };
    let mut of_moments: BTreeMap<Ms, u32> = BTreeMap::new();
    for row in made.iter().filter(known) {
        *of_moments.entry(row.asked_at).or_default() += 1;
    }
    if of_moments.len() < LEAST_MOMENTS {
        return None;
    }
    let mut added = [0.0; 9];
    for (place, (level, added)) in LEVELS.into_iter().zip(&mut added).enumerate() {
        let error = |made: &Made| {
            let off = (made.start? - made.quantiles[place]) as f64 / made.scale();
            Some((off, 1.0 / f64::from(*of_moments.get(&made.asked_at)?)))
        };
        let mut errors: Vec<(f64, f64)> = made.iter().filter(known).filter_map(error).collect();
        errors.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        *added = weighted_quantile(&errors, level)?;
    }
    Some(added)
}

/// The quantiles with that correction: in order, and none before the moment.
pub(crate) fn corrected(made: &Made, added: Option<[f64; 9]>) -> [Ms; 9] {
    let Some(added) = added else { return made.quantiles };
    let mut all = made.quantiles;
    for (value, added) in all.iter_mut().zip(added) {
        *value = value.saturating_add((added * made.scale()).round() as Ms).max(made.asked_at);
    }
    all.sort_unstable();
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Forecasts an hour apart that say one hour, ± nothing, and starts that come later by multiples of 36 s.
    fn late() -> Vec<Made> {
        let one = |number: i64| Made {
            asked_at: number * 3_600_000,
            quantiles: [(number + 1) * 3_600_000; 9],
            start: Some((number + 1) * 3_600_000 + (number * 37 % 100) * 36_000),
        };
        (0..100).map(one).collect()
    }

    #[test]
    fn quantiles_move_to_where_starts_were() {
        let made = late();
        let at = 102 * 3_600_000;
        let now = Made { asked_at: at, quantiles: [at + 7_200_000; 9], start: None };
        let added = correction(&made, at).unwrap();
        // All hundred have started by then, late by 0, 1 … 99 hundredths of their hour.
        let expected = LEVELS.map(|level| (((101.0 * level) - 1.0) / 100.0).clamp(0.0, 0.99));
        for (found, expected) in added.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        let moved = corrected(&now, Some(added));
        assert_eq!(moved[MEDIAN], at + 7_200_000 + (0.495 * 7_200_000.0) as Ms);
    }

    #[test]
    fn only_what_has_started_by_the_moment_corrects_it() {
        let mut made = late();
        let at = 60 * 3_600_000;
        let before = correction(&made, at).unwrap();
        for row in &mut made {
            if row.start.is_some_and(|start| start > at) {
                row.start = Some(at + 1 + row.asked_at * 5);
            }
        }
        assert_eq!(correction(&made, at).unwrap(), before);
        assert!(correction(&made, 20 * 3_600_000).is_none(), "too few moments");
        assert!(correction(&made, 40 * DAY).is_none(), "too long ago");
    }
}
