//! Jobs as columns of polars: what filters compare.

use polars::prelude::{BooleanChunked, Float64Chunked, NewChunkedArray, PlSmallStr, StringChunked};
use resched_tables::run::RunClock;

use super::getters::Text;
use super::sizes::Sizes;
use crate::JobMetrics;

/// Jobs whose attributes and quantities are asked for as columns. A column is made when it is asked for, so a filter costs what it compares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'j, 'a> {
    pub(crate) jobs: &'j [&'a JobMetrics],
    /// The bounds of the classes of size.
    pub(crate) sizes: Sizes,
    /// How the clock of the run relates to that of the trace.
    pub(crate) clock: RunClock,
}

impl Columns<'_, '_> {
    /// A column of texts.
    pub(crate) fn text(&self, of: Text) -> StringChunked {
        StringChunked::from_iter_options(PlSmallStr::EMPTY, self.jobs.iter().map(|job| of(job)))
    }

    /// A column of numbers.
    pub(crate) fn number(&self, of: impl Fn(&JobMetrics) -> Option<f64>) -> Float64Chunked {
        Float64Chunked::from_iter_options(PlSmallStr::EMPTY, self.jobs.iter().map(|job| of(job)))
    }

    /// Which jobs are among the smaller half.
    pub(super) fn are_small(&self) -> BooleanChunked {
        self.jobs.iter().map(|job| Some(self.sizes.is_small(job))).collect()
    }

    /// Which jobs are among the largest tenth.
    pub(super) fn are_large(&self) -> BooleanChunked {
        self.jobs.iter().map(|job| Some(self.sizes.is_large(job))).collect()
    }

    /// The class of size of each job.
    pub(crate) fn classes(&self) -> StringChunked {
        let class = |job: &&JobMetrics| Some(self.sizes.class(job));
        StringChunked::from_iter_options(PlSmallStr::EMPTY, self.jobs.iter().map(class))
    }
}
