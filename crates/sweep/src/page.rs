//! The page of a sweep: ranking, figures, comparisons, and the file it came from.

use std::collections::BTreeMap;

use askama::Template;
use resched_analysis::metrics::named::Metric;
use resched_analysis::statistics::estimate::Estimate;
use resched_analysis::statistics::practical::Matters;
use resched_report::{Figure, Frame, UNKNOWN, emphasised, escaped, gallery};
use resched_tables::validity::Grade;
use resched_tables::words::change_in_percent;

use crate::Error;
use crate::answer::{Standing, answer, change, in_one_unit};
use crate::merge::Merged;
use crate::statistics::{
    Difference, DominanceRow, Group, OtherDays, Tests, differences, dominance, numbered, ranking, validity,
};

/// The most rows of a table. More would make the page slow to open; the complete tables are beside it.
const MOST_ROWS: usize = 500;
/// The rows of a table that the page shows before you unfold the rest.
const FIRST_ROWS: usize = 10;

#[derive(Template)]
#[template(path = "index.html")]
struct Body<'a> {
    version: &'static str,
    name: &'a str,
    about: &'a str,
    metric: String,
    cells: usize,
    settings: usize,
    seeds: usize,
    /// The answer in a few sentences.
    answer: Vec<String>,
    /// How far the answer can be trusted.
    grade: &'static str,
    caveats: Vec<Caveat>,
    matters: String,
    /// True if there is more than one source or cluster.
    places: bool,
    /// What is compared with what, if there are several sources or clusters.
    worlds: String,
    ranking: Vec<Ranked>,
    /// The first rows, if there are more.
    top: Vec<Ranked>,
    /// How many rows are shown at once.
    first: usize,
    more_ranked: usize,
    /// The first figure, and the others, which are folded.
    figure: String,
    gallery: String,
    more_figures: usize,
    /// The comparisons in the metric of the sweep, then those in the others, which are folded.
    comparisons: Vec<Compared>,
    others: Vec<Compared>,
    more_compared: usize,
    /// Settings of the world that changed nothing.
    idle: Vec<String>,
    file: &'a str,
}

/// A sentence about how far to trust the answer, as HTML, and how many cells it is about.
struct Caveat {
    grade: &'static str,
    says: String,
    remedy: String,
    cells: usize,
}

#[derive(Clone)]
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
    metric: String,
    cells: Vec<String>,
    sure: bool,
}

/// The page. Texts of the sweep file are escaped; the figures need not be.
///
/// # Errors
/// [`Error::Work`] or [`Error::Report`] if a template cannot be filled.
pub(crate) fn page(merged: &Merged, figures: &[Figure]) -> Result<String, Error> {
    let groups = merged.groups();
    let metric = &merged.file.metric;
    let metrics = merged.file.metrics();
    let ranked = ranking(&groups, metric);
    // The sweep's metric first, then the others.
    let mut compared = differences(&groups, &merged.file);
    compared.sort_by_key(|found| found.metric != metric.name);
    let dominance: BTreeMap<usize, DominanceRow> =
        dominance(&groups, &merged.file).into_iter().map(|row| (row.group, row)).collect();
    let (facts, counts) = validity(&groups, &merged.file, &merged.signs);
    let mut caveats: Vec<Caveat> = facts
        .facts
        .iter()
        .zip(counts)
        .map(|(fact, cells)| Caveat {
            grade: fact.grade.in_words(),
            says: emphasised(&fact.says),
            remedy: emphasised(&fact.remedy),
            cells,
        })
        .collect();
    // The worst first.
    caveats.sort_by_key(|caveat| caveat.grade != Grade::NotAnswerable.in_words());
    let shown = compared.get(..MOST_ROWS).unwrap_or(&compared);
    let rows = |some: &mut dyn Iterator<Item = &Difference>| -> Vec<Compared> {
        let row = |found| compared_row(&groups, &metrics, found, &dominance, merged.file.matters);
        some.filter_map(row).collect()
    };
    let ranking: Vec<Ranked> = numbered(&groups, &ranked)
        .take(MOST_ROWS)
        .filter_map(|(rank, place, found)| ranked_row(merged, rank, groups.get(place)?, found))
        .collect();
    let body = Body {
        grade: facts.grade().in_words(),
        caveats,
        answer: answer(merged, &groups, &ranked, &compared),
        idle: merged.without_effect().iter().map(|sentence| emphasised(sentence)).collect(),
        matters: merged.file.matters.to_string(),
        version: env!("CARGO_PKG_VERSION"),
        name: &merged.file.name,
        about: &merged.file.about,
        metric: metric.title.to_lowercase(),
        cells: merged.plan.cells.len(),
        settings: groups.len(),
        seeds: groups.iter().map(Group::seeds).max().unwrap_or(0),
        places: merged.plan.sources.len() > 1 || merged.plan.clusters.len() > 1,
        more_ranked: ranked.len().saturating_sub(MOST_ROWS),
        worlds: worlds(merged),
        top: if ranking.len() > FIRST_ROWS { ranking.iter().take(FIRST_ROWS).cloned().collect() } else { Vec::new() },
        ranking,
        first: FIRST_ROWS,
        figure: gallery(figures.get(..1).unwrap_or_default())?,
        gallery: gallery(figures.get(1..).unwrap_or_default())?,
        more_figures: figures.len().saturating_sub(1),
        more_compared: compared.len().saturating_sub(MOST_ROWS),
        comparisons: rows(&mut shown.iter().filter(|found| found.metric == metric.name)),
        others: rows(&mut shown.iter().filter(|found| found.metric != metric.name)),
        file: &merged.plan.file.text,
    };
    let body = body.render().map_err(|error| Error::Work(format!("index.html cannot be made: {error}")))?;
    let title = format!("resched: {}", escaped(&merged.file.name));
    Ok(Frame { title: &title, body: &body, interactive: false }.page()?)
}

