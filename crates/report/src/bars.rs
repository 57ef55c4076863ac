//! Bars per job, runs side by side, parts of a bar stacked.

use resched_analysis::Run;
use resched_analysis::distribution::mean;

use crate::Error;
use crate::axis::Axis;
use crate::figure::{Legend, Swatch, axes, bar, below, figure, inside, left_of, pixel};
use crate::style::{DARK, Fill, WIDTH, colour};

/// Height of the plot in pixels.
const PLOT_HEIGHT: u32 = 230;
/// Least width of a bar, so that it can be told from its neighbours.
const LEAST_BAR: u32 = 4;
/// Greatest width of a bar, for few jobs.
const WIDEST_BAR: i32 = 36;
/// Space between the bars of two jobs.
const GAP: i32 = 3;

/// A part of each bar.
pub(crate) struct Part {
    /// What it is; empty if a bar has this part only.
    pub(crate) label: &'static str,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// By run, the value of each job.
    pub(crate) values: Vec<Vec<Option<f64>>>,
}

/// Draws bars of `parts`, the first at the bottom. If there are more jobs than bars that can be told apart, neighbours
/// share a bar, which shows their mean. `None` if there is nothing to show.
pub(crate) fn draw_bars(name: &str, runs: &[Run], y_title: String, parts: &[Part]) -> Result<Option<String>, Error> {
    let jobs = parts.iter().flat_map(|part| part.values.iter().map(Vec::len)).max().unwrap_or(0);
    let room = (WIDTH - 90) / (LEAST_BAR * runs.len() as u32 + LEAST_BAR);
    let together = jobs.div_ceil(room.max(1) as usize);
    let stacks: Vec<Stack> = (0..runs.len())
        .flat_map(|run| (0..jobs).step_by(together.max(1)).map(move |at| (run, at)))
        .map(|(run, at)| stack(parts, run, at, together))
        .collect();
    let highest = stacks.iter().map(|stack| stack.values.iter().sum()).fold(0.0, f64::max);
    if highest <= 0.0 {
        return Ok(None);
    }
    let x_title = match together {
        1 => "Job, in order of submission".to_owned(),
        _ => format!("Job, by submission (bar: mean of {together})"),
    };
    let x = Axis::exact(x_title, 0.5, jobs as f64 + 0.5, 10, 1.0);
    let y = Axis::from_zero(y_title, highest, 5);
    let legend = Legend::new(entries(runs, parts))?;
    let height = legend.height() + PLOT_HEIGHT + below(true);
    figure(name, height, |area| {
        let area = legend.draw(&area)?;
        let plot = axes(&area, &x, &y, left_of([&y]), true)?;
        let inside = inside(&plot);
        let at = |job: f64, value: f64| pixel(&plot, (job, value));
        let width = (at(0.5 + together as f64, 0.0).0 - at(0.5, 0.0).0 - GAP) / runs.len().max(1) as i32;
        let width = width.clamp(1, WIDEST_BAR);
        for stack in &stacks {
            let middle = stack.first_job as f64 + 0.5 + together as f64 / 2.0;
            let left = at(middle, 0.0).0 - width * runs.len() as i32 / 2 + width * stack.run as i32;
            let mut bottom = 0.0;
            for (part, value) in parts.iter().zip(&stack.values).filter(|(_, value)| **value > 0.0) {
                let (from, to) = (at(middle, bottom).1, at(middle, bottom + value).1);
                bar(&inside, (left, from), (left + width, to), colour(stack.run), part.fill)?;
                bottom += value;
            }
        }
        Ok(())
    })
    .map(Some)
}

/// A bar: the values of its parts for one job or the mean of several.
struct Stack {
    run: usize,
    first_job: usize,
    values: Vec<f64>,
}

/// The bar of a run that starts at `first_job`; means are over the jobs that have a value.
fn stack(parts: &[Part], run: usize, first_job: usize, together: usize) -> Stack {
    let value = |part: &Part| {
        let jobs = part.values.get(run).into_iter().flat_map(|values| values.iter().skip(first_job).take(together));
        mean(&jobs.copied().flatten().collect::<Vec<_>>()).unwrap_or(0.0)
    };
    Stack { run, first_job, values: parts.iter().map(value).collect() }
}

fn entries(runs: &[Run], parts: &[Part]) -> Vec<(Swatch, String)> {
    let of_run = |(run, data): (usize, &Run)| (Swatch::Box(colour(run), Fill::Solid), data.label.clone());
    let of_part = |part: &Part| (Swatch::Box(DARK, part.fill), part.label.to_owned());
    let told = parts.iter().filter(|part| !part.label.is_empty());
    runs.iter().enumerate().map(of_run).chain(told.map(of_part)).collect()
}
