//! The values of a parameter in a sweep: one value, a list, a range or a distribution.

use rand::{Rng, RngExt};
use resched_tables::{choices, keys};
use statrs::distribution::{ContinuousCDF, Normal};
use toml::Value as Toml;

/// The most steps of a range. More along one axis are surely a typing error.
pub(crate) const MOST_STEPS: u32 = 10_000;

/// The values of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    /// These values, in this order.
    List(Vec<Value>),
    /// From one number to another.
    Range { from: f64, to: f64, steps: Option<u32>, logarithmic: bool },
    /// Drawn from a normal distribution.
    Normal { mean: f64, deviation: f64 },
}

/// One value, for a policy or for a key of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Anything else.
    Other(Toml),
}

keys! {
    /// A table that stands for many values: `from` and `to`, or `mean` and `deviation`.
    pub(crate) struct Spread {
        /// The least value.
        from: Option<f64> = None;
        /// The greatest value.
        to: Option<f64> = None, rule "above `from`";
        /// How many values there are from `from` to `to`, with both ends. A grid needs it.
        steps: Option<u32> = None, unit "values", rule format!("from 2 to {MOST_STEPS}");
        /// How the values lie between `from` and `to`.
        scale: Scale = Scale::Linear;
        /// The mean of a normal distribution. A grid cannot have one.
        mean: Option<f64> = None;
        /// The standard deviation of that distribution.
        deviation: Option<f64> = None, rule "from 0";
    }
}

choices! {
    /// How the values of a range lie.
    pub(crate) enum Scale {
        /// At equal distances.
        Linear = "linear",
        /// At equal factors, for values above 0.
        Log = "log",
    }
}

impl Value {
    /// A value of a TOML file.
    pub(crate) fn of(value: &Toml) -> Self {
        match value {
            Toml::Integer(number) => Self::Integer(*number),
            Toml::Float(number) => Self::Number(*number),
            other => Self::Other(other.clone()),
        }
    }

    /// The value as the text of a policy's parameter.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Other(Toml::String(text)) => text.clone(),
            Self::Other(other) => other.to_string(),
        }
    }

    /// Its number, if it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Other(_) => None,
        }
    }

    /// The value for a TOML file.
    pub(crate) fn toml(&self) -> Toml {
        match self {
            Self::Integer(number) => Toml::Integer(*number),
            Self::Number(number) => Toml::Float(*number),
            Self::Other(other) => other.clone(),
        }
    }
}

impl Values {
    /// Reads the value of a key: a value, a list of values, `{ from, to, steps, scale }` or `{ mean, deviation }`. If one value is
    /// itself a list, for example factors of locality, it stands in a list.
    ///
    /// # Errors
    /// A text with what was expected and what was found.
    pub(crate) fn parse(value: &Toml) -> Result<Self, String> {
        match value {
            Toml::Array(list) if list.is_empty() => Err("expected at least one value, found an empty list".to_owned()),
            Toml::Array(list) => Ok(Self::List(list.iter().map(Value::of).collect())),
            Toml::Table(_) => {
                let spread: Spread = value.clone().try_into().map_err(|error: toml::de::Error| {
                    format!(
                        "expected {{ from, to, steps, scale }} or {{ mean, deviation }}: {}",
                        error.message().trim_end()
                    )
                })?;
                Self::spread(&spread)
            }
            one => Ok(Self::List(vec![Value::of(one)])),
        }
    }

    fn spread(spread: &Spread) -> Result<Self, String> {
        match *spread {
            Spread { from: Some(from), to: Some(to), steps, scale, mean: None, deviation: None } => {
                if !(from.is_finite() && to.is_finite() && from < to) {
                    return Err(format!("expected from < to, found {from} and {to}"));
                }
                let logarithmic = scale == Scale::Log;
                if logarithmic && from <= 0.0 {
                    return Err(format!("expected a logarithmic range above 0, found {from}"));
                }
                match steps {
                    Some(steps) if !(2..=MOST_STEPS).contains(&steps) => {
                        Err(format!("expected 2 to {MOST_STEPS} steps, found {steps}"))
                    }
                    steps => Ok(Self::Range { from, to, steps, logarithmic }),
                }
            }
            Spread {
                from: None,
                to: None,
                steps: None,
                mean: Some(mean),
                deviation: Some(deviation),
                scale: Scale::Linear,
            } if mean.is_finite() && deviation.is_finite() && deviation >= 0.0 => Ok(Self::Normal { mean, deviation }),
            _ => Err("expected { from, to, steps, scale } or { mean, deviation }, found something else".to_owned()),
        }
    }

    /// True if more than one value is possible.
    pub(crate) fn varies(&self) -> bool {
        !matches!(self, Self::List(list) if list.len() == 1)
    }

