//! Jobs whose reduces starve, over time.

use resched_analysis::time::over_time::starving;

use super::chart::Chart;
use super::over_time::{Measure, cells_of, draw_over_time};
use crate::Error;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "starvation_over_time",
    title: "Starvation over time",
    caption: "How many jobs starve at a time, as means over short times. A job starves from the end of its last map, for its starvation \
              time (Coupling, Table IV). The area below a line is the sum of the starvation times.",
    interactive: false,
    folded: true,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let jobs = Measure::count("Jobs that starve", |run, cells| {
        starving(run).cell_means(&cells.edges()).into_iter().map(Some).collect()
    });
    draw_over_time(scene, CHART.name, &scene.sheet_of_jobs(), cells_of(scene), &[jobs])
}
