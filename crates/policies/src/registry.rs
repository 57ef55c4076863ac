//! Every policy and every speculator with its parameters, ranges, defaults and source. The command line, sweeps and the
//! documentation all read these lists.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use resched_sim::hadoop::Policy;

use crate::any::{AnyKind, AnyPolicy};
use crate::batch::{self, AnyBatchPolicy};
use crate::hadoop::mr1::{capacity, fair, fair_deficit, fifo};
use crate::hadoop::papers::{
    aria, cogrs, coupling, delay, delay_time, dress, flex, naive_fair, quincy, srpt, triple_queue,
};
use crate::hadoop::yarn;
use crate::site::Site;
use crate::speculation::{AnySpeculator, SPECULATORS, WithSpeculation};

/// All policies for Hadoop, in the order in which they are listed.
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
    yarn::fifo::INFO,
    yarn::capacity::INFO,
    yarn::fair::INFO,
    srpt::INFO,
    aria::INFO,
    flex::INFO,
    quincy::INFO,
];

/// All policies for production traces ([`resched_sim::batch`]), likewise.
#[rustfmt::skip] // one a line
pub const BATCH_POLICIES: &[PolicyInfo] = &[
    batch::fifo::INFO,
    batch::fair::INFO,
    batch::drf::INFO,
    batch::capacity::INFO,
    batch::dress::INFO,
    batch::easy::INFO,
    batch::conservative::INFO,
];

/// The prefix of the names of policies for production traces. Where the trace is one, it may be left out.
const BATCH: &str = "batch-";

/// Every policy.
fn all() -> impl Iterator<Item = &'static PolicyInfo> {
    POLICIES.iter().chain(BATCH_POLICIES)
}

/// The policies by where they come from: a title and names, in the order in which they are told.
#[rustfmt::skip]
pub const FAMILIES: &[(&str, &[&str])] = &[
    ("Hadoop MapReduce 1", &["fifo", "fair", "fair-deficit", "capacity"]),
    ("Hadoop YARN", &["yarn-fifo", "yarn-fair", "yarn-capacity"]),
    ("Published algorithms", &["naive-fair", "delay", "delay-time", "coupling", "triple-queue", "dress", "cogrs"]),
    ("References and bounds", &["srpt", "aria", "flex", "quincy"]),
    ("Production clusters", &["batch-fifo", "batch-fair", "batch-drf", "batch-capacity", "batch-dress", "easy", "conservative"]),
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
    pub(crate) build: fn(&Values, &Site) -> Result<AnyKind, String>,
}

impl PolicyInfo {
    /// Whether it is for production traces, not for Hadoop.
    pub fn is_batch(&self) -> bool {
        BATCH_POLICIES.iter().any(|info| info.name == self.name)
    }

    /// Whether it is an oracle, which knows what no scheduler can, as it is set by default.
    pub fn is_oracle(&self) -> bool {
        !self.is_batch()
            && PolicySpec::parse(self.name).and_then(|spec| spec.build()).is_ok_and(|policy| policy.is_oracle())
    }

    /// The title of its family.
    pub fn family(&self) -> &'static str {
        FAMILIES.iter().find(|(_, names)| names.contains(&self.name)).map_or("Others", |(title, _)| title)
    }
}

/// The policies of a family, in the order of [`FAMILIES`].
pub fn family(names: &'static [&'static str]) -> impl Iterator<Item = &'static PolicyInfo> {
    names.iter().filter_map(|name| all().find(|info| info.name == *name))
}

/// A speculator as the registry knows it.
#[derive(Debug)]
pub struct SpeculatorInfo {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes one; `Err` says what is wrong with the values taken together.
    pub(crate) build: fn(&Values) -> Result<AnySpeculator, String>,
}

/// A parameter of a policy or a speculator.
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
    /// The properties of Hadoop that set it at a site; the first one that is set counts.
    pub hadoop: &'static [&'static str],
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

