//! Reads a policy as you write it: `name:key=value,…+speculator:key=value,…`, where a value may be a list, `key=1|2|3`.

use std::collections::BTreeMap;
use std::sync::Arc;

use resched_tables::limits::Limit;
use resched_tables::reference::nearest;
use resched_tables::run::RunEngine as Engine;

use super::{PolicySpec, Set, SpeculatorSpec};
use crate::error::Error;
use crate::info::PolicyInfo;
use crate::loader;
use crate::parameter::Parameter;
use crate::registry::{POLICIES, SPECULATORS};
use crate::speculation::SpeculatorInfo;

/// The most policies that one text may stand for: a sweep has a design for more.
const MOST_COMBINATIONS: usize = 10_000;

/// The limits of a policy on the command line.
pub const LIMITS: &[Limit] = &[Limit::number(
    "policies that one `--policy` stands for, as `delay:D=1|2|3` for three",
    MOST_COMBINATIONS as u64,
    "The request is refused. A sweep has a design for more.",
)];

impl PolicySpec {
    /// Reads a policy, by its full name, with its parameters and speculator. The error names what is wrong and the nearest right word.
    ///
    /// # Errors
    /// An unknown policy, speculator or key, or a value out of its range.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_for(text, Engine::Hadoop)
    }

    /// As [`PolicySpec::parse`], for a trace that this engine replays: on a production trace, `fifo` stands for `batch-fifo`.
    ///
    /// # Errors
    /// As [`PolicySpec::parse`].
    pub fn parse_for(text: &str, engine: Engine) -> Result<Self, Error> {
        let mut one = read(text, engine, |value| vec![value])?;
        one.pop().ok_or_else(|| Error::Defect(format!("`{text}` stands for no policy")))
    }

    /// As [`PolicySpec::parse_for`], but values of the policy and of its speculator may be lists, `delay:D=0|8|24`. Returns a policy for each
    /// combination, in the order in which they are written.
    ///
    /// # Errors
    /// As [`PolicySpec::parse`]; too many combinations.
    pub fn parse_grid(text: &str, engine: Engine) -> Result<Vec<Self>, Error> {
        let (policy, speculator) = split_speculator(text);
        let found = combinations(policy).saturating_mul(speculator.map_or(1, combinations));
        if found > MOST_COMBINATIONS {
            return Err(Error::Parameter(format!(
                "policy `{policy}`: expected at most {MOST_COMBINATIONS} combinations of values, found {found}; list fewer"
            )));
        }
        read(text, engine, |values| values.split('|').collect())
    }

    /// The same policy with these values, too. `speculator.key` is a parameter of the speculator.
    ///
    /// # Errors
    /// A value out of its range, or with a character that separates parameters.
    pub fn with_values(&self, values: &[(String, String)]) -> Result<Self, Error> {
        let (mut set, mut speculator) = (self.set.clone(), self.speculator.clone());
        for (key, value) in values {
            // A policy can be written with each of its values, as a label is.
            if value.contains(',') || split_speculator(value).1.is_some() {
                return Err(Error::Parameter(format!(
                    "policy `{}`: {key}: expected a value without `,` and `+`, found `{value}`",
                    self.info.name
                )));
            }
            match (key.split_once('.'), &mut speculator) {
                (Some((_, key)), Some(named)) => named.set.insert(key.to_owned(), value.clone()),
                _ => set.insert(key.clone(), value.clone()),
            };
        }
        let speculator =
            speculator.map(|speculator| SpeculatorSpec::with(speculator.info, speculator.set)).transpose()?;
        Self::with(self.info, set, speculator, Arc::clone(&self.site))
    }
}

/// The policies that a text stands for. `split` splits a value into those of a list.
fn read<'t>(text: &'t str, engine: Engine, split: impl Fn(&'t str) -> Vec<&'t str>) -> Result<Vec<PolicySpec>, Error> {
    let (named, speculator) = split_speculator(text);
    if split_speculator(named).1.is_some() {
        return Err(Error::Parameter(format!("`{text}`: expected one speculator, found more; leave all but one out")));
    }
    let is_ours = |name: &str| policy(name, engine).is_ok();
    let (info, pairs) = match loader::split(named, is_ours) {
        Some((name, pairs)) => (loader::find(name)?, pairs),
        None => {
            let (name, pairs) = named.split_once(':').unwrap_or((named, ""));
            (policy(name, engine)?, pairs)
        }
    };
    if let (true, Some(speculator)) = (info.is_batch(), speculator) {
        return Err(Error::Parameter(format!(
            "policy `{}`: expected no speculator, found `{speculator}`; these are for Hadoop only",
            info.name
        )));
    }
    let speculators = match speculator {
        None => vec![None],
        Some(text) => {
            let (name, pairs) = text.split_once(':').unwrap_or((text, ""));
            let info = self::speculator(name)?;
            let sets = sets("speculator", info.name, info.parameters, pairs, &split)?;
            sets.into_iter().map(|set| SpeculatorSpec::with(info, set).map(Some)).collect::<Result<_, _>>()?
        }
    };
    let mut all = Vec::new();
    for set in sets("policy", info.name, info.parameters, pairs, &split)? {
        for speculator in &speculators {
            all.push(PolicySpec::with(info, set.clone(), speculator.clone(), Arc::default())?);
        }
    }
    Ok(all)
}

