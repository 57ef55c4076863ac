//! The settings to try.

use std::collections::BTreeSet;

use crate::design::{Setting, settings};
use crate::file::{Axis, Design, DesignKind, SweepFile, Variant};
use crate::tune_section::TuneSection;
use crate::values::{Value, Values};

/// The prefix of the names of settings in the plan of a round.
const CANDIDATE: &str = "candidate ";

/// The settings to try. Each variant with varying parameters gets an equal share of them: its whole grid if that is small enough,
/// otherwise a Latin hypercube.
///
/// # Errors
/// If an axis has no values, or too many.
pub(super) fn candidates(file: &SweepFile, section: &TuneSection) -> Result<Vec<Variant>, String> {
    let varying: Vec<&Variant> = file.variants.iter().filter(|variant| variant.varies()).collect();
    let each = section.candidates.div_ceil(varying.len().max(1) as u32);
    let mut tried = Vec::new();
    for (number, variant) in (1u64..).zip(varying) {
        let grid = settings(&variant.axes, &Design::default(), number).ok().filter(|grid| grid.len() <= each as usize);
        let sample = Design { kind: DesignKind::LatinHypercube, samples: Some(each), seed: file.design.seed };
        let found = grid.map_or_else(|| settings(&variant.axes, &sample, number), Ok)?;
        let mut seen = BTreeSet::new();
        for setting in found {
            if seen.insert(setting.iter().map(|(_, value)| value.text()).collect::<Vec<_>>()) {
                tried.push(with_setting(variant, setting, format!("{CANDIDATE}{}", tried.len())));
            }
        }
    }
    Ok(tried)
}

/// The index of the setting of that name in [`candidates`]; `None` for the baseline.
pub(super) fn place_of(name: &str) -> Option<usize> {
    name.strip_prefix(CANDIDATE)?.parse().ok()
}

/// The first setting of a variant, as the baseline of the search.
pub(super) fn baseline(variant: &Variant) -> Variant {
    let first = |axis: &Axis| (axis.key.clone(), axis.values.quantile(0.0, false));
    with_setting(variant, variant.axes.iter().map(first).collect(), "baseline".to_owned())
}

/// A variant with one value for each of its keys.
fn with_setting(variant: &Variant, setting: Setting, name: String) -> Variant {
    let axis = |(key, value): (String, Value)| {
        let integer = variant.axes.iter().any(|axis| axis.key == key && axis.integer);
        Axis { key, values: Values::List(vec![value]), integer }
    };
    Variant { name, axes: setting.into_iter().map(axis).collect(), ..variant.clone() }
}
