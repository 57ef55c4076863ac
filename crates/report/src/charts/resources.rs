//! The resources that nodes use over time (Coupling, Table I and Fig. 14; Triple-Queue, Fig. 5).

use std::collections::BTreeMap;

use resched_analysis::Run;
use resched_tables::model::ResourceRow;

use super::chart::Chart;
use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::figure::Swatch;
use crate::plot::panels::{Curve, Panel, SEVERAL, draw_panels};
use crate::scene::{Scene, Shown};

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "resources",
    title: "Use of the nodes",
    caption: "Means over all nodes: the share of the cores that work, the share that is idle while a task waits for the disk, and the \
              traffic of disks and network. Drawn for runs under the cost model of contention.",
    interactive: true,
    folded: false,
    draw,
};

pub(crate) type Measure = (&'static str, fn(&ResourceRow) -> f64);
/// Values over time, ms since the first submission.
pub(crate) type Points = Vec<(i64, f64)>;

/// Title and value of each plot, from the top.
pub(crate) const MEASURES: [Measure; 4] = [
    ("CPU (%)", |row| 100.0 * row.cpu),
    ("I/O wait (%)", |row| 100.0 * row.io_wait),
    ("Disk (MB/s)", |row| row.disk / 1e6),
    ("Network (MB/s)", |row| row.net_in / 1e6),
];

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let drawn = || scene.runs.iter().filter(|shown| !shown.run.resources.is_empty());
    let Some(clock) = scene.clock().filter(|_| drawn().next().is_some()) else { return Ok(None) };
    let is_shown = |point: &(i64, f64)| point.0 <= clock.longest;
    let panel = |(title, value): Measure| {
        let lines: Vec<Points> =
            drawn().map(|shown| means(shown.run, value).into_iter().filter(is_shown).collect()).collect();
        let highest = lines.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
        let y = Axis::from_zero(title, if highest > 0.0 { highest } else { 1.0 }, 3);
        let curve = |(points, shown): (Points, &Shown<'_>)| Curve {
            points: points.into_iter().map(|(time, value)| (clock.unit.amount(time as f64), Some(value))).collect(),
            series: shown.series,
            marked: false,
        };
        Panel::new(clock.axis.clone(), y, SEVERAL, lines.into_iter().zip(drawn()).map(curve).collect())
    };
    let entries = drawn().map(|shown| (Swatch::Line(shown.series), shown.label.to_owned()));
    draw_panels(&clock.on(scene.sheet_of_jobs()), CHART.name, entries, &MEASURES.map(panel)).map(Some)
}

/// The mean of a value over all nodes at each time.
pub(crate) fn means(run: &Run, value: fn(&ResourceRow) -> f64) -> Points {
    let Some((first, last)) = run.jobs.span() else { return Vec::new() };
    let mut sums: BTreeMap<i64, (f64, u32)> = BTreeMap::new();
    for row in run.resources.iter().filter(|row| (first..=last).contains(&row.time) && value(row).is_finite()) {
        let (sum, nodes) = sums.entry(row.time - first).or_default();
        *sum += value(row);
        *nodes += 1;
    }
    sums.into_iter().map(|(time, (sum, nodes))| (time, sum / f64::from(nodes))).collect()
}
