//! The errors of this crate.

/// An error of a test of the sign.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A replay.
    #[error(transparent)]
    Replay(#[from] resched_replay::Error),
    /// The file of variants.
    #[error(transparent)]
    Analysis(#[from] resched_analysis::Error),
}

impl Error {
    /// Whether the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        match self {
            Self::Replay(error) => error.is_request(),
            Self::Analysis(error) => error.is_request(),
        }
    }
}
