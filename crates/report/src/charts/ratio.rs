//! Distribution of each job's time against that under the baseline.

use resched_analysis::statistics::distribution::Distribution;

use super::chart::Chart;
use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::curves::steps;
use crate::plot::figure::Swatch;
use crate::plot::panels::{Curve, Panel, SINGLE, draw_panels};
use crate::scene::{Scene, Shown};

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "ratio",
    title: "Completion time of each job against the baseline",
    caption: "Share of the jobs whose completion time is at most this many times that under the baseline. The policy makes the jobs left \
              of the grey line at 1 faster, and those right of it slower.",
    interactive: false,
    folded: false,
    draw,
};

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let Some((base, others)) = scene.compared() else { return Ok(None) };
    let values = scene.values(|job| job.completion.filter(|ms| *ms > 0).map(|ms| ms as f64));
    let Some(of_base) = values.get(scene.baseline) else { return Ok(None) };
    let ratios = |times: &Vec<Option<f64>>| {
        Distribution::new(times.iter().zip(of_base).filter_map(|(time, base)| Some((*time)? / (*base)?)))
    };
    let of_others = values.iter().enumerate().filter(|(place, _)| scene.is_compared(*place));
    let found: Vec<Distribution> = of_others.map(|(_, of_other)| ratios(of_other)).collect();
    let all = || found.iter().flat_map(Distribution::values).copied();
    if all().next().is_none() {
        return Ok(None);
    }
    // There is always room on both sides of 1.
    let (low, high) = (all().fold(0.8, f64::min), all().fold(1.25, f64::max));
    let x = Axis::logarithmic(format!("Completion time, times that of {}", base.label), low, high);
    let curve = |(ratios, shown): (&Distribution, &&Shown<'_>)| Curve {
        points: steps(ratios, |ratio| ratio),
        series: shown.series,
        marked: false,
    };
    let curves = found.iter().zip(&others).map(curve).collect();
    let guides = vec![[(1.0, 0.0), (1.0, 1.0)]];
    let panel = Panel { guides, ..Panel::new(x, Axis::from_zero("Share of jobs", 1.0, 5), SINGLE, curves) };
    let sheet = scene.sheet_of("jobs", found.iter().map(|ratios| ratios.values().len()));
    let entries = others.iter().map(|shown| (Swatch::Line(shown.series), shown.label.to_owned()));
    draw_panels(&sheet, CHART.name, entries, &[panel]).map(Some)
}
