//! Ratios with their uncertainty, and whether a difference matters in practice.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A ratio of two runs: second / first. Below 1, the second is smaller.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Its 95 % interval; null if the data do not give one.
    pub interval: Option<[f64; 2]>,
    /// Its 90 % interval, which decides on equivalence (two one-sided tests at 5 %, Schuirmann 1987).
    pub interval_90: Option<[f64; 2]>,
}

impl Ratio {
    /// A ratio without an interval.
    pub fn bare(value: f64) -> Self {
        Self { value, interval: None, interval_90: None }
    }

    /// True if the second is 0 where the first is not, so that there is no ratio of logarithms and no interval.
    pub fn vanishes(self) -> bool {
        self.value == 0.0
    }

    /// True if it differs from 1 beyond chance: the 95 % interval does not hold 1.
    pub fn is_certain(self) -> bool {
        self.interval.is_some_and(|[low, high]| high < 1.0 || low > 1.0)
    }

    /// The ratio whose logarithm is `log` with this standard error, which `parts` independent parts of the data gave: intervals are
    /// Student's with `parts − 1` degrees of freedom on the scale of logarithms. Without two parts or a finite error there are none.
    pub fn of_log(log: f64, error: f64, parts: usize) -> Self {
        Self::with_spread(log, Spread { error, free: parts as f64 - 1.0, skewness: 0.0 })
    }

    /// The same for an estimate that is spread like this.
    pub fn with_spread(log: f64, spread: Spread) -> Self {
        let value = log.exp();
        let Ok(t) = StudentsT::new(0.0, 1.0, spread.free) else { return Self::bare(value) };
        if !spread.error.is_finite() {
            return Self::bare(value);
        }
        let interval = |confidence: f64| {
            let most = t.inverse_cdf(0.5 + confidence / 2.0);
            [most, -most].map(|t| (log - spread.error * spread.studentised(t)).exp())
        };
        Self { value, interval: Some(interval(0.95)), interval_90: Some(interval(0.9)) }
    }
}

/// How an estimate is spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Its standard error, on the scale of the estimate.
    pub error: f64,
    /// The degrees of freedom of the error, which need not be whole.
    pub free: f64,
    /// The skewness of the estimate: that of `n` independent parts is theirs / √n. Below 0, rare parts pull it down.
    pub skewness: f64,
}

impl Spread {
    /// How many errors an estimate is above the truth where an estimate without skewness would be `t` errors above it: the inverse of
    /// Hall's transformation (Hall 1992). A sample that lacks a rare part is too far on the other side, and has too small an error.
    fn studentised(self, t: f64) -> f64 {
        let skewness = self.skewness;
        if skewness.abs() < 1e-9 {
            return t;
        }
        3.0 / skewness * ((1.0 + skewness * (t - skewness / 6.0)).cbrt() - 1.0)
    }
}

/// The bound beyond which a relative difference matters, such as 5 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matters(f64);

impl Matters {
    /// The bound as a share, 0 to 1.
    pub fn share(self) -> f64 {
        self.0
    }
}

/// A change of a time below this says little, however large a share of a short time it is, ms.
const LEAST_CHANGE_MS: f64 = 1_000.0;

impl Matters {
    /// Whether a time in ms gets longer or shorter by more than the bound, and by more than a second.
    pub fn change(self, before: f64, after: f64) -> Ordering {
        let least = LEAST_CHANGE_MS.max(before * self.0);
        match after - before {
            change if change > least => Ordering::Greater,
            change if -change > least => Ordering::Less,
            _ => Ordering::Equal,
        }
    }
}

impl Default for Matters {
    fn default() -> Self {
        Self(0.05)
    }
}

impl fmt::Display for Matters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Two decimals of a per cent, without the zeroes.
        write!(f, "{} %", (self.0 * 1e4).round() / 100.0)
    }
}

impl Serialize for Matters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl FromStr for Matters {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        match percent {
            Some(percent) if percent > 0.0 && percent < 100.0 => Ok(Self(percent / 100.0)),
            _ => {
                Err(format!("expected a percentage above 0 % and below 100 %, such as 5%, found `{text}`; correct it"))
            }
        }
    }
}