/// What is compared with what, if there are several sources or clusters.
fn worlds(merged: &Merged) -> String {
    let (sources, clusters) = (merged.plan.sources.len(), merged.plan.clusters.len());
    if sources < 2 && clusters < 2 {
        return String::new();
    }
    let names: Vec<String> = (0..clusters).map(|cluster| merged.cluster_name(cluster)).collect();
    let of_clusters = if clusters > 1 {
        format!(" These clusters are ranked together: {}.", names.join(", "))
    } else {
        String::new()
    };
    let of_sources = if sources > 1 { " Each source has its own ranking." } else { "" };
    format!("Settings are compared with the baseline of the same source, cluster and world.{of_clusters}{of_sources}")
}

fn ranked_row(merged: &Merged, rank: usize, group: &Group<'_>, found: Estimate) -> Option<Ranked> {
    let [mean, low, high] = in_one_unit(&merged.file.metric, found);
    Some(Ranked {
        rank,
        label: group.label(),
        place: merged.place_name(group.place),
        seeds: group.seeds(),
        mean,
        interval: if group.shows_spread() { format!("{low} to {high}") } else { UNKNOWN.to_owned() },
    })
}

fn compared_row(
    groups: &[Group<'_>],
    metrics: &[Metric],
    found: &Difference,
    dominance: &BTreeMap<usize, DominanceRow>,
    matters: Matters,
) -> Option<Compared> {
    let metric = metrics.iter().find(|metric| metric.name == found.metric)?;
    let side = |side: Option<f64>| side.map_or_else(|| UNKNOWN.to_owned(), |by| format!("{by:.3}"));
    let dominance = dominance.get(&found.group);
    let p = |of: fn(&Tests) -> f64| found.tests.as_ref().map_or_else(|| UNKNOWN.to_owned(), |tests| p_value(of(tests)));
    let [difference, low, high] = in_one_unit(metric, found.difference);
    Some(Compared {
        label: groups.get(found.group)?.label(),
        baseline: groups.get(found.baseline)?.label(),
        metric: metric.title.clone(),
        cells: vec![
            change(found.ratio).unwrap_or_else(|| UNKNOWN.to_owned()),
            found.verdict.in_words(matters),
            difference,
            if found.tests.is_some() && found.seeds > 1 { format!("{low} to {high}") } else { UNKNOWN.to_owned() },
            found.other_days.map_or_else(|| UNKNOWN.to_owned(), in_words),
            p(|tests| tests.sign),
            p(|tests| tests.signed_rank),
            p(|tests| tests.holm),
            side(dominance.and_then(|row| row.above)),
            side(dominance.and_then(|row| row.below)),
        ],
        sure: Standing::of(found, metric).is_decided(),
    })
}

/// The change over other days: its interval, or that it is about these jobs only.
fn in_words(days: OtherDays) -> String {
    match days.ratio.interval {
        Some(ends) => {
            let [low, high] = ends.map(|ratio| change_in_percent(ratio - 1.0));
            format!("{low} to {high}")
        }
        None => days.basis.in_words(),
    }
}

fn p_value(p: f64) -> String {
    if p < 1e-4 { format!("{p:.1e}") } else { format!("{p:.4}") }
}
