//! The failure of a command, and its exit status.

use std::fmt;
use std::process::ExitCode;

/// A failure: a message, and whether the request was wrong or the work failed.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    request: bool,
    broken_pipe: bool,
}

impl Failure {
    /// The request was wrong (exit status 2).
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self { message: message.into(), request: true, broken_pipe: false }
    }

    /// The work failed (exit status 1).
    pub(crate) fn work(message: impl Into<String>) -> Self {
        Self { message: message.into(), request: false, broken_pipe: false }
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.broken_pipe
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
                Self { request: error.is_request(), message: error.to_string(), broken_pipe: false }
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
    resched_sim,
    resched_sweep,
    resched_trace,
);

/// For errors of writing to standard output.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let broken_pipe = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self { message: format!("cannot write to standard output: {error}"), request: false, broken_pipe }
    }
}
