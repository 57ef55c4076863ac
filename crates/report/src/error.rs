//! The errors of a report.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is wrong (exit status 2).
    #[error("{0}")]
    Request(String),
    /// A run could not be read or evaluated.
    #[error(transparent)]
    Analysis(Box<resched_analysis::Error>),
    /// A file or folder could not be written.
    #[error(transparent)]
    Store(Box<resched_tables::Error>),
    /// A chart or page could not be drawn.
    #[error("{what} cannot be drawn: {message}; please report this with the runs' folders")]
    Draw {
        /// The chart or file.
        what: String,
        /// The error of the drawing library.
        message: String,
    },
}

impl From<resched_analysis::Error> for Error {
    fn from(error: resched_analysis::Error) -> Self {
        Error::Analysis(Box::new(error))
    }
}

impl From<resched_tables::Error> for Error {
    fn from(error: resched_tables::Error) -> Self {
        Error::Store(Box::new(error))
    }
}

impl Error {
    /// An [`Error::Draw`] about `what`; for use in `map_err`.
    pub(crate) fn draw<E: ToString>(what: &str) -> impl FnOnce(E) -> Error {
        move |error| Error::Draw { what: what.to_owned(), message: error.to_string() }
    }

    /// True if the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        match self {
            Error::Request(_) => true,
            Error::Analysis(error) => error.is_request(),
            Error::Store(error) => error.is_request(),
            Error::Draw { .. } => false,
        }
    }
}
