//! The settings to try: all combinations of the axes, or a sample.

use rand::RngExt;
use rand::seq::SliceRandom;
use resched_tables::draws::{Purpose, stream};

use crate::file::{Axis, Design, DesignKind};
use crate::values::Value;

/// A value for each axis, in their order.
pub(crate) type Setting = Vec<(String, Value)>;

/// The most settings of one group of axes: combinations of a grid, or samples.
pub(crate) const MOST_SETTINGS: usize = 1_000_000;

/// The number of settings that [`settings`] makes of `axes`, at most, without making them. Samples of axes that do not vary are all the
/// same setting.
pub(crate) fn count(axes: &[Axis], design: &Design) -> u64 {
    match design.kind {
        _ if !axes.iter().any(|axis| axis.values.varies()) => 1,
        DesignKind::Grid => axes.iter().fold(1, |all: u64, axis| all.saturating_mul(axis.values.count())),
        DesignKind::Random | DesignKind::LatinHypercube => design.samples.unwrap_or(1).max(1).into(),
    }
}

/// The settings of `axes`. A grid has every combination; the last axis varies fastest. Other designs have as many settings as
/// samples. `entity` names the group of axes for the draws.
///
/// # Errors
/// If an axis cannot be enumerated, or if there are too many settings.
pub(crate) fn settings(axes: &[Axis], design: &Design, entity: u64) -> Result<Vec<Setting>, String> {
    match design.kind {
        DesignKind::Grid => grid(axes, MOST_SETTINGS),
        DesignKind::Random | DesignKind::LatinHypercube => Ok(sampled(axes, design, entity)),
    }
}

fn grid(axes: &[Axis], most: usize) -> Result<Vec<Setting>, String> {
    let mut settings: Vec<Setting> = vec![Vec::new()];
    for axis in axes {
        let values = axis.values.all(axis.integer).map_err(|problem| format!("{}: {problem}", axis.key))?;
        if settings.len().saturating_mul(values.len()) > most {
            return Err(format!("expected at most {most} combinations, found more; use a sampled design"));
        }
        let with = |setting: &Setting, value: &Value| {
            setting.iter().cloned().chain([(axis.key.clone(), value.clone())]).collect::<Setting>()
        };
        settings = settings.iter().flat_map(|setting| values.iter().map(move |value| with(setting, value))).collect();
    }
    Ok(settings)
}

/// The settings of a sampled design, one for each sample. A Latin hypercube cuts each axis into as many equal parts and uses each
/// part once (McKay, Beckman, Conover 1979).
fn sampled(axes: &[Axis], design: &Design, entity: u64) -> Vec<Setting> {
    let samples = design.samples.unwrap_or(1).max(1) as usize;
    let columns: Vec<Vec<Value>> = (0u64..)
        .zip(axes)
        .map(|(number, axis)| {
            let mut rng = stream(design.seed, Purpose::SweepDesign, &[entity, number]);
            if design.kind == DesignKind::Random {
                return (0..samples).map(|_| axis.values.draw(axis.integer, &mut rng)).collect();
            }
            let mut parts: Vec<usize> = (0..samples).collect();
            parts.shuffle(&mut rng);
            let inside = |part: usize, share: f64| (part as f64 + share) / samples as f64;
            parts.into_iter().map(|part| axis.values.quantile(inside(part, rng.random()), axis.integer)).collect()
        })
        .collect();
    let setting = |row: usize| {
        let value = |(axis, column): (&Axis, &Vec<Value>)| Some((axis.key.clone(), column.get(row)?.clone()));
        axes.iter().zip(&columns).filter_map(value).collect()
    };
    (0..samples).map(setting).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::values::Values;

    fn axis(key: &str, text: &str) -> Axis {
        let table: toml::Table = format!("x = {text}").parse().unwrap();
        Axis { key: key.to_owned(), values: Values::parse(&table["x"]).unwrap(), integer: false }
    }

    fn texts(settings: &[Setting]) -> Vec<String> {
        let text = |setting: &Setting| setting.iter().map(|(_, value)| value.text()).collect::<Vec<_>>().join(" ");
        settings.iter().map(text).collect()
    }

    #[test]
    fn a_grid_has_every_combination() {
        let axes = [axis("a", "[1, 2]"), axis("b", "[\"x\", \"y\"]")];
        assert_eq!(texts(&settings(&axes, &Design::default(), 0).unwrap()), ["1 x", "1 y", "2 x", "2 y"]);
        assert_eq!(settings(&[], &Design::default(), 0).unwrap(), [Setting::new()]);
    }

    #[test]
    fn a_grid_has_as_many_combinations_as_the_limit_and_not_one_more() {
        let axes = [axis("a", "[1, 2, 3]"), axis("b", "[1, 2]")];
        assert_eq!(grid(&axes, 6).unwrap().len(), 6);
        assert_eq!(grid(&axes, 5).unwrap_err(), "expected at most 5 combinations, found more; use a sampled design");
    }

    #[test]
    fn a_latin_hypercube_meets_each_part_of_each_axis_once() {
        let design = Design { kind: DesignKind::LatinHypercube, samples: Some(20), seed: 3 };
        let axes = [axis("a", "{ from = 0, to = 20 }"), axis("b", "{ from = 1, to = 1024, scale = \"log\" }")];
        let found = settings(&axes, &design, 0).unwrap();
        let parts = |column: usize, part: fn(f64) -> f64| {
            let mut parts: Vec<usize> =
                found.iter().map(|row| part(row[column].1.number().unwrap()) as usize).collect();
            parts.sort_unstable();
            parts
        };
        let all: Vec<usize> = (0..20).collect();
        assert_eq!(parts(0, |value| value), all);
        assert_eq!(parts(1, |value| value.log2() * 2.0), all);
        assert_ne!(texts(&found), texts(&settings(&axes, &Design { seed: 4, ..design }, 0).unwrap()));
        assert_eq!(found, settings(&axes, &design, 0).unwrap());
    }

    #[test]
    fn a_random_design_has_its_samples() {
        let design = Design { kind: DesignKind::Random, samples: Some(7), seed: 1 };
        let found = settings(&[axis("a", "[1, 2, 3]")], &design, 0).unwrap();
        assert_eq!(found.len(), 7);
        assert!(found.iter().all(|row| (1.0..=3.0).contains(&row[0].1.number().unwrap())));
    }
}
