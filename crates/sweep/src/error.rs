//! The errors of a sweep.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is wrong (exit status 2).
    #[error("{0}")]
    Request(String),
    /// A file of the sweep is damaged.
    #[error("{path}: {problem}; {remedy}")]
    Damaged {
        /// The file.
        path: String,
        /// The problem.
        problem: String,
        /// The remedy.
        remedy: String,
    },
    /// The work failed.
    #[error("{0}")]
    Work(String),
    /// A trace, a workload or a file of the sweep could not be read or written.
    #[error(transparent)]
    Store(Box<resched_tables::Error>),
    /// A world could not be opened.
    #[error(transparent)]
    Replay(Box<resched_replay::Error>),
    /// The result of a cell could not be evaluated.
    #[error(transparent)]
    Analysis(Box<resched_analysis::Error>),
    /// A figure or page could not be made.
    #[error(transparent)]
    Report(Box<resched_report::Error>),
}

impl Error {
    /// True if the request was wrong (exit status 2), not the work.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Request(_) => true,
            Self::Store(error) => error.is_request(),
            Self::Replay(error) => error.is_request(),
            Self::Damaged { .. } | Self::Work(_) | Self::Analysis(_) | Self::Report(_) => false,
        }
    }
}

impl Error {
    /// A copy of the error, for another cell that waited for the same world.
    pub(crate) fn again(&self) -> Self {
        if self.is_request() { Self::Request(self.to_string()) } else { Self::Work(self.to_string()) }
    }
}

impl From<resched_objects::Error> for Error {
    fn from(error: resched_objects::Error) -> Self {
        if error.is_request() { Self::Request(error.to_string()) } else { Self::Work(error.to_string()) }
    }
}

impl From<resched_replay::Error> for Error {
    fn from(error: resched_replay::Error) -> Self {
        Self::Replay(Box::new(error))
    }
}

impl From<resched_tables::Error> for Error {
    fn from(error: resched_tables::Error) -> Self {
        Self::Store(Box::new(error))
    }
}

impl From<resched_policies::Error> for Error {
    fn from(error: resched_policies::Error) -> Self {
        if error.is_request() { Self::Request(error.to_string()) } else { Self::Work(error.to_string()) }
    }
}

impl From<resched_analysis::Error> for Error {
    fn from(error: resched_analysis::Error) -> Self {
        Self::Analysis(Box::new(error))
    }
}

impl From<resched_report::Error> for Error {
    fn from(error: resched_report::Error) -> Self {
        Self::Report(Box::new(error))
    }
}

impl From<resched_compare::Error> for Error {
    fn from(error: resched_compare::Error) -> Self {
        match error {
            resched_compare::Error::Request(problem) => Self::Request(problem),
            resched_compare::Error::Replay(error) => error.into(),
            resched_compare::Error::Analysis(error) => error.into(),
            resched_compare::Error::Trace(error) => error.into(),
        }
    }
}
