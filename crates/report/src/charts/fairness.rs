//! How fairly the tasks are shared, over time.

use resched_analysis::metrics::share_error::share_error;
use resched_analysis::time::over_time::fairness;

use super::chart::Chart;
use super::over_time::{Measure, cells_of, draw_over_time};
use crate::Error;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "fairness",
    title: "Fairness and share error",
    caption: "Jain's index of the running tasks of the jobs in the system (Jain, Chiu, Hawe 1984), as means over short times. It is 1 if \
              all jobs run equally many tasks. The share error is the share of the running tasks that would have to move to other jobs so \
              that each job has its max-min fair share of what it can use; 0 is fair.",
    interactive: false,
    folded: true,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
    let measures = [
        Measure::new("Jain's index", fairness),
        Measure::new("Share error (%)", move |run, cells| share_error(run, cells).into_iter().map(percent).collect()),
    ];
    draw_over_time(scene, CHART.name, &scene.sheet_of_jobs(), cells_of(scene), &measures)
}
