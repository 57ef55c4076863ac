//! The errors of an analysis.

use polars::error::PolarsError;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A trace or run could not be read; the message names the file, the place in it and the remedy.
    #[error(transparent)]
    Trace(#[from] resched_trace::Error),
    /// The text of a metric has a problem.
    #[error("{0}")]
    Metric(#[from] crate::measure::Problem),
    /// A table could not be joined or grouped.
    #[error("the {table} table cannot be evaluated: {source}; please report this with the run's folder")]
    Frame {
        /// The table.
        table: &'static str,
        /// The error of polars.
        source: Box<PolarsError>,
    },
}

impl Error {
    /// An [`Error::Frame`] about `table`; for use in `map_err`.
    pub(crate) fn frame(table: &'static str) -> impl FnOnce(PolarsError) -> Error {
        move |source| Error::Frame { table, source: Box::new(source) }
    }

    /// Whether the request itself was wrong (exit status 2), not the work (exit status 1).
    pub fn is_request(&self) -> bool {
        match self {
            Error::Trace(error) => error.is_request(),
            Error::Metric(_) => true,
            Error::Frame { .. } => false,
        }
    }
}
