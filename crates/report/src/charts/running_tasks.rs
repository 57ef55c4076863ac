//! Running maps and reduces over time, stacked by job (Coupling, Figs. 1, 2, 5, 6). Where jobs ask for CPUs: the CPUs that they hold.

use plotters::prelude::{Color, PathElement, Polygon, RGBColor, WHITE};
use resched_analysis::Run;
use resched_analysis::metrics::named::SizeBy;
use resched_analysis::runs::spans::Interval;
use resched_analysis::time::timeline::{Steps, cpus_held, running_tasks};
use resched_tables::model::TaskKind;
use resched_tables::words::count;

use super::chart::Chart;
use super::own_colours::{entries, largest_jobs, rows_of};
use crate::Error;
use crate::cells::{self, edges};
use crate::plot::axis::Axis;
use crate::plot::figure::{Area, Drawn, Legend, axes, below, drawn, figure, inside, left_of, pixel, titled};
use crate::plot::style::{DARK, GREY, area_colour};
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "running_tasks",
    title: "Running maps and reduces",
    caption: "How many tasks of each job run at a time (Coupling, Figs. 1, 2, 5 and 6); for Slurm and batch systems, how many CPUs each \
              job holds, up to those of all nodes. The jobs that use the most slot time, or CPU time, have their own colours.",
    interactive: true,
    folded: false,
    draw,
};

/// Height of a plot in pixels, without labels.
const PLOT_HEIGHT: u32 = 112;
/// The most cells of time of a curve: two per pixel. A curve with fewer steps is drawn as it is.
const CELLS: usize = 800;
/// If no plot has more cells than this, lines separate the layers. With more cells, lines would hide them.
const LINED_CELLS: usize = 400;

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let (runs, look) = (&scene.runs, scene.look());
    let Some(clock) = scene.clock() else { return Ok(None) };
    let x = &clock.axis;
    let largest = largest_jobs(scene);
    let mut panels = Vec::new();
    for (what, title) in Running::of(scene) {
        let shown = runs.iter().zip(&scene.rows);
        let layers: Vec<Layers> =
            shown.map(|(shown, rows)| Layers::new(shown.run, what, &rows_of(&largest, rows), clock.longest)).collect();
        let highest = layers.iter().map(Layers::highest).fold(0.0, f64::max);
        // What no replay has, such as set-up tasks of an unknown kind, would be an empty plot for each of them.
        let replayed = runs.iter().zip(&layers).filter(|(shown, _)| shown.run.replay().is_some());
        let compared =
            replayed.clone().next().is_none() || replayed.into_iter().any(|(_, layers)| layers.highest() > 0.0);
        if highest > 0.0 && compared {
            let all = runs.iter().filter_map(|shown| scene.cluster(shown.run).vcores).max();
            panels.push(match (what, all) {
                // The axis ends at all CPUs, so that you see which share is in use.
                (Running::Cpus, Some(all)) if all > 0 => {
                    let title = format!("CPUs of {}", count(all));
                    (layers, Axis::from_zero(title, highest.max(all as f64), 3))
                }
                _ => (layers, Axis::from_zero(title, highest, 3)),
            });
        }
    }
    if panels.is_empty() {
        return Ok(None);
    }
    let lined = panels.iter().flat_map(|(layers, _)| layers).all(|layers| layers.edges.len() <= LINED_CELLS);
    let legend = Legend::new(look, entries(scene.count(), &largest))?;
    let left = left_of(look, panels.iter().map(|(_, y)| y));
    let plot_height = look.scaled(PLOT_HEIGHT);
    let per_run = look.line_height() + panels.len() as u32 * (plot_height + below(look, false));
    let height = legend.height() + per_run * runs.len() as u32 + below(look, true) - below(look, false);
    figure(&clock.on(scene.sheet_of_jobs()), CHART.name, height, |area| {
        let mut rest = legend.draw(&area)?;
        for (index, shown) in runs.iter().enumerate() {
            rest = titled(look, &rest, shown.label, left)?;
            for (panel, (layers, y)) in panels.iter().enumerate() {
                let last = index + 1 == runs.len() && panel + 1 == panels.len();
                let (top, below) = rest.split_vertically(plot_height + below(look, last));
                let plot = axes(look, &top, (x, y), left, last)?;
                let at = |ms: i64, tasks: f64| pixel(&plot, (clock.unit.amount(ms as f64), tasks));
                if let Some(layers) = layers.get(index) {
                    layers.draw(&inside(&plot), at, lined)?;
                }
                rest = below;
            }
        }
        Ok(())
    })
    .map(Some)
}

/// What is counted over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Running {
    /// Tasks of a kind.
    Tasks(TaskKind),
    /// The CPUs that jobs hold.
    Cpus,
}

impl Running {
    /// What the runs of a scene are counted by, with the titles of axes.
    fn of(scene: &Scene<'_>) -> Vec<(Self, &'static str)> {
        match scene.size_by() {
            SizeBy::Tasks => vec![
                (Self::Tasks(TaskKind::Map), "Maps"),
                (Self::Tasks(TaskKind::Reduce), "Reduces"),
                (Self::Tasks(TaskKind::Other), "Tasks"),
            ],
            SizeBy::Cpus => vec![(Self::Cpus, "CPUs held")],
        }
    }

