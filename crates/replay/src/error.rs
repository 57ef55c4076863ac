//! The errors of a replay.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is wrong (exit status 2).
    #[error("{0}")]
    Request(String),
    /// An error of the trace, the cluster or the replay itself.
    #[error(transparent)]
    Sim(#[from] resched_sim::Error),
    /// The policy cannot be made as requested.
    #[error(transparent)]
    Policy(#[from] resched_policies::Error),
    /// Another thread ended without a result.
    #[error("a replay ended without a result; this is a defect of resched, please report it")]
    Lost,
}

impl Error {
    /// True if the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        match self {
            Self::Request(_) => true,
            Self::Policy(error) => error.is_request(),
            Self::Sim(error) => error.is_request(),
            Self::Lost => false,
        }
    }
}

impl From<resched_tables::Error> for Error {
    fn from(error: resched_tables::Error) -> Self {
        Self::Sim(error.into())
    }
}
