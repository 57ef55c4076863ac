//! Empirical cumulative distributions, one curve per run.

use resched_analysis::distribution::Distribution;

use crate::Error;
use crate::axis::{Axis, TimeUnit};
use crate::figure::{Legend, Swatch, axes, below, figure, inside, left_of, line, pixel};
use crate::scene::Shown;

const PLOT_HEIGHT: u32 = 260;
/// Corners of a curve: two per pixel, so that nothing is lost.
const CORNERS: usize = 800;
/// If the longest time is more than this many times the median, a linear axis would press all others to its left end.
const WIDEST_SPREAD: f64 = 25.0;

/// Draws the distributions of `times` (ms, by run) as steps. `what` names the times; `of` names what the shares are of. `None` if
/// there are no times.
pub(crate) fn draw_curves(
    name: &str,
    runs: &[Shown<'_>],
    times: Vec<Distribution>,
    (what, of): (&str, &str),
) -> Result<Option<String>, Error> {
    let all = Distribution::new(times.iter().flat_map(|times| times.values().iter().copied()));
    let (Some(&longest), Some(median)) = (all.values().last(), all.median()) else { return Ok(None) };
    // A logarithmic axis has no zero: such times are at its left end.
    let shortest = all.values().iter().copied().find(|ms| *ms > 0.0).unwrap_or(0.0);
    let unit = TimeUnit::for_max(longest);
    let title = format!("{what} ({})", unit.name);
    let x = if shortest > 0.0 && longest > WIDEST_SPREAD * median {
        Axis::logarithmic(title, unit.of(shortest), unit.of(longest))
    } else {
        Axis::from_zero(title, unit.of(longest), 6)
    };
    let y = Axis::from_zero(format!("Share of {of}"), 1.0, 5);
    let entry = |shown: &Shown<'_>| (Swatch::Line(shown.series), shown.label.to_owned());
    let legend = Legend::new(runs.iter().map(entry))?;
    figure(name, legend.height() + PLOT_HEIGHT + below(true), |area| {
        let area = legend.draw(&area)?;
        let plot = axes(&area, &x, &y, left_of([&y]), true)?;
        let inside = inside(&plot);
        times.iter().zip(runs).try_for_each(|(times, shown)| {
            let at = |value, share| pixel(&plot, (value, share));
            let mut corners = vec![];
            let mut reached = 0.0;
            for (value, share) in times.curve(CORNERS) {
                corners.extend([at(unit.of(value), reached), at(unit.of(value), share)]);
                reached = share;
            }
            // After the last value, the curve stays at 1. A run without values has no curve.
            if !corners.is_empty() {
                corners.push(at(f64::INFINITY, 1.0));
            }
            line(&inside, &corners, shown.series)
        })
    })
    .map(Some)
}
