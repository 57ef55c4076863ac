//! Reads a variant of a sweep file: a policy, and the values of its parameters.

use resched_policies::{Parameter, PolicySpec, Range, nearest};
use resched_replay::Engine;
use toml::{Spanned, Value as Toml};

use super::places::Places;
use super::{Axis, Keys, Variant};
use crate::Error;
use crate::values::Values;

/// The key that names the policy if the variant has another name.
const POLICY: &str = "policy";

/// The variant of that name with these keys.
///
/// # Errors
/// [`Error::Request`] if there is no such policy or parameter, or a parameter cannot take a value.
pub(super) fn variant(
    name: &Spanned<String>,
    keys: &Keys,
    engine: Engine,
    places: &Places<'_>,
) -> Result<Variant, Error> {
    let policy = policy(name, keys, engine, places)?;
    let axes = keys.0.iter().filter(|(key, _)| key.as_ref() != POLICY).map(|(key, value)| {
        let parameter = parameter(&policy, key.as_ref()).map_err(|problem| places.error(Some(key.span()), &problem))?;
        let error = |problem: String| places.error(Some(value.span()), &format!("{}: {problem}", key.as_ref()));
        let values = Values::parse(value.as_ref()).map_err(error)?;
        Ok(Axis { key: key.as_ref().clone(), values, integer: matches!(parameter.range, Range::Integer(..)) })
    });
    let axes = axes.collect::<Result<Vec<Axis>, Error>>()?;
    let variant = Variant { name: name.as_ref().clone(), policy, axes };
    for axis in &variant.axes {
        let (_, place) = keys.0.iter().find(|(key, _)| *key.as_ref() == axis.key).unzip();
        try_values(&variant, axis).map_err(|problem| places.error(place.map(Spanned::span), &problem))?;
    }
    Ok(variant)
}

fn policy(name: &Spanned<String>, keys: &Keys, engine: Engine, places: &Places<'_>) -> Result<PolicySpec, Error> {
    let (text, span) = match keys.0.iter().find(|(key, _)| key.as_ref() == POLICY) {
        None => (name.as_ref(), name.span()),
        Some((_, value)) => match value.as_ref() {
            Toml::String(text) => (text, value.span()),
            other => return Err(places.error(Some(value.span()), &format!("policy: expected a text, found {other}"))),
        },
    };
    PolicySpec::parse_for(text, engine).map_err(|error| places.error(Some(span), &error.to_string()))
}

/// Tries each value of a list, or the ends of a range, so that a wrong value is refused before the first cell.
fn try_values(variant: &Variant, axis: &Axis) -> Result<(), String> {
    let values = match &axis.values {
        Values::List(list) => list.clone(),
        spread => vec![spread.quantile(0.0, axis.integer), spread.quantile(1.0, axis.integer)],
    };
    values.iter().try_for_each(|value| variant.policy_with(&[(axis.key.clone(), value.text())]).map(drop))
}

/// The parameter of a policy, or of its speculator as `speculator.key`.
fn parameter(policy: &PolicySpec, key: &str) -> Result<&'static Parameter, String> {
    let (name, parameters, key) = match (key.split_once('.'), &policy.speculator) {
        (Some((name, key)), Some(spec)) if name == spec.info.name => (spec.info.name, spec.info.parameters, key),
        (Some((name, _)), _) => return Err(format!("`{}` has no speculator `{name}`", policy.label())),
        (None, _) => (policy.info.name, policy.info.parameters, key),
    };
    parameters.iter().find(|parameter| parameter.key == key).ok_or_else(|| {
        let hint = nearest(key, parameters.iter().map(|parameter| parameter.key));
        format!("`{name}` has no parameter `{key}`{hint}; see `resched policies {name}`")
    })
}
