//! A problem in the text of a metric, and its place.

use std::fmt;
use std::ops::Range;

/// A problem in the text of a metric. It is shown with a caret below its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    text: String,
    at: Range<usize>,
    message: String,
}

impl Problem {
    /// A problem at these bytes of `text`.
    pub(super) fn new(text: &str, at: Range<usize>, message: String) -> Self {
        Self { text: text.to_owned(), at, message }
    }

    /// What was expected, what was found and the nearest known word, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Its place in the text, bytes.
    pub fn at(&self) -> Range<usize> {
        self.at.clone()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() {
            return f.write_str(&self.message);
        }
        let chars = |range: Range<usize>| self.text.get(range).map_or(0, |part| part.chars().count());
        let line: String = self.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (before, marked) = (" ".repeat(chars(0..self.at.start)), "^".repeat(chars(self.at.clone()).max(1)));
        write!(f, "{}\n  {line}\n  {before}{marked}", self.message)
    }
}

impl std::error::Error for Problem {}