    /// The number of values in a grid, at most.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::List(list) => list.len() as u64,
            Self::Range { steps, .. } => steps.unwrap_or(1).into(),
            Self::Normal { .. } => 1,
        }
    }

    /// All values, for a grid; whole numbers if `integer`.
    ///
    /// # Errors
    /// If the values cannot be enumerated. The text has the remedy.
    pub(crate) fn all(&self, integer: bool) -> Result<Vec<Value>, String> {
        match *self {
            Self::List(ref list) => Ok(list.clone()),
            Self::Range { steps: None, .. } => {
                Err("a range in a grid needs `steps`; add it, or use a sampled design".to_owned())
            }
            Self::Normal { .. } => {
                Err("a grid cannot have a distribution; use `design.kind = \"random\"` or \"latin-hypercube\""
                    .to_owned())
            }
            Self::Range { steps: Some(steps), .. } => {
                let last = f64::from(steps - 1);
                let mut values: Vec<Value> =
                    (0..steps).map(|step| rounded(self.at(f64::from(step) / last), integer)).collect();
                values.dedup();
                Ok(values)
            }
        }
    }

    /// The value below which a share `p` of its distribution lies; `p` in [0, 1).
    pub(crate) fn quantile(&self, p: f64, integer: bool) -> Value {
        match self {
            Self::List(list) => {
                let place = ((p * list.len() as f64) as usize).min(list.len().saturating_sub(1));
                list.get(place).cloned().unwrap_or(Value::Integer(0))
            }
            Self::Range { .. } => rounded(self.at(p), integer),
            Self::Normal { mean, deviation } => {
                let deviations = Normal::standard().inverse_cdf(p.clamp(1e-9, 1.0 - 1e-9));
                rounded(mean + deviation * deviations, integer)
            }
        }
    }

    /// A random value.
    pub(crate) fn draw(&self, integer: bool, rng: &mut impl Rng) -> Value {
        self.quantile(rng.random(), integer)
    }

    /// The number at a share of a range.
    fn at(&self, share: f64) -> f64 {
        match *self {
            Self::Range { from, to, logarithmic: true, .. } => {
                // The ends are met exactly.
                if share <= 0.0 {
                    from
                } else if share >= 1.0 {
                    to
                } else {
                    from * (to / from).powf(share)
                }
            }
            Self::Range { from, to, .. } => {
                if share >= 1.0 {
                    to
                } else {
                    from + (to - from) * share
                }
            }
            _ => f64::NAN,
        }
    }
}

/// A number, with at most 9 significant digits so that it reads well; a whole one if `integer`.
fn rounded(number: f64, integer: bool) -> Value {
    if integer {
        return Value::Integer(number.round() as i64);
    }
    let short: f64 = format!("{number:.8e}").parse().unwrap_or(number);
    Value::Number(short)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn values(text: &str) -> Result<Values, String> {
        let table: toml::Table = format!("x = {text}").parse().unwrap();
        Values::parse(&table["x"])
    }

    fn texts(text: &str, integer: bool) -> Vec<String> {
        values(text).unwrap().all(integer).unwrap().iter().map(Value::text).collect()
    }

    #[test]
    fn values_lists_and_ranges_are_enumerated() {
        assert_eq!(texts("3", false), ["3"]);
        assert_eq!(texts("[0, 2.5, \"auto\", true]", false), ["0", "2.5", "auto", "true"]);
        assert_eq!(texts("{ from = 0, to = 1, steps = 5 }", false), ["0", "0.25", "0.5", "0.75", "1"]);
        assert_eq!(texts("{ from = 1, to = 100, steps = 3, scale = \"log\" }", true), ["1", "10", "100"]);
        assert_eq!(texts("{ from = 1, to = 3, steps = 9 }", true), ["1", "2", "3"], "no value twice");
        assert_eq!(texts("{ from = 0.1, to = 0.9, steps = 3 }", false), ["0.1", "0.5", "0.9"]);
    }

    #[test]
    fn a_range_has_as_many_steps_as_the_limit_and_not_one_more() {
        let range = |steps: u32| values(&format!("{{ from = 0, to = 1, steps = {steps} }}"));
        assert_eq!(range(MOST_STEPS).unwrap().all(false).unwrap().len(), MOST_STEPS as usize);
        assert_eq!(range(MOST_STEPS + 1).unwrap_err(), "expected 2 to 10000 steps, found 10001");
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (text, problem) in [
            ("[]", "empty list"),
            ("{ from = 2, to = 1, steps = 3 }", "from < to"),
            ("{ from = 0, to = 1, steps = 3, scale = \"log\" }", "above 0"),
            ("{ from = 1, to = 2, steps = 1 }", "steps"),
            ("{ from = 1, too = 2 }", "unknown field `too`"),
            ("{ mean = 1 }", "deviation"),
        ] {
            let found = values(text).unwrap_err();
            assert!(found.contains(problem), "{text}: {found}");
        }
        assert!(values("{ from = 1, to = 2 }").unwrap().all(false).unwrap_err().contains("steps"));
        assert!(values("{ mean = 1, deviation = 2 }").unwrap().all(false).unwrap_err().contains("grid"));
    }

    #[test]
    fn quantiles_span_what_is_possible() {
        let range = values("{ from = 1, to = 100, scale = \"log\" }").unwrap();
        assert_eq!(range.quantile(0.5, false).text(), "10");
        assert_eq!(values("[7, 8, 9]").unwrap().quantile(0.99, false).text(), "9");
        let normal = values("{ mean = 5, deviation = 2 }").unwrap();
        assert_eq!(normal.quantile(0.5, false).number(), Some(5.0));
        let above = normal.quantile(0.975, false).number().unwrap();
        assert!((above - 8.919_928).abs() < 1e-5, "{above}");
    }
}
