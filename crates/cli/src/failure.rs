//! The failure of a command, and its exit status.

use std::fmt;
use std::process::ExitCode;

/// The exit status after an interrupt, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// A failure: a message, and whether the request was wrong or the work failed.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    request: bool,
    unread: bool,
}

impl Failure {
    /// The request was wrong (exit status 2).
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self { message: message.into(), request: true, unread: false }
    }

    /// The work failed (exit status 1).
    pub(crate) fn work(message: impl Into<String>) -> Self {
        Self { message: message.into(), request: false, unread: false }
    }

    /// The result cannot be written to standard output.
    pub(crate) fn output(error: &std::io::Error) -> Self {
        let unread = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self { message: format!("cannot write to standard output: {error}"), request: false, unread }
    }

    /// Whether the reader of standard output has seen enough and closed the pipe, as `head` does.
    pub(crate) fn is_unread(&self) -> bool {
        self.unread
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.request { 2 } else { 1 })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Each library error says by `is_request` whether the request was wrong.
macro_rules! from_libraries {
    ($($library:ident),+ $(,)?) => {
        $(impl From<$library::Error> for Failure {
            fn from(error: $library::Error) -> Self {
                Self { request: error.is_request(), message: error.to_string(), unread: false }
            }
        })+
    };
}

from_libraries!(
    resched_analysis,
    resched_policies,
    resched_replay,
    resched_report,
    resched_reproduce,
    resched_robust,
    resched_sim,
    resched_sweep,
    resched_tables,
);
