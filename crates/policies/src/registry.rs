//! Every policy with its parameters, ranges, defaults and source. The command line, sweeps and the documentation all read
//! this one list.

use std::collections::BTreeMap;
use std::fmt;

use resched_sim::Policy;

use crate::any::AnyPolicy;
use crate::site::Site;
use crate::{
    aria, capacity, cogrs, coupling, delay, delay_time, dress, fair, fair_deficit, fifo, flex, naive_fair, quincy,
    srpt, triple_queue, yarn_capacity, yarn_fair, yarn_fifo,
};

/// All policies, in the order in which they are listed.
#[rustfmt::skip] // one a line
pub const POLICIES: &[PolicyInfo] = &[
    fifo::INFO,
    naive_fair::INFO,
    delay::INFO,
    delay_time::INFO,
    fair::INFO,
    fair_deficit::INFO,
    capacity::INFO,
    coupling::INFO,
    triple_queue::INFO,
    dress::INFO,
    cogrs::INFO,
    yarn_fifo::INFO,
    yarn_capacity::INFO,
    yarn_fair::INFO,
    srpt::INFO,
    aria::INFO,
    flex::INFO,
    quincy::INFO,
];

/// A policy as the registry knows it.
#[derive(Debug)]
pub struct PolicyInfo {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes one; `Err` says what is wrong with the values taken together.
    pub(crate) build: fn(&Values, &Site) -> Result<AnyPolicy, String>,
}

impl PolicyInfo {
    /// Whether it is an oracle, which knows what no scheduler can, as it is set by default.
    pub fn is_oracle(&self) -> bool {
        PolicySpec::parse(self.name).and_then(|spec| spec.build()).is_ok_and(|policy| policy.is_oracle())
    }
}

/// A parameter of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// The key by which it is set.
    pub key: &'static str,
    /// What values it takes.
    pub range: Range,
    /// Its value if it is not set.
    pub default: &'static str,
    /// The unit of the value, if it has one.
    pub unit: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// What values a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Whole numbers, both ends included.
    Integer(i64, i64),
    /// Numbers, both ends included.
    Number(f64, f64),
    /// `true` or `false`.
    Boolean,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The path of a file; empty: none.
    File,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Integer(low, high) => write!(f, "{low}..{high}"),
            Range::Number(low, high) => write!(f, "{low}..{high}"),
            Range::Boolean => f.write_str("true|false"),
            Range::Choice(words) => f.write_str(&words.join("|")),
            Range::File => f.write_str("file"),
        }
    }
}

impl Parameter {
    pub(crate) const fn integer(
        key: &'static str,
        default: &'static str,
        low: i64,
        high: i64,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { key, range: Range::Integer(low, high), default, unit, meaning }
    }

    pub(crate) const fn number(
        key: &'static str,
        default: &'static str,
        low: f64,
        high: f64,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { key, range: Range::Number(low, high), default, unit, meaning }
    }

    pub(crate) const fn boolean(key: &'static str, default: &'static str, meaning: &'static str) -> Self {
        Self { key, range: Range::Boolean, default, unit: "", meaning }
    }

