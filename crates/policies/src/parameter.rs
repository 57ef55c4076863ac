//! The parameters of policies and speculators: what each is called, what values it takes, what it does.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::Error;
use crate::nearest::nearest;

/// A parameter of a policy or a speculator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// The key by which it is set.
    pub key: &'static str,
    /// What values it takes.
    pub range: Range,
    /// Its value if it is not set.
    pub default: &'static str,
    /// The unit of the value, if it has one.
    pub unit: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// The properties of Hadoop that set it at a site; the first one that is set counts.
    pub hadoop: &'static [&'static str],
}

/// What values a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Whole numbers, both ends included.
    Integer(i64, i64),
    /// Numbers, both ends included.
    Number(f64, f64),
    /// `true` or `false`.
    Boolean,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The path of a file; empty: none.
    File,
}

impl Range {
    /// The value that this text stands for, if it is within the range.
    pub(crate) fn parse(self, text: &str) -> Option<Value> {
        match self {
            Range::Integer(low, high) => {
                text.parse().ok().filter(|value| (low..=high).contains(value)).map(Value::Integer)
            }
            Range::Number(low, high) => {
                text.parse().ok().filter(|value| (low..=high).contains(value)).map(Value::Number)
            }
            Range::Boolean => text.parse().ok().map(Value::Boolean),
            Range::Choice(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
            Range::File => Some(Value::Text(text.to_owned())),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Integer(low, high) => write!(f, "{low}..{high}"),
            Range::Number(low, high) => write!(f, "{low}..{high}"),
            Range::Boolean => f.write_str("true|false"),
            Range::Choice(words) => f.write_str(&words.join("|")),
            Range::File => f.write_str("file"),
        }
    }
}

impl Parameter {
    pub(crate) const fn integer(
        key: &'static str,
        default: &'static str,
        low: i64,
        high: i64,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { key, range: Range::Integer(low, high), default, unit, meaning, hadoop: &[] }
    }

    pub(crate) const fn number(
        key: &'static str,
        default: &'static str,
        low: f64,
        high: f64,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { key, range: Range::Number(low, high), default, unit, meaning, hadoop: &[] }
    }

    pub(crate) const fn boolean(key: &'static str, default: &'static str, meaning: &'static str) -> Self {
        Self { key, range: Range::Boolean, default, unit: "", meaning, hadoop: &[] }
    }

    pub(crate) const fn choice(
        key: &'static str,
        default: &'static str,
        words: &'static [&'static str],
        meaning: &'static str,
    ) -> Self {
        Self { key, range: Range::Choice(words), default, unit: "", meaning, hadoop: &[] }
    }

    pub(crate) const fn file(key: &'static str, meaning: &'static str) -> Self {
        Self { key, range: Range::File, default: "", unit: "", meaning, hadoop: &[] }
    }

    /// With the properties of Hadoop that set it at a site.
    pub(crate) const fn hadoop(self, properties: &'static [&'static str]) -> Self {
        Self { hadoop: properties, ..self }
    }

    /// The value that this text stands for, or what was expected.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, Error> {
        self.range.parse(text).ok_or_else(|| {
            let hint = match self.range {
                Range::Choice(words) => nearest(text, words.iter().copied()),
                _ => String::new(),
            };
            Error::Parameter(format!("{}: expected {}, found `{text}`{hint}", self.key, self.range))
        })
    }
}

/// A value of a parameter or of a setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Text(String),
}

/// The values of all parameters of a policy or a speculator, each within its range.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Values(pub(crate) BTreeMap<&'static str, Value>);

impl Values {
    pub(crate) fn integer(&self, key: &str) -> i64 {
        match self.0.get(key) {
            Some(&Value::Integer(value)) => value,
            other => undeclared(key, other),
        }
    }

    pub(crate) fn number(&self, key: &str) -> f64 {
        match self.0.get(key) {
            Some(&Value::Number(value)) => value,
            other => undeclared(key, other),
        }
    }

    pub(crate) fn boolean(&self, key: &str) -> bool {
        match self.0.get(key) {
            Some(&Value::Boolean(value)) => value,
            other => undeclared(key, other),
        }
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        match self.0.get(key) {
            Some(Value::Text(value)) => value,
            other => undeclared(key, other),
        }
    }
}

/// A policy reads a parameter that it does not declare so: a slip in its own file, which its first test meets.
fn undeclared<T: Default>(key: &str, found: Option<&Value>) -> T {
    debug_assert!(false, "parameter `{key}` is declared as {found:?}");
    T::default()
}
