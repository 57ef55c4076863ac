//! Metrics as users write them: one grammar for the command line, sweep files, searches and reports.
//!
//! ```text
//! text ──grammar──▶ Formula ──evaluate──▶ a number of a Run
//!                     │
//!   the list of metrics, attributes (the words)
//! ```
//!
//! ```text
//! p95(completion) where queue = 'adhoc' and tasks <= 10
//! ```
//!
//! * An **aggregate** of a [quantity](QUANTITIES) of the jobs: `mean`, `median`, `min`, `max`, `sum`, `stddev` (of a sample) or
//!   a percentile from `p0` to `p100`, such as `p99.9` (type 7 of Hyndman and Fan 1996). `count()` counts the jobs, and
//!   `share(waiting > 10min)` is the share of the jobs for which a filter holds.
//! * A **known name**, such as `makespan` ([`known`]). It is short for a formula.
//! * `+`, `-`, `*`, `/` and parentheses between these and numbers, as in `sum(cpu_time) / count()`. What is added or divided has the
//!   same unit, or the second of a ratio none.
//! * `jain(mean(bounded_slowdown) by user)`: Jain's index of an aggregate of the jobs of each user, or of another text.
//! * `where` and a **filter** over [attributes](ATTRIBUTES) and quantities of a job: `=`, `!=`, `<`, `<=`, `>`, `>=`, `in (…)`,
//!   `like 'adhoc%'`, `is null`, joined by `and`, `or`, `not` and parentheses. Texts stand in single quotes. A time needs its unit
//!   (`ms`, `s`, `min`, `h`, `d`), and so does a size (`B`, `kB`, `MB`, …, `KiB`, `MiB`, …). As in SQL, a comparison with an
//!   unknown value holds neither way.
//! * `, less is better` or `, more is better` at the end, if the direction does not follow from the quantity.
//!
//! Metrics are over the jobs that count ([`crate::runs::population`]). If the filter names `outcome`, they are over all jobs of the window, so
//! that you can ask for those that failed.

pub(crate) mod attribute;
mod evaluate;
mod filter;
mod formula;
mod getters;
mod grammar;
mod literal;
mod problem;
mod sizes;

use std::sync::LazyLock;

use resched_tables::words::duration;
use serde_json::Value;

pub(crate) use self::attribute::hour_of_day;
pub use self::attribute::{ATTRIBUTES, Attribute};
pub use self::evaluate::Measured;
use self::formula::{Aggregate, Direction, Formula, Statistic};
pub(crate) use self::grammar::DEEPEST;
pub use self::literal::UNITS;
pub use self::problem::Problem;
pub use self::sizes::{SizeBy, Sizes};
pub use crate::metrics::list::QUANTITIES;
use crate::metrics::list::{Better, NUMBERS, Number, Quantity, Way};
use crate::statistics::compare::{Comparison, JOB_METRICS};
use crate::statistics::practical::Ratio;

/// The longest text of a metric, bytes.
pub(crate) const LONGEST: usize = 10_000;

/// A metric of a run.
#[derive(Debug, Clone)]
pub struct Metric {
    /// Its known name, or its text as it was written.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Its unit: `ms`, `bytes`, `MB·s`, or empty for a plain number or a share from 0 to 1.
    pub unit: &'static str,
    /// True if less is better.
    pub less_is_better: bool,
    formula: Formula,
}

