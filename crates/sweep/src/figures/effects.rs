//! Figures of one variant with several varying keys: heat maps, main effects and interactions.

use std::collections::BTreeMap;

use resched_report::{HeatMap, HeatPanel, Line, Shape, draw_heat_map};

use super::album::{Album, Point, plain, sorted};
use super::variant::Variant;
use crate::Error;
use crate::metrics::point;

/// The most keys whose main effects and interactions are drawn. Those with the largest effects come first.
const MOST_KEYS: usize = 4;

/// The metric against the two keys with the largest effects, with a panel for each value of the third.
pub(super) fn heat_map(variant: &Variant<'_, '_>, album: &mut Album<'_>) -> Result<(), Error> {
    let [x, y, more @ ..] = variant.keys.as_slice() else { return Ok(()) };
    let metric = album.metric;
    let third = more.first();
    let keys: Vec<&str> = [Some(x), Some(y), third].into_iter().flatten().map(String::as_str).collect();
    let bins: Vec<BTreeMap<String, String>> = keys.iter().map(|key| variant.bins(key)).collect();
    let cells = variant.cells(&keys, &bins, metric);
    let cells: BTreeMap<Vec<String>, f64> =
        cells.into_iter().map(|(levels, found)| (levels, metric.shown(found.value))).collect();
    let (columns, mut rows) = (variant.values(x), variant.values(y));
    // The largest value stands at the top, as on an axis.
    rows.reverse();
    let panel = |value: Option<&String>| {
        let at = |row: &String, column: &String| {
            let key: Vec<String> = [Some(column), Some(row), value].into_iter().flatten().cloned().collect();
            cells.get(&key).copied()
        };
        let title = third.zip(value).map_or_else(String::new, |(key, value)| format!("{key} = {value}"));
        let row = |row: &String| columns.iter().map(|column| at(row, column)).collect();
        HeatPanel { title, values: rows.iter().map(row).collect() }
    };
    let panels: Vec<HeatPanel> = match third {
        None => vec![panel(None)],
        Some(key) => variant.values(key).iter().map(|value| panel(Some(value))).collect(),
    };
    let name = format!("{}-of-{}", plain(&metric.name), plain(variant.name));
    let chart = HeatMap { name: &name, x, y, value: &metric.axis(), columns: &columns, rows: &rows, panels: &panels };
    let others = match more {
        [_, others @ ..] if !others.is_empty() => format!("Averaged over {}.", others.join(", ")),
        _ => String::new(),
    };
    let title = format!("{} of {} against {x} and {y}", metric.title, variant.name);
    let more = format!("{}{others}", range_of(cells.values().copied()));
    album.add(&name, &title, album.caption(&more), draw_heat_map(&chart)?);
    Ok(())
}

/// How far values lie apart, as a sentence: the colours of a heat map stretch any range over their whole scale, and the axis of a line
/// begins at 0.
fn range_of(values: impl Iterator<Item = f64> + Clone) -> String {
    let low = values.clone().fold(f64::MAX, f64::min);
    let high = values.fold(f64::MIN, f64::max);
    if low > 0.0 && high >= low {
        format!("The greatest value is {:.1} % above the least. ", 100.0 * (high / low - 1.0))
    } else {
        String::new()
    }
}

/// The metric against each key, averaged over the others.
pub(super) fn main_effects(variant: &Variant<'_, '_>, album: &mut Album<'_>) -> Result<(), Error> {
    let metric = album.metric;
    for key in variant.keys.iter().take(MOST_KEYS).filter(|key| variant.is_numeric(key)) {
        let levels = variant.levels(key, metric).into_iter();
        let points = levels.filter_map(|(level, found)| Some(point(metric, level.parse().ok()?, found)));
        let label = format!("{}, averaged over the rest", variant.name);
        let line = Line { label, points: sorted(points), shape: Shape::Joined };
        let range = range_of(line.points.iter().map(|point| point.1));
        let name = format!("effect-of-{}-on-{}", plain(key), plain(variant.name));
        let more =
            format!("{range}Averaged over all other keys that vary; the band is the 95 % interval over the seeds.");
        album.add_lines((&name, &format!("Main effect of {key}")), key, &[line], &more)?;
    }
    Ok(())
}

/// For each pair of keys: the metric against one, a line for each level of the other. Lines that are not parallel interact.
pub(super) fn interactions(variant: &Variant<'_, '_>, album: &mut Album<'_>) -> Result<(), Error> {
    let keys: Vec<&String> = variant.keys.iter().take(MOST_KEYS - 1).collect();
    for (place, first) in keys.iter().enumerate() {
        for second in keys.iter().skip(place + 1) {
            // The one with more levels is the axis; the other's levels are lines.
            let (x, by) = if variant.values(first).len() >= variant.values(second).len() {
                (first, second)
            } else {
                (second, first)
            };
            if variant.is_numeric(x) {
                interaction(variant, x, by, album)?;
            }
        }
    }
    Ok(())
}

/// The metric against `x`, a line for each level of `by`.
fn interaction(variant: &Variant<'_, '_>, x: &str, by: &str, album: &mut Album<'_>) -> Result<(), Error> {
    let metric = album.metric;
    let bins = [variant.bins(x), variant.bins(by)];
    let mut lines: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    for (levels, found) in variant.cells(&[x, by], &bins, metric) {
        let [at, line] = levels.as_slice() else { continue };
        let Ok(at) = at.parse() else { continue };
        lines.entry(line.clone()).or_default().push(point(metric, at, found));
    }
    let line = |(level, points): (String, Vec<Point>)| Line {
        label: format!("{by} = {level}"),
        points: sorted(points),
        shape: Shape::Joined,
    };
    let mut series: Vec<Line> = lines.into_iter().map(line).collect();
    series.sort_by(|a, b| level_of(&a.label).total_cmp(&level_of(&b.label)).then(a.label.cmp(&b.label)));
    let name = format!("interaction-of-{}-and-{}-on-{}", plain(x), plain(by), plain(variant.name));
    let title = format!("{x} and {by} together");
    album.add_lines((&name, &title), x, &series, "Lines that are not parallel show an interaction.")
}

/// The number at the end of `key = number`.
fn level_of(label: &str) -> f64 {
    label.rsplit(' ').next().and_then(|level| level.parse().ok()).unwrap_or(f64::MAX)
}
