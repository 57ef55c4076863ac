//! Numbers as a page shows them. Those that stand in one row share a unit, so that you can compare them at a glance.

use resched_analysis::metrics::named::Metric;
use resched_analysis::statistics::practical::{Matters, Ratio};
use resched_tables::words::TimeUnit;
use serde::Serialize;

use crate::page::frame::UNKNOWN;
use crate::plot::axis::WIDEST_SPREAD;

/// The rules by which both the page and its script show numbers.
#[derive(Serialize)]
pub(crate) struct Rules {
    /// The units of time, the longest first: name, length in ms, and the time from which on each is used.
    units: [(&'static str, f64, f64); TimeUnit::ALL.len()],
    /// A job completes sooner or later if its completion time changes by more than this share, and by more than a second.
    matters: f64,
    /// If the greatest time is more than this many times the median, the axis is logarithmic.
    widest_spread: f64,
}

impl Rules {
    /// They are the same for all pages.
    pub(crate) fn new() -> Self {
        Self {
            units: TimeUnit::ALL.map(TimeUnit::rule),
            matters: Matters::default().share(),
            widest_spread: WIDEST_SPREAD,
        }
    }
}

/// Times in ms, all in the unit in which their median is easiest to read.
pub(crate) fn times(all: &[Option<f64>]) -> Vec<String> {
    let unit = TimeUnit::of(all.iter().copied().flatten());
    all.iter().map(|ms| ms.map_or(UNKNOWN.to_owned(), |ms| unit.show(ms))).collect()
}

/// Values of a metric, all in one unit.
pub fn alike(metric: &Metric, values: &[Option<f64>]) -> Vec<String> {
    match metric.unit {
        "ms" => times(values),
        _ => values.iter().map(|value| value.map_or(UNKNOWN.to_owned(), |value| metric.in_words(value))).collect(),
    }
}

/// A plain number.
pub(crate) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or(UNKNOWN.to_owned(), |value| format!("{value:.decimals$}"))
}

/// A share of 1.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or(UNKNOWN.to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// A relative change, 0 for none, with its sign.
pub(crate) fn percent_change(change: Option<f64>) -> String {
    change.map_or(UNKNOWN.to_owned(), |change| format!("{:+.1} %", 100.0 * change).replace('-', "−"))
}

/// Changes of times, ms, with their signs, all in one unit.
pub(crate) fn signed_times(changes: &[Option<f64>]) -> Vec<String> {
    let signed = |(text, change): (String, &Option<f64>)| match change {
        Some(ms) if *ms > 0.0 => format!("+{text}"),
        _ => text.replace('-', "−"),
    };
    times(changes).into_iter().zip(changes).map(signed).collect()
}

/// A ratio of at least this is shown as a factor: nobody reads +3217.4 %.
const FACTOR: f64 = 10.0;

/// A ratio as a change in per cent, or as a factor, and its interval; empty if it has none.
pub(crate) fn change(ratio: Option<Ratio>) -> (String, String) {
    let Some(Ratio { value, interval, .. }) = ratio else { return (UNKNOWN.to_owned(), String::new()) };
    let of = |ratio: f64| match value >= FACTOR {
        true => format!("{ratio:.1}"),
        false => format!("{:+.1}", 100.0 * (ratio - 1.0)).replace('-', "−"),
    };
    let unit = if value >= FACTOR { "×" } else { "%" };
    let ends = interval.map_or_else(String::new, |[low, high]| format!("[{}, {}]", of(low), of(high)));
    (format!("{} {unit}", of(value)), ends)
}

/// A p-value.
pub(crate) fn p_value(p: Option<f64>) -> String {
    match p {
        None => UNKNOWN.to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_a_change_or_a_factor() {
        let of = |value: f64| change(Some(Ratio { interval: Some([0.5 * value, 2.0 * value]), ..Ratio::bare(value) }));
        assert_eq!(of(0.9), ("−10.0 %".to_owned(), "[−55.0, +80.0]".to_owned()));
        assert_eq!(of(33.2), ("33.2 ×".to_owned(), "[16.6, 66.4]".to_owned()));
        assert_eq!(change(None), ("–".to_owned(), String::new()));
    }

    #[test]
    fn the_times_of_a_row_share_a_unit() {
        assert_eq!(times(&[None, Some(132e3), Some(106.8e3), Some(140e3)]), ["–", "2.2 min", "1.8 min", "2.3 min"]);
    }
}