impl Range {
    /// The value that this text stands for, if it is within the range.
    pub(crate) fn parse(self, text: &str) -> Option<Value> {
        match self {
            Range::Integer(low, high) => {
                text.parse().ok().filter(|value| (low..=high).contains(value)).map(Value::Integer)
            }
            Range::Number(low, high) => {
                text.parse().ok().filter(|value| (low..=high).contains(value)).map(Value::Number)
            }
            Range::Boolean => text.parse().ok().map(Value::Boolean),
            Range::Choice(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
            Range::File => Some(Value::Text(text.to_owned())),
        }
    }
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
        Self { key, range: Range::Integer(low, high), default, unit, meaning, hadoop: &[] }
    }

    pub(crate) const fn number(
        key: &'static str,
        default: &'static str,
        low: f64,
        high: f64,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { key, range: Range::Number(low, high), default, unit, meaning, hadoop: &[] }
    }

    pub(crate) const fn boolean(key: &'static str, default: &'static str, meaning: &'static str) -> Self {
        Self { key, range: Range::Boolean, default, unit: "", meaning, hadoop: &[] }
    }

    pub(crate) const fn choice(
        key: &'static str,
        default: &'static str,
        words: &'static [&'static str],
        meaning: &'static str,
    ) -> Self {
        Self { key, range: Range::Choice(words), default, unit: "", meaning, hadoop: &[] }
    }

    pub(crate) const fn file(key: &'static str, meaning: &'static str) -> Self {
        Self { key, range: Range::File, default: "", unit: "", meaning, hadoop: &[] }
    }

    /// With the properties of Hadoop that set it at a site.
    pub(crate) const fn hadoop(self, properties: &'static [&'static str]) -> Self {
        Self { hadoop: properties, ..self }
    }

    /// The value that this text stands for, or what was expected.
    fn parse(&self, text: &str) -> Result<Value, String> {
        self.range.parse(text).ok_or_else(|| {
            let hint = match self.range {
                Range::Choice(words) => nearest(text, words.iter().copied()),
                _ => String::new(),
            };
            format!("{}: expected {}, found `{text}`{hint}", self.key, self.range)
        })
    }
}

/// A value of a parameter or of a setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Text(String),
}

/// The values of all parameters of a policy or a speculator, each within its range.
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

/// Reads `key=value,key=value`. `what` (policy or speculator) and its name tell in errors whose parameters they are.
fn read_set(what: &str, name: &str, parameters: &[Parameter], text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut set = BTreeMap::new();
    for pair in text.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) =
            pair.split_once('=').ok_or_else(|| format!("{what} `{name}`: expected key=value, found `{pair}`"))?;
        if !parameters.iter().any(|parameter| parameter.key == key) {
            let hint = nearest(key, parameters.iter().map(|parameter| parameter.key));
            return Err(format!("{what} `{name}` has no parameter `{key}`{hint}; see `resched policies {name}`"));
        }
        if set.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(format!("{what} `{name}`: `{key}` is set twice"));
        }
    }
    Ok(set)
}

/// The values of all parameters, of which some are set.
fn read_values(
    what: &str,
    name: &str,
    parameters: &[Parameter],
    set: &BTreeMap<String, String>,
) -> Result<Values, String> {
    let mut values = BTreeMap::new();
    for parameter in parameters {
        let text = set.get(parameter.key).map_or(parameter.default, String::as_str);
        let value = parameter.parse(text).map_err(|problem| format!("{what} `{name}`: {problem}"))?;
        values.insert(parameter.key, value);
    }
    Ok(Values(values))
}

/// A name with the values that were set, in the order in which they are declared.
fn label(name: &str, parameters: &[Parameter], set: &BTreeMap<String, String>) -> String {
    let set: Vec<String> = parameters
        .iter()
        .filter_map(|parameter| Some(format!("{}={}", parameter.key, set.get(parameter.key)?)))
        .collect();
    if set.is_empty() { name.to_owned() } else { format!("{name}:{}", set.join(",")) }
}