    fn counts(self, kind: TaskKind) -> bool {
        match self {
            Self::Tasks(known) => known == kind,
            Self::Cpus => true,
        }
    }

    /// How much there is of these attempts of a run over time.
    pub(crate) fn steps<'r>(self, run: &Run, attempts: impl IntoIterator<Item = &'r Interval>) -> Steps {
        match self {
            Self::Tasks(kind) => running_tasks(attempts, kind),
            Self::Cpus => cpus_held(&run.jobs, attempts),
        }
    }
}

/// The stacked curves of one run and kind of task.
pub(crate) struct Layers {
    /// Edges of the cells of time, ms since the first submission.
    edges: Vec<i64>,
    /// From the bottom: colour, and in each cell the tasks of this layer and all below.
    tops: Vec<(RGBColor, Vec<f64>)>,
}

impl Layers {
    /// The layers of what runs, each job in the rows `layered` in one by itself, as far as the run lasts and at most for `longest` ms.
    pub(crate) fn new(run: &Run, what: Running, layered: &[usize], longest: i64) -> Self {
        let layer_of = |job: usize| layered.iter().position(|row| *row == job).unwrap_or(layered.len());
        let (first, last) = run.jobs.span().unwrap_or((0, 0));
        let mut by_layer: Vec<Vec<Interval>> = vec![Vec::new(); layered.len() + 1];
        for attempt in run.counted_intervals().filter(|attempt| what.counts(attempt.kind)) {
            if let Some(layer) = by_layer.get_mut(layer_of(attempt.job)) {
                layer.push(Interval { start: attempt.start - first, finish: attempt.finish - first, ..*attempt });
            }
        }
        let steps: Vec<_> = by_layer.iter().map(|attempts| what.steps(run, attempts)).collect();
        let end = (last - first).min(longest);
        let edges = edges(steps.iter().flat_map(|steps| steps.points.iter().map(|point| point.0)), end, CELLS);
        let mut tops: Vec<(RGBColor, Vec<f64>)> = Vec::new();
        for (layer, steps) in steps.iter().enumerate() {
            let mut top = steps.cell_means(&edges);
            if let Some((_, below)) = tops.last() {
                top.iter_mut().zip(below).for_each(|(top, below)| *top += below);
            }
            tops.push((if layer < layered.len() { area_colour(layer) } else { GREY }, top));
        }
        Self { edges, tops }
    }

    /// The tasks of each layer by itself.
    pub(crate) fn of_jobs(self) -> cells::Layers {
        let mut below = vec![0.0; self.edges.len().saturating_sub(1)];
        let between = |top: &Vec<f64>| {
            let between = top.iter().zip(&below).map(|(top, below)| top - below).collect();
            below.clone_from(top);
            between
        };
        let jobs = self.tops.iter().map(|(_, top)| top).map(between).collect();
        cells::Layers { edges: self.edges, jobs }
    }

    fn highest(&self) -> f64 {
        self.tops.last().map_or(0.0, |(_, top)| top.iter().copied().fold(0.0, f64::max))
    }

    /// Draws the layers from the top down, each from zero, so that no gap shows between them. If `lined`, white lines
    /// separate the layers and a dark one goes around all.
    fn draw(&self, area: &Area<'_>, at: impl Fn(i64, f64) -> (i32, i32), lined: bool) -> Drawn {
        let Some((_, total)) = self.tops.last() else { return Ok(()) };
        for (colour, top) in self.tops.iter().rev() {
            for mut outline in self.outlines(top, &at, |_, tasks| tasks > 0.0) {
                let (Some(&first), Some(&last)) = (outline.first(), outline.last()) else { continue };
                let ground = at(0, 0.0).1;
                outline.extend([(last.0, ground), (first.0, ground)]);
                drawn(area.draw(&Polygon::new(outline, colour.filled())))?;
            }
        }
        if !lined {
            return Ok(());
        }
        for (_, top) in &self.tops {
            let covered = |cell: usize, tasks: f64| tasks > 0.0 && total.get(cell).is_some_and(|total| tasks < *total);
            for outline in self.outlines(top, &at, covered) {
                drawn(area.draw(&PathElement::new(outline, WHITE.mix(0.8))))?;
            }
        }
        for outline in self.outlines(total, &at, |_, _| true) {
            drawn(area.draw(&PathElement::new(outline, DARK)))?;
        }
        Ok(())
    }

    /// The top edge of a layer over the stretches of cells to keep. A step has two corners. On a flat stretch, the last
    /// corner moves on.
    fn outlines(
        &self,
        top: &[f64],
        at: impl Fn(i64, f64) -> (i32, i32),
        keep: impl Fn(usize, f64) -> bool,
    ) -> Vec<Vec<(i32, i32)>> {
        let mut outlines: Vec<Vec<(i32, i32)>> = vec![Vec::new()];
        for (cell, (edges, &tasks)) in self.edges.windows(2).zip(top).enumerate() {
            let (&[from, to], Some(outline)) = (edges, outlines.last_mut()) else { continue };
            let (left, right) = (at(from, tasks), at(to, tasks));
            match outline.last_mut() {
                _ if !keep(cell, tasks) => outlines.push(Vec::new()),
                Some(corner) if corner.1 == left.1 => *corner = right,
                _ => outline.extend([left, right]),
            }
        }
        outlines.retain(|outline| !outline.is_empty());
        outlines
    }
}
