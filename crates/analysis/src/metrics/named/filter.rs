//! Filters over jobs, in the three-valued logic of SQL: each is a mask over the columns of jobs, in which null is unknown.

use polars::prelude::{BooleanChunked, ChunkCompareEq, ChunkCompareIneq, NewChunkedArray, PlSmallStr};
use resched_tables::run::RunClock;

use super::columns::Columns;
use super::getters::{Number, Text};
use crate::JobMetrics;
use crate::metrics::list::Quantity;

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

/// Which jobs a word holds for.
pub(super) type Class = fn(&Columns<'_, '_>, &str) -> BooleanChunked;

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
    /// For which of the jobs it holds; null where that is unknown.
    pub(super) fn mask(&self, jobs: &Columns<'_, '_>) -> BooleanChunked {
        match self {
            Self::All(parts) => joined(jobs, true, parts.iter().map(|part| part.mask(jobs)), |one, other| one & other),
            Self::Any(parts) => joined(jobs, false, parts.iter().map(|part| part.mask(jobs)), |one, other| one | other),
            Self::Not(part) => !part.mask(jobs),
            Self::Test(test) => test.check.mask(jobs),
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

/// The masks joined; without any, all have the value of `none`.
fn joined(
    jobs: &Columns<'_, '_>,
    none: bool,
    masks: impl Iterator<Item = BooleanChunked>,
    join: fn(&BooleanChunked, &BooleanChunked) -> BooleanChunked,
) -> BooleanChunked {
    let all = masks.reduce(|one, other| join(&one, &other));
    all.unwrap_or_else(|| BooleanChunked::from_iter_values(PlSmallStr::EMPTY, jobs.jobs.iter().map(|_| none)))
}

impl Check {
    fn mask(&self, jobs: &Columns<'_, '_>) -> BooleanChunked {
        let any =
            |masks: &mut dyn Iterator<Item = BooleanChunked>| joined(jobs, false, masks, |one, other| one | other);
        match self {
            Self::Text(of, TextTest::OneOf(texts)) => {
                let column = jobs.text(*of);
                any(&mut texts.iter().map(|text| column.equal(text.as_str())))
            }
            Self::Text(of, TextTest::Like(pattern)) => {
                let matches = |text: Option<&str>| text.map(|text| pattern.matches(text));
                BooleanChunked::from_iter_options(PlSmallStr::EMPTY, jobs.text(*of).iter().map(matches))
            }
            Self::Number(of, NumberTest::OneOf(numbers)) => {
                let column = jobs.number(of.of(jobs.clock));
                any(&mut numbers.iter().map(|number| column.equal(*number)))
            }
            Self::Number(of, NumberTest::Compare(comparison, with)) => {
                let column = jobs.number(of.of(jobs.clock));
                match comparison {
                    Comparison::Less => column.lt(*with),
                    Comparison::AtMost => column.lt_eq(*with),
                    Comparison::More => column.gt(*with),
                    Comparison::AtLeast => column.gt_eq(*with),
                }
            }
            Self::Class(holds, words) => any(&mut words.iter().map(|word| holds(jobs, word))),
            Self::Unknown(text, number) => {
                let text = text.map(|of| jobs.text(of).is_null());
                let number = number.map(|of| jobs.number(of.of(jobs.clock)).is_null());
                joined(jobs, true, text.into_iter().chain(number), |one, other| one & other)
            }
        }
    }
}

impl Of {
    fn of(self, clock: RunClock) -> impl Fn(&JobMetrics) -> Option<f64> {
        move |job| match self {
            Self::Attribute(of) => of(job, clock),
            Self::Quantity(quantity) => (quantity.of)(job),
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
