//! The formula of a metric.

use serde_json::{Value, json};

use super::filter::Filter;
use super::getters::Text;
use crate::metrics::list::{Better, OfRun, Quantity};

/// Whether less or more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Less,
    More,
}

/// The formula of a metric.
#[derive(Debug, Clone)]
pub(super) enum Formula {
    /// A number that is computed from the whole run.
    Run(OfRun),
    /// A number of the list whose formula is more than an aggregate. It is of the whole run and takes no filter.
    Whole(Box<Formula>),
    /// A number with its unit.
    Number(f64, &'static str),
    /// Two formulas and what is between them.
    Pair(Operator, Box<[Formula; 2]>),
    /// An aggregate over the jobs for which the filter holds.
    Jobs(Aggregate, Option<Filter>),
    /// Jain's index of an aggregate of the jobs with each value of an attribute.
    Jain(Aggregate, By, Option<Filter>),
}

/// An attribute whose values make groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct By {
    pub(super) name: &'static str,
    pub(super) of: Text,
}

/// What is between two formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
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

impl Operator {
    pub(super) fn of(self, one: f64, other: f64) -> f64 {
        match self {
            Self::Plus => one + other,
            Self::Minus => one - other,
            Self::Times => one * other,
            Self::Over => one / other,
        }
    }

    /// The unit of the result, if these units can be put together so.
    pub(super) fn unit(self, one: &'static str, other: &'static str) -> Option<&'static str> {
        match (self, one, other) {
            (Self::Plus | Self::Minus, one, other) if one == other => Some(one),
            (Self::Times, "", other) => Some(other),
            (Self::Over, one, other) if one == other => Some(""),
            (Self::Times | Self::Over, one, "") => Some(one),
            _ => None,
        }
    }

    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Over => "/",
        }
    }
}

impl Formula {
    pub(super) fn unit(&self) -> &'static str {
        match self {
            Self::Whole(formula) => formula.unit(),
            Self::Number(_, unit) => unit,
            Self::Pair(operator, parts) => {
                let [one, other] = parts.as_ref();
                operator.unit(one.unit(), other.unit()).unwrap_or_default()
            }
            Self::Jobs(Aggregate::Of(_, quantity), _) => quantity.unit,
            Self::Run(number) => number.unit,
            Self::Jain(..) | Self::Jobs(Aggregate::Count | Aggregate::Share(_), _) => "",
        }
    }

    /// Which values are better. Of a sum or a ratio, that follows from what comes first.
    pub(super) fn better(&self) -> Better {
        match self {
            Self::Run(number) => number.better,
            Self::Whole(formula) => formula.better(),
            Self::Pair(_, parts) => parts.as_ref()[0].better(),
            Self::Jobs(Aggregate::Of(_, quantity), _) => quantity.better,
            Self::Jain(..) => Better::More,
            Self::Jobs(Aggregate::Count | Aggregate::Share(_), _) | Self::Number(..) => Better::Neither,
        }
    }

    /// How many pairs are within each other.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Pair(_, parts) => 1 + parts.iter().map(Self::depth).max().unwrap_or(0),
            Self::Whole(formula) => formula.depth(),
            _ => 0,
        }
    }

    /// The quantities that it needs of all jobs that count.
    pub(super) fn quantities(&self) -> Vec<&'static Quantity> {
        match self {
            Self::Whole(formula) => formula.quantities(),
            Self::Pair(_, parts) => parts.iter().flat_map(Self::quantities).collect(),
            Self::Jobs(Aggregate::Of(_, quantity), None) => vec![quantity],
            Self::Run(_) | Self::Number(..) | Self::Jobs(..) | Self::Jain(..) => Vec::new(),
        }
    }

    /// True if it is a number that does not depend on the run.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Number(..) => true,
            Self::Pair(_, parts) => parts.iter().all(Self::is_constant),
            _ => false,
        }
    }

    /// The formula over those of its jobs for which this filter holds, too; `None` if a number of the whole run is in it.
    pub(super) fn within(self, more: &Filter) -> Option<Self> {
        let both = |filter: Option<Filter>| match filter {
            None => Some(more.clone()),
            Some(filter) => Some(Filter::All(vec![filter, more.clone()])),
        };
        match self {
            Self::Run(_) | Self::Whole(_) => None,
            Self::Number(..) => Some(self),
            Self::Pair(operator, parts) => {
                let [one, other] = *parts;
                Some(Self::Pair(operator, Box::new([one.within(more)?, other.within(more)?])))
            }
            Self::Jobs(aggregate, filter) => Some(Self::Jobs(aggregate, both(filter))),
            Self::Jain(aggregate, by, filter) => Some(Self::Jain(aggregate, by, both(filter))),
        }
    }

    /// The formula as data: a number, or a list of a word and its arguments, such as `["mean", "completion"]`. `None` if it has a filter
    /// or needs more than the quantities of jobs.
    pub(super) fn data(&self) -> Option<Value> {
        match self {
            Self::Run(_) | Self::Jobs(_, Some(_)) | Self::Jain(_, _, Some(_)) => None,
            Self::Whole(formula) => formula.data(),
            Self::Number(number, _) => Some(json!(number)),
            Self::Pair(operator, parts) => {
                let [one, other] = parts.as_ref();
                Some(json!([operator.sign(), one.data()?, other.data()?]))
            }
            Self::Jobs(aggregate, None) => aggregate.data(),
            Self::Jain(aggregate, by, None) => Some(json!(["jain", aggregate.data()?, by.name])),
        }
    }
}

impl Aggregate {
    fn data(&self) -> Option<Value> {
        match self {
            Self::Count => Some(json!(["count"])),
            Self::Share(_) | Self::Of(Statistic::Deviation, _) => None,
            Self::Of(Statistic::Quantile(share), quantity) => Some(json!(["quantile", quantity.name, share])),
            Self::Of(Statistic::Mean, quantity) => Some(json!(["mean", quantity.name])),
            Self::Of(Statistic::Min, quantity) => Some(json!(["min", quantity.name])),
            Self::Of(Statistic::Max, quantity) => Some(json!(["max", quantity.name])),
            Self::Of(Statistic::Sum, quantity) => Some(json!(["sum", quantity.name])),
        }
    }
}
