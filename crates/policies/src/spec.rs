//! A policy with its parameters and its speculator, as you write it.

use std::collections::BTreeMap;
use std::sync::Arc;

use resched_sim::{batch, hadoop};

use crate::error::Error;
use crate::info::{Build, Engine, PolicyInfo};
use crate::parameter::Parameter;
use crate::settings::Values;
use crate::site::Site;
use crate::speculation::{Speculator, SpeculatorInfo, WithSpeculation};
use resched_tables::reference::nearest;

/// A policy with its parameters and, if it has one, its speculator. It is written `name`, `name:key=value,key=value` or
/// `name:key=value+speculator:key=value`.
#[derive(Debug, Clone)]
pub struct PolicySpec {
    /// The policy.
    pub info: &'static PolicyInfo,
    /// The values that were set, by key.
    pub set: BTreeMap<String, String>,
    /// The speculator that uses the slots that the policy leaves free.
    pub speculator: Option<SpeculatorSpec>,
    site: Arc<Site>,
    values: Values,
}

/// A speculator with its parameters. It is written `name` or `name:key=value,key=value`.
#[derive(Debug, Clone)]
pub struct SpeculatorSpec {
    /// The speculator.
    pub info: &'static SpeculatorInfo,
    /// The values that were set, by key.
    pub set: BTreeMap<String, String>,
    values: Values,
}

impl SpeculatorSpec {
    /// A speculator with values written `key=value,key=value`.
    pub(crate) fn new(info: &'static SpeculatorInfo, pairs: &str) -> Result<Self, Error> {
        let set = read_set("speculator", info.name, info.parameters, pairs)?;
        let text = |parameter: &Parameter| set.get(parameter.key).map_or(parameter.default, String::as_str);
        let values =
            Values::parse(info.parameters, text).map_err(|error| error.at(format!("speculator `{}`", info.name)))?;
        let spec = Self { info, set, values };
        spec.build()?;
        Ok(spec)
    }

    fn label(&self) -> String {
        label(self.info.name, self.info.parameters, &self.set)
    }

    fn build(&self) -> Result<Box<dyn Speculator>, Error> {
        (self.info.build)(&self.values).map_err(|error| error.at(format!("speculator `{}`", self.info.name)))
    }
}

impl PolicySpec {
    /// A policy with values written `key=value,key=value`, and its speculator.
    pub(crate) fn new(
        info: &'static PolicyInfo,
        pairs: &str,
        speculator: Option<SpeculatorSpec>,
    ) -> Result<Self, Error> {
        let set = read_set("policy", info.name, info.parameters, pairs)?;
        Self::with(info, set, speculator, Arc::default())
    }

    fn with(
        info: &'static PolicyInfo,
        set: BTreeMap<String, String>,
        speculator: Option<SpeculatorSpec>,
        site: Arc<Site>,
    ) -> Result<Self, Error> {
        let mut spec = Self { info, set, speculator, site, values: Values::default() };
        let values = Values::parse(info.parameters, |parameter| spec.text(parameter));
        spec.values = values.map_err(|error| error.at(format!("policy `{}`", info.name)))?;
        spec.check()?;
        Ok(spec)
    }

    /// The same policy at a site. The settings of the site replace the defaults. Values that you set stay.
    ///
    /// # Errors
    /// A value of the site that conflicts with the others, or a file that cannot be read.
    pub fn at_site(&self, site: &Arc<Site>) -> Result<Self, Error> {
        Self::with(self.info, self.set.clone(), self.speculator.clone(), Arc::clone(site))
    }

    /// The values of its parameters.
    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// The configuration of its site.
    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    /// The value of a parameter as text: your value, else the site's, else the default.
    pub(crate) fn text(&self, parameter: &Parameter) -> &str {
        let site = || self.site.parameters.get(&(self.info.name, parameter.key));
        self.set.get(parameter.key).or_else(site).map_or(parameter.default, String::as_str)
    }

