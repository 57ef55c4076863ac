//! Measures over time: a panel for each, a line for each run.

use resched_analysis::Run;
use resched_analysis::cells::Cells;

use crate::Error;
use crate::axis::Axis;
use crate::figure::{Sheet, Swatch};
use crate::panels::{Curve, Panel, SEVERAL, SINGLE, draw_panels};
use crate::scene::{Clock, Scene, Shown};

/// The cells of time of a line, if there are few lines and if there are many: lines of many cells would cover one another.
const CELLS: usize = 195;
const FEW_CELLS: usize = 65;
/// With more lines than this, there are few cells.
const FEW_LINES: usize = 2;

/// A measure over time.
pub(super) struct Measure<'a> {
    title: &'static str,
    of: Box<dyn Fn(&Run, Cells) -> Vec<Option<f64>> + 'a>,
}

impl<'a> Measure<'a> {
    /// A measure with the title of its axis. `of` has its value in each cell of time of a run; a run that does not have it has none.
    pub(super) fn new(title: &'static str, of: impl Fn(&Run, Cells) -> Vec<Option<f64>> + 'a) -> Self {
        Self { title, of: Box::new(of) }
    }
}

/// The cells of time of lines of that number.
pub(super) fn cells_of(scene: &Scene<'_>) -> usize {
    if scene.runs.len() > FEW_LINES { FEW_CELLS } else { CELLS }
}

/// Draws those of the measures that some run has, in at most `most` cells of time; `None` without any, or if all are zero.
pub(super) fn draw_over_time(
    scene: &Scene<'_>,
    name: &str,
    sheet: &Sheet,
    most: usize,
    measures: &[Measure<'_>],
) -> Result<Option<String>, Error> {
    let Some(clock) = scene.clock() else { return Ok(None) };
    let mut found: Vec<(&str, Vec<Curve>)> = Vec::new();
    for Measure { title, of } in measures {
        let curve = |shown: &Shown<'_>| {
            let cells = clock.cells(shown.run, most);
            let points = clock.points(shown.run, cells, of(shown.run, cells));
            Curve { points, series: shown.series, marked: false }
        };
        let curves: Vec<Curve> = scene.runs.iter().map(curve).collect();
        if values(&curves).next().is_some() {
            found.push((title, curves));
        }
    }
    if found.iter().flat_map(|(_, curves)| values(curves)).all(|value| value == 0.0) {
        return Ok(None);
    }
    let several = found.len() > 1;
    let panels: Vec<Panel> = found.into_iter().map(|(title, curves)| panel(&clock, title, curves, several)).collect();
    draw_panels(sheet, name, scene.entries(Swatch::Line), &panels).map(Some)
}

fn panel(clock: &Clock, title: &str, curves: Vec<Curve>, several: bool) -> Panel {
    let low = values(&curves).fold(0.0, f64::min);
    let high = values(&curves).fold(0.0, f64::max);
    let (height, ticks) = if several { (SEVERAL, 3) } else { (SINGLE, 5) };
    Panel::new(clock.axis.clone(), Axis::with_zero(title, low, high, ticks), height, curves)
}

fn values(curves: &[Curve]) -> impl Iterator<Item = f64> {
    curves.iter().flat_map(|curve| &curve.points).filter_map(|point| point.1)
}
