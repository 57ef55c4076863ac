//! The list of all policies and speculators. The command line, sweeps and the documentation read it.

use crate::batch;
use crate::hadoop::{mr1, papers, yarn};
use crate::info::{Family, PolicyInfo};
use crate::speculation::{self, SpeculatorInfo};

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
    batch::spark::INFO,
    batch::slurm::INFO,
    batch::kueue::INFO,
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

/// The policies of a family, in the order in which they are listed.
pub fn policies_of(family: Family) -> impl Iterator<Item = &'static PolicyInfo> {
    POLICIES.iter().filter(move |info| info.family == family)
}

/// The unit of the parameter of that key, if it has one, the same in every policy.
pub fn unit_of(key: &str) -> Option<&'static str> {
    let parameters = || POLICIES.iter().flat_map(|info| info.parameters);
    let mut units = parameters().filter(|parameter| parameter.key == key).map(|parameter| parameter.unit);
    let first = units.next().filter(|unit| !unit.is_empty())?;
    units.all(|unit| unit == first).then_some(first)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::parameter::{self, Parameter, Range};
    use crate::spec::PolicySpec;

    #[test]
    fn a_key_has_the_unit_of_its_parameter() {
        assert_eq!(["bf_interval", "scheduler", "no-such-key"].map(unit_of), [Some("ms"), None, None]);
    }

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
    fn each_policy_is_what_its_entry_says() {
        for info in POLICIES {
            let spec = PolicySpec::parse(info.name).unwrap();
            match info.system() {
                Some(system) => {
                    let policy = spec.build().unwrap();
                    assert_eq!((policy.system(), policy.is_oracle()), (system, info.oracle), "{}", info.name);
                    assert!(
                        spec.build_batch().is_err_and(|error| error.to_string().contains("is for Hadoop, not for"))
                    );
                }
                None => {
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
        let mut names: Vec<&str> = Family::ALL.into_iter().flat_map(policies_of).map(|info| info.name).collect();
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
                assert!(
                    with("auto").is_err() || matches!(parameter.range, Range::File | Range::Text),
                    "{name}: {}",
                    parameter.key
                );
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
}
