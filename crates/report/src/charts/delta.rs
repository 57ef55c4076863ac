//! The share of the cluster that is kept for small jobs, over time.

use resched_analysis::Run;

use super::chart::Chart;
use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::figure::{Legend, Swatch, axes, below, figure, inside, left_of, line, pixel};
use crate::plot::style::Series;
use crate::scene::{Scene, Shown};

/// The chart.
pub(crate) const CHART: Chart = Chart {
    name: "delta",
    title: "Share kept for small jobs",
    caption: "The share δ of all containers that DRESS keeps for jobs with small demands, over time. Where it is at its minimum, no small \
              job runs or waits. Drawn for runs with decisions.",
    interactive: true,
    folded: false,
    draw,
};

const PLOT_HEIGHT: u32 = 220;

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let (runs, look) = (&scene.runs, scene.look());
    let steps: Vec<Vec<(i64, f64)>> = runs.iter().map(|shown| steps(shown.run)).collect();
    if steps.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let Some(clock) = scene.clock() else { return Ok(None) };
    let x = &clock.axis;
    let highest = steps.iter().flatten().map(|step| step.1).fold(0.0, f64::max);
    let y = Axis::from_zero("δ", highest, 5);
    let drawn = || steps.iter().zip(runs).filter(|(steps, _)| !steps.is_empty());
    // A dashed line of spikes is hard to read, and a single one needs no dashes.
    let single = drawn().count() == 1;
    let series = |shown: &Shown<'_>| Series { form: if single { 0 } else { shown.series.form }, ..shown.series };
    let entry = |(_, shown): (_, &Shown<'_>)| (Swatch::Line(series(shown)), shown.label.to_owned());
    let legend = Legend::new(look, drawn().map(entry))?;
    let height = legend.height() + look.scaled(PLOT_HEIGHT) + below(look, true);
    figure(&clock.on(scene.sheet_of_jobs()), CHART.name, height, |area| {
        let area = legend.draw(&area)?;
        let plot = axes(look, &area, (x, &y), left_of(look, [&y]), true)?;
        let inside = inside(&plot);
        drawn().try_for_each(|(steps, shown)| {
            let at = |&(time, value): &(i64, f64)| pixel(&plot, (clock.unit.amount(time as f64), value));
            let shown_steps = steps.iter().take_while(|step| step.0 <= clock.longest);
            // The last value holds until the end.
            let last =
                shown_steps.clone().last().map(|step| (steps.last().map_or(0, |end| end.0.min(clock.longest)), step.1));
            let points: Vec<(i32, i32)> = shown_steps.chain(&last).map(at).collect();
            line(&inside, &corners(&points), series(shown))
        })
    })
    .map(Some)
}

/// The steps of δ: times in ms since the first submission, with the value from then on. The last step is at the end of the run.
pub(crate) fn steps(run: &Run) -> Vec<(i64, f64)> {
    let Some((first, last)) = run.jobs.span() else { return Vec::new() };
    let of_delta = run.decisions.iter().filter(|row| row.name == CHART.name && row.job_id.is_none());
    let mut steps: Vec<(i64, f64)> = of_delta.map(|row| (row.time.clamp(first, last) - first, row.value)).collect();
    steps.retain(|step| step.1.is_finite());
    // The file of a run may be in any order.
    steps.sort_by_key(|step| step.0);
    steps.extend(steps.last().map(|step| (last - first, step.1)));
    steps
}

/// The corners of a line of steps. Each column of pixels keeps only its ends and its extremes, so that the file of a long run stays
/// small.
fn corners(points: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let mut corners: Vec<(i32, i32)> = Vec::new();
    for column in points.chunk_by(|a, b| a.0 == b.0) {
        let heights = || column.iter().map(|point| point.1);
        let kept = [
            corners.last().map(|last| last.1),
            heights().next(),
            heights().min(),
            heights().max(),
            heights().next_back(),
        ];
        corners.extend(column.first().into_iter().flat_map(|&(x, _)| kept.into_iter().flatten().map(move |y| (x, y))));
        corners.dedup();
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_keeps_its_ends_and_extremes() {
        let points = [(0, 5), (3, 7), (3, 9), (3, 2), (3, 4), (8, 4)];
        let expected = [(0, 5), (3, 5), (3, 7), (3, 2), (3, 9), (3, 4), (8, 4)];
        assert_eq!(corners(&points), expected);
    }
}
