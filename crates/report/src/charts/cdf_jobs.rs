//! Distribution of the jobs' processing times (Coupling, Fig. 16).

use resched_analysis::Run;
use resched_analysis::statistics::distribution::Distribution;

use super::chart::Chart;
use crate::Error;
use crate::plot::curves::draw_curves;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "cdf_jobs",
    title: "Distribution of processing times of jobs",
    caption: "Share of the jobs that took at most this long from submission to end (Coupling, Fig. 16). A curve that is above another \
              everywhere is better for jobs of every length.",
    interactive: true,
    folded: false,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let times = |run: &Run| Distribution::new(run.finished_jobs().filter_map(|job| job.completion).map(|ms| ms as f64));
    let times: Vec<Distribution> = scene.runs.iter().map(|shown| times(shown.run)).collect();
    draw_curves(scene, CHART.name, &times, (scene.system().says("Job processing time"), "jobs"))
}
