//! A policy with its parameters and its speculator, as you write it.

mod parse;

use std::collections::BTreeMap;
use std::sync::Arc;

use resched_sim::{batch, hadoop};
use resched_tables::run::RunEngine as Engine;

use crate::error::Error;
use crate::info::{Build, PolicyInfo};
use crate::parameter::Parameter;
use crate::settings::Values;
use crate::site::Site;
use crate::speculation::{Speculator, SpeculatorInfo, WithSpeculation};
pub use parse::LIMITS;

/// The kinds of clusters in messages.
const HADOOP: &str = "Hadoop";
const PRODUCTION: &str = "production traces";

/// The values that were set, by key.
pub(crate) type Set = BTreeMap<String, String>;

/// A policy with its parameters and, if it has one, its speculator. It is written `name`, `name:key=value,key=value` or
/// `name:key=value+speculator:key=value`.
#[derive(Debug, Clone)]
pub struct PolicySpec {
    /// The policy.
    pub info: &'static PolicyInfo,
    /// The values that were set, by key.
    pub set: Set,
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
    pub set: Set,
    values: Values,
}

impl SpeculatorSpec {
    fn with(info: &'static SpeculatorInfo, set: Set) -> Result<Self, Error> {
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
    fn with(
        info: &'static PolicyInfo,
        set: Set,
        speculator: Option<SpeculatorSpec>,
        site: Arc<Site>,
    ) -> Result<Self, Error> {
        let mut spec = Self { info, set, speculator, site, values: Values::default() };
        let values = Values::parse(info.parameters, |parameter| spec.text(parameter));
        let values = values.map_err(|error| error.at(format!("policy `{}`", info.name)))?;
        spec.values = values.set_by(|key| spec.set.contains_key(key));
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
        let speculator = self.speculator.as_ref().map(|speculator| format!("+{}", speculator.info.name));
        format!("{}{}", self.info.name, speculator.unwrap_or_default())
    }

    /// Its name with the values that you set, in the order in which the policy declares them. The label does not depend
    /// on how you write the policy.
    pub fn label(&self) -> String {
        let speculator = self.speculator.as_ref().map(|speculator| format!("+{}", speculator.label()));
        format!("{}{}", label(self.info.name, self.info.parameters, &self.set), speculator.unwrap_or_default())
    }

    /// All parameters with their values, including those of the site and the defaults. Keys of the speculator are `speculator.key`. For a
    /// policy in another language, what its code is stands among them.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        let code = if let Build::Foreign(foreign) = &self.info.build { foreign.identity() } else { BTreeMap::new() };
        let speculators = self.speculator.iter().flat_map(|SpeculatorSpec { info, set, .. }| {
            info.parameters.iter().map(move |parameter| {
                let value = set.get(parameter.key).map_or(parameter.default, String::as_str);
                (format!("{}.{}", info.name, parameter.key), value.to_owned())
            })
        });
        self.own_parameters().into_iter().chain(code).chain(speculators).collect()
    }

    /// The parameters of the policy itself with their values.
    fn own_parameters(&self) -> BTreeMap<String, String> {
        let with_value = |parameter: &Parameter| (parameter.key.to_owned(), self.text(parameter).to_owned());
        self.info.parameters.iter().map(with_value).collect()
    }

    /// Makes a new policy for a replay of Hadoop.
    ///
    /// # Errors
    /// Values that conflict, a file that cannot be read, or a policy for production traces.
    pub fn build(&self) -> Result<Box<dyn hadoop::Policy>, Error> {
        let base = match &self.info.build {
            Build::Hadoop(_, build) => build(&self.values, &self.site),
            Build::Foreign(foreign) if foreign.system().is_some() => foreign.make_hadoop(&self.own_parameters()),
            Build::Batch(_) | Build::Foreign(_) => return Err(self.is_not_for(HADOOP)),
        };
        let base = base.map_err(|error| self.named(error))?;
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
        let made = match &self.info.build {
            Build::Batch(build) => build(&self.values, &self.site),
            Build::Foreign(foreign) if foreign.system().is_none() => foreign.make_batch(&self.own_parameters()),
            Build::Hadoop(..) | Build::Foreign(_) => return Err(self.is_not_for(PRODUCTION)),
        };
        made.map_err(|error| self.named(error))
    }

    /// Checks that it can be made.
    fn check(&self) -> Result<(), Error> {
        match self.info.engine() {
            Engine::Hadoop => self.build().map(drop),
            Engine::Batch => self.build_batch().map(drop),
        }
    }

    fn named(&self, error: Error) -> Error {
        error.at(format!("policy `{}`", self.info.name))
    }

    fn is_not_for(&self, asked: &'static str) -> Error {
        Error::WrongEngine { name: self.info.name, own: if self.info.is_batch() { PRODUCTION } else { HADOOP }, asked }
    }
}

/// A name with the values that were set, in the order of declaration.
fn label(name: &str, parameters: &[Parameter], set: &Set) -> String {
    let set: Vec<String> = parameters
        .iter()
        .filter_map(|parameter| Some(format!("{}={}", parameter.key, set.get(parameter.key)?)))
        .collect();
    if set.is_empty() { name.to_owned() } else { format!("{name}:{}", set.join(",")) }
}
