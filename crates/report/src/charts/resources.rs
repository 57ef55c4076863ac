//! The resources that nodes use over time (Coupling, Table I and Fig. 14; Triple-Queue, Fig. 5).

use std::collections::BTreeMap;

use resched_analysis::Run;
use resched_analysis::timeline::span;
use resched_trace::model::ResourceRow;

use super::chart::Chart;
use crate::Error;
use crate::axis::{Axis, TimeUnit};
use crate::figure::{Legend, Swatch, axes, below, figure, inside, left_of, line, pixel};
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "resources",
    title: "What the nodes use",
    caption: "Means over all nodes: the share of the cores that work, the share that stands idle while a task waits for the \
              disk, and what goes through disks and network. Drawn for runs under the cost model of contention.",
    draw,
};

const PLOT_HEIGHT: u32 = 120;

pub(crate) type Panel = (&'static str, fn(&ResourceRow) -> f64);
/// Values over time, ms since the first submission.
pub(crate) type Points = Vec<(i64, f64)>;

/// Title and value of each plot, from the top.
pub(crate) const PANELS: [Panel; 4] = [
    ("CPU (%)", |row| 100.0 * row.cpu),
    ("I/O wait (%)", |row| 100.0 * row.io_wait),
    ("Disk (MB/s)", |row| row.disk / 1e6),
    ("Network (MB/s)", |row| row.net_in / 1e6),
];

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let runs = &scene.runs;
    if runs.iter().all(|shown| shown.run.resources.is_empty()) {
        return Ok(None);
    }
    let longest =
        runs.iter().filter_map(|shown| span(&shown.run.jobs)).map(|(first, last)| last - first).max().unwrap_or(0);
    let unit = TimeUnit::for_max(longest as f64);
    let x = Axis::exact(format!("Time ({})", unit.name), 0.0, unit.of(longest as f64), 7, 0.0);
    let panels: Vec<(Vec<Points>, Axis)> = PANELS
        .into_iter()
        .map(|(title, value)| {
            let lines: Vec<_> = runs.iter().map(|shown| means(shown.run, value)).collect();
            let highest = lines.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
            (lines, Axis::from_zero(title, if highest > 0.0 { highest } else { 1.0 }, 3))
        })
        .collect();
    let drawn = runs.iter().filter(|shown| !shown.run.resources.is_empty());
    let legend = Legend::new(drawn.map(|shown| (Swatch::Line(shown.series), shown.label.to_owned())))?;
    let left = left_of(panels.iter().map(|(_, y)| y));
    let height = legend.height() + panels.len() as u32 * (PLOT_HEIGHT + below(false)) + below(true) - below(false);
    figure(CHART.name, height, |area| {
        let mut rest = legend.draw(&area)?;
        for (number, (lines, y)) in panels.iter().enumerate() {
            let last = number + 1 == panels.len();
            let (top, below) = rest.split_vertically(PLOT_HEIGHT + below(last));
            let plot = axes(&top, &x, y, left, last)?;
            let inside = inside(&plot);
            for (points, shown) in lines.iter().zip(runs).filter(|(points, _)| !points.is_empty()) {
                let corners: Vec<(i32, i32)> =
                    points.iter().map(|&(time, value)| pixel(&plot, (unit.of(time as f64), value))).collect();
                line(&inside, &corners, shown.series)?;
            }
            rest = below;
        }
        Ok(())
    })
    .map(Some)
}

/// The mean of a value over all nodes at each time.
pub(crate) fn means(run: &Run, value: fn(&ResourceRow) -> f64) -> Points {
    let Some((first, last)) = span(&run.jobs) else { return Vec::new() };
    let mut sums: BTreeMap<i64, (f64, u32)> = BTreeMap::new();
    for row in run.resources.iter().filter(|row| (first..=last).contains(&row.time) && value(row).is_finite()) {
        let (sum, nodes) = sums.entry(row.time - first).or_default();
        *sum += value(row);
        *nodes += 1;
    }
    sums.into_iter().map(|(time, (sum, nodes))| (time, sum / f64::from(nodes))).collect()
}
