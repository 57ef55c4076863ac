//! The errors of a reproduction.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is wrong (exit status 2).
    #[error("{0}")]
    Request(String),
    /// A bundled workload or a folder could not be read or written.
    #[error(transparent)]
    Trace(Box<resched_tables::Error>),
    /// A replay failed.
    #[error("{experiment}: {source}")]
    Replay {
        /// The experiment.
        experiment: &'static str,
        /// The error of the replay.
        source: Box<resched_replay::Error>,
    },
    /// A metric could not be computed.
    #[error(transparent)]
    Analysis(Box<resched_analysis::Error>),
    /// A figure could not be drawn.
    #[error(transparent)]
    Report(Box<resched_report::Error>),
    /// The bundled files of this build contradict each other.
    #[error("{0}; this is a defect of resched, please report it")]
    Defect(String),
}

impl Error {
    /// True if the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        match self {
            Error::Request(_) => true,
            Error::Trace(error) => error.is_request(),
            _ => false,
        }
    }
}

impl From<resched_tables::Error> for Error {
    fn from(error: resched_tables::Error) -> Self {
        Error::Trace(Box::new(error))
    }
}

impl From<resched_analysis::Error> for Error {
    fn from(error: resched_analysis::Error) -> Self {
        Error::Analysis(Box::new(error))
    }
}

impl From<resched_report::Error> for Error {
    fn from(error: resched_report::Error) -> Self {
        Error::Report(Box::new(error))
    }
}
