//! What the jobs are: when they arrive, how large they are, and how long their tasks run.

use resched_analysis::Run;
use resched_analysis::metrics::cells::Cells;
use resched_analysis::metrics::named::{SizeBy, Sizes};
use resched_analysis::statistics::distribution::Distribution;
use resched_analysis::time::over_time::arrivals;
use resched_tables::model::TaskKind;
use resched_tables::words::{TimeUnit, count};

use super::chart::Chart;
use crate::Error;
use crate::plot::axis::{Axis, unit_for_decades};
use crate::plot::figure::Swatch;
use crate::plot::panels::{Curve, Panel, SEVERAL, draw_panels};
use crate::plot::style::{DARK, Series, area_colour};
use crate::scene::{Scene, Shown};

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "overview",
    title: "The jobs and their tasks",
    caption: "The arrivals of jobs, the share of the jobs with at least this many tasks (CPUs, for Slurm and batch systems), and the share of the successful attempts that \
              ran at least this long. Both axes of the last two are logarithmic, so that a power law is a straight line. They show the \
              observed run if it is among the runs, or else the first run.",
    interactive: false,
    folded: true,
    draw,
};

/// The cells of time in which arrivals are counted.
const CELLS: usize = 100;
/// Two points of a tail differ by at least one in so many.
const LEAST_STEP: usize = 100;
/// The line of all jobs.
const ALL: Series = Series { colour: DARK, form: 0 };
/// The kinds of tasks, with their names.
const KINDS: [(TaskKind, &str); 3] =
    [(TaskKind::Map, "maps"), (TaskKind::Reduce, "reduces"), (TaskKind::Other, "tasks")];

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let observed = scene.runs.iter().find(|shown| shown.run.replay().is_none());
    let Some(shown) = observed.or(scene.runs.first()) else { return Ok(None) };
    let run = shown.run;
    let series = |kind| Series { colour: area_colour(2 * kind), form: kind };
    if run.finished_jobs().next().is_none() {
        return Ok(None);
    }
    let mut tails: Vec<(Series, &str, Distribution)> = Vec::new();
    for (number, (kind, name)) in KINDS.into_iter().enumerate() {
        let tasks = run.counted_intervals().filter(|task| task.kind == kind && task.succeeded);
        let times = Distribution::new(tasks.map(|task| (task.finish - task.start) as f64));
        if !times.values().is_empty() {
            tails.push((series(number), name, times));
        }
    }
    let by = Sizes::of(run).by();
    let sizes = Distribution::new(run.finished_jobs().map(|job| by.amount(by.size(job))).filter(|size| *size > 0.0));
    let mut panels: Vec<Panel> = of_arrivals(run).into_iter().collect();
    panels.extend(of_sizes(by, &sizes));
    panels.extend(of_times(&tails));
    let entries = tails.iter().map(|(series, name, _)| (Swatch::Line(*series), (*name).to_owned()));
    draw_panels(&scene.sheet(&note(shown, &tails), [run]), CHART.name, entries, &panels).map(Some)
}

fn note(shown: &Shown<'_>, tails: &[(Series, &str, Distribution)]) -> String {
    let jobs = shown.run.finished_jobs().count() as u64;
    let tasks = tails.iter().map(|(_, name, times)| format!(", {} {name}", count(times.values().len() as u64)));
    format!("{}: n = {} jobs{}", shown.label, count(jobs), tasks.collect::<String>())
}

