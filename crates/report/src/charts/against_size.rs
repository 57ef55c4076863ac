//! Measures against the size of jobs: a panel for each, a line for each run.

use resched_analysis::JobMetrics;

use crate::Error;
use crate::axis::Axis;
use crate::figure::Swatch;
use crate::panels::{Curve, Panel, SEVERAL, draw_panels};
use crate::scene::Scene;

/// If the greatest value is more than this many times the least, the axis is logarithmic.
const WIDEST_SPREAD: f64 = 30.0;

/// A measure against the size of jobs.
pub(super) struct Measure<'a> {
    title: &'static str,
    of: Box<dyn Fn(&[&JobMetrics]) -> Vec<(f64, f64)> + 'a>,
}

impl<'a> Measure<'a> {
    /// A measure with the title of its axis. `of` has the sizes of the jobs, and its value at each.
    pub(super) fn new(title: &'static str, of: impl Fn(&[&JobMetrics]) -> Vec<(f64, f64)> + 'a) -> Self {
        Self { title, of: Box::new(of) }
    }
}

/// Draws the measures over the jobs of each run; `None` if no job has a size.
pub(super) fn draw_against_size(
    scene: &Scene<'_>,
    name: &str,
    size: &str,
    measures: &[Measure<'_>],
) -> Result<Option<String>, Error> {
    let lines_of =
        |measure: &Measure<'_>| -> Vec<Vec<(f64, f64)>> { scene.jobs.iter().map(|jobs| (measure.of)(jobs)).collect() };
    let all: Vec<(&str, Vec<Vec<(f64, f64)>>)> =
        measures.iter().map(|measure| (measure.title, lines_of(measure))).collect();
    let sizes = || all.iter().flat_map(|(_, lines)| lines.iter().flatten()).map(|point| point.0);
    let (least, most) = (sizes().fold(f64::MAX, f64::min), sizes().fold(0.0, f64::max));
    if sizes().next().is_none() {
        return Ok(None);
    }
    let x = Axis::logarithmic(size, least, most);
    let panel = |(title, lines): (&str, Vec<Vec<(f64, f64)>>)| {
        let y = value_axis(title, &lines);
        let curve = |(line, series): (Vec<(f64, f64)>, _)| Curve {
            points: line.into_iter().map(|(size, value)| (size, Some(value))).collect(),
            series,
            marked: true,
        };
        let series = scene.runs.iter().map(|shown| shown.series);
        Panel::new(x.clone(), y, SEVERAL, lines.into_iter().zip(series).map(curve).collect())
    };
    let panels: Vec<Panel> = all.into_iter().map(panel).collect();
    draw_panels(&scene.sheet_of_jobs(), name, scene.entries(Swatch::Marked), &panels).map(Some)
}

fn value_axis(title: &str, lines: &[Vec<(f64, f64)>]) -> Axis {
    let values = || lines.iter().flatten().map(|point| point.1);
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
    if low > 0.0 && high > WIDEST_SPREAD * low {
        Axis::logarithmic(title, low, high)
    } else {
        Axis::from_zero(title, high, 3)
    }
}
