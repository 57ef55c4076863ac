//! The errors of an analysis.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A trace or run could not be read; the message names the file, the place in it and the remedy.
    #[error(transparent)]
    Trace(#[from] resched_tables::Error),
    /// The text of a metric has a problem.
    #[error("{0}")]
    Metric(#[from] crate::metrics::named::Problem),
    /// A table lacks a column. Readers check the columns before, so this is a defect.
    #[error("column `{0}` is missing or of another type; please report this with the run's folder")]
    Column(String),
}

impl Error {
    /// True if the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        match self {
            Error::Trace(error) => error.is_request(),
            Error::Metric(_) => true,
            Error::Column(_) => false,
        }
    }
}
