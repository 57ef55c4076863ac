//! A comparison in words, by the same rule as its verdict: seconds and share first, the interval, and who loses.
//!
//! Nothing is called sooner or later without an interval that excludes 1.

use resched_tables::words::{TimeUnit, change_in_percent};

use crate::statistics::compare::{Basis, Comparison};
use crate::statistics::practical::{Matters, Ratio, Verdict};

/// From this share on, the jobs that a mean hides are said beside it.
const LARGE_SHARE: f64 = 0.25;

/// From this ratio on, a mean is so many times the other: a change in per cent would say nothing.
const TIMES: f64 = 3.0;

/// What is certain about a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It is better than the baseline.
    Better,
    /// It is worse than the baseline.
    Worse,
    /// It may be as good as the baseline.
    Alike,
}

impl Kind {
    /// What a ratio of times says: shorter is better.
    pub fn of(ratio: Option<Ratio>) -> Self {
        match ratio.and_then(|ratio| ratio.interval) {
            Some([_, high]) if high < 1.0 => Self::Better,
            Some([low, _]) if low > 1.0 => Self::Worse,
            _ => Self::Alike,
        }
    }
}

/// The completion times of a policy against the baseline, without a full stop: "23.1 → 17.9 s, 22.7 % sooner on average than fifo (95 %
/// interval −27.0 % to −18.1 %, over 30 blocks of busy periods); 75.3 % of the jobs end later by more than 5 %".
pub fn of_completion(found: &Comparison, baseline: &str, matters: Matters) -> String {
    let (Some(means), Some(ratio)) = (found.means, found.ratio_of_means) else {
        return format!("cannot be compared with {baseline}: no job has a time in both");
    };
    let (times, value) = (TimeUnit::pair(means), ratio.value);
    let over = found.basis.in_words();
    let text = match (ratio.interval, Kind::of(Some(ratio))) {
        _ if found.basis == Basis::NotAnswerable => {
            return format!("{times} ({}); the data cannot answer which is better", signed(value));
        }
        (None, _) if found.basis.is_these_jobs_only() => {
            format!("{times} ({}) against {baseline}, {over}", signed(value))
        }
        (None, _) => format!("{times} ({}) against {baseline}, not tested", signed(value)),
        (Some(interval), Kind::Alike) => format!(
            "{times} ({}), no significant difference from {baseline} ({}, over {over})",
            signed(value),
            in_words(value, interval)
        ),
        (Some(interval), _) => {
            let change = match value {
                value if value >= TIMES => format!("{value:.1} times as long on average as under"),
                value if value < 1.0 => format!("{} sooner on average than", by(value)),
                value => format!("{} later on average than", by(value)),
            };
            format!("{times}, {change} {baseline} ({}, over {over})", in_words(value, interval))
        }
    };
    text + &bound(found.verdict, matters) + &who_loses(found, matters)
}

/// How the change stands to the bound beyond which it matters.
fn bound(verdict: Verdict, matters: Matters) -> String {
    match verdict {
        Verdict::Equivalent => format!(", equivalent within {matters}"),
        Verdict::TooSmall => format!(", too small to matter (less than {matters})"),
        Verdict::LargerOpen | Verdict::SmallerOpen => format!(", but perhaps by less than {matters}"),
        _ => String::new(),
    }
}

/// The jobs that fare otherwise than the mean, if they are many.
fn who_loses(found: &Comparison, matters: Matters) -> String {
    let kind = Kind::of(found.ratio_of_means);
    let many = |share: Option<f64>, hidden: bool, what: &str| {
        share.filter(|share| hidden && *share >= LARGE_SHARE).map(|share| format!("{:.1} % {what}", 100.0 * share))
    };
    let parts = [
        many(found.longer, kind != Kind::Worse, "of the jobs end later"),
        many(found.shorter, kind != Kind::Better, "of the jobs end sooner"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!("; {} by more than {matters}", parts.join(" and ")) }
}

/// The waiting times of a policy against the baseline, as a sentence: "Mean wait 0.20 → 1.36 s, 6.8 times as long (95 % interval 5.1 to
/// 8.9 times); a job then takes 27.0 s in all." `completion` is the mean completion time under both.
pub fn of_waiting(found: &Comparison, completion: Option<[f64; 2]>) -> String {
    let Some(means) = found.means else { return String::new() };
    let all = completion.map_or_else(String::new, |[_, after]| {
        format!("; a job then takes {} in all", TimeUnit::of([after]).show(after))
    });
    let times = format!("Mean wait {}", TimeUnit::pair(means));
    let Some(ratio) = found.ratio_of_means else {
        return match means {
            [0.0, 0.0] => "No job waits for its first task in either.".to_owned(),
            _ => format!("{times}{all}; there is no ratio to 0."),
        };
    };
    if ratio.vanishes() {
        return format!("{times}{all}: no job waits any more.");
    }
    let value = ratio.value;
    match (ratio.interval, Kind::of(Some(ratio))) {
        (Some(interval), Kind::Alike) => {
            format!("{times} ({}), no significant difference ({}){all}.", signed(value), in_words(value, interval))
        }
        (Some(interval), _) => {
            let change = match value {
                value if value >= TIMES => format!("{value:.1} times as long"),
                value if value < 1.0 => format!("{} less", by(value)),
                value => format!("{} longer", by(value)),
            };
            format!("{times}, {change} ({}){all}.", in_words(value, interval))
        }
        (None, _) if found.basis.is_these_jobs_only() => {
            format!("{times} ({}), {}{all}.", signed(value), found.basis.in_words())
        }
        (None, _) => format!("{times} ({}){all}.", signed(value)),
    }
}

/// A change without its sign. What hardly leaves anything is not all.
fn by(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0).abs();
    if ratio > 0.0 && ratio < 1.0 && percent > 99.9 { "over 99.9 %".to_owned() } else { format!("{percent:.1} %") }
}

