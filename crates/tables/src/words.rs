//! Numbers and texts as people read them.

use std::borrow::Cow;

use num_format::{Locale, ToFormattedString};

/// A whole number with commas between its thousands, as in "345,562".
pub fn count(number: u64) -> String {
    number.to_formatted_string(&Locale::en)
}

/// A number with its sign and one decimal. The minus is a true one (U+2212), as in all texts, so that a search finds each.
pub fn signed(value: f64) -> String {
    format!("{value:+.1}").replace('-', "−")
}

/// A relative change with its sign, in per cent: −0.355 is "−35.5 %".
pub fn change_in_percent(change: f64) -> String {
    format!("{} %", signed(100.0 * change))
}

/// A number of things, whose name for one is `thing`: `1 job`, `2,000 jobs`.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Several phrases as one: `a, b and c`.
pub fn all_of(phrases: &[String]) -> String {
    match phrases {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// How much was left out for each cause, as the end of a clause: ` (left out: 25 × killed-job, 3 × job-without-submit)`. Empty for nothing.
pub fn left_out<'c, C: AsRef<str> + 'c>(causes: impl IntoIterator<Item = (&'c C, &'c u64)>) -> String {
    let each = causes.into_iter().map(|(cause, number)| format!("{} × {}", count(*number), cause.as_ref()));
    let each: Vec<String> = each.collect();
    if each.is_empty() { String::new() } else { format!(" (left out: {})", each.join(", ")) }
}

/// Milliseconds as seconds, minutes or hours, whichever reads best.
pub fn duration(ms: f64) -> String {
    TimeUnit::of([ms]).show(ms)
}

/// A unit in which times are read. Times that are compared share one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeUnit {
    ms: f64,
    name: &'static str,
    /// The time from which on it is used, ms.
    from: f64,
}

/// The longest unit, which only axes have.
const DAY: TimeUnit = TimeUnit { ms: 86_400_000.0, name: "d", from: 432_000_000.0 };

impl TimeUnit {
    /// The units of texts, the longest first.
    pub const ALL: [Self; 3] = [
        Self { ms: 3_600_000.0, name: "h", from: 7_200_000.0 },
        Self { ms: 60_000.0, name: "min", from: 120_000.0 },
        Self { ms: 1_000.0, name: "s", from: 0.0 },
    ];

    /// That in which a time reads best.
    fn for_one(ms: f64) -> Self {
        let [hour, minute, second] = Self::ALL;
        match ms {
            ms if ms >= hour.from => hour,
            ms if ms >= minute.from => minute,
            _ => second,
        }
    }

    /// That in which an axis up to `max_ms` reads best. Long axes have days.
    pub fn for_axis(max_ms: f64) -> Self {
        if max_ms >= DAY.from { DAY } else { Self::for_one(max_ms) }
    }

    /// Its name, its length and the time from which on it is used, both ms.
    pub fn rule(self) -> (&'static str, f64, f64) {
        (self.name, self.ms, self.from)
    }

    /// A time in ms as a plain number of this unit.
    pub fn amount(self, ms: f64) -> f64 {
        ms / self.ms
    }

    /// That in which the median of these times (ms) reads best. Zero reads well in each.
    pub fn of(times: impl IntoIterator<Item = f64>) -> Self {
        let mut sizes: Vec<f64> = times.into_iter().map(f64::abs).filter(|ms| *ms > 0.0 && ms.is_finite()).collect();
        sizes.sort_by(f64::total_cmp);
        let middle = |place: usize| sizes.get(place).copied().unwrap_or(0.0);
        let median = f64::midpoint(middle(sizes.len().saturating_sub(1) / 2), middle(sizes.len() / 2));
        Self::for_one(median)
    }

    /// Its name, such as "min".
    pub fn name(self) -> &'static str {
        self.name
    }

    /// A time in ms as a number in this unit. A short one keeps a digit that says something.
    pub fn number(self, ms: f64) -> String {
        let amount = self.amount(ms);
        let decimals = match amount.abs() {
            size if size > 0.0 && size < 0.01 => 3,
            size if size > 0.0 && size < 0.1 => 2,
            _ => 1,
        };
        format!("{amount:.decimals$}")
    }

    /// A time in ms in this unit, with its name.
    pub fn show(self, ms: f64) -> String {
        format!("{} {}", self.number(ms), self.name)
    }

    /// Two times in ms that are compared, in one unit that is named once: `97.5 → 4.3 s`. They keep enough digits to show a change of a
    /// per cent.
    pub fn pair([before, after]: [f64; 2]) -> String {
        let unit = Self::of([before, after]);
        let [one, other] = [before, after].map(|ms| unit.amount(ms).abs());
        let decimals = if one.min(other) >= 10.0 { 1 } else { 2 };
        format!("{:.decimals$} → {:.decimals$} {}", unit.amount(before), unit.amount(after), unit.name)
    }
}

/// Escapes control and bidirectional characters, except newline and tab, as in `\u001b`. The
/// form is that of JSON, so a JSON text keeps its meaning.
pub fn visible(text: &str) -> Cow<'_, str> {
    with_escapes(text, |letter| is_steering(letter) && !matches!(letter, '\n' | '\t'))
}

