//! Slowdown against the size of a job.

use resched_analysis::JobMetrics;
use resched_analysis::metrics::by_size::by_size;
use resched_analysis::statistics::distribution::Distribution;

use super::against_size::{Measure, draw_against_size};
use super::chart::Chart;
use crate::Error;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "slowdown_by_size",
    title: "Slowdown by size of job",
    caption: "The median and the 95th percentile of the slowdown, for jobs with about the same number of tasks. The slowdown of a job is \
              its completion time divided by its time alone on an unlimited cluster with the same run times. Each mark is at the \
              geometric mean of its jobs.",
    interactive: false,
    folded: true,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let quantile = |p: f64| {
        move |jobs: &[&JobMetrics]| {
            let sizes = by_size(jobs.iter().filter_map(|job| Some((u64::from(job.tasks_done), job.slowdown?))));
            let of_class = |values: Vec<f64>| Distribution::new(values).quantile(p);
            sizes.into_iter().filter_map(|class| Some((class.size, of_class(class.jobs)?))).collect()
        }
    };
    let measures = [Measure::new("Median slowdown", quantile(0.5)), Measure::new("p95 slowdown", quantile(0.95))];
    draw_against_size(scene, CHART.name, "Tasks of the job", &measures)
}