/// All parameters with their values as they were written, defaults included.
fn written<'a>(
    parameters: &'a [Parameter],
    set: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = (&'static str, String)> + 'a {
    parameters.iter().map(|parameter| {
        let value = set.get(parameter.key).map_or(parameter.default, String::as_str);
        (parameter.key, value.to_owned())
    })
}

/// Parts a policy from its speculator, `policy+speculator`: at the last `+` that a word follows, up to a `:` or the end. A `+` in
/// a number is none of these.
fn split_speculator(text: &str) -> (&str, Option<&str>) {
    let is_word = |rest: &str| {
        let word = rest.split(':').next().unwrap_or(rest);
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    let parts = text.rmatch_indices('+').map(|(at, plus)| (text.split_at(at).0, text.split_at(at + plus.len()).1));
    let found = parts.into_iter().find(|(_, rest)| is_word(rest));
    found.map_or((text, None), |(policy, speculator)| (policy, Some(speculator)))
}

/// A policy with its parameters and, if it has one, its speculator, as they are written: `name`, `name:key=value,key=value`
/// or `name:key=value+speculator:key=value`.
#[derive(Debug, Clone)]
pub struct PolicySpec {
    /// The policy.
    pub info: &'static PolicyInfo,
    /// The values that were set, by key.
    pub set: BTreeMap<String, String>,
    /// What uses the slots that the policy leaves free.
    pub speculator: Option<SpeculatorSpec>,
    site: Arc<Site>,
    values: Values,
}

/// A speculator with its parameters, as it is written: `name` or `name:key=value,key=value`.
#[derive(Debug, Clone)]
pub struct SpeculatorSpec {
    /// The speculator.
    pub info: &'static SpeculatorInfo,
    /// The values that were set, by key.
    pub set: BTreeMap<String, String>,
    values: Values,
}

impl SpeculatorSpec {
    /// Reads a speculator with its parameters. The error names what is wrong and the nearest right word.
    ///
    /// # Errors
    /// An unknown speculator or key, or a value out of range, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let info = SPECULATORS.iter().find(|info| info.name == name).ok_or_else(|| {
            let hint = nearest(name, SPECULATORS.iter().map(|info| info.name));
            format!("unknown speculator `{name}`{hint}; `resched policies` lists them")
        })?;
        let set = read_set("speculator", name, info.parameters, rest)?;
        let values = read_values("speculator", name, info.parameters, &set)?;
        let spec = Self { info, set, values };
        spec.build()?;
        Ok(spec)
    }

    fn label(&self) -> String {
        label(self.info.name, self.info.parameters, &self.set)
    }

    fn build(&self) -> Result<AnySpeculator, String> {
        (self.info.build)(&self.values).map_err(|problem| format!("speculator `{}`: {problem}", self.info.name))
    }
}

