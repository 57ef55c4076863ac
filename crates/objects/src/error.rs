//! The errors of an object store.

/// An error that names the address, what was expected and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is wrong (exit status 2).
    #[error("{0}")]
    Request(String),
    /// The store refused, or did not answer.
    #[error("{address}: cannot {deed} it: expected {expected}, found {found}; {remedy}")]
    Failed {
        /// The address of the object or the prefix.
        address: String,
        /// The deed that failed, as in "cannot *read* it".
        deed: &'static str,
        /// What was expected.
        expected: String,
        /// What was found instead.
        found: String,
        /// What you can do.
        remedy: String,
    },
}

impl Error {
    /// True if the request was wrong (exit status 2), not the work.
    pub fn is_request(&self) -> bool {
        matches!(self, Self::Request(_))
    }
}
