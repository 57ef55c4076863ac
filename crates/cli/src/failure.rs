//! The failure of a command, and its exit status.

use std::fmt;

/// The exit status after an interrupt, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The request was wrong (exit status 2).
    Request,
    /// A trace, a run or another file is damaged, or cannot be read or written.
    Trace,
    /// A policy asked for something that is not allowed, or an error occurred in it.
    Policy,
    /// A replay came to a halt: tasks wait, and nothing will ever start them.
    Stalled,
    /// Resched contradicts itself.
    Defect,
    /// The call was stopped.
    Interrupted,
    /// Anything else that went wrong.
    Work,
}

/// A failure: a message, and what kind it is.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    kind: Kind,
    unread: bool,
    /// The exit status, if it is not that of the kind.
    status: Option<u8>,
}

impl Failure {
    /// The request was wrong (exit status 2).
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: Kind::Request, unread: false, status: None }
    }

    /// The work failed (exit status 1).
    pub(crate) fn work(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: Kind::Work, unread: false, status: None }
    }

    /// The result cannot be written to standard output.
    pub(crate) fn output(error: &std::io::Error) -> Self {
        let unread = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self { message: format!("cannot write to standard output: {error}"), kind: Kind::Work, unread, status: None }
    }

    /// The same failure with this exit status.
    pub(crate) fn with_status(self, status: u8) -> Self {
        Self { status: Some(status), ..self }
    }

    /// Whether the reader of standard output has seen enough and closed the pipe, as `head` does.
    pub(crate) fn is_unread(&self) -> bool {
        self.unread
    }

    /// What kind of failure it is.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The exit status.
    pub(crate) fn status(&self) -> u8 {
        self.status.unwrap_or(if self.kind == Kind::Request { 2 } else { 1 })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The kind of an error of a library. [`Failure`] asks `is_request` of it first, which decides the exit status.
trait Kinded {
    fn kind(&self) -> Kind;
}

impl Kinded for resched_tables::Error {
    fn kind(&self) -> Kind {
        Kind::Trace
    }
}

impl Kinded for resched_analysis::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Trace(error) => error.kind(),
            Self::Metric(_) | Self::Column(_) => Kind::Work,
        }
    }
}

impl Kinded for resched_policies::Error {
    fn kind(&self) -> Kind {
        if matches!(self, Self::Defect(_)) { Kind::Defect } else { Kind::Request }
    }
}

impl Kinded for resched_sim::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Trace(error) => error.kind(),
            Self::Config(_) => Kind::Request,
            Self::PolicyViolation { .. } => Kind::Policy,
            Self::Stalled { .. } => Kind::Stalled,
            Self::RuleBroken { .. } => Kind::Defect,
        }
    }
}

impl Kinded for resched_replay::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Request(_) => Kind::Request,
            Self::Sim(error) => error.kind(),
            Self::Policy(error) => error.kind(),
            Self::Lost => Kind::Defect,
        }
    }
}

impl Kinded for resched_compare::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Request(_) => Kind::Request,
            Self::Replay(error) => error.kind(),
            Self::Analysis(error) => error.kind(),
            Self::Trace(error) => error.kind(),
        }
    }
}

impl Kinded for resched_forecast::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Request(_) => Kind::Request,
            Self::Replay(error) => error.kind(),
            Self::Sim(error) => error.kind(),
            Self::Policy(error) => error.kind(),
            Self::Trace(error) => error.kind(),
            Self::Encoding(_) => Kind::Defect,
        }
    }
}

impl Kinded for resched_report::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Analysis(error) => error.kind(),
            Self::Store(error) => error.kind(),
            Self::Request(_) | Self::Draw { .. } => Kind::Work,
        }
    }
}

#[cfg(feature = "papers")]
impl Kinded for resched_reproduce::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Trace(error) => error.kind(),
            Self::Replay { source, .. } => source.kind(),
            Self::Analysis(error) => error.kind(),
            Self::Report(error) => error.kind(),
            Self::Defect(_) => Kind::Defect,
            Self::Request(_) => Kind::Work,
        }
    }
}

impl Kinded for resched_sweep::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Damaged { .. } => Kind::Trace,
            Self::Store(error) => error.kind(),
            Self::Replay(error) => error.kind(),
            Self::Analysis(error) => error.kind(),
            Self::Report(error) => error.kind(),
            Self::Request(_) | Self::Work(_) => Kind::Work,
        }
    }
}

/// Each library error says by `is_request` whether the request was wrong.
macro_rules! from_libraries {
    ($($library:ident),+ $(,)?) => {
        $(impl From<$library::Error> for Failure {
            fn from(error: $library::Error) -> Self {
                let kind = if error.is_request() { Kind::Request } else { error.kind() };
                Self { kind, message: error.to_string(), unread: false, status: None }
            }
        })+
    };
}

from_libraries!(
    resched_analysis,
    resched_policies,
    resched_replay,
    resched_report,
    resched_compare,
    resched_forecast,
    resched_sim,
    resched_sweep,
    resched_tables,
);
#[cfg(feature = "papers")]
from_libraries!(resched_reproduce);
