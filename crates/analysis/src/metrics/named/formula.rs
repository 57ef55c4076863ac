//! The formula of a metric.

use super::filter::Filter;
use super::known::OfRun;
use super::quantity::Quantity;

/// Whether less or more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Less,
    More,
}

/// The formula of a metric.
#[derive(Debug, Clone)]
pub(super) enum Formula {
    /// A number of the whole run.
    Run(&'static OfRun),
    /// An aggregate over the jobs for which the filter holds.
    Jobs(Aggregate, Option<Filter>),
}

/// An aggregate over jobs.
#[derive(Debug, Clone)]
pub(super) enum Aggregate {
    /// How many there are.
    Count,
    /// The share for which a filter holds.
    Share(Filter),
    /// A statistic of a quantity.
    Of(Statistic, &'static Quantity),
}

/// A statistic of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Statistic {
    Mean,
    Min,
    Max,
    Sum,
    /// The standard deviation of a sample (n − 1).
    Deviation,
    /// The quantile at a share from 0 to 1.
    Quantile(f64),
}

impl Formula {
    pub(super) fn unit(&self) -> &'static str {
        match self {
            Self::Run(run) => run.unit,
            Self::Jobs(Aggregate::Of(_, quantity), _) => quantity.unit,
            Self::Jobs(Aggregate::Count | Aggregate::Share(_), _) => "",
        }
    }

    pub(super) fn less_is_better(&self) -> bool {
        match self {
            Self::Run(run) => run.less_is_better,
            Self::Jobs(Aggregate::Of(_, quantity), _) => quantity.less_is_better,
            Self::Jobs(Aggregate::Count | Aggregate::Share(_), _) => false,
        }
    }

    /// The formula over those of its jobs for which this filter holds, too; `None` for a number of the whole run.
    pub(super) fn within(self, more: Filter) -> Option<Self> {
        match self {
            Self::Run(_) => None,
            Self::Jobs(aggregate, None) => Some(Self::Jobs(aggregate, Some(more))),
            Self::Jobs(aggregate, Some(own)) => Some(Self::Jobs(aggregate, Some(Filter::All(vec![own, more])))),
        }
    }
}
