//! Distribution of the jobs' starvation times.

use resched_analysis::Run;
use resched_analysis::runs::who::Who;
use resched_analysis::statistics::distribution::Distribution;

use super::chart::Chart;
use crate::Error;
use crate::plot::curves::draw_curves;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "cdf_starvation",
    title: "Distribution of starvation times",
    caption: "Share of the jobs with reduces whose starvation time is at most this long (Coupling, Table IV). It is the mean time from \
              the end of a job's last map to the launch of its reduces, over the reduces that were launched after it.",
    interactive: false,
    folded: true,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let times = |run: &Run| Distribution::new(run.jobs_among(Who::Started).filter_map(|job| job.starvation));
    let times: Vec<Distribution> = scene.runs.iter().map(|shown| times(shown.run)).collect();
    // Of jobs that never starve, a curve would only be a corner.
    if times.iter().flat_map(Distribution::values).all(|ms| *ms <= 0.0) {
        return Ok(None);
    }
    draw_curves(scene, CHART.name, &times, ("Starvation", "jobs"))
}
