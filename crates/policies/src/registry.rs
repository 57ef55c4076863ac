//! The list of all policies and speculators. The command line, sweeps and the documentation read it.

use std::borrow::Cow;
use std::path::Path;

use crate::batch;
use crate::error::Error;
use crate::hadoop::{mr1, papers, yarn};
use crate::info::{Family, PolicyInfo};
use crate::site::SiteConf;
use crate::spec::{PolicySpec, SpeculatorSpec};
use crate::speculation::{self, SpeculatorInfo};
use resched_tables::reference::nearest;

/// All policies, in the order in which they are listed.
#[rustfmt::skip] // one a line
pub const POLICIES: &[PolicyInfo] = &[
    mr1::fifo::INFO,
    papers::naive_fair::INFO,
    papers::delay::INFO,
    papers::delay_time::INFO,
    mr1::fair::INFO,
    mr1::fair_deficit::INFO,
    mr1::capacity::INFO,
    papers::coupling::INFO,
    papers::triple_queue::INFO,
    papers::dress::INFO,
    papers::cogrs::INFO,
    yarn::fifo::INFO,
    yarn::fair::INFO,
    yarn::capacity::INFO,
    papers::srpt::INFO,
    papers::aria::INFO,
    papers::flex::INFO,
    papers::quincy::INFO,
    batch::fifo::INFO,
    batch::fair::INFO,
    batch::drf::INFO,
    batch::capacity::INFO,
    batch::dress::INFO,
    batch::easy::INFO,
    batch::conservative::INFO,
];

/// All speculators, in the order in which they are listed.
#[rustfmt::skip] // one a line
pub const SPECULATORS: &[SpeculatorInfo] = &[
    speculation::late::INFO,
    speculation::samr::INFO,
    speculation::esamr::INFO,
    speculation::hadoop_naive::INFO,
    speculation::hadoop_late::INFO,
    speculation::yarn_default::INFO,
    speculation::mantri::INFO,
];

impl Family {
    /// Its policies, in the order in which they are listed.
    pub fn policies(self) -> impl Iterator<Item = &'static PolicyInfo> {
        POLICIES.iter().filter(move |info| info.family == self)
    }
}

impl SiteConf {
    /// Reads the configuration files of a folder, for all policies. At least one file must exist.
    ///
    /// # Errors
    /// The folder has no such file; or a file is not XML, has a document type, is too long, or holds a value out of its
    /// range. The error gives file and line.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let parameters =
            POLICIES.iter().flat_map(|info| info.parameters.iter().map(|parameter| (info.name, parameter)));
        Self::read_for(&parameters.collect::<Vec<_>>(), dir)
    }
}

/// The prefix of the names of policies for production traces. You may leave it out if the trace is a production trace.
const BATCH: &str = "batch-";

/// The most policies that one text may stand for: a sweep has a design for more.
const MOST_COMBINATIONS: usize = 10_000;

/// The policy of this name.
fn policy(name: &str) -> Result<&'static PolicyInfo, Error> {
    POLICIES.iter().find(|info| info.name == name).ok_or_else(|| {
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

impl SpeculatorSpec {
    /// Reads a speculator with its parameters. The error names what is wrong and the nearest right word.
    ///
    /// # Errors
    /// An unknown speculator or key, or a value out of its range.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (name, pairs) = text.split_once(':').unwrap_or((text, ""));
        Self::new(speculator(name)?, pairs)
    }
}

impl PolicySpec {
    /// Reads a policy with its parameters and speculator. The error names what is wrong and the nearest right word.
    ///
    /// # Errors
    /// An unknown policy, speculator or key, or a value out of its range.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (own, speculator) = split_speculator(text);
        if split_speculator(own).1.is_some() {
            return Err(Error::Parameter(format!(
                "`{text}`: expected one speculator, found more; leave all but one out"
            )));
        }
        let (name, pairs) = own.split_once(':').unwrap_or((own, ""));
        let info = policy(name)?;
        if let (true, Some(speculator)) = (info.is_batch(), speculator) {
            return Err(Error::Parameter(format!(
                "policy `{name}`: expected no speculator, found `{speculator}`; these are for Hadoop only"
            )));
        }
        Self::new(info, pairs, speculator.map(SpeculatorSpec::parse).transpose()?)
    }

    /// As [`PolicySpec::parse`], for a production trace: there `fifo` stands for `batch-fifo`.
    ///
    /// # Errors
    /// As [`PolicySpec::parse`].
    pub fn parse_for_batch(text: &str) -> Result<Self, Error> {
        Self::parse(&for_batch(text))
    }

    /// As [`PolicySpec::parse_grid`], for a production trace: there `fifo` stands for `batch-fifo`.
    ///
    /// # Errors
    /// As [`PolicySpec::parse`].
    pub fn parse_grid_for_batch(text: &str) -> Result<Vec<Self>, Error> {
        Self::parse_grid(&for_batch(text))
    }

    /// Reads a policy whose values, and whose speculator's, may be lists, `delay:D=0|8|24`, and returns one for each
    /// combination, in the order in which they are written.
    ///
    /// # Errors
    /// As [`PolicySpec::parse`].
    pub fn parse_grid(text: &str) -> Result<Vec<Self>, Error> {
        let (policy, speculator) = split_speculator(text);
        let found = combinations(policy).saturating_mul(speculator.map_or(1, combinations));
        if found > MOST_COMBINATIONS {
            return Err(Error::Parameter(format!(
                "policy `{policy}`: expected at most {MOST_COMBINATIONS} combinations of values, found {found}; list fewer"
            )));
        }
        let policies = cells(policy);
        let Some(speculator) = speculator else { return policies.iter().map(|policy| Self::parse(policy)).collect() };
        let speculators = cells(speculator);
        let pairs = policies.iter().flat_map(|policy| speculators.iter().map(move |own| format!("{policy}+{own}")));
        pairs.map(|pair| Self::parse(&pair)).collect()
    }
}

