//! Loads policies in another language. They are written `file.py:Class:key=value`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::Error;
use crate::foreign::{Loaded, LoadedParameter, LoadedRange};
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::input::Input;
use crate::parameter::{Parameter, Range, Signal};

/// Loads the policy of a name such as `mine.py:MyPolicy`. The text of an error says what is wrong and what to do.
pub type Loader = fn(&str) -> Result<Loaded, String>;

static LOADER: OnceLock<Loader> = OnceLock::new();
/// What was loaded, by name, with its version.
static KNOWN: Mutex<BTreeMap<String, (u64, &'static PolicyInfo)>> = Mutex::new(BTreeMap::new());

/// Sets how policies in another language are loaded in this process. Only the first call counts.
pub fn set_loader(loader: Loader) {
    let _ = LOADER.set(loader);
}

/// Splits `file.py:Class:key=value` into the name `file.py:Class` and what follows it; `None` if a text does not name a policy in another
/// language. `is_ours` says whether a word is the name of a policy of the registry.
pub(crate) fn split(text: &str, is_ours: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let (place, rest) = text.split_once(':')?;
    let (class, pairs) = rest.split_once(':').unwrap_or((rest, ""));
    let is_word =
        class.chars().all(|c| c.is_alphanumeric() || c == '_') && !class.starts_with(|c: char| c.is_numeric());
    let is_elsewhere = place.contains('.') || (LOADER.get().is_some() && !is_ours(place));
    (is_elsewhere && is_word && !class.is_empty()).then(|| (text.split_at(place.len() + 1 + class.len()).0, pairs))
}

/// The policy of such a name.
///
/// # Errors
/// It cannot be loaded, or this program loads none.
pub(crate) fn find(name: &str) -> Result<&'static PolicyInfo, Error> {
    let Some(load) = LOADER.get() else {
        let place = name.split(':').next().unwrap_or(name);
        return Err(Error::Parameter(format!(
            "policy `{name}`: `{place}` is written in Python, which this program does not run; `pip install` the package resched and use its \
             command"
        )));
    };
    let loaded = load(name).map_err(|problem| Error::Parameter(format!("policy `{name}`: {problem}")))?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match known.get(name) {
        Some((version, info)) if *version == loaded.version => Ok(info),
        _ => {
            let version = loaded.version;
            let info = kept(name, loaded);
            known.insert(name.to_owned(), (version, info));
            Ok(info)
        }
    }
}

/// Its entry, as that of a policy of the registry. Entries live as long as the process: there is one for each version of each name.
fn kept(name: &str, loaded: Loaded) -> &'static PolicyInfo {
    let Loaded { title, source, oracle, parameters, policy, .. } = loaded;
    let parameters: Vec<Parameter> = parameters.into_iter().map(kept_parameter).collect();
    Box::leak(Box::new(PolicyInfo {
        name: leaked(name.to_owned()),
        title: leaked(title),
        source: leaked(source),
        family: Family::Own,
        oracle,
        parameters: Box::leak(parameters.into_boxed_slice()),
        // Its code sees the jobs, but no file of the site.
        inputs: &[Input::Features, Input::MachineCounts, Input::Exclusive],
        idle: ALL_ACT,
        build: Build::Foreign(Arc::from(policy)),
    }))
}

fn kept_parameter(parameter: LoadedParameter) -> Parameter {
    let LoadedParameter { key, range, auto, default, unit, meaning } = parameter;
    let range = match range {
        LoadedRange::Integer(low, high) => Range::Integer(low, high),
        LoadedRange::Number(low, high) => Range::Number(low, high),
        LoadedRange::Boolean => Range::Boolean,
        LoadedRange::Choice(words) => {
            let words: Vec<&'static str> = words.into_iter().map(leaked).collect();
            Range::Choice(Box::leak(words.into_boxed_slice()))
        }
        LoadedRange::File => Range::File,
    };
    Parameter {
        key: leaked(key),
        range,
        auto: auto.then_some(Signal::Nothing),
        default: leaked(default),
        unit: leaked(unit),
        meaning: leaked(meaning),
        hadoop: &[],
    }
}

fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::spec::PolicySpec;

    #[test]
    fn a_file_with_a_class_names_a_policy_elsewhere() {
        let ours = |name: &str| name == "fair";
        assert_eq!(split("mine.py:My:D=3,x=1", ours), Some(("mine.py:My", "D=3,x=1")));
        assert_eq!(split("a/b-c.py:My", ours), Some(("a/b-c.py:My", "")));
        assert_eq!(split("pack.age:My", ours), Some(("pack.age:My", "")));
        for text in ["fair", "fair:delay_node=0.5", "fair:dely", "delay:D=3", "mine.py", "mine.py:", "mine.py:3x"] {
            assert_eq!(split(text, ours), None, "{text}");
        }
    }

    #[test]
    fn a_program_without_python_says_so() {
        let error = PolicySpec::parse("mine.py:My:D=3").unwrap_err();
        assert!(error.is_request() && error.to_string().contains("written in Python"), "{error}");
    }
}
