//! What a command failed of, and the exit status that says so.

use std::fmt;
use std::process::ExitCode;

/// A failure: a message for people, and whether the request or the work was at fault.
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

impl From<resched_trace::Error> for Failure {
    fn from(error: resched_trace::Error) -> Self {
        Self { request: error.is_request(), message: error.to_string(), broken_pipe: false }
    }
}

impl From<resched_policies::Error> for Failure {
    fn from(error: resched_policies::Error) -> Self {
        Self { request: error.is_request(), message: error.to_string(), broken_pipe: false }
    }
}

impl From<resched_sim::Error> for Failure {
    fn from(error: resched_sim::Error) -> Self {
        match error {
            resched_sim::Error::Trace(error) => error.into(),
            resched_sim::Error::Config(message) => Self::request(message),
            other => Self::work(other.to_string()),
        }
    }
}

impl From<resched_analysis::Error> for Failure {
    fn from(error: resched_analysis::Error) -> Self {
        Self { request: error.is_request(), message: error.to_string(), broken_pipe: false }
    }
}

impl From<resched_report::Error> for Failure {
    fn from(error: resched_report::Error) -> Self {
        Self { request: error.is_request(), message: error.to_string(), broken_pipe: false }
    }
}

impl From<resched_sweep::Error> for Failure {
    fn from(error: resched_sweep::Error) -> Self {
        Self { request: error.is_request(), message: error.to_string(), broken_pipe: false }
    }
}

impl From<resched_reproduce::Error> for Failure {
    fn from(error: resched_reproduce::Error) -> Self {
        Self { request: error.is_request(), message: error.to_string(), broken_pipe: false }
    }
}

/// Standard output could not be written.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let broken_pipe = error.kind() == std::io::ErrorKind::BrokenPipe;
        Self { message: format!("cannot write to standard output: {error}"), request: false, broken_pipe }
    }
}
