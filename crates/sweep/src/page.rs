//! The page of a sweep: ranking, figures, comparisons, and the file it came from.

use std::collections::BTreeMap;

use askama::Template;
use resched_analysis::compare::Estimate;

use crate::Error;
use crate::figures::Figure;
use crate::merge::Merged;
use crate::metrics::{METRICS, Metric};
use crate::statistics::{DominanceRow, differences, dominance, ranking};

/// Rows of a table; a page with more would be slow to open, and the tables are beside it.
const MOST_ROWS: usize = 500;
/// A corrected p-value below this is called sure.
const LEVEL: f64 = 0.05;

#[derive(Template)]
#[template(path = "index.html")]
struct Page<'a> {
    version: &'static str,
    name: &'a str,
    about: &'a str,
    metric: String,
    cells: usize,
    settings: usize,
    seeds: usize,
    /// Whether there is more than one source or cluster.
    places: bool,
    ranking: Vec<Ranked>,
    more_ranked: usize,
    figures: &'a [Figure],
    comparisons: Vec<Compared>,
    more_compared: usize,
    file: &'a str,
}

struct Ranked {
    rank: usize,
    label: String,
    place: String,
    seeds: usize,
    mean: String,
    interval: String,
}

struct Compared {
    label: String,
    baseline: String,
    metric: &'static str,
    cells: Vec<String>,
    sure: bool,
}

/// The page; whatever stands in it is escaped but for the figures, which are ours.
///
/// # Errors
/// [`Error::Work`] if the template cannot be filled.
pub(crate) fn page(merged: &Merged, figures: &[Figure]) -> Result<String, Error> {
    let groups = merged.groups();
    let metric = merged.file.metric;
    let ranked = ranking(&groups, metric);
    let row = |(number, (place, found)): (usize, &(usize, Estimate))| {
        let group = groups.get(*place)?;
        Some(Ranked {
            rank: number + 1,
            label: group.label(),
            place: merged.place_name(group.place),
            seeds: group.seeds(),
            mean: told(metric, found.value),
            interval: interval(metric, *found),
        })
    };
    let dominance: BTreeMap<usize, DominanceRow> =
        dominance(&groups, &merged.file).into_iter().map(|row| (row.group, row)).collect();
    // The sweep's metric first, then the others.
    let mut compared = differences(&groups, &merged.file);
    compared.sort_by_key(|found| found.metric != metric.name);
    let line = |found: &crate::statistics::Difference| {
        let metric = METRICS.iter().find(|metric| metric.name == found.metric)?;
        let stands = dominance.get(&found.group);
        let side = |side: Option<(f64, f64)>| {
            side.map_or_else(|| "–".to_owned(), |(by, p)| format!("{by:.3} (p {})", p_value(p)))
        };
        let change = found.change.map_or_else(|| "–".to_owned(), |change| format!("{:+.1} %", change.value));
        Some(Compared {
            label: groups.get(found.group)?.label(),
            baseline: groups.get(found.baseline)?.label(),
            metric: metric.title,
            cells: vec![
                told(metric, found.difference.value),
                interval(metric, found.difference),
                change,
                p_value(found.sign),
                p_value(found.signed_rank),
                p_value(found.holm),
                side(stands.and_then(|row| row.above)),
                side(stands.and_then(|row| row.below)),
            ],
            sure: found.holm < LEVEL,
        })
    };
    let page = Page {
        version: env!("CARGO_PKG_VERSION"),
        name: &merged.file.name,
        about: &merged.file.about,
        metric: metric.title.to_lowercase(),
        cells: merged.plan.cells.len(),
        settings: groups.len(),
        seeds: groups.iter().map(crate::statistics::Group::seeds).max().unwrap_or(0),
        places: merged.plan.sources.len() > 1 || merged.plan.clusters.len() > 1,
        more_ranked: ranked.len().saturating_sub(MOST_ROWS),
        ranking: ranked.iter().take(MOST_ROWS).enumerate().filter_map(row).collect(),
        figures,
        more_compared: compared.len().saturating_sub(MOST_ROWS),
        comparisons: compared.iter().take(MOST_ROWS).filter_map(line).collect(),
        file: &merged.plan.file.text,
    };
    page.render().map_err(|error| Error::Work(format!("index.html cannot be made: {error}")))
}

/// A value of a metric with its unit.
fn told(metric: &Metric, value: f64) -> String {
    if metric.unit == "ms" { format!("{:.1} s", metric.shown(value)) } else { format!("{value:.4}") }
}

fn interval(metric: &Metric, found: Estimate) -> String {
    format!("{} to {}", told(metric, found.low), told(metric, found.high))
}

fn p_value(p: f64) -> String {
    if p < 1e-4 { format!("{p:.1e}") } else { format!("{p:.4}") }
}
