//! Jobs that wait for their first task, over time.

use resched_analysis::time::timeline::queue_length;

use super::chart::Chart;
use super::over_time::{Measure, cells_of, draw_over_time};
use crate::Error;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "queue_length",
    title: "Queue length",
    caption: "How many jobs have been submitted and have not started a task, as means over short times.",
    interactive: true,
    folded: false,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let waiting = Measure::count("Jobs that wait", |run, cells| {
        queue_length(&run.jobs).cell_means(&cells.edges()).into_iter().map(Some).collect()
    });
    draw_over_time(scene, CHART.name, &scene.sheet_of_jobs(), cells_of(scene), &[waiting])
}
