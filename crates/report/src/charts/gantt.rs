//! What the nodes run over time.

use std::collections::BTreeMap;

use plotters::prelude::{Color, RGBColor, Rectangle};
use resched_analysis::Run;
use resched_analysis::metrics::cells::Load;
use resched_analysis::metrics::named::SizeBy;
use resched_analysis::runs::nodes::in_order;
use resched_analysis::runs::spans::Interval;
use resched_tables::run::RunCluster;

use super::chart::Chart;
use super::own_colours::{entries, largest_jobs};
use crate::Error;
use crate::plot::axis::Axis;
use crate::plot::clock::Clock;
use crate::plot::figure::{
    Area, Drawn, Legend, Plot, Sheet, Swatch, axes, below, drawn, figure, inside, left_of, pixel, titled,
};
use crate::plot::style::{Fill, GREY, GRID, area_colour, tint};
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "gantt",
    title: "Nodes over time",
    caption: "A Gantt chart. If there are few tasks, each is a bar on a line of its node, in the colour of its job. If there are many, \
              the colour shows how much of the nodes is in use: the mean over a short time and over neighbouring nodes, as a share of \
              their slots or, for Slurm and batch systems, of their CPUs; if these are not known, of the busiest node. A job on several \
              nodes, up to 1,000, stands on each of them.",
    interactive: false,
    folded: false,
    draw,
};

/// With more attempts than this, bars would be narrower than a pixel.
const MOST_BARS: usize = 1_200;
/// The most lines of bars.
const MOST_LINES: usize = 120;
/// The height of a line of bars, pixels.
const LINE: u32 = 3;
/// The least height of a plot, and that of aggregated nodes, for text of the default size.
const LEAST_HEIGHT: u32 = 90;
const AGGREGATED: u32 = 120;
/// The cells of time, and the bands of neighbouring nodes, if they are aggregated: each is at least three pixels wide and high.
const CELLS: usize = 130;
const BANDS: usize = 40;
/// The steps of the colour from idle to full.
const STEPS: u32 = 8;
/// The colour of nodes that are full.
const FULL: RGBColor = RGBColor(8, 48, 107);

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let Some(clock) = scene.clock() else { return Ok(None) };
    let runs = || scene.runs.iter().map(|shown| shown.run);
    let nodes = || runs().map(|run| run.nodes.len());
    if nodes().all(|nodes| nodes == 0) {
        return Ok(None);
    }
    let sheet = scene.sheet_of("nodes that ran tasks", nodes());
    let few = runs().all(|run| run.counted_on_nodes().count() <= MOST_BARS);
    let lines: Vec<Lines<'_>> = if few { runs().map(lines).collect() } else { Vec::new() };
    if few && lines.iter().all(|lines| lines.count <= MOST_LINES) {
        return draw_bars(scene, &clock.on(sheet), clock, &lines).map(Some);
    }
    draw_shares(scene, &clock.on(sheet), clock).map(Some)
}

/// The tasks of a run, each in a line.
struct Lines<'a> {
    /// The number of lines.
    count: usize,
    /// Where the lines of each node begin, but for the first.
    borders: Vec<usize>,
    /// Line and task.
    bars: Vec<(usize, &'a Interval)>,
}

/// Gives each task the first line of its node that is free.
fn lines(run: &Run) -> Lines<'_> {
    let mut by_node: BTreeMap<usize, Vec<&Interval>> = BTreeMap::new();
    for (task, node, _) in run.counted_on_nodes() {
        by_node.entry(node).or_default().push(task);
    }
    let mut found = Lines { count: 0, borders: Vec::new(), bars: Vec::new() };
    for node in in_order(&run.nodes) {
        let Some(mut tasks) = by_node.remove(&node) else { continue };
        if found.count > 0 {
            found.borders.push(found.count);
        }
        tasks.sort_by_key(|task| (task.start, task.finish, task.job));
        let mut free_from: Vec<i64> = Vec::new();
        for task in tasks {
            let line = free_from.iter().position(|free| *free <= task.start).unwrap_or(free_from.len());
            match free_from.get_mut(line) {
                Some(free) => *free = task.finish,
                None => free_from.push(task.finish),
            }
            found.bars.push((found.count + line, task));
        }
        found.count += free_from.len();
    }
    found
}