    pub(crate) const fn choice(
        key: &'static str,
        default: &'static str,
        words: &'static [&'static str],
        meaning: &'static str,
    ) -> Self {
        Self { key, range: Range::Choice(words), default, unit: "", meaning }
    }

    pub(crate) const fn file(key: &'static str, meaning: &'static str) -> Self {
        Self { key, range: Range::File, default: "", unit: "", meaning }
    }

    /// The value that this text stands for, or what was expected.
    fn parse(&self, text: &str) -> Result<Value, String> {
        let value = match self.range {
            Range::Integer(low, high) => {
                text.parse().ok().filter(|value| (low..=high).contains(value)).map(Value::Integer)
            }
            Range::Number(low, high) => {
                text.parse().ok().filter(|value| (low..=high).contains(value)).map(Value::Number)
            }
            Range::Boolean => text.parse().ok().map(Value::Boolean),
            Range::Choice(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
            Range::File => Some(Value::Text(text.to_owned())),
        };
        value.ok_or_else(|| {
            let hint = match self.range {
                Range::Choice(words) => nearest(text, words.iter().copied()),
                _ => String::new(),
            };
            format!("{}: expected {}, found `{text}`{hint}", self.key, self.range)
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Text(String),
}

/// The values of all parameters of a policy, each within its range.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Values(BTreeMap<&'static str, Value>);

impl Values {
    pub(crate) fn integer(&self, key: &str) -> i64 {
        match self.0.get(key) {
            Some(&Value::Integer(value)) => value,
            other => undeclared(key, other),
        }
    }

    pub(crate) fn number(&self, key: &str) -> f64 {
        match self.0.get(key) {
            Some(&Value::Number(value)) => value,
            other => undeclared(key, other),
        }
    }

    pub(crate) fn boolean(&self, key: &str) -> bool {
        match self.0.get(key) {
            Some(&Value::Boolean(value)) => value,
            other => undeclared(key, other),
        }
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        match self.0.get(key) {
            Some(Value::Text(value)) => value,
            other => undeclared(key, other),
        }
    }
}

/// A policy reads a parameter that it does not declare so: a slip in its own file, which its first test meets.
fn undeclared<T: Default>(key: &str, found: Option<&Value>) -> T {
    debug_assert!(false, "parameter `{key}` is declared as {found:?}");
    T::default()
}

/// A policy with its parameters, as it is written: `name` or `name:key=value,key=value`.
#[derive(Debug, Clone)]
pub struct PolicySpec {
    /// The policy.
    pub info: &'static PolicyInfo,
    /// The values that were set, by key.
    pub set: BTreeMap<String, String>,
    values: Values,
}

impl PolicySpec {
    /// Reads a policy with its parameters. The error names what is wrong and the nearest right word.
    ///
    /// # Errors
    /// An unknown policy or key, or a value out of range, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let info = POLICIES.iter().find(|info| info.name == name).ok_or_else(|| {
            let hint = nearest(name, POLICIES.iter().map(|info| info.name));
            format!("unknown policy `{name}`{hint}; `resched policies` lists them")
        })?;
        let mut set = BTreeMap::new();
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| format!("policy `{name}`: expected key=value, found `{pair}`"))?;
            if !info.parameters.iter().any(|parameter| parameter.key == key) {
                let hint = nearest(key, info.parameters.iter().map(|parameter| parameter.key));
                return Err(format!("policy `{name}` has no parameter `{key}`{hint}; see `resched policies {name}`"));
            }
            if set.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(format!("policy `{name}`: `{key}` is set twice"));
            }
        }
        let mut values = BTreeMap::new();
        for parameter in info.parameters {
            let text = set.get(parameter.key).map_or(parameter.default, String::as_str);
            let value = parameter.parse(text).map_err(|problem| format!("policy `{name}`: {problem}"))?;
            values.insert(parameter.key, value);
        }
        let spec = Self { info, set, values: Values(values) };
        spec.build()?;
        Ok(spec)
    }

    /// Reads a policy whose values may be lists, `delay:D=0|8|24`, and returns one for each combination: the cells of a
    /// sweep, in the order in which they are written.
    ///
    /// # Errors
    /// As [`PolicySpec::parse`].
    pub fn parse_grid(text: &str) -> Result<Vec<Self>, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut cells = vec![String::new()];
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let (key, list) = pair.split_once('=').unwrap_or((pair, ""));
            let with = |value| if pair.contains('=') { format!("{key}={value},") } else { format!("{pair},") };
            cells = cells
                .iter()
                .flat_map(|cell| list.split('|').map(move |value| format!("{cell}{}", with(value))))
                .collect();
        }
        cells.iter().map(|cell| Self::parse(format!("{name}:{cell}").trim_end_matches([',', ':']))).collect()
    }

    /// Its name with the values that were set, in the order in which the policy declares them.
    pub fn label(&self) -> String {
        let set: Vec<String> = self
            .info
            .parameters
            .iter()
            .filter_map(|parameter| Some(format!("{}={}", parameter.key, self.set.get(parameter.key)?)))
            .collect();
        if set.is_empty() { self.info.name.to_owned() } else { format!("{}:{}", self.info.name, set.join(",")) }
    }

    /// All parameters with their values, defaults included.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        let value = |parameter: &Parameter| {
            self.set.get(parameter.key).cloned().unwrap_or_else(|| parameter.default.to_owned())
        };
        self.info.parameters.iter().map(|parameter| (parameter.key.to_owned(), value(parameter))).collect()
    }

    /// Makes the policy, new for each replay.
    ///
    /// # Errors
    /// What is wrong with the values taken together, or with a file they name.
    pub fn build(&self) -> Result<AnyPolicy, String> {
        (self.info.build)(&self.values, &Site::default())
            .map_err(|problem| format!("policy `{}`: {problem}", self.info.name))
    }
}

/// `; did you mean …?` if one of the words is close to this one.
fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> String {
    let best =
        words.map(|known| (strsim::damerau_levenshtein(&word.to_lowercase(), &known.to_lowercase()), known)).min();
    match best {
        Some((distance, known)) if distance <= known.len().max(3) / 2 => format!("; did you mean `{known}`?"),
        _ => String::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_can_be_made_from_its_defaults_and_documents_its_parameters() {
        for info in POLICIES {
            let spec = PolicySpec::parse(info.name).unwrap();
            assert_eq!(spec.label(), info.name);
            assert!(!info.source.is_empty() && info.parameters.iter().all(|parameter| !parameter.meaning.is_empty()));
            assert_eq!(spec.parameters().len(), info.parameters.len(), "{}: a key stands twice", info.name);
        }
    }

    #[test]
    fn oracles_say_so() {
        for info in POLICIES {
            assert_eq!(info.is_oracle(), info.title.contains("(oracle: "), "{}", info.name);
        }
    }

    #[test]
    fn a_wrong_word_suggests_the_right_one() {
        let error = |text: &str| PolicySpec::parse(text).unwrap_err();
        assert!(error("dely").contains("did you mean `delay`"));
        assert!(error("delay:d=3").contains("did you mean `D`"));
        assert!(error("delay:D=-1").contains("expected 0.."));
        assert!(error("delay:D").contains("expected key=value"));
        assert!(error("delay:D=1,D=2").contains("twice"));
        assert!(!error("zzzzzzzz").contains("did you mean"));
    }

    #[test]
    fn a_label_is_the_same_however_it_was_written() {
        let spec = PolicySpec::parse("fair:preemption=true,delay_node=0").unwrap();
        assert_eq!(spec.label(), PolicySpec::parse("fair:delay_node=0,preemption=true").unwrap().label());
    }

    #[test]
    fn a_list_of_values_is_a_grid() {
        let labels = |text: &str| -> Vec<String> {
            PolicySpec::parse_grid(text).unwrap().iter().map(PolicySpec::label).collect()
        };
        assert_eq!(labels("delay:D=0|8|24"), ["delay:D=0", "delay:D=8", "delay:D=24"]);
        assert_eq!(labels("fair"), ["fair"]);
        assert_eq!(labels("fair:delay_node=0|1,delay_rack=2|3").len(), 4);
        assert!(PolicySpec::parse_grid("delay:D=1|x").is_err());
        assert!(PolicySpec::parse_grid("delay:D").unwrap_err().contains("expected key=value"));
    }
}
