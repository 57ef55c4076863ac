//! The errors of this crate.

/// An error of a forecast.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request cannot be answered; the message says what was expected and what to do.
    #[error("{0}")]
    Request(String),
    /// The world of the forecast.
    #[error(transparent)]
    Replay(#[from] resched_replay::Error),
    /// A simulated future.
    #[error(transparent)]
    Sim(#[from] resched_sim::Error),
    /// The policy.
    #[error(transparent)]
    Policy(#[from] resched_policies::Error),
    /// The trace, or a file to write.
    #[error(transparent)]
    Trace(#[from] resched_tables::Error),
    /// The table of a back-test cannot be encoded.
    #[error("the table of the back-test cannot be encoded: {0}")]
    Encoding(String),
}

impl Error {
    /// True if the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        match self {
            Self::Request(_) => true,
            Self::Replay(error) => error.is_request(),
            Self::Sim(error) => error.is_request(),
            Self::Policy(error) => error.is_request(),
            Self::Trace(error) => error.is_request(),
            Self::Encoding(_) => false,
        }
    }
}
