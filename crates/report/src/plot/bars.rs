//! Bars per job: runs side by side, the parts of a bar stacked.

use resched_analysis::statistics::distribution::mean;
use resched_tables::words::{TimeUnit, count};

use crate::Error;
use crate::plot::axis::{Axis, lie_far_apart};
use crate::plot::figure::{Drawn, Legend, Plot, Swatch, axes, bar, below, figure, inside, left_of, pixel, titled};
use crate::plot::look::Look;
use crate::plot::style::{DARK, Fill, use_font};
use crate::scene::{Scene, Shown};

/// Height of the plot in pixels.
const PLOT_HEIGHT: u32 = 230;
/// Height of the plot if each run has a panel.
const PANEL_HEIGHT: u32 = 120;
/// Least width of a bar that you can see apart from its neighbours. A bar of several parts needs twice as much.
const LEAST_BAR: u32 = 4;
/// Greatest width of a bar, for few jobs.
const WIDEST_BAR: i32 = 36;
/// Least space between two labels of the x axis.
const LABEL_GAP: u32 = 20;
/// Space beside the plot.
const BESIDE: u32 = 90;
/// Space between the bars of two jobs.
const GAP: i32 = 3;

/// What bars show.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    /// Times in ms, which an axis of this title shows in a unit that suits its longest bar.
    Time(&'static str),
    /// Numbers, with the title of their axis.
    Number(&'static str),
}

impl What {
    /// The axis of bars up to `high`, and how much of a value is one on the axis.
    fn axis(self, high: f64, ticks: u32) -> (Axis, f64) {
        match self {
            Self::Number(title) => (Axis::from_zero(title, high, ticks), 1.0),
            Self::Time(title) => {
                let unit = TimeUnit::for_axis(high);
                (Axis::from_zero(format!("{title} ({})", unit.name()), unit.amount(high), ticks), unit.amount(1.0))
            }
        }
    }
}

/// A part of each bar.
pub(crate) struct Part {
    /// Its name; empty if bars have only this part.
    pub(crate) label: &'static str,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// The value of each job, by run.
    pub(crate) values: Vec<Vec<Option<f64>>>,
}

/// How many jobs share a bar such that all bars can be seen apart, with the bars of so many runs side by side.
fn sharing(look: Look, jobs: usize, side_by_side: usize, least: u32) -> usize {
    let room = (look.width() - BESIDE) / (least * side_by_side as u32 + 1);
    jobs.div_ceil(room.max(1) as usize).max(1)
}

/// True if each of so many jobs has room for a bar of one part for each of so many runs, side by side.
pub(crate) fn fit(look: Look, jobs: usize, runs: usize) -> bool {
    sharing(look, jobs, runs, LEAST_BAR) == 1
}

/// Whether each run has a panel, and how many jobs share a bar, for bars of so many parts.
fn layout(look: Look, jobs: usize, runs: usize, parts: usize) -> (bool, usize) {
    let in_panels = runs > 2 && (parts > 1 || !fit(look, jobs, runs));
    let least = if parts > 1 { 2 * LEAST_BAR } else { LEAST_BAR };
    (in_panels, sharing(look, jobs, if in_panels { 1 } else { runs }, least))
}

/// True if several jobs share a bar of so many parts.
pub(crate) fn are_shared(look: Look, jobs: usize, runs: usize, parts: usize) -> bool {
    layout(look, jobs, runs, parts).1 > 1
}

/// Draws bars of `parts`, the first at the bottom. If there are more jobs than bars that you can see apart, neighbours
/// share a bar, which shows their mean. More than two runs have a panel each then, and if bars have several parts, which need
/// wide bars. `None` if there is nothing to show.
pub(crate) fn draw_bars(scene: &Scene<'_>, name: &str, what: What, parts: &[Part]) -> Result<Option<String>, Error> {
    let (runs, look) = (scene.runs.as_slice(), scene.look());
    let jobs = parts.iter().flat_map(|part| part.values.iter().map(Vec::len)).max().unwrap_or(0);
    let all: Vec<usize> = (0..runs.len()).collect();
    let (in_panels, together) = layout(look, jobs, runs.len(), parts.len());
    let panels: Vec<&[usize]> = if in_panels { all.chunks(1).collect() } else { vec![all.as_slice()] };
    let stacks: Vec<Stack> = (0..runs.len())
        .flat_map(|run| (0..jobs).step_by(together).map(move |at| (run, at)))
        .map(|(run, at)| stack(parts, run, at, together))
        .collect();
    let highest = |runs: &[usize]| {
        let of_panel = stacks.iter().filter(|stack| runs.contains(&stack.run));
        of_panel.map(|stack| stack.values.iter().sum()).fold(0.0, f64::max)
    };
    let highest: Vec<f64> = panels.iter().map(|runs| highest(runs)).collect();
    let most = highest.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return Ok(None);
    }
    let least_high = highest.iter().copied().filter(|high| *high > 0.0).fold(most, f64::min);
    let own_scales = lie_far_apart(least_high, most);
    let x_title = match together {
        1 => "Job, in order of submission".to_owned(),
        _ => format!("Job, by submission (bar: mean of {})", count(together as u64)),
    };
    use_font()?;
    // As many labels as have room beside each other.
    let labels = (look.width() - BESIDE) / (look.text_width(&jobs.to_string()) + LABEL_GAP);
    let x = Axis::exact(x_title, 0.5, (jobs.next_multiple_of(together)) as f64 + 0.5, labels.clamp(2, 10), 1.0);
    let (plot_height, ticks) = if panels.len() > 1 { (PANEL_HEIGHT, 3) } else { (PLOT_HEIGHT, 5) };
    let plot_height = look.scaled(plot_height);
    let axis = |high: &f64| what.axis(if own_scales && *high > 0.0 { *high } else { most }, ticks);
    let ys: Vec<(Axis, f64)> = highest.iter().map(axis).collect();
    let legend = Legend::new(look, entries(runs, parts, panels.len() > 1))?;
    let title_height = if panels.len() > 1 { look.line_height() } else { 0 };
    let panel_height = title_height + plot_height + below(look, false);
    let height = legend.height() + panel_height * panels.len() as u32 + below(look, true) - below(look, false);
    let left = left_of(look, ys.iter().map(|(y, _)| y));
    let mut sheet = scene.sheet_of_jobs();
    sheet.note += if own_scales { "; each plot has its own scale" } else { "" };
    figure(&sheet, name, height, |area| {
        let mut rest = legend.draw(&area)?;
        for (index, (panel, (y, one))) in panels.iter().zip(&ys).enumerate() {
            let last = index + 1 == panels.len();
            if let (true, Some(run)) = (panels.len() > 1, runs.get(index)) {
                rest = titled(look, &rest, run.label, left)?;
            }
            let (top, under) = rest.split_vertically(plot_height + below(look, last));
            let plot = axes(look, &top, (&x, y), left, last)?;
            draw_stacks(
                &plot,
                stacks.iter().filter(|stack| panel.contains(&stack.run)),
                (runs, panel),
                (together, *one),
                parts,
            )?;
            rest = under;
        }
        Ok(())
    })
    .map(Some)
}