/// A name from a source, on one line: as [`visible`], and ends of lines and tabs are written so, too.
pub fn name(text: &str) -> Cow<'_, str> {
    with_escapes(text, is_steering)
}

/// The longest line of a message (characters). A path of usual length and what is said about it fit.
pub const LONGEST_LINE: usize = 1_000;

/// A message about a source: as [`visible`], and the middle of a line that is too long is left out. The place at its beginning and the
/// remedy at its end stay.
pub fn message(text: &str) -> String {
    const HEAD: usize = 700;
    const TAIL: usize = LONGEST_LINE - HEAD;
    let shown = |line: &str| {
        let length = line.chars().count();
        if length <= LONGEST_LINE {
            return visible(line).into_owned();
        }
        let head: String = line.chars().take(HEAD).collect();
        let tail: String = line.chars().skip(length - TAIL).collect();
        let left_out = count((length - LONGEST_LINE) as u64);
        format!("{} … ({left_out} characters left out) … {}", visible(&head), visible(&tail))
    };
    text.split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

/// A cell of a CSV table. A spreadsheet takes a text that begins with one of these characters for a formula, so an apostrophe is put
/// before it. Numbers stay as they are. Source: OWASP, CSV Injection.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if is_formula { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Controls (C0, DEL, C1), ends of lines and paragraphs, the marks that set the direction of text (Unicode TR 9), and the deprecated ones
/// that set its shape.
fn is_steering(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

fn with_escapes(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let escaped = |letter: char| if is_escaped(letter) { format!("\\u{:04x}", letter as u32) } else { letter.into() };
    Cow::Owned(text.chars().map(escaped).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_listed_with_their_numbers() {
        let none: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
        assert_eq!(left_out(&none), "");
        let two = std::collections::BTreeMap::from([("killed-job", 2_500), ("odd", 1)]);
        assert_eq!(left_out(&two), " (left out: 2,500 × killed-job, 1 × odd)");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn times_have_the_unit_that_reads_best() {
        assert_eq!([90_500.0, 600_000.0, 9e6, -500.0].map(duration), ["90.5 s", "10.0 min", "2.5 h", "-0.5 s"]);
    }

    #[test]
    fn times_that_are_compared_share_the_unit_of_their_median() {
        let row = |ms: &[f64]| -> Vec<String> {
            let unit = TimeUnit::of(ms.iter().copied());
            ms.iter().map(|ms| unit.show(*ms)).collect()
        };
        assert_eq!(row(&[132e3, 106.8e3, 140e3]), ["2.2 min", "1.8 min", "2.3 min"]);
        assert_eq!(row(&[97.5e3, 3e3, 3.5e3, 4.3e3]), ["97.5 s", "3.0 s", "3.5 s", "4.3 s"]);
        assert_eq!(row(&[36_000e3, 60e3, 50_000e3]), ["10.0 h", "0.02 h", "13.9 h"], "a short one keeps a digit");
        assert_eq!(row(&[0.0, 5.0, -20.0, f64::NAN]), ["0.0 s", "0.005 s", "-0.02 s", "NaN s"]);
        assert_eq!([row(&[]), row(&[0.0, 8e6])].concat(), ["0.0 h", "2.2 h"]);
    }

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        assert_eq!(
            visible("a\u{1b}[31m\u{7}\r\n\tb\u{202e}c\u{9b}\u{7f}"),
            "a\\u001b[31m\\u0007\\u000d\n\tb\\u202ec\\u009b\\u007f"
        );
        assert_eq!(name("a\nb\tc\u{2066}"), "a\\u000ab\\u0009c\\u2066");
        assert!(matches!(visible("日本語 🎉 é – plain"), Cow::Borrowed(_)));
        let json = "{\"name\":\"a\u{202e}b\u{9b}\"}";
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        assert_eq!(read(&visible(json)), read(json));
    }

    #[test]
    fn a_long_line_keeps_its_ends() {
        let reported = message(&format!(
            "w.toml: line 1, expected a number, found \"{}é\u{1b}\"; correct it\nsecond",
            "x".repeat(50_000_000)
        ));
        assert!(reported.len() < 1_200, "{}", reported.len());
        assert!(
            reported.starts_with("w.toml: line 1, expected") && reported.contains("characters left out"),
            "{reported}"
        );
        assert!(reported.ends_with("é\\u001b\"; correct it\nsecond"), "{reported}");
        assert_eq!(message("short"), "short");
    }

    /// Characters, not bytes.
    #[test]
    fn a_line_at_the_limit_is_whole_and_a_longer_one_lacks_its_middle() {
        let at = "é".repeat(LONGEST_LINE);
        assert_eq!(message(&format!("{at}\n{at}")), format!("{at}\n{at}"));
        let beyond = message(&format!("{at}x"));
        assert!(beyond.contains("é … (1 characters left out) … é") && beyond.ends_with("éx"), "{beyond}");
    }

    #[test]
    fn formulas_are_texts_and_numbers_stay_numbers() {
        for formula in ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-"] {
            assert_eq!(csv_cell(formula), format!("'{formula}"));
        }
        for other in ["", "-5", "+3.5", "-1e-9", "-inf", "a=b", "fair", "0"] {
            assert_eq!(csv_cell(other), other);
        }
    }
}