/// A policy as a user writes it for a production trace, with its full name.
fn for_batch(text: &str) -> Cow<'_, str> {
    let name = text.split([':', '+']).next().unwrap_or(text);
    if Family::Batch.policies().any(|info| info.name.strip_prefix(BATCH) == Some(name)) {
        Cow::Owned(format!("{BATCH}{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// How many combinations `name:key=value|value,…` stands for.
fn combinations(text: &str) -> usize {
    let lists = text.split(',').map(|pair| pair.split('|').count());
    lists.fold(1, usize::saturating_mul)
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::info::Engine;
    use crate::parameter::{self, Parameter, Range};

    #[test]
    fn every_policy_can_be_made_from_its_defaults_and_documents_its_parameters() {
        for info in POLICIES {
            let spec = PolicySpec::parse(info.name).unwrap();
            assert_eq!(spec.label(), info.name);
            assert!(!info.source.is_empty() && info.parameters.iter().all(|parameter| !parameter.meaning.is_empty()));
            assert_eq!(spec.parameters().len(), info.parameters.len(), "{}: a key stands twice", info.name);
        }
    }

    /// Found by the fuzz target `policy`: the combinations took all memory before the first was looked at.
    #[test]
    fn a_short_text_does_not_stand_for_very_many_policies() {
        let text = format!("delay:{}", vec!["D=1|2|3|4|5|6|7|8|9"; 20].join(","));
        let error = PolicySpec::parse_grid(&text).unwrap_err().to_string();
        assert!(error.contains("at most 10000 combinations"), "{error}");
        assert_eq!(PolicySpec::parse_grid("delay:D=1|2|3+late:cap=0.1|0.2").unwrap().len(), 6);
    }

    #[test]
    fn each_policy_is_what_its_entry_says() {
        for info in POLICIES {
            let spec = PolicySpec::parse(info.name).unwrap();
            match info.engine {
                Engine::Hadoop(system) => {
                    let policy = spec.build().unwrap();
                    assert_eq!((policy.system(), policy.is_oracle()), (system, info.oracle), "{}", info.name);
                    assert!(
                        spec.build_batch().is_err_and(|error| error.to_string().contains("is for Hadoop, not for"))
                    );
                }
                Engine::Batch => {
                    spec.build_batch().unwrap();
                    assert!(spec.build().is_err_and(|error| error.to_string().contains("not for Hadoop")));
                }
            }
            assert_eq!(info.oracle, info.title.contains("(oracle: "), "{}", info.name);
            assert_eq!(info.family == Family::Batch, info.is_batch(), "{}", info.name);
        }
    }

    #[test]
    fn names_are_given_once_and_every_family_is_listed() {
        let mut names: Vec<&str> = Family::ALL.into_iter().flat_map(Family::policies).map(|info| info.name).collect();
        assert_eq!(names.len(), POLICIES.len());
        names.extend(SPECULATORS.iter().map(|info| info.name));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), POLICIES.len() + SPECULATORS.len());
    }

    /// What can be set: the parameters of policies with the names of these, and those of speculators behind `fifo+`.
    fn settings() -> impl Iterator<Item = (String, &'static Parameter)> {
        let of_policies = POLICIES.iter().map(|info| (info.name.to_owned(), info.parameters));
        let of_speculators = SPECULATORS.iter().map(|info| (format!("fifo+{}", info.name), info.parameters));
        let all = of_policies.chain(of_speculators);
        all.flat_map(|(name, parameters)| parameters.iter().map(move |parameter| (name.clone(), parameter)))
    }

    #[test]
    fn auto_is_a_word_and_no_number_stands_for_it() {
        for (name, parameter) in settings() {
            let with = |value: &str| PolicySpec::parse(&format!("{name}:{}={value}", parameter.key));
            if parameter.auto.is_none() {
                assert!(with("auto").is_err() || parameter.range == Range::File, "{name}: {}", parameter.key);
                continue;
            }
            assert!(parameter.default == "auto" && parameter.meaning.contains("auto: "), "{name}: {}", parameter.key);
            let label = format!("{name}:{}=auto", parameter.key);
            let spec = with("auto").unwrap();
            assert_eq!((spec.label(), &spec.parameters()[parameter.key]), (label, &"auto".to_owned()));
            // What runs is what the label says: a number is that number, or no value.
            for number in ["-1", "0"] {
                match with(number) {
                    Ok(spec) => {
                        assert_eq!(spec.label(), format!("{name}:{}={number}", parameter.key));
                        assert_eq!(spec.parameters()[parameter.key], number);
                        assert_ne!(parameter.parse(number).unwrap(), parameter::Value::Auto);
                    }
                    Err(error) => assert!(error.is_request() && error.to_string().contains("auto"), "{error}"),
                }
            }
        }
    }

    #[test]
    fn both_ends_of_every_range_fit_the_type() {
        for (name, parameter) in settings() {
            let ends = match parameter.range {
                Range::Integer(low, high) => [low.to_string(), high.to_string()],
                Range::Number(low, high) => [low.to_string(), high.to_string()],
                _ => continue,
            };
            for end in ends {
                // It may not go with the defaults of others, but that is the request's fault.
                let spec = PolicySpec::parse(&format!("{name}:{}={end}", parameter.key));
                assert!(spec.as_ref().map_or_else(Error::is_request, |_| true), "{spec:?}");
            }
        }
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
        assert!(PolicySpec::parse_grid("delay:D").unwrap_err().to_string().contains("expected key=value"));
    }
}
