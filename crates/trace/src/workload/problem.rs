//! What is wrong with a workload file, and where.

use std::ops::Range;

use crate::Error;

/// A problem before it is known which line it stands in.
#[derive(Debug)]
pub(super) struct Problem {
    span: Option<Range<usize>>,
    expected: String,
    found: String,
    remedy: String,
}

impl Problem {
    /// A problem of the file as a whole.
    pub(super) fn new(expected: &str, found: &str) -> Self {
        let remedy = "correct it (traces/README.md describes workload files)".to_owned();
        Self { span: None, expected: expected.to_owned(), found: found.to_owned(), remedy }
    }

    /// A problem at these bytes of the file.
    pub(super) fn at(span: Range<usize>, expected: &str, found: &str) -> Self {
        Self { span: Some(span), ..Self::new(expected, found) }
    }

    /// What the user can do.
    pub(super) fn remedy(self, remedy: &str) -> Self {
        Self { remedy: remedy.to_owned(), ..self }
    }

    /// Names the one of `known` that the user may have meant by `unknown`.
    pub(super) fn nearest<'a>(self, unknown: &str, known: impl Iterator<Item = &'a str>) -> Self {
        match known.min_by_key(|name| strsim::damerau_levenshtein(unknown, name)) {
            Some(name) => self.remedy(&format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// The problem that the TOML reader found.
    pub(super) fn from_toml(error: &toml::de::Error) -> Self {
        let problem = Self { span: error.span(), ..Self::new("a workload", error.message().trim_end()) };
        // serde's own wording of `deny_unknown_fields` and of unknown variants names all that are known in backquotes.
        let Some((unknown, known)) = error.message().split_once(", expected ") else { return problem };
        if !unknown.starts_with("unknown ") {
            return problem;
        }
        let name = quoted(unknown).next().unwrap_or_default();
        Self { expected: known.to_owned(), found: format!("`{name}`"), ..problem }.nearest(name, quoted(known))
    }

    /// The error, with the line of the problem in `text`, the file at `path`.
    pub(super) fn locate(self, text: &str, path: &str) -> Error {
        let line = |span: Range<usize>| {
            let before = text.bytes().take(span.start).filter(|&byte| byte == b'\n').count();
            format!("line {}, ", before + 1)
        };
        Error::Source {
            path: path.to_owned(),
            place: self.span.map(line).unwrap_or_default(),
            expected: self.expected,
            found: self.found,
            remedy: self.remedy,
        }
    }
}

/// What stands in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
