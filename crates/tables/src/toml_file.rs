//! Problems of hand-written TOML files: where they are, what was expected there, and the nearest known word.

use std::ops::Range;

use crate::Error;

/// A problem whose line is not known yet.
#[derive(Debug)]
pub struct Problem {
    span: Option<Range<usize>>,
    expected: String,
    found: String,
    remedy: String,
}

impl Problem {
    /// A problem of the file as a whole.
    pub fn new(expected: &str, found: &str) -> Self {
        let remedy = "correct it (traces/README.md describes workload files)".to_owned();
        Self { span: None, expected: expected.to_owned(), found: found.to_owned(), remedy }
    }

    /// A problem at these bytes of the file.
    pub fn at(span: Range<usize>, expected: &str, found: &str) -> Self {
        Self { span: Some(span), ..Self::new(expected, found) }
    }

    /// Sets the remedy.
    pub fn remedy(self, remedy: &str) -> Self {
        Self { remedy: remedy.to_owned(), ..self }
    }

    /// Names the one of `known` that the user may have meant by `unknown`.
    pub fn nearest<'a>(self, unknown: &str, known: impl Iterator<Item = &'a str>) -> Self {
        match known.min_by_key(|name| strsim::damerau_levenshtein(unknown, name)) {
            Some(name) => self.remedy(&format!("{NEAREST} `{name}`?")),
            None => self,
        }
    }

    /// The problem that the TOML reader found, in the wording of serde: `<what was found>, expected <what was not>`.
    pub fn from_toml(error: &toml::de::Error) -> Self {
        let message = error.message().trim_end();
        if let Some(key) = message.strip_prefix("missing field ") {
            return Self { span: error.span(), ..Self::new(&format!("the key {key}"), "none") };
        }
        let (found, expected) = message.split_once(", expected ").unwrap_or((message, "a workload"));
        let value = found.strip_prefix("invalid value: ").or_else(|| found.strip_prefix("invalid type: "));
        let problem = Self { span: error.span(), ..Self::new(expected, value.unwrap_or(found)) };
        // An unknown key or name, and those that are known, stand in backquotes.
        match quoted(found).next() {
            Some(name) if found.starts_with("unknown ") => problem.nearest(name, quoted(expected)),
            _ => problem,
        }
    }

    /// The error, with the line of the problem in `text`, the file at `path`.
    pub fn locate(self, text: &str, path: &str) -> Error {
        let line = |span: Range<usize>| {
            let before = text.bytes().take(span.start).filter(|&byte| byte == b'\n').count();
            format!("line {}, ", before + 1)
        };
        let Self { span, expected, found, remedy } = self;
        let place = span.map(line).unwrap_or_default();
        Error::Request(format!("{path}: {place}expected {expected}, found {found}; {remedy}"))
    }
}

/// The error of a hand-written TOML file: the line, what was expected and found, and the nearest known key if a key is
/// unknown. `remedy` is used if there is no better one.
pub fn explain_toml(error: &toml::de::Error, text: &str, path: &str, remedy: &str) -> Error {
    let problem = Problem::from_toml(error);
    let has_nearest = problem.remedy.starts_with(NEAREST);
    let problem = if has_nearest { problem } else { problem.remedy(remedy) };
    problem.locate(text, path)
}

/// How the remedy of an unknown key or name begins.
const NEAREST: &str = "did you mean";

/// The words in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
