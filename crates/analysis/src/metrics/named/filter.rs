//! Filters over jobs, in the three-valued logic of SQL: a filter holds for a job, does not hold, or is unknown (`None`).

use resched_tables::run::RunClock;

use super::getters::{Number, Text};
use super::sizes::Sizes;
use crate::JobMetrics;
use crate::metrics::list::Quantity;

/// What a filter needs to know beside the job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// The bounds of the classes of size.
    pub(super) sizes: Sizes,
    /// How the clock of the run relates to that of the trace.
    pub(super) clock: RunClock,
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

/// True if the word holds for the job.
pub(super) type Class = fn(Sizes, &JobMetrics, &str) -> bool;

/// How a job is tested.
#[derive(Debug, Clone)]
pub(super) enum Check {
    Text(Text, TextTest),
    Number(Of, NumberTest),
    /// One of these words holds for the job.
    Class(Class, Vec<String>),
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
    /// True if it holds for the job; `None` if that is unknown.
    pub(super) fn holds(&self, job: &JobMetrics, context: &Context) -> Option<bool> {
        match self {
            Self::All(parts) => all(parts.iter().map(|part| part.holds(job, context))),
            Self::Any(parts) => any(parts.iter().map(|part| part.holds(job, context))),
            Self::Not(part) => part.holds(job, context).map(|holds| !holds),
            Self::Test(test) => test.check.holds(job, context),
        }
    }

    /// True if it tests the attribute or quantity of that name.
    pub(super) fn names(&self, name: &str) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.names(name)),
            Self::Not(part) => part.names(name),
            Self::Test(test) => test.name == name,
        }
    }
}

/// SQL's `AND`: one part that does not hold decides, whatever is unknown.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    any(parts.map(|part| part.map(|holds| !holds))).map(|fails| !fails)
}

/// SQL's `OR`: one part that holds decides, whatever is unknown.
fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = true;
    for part in parts {
        if part == Some(true) {
            return Some(true);
        }
        known &= part.is_some();
    }
    known.then_some(false)
}

impl Check {
    fn holds(&self, job: &JobMetrics, context: &Context) -> Option<bool> {
        match self {
            Self::Text(of, test) => of(job).map(|text| match test {
                TextTest::OneOf(texts) => texts.iter().any(|one| one == text),
                TextTest::Like(pattern) => pattern.matches(text),
            }),
            Self::Number(of, test) => of.of(job, context.clock).map(|number| match test {
                NumberTest::OneOf(numbers) => numbers.contains(&number),
                NumberTest::Compare(Comparison::Less, with) => number < *with,
                NumberTest::Compare(Comparison::AtMost, with) => number <= *with,
                NumberTest::Compare(Comparison::More, with) => number > *with,
                NumberTest::Compare(Comparison::AtLeast, with) => number >= *with,
            }),
            Self::Class(holds, words) => Some(words.iter().any(|word| holds(context.sizes, job, word))),
            Self::Unknown(text, number) => {
                let has_text = text.is_some_and(|of| of(job).is_some());
                Some(!has_text && number.is_none_or(|of| of.of(job, context.clock).is_none()))
            }
        }
    }
}

impl Of {
    fn of(self, job: &JobMetrics, clock: RunClock) -> Option<f64> {
        match self {
            Self::Attribute(of) => of(job, clock),
            Self::Quantity(quantity) => (quantity.of)(job),
        }
    }
}

/// A pattern of `like`: `%` stands for any text, `_` for any character.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern(pub(super) Vec<char>);

impl Pattern {
    /// True if it matches the whole text. When a character does not match, the last `%` takes one more character, so the work
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
    fn what_is_unknown_decides_only_where_nothing_else_does() {
        let (yes, no, unknown) = (Some(true), Some(false), None);
        for (parts, of_all, of_any) in [
            (vec![], yes, no),
            (vec![yes, no], no, yes),
            (vec![yes, unknown], unknown, yes),
            (vec![unknown, no], no, unknown),
            (vec![unknown, unknown], unknown, unknown),
        ] {
            assert_eq!((all(parts.iter().copied()), any(parts.iter().copied())), (of_all, of_any), "{parts:?}");
        }
    }

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
