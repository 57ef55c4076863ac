//! Axes: ranges, ticks, labels and units of time.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use resched_tables::words::{TimeUnit, count};

/// If the greatest value is more than this many times the least, or the middle one, a linear axis would press all others to its end.
pub(crate) const WIDEST_SPREAD: f64 = 30.0;

/// True if values up to `most` need a logarithmic axis, or scales of their own, beside those of about `least`.
pub(crate) fn lie_far_apart(least: f64, most: f64) -> bool {
    most > WIDEST_SPREAD * least
}

/// The unit in which times from `min_ms` to `max_ms`, both above zero, are easy to read on a logarithmic axis: that of the times in its
/// middle.
pub(crate) fn unit_for_decades(min_ms: f64, max_ms: f64) -> TimeUnit {
    TimeUnit::for_axis((min_ms * max_ms).sqrt())
}

/// Labels of numbers beyond these are long.
const SMALL: f64 = 1e-3;
const LARGE: f64 = 2e4;
/// Shorter numbers read well without commas.
const FEWEST_WITH_COMMAS: f64 = 1e4;

/// An axis, which is a coordinate of plotters. Values outside its range are drawn at its ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// Its title, with the unit.
    pub(crate) title: String,
    /// The positions of its ticks.
    pub(crate) ticks: Vec<f64>,
    low: f64,
    high: f64,
    log: bool,
    /// The labels of the ticks, if they are not their numbers.
    labels: Vec<String>,
}

impl Axis {
    /// From zero to the first tick at or above `high`.
    pub(crate) fn from_zero(title: impl Into<String>, high: f64, about: u32) -> Self {
        Self::with_zero(title, 0.0, high, about)
    }

    /// From the last tick at or below `low` to the first at or above `high`, zero included.
    pub(crate) fn with_zero(title: impl Into<String>, low: f64, high: f64, about: u32) -> Self {
        let low = if low.is_finite() { low.min(0.0) } else { 0.0 };
        let high = if high.is_finite() && high > low { high.max(0.0) } else { low + 1.0 };
        let step = nice_step((high - low) / f64::from(about.max(1)));
        let first = (low / step + 1e-9).floor().min(0.0);
        let last = (high / step - 1e-9).ceil().max(first + 1.0);
        let (low, high) = (first * step, last * step);
        Self { title: title.into(), low, high, ticks: multiples(step, low, high), log: false, labels: Vec::new() }
    }

    /// Exactly from `low` to `high`. Ticks are at multiples of at least `least`.
    pub(crate) fn exact(title: impl Into<String>, low: f64, high: f64, about: u32, least: f64) -> Self {
        let high = if high.is_finite() && high > low { high } else { low + 1.0 };
        let step = nice_step((high - low) / f64::from(about.max(1))).max(least);
        Self { title: title.into(), low, high, ticks: multiples(step, low, high), log: false, labels: Vec::new() }
    }

    /// Logarithmic, from at most `low` to at least `high`, both above zero.
    pub(crate) fn logarithmic(title: impl Into<String>, low: f64, high: f64) -> Self {
        let logarithm = |value: f64| if value.is_nan() { 0.0 } else { value.clamp(1e-9, 1e15).log10() };
        let (low, high) = (logarithm(low), logarithm(high));
        let (low, high) = (snap(low, f64::floor), snap(high, f64::ceil));
        let high = if high > low { high } else { low + 1.0 };
        let decades = (low.floor() as i32)..=(high.ceil() as i32);
        let parts: &[f64] = match high - low {
            span if span <= 2.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let every = ((high - low) / 6.0).ceil().max(1.0) as i32;
        let ticks = decades.filter(|decade| decade % every == 0);
        let ticks = ticks.flat_map(|decade| parts.iter().map(move |part| part * 10f64.powi(decade)));
        let (low, high) = (10f64.powf(low), 10f64.powf(high));
        let ticks = ticks.filter(|tick| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(tick)).collect();
        Self { title: title.into(), low, high, ticks, log: true, labels: Vec::new() }
    }

    /// The same with these ticks and labels.
    pub(crate) fn labelled(self, title: String, ticks: Vec<(f64, String)>) -> Self {
        let (ticks, labels) = ticks.into_iter().unzip();
        Self { title, ticks, labels, ..self }
    }

    /// The same with ticks only at whole numbers, for counts.
    pub(crate) fn whole(mut self) -> Self {
        self.ticks.retain(|tick| (tick - tick.round()).abs() < 1e-9);
        self
    }

    /// Its end.
    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    /// The position of `value` on the axis, from 0 to 1.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let scale = |value: f64| if self.log { value.log10() } else { value };
        (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))
    }

    /// The label of a tick, without needless decimals. On a logarithmic axis over very small or large numbers, powers of ten are written
    /// as such.
    pub(crate) fn label(&self, tick: f64) -> String {
        let place = self.ticks.iter().position(|other| *other == tick);
        if let Some(label) = place.and_then(|place| self.labels.get(place)) {
            return label.clone();
        }
        if self.log && (self.low < SMALL || self.high > LARGE) {
            return power(tick);
        }
        if tick >= FEWEST_WITH_COMMAS && tick.fract() == 0.0 {
            return count(tick as u64);
        }
        let text = format!("{tick:.6}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        if text == "-0" { "0".to_owned() } else { text.to_owned() }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        limit.0 + (self.place(*value) * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, tick: &f64) -> String {
        self.label(*tick)
    }
}