/// What a ratio says about a difference that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The second is larger by more than the bound: the 95 % interval lies above it.
    Larger,
    /// The second is smaller by more than the bound.
    Smaller,
    /// The second is larger: the 95 % interval lies above 1. Whether by more than the bound is open.
    LargerOpen,
    /// The second is smaller; whether by more than the bound is open.
    SmallerOpen,
    /// The second is 0, and the first is not: there is no ratio to test.
    Vanishes,
    /// The difference is within the bound: the 90 % interval lies within it.
    Equivalent,
    /// As [`Verdict::Equivalent`], but there is a difference: the 95 % interval does not hold 1.
    TooSmall,
    /// The interval holds 1 and differences that matter, or there is no ratio.
    CannotTell,
    /// There is a ratio without an interval: it is about these jobs, or this seed, only.
    NotTested,
    /// The data cannot answer the question, or there are no jobs.
    NotAnswerable,
}

impl Verdict {
    /// The verdict on a ratio of data that can answer the question.
    pub fn of(ratio: Option<Ratio>, matters: Matters) -> Self {
        if ratio.is_some_and(Ratio::vanishes) {
            return Self::Vanishes;
        }
        let intervals = ratio.and_then(|ratio| Some((ratio.interval?, ratio.interval_90?)));
        let Some(([low, high], [low_90, high_90])) = intervals else {
            return if ratio.is_some() { Self::NotTested } else { Self::CannotTell };
        };
        let (least, most) = (1.0 - matters.share(), 1.0 + matters.share());
        if high < least {
            Self::Smaller
        } else if low > most {
            Self::Larger
        } else {
            let is_within = low_90 > least && high_90 < most;
            match (low > 1.0, high < 1.0) {
                (false, false) if is_within => Self::Equivalent,
                (false, false) => Self::CannotTell,
                _ if is_within => Self::TooSmall,
                (true, _) => Self::LargerOpen,
                (false, true) => Self::SmallerOpen,
            }
        }
    }

    /// The verdict in words.
    pub fn in_words(self, matters: Matters) -> String {
        self.worded(matters, ["larger", "smaller"])
    }

    /// The verdict on times in words.
    pub fn on_times(self, matters: Matters) -> String {
        self.worded(matters, ["longer", "shorter"])
    }

