//! Metrics as users write them: one grammar for the command line, sweep files, searches and reports.
//!
//! ```text
//! text ──grammar──▶ Formula ──evaluate──▶ a number of a Run
//!                     │
//!       known, quantities, attributes (the words)
//! ```
//!
//! ```text
//! p95(completion) where queue = 'adhoc' and tasks <= 10
//! ```
//!
//! * An **aggregate** of a [quantity](QUANTITIES) of the jobs: `mean`, `median`, `min`, `max`, `sum`, `stddev` (of a sample) or
//!   a percentile from `p0` to `p100`, such as `p99.9` (type 7 of Hyndman and Fan 1996). `count()` counts the jobs, and
//!   `share(waiting > 10min)` is the share of the jobs for which a filter holds.
//! * A **known name**, such as `makespan` ([`known`]). Many of them are short for an aggregate.
//! * `where` and a **filter** over [attributes](ATTRIBUTES) and quantities of a job: `=`, `!=`, `<`, `<=`, `>`, `>=`, `in (…)`,
//!   `like 'adhoc%'`, `is null`, joined by `and`, `or`, `not` and parentheses. Texts stand in single quotes. A time needs its unit
//!   (`ms`, `s`, `min`, `h`, `d`), and so does a size (`B`, `kB`, `MB`, …, `KiB`, `MiB`, …). As in SQL, a comparison with an
//!   unknown value holds neither way.
//! * `, less is better` or `, more is better` at the end, if the direction does not follow from the quantity.
//!
//! Metrics are over the jobs that count ([`crate::runs::population`]). If the filter names `outcome`, they are over all jobs of the window, so
//! that you can ask for those that failed.

mod attribute;
mod evaluate;
mod filter;
mod formula;
mod grammar;
mod known;
mod literal;
mod problem;
mod quantity;

use std::sync::LazyLock;

pub(crate) use self::attribute::hour_of_day;
pub use self::attribute::{ATTRIBUTES, Attribute};
pub use self::evaluate::Measured;
pub use self::evaluate::Sizes;
pub(crate) use self::grammar::DEEPEST;
pub use self::known::{KNOWN, Known};
pub use self::literal::UNITS;
pub use self::problem::Problem;
pub use self::quantity::{QUANTITIES, Quantity};

use self::formula::{Direction, Formula};
use self::known::Way;

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
    /// Whether less is better.
    pub less_is_better: bool,
    formula: Formula,
}

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
            less_is_better: direction.map_or_else(|| formula.less_is_better(), |way| way == Direction::Less),
            formula,
        })
    }

    /// A metric with a known name; `None` if its text has a problem.
    fn of_known(known: &'static Known) -> Option<Self> {
        let formula = match &known.way {
            Way::Text(text) => grammar::parse(text).ok()?.0,
            Way::Run(run) => Formula::Run(run),
        };
        Some(Self {
            name: known.name.to_owned(),
            title: known.title.to_owned(),
            unit: formula.unit(),
            less_is_better: formula.less_is_better(),
            formula,
        })
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
            "ms" => format!("{:.1} s", self.shown(value)),
            unit => format!("{value:.1} {unit}"),
        }
    }

    /// The value, negated if more is better, so that less is always better.
    pub fn cost(&self, value: f64) -> f64 {
        if self.less_is_better { value } else { -value }
    }
}

/// The metrics that have a name, in the order of [`KNOWN`].
pub fn known() -> &'static [Metric] {
    static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| KNOWN.iter().filter_map(Metric::of_known).collect());
    &METRICS
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
