//! How good forecasts were: coverage, losses, and where starts fell among the draws.
//!
//! **Decisions.** Rows of one busy period hang together, so intervals come from drawing days, not rows. All losses are in ms. The pinball
//! loss is the mean over the quantiles at 10, 50 and 90 %.

use std::collections::BTreeMap;

use rand::RngExt;
use resched_sim::Ms;
use resched_tables::draws::{Purpose, stream};
use serde::Serialize;

use crate::quantiles::{INTERVALS, LEVELS, MEDIAN};

/// How many times days are drawn for an interval.
const RESAMPLES: u64 = 1_000;

/// The levels of the pinball loss, by their places.
const PINBALL: [usize; 3] = [2, 4, 6];

const DAY: Ms = 86_400_000;

/// The least number of parts that moments are drawn in: where they cover fewer days, the parts are shorter.
const LEAST_PARTS: i64 = 20;

/// A forecast beside what came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) asked_at: Ms,
    pub(crate) quantiles: [Ms; 9],
    pub(crate) start: Ms,
    /// The share of the draws before the start; that of equal ones counts half. `None`: no draws are known.
    pub(crate) pit: Option<f64>,
    /// The continuous ranked probability score of the draws, ms.
    pub(crate) crps: Option<f64>,
}

impl Judged {
    /// Whether the start lies in each of the intervals of 50, 80 and 95 %.
    fn inside(&self) -> [f64; 3] {
        INTERVALS
            .map(|[low, high]| f64::from(u8::from((self.quantiles[low]..=self.quantiles[high]).contains(&self.start))))
    }

    pub(crate) fn pinball(&self) -> f64 {
        let loss = |place: usize| {
            let (level, off) = (LEVELS[place], (self.start - self.quantiles[place]) as f64);
            (level * off).max((level - 1.0) * off)
        };
        PINBALL.into_iter().map(loss).sum::<f64>() / PINBALL.len() as f64
    }
}

/// A share or a mean with its interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The value.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The scores of forecasts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// How many forecasts they are of.
    pub rows: u64,
    /// At how many moments these were made.
    pub moments: u64,
    /// Of how many days, or shorter parts of a short log.
    pub days: u64,
    /// The share of starts in the intervals of 50, 80 and 95 %.
    pub coverage: BTreeMap<&'static str, Measured>,
    /// The mean pinball loss, ms.
    pub pinball_ms: Measured,
    /// The mean continuous ranked probability score, ms; null for corrected forecasts, which have no draws.
    pub crps_ms: Option<f64>,
    /// The median absolute error of the median, ms.
    pub median_error_ms: f64,
    /// How much later starts came than the median on average, ms; negative: earlier.
    pub late_ms: f64,
    /// The share of starts before the first tenth of their draws, and behind the last: each should be a tenth.
    pub ends: Option<[f64; 2]>,
}

/// The lengths of the parts that are drawn, ms: days, or twentieths of what the moments cover.
pub(crate) fn part(moments: impl Iterator<Item = Ms> + Clone) -> Ms {
    let covered = moments.clone().max().zip(moments.min()).map_or(0, |(last, first)| last - first);
    DAY.min(covered / LEAST_PARTS).max(1)
}

/// The sums of each part, in order.
pub(crate) struct Parts(Vec<Vec<f64>>);