/// A metric of a job, and a ratio of its comparison in two runs.
pub type Tested = (&'static str, fn(&Comparison) -> Option<Ratio>);

/// The name says it all.
impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Metric {
    /// Reads a metric: a known name or an expression of the grammar.
    ///
    /// # Errors
    /// The place in the text, what was expected there, and the nearest known word.
    pub fn named(text: &str) -> Result<Self, Problem> {
        if text.len() > LONGEST {
            let message = format!("expected a metric of up to {LONGEST} bytes, found {}; shorten it", text.len());
            return Err(Problem::new("", 0..0, message));
        }
        if let Some(metric) = known().iter().find(|metric| metric.name == text) {
            return Ok(metric.clone());
        }
        let (formula, direction) = grammar::parse(text)?;
        Ok(Self {
            name: text.to_owned(),
            title: text.to_owned(),
            unit: formula.unit(),
            less_is_better: direction.map_or_else(|| formula.better() == Better::Less, |way| way == Direction::Less),
            formula,
        })
    }

    /// A number of the list; `None` if its text has a problem.
    fn of_number(number: &'static Number) -> Option<Self> {
        let formula = match number.way {
            Way::Text(text) => match grammar::parse(text).ok()?.0 {
                aggregate @ Formula::Jobs(..) => aggregate,
                formula => Formula::Whole(Box::new(formula)),
            },
            Way::Run(number) => Formula::Run(number),
        };
        Some(Self {
            name: number.name.to_owned(),
            title: number.title.to_owned(),
            unit: formula.unit(),
            less_is_better: formula.better() == Better::Less,
            formula,
        })
    }

    /// Which of its values are better, unless its text says so.
    pub fn better(&self) -> Better {
        self.formula.better()
    }

    /// Its formula as data for other programs: a number, or a list of a word and its arguments, such as `["mean", "completion"]` or
    /// `["/", ["sum", "in_queue"], ["count"]]`. `None` if it has a filter or needs more than the quantities of jobs.
    pub fn formula(&self) -> Option<Value> {
        self.formula.data()
    }

    /// The quantities that it needs of all jobs that count.
    pub(crate) fn quantities(&self) -> Vec<&'static Quantity> {
        self.formula.quantities()
    }

    /// Which comparison of two runs tests it: a metric of a job, and the ratio in question. `None` if none does.
    pub fn tested(&self) -> Option<Tested> {
        let Formula::Jobs(Aggregate::Of(statistic, quantity), None) = &self.formula else { return None };
        let ratio: fn(&Comparison) -> Option<Ratio> = match *statistic {
            Statistic::Mean => |found| found.ratio_of_means,
            Statistic::Quantile(0.5) => |found| found.ratio_of_p50,
            Statistic::Quantile(0.95) => |found| found.ratio_of_p95,
            Statistic::Quantile(0.99) => |found| found.ratio_of_p99,
            _ => return None,
        };
        JOB_METRICS.iter().any(|compared| compared.name == quantity.name).then_some((quantity.name, ratio))
    }

    /// Its value; `None` if it is unknown for the run.
    pub fn of(&self, run: &Measured<'_>) -> Option<f64> {
        self.formula.of(run).filter(|value| value.is_finite())
    }

    /// Its title with the unit of [`Metric::shown`].
    pub fn axis(&self) -> String {
        let unit = if self.unit == "ms" { "s" } else { self.unit };
        if unit.is_empty() { self.title.clone() } else { format!("{} ({unit})", self.title) }
    }

    /// The value as charts and tables show it: times in seconds.
    pub fn shown(&self, value: f64) -> f64 {
        if self.unit == "ms" { value / 1e3 } else { value }
    }

    /// A value with its unit, for people.
    pub fn in_words(&self, value: f64) -> String {
        match self.unit {
            "" => format!("{value:.4}"),
            "ms" => duration(value),
            unit => format!("{value:.1} {unit}"),
        }
    }

    /// A value of this metric as people write it: `30s`, `5min` or `1h 30m` for a time, in ms; `0.9` or `90%` for a number.
    ///
    /// # Errors
    /// What is expected of this metric.
    pub fn number(&self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        if self.unit == "ms" {
            let expected =
                || format!("{}: expected a time with its unit, for example 30s or 5min, found `{text}`", self.name);
            return humantime::parse_duration(text).map(|time| time.as_millis() as f64).map_err(|_| expected());
        }
        let share = text.strip_suffix('%').map(|percent| percent.trim().parse::<f64>().map(|percent| percent / 100.0));
        let number = share.unwrap_or_else(|| text.parse()).ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("{}: expected a number, for example 0.9 or 90%, found `{text}`", self.name))
    }

    /// The value, negated if more is better, so that less is always better.
    pub fn cost(&self, value: f64) -> f64 {
        if self.less_is_better { value } else { -value }
    }
}

/// The numbers of the list that have a word.
fn words() -> impl Iterator<Item = &'static Number> + Clone {
    NUMBERS.iter().filter(|number| !number.name.is_empty())
}

/// All numbers of the list with their metrics, in the order of [`NUMBERS`].
pub fn listed() -> &'static [(&'static Number, Metric)] {
    static METRICS: LazyLock<Vec<(&'static Number, Metric)>> =
        LazyLock::new(|| NUMBERS.iter().filter_map(|number| Some((number, Metric::of_number(number)?))).collect());
    &METRICS
}

/// The metrics that have a name, in the order of [`NUMBERS`].
pub fn known() -> &'static [Metric] {
    static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
        let named = listed().iter().filter(|(number, _)| !number.name.is_empty());
        named.map(|(_, metric)| metric.clone()).collect()
    });
    &METRICS
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
