//! Settings of a site without effect.

use std::fmt;

use serde::Serialize;

use crate::input::Input;

/// Why a setting has no effect, and whether that may change an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Why<'w> {
    /// The reason, as a clause.
    pub(crate) text: &'w str,
    /// True if a replay with it could differ.
    pub(crate) bears: bool,
    /// What it belongs to, if that is not clear from its file.
    pub(crate) of: Option<Input>,
}

impl<'w> Why<'w> {
    /// It would change no schedule of the jobs of a log, or the log already shows what it did.
    pub(crate) const fn harmless(text: &'w str) -> Self {
        Self { text, bears: false, of: None }
    }

    /// It would change schedules.
    pub(crate) const fn bears(text: &'w str) -> Self {
        Self { text, bears: true, of: None }
    }

    /// It would change schedules as far as this acts.
    pub(crate) const fn on(of: Input, text: &'w str) -> Self {
        Self { text, bears: true, of: Some(of) }
    }
}

/// A reason by itself is taken to bear on the schedule.
impl<'w> From<&'w str> for Why<'w> {
    fn from(text: &'w str) -> Self {
        Self::bears(text)
    }
}

impl<'w> From<&'w String> for Why<'w> {
    fn from(text: &'w String) -> Self {
        Self::bears(text)
    }
}

/// A setting of a site without effect.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unread {
    /// The file.
    pub file: String,
    /// The line of the file, from 1.
    pub line: usize,
    /// The setting.
    pub setting: String,
    /// Why it has no effect.
    pub why: String,
    /// True if a replay with it could differ.
    pub bears: bool,
    /// What it belongs to: it bears on the policies that look at this.
    #[serde(skip)]
    pub of: Input,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, setting, why, .. } = self;
        write!(f, "{file}: line {line}: `{setting}` is not supported: {why}")
    }
}