impl PolicySpec {
    /// Reads a policy with its parameters and speculator. The error names what is wrong and the nearest right word.
    ///
    /// # Errors
    /// An unknown policy, speculator or key, or a value out of range, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (policy, speculator) = split_speculator(text);
        if split_speculator(policy).1.is_some() {
            return Err(format!("`{text}`: expected one speculator, found more; leave all but one out"));
        }
        let (name, rest) = policy.split_once(':').unwrap_or((policy, ""));
        let info = all().find(|info| info.name == name).ok_or_else(|| {
            let hint = nearest(name, all().map(|info| info.name));
            format!("unknown policy `{name}`{hint}; `resched policies` lists them")
        })?;
        if let (true, Some(speculator)) = (info.is_batch(), speculator) {
            return Err(format!(
                "policy `{name}`: expected no speculator, found `{speculator}`; these are for Hadoop only"
            ));
        }
        let set = read_set("policy", name, info.parameters, rest)?;
        let speculator = speculator.map(SpeculatorSpec::parse).transpose()?;
        Self::new(info, set, speculator, Arc::default())
    }

    fn new(
        info: &'static PolicyInfo,
        set: BTreeMap<String, String>,
        speculator: Option<SpeculatorSpec>,
        site: Arc<Site>,
    ) -> Result<Self, String> {
        let mut spec = Self { info, set, speculator, site, values: Values(BTreeMap::new()) };
        for parameter in info.parameters {
            let value = parameter.parse(spec.text(parameter));
            let value = value.map_err(|problem| format!("policy `{}`: {problem}", info.name))?;
            spec.values.0.insert(parameter.key, value);
        }
        spec.build_either()?;
        Ok(spec)
    }

    /// The same policy at a site, whose settings take the place of the defaults; what was set stays.
    ///
    /// # Errors
    /// As [`PolicySpec::parse`].
    pub fn at_site(&self, site: &Arc<Site>) -> Result<Self, String> {
        Self::new(self.info, self.set.clone(), self.speculator.clone(), Arc::clone(site))
    }

    /// The value of a parameter as it is written: the one that was set, else the site's, else the default.
    fn text(&self, parameter: &Parameter) -> &str {
        let site = || self.site.parameters.get(&(self.info.name, parameter.key));
        self.set.get(parameter.key).or_else(site).map_or(parameter.default, String::as_str)
    }

    /// As [`PolicySpec::parse_grid`], for a production trace: there a name stands for the policy for such traces, `fifo` for
    /// `batch-fifo`.
    ///
    /// # Errors
    /// As [`PolicySpec::parse`].
    pub fn parse_grid_for_production(text: &str) -> Result<Vec<Self>, String> {
        let name = text.split([':', '+']).next().unwrap_or(text);
        let is_meant = |info: &PolicyInfo| info.name.strip_prefix(BATCH) == Some(name);
        if BATCH_POLICIES.iter().any(is_meant) {
            return Self::parse_grid(&format!("{BATCH}{text}"));
        }
        Self::parse_grid(text)
    }

    /// Reads a policy whose values, and whose speculator's, may be lists, `delay:D=0|8|24`, and returns one for each
    /// combination: the cells of a sweep, in the order in which they are written.
    ///
    /// # Errors
    /// As [`PolicySpec::parse`].
    pub fn parse_grid(text: &str) -> Result<Vec<Self>, String> {
        let (policy, speculator) = split_speculator(text);
        let policies = cells(policy);
        let Some(speculator) = speculator else { return policies.iter().map(|policy| Self::parse(policy)).collect() };
        let speculators = cells(speculator);
        let pairs = policies.iter().flat_map(|policy| speculators.iter().map(move |own| format!("{policy}+{own}")));
        pairs.map(|pair| Self::parse(&pair)).collect()
    }

    /// The names of the policy and its speculator, without parameters.
    pub fn name(&self) -> String {
        let speculator = self.speculator.as_ref().map(|own| format!("+{}", own.info.name));
        format!("{}{}", self.info.name, speculator.unwrap_or_default())
    }

    /// Its name with the values that were set, in the order in which the policy declares them.
    pub fn label(&self) -> String {
        let speculator = self.speculator.as_ref().map(|own| format!("+{}", own.label()));
        format!("{}{}", label(self.info.name, self.info.parameters, &self.set), speculator.unwrap_or_default())
    }

    /// All parameters with their values, those of the site and defaults included; the speculator's as `speculator.key`.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        let pair = |parameter: &Parameter| (parameter.key.to_owned(), self.text(parameter).to_owned());
        let speculators = self.speculator.iter().flat_map(|speculator| {
            let name = speculator.info.name;
            written(speculator.info.parameters, &speculator.set)
                .map(move |(key, value)| (format!("{name}.{key}"), value))
        });
        self.info.parameters.iter().map(pair).chain(speculators).collect()
    }

    /// Makes the policy, new for each replay.
    ///
    /// # Errors
    /// What is wrong with the values taken together, or with a file they name; that it is for production traces.
    pub fn build(&self) -> Result<AnyPolicy, String> {
        match self.build_either()? {
            AnyKind::Batch(_) => Err(format!("policy `{}` is for production traces, not for Hadoop", self.info.name)),
            AnyKind::Hadoop(base) => match &self.speculator {
                None => Ok(base),
                Some(speculator) => Ok(WithSpeculation::new(base, speculator.build()?).into()),
            },
        }
    }

    /// Makes the policy for a production trace, new for each replay.
    ///
    /// # Errors
    /// What is wrong with the values taken together, or with a file they name; that it is for Hadoop.
    pub fn build_batch(&self) -> Result<AnyBatchPolicy, String> {
        match self.build_either()? {
            AnyKind::Batch(policy) => Ok(policy),
            AnyKind::Hadoop(_) => Err(format!("policy `{}` is for Hadoop, not for production traces", self.info.name)),
        }
    }

    fn build_either(&self) -> Result<AnyKind, String> {
        (self.info.build)(&self.values, &self.site).map_err(|problem| format!("policy `{}`: {problem}", self.info.name))
    }
}

