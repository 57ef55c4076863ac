//! The position of a problem in a sweep file.

use std::ops::Range as Span;

use resched_policies::nearest;

use crate::Error;

/// A sweep file while it is read. It makes errors with the line and column of a problem.
pub(super) struct Places<'a> {
    pub(super) text: &'a str,
    pub(super) path: String,
}

impl Places<'_> {
    /// The error about a problem at `span` (bytes of the text), or about the whole file for `None`.
    pub(super) fn error(&self, span: Option<Span<usize>>, problem: &str) -> Error {
        let place = span.map(|span| {
            let before = self.text.get(..span.start).unwrap_or(self.text);
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!("line {line}, column {column}: ")
        });
        Error::Request(format!("{}: {}{problem}", self.path, place.unwrap_or_default()))
    }
}

/// The error of the TOML reader, with the nearest known key.
pub(super) fn explained(error: &toml::de::Error) -> String {
    let message = error.message().trim_end();
    let mut quoted = message.split('`').skip(1).step_by(2);
    match (message.starts_with("unknown "), quoted.next()) {
        (true, Some(unknown)) => format!("{message}{}", nearest(unknown, quoted)),
        _ => message.to_owned(),
    }
}
