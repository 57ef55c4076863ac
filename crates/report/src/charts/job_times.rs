//! Processing time per job, runs side by side (Coupling, Figs. 3, 6a, 13a).

use std::collections::BTreeSet;

use resched_analysis::statistics::distribution::Distribution;
use resched_tables::words::count;

use super::chart::Chart;
use crate::Error;
use crate::plot::axis::{Axis, lie_far_apart, unit_for_decades};
use crate::plot::bars::{Part, What, draw_bars, fit};
use crate::plot::figure::{Legend, Swatch, axes, below, figure, inside, left_of, mark, pixel};
use crate::plot::panels::{Curve, Panel, SINGLE, draw_panels};
use crate::plot::style::Fill;
use crate::scene::{Scene, largest};

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "job_times",
    title: "Processing time of each job",
    caption: "From a job's submission to its end (Coupling, Figs. 3 and 13). If the times differ widely, or the bars have no room, the \
              jobs are marks on a logarithmic axis. Many jobs are also in the order of their times in the first run. More than 400 jobs \
              are shown as the medians of groups of neighbours in that order.",
    interactive: true,
    folded: false,
    draw,
};

/// The title of the axis of times, without its unit.
const TITLE: &str = "Processing time";
/// With more jobs than this, bars would hide the short ones.
const MOST_BARS: usize = 40;
/// With more jobs than this, marks would be a smear.
const MOST_MARKS: usize = 400;
/// The groups of neighbours of many jobs, if there are few runs and if there are many: many lines of many groups would be a smear.
const GROUPS: usize = 100;
const FEW_GROUPS: usize = 40;
/// With more runs than this, there are few groups.
const FEW_RUNS: usize = 2;
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
    let jobs = scene.count();
    let fits = jobs <= MOST_BARS && fit(scene.look(), jobs, scene.runs.len());
    if fits && !lie_far_apart(shortest, longest) {
        let part = Part { label: "", fill: Fill::Solid, values: times };
        return draw_bars(scene, CHART.name, What::Time(TITLE), &[part]);
    }
    let unit = unit_for_decades(shortest, longest);
    let in_unit = |times: Vec<Option<f64>>| times.into_iter().map(|ms| ms.map(|ms| unit.amount(ms))).collect();
    let values: Vec<Vec<Option<f64>>> = times.into_iter().map(in_unit).collect();
    let title = format!("{TITLE} ({})", unit.name());
    if jobs > MOST_MARKS {
        return draw_medians(scene, title, &values).map(Some);
    }
    draw_marks(scene, &Axis::logarithmic(title, unit.amount(shortest), unit.amount(longest)), &values).map(Some)
}

/// The jobs in the order of their times in the first run.
fn by_first(values: &[Vec<Option<f64>>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.first().map_or(0, Vec::len)).collect();
    let of_first = |job: usize| values.first().and_then(|times| times.get(job).copied().flatten());
    order.sort_by(|&a, &b| of_first(a).unwrap_or(f64::INFINITY).total_cmp(&of_first(b).unwrap_or(f64::INFINITY)));
    order
}

/// One mark per job and run. Few jobs keep their order, so that you can find each in other charts. Many jobs are in the order of
/// their times in the first run.
fn draw_marks(scene: &Scene<'_>, y: &Axis, values: &[Vec<Option<f64>>]) -> Result<String, Error> {
    let (runs, look) = (&scene.runs, scene.look());
    let jobs = values.first().map_or(0, Vec::len);
    let sorted = jobs > MOST_BARS;
    let order = if sorted { by_first(values) } else { (0..jobs).collect() };
    let of = if sorted { first_time(scene) } else { "submission".to_owned() };
    let x = Axis::exact(format!("Job, in order of {of}"), 0.5, jobs as f64 + 0.5, 6, 1.0);
    let size = if sorted { 3 } else { 4 };
    let legend = Legend::new(look, scene.entries(Swatch::Mark))?;
    let height = legend.height() + look.scaled(PLOT_HEIGHT) + below(look, true);
    figure(&scene.sheet_of_jobs(), CHART.name, height, |area| {
        let area = legend.draw(&area)?;
        let plot = axes(look, &area, (&x, y), left_of(look, [y]), true)?;
        let inside = inside(&plot);
        // The first run goes on top: it is the reference.
        for (number, (times, shown)) in values.iter().zip(runs).enumerate().rev() {
            // The marks of one of few jobs stand side by side.
            let beside = if sorted { 0.0 } else { (number as f64 + 0.5) / runs.len() as f64 - 0.5 };
            // A mark hides another half its size away, so one is enough: the file does not grow with the jobs.
            let mut marked = BTreeSet::new();
            for (place, job) in order.iter().enumerate() {
                if let Some(time) = times.get(*job).copied().flatten() {
                    let at = pixel(&plot, (place as f64 + 1.0 + 0.8 * beside, time));
                    if marked.insert((at.0 / HIDDEN, at.1 / HIDDEN)) {
                        mark(&inside, at, shown.series, size)?;
                    }
                }
            }
        }
        Ok(())
    })
}

/// A line per run: the median of each group of jobs that are neighbours in the order of their times in the first run.
fn draw_medians(scene: &Scene<'_>, title: String, values: &[Vec<Option<f64>>]) -> Result<String, Error> {
    let order = by_first(values);
    let groups = if values.len() > FEW_RUNS { FEW_GROUPS } else { GROUPS };
    let group = order.len().div_ceil(groups).max(1);
    let lines: Vec<Vec<(f64, Option<f64>)>> = values.iter().map(|times| medians(&order, times, group)).collect();
    let (low, high) = lines
        .iter()
        .flatten()
        .filter_map(|point| point.1)
        .fold((f64::MAX, 0.0), |(low, high), value| (f64::min(low, value), f64::max(high, value)));
    let x = Axis::exact(format!("Jobs, in order of {} (%)", first_time(scene)), 0.0, 100.0, 6, 1.0);
    let series = scene.runs.iter().map(|shown| shown.series);
    let curves = lines.into_iter().zip(series).map(|(points, series)| Curve { points, series, marked: false });
    let panel = Panel::new(x, Axis::logarithmic(title, low, high), SINGLE, curves.collect());
    let mut sheet = scene.sheet_of_jobs();
    sheet.note += &format!("; medians of {} jobs each", count(group as u64));
    draw_panels(&sheet, CHART.name, scene.entries(Swatch::Line), &[panel])
}

/// What jobs are sorted by.
fn first_time(scene: &Scene<'_>) -> String {
    scene.runs.first().map_or_else(String::new, |first| format!("time under {}", first.label))
}

/// The median of each group of so many jobs, at its place in per cent.
fn medians(order: &[usize], times: &[Option<f64>], group: usize) -> Vec<(f64, Option<f64>)> {
    let median = |(number, jobs): (usize, &[usize])| {
        let found = Distribution::new(jobs.iter().filter_map(|job| times.get(*job).copied().flatten()));
        let place = (number * group) as f64 + jobs.len() as f64 / 2.0;
        (100.0 * place / order.len() as f64, found.median())
    };
    order.chunks(group).enumerate().map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_jobs_are_shown_by_the_medians_of_their_groups() {
        let times: Vec<Option<f64>> = (0..1000).map(|job| Some(f64::from(999 - job))).collect();
        let order = by_first(std::slice::from_ref(&times));
        let found = medians(&order, &times, 10);
        assert_eq!(
            (found.len(), found.first(), found.last()),
            (100, Some(&(0.5, Some(4.5))), Some(&(99.5, Some(994.5))))
        );
    }
}
