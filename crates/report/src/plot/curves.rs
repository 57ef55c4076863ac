//! Empirical cumulative distributions, one curve per run.

use resched_analysis::statistics::distribution::Distribution;
use resched_tables::words::TimeUnit;

use crate::Error;
use crate::plot::axis::{Axis, lie_far_apart, unit_for_decades};
use crate::plot::figure::Swatch;
use crate::plot::panels::{Curve, Panel, SINGLE, draw_panels};
use crate::scene::Scene;

/// Corners of a curve: two per pixel, so that nothing is lost.
const CORNERS: usize = 800;

/// Draws the distributions of `times` (ms, by run) as steps. `what` names the times; `of` names what the shares are of. `None` if
/// there are no times.
pub(crate) fn draw_curves(
    scene: &Scene<'_>,
    name: &str,
    times: &[Distribution],
    (what, of): (&str, &str),
) -> Result<Option<String>, Error> {
    let all = Distribution::new(times.iter().flat_map(|times| times.values().iter().copied()));
    let (Some(&longest), Some(median)) = (all.values().last(), all.median()) else { return Ok(None) };
    let shortest = all.values().iter().copied().find(|ms| *ms > 0.0).unwrap_or(0.0);
    let is_log = shortest > 0.0 && lie_far_apart(median, longest);
    let unit = if is_log { unit_for_decades(shortest, longest) } else { TimeUnit::for_axis(longest) };
    // A logarithmic axis has no zero.
    let zeros = if is_log && all.values().first() == Some(&0.0) { ", 0 at the left end" } else { "" };
    let title = format!("{what} ({}){zeros}", unit.name());
    let x = match is_log {
        true => Axis::logarithmic(title, unit.amount(shortest), unit.amount(longest)),
        false => Axis::from_zero(title, unit.amount(longest), 6),
    };
    let y = Axis::from_zero(format!("Share of {of}"), 1.0, 5);
    let curve = |(times, series)| Curve { points: steps(times, |ms| unit.amount(ms)), series, marked: false };
    let curves = times.iter().zip(scene.runs.iter().map(|shown| shown.series)).map(curve).collect();
    let sheet = scene.sheet_of(of, times.iter().map(|times| times.values().len()));
    draw_panels(&sheet, name, scene.entries(Swatch::Line), &[Panel::new(x, y, SINGLE, curves)]).map(Some)
}

/// The corners of a distribution as steps, of values that `x` turns into places on an axis. After the last value, it stays at 1.
/// Without values there are none.
pub(crate) fn steps(values: &Distribution, x: impl Fn(f64) -> f64) -> Vec<(f64, Option<f64>)> {
    let mut corners = Vec::new();
    let mut reached = 0.0;
    for (value, share) in values.curve(CORNERS) {
        corners.extend([(x(value), Some(reached)), (x(value), Some(share))]);
        reached = share;
    }
    if !corners.is_empty() {
        corners.push((f64::INFINITY, Some(1.0)));
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_climbs_in_steps_and_stays_at_the_top() {
        let found = steps(&Distribution::new([2.0, 4.0]), |value| 10.0 * value);
        let expected = [(20.0, 0.0), (20.0, 0.5), (40.0, 0.5), (40.0, 1.0), (f64::INFINITY, 1.0)];
        assert_eq!(found, expected.map(|(x, share)| (x, Some(share))));
        assert!(steps(&Distribution::default(), |value| value).is_empty());
    }
}
