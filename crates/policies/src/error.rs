//! The errors of requesting or making a policy.

use std::fmt::Display;

/// Why a policy cannot be made, or the configuration of a site cannot be read. Each is a sentence that says what was
/// expected, what was found and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No policy or speculator has this name.
    #[error("unknown {what} `{name}`{hint}; `resched policies` lists them")]
    UnknownName {
        /// The kind of thing looked for: a policy or a speculator.
        what: &'static str,
        /// The name that was given.
        name: String,
        /// The nearest known name, as [`crate::nearest`] writes it; may be empty.
        hint: String,
    },
    /// A parameter is unknown, malformed or out of its range, or its value conflicts with the others.
    #[error("{0}")]
    Parameter(String),
    /// The policy belongs to the other engine.
    #[error("policy `{name}` is for {own}, not for {asked}")]
    WrongEngine {
        /// The policy.
        name: &'static str,
        /// The kind of cluster that it schedules.
        own: &'static str,
        /// The kind of cluster that you asked it to schedule.
        asked: &'static str,
    },
    /// A file that a parameter names, or a queue in it, is wrong. The text says where.
    #[error("{0}")]
    File(String),
    /// A configuration file of a site is wrong. The text says where.
    #[error("{0}")]
    Site(String),
    /// The program contradicts itself.
    #[error("{0}; this is a defect of resched, please report it")]
    Defect(String),
}

impl Error {
    /// True if the request was wrong (exit status 2), not the program.
    pub fn is_request(&self) -> bool {
        !matches!(self, Self::Defect(_))
    }

    /// The same error, with its place in front.
    pub(crate) fn at(self, place: impl Display) -> Self {
        let prefixed = |problem: &str| format!("{place}: {problem}");
        match self {
            Self::Parameter(problem) => Self::Parameter(prefixed(&problem)),
            Self::File(problem) => Self::File(prefixed(&problem)),
            Self::Site(problem) => Self::Site(prefixed(&problem)),
            Self::Defect(problem) => Self::Defect(prefixed(&problem)),
            named @ (Self::UnknownName { .. } | Self::WrongEngine { .. }) => named,
        }
    }
}
