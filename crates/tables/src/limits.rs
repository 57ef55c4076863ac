//! The limits of resched. Each crate lists its own, from the constants that it enforces; `docs/limits.md` is made of the lists.

use crate::words::{LONGEST_LINE, count, counted};

/// A limit, for people.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The thing that is limited.
    pub what: &'static str,
    /// How much of it there may be.
    pub most: Amount,
    /// The option that sets it; empty if there is none.
    pub option: &'static str,
    /// What happens beyond it, and why there is a limit.
    pub beyond: &'static str,
}

/// An amount with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Milliseconds.
    Ms(i64),
    /// A number of things.
    Number(u64),
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Number(number) => f.write_str(&count(number)),
            Self::Ms(ms) => f.write_str(&counted(ms.unsigned_abs() / 86_400_000, "day")),
            Self::Bytes(bytes) => {
                let units =
                    [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1_000_000_000, "GB")];
                match units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
                    Some((unit, name)) => write!(f, "{} {name}", bytes / unit),
                    None => write!(f, "{} bytes", count(bytes)),
                }
            }
        }
    }
}

impl Limit {
    /// A limit of bytes that no option changes.
    pub const fn bytes(what: &'static str, most: u64, beyond: &'static str) -> Self {
        Self { what, most: Amount::Bytes(most), option: "", beyond }
    }

    /// A limit of a number of things that no option changes.
    pub const fn number(what: &'static str, most: u64, beyond: &'static str) -> Self {
        Self { what, most: Amount::Number(most), option: "", beyond }
    }

    /// A limit of a time that no option changes.
    pub const fn ms(what: &'static str, most: i64, beyond: &'static str) -> Self {
        Self { what, most: Amount::Ms(most), option: "", beyond }
    }

    /// The same limit, which this option sets.
    #[must_use]
    pub const fn set_by(self, option: &'static str) -> Self {
        Self { option, ..self }
    }
}

/// The limits of messages.
pub const MESSAGES: &[Limit] = &[Limit::number(
    "characters of a line of an error or a warning",
    LONGEST_LINE as u64,
    "The middle of the line is left out, and the message says how much.",
)];