/// A bar for each task.
fn draw_bars(scene: &Scene<'_>, sheet: &Sheet, clock: &Clock, lines: &[Lines<'_>]) -> Result<String, Error> {
    let largest = largest_jobs(scene);
    let colours: BTreeMap<&str, RGBColor> =
        largest.iter().enumerate().map(|(number, job)| (job.1, area_colour(number))).collect();
    // Each run has as much room as its lines need.
    let plot = |lines: &Lines<'_>| {
        let mut y = Axis::exact(scene.system().says("Nodes"), 0.0, lines.count as f64, 1, 0.0);
        y.ticks.clear();
        (y, (LINE * lines.count as u32).max(LEAST_HEIGHT))
    };
    let plots: Vec<(Axis, u32)> = lines.iter().map(plot).collect();
    let legend = entries(scene.count(), &largest);
    draw_plots(scene, sheet, legend, (&clock.axis, &plots), |number, plot| {
        let (Some(shown), Some(lines)) = (scene.runs.get(number), lines.get(number)) else { return Ok(()) };
        let inside = inside(plot);
        let first = shown.run.jobs.span().map_or(0, |(first, _)| first);
        let at = |time: i64, line: usize| pixel(plot, (clock.unit.amount((time - first) as f64), line as f64));
        let end = first.saturating_add(clock.longest);
        for &(line, task) in lines.bars.iter().filter(|(_, task)| task.start < end) {
            let (from, to) = (at(task.start, line), at(task.finish, line + 1));
            let job = shown.run.jobs.get(task.job).map_or("", |job| job.job_id.as_str());
            // A brief task is a pixel wide, and a line stays free between bars.
            let corners = [(from.0, to.1 + 1), (to.0.max(from.0 + 1), from.1)];
            fill(&inside, corners, colours.get(job).copied().unwrap_or(GREY))?;
        }
        // Where most nodes have one line, borders would only be in the way.
        let borders = lines.borders.iter().filter(|_| 2 * lines.borders.len() < lines.count);
        borders.copied().try_for_each(|line| {
            let (left, right) = (at(first, line), at(end, line));
            fill(&inside, [left, (right.0, right.1 + 1)], GRID)
        })
    })
}

fn fill(area: &Area<'_>, corners: [(i32, i32); 2], colour: RGBColor) -> Drawn {
    drawn(area.draw(&Rectangle::new(corners, colour.filled())))
}

