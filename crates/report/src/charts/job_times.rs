//! Processing time per job, runs side by side (Coupling, Figs. 3, 6a, 13a).

use std::collections::BTreeSet;

use super::chart::Chart;
use crate::Error;
use crate::axis::{Axis, TimeUnit};
use crate::bars::{Part, draw_bars};
use crate::figure::{Legend, Swatch, axes, below, figure, inside, left_of, mark, pixel};
use crate::scene::{Scene, Shown, largest};
use crate::style::Fill;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "job_times",
    title: "Processing time of each job",
    caption: "From a job's submission to its end (Coupling, Figs. 3 and 13). Jobs whose times lie far apart are shown as marks \
              on a logarithmic axis, and many jobs also in the order of their times in the first run.",
    draw,
};

/// With more jobs than this, or with times further apart than this ratio, bars would hide the short jobs.
const MOST_BARS: usize = 40;
const WIDEST_SPREAD: f64 = 30.0;
const PLOT_HEIGHT: u32 = 270;
/// Marks this close together look like one, pixels.
const HIDDEN: i32 = 4;

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let times = scene.values(|job| job.completion.map(|ms| ms as f64).filter(|ms| *ms > 0.0));
    let longest = largest(times.iter().flatten());
    let shortest = times.iter().flatten().flatten().copied().fold(f64::INFINITY, f64::min);
    if longest <= 0.0 {
        return Ok(None);
    }
    let unit = TimeUnit::for_max(longest);
    let in_unit = |times: Vec<Option<f64>>| times.into_iter().map(|ms| ms.map(|ms| unit.of(ms))).collect();
    let values: Vec<Vec<Option<f64>>> = times.into_iter().map(in_unit).collect();
    let title = format!("Processing time ({})", unit.name);
    if scene.ids().len() <= MOST_BARS && longest / shortest <= WIDEST_SPREAD {
        return draw_bars(CHART.name, &scene.runs, &title, &[Part { label: "", fill: Fill::Solid, values }]);
    }
    draw_marks(&scene.runs, &Axis::logarithmic(title, unit.of(shortest), unit.of(longest)), &values).map(Some)
}

/// One mark per job and run. Few jobs keep their order, so that you can find each in other charts. Many jobs are in the order of
/// their times in the first run.
fn draw_marks(runs: &[Shown<'_>], y: &Axis, values: &[Vec<Option<f64>>]) -> Result<String, Error> {
    let jobs = values.first().map_or(0, Vec::len);
    let mut order: Vec<usize> = (0..jobs).collect();
    let of_first = |job: usize| values.first().and_then(|times| times.get(job).copied().flatten());
    let sorted = jobs > MOST_BARS;
    if sorted {
        order.sort_by(|&a, &b| of_first(a).unwrap_or(f64::INFINITY).total_cmp(&of_first(b).unwrap_or(f64::INFINITY)));
    }
    let of = if sorted { "the first run's time" } else { "submission" };
    let x = Axis::exact(format!("Job, in order of {of}"), 0.5, jobs as f64 + 0.5, 6, 1.0);
    let size = if sorted { 3 } else { 4 };
    let entry = |shown: &Shown<'_>| (Swatch::Mark(shown.series), shown.label.to_owned());
    let legend = Legend::new(runs.iter().map(entry))?;
    figure(CHART.name, legend.height() + PLOT_HEIGHT + below(true), |area| {
        let area = legend.draw(&area)?;
        let plot = axes(&area, &x, y, left_of([y]), true)?;
        let inside = inside(&plot);
        // The first run goes on top: it is the reference.
        for (times, shown) in values.iter().zip(runs).rev() {
            // A mark hides another half its size away, so one is enough: the file does not grow with the jobs.
            let mut marked = BTreeSet::new();
            for (place, job) in order.iter().enumerate() {
                if let Some(time) = times.get(*job).copied().flatten() {
                    let at = pixel(&plot, (place as f64 + 1.0, time));
                    if marked.insert((at.0 / HIDDEN, at.1 / HIDDEN)) {
                        mark(&inside, at, shown.series, size)?;
                    }
                }
            }
        }
        Ok(())
    })
}