/// Draws the bars of the runs of one panel, side by side, with so many jobs in each. `one` is how much of a value is one on the y axis.
fn draw_stacks<'a>(
    plot: &Plot<'_, '_>,
    stacks: impl Iterator<Item = &'a Stack>,
    (runs, panel): (&[Shown<'_>], &[usize]),
    (together, one): (usize, f64),
    parts: &[Part],
) -> Drawn {
    let inside = inside(plot);
    let at = |job: f64, value: f64| pixel(plot, (job, one * value));
    let side_by_side = panel.len().max(1) as i32;
    let width = (at(0.5 + together as f64, 0.0).0 - at(0.5, 0.0).0 - GAP) / side_by_side;
    let width = width.clamp(1, WIDEST_BAR);
    for stack in stacks {
        let Some(shown) = runs.get(stack.run) else { continue };
        let middle = stack.first_job as f64 + 0.5 + together as f64 / 2.0;
        let place = panel.iter().position(|run| *run == stack.run).unwrap_or(0) as i32;
        let left = at(middle, 0.0).0 - width * side_by_side / 2 + width * place;
        let mut bottom = 0.0;
        for (part, value) in parts.iter().zip(&stack.values).filter(|(_, value)| **value > 0.0) {
            let (from, to) = (at(middle, bottom).1, at(middle, bottom + value).1);
            if from != to {
                bar(&inside, (left, from), (left + width, to), shown.series.colour, part.fill)?;
            }
            bottom += value;
        }
    }
    Ok(())
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

/// The runs, unless panels name them, and the parts.
fn entries(runs: &[Shown<'_>], parts: &[Part], named: bool) -> Vec<(Swatch, String)> {
    let of_run = |shown: &Shown<'_>| (Swatch::Box(shown.series.colour, Fill::Solid), shown.label.to_owned());
    let of_part = |part: &Part| (Swatch::Box(DARK, part.fill), part.label.to_owned());
    let labelled = parts.iter().filter(|part| !part.label.is_empty());
    runs.iter().filter(|_| !named).map(of_run).chain(labelled.map(of_part)).collect()
}