    fn worded(self, matters: Matters, [larger, smaller]: [&str; 2]) -> String {
        match self {
            Self::Larger => format!("{larger} by more than {matters}"),
            Self::Smaller => format!("{smaller} by more than {matters}"),
            Self::LargerOpen => format!("{larger}, but perhaps by less than {matters}"),
            Self::SmallerOpen => format!("{smaller}, but perhaps by less than {matters}"),
            Self::Vanishes => "0, so there is no ratio to test".to_owned(),
            Self::Equivalent => format!("equivalent within {matters}"),
            Self::TooSmall => "different, but too small to matter".to_owned(),
            Self::CannotTell => "cannot tell".to_owned(),
            Self::NotTested => "not tested".to_owned(),
            Self::NotAnswerable => "cannot answer".to_owned(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Rare parts that pull the estimate down move both ends down, and the lower one farther; without skewness the interval is Student's.
    #[test]
    fn an_interval_leans_to_the_side_of_what_is_rare() {
        let of = |skewness: f64| {
            let ratio = Ratio::with_spread(0.0, Spread { error: 0.1, free: 10.0, skewness });
            ratio.interval.unwrap().map(f64::ln)
        };
        let [low, high] = of(0.0);
        assert!((low + high).abs() < 1e-12 && (high - 0.222_8).abs() < 1e-4, "{low} {high}");
        let [down, up] = [of(-0.6), of(0.6)];
        assert!(down[0] < low && down[1] < high && down[0] < 0.0 && down[1] > 0.0, "{down:?}");
        assert!((down[0] + up[1]).abs() < 1e-12 && (down[1] + up[0]).abs() < 1e-12, "the other way round: {up:?}");
        // Hall's transformation of the end is t.
        let (end, a) = (-down[0] / 0.1, -0.6);
        let t = end + a * end * end / 3.0 + a * a * end * end * end / 27.0 + a / 6.0;
        assert!((t - 2.228_1).abs() < 1e-3, "{t}");
    }

    fn ratio(value: f64, half: f64) -> Option<Ratio> {
        let around = |half: f64| Some([value - half, value + half]);
        Some(Ratio { value, interval: around(half), interval_90: around(half * 0.8) })
    }

    #[test]
    fn each_verdict_has_its_interval() {
        let verdict = |value, half| Verdict::of(ratio(value, half), Matters::default());
        assert_eq!(verdict(0.80, 0.10), Verdict::Smaller);
        assert_eq!(verdict(1.20, 0.10), Verdict::Larger);
        assert_eq!(verdict(1.00, 0.03), Verdict::Equivalent);
        assert_eq!(verdict(1.02, 0.01), Verdict::TooSmall);
        assert_eq!(verdict(1.00, 0.20), Verdict::CannotTell);
        // −18 % to −2 %, and −9.6 % to −4.8 %: shorter for certain, but perhaps by less than 5 %.
        assert_eq!(verdict(0.90, 0.08), Verdict::SmallerOpen);
        assert_eq!(verdict(0.928, 0.024), Verdict::SmallerOpen);
        assert_eq!(verdict(1.10, 0.08), Verdict::LargerOpen);
        assert_eq!(verdict(0.93, 0.08), Verdict::CannotTell);
        let words = Verdict::SmallerOpen.on_times(Matters::default());
        assert_eq!(words, "shorter, but perhaps by less than 5 %");
        assert_eq!(Verdict::of(Some(Ratio::bare(0.0)), Matters::default()), Verdict::Vanishes);
        // The 90 % interval ends at 1.049, the 95 % interval beyond 1.05: two one-sided tests call that equivalent.
        assert_eq!(verdict(1.00, 0.061), Verdict::Equivalent);
        assert_eq!(Verdict::of(Some(Ratio::bare(0.5)), Matters::default()), Verdict::NotTested);
        assert_eq!(Verdict::of(None, Matters::default()), Verdict::CannotTell);
    }

    #[test]
    fn a_change_matters_beyond_the_bound_and_a_second() {
        let change = |before, after| Matters::default().change(before, after);
        assert_eq!([change(1e5, 1.06e5), change(1e5, 1.04e5)], [Ordering::Greater, Ordering::Equal]);
        assert_eq!([change(1e5, 0.94e5), change(100.0, 900.0)], [Ordering::Less, Ordering::Equal]);
    }

    #[test]
    fn a_bound_is_a_percentage() {
        let bound: Matters = " 2.5 % ".parse().unwrap();
        assert_eq!((bound.share(), bound.to_string()), (0.025, "2.5 %".to_owned()));
        for wrong in ["5", "0%", "100%", "-3%", "NaN%", "%", ""] {
            assert!(wrong.parse::<Matters>().unwrap_err().contains("such as 5%"), "{wrong}");
        }
    }

    // By hand: t of 4 degrees is 2.7764451 at 97.5 % and 2.1318468 at 95 %.
    #[test]
    fn intervals_are_students_on_the_scale_of_logarithms() {
        let found = Ratio::of_log(0.5f64.ln(), 0.1, 5);
        let [low, high] = found.interval.unwrap();
        assert!(
            (low - 0.5 * (-0.277_644_51f64).exp()).abs() < 1e-6 && (high - 0.5 * 0.277_644_51f64.exp()).abs() < 1e-6
        );
        let [low, high] = found.interval_90.unwrap();
        assert!(
            (low - 0.5 * (-0.213_184_68f64).exp()).abs() < 1e-6 && (high - 0.5 * 0.213_184_68f64.exp()).abs() < 1e-6
        );
        assert_eq!(Ratio::of_log(0.0, 0.1, 1), Ratio::bare(1.0));
        assert_eq!(Ratio::of_log(0.0, f64::NAN, 5), Ratio::bare(1.0));
    }
}
