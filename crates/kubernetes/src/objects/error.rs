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
pub enum Error {
    /// The text is no YAML, or more than the limits allow.
    #[error("{place}: expected {expected}, found {found}; {remedy}")]
    Yaml {
        /// Where.
        place: Place,
        /// What was expected.
        expected: String,
        /// What was found instead.
        found: String,
        /// What you can do.
        remedy: String,
    },
    /// A field of an object is missing or wrong.
    #[error("{place}: {object}: {field}: expected {expected}, found {found}; {remedy}")]
    Field {
        /// Where.
        place: Place,
        /// Kind and name.
        object: String,
        /// The path of the field.
        field: String,
        /// What was expected.
        expected: String,
        /// What was found instead.
        found: String,
        /// What you can do.
        remedy: String,
    },
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
