//! How far each thing that the data leaves open moves a policy's difference from the baseline: a tornado chart.

use resched_analysis::statistics::sign::{InVariant, Sign};

use super::chart::Chart;
use crate::Error;
use crate::plot::figure::Sheet;
use crate::plot::intervals::{Interval, Intervals, draw_intervals_on};
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "variants",
    title: "Effect of unknown values",
    caption: "The change of the mean completion time against the baseline: as replayed (disc), and over the variants of each value that \
              neither the trace nor you gave (from triangle to triangle), the widest first. If a line crosses 0, the sign of the answer \
              depends on that value.",
    interactive: false,
    folded: false,
    draw,
};

/// The most lines for a policy; the widest are drawn.
const MOST_LINES: usize = 8;
/// The most policies.
const MOST_POLICIES: usize = 6;

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let (Some(variants), Some((base, others))) = (scene.variants, scene.compared()) else { return Ok(None) };
    let signs = variants.signs(base.label);
    let of = |label: &str| signs.iter().find(|sign| sign.policy == label);
    let shown: Vec<&Sign> = others.iter().filter_map(|shown| of(shown.label)).take(MOST_POLICIES).collect();
    let rows: Vec<Interval> = shown.iter().flat_map(|sign| lines(sign, shown.len() > 1)).collect();
    // The label of the baseline may be long: the note has room for it.
    let x = "Change of the mean completion time (%)";
    let legend = ["in variants", "as replayed"];
    let tried = variants.sample.map_or(scene.count(), |sample| sample.jobs as usize);
    let sheet = scene.sheet_of("jobs", [tried]);
    let sheet = Sheet { note: format!("against {}; {}", base.label, sheet.note), ..sheet };
    draw_intervals_on(&sheet, &Intervals { name: CHART.name, x, legend, rows: &rows })
}

/// A line for each unknown, the widest first.
fn lines(sign: &Sign, names_policy: bool) -> Vec<Interval> {
    let mut unknowns: Vec<(&str, Vec<&InVariant>)> = Vec::new();
    for variant in &sign.variants {
        match unknowns.iter_mut().find(|(name, _)| *name == variant.unknown) {
            Some((_, variants)) => variants.push(variant),
            None => unknowns.push((&variant.unknown, vec![variant])),
        }
    }
    let line = |(_, variants): &(&str, Vec<&InVariant>)| {
        let all = || variants.iter().map(|variant| variant.ratio).chain([sign.ratio]).map(change);
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let title = variants.first().map_or("", |variant| variant.title.as_str());
        let label = if names_policy { format!("{}: {title}", sign.policy) } else { title.to_owned() };
        let found = change(sign.ratio);
        Interval { label, published: Some((low, high)), found: Some((found, found, found)) }
    };
    let mut lines: Vec<Interval> = unknowns.iter().map(line).collect();
    let width = |line: &Interval| line.published.map_or(0.0, |(low, high)| high - low);
    lines.sort_by(|one, other| width(other).total_cmp(&width(one)));
    lines.truncate(MOST_LINES);
    lines
}

/// A ratio as a change in per cent.
fn change(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}