/// The mean load of bands of neighbouring nodes.
fn draw_shares(scene: &Scene<'_>, sheet: &Sheet, clock: &Clock) -> Result<String, Error> {
    let by = scene.size_by();
    let bands: Vec<Bands> =
        scene.runs.iter().map(|shown| Bands::of(shown.run, by, scene.cluster(shown.run), clock)).collect();
    let most = scene.runs.iter().map(|shown| shown.run.nodes.len()).max().unwrap_or(0);
    let y = Axis::exact(scene.system().says("Nodes"), 0.0, most as f64, 3, 1.0);
    let plots = vec![(y, AGGREGATED); bands.len()];
    let known = bands.iter().all(|bands| bands.slots.is_some());
    let what = match (by, known) {
        (SizeBy::Cpus, true) => "CPUs held, as a share of those of a node",
        (SizeBy::Cpus, false) => "CPUs held, as a share of the busiest nodes",
        (SizeBy::Tasks, true) => "slots in use, as a share of those of a node",
        (SizeBy::Tasks, false) => "running tasks, as a share of the busiest nodes",
    };
    let sheet = Sheet { note: format!("{}; {what}", sheet.note), ..sheet.clone() };
    let highest = bands.iter().flat_map(|bands| bands.loads.iter().flatten()).copied().fold(0.0, f64::max);
    let step = STEPS as usize / 4;
    // White needs an outline.
    let swatch =
        |level| if level == 0 { Swatch::Box(GREY, Fill::Pale) } else { Swatch::Box(colour(level), Fill::Solid) };
    let entry = |level: u32| (swatch(level), format!("{} %", level * 100 / STEPS));
    let legend: Vec<(Swatch, String)> = (0..=STEPS).step_by(step).map(entry).collect();
    draw_plots(scene, &sheet, legend, (&clock.axis, &plots), |number, plot| {
        let (Some(shown), Some(bands)) = (scene.runs.get(number), bands.get(number)) else { return Ok(()) };
        let edges = clock.cells(shown.run, CELLS).edges();
        let first = edges.first().copied().unwrap_or(0);
        let inside = inside(plot);
        let at = |time: i64, node: usize| pixel(plot, (clock.unit.amount((time - first) as f64), node as f64));
        let full = bands.slots.unwrap_or(highest);
        let levels: Vec<Vec<u32>> =
            bands.loads.iter().map(|loads| loads.iter().map(|load| level(load / full)).collect()).collect();
        for Block { bands: [low, high], cells: [from, to], level } in blocks(&levels) {
            let nodes = bands.borders.get(low).zip(bands.borders.get(high));
            if let (Some((&low, &high)), Some((&from, &to))) = (nodes, edges.get(from).zip(edges.get(to))) {
                fill(&inside, [at(from, high), at(to, low)], colour(level))?;
            }
        }
        Ok(())
    })
}

/// Bands and cells of one colour, each as its first and the one after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    bands: [usize; 2],
    cells: [usize; 2],
    level: u32,
}

/// Blocks that cover all levels (by band, then cell) above 0: along time or across the nodes, whichever takes fewer.
fn blocks(levels: &[Vec<u32>]) -> Vec<Block> {
    let along =
        stretches(levels).into_iter().map(|(band, cells, level)| Block { bands: [band, band + 1], cells, level });
    let across: Vec<Vec<u32>> = (0..levels.first().map_or(0, Vec::len))
        .map(|cell| levels.iter().filter_map(|band| band.get(cell).copied()).collect())
        .collect();
    let across =
        stretches(&across).into_iter().map(|(cell, bands, level)| Block { bands, cells: [cell, cell + 1], level });
    let (along, across): (Vec<Block>, Vec<Block>) = (along.collect(), across.collect());
    if across.len() < along.len() { across } else { along }
}

/// The stretches of one level above 0 in each line: the line, where the stretch begins and ends, and its level.
fn stretches(lines: &[Vec<u32>]) -> Vec<(usize, [usize; 2], u32)> {
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let mut from = 0;
        for alike in line.chunk_by(|a, b| a == b) {
            let to = from + alike.len();
            found.extend(alike.first().filter(|level| **level > 0).map(|&level| (number, [from, to], level)));
            from = to;
        }
    }
    found
}

/// The step of a share, from 0 to 1. Only what is idle has the first.
fn level(share: f64) -> u32 {
    if share > 0.0 { ((share * f64::from(STEPS)).round() as u32).clamp(1, STEPS) } else { 0 }
}

fn colour(level: u32) -> RGBColor {
    tint(FULL, f64::from(level) / f64::from(STEPS))
}

/// The load of neighbouring nodes together.
struct Bands {
    /// Where each band begins, as a number of nodes, and where the last one ends.
    borders: Vec<usize>,
    /// The running tasks of a node, or the CPUs that they hold, the mean over each band and cell of time.
    loads: Vec<Vec<f64>>,
    /// The slots, or the CPUs, of a node.
    slots: Option<f64>,
}