/// The policy of this name. On a production trace, its own policies have short names, too.
fn policy(name: &str, engine: Engine) -> Result<&'static PolicyInfo, Error> {
    let is_short_for = |info: &&PolicyInfo| engine == Engine::Batch && info.is_batch() && info.short_name() == name;
    let found = POLICIES.iter().find(is_short_for).or_else(|| POLICIES.iter().find(|info| info.name == name));
    found.ok_or_else(|| {
        let hint = nearest(name, POLICIES.iter().map(|info| info.name));
        Error::UnknownName { what: "policy", name: name.to_owned(), hint }
    })
}

/// The speculator of this name.
fn speculator(name: &str) -> Result<&'static SpeculatorInfo, Error> {
    SPECULATORS.iter().find(|info| info.name == name).ok_or_else(|| {
        let hint = nearest(name, SPECULATORS.iter().map(|info| info.name));
        Error::UnknownName { what: "speculator", name: name.to_owned(), hint }
    })
}

/// Splits `policy+speculator` at the last `+` that is followed by a word, up to a `:` or the end. So a `+` in a number
/// does not count.
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

/// How many combinations `name:key=value|value,…` stands for.
fn combinations(text: &str) -> usize {
    let lists = text.split(',').map(|pair| pair.split('|').count());
    lists.fold(1, usize::saturating_mul)
}

/// Reads `key=value,key=value`, once for each combination of the values that `split` finds. Errors name the owner of the parameters: `what`
/// (policy or speculator) and its name.
fn sets<'t>(
    what: &str,
    name: &str,
    parameters: &[Parameter],
    pairs: &'t str,
    split: impl Fn(&'t str) -> Vec<&'t str>,
) -> Result<Vec<Set>, Error> {
    let wrong = |problem: String| Error::Parameter(format!("{what} `{name}`{problem}"));
    let hint = |key: &str| nearest(key, parameters.iter().map(|parameter| parameter.key));
    let mut sets = vec![BTreeMap::new()];
    for pair in pairs.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) =
            pair.split_once('=').ok_or_else(|| wrong(format!(": expected key=value, found `{pair}`{}", hint(pair))))?;
        if !parameters.iter().any(|parameter| parameter.key == key) {
            let hint = hint(key);
            return Err(wrong(format!(" has no parameter `{key}`{hint}; see `resched policies {name}`")));
        }
        if sets.iter().any(|set| set.contains_key(key)) {
            return Err(wrong(format!(": `{key}` is set twice")));
        }
        let values = split(value);
        let with = |set: &Set, value: &str| {
            let mut set = set.clone();
            set.insert(key.to_owned(), value.to_owned());
            set
        };
        sets = sets.iter().flat_map(|set| values.iter().map(|value| with(set, value))).collect();
    }
    Ok(sets)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::registry::SPECULATORS;

    /// Found by the fuzz target `policy`: the combinations took all memory before the first was looked at.
    #[test]
    fn a_short_text_does_not_stand_for_very_many_policies() {
        let text = format!("delay:{}", vec!["D=1|2|3|4|5|6|7|8|9"; 20].join(","));
        let error = PolicySpec::parse_grid(&text, Engine::Hadoop).unwrap_err().to_string();
        assert!(error.contains("at most 10000 combinations"), "{error}");
        assert_eq!(PolicySpec::parse_grid("delay:D=1|2|3+late:cap=0.1|0.2", Engine::Hadoop).unwrap().len(), 6);
    }

    #[test]
    fn a_text_stands_for_as_many_policies_as_the_limit_and_not_one_more() {
        let of = |values: usize| {
            let values: Vec<String> = (1..=values).map(|value| value.to_string()).collect();
            PolicySpec::parse_grid(&format!("delay:D={}", values.join("|")), Engine::Hadoop)
        };
        assert_eq!(of(MOST_COMBINATIONS).unwrap().len(), MOST_COMBINATIONS);
        let problem = of(MOST_COMBINATIONS + 1).unwrap_err().to_string();
        assert!(
            problem.contains("expected at most 10000 combinations of values, found 10001; list fewer"),
            "{problem}"
        );
    }

    #[test]
    fn a_wrong_word_suggests_the_right_one() {
        let error = |text: &str| PolicySpec::parse(text).unwrap_err().to_string();
        assert!(error("dely").contains("did you mean `delay`"));
        assert!(error("delay:d=3").contains("did you mean `D`"));
        assert!(error("delay:D=-1").contains("expected 0.."));
        assert!(error("delay:D").contains("expected key=value"));
        assert!(error("fair:dely").contains("did you mean `delay_node` or `delay_rack`?"));
        assert!(error("fair:dely=3").contains("did you mean `delay_node` or `delay_rack`?"));
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
            for policy in POLICIES.iter().filter(|info| !info.is_batch()) {
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
            PolicySpec::parse_grid(text, Engine::Hadoop).unwrap().iter().map(PolicySpec::label).collect()
        };
        assert_eq!(labels("delay:D=0|8|24"), ["delay:D=0", "delay:D=8", "delay:D=24"]);
        assert_eq!(labels("fair"), ["fair"]);
        assert_eq!(labels("fair:delay_node=0|1,delay_rack=2|3").len(), 4);
        assert_eq!(
            labels("delay:D=1|2+late:cap=0.1|0.2"),
            ["delay:D=1+late:cap=0.1", "delay:D=1+late:cap=0.2", "delay:D=2+late:cap=0.1", "delay:D=2+late:cap=0.2"]
        );
        assert!(PolicySpec::parse_grid("delay:D=1|x", Engine::Hadoop).is_err());
        assert!(
            PolicySpec::parse_grid("delay:D", Engine::Hadoop).unwrap_err().to_string().contains("expected key=value")
        );
    }
}