fn signed(ratio: f64) -> String {
    change_in_percent(ratio - 1.0)
}

/// The interval in the terms of its ratio: times or per cent.
fn in_words(ratio: f64, [low, high]: [f64; 2]) -> String {
    match ratio >= TIMES {
        true => format!("95 % interval {low:.1} to {high:.1} times"),
        false => format!("95 % interval {} to {}", signed(low), signed(high)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(value: f64, interval: Option<[f64; 2]>, longer: f64, shorter: f64) -> Comparison {
        let ratio = Ratio { value, interval, interval_90: interval };
        Comparison {
            jobs: 100,
            basis: Basis::BusyPeriods(30),
            means: Some([23_100.0, 23_100.0 * value]),
            longer: Some(longer),
            shorter: Some(shorter),
            ratio_of_means: Some(ratio),
            ratio_of_p50: None,
            ratio_of_p95: None,
            ratio_of_p99: None,
            mean_of_ratios: None,
            sign: None,
            signed_rank: None,
            least_p: None,
            dominance: None,
            verdict: Verdict::of(Some(ratio), Matters::default()),
        }
    }

    fn completion(value: f64, interval: Option<[f64; 2]>, longer: f64, shorter: f64) -> String {
        of_completion(&found(value, interval, longer, shorter), "fifo", Matters::default())
    }

    #[test]
    fn who_loses_stands_in_the_same_sentence() {
        assert_eq!(
            completion(0.773, Some([0.73, 0.82]), 0.753, 0.2),
            "23.1 → 17.9 s, 22.7 % sooner on average than fifo (95 % interval −27.0 % to −18.0 %, over 30 blocks of busy periods); 75.3 % \
             of the jobs end later by more than 5 %"
        );
        let words = completion(1.3, Some([1.2, 1.4]), 0.6, 0.3);
        assert!(
            words.contains("30.0 % later on average than fifo")
                && words.ends_with("30.0 % of the jobs end sooner by more than 5 %")
        );
        assert!(completion(1.0, Some([0.9, 1.1]), 0.4, 0.3).contains("end later and 30.0 % of the jobs end sooner"));
    }

    #[test]
    fn nothing_is_sooner_without_significance() {
        for words in [completion(0.9, Some([0.8, 1.05]), 0.0, 0.1), completion(0.7, None, 0.0, 0.2)] {
            assert!(!words.contains("sooner on average"), "{words}");
        }
        let open = completion(0.928, Some([0.904, 0.952]), 0.0, 0.1);
        assert!(open.contains("7.2 % sooner on average") && open.contains("but perhaps by less than 5 %"), "{open}");
    }

    #[test]
    fn a_number_of_one_busy_period_is_about_these_jobs_only() {
        let found = Comparison { basis: Basis::TheseJobsOnly(1), ..found(0.7, None, 0.0, 0.2) };
        let words = of_completion(&found, "fifo", Matters::default());
        assert!(words.ends_with("(−30.0 %) against fifo, for these jobs only"), "{words}");
        assert!(of_waiting(&found, None).ends_with("(−30.0 %), for these jobs only."));
        assert!(found.basis.why_no_interval().starts_with("The log is one busy period, and 15 are needed"));
    }

    #[test]
    fn a_wait_has_its_seconds_and_its_share() {
        let ratio = Ratio { value: 6.8, interval: Some([5.0, 9.0]), interval_90: Some([5.2, 8.7]) };
        let of = |means, ratio| {
            let found = Comparison { means: Some(means), ratio_of_means: ratio, ..found(1.0, None, 0.0, 0.0) };
            of_waiting(&found, Some([26_000.0, 27_000.0]))
        };
        let words = of([200.0, 1_360.0], Some(ratio));
        assert_eq!(
            words,
            "Mean wait 0.20 → 1.36 s, 6.8 times as long (95 % interval 5.0 to 9.0 times); a job then takes 27.0 s in all."
        );
        assert!(of([5_000.0, 0.0], Some(Ratio::bare(0.0))).ends_with("no job waits any more."));
        assert!(of([0.0, 5_000.0], None).ends_with("there is no ratio to 0."));
    }

    #[test]
    fn a_ratio_in_words() {
        assert_eq!([0.69, 1.25, 0.0002].map(by), ["31.0 %", "25.0 %", "over 99.9 %"]);
        let ratio = |low, high| Some(Ratio { interval: Some([low, high]), ..Ratio::bare(1.0) });
        assert_eq!(
            [ratio(0.5, 0.9), ratio(0.9, 1.1), ratio(1.1, 2.0), None].map(Kind::of),
            [Kind::Better, Kind::Alike, Kind::Worse, Kind::Alike]
        );
    }
}