impl Bands {
    fn of(run: &Run, by: SizeBy, cluster: RunCluster, clock: &Clock) -> Self {
        let nodes = run.nodes.len();
        let count = nodes.min(BANDS);
        let borders: Vec<usize> = (0..=count).map(|band| band * nodes / count.max(1)).collect();
        let mut band_of = vec![0; nodes];
        for (place, node) in in_order(&run.nodes).into_iter().enumerate() {
            if let Some(band) = band_of.get_mut(node) {
                *band = borders.partition_point(|border| *border <= place) - 1;
            }
        }
        let mut loads = vec![Load::new(clock.cells(run, CELLS)); count];
        let cpus: Vec<f64> = match by {
            SizeBy::Tasks => Vec::new(),
            SizeBy::Cpus => run.jobs.iter().map(|job| job.cpus_of_attempt().unwrap_or(0.0)).collect(),
        };
        for (task, node, share) in run.counted_on_nodes() {
            let weight = match by {
                SizeBy::Tasks => 1.0,
                SizeBy::Cpus => share * cpus.get(task.job).copied().unwrap_or(0.0),
            };
            if let Some(load) = band_of.get(node).and_then(|band| loads.get_mut(*band)) {
                load.add(task.start, task.finish, weight);
            }
        }
        let widths = borders.windows(2).map(|nodes| if let &[from, to] = nodes { to - from } else { 1 });
        let means = |(load, width): (&Load, usize)| load.means().into_iter().map(|sum| sum / width as f64).collect();
        let all = match by {
            SizeBy::Tasks => cluster.map_slots + cluster.reduce_slots,
            SizeBy::Cpus => cluster.vcores.unwrap_or(0),
        };
        let slots = (all > 0 && cluster.nodes > 0).then(|| all as f64 / cluster.nodes as f64);
        Self { loads: loads.iter().zip(widths).map(means).collect(), borders, slots }
    }
}

