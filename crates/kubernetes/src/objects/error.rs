//! What is wrong with a site's objects, and what of them has no effect.

use std::fmt;

/// Where something stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// An error that names the place, the object, the field, what was expected and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(Box<Wrong>);

impl Error {
    pub(crate) fn new(wrong: Wrong) -> Self {
        Self(Box::new(wrong))
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.0.place
    }
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) place: Place,
    /// Kind and name of the object, and the path of its field; nothing if the text is no YAML.
    pub(crate) field: Option<(String, String)>,
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) remedy: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some((object, field)) = &self.field {
            write!(f, "{object}: {field}: ")?;
        }
        write!(f, "expected {}, found {}; {}", self.expected, self.found, self.remedy)
    }
}

/// A field without effect here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub place: Place,
    /// Kind and name of the object.
    pub object: String,
    /// The path of the field.
    pub field: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {} has no effect here", self.place, self.object, self.field)
    }
}
