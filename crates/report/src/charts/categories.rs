//! Completion times of categories of jobs (DRESS, Figs. 6 to 9).

use resched_analysis::Run;
use resched_analysis::metrics::groups::{By, Largest, largest};
use resched_tables::words::{TimeUnit, count};

use super::chart::Chart;
use crate::Error;
use crate::plot::axis::{Axis, lie_far_apart, unit_for_decades};
use crate::plot::figure::Swatch;
use crate::plot::rows::{Row, Rows, Span, draw_rows};
use crate::scene::Scene;

/// The chart.
pub(super) const CHART: Chart = Chart {
    name: "categories",
    title: "Completion time by category",
    caption: "The completion time of jobs by number of tasks, queue and user (DRESS, Figs. 6 to 9 compare small and large jobs). The mark \
              is the median, and the line ends at the 95th percentile. Only the five queues and the five users with the most jobs are \
              shown.",
    interactive: false,
    folded: true,
    draw,
};

/// The ways to distinguish jobs, with the titles of their panels.
const WAYS: [(By, &str); 3] = [
    (By::Size, "By tasks: small up to the median, large the top tenth"),
    (By::Queue, "By queue"),
    (By::User, "By user"),
];
/// The most categories of a panel.
const MOST: usize = 5;

fn draw(scene: &Scene<'_>) -> Result<Option<String>, Error> {
    let runs: Vec<&Run> = scene.runs.iter().map(|shown| shown.run).collect();
    let found = WAYS.into_iter().map(|(by, title)| (scene.system().says(title), largest(&runs, by, MOST)));
    let found: Vec<(&str, Vec<Largest>)> = found.filter(|(_, categories)| categories.len() > 1).collect();
    let categories = || found.iter().flat_map(|(_, categories)| categories);
    let times = || categories().flat_map(|category| &category.completion_ms).flatten().copied().flatten();
    let (least, most) = (times().fold(f64::MAX, f64::min), times().fold(0.0, f64::max));
    if most <= 0.0 {
        return Ok(None);
    }
    let is_log = least > 0.0 && lie_far_apart(least, most);
    let unit = if is_log { unit_for_decades(least, most) } else { TimeUnit::for_axis(most) };
    let title = format!("Completion time ({})", unit.name());
    let x = match is_log {
        true => Axis::logarithmic(title, unit.amount(least), unit.amount(most)),
        false => Axis::from_zero(title, unit.amount(most), 6),
    };
    let span = |(ends, series): ([Option<f64>; 2], _)| {
        let [Some(median), Some(high)] = ends.map(|ms| ms.map(|ms| unit.amount(ms))) else { return None };
        Some(Span { series, value: median, ends: [median, high] })
    };
    let row = |category: Largest| {
        let Largest { group, jobs, completion_ms } = category;
        let series = scene.runs.iter().map(|shown| shown.series);
        Row {
            label: format!("{group}: {} job{}", count(jobs), if jobs == 1 { "" } else { "s" }),
            spans: completion_ms.into_iter().zip(series).filter_map(span).collect(),
        }
    };
    let panel = |(title, categories): (&str, Vec<Largest>)| Rows {
        title: title.to_owned(),
        x: x.clone(),
        rows: categories.into_iter().map(row).collect(),
    };
    let panels: Vec<Rows> = found.into_iter().map(panel).collect();
    draw_rows(&scene.sheet_of_jobs(), CHART.name, scene.entries(Swatch::Mark), &panels).map(Some)
}