impl Parts {
    /// Sums values of rows by their parts.
    pub(crate) fn new(rows: impl Iterator<Item = (Ms, Vec<f64>)>, length: Ms) -> Self {
        let mut parts: BTreeMap<Ms, Vec<f64>> = BTreeMap::new();
        for (at, values) in rows {
            let sums = parts.entry(at.div_euclid(length)).or_insert_with(|| vec![0.0; values.len()]);
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        Self(parts.into_values().collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The ratio of two sums, with its interval by drawing parts.
    pub(crate) fn ratio(&self, upper: usize, lower: usize, seed: u64) -> Measured {
        let of = |sums: [f64; 2]| if sums[1] == 0.0 { f64::NAN } else { sums[0] / sums[1] };
        let add = |sums: [f64; 2], part: &Vec<f64>| {
            let at = |place: usize| part.get(place).copied().unwrap_or(0.0);
            [sums[0] + at(upper), sums[1] + at(lower)]
        };
        let value = of(self.0.iter().fold([0.0; 2], add));
        let mut drawn: Vec<f64> = (0..RESAMPLES)
            .map(|resample| {
                let mut draws = stream(seed, Purpose::Bootstrap, &[resample]);
                let parts = (0..self.0.len()).filter_map(|_| self.0.get(draws.random_range(0..self.0.len())));
                of(parts.fold([0.0; 2], add))
            })
            .filter(|ratio| ratio.is_finite())
            .collect();
        drawn.sort_by(f64::total_cmp);
        let at = |level: f64| drawn.get((level * drawn.len().saturating_sub(1) as f64).round() as usize).copied();
        Measured { value, low: at(0.025).unwrap_or(value), high: at(0.975).unwrap_or(value) }
    }
}

/// The scores of these forecasts; `None` for none.
pub(crate) fn score(rows: &[Judged], length: Ms, seed: u64) -> Option<Score> {
    if rows.is_empty() {
        return None;
    }
    let of_row = |row: &Judged| {
        let [half, most, nearly] = row.inside();
        (row.asked_at, vec![1.0, half, most, nearly, row.pinball()])
    };
    let parts = Parts::new(rows.iter().map(of_row), length);
    let names = ["50", "80", "95"].into_iter().zip(1..);
    let mean = |of: &dyn Fn(&Judged) -> Option<f64>| {
        let all: Vec<f64> = rows.iter().filter_map(of).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    };
    let ends = mean(&|row| Some(f64::from(u8::from(row.pit? < 0.1))))
        .zip(mean(&|row| Some(f64::from(u8::from(row.pit? > 0.9)))));
    let mut errors: Vec<Ms> = rows.iter().map(|row| (row.start - row.quantiles[MEDIAN]).abs()).collect();
    errors.sort_unstable();
    let mut moments: Vec<Ms> = rows.iter().map(|row| row.asked_at).collect();
    moments.dedup();
    Some(Score {
        rows: rows.len() as u64,
        moments: moments.len() as u64,
        days: parts.len() as u64,
        coverage: names.map(|(name, place)| (name, parts.ratio(place, 0, seed))).collect(),
        pinball_ms: parts.ratio(4, 0, seed),
        crps_ms: mean(&|row| row.crps),
        median_error_ms: crate::quantiles::quantile(&errors, 0.5).unwrap_or(0.0),
        late_ms: mean(&|row| Some((row.start - row.quantiles[MEDIAN]) as f64)).unwrap_or(0.0),
        ends: ends.map(|(low, high)| [low, high]),
    })
}

/// The share of sorted draws before the start, and the continuous ranked probability score of the draws: the mean distance to the start,
/// less half the mean distance of two draws (Gneiting and Raftery 2007).
pub(crate) fn beside_draws(sorted: &[Ms], start: Ms) -> (f64, f64) {
    let count = sorted.len() as f64;
    let (below, upto) =
        (sorted.partition_point(|drawn| *drawn < start), sorted.partition_point(|drawn| *drawn <= start));
    let pit = (below as f64 + (upto - below) as f64 / 2.0) / count;
    let distance = sorted.iter().map(|drawn| (drawn - start).abs() as f64).sum::<f64>() / count;
    let spread: f64 = sorted
        .iter()
        .zip(0..)
        .map(|(drawn, place)| (2.0 * f64::from(place) + 1.0 - count) * (drawn - start) as f64)
        .sum();
    (pit, distance - spread / (count * count))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_score_of_draws_is_that_of_its_definition() {
        let draws: [Ms; 5] = [10, 20, 20, 50, 90];
        let start = 30;
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let apart = |one: Ms, other: Ms| (one - other).abs() as f64;
        let near = mean(draws.iter().map(|draw| apart(*draw, start)).collect());
        let wide = mean(draws.iter().flat_map(|one| draws.iter().map(move |other| apart(*one, *other))).collect());
        let (pit, crps) = beside_draws(&draws, start);
        assert!((crps - (near - wide / 2.0)).abs() < 1e-9);
        assert_eq!(pit, 0.6);
        assert_eq!(beside_draws(&draws, 20).0, 0.4, "half of the equal ones count");
    }

    #[test]
    fn coverage_and_losses_are_means_and_days_are_drawn() {
        // On even days, the start is at the median; on odd days, beyond all.
        let row = |number: i64| Judged {
            asked_at: number * 3_600_000,
            quantiles: [-40, -30, -20, -10, 0, 10, 20, 30, 40],
            start: if number / 24 % 2 == 0 { 0 } else { 100 },
            pit: Some(if number / 24 % 2 == 0 { 0.5 } else { 1.0 }),
            crps: Some(1.0),
        };
        let rows: Vec<Judged> = (0..40 * 24).map(row).collect();
        let found = score(&rows, part(rows.iter().map(|row| row.asked_at)), 1).unwrap();
        let covered = found.coverage["80"];
        assert_eq!((found.rows, found.moments, found.days, covered.value), (960, 960, 40, 0.5));
        // By R: 40 days drawn with chance a half have a standard deviation of 7.9 points.
        assert!((0.30..0.40).contains(&covered.low) && (0.60..0.70).contains(&covered.high), "{covered:?}");
        // At the median: (0.1 × 20 + 0 + 0.1 × 20) / 3. Beyond: (0.1 × 120 + 0.5 × 100 + 0.9 × 80) / 3.
        assert!((found.pinball_ms.value - (4.0 / 3.0 + 134.0 / 3.0) / 2.0).abs() < 1e-9);
        assert_eq!((found.ends, found.late_ms), (Some([0.0, 0.5]), 50.0));
    }
}