/// One for each combination of the values of `name:key=value|value,…`.
fn cells(text: &str) -> Vec<String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut cells = vec![String::new()];
    for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
        let (key, list) = pair.split_once('=').unwrap_or((pair, ""));
        let with = |value| if pair.contains('=') { format!("{key}={value},") } else { format!("{pair},") };
        cells =
            cells.iter().flat_map(|cell| list.split('|').map(move |value| format!("{cell}{}", with(value)))).collect();
    }
    cells.iter().map(|cell| format!("{name}:{cell}").trim_end_matches([',', ':']).to_owned()).collect()
}

/// `; did you mean …?` if one of the words is close to this one.
pub fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> String {
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
        for info in all() {
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
    fn every_policy_belongs_to_one_family() {
        let mut named: Vec<&str> = FAMILIES.iter().flat_map(|(_, names)| *names).copied().collect();
        let mut all: Vec<&str> = super::all().map(|info| info.name).collect();
        named.sort_unstable();
        all.sort_unstable();
        assert_eq!(named, all, "FAMILIES must name each of POLICIES once");
    }

    #[test]
    fn a_wrong_word_suggests_the_right_one() {
        let error = |text: &str| PolicySpec::parse(text).unwrap_err();
        assert!(error("dely").contains("did you mean `delay`"));
        assert!(error("delay:d=3").contains("did you mean `D`"));
        assert!(error("delay:D=-1").contains("expected 0.."));
        assert!(error("delay:D").contains("expected key=value"));
        assert!(error("delay:D=1,D=2").contains("twice"));
        assert!(error("fifo+lat").contains("did you mean `late`"));
        assert!(error("fifo+late:slow-task=3").contains("did you mean `slow_task`"));
        assert!(error("fifo+late:cap=2").starts_with("speculator `late`: cap: expected 0..1"));
        assert!(error("ffo+late").contains("did you mean `fifo`"));
        assert!(error("fifo+late+samr").contains("expected one speculator"));
        assert!(error("fifo+").contains("did you mean `fifo`"));
        assert!(!error("zzzzzzzz").contains("did you mean"));
    }

    #[test]
    fn every_speculator_combines_with_every_policy() {
        for speculator in SPECULATORS {
            assert!(!speculator.source.is_empty());
            assert!(speculator.parameters.iter().all(|parameter| !parameter.meaning.is_empty()));
            for policy in POLICIES {
                let text = format!("{}+{}", policy.name, speculator.name);
                let spec = PolicySpec::parse(&text).unwrap();
                assert_eq!((spec.name(), spec.label()), (text.clone(), text));
                assert_eq!(spec.parameters().len(), policy.parameters.len() + speculator.parameters.len());
            }
        }
    }

    #[test]
    fn a_speculator_has_parameters_of_its_own() {
        let spec = PolicySpec::parse("delay:lambda=1e-1,D=3+late:min_run=5,cap=2e-1").unwrap();
        assert_eq!(spec.label(), "delay:D=3,lambda=1e-1+late:cap=2e-1,min_run=5");
        assert_eq!(spec.name(), "delay+late");
        let parameters = spec.parameters();
        assert_eq!((parameters["D"].as_str(), parameters["late.cap"].as_str()), ("3", "2e-1"));
        assert_eq!(parameters["late.slow_task"], "25");
        let plus = PolicySpec::parse("delay:lambda=0.5e+0").unwrap();
        assert!(plus.speculator.is_none());
        assert_eq!(PolicySpec::parse("fifo+late:cap=1e+0").unwrap().label(), "fifo+late:cap=1e+0");
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
        assert_eq!(
            labels("delay:D=1|2+late:cap=0.1|0.2"),
            ["delay:D=1+late:cap=0.1", "delay:D=1+late:cap=0.2", "delay:D=2+late:cap=0.1", "delay:D=2+late:cap=0.2"]
        );
        assert!(PolicySpec::parse_grid("delay:D=1|x").is_err());
        assert!(PolicySpec::parse_grid("delay:D").unwrap_err().contains("expected key=value"));
    }
}