/// A number as a power of ten, such as 5·10⁻³. Those near 1 are written out.
fn power(number: f64) -> String {
    let exponent = (number.log10() + 1e-9).floor();
    let digits = (number / 10f64.powf(exponent)).round();
    if (-1.0..=1.0).contains(&exponent) {
        return format!("{number:.1}").trim_end_matches(".0").to_owned();
    }
    let superscript = |digit: char| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => digit.to_digit(10).and_then(|digit| char::from_u32(u32::from('⁰') + digit)).unwrap_or(digit),
    };
    let power: String = format!("{exponent:.0}").chars().map(superscript).collect();
    if digits == 1.0 { format!("10{power}") } else { format!("{digits}·10{power}") }
}

/// Rounds the logarithm `place` to that of 1, 2 or 5 times a power of ten.
fn snap(place: f64, towards: fn(f64) -> f64) -> f64 {
    let decade = place.floor();
    let steps = [0.0, 2f64.log10(), 5f64.log10(), 1.0];
    let down = towards(0.5) == 0.0;
    let rest = place - decade;
    let found = if down {
        steps.iter().copied().filter(|step| *step <= rest + 1e-9).fold(0.0, f64::max)
    } else {
        steps.iter().copied().filter(|step| *step >= rest - 1e-9).fold(1.0, f64::min)
    };
    decade + found
}

/// 1, 2 or 5 times a power of ten, at least `step`.
fn nice_step(step: f64) -> f64 {
    let decade = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|part| part * decade)
        .find(|nice| *nice >= step * (1.0 - 1e-9))
        .unwrap_or(step)
}

fn multiples(step: f64, low: f64, high: f64) -> Vec<f64> {
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    // An axis has some ten ticks; the bound only guards against numbers that lost their precision.
    (0..100).map(|n| first + f64::from(n)).take_while(|n| *n <= last).map(|n| n * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|tick| axis.label(*tick)).collect()
    }

    #[test]
    fn ticks_are_round_and_labels_short() {
        assert_eq!(labels(&Axis::from_zero("", 1.0, 5)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(&Axis::from_zero("", 37.0, 5)), ["0", "10", "20", "30", "40"]);
        assert_eq!(labels(&Axis::exact("", 0.5, 3.5, 8, 1.0)), ["1", "2", "3"]);
        assert_eq!(labels(&Axis::exact("", 0.0, 83.0, 5, 0.0)), ["0", "20", "40", "60", "80"]);
    }

    #[test]
    fn a_logarithmic_axis_ends_at_round_values() {
        let axis = Axis::logarithmic("", 0.7, 43.0);
        assert_eq!(labels(&axis), ["0.5", "1", "2", "5", "10", "20", "50"]);
        assert_eq!(labels(&Axis::logarithmic("", 0.01, 900.0)), ["0.01", "0.1", "1", "10", "100", "1000"]);
        assert!((axis.place(5.0) - 0.5).abs() < 1e-12);
        assert_eq!(labels(&Axis::logarithmic("", 1e-4, 100.0)), ["10⁻⁴", "10⁻³", "10⁻²", "0.1", "1", "10", "10²"]);
        assert_eq!(labels(&Axis::logarithmic("", 2e4, 1e5)), ["2·10⁴", "5·10⁴", "10⁵"]);
    }

    #[test]
    fn an_axis_stands_any_number() {
        for high in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(!Axis::from_zero("", high, 5).ticks.is_empty(), "{high}");
            assert!(Axis::exact("", 0.0, high, 5, 1.0).high > 0.0, "{high}");
            assert!(Axis::logarithmic("", high, high).high.is_finite(), "{high}");
        }
    }

    #[test]
    fn the_unit_follows_the_range() {
        assert_eq!(TimeUnit::for_axis(90e3).name(), "s");
        assert_eq!(TimeUnit::for_axis(3_600e3).name(), "min");
        assert_eq!(TimeUnit::for_axis(7.0 * 3_600e3).name(), "h");
        assert_eq!(TimeUnit::for_axis(7.0 * 86_400e3).name(), "d");
        assert_eq!(TimeUnit::for_axis(600_000.0).amount(600_000.0), 10.0);
        assert_eq!(unit_for_decades(1e3, 3_600e3).name(), "s", "one minute is in the middle");
    }
}
