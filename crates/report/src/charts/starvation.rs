//! Starvation time per job.

use super::chart::Chart;
use crate::Error;
use crate::axis::TimeUnit;
use crate::bars::{Part, draw_bars};
use crate::scene::{Scene, largest};
use crate::style::Fill;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "starvation",
    title: "Starvation time",
    caption: "How long the reduces of a job that were launched after its last map had completed were launched after it, on \
              average (Coupling, Table IV).",
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let times = scene.values(|job| job.starvation);
    if times.iter().flatten().all(Option::is_none) {
        return Ok(None);
    }
    let unit = TimeUnit::for_max(largest(times.iter().flatten()));
    let values = times.into_iter().map(|run| run.into_iter().map(|ms| ms.map(|ms| unit.of(ms))).collect()).collect();
    draw_bars(
        scene,
        CHART.name,
        &format!("Starvation ({})", unit.name),
        &[Part { label: "", fill: Fill::Solid, values }],
    )
}
