//! Measures over time: a panel for each, a line for each run.

use resched_analysis::Run;
use resched_analysis::metrics::cells::Cells;

use crate::Error;
use crate::plot::axis::{Axis, lie_far_apart};
use crate::plot::clock::Clock;
use crate::plot::figure::{Sheet, Swatch};
use crate::plot::panels::{Curve, Panel, SEVERAL, SINGLE, draw_panels};
use crate::scene::{Scene, Shown};

/// The cells of time of a line, if there are few lines and if there are many: lines of many cells would cover one another.
const CELLS: usize = 195;
pub(super) const FEW_CELLS: usize = 65;
/// With more lines than this, there are few cells.
const FEW_LINES: usize = 2;

/// If all values end before this share of the time, the rest is not shown.
const WORTH_SHOWING: f64 = 0.6;

/// The value in each cell of time of a run.
type OfRun<'a> = dyn Fn(&Run, Cells) -> Vec<Option<f64>> + 'a;

/// A measure over time.
pub(super) struct Measure<'a> {
    title: &'static str,
    /// True if it counts something that may be much more in one run than in another.
    counts: bool,
    of: Box<OfRun<'a>>,
}

impl<'a> Measure<'a> {
    /// A measure with the title of its axis. `of` has its value in each cell of time of a run; a run that does not have it has none.
    pub(super) fn new(title: &'static str, of: impl Fn(&Run, Cells) -> Vec<Option<f64>> + 'a) -> Self {
        Self { title, counts: false, of: Box::new(of) }
    }

    /// The same for numbers of something.
    pub(super) fn count(title: &'static str, of: impl Fn(&Run, Cells) -> Vec<Option<f64>> + 'a) -> Self {
        Self { counts: true, ..Self::new(title, of) }
    }

    /// Its axis for these curves.
    fn axis(&self, curves: &[Curve], ticks: u32) -> Axis {
        let (low, high) = (values(curves).fold(0.0, f64::min), values(curves).fold(0.0, f64::max));
        let peaks = curves.iter().map(|curve| values(std::slice::from_ref(curve)).fold(0.0, f64::max));
        let least = peaks.filter(|peak| *peak >= 1.0).fold(high, f64::min);
        match self.counts {
            true if lie_far_apart(least, high) => {
                Axis::logarithmic(format!("{}, below 1 at the foot", self.title), 1.0, high)
            }
            true => Axis::with_zero(self.title, low, high, ticks).whole(),
            false => Axis::with_zero(self.title, low, high, ticks),
        }
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
    let Some([clock, whole]) = scene.clocks() else { return Ok(None) };
    let mut found = curves(scene, whole, most, measures);
    let Some(last) = last_value(&found) else { return Ok(None) };
    // A long end without any value would press all others to the left.
    let clock = match last < whole.axis.high() * WORTH_SHOWING {
        true => &whole.before_nothing((whole.longest as f64 * last / whole.axis.high()).ceil() as i64),
        false => clock,
    };
    if clock.longest < whole.longest {
        found = curves(scene, clock, most, measures);
    }
    let several = found.len() > 1;
    let panels: Vec<Panel> = found.iter().map(|found| panel(clock, found, several)).collect();
    draw_panels(&clock.on(sheet.clone()), name, scene.entries(Swatch::Line), &panels).map(Some)
}

/// The curves of each measure that some run has.
fn curves<'a, 'm>(
    scene: &Scene<'_>,
    clock: &Clock,
    most: usize,
    measures: &'a [Measure<'m>],
) -> Vec<(&'a Measure<'m>, Vec<Curve>)> {
    let of_measure = |measure: &'a Measure<'m>| {
        let curve = |shown: &Shown<'_>| {
            let cells = clock.cells(shown.run, most);
            let points = clock.points(shown.run, cells, (measure.of)(shown.run, cells));
            Curve { points, series: shown.series, marked: false }
        };
        (measure, scene.runs.iter().map(curve).collect::<Vec<_>>())
    };
    measures.iter().map(of_measure).filter(|(_, curves)| values(curves).next().is_some()).collect()
}

/// The place on the x axis of the first point after the last value that is not zero; `None` if all are.
fn last_value(found: &[(&Measure<'_>, Vec<Curve>)]) -> Option<f64> {
    let of_curve = |curve: &Curve| {
        let last = curve.points.iter().rposition(|point| point.1.is_some_and(|value| value != 0.0))?;
        curve.points.get(last + 1).or(curve.points.last()).map(|point| point.0)
    };
    found.iter().flat_map(|(_, curves)| curves).filter_map(of_curve).reduce(f64::max)
}

fn panel(clock: &Clock, (measure, curves): &(&Measure<'_>, Vec<Curve>), several: bool) -> Panel {
    let (height, ticks) = if several { (SEVERAL, 3) } else { (SINGLE, 5) };
    Panel::new(clock.axis.clone(), measure.axis(curves, ticks), height, curves.clone())
}

fn values(curves: &[Curve]) -> impl Iterator<Item = f64> {
    curves.iter().flat_map(|curve| &curve.points).filter_map(|point| point.1)
}
