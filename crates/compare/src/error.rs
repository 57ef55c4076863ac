//! The errors of this crate.

/// An error of a comparison.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request cannot be answered; the message says what was expected and what to do.
    #[error("{0}")]
    Request(String),
    /// A replay.
    #[error(transparent)]
    Replay(#[from] resched_replay::Error),
    /// A run or a trace, or the file of variants.
    #[error(transparent)]
    Analysis(#[from] resched_analysis::Error),
    /// A trace.
    #[error(transparent)]
    Trace(#[from] resched_tables::Error),
}

impl Error {
    /// True if the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        match self {
            Self::Request(_) => true,
            Self::Replay(error) => error.is_request(),
            Self::Analysis(error) => error.is_request(),
            Self::Trace(error) => error.is_request(),
        }
    }
}
