//! Slowdown, and for systems whose jobs ask for CPUs the waiting time, against the size of a job.

use resched_analysis::JobMetrics;
use resched_analysis::metrics::by_size::by_size;
use resched_analysis::metrics::named::{SizeBy, Sizes};
use resched_analysis::statistics::distribution::Distribution;
use resched_tables::words::TimeUnit;

use super::against_size::{Measure, draw_against_size};
use super::chart::Chart;
use crate::Error;
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "slowdown_by_size",
    title: "Slowdown by size of job",
    caption: "For jobs of about the same size: the median and the 95th percentile of the slowdown, against the number of tasks. The \
              slowdown of a job is its completion time divided by its time alone on an unlimited cluster with the same run times. For \
              Slurm and batch systems: of the waiting time and of the bounded slowdown, against the CPUs that a job asks for. Each mark \
              is at the geometric mean of its jobs.",
    interactive: false,
    folded: true,
    draw,
};

/// A number of a job.
type OfJob = fn(&JobMetrics) -> Option<f64>;

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let by = scene.runs.first().map_or(SizeBy::Tasks, |shown| Sizes::of(shown.run).by());
    let quantile = |p: f64, unit: f64, of: OfJob| {
        move |jobs: &[&JobMetrics]| {
            let sizes = by_size(jobs.iter().filter_map(|job| Some((by.size(job), of(job)? / unit))));
            let of_class = |values: Vec<f64>| Distribution::new(values).quantile(p);
            let one = by.amount(1);
            sizes.into_iter().filter_map(|class| Some((class.size * one, of_class(class.jobs)?))).collect()
        }
    };
    if by == SizeBy::Tasks {
        let slowdown: OfJob = |job| job.slowdown;
        let measures = [
            Measure::new("Median slowdown", quantile(0.5, 1.0, slowdown)),
            Measure::new("p95 slowdown", quantile(0.95, 1.0, slowdown)),
        ];
        return draw_against_size(scene, CHART.name, "Tasks of the job", &measures);
    }
    let waiting: OfJob = |job| job.waiting.map(|ms| ms as f64);
    let longest = scene.jobs.iter().flatten().filter_map(|job| waiting(job)).fold(0.0, f64::max);
    let unit = TimeUnit::for_axis(longest);
    let ms = 1.0 / unit.amount(1.0);
    let measures = [
        Measure::new(format!("Median wait ({})", unit.name()), quantile(0.5, ms, waiting)),
        Measure::new(format!("p95 wait ({})", unit.name()), quantile(0.95, ms, waiting)),
        Measure::new("p95 slowdown", quantile(0.95, 1.0, |job| job.bounded_slowdown)),
    ];
    draw_against_size(scene, CHART.name, "CPUs that the job asks for", &measures)
}
