//! Measures against the size of jobs: a panel for each, a line for each run.

use resched_analysis::JobMetrics;

use crate::Error;
use crate::plot::axis::{Axis, lie_far_apart};
use crate::plot::figure::Swatch;
use crate::plot::panels::{Curve, Panel, SEVERAL, draw_panels};
use crate::scene::Scene;

/// Sizes, and a value at each.
type Points = Vec<(f64, f64)>;
type OfJobs<'a> = dyn Fn(&[&JobMetrics]) -> Points + 'a;
/// A measure, and its points of each run.
type Found<'a> = (&'a Measure<'a>, Vec<Points>);

/// A measure against the size of jobs.
pub(super) struct Measure<'a> {
    title: String,
    /// True if it is a share in per cent, whose axis goes from 0 to 100.
    share: bool,
    of: Box<OfJobs<'a>>,
}

impl<'a> Measure<'a> {
    /// A measure with the title of its axis. `of` has the sizes of the jobs, and its value at each.
    pub(super) fn new(title: impl Into<String>, of: impl Fn(&[&JobMetrics]) -> Points + 'a) -> Self {
        Self { title: title.into(), share: false, of: Box::new(of) }
    }

    /// The same for a share in per cent.
    pub(super) fn share(title: impl Into<String>, of: impl Fn(&[&JobMetrics]) -> Points + 'a) -> Self {
        Self { share: true, ..Self::new(title, of) }
    }

    fn axis(&self, lines: &[Points]) -> Axis {
        let values = || lines.iter().flatten().map(|point| point.1);
        let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
        match self.share {
            true => Axis::from_zero(self.title.as_str(), 100.0, 3),
            false if low > 0.0 && lie_far_apart(low, high) => Axis::logarithmic(self.title.as_str(), low, high),
            false => Axis::from_zero(self.title.as_str(), high, 3),
        }
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
        |measure: &Measure<'_>| -> Vec<Points> { scene.jobs.iter().map(|jobs| (measure.of)(jobs)).collect() };
    let all: Vec<Found<'_>> = measures.iter().map(|measure| (measure, lines_of(measure))).collect();
    let sizes = || all.iter().flat_map(|(_, lines)| lines.iter().flatten()).map(|point| point.0);
    let (least, most) = (sizes().fold(f64::MAX, f64::min), sizes().fold(0.0, f64::max));
    if sizes().next().is_none() {
        return Ok(None);
    }
    let x = Axis::logarithmic(size, least, most);
    let panel = |(measure, lines): (&Measure<'_>, Vec<Points>)| {
        let y = measure.axis(&lines);
        let curve = |(line, series): (Points, _)| Curve {
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
