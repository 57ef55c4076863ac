//! Filters over jobs, in the three-valued logic of SQL.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::attribute::{Number, Text};
use super::quantity::Quantity;
use crate::JobMetrics;

/// A job, with what a filter asks about it beside its metrics.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) job: &'a JobMetrics,
    /// Whether it is among the smaller half of the jobs.
    /// When it was submitted by the clock of the trace, or of the run if the trace has no dates, ms.
    pub(super) submit: Option<i64>,
    pub(super) is_small: bool,
    /// Whether it is among the largest tenth.
    pub(super) is_large: bool,
}

/// A filter. It holds, does not hold, or is unknown.
#[derive(Debug, Clone)]
pub(super) enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Not(Box<Filter>),
    Test(Test),
}

/// A test of one attribute or quantity.
#[derive(Debug, Clone)]
pub(super) struct Test {
    /// The name of what is tested.
    pub(super) name: &'static str,
    pub(super) check: Check,
}

/// How a job is tested.
#[derive(Debug, Clone)]
pub(super) enum Check {
    Text(Text, TextTest),
    Number(Of, NumberTest),
    /// One of these words holds for the job.
    Class(fn(&Subject<'_>, &str) -> bool, Vec<String>),
    /// The text and the number are unknown.
    Unknown(Option<Text>, Option<Of>),
}

/// Where a number comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Of {
    Attribute(Number),
    Quantity(&'static Quantity),
}

#[derive(Debug, Clone)]
pub(super) enum TextTest {
    OneOf(Vec<String>),
    Like(Pattern),
}

#[derive(Debug, Clone)]
pub(super) enum NumberTest {
    OneOf(Vec<f64>),
    Compare(Comparison, f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Filter {
    /// Whether it holds for a job; `None` if that is unknown.
    pub(super) fn holds(&self, subject: &Subject<'_>) -> Option<bool> {
        match self {
            Self::All(parts) => decided_by(false, parts, subject),
            Self::Any(parts) => decided_by(true, parts, subject),
            Self::Not(part) => part.holds(subject).map(|holds| !holds),
            Self::Test(test) => test.check.holds(subject),
        }
    }

    /// Whether it tests the attribute or quantity of that name.
    pub(super) fn names(&self, name: &str) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.names(name)),
            Self::Not(part) => part.names(name),
            Self::Test(test) => test.name == name,
        }
    }
}

/// The first part with this value decides. Otherwise, an unknown part makes the whole unknown.
fn decided_by(value: bool, parts: &[Filter], subject: &Subject<'_>) -> Option<bool> {
    let mut all_known = true;
    for part in parts {
        match part.holds(subject) {
            Some(found) if found == value => return Some(value),
            Some(_) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(!value)
}

impl Check {
    fn holds(&self, subject: &Subject<'_>) -> Option<bool> {
        match self {
            Self::Text(of, test) => of(subject).map(|text| test.holds(&text)),
            Self::Number(of, test) => of.of(subject).map(|number| test.holds(number)),
            Self::Class(holds, words) => Some(words.iter().any(|word| holds(subject, word))),
            Self::Unknown(text, number) => {
                let known: Option<Cow<'_, str>> = text.and_then(|of| of(subject));
                Some(known.is_none() && number.and_then(|of| of.of(subject)).is_none())
            }
        }
    }
}

impl Of {
    fn of(self, subject: &Subject<'_>) -> Option<f64> {
        match self {
            Self::Attribute(of) => of(subject),
            Self::Quantity(quantity) => (quantity.of)(subject.job),
        }
    }
}

impl TextTest {
    fn holds(&self, text: &str) -> bool {
        match self {
            Self::OneOf(texts) => texts.iter().any(|one| one == text),
            Self::Like(pattern) => pattern.matches(text),
        }
    }
}

impl NumberTest {
    fn holds(&self, number: f64) -> bool {
        match self {
            Self::OneOf(numbers) => numbers.contains(&number),
            Self::Compare(comparison, with) => number.partial_cmp(with).is_some_and(|found| match comparison {
                Comparison::Less => found == Ordering::Less,
                Comparison::AtMost => found != Ordering::Greater,
                Comparison::More => found == Ordering::Greater,
                Comparison::AtLeast => found != Ordering::Less,
            }),
        }
    }
}

/// A pattern of `like`: `%` stands for any text, `_` for any character.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern(pub(super) Vec<char>);

impl Pattern {
    /// Whether it matches the whole text. When a character does not match, the last `%` takes one more character, so the work
    /// is at most the product of the two lengths.
    fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut at, mut place) = (0, 0);
        let mut last: Option<(usize, usize)> = None;
        while at < text.len() {
            match self.0.get(place) {
                Some('%') => {
                    last = Some((place, at));
                    place += 1;
                }
                Some(&c) if c == '_' || text.get(at) == Some(&c) => {
                    at += 1;
                    place += 1;
                }
                _ => match last {
                    Some((wildcard, from)) => {
                        last = Some((wildcard, from + 1));
                        (place, at) = (wildcard + 1, from + 1);
                    }
                    None => return false,
                },
            }
        }
        self.0.iter().skip(place).all(|&c| c == '%')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_the_whole_text() {
        let matches = |pattern: &str, text: &str| Pattern(pattern.chars().collect()).matches(text);
        for (pattern, text) in [
            ("", ""),
            ("%", ""),
            ("a%", "adhoc"),
            ("%hoc", "adhoc"),
            ("a_h%", "adhoc"),
            ("%a%b%", "xaxaxbx"),
            ("é_", "éa"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "a"), ("a", "ab"), ("_", ""), ("a%b", "abc"), ("%aab", "aaab "), ("A%", "adhoc")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
