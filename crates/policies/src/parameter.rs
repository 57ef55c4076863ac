//! The parameters of policies and speculators: key, values and meaning.

use std::fmt;

use crate::error::Error;
use resched_tables::reference::nearest;

/// A parameter of a policy or a speculator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// The key by which you set it.
    pub key: &'static str,
    /// Its range of values.
    pub range: Range,
    /// Whether `auto` is also a value. It leaves the choice to the policy, as the meaning explains. Holds the numbers by which the
    /// properties of Hadoop mean it. Your own value is `auto` only if you write that word.
    pub auto: Option<Signal>,
    /// Its value if you do not set it.
    pub default: &'static str,
    /// The unit of the value, if it has one.
    pub unit: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// The properties of Hadoop that set it at a site. The first one that is set counts.
    pub hadoop: &'static [&'static str],
}

/// The range of values of a parameter.
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
    /// The path of a file; empty if there is none.
    File,
    /// A text in a form that the meaning explains; empty if there is none.
    Text,
}

/// Numbers that mean `auto` in the configuration of a Hadoop site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// None: no property of Hadoop sets it.
    Nothing,
    /// −1, and numbers between −1 and 0.
    Negative,
    /// −1, 0 and numbers between them.
    NotPositive,
}

/// The value that leaves the choice to the policy.
pub(crate) const AUTO: &str = "auto";

/// A value of a parameter or of a setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Text(String),
    Auto,
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
            Range::File | Range::Text => Some(Value::Text(text.to_owned())),
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
            Range::Text => f.write_str("text"),
        }
    }
}

impl Signal {
    fn stands_for_auto(self, text: &str) -> bool {
        text.parse::<f64>().is_ok_and(|number| match self {
            Self::Nothing => false,
            Self::Negative => (-1.0..0.0).contains(&number),
            Self::NotPositive => (-1.0..=0.0).contains(&number),
        })
    }
}

impl Parameter {
    /// Its values in words: its range, and `auto` if that is a value.
    pub fn expected(&self) -> String {
        let auto = if self.auto.is_some() { "auto|" } else { "" };
        format!("{auto}{}", self.range)
    }

    /// The value of a property of Hadoop as you would write it: a number that means `auto` there becomes that word.
    pub(crate) fn of_hadoop<'t>(&self, text: &'t str) -> &'t str {
        if self.auto.is_some_and(|signal| signal.stands_for_auto(text)) { AUTO } else { text }
    }

    /// The value that a text stands for.
    ///
    /// # Errors
    /// [`Error::Parameter`], which says what was expected.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, Error> {
        if self.auto.is_some() && text == AUTO {
            return Ok(Value::Auto);
        }
        self.range.parse(text).ok_or_else(|| {
            let hint = match self.range {
                Range::Choice(words) => nearest(text, words.iter().copied()),
                // Hadoop has such numbers, and a value is never replaced by another one.
                _ if self.auto.is_some() && text.parse::<f64>().is_ok() => {
                    "; write `auto` to leave the choice to the policy".to_owned()
                }
                _ => String::new(),
            };
            Error::Parameter(format!("{}: expected {}, found `{text}`{hint}", self.key, self.expected()))
        })
    }
}
