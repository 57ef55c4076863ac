//! Patterns of texts: `*` stands for any text, `?` for one letter. Case does not count.
//!
//! A map is written by strangers, so a pattern has a bounded length, and matching takes at most the product of the two lengths. There
//! are no regular expressions.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

/// The longest pattern, bytes.
pub(crate) const LONGEST: usize = 256;
/// No more of a text is looked at, bytes.
const LONGEST_TEXT: usize = 4 << 10;

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(Vec<u8>);

impl Pattern {
    /// The pattern in a text; `None` if it is too long.
    pub(super) fn of(text: &str) -> Option<Self> {
        (text.len() <= LONGEST).then(|| Self(text.trim().to_ascii_lowercase().into_bytes()))
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        let text = text.trim().as_bytes();
        let text = text.get(..LONGEST_TEXT).unwrap_or(text);
        let (mut at, mut place) = (0, 0);
        // Where to go on if a later part does not fit: the last star, and the text behind it.
        let mut again: Option<(usize, usize)> = None;
        while let Some(byte) = text.get(at) {
            match self.0.get(place) {
                Some(b'*') => {
                    again = Some((place, at));
                    place += 1;
                }
                Some(wanted) if *wanted == b'?' || *wanted == byte.to_ascii_lowercase() => {
                    (at, place) = (at + 1, place + 1);
                }
                _ => match again {
                    Some((star, from)) => {
                        (at, place) = (from + 1, star + 1);
                        again = Some((star, from + 1));
                    }
                    None => return false,
                },
            }
        }
        self.0.get(place..).unwrap_or_default().iter().all(|rest| *rest == b'*')
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let long = || {
            D::Error::custom(format!("invalid value: a pattern of {} bytes, expected at most {LONGEST}", text.len()))
        };
        Self::of(&text).ok_or_else(long)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let matches = |pattern: &str, text: &str| Pattern::of(pattern).unwrap().matches(text);
        for (pattern, text) in [
            ("CANCELLED*", "cancelled by 12"),
            ("*", ""),
            ("a*b*c", "a1b2b3c"),
            ("?b", "ab"),
            ("data/*/cluster_log.csv", "data/Venus/cluster_log.csv"),
            ("", " "),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("a*c", "ab"), ("?", ""), ("", "a"), ("a?", "a")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_ends_soon() {
        let stars = Pattern::of(&"*a".repeat(128)).unwrap();
        assert!(!stars.matches(&"a".repeat(100_000).replace("aaaa", "aaab")[..4_096].replace('a', "b")));
        assert!(stars.matches(&"a".repeat(4_000)));
        assert!(Pattern::of(&"*".repeat(LONGEST)).is_some());
        assert_eq!(Pattern::of(&"*".repeat(LONGEST + 1)), None);
    }
}
