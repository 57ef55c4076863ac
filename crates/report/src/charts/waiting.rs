//! Waiting and execution time per job, stacked.

use super::chart::Chart;
use crate::Error;
use crate::plot::bars::{Part, What, draw_bars};
use crate::plot::style::Fill;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "waiting",
    title: "Waiting and execution time",
    caption: "From a job's submission to its first task, and from there to its end. Together, they are its completion time (DRESS, Figs. \
              6 and 8).",
    interactive: false,
    folded: false,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let part = |label, fill, time: fn(&resched_analysis::JobMetrics) -> Option<i64>| Part {
        label,
        fill,
        values: scene.values(|job| job.completion.and_then(|_| time(job)).map(|ms| ms as f64)),
    };
    let parts =
        [part("waiting", Fill::Hatched, |job| job.waiting), part("execution", Fill::Solid, |job| job.execution)];
    draw_bars(scene, CHART.name, What::Time("Time"), &parts)
}
