//! Completion times of categories of jobs (DRESS, Figs. 6 to 9).

use std::collections::BTreeMap;

use resched_analysis::Run;
use resched_analysis::metrics::groups::{By, GroupRow, groups};
use resched_tables::clock::Zone;
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
    let found = WAYS.into_iter().map(|(by, title)| {
        (scene.system().says(title), largest(groups(&runs, scene.baseline, by, Zone::default()), runs.len()))
    });
    let found: Vec<(&str, Vec<Vec<GroupRow>>)> = found.filter(|(_, categories)| categories.len() > 1).collect();
    let times = || found.iter().flat_map(|(_, rows)| rows.iter().flatten()).flat_map(ends).flatten();
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
    let span = |(row, series): (&GroupRow, _)| {
        let [Some(median), Some(high)] = ends(row).map(|ms| ms.map(|ms| unit.amount(ms))) else { return None };
        Some(Span { series, value: median, ends: [median, high] })
    };
    let row = |category: Vec<GroupRow>| {
        let (name, jobs) = category.first().map_or(("", 0), |first| (first.group.as_str(), first.jobs));
        let series = scene.runs.iter().map(|shown| shown.series);
        Row {
            label: format!("{name}: {} job{}", count(jobs), if jobs == 1 { "" } else { "s" }),
            spans: category.iter().zip(series).filter_map(span).collect(),
        }
    };
    let panel = |(title, categories): (&str, Vec<Vec<GroupRow>>)| Rows {
        title: title.to_owned(),
        x: x.clone(),
        rows: categories.into_iter().map(row).collect(),
    };
    let panels: Vec<Rows> = found.into_iter().map(panel).collect();
    draw_rows(&scene.sheet_of_jobs(), CHART.name, scene.entries(Swatch::Mark), &panels).map(Some)
}

/// The median and the 95th percentile.
fn ends(row: &GroupRow) -> [Option<f64>; 2] {
    [row.completion_p50_ms, row.completion_p95_ms]
}

/// The categories with most jobs of those that every run has, those with most jobs first, each with its row of every run.
fn largest(rows: Vec<GroupRow>, runs: usize) -> Vec<Vec<GroupRow>> {
    let mut by_name: BTreeMap<String, Vec<GroupRow>> = BTreeMap::new();
    for row in rows {
        by_name.entry(row.group.clone()).or_default().push(row);
    }
    let mut found: Vec<Vec<GroupRow>> = by_name.into_values().filter(|rows| rows.len() == runs).collect();
    found.sort_by_key(|rows| std::cmp::Reverse(rows.first().map(|row| row.jobs)));
    found.truncate(MOST);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_with_most_jobs_come_first_and_those_with_few_are_left_out() {
        let row = |group: &str, jobs| GroupRow {
            group: group.to_owned(),
            run: String::new(),
            jobs,
            completion_p50_ms: None,
            completion_p95_ms: None,
            completion_p99_ms: None,
            waiting_p50_ms: None,
            waiting_p95_ms: None,
            waiting_p99_ms: None,
            change_ms: None,
            change: None,
            sooner: None,
            later: None,
        };
        let of_one = |name| [row(name, 1), row(name, 1)];
        let mut rows: Vec<GroupRow> = ["f", "e", "d", "c", "b"].into_iter().flat_map(of_one).collect();
        rows.extend([row("a", 9), row("a", 9), row("only one run", 99)]);
        let found: Vec<String> = largest(rows, 2).iter().map(|rows| rows[0].group.clone()).collect();
        assert_eq!(found, ["a", "b", "c", "d", "e"]);
    }
}