/// A plot for each run, each below its label, with its y axis and its height for text of the default size. `draw` gets the number of the
/// run.
fn draw_plots(
    scene: &Scene<'_>,
    sheet: &Sheet,
    legend: Vec<(Swatch, String)>,
    (x, plots): (&Axis, &[(Axis, u32)]),
    draw: impl Fn(usize, &Plot<'_, '_>) -> Drawn,
) -> Result<String, Error> {
    let look = sheet.look;
    let legend = Legend::new(look, legend)?;
    let left = left_of(look, plots.iter().map(|plot| &plot.0));
    let of_run = |plot: &(Axis, u32)| look.line_height() + look.scaled(plot.1) + below(look, false);
    let all = legend.height() + plots.iter().map(of_run).sum::<u32>() + below(look, true) - below(look, false);
    figure(sheet, CHART.name, all, |area| {
        let mut rest = legend.draw(&area)?;
        for (number, (shown, (y, height))) in scene.runs.iter().zip(plots).enumerate() {
            let last = number + 1 == scene.runs.len();
            rest = titled(look, &rest, shown.label, left)?;
            let (top, under) = rest.split_vertically(look.scaled(*height) + below(look, last));
            draw(number, &axes(look, &top, (x, y), left, last)?)?;
            rest = under;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use resched_tables::model::{AttemptRow, JobRow, Outcome};
    use resched_tables::run::{RunCluster, RunInfo, RunTables};

    use super::*;

    /// Tasks of one job on nodes, with their times.
    fn run(tasks: &[(&str, i64, i64)]) -> Run {
        let last = tasks.iter().map(|task| task.2).max();
        let job = JobRow {
            job_id: "a".to_owned(),
            submit: Some(0),
            finish: last,
            outcome: Outcome::Success,
            ..JobRow::default()
        };
        let attempt = |(number, task): (usize, &(&str, i64, i64))| AttemptRow {
            job_id: "a".to_owned(),
            task_id: number.to_string(),
            start: Some(task.1),
            finish: Some(task.2),
            host: Some(task.0.to_owned()),
            outcome: Outcome::Success,
            ..AttemptRow::default()
        };
        let attempts = tasks.iter().enumerate().map(attempt).collect();
        let cluster = RunCluster { nodes: 2, map_slots: 3, reduce_slots: 1, ..RunCluster::default() };
        let info = RunInfo { cluster, ..RunInfo::default() };
        Run::of_rows(info, RunTables { jobs: vec![job], attempts, ..RunTables::default() })
    }

    #[test]
    fn tasks_at_one_time_have_lines_of_their_own() {
        let run = run(&[("n10", 0, 50), ("n2", 0, 30), ("n2", 10, 20), ("n2", 20, 40), ("n2", 30, 50)]);
        let found = lines(&run);
        let placed: Vec<(usize, i64)> = found.bars.iter().map(|bar| (bar.0, bar.1.start)).collect();
        assert_eq!(placed, [(0, 0), (1, 10), (1, 20), (0, 30), (2, 0)], "n2 comes before n10");
        assert_eq!((found.count, found.borders), (3, vec![2]));
    }

    #[test]
    fn bands_have_the_mean_load_of_their_nodes() {
        let of_node = |node: usize| (format!("n{node}"), 0, if node < 40 { 130 } else { 65 });
        let tasks: Vec<(String, i64, i64)> = (0..80).map(of_node).collect();
        let tasks: Vec<(&str, i64, i64)> = tasks.iter().map(|task| (task.0.as_str(), task.1, task.2)).collect();
        let run = run(&tasks);
        let cluster = run.replay().map(|info| info.cluster).unwrap_or_default();
        let bands = Bands::of(&run, SizeBy::Tasks, cluster, &Clock::new(130));
        assert_eq!((bands.loads.len(), bands.borders.get(1), bands.slots), (40, Some(&2), Some(2.0)));
        let at = |band: usize, cell: usize| bands.loads.get(band).and_then(|loads| loads.get(cell)).copied();
        assert_eq!([at(0, 129), at(39, 64), at(39, 65)], [Some(1.0), Some(1.0), Some(0.0)]);
    }

    #[test]
    fn a_gang_holds_its_cpus_on_each_of_its_nodes() {
        let job = JobRow {
            job_id: "a".to_owned(),
            submit: Some(0),
            finish: Some(130),
            outcome: Outcome::Success,
            demand_cpu: Some(40_000),
            demand_machines: Some(3),
            ..JobRow::default()
        };
        let attempt = AttemptRow {
            job_id: "a".to_owned(),
            task_id: "a".to_owned(),
            start: Some(0),
            finish: Some(130),
            hosts: Some("n[1-2]*16;n3*8".to_owned()),
            outcome: Outcome::Success,
            cpu_request: Some(40_000),
            ..AttemptRow::default()
        };
        let cluster = RunCluster { nodes: 3, vcores: Some(48), ..RunCluster::default() };
        let info = RunInfo { cluster, system: resched_tables::store::System::Slurm, ..RunInfo::default() };
        let run = Run::of_rows(info, RunTables { jobs: vec![job], attempts: vec![attempt], ..RunTables::default() });
        let bands = Bands::of(&run, SizeBy::of_run(&run), cluster, &Clock::new(130));
        let first: Vec<f64> = bands.loads.iter().filter_map(|loads| loads.first().copied()).collect();
        assert_eq!((first, bands.slots), (vec![16.0, 16.0, 8.0], Some(16.0)));
        assert_eq!(lines(&run).count, 3, "a bar on each node");
    }

    #[test]
    fn neighbours_of_one_colour_are_one_block() {
        let block = |bands, cells, level| Block { bands, cells, level };
        let along = [vec![1, 1, 1, 0], vec![2, 2, 2, 2]];
        assert_eq!(blocks(&along), [block([0, 1], [0, 3], 1), block([1, 2], [0, 4], 2)]);
        let across = [vec![1, 2, 1, 0], vec![1, 2, 1, 0], vec![1, 2, 1, 0]];
        let expected = [(0, 1), (1, 2), (2, 1)].map(|(cell, level)| block([0, 3], [cell, cell + 1], level));
        assert_eq!(blocks(&across), expected);
        assert!(blocks(&[]).is_empty());
    }

    #[test]
    fn the_least_load_is_seen() {
        assert_eq!([0.0, 0.01, 0.5, 1.0, 3.0].map(level), [0, 1, 4, 8, 8]);
    }
}