/// How many jobs arrive in each cell of time until the last one has arrived.
fn of_arrivals(run: &Run) -> Option<Panel> {
    let submits = || run.finished_jobs().filter_map(|job| job.submit);
    let (first, last) = (submits().min()?, submits().max()?);
    let cells = Cells::new((first, last + 1), CELLS);
    let unit = TimeUnit::for_axis((last - first) as f64);
    let counts = arrivals(&run.jobs, cells);
    let y = Axis::from_zero("Jobs", counts.iter().copied().fold(0.0, f64::max), 3).whole();
    let x = Axis::exact(format!("Time ({})", unit.name()), 0.0, unit.amount((last - first) as f64), 7, 0.0);
    let edges = cells.edges();
    let at = |time: &i64| unit.amount((time - first) as f64);
    let step = |(edges, count): (&[i64], f64)| edges.iter().map(|edge| (at(edge), Some(count))).collect::<Vec<_>>();
    let points = edges.windows(2).zip(counts).flat_map(step).collect();
    let width = TimeUnit::for_axis(cells.width() as f64);
    let title = format!("Arrivals per {} {}", round(width.amount(cells.width() as f64)), width.name());
    Some(Panel { title, ..Panel::new(x, y, SEVERAL, vec![Curve { points, series: ALL, marked: false }]) })
}

/// A number with two significant digits at least.
fn round(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

fn of_sizes(by: SizeBy, sizes: &Distribution) -> Option<Panel> {
    // Jobs of one size have no tail.
    let (&least, &most) = sizes.values().first().zip(sizes.values().last()).filter(|(least, most)| least < most)?;
    let title = match by {
        SizeBy::Tasks => "Tasks of the job, at least",
        SizeBy::Cpus => "CPUs that the job asks for, at least",
    };
    let x = Axis::logarithmic(title, least, most);
    Some(tail_panel("Sizes of jobs", x, vec![Curve { points: tail(sizes, |size| size), series: ALL, marked: false }]))
}

fn of_times(tails: &[(Series, &str, Distribution)]) -> Option<Panel> {
    let values = || tails.iter().flat_map(|(_, _, times)| times.values()).copied();
    let (least, most) = (values().reduce(f64::min)?, values().fold(0.0, f64::max));
    let unit = unit_for_decades(least, most);
    let x = Axis::logarithmic(format!("Run time, at least ({})", unit.name()), unit.amount(least), unit.amount(most));
    let curve = |(series, _, times): &(Series, &str, Distribution)| Curve {
        points: tail(times, |ms| unit.amount(ms)),
        series: *series,
        marked: false,
    };
    Some(tail_panel("Run times of tasks", x, tails.iter().map(curve).collect()))
}

fn tail_panel(title: &str, x: Axis, curves: Vec<Curve>) -> Panel {
    let least = curves.iter().flat_map(|curve| &curve.points).filter_map(|point| point.1).fold(1.0, f64::min);
    Panel { title: title.to_owned(), ..Panel::new(x, Axis::logarithmic("Share", least, 1.0), SEVERAL, curves) }
}

/// The share of the values that are at least as large, at each value. Points differ by at least a hundredth of their share, so that the tail is
/// exact and there are few.
fn tail(values: &Distribution, x: impl Fn(f64) -> f64) -> Vec<(f64, Option<f64>)> {
    let n = values.values().len();
    let mut points: Vec<(f64, Option<f64>)> = Vec::new();
    let mut kept: Option<usize> = None;
    for (below, &value) in values.values().iter().enumerate() {
        let above = n - below;
        let is_new = below == 0 || values.values().get(below - 1) != Some(&value);
        if is_new && kept.is_none_or(|kept| (kept - above) * LEAST_STEP >= above) {
            points.push((x(value), Some(above as f64 / n as f64)));
            kept = Some(above);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_has_few_points_and_an_exact_end() {
        let found = tail(&Distribution::new((1..=100_000).map(f64::from)), |value| value);
        assert!(found.len() < 2_000, "{}", found.len());
        assert_eq!(found.first(), Some(&(1.0, Some(1.0))));
        assert_eq!(found.last(), Some(&(100_000.0, Some(1e-5))));
        let near = |&(value, share): &(f64, Option<f64>)| {
            share.is_some_and(|share| (share - (100_001.0 - value) / 1e5).abs() < 1e-12)
        };
        assert!(found.iter().all(near));
        assert_eq!(
            tail(&Distribution::new([2.0, 2.0, 5.0]), |value| value),
            [(2.0, Some(1.0)), (5.0, Some(1.0 / 3.0))]
        );
    }
}