    /// The names of the policy and its speculator, without parameters.
    pub fn name(&self) -> String {
        let speculator = self.speculator.as_ref().map(|own| format!("+{}", own.info.name));
        format!("{}{}", self.info.name, speculator.unwrap_or_default())
    }

    /// Its name with the values that you set, in the order in which the policy declares them. The label does not depend
    /// on how you write the policy.
    pub fn label(&self) -> String {
        let speculator = self.speculator.as_ref().map(|own| format!("+{}", own.label()));
        format!("{}{}", label(self.info.name, self.info.parameters, &self.set), speculator.unwrap_or_default())
    }

    /// All parameters with their values, including those of the site and the defaults. Keys of the speculator are
    /// `speculator.key`.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        let own = |parameter: &Parameter| (parameter.key.to_owned(), self.text(parameter).to_owned());
        let speculators = self.speculator.iter().flat_map(|SpeculatorSpec { info, set, .. }| {
            info.parameters.iter().map(move |parameter| {
                let value = set.get(parameter.key).map_or(parameter.default, String::as_str);
                (format!("{}.{}", info.name, parameter.key), value.to_owned())
            })
        });
        self.info.parameters.iter().map(own).chain(speculators).collect()
    }

    /// Makes a new policy for a replay of Hadoop.
    ///
    /// # Errors
    /// Values that conflict, a file that cannot be read, or a policy for production traces.
    pub fn build(&self) -> Result<Box<dyn hadoop::Policy>, Error> {
        let Build::Hadoop(build) = &self.info.build else { return Err(self.is_not_for("Hadoop")) };
        let base = build(&self.values, &self.site).map_err(|error| self.named(error))?;
        match &self.speculator {
            None => Ok(base),
            Some(speculator) => Ok(Box::new(WithSpeculation::new(base, speculator.build()?))),
        }
    }

    /// Makes a new policy for a replay of a production trace.
    ///
    /// # Errors
    /// Values that conflict, a file that cannot be read, or a policy for Hadoop.
    pub fn build_batch(&self) -> Result<Box<dyn batch::Policy>, Error> {
        let Build::Batch(build) = &self.info.build else { return Err(self.is_not_for("production traces")) };
        build(&self.values, &self.site).map_err(|error| self.named(error))
    }

    /// Checks that it can be made.
    fn check(&self) -> Result<(), Error> {
        match self.info.engine {
            Engine::Hadoop(_) => self.build().map(drop),
            Engine::Batch => self.build_batch().map(drop),
        }
    }

    fn named(&self, error: Error) -> Error {
        error.at(format!("policy `{}`", self.info.name))
    }

    fn is_not_for(&self, asked: &'static str) -> Error {
        Error::WrongEngine { name: self.info.name, own: self.info.engine.in_words(), asked }
    }
}

/// Reads `key=value,key=value`. Errors name the owner of the parameters: `what` (policy or speculator) and its name.
fn read_set(what: &str, name: &str, parameters: &[Parameter], pairs: &str) -> Result<BTreeMap<String, String>, Error> {
    let wrong = |problem: String| Error::Parameter(format!("{what} `{name}`{problem}"));
    let hint = |key: &str| nearest(key, parameters.iter().map(|parameter| parameter.key));
    let mut set = BTreeMap::new();
    for pair in pairs.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) =
            pair.split_once('=').ok_or_else(|| wrong(format!(": expected key=value, found `{pair}`{}", hint(pair))))?;
        if !parameters.iter().any(|parameter| parameter.key == key) {
            let hint = hint(key);
            return Err(wrong(format!(" has no parameter `{key}`{hint}; see `resched policies {name}`")));
        }
        if set.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(wrong(format!(": `{key}` is set twice")));
        }
    }
    Ok(set)
}

/// A name with the values that were set, in the order of declaration.
fn label(name: &str, parameters: &[Parameter], set: &BTreeMap<String, String>) -> String {
    let set: Vec<String> = parameters
        .iter()
        .filter_map(|parameter| Some(format!("{}={}", parameter.key, set.get(parameter.key)?)))
        .collect();
    if set.is_empty() { name.to_owned() } else { format!("{name}:{}", set.join(",")) }
}
