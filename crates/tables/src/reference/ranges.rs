//! Ranges of numbers, and their check.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::ops::{RangeFrom, RangeInclusive};

use serde::de::Unexpected;

use super::below;

/// A range of numbers. It shows as in `expected a number from 1 to 10`, from `from` on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits<N> {
    low: N,
    above: bool,
    high: Option<N>,
}

/// Numbers above `low`, which is not one of them.
pub fn above<N>(low: N) -> Limits<N> {
    Limits { low, above: true, high: None }
}

impl<N> From<RangeFrom<N>> for Limits<N> {
    fn from(range: RangeFrom<N>) -> Self {
        Self { low: range.start, above: false, high: None }
    }
}

impl<N> From<RangeInclusive<N>> for Limits<N> {
    fn from(range: RangeInclusive<N>) -> Self {
        let (low, high) = range.into_inner();
        Self { low, above: false, high: Some(high) }
    }
}

impl<N: Number> Limits<N> {
    /// Whether a number lies inside. Infinity and NaN never do.
    pub fn hold(&self, number: N) -> bool {
        let low = if self.above { number > self.low } else { number >= self.low };
        low && self.high.is_none_or(|high| number <= high) && number.is_finite()
    }
}

impl<N: Display> Display for Limits<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.above { "above" } else { "from" }, self.low)?;
        self.high.as_ref().map_or(Ok(()), |high| write!(f, " to {high}"))
    }
}

/// A type of numbers.
pub trait Number: Copy + PartialOrd + Display {
    /// Whether it is a number and finite.
    fn is_finite(self) -> bool {
        true
    }

    /// How serde's errors name it.
    fn unexpected(self) -> Unexpected<'static>;
}

impl Number for f64 {
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }

    fn unexpected(self) -> Unexpected<'static> {
        Unexpected::Float(self)
    }
}

/// A number outside its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Outside<N> {
    /// The number.
    pub number: N,
    /// The key below that of the value where it stands; empty for the value itself.
    pub key: String,
}

/// What holds numbers of one type and can be checked against a range.
pub trait Bounded {
    /// The type of the numbers.
    type Number: Number;

    /// The first number outside `limits`.
    fn outside(&self, limits: &Limits<Self::Number>) -> Option<Outside<Self::Number>>;
}

macro_rules! bounded {
    ($($integer:ident $unexpected:ident,)+) => {
        $(impl Number for $integer {
            fn unexpected(self) -> Unexpected<'static> {
                Unexpected::$unexpected(self.into())
            }
        })+
        bounded!($($integer)+ f64);
    };
    ($($number:ident)+) => {
        $(impl Bounded for $number {
            type Number = Self;
            fn outside(&self, limits: &Limits<Self>) -> Option<Outside<Self>> {
                (!limits.hold(*self)).then(|| Outside { number: *self, key: String::new() })
            }
        })+
    };
}

bounded!(u32 Unsigned, u64 Unsigned, i64 Signed,);

impl<T: Bounded> Bounded for Option<T> {
    type Number = T::Number;
    fn outside(&self, limits: &Limits<T::Number>) -> Option<Outside<T::Number>> {
        self.as_ref().and_then(|value| value.outside(limits))
    }
}

impl<T: Bounded, const N: usize> Bounded for [T; N] {
    type Number = T::Number;
    fn outside(&self, limits: &Limits<T::Number>) -> Option<Outside<T::Number>> {
        self.iter().find_map(|value| value.outside(limits))
    }
}

impl<T: Bounded> Bounded for BTreeMap<String, T> {
    type Number = T::Number;
    fn outside(&self, limits: &Limits<T::Number>) -> Option<Outside<T::Number>> {
        self.iter().find_map(|(key, value)| Some(Outside { key: key.clone(), ..value.outside(limits)? }))
    }
}

/// Checks the key `path` against its range.
///
/// # Errors
/// Which key is wrong, what was expected and what was found.
pub fn check_range<T: Bounded>(value: &T, path: &str, range: impl Into<Limits<T::Number>>) -> Result<(), String> {
    let limits = range.into();
    match value.outside(&limits) {
        None => Ok(()),
        Some(Outside { number, key }) => {
            let path = if key.is_empty() { path.to_owned() } else { below(path, &key) };
            Err(format!("{path}: expected a number {limits}, found {number}"))
        }
    }
}
